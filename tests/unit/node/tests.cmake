# Nodes: small programs on small arrays. support.c is shared with tests/unit/system.
pimsim_test(test_node
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_node.c ${CMAKE_CURRENT_LIST_DIR}/support.c
          ${CMAKE_CURRENT_LIST_DIR}/test_timing.c ${CMAKE_CURRENT_LIST_DIR}/test_messages.c
          ${CMAKE_CURRENT_LIST_DIR}/test_accounts.c ${CMAKE_CURRENT_LIST_DIR}/test_refusals.c
          ${CMAKE_CURRENT_LIST_DIR}/test_property.c ${CMAKE_CURRENT_LIST_DIR}/test_reference.c
          ${CMAKE_CURRENT_LIST_DIR}/reference.c ${CMAKE_CURRENT_LIST_DIR}/test_shared_memory.c
  LINK pimsim_system pimsim_traces pimsim_sim
  SUITES timing messages accounts refusals property reference shared_memory)
