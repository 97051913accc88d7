/*
 * The bit-set evaluation of networks of any topology against the general routers: the same packets, links and
 * blocked cycles, asleep and stepped, for every topology, allocator, class of traffic and width of links that
 * it has. (Both on BookSim's lists: tests/unit/booksim.)
 */
#include "tests/unit/noc_general/suites.h"
#include "tests/unit/noc_general/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RANDOM = 150, ADAPTIVE = 60 };

/* A grid with several nodes at a router, layers, express links, or all of them. */
static void draw_grid(struct pim_random *random, struct pim_noc_configuration *configuration)
{
    static const enum pim_noc_routing_kind routings[] = {PIM_NOC_XY, PIM_NOC_YX, PIM_NOC_O1TURN,
                                                         PIM_NOC_VALIANT, PIM_NOC_ROMM};
    configuration->width = pick(random, 1, 4);
    configuration->depth = chance(random, 4) ? 2 : 1;
    configuration->height = configuration->depth * pick(random, 1, 4);
    configuration->topology = chance(random, 4) ? PIM_NOC_TORUS : PIM_NOC_MESH;
    configuration->routing = routings[chance(random, 2) ? 0 : pick(random, 0, 4)];
    configuration->concentration = chance(random, 3) ? 1 : pick(random, 2, 5);
    if (configuration->topology == PIM_NOC_TORUS && chance(random, 2))
        configuration->partition = (enum pim_noc_partition)pick(random, 0, PIM_NOC_PARTITIONS - 1);
    if (configuration->width >= 3 && configuration->topology == PIM_NOC_MESH && configuration->depth == 1 &&
        chance(random, 3)) {
        char text[200];
        uint32_t last = configuration->width - 1;
        (void)snprintf(text, sizeof text, "from,to,latency,bits_per_cycle\n0,%u,%u,%u\n%u,0,3,\n", last,
                       pick(random, 1, 5), pick(random, 9, 80), last);
        write_file(configuration->express_list, text);
    }
}

/* A topology that is no grid. */
static void draw_other(struct pim_random *random, struct pim_noc_configuration *configuration)
{
    static const struct {
        enum pim_noc_topology_kind kind;
        uint32_t width, height, radix, levels;
    } shapes[] = {
        {PIM_NOC_FAT_TREE, 4, 2, 2, 3},  {PIM_NOC_FAT_TREE, 4, 4, 4, 2},
        {PIM_NOC_QUAD_TREE, 4, 4, 4, 2}, {PIM_NOC_BUTTERFLY, 4, 2, 2, 3},
        {PIM_NOC_BUTTERFLY, 4, 4, 4, 2}, {PIM_NOC_FLATTENED_BUTTERFLY, 8, 8, 4, 1},
        {PIM_NOC_DRAGONFLY, 9, 8, 2, 1}, {PIM_NOC_CONCENTRATED_MESH, 8, 8, 4, 1},
    };
    unsigned shape = pick(random, 0, sizeof shapes / sizeof *shapes - 1);
    configuration->topology = shapes[shape].kind;
    configuration->width = shapes[shape].width;
    configuration->height = shapes[shape].height;
    configuration->radix = shapes[shape].radix;
    configuration->levels = shapes[shape].levels;
    configuration->routing =
        shapes[shape].kind == PIM_NOC_FAT_TREE && chance(random, 2) ? PIM_NOC_D_MOD_K : PIM_NOC_MINIMAL;
    configuration->latency_by_length =
        chance(random, 2) && (shapes[shape].kind == PIM_NOC_FLATTENED_BUTTERFLY ||
                              shapes[shape].kind == PIM_NOC_CONCENTRATED_MESH);
}

static void draw_classes(struct pim_random *random, struct pim_noc_configuration *configuration)
{
    uint32_t classes =
                 pick(random, 1, configuration->virtual_channels < 4 ? configuration->virtual_channels : 4),
             left = configuration->virtual_channels;
    configuration->classes = classes;
    configuration->urgent_classes = chance(random, 2);
    for (uint32_t class = 0; class < classes; class ++) {
        uint32_t more = classes - class - 1;
        configuration->class_channels[class] = more == 0 ? left : pick(random, 1, left - more);
        left -= configuration->class_channels[class];
    }
}

/* A grid on which packets have a choice, large enough for one. */
static void draw_adaptive(struct pim_random *random, struct pim_noc_configuration *configuration)
{
    static const enum pim_noc_routing_kind routings[] = {PIM_NOC_WEST_FIRST, PIM_NOC_ODD_EVEN,
                                                         PIM_NOC_MINIMAL_ADAPTIVE};
    configuration->width = pick(random, 2, 7);
    configuration->height = pick(random, 2, 5);
    configuration->routing = routings[pick(random, 0, 2)];
    configuration->concentration = chance(random, 4) ? 2 : 1;
    if (configuration->routing == PIM_NOC_MINIMAL_ADAPTIVE && chance(random, 3))
        configuration->topology = PIM_NOC_TORUS;
}

static struct pim_noc_configuration draw(struct pim_random *random, bool adaptive)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.virtual_channels = chance(random, 3) ? pick(random, 9, 20) : pick(random, 1, 8);
    configuration.buffer_flits = pick(random, 1, chance(random, 4) ? 40 : 9);
    if (chance(random, 2)) {
        configuration.switch_allocation_delay = pick(random, 1, 3);
        configuration.switch_traversal_delay = pick(random, 1, 3);
        configuration.link_latency = pick(random, 1, 20);
        configuration.credit_delay = pick(random, 0, 3);
    }
    configuration.wait_for_tail_credit = chance(random, 4);
    configuration.vc_allocator = (enum pim_noc_allocator)pick(random, 0, PIM_NOC_ALLOCATORS - 1);
    configuration.switch_allocator = (enum pim_noc_allocator)pick(random, 0, PIM_NOC_ALLOCATORS - 1);
    configuration.vc_iterations = pick(random, 0, 3);
    configuration.portable = chance(random, 2);
    configuration.seed = pick(random, 0, 1000);
    if (adaptive)
        draw_adaptive(random, &configuration);
    else if (chance(random, 2))
        draw_other(random, &configuration);
    else
        draw_grid(random, &configuration);
    if (chance(random, 3))
        configuration.link_bits = (struct pim_noc_bits){pick(random, 20, 70), pick(random, 1, 3)};
    if (chance(random, 4))
        configuration.terminal_bits = (struct pim_noc_bits){pick(random, 20, 70), pick(random, 1, 2)};
    if (chance(random, 3))
        draw_classes(random, &configuration);
    return configuration;
}

static void remove_files(const struct pim_noc_configuration *configuration)
{
    if (configuration->express_list[0] != '\0')
        (void)unlink(configuration->express_list);
}

/* One that is accepted, and evaluated by sets. */
static struct pim_noc_configuration draw_accepted(struct pim_random *random, bool adaptive)
{
    for (;;) {
        struct pim_error error = {0};
        struct pim_noc_configuration configuration = draw(random, adaptive);
        if (pim_noc_configuration_check(&configuration, &error) == PIM_OK &&
            evaluated_by_sets(&configuration))
            return configuration;
        remove_files(&configuration);
    }
}

/* The same by sets, asleep and stepped, and by the general routers. */
static void compare(unsigned seed, bool adaptive)
{
    struct pim_random random;
    pim_random_initialize(&random, seed);
    struct pim_noc_configuration configuration = draw_accepted(&random, adaptive);
    struct list list = random_list(&random, pim_noc_nodes(&configuration));
    struct pim_noc_tag *tags = calloc(list.count + 1, sizeof *tags);
    for (size_t i = 0; i < list.count; i++)
        tags[i] = (struct pim_noc_tag){
            .task = PIM_NOC_NO_TASK,
            .class = configuration.classes ? pick(&random, 0, configuration.classes - 1) : 0};
    struct list sets = list_copy(&list), stepped = list_copy(&list), general = list_copy(&list);
    struct links links[3];
    run(&configuration, &sets, (struct run_options){.tags = tags, .links = &links[0], .check_period = 31});
    configuration.step_every_cycle = true;
    run(&configuration, &stepped,
        (struct run_options){.tags = tags, .links = &links[1], .check_period = 997});
    configuration.step_every_cycle = false;
    configuration.general = true;
    ck_assert(!evaluated_by_sets(&configuration));
    run(&configuration, &general, (struct run_options){.tags = tags, .links = &links[2]});
    char what[64];
    (void)snprintf(what, sizeof what, "sets, seed %u", seed);
    list_expect_same(&general, &sets, what);
    list_expect_same(&general, &stepped, what);
    for (unsigned i = 0; i < 2; i++)
        expect_same_links(&links[2], &links[i], what);
    for (unsigned i = 0; i < 3; i++)
        free(links[i].link);
    list_free(&list);
    list_free(&sets);
    list_free(&stepped);
    list_free(&general);
    free(tags);
    remove_files(&configuration);
}

START_TEST(random_case)
{
    compare(91001 + (unsigned)_i, false);
}
END_TEST

START_TEST(adaptive_case)
{
    compare(92001 + (unsigned)_i, true);
}
END_TEST

/* What is on the general routers alone: the rarer rules, and routers too large for the sets. */
START_TEST(what_is_left)
{
    struct pim_noc_configuration usual;
    pim_noc_configuration_initialize(&usual);
    usual.virtual_channels = 8;
    usual.concentration = 4;
    ck_assert(evaluated_by_sets(&usual));
    struct pim_noc_configuration others[] = {usual, usual, usual, usual, usual, usual, usual, usual};
    others[0].routing_delay = 2;
    others[1].speculative = true;
    others[2].hold_switch_for_packet = true;
    others[3].output_speedup = 2;
    others[4].arbiter = PIM_NOC_MATRIX;
    others[5].priority = PIM_NOC_LOCAL_AGE;
    others[6].concentration = 16; /* 20 ports x 16 channels */
    others[6].virtual_channels = 16;
    others[6].width = others[6].height = 4;
    others[7].link_latency = others[7].credit_delay = PIM_NOC_DELAY_LIMIT; /* too far for the slots */
    others[7].switch_allocation_delay = others[7].switch_traversal_delay = PIM_NOC_DELAY_LIMIT;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!evaluated_by_sets(&others[i]), "configuration %zu", i);
}
END_TEST

Suite *sets_suite(void)
{
    Suite *suite = suite_create("noc_general_sets");
    TCase *tests = tcase_create("sets");
    tcase_add_loop_test(tests, random_case, 0, PIM_DRAWS(RANDOM));
    tcase_add_loop_test(tests, adaptive_case, 0, PIM_DRAWS(ADAPTIVE));
    tcase_add_test(tests, what_is_left);
    suite_add_tcase(suite, tests);
    return suite;
}
