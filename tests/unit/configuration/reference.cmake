# cmake -DPROGRAM=pimsim -DPAGE=docs/reference/configuration.md -P reference.cmake: fails
# when the page is not what the program prints.
execute_process(COMMAND ${PROGRAM} config schema --format markdown RESULT_VARIABLE code OUTPUT_VARIABLE made)
file(READ ${PAGE} page)
if(NOT code EQUAL 0 OR NOT made STREQUAL page)
  message(FATAL_ERROR "${PAGE} is out of date: pimsim config schema --format markdown > ${PAGE}")
endif()
