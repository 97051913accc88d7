pimsim_test(test_traces
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/traces.c ${CMAKE_CURRENT_LIST_DIR}/support.c
          ${CMAKE_CURRENT_LIST_DIR}/test_file.c ${CMAKE_CURRENT_LIST_DIR}/test_damage.c
          ${CMAKE_CURRENT_LIST_DIR}/test_program.c ${CMAKE_CURRENT_LIST_DIR}/test_text.c
          ${CMAKE_CURRENT_LIST_DIR}/test_check.c ${CMAKE_CURRENT_LIST_DIR}/test_order.c
          ${CMAKE_CURRENT_LIST_DIR}/test_local.c ${CMAKE_CURRENT_LIST_DIR}/test_golden.c
          ${CMAKE_CURRENT_LIST_DIR}/test_page.c
  LINK pimsim_traces
  SUITES file damage program text check order local golden page)
pimsim_test(test_traces_long
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/long.c
  LINK pimsim_traces
  LABEL long
  SUITES long)
