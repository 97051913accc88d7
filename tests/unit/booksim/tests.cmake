pimsim_test(test_booksim
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_booksim.c ${CMAKE_CURRENT_LIST_DIR}/test_lists.c ${CMAKE_CURRENT_LIST_DIR}/test_requests.c ${CMAKE_CURRENT_LIST_DIR}/../noc/lists.c
  LINK pimsim_booksim pimsim_noc PkgConfig::ZSTD
  SUITES booksim_text booksim_lists booksim_requests)
