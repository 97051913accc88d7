pimsim_test(test_services
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/services.c ${CMAKE_CURRENT_LIST_DIR}/test_arena.c
          ${CMAKE_CURRENT_LIST_DIR}/test_random.c ${CMAKE_CURRENT_LIST_DIR}/test_histogram.c
          ${CMAKE_CURRENT_LIST_DIR}/test_json.c
          ${CMAKE_CURRENT_LIST_DIR}/test_csv.c ${CMAKE_CURRENT_LIST_DIR}/test_output.c
          ${CMAKE_CURRENT_LIST_DIR}/test_progress.c ${CMAKE_CURRENT_LIST_DIR}/test_timeline.c
  LINK pimsim_sim
  SUITES arena random histogram json csv output progress timeline)
