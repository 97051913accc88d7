/*
 * Small networks drawn at random on small arrays: no plan is estimated slower than one that cuts every layer
 * alike, by rows or by output channels, on all nodes or on a corner of any shape.
 */
#include "mappers/nicepim/map/attempts.h"
#include "sim/random.h"
#include "tests/unit/estimate/machine.h"
#include "tests/unit/nicepim/plans.h"
#include "tests/unit/pimcomp/values/nets.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdio.h>

enum { DRAWS = 40 };

static uint32_t draw(struct pim_random *random, uint32_t from, uint32_t to)
{
    return from + (uint32_t)pim_random_below(random, to - from + 1);
}

/* Two to four convolutions, now and then two side by side, and a linear layer behind half of them. */
static void draw_network(struct net *net, struct pim_random *random)
{
    const uint32_t rows = draw(random, 3, 20), columns = draw(random, 3, 20);
    uint32_t layer = net_input(net, draw(random, 3, 128), rows, columns);
    for (uint32_t left = draw(random, 2, 4); left > 0; left--) {
        const uint32_t kernel = 1 + 2 * draw(random, 0, 1), channels = draw(random, 3, 128);
        uint32_t sides[2] = {net_convolution(net, layer, channels, kernel, 1, kernel / 2, 1, true)};
        if (draw(random, 0, 3) == 0) {
            sides[1] = net_convolution(net, layer, draw(random, 3, 32), 1, 1, 0, 1, true);
            layer = net_concat(net, sides, 2);
        } else {
            layer = net_activation(net, sides[0], PIM_ACTIVATION_RELU);
        }
    }
    if (draw(random, 0, 1))
        (void)net_linear(net, net_flatten(net, net_global_average(net, layer)), draw(random, 5, 100), true);
}

/* Arrays of at most 5 x 5 nodes with PEs, buffers and links of several sizes. */
static void draw_machine(struct machine *machine, struct pim_random *random)
{
    char texts[7][64];
    const char *settings[7];
    const uint32_t pes = 8u << draw(random, 0, 2), buffer = 8192u << draw(random, 0, 4);
    (void)snprintf(texts[0], sizeof texts[0], "array.width=%" PRIu32, draw(random, 1, 5));
    (void)snprintf(texts[1], sizeof texts[1], "array.height=%" PRIu32, draw(random, 1, 5));
    (void)snprintf(texts[2], sizeof texts[2], "noc.flit_bits=%" PRIu32, 128u << draw(random, 0, 3));
    (void)snprintf(texts[3], sizeof texts[3], "pe.rows=%" PRIu32, pes);
    (void)snprintf(texts[4], sizeof texts[4], "pe.columns=%" PRIu32, pes);
    (void)snprintf(texts[5], sizeof texts[5], "buffers.input_bytes=%" PRIu32, buffer);
    (void)snprintf(texts[6], sizeof texts[6], "buffers.output_bytes=%" PRIu32, buffer);
    for (size_t i = 0; i < 7; i++)
        settings[i] = texts[i];
    machine_read(machine, "nicepim-4x4", settings, 7);
}

static uint64_t cycles_of_search(const struct pim_network *network, const struct machine *machine)
{
    const struct nice_search search = {.network = network,
                                       .hardware = &machine->estimate,
                                       .batch = 1,
                                       .asked = {[NICE_PARALLEL] = true, [NICE_SERIAL] = true},
                                       .objective = NICE_LATENCY,
                                       .threads = 1};
    struct nice_best best = {0};
    struct pim_error error = {0};
    check(nice_search(&search, &best, &error), &error);
    const uint64_t cycles = best.result.cycles;
    nice_best_terminate(&best);
    return cycles;
}

/* UINT64_MAX: the network cannot be cut so. */
static uint64_t cycles_of_rule(const struct pim_network *network, const struct machine *machine,
                               enum nice_rule rule, uint32_t width, uint32_t height)
{
    struct nice_request request = nicepim_request(network, &machine->estimate, NICE_SERIAL);
    struct nice_plan plan;
    struct nice_result result;
    struct pim_error error = {0};
    request.rule = rule;
    request.width = width;
    request.height = height;
    if (nice_plan_make(&request, &plan, &error) != PIM_OK) {
        ck_assert_msg(error.status == PIM_BAD_INPUT, "%s", error.text);
        return UINT64_MAX;
    }
    check(nice_emit(&plan, NULL, &result, &error), &error);
    nice_plan_terminate(&plan);
    return result.cycles;
}

/* Of the array, cut by rows or by output channels; how many could be made. */
static unsigned no_rule_is_faster(const struct pim_network *network, const struct machine *machine,
                                  uint64_t cycles, unsigned number)
{
    const struct pim_estimate_hardware *nodes = &machine->estimate;
    unsigned made = 0;
    for (uint32_t corner = 0; corner < nodes->width * nodes->height; corner++) {
        const uint32_t width = corner % nodes->width + 1, height = corner / nodes->width + 1;
        for (int rule = NICE_BY_ROWS; rule < NICE_RULES; rule++) {
            const uint64_t other = cycles_of_rule(network, machine, (enum nice_rule)rule, width, height);
            made += other != UINT64_MAX;
            ck_assert_msg(cycles <= other,
                          "draw %u: %" PRIu64 " cycles on %" PRIu32 " x %" PRIu32 " nodes, %" PRIu64
                          " by rule %d on %" PRIu32 " x %" PRIu32,
                          number, cycles, nodes->height, nodes->width, other, rule, height, width);
        }
    }
    return made;
}

START_TEST(rules_of_thumb_are_not_faster)
{
    unsigned made = 0;
    for (unsigned i = 0; i < PIM_CASES(DRAWS); i++) {
        static struct machine machine;
        struct pim_random random;
        struct net net;
        pim_random_initialize(&random, 0x7468756d62 + i);
        net_initialize(&net);
        draw_network(&net, &random);
        draw_machine(&machine, &random);
        const struct pim_network network = {.name = "net", .graph = net.graph};
        made += no_rule_is_faster(&network, &machine, cycles_of_search(&network, &machine), i);
        net_terminate(&net);
    }
    ck_assert_uint_ge(made, PIM_CASES(DRAWS));
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("rules");
    TCase *tests = tcase_create("rules");
    tcase_add_test(tests, rules_of_thumb_are_not_faster);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
