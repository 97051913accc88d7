pimsim_fuzz_target(allspark_plan ${CMAKE_CURRENT_LIST_DIR}/allspark_plan.c pimsim_allspark)
pimsim_fuzz_target(allspark_solution ${CMAKE_CURRENT_LIST_DIR}/allspark_solution.c pimsim_allspark)
