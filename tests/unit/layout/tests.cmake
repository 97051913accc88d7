pimsim_test(test_layout
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_layout.c
  LINK pimsim_traces
  SUITES layout)
