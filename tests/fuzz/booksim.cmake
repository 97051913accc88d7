pimsim_fuzz_target(booksim ${CMAKE_CURRENT_LIST_DIR}/booksim.c pimsim_booksim)
