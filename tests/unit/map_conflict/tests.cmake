pimsim_test(test_map_conflict
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/suites.c ${CMAKE_CURRENT_LIST_DIR}/test_graph.c ${CMAKE_CURRENT_LIST_DIR}/test_mapping.c
          ${CMAKE_CURRENT_LIST_DIR}/test_estimators.c
  LINK pimsim_map pimsim_map_conflict pimsim_conflict pimsim_onnx
  SUITES conflict_graph conflict_mapping conflict_estimators)

add_test(NAME map_conflict.command COMMAND ${PROJECT_SOURCE_DIR}/tests/map_conflict $<TARGET_FILE:pimsim>)
set_tests_properties(map_conflict.command PROPERTIES LABELS quick TIMEOUT 1200 COST 100 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
