/*
 * Clock domains: the common tick, conversions, and modules at edges.
 */
#include "sim/clock.h"
#include "tests/unit/kernel/test_kernel.h"

#include <string.h>

/* ---- the common tick ---- */

START_TEST(ticks_are_the_least_common_multiple)
{
    static const uint64_t khz[] = {1000000, 800000, 1600000, 1333};
    uint64_t ticks = 0;
    pim_time periods[4];
    struct pim_error error = {.status = PIM_OK};
    ck_assert_int_eq(pim_clock_ticks_per_second(khz, 1, NULL, &ticks, periods, &error), PIM_OK);
    ck_assert_uint_eq(ticks, UINT64_C(1000000000));
    ck_assert_uint_eq(periods[0], 1);
    ck_assert_int_eq(pim_clock_ticks_per_second(khz, 3, NULL, &ticks, periods, &error), PIM_OK);
    ck_assert_uint_eq(ticks, UINT64_C(8000000000));
    ck_assert_uint_eq(periods[0], 8);
    ck_assert_uint_eq(periods[1], 10);
    ck_assert_uint_eq(periods[2], 5);
}
END_TEST

START_TEST(impossible_frequencies_are_refused)
{
    static const uint64_t zero[] = {1000, 0};
    static const uint64_t prime[] = {999983, 1000003, 7};
    static const uint64_t huge[] = {UINT64_MAX};
    static const uint64_t limit[] = {UINT64_C(1000000000000), UINT64_C(1000000000000)};
    static const char *const names[] = {"noc.clock_khz", "logic.clock_khz", "dram.clock_khz"};
    uint64_t ticks = 5;
    pim_time periods[3] = {6, 6, 6};
    struct pim_error error = {.status = PIM_OK};
    ck_assert_int_eq(pim_clock_ticks_per_second(zero, 2, names, &ticks, periods, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "logic.clock_khz"));
    ck_assert_int_eq(pim_clock_ticks_per_second(prime, 3, names, &ticks, periods, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "dram.clock_khz"));
    ck_assert_int_eq(pim_clock_ticks_per_second(huge, 1, NULL, &ticks, periods, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(pim_clock_ticks_per_second(huge, 0, NULL, &ticks, periods, &error), PIM_BAD_INPUT);
    ck_assert_uint_eq(ticks, 5);
    ck_assert_uint_eq(periods[0], 6);
    ck_assert_int_eq(pim_clock_ticks_per_second(limit, 2, NULL, &ticks, periods, &error), PIM_OK);
    ck_assert_uint_eq(ticks, PIM_CLOCK_MAX_HZ);
}
END_TEST

START_TEST(cycles_and_ticks)
{
    struct pim_kernel *kernel = pim_kernel_create();
    struct pim_clock *clock = pim_clock_create(kernel, 5);
    static const struct {
        pim_time time;
        uint64_t cycle;
        pim_time at_or_after;
        pim_time after;
    } table[] = {{0, 0, 0, 5}, {1, 0, 5, 5}, {4, 0, 5, 5}, {5, 1, 5, 10}, {6, 1, 10, 10}, {99, 19, 100, 100}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        ck_assert_uint_eq(pim_clock_cycle(clock, table[i].time), table[i].cycle);
        ck_assert_uint_eq(pim_clock_edge_at_or_after(clock, table[i].time), table[i].at_or_after);
        ck_assert_uint_eq(pim_clock_edge_after(clock, table[i].time), table[i].after);
    }
    ck_assert_uint_eq(pim_clock_ticks(clock, 7), 35);
    ck_assert_uint_eq(pim_clock_period(clock), 5);
    ck_assert_ptr_eq(pim_clock_kernel(clock), kernel);
    pim_clock_destroy(clock);
    pim_kernel_destroy(kernel);
}
END_TEST

/* ---- modules ---- */

#define MODULES 200

static struct pim_kernel *kernel;
static struct pim_clock *clock_of_5;
static struct notes notes;
static char text[512];

/* A module runs `cycles` edges; at each it notes its id, and activates `wakes` (if not negative). */
struct module {
    uint32_t clock_id;
    int id;
    int cycles;
    int wakes;
};

static struct module modules[MODULES];

static bool module_tick(void *context, pim_time now)
{
    struct module *module = context;
    ck_assert_uint_eq(now, pim_kernel_now(kernel));
    ck_assert_uint_eq(now % 5, 0);
    struct note note = {&notes, module->id};
    note_handler(kernel, &note);
    if (module->wakes >= 0)
        pim_clock_activate(clock_of_5, modules[module->wakes].clock_id);
    return --module->cycles > 0;
}

static void set_up(void)
{
    kernel = pim_kernel_create();
    clock_of_5 = pim_clock_create(kernel, 5);
    ck_assert_ptr_nonnull(clock_of_5);
    notes.count = 0;
    for (int i = 0; i < MODULES; i++) {
        modules[i] = (struct module){.id = i, .cycles = 1, .wakes = -1};
        enum pim_phase phase = i % 2 ? PIM_PHASE_UNIT : PIM_PHASE_MEMORY;
        modules[i].clock_id = pim_clock_add(clock_of_5, phase, module_tick, &modules[i]);
    }
}

static void tear_down(void)
{
    pim_clock_destroy(clock_of_5);
    pim_kernel_destroy(kernel);
}

static void activate(int id)
{
    pim_clock_activate(clock_of_5, modules[id].clock_id);
}

static void activate_handler(struct pim_kernel *k, void *context)
{
    (void)k;
    activate(((struct module *)context)->id);
}

static void run_to_the_end(const char *expected)
{
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    ck_assert_str_eq(notes_text(&notes, text, sizeof text), expected);
}

START_TEST(modules_run_by_phase_and_id)
{
    activate(199);
    activate(3);
    activate(130);
    activate(0);
    activate(2);
    activate(1);
    activate(1);
    run_to_the_end("0 2 130 1 3 199");
    ck_assert_uint_eq(pim_kernel_now(kernel), 0); /* before the first run: edge 0 */
    ck_assert_uint_eq(pim_kernel_events(kernel), 2);
}
END_TEST

START_TEST(a_module_runs_at_each_edge_while_it_is_active)
{
    modules[4].cycles = 3;
    modules[6].cycles = 2;
    activate(4);
    activate(6);
    run_to_the_end("4 6 4 6 4");
    ck_assert_uint_eq(notes.fired[4].time, 10);
    ck_assert_uint_eq(pim_kernel_events(kernel), 3); /* nothing is scheduled any more */
    ck_assert_uint_eq(pim_kernel_next_time(kernel), PIM_TIME_NEVER);
}
END_TEST

START_TEST(activation_between_edges_waits_for_the_next)
{
    pim_kernel_schedule(kernel, 7, PIM_PHASE_UNIT, activate_handler, &modules[8]);
    pim_kernel_schedule(kernel, 9, PIM_PHASE_NETWORK, activate_handler, &modules[10]);
    run_to_the_end("8 10");
    ck_assert_uint_eq(notes.fired[0].time, 10);
    ck_assert_uint_eq(notes.fired[1].time, 10);
}
END_TEST

/*
 * In the tick of an edge an activation is for the edge after it: from an earlier phase, and whether or not
 * the group is awake for other reasons.
 */
START_TEST(activation_at_an_edge_waits_for_the_next)
{
    bool awake = _i != 0;
    modules[12].cycles = 3;
    if (awake)
        activate(12);
    pim_kernel_schedule(kernel, 5, PIM_PHASE_NETWORK, activate_handler, &modules[14]);
    run_to_the_end(awake ? "12 12 12 14" : "14");
    ck_assert_uint_eq(notes.fired[notes.count - 1].time, 10);
}
END_TEST

START_TEST(activation_after_a_limited_run_is_for_the_next_edge)
{
    struct notes other = {.count = 0};
    struct note note = {&other, 0};
    pim_kernel_schedule(kernel, 1000, PIM_PHASE_UNIT, note_handler, &note);
    ck_assert_int_eq(pim_kernel_run(kernel, 20), PIM_RUN_UNTIL);
    activate(2);
    run_to_the_end("2");
    ck_assert_uint_eq(notes.fired[0].time, 25);
}
END_TEST

/*
 * 22 is woken by 20 at the edge at which it runs itself, and returns false there: it still runs at the
 * next edge.
 */
START_TEST(modules_wake_each_other_for_the_next_edge)
{
    static const pim_time times[] = {0, 5, 5, 10, 10, 15};
    modules[20].cycles = 3;
    modules[20].wakes = 22; /* behind it in the same word */
    activate(20);
    run_to_the_end("20 20 22 20 22 22");
    for (int i = 0; i < notes.count; i++)
        ck_assert_uint_eq(notes.fired[i].time, times[i]);
}
END_TEST

START_TEST(a_module_that_activates_itself_stays)
{
    modules[30].wakes = 30;
    activate(30);
    ck_assert_int_eq(pim_kernel_run(kernel, 22), PIM_RUN_UNTIL);
    ck_assert_str_eq(notes_text(&notes, text, sizeof text), "30 30 30 30 30");
}
END_TEST

static bool add_more(void *context, pim_time now)
{
    (void)now;
    struct module *first = context;
    for (int i = 0; i < 100; i++)
        (void)pim_clock_add(clock_of_5, PIM_PHASE_MEMORY, module_tick, first);
    return false;
}

START_TEST(modules_may_be_added_at_an_edge)
{
    uint32_t id = pim_clock_add(clock_of_5, PIM_PHASE_MEMORY, add_more, &modules[0]);
    uint32_t last = pim_clock_add(clock_of_5, PIM_PHASE_MEMORY, module_tick, &modules[2]);
    pim_clock_activate(clock_of_5, id);
    pim_clock_activate(clock_of_5, last);
    run_to_the_end("2");
}
END_TEST

START_TEST(clocks_of_different_periods_keep_their_edges)
{
    struct pim_clock *slow = pim_clock_create(kernel, 15);
    uint32_t id = pim_clock_add(slow, PIM_PHASE_MEMORY, module_tick, &modules[100]);
    modules[100].cycles = 3;
    modules[40].cycles = 5;
    pim_clock_activate(slow, id);
    activate(40);
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
    int slow_edges = 0;
    int fast_edges = 0;
    for (int i = 0; i < notes.count; i++) {
        if (notes.fired[i].id == 100)
            ck_assert_uint_eq(notes.fired[i].time, 15 * (pim_time)slow_edges++);
        else
            ck_assert_uint_eq(notes.fired[i].time, 5 * (pim_time)fast_edges++);
    }
    ck_assert_int_eq(slow_edges, 3);
    ck_assert_int_eq(fast_edges, 5);
    pim_clock_destroy(slow);
}
END_TEST

Suite *clock_suite(void)
{
    Suite *suite = suite_create("clock");
    TCase *tick = tcase_create("tick");
    tcase_add_test(tick, ticks_are_the_least_common_multiple);
    tcase_add_test(tick, impossible_frequencies_are_refused);
    tcase_add_test(tick, cycles_and_ticks);
    suite_add_tcase(suite, tick);
    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, set_up, tear_down);
    tcase_add_test(edges, modules_run_by_phase_and_id);
    tcase_add_test(edges, a_module_runs_at_each_edge_while_it_is_active);
    tcase_add_test(edges, activation_between_edges_waits_for_the_next);
    tcase_add_loop_test(edges, activation_at_an_edge_waits_for_the_next, 0, 2);
    tcase_add_test(edges, activation_after_a_limited_run_is_for_the_next_edge);
    tcase_add_test(edges, modules_wake_each_other_for_the_next_edge);
    tcase_add_test(edges, a_module_that_activates_itself_stays);
    tcase_add_test(edges, modules_may_be_added_at_an_edge);
    tcase_add_test(edges, clocks_of_different_periods_keep_their_edges);
    suite_add_tcase(suite, edges);
    return suite;
}
