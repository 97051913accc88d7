# Tiles of crossbars as units of a run, against the replay of the same graphs, and by hand.
set(tile ${CMAKE_CURRENT_LIST_DIR})
pimsim_test(test_tile
  SOURCES ${tile}/suites.c ${tile}/support.c ${tile}/test_replay.c ${tile}/test_units.c
  LINK pimsim_map pimsim_map_conflict pimsim_system pimsim_conflict
  SUITES tile_replay tile_units)
add_test(NAME test_tile.pages COMMAND ${tile}/pages $<TARGET_FILE:pimsim>)
set_tests_properties(test_tile.pages PROPERTIES LABELS quick TIMEOUT 1200 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
