pimsim_test(test_noc_general
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_noc_general.c ${CMAKE_CURRENT_LIST_DIR}/test_equal.c ${CMAKE_CURRENT_LIST_DIR}/test_loads.c ${CMAKE_CURRENT_LIST_DIR}/test_sets.c ${CMAKE_CURRENT_LIST_DIR}/test_links.c
          ${CMAKE_CURRENT_LIST_DIR}/test_match.c ${CMAKE_CURRENT_LIST_DIR}/test_shapes.c ${CMAKE_CURRENT_LIST_DIR}/test_rules.c
          ${CMAKE_CURRENT_LIST_DIR}/test_topologies.c ${CMAKE_CURRENT_LIST_DIR}/support.c ${CMAKE_CURRENT_LIST_DIR}/../noc/lists.c ${CMAKE_CURRENT_LIST_DIR}/../noc/cases.c
  LINK pimsim_noc PkgConfig::ZSTD
  SUITES noc_general_equal noc_general_loads noc_general_sets noc_general_links noc_general_match noc_general_shapes noc_general_rules noc_general_topologies)
