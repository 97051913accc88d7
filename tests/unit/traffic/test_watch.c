/*
 * A packet that is watched, among packets that stand in its way: what is told agrees with when it was
 * injected and arrived, and between routing and leaving a head does something, or waits, in every cycle.
 */
#include "models/traffic/traffic.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PACKETS = 60, STAGES = 4096, NODES = 9, WIDTH = 3 };

struct watched {
    struct pim_noc_stage stages[STAGES];
    size_t count;
};

static void take(void *context, const struct pim_noc_stage *stage)
{
    struct watched *watched = context;
    if (watched->count == STAGES)
        ck_abort_msg("more than %d stages", STAGES);
    watched->stages[watched->count++] = *stage;
}

/* The cycle of a flit's stage at a place; UINT64_MAX: none. How often it stands there goes to `times`. */
static uint64_t find(const struct watched *watched, enum pim_noc_stage_kind kind, uint32_t place,
                     uint64_t flit, unsigned *times)
{
    uint64_t cycle = UINT64_MAX;
    *times = 0;
    for (size_t i = 0; i < watched->count; i++) {
        const struct pim_noc_stage *stage = &watched->stages[i];
        if (stage->kind == kind && stage->place == place && stage->flit == flit) {
            cycle = stage->cycle;
            ++*times;
        }
    }
    return cycle;
}

static uint64_t expect_once(const struct watched *watched, enum pim_noc_stage_kind kind, uint32_t place,
                            uint64_t flit)
{
    unsigned times;
    uint64_t cycle = find(watched, kind, place, flit, &times);
    ck_assert_uint_eq(times, 1);
    return cycle;
}

/* What the head does at a router in cycles of [from, to): one thing in each. Returns how many are waits. */
static unsigned expect_every_cycle(const struct watched *watched, uint32_t router, uint64_t from, uint64_t to)
{
    unsigned waits = 0;
    for (uint64_t cycle = from; cycle < to; cycle++) {
        unsigned found = 0;
        for (size_t i = 0; i < watched->count; i++) {
            const struct pim_noc_stage *stage = &watched->stages[i];
            bool here = stage->place == router && stage->flit == 0 && stage->cycle == cycle;
            found += here && stage->kind >= PIM_NOC_CHANNEL_TAKEN && stage->kind != PIM_NOC_CONSUMED;
            waits += here && stage->kind >= PIM_NOC_CHANNEL_WAITED;
        }
        if (found != 1)
            ck_abort_msg("router %" PRIu32 ", cycle %" PRIu64 ": %u stages", router, cycle, found);
    }
    return waits;
}

START_TEST(stages)
{
    struct pim_noc_configuration noc;
    struct pim_listed_packet packets[PACKETS];
    struct pim_noc_delivery plain[PACKETS], deliveries[PACKETS];
    struct pim_traffic_result result;
    struct pim_error error = {.status = PIM_OK};
    static struct watched watched;
    watched.count = 0;
    pim_noc_configuration_initialize(&noc);
    noc.width = noc.height = WIDTH;
    noc.virtual_channels = 2;
    noc.buffer_flits = 2;
    noc.routing_delay = (uint32_t)_i % 2;
    noc.speculative = _i / 2 % 2;
    for (uint32_t i = 0; i < PACKETS; i++)
        packets[i] = (struct pim_listed_packet){.cycle = i / 4,
                                                .source = i * 5 % NODES,
                                                .destination = i % 3 == 0 ? 8 : i * 7 % NODES,
                                                .flits = 1 + i % 5,
                                                .tag = {.task = PIM_NOC_NO_TASK}};
    const uint32_t number = 27; /* from node 0 to node 8, 3 flits */
    packets[number].source = 0;
    const struct pim_packet_list list = {packets, PACKETS};
    const struct pim_traffic_watch watch = {.packet = number, .stage = take, .context = &watched};
    ck_assert_int_eq(pim_traffic_replay(&noc, &list, true, NULL, plain, &result, &error), PIM_OK);
    pim_traffic_result_terminate(&result);
    ck_assert_int_eq(pim_traffic_replay(&noc, &list, true, &watch, deliveries, &result, &error), PIM_OK);
    pim_traffic_result_terminate(&result);
    for (uint32_t i = 0; i < PACKETS; i++) /* watching changes no cycle */
        ck_assert(plain[i].tail_arrived == deliveries[i].tail_arrived &&
                  plain[i].head_injected == deliveries[i].head_injected);
    const struct pim_noc_delivery *delivery = &deliveries[number];
    uint64_t last = delivery->flits - 1;
    ck_assert_uint_eq(expect_once(&watched, PIM_NOC_INJECTED, 0, 0), delivery->head_injected);
    ck_assert_uint_eq(expect_once(&watched, PIM_NOC_INJECTED, 0, last), delivery->tail_injected);
    ck_assert_uint_eq(expect_once(&watched, PIM_NOC_CONSUMED, 8, 0), delivery->head_arrived);
    ck_assert_uint_eq(expect_once(&watched, PIM_NOC_CONSUMED, 8, last), delivery->tail_arrived);
    static const uint32_t way[] = {0, 1, 2, 5, 8};
    unsigned waits = 0;
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        uint64_t routed = expect_once(&watched, PIM_NOC_ROUTED, way[i], 0);
        uint64_t left = expect_once(&watched, PIM_NOC_SWITCH_WON, way[i], 0);
        ck_assert_uint_ge(routed, expect_once(&watched, PIM_NOC_BUFFERED, way[i], 0) + noc.routing_delay);
        ck_assert_uint_gt(expect_once(&watched, PIM_NOC_SWITCH_WON, way[i], last), left);
        if (!noc.speculative)
            waits += expect_every_cycle(&watched, way[i], routed, left);
    }
    ck_assert(noc.speculative || waits > 0);
}
END_TEST

/* A packet alone that comes twice through a router, on its way to a random one and back: it waits nowhere. */
START_TEST(twice)
{
    enum { FLITS = 40 };
    struct pim_noc_configuration noc;
    struct pim_noc_delivery delivery;
    struct pim_traffic_result result;
    struct pim_error error = {.status = PIM_OK};
    static struct watched watched;
    struct pim_listed_packet packet = {
        .source = 1, .destination = 1, .flits = FLITS, .tag = {.task = PIM_NOC_NO_TASK}};
    const struct pim_packet_list list = {&packet, 1};
    const struct pim_traffic_watch watch = {.packet = 0, .stage = take, .context = &watched};
    watched.count = 0;
    pim_noc_configuration_initialize(&noc);
    noc.width = 5;
    noc.height = 1;
    noc.routing = PIM_NOC_VALIANT;
    noc.seed = (uint64_t)_i;
    ck_assert_int_eq(pim_traffic_replay(&noc, &list, true, &watch, &delivery, &result, &error), PIM_OK);
    pim_traffic_result_terminate(&result);
    unsigned times;
    (void)find(&watched, PIM_NOC_SWITCH_WON, 1, 0, &times);
    ck_assert_uint_eq(times, delivery.hops == 1 ? 1 : 2);
    for (size_t i = 0; i < watched.count; i++)
        if (watched.stages[i].kind >= PIM_NOC_CHANNEL_WAITED)
            ck_abort_msg("flit %" PRIu64 " waits in cycle %" PRIu64, watched.stages[i].flit,
                         watched.stages[i].cycle);
    ck_assert_uint_eq(watched.count, (delivery.hops * 2 + 2) * FLITS + delivery.hops * 2);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("traffic_watch");
    TCase *tests = tcase_create("watch");
    tcase_add_loop_test(tests, stages, 0, 4);
    tcase_add_loop_test(tests, twice, 0, 8);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
