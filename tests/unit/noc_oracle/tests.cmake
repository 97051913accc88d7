set(noc_oracle ${CMAKE_CURRENT_LIST_DIR})
set(noc_oracle_itself ${noc_oracle}/oracle.c ${noc_oracle}/exchange.c ${noc_oracle}/router.c ${noc_oracle}/match.c ${noc_oracle}/net.c ${noc_oracle}/files.c ${noc_oracle}/ways.c)
pimsim_test(test_noc_oracle
  SOURCES ${noc_oracle}/test_noc_oracle.c ${noc_oracle}/test_exchange.c ${noc_oracle}/random_network.c ${noc_oracle}/random_files.c ${noc_oracle_itself}
          ${noc_oracle}/../noc_general/support.c ${noc_oracle}/../noc/lists.c ${noc_oracle}/../noc/cases.c
  LINK pimsim_traffic pimsim_noc PkgConfig::ZSTD
  SUITES noc_oracle_random)

# More of them, in minutes.
set(noc_oracle_cases 1000)
if(PIMSIM_SANITIZE)
  set(noc_oracle_cases 100)
endif()
add_test(NAME test_noc_oracle.long COMMAND test_noc_oracle)
set_tests_properties(test_noc_oracle.long PROPERTIES
  ENVIRONMENT "PIMSIM_ORACLE_FIRST=500001;PIMSIM_ORACLE_CASES=${noc_oracle_cases};${PIMSIM_TEST_ENVIRONMENT}" LABELS long TIMEOUT 1800)
