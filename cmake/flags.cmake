# One interface target carries the private compile flags; nothing writes CMAKE_C_FLAGS.
add_library(pimsim_flags INTERFACE)
target_compile_options(pimsim_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wvla -Wwrite-strings
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wcast-qual -Wcast-align -Wpointer-arith
  -Wformat=2 -Wdouble-promotion -Wimplicit-fallthrough -Wswitch-enum
  -ffp-contract=off -fvisibility=hidden)
# (-Wnull-dereference is left to clang-tidy: without assertions GCC guesses wrongly at -O3.)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(pimsim_flags INTERFACE -Wlogical-op -Wduplicated-cond -Wduplicated-branches)
endif()
if(PIMSIM_WERROR)
  target_compile_options(pimsim_flags INTERFACE -Werror)
endif()
if(PIMSIM_SANITIZE)
  # Left out: these four are half of the time that a build takes. AddressSanitizer sees accesses at NULL and outside of
  # objects; nothing looks for misaligned ones.
  target_compile_options(pimsim_flags INTERFACE -fsanitize=${PIMSIM_SANITIZE}
    -fno-sanitize=null,alignment,object-size,pointer-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<IF:$<BOOL:$<TARGET_PROPERTY:PIMSIM_QUICK_TEST>>,-O0,-O1>)
  target_link_options(pimsim_flags INTERFACE -fsanitize=${PIMSIM_SANITIZE})
  target_compile_definitions(pimsim_flags INTERFACE PIMSIM_SANITIZED)
endif()
if(PIMSIM_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "PIMSIM_FUZZ needs clang (libFuzzer), this is ${CMAKE_C_COMPILER_ID}: cmake --preset asan")
  endif()
  # Edges are counted. Calls at each comparison, which lead a long search to magic words, cost the tests of the same
  # build half of their time again.
  target_compile_options(pimsim_flags INTERFACE -fsanitize=fuzzer-no-link
    -fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/cmake/uncounted.txt
    $<$<NOT:$<BOOL:${PIMSIM_FUZZ_COMPARISONS}>>:-fno-sanitize-coverage=trace-cmp>)
endif()
if(PIMSIM_DEEP_CHECKS)
  target_compile_definitions(pimsim_flags INTERFACE PIMSIM_DEEP_CHECKS)
endif()
if(PIMSIM_COVERAGE)
  target_compile_options(pimsim_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(pimsim_flags INTERFACE --coverage)
endif()
target_compile_definitions(pimsim_flags INTERFACE _POSIX_C_SOURCE=200809L PIMSIM_VERSION="${PROJECT_VERSION}")
target_include_directories(pimsim_flags INTERFACE ${PROJECT_SOURCE_DIR})

# Link-time optimisation of what simulates: folders sim, traces and models. The rooms' objects hold machine code beside
# the bytecode ("fat"), so that an installed libpimsim.a serves any compiler, and tests link the machine code without a
# second optimisation. Only GCC has that.
set(PIMSIM_LTO_USED OFF)
if(PIMSIM_LTO)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT ipo_supported OUTPUT ipo_output LANGUAGES C)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
    message(STATUS "Link-time optimisation: off, ${CMAKE_C_COMPILER_ID} has no fat objects")
  elseif(NOT ipo_supported)
    message(STATUS "Link-time optimisation: off, the compiler does not support it: ${ipo_output}")
  else()
    set(PIMSIM_LTO_USED ON)
    list(REMOVE_ITEM CMAKE_C_COMPILE_OPTIONS_IPO -fno-fat-lto-objects)
    list(APPEND CMAKE_C_COMPILE_OPTIONS_IPO -ffat-lto-objects)
  endif()
endif()

# pimsim_library(NAME SOURCES ... LINK ...) makes one room's static library with the house flags; cmake/library.cmake
# puts the objects of all rooms into libpimsim.
function(pimsim_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE pimsim_flags)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE room)
  if(room MATCHES "^(sim|traces|models)(/|$)")
    set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ${PIMSIM_LTO_USED})
  endif()
  set_property(GLOBAL APPEND PROPERTY PIMSIM_ROOMS ${name})
endfunction()

# pimsim_finish_programs(NAME ...) gives each program that exists its place at the top of the build folder, link-time
# optimisation and the allocator.
function(pimsim_finish_programs)
  foreach(name IN LISTS ARGN)
    if(TARGET ${name})
      set_target_properties(${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} INTERPROCEDURAL_OPTIMIZATION ${PIMSIM_LTO_USED})
      if(PIMSIM_JEMALLOC)
        target_link_libraries(${name} PRIVATE PkgConfig::JEMALLOC)
      endif()
    endif()
  endforeach()
endfunction()

# What a test runs under. No test has a limit of time of its own: ctest's ends what hangs.
set(PIMSIM_TEST_ENVIRONMENT "PIMSIM_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
set(PIMSIM_FUZZ_ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT}")
if(PIMSIM_SANITIZE OR PIMSIM_COVERAGE)
  # Tests of commands try fewer cases of a kind there: an optimised build tries all.
  list(APPEND PIMSIM_TEST_ENVIRONMENT PIMSIM_SANITIZED=1)
  list(APPEND PIMSIM_TEST_ENVIRONMENT UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1)
  # Fuzz targets look for uses of a stack behind its function as well, which takes other tests up to a fifth of their time;
  # there the compilers and clang-tidy do. A quarantine of 8 MiB in place of 256 keeps what was just freed, and the tests in
  # half the time.
  set(PIMSIM_FUZZ_ENVIRONMENT "${PIMSIM_TEST_ENVIRONMENT};ASAN_OPTIONS=detect_stack_use_after_return=1:quarantine_size_mb=8")
  list(APPEND PIMSIM_TEST_ENVIRONMENT ASAN_OPTIONS=quarantine_size_mb=8)
endif()
if(PIMSIM_SANITIZE MATCHES "thread")
  list(APPEND PIMSIM_TEST_ENVIRONMENT CK_FORK=no) # ThreadSanitizer does not follow a fork
endif()

# pimsim_test(NAME SOURCES ... LINK ... SUITES ... [LABEL quick|long]) makes one Check program and one ctest entry for
# each suite.
function(pimsim_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LINK;SUITES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE pimsim_test_main ${ARG_LINK} PkgConfig::CHECK pimsim_flags)
  if(PIMSIM_LTO_USED)
    target_link_options(${name} PRIVATE -fno-lto)
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL quick)
    # Half the time to compile; under a sanitizer -O0, which takes less still. What they test has -O3 and -O1.
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    set_target_properties(${name} PROPERTIES PIMSIM_QUICK_TEST ON)
  endif()
  if(NOT ARG_SUITES)
    message(FATAL_ERROR "pimsim_test(${name}): no SUITES, so nothing of it would run")
  endif()
  foreach(suite IN LISTS ARG_SUITES)
    add_test(NAME ${name}.${suite} COMMAND ${name})
    set_tests_properties(${name}.${suite} PROPERTIES
      ENVIRONMENT "CK_RUN_SUITE=${suite};${PIMSIM_TEST_ENVIRONMENT}" LABELS ${ARG_LABEL} TIMEOUT 1200)
  endforeach()
endfunction()
