/* The timing of schedules: what servers give, against a server that looks at every cycle, and when conflicts
 * in the local memory let an instruction start, against all that are in its window. */
#include "mappers/pimcomp/cost/timing_internal.h"
#include "sim/random.h"
#include "tests/unit/pimcomp/cases.h"
#include "traces/local.h"

#include <inttypes.h>
#include <string.h>

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

/* --- conflicts --- */

enum { RING = 1024, INSTRUCTIONS = 3000 };

/* A copy or an addition, small or large, in a local memory of `bytes`. */
static struct pim_instruction any_instruction(struct pim_random *random, uint32_t bytes)
{
    uint32_t address[3], most = pim_random_below(random, 20) ? 300 : bytes;
    for (unsigned i = 0; i < 3; i++)
        address[i] = (uint32_t)pim_random_below(random, bytes);
    if (pim_random_below(random, 2))
        return (struct pim_instruction){
            .opcode = PIM_OP_LOCAL_COPY,
            .u.local_copy = {.destination = address[0],
                             .source = address[1],
                             .bytes = 1 + (uint32_t)pim_random_below(random, most),
                             .count = 1}};
    return (struct pim_instruction){
        .opcode = PIM_OP_LOCAL_VECTOR,
        .detail = PIM_LOCAL_ADD,
        .u.local_vector = {.elements = 1 + (uint32_t)pim_random_below(random, most),
                           .destination = address[0],
                           .source = address[1],
                           .second = address[2],
                           .bits = 8}};
}

/* Rule 2 of docs/models/core.md. */
static bool conflict(const struct pim_instruction *a, const struct pim_instruction *b)
{
    struct pim_local_access x, y;
    pim_local_access_of(a, &x);
    pim_local_access_of(b, &y);
    return pim_local_meet(&x.write, &y.write) || pim_local_meet(&x.write, &y.read[0]) ||
           pim_local_meet(&x.write, &y.read[1]) || pim_local_meet(&x.read[0], &y.write) ||
           pim_local_meet(&x.read[1], &y.write);
}

/* Each instruction is asked for its start as the only one of its engine. Those before it have ended, the last
 * few perhaps not: then one of these is named, and the answer comes when it has. */
static void check_window(uint32_t window, bool ordered, struct pim_random *random)
{
    static struct pim_timing_entry entries[RING];
    static uint64_t obstacles[RING * 16], sequence[RING];
    static struct pim_timing_lines lines[16];
    struct pim_core_timing t = {.a = {.window = window, .in_order = ordered}, .mask = RING - 1, .slots = 1};
    struct pim_timing_core core = {.window = entries, .obstacles = obstacles, .lines = lines};
    while (t.slots < window)
        t.slots *= 2;
    t.words = (t.slots + PIM_TIMING_WORD - 1) / PIM_TIMING_WORD;
    memset(entries, 0, sizeof entries);
    memset(lines, 0, sizeof lines);
    uint32_t bytes = pim_random_below(random, 2) ? 4000 : 200000;
    uint64_t retired = 0; /* end of all that have left the window */
    for (uint64_t n = 0; n < INSTRUCTIONS; n++) {
        struct pim_timing_entry *entry = &entries[n & t.mask];
        if (n >= window)
            retired = most(retired, entries[(n - window) & t.mask].end);
        *entry = (struct pim_timing_entry){.instruction = any_instruction(random, bytes),
                                           .sequence = n,
                                           .start = retired,
                                           .end = PIM_TIMING_UNKNOWN};
        entry->engine = pim_opcode_engine(entry->instruction.opcode);
        pim_timing_touch(&t, &core, entry);
        core.engine[entry->engine] = (struct pim_timing_engine){.sequence = sequence, .tail = 1};
        sequence[0] = n;
        uint64_t start = retired, first = n < window ? 0 : n - window + 1;
        for (uint64_t e = first; e < n; e++) {
            const struct pim_timing_entry *earlier = &entries[e & t.mask];
            if ((ordered && earlier->engine != entry->engine) ||
                conflict(&entry->instruction, &earlier->instruction))
                start = most(start, earlier->end);
        }
        struct pim_timing_entry *last = n > 0 ? &entries[(n - 1) & t.mask] : NULL;
        uint64_t end = last ? last->end : 0;
        bool waits = last && ((ordered && last->engine != entry->engine) ||
                              conflict(&entry->instruction, &last->instruction));
        if (last)
            last->end = PIM_TIMING_UNKNOWN;
        ck_assert_int_eq(pim_timing_ready(&t, &core, entry->engine), !waits);
        ck_assert_ptr_eq(core.engine[entry->engine].blocker, waits ? last : NULL);
        if (last)
            last->end = end;
        ck_assert(!waits || pim_timing_ready(&t, &core, entry->engine));
        ck_assert_uint_eq(entry->start, start);
        entry->end = entry->start + 1 + pim_random_below(random, pim_random_below(random, 10) ? 20 : 2000);
    }
}

START_TEST(conflicts)
{
    struct pim_random random;
    pim_random_initialize(&random, 1);
    const uint32_t windows[] = {4, 5, 24, 63, 64, 65, 128, 200, 500};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        for (unsigned ordered = 0; ordered < 2; ordered++)
            check_window(windows[i], ordered, &random);
}
END_TEST

Suite *timing_suite(void)
{
    Suite *suite = suite_create("timing");
    TCase *t = tcase_create("server");
    tcase_add_test(t, alone);
    tcase_add_test(t, in_order);
    tcase_add_test(t, any_order);
    tcase_add_test(t, conflicts);
    suite_add_tcase(suite, t);
    return suite;
}
