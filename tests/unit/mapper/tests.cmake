# Mappers through their common interface: tables of options, plans, traces.
pimsim_test(test_mapper_refusals
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_refusals.c
  LINK pimsim_map
  SUITES refusals)
pimsim_test(test_mapper
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_mapper.c
  LINK pimsim_map
  SUITES mapper)
