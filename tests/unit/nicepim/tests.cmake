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

# The command itself.
add_test(NAME map_nicepim.command COMMAND ${PROJECT_SOURCE_DIR}/tests/map_nicepim $<TARGET_FILE:pimsim>)
set_tests_properties(map_nicepim.command PROPERTIES LABELS quick TIMEOUT 600 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
