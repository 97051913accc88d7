pimsim_test(test_noc
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_noc.c ${CMAKE_CURRENT_LIST_DIR}/lists.c ${CMAKE_CURRENT_LIST_DIR}/cases.c
          ${CMAKE_CURRENT_LIST_DIR}/test_micro.c ${CMAKE_CURRENT_LIST_DIR}/test_golden.c ${CMAKE_CURRENT_LIST_DIR}/test_run_length.c
          ${CMAKE_CURRENT_LIST_DIR}/test_crowd.c ${CMAKE_CURRENT_LIST_DIR}/test_blocked.c ${CMAKE_CURRENT_LIST_DIR}/test_watchdog.c
          ${CMAKE_CURRENT_LIST_DIR}/test_network.c ${CMAKE_CURRENT_LIST_DIR}/test_estimate.c
  LINK pimsim_noc PkgConfig::ZSTD
  SUITES noc_micro noc_golden noc_run_length noc_crowd noc_blocked noc_watchdog noc_network noc_estimate)
