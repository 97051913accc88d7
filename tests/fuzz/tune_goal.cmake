pimsim_fuzz_target(tune_goal ${CMAKE_CURRENT_LIST_DIR}/tune_goal.c pimsim_tune)
