pimsim_test(test_onnx
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/model.c ${CMAKE_CURRENT_LIST_DIR}/test_import.c ${CMAKE_CURRENT_LIST_DIR}/test_operators.c
          ${CMAKE_CURRENT_LIST_DIR}/test_exporters.c
          ${CMAKE_CURRENT_LIST_DIR}/test_products.c ${CMAKE_CURRENT_LIST_DIR}/test_refusals.c ${CMAKE_CURRENT_LIST_DIR}/test_round_trip.c
  LINK pimsim_onnx
  SUITES import operators exporters refusals round_trip products)
pimsim_test(test_onnx_vectors
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/model.c ${CMAKE_CURRENT_LIST_DIR}/numbers.c ${CMAKE_CURRENT_LIST_DIR}/test_vectors.c
  LINK pimsim_verify pimsim_onnx pimsim_onnx_format
  SUITES vectors)
pimsim_test(test_recognition
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/model.c ${CMAKE_CURRENT_LIST_DIR}/test_recognition.c
  LINK pimsim_recognition pimsim_onnx
  SUITES recognition)
add_executable(onnx_networks ${PROJECT_SOURCE_DIR}/tests/onnxruntime/networks.c ${CMAKE_CURRENT_LIST_DIR}/numbers.c)
target_link_libraries(onnx_networks PRIVATE pimsim_verify pimsim_onnx pimsim_onnx_format pimsim_flags)
add_test(NAME onnxruntime COMMAND ${PROJECT_SOURCE_DIR}/tests/onnxruntime/run $<TARGET_FILE:onnx_networks>)
set_tests_properties(onnxruntime PROPERTIES LABELS long TIMEOUT 1200 SKIP_RETURN_CODE 77 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
