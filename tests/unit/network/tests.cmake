pimsim_test(test_network
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/networks.c ${CMAKE_CURRENT_LIST_DIR}/test_operators.c
          ${CMAKE_CURRENT_LIST_DIR}/test_graph.c ${CMAKE_CURRENT_LIST_DIR}/test_published.c
          ${CMAKE_CURRENT_LIST_DIR}/test_view.c ${CMAKE_CURRENT_LIST_DIR}/test_padding.c
          ${CMAKE_CURRENT_LIST_DIR}/test_descriptor.c ${CMAKE_CURRENT_LIST_DIR}/test_print.c ${CMAKE_CURRENT_LIST_DIR}/test_convolutional.c ${CMAKE_CURRENT_LIST_DIR}/test_sliding.c ${CMAKE_CURRENT_LIST_DIR}/test_layer_table.c
  LINK pimsim_network
  SUITES operators graph published view padding descriptor print convolutional sliding layer_table)
