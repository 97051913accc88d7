pimsim_fuzz_target(configuration ${CMAKE_CURRENT_LIST_DIR}/configuration.c pimsim_sim)
