pimsim_fuzz_target(sharing ${CMAKE_CURRENT_LIST_DIR}/sharing.c pimsim_nicepim)
