/*
 * Worms sent as runs or by flit, whichever pays (struct noc_crowd): the cycles are the same, flits and
 * blocked cycles of links too, and the choice follows the traffic.
 */
#include "tests/unit/noc/cases.h"
#include "tests/unit/noc/suites.h"

#include "models/noc/internal.h"
#include "models/noc/mesh/mesh.h"

#include <stdio.h>

enum { CASES = 30 };

static void delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct list_packet *packet = &((struct list *)context)->packets[delivery->packet];
    packet->delivered = true;
    packet->head_injected = delivery->head_injected;
    packet->tail_injected = delivery->tail_injected;
    packet->head_arrived = delivery->head_arrived;
    packet->tail_arrived = delivery->tail_arrived;
    packet->hops = delivery->hops;
}

struct outcome {
    uint64_t flits, blocked; /* of all links */
    bool by_flit, runs;      /* what packets of more than 8 flits were sent as */
    unsigned returns;        /* to the evaluation for packets that are sent by flit */
};

/* `window`: evaluations after which the choice is made anew; 0: as it is by default. */
static struct outcome run(const struct pim_noc_configuration *configuration, struct list *list,
                          uint64_t window)
{
    struct pim_noc_callbacks callbacks = {.context = list, .delivered = delivered};
    struct pim_noc *noc;
    struct pim_error error = {.status = PIM_OK};
    if (pim_noc_create(configuration, NULL, 1, &callbacks, &noc, &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
    if (window)
        noc->mesh->crowd.window = window;
    struct outcome outcome = {0};
    size_t sent = 0;
    for (uint64_t steps = 1;; steps++) {
        uint64_t cycle = pim_noc_next_cycle(noc);
        if (sent < list->count && list->packets[sent].created < cycle)
            cycle = list->packets[sent].created;
        if (cycle == UINT64_MAX)
            break;
        for (; sent < list->count && list->packets[sent].created == cycle; sent++)
            pim_noc_send_at(noc, cycle, list->packets[sent].source, list->packets[sent].destination,
                            list->packets[sent].flits, sent);
        bool brief = noc->mesh->brief;
        pim_noc_step(noc, cycle);
        outcome.returns += !brief && noc->mesh->brief;
        outcome.by_flit |= noc->mesh->crowd.left > 0;
        outcome.runs |= !noc->mesh->brief && noc->mesh->crowd.left == 0;
        if (steps % 64 == 0 && pim_noc_check(noc, &error) != PIM_OK)
            ck_abort_msg("%s", error.text);
    }
    uint32_t nodes = configuration->width * configuration->height;
    for (uint32_t i = 0; i < nodes * 6; i++) {
        outcome.flits += (i + 1) * pim_noc_link_flits(noc, i / 6, (enum pim_noc_direction)(i % 6));
        outcome.blocked += (i + 1) * pim_noc_link_blocked_cycles(noc, i / 6, (enum pim_noc_direction)(i % 6));
    }
    pim_noc_destroy(noc);
    return outcome;
}

static struct list random_worms(struct pim_random *random, uint32_t nodes)
{
    struct list list = {0};
    uint32_t longest = pick(random, 9, 300), gap = pick(random, 1, 40);
    uint64_t cycle = 0;
    for (unsigned i = 0; i < 400; i++) {
        list_add(&list, cycle, pick(random, 0, nodes - 1), pick(random, 0, nodes - 1),
                 chance(random, 3) ? pick(random, 1, 9) : pick(random, 9, longest));
        cycle += chance(random, 60) ? 3000 : pick(random, 0, gap);
    }
    return list;
}

/* The choice is made anew every few evaluations, so that runs and single flits meet everywhere. */
START_TEST(same_cycles)
{
    struct pim_random random;
    pim_random_initialize(&random, 52001 + (uint64_t)_i);
    struct pim_noc_configuration configuration = random_mesh(&random);
    struct list expected = random_worms(&random, configuration.width * configuration.height);
    struct list found = list_copy(&expected);
    char what[32];
    (void)snprintf(what, sizeof what, "seed %d", 52001 + _i);
    struct outcome runs = run(&configuration, &expected, UINT64_MAX);
    struct outcome mixed = run(&configuration, &found, pick(&random, 1, 200));
    list_expect_same(&expected, &found, what);
    ck_assert_uint_eq(runs.flits, mixed.flits);
    ck_assert_uint_eq(runs.blocked, mixed.blocked);
    ck_assert(!runs.by_flit);
    list_free(&expected);
    list_free(&found);
}
END_TEST

/* Worms to random nodes at a load of 0.3 go by flit; rings of neighbours stay runs. */
START_TEST(follows_the_traffic)
{
    struct pim_noc_configuration configuration = eight_channels();
    struct pim_random random;
    pim_random_initialize(&random, 7);
    struct list crowd = {0}, rings = {0};
    for (uint64_t cycle = 0; cycle < 3000; cycle++)
        for (uint32_t node = 0; node < 64; node++)
            if (chance(&random, 53))
                list_add(&crowd, cycle, node, pick(&random, 0, 63), 16);
    for (uint64_t round = 0; round < 40; round++)
        for (uint32_t node = 0; node < 64; node++)
            list_add(&rings, 700 * round, node, (node + 8) % 64, 600);
    struct outcome crowded = run(&configuration, &crowd, 0), quiet = run(&configuration, &rings, 0);
    ck_assert(crowded.by_flit && crowded.runs); /* it begins with runs */
    ck_assert(quiet.runs && !quiet.by_flit);
    list_free(&crowd);
    list_free(&rings);
}
END_TEST

/* When the last of some worms has arrived, packets of few flits are evaluated as if there had been none; for
 * worms that follow, they are not. */
START_TEST(quiet_again)
{
    struct pim_noc_configuration configuration = eight_channels();
    struct pim_random random;
    pim_random_initialize(&random, 71 + (uint64_t)_i);
    configuration.link_latency = pick(&random, 1, 5);
    struct list list = {0};
    for (uint64_t phase = 0; phase < 6; phase++)
        for (uint64_t cycle = 2000 * phase; cycle < 2000 * phase + 900; cycle++)
            if (phase % 2 ? chance(&random, 2) : cycle % 2000 < 40)
                list_add(&list, cycle, pick(&random, 0, 63), pick(&random, 0, 63), phase % 2 ? 3 : 60);
    struct list expected = list_copy(&list);
    struct outcome fast = run(&configuration, &list, 0);
    configuration.step_every_cycle = true;
    struct outcome stepped = run(&configuration, &expected, 0);
    list_expect_same(&expected, &list, "worms, then short packets");
    ck_assert_uint_eq(fast.flits, stepped.flits);
    ck_assert_uint_eq(fast.blocked, stepped.blocked);
    ck_assert_uint_ge(fast.returns, 2); /* the last worms may go by flit */
    list_free(&expected);
    list_free(&list);
}
END_TEST

Suite *crowd_suite(void)
{
    Suite *suite = suite_create("noc_crowd");
    TCase *tests = tcase_create("runs and single flits");
    tcase_add_loop_test(tests, same_cycles, 0, PIM_DRAWS(CASES));
    tcase_add_test(tests, follows_the_traffic);
    tcase_add_loop_test(tests, quiet_again, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
