pimsim_test(test_search
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/suites.c ${CMAKE_CURRENT_LIST_DIR}/test_points.c ${CMAKE_CURRENT_LIST_DIR}/test_exact.c
          ${CMAKE_CURRENT_LIST_DIR}/test_methods.c
  LINK pimsim_search
  SUITES search_points search_exact search_methods)
