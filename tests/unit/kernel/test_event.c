/*
 * Events that can be cancelled and moved.
 */
#include "tests/unit/kernel/test_kernel.h"

#include <stdlib.h>

static struct pim_kernel *kernel;
static struct notes notes;
static struct note note[NOTES];
static struct pim_event event[NOTES];
static char text[512];

static void set_up(void)
{
    kernel = pim_kernel_create();
    ck_assert_ptr_nonnull(kernel);
    notes.count = 0;
    for (int i = 0; i < NOTES; i++) {
        note[i] = (struct note){&notes, i};
        pim_event_initialize(&event[i], note_handler, &note[i]);
    }
}

static void tear_down(void)
{
    pim_kernel_destroy(kernel);
}

static void run_to_the_end(const char *expected)
{
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    ck_assert_str_eq(notes_text(&notes, text, sizeof text), expected);
}

START_TEST(fires_once_and_can_be_scheduled_again)
{
    ck_assert(!pim_event_pending(&event[1]));
    ck_assert_uint_eq(pim_event_time(&event[1]), PIM_TIME_NEVER);
    pim_event_schedule(kernel, &event[1], 5, PIM_PHASE_UNIT);
    ck_assert(pim_event_pending(&event[1]));
    ck_assert_uint_eq(pim_event_time(&event[1]), 5);
    run_to_the_end("1");
    ck_assert(!pim_event_pending(&event[1]));
    pim_event_schedule_at(kernel, &event[1], 9, PIM_PHASE_UNIT);
    run_to_the_end("1 1");
    ck_assert_uint_eq(notes.fired[1].time, 9);
}
END_TEST

START_TEST(cancel_takes_it_out)
{
    for (int i = 0; i < 4; i++)
        pim_event_schedule_at(kernel, &event[i], 3, PIM_PHASE_MEMORY);
    ck_assert(pim_event_cancel(kernel, &event[0]));
    ck_assert(pim_event_cancel(kernel, &event[2]));
    ck_assert(!pim_event_cancel(kernel, &event[2]));
    ck_assert(!pim_event_pending(&event[2]));
    run_to_the_end("1 3");
    ck_assert_uint_eq(pim_kernel_events(kernel), 2);
}
END_TEST

/*
 * `now`, the next time and the end of a run must not betray that a cancelled event was there, wherever it
 * lay.
 */
START_TEST(cancel_leaves_no_trace_in_time)
{
    static const pim_time times[] = {20, 150, 700, 65000, 100000};
    pim_kernel_schedule_at(kernel, 10, PIM_PHASE_UNIT, note_handler, &note[50]);
    for (int i = 0; i < 5; i++)
        pim_event_schedule_at(kernel, &event[i], times[i], PIM_PHASE_UNIT);
    for (int i = 0; i < 5; i++)
        pim_event_cancel(kernel, &event[i]);
    ck_assert_uint_eq(pim_kernel_next_time(kernel), 10);
    for (int i = 0; i < 5; i++) {
        pim_event_schedule_at(kernel, &event[i], times[i], PIM_PHASE_UNIT);
        pim_event_cancel(kernel, &event[i]);
    }
    run_to_the_end("50");
    ck_assert_uint_eq(pim_kernel_now(kernel), 10);
    /* The wheel had gone past epochs of blanks: now it takes events near `now` again, in order. */
    for (int i = 4; i >= 0; i--)
        pim_event_schedule_at(kernel, &event[i], times[i], PIM_PHASE_UNIT);
    run_to_the_end("50 0 1 2 3 4");
}
END_TEST

START_TEST(a_limited_run_over_blanks_ends_as_if_they_were_not_there)
{
    pim_event_schedule_at(kernel, &event[0], 500, PIM_PHASE_UNIT);
    pim_event_schedule_at(kernel, &event[1], 900, PIM_PHASE_UNIT);
    pim_event_cancel(kernel, &event[0]);
    ck_assert_int_eq(pim_kernel_run(kernel, 600), PIM_RUN_UNTIL);
    ck_assert_uint_eq(pim_kernel_now(kernel), 600);
    pim_event_cancel(kernel, &event[1]);
    ck_assert_int_eq(pim_kernel_run(kernel, 700), PIM_RUN_EMPTY);
    ck_assert_uint_eq(pim_kernel_now(kernel), 600);
    pim_event_schedule_at(kernel, &event[0], 601, PIM_PHASE_NETWORK);
    run_to_the_end("0");
}
END_TEST

START_TEST(reschedule_moves_and_goes_behind_its_equals)
{
    for (int i = 0; i < 3; i++)
        pim_event_schedule_at(kernel, &event[i], 8, PIM_PHASE_UNIT);
    pim_event_reschedule_at(kernel, &event[0], 8, PIM_PHASE_UNIT);
    pim_event_reschedule(kernel, &event[2], 2, PIM_PHASE_UNIT);
    pim_event_reschedule(kernel, &event[3], 1, PIM_PHASE_UNIT); /* was not pending */
    run_to_the_end("3 2 1 0");
}
END_TEST

static void cancel_others(struct pim_kernel *k, void *context)
{
    note_handler(k, context);
    ck_assert(pim_event_cancel(k, &event[2]));  /* behind us in the list that is being fired */
    ck_assert(pim_event_cancel(k, &event[3]));  /* alone in the next list */
    ck_assert(!pim_event_cancel(k, &event[1])); /* already fired */
    pim_event_reschedule(k, &event[4], 0, PIM_PHASE_MEMORY);
}

START_TEST(handlers_cancel_and_move_events_of_the_same_tick)
{
    pim_event_schedule_at(kernel, &event[1], 6, PIM_PHASE_MEMORY);
    pim_kernel_schedule_at(kernel, 6, PIM_PHASE_MEMORY, cancel_others, &note[40]);
    pim_event_schedule_at(kernel, &event[2], 6, PIM_PHASE_MEMORY);
    pim_event_schedule_at(kernel, &event[3], 6, PIM_PHASE_ENGINE);
    pim_event_schedule_at(kernel, &event[4], 6, PIM_PHASE_UNIT);
    pim_event_schedule_at(kernel, &event[5], 6, PIM_PHASE_UNIT);
    run_to_the_end("1 40 4 5");
    ck_assert_uint_eq(pim_kernel_events(kernel), 4);
}
END_TEST

static struct pim_event *owned;
static int freed;

static void free_own_event(struct pim_kernel *k, void *context)
{
    (void)k;
    (void)context;
    free(owned);
    owned = NULL;
    freed++;
}

START_TEST(the_owner_may_go_once_it_is_not_pending)
{
    owned = malloc(sizeof *owned);
    pim_event_initialize(owned, free_own_event, NULL);
    pim_event_schedule(kernel, owned, 4, PIM_PHASE_UNIT);
    struct pim_event *other = malloc(sizeof *other);
    pim_event_initialize(other, free_own_event, NULL);
    pim_event_schedule(kernel, other, 5, PIM_PHASE_UNIT);
    pim_event_cancel(kernel, other);
    free(other);
    run_to_the_end("");
    ck_assert_int_eq(freed, 1);
}
END_TEST

/* A time-out that is moved all the time leaves a blank each time: they must not pile up. */
static uint64_t moves_left;

static void move_time_out(struct pim_kernel *k, void *context)
{
    pim_event_reschedule(k, &event[0], 1000000, PIM_PHASE_UNIT); /* in the heap */
    pim_event_reschedule(k, &event[1], 3000, PIM_PHASE_UNIT);    /* in a far list */
    pim_event_reschedule(k, &event[2], 100, PIM_PHASE_UNIT);     /* in a near list */
    if (--moves_left > 0)
        pim_kernel_schedule(k, 0, PIM_PHASE_UNIT, move_time_out, context);
}

START_TEST(blanks_are_swept_before_memory_grows)
{
    moves_left = 200000;
    pim_kernel_schedule(kernel, 1, PIM_PHASE_UNIT, move_time_out, NULL);
    run_to_the_end("2 1 0");
    ck_assert_uint_eq(pim_kernel_now(kernel), 1000001);
    ck_assert_uint_le(kernel->records, 4096);
}
END_TEST

Suite *kernel_event_suite(void)
{
    Suite *suite = suite_create("kernel_event");
    TCase *tcase = tcase_create("event");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, fires_once_and_can_be_scheduled_again);
    tcase_add_test(tcase, cancel_takes_it_out);
    tcase_add_test(tcase, cancel_leaves_no_trace_in_time);
    tcase_add_test(tcase, a_limited_run_over_blanks_ends_as_if_they_were_not_there);
    tcase_add_test(tcase, reschedule_moves_and_goes_behind_its_equals);
    tcase_add_test(tcase, handlers_cancel_and_move_events_of_the_same_tick);
    tcase_add_test(tcase, the_owner_may_go_once_it_is_not_pending);
    tcase_add_test(tcase, blanks_are_swept_before_memory_grows);
    suite_add_tcase(suite, tcase);
    return suite;
}
