set(dram_channel_folder ${CMAKE_CURRENT_LIST_DIR})
pimsim_test(test_dram_channel
  SOURCES ${dram_channel_folder}/support.c ${dram_channel_folder}/test_golden.c ${dram_channel_folder}/test_stepped.c
          ${dram_channel_folder}/stepped/controller.c ${dram_channel_folder}/stepped/maintenance.c
          ${dram_channel_folder}/stepped/timing.c ${dram_channel_folder}/test_check.c
          ${dram_channel_folder}/check_runs.c ${dram_channel_folder}/test_refusals.c
          ${dram_channel_folder}/test_stream.c ${dram_channel_folder}/test_policy.c
          ${PROJECT_SOURCE_DIR}/tools/command/dram/list.c ${PROJECT_SOURCE_DIR}/tools/command/dram/tensor.c
          ${PROJECT_SOURCE_DIR}/tools/command/dram/words.c ${PROJECT_SOURCE_DIR}/tools/command/dram/blocks.c
          ${PROJECT_SOURCE_DIR}/tools/command/dram/run.c ${PROJECT_SOURCE_DIR}/tools/command/dram/log.c
          ${PROJECT_SOURCE_DIR}/tools/command/dram/check.c ${PROJECT_SOURCE_DIR}/tools/command/dram/latency.c
           ${dram_channel_folder}/test_tensor.c ${dram_channel_folder}/test_run.c ${dram_channel_folder}/test_energy.c
          ${dram_channel_folder}/test_idle.c ${dram_channel_folder}/test_refresh.c
  LINK pimsim_dram pimsim_traces
  SUITES channel_golden channel_stepped channel_check channel_stream channel_tensor channel_refusals channel_policy channel_run channel_energy channel_idle channel_refresh)
pimsim_test(test_dram_channel_long
  SOURCES ${dram_channel_folder}/support.c ${dram_channel_folder}/check_runs.c ${dram_channel_folder}/test_long.c
          ${dram_channel_folder}/test_stepped.c
          ${dram_channel_folder}/stepped/controller.c ${dram_channel_folder}/stepped/maintenance.c
          ${dram_channel_folder}/stepped/timing.c
  LINK pimsim_dram LABEL long
  SUITES channel_million_1 channel_million_2 channel_million_3 channel_lists channel_stepped_long)
# The commands as they are called.
add_test(NAME dram.command COMMAND ${dram_channel_folder}/command $<TARGET_FILE:pimsim>)
set_tests_properties(dram.command PROPERTIES LABELS quick TIMEOUT 1200 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
