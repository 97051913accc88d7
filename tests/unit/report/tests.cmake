# The page of reports: the command, what the page computes, and the page in a browser.
add_test(NAME report.command COMMAND ${PROJECT_SOURCE_DIR}/tests/report/command $<TARGET_FILE:pimsim>)
set_tests_properties(report.command PROPERTIES LABELS quick TIMEOUT 1200 SKIP_RETURN_CODE 77 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
if(PIMSIM_NODE)
  add_test(NAME report.units COMMAND ${PIMSIM_NODE} --test ${PROJECT_SOURCE_DIR}/tests/report/units.mjs)
  set_tests_properties(report.units PROPERTIES LABELS quick TIMEOUT 1200)
endif()
# Skipped, with the reason, without Chromium or a page.
add_test(NAME report.browser COMMAND ${PROJECT_SOURCE_DIR}/tests/report/browser $<TARGET_FILE:pimsim>)
set_tests_properties(report.browser PROPERTIES LABELS long TIMEOUT 600 COST 500 SKIP_RETURN_CODE 77 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
