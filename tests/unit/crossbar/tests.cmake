# Cost, capacity and energy of crossbar arrays.
pimsim_test(test_crossbar
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_crossbar.c
  LINK pimsim_cost pimsim_sim
  SUITES crossbar)
