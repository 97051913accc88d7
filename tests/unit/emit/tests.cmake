# Programs of units as mappers write them.
pimsim_test(test_emit
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_program.c
  LINK pimsim_emit
  SUITES program)
