# The tuner: space, goal, strategies; and the command. What trains a thousand times runs where the program is optimised.
set(tune ${CMAKE_CURRENT_LIST_DIR})
set(tune_suites best goal space strategy)
if(CMAKE_BUILD_TYPE MATCHES "^Rel")
  list(APPEND tune_suites strategy_learning)
endif()
pimsim_test(test_tune
  SOURCES ${tune}/suites.c ${tune}/test_best.c ${tune}/test_goal.c ${tune}/test_space.c ${tune}/test_strategy.c
  LINK pimsim_tune
  SUITES ${tune_suites})
if(CMAKE_BUILD_TYPE MATCHES "^Rel")
  set_tests_properties(test_tune.strategy_learning PROPERTIES LABELS long COST 300)
endif()
add_test(NAME tune.command COMMAND ${PROJECT_SOURCE_DIR}/tests/tune $<TARGET_FILE:pimsim>)
set_tests_properties(tune.command PROPERTIES LABELS long TIMEOUT 900 COST 400 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
