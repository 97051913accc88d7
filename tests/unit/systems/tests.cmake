# Systems side by side: lists and their messages, terms by hand.
pimsim_test(test_systems
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_list.c ${CMAKE_CURRENT_LIST_DIR}/test_terms.c
    ${CMAKE_CURRENT_LIST_DIR}/test_area_keys.c unit/system/key_values.c unit/api/support.c
  LINK pimsim_systems pimsim_map
  SUITES systems_list systems_terms systems_area_keys)
add_test(NAME systems.command COMMAND ${PROJECT_SOURCE_DIR}/tests/systems $<TARGET_FILE:pimsim>)
set_tests_properties(systems.command PROPERTIES LABELS long TIMEOUT 1200 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
