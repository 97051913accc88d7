# The results of `pimsim run`: the program itself on a small trace, its JSON held against the contract.
pimsim_test(test_system
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_contract.c
  LINK pimsim_sim PkgConfig::JANSSON
  SUITES contract)
add_dependencies(test_system pimsim)
set_property(TEST test_system.contract APPEND PROPERTY ENVIRONMENT "PIMSIM_PROGRAM=$<TARGET_FILE:pimsim>")

# The keys of the network as quotients.
pimsim_test(test_noc_keys
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_noc_keys.c
  LINK pimsim_system
  SUITES noc_keys)

# The page of the results.
pimsim_test(test_results_page
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_page.c
  SUITES results_page)

# Every key of the hardware on every family of units: refused by name, or it changes something.
pimsim_test(test_keys
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_keys.c ${CMAKE_CURRENT_LIST_DIR}/keys.c ${CMAKE_CURRENT_LIST_DIR}/key_values.c
          ${CMAKE_CURRENT_LIST_DIR}/key_walk.c
  LINK pimsim_system pimsim_traces pimsim_sim PkgConfig::JANSSON
  LABEL long
  SUITES keys)

# The same of networks that are mapped.
pimsim_test(test_map_keys
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_map_keys.c ${CMAKE_CURRENT_LIST_DIR}/key_values.c
          ${CMAKE_CURRENT_LIST_DIR}/key_walk.c
  LINK pimsim_map pimsim_system pimsim_traces pimsim_sim PkgConfig::JANSSON
  LABEL long
  SUITES map_keys)
