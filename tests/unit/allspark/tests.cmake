pimsim_test(test_allspark
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/suites.c ${CMAKE_CURRENT_LIST_DIR}/scenario.c
          ${CMAKE_CURRENT_LIST_DIR}/machine.c ${CMAKE_CURRENT_LIST_DIR}/machine_compute.c
          ${CMAKE_CURRENT_LIST_DIR}/reference.c
          ${CMAKE_CURRENT_LIST_DIR}/test_layout.c ${CMAKE_CURRENT_LIST_DIR}/test_plan.c
          ${CMAKE_CURRENT_LIST_DIR}/test_dataflow.c ${CMAKE_CURRENT_LIST_DIR}/test_volumes.c
          ${CMAKE_CURRENT_LIST_DIR}/test_real.c ${CMAKE_CURRENT_LIST_DIR}/test_exchange.c
  LINK pimsim_allspark
  SUITES layout plan dataflow volumes real exchange)
pimsim_test(test_allspark_long
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/long.c ${CMAKE_CURRENT_LIST_DIR}/scenario.c ${CMAKE_CURRENT_LIST_DIR}/test_real.c
  LINK pimsim_allspark
  SUITES others
  LABEL long)
