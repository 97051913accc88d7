# The public interface, through the library's static parts; threads for its first invariant.
find_package(Threads REQUIRED)
pimsim_test(test_api
  SOURCES unit/api/test_api.c unit/api/test_refusals.c unit/api/test_results.c unit/api/test_together.c
    unit/api/support.c
  LINK pimsim_system pimsim_traces pimsim_sim PkgConfig::JANSSON Threads::Threads
  SUITES api_refusals api_results api_together)
