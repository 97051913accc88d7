pimsim_test(test_booksim
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_booksim.c ${CMAKE_CURRENT_LIST_DIR}/test_lists.c ${CMAKE_CURRENT_LIST_DIR}/test_requests.c ${CMAKE_CURRENT_LIST_DIR}/../noc/lists.c
          ${CMAKE_CURRENT_LIST_DIR}/../noc_oracle/oracle.c ${CMAKE_CURRENT_LIST_DIR}/../noc_oracle/router.c ${CMAKE_CURRENT_LIST_DIR}/../noc_oracle/match.c ${CMAKE_CURRENT_LIST_DIR}/../noc_oracle/net.c
          ${CMAKE_CURRENT_LIST_DIR}/../noc_oracle/files.c ${CMAKE_CURRENT_LIST_DIR}/../noc_oracle/ways.c
  LINK pimsim_booksim pimsim_noc PkgConfig::ZSTD
  SUITES booksim_text booksim_lists booksim_requests)
