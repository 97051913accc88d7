/*
 * Topologies that are no plain grid: packets alone in the network, as BookSim 2 passes them; what is refused;
 * networks from a file.
 */
#include "tests/unit/noc_general/suites.h"
#include "tests/unit/noc_general/support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum shape {
    MESH_3,
    TORUS,
    TORUS_BALANCED,
    TORUS_3,
    FAT_TREE,
    BUTTERFLY,
    FLATTENED,
    DRAGONFLY,
    ANY,
    QUAD_TREE,
    CMESH,
    CMESH_XY,
};

static struct pim_noc_configuration shape_of(enum shape shape)
{
    static const struct {
        enum pim_noc_topology_kind kind;
        enum pim_noc_routing_kind routing;
        uint32_t width, height, depth, radix, levels, latency;
        enum pim_noc_partition partition;
    } shapes[] = {
        [MESH_3] = {PIM_NOC_MESH, PIM_NOC_XY, 4, 16, 4, 2, 2, 1, PIM_NOC_DATELINE},
        [TORUS] = {PIM_NOC_TORUS, PIM_NOC_XY, 8, 8, 1, 2, 2, 2, PIM_NOC_COORDINATE},
        [TORUS_BALANCED] = {PIM_NOC_TORUS, PIM_NOC_XY, 8, 8, 1, 2, 2, 2, PIM_NOC_BALANCED},
        [TORUS_3] = {PIM_NOC_TORUS, PIM_NOC_XY, 5, 25, 5, 2, 2, 2, PIM_NOC_COORDINATE},
        [FAT_TREE] = {PIM_NOC_FAT_TREE, PIM_NOC_MINIMAL, 8, 8, 1, 4, 3, 1, PIM_NOC_DATELINE},
        [BUTTERFLY] = {PIM_NOC_BUTTERFLY, PIM_NOC_MINIMAL, 8, 8, 1, 4, 3, 1, PIM_NOC_DATELINE},
        [FLATTENED] = {PIM_NOC_FLATTENED_BUTTERFLY, PIM_NOC_MINIMAL, 8, 8, 1, 4, 1, 1, PIM_NOC_DATELINE},
        [DRAGONFLY] = {PIM_NOC_DRAGONFLY, PIM_NOC_MINIMAL, 9, 8, 1, 2, 1, 10, PIM_NOC_DATELINE},
        [ANY] = {PIM_NOC_FILE, PIM_NOC_MINIMAL, 5, 4, 1, 2, 1, 1, PIM_NOC_DATELINE},
        [QUAD_TREE] = {PIM_NOC_QUAD_TREE, PIM_NOC_MINIMAL, 8, 8, 1, 4, 3, 1, PIM_NOC_DATELINE},
        [CMESH] = {PIM_NOC_CONCENTRATED_MESH, PIM_NOC_MINIMAL, 8, 8, 1, 4, 1, 1, PIM_NOC_DATELINE},
        [CMESH_XY] = {PIM_NOC_CONCENTRATED_MESH, PIM_NOC_XY, 8, 8, 1, 4, 1, 1, PIM_NOC_DATELINE},
    };
    struct pim_noc_configuration configuration = general_mesh();
    configuration.topology = shapes[shape].kind;
    configuration.routing = shapes[shape].routing;
    configuration.width = shapes[shape].width;
    configuration.height = shapes[shape].height;
    configuration.depth = shapes[shape].depth;
    configuration.radix = shapes[shape].radix;
    configuration.levels = shapes[shape].levels;
    configuration.link_latency = shapes[shape].latency;
    configuration.partition = shapes[shape].partition;
    configuration.latency_by_length = shape == FLATTENED || shape >= CMESH;
    if (shape == ANY) {
        (void)pimsim_source_path(configuration.network_file, sizeof configuration.network_file,
                                 "tests/data/noc/any12.txt");
        configuration.may_deadlock = true;
    }
    return configuration;
}

/* Routers passed, and the cycle in which a packet of one flit sent in cycle 0 arrives. */
static const struct {
    enum shape shape;
    uint32_t source, destination, routers, arrival;
} cases[] = {
    {MESH_3, 0, 63, 10, 52},       {MESH_3, 21, 38, 3, 17},       {TORUS, 0, 3, 4, 25},
    {TORUS, 0, 5, 4, 25},          {TORUS, 7, 1, 3, 19},          {TORUS, 0, 45, 7, 43},
    {TORUS, 63, 0, 3, 19},         {TORUS_BALANCED, 2, 5, 4, 25}, {TORUS_BALANCED, 5, 2, 4, 25},
    {TORUS_BALANCED, 7, 1, 3, 19}, {TORUS_BALANCED, 1, 7, 3, 19}, {TORUS_3, 0, 124, 4, 25},
    {TORUS_3, 0, 62, 7, 43},       {BUTTERFLY, 0, 0, 3, 17},      {BUTTERFLY, 0, 63, 3, 17},
    {BUTTERFLY, 27, 44, 3, 17},    {FLATTENED, 0, 1, 1, 7},       {FLATTENED, 0, 7, 2, 17},
    {FLATTENED, 0, 63, 3, 27},     {FLATTENED, 27, 44, 3, 19},    {DRAGONFLY, 0, 1, 1, 7},
    {DRAGONFLY, 0, 3, 2, 21},      {DRAGONFLY, 0, 71, 4, 139},    {DRAGONFLY, 16, 9, 2, 111},
    {DRAGONFLY, 40, 13, 2, 111},   {QUAD_TREE, 0, 1, 1, 7},       {QUAD_TREE, 0, 5, 3, 17},
    {QUAD_TREE, 0, 63, 5, 27},     {CMESH, 0, 63, 5, 35},         {CMESH, 0, 7, 3, 21},
    {CMESH, 0, 56, 3, 21},         {CMESH, 9, 10, 2, 13},         {CMESH_XY, 0, 63, 7, 43},
    {CMESH_XY, 0, 7, 4, 25},       {FAT_TREE, 0, 1, 1, 7},        {FAT_TREE, 0, 5, 3, 17},
    {FAT_TREE, 0, 63, 5, 27},      {FAT_TREE, 27, 44, 5, 27},     {ANY, 0, 19, 6, 37},
    {ANY, 13, 6, 5, 28},           {ANY, 7, 11, 3, 18},           {ANY, 18, 0, 6, 35},
};

START_TEST(alone)
{
    struct pim_noc_configuration configuration = shape_of(cases[_i].shape);
    for (uint64_t flits = 1; flits <= 5; flits += 4) {
        struct list list = {0};
        list_add(&list, 0, cases[_i].source, cases[_i].destination, flits);
        run(&configuration, &list, (struct run_options){.check_period = 1});
        ck_assert_uint_eq(list.packets[0].hops, cases[_i].routers);
        ck_assert_uint_eq(list.packets[0].head_arrived, cases[_i].arrival);
        ck_assert_uint_eq(list.packets[0].tail_arrived, cases[_i].arrival + flits - 1);
        list_free(&list);
    }
}
END_TEST

/* From every node to every node, all sent at once: every link that is built is between the right ports, and
 * the way ends where it should. */
START_TEST(everyone_to_everyone)
{
    struct pim_noc_configuration configuration = shape_of((enum shape)_i);
    struct list list = {0};
    uint32_t nodes = pim_noc_nodes(&configuration);
    for (uint32_t source = 0; source < nodes; source++)
        for (uint32_t destination = 0; destination < nodes; destination += 3)
            list_add(&list, 0, source, (source + destination) % nodes, 2);
    run(&configuration, &list, (struct run_options){.check_period = 1000});
    list_free(&list);
}
END_TEST

/* A fat tree's packets spread over the ways up; with d_mod_k those for one node meet at one root. */
START_TEST(ways_up)
{
    for (unsigned spread = 0; spread < 2; spread++) {
        struct pim_noc_configuration configuration = shape_of(FAT_TREE);
        configuration.routing = spread ? PIM_NOC_MINIMAL : PIM_NOC_D_MOD_K;
        struct list list = {0};
        struct links links;
        for (uint64_t i = 0; i < 200; i++)
            list_add(&list, 40 * i, 0, 63, 1);
        run(&configuration, &list, (struct run_options){.links = &links});
        unsigned used = 0;
        for (size_t i = 0; i < links.count; i++)
            used += links.link[i].to < 16 && links.link[i].flits > 0;
        ck_assert_uint_eq(used, spread ? 16 : 1);
        free(links.link);
        list_free(&list);
    }
}
END_TEST

static const struct {
    const char *text, *message; /* NULL: a good network */
} files[] = {
    {"router 0 node 0 router 1 5\nrouter 1 node 1\n", NULL},
    {"\nrouter 0 node 0 router 1\r\nrouter 1 node 1", NULL},
    {"router 0 node 0 node 1", NULL},
    {"", "there is no node"},
    {"node 0", ":1: a line begins with \"router NUMBER\""},
    {"router 0 node 0\nrouter 1 node 0\n", ":2: a node is given twice"},
    {"router 0 node 1\n", "node 0 sits at no router"},
    {"router 0 node 0\nrouter 2 node 1\n", "there is no router 1"},
    {"router 0 node 0\nrouter 1 node 1\n", "no way leads from router 0 to node 1"},
    {"router 0 node 0 router 0 node 1\n", "a router is linked to itself"},
    {"router 0 node 0 router 1 0\nrouter 1 node 1\n", ":1: the latency of a link is '0': allowed are 1"},
    {"router 0 node 0 router 1 1025\nrouter 1 node 1\n", "the latency of a link is '1025': allowed are 1 to"},
    {"router 0 node 0 router 1 3\nrouter 1 node 1\nrouter 0 router 1 5\n",
     ":3: link 0->1 has a latency of 3 already: it cannot have 5 as well"},
    {"router 0 node 0 3\nrouter 1 node 1\n", "\"node NUMBER\" or \"router NUMBER [LATENCY]\" is expected"},
    {"router x node 0\n", "the number of a router is 'x'"},
    {"router 0 node 99999999999\n", "the number of a node is '99999999999'"},
    {"router 0 node 0 node 1 node 2\n", "width x height is 2 x 1"},
    {"router 00000000000000000000\n", "a word is longer than 15 letters"},
};

START_TEST(from_a_file)
{
    struct pim_noc_configuration configuration = general_mesh();
    struct pim_error error = {.status = PIM_OK};
    configuration.topology = PIM_NOC_FILE;
    configuration.routing = PIM_NOC_MINIMAL;
    configuration.width = 2;
    configuration.height = 1;
    write_file(configuration.network_file, files[_i].text);
    enum pim_status status = pim_noc_configuration_check(&configuration, &error);
    if (files[_i].message) {
        ck_assert_int_eq(status, PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, files[_i].message) != NULL, "%s", error.text);
    } else {
        ck_assert_msg(status == PIM_OK, "%s", error.text);
        struct list list = {0};
        list_add(&list, 0, 0, 1, 1);
        list_add(&list, 100, 1, 0, 1);
        run(&configuration, &list, (struct run_options){.check_period = 1});
        uint32_t extra = strstr(files[_i].text, " 5") ? 4 : 0; /* there, and not back */
        ck_assert_uint_eq(list.packets[0].tail_arrived,
                          strstr(files[_i].text, "node 0 node 1") ? 7 : 12 + extra);
        ck_assert_uint_eq(list.packets[1].tail_arrived, strstr(files[_i].text, "node 0 node 1") ? 107 : 112);
        list_free(&list);
    }
    unlink(configuration.network_file);
}
END_TEST

/* A ring of routers can deadlock: it is refused, and runs when that is wanted. */
START_TEST(a_ring_may_deadlock)
{
    struct pim_noc_configuration configuration = general_mesh();
    struct pim_error error = {.status = PIM_OK};
    configuration.topology = PIM_NOC_FILE;
    configuration.routing = PIM_NOC_MINIMAL;
    configuration.width = 5;
    configuration.height = 1;
    write_file(configuration.network_file, "router 0 node 0 router 1\nrouter 1 node 1 router 2\n"
                                           "router 2 node 2 router 3\nrouter 3 node 3 router 4\n"
                                           "router 4 node 4 router 0\n");
    ck_assert_int_eq(pim_noc_configuration_check(&configuration, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "waits for"));
    ck_assert_ptr_nonnull(strstr(error.text, "noc.may_deadlock"));
    configuration.may_deadlock = true;
    ck_assert_int_eq(pim_noc_configuration_check(&configuration, &error), PIM_OK);
    unlink(configuration.network_file);
}
END_TEST

static void spoil(struct pim_noc_configuration *configuration, int which)
{
    switch (which) {
    case 0:
        *configuration = shape_of(FAT_TREE);
        configuration->routing = PIM_NOC_XY;
        break;
    case 1:
        *configuration = shape_of(FAT_TREE);
        configuration->width = 16;
        break;
    case 2:
        *configuration = shape_of(FAT_TREE);
        configuration->radix = configuration->levels = 8;
        break;
    case 3:
        *configuration = shape_of(CMESH);
        configuration->radix = 2;
        break;
    case 4:
        *configuration = shape_of(FLATTENED);
        configuration->radix = 3;
        break;
    case 5:
        *configuration = shape_of(MESH_3);
        configuration->depth = 3;
        break;
    case 6:
        *configuration = shape_of(MESH_3);
        configuration->routing = PIM_NOC_ODD_EVEN;
        break;
    case 7:
        *configuration = shape_of(DRAGONFLY);
        configuration->concentration = 2;
        break;
    case 8:
        *configuration = shape_of(TORUS);
        configuration->routing = PIM_NOC_MINIMAL;
        break;
    case 9:
        *configuration = shape_of(DRAGONFLY);
        configuration->virtual_channels = 1;
        break;
    default:
        *configuration = shape_of(BUTTERFLY);
        (void)strcpy(configuration->network_file, "file");
        break;
    }
}

START_TEST(refused)
{
    static const char *const messages[] = {
        "routing xy is not defined on a fat_tree: allowed are minimal and d_mod_k",
        "has 64 nodes: width x height is 16 x 8",
        "of radix 8 and 8 levels has more than 65536 nodes",
        "a concentrated_mesh has an even one, and 2 x 2 nodes a router",
        "it must divide the width and the height, 8 x 8",
        "depth is 3: the layers must divide the height",
        "routing odd_even is not defined on a mesh: allowed are xy, with several layers",
        "concentration, depth and express links go with mesh and torus",
        "routing minimal is not defined on a torus",
        "waits for",
        "noc.network_file goes with",
    };
    struct pim_noc_configuration configuration;
    struct pim_error error = {.status = PIM_OK};
    spoil(&configuration, _i);
    ck_assert_int_eq(pim_noc_configuration_check(&configuration, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, messages[_i]) != NULL, "%s", error.text);
}
END_TEST

Suite *topologies_suite(void)
{
    Suite *suite = suite_create("noc_general_topologies");
    TCase *tests = tcase_create("topologies");
    tcase_add_loop_test(tests, alone, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_loop_test(tests, everyone_to_everyone, 0, CMESH_XY + 1);
    tcase_add_test(tests, ways_up);
    tcase_add_loop_test(tests, from_a_file, 0, (int)(sizeof files / sizeof *files));
    tcase_add_test(tests, a_ring_may_deadlock);
    tcase_add_loop_test(tests, refused, 0, 11);
    suite_add_tcase(suite, tests);
    return suite;
}
