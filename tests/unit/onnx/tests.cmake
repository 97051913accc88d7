pimsim_test(test_onnx
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/model.c ${CMAKE_CURRENT_LIST_DIR}/test_import.c ${CMAKE_CURRENT_LIST_DIR}/test_operators.c
          ${CMAKE_CURRENT_LIST_DIR}/test_exporters.c
          ${CMAKE_CURRENT_LIST_DIR}/test_refusals.c ${CMAKE_CURRENT_LIST_DIR}/test_round_trip.c
  LINK pimsim_onnx
  SUITES import operators exporters refusals round_trip)
pimsim_test(test_onnx_vectors
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_vectors.c
  LINK pimsim_onnx
  SUITES vectors)
pimsim_test(test_recognition
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/model.c ${CMAKE_CURRENT_LIST_DIR}/test_recognition.c
  LINK pimsim_recognition pimsim_onnx
  SUITES recognition)
