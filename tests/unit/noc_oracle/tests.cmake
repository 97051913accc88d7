pimsim_test(test_noc_oracle
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_noc_oracle.c ${CMAKE_CURRENT_LIST_DIR}/random_network.c ${CMAKE_CURRENT_LIST_DIR}/oracle.c ${CMAKE_CURRENT_LIST_DIR}/router.c
          ${CMAKE_CURRENT_LIST_DIR}/match.c ${CMAKE_CURRENT_LIST_DIR}/net.c ${CMAKE_CURRENT_LIST_DIR}/ways.c
          ${CMAKE_CURRENT_LIST_DIR}/../noc_general/support.c ${CMAKE_CURRENT_LIST_DIR}/../noc/lists.c ${CMAKE_CURRENT_LIST_DIR}/../noc/cases.c
  LINK pimsim_noc PkgConfig::ZSTD
  SUITES noc_oracle_random)
