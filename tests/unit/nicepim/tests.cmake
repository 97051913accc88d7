set(nicepim ${CMAKE_CURRENT_LIST_DIR})
pimsim_test(test_nicepim
  SOURCES ${nicepim}/nicepim.c ${nicepim}/golden.c ${nicepim}/test_cycles.c ${nicepim}/test_sat.c ${nicepim}/test_space.c ${nicepim}/test_place.c ${nicepim}/test_tokens.c ${nicepim}/test_exchange.c
  LINK pimsim_nicepim pimsim_place
  SUITES cycles sat space place tokens exchange)
pimsim_test(test_nicepim_long
  SOURCES ${nicepim}/long.c ${nicepim}/golden.c
  LINK pimsim_nicepim
  LABEL long
  SUITES first second third last)
set_tests_properties(test_nicepim_long.second test_nicepim_long.third PROPERTIES COST 250)

# Tiles of a product on one node.
pimsim_test(test_nicepim_tiles
  SOURCES ${nicepim}/test_tiles.c ${nicepim}/plans.c ${nicepim}/../estimate/machine.c
  LINK pimsim_nicepim pimsim_network pimsim_machine pimsim_system
  SUITES tiles)

# Programs executed with numbers.
pimsim_test(test_nicepim_values
  SOURCES ${nicepim}/test_values.c ${nicepim}/../pimcomp/values/nets.c ${nicepim}/../pimcomp/values/forms.c
  LINK pimsim_nicepim pimsim_network pimsim_machine pimsim_system
  SUITES values)

# Estimate against simulation.
pimsim_test(test_nicepim_rank
  SOURCES ${nicepim}/test_rank.c
  LINK pimsim_nicepim pimsim_network pimsim_machine pimsim_system
  LABEL long
  SUITES rank)

pimsim_test(test_nicepim_objective
  SOURCES ${nicepim}/test_objective.c ${nicepim}/golden.c
  LINK pimsim_map pimsim_system
  LABEL long
  SUITES objective)

# Corners of the array.
pimsim_test(test_nicepim_corners
  SOURCES ${nicepim}/test_corners.c ${nicepim}/plans.c ${nicepim}/../estimate/machine.c
  LINK pimsim_nicepim pimsim_network pimsim_machine pimsim_system
  SUITES corners)

# Plans against rules of thumb.
pimsim_test(test_nicepim_rules
  SOURCES ${nicepim}/test_rules.c ${nicepim}/plans.c ${nicepim}/../estimate/machine.c ${nicepim}/../pimcomp/values/nets.c
  LINK pimsim_nicepim pimsim_network pimsim_machine pimsim_system
  SUITES rules)

# Cuts that are refined by the estimate of the whole.
pimsim_test(test_nicepim_refine
  SOURCES ${nicepim}/test_refine.c ${nicepim}/plans.c ${nicepim}/../estimate/machine.c
  LINK pimsim_nicepim pimsim_network pimsim_machine pimsim_system
  SUITES refine)

# Programs of all nodes timed together, against simulation.
pimsim_test(test_nicepim_gathered
  SOURCES ${nicepim}/test_gathered.c ${nicepim}/plans.c ${nicepim}/../estimate/machine.c
  LINK pimsim_nicepim pimsim_network pimsim_machine pimsim_system
  SUITES gathered)

# The command itself.
add_test(NAME map_nicepim.command COMMAND ${PROJECT_SOURCE_DIR}/tests/map_nicepim $<TARGET_FILE:pimsim>)
set_tests_properties(map_nicepim.command PROPERTIES LABELS quick TIMEOUT 1200 COST 150 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
add_test(NAME map_nicepim.networks COMMAND ${PROJECT_SOURCE_DIR}/tests/map_nicepim $<TARGET_FILE:pimsim> 4x4 8x8)
set_tests_properties(map_nicepim.networks PROPERTIES LABELS long TIMEOUT 3600 COST 120 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
