/*
 * The suites of the event kernel and of clocks.
 */
#ifndef PIMSIM_TESTS_UNIT_KERNEL_TEST_KERNEL_H
#define PIMSIM_TESTS_UNIT_KERNEL_TEST_KERNEL_H

#include "sim/kernel/kernel.h"
#include "tests/unit/test_main.h"

#include <stdint.h>

Suite *kernel_run_suite(void);
Suite *kernel_event_suite(void);
Suite *kernel_order_suite(void);
Suite *kernel_idle_suite(void);
Suite *clock_suite(void);
Suite *kernel_allocation_suite(void);

/*
 * Whether tests run in processes of their own (not under CK_FORK=no): only then can one end by an
 * assertion.
 */
bool tests_fork(void);

/* A handler that notes when it ran: `context` is a struct note. */
#define NOTES 64

struct notes {
    struct {
        int id;
        pim_time time;
        enum pim_phase phase;
    } fired[NOTES];
    int count;
};

struct note {
    struct notes *notes;
    int id;
};

void note_handler(struct pim_kernel *kernel, void *context);

/* The ids in firing order as text, "3 1 2". `buffer` holds it. */
const char *notes_text(const struct notes *notes, char *buffer, size_t size);

#endif
