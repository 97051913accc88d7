pimsim_test(test_noc_routing
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_noc_routing.c ${CMAKE_CURRENT_LIST_DIR}/test_topology.c
          ${CMAKE_CURRENT_LIST_DIR}/test_routing.c ${CMAKE_CURRENT_LIST_DIR}/test_table.c
          ${CMAKE_CURRENT_LIST_DIR}/test_dependency.c ${CMAKE_CURRENT_LIST_DIR}/test_delivery.c
  LINK pimsim_noc
  SUITES noc_topology noc_routing noc_routing_table noc_dependency noc_routing_delivery)
