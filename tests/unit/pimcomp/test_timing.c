/* Servers of the timing of schedules: what they give, against a server that looks at every cycle. */
#include "mappers/pimcomp/cost/server.h"
#include "sim/random.h"
#include "tests/unit/pimcomp/cases.h"

#include <inttypes.h>

enum { SHIFT = 4, LENGTH = 1 << SHIFT, KEPT = 6, HORIZON = 1 << 14, REQUESTS = 400 };

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

START_TEST(alone)
{
    struct pim_arena arena;
    struct pim_server server;
    pim_arena_initialize(&arena, 0);
    ck_assert(pim_server_make(&server, SHIFT, KEPT, &arena));
    ck_assert_uint_eq(pim_server_take(&server, 5, 0), 5);
    ck_assert_uint_eq(pim_server_take(&server, 5, 3), 8);
    ck_assert_uint_eq(pim_server_take(&server, 1000, 100), 1100);
    ck_assert_uint_eq(pim_server_take(&server, 980, 12), 992);
    /* the buckets from 992 to 1088 are full, the next has 12 cycles left */
    ck_assert_uint_eq(pim_server_take(&server, 1000, 16), 1108);
    pim_arena_terminate(&arena);
}
END_TEST

/* Requests in the order of their arrival: each is served within a bucket of what first come, first served
 * gives, never before its own cycles have passed, and no bucket gives more than it has. */
START_TEST(in_order)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct pim_arena arena;
        struct pim_server server;
        struct pim_random random;
        uint64_t at = 0, free_at = 0;
        pim_arena_initialize(&arena, 0);
        pim_random_initialize(&random, seed);
        ck_assert(pim_server_make(&server, SHIFT, KEPT + 4, &arena));
        for (unsigned i = 0; i < REQUESTS; i++) {
            at += pim_random_below(&random, seed % 4 ? 8 : 40);
            uint64_t cycles = 1 + pim_random_below(&random, seed % 3 ? 12 : 60);
            free_at = most(free_at, at) + cycles;
            uint64_t end = pim_server_take(&server, at, cycles);
            ck_assert_uint_ge(end, at + cycles);
            ck_assert_msg(end <= free_at + LENGTH && end + LENGTH >= free_at,
                          "seed %" PRIu64 ", request %u at %" PRIu64 ": %" PRIu64
                          ", first come first served %" PRIu64,
                          seed, i, at, end, free_at);
        }
        pim_arena_terminate(&arena);
    }
}
END_TEST

/* Requests in any order: together they take no more than the buckets have, and none of them finds less than a
 * server that gives its free cycles one by one. */
START_TEST(any_order)
{
    static uint16_t given[HORIZON / LENGTH];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct pim_arena arena;
        struct pim_server server;
        struct pim_random random;
        pim_arena_initialize(&arena, 0);
        pim_random_initialize(&random, seed);
        ck_assert(pim_server_make(&server, SHIFT, 10, &arena));
        for (unsigned i = 0; i < HORIZON / LENGTH; i++)
            given[i] = 0;
        for (unsigned i = 0; i < REQUESTS; i++) {
            uint64_t at = pim_random_below(&random, HORIZON / 4), left = 1 + pim_random_below(&random, 30);
            uint64_t cycles = left, bucket = at / LENGTH;
            for (;; bucket++) { /* plainly: cycle by cycle */
                while (left > 0 && given[bucket] < LENGTH) {
                    given[bucket]++;
                    left--;
                }
                if (left == 0)
                    break;
            }
            ck_assert_uint_eq(pim_server_take(&server, at, cycles),
                              most(at + cycles, bucket * LENGTH + given[bucket]));
        }
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
