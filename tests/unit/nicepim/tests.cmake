set(nicepim ${CMAKE_CURRENT_LIST_DIR})
pimsim_test(test_nicepim
  SOURCES ${nicepim}/nicepim.c ${nicepim}/golden.c ${nicepim}/test_cycles.c ${nicepim}/test_sat.c ${nicepim}/test_space.c
  LINK pimsim_nicepim pimsim_place
  SUITES cycles sat space)
pimsim_test(test_nicepim_long
  SOURCES ${nicepim}/long.c ${nicepim}/golden.c
  LINK pimsim_nicepim
  LABEL long
  SUITES first second third last)
