pimsim_test(test_pe
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_rules.c ${CMAKE_CURRENT_LIST_DIR}/test_golden.c
          ${CMAKE_CURRENT_LIST_DIR}/test_property.c ${CMAKE_CURRENT_LIST_DIR}/stepped_array.c
  LINK pimsim_cost
  SUITES rules golden property)
