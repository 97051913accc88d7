pimsim_test(test_map_conflict
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/suites.c ${CMAKE_CURRENT_LIST_DIR}/test_graph.c ${CMAKE_CURRENT_LIST_DIR}/test_mapping.c
          ${PROJECT_SOURCE_DIR}/tools/command/conflict_graph.c
  LINK pimsim_map_conflict pimsim_conflict pimsim_onnx
  SUITES conflict_graph conflict_mapping)
