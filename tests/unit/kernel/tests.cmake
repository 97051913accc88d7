set(kernel_tests ${CMAKE_CURRENT_LIST_DIR})
pimsim_test(test_kernel
  SOURCES ${kernel_tests}/test_kernel.c ${kernel_tests}/test_run.c ${kernel_tests}/test_event.c
          ${kernel_tests}/test_order.c ${kernel_tests}/order_reference.c
          ${kernel_tests}/test_idle.c ${kernel_tests}/test_clock.c ${kernel_tests}/test_allocation.c
  LINK pimsim_sim
  SUITES kernel_run kernel_event kernel_order kernel_idle clock kernel_allocation)
if(PIMSIM_JEMALLOC)
  target_link_libraries(test_kernel PRIVATE PkgConfig::JEMALLOC)
  target_compile_definitions(test_kernel PRIVATE PIMSIM_JEMALLOC)
endif()
