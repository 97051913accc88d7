pimsim_fuzz_target(dram_rows ${CMAKE_CURRENT_LIST_DIR}/dram_rows.c pimsim_dram)
