pimsim_test(test_placement
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/suites.c ${CMAKE_CURRENT_LIST_DIR}/test_dependencies.c
          ${CMAKE_CURRENT_LIST_DIR}/test_binding.c ${CMAKE_CURRENT_LIST_DIR}/test_stage.c
  LINK pimsim_allspark
  SUITES dependencies binding stage)
