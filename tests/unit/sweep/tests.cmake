# Sweeps: values, constraints, points, results; on the small traces of the tests of the public interface.
pimsim_test(test_sweep
  SOURCES unit/sweep/test_axis.c unit/sweep/test_best.c unit/sweep/test_expression.c unit/sweep/test_points.c unit/sweep/test_specification.c unit/sweep/test_store.c unit/sweep/test_task.c unit/sweep/test_workers.c
    unit/sweep/support.c unit/sweep/suites.c unit/api/support.c
  LINK pimsim_sweep
  SUITES sweep_axis sweep_best sweep_expression sweep_points sweep_specification sweep_store sweep_task sweep_workers)

# The command itself, killed and resumed.
add_test(NAME sweep.command COMMAND ${PROJECT_SOURCE_DIR}/tests/sweep $<TARGET_FILE:pimsim>)
set_tests_properties(sweep.command PROPERTIES LABELS quick TIMEOUT 1200 COST 200 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")

# On Slurm, where its daemons can be started; else skipped, with the reason.
add_test(NAME sweep.slurm COMMAND ${PROJECT_SOURCE_DIR}/tests/slurm $<TARGET_FILE:pimsim>)
set_tests_properties(sweep.slurm PROPERTIES LABELS long TIMEOUT 600 SKIP_RETURN_CODE 77 RUN_SERIAL ON
  ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
