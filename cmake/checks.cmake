# Tests of the tree itself: every header compiles alone, and the installed package serves a stranger's project.

# A header compiles alone when its own source includes it first. Each other header gets a source file of its own
# (tools/style looks at the guards).
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/include/*.h ${PROJECT_SOURCE_DIR}/sim/*.h ${PROJECT_SOURCE_DIR}/traces/*.h
  ${PROJECT_SOURCE_DIR}/models/*.h ${PROJECT_SOURCE_DIR}/mappers/*.h ${PROJECT_SOURCE_DIR}/tools/*.h
  ${PROJECT_SOURCE_DIR}/tests/unit/*.h)
foreach(header IN LISTS headers)
  string(REGEX REPLACE "h$" "c" own ${header})
  set(first "")
  if(EXISTS ${PROJECT_SOURCE_DIR}/${own})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${own} first REGEX "^#include" LIMIT_COUNT 1)
  endif()
  if(NOT first STREQUAL "#include \"${header}\"")
    string(REPLACE "/" "_" name ${header})
    set(source ${PROJECT_BINARY_DIR}/headers/${name}.c)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"@header@\"\ntypedef int not_empty;\n" @ONLY)
    list(APPEND header_sources ${source})
  endif()
endforeach()
add_library(pimsim_headers OBJECT EXCLUDE_FROM_ALL ${header_sources})
foreach(dependency IN LISTS PIMSIM_DEPENDENCIES ITEMS CHECK:check)
  string(REGEX REPLACE ":.*" "" prefix ${dependency})
  target_link_libraries(pimsim_headers PRIVATE PkgConfig::${prefix})
endforeach()
target_link_libraries(pimsim_headers PRIVATE pimsim_flags)
target_compile_options(pimsim_headers PRIVATE -O0 -g0) # warnings are asked for, not code
if(CMAKE_GENERATOR MATCHES "Ninja")
  set(keep_going -- -k 0)
elseif(CMAKE_GENERATOR MATCHES "Makefiles")
  set(keep_going -- -k)
endif()
# A sanitizer changes nothing of it.
if(NOT PIMSIM_SANITIZE)
  add_test(NAME headers COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target pimsim_headers ${keep_going})
  set_tests_properties(headers PROPERTIES LABELS quick TIMEOUT 1200 RESOURCE_LOCK build)
endif()

# The package: cmake --install into a fresh folder, then build and run tests/consumer in every documented way.
# A sanitizer's runtime would have to be linked into the stranger's program, so those builds leave it out.
if(NOT PIMSIM_SANITIZE AND NOT PIMSIM_FUZZ AND NOT PIMSIM_COVERAGE)
  add_test(NAME package COMMAND ${PROJECT_SOURCE_DIR}/tests/consumer/check
    ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/consumer ${CMAKE_C_COMPILER} ${PROJECT_VERSION})
  set_tests_properties(package PROPERTIES LABELS quick TIMEOUT 1200 RESOURCE_LOCK build)
endif()

# Manual page and completion know what the program's help lists; a sanitizer changes nothing of that either.
if(TARGET pimsim AND NOT PIMSIM_SANITIZE)
  add_test(NAME manual COMMAND ${PROJECT_SOURCE_DIR}/tests/manual $<TARGET_FILE:pimsim> ${PROJECT_BINARY_DIR}/pimsim.1)
  set_tests_properties(manual PROPERTIES LABELS quick TIMEOUT 1200 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
  add_test(NAME completion COMMAND ${PROJECT_SOURCE_DIR}/tests/completion $<TARGET_FILE:pimsim>)
  set_tests_properties(completion PROPERTIES LABELS quick TIMEOUT 1800 SKIP_RETURN_CODE 77 ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
endif()
