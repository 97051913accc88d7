/* Servers of the timing of schedules: what they give, against a server that looks at every cycle. */
#include "mappers/pimcomp/cost/server.h"
#include "sim/random.h"
#include "tests/unit/pimcomp/cases.h"

#include <inttypes.h>

enum { KEPT = 12, HORIZON = 1 << 14, REQUESTS = 400 };

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

START_TEST(alone)
{
    struct pim_arena arena;
    struct pim_server server;
    pim_arena_initialize(&arena, 0);
    ck_assert(pim_server_make(&server, KEPT, &arena));
    ck_assert_uint_eq(pim_server_take(&server, 5, 0), 5);
    ck_assert_uint_eq(pim_server_take(&server, 5, 3), 8);
    ck_assert_uint_eq(pim_server_take(&server, 1000, 100), 1100);
    ck_assert_uint_eq(pim_server_take(&server, 980, 12), 992);
    /* told of late: eight cycles before those that were given, the others behind them */
    ck_assert_uint_eq(pim_server_take(&server, 990, 16), 1108);
    ck_assert_uint_eq(pim_server_take(&server, 980, 1), 1109);
    ck_assert_uint_eq(pim_server_take(&server, 970, 10), 980);
    ck_assert_uint_eq(pim_server_take(&server, 970, 1), 1110);
    ck_assert_uint_eq(server.tail - server.head, 2);
    pim_arena_terminate(&arena);
}
END_TEST

/* Requests in the order of their arrival: first come, first served. */
START_TEST(in_order)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct pim_arena arena;
        struct pim_server server;
        struct pim_random random;
        uint64_t at = 0, free_at = 0;
        pim_arena_initialize(&arena, 0);
        pim_random_initialize(&random, seed);
        ck_assert(pim_server_make(&server, seed % 8, &arena));
        for (unsigned i = 0; i < REQUESTS; i++) {
            at += pim_random_below(&random, seed % 4 ? 8 : 40);
            uint64_t cycles = 1 + pim_random_below(&random, seed % 3 ? 12 : 60);
            free_at = most(free_at, at) + cycles;
            ck_assert_uint_eq(pim_server_take(&server, at, cycles), free_at);
        }
        pim_arena_terminate(&arena);
    }
}
END_TEST

/* Requests in any order, against a server that gives its free cycles one by one; with few intervals kept what
 * is long past is not given, and everything else is. */
START_TEST(any_order)
{
    static bool given[HORIZON];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct pim_arena arena;
        struct pim_server server;
        struct pim_random random;
        const bool all = seed % 4 != 0;
        pim_arena_initialize(&arena, 0);
        pim_random_initialize(&random, seed);
        ck_assert(pim_server_make(&server, all ? KEPT : 4, &arena));
        for (unsigned i = 0; i < HORIZON; i++)
            given[i] = false;
        for (unsigned i = 0; i < REQUESTS; i++) {
            uint64_t at = pim_random_below(&random, HORIZON / 4), cycles = 1 + pim_random_below(&random, 30);
            uint64_t served = pim_server_take(&server, at, cycles), place = at;
            if (!all) {
                ck_assert_uint_ge(served, at + cycles);
                ck_assert_uint_le(server.tail - server.head, 16);
                continue;
            }
            for (; cycles > 0; place++) { /* plainly: cycle by cycle */
                cycles -= !given[place];
                given[place] = true;
            }
            ck_assert_uint_eq(served, place);
        }
        for (uint32_t i = server.head + 1; i < server.tail; i++)
            ck_assert_uint_lt(server.busy[(i - 1) & server.mask].end, server.busy[i & server.mask].begin);
        pim_arena_terminate(&arena);
    }
}
END_TEST

Suite *timing_suite(void)
{
    Suite *suite = suite_create("timing");
    TCase *t = tcase_create("server");
    tcase_add_test(t, alone);
    tcase_add_test(t, in_order);
    tcase_add_test(t, any_order);
    suite_add_tcase(suite, t);
    return suite;
}
