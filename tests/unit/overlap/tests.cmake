set(overlap ${CMAKE_CURRENT_LIST_DIR})
pimsim_test(test_overlap
  SOURCES ${overlap}/overlap.c ${overlap}/random_case.c ${overlap}/test_golden.c ${overlap}/test_property.c ${overlap}/test_nest.c
          ${overlap}/test_refusal.c
  LINK pimsim_overlapim
  SUITES golden property nest refusal)
pimsim_test(test_overlap_long
  SOURCES ${overlap}/long.c ${overlap}/random_case.c
  LINK pimsim_overlapim
  LABEL long
  SUITES pairs)
