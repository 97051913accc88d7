/*
 * The test program of the event kernel: its suites, and handlers that they share.
 */
#include "tests/unit/kernel/test_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tests_fork(void)
{
    const char *fork = getenv("CK_FORK");
    return !fork || strcmp(fork, "no") != 0;
}

void note_handler(struct pim_kernel *kernel, void *context)
{
    struct note *note = context;
    struct notes *notes = note->notes;
    ck_assert_int_lt(notes->count, NOTES);
    notes->fired[notes->count].id = note->id;
    notes->fired[notes->count].time = pim_kernel_now(kernel);
    notes->fired[notes->count].phase = pim_kernel_phase(kernel);
    notes->count++;
}

const char *notes_text(const struct notes *notes, char *buffer, size_t size)
{
    size_t length = 0;
    buffer[0] = '\0';
    for (int i = 0; i < notes->count && length < size; i++)
        length += (size_t)snprintf(buffer + length, size - length, "%s%d", i ? " " : "", notes->fired[i].id);
    return buffer;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, kernel_run_suite());
    srunner_add_suite(runner, kernel_event_suite());
    srunner_add_suite(runner, kernel_order_suite());
    srunner_add_suite(runner, kernel_idle_suite());
    srunner_add_suite(runner, clock_suite());
    srunner_add_suite(runner, kernel_allocation_suite());
}
