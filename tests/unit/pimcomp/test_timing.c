/* The timing of schedules: what servers and links give, against ones that look at every cycle, and when
 * conflicts in the local memory let an instruction start, against all that are in its window. */
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

enum { SIDE = 3, CORES = SIDE * SIDE, LONG = 3200, LONG_CYCLES = 100, FIRST = 32768 }; /* 32 bytes a cycle */

/* The links of a way, as a set: to the east, west, south and north of each router, and to its core. */
static uint64_t links_of(uint32_t from, uint32_t to, bool x_first)
{
    uint64_t links = UINT64_C(1) << (5 * to + 4);
    for (unsigned turn = 0; turn < 2; turn++)
        while (x_first == (turn == 0) ? from % SIDE != to % SIDE : from / SIDE != to / SIDE) {
            bool in_row = x_first == (turn == 0), up = in_row ? from % SIDE < to % SIDE : from < to;
            links |= UINT64_C(1) << (5 * from + (in_row ? 0U : 2U) + (up ? 0U : 1U));
            const uint32_t step = in_row ? 1 : SIDE;
            from = up ? from + step : from - step;
        }
    return links;
}

/* The second reads what the first wrote where it is there, the third what the second wrote. */
struct message {
    uint32_t from, to, bytes;
};

/* The estimate of messages, which a core sends and receives in their order. */
static uint64_t time_sent(enum pim_machine_order order, bool synchronous, unsigned count,
                          const struct message *sent)
{
    const struct pim_core_network none = {.count = 0};
    struct pim_core_architecture a = core_architecture(SIDE, SIDE, 1, 32, 32);
    const struct pim_core_mapping mapping = {.network = &none, .architecture = &a};
    struct pim_error error;
    uint64_t cycles, parts[PIM_ESTIMATE_PARTS];
    a.network.order = order;
    a.synchronous = synchronous;
    a.packet_bytes = 64;
    struct pim_core_timing *timing = pim_core_timing_create(&mapping);
    ck_assert_ptr_nonnull(timing);
    const struct pim_instruction begin = {.opcode = PIM_OP_PHASE_BEGIN}, end = {.opcode = PIM_OP_PHASE_END};
    for (uint32_t core = 0; core < CORES; core++)
        pim_core_timing_observe(timing, core, &begin);
    for (unsigned i = 0; i < count; i++) {
        struct pim_instruction message = {.opcode = PIM_OP_SEND};
        message.u.network.peer = sent[i].to;
        message.u.network.bytes = sent[i].bytes;
        message.u.network.address = i > 0 ? FIRST + (i - 1) * 2 * LONG : 0;
        pim_core_timing_observe(timing, sent[i].from, &message);
        message.opcode = PIM_OP_RECEIVE;
        message.u.network.peer = sent[i].from;
        message.u.network.address = FIRST + i * 2 * LONG;
        pim_core_timing_observe(timing, sent[i].to, &message);
    }
    for (uint32_t core = 0; core < CORES; core++)
        pim_core_timing_observe(timing, core, &end);
    ck_assert_int_eq(pim_core_timing_report(timing, NULL, &cycles, parts, &error), PIM_OK);
    pim_core_timing_destroy(timing);
    return cycles;
}

static uint64_t time_messages(enum pim_machine_order order, unsigned count, const struct message *sent)
{
    return time_sent(order, true, count, sent);
}

/* Two long messages of different cores to different cores: where they share a link one stands behind the
 * other, whose first flit came a few routers of 5 cycles earlier; where they share none, or their ways are
 * not known, nobody does. */
START_TEST(shared_links)
{
    unsigned shared = 0;
    for (uint32_t pair = 0; pair < CORES * CORES * CORES * CORES; pair++) {
        const struct message sent[2] = {{pair % CORES, pair / CORES % CORES, LONG},
                                        {pair / CORES / CORES % CORES, pair / CORES / CORES / CORES, LONG}};
        const uint32_t cores = 1U << sent[0].from | 1U << sent[0].to | 1U << sent[1].from | 1U << sent[1].to;
        if (__builtin_popcount(cores) != 4)
            continue;
        uint64_t single = most(time_messages(PIM_MACHINE_NO_ORDER, 1, &sent[0]),
                               time_messages(PIM_MACHINE_NO_ORDER, 1, &sent[1]));
        ck_assert_uint_eq(time_messages(PIM_MACHINE_NO_ORDER, 2, sent), single);
        for (unsigned order = PIM_MACHINE_X_FIRST; order <= PIM_MACHINE_Y_FIRST; order++) {
            bool x_first = order == PIM_MACHINE_X_FIRST;
            uint64_t both = time_messages((enum pim_machine_order)order, 2, sent);
            if ((links_of(sent[0].from, sent[0].to, x_first) & links_of(sent[1].from, sent[1].to, x_first)) ==
                0) {
                ck_assert_uint_eq(both, single);
                continue;
            }
            shared++;
            const uint64_t served = time_sent((enum pim_machine_order)order, false, 2, sent);
            ck_assert_uint_ge(served + 60, single + LONG_CYCLES); /* asynchronous: no announcements */
            ck_assert_uint_le(served, single + LONG_CYCLES + 30);
            ck_assert_msg(both + 30 >= single + LONG_CYCLES && both <= single + LONG_CYCLES + 30,
                          "%u to %u and %u to %u: %" PRIu64 " cycles, alone %" PRIu64, sent[0].from,
                          sent[0].to, sent[1].from, sent[1].to, both, single);
        }
    }
    ck_assert_uint_gt(shared, 100);
}
END_TEST

/* A message that stands behind another holds its sender, whose next one goes another way, if it is longer
 * than what routers have room for. */
START_TEST(held_senders)
{
    for (unsigned synchronous = 0; synchronous < 2; synchronous++) {
        struct message sent[] = {{1, 2, LONG}, {0, 2, 64}, {0, 6, LONG}};
        uint64_t one = time_sent(PIM_MACHINE_X_FIRST, synchronous, 1, sent);
        uint64_t free_sender = time_sent(PIM_MACHINE_X_FIRST, synchronous, 3, sent);
        ck_assert_uint_le(free_sender, one + 30);
        sent[1].bytes = LONG;
        uint64_t held_sender = time_sent(PIM_MACHINE_X_FIRST, synchronous, 3, sent);
        ck_assert_uint_ge(held_sender, one + 2 * LONG_CYCLES - 30);
        ck_assert_uint_le(held_sender, one + 2 * LONG_CYCLES + 30);
    }
}
END_TEST

/* A short message passes a link before a long one, whose first flit is still on its way there; what comes
 * behind it starts as if there were no other. */
START_TEST(flights)
{
    const struct message sent[] = {{0, 2, LONG}, {1, 5, 64}, {5, 8, LONG}};
    ck_assert_uint_eq(time_messages(PIM_MACHINE_X_FIRST, 3, sent),
                      time_messages(PIM_MACHINE_NO_ORDER, 3, sent));
}
END_TEST

/* --- links --- */

enum { SENT = 12, REST = 7, ROUND = 24 };

struct traffic {
    struct pim_arena arena;
    struct pim_timing_link link;
    struct pim_timing_entry send[SENT], receive[SENT];
    uint32_t count;
};

static void prepare_traffic(struct traffic *traffic)
{
    memset(traffic, 0, sizeof *traffic);
    pim_arena_initialize(&traffic->arena, 0);
    ck_assert(pim_timing_link_make(&traffic->link, &traffic->arena));
}

/* A message of `hold` flits, of which the sender keeps so many. */
static void pass(struct traffic *traffic, unsigned input, uint64_t head, uint64_t hold, uint64_t held,
                 uint64_t now)
{
    const uint32_t i = traffic->count++;
    traffic->send[i].end = traffic->receive[i].end = PIM_TIMING_UNKNOWN;
    pim_timing_link_pass(&traffic->link,
                         &(struct pim_timing_message){.send = &traffic->send[i],
                                                      .receive = &traffic->receive[i],
                                                      .input = input,
                                                      .head = head,
                                                      .hold = hold,
                                                      .rest = REST,
                                                      .flits = hold,
                                                      .held = held},
                         now);
}

START_TEST(messages_share)
{
    struct traffic t;
    prepare_traffic(&t);
    pass(&t, 0, 10, 100, 50, 5);
    ck_assert_uint_eq(t.receive[0].whole, 110 + REST);
    ck_assert_uint_eq(t.send[0].due, 60);
    /* half of the link's cycles from 30 on, until it has passed; the first one is held up as long */
    pass(&t, 1, 30, 20, 0, 8);
    ck_assert_uint_eq(t.receive[1].whole, 70 + REST);
    ck_assert_uint_eq(t.receive[0].whole, 130 + REST);
    ck_assert_uint_eq(t.send[0].due, 70);
    ck_assert_uint_eq(t.send[1].due, 0);
    /* told of last, and the first to come */
    pass(&t, 2, 9, 1, 0, 9);
    ck_assert_uint_eq(t.receive[2].whole, 10 + REST);
    ck_assert_uint_eq(t.receive[0].whole, 130 + REST);
    /* an end that is past stays as it is */
    t.receive[0].end = 100;
    t.send[0].sequence = 1;
    pass(&t, 1, 110, 30, 0, 100);
    ck_assert_uint_eq(t.receive[0].whole, 130 + REST);
    ck_assert_uint_eq(t.send[0].due, 70);
    ck_assert_uint_eq(t.receive[3].whole, 160 + REST);
    pim_arena_terminate(&t.arena);
}
END_TEST

/* Two messages of one input have a quarter each beside one of another. */
START_TEST(inputs_share)
{
    struct traffic t;
    prepare_traffic(&t);
    pass(&t, 0, 0, 100, 0, 0);
    pass(&t, 0, 0, 100, 0, 0);
    pass(&t, 4, 0, 100, 0, 0);
    ck_assert_uint_eq(t.receive[2].whole, 200 + REST);
    ck_assert_uint_eq(t.receive[0].whole, 300 + REST);
    ck_assert_uint_eq(t.receive[1].whole, 300 + REST);
    pim_arena_terminate(&t.arena);
}
END_TEST

/* Messages told of ahead of their arrival, against a link that gives one cycle after the other. */
START_TEST(links_by_cycle)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct traffic t;
        struct pim_random random;
        uint64_t head[SENT], left[SENT], end[SENT], turn[PIM_MACHINE_LINKS] = {0}, now = 0;
        unsigned input[SENT], last = 0;
        prepare_traffic(&t);
        pim_random_initialize(&random, seed);
        for (unsigned i = 0; i < SENT; i++) {
            now += pim_random_below(&random, 30);
            head[i] = now + pim_random_below(&random, 40);
            left[i] = 1 + pim_random_below(&random, 60);
            input[i] = (unsigned)pim_random_below(&random, PIM_MACHINE_LINKS);
            pass(&t, input[i], head[i], left[i], 0, now);
        }
        for (uint64_t at = 0; at < 2000; at++) {
            bool given = false;
            for (unsigned n = 1; n <= PIM_MACHINE_LINKS && !given; n++) {
                const unsigned from = (last + n) % PIM_MACHINE_LINKS;
                for (unsigned m = 1; m <= SENT && !given; m++) {
                    const unsigned i = (unsigned)(turn[from] + m) % SENT;
                    if (input[i] != from || left[i] == 0 || head[i] > at)
                        continue;
                    given = true;
                    end[i] = --left[i] == 0 ? at + 1 : 0;
                    turn[from] = i;
                    last = from;
                }
            }
        }
        for (unsigned i = 0; i < SENT; i++)
            ck_assert_msg(t.receive[i].whole + ROUND >= end[i] + REST &&
                              t.receive[i].whole <= end[i] + REST + ROUND,
                          "seed %" PRIu64 ", message %u: %" PRIu64 ", by cycle %" PRIu64, seed, i,
                          t.receive[i].whole - REST, end[i]);
        pim_arena_terminate(&t.arena);
    }
}
END_TEST

/* More messages than a link keeps. */
START_TEST(crowded_links)
{
    struct pim_arena arena;
    struct pim_timing_link link = {0};
    struct pim_timing_entry send = {0}, receive = {0};
    pim_arena_initialize(&arena, 0);
    ck_assert(pim_timing_link_make(&link, &arena));
    for (unsigned i = 0; i < 4 * PIM_LINK_KEPT; i++) {
        receive = (struct pim_timing_entry){.end = PIM_TIMING_UNKNOWN};
        pim_timing_link_pass(&link,
                             &(struct pim_timing_message){
                                 .send = &send, .receive = &receive, .input = i % 3, .hold = 50, .flits = 50},
                             0);
        ck_assert_uint_ge(receive.whole, i < PIM_LINK_KEPT ? 50 * most(1, i) : 100);
        ck_assert_uint_le(link.count, PIM_LINK_KEPT);
    }
    pim_arena_terminate(&arena);
}
END_TEST

/* On the link from router 2 to 5 a message of the core of 2 has every second cycle beside two that come from
 * the west, so that it is there, and sent on, when it has waited once for a message as long as itself. */
START_TEST(inputs_of_a_router)
{
    const struct message sent[] = {{0, 5, LONG}, {1, 5, LONG}, {2, 8, LONG}, {8, 7, LONG}};
    const uint64_t one = time_messages(PIM_MACHINE_X_FIRST, 1, sent),
                   all = time_messages(PIM_MACHINE_X_FIRST, 4, sent);
    ck_assert_uint_ge(all + 30, one + 2 * LONG_CYCLES);
    ck_assert_uint_le(all, one + 2 * LONG_CYCLES + 60);
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
    tcase_add_test(t, shared_links);
    tcase_add_test(t, held_senders);
    tcase_add_test(t, flights);
    tcase_add_test(t, messages_share);
    tcase_add_test(t, inputs_share);
    tcase_add_test(t, links_by_cycle);
    tcase_add_test(t, crowded_links);
    tcase_add_test(t, inputs_of_a_router);
    suite_add_tcase(suite, t);
    return suite;
}
