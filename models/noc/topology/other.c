/*
 * Topologies that are no grids: laying out what the kinds say, each in a file of its own
 * (tree.c, flat.c, file.c).
 */
#include "models/noc/topology/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WAYS_LIMIT (UINT64_C(1) << 26) /* routers x nodes */

static enum pim_status no_memory(const struct pim_noc_topology *topology, struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for a %s of %" PRIu32 " routers",
                    pim_noc_topology_name((unsigned)topology->kind), topology->routers);
}

static enum pim_status check_size(const struct pim_noc_topology *topology, uint32_t most_ports,
                                  struct pim_error *error)
{
    const char *name = pim_noc_topology_name((unsigned)topology->kind);
    if (topology->kind == PIM_NOC_FILE && topology->nodes != topology->width * topology->height)
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.network_file has %" PRIu32 " nodes: width x height is %" PRIu32 " x %" PRIu32,
                        topology->nodes, topology->width, topology->height);
    if (topology->nodes != topology->width * topology->height)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a %s of this radix and these levels has %" PRIu32
                        " nodes: width x height is %" PRIu32 " x %" PRIu32,
                        name, topology->nodes, topology->width, topology->height);
    if (most_ports > PIM_NOC_PORT_LIMIT)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a router of this %s has %" PRIu32 " ports: allowed are up to %d", name, most_ports,
                        (int)PIM_NOC_PORT_LIMIT);
    if ((uint64_t)topology->routers * topology->nodes > WAYS_LIMIT || topology->routers > UINT16_MAX)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a %s of %" PRIu32 " routers and %" PRIu32
                        " nodes is too large: routers x nodes may be 2^26, and routers 65535",
                        name, topology->routers, topology->nodes);
    return PIM_OK;
}

enum pim_status noc_layout_start(struct noc_layout *layout, struct pim_noc_topology *topology,
                                 struct pim_noc_bits bits, uint32_t ports, const uint32_t *by_router,
                                 struct pim_error *error)
{
    *layout = (struct noc_layout){.topology = topology, .bits = bits};
    uint32_t most = ports, sum = 0;
    for (uint32_t r = 0; by_router && r < topology->routers; r++)
        most = by_router[r] > most ? by_router[r] : most;
    topology->most_ports = most;
    if (check_size(topology, most, error) != PIM_OK)
        return error->status;
    topology->first_port = calloc((size_t)topology->routers + 1, sizeof *topology->first_port);
    topology->way = calloc((size_t)topology->routers * topology->nodes + 1, 1);
    if (!topology->first_port || !topology->way)
        return no_memory(topology, error);
    for (uint32_t r = 0; r < topology->routers; r++) {
        topology->first_port[r] = sum;
        sum += by_router ? by_router[r] : ports;
    }
    topology->first_port[topology->routers] = sum;
    topology->output_link = malloc(((size_t)sum + 1) * sizeof *topology->output_link);
    topology->input_link = malloc(((size_t)sum + 1) * sizeof *topology->input_link);
    if (!topology->output_link || !topology->input_link)
        return no_memory(topology, error);
    memset(topology->output_link, 0xff, sum * sizeof *topology->output_link); /* PIM_NOC_NONE */
    memset(topology->input_link, 0xff, sum * sizeof *topology->input_link);
    return noc_place_terminals(topology, error);
}

void noc_layout_link(struct noc_layout *layout, uint32_t from, uint32_t from_port, uint32_t to,
                     uint32_t to_port, uint32_t latency)
{
    if (layout->count == layout->capacity && !layout->failed) {
        size_t more = layout->capacity ? 2 * layout->capacity : 256;
        struct pim_noc_link *links = realloc(layout->links, more * sizeof *links);
        layout->failed = !links;
        layout->links = links ? links : layout->links;
        layout->capacity = links ? more : layout->capacity;
    }
    if (layout->failed)
        return;
    layout->links[layout->count++] = (struct pim_noc_link){.from = from,
                                                           .to = to,
                                                           .from_port = (uint16_t)from_port,
                                                           .to_port = (uint16_t)to_port,
                                                           .latency = latency,
                                                           .bits = layout->bits,
                                                           .dimension = 3};
}

static int compare_links(const void *a, const void *b)
{
    const struct pim_noc_link *first = a, *second = b;
    if (first->from != second->from)
        return first->from < second->from ? -1 : 1;
    return first->from_port < second->from_port ? -1 : first->from_port > second->from_port;
}

enum pim_status noc_layout_finish(struct noc_layout *layout, struct pim_error *error)
{
    struct pim_noc_topology *topology = layout->topology;
    if (layout->failed)
        return no_memory(topology, error);
    if (layout->count > 0)
        qsort(layout->links, layout->count, sizeof *layout->links, compare_links);
    topology->links = (uint32_t)layout->count;
    topology->link = layout->links;
    layout->links = NULL;
    for (uint32_t i = 0; i < topology->links; i++) {
        const struct pim_noc_link *link = &topology->link[i];
        if (link->latency > PIM_NOC_LINK_LATENCY_LIMIT)
            return pim_fail(error, PIM_BAD_INPUT,
                            "the link %" PRIu32 "->%" PRIu32 " takes %" PRIu32
                            " cycles: allowed are up to %d",
                            link->from, link->to, link->latency, (int)PIM_NOC_LINK_LATENCY_LIMIT);
        topology->output_link[topology->first_port[link->from] + link->from_port] = i;
        topology->input_link[topology->first_port[link->to] + link->to_port] = i;
    }
    return PIM_OK;
}

static enum pim_status check_keys(const struct pim_noc_topology_configuration *configuration,
                                  struct pim_error *error)
{
    const char *name = pim_noc_topology_name((unsigned)configuration->kind);
    if (configuration->kind != PIM_NOC_FILE &&
        (configuration->radix < 2 || configuration->radix > PIM_NOC_RADIX_LIMIT))
        return pim_fail(error, PIM_BAD_INPUT, "radix is %" PRIu32 ": a %s has 2 to %d", configuration->radix,
                        name, (int)PIM_NOC_RADIX_LIMIT);
    bool levels = configuration->kind == PIM_NOC_FAT_TREE || configuration->kind == PIM_NOC_QUAD_TREE ||
                  configuration->kind == PIM_NOC_BUTTERFLY;
    uint64_t nodes = 1;
    if (levels && (configuration->levels < 1 || configuration->levels > PIM_NOC_LEVEL_LIMIT))
        return pim_fail(error, PIM_BAD_INPUT, "levels are %" PRIu32 ": a %s has 1 to %d",
                        configuration->levels, name, (int)PIM_NOC_LEVEL_LIMIT);
    for (uint32_t level = 0; levels && level < configuration->levels; level++)
        nodes *= configuration->radix;
    if (nodes > 65536)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a %s of radix %" PRIu32 " and %" PRIu32 " levels has more than 65536 nodes", name,
                        configuration->radix, configuration->levels);
    if (configuration->concentration != 1 || configuration->depth != 1 || configuration->express_count > 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "concentration, depth and express links go with mesh and torus, not with %s", name);
    return PIM_OK;
}

enum pim_status noc_create_other(struct pim_noc_topology *topology,
                                 const struct pim_noc_topology_configuration *configuration,
                                 struct pim_error *error)
{
    static enum pim_status (*const create[])(
        struct noc_layout *, const struct pim_noc_topology_configuration *, struct pim_error *) = {
        [PIM_NOC_FAT_TREE] = noc_create_fat_tree,
        [PIM_NOC_QUAD_TREE] = noc_create_quad_tree,
        [PIM_NOC_BUTTERFLY] = noc_create_butterfly,
        [PIM_NOC_FLATTENED_BUTTERFLY] = noc_create_flattened_butterfly,
        [PIM_NOC_CONCENTRATED_MESH] = noc_create_concentrated_mesh,
        [PIM_NOC_DRAGONFLY] = noc_create_dragonfly,
        [PIM_NOC_FILE] = noc_create_from_file,
    };
    if (check_keys(configuration, error) != PIM_OK)
        return error->status;
    topology->radix = configuration->radix;
    topology->levels = configuration->levels;
    struct noc_layout layout = {.topology = topology};
    enum pim_status status = create[topology->kind](&layout, configuration, error);
    if (status == PIM_OK)
        status = noc_layout_finish(&layout, error);
    free(layout.links);
    if (status == PIM_OK && configuration->override_count > 0)
        return pim_fail(error, PIM_BAD_INPUT, "noc.links goes with mesh and torus");
    return status;
}
