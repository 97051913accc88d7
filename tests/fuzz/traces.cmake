pimsim_fuzz_target(trace_reader ${CMAKE_CURRENT_LIST_DIR}/trace_reader.c pimsim_traces)
pimsim_fuzz_target(assembler ${CMAKE_CURRENT_LIST_DIR}/assembler.c pimsim_traces)
