pimsim_test(test_place
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/place.c
  LINK pimsim_place
  SUITES place)
