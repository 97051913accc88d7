# One interface target carries the private compile flags; nothing writes CMAKE_C_FLAGS.
add_library(pimsim_flags INTERFACE)
target_compile_options(pimsim_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wvla -Wwrite-strings
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wcast-qual -Wcast-align -Wpointer-arith
  -Wformat=2 -Wdouble-promotion -Wimplicit-fallthrough -Wswitch-enum
  -ffp-contract=off)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(pimsim_flags INTERFACE -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wnull-dereference)
endif()
if(PIMSIM_WERROR)
  target_compile_options(pimsim_flags INTERFACE -Werror)
endif()
if(PIMSIM_SANITIZE)
  target_compile_options(pimsim_flags INTERFACE -fsanitize=${PIMSIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(pimsim_flags INTERFACE -fsanitize=${PIMSIM_SANITIZE})
endif()
target_compile_definitions(pimsim_flags INTERFACE _POSIX_C_SOURCE=200809L PIMSIM_VERSION="${PROJECT_VERSION}")
target_include_directories(pimsim_flags INTERFACE ${PROJECT_SOURCE_DIR})

# pimsim_library(NAME SOURCES... ) makes one room's static library with the house flags.
function(pimsim_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE pimsim_flags)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()

# pimsim_test(NAME SOURCES ... LINK ... SUITES ...) makes one Check program and one ctest entry for each suite.
function(pimsim_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LINK;SUITES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE pimsim_test_main ${ARG_LINK} PkgConfig::CHECK pimsim_flags)
  if(NOT ARG_LABEL)
    set(ARG_LABEL quick)
  endif()
  foreach(suite IN LISTS ARG_SUITES)
    add_test(NAME ${name}.${suite} COMMAND ${name})
    set_tests_properties(${name}.${suite} PROPERTIES
      ENVIRONMENT "CK_RUN_SUITE=${suite};PIMSIM_SOURCE_DIR=${PROJECT_SOURCE_DIR}" LABELS ${ARG_LABEL} TIMEOUT 600)
  endforeach()
endfunction()
