pimsim_test(test_area
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_area.c
  LINK pimsim_area pimsim_sim
  SUITES area)
