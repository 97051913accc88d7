/* Building topologies: what the files of the kinds share. */
#ifndef PIMSIM_MODELS_NOC_TOPOLOGY_INTERNAL_H
#define PIMSIM_MODELS_NOC_TOPOLOGY_INTERNAL_H

#include "models/noc/topology/topology.h"

#include <assert.h>

/* topology.c: room for terminals, once ports are counted; and one of them. */
enum pim_status noc_place_terminals(struct pim_noc_topology *topology, struct pim_error *error);
void noc_put_terminal(struct pim_noc_topology *topology, uint32_t node, uint32_t input_router,
                      uint32_t input_port, uint32_t output_router, uint32_t output_port);

/* other.c: any kind but grids; the topology has its kind, width, height and concentration. */
enum pim_status noc_create_other(struct pim_noc_topology *topology,
                                 const struct pim_noc_topology_configuration *configuration,
                                 struct pim_error *error);

/*
 * A topology while it is laid out: links and terminals in any order, each with its ports; then
 * noc_layout_finish() sorts the links. `failed` is set when memory runs out.
 */
struct noc_layout {
    struct pim_noc_topology *topology;
    struct pim_noc_link *links;
    size_t count, capacity;
    struct pim_noc_bits bits;
    bool failed;
};
/* `ports`: of every router, or by router; routers, nodes and links of the topology are set before. */
enum pim_status noc_layout_start(struct noc_layout *layout, struct pim_noc_topology *topology,
                                 struct pim_noc_bits bits, uint32_t ports, const uint32_t *by_router,
                                 struct pim_error *error);
void noc_layout_link(struct noc_layout *layout, uint32_t from, uint32_t from_port, uint32_t to,
                     uint32_t to_port, uint32_t latency);
enum pim_status noc_layout_finish(struct noc_layout *layout, struct pim_error *error);

/* The kinds: routers, ports, links, terminals and ways on. */
enum pim_status noc_create_fat_tree(struct noc_layout *layout,
                                    const struct pim_noc_topology_configuration *configuration,
                                    struct pim_error *error);
enum pim_status noc_create_quad_tree(struct noc_layout *layout,
                                     const struct pim_noc_topology_configuration *configuration,
                                     struct pim_error *error);
enum pim_status noc_create_butterfly(struct noc_layout *layout,
                                     const struct pim_noc_topology_configuration *configuration,
                                     struct pim_error *error);
enum pim_status noc_create_flattened_butterfly(struct noc_layout *layout,
                                               const struct pim_noc_topology_configuration *configuration,
                                               struct pim_error *error);
enum pim_status noc_create_concentrated_mesh(struct noc_layout *layout,
                                             const struct pim_noc_topology_configuration *configuration,
                                             struct pim_error *error);
enum pim_status noc_create_dragonfly(struct noc_layout *layout,
                                     const struct pim_noc_topology_configuration *configuration,
                                     struct pim_error *error);
enum pim_status noc_create_from_file(struct noc_layout *layout,
                                     const struct pim_noc_topology_configuration *configuration,
                                     struct pim_error *error);

static inline uint32_t noc_power(uint32_t base, uint32_t exponent)
{
    uint32_t power = 1;
    while (exponent-- > 0)
        power *= base;
    return power;
}

/* Digit j of a number to a base. */
static inline uint32_t noc_digit(uint32_t number, uint32_t base, uint32_t j)
{
    uint32_t power = noc_power(base, j);
    assert(base > 0 && power > 0);
    return number / power % base;
}

#endif
