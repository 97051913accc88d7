set(dram_bins_folder ${CMAKE_CURRENT_LIST_DIR})
pimsim_test(test_dram_bins
  SOURCES ${dram_bins_folder}/test_memories.c ${dram_bins_folder}/test_values.c
          ${PROJECT_SOURCE_DIR}/tests/unit/dram_channel/support.c
          ${PROJECT_SOURCE_DIR}/tests/unit/dram_channel/stepped/controller.c
          ${PROJECT_SOURCE_DIR}/tests/unit/dram_channel/stepped/maintenance.c ${PROJECT_SOURCE_DIR}/tests/unit/dram_channel/stepped/timing.c
          ${PROJECT_SOURCE_DIR}/tools/command/dram/list.c ${PROJECT_SOURCE_DIR}/tools/command/dram/tensor.c
          ${PROJECT_SOURCE_DIR}/tools/command/dram/words.c ${PROJECT_SOURCE_DIR}/tools/command/dram/blocks.c
  LINK pimsim_dram pimsim_traces
  SUITES dram_memories dram_values)
