# cmake -DPROGRAM=pimsim -DFOLDER=. "-DARGUMENTS=a b" -DCODE=2 -DOUTPUT=regex -DERRORS=regex -P command.cmake: runs the
# program and compares its exit code, standard output and standard error (which must be empty where ERRORS is).
separate_arguments(ARGUMENTS)
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} WORKING_DIRECTORY ${FOLDER}
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL CODE)
  message(FATAL_ERROR "exit code ${code}, expected ${CODE}\n${output}\n${errors}")
endif()
if(NOT output MATCHES "${OUTPUT}")
  message(FATAL_ERROR "output does not match ${OUTPUT}:\n${output}")
endif()
if("${output}\n${errors}\n" MATCHES "[ \t]\n")
  message(FATAL_ERROR "blanks at the end of a line:\n${output}\n${errors}")
endif()
if(NOT errors MATCHES "${ERRORS}" OR ("${ERRORS}" STREQUAL "" AND NOT errors STREQUAL ""))
  message(FATAL_ERROR "errors do not match '${ERRORS}':\n${errors}")
endif()
