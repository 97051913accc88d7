#include "tests/unit/noc_oracle/random_network.h"

#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RADIX = 6 };

/* --- topologies --- */

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

/* --- routers --- */

static void arbiters(struct pim_random *random, struct pim_noc_configuration *is)
{
    static const enum pim_noc_arbiter inner[] = {PIM_NOC_ROUND_ROBIN, PIM_NOC_MATRIX, PIM_NOC_FIXED_PRIORITY,
                                                 PIM_NOC_AGE, PIM_NOC_TREE};
    is->vc_allocator = (enum pim_noc_allocator)pick(random, 0, PIM_NOC_ALLOCATORS - 1);
    is->switch_allocator = (enum pim_noc_allocator)pick(random, 0, PIM_NOC_ALLOCATORS - 1);
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

static void divide_channels(struct pim_random *random, struct pim_noc_configuration *is)
{
    is->classes = pick(random, 1, is->virtual_channels < 4 ? is->virtual_channels : 4);
    is->message_classes = chance(random, 2);
    is->urgent_classes = !is->message_classes && chance(random, 2);
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

static void routers(struct pim_random *random, struct pim_noc_configuration *is)
{
    is->virtual_channels = chance(random, 4) ? pick(random, 1, 12) : pick(random, 1, 5);
    is->buffer_flits = chance(random, 3) ? pick(random, 1, 40) : pick(random, 1, 9);
    is->link_latency = chance(random, 2) ? 1 : pick(random, 1, 6);
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
    if (chance(random, 6))
        is->link_bits = width_of_link(random);
    if (chance(random, 8))
        is->terminal_bits = width_of_link(random);
    if (chance(random, 3))
        divide_channels(random, is);
}

static struct pim_noc_configuration draw(struct pim_random *random, enum pim_noc_topology_kind kind)
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
    shape[configuration.topology](random, &configuration);
    routers(random, &configuration);
    configuration.portable = chance(random, 2);
    return configuration;
}

struct pim_noc_configuration random_network(struct pim_random *random)
{
    unsigned last = chance(random, 3) ? PIM_NOC_TORUS : PIM_NOC_FILE; /* more grids than others */
    enum pim_noc_topology_kind kind = (enum pim_noc_topology_kind)pick(random, 0, last);
    struct pim_error error = {.status = PIM_OK};
    for (int i = 0; i < 1000; i++) {
        struct pim_noc_configuration configuration = draw(random, kind);
        if (pim_noc_configuration_check(&configuration, &error) == PIM_OK)
            return configuration;
        if (kind >= PIM_NOC_FAT_TREE && kind <= PIM_NOC_FLATTENED_BUTTERFLY && strstr(error.text, "deadlock"))
            break; /* never with these */
        remove_files(&configuration);
    }
    ck_abort_msg("topology %u is refused: %s", (unsigned)kind, error.text);
}

void remove_files(const struct pim_noc_configuration *configuration)
{
    if (configuration->network_file[0])
        unlink(configuration->network_file);
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
