pimsim_test(test_allspark
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/suites.c ${CMAKE_CURRENT_LIST_DIR}/scenario.c
          ${CMAKE_CURRENT_LIST_DIR}/test_layout.c ${CMAKE_CURRENT_LIST_DIR}/test_plan.c
          ${CMAKE_CURRENT_LIST_DIR}/test_optimum.c
          ${CMAKE_CURRENT_LIST_DIR}/test_dataflow.c ${CMAKE_CURRENT_LIST_DIR}/test_volumes.c
          ${CMAKE_CURRENT_LIST_DIR}/test_real.c ${CMAKE_CURRENT_LIST_DIR}/test_exchange.c
          ${CMAKE_CURRENT_LIST_DIR}/test_relay.c ${CMAKE_CURRENT_LIST_DIR}/test_equations.c ${CMAKE_CURRENT_LIST_DIR}/test_values.c
  LINK pimsim_allspark
  SUITES layout plan optimum dataflow volumes real exchange relay equations values)
set_tests_properties(test_allspark.dataflow PROPERTIES COST 100) # begins first
pimsim_test(test_allspark_long
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/long.c ${CMAKE_CURRENT_LIST_DIR}/scenario.c ${CMAKE_CURRENT_LIST_DIR}/test_real.c
          ${CMAKE_CURRENT_LIST_DIR}/test_optimum.c ${CMAKE_CURRENT_LIST_DIR}/test_dataflow.c
  LINK pimsim_allspark
  SUITES others optimum_long dataflow_long
  LABEL long)

# The command itself.
add_test(NAME map.command COMMAND ${PROJECT_SOURCE_DIR}/tests/map $<TARGET_FILE:pimsim>)
set_tests_properties(map.command PROPERTIES LABELS quick TIMEOUT 1200 COST 150 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
