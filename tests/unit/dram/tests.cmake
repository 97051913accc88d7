pimsim_test(test_dram
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_rules.c ${CMAKE_CURRENT_LIST_DIR}/test_golden.c
          ${CMAKE_CURRENT_LIST_DIR}/test_property.c ${CMAKE_CURRENT_LIST_DIR}/stepped_bank.c
          ${CMAKE_CURRENT_LIST_DIR}/test_interleaved.c ${CMAKE_CURRENT_LIST_DIR}/stepped_banks.c
          ${CMAKE_CURRENT_LIST_DIR}/draw.c
  LINK pimsim_dram
  SUITES rules golden property interleaved)
