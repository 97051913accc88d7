/* When the threads of a sweep stop, asked where a point is left and nowhere else, and what is told as the
 * cause. */
#include "tests/unit/sweep/suites.h"
#include "tests/unit/sweep/support.h"
#include "tools/sweep/result.h"
#include "tools/sweep/trace_pool.h"
#include "tools/sweep/workers.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Points below `wanted` are wanted; after `most` of them time is over. */
struct limit {
    uint64_t wanted, most, done;
};

static enum pim_status is_wanted(void *context, uint64_t point, bool *wanted, struct pim_error *error)
{
    const struct limit *limit = context;
    (void)error;
    *wanted = point < limit->wanted;
    return PIM_OK;
}

static enum pim_status count(void *context, const struct pim_sweep_result *result, struct pim_error *error)
{
    struct limit *limit = context;
    (void)result;
    (void)error;
    limit->done++;
    return PIM_OK;
}

static void run_nothing(void *context, const struct pim_sweep_point *point, struct pim_sweep_result *result)
{
    (void)context;
    pim_sweep_result_initialize(result, point->number);
}

static bool is_over(void *context)
{
    const struct limit *limit = context;
    return limit->done >= limit->most;
}

static void expect(uint64_t wanted, uint64_t most, uint64_t done, bool stopped)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep sweep;
    struct pim_sweep_outcome outcome;
    struct limit limit = {wanted, most, 0};
    const struct pim_sweep_sink sink = {
        .context = &limit, .wanted = is_wanted, .add = count, .run = run_nothing, .stop = is_over};
    pim_sweep_initialize(&sweep);
    vary(&sweep, "noc.flit_bits", "8,16,32,64");
    ck_assert_msg(pim_sweep_work(&sweep, NULL, &sink, 0, 4, 1, 4, true, &outcome, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(outcome.done, done);
    ck_assert(outcome.stopped == stopped && !outcome.interrupted);
    pim_sweep_terminate(&sweep);
}

START_TEST(a_stop_is_asked_for_where_a_point_is_left)
{
    expect(4, 5, 4, false);
    expect(4, 4, 4, false);
    expect(4, 2, 2, true);
    expect(2, 2, 2, false); /* the others are there already */
    expect(0, 0, 0, false);
}
END_TEST

/* Ctrl-C comes while the first point runs; time is over before that, or never. */
struct two_causes {
    bool time_first;
    _Atomic bool over;
    unsigned asked;
};

static enum pim_status want_all(void *context, uint64_t point, bool *wanted, struct pim_error *error)
{
    (void)context;
    (void)point;
    (void)error;
    *wanted = true;
    return PIM_OK;
}

static enum pim_status drop(void *context, const struct pim_sweep_result *result, struct pim_error *error)
{
    (void)context;
    (void)result;
    (void)error;
    return PIM_OK;
}

/* Ends when the Ctrl-C was taken. */
static void interrupt(void *context, const struct pim_sweep_point *point, struct pim_sweep_result *result)
{
    const struct two_causes *causes = context;
    sigset_t pending;
    pim_sweep_result_initialize(result, point->number);
    while (causes->time_first && !causes->over)
        (void)sched_yield();
    ck_assert_int_eq(kill(getpid(), SIGINT), 0);
    do {
        (void)sched_yield();
        ck_assert_int_eq(sigpending(&pending), 0);
    } while (sigismember(&pending, SIGINT));
}

/* At the second point. */
static bool is_over_then(void *context)
{
    struct two_causes *causes = context;
    causes->over = causes->asked++ > 0;
    return causes->over;
}

/* One thread runs a point, the other one is told that time is over; or there is one thread alone. */
START_TEST(the_first_cause_is_told)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep sweep;
    struct pim_sweep_outcome outcome;
    struct two_causes causes = {.time_first = _i == 1};
    const struct pim_sweep_sink sink = {
        .context = &causes, .wanted = want_all, .add = drop, .run = interrupt, .stop = is_over_then};
    pim_sweep_initialize(&sweep);
    vary(&sweep, "noc.flit_bits", "8,16,32,64");
    ck_assert(pim_sweep_work(&sweep, NULL, &sink, 0, 4, 1 + (unsigned)_i, 4, true, &outcome, &error) ==
              PIM_OK);
    ck_assert_uint_eq(outcome.done, 1);
    ck_assert(outcome.stopped && outcome.interrupted == !causes.time_first);
    pim_sweep_terminate(&sweep);
}
END_TEST

Suite *sweep_workers_suite(void)
{
    Suite *suite = suite_create("sweep_workers");
    TCase *tests = tcase_create("sweep_workers");
    tcase_add_test(tests, a_stop_is_asked_for_where_a_point_is_left);
    tcase_add_loop_test(tests, the_first_cause_is_told, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
