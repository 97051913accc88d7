/*
 * Sleeping routers against stepped ones: the same cycles of every packet and the same flits on every link,
 * for long worms that cross, compete, block each other and run dry, and for short packets, sparse and dense,
 * under all options of the router.
 */
#include "tests/unit/noc/cases.h"
#include "tests/unit/noc/suites.h"

#include <stdio.h>
#include <stdlib.h>

enum { CASES = 120, SHORT = 100, RINGS = 24, LINKS = 32, CROSSINGS = 400 };

static uint64_t random_length(struct pim_random *random)
{
    switch (pim_random_below(random, 4)) {
    case 0:
        return pick(random, 1, 3);
    case 1:
        return pick(random, 4, 40);
    case 2:
        return pick(random, 41, 400);
    default:
        return chance(random, 8) ? pick(random, 1000, 5000) : pick(random, 400, 1000);
    }
}

/* Bursts of worms between random nodes, some from few nodes to one, some after long pauses. */
static struct list random_list(struct pim_random *random, const struct pim_noc_configuration *configuration)
{
    struct list list = {0};
    uint32_t last = configuration->width * configuration->height - 1;
    uint32_t packets = pick(random, 5, 60), hot = pick(random, 0, last), gap = chance(random, 3) ? 3000 : 60;
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < packets; i++) {
        cycle += pim_random_below(random, gap);
        list_add(&list, cycle, pick(random, 0, last), chance(random, 3) ? hot : pick(random, 0, last),
                 random_length(random));
    }
    return list;
}

static void expect_equal_runs(struct pim_noc_configuration configuration, const struct list *stimulus,
                              const char *what)
{
    struct list fast = list_copy(stimulus), slow = list_copy(stimulus);
    uint64_t *fast_links, *slow_links;
    struct pim_noc_statistics quick = list_run(&configuration, &fast, 53, &fast_links);
    configuration.step_every_cycle = true;
    struct pim_noc_statistics stepped = list_run(&configuration, &slow, 997, &slow_links);
    list_expect_same(&slow, &fast, what);
    size_t links = (size_t)configuration.width * configuration.height * 6;
    for (size_t i = 0; i < links * 2; i++)
        ck_assert_msg(fast_links[i] == slow_links[i], "%s: node %zu, direction %zu: %llu %s instead of %llu",
                      what, i % links / 6, i % 6, (unsigned long long)fast_links[i],
                      i < links ? "flits" : "blocked cycles", (unsigned long long)slow_links[i]);
    ck_assert_uint_eq(quick.flit_hops, stepped.flit_hops);
    free(fast_links);
    free(slow_links);
    list_free(&fast);
    list_free(&slow);
}

/* The usual rules, in which most is done in advance, on the same mesh with the same links and buffers. */
static struct pim_noc_configuration usual_rules(const struct pim_noc_configuration *like)
{
    struct pim_noc_configuration usual;
    pim_noc_configuration_initialize(&usual);
    usual.width = like->width;
    usual.height = like->height;
    usual.virtual_channels = like->virtual_channels;
    usual.buffer_flits = like->buffer_flits;
    usual.link_latency = like->link_latency;
    usual.credit_delay = like->credit_delay;
    return usual;
}

START_TEST(random_worms)
{
    struct pim_random random;
    pim_random_initialize(&random, 20170627 + (uint64_t)_i);
    struct pim_noc_configuration configuration = random_mesh(&random);
    if (_i % 3 == 0)
        configuration = usual_rules(&configuration);
    struct list list = random_list(&random, &configuration);
    configuration.portable = _i % 2;
    char what[64];
    (void)snprintf(what, sizeof what, "seed %d", 20170627 + _i);
    expect_equal_runs(configuration, &list, what);
    list_free(&list);
}
END_TEST

START_TEST(short_packets)
{
    struct pim_random random;
    pim_random_initialize(&random, 4711 + (uint64_t)_i);
    struct pim_noc_configuration configuration = random_mesh(&random);
    if (_i % 2 == 0)
        configuration = usual_rules(&configuration);
    struct list list = random_short_packets(&random, &configuration);
    char what[64];
    (void)snprintf(what, sizeof what, "short packets, seed %d", 4711 + _i);
    configuration.portable = _i % 4 >= 2;
    expect_equal_runs(configuration, &list, what);
    list_free(&list);
}
END_TEST

/* More routers than a processor's near caches hold: memory is asked for in advance. The first two are one of
 * many channels, and one of longer packets on portable routers. */
#ifdef PIMSIM_SANITIZED
enum { LARGE = 2 };
#else
enum { LARGE = 4 };
#endif

START_TEST(large_mesh)
{
    struct pim_random random;
    pim_random_initialize(&random, 1234 + (uint64_t)_i);
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.width = pick(&random, 30, 45);
    configuration.height = pick(&random, 30, 45);
    configuration.virtual_channels = _i == 0 ? 8 : pick(&random, 1, 20);
    configuration.portable = _i % 2;
    struct list list = {0};
    uint32_t nodes = configuration.width * configuration.height;
    for (uint64_t cycle = 0; cycle < 60; cycle++)
        for (uint32_t i = 0; i < 60; i++)
            list_add(&list, cycle, pick(&random, 0, nodes - 1), pick(&random, 0, nodes - 1),
                     pick(&random, 1, _i == 0 ? 1 : 12));
    expect_equal_runs(configuration, &list, "large mesh");
    list_free(&list);
}
END_TEST

/* Every node of a column (odd cases: of a row, or both) sends to the next one, the last one to the first:
 * several rounds. */
static struct list rings(struct pim_random *random, const struct pim_noc_configuration *configuration,
                         int kind)
{
    struct list list = {0};
    uint32_t width = configuration->width, height = configuration->height;
    uint64_t cycle = 0;
    for (uint32_t round = 0; round < 3; round++) {
        uint64_t flits = pick(random, 100, 700);
        for (uint32_t node = 0; node < width * height; node++) {
            uint32_t x = node % width, y = node / width;
            if (kind != 1)
                list_add(&list, cycle, node, x + (y + 1) % height * width, flits);
            if (kind != 0)
                list_add(&list, cycle, node, (x + 1) % width + y * width,
                         flits + (chance(random, 4) ? x : 0));
        }
        cycle += flits + pim_random_below(random, 200);
    }
    return list;
}

START_TEST(rings_of_neighbours)
{
    struct pim_random random;
    pim_random_initialize(&random, 77 + (uint64_t)_i);
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.width = pick(&random, 2, 5);
    configuration.height = pick(&random, 2, 5);
    configuration.virtual_channels = pick(&random, 2, 8);
    configuration.buffer_flits = pick(&random, 3, 12);
    configuration.hold_switch_for_packet = _i % 4 == 3;
    struct list list = rings(&random, &configuration, _i % 3);
    char what[64];
    (void)snprintf(what, sizeof what, "rings, seed %d", 77 + _i);
    expect_equal_runs(configuration, &list, what);
    list_free(&list);
}
END_TEST

/* A few worms on few routers, whose buffers hold about what a round trip of credits takes: streams that
 * stall, run dry and end beside heads and tails of others in every combination of cycles. */
START_TEST(worms_that_cross)
{
    enum { TRIES = PIM_DRAWS(60) };
    struct pim_random random;
    pim_random_initialize(&random, 8101 + (uint64_t)_i);
    for (unsigned try = 0; try < TRIES; try++) {
        struct pim_noc_configuration configuration;
        pim_noc_configuration_initialize(&configuration);
        configuration.width = pick(&random, 2, 4);
        configuration.height = pick(&random, 2, 3);
        configuration.virtual_channels = pick(&random, 1, 4);
        configuration.link_latency = pick(&random, 1, 2);
        configuration.credit_delay = pick(&random, 0, 2);
        configuration.buffer_flits =
            2 * configuration.link_latency + configuration.credit_delay + pick(&random, 2, 6);
        uint32_t last = configuration.width * configuration.height - 1, packets = pick(&random, 3, 12);
        struct list list = {0};
        uint64_t cycle = 0;
        for (uint32_t i = 0; i < packets; i++) {
            list_add(&list, cycle, pick(&random, 0, last), pick(&random, 0, last), pick(&random, 9, 40));
            cycle += pick(&random, 0, 12);
        }
        char what[64];
        (void)snprintf(what, sizeof what, "worms that cross, seed %d, try %u", 8101 + _i, try);
        expect_equal_runs(configuration, &list, what);
        list_free(&list);
    }
}
END_TEST

/* Two runs behind one another in one virtual channel, held up in the middle router by the worm of its own
 * terminal until both are in its buffer, and a single flit that crosses them there. While the last flits of
 * the first run leave, more flits wait behind them than a flit needs that passes beside a stream: it must see
 * that the stream ends all the same. */
START_TEST(run_behind_a_run)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.width = configuration.height = 3;
    configuration.virtual_channels = 1;
    configuration.buffer_flits = 16;
    for (uint64_t crossing = 0; crossing < 64; crossing++) {
        struct list list = {0};
        char what[64];
        (void)snprintf(what, sizeof what, "two runs of %d flits, a flit in cycle %u", 9 + _i,
                       (unsigned)crossing);
        list_add(&list, 0, 4, 5, 30);
        list_add(&list, 0, 3, 5, 9 + (uint64_t)_i);
        list_add(&list, 0, 3, 5, 30);
        list_add(&list, crossing, 1, 7, 1);
        expect_equal_runs(configuration, &list, what);
        list_free(&list);
    }
}
END_TEST

static void pass(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    (void)context;
}

/* The flits of all links are the same at any time, although a sleeping router does some of its cycles before
 * or after they have come. */
START_TEST(links_agree_meanwhile)
{
    struct pim_random random;
    pim_random_initialize(&random, 99 + (uint64_t)_i);
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.width = configuration.height = 4;
    configuration.virtual_channels = pick(&random, 1, 4);
    configuration.buffer_flits = pick(&random, 3, 10);
    configuration.link_latency = pick(&random, 1, 3);
    configuration.credit_delay = pick(&random, 0, 2);
    struct list list =
        _i % 2 == 0 ? random_short_packets(&random, &configuration) : random_list(&random, &configuration);
    struct pim_kernel *kernel = pim_kernel_create();
    struct pim_noc *networks[2];
    struct pim_error error = {0};
    for (unsigned i = 0; i < 2; i++) {
        configuration.step_every_cycle = i == 1;
        ck_assert_int_eq(pim_noc_create(&configuration, kernel, 2, NULL, &networks[i], &error), PIM_OK);
    }
    size_t sent = 0;
    for (uint64_t cycle = 1; !(sent == list.count && pim_noc_idle(networks[0])); cycle++) {
        pim_kernel_schedule_at(kernel, 2 * cycle - 1, PIM_PHASE_NETWORK, pass, NULL); /* time goes on */
        (void)pim_kernel_run(kernel, 2 * cycle - 1);
        for (; sent < list.count && list.packets[sent].created < cycle; sent++)
            for (unsigned i = 0; i < 2; i++)
                pim_noc_send(networks[i], list.packets[sent].source, list.packets[sent].destination,
                             list.packets[sent].flits, sent);
        (void)pim_kernel_run(kernel, 2 * cycle);
        for (uint32_t i = 0; i < 16 * 6 * 2; i++) {
            enum pim_noc_direction direction = (enum pim_noc_direction)(i / 2 % 6);
            uint64_t (*count)(const struct pim_noc *, uint32_t, enum pim_noc_direction) =
                i % 2 ? pim_noc_link_blocked_cycles : pim_noc_link_flits;
            uint64_t found = count(networks[0], i / 12, direction);
            uint64_t expected = count(networks[1], i / 12, direction);
            if (found != expected)
                ck_abort_msg("case %d, cycle %llu, node %u, direction %u: %llu %s instead of %llu", _i,
                             (unsigned long long)cycle, i / 12, i / 2 % 6, (unsigned long long)found,
                             i % 2 ? "blocked cycles" : "flits", (unsigned long long)expected);
        }
    }
    ck_assert(pim_noc_idle(networks[1]));
    pim_noc_destroy(networks[0]);
    pim_noc_destroy(networks[1]);
    pim_kernel_destroy(kernel);
    list_free(&list);
}
END_TEST

/* A worm that meets nobody costs two evaluations of each router, whatever its length: for its head and its
 * tail. */
START_TEST(cost_does_not_depend_on_length)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    uint64_t evaluations[2];
    for (unsigned i = 0; i < 2; i++) {
        struct list list = {0};
        list_add(&list, 0, 0, 63, i ? 900 : 50);
        list_add(&list, 5, 63, 0, i ? 900 : 50);
        evaluations[i] = list_run(&configuration, &list, 0, NULL).router_evaluations;
        list_free(&list);
    }
    ck_assert_uint_eq(evaluations[0], evaluations[1]);
    ck_assert_uint_eq(evaluations[0], 2 * 15 * 2);
}
END_TEST

Suite *run_length_suite(void)
{
    Suite *suite = suite_create("noc_run_length");
    TCase *tests = tcase_create("against stepped routers");
    tcase_add_loop_test(tests, random_worms, 0, PIM_DRAWS(CASES));
    tcase_add_loop_test(tests, rings_of_neighbours, 0, PIM_CASES(RINGS));
    tcase_add_loop_test(tests, worms_that_cross, 0, PIM_DRAWS(CROSSINGS));
    tcase_add_loop_test(tests, run_behind_a_run, 0, 5);
    tcase_add_loop_test(tests, short_packets, 0, PIM_DRAWS(SHORT));
    tcase_add_loop_test(tests, large_mesh, 0, LARGE);
    tcase_add_loop_test(tests, links_agree_meanwhile, 0, PIM_DRAWS(LINKS));
    tcase_add_test(tests, cost_does_not_depend_on_length);
    suite_add_tcase(suite, tests);
    return suite;
}
