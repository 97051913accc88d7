/*
 * No allocation in steady state: by jemalloc's count of bytes the thread ever allocated where the build has
 * jemalloc, and in every build by the size of the kernel's pool.
 */
#include "tests/unit/kernel/test_kernel.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef PIMSIM_JEMALLOC
#include <jemalloc/jemalloc.h>

/* Where jemalloc counts the bytes that this thread ever allocated. */
static const volatile uint64_t *allocated_bytes(void)
{
    volatile uint64_t *allocated = NULL;
    size_t size = sizeof allocated;
    ck_assert_int_eq(mallctl("thread.allocatedp", &allocated, &size, NULL, 0), 0);
    return allocated;
}

/* The count itself must work, or the test below would pass whatever happens. */
START_TEST(the_count_of_jemalloc_moves)
{
    const volatile uint64_t *allocated = allocated_bytes();
    uint64_t before = *allocated;
    void *volatile memory = malloc(100);
    uint64_t after = *allocated;
    ck_assert_ptr_nonnull(memory);
    ck_assert_uint_ge(after - before, 100);
    free(memory);
}
END_TEST
#else
static const volatile uint64_t *allocated_bytes(void)
{
    static const uint64_t nothing_counted = 0;
    printf("built without jemalloc: its count is skipped, the pool's is checked\n");
    return &nothing_counted;
}
#endif

#define PENDING 3000

struct load {
    struct pim_event timer;
    uint64_t random;
};

static uint64_t draw(struct load *load)
{
    load->random = load->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return load->random >> 33;
}

static void nothing(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    (void)context;
}

static void work(struct pim_kernel *kernel, void *context)
{
    struct load *load = context;
    uint64_t kind = draw(load) % 100;
    pim_time delay = kind < 90 ? draw(load) % 64 : kind < 95 ? draw(load) % 4000 : draw(load) % 100000;
    pim_kernel_schedule(kernel, delay, PIM_PHASE_UNIT, work, load);
    if (kind % 8 == 0)
        pim_event_reschedule(kernel, &load->timer, draw(load) % 2000, PIM_PHASE_UNIT);
    if (kind % 8 == 1)
        (void)pim_event_cancel(kernel, &load->timer);
}

START_TEST(nothing_is_allocated_in_steady_state)
{
    struct pim_kernel *kernel = pim_kernel_create();
    struct load load = {.random = 7};
    pim_event_initialize(&load.timer, nothing, NULL);
    for (int i = 0; i < PENDING; i++)
        pim_kernel_schedule(kernel, 0, PIM_PHASE_UNIT, work, &load);
    ck_assert_int_eq(pim_kernel_run(kernel, 100000), PIM_RUN_UNTIL);
    uint64_t records = kernel->records;
    uint64_t events = pim_kernel_events(kernel);
    const volatile uint64_t *allocated = allocated_bytes();
    uint64_t bytes = *allocated;
    enum pim_run_end end = pim_kernel_run(kernel, 300000);
    bytes = *allocated - bytes; /* before any check, which allocates */
    ck_assert_int_eq(end, PIM_RUN_UNTIL);
    ck_assert_uint_gt(pim_kernel_events(kernel), events + 100000);
    ck_assert_uint_eq(bytes, 0);
    ck_assert_uint_eq(kernel->records, records);
    ck_assert_uint_le(records, 2 * PENDING);
    pim_kernel_destroy(kernel);
}
END_TEST

Suite *kernel_allocation_suite(void)
{
    Suite *suite = suite_create("kernel_allocation");
    TCase *tcase = tcase_create("allocation");
#ifdef PIMSIM_JEMALLOC
    tcase_add_test(tcase, the_count_of_jemalloc_moves);
#endif
    tcase_add_test(tcase, nothing_is_allocated_in_steady_state);
    suite_add_tcase(suite, tcase);
    return suite;
}
