# The hardware as mappers see it, read from configurations, and the closed forms on it.
pimsim_test(test_machine
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_estimates.c
  LINK pimsim_estimate pimsim_system
  SUITES estimates)

# Ways through meshes and tori.
pimsim_test(test_ways
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_ways.c
  LINK pimsim_machine pimsim_noc
  SUITES ways)
