#include "tests/unit/noc_oracle/random_network.h"

#include "tests/unit/noc_oracle/net.h"
#include "tests/unit/noc_oracle/random_files.h"
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RADIX = 6 };

/* --- topologies --- */

static void flat_grid(struct pim_random *random, struct pim_noc_configuration *is)
{
    static const enum pim_noc_routing_kind routings[] = {PIM_NOC_XY,      PIM_NOC_XY,   PIM_NOC_YX,
                                                         PIM_NOC_VALIANT, PIM_NOC_ROMM, PIM_NOC_O1TURN};
    is->width = pick(random, 1, 8);
    is->height = pick(random, 1, 8);
    is->routing = chance(random, 2) ? PIM_NOC_XY : routings[pick(random, 0, 5)];
    if (is->topology == PIM_NOC_TORUS && is->routing <= PIM_NOC_YX)
        is->partition = (enum pim_noc_partition)pick(random, 0, PIM_NOC_PARTITIONS - 1);
}

static void grid(struct pim_random *random, struct pim_noc_configuration *is)
{
    static const enum pim_noc_routing_kind routings[] = {
        PIM_NOC_XY,         PIM_NOC_XY,       PIM_NOC_YX,   PIM_NOC_VALIANT, PIM_NOC_MINIMAL_ADAPTIVE,
        PIM_NOC_WEST_FIRST, PIM_NOC_ODD_EVEN, PIM_NOC_ROMM, PIM_NOC_O1TURN};
    bool torus = is->topology == PIM_NOC_TORUS;
    is->width = pick(random, 1, 6);
    is->height = pick(random, 1, 5);
    if (chance(random, 4)) {
        is->depth = pick(random, 2, 5);
        is->width = pick(random, 1, 4);
        is->height = is->depth * pick(random, 1, 3);
        is->routing = PIM_NOC_XY;
    } else {
        is->routing = routings[pick(random, 0, torus ? 4 : 8)];
        is->concentration = chance(random, 4) ? pick(random, 2, 4) : 1;
    }
    if (torus && is->routing <= PIM_NOC_YX)
        is->partition = (enum pim_noc_partition)pick(random, 0, PIM_NOC_PARTITIONS - 1);
}

static void tree(struct pim_random *random, struct pim_noc_configuration *is)
{
    static const uint32_t most[] = {0, 5, 5, 4, 2};
    is->levels = pick(random, 1, 4);
    is->radix = pick(random, 2, most[is->levels]);
    is->width = 1;
    for (uint32_t level = 0; level < is->levels; level++)
        is->width *= is->radix;
    is->height = 1;
    bool drawn = is->topology == PIM_NOC_FAT_TREE && chance(random, 2);
    is->routing = drawn ? PIM_NOC_D_MOD_K : PIM_NOC_MINIMAL;
}

static void flat(struct pim_random *random, struct pim_noc_configuration *is)
{
    bool concentrated = is->topology == PIM_NOC_CONCENTRATED_MESH;
    is->radix = concentrated ? 2 * pick(random, 1, 3) : pick(random, 2, 4);
    is->width = is->radix * (concentrated ? 2 : pick(random, 1, 3));
    is->height = is->radix * (concentrated ? 2 : pick(random, 1, 2));
    is->routing = concentrated && chance(random, 2) ? PIM_NOC_XY : PIM_NOC_MINIMAL;
    is->latency_by_length = chance(random, 2);
}

static void dragonfly(struct pim_random *random, struct pim_noc_configuration *is)
{
    is->radix = chance(random, 2) ? 1 : 2;
    is->width = 2 * is->radix * is->radix;
    is->height = is->width + 1;
    is->routing = PIM_NOC_MINIMAL;
    is->global_latency = pick(random, 1, 40);
}

/* Routers in a tree, which cannot deadlock, and perhaps links beside it, which then may. */
static void file(struct pim_random *random, struct pim_noc_configuration *is)
{
    char text[8192];
    size_t length = 0;
    uint32_t routers = pick(random, 1, 10), nodes = 0;
    for (uint32_t router = 0; router < routers; router++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "router %u", router);
        for (uint32_t count = pick(random, router ? 0 : 1, 3); count > 0; count--)
            length += (size_t)snprintf(text + length, sizeof text - length, " node %u", nodes++);
        uint32_t parent = router ? pick(random, 0, router - 1) : 0,
                 other = router ? pick(random, 0, router - 1) : 0;
        if (router)
            length += (size_t)snprintf(text + length, sizeof text - length, " router %u", parent);
        if (router && chance(random, 2))
            length += (size_t)snprintf(text + length, sizeof text - length, " %u", pick(random, 1, 9));
        if (router && other != parent && chance(random, 3))
            length += (size_t)snprintf(text + length, sizeof text - length, " router %u", other);
        length += (size_t)snprintf(text + length, sizeof text - length, "\n");
    }
    is->width = nodes;
    is->height = 1;
    is->routing = PIM_NOC_MINIMAL;
    if (nodes > 0)
        write_file(is->network_file, text);
}

/* A router with as many ports as there may be, or a few less, and leaves around it. */
static void star(struct pim_random *random, struct pim_noc_configuration *is)
{
    char text[8192];
    uint32_t nodes = pick(random, 1, 20), leaves = pick(random, 1, PORTS - nodes), node = 0;
    size_t length = (size_t)snprintf(text, sizeof text, "router 0");
    for (; node < nodes; node++)
        length += (size_t)snprintf(text + length, sizeof text - length, " node %u", node);
    length += (size_t)snprintf(text + length, sizeof text - length, "\n");
    for (uint32_t leaf = 1; leaf <= leaves; leaf++)
        length += (size_t)snprintf(text + length, sizeof text - length, "router %u node %u router 0 %u\n",
                                   leaf, node++, pick(random, 1, 9));
    is->width = node;
    is->height = 1;
    is->routing = PIM_NOC_MINIMAL;
    write_file(is->network_file, text);
}

/* Routers of many ports. */
static void wide(struct pim_random *random, struct pim_noc_configuration *is)
{
    static const enum pim_noc_topology_kind kinds[] = {
        PIM_NOC_MESH,      PIM_NOC_TORUS, PIM_NOC_FLATTENED_BUTTERFLY, PIM_NOC_FAT_TREE, PIM_NOC_BUTTERFLY,
        PIM_NOC_QUAD_TREE, PIM_NOC_FILE};
    is->topology = kinds[pick(random, 0, 6)];
    if (is->topology == PIM_NOC_FILE) {
        star(random, is);
    } else if (is->topology == PIM_NOC_FLATTENED_BUTTERFLY) {
        is->radix = pick(random, 2, 5);
        is->width = is->radix * pick(random, 2, 7);
        is->height = is->radix * pick(random, 1, 4);
    } else if (is->topology <= PIM_NOC_TORUS) {
        is->width = pick(random, 1, 4);
        is->height = pick(random, 1, 2);
        is->concentration = pick(random, 4, PIM_NOC_CONCENTRATION_LIMIT);
        random_express(random, is, PIM_NOC_EXPRESS_LIMIT);
    } else {
        is->levels = pick(random, 1, 2);
        is->radix = is->levels == 1 ? pick(random, 8, PIM_NOC_RADIX_LIMIT) : pick(random, 6, 9);
        is->width = is->levels == 1 ? is->radix : is->radix * is->radix;
        is->height = 1;
    }
    if (is->topology > PIM_NOC_TORUS)
        is->routing = PIM_NOC_MINIMAL;
}

/* The oracle has a dense matrix of the virtual channels of each router. */
static uint32_t most_channels(const struct pim_noc_configuration *is)
{
    enum { CELLS = 6000000 };
    struct net net;
    net_create(&net, is);
    uint64_t cells = 0, most = PIM_NOC_VC_LIMIT;
    for (int router = 0; router < net.routers; router++)
        cells += (uint64_t)net.ports[router] * (uint64_t)net.ports[router];
    net_destroy(&net);
    while (most > 1 && cells * most * most > CELLS)
        most--;
    return (uint32_t)most;
}

/* --- routers --- */

static void arbiters(struct pim_random *random, struct pim_noc_configuration *is)
{
    static const enum pim_noc_arbiter inner[] = {PIM_NOC_ROUND_ROBIN, PIM_NOC_MATRIX, PIM_NOC_FIXED_PRIORITY,
                                                 PIM_NOC_AGE, PIM_NOC_TREE};
    is->allocator_iterations = pick(random, 1, 3);
    is->vc_iterations = chance(random, 3) ? pick(random, 1, 4) : 0;
    is->switch_iterations = chance(random, 3) ? pick(random, 1, 4) : 0;
    if (chance(random, 3))
        is->arbiter = inner[pick(random, 0, 3)];
    if (chance(random, 4))
        is->vc_arbiter = inner[pick(random, 0, 4)];
    if (chance(random, 4))
        is->switch_arbiter = inner[pick(random, 0, 4)];
    is->vc_groups = is->vc_arbiter == PIM_NOC_TREE ? pick(random, 1, 8) : is->vc_groups;
    is->switch_groups = is->switch_arbiter == PIM_NOC_TREE ? pick(random, 1, 8) : is->switch_groups;
    if (chance(random, 3))
        is->priority = (enum pim_noc_priority)pick(random, 0, PIM_NOC_PRIORITIES - 1);
}

static void stages(struct pim_random *random, struct pim_noc_configuration *is)
{
    is->routing_delay = pick(random, 0, 3);
    is->vc_allocation_delay = pick(random, 1, 3);
    is->switch_allocation_delay = pick(random, 1, 3);
    is->switch_traversal_delay = pick(random, 1, 3);
    is->credit_delay = pick(random, 0, 4);
}

static struct pim_noc_bits width_of_link(struct pim_random *random)
{
    return (struct pim_noc_bits){pick(random, 1, 100), pick(random, 1, 3)};
}

static void divide_channels(struct pim_random *random, struct pim_noc_configuration *is, bool messages)
{
    is->classes = pick(
        random, 1, is->virtual_channels < PIM_NOC_CLASS_LIMIT ? is->virtual_channels : PIM_NOC_CLASS_LIMIT);
    is->message_classes = chance(random, 2);
    if (messages) {
        is->classes = 4;
        is->message_classes = true;
    }
    is->urgent_classes = chance(random, 2);
    uint32_t left = is->virtual_channels;
    for (uint32_t class = 0; class < is->classes; class ++) {
        uint32_t first = pick(random, 0, is->virtual_channels - 1), behind = is->classes - class - 1;
        is->class_first[class] = is->message_classes ? first : 0;
        is->class_channels[class] = is->message_classes ? pick(random, 1, is->virtual_channels - first)
                                    : behind            ? pick(random, 1, left - behind)
                                                        : left;
        left -= is->message_classes ? 0 : is->class_channels[class];
    }
}

/* What keeps a router from being evaluated by sets, but for the allocators. */
static void unusual(struct pim_random *random, struct pim_noc_configuration *is)
{
    if (chance(random, 3))
        stages(random, is);
    else if (chance(random, 3))
        is->routing_delay = 0;
    if (chance(random, 2))
        arbiters(random, is);
    is->speculative = is->vc_allocation_delay <= is->switch_allocation_delay && chance(random, 4);
    is->hold_switch_for_packet = chance(random, 4);
    is->wait_for_tail_credit = chance(random, 4);
    uint32_t speedup = chance(random, 4) ? pick(random, 2, 4) : 1;
    is->input_speedup = is->virtual_channels % speedup == 0 ? speedup : 1;
    is->output_speedup = chance(random, 4) ? pick(random, 2, 4) : 1;
    is->output_buffer_flits = is->output_speedup > 1 && chance(random, 2) ? pick(random, 1, 4) : 0;
}

static void usual(struct pim_random *random, struct pim_noc_configuration *is)
{
    is->virtual_channels =
        chance(random, 4) ? pick(random, 9, 32) : pick(random, 1, chance(random, 2) ? 2 : 8);
    is->buffer_flits = chance(random, 3) ? pick(random, 5, 40) : pick(random, 1, 5);
    is->link_latency = chance(random, 2) ? pick(random, 2, 12) : 1; /* few credits for a way */
    is->credit_delay = chance(random, 4) ? pick(random, 1, 3) : 0;
    is->switch_traversal_delay = chance(random, 6) ? pick(random, 2, 3) : 1;
    if (chance(random, 4))
        is->vc_allocator = PIM_NOC_SEPARABLE_INPUT_FIRST;
    if (is->virtual_channels >= 4 && chance(random, 4))
        divide_channels(random, is, true);
    is->urgent_classes = false;
}

static void routers(struct pim_random *random, struct pim_noc_configuration *is, enum variety variety)
{
    is->virtual_channels = chance(random, 4) ? pick(random, 1, 12) : pick(random, 1, 5);
    if (variety == WIDE)
        is->virtual_channels = pick(random, 1, most_channels(is));
    is->buffer_flits = chance(random, 3) ? pick(random, 1, 40) : pick(random, 1, 9);
    is->link_latency = chance(random, 2) ? 1 : pick(random, 1, 6);
    if (chance(random, 2)) {
        is->vc_allocator = (enum pim_noc_allocator)pick(random, 0, PIM_NOC_ALLOCATORS - 1);
        is->switch_allocator = (enum pim_noc_allocator)pick(random, 0, PIM_NOC_ALLOCATORS - 1);
    }
    if (variety == ORDINARY || chance(random, 2))
        unusual(random, is);
    if (chance(random, 6))
        is->link_bits = width_of_link(random);
    if (chance(random, 8))
        is->terminal_bits = width_of_link(random);
    if (variety == MESSAGES || chance(random, 3))
        divide_channels(random, is, variety == MESSAGES);
}

static void files(struct pim_random *random, struct pim_noc_configuration *is)
{
    struct pim_error error = {.status = PIM_OK};
    const bool grid = is->topology <= PIM_NOC_TORUS;
    is->may_deadlock = true;
    if (pim_noc_configuration_check(is, &error) != PIM_OK)
        return; /* and is drawn again */
    is->may_deadlock = chance(random, 4);
    if (grid && is->depth <= 1 && !chance(random, 3))
        random_express(random, is, pick(random, 1, 5));
    if (chance(random, 2))
        random_links(random, is);
    if (!grid || is->depth > 1 || !chance(random, 3))
        return;
    is->routing = PIM_NOC_TABLE;
    is->partition = PIM_NOC_DATELINE;
    random_table(random, is);
}

static struct pim_noc_configuration draw(struct pim_random *random, enum pim_noc_topology_kind kind,
                                         enum variety variety)
{
    static void (*const shape[PIM_NOC_TOPOLOGIES])(struct pim_random *, struct pim_noc_configuration *) = {
        [PIM_NOC_MESH] = grid,
        [PIM_NOC_TORUS] = grid,
        [PIM_NOC_FAT_TREE] = tree,
        [PIM_NOC_QUAD_TREE] = tree,
        [PIM_NOC_BUTTERFLY] = tree,
        [PIM_NOC_FLATTENED_BUTTERFLY] = flat,
        [PIM_NOC_CONCENTRATED_MESH] = flat,
        [PIM_NOC_DRAGONFLY] = dragonfly,
        [PIM_NOC_FILE] = file};
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.topology = kind;
    configuration.seed = pick(random, 0, 1000);
    configuration.numbered_draws = chance(random, 2);
    if (variety == USUAL) {
        flat_grid(random, &configuration);
        usual(random, &configuration);
    } else {
        (variety == WIDE ? wide : shape[configuration.topology])(random, &configuration);
        routers(random, &configuration, variety);
    }
    if (variety == FILES)
        files(random, &configuration);
    configuration.portable = chance(random, 2);
    return configuration;
}

struct pim_noc_configuration random_network(struct pim_random *random, enum variety variety)
{
    unsigned last = chance(random, 3) || variety == FILES ? PIM_NOC_TORUS : PIM_NOC_FILE;
    if (variety == FILES && chance(random, 6))
        last = PIM_NOC_FILE; /* more grids than others */
    if (variety == USUAL)
        last = chance(random, 2) ? PIM_NOC_MESH : PIM_NOC_TORUS;
    enum pim_noc_topology_kind kind = (enum pim_noc_topology_kind)pick(random, 0, last);
    struct pim_error error = {.status = PIM_OK};
    for (int i = 0; i < 1000; i++) {
        struct pim_noc_configuration configuration = draw(random, kind, variety);
        if (pim_noc_configuration_check(&configuration, &error) == PIM_OK)
            return configuration;
        bool never = configuration.topology >= PIM_NOC_FAT_TREE &&
                     configuration.topology <= PIM_NOC_FLATTENED_BUTTERFLY;
        if (never && strstr(error.text, "deadlock"))
            break;
        remove_files(&configuration);
    }
    ck_abort_msg("topology %u is refused: %s", (unsigned)kind, error.text);
}

void remove_files(const struct pim_noc_configuration *configuration)
{
    const char *const paths[] = {configuration->network_file, configuration->express_list,
                                 configuration->link_list, configuration->route_table};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i][0])
            unlink(paths[i]);
}

/* --- packets --- */

struct list random_packets(struct pim_random *random, const struct pim_noc_configuration *configuration)
{
    struct list list = {0};
    uint32_t nodes = pim_noc_nodes(configuration), hot = pick(random, 0, nodes - 1);
    uint32_t packets = pick(random, 20, 400), one_in = pick(random, 1, 60), longest = pick(random, 1, 40);
    bool bursts = chance(random, 4);
    uint32_t classes = configuration->classes ? configuration->classes : 1;
    for (uint64_t cycle = 0; packets > 0; cycle += chance(random, 60) ? 500 : 1)
        for (uint32_t node = 0; node < nodes && packets > 0; node++) {
            if (!chance(random, one_in) || (bursts && cycle / 50 % 4))
                continue;
            uint64_t flits = chance(random, 2) ? 1 : pick(random, 1, longest);
            list_add(&list, cycle, node, chance(random, 5) ? hot : pick(random, 0, nodes - 1), flits);
            list.packets[list.count - 1].message = pick(random, 0, classes - 1);
            packets--;
        }
    return list;
}
