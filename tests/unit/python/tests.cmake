find_package(Python3 3.8 COMPONENTS Interpreter)
# The headline figures of the papers, from tables that were saved: needs no program.
if(Python3_FOUND)
  add_test(NAME reproduction.headlines COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/python/test_headlines.py)
  set_tests_properties(reproduction.headlines PROPERTIES LABELS quick TIMEOUT 120 ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endif()

# Bounds that no run beats, and parts that grow wider, on traces of four mappers.
if(Python3_FOUND)
  add_test(NAME bounds COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/python/test_bounds.py)
  set_tests_properties(bounds PROPERTIES LABELS long TIMEOUT 1800
    ENVIRONMENT "PIMSIM=$<TARGET_FILE:pimsim>;PYTHONDONTWRITEBYTECODE=1;${PIMSIM_TEST_ENVIRONMENT}")
endif()

# The Python module over the shared library; a sanitizer's runtime would have to be in the interpreter.
if(Python3_FOUND AND NOT PIMSIM_SANITIZE)
  add_test(NAME python.module COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/python/test_pimsim.py)
  add_test(NAME python.timeline COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/python/test_timeline.py)
  set_tests_properties(python.module python.timeline PROPERTIES LABELS quick TIMEOUT 300
    ENVIRONMENT "PIMSIM=$<TARGET_FILE:pimsim>;PIMSIM_LIBRARY=$<TARGET_FILE:pimsim_shared>;PYTHONDONTWRITEBYTECODE=1;${PIMSIM_TEST_ENVIRONMENT}")
endif()
