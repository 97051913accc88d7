/*
 * The deadlock report.
 */
#include "tests/unit/kernel/test_kernel.h"

#include <stdio.h>
#include <string.h>

struct waiter {
    struct pim_pending_work work;
    int unit;
    int lines;
};

static bool waiter_pending(void *context)
{
    return ((struct waiter *)context)->lines > 0;
}

static void waiter_report(void *context, struct pim_idle_report *report)
{
    struct waiter *waiter = context;
    for (int i = 0; i < waiter->lines; i++)
        pim_idle_report_line(report, "unit %d: instruction %d receive from unit %d, channel 7: no message",
                             waiter->unit, i, waiter->unit + 1);
}

static struct pim_kernel *kernel;
static struct pim_error error;

static void set_up(void)
{
    kernel = pim_kernel_create();
    error = (struct pim_error){.status = PIM_OK};
}

static void tear_down(void)
{
    pim_kernel_destroy(kernel);
}

static void add(struct waiter *waiter, int unit, int lines)
{
    *waiter = (struct waiter){.work = {.pending = waiter_pending, .report = waiter_report, .context = waiter},
                              .unit = unit,
                              .lines = lines};
    pim_kernel_add_pending_work(kernel, &waiter->work);
}

START_TEST(nothing_left_is_no_deadlock)
{
    struct waiter idle;
    ck_assert_int_eq(pim_kernel_check_idle(kernel, &error), PIM_OK);
    add(&idle, 1, 0);
    ck_assert_int_eq(pim_kernel_check_idle(kernel, &error), PIM_OK);
    ck_assert_int_eq(error.status, PIM_OK);
}
END_TEST

START_TEST(each_waiter_is_named_in_order)
{
    struct waiter first, idle, last;
    struct notes notes = {.count = 0};
    struct note note = {&notes, 0};
    add(&first, 17, 1);
    add(&idle, 18, 0);
    add(&last, 19, 2);
    pim_kernel_schedule(kernel, 42, PIM_PHASE_UNIT, note_handler, &note);
    ck_assert_int_eq(pim_kernel_check_idle(kernel, &error), PIM_OK); /* an event is pending: not dry yet */
    (void)pim_kernel_run(kernel, PIM_TIME_NEVER);
    ck_assert_int_eq(pim_kernel_check_idle(kernel, &error), PIM_DEADLOCK);
    ck_assert_int_eq(error.status, PIM_DEADLOCK);
    ck_assert_str_eq(error.text, "nothing is scheduled after tick 42, but 2 components have work left:\n"
                                 "  unit 17: instruction 0 receive from unit 18, channel 7: no message\n"
                                 "  unit 19: instruction 0 receive from unit 20, channel 7: no message\n"
                                 "  unit 19: instruction 1 receive from unit 20, channel 7: no message");
}
END_TEST

START_TEST(a_cancelled_event_is_no_hope)
{
    struct waiter waiter;
    struct notes notes = {.count = 0};
    struct note note = {&notes, 0};
    struct pim_event event;
    add(&waiter, 3, 1);
    pim_event_initialize(&event, note_handler, &note);
    pim_event_schedule(kernel, &event, 100, PIM_PHASE_UNIT);
    ck_assert_int_eq(pim_kernel_check_idle(kernel, &error), PIM_OK);
    pim_event_cancel(kernel, &event);
    ck_assert_int_eq(pim_kernel_check_idle(kernel, &error), PIM_DEADLOCK);
}
END_TEST

/* However many wait, the message fits, shows whole lines from the first on, and counts all others. */
START_TEST(a_long_report_is_cut_and_counted)
{
    enum { WAITERS = 1000 };
    static struct waiter waiters[WAITERS];
    for (int i = 0; i < WAITERS; i++)
        add(&waiters[i], i, 1);
    ck_assert_int_eq(pim_kernel_check_idle(kernel, &error), PIM_DEADLOCK);
    ck_assert_uint_lt(strlen(error.text), sizeof error.text);
    int shown = 0;
    char line[128];
    while (snprintf(line, sizeof line,
                    "\n  unit %d: instruction 0 receive from unit %d, channel 7: no message\n", shown,
                    shown + 1) > 0 &&
           strstr(error.text, line))
        shown++;
    ck_assert_int_gt(shown, 20);
    char rest[64];
    (void)snprintf(rest, sizeof rest, "\n  ... and %d more", WAITERS - shown);
    ck_assert_str_eq(error.text + strlen(error.text) - strlen(rest), rest);
}
END_TEST

static void report_giant(void *context, struct pim_idle_report *report)
{
    (void)context;
    pim_idle_report_line(report, "%03000d", 1);
    pim_idle_report_line(report, "short");
}

START_TEST(a_line_longer_than_the_message_is_counted)
{
    struct waiter waiter;
    add(&waiter, 1, 1);
    waiter.work.report = report_giant;
    ck_assert_int_eq(pim_kernel_check_idle(kernel, &error), PIM_DEADLOCK);
    ck_assert_str_eq(error.text,
                     "nothing is scheduled after tick 0, but 1 component has work left:\n  ... and 2 more");
}
END_TEST

START_TEST(removed_work_is_not_asked)
{
    struct waiter a, b, c;
    add(&a, 1, 1);
    add(&b, 2, 1);
    pim_kernel_remove_pending_work(kernel, &b.work);
    add(&c, 3, 1);
    pim_kernel_remove_pending_work(kernel, &a.work);
    ck_assert_int_eq(pim_kernel_check_idle(kernel, &error), PIM_DEADLOCK);
    ck_assert_ptr_null(strstr(error.text, "unit 1:"));
    ck_assert_ptr_null(strstr(error.text, "unit 2:"));
    ck_assert_ptr_nonnull(strstr(error.text, "unit 3:"));
    pim_kernel_remove_pending_work(kernel, &c.work);
    ck_assert_int_eq(pim_kernel_check_idle(kernel, &error), PIM_OK);
}
END_TEST

Suite *kernel_idle_suite(void)
{
    Suite *suite = suite_create("kernel_idle");
    TCase *tcase = tcase_create("idle");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, nothing_left_is_no_deadlock);
    tcase_add_test(tcase, each_waiter_is_named_in_order);
    tcase_add_test(tcase, a_cancelled_event_is_no_hope);
    tcase_add_test(tcase, a_long_report_is_cut_and_counted);
    tcase_add_test(tcase, a_line_longer_than_the_message_is_counted);
    tcase_add_test(tcase, removed_work_is_not_asked);
    suite_add_tcase(suite, tcase);
    return suite;
}
