pimsim_test(test_traffic
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_traffic.c
  LINK pimsim_traffic
  SUITES traffic_patterns traffic_lists traffic_measure)
pimsim_test(test_traffic_curves
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_curves.c
  LINK pimsim_traffic
  SUITES traffic_curves
  LABEL long)
pimsim_test(test_traffic_watch
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_watch.c
  LINK pimsim_traffic
  SUITES traffic_watch)
