pimsim_fuzz_target(dram_lists "${CMAKE_CURRENT_LIST_DIR}/dram_lists.c;${PROJECT_SOURCE_DIR}/tools/command/dram_list.c;\
${PROJECT_SOURCE_DIR}/tools/command/dram_check.c;${PROJECT_SOURCE_DIR}/tools/command/dram_log.c;\
${PROJECT_SOURCE_DIR}/tools/command/dram_latency.c;${PROJECT_SOURCE_DIR}/tools/command/dram_words.c;\
${PROJECT_SOURCE_DIR}/tools/command/dram_run.c" pimsim_dram pimsim_traces)
