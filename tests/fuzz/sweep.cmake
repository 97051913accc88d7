pimsim_fuzz_target(sweep ${CMAKE_CURRENT_LIST_DIR}/sweep.c pimsim_sweep)
pimsim_fuzz_target(report ${CMAKE_CURRENT_LIST_DIR}/report.c pimsim_report)
