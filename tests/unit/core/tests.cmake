# Cores with crossbars: small programs on few cores.
pimsim_test(test_core
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_core.c ${CMAKE_CURRENT_LIST_DIR}/support.c
          ${CMAKE_CURRENT_LIST_DIR}/../replay/replay.c
          ${CMAKE_CURRENT_LIST_DIR}/test_timing.c ${CMAKE_CURRENT_LIST_DIR}/test_messages.c
          ${CMAKE_CURRENT_LIST_DIR}/test_refusals.c ${CMAKE_CURRENT_LIST_DIR}/test_property.c
          ${CMAKE_CURRENT_LIST_DIR}/test_micro.c ${CMAKE_CURRENT_LIST_DIR}/test_memory.c
          ${CMAKE_CURRENT_LIST_DIR}/reference.c
  LINK pimsim_system pimsim_traces pimsim_sim
  SUITES core_timing core_messages core_refusals core_property core_micro core_memory)
