pimsim_fuzz_target(dram_lists "${CMAKE_CURRENT_LIST_DIR}/dram_lists.c;${PROJECT_SOURCE_DIR}/tools/command/dram/list.c;\
${PROJECT_SOURCE_DIR}/tools/command/dram/check.c;${PROJECT_SOURCE_DIR}/tools/command/dram/log.c;\
${PROJECT_SOURCE_DIR}/tools/command/dram/latency.c;${PROJECT_SOURCE_DIR}/tools/command/dram/words.c;\
${PROJECT_SOURCE_DIR}/tools/command/dram/run.c;${PROJECT_SOURCE_DIR}/tools/command/dram/blocks.c;${PROJECT_SOURCE_DIR}/tools/command/dram/tensor.c" pimsim_dram pimsim_traces)
