set(overlap ${CMAKE_CURRENT_LIST_DIR})
pimsim_test(test_overlap
  SOURCES ${overlap}/overlap.c ${overlap}/random_case.c ${overlap}/test_golden.c ${overlap}/test_property.c ${overlap}/test_nest.c
          ${overlap}/test_refusal.c ${overlap}/test_search.c ${overlap}/test_near.c ${overlap}/setting.c ${overlap}/test_machine.c ${overlap}/test_values.c
          ${overlap}/test_replay.c ${overlap}/replay.c ${overlap}/test_concat.c
  LINK pimsim_overlapim pimsim_map pimsim_system
  SUITES golden property nest refusal machine search near values replay concat)
pimsim_test(test_overlap_long
  SOURCES ${overlap}/long.c ${overlap}/random_case.c ${overlap}/replay.c
  LINK pimsim_overlapim pimsim_system
  LABEL long
  SUITES pairs networks)
set_tests_properties(test_overlap_long.pairs test_overlap_long.networks PROPERTIES COST 400) # begin early
