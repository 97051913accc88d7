# Closed forms of a node, held against the models and against brute force.
pimsim_test(test_estimate
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/suites.c ${CMAKE_CURRENT_LIST_DIR}/machine.c ${CMAKE_CURRENT_LIST_DIR}/test_memory.c
          ${CMAKE_CURRENT_LIST_DIR}/test_engines.c ${CMAKE_CURRENT_LIST_DIR}/test_ring.c
          ${CMAKE_CURRENT_LIST_DIR}/test_pace.c ${CMAKE_CURRENT_LIST_DIR}/test_programs.c ${CMAKE_CURRENT_LIST_DIR}/test_tiling.c
  LINK pimsim_estimate pimsim_system
  SUITES memory engines ring pace tiling programs)
add_test(NAME map.rough COMMAND ${PROJECT_SOURCE_DIR}/tests/map_rough $<TARGET_FILE:pimsim>)
set_tests_properties(map.rough PROPERTIES LABELS quick TIMEOUT 1200 COST 40 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
add_test(NAME map.estimate COMMAND ${PROJECT_SOURCE_DIR}/tests/map_estimate $<TARGET_FILE:pimsim>)
set_tests_properties(map.estimate PROPERTIES LABELS long TIMEOUT 1800 COST 60 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
