# The PIMCOMP front-end. Every part adds its own suites here.
pimsim_test(test_pimcomp
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/suites.c ${CMAKE_CURRENT_LIST_DIR}/cases.c
          ${CMAKE_CURRENT_LIST_DIR}/test_lower.c ${CMAKE_CURRENT_LIST_DIR}/test_partition.c
          ${CMAKE_CURRENT_LIST_DIR}/test_layout.c ${CMAKE_CURRENT_LIST_DIR}/search/test_search.c
          ${CMAKE_CURRENT_LIST_DIR}/test_architecture.c ${CMAKE_CURRENT_LIST_DIR}/test_timing.c
          ${CMAKE_CURRENT_LIST_DIR}/search/test_refinement.c
  LINK pimsim_pimcomp pimsim_network pimsim_system
  SUITES architecture lower partition layout search refinement timing)

# Numbers: programs are executed and held against the direct evaluation of the network.
pimsim_test(test_pimcomp_functional
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/values/functional.c ${CMAKE_CURRENT_LIST_DIR}/values/nets.c ${CMAKE_CURRENT_LIST_DIR}/values/forms.c
          ${CMAKE_CURRENT_LIST_DIR}/values/test_evaluate.c ${CMAKE_CURRENT_LIST_DIR}/values/test_execute.c
          ${CMAKE_CURRENT_LIST_DIR}/values/test_functional.c ${CMAKE_CURRENT_LIST_DIR}/values/test_segments.c
  LINK pimsim_pimcomp pimsim_network pimsim_system
  SUITES evaluate execute functional segments)

# The low-latency schedule.
pimsim_test(test_pimcomp_low_latency
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/low_latency.c ${CMAKE_CURRENT_LIST_DIR}/values/nets.c ${CMAKE_CURRENT_LIST_DIR}/values/forms.c
          ${CMAKE_CURRENT_LIST_DIR}/trial.c
          ${CMAKE_CURRENT_LIST_DIR}/test_local_heap.c ${CMAKE_CURRENT_LIST_DIR}/test_low_latency.c
  LINK pimsim_pimcomp pimsim_network pimsim_system
  SUITES local_heap low_latency)

# The high-throughput schedule.
pimsim_test(test_pimcomp_high_throughput
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/high_throughput.c ${CMAKE_CURRENT_LIST_DIR}/values/nets.c ${CMAKE_CURRENT_LIST_DIR}/values/forms.c
          ${CMAKE_CURRENT_LIST_DIR}/trial.c
          ${CMAKE_CURRENT_LIST_DIR}/test_high_throughput.c
  LINK pimsim_pimcomp pimsim_network pimsim_system
  SUITES high_throughput)

# The command itself.
add_test(NAME map_pimcomp.command COMMAND ${PROJECT_SOURCE_DIR}/tests/map_pimcomp $<TARGET_FILE:pimsim>)
set_tests_properties(map_pimcomp.command PROPERTIES LABELS quick TIMEOUT 1200 COST 190 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
add_test(NAME map_pimcomp.larger COMMAND ${PROJECT_SOURCE_DIR}/tests/map_pimcomp_larger $<TARGET_FILE:pimsim>)
set_tests_properties(map_pimcomp.larger PROPERTIES LABELS long TIMEOUT 1800 COST 300 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")

# Estimate against simulation.
pimsim_test(test_pimcomp_ranking
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_ranking.c
  LINK pimsim_pimcomp
  SUITES ranking)
pimsim_test(test_pimcomp_rank
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/cases.c ${CMAKE_CURRENT_LIST_DIR}/test_rank.c
  LINK pimsim_pimcomp pimsim_learn pimsim_network pimsim_system
  SUITES rank_high_throughput rank_low_latency
  LABEL long)
