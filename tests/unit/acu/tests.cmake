pimsim_test(test_acu
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_acu.c
  LINK pimsim_cost pimsim_sim
  SUITES acu)
