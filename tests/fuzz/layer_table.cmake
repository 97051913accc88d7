pimsim_fuzz_target(layer_table ${CMAKE_CURRENT_LIST_DIR}/layer_table.c pimsim_network)
