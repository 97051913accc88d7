pimsim_test(test_schedule
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/suites.c ${CMAKE_CURRENT_LIST_DIR}/instances.c ${CMAKE_CURRENT_LIST_DIR}/literal.c
          ${CMAKE_CURRENT_LIST_DIR}/test_exact.c ${CMAKE_CURRENT_LIST_DIR}/test_ilp.c
  LINK pimsim_allspark
  SUITES exact ilp)
