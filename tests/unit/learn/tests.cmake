set(learn ${CMAKE_CURRENT_LIST_DIR})
pimsim_test(test_learn
  SOURCES ${learn}/learn.c ${learn}/golden.c ${learn}/test_kernels.c ${learn}/test_layers.c ${learn}/test_gaussian.c
          ${learn}/test_trees.c
  LINK pimsim_learn
  SUITES kernels layers gaussian trees)
