# Closed forms of a node, held against the models and against brute force.
pimsim_test(test_estimate
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/suites.c ${CMAKE_CURRENT_LIST_DIR}/machine.c ${CMAKE_CURRENT_LIST_DIR}/test_memory.c
          ${CMAKE_CURRENT_LIST_DIR}/test_engines.c ${CMAKE_CURRENT_LIST_DIR}/test_ring.c
          ${CMAKE_CURRENT_LIST_DIR}/test_pace.c ${CMAKE_CURRENT_LIST_DIR}/test_programs.c ${CMAKE_CURRENT_LIST_DIR}/test_tiling.c
  LINK pimsim_estimate pimsim_system
  SUITES memory engines ring pace tiling programs)
