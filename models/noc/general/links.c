/* The links of a network and what they carried, in every fidelity. */
#include "models/noc/general/links.h"
#include "models/noc/mesh/mesh.h"

#include <assert.h>
#include <stdlib.h>

/* End of the cycles that links are asked about: with a kernel those up to now that nothing had to be done for
 * are done as well. */
static uint64_t end_of_cycles(const struct pim_noc *noc)
{
    uint64_t end = pim_noc_origin(noc), next = pim_noc_next_cycle(noc);
    if (!noc->kernel)
        return end;
    uint64_t now = pim_kernel_now(noc->kernel) / noc->period + 1;
    uint64_t most = now < next ? now : next;
    return most > end ? most : end;
}

/* `node` is a router for links between routers. */
static uint64_t general_link_flits(const struct noc_general *general, uint32_t node,
                                   enum pim_noc_direction direction)
{
    if (direction == PIM_NOC_EJECT)
        return general->outputs[general->terminals[node].output].flits;
    if (direction == PIM_NOC_INJECT)
        return general->terminals[node].flits;
    bool named = direction < PIM_NOC_EJECT && general->topology->grid_ports > 0;
    return named ? general->outputs[general->routers[node].first + direction].flits : 0;
}

uint64_t pim_noc_link_flits(const struct pim_noc *noc, uint32_t node, enum pim_noc_direction direction)
{
    if (noc->general)
        return general_link_flits(noc->general, node, direction);
    if (pim_noc_neighbour(&noc->configuration, node, direction) == UINT32_MAX)
        return 0;
    if (!noc->mesh)
        return pim_noc_estimate_link_flits(noc->estimate, node, direction);
    return pim_noc_mesh_link_flits(noc, node, direction, end_of_cycles(noc));
}

uint64_t pim_noc_link_blocked_cycles(const struct pim_noc *noc, uint32_t node,
                                     enum pim_noc_direction direction)
{
    if (!noc->mesh)
        return UINT64_MAX;
    if (pim_noc_neighbour(&noc->configuration, node, direction) == UINT32_MAX)
        return 0;
    return pim_noc_mesh_link_blocked(noc, node, direction, end_of_cycles(noc));
}

/* Links of a mesh that leave the nodes before `node`. */
static size_t links_before(const struct pim_noc_configuration *configuration, size_t node)
{
    size_t width = configuration->width, height = configuration->height, y = node / width, x = node % width;
    size_t rows = y * 2 * (width - 1); /* along whole rows */
    size_t columns = y * width * 2;    /* to both sides: less those at the rims */
    if (y > 0)
        columns -= width; /* the first row has nothing to the north */
    if (y == height && height > 0)
        columns -= width;
    size_t here = x == 0 ? 0 : (x < width ? x : width - 1) + (x - 1);
    size_t sides = (size_t)(y > 0) + (size_t)(y + 1 < height);
    return rows + columns + here + (y < height ? x * sides : 0);
}

/* Of networks that have one. */
static const struct pim_noc_topology *topology_of(const struct pim_noc *noc)
{
    return noc->general ? noc->general->topology : noc->mesh ? noc->mesh->topology : NULL;
}

size_t pim_noc_link_count(const struct pim_noc *noc)
{
    const struct pim_noc_topology *topology = topology_of(noc);
    if (topology)
        return topology->links;
    return links_before(&noc->configuration, (size_t)noc->configuration.width * noc->configuration.height);
}

/* What the flits of a link took, rounded down. */
static uint64_t busy_cycles(const struct general_rate *rate, uint64_t flits)
{
    /* flits x numerator / denominator; numerator is below denominator, which is at most 2^20 */
    uint64_t whole = flits / rate->denominator * rate->numerator +
                     flits % rate->denominator * rate->numerator / rate->denominator;
    return flits * rate->cycles + whole;
}

static void get_grid_link(const struct pim_noc *noc, uint32_t from, uint32_t to,
                          enum pim_noc_direction direction, struct pim_noc_link_use *link)
{
    uint64_t flits = pim_noc_link_flits(noc, from, direction);
    uint64_t blocked = pim_noc_link_blocked_cycles(noc, from, direction);
    uint64_t busy = pim_noc_passage(&noc->configuration, noc->configuration.link_bits, flits);
    *link = (struct pim_noc_link_use){from, to, direction, flits, busy, blocked};
}

void pim_noc_get_link(const struct pim_noc *noc, size_t index, struct pim_noc_link_use *link)
{
    assert(index < pim_noc_link_count(noc));
    const struct pim_noc_topology *topology = topology_of(noc);
    if (noc->general) {
        const struct pim_noc_link *found = &topology->link[index];
        const struct general_output *output =
            &noc->general->outputs[topology->first_port[found->from] + found->from_port];
        *link = (struct pim_noc_link_use){found->from,
                                          found->to,
                                          found->from_port,
                                          output->flits,
                                          busy_cycles(&output->rate, output->flits),
                                          output->blocked + pim_noc_general_blocked(noc->general, found->from,
                                                                                    found->from_port,
                                                                                    end_of_cycles(noc))};
        return;
    }
    if (topology) {
        get_grid_link(noc, topology->link[index].from, topology->link[index].to,
                      (enum pim_noc_direction)topology->link[index].from_port, link);
        return;
    }
    const struct pim_noc_configuration *configuration = &noc->configuration;
    size_t low = 0, high = (size_t)configuration->width * configuration->height; /* low's links begin at or
                                                                                   before index */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(links_before(configuration, middle) <= index ? &low : &high) = middle;
    }
    size_t rest = index - links_before(configuration, low);
    uint32_t node = (uint32_t)low;
    for (unsigned direction = 0; direction < PIM_NOC_EJECT; direction++) {
        uint32_t to = pim_noc_neighbour(configuration, node, (enum pim_noc_direction)direction);
        if (to == UINT32_MAX || rest-- > 0)
            continue;
        get_grid_link(noc, node, to, (enum pim_noc_direction)direction, link);
        return;
    }
}

enum pim_status pim_noc_collect_links(const struct pim_noc *noc, struct pim_noc_link_use **links,
                                      uint32_t *count, struct pim_error *error)
{
    *count = (uint32_t)pim_noc_link_count(noc);
    *links = calloc((size_t)*count + 1, sizeof **links);
    if (!*links)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for what %u links carried", *count);
    for (uint32_t i = 0; i < *count; i++)
        pim_noc_get_link(noc, i, &(*links)[i]);
    return PIM_OK;
}
