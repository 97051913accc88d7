# Channels whose banks compute: small programs on few channels.
pimsim_test(test_channel
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_channel.c ${CMAKE_CURRENT_LIST_DIR}/support.c
          ${CMAKE_CURRENT_LIST_DIR}/../replay/replay.c
          ${CMAKE_CURRENT_LIST_DIR}/test_timing.c ${CMAKE_CURRENT_LIST_DIR}/test_commands.c
          ${CMAKE_CURRENT_LIST_DIR}/test_property.c ${CMAKE_CURRENT_LIST_DIR}/test_refusals.c
          ${CMAKE_CURRENT_LIST_DIR}/test_values.c
          ${CMAKE_CURRENT_LIST_DIR}/reference.c
  LINK pimsim_system pimsim_traces pimsim_sim
  SUITES channel_timing channel_commands channel_property channel_refusals channel_values)
