/*
 * The fast mesh under loads as networks meet them, against the general routers: packets of 1 to 128 flits and
 * mixtures of them, at rates from hardly any to more than fits, between random nodes, to hot spots, by
 * a fixed rule, and in trains between neighbours; under the usual rules, in which most is done in advance.
 */
#include "tests/unit/noc_general/suites.h"
#include "tests/unit/noc_general/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOADS = 100 };

static struct pim_noc_configuration draw_configuration(struct pim_random *random, uint32_t most)
{
    static const enum pim_noc_routing_kind routings[] = {PIM_NOC_XY, PIM_NOC_YX, PIM_NOC_VALIANT,
                                                         PIM_NOC_O1TURN, PIM_NOC_ROMM};
    for (;;) {
        struct pim_noc_configuration configuration;
        pim_noc_configuration_initialize(&configuration);
        configuration.width = pick(random, 2, chance(random, 4) ? most : most / 2);
        configuration.height = pick(random, 2, chance(random, 4) ? most : most / 2);
        configuration.virtual_channels = chance(random, 6) ? pick(random, 9, 20) : pick(random, 1, 8);
        configuration.buffer_flits = chance(random, 4) ? pick(random, 1, 40) : pick(random, 3, 10);
        if (chance(random, 2)) {
            configuration.link_latency = pick(random, 1, 4);
            configuration.credit_delay = pick(random, 0, 3);
            configuration.switch_allocation_delay = pick(random, 1, 2);
            configuration.switch_traversal_delay = pick(random, 1, 2);
        }
        if (chance(random, 2)) {
            configuration.routing = routings[pick(random, 0, 4)];
            if (chance(random, 2)) {
                configuration.topology = PIM_NOC_TORUS;
                configuration.partition = (enum pim_noc_partition)pick(random, 0, PIM_NOC_PARTITIONS - 1);
            }
        }
        configuration.vc_allocator = chance(random, 3) ? PIM_NOC_SEPARABLE_INPUT_FIRST : PIM_NOC_ISLIP;
        configuration.seed = pick(random, 0, 1000);
        configuration.portable = chance(random, 2);
        struct pim_error error = {0};
        if (pim_noc_configuration_check(&configuration, &error) == PIM_OK)
            return configuration;
    }
}

/* Who sends to whom. */
enum pattern { UNIFORM, HOT_SPOT, FIXED, NEIGHBOURS, COLUMNS, PATTERNS };

struct load {
    enum pattern pattern;
    uint32_t nodes, width, hot, step;  /* FIXED: node n sends to n * step + hot */
    uint32_t shortest, longest, mixed; /* one packet in `mixed` is of `shortest` to `longest` flits, the
                                          others of `length` */
    uint32_t length;
};

static uint32_t destination_of(struct pim_random *random, const struct load *load, uint32_t source)
{
    switch (load->pattern) {
    case HOT_SPOT:
        return chance(random, 3) ? load->hot : pick(random, 0, load->nodes - 1);
    case FIXED:
        return (uint32_t)(((uint64_t)source * load->step + load->hot) % load->nodes);
    case NEIGHBOURS:
        return source % load->width + 1 < load->width ? source + 1 : source + 1 - load->width;
    case COLUMNS:
        return (source + load->width) % load->nodes;
    case UNIFORM:
    case PATTERNS:
        break;
    }
    return pick(random, 0, load->nodes - 1);
}

static uint32_t length_of(struct pim_random *random, const struct load *load)
{
    return chance(random, load->mixed) ? pick(random, load->shortest, load->longest) : load->length;
}

static struct load draw_load(struct pim_random *random, const struct pim_noc_configuration *configuration)
{
    struct load load = {
        .pattern = (enum pattern)pick(random, 0, PATTERNS - 1),
        .nodes = configuration->width * configuration->height,
        .width = configuration->width,
        .shortest = pick(random, 1, 20),
        .mixed = pick(random, 1, 6),
        .length = chance(random, 2) ? pick(random, 1, 16) : pick(random, 9, 128),
    };
    load.longest = pick(random, load.shortest, 128);
    load.hot = pick(random, 0, load.nodes - 1);
    load.step = pick(random, 1, load.nodes);
    return load;
}

/* About `flits` of them, at a rate of 0.02 to 0.6 for each node, with pauses, from cycle `first` on. */
static struct list draw_list(struct pim_random *random, const struct load *load, uint64_t first,
                             uint64_t flits)
{
    struct list list = {0};
    uint64_t sent = 0, mean = ((uint64_t)load->shortest + load->longest) / 2;
    mean = (mean + load->length * (load->mixed - 1)) / load->mixed;
    uint32_t rate = chance(random, 2) ? pick(random, 20, 200) : pick(random, 50, 600); /* thousandths */
    uint32_t one_in = (uint32_t)((mean * 1000 + rate - 1) / rate);
    for (uint64_t cycle = first; sent < flits; cycle += chance(random, 400) ? 1000 : 1)
        for (uint32_t node = 0; node < load->nodes; node++)
            if (chance(random, one_in)) {
                uint32_t length = length_of(random, load);
                list_add(&list, cycle, node, destination_of(random, load, node), length);
                sent += length;
            }
    return list;
}

START_TEST(random_load)
{
    struct pim_random random;
    pim_random_initialize(&random, 93001 + (uint64_t)_i);
    struct pim_noc_configuration configuration = draw_configuration(&random, 16);
    struct load load = draw_load(&random, &configuration);
    uint64_t first = chance(&random, 5) ? UINT32_MAX - 700 : 0; /* some counters are of 32 bits */
    struct list fast = draw_list(&random, &load, first, pick(&random, 1000, 12000));
    struct list general = list_copy(&fast);
    struct links links[2];
    uint64_t window = chance(&random, 2) ? UINT64_MAX : pick(&random, 0, 300);
    unsigned check_period = chance(&random, 2) ? 0 : 41; /* a check accounts for what sleeps */
    char what[128];
    (void)snprintf(what, sizeof what, "seed %d: %u x %u, pattern %u, length %u", 93001 + _i,
                   configuration.width, configuration.height, load.pattern, load.length);
    ck_assert(!pim_noc_configuration_is_general(&configuration));
    run(&configuration, &fast,
        (struct run_options){.links = &links[0], .check_period = check_period, .window = window});
    configuration.general = true;
    run(&configuration, &general, (struct run_options){.links = &links[1]});
    list_expect_same(&general, &fast, what);
    expect_same_links(&links[1], &links[0], what);
    free(links[0].link);
    free(links[1].link);
    list_free(&fast);
    list_free(&general);
}
END_TEST

Suite *loads_suite(void)
{
    Suite *suite = suite_create("noc_general_loads");
    TCase *tests = tcase_create("loads");
    tcase_add_loop_test(tests, random_load, 0, PIM_DRAWS(LOADS));
    suite_add_tcase(suite, tests);
    return suite;
}
