pimsim_fuzz_target(noc_lists ${CMAKE_CURRENT_LIST_DIR}/noc_lists.c pimsim_traffic)
