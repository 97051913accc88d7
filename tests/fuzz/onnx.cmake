pimsim_fuzz_target(onnx ${CMAKE_CURRENT_LIST_DIR}/onnx.c pimsim_recognition)
