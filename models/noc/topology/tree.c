/*
 * Fat trees (k-ary n-trees), quad trees (of any radix) and butterflies (k-ary n-flies). F. Petrini and M.
 * Vanneschi, "k-ary n-trees", IPPS 1997; W. J. Dally and B. Towles, "Principles and Practices of
 * Interconnection Networks", 2004, chapter 4. Numbers of routers and ports are those of BookSim 2.
 *
 * A fat tree's router is level x k^(n-1) + position, level 0 the roots; ports 0 .. k-1 lead down (those of
 * the last level to terminals k position + port), k .. 2k-1 up; roots have none up. A butterfly's is
 * stage x k^(n-1) + position; terminals inject into stage 0 and are delivered to by stage n-1. A quad tree's
 * are numbered level by level from the root; port k leads up.
 */
#include "models/noc/topology/internal.h"

#include <assert.h>
#include <stdlib.h>

/* A position with digit j replaced. */
static uint32_t replaced(uint32_t position, uint32_t radix, uint32_t j, uint32_t digit)
{
    uint32_t power = noc_power(radix, j);
    return position + digit * power - noc_digit(position, radix, j) * power;
}

/* --- fat tree --- */

static void link_level(struct noc_layout *layout, uint32_t level, uint32_t latency)
{
    uint32_t k = layout->topology->radix, j = layout->topology->levels - 2 - level;
    uint32_t width = noc_power(k, layout->topology->levels - 1);
    for (uint32_t position = 0; position < width; position++)
        for (uint32_t q = 0; q < k; q++) {
            uint32_t upper = level * width + position;
            uint32_t lower = (level + 1) * width + replaced(position, k, j, q);
            uint32_t up_port = k + noc_digit(position, k, j);
            noc_layout_link(layout, upper, q, lower, up_port, latency);
            noc_layout_link(layout, lower, up_port, upper, q, latency);
        }
}

static void fill_fat_tree_ways(struct pim_noc_topology *topology)
{
    uint32_t k = topology->radix, n = topology->levels, width = noc_power(k, n - 1);
    for (uint32_t level = 0; level < n; level++)
        for (uint32_t position = 0; position < width; position++)
            for (uint32_t node = 0; node < topology->nodes; node++) {
                uint32_t down = noc_digit(node, k, n - 1 - level);
                bool covered = node / noc_power(k, n - level) == position / noc_power(k, n - 1 - level);
                size_t at = (size_t)(level * width + position) * topology->nodes + node;
                topology->way[at] = (uint8_t)(covered ? down : PIM_NOC_ANY_UP);
            }
}

enum pim_status noc_create_fat_tree(struct noc_layout *layout,
                                    const struct pim_noc_topology_configuration *configuration,
                                    struct pim_error *error)
{
    struct pim_noc_topology *topology = layout->topology;
    uint32_t k = topology->radix, n = topology->levels, width = noc_power(k, n - 1);
    assert(k > 0);
    topology->routers = n * width;
    topology->nodes = width * k;
    uint32_t *ports = calloc(topology->routers, sizeof *ports);
    if (!ports)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a fat tree");
    for (uint32_t r = 0; r < topology->routers; r++)
        ports[r] = r < width ? k : 2 * k;
    enum pim_status status = noc_layout_start(layout, topology, configuration->link_bits, 0, ports, error);
    free(ports);
    if (status != PIM_OK)
        return status;
    for (uint32_t level = 0; level + 1 < n; level++)
        link_level(layout, level, configuration->link_latency);
    for (uint32_t node = 0; node < topology->nodes; node++) {
        uint32_t router = (n - 1) * width + node / k;
        noc_put_terminal(topology, node, router, node % k, router, node % k);
    }
    fill_fat_tree_ways(topology);
    return PIM_OK;
}

/* --- quad tree --- */

/* Routers of the levels before one. */
static uint32_t before(uint32_t radix, uint32_t level)
{
    uint32_t sum = 0;
    for (uint32_t l = 0; l < level; l++)
        sum += noc_power(radix, l);
    return sum;
}

enum pim_status noc_create_quad_tree(struct noc_layout *layout,
                                     const struct pim_noc_topology_configuration *configuration,
                                     struct pim_error *error)
{
    struct pim_noc_topology *topology = layout->topology;
    uint32_t k = topology->radix, n = topology->levels;
    topology->routers = before(k, n);
    topology->nodes = noc_power(k, n);
    if (noc_layout_start(layout, topology, configuration->link_bits, k + 1, NULL, error) != PIM_OK)
        return error->status;
    for (uint32_t level = 0; level < n; level++)
        for (uint32_t position = 0; position < noc_power(k, level); position++) {
            uint32_t router = before(k, level) + position;
            for (uint32_t q = 0; level + 1 < n && q < k; q++) {
                uint32_t child = before(k, level + 1) + k * position + q;
                noc_layout_link(layout, router, q, child, k, configuration->link_latency);
                noc_layout_link(layout, child, k, router, q, configuration->link_latency);
            }
            for (uint32_t node = 0; node < topology->nodes; node++) {
                bool below = node / noc_power(k, n - level) == position;
                uint32_t port = below ? noc_digit(node, k, n - 1 - level) : k;
                topology->way[(size_t)router * topology->nodes + node] = (uint8_t)port;
            }
        }
    for (uint32_t node = 0; node < topology->nodes; node++) {
        uint32_t router = before(k, n - 1) + node / k;
        noc_put_terminal(topology, node, router, node % k, router, node % k);
    }
    return PIM_OK;
}

/* --- butterfly --- */

enum pim_status noc_create_butterfly(struct noc_layout *layout,
                                     const struct pim_noc_topology_configuration *configuration,
                                     struct pim_error *error)
{
    struct pim_noc_topology *topology = layout->topology;
    uint32_t k = topology->radix, n = topology->levels, width = noc_power(k, n - 1);
    assert(k > 0);
    topology->routers = n * width;
    topology->nodes = width * k;
    if (noc_layout_start(layout, topology, configuration->link_bits, k, NULL, error) != PIM_OK)
        return error->status;
    for (uint32_t stage = 0; stage < n; stage++)
        for (uint32_t position = 0; position < width; position++) {
            uint32_t router = stage * width + position;
            for (uint32_t q = 0; stage + 1 < n && q < k; q++) {
                uint32_t j = n - 2 - stage, next = (stage + 1) * width + replaced(position, k, j, q);
                noc_layout_link(layout, router, q, next, noc_digit(position, k, j),
                                configuration->link_latency);
            }
            for (uint32_t node = 0; node < topology->nodes; node++)
                topology->way[(size_t)router * topology->nodes + node] =
                    (uint8_t)noc_digit(node, k, n - 1 - stage);
        }
    for (uint32_t node = 0; node < topology->nodes; node++)
        noc_put_terminal(topology, node, node / k, node % k, (n - 1) * width + node / k, node % k);
    return PIM_OK;
}
