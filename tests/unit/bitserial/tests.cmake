pimsim_test(test_bitserial
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_functional.c ${CMAKE_CURRENT_LIST_DIR}/test_timing.c
          ${CMAKE_CURRENT_LIST_DIR}/test_refusals.c ${CMAKE_CURRENT_LIST_DIR}/stepped_channel.c
  LINK pimsim_bitserial
  SUITES bitserial_functional bitserial_timing bitserial_refusals)
