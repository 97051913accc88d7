/*
 * Running the kernel: order of plain events, the three ends of a run, going on after each, looking ahead.
 */
#include "tests/unit/kernel/test_kernel.h"

#include <signal.h>

static struct pim_kernel *kernel;
static struct notes notes;
static struct note note[NOTES];
static char text[512];

static void set_up(void)
{
    kernel = pim_kernel_create();
    ck_assert_ptr_nonnull(kernel);
    notes.count = 0;
    for (int i = 0; i < NOTES; i++)
        note[i] = (struct note){&notes, i};
}

static void tear_down(void)
{
    pim_kernel_destroy(kernel);
}

static void at(pim_time time, enum pim_phase phase, int id)
{
    pim_kernel_schedule_at(kernel, time, phase, note_handler, &note[id]);
}

START_TEST(fires_by_time_then_phase_then_insertion)
{
    at(5, PIM_PHASE_UNIT, 1);
    at(5, PIM_PHASE_NETWORK, 2);
    at(3, PIM_PHASE_UNIT, 3);
    at(5, PIM_PHASE_NETWORK, 4);
    at(0, PIM_PHASE_ENGINE, 5);
    at(5, PIM_PHASE_MEMORY, 6);
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    ck_assert_str_eq(notes_text(&notes, text, sizeof text), "5 3 2 4 6 1");
    ck_assert_uint_eq(notes.fired[4].time, 5);
    ck_assert_int_eq(notes.fired[4].phase, PIM_PHASE_MEMORY);
    ck_assert_uint_eq(pim_kernel_now(kernel), 5);
    ck_assert_uint_eq(pim_kernel_events(kernel), 6);
}
END_TEST

/*
 * Every distance goes a different way (near list, far list, heap, the next epochs of each), and must come
 * out sorted.
 */
START_TEST(fires_at_the_exact_tick_from_every_level)
{
    static const pim_time times[] = {0,
                                     1,
                                     127,
                                     128,
                                     255,
                                     256,
                                     257,
                                     65535,
                                     65536,
                                     65663,
                                     65791,
                                     65792,
                                     65793,
                                     65920,
                                     66000,
                                     70000,
                                     1000000,
                                     UINT64_C(1) << 40,
                                     PIM_TIME_LAST};
    const int count = (int)(sizeof times / sizeof times[0]);
    for (int i = count; i-- > 0;)
        at(times[i], PIM_PHASE_UNIT, i);
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    ck_assert_int_eq(notes.count, count);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(notes.fired[i].id, i);
        ck_assert_uint_eq(notes.fired[i].time, times[i]);
    }
}
END_TEST

static void same_time_later(struct pim_kernel *k, void *context)
{
    note_handler(k, context);
    pim_kernel_schedule(k, 0, PIM_PHASE_UNIT, note_handler, &note[10]);
    pim_kernel_schedule(k, 0, PIM_PHASE_MEMORY, note_handler, &note[11]);
    pim_kernel_schedule(k, 0, PIM_PHASE_MEMORY, note_handler, &note[12]);
    pim_kernel_schedule(k, 1, PIM_PHASE_NETWORK, note_handler, &note[13]);
}

START_TEST(delay_zero_goes_behind_the_same_phase_and_before_later_ones)
{
    pim_kernel_schedule(kernel, 7, PIM_PHASE_MEMORY, same_time_later, &note[1]);
    at(7, PIM_PHASE_MEMORY, 2);
    at(7, PIM_PHASE_ENGINE, 3);
    at(7, PIM_PHASE_UNIT, 4);
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    ck_assert_str_eq(notes_text(&notes, text, sizeof text), "1 2 11 12 3 4 10 13");
}
END_TEST

START_TEST(until_is_included_and_moves_now)
{
    at(10, PIM_PHASE_UNIT, 1);
    at(11, PIM_PHASE_NETWORK, 2);
    at(5000, PIM_PHASE_NETWORK, 3);
    ck_assert_int_eq(pim_kernel_run(kernel, 10), PIM_RUN_UNTIL);
    ck_assert_int_eq(notes.count, 1);
    ck_assert_uint_eq(pim_kernel_now(kernel), 10);
    ck_assert_int_eq(pim_kernel_run(kernel, 4999), PIM_RUN_UNTIL);
    ck_assert_int_eq(notes.count, 2);
    ck_assert_uint_eq(pim_kernel_now(kernel), 4999);
    pim_kernel_schedule(kernel, 0, PIM_PHASE_NETWORK, note_handler, &note[4]);
    pim_kernel_schedule(kernel, 1, PIM_PHASE_NETWORK, note_handler, &note[5]);
    ck_assert_int_eq(pim_kernel_run(kernel, 100), PIM_RUN_UNTIL); /* the past: nothing happens */
    ck_assert_uint_eq(pim_kernel_now(kernel), 4999);
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    ck_assert_str_eq(notes_text(&notes, text, sizeof text), "1 2 4 3 5");
}
END_TEST

START_TEST(an_empty_queue_leaves_now_where_it_was)
{
    ck_assert_int_eq(pim_kernel_run(kernel, 100), PIM_RUN_EMPTY);
    ck_assert_uint_eq(pim_kernel_now(kernel), 0);
    at(40, PIM_PHASE_UNIT, 1);
    ck_assert_int_eq(pim_kernel_run(kernel, 100), PIM_RUN_EMPTY);
    ck_assert_uint_eq(pim_kernel_now(kernel), 40);
    at(41, PIM_PHASE_NETWORK, 2);
    ck_assert_int_eq(pim_kernel_run(kernel, 41), PIM_RUN_EMPTY);
    ck_assert_int_eq(notes.count, 2);
}
END_TEST

static void stop_handler(struct pim_kernel *k, void *context)
{
    note_handler(k, context);
    pim_kernel_stop(k);
    /* After the stop, still from the same handler: goes behind what waits in this list. */
    pim_kernel_schedule(k, 0, PIM_PHASE_MEMORY, note_handler, &note[20]);
}

START_TEST(a_stop_inside_a_list_keeps_the_rest_in_order)
{
    at(9, PIM_PHASE_MEMORY, 1);
    pim_kernel_schedule(kernel, 9, PIM_PHASE_MEMORY, stop_handler, &note[2]);
    at(9, PIM_PHASE_MEMORY, 3);
    at(9, PIM_PHASE_MEMORY, 4);
    at(9, PIM_PHASE_UNIT, 5);
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_STOPPED);
    ck_assert_str_eq(notes_text(&notes, text, sizeof text), "1 2");
    ck_assert_uint_eq(pim_kernel_now(kernel), 9);
    ck_assert_uint_eq(pim_kernel_next_time(kernel), 9);
    at(9, PIM_PHASE_MEMORY, 6);
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    ck_assert_str_eq(notes_text(&notes, text, sizeof text), "1 2 3 4 20 6 5");
}
END_TEST

START_TEST(a_stop_by_the_last_event_is_a_stop)
{
    pim_kernel_schedule(kernel, 0, PIM_PHASE_MEMORY, stop_handler, &note[0]);
    pim_kernel_stop(kernel); /* outside a run: nothing */
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_STOPPED);
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    ck_assert_str_eq(notes_text(&notes, text, sizeof text), "0 20");
}
END_TEST

static pim_time seen_next;

static void look_ahead(struct pim_kernel *k, void *context)
{
    note_handler(k, context);
    seen_next = pim_kernel_next_time(k);
}

START_TEST(next_time_finds_every_level)
{
    static const pim_time times[] = {PIM_TIME_LAST, 100000, 65000, 300, 200, 3};
    ck_assert_uint_eq(pim_kernel_next_time(kernel), PIM_TIME_NEVER);
    for (int i = 0; i < 6; i++) {
        pim_kernel_schedule_at(kernel, times[i], PIM_PHASE_UNIT, look_ahead, &note[i]);
        ck_assert_uint_eq(pim_kernel_next_time(kernel), times[i]);
    }
    ck_assert_uint_eq(pim_kernel_now(kernel), 0);
    for (int i = 5; i >= 0; i--) {
        ck_assert_int_eq(pim_kernel_run(kernel, times[i]), i > 0 ? PIM_RUN_UNTIL : PIM_RUN_EMPTY);
        ck_assert_uint_eq(seen_next, i > 0 ? times[i - 1] : PIM_TIME_NEVER);
    }
    pim_kernel_schedule(kernel, 0, PIM_PHASE_UNIT, look_ahead, &note[6]);
    pim_kernel_schedule(kernel, 0, PIM_PHASE_UNIT, note_handler, &note[7]);
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    ck_assert_uint_eq(seen_next, PIM_TIME_LAST);
}
END_TEST

START_TEST(kernels_are_independent)
{
    struct pim_kernel *other = pim_kernel_create();
    struct notes other_notes = {.count = 0};
    struct note mine = {&other_notes, 1};
    pim_kernel_schedule(other, 3, PIM_PHASE_UNIT, note_handler, &mine);
    at(2, PIM_PHASE_UNIT, 2);
    at(4, PIM_PHASE_UNIT, 3);
    ck_assert_int_eq(pim_kernel_run(kernel, 3), PIM_RUN_UNTIL);
    ck_assert_int_eq(other_notes.count, 0);
    ck_assert_uint_eq(pim_kernel_now(other), 0);
    ck_assert_int_eq(pim_kernel_run(other, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    ck_assert_int_eq(notes.count, 1);
    pim_kernel_destroy(other);
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    ck_assert_int_eq(notes.count, 2);
}
END_TEST

/* ---- what ends the process, in every build ---- */

static void go_back_a_phase(struct pim_kernel *k, void *context)
{
    pim_kernel_schedule(k, 0, PIM_PHASE_NETWORK, note_handler, context);
}

START_TEST(an_earlier_phase_of_this_tick_is_refused)
{
    pim_kernel_schedule(kernel, 4, PIM_PHASE_MEMORY, go_back_a_phase, &note[0]);
    (void)pim_kernel_run(kernel, PIM_TIME_NEVER);
}
END_TEST

START_TEST(the_past_is_refused)
{
    at(10, PIM_PHASE_NETWORK, 1);
    at(20, PIM_PHASE_NETWORK, 2);
    (void)pim_kernel_run(kernel, 10);
    at(9, PIM_PHASE_UNIT, 3);
}
END_TEST

static void run_again(struct pim_kernel *k, void *context)
{
    (void)context;
    (void)pim_kernel_run(k, PIM_TIME_NEVER);
}

START_TEST(a_run_inside_a_run_is_refused)
{
    pim_kernel_schedule(kernel, 0, PIM_PHASE_MEMORY, run_again, NULL);
    (void)pim_kernel_run(kernel, PIM_TIME_NEVER);
}
END_TEST

/* Would wrap round to a tick that is there. */
START_TEST(a_delay_that_overflows_is_refused)
{
    static const pim_time delays[] = {PIM_TIME_LAST - 9, UINT64_C(1) << 62, UINT64_MAX, UINT64_MAX - 9};
    struct pim_event event;
    at(10, PIM_PHASE_NETWORK, 1);
    (void)pim_kernel_run(kernel, 10);
    pim_event_initialize(&event, note_handler, &note[0]);
    if (_i < 4)
        pim_kernel_schedule(kernel, delays[_i], PIM_PHASE_UNIT, note_handler, &note[0]);
    else
        pim_event_schedule(kernel, &event, delays[_i - 4], PIM_PHASE_UNIT);
}
END_TEST

START_TEST(the_last_tick_is_allowed)
{
    at(10, PIM_PHASE_NETWORK, 1);
    (void)pim_kernel_run(kernel, 10);
    pim_kernel_schedule(kernel, PIM_TIME_LAST - 10, PIM_PHASE_UNIT, note_handler, &note[0]);
    ck_assert_uint_eq(pim_kernel_next_time(kernel), PIM_TIME_LAST);
}
END_TEST

START_TEST(a_value_that_is_cut_is_refused)
{
    ck_assert_uint_eq(pim_narrow_32(UINT32_MAX), UINT32_MAX);
    ck_assert_uint_eq(pim_narrow_16(UINT16_MAX), UINT16_MAX);
    if (_i == 0)
        (void)pim_narrow_32((uint64_t)UINT32_MAX + 1);
    else
        (void)pim_narrow_16((uint64_t)UINT16_MAX + 1);
}
END_TEST

Suite *kernel_run_suite(void)
{
    Suite *suite = suite_create("kernel_run");
    TCase *tcase = tcase_create("run");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, fires_by_time_then_phase_then_insertion);
    tcase_add_test(tcase, fires_at_the_exact_tick_from_every_level);
    tcase_add_test(tcase, delay_zero_goes_behind_the_same_phase_and_before_later_ones);
    tcase_add_test(tcase, until_is_included_and_moves_now);
    tcase_add_test(tcase, an_empty_queue_leaves_now_where_it_was);
    tcase_add_test(tcase, a_stop_inside_a_list_keeps_the_rest_in_order);
    tcase_add_test(tcase, a_stop_by_the_last_event_is_a_stop);
    tcase_add_test(tcase, next_time_finds_every_level);
    tcase_add_test(tcase, kernels_are_independent);
    tcase_add_test(tcase, the_last_tick_is_allowed);
    if (tests_fork()) {
        tcase_add_test_raise_signal(tcase, an_earlier_phase_of_this_tick_is_refused, SIGABRT);
        tcase_add_test_raise_signal(tcase, the_past_is_refused, SIGABRT);
        tcase_add_test_raise_signal(tcase, a_run_inside_a_run_is_refused, SIGABRT);
        tcase_add_loop_test_raise_signal(tcase, a_delay_that_overflows_is_refused, SIGABRT, 0, 8);
        tcase_add_loop_test_raise_signal(tcase, a_value_that_is_cut_is_refused, SIGABRT, 0, 2);
    }
    suite_add_tcase(suite, tcase);
    return suite;
}
