pimsim_fuzz_target(task_graph ${CMAKE_CURRENT_LIST_DIR}/task_graph.c pimsim_conflict)
