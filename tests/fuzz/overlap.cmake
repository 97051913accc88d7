pimsim_fuzz_target(overlap_case ${CMAKE_CURRENT_LIST_DIR}/overlap_case.c pimsim_overlapim)
pimsim_fuzz_target(overlap_constraints ${CMAKE_CURRENT_LIST_DIR}/overlap_constraints.c pimsim_overlapim)
