set(conflict ${CMAKE_CURRENT_LIST_DIR})
pimsim_test(test_conflict
  SOURCES ${conflict}/conflict.c ${conflict}/support.c ${conflict}/oracle.c ${conflict}/test_instant.c ${conflict}/test_graph.c
          ${conflict}/test_golden.c ${conflict}/test_replay.c ${conflict}/test_table.c ${conflict}/test_property.c ${conflict}/test_marks.c
  LINK pimsim_conflict
  SUITES instant graph golden replay table property marks)
pimsim_test(test_conflict_long
  SOURCES ${conflict}/long.c ${conflict}/support.c
  LINK pimsim_conflict
  LABEL long
  SUITES matrix)
# The command as it is called.
add_test(NAME tasks.command COMMAND ${conflict}/command $<TARGET_FILE:pimsim> ${PROJECT_SOURCE_DIR}/tests/data/conflict)
set_tests_properties(tasks.command PROPERTIES LABELS quick TIMEOUT 600 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
