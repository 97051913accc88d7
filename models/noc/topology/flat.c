/*
 * Flattened butterflies, concentrated meshes with express links at their rims, dragonflies. J. Kim, W. J.
 * Dally and D. Abts, "Flattened Butterfly", ISCA 2007; J. Balfour and W. J. Dally, "Design Tradeoffs for
 * Tiled CMP On-Chip Networks", ICS 2006; J. Kim et al., "Technology-Driven, Highly-Scalable Dragonfly
 * Topology", ISCA 2008. Numbers of routers and ports are those of BookSim 2.
 *
 * In the first two, nodes stand in a grid of width x height and routers in one of radix x radix, each with
 * the nodes of a rectangle, in rows, as terminals 0, 1, ...
 */
#include "models/noc/topology/internal.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>

struct tiles {
    uint32_t k;             /* routers of a side */
    uint32_t across, along; /* nodes of a router */
};

static enum pim_status cut_tiles(const struct pim_noc_topology *topology, struct tiles *tiles,
                                 struct pim_error *error)
{
    uint32_t k = topology->radix;
    if (topology->width % k != 0 || topology->height % k != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "radix is %" PRIu32 ": it must divide the width and the height, %" PRIu32
                        " x %" PRIu32,
                        k, topology->width, topology->height);
    *tiles = (struct tiles){k, topology->width / k, topology->height / k};
    return PIM_OK;
}

static void put_tiles(struct pim_noc_topology *topology, const struct tiles *tiles)
{
    for (uint32_t node = 0; node < topology->nodes; node++) {
        uint32_t x = node % topology->width, y = node / topology->width;
        uint32_t router = x / tiles->across + tiles->k * (y / tiles->along);
        uint32_t port = tiles->across * (y % tiles->along) + x % tiles->across;
        noc_put_terminal(topology, node, router, port, router, port);
    }
}

/* --- flattened butterfly --- */

/*
 * Outputs behind the c terminals: to the other routers of the row by their column, then of the column by
 * their row. Inputs: from all of them by their number.
 */
static uint32_t output_along(uint32_t base, uint32_t own, uint32_t other)
{
    return base + other - (other > own);
}

/* Links from (x, y) along its row and column. */
static void link_flat(struct noc_layout *layout, const struct tiles *tiles, uint32_t x, uint32_t y,
                      const struct pim_noc_topology_configuration *configuration)
{
    uint32_t k = tiles->k, c = tiles->across * tiles->along, latency = configuration->link_latency;
    for (uint32_t other = 0; other < k; other++) {
        uint32_t across = configuration->latency_by_length ? tiles->across * pim_difference(x, other) : 1;
        uint32_t along = configuration->latency_by_length ? tiles->along * pim_difference(y, other) : 1;
        if (other != x) /* the rows before its own come first there */
            noc_layout_link(layout, x + k * y, output_along(c, x, other), other + k * y,
                            c + y + x - (x > other), latency * across);
        if (other != y)
            noc_layout_link(layout, x + k * y, output_along(c + k - 1, y, other), x + k * other,
                            c + (y < other ? y : k - 1 + y - 1), latency * along);
    }
}

enum pim_status noc_create_flattened_butterfly(struct noc_layout *layout,
                                               const struct pim_noc_topology_configuration *configuration,
                                               struct pim_error *error)
{
    struct pim_noc_topology *topology = layout->topology;
    struct tiles tiles = {0};
    if (cut_tiles(topology, &tiles, error) != PIM_OK)
        return error->status;
    uint32_t k = tiles.k, c = tiles.across * tiles.along;
    topology->routers = k * k;
    topology->nodes = c * k * k;
    if (noc_layout_start(layout, topology, configuration->link_bits, c + 2 * (k - 1), NULL, error) != PIM_OK)
        return error->status;
    put_tiles(topology, &tiles);
    for (uint32_t router = 0; router < topology->routers; router++) {
        uint32_t x = router % k, y = router / k;
        link_flat(layout, &tiles, x, y, configuration);
        for (uint32_t node = 0; node < topology->nodes; node++) {
            const struct pim_noc_terminal *terminal = &topology->terminal[node];
            uint32_t to_x = terminal->output_router % k, to_y = terminal->output_router / k;
            uint32_t port = to_x != x   ? output_along(c, x, to_x)
                            : to_y != y ? output_along(c + k - 1, y, to_y)
                                        : terminal->output_port;
            topology->way[(size_t)router * topology->nodes + node] = (uint8_t)port;
        }
    }
    return PIM_OK;
}

/* --- concentrated mesh --- */

enum { EAST = 4, WEST, SOUTH, NORTH };

/* Half the side further or back: where the express links of a rim lead. */
static uint32_t across_half(uint32_t k, uint32_t at)
{
    return at < k / 2 ? at + k / 2 : at - k / 2;
}

static void link_concentrated(struct noc_layout *layout, uint32_t k, uint32_t x, uint32_t y,
                              const struct pim_noc_topology_configuration *configuration)
{
    uint32_t router = x + k * y, inner = configuration->link_latency, express = inner;
    if (configuration->latency_by_length) {
        inner *= 2;
        express *= k;
    }
    uint32_t half_x = across_half(k, x) + k * y, half_y = x + k * across_half(k, y);
    noc_layout_link(layout, router, EAST, x + 1 < k ? router + 1 : half_y, x + 1 < k ? WEST : EAST,
                    x + 1 < k ? inner : express);
    noc_layout_link(layout, router, WEST, x > 0 ? router - 1 : half_y, x > 0 ? EAST : WEST,
                    x > 0 ? inner : express);
    noc_layout_link(layout, router, SOUTH, y + 1 < k ? router + k : half_x, y + 1 < k ? NORTH : SOUTH,
                    y + 1 < k ? inner : express);
    noc_layout_link(layout, router, NORTH, y > 0 ? router - k : half_x, y > 0 ? SOUTH : NORTH,
                    y > 0 ? inner : express);
}

/* One coordinate after the other; `express`: by the links of the rims where the distance is half a side. */
static uint32_t concentrated_way(uint32_t k, uint32_t x, uint32_t y, uint32_t to_x, uint32_t to_y,
                                 bool express)
{
    if (x != to_x) {
        if (express && pim_difference(x, to_x) > k / 2 - 1 && (y == 0 || y == k - 1))
            return y == 0 ? NORTH : SOUTH;
        return to_x > x ? EAST : WEST;
    }
    if (express && pim_difference(y, to_y) > k / 2 - 1 && (x == 0 || x == k - 1))
        return x == 0 ? WEST : EAST;
    return to_y > y ? SOUTH : NORTH;
}

enum pim_status noc_create_concentrated_mesh(struct noc_layout *layout,
                                             const struct pim_noc_topology_configuration *configuration,
                                             struct pim_error *error)
{
    struct pim_noc_topology *topology = layout->topology;
    struct tiles tiles = {0};
    if (cut_tiles(topology, &tiles, error) != PIM_OK)
        return error->status;
    uint32_t k = tiles.k;
    if (tiles.across != 2 || tiles.along != 2 || k % 2 != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "radix is %" PRIu32 ": a concentrated_mesh has an even one, and 2 x 2 nodes a router",
                        k);
    topology->routers = k * k;
    topology->nodes = 4 * k * k;
    if (noc_layout_start(layout, topology, configuration->link_bits, 8, NULL, error) != PIM_OK)
        return error->status;
    topology->second_way = calloc((size_t)topology->routers * topology->nodes, 1);
    if (!topology->second_way)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a concentrated_mesh");
    put_tiles(topology, &tiles);
    for (uint32_t router = 0; router < topology->routers; router++) {
        uint32_t x = router % k, y = router / k;
        link_concentrated(layout, k, x, y, configuration);
        for (uint32_t node = 0; node < topology->nodes; node++) {
            const struct pim_noc_terminal *terminal = &topology->terminal[node];
            uint32_t to_x = terminal->output_router % k, to_y = terminal->output_router / k;
            bool there = terminal->output_router == router;
            size_t at = (size_t)router * topology->nodes + node;
            for (unsigned express = 0; express < 2; express++) {
                uint32_t port =
                    there ? terminal->output_port : concentrated_way(k, x, y, to_x, to_y, express);
                (express ? topology->way : topology->second_way)[at] = (uint8_t)port;
            }
        }
    }
    return PIM_OK;
}

/* --- dragonfly --- */

/*
 * p = radix terminals a router, a = 2p routers a group, a p + 1 groups: one link between any two. Ports: p
 * terminals, the other routers of the group by their number, p links to other groups. Link i of a group
 * (router i / p, there number i % p) leads to group i, from group i on to group i + 1.
 */
struct dragonfly {
    uint32_t p, a, groups;
};

static uint32_t local_port(const struct dragonfly *shape, uint32_t own, uint32_t other)
{
    return shape->p + other - (other > own);
}

/* The link of a group that leads to another one. */
static uint32_t link_to(uint32_t group, uint32_t other)
{
    return other - (other > group);
}

static void link_dragonfly(struct noc_layout *layout, const struct dragonfly *shape, uint32_t router,
                           const struct pim_noc_topology_configuration *configuration)
{
    uint32_t group = router / shape->a, own = router % shape->a, first = shape->p + shape->a - 1;
    for (uint32_t other = 0; other < shape->a; other++)
        if (other != own)
            noc_layout_link(layout, router, local_port(shape, own, other), group * shape->a + other,
                            local_port(shape, other, own), configuration->link_latency);
    for (uint32_t i = 0; i < shape->p; i++) {
        uint32_t link = own * shape->p + i, to = link + (link >= group), back = link_to(to, group);
        noc_layout_link(layout, router, first + i, to * shape->a + back / shape->p, first + back % shape->p,
                        configuration->global_latency);
    }
}

static uint32_t dragonfly_way(const struct dragonfly *shape, uint32_t router, uint32_t target)
{
    uint32_t group = router / shape->a, own = router % shape->a, to = target / shape->a;
    if (group == to)
        return local_port(shape, own, target % shape->a);
    uint32_t link = link_to(group, to), at = link / shape->p;
    return at == own ? shape->p + shape->a - 1 + link % shape->p : local_port(shape, own, at);
}

enum pim_status noc_create_dragonfly(struct noc_layout *layout,
                                     const struct pim_noc_topology_configuration *configuration,
                                     struct pim_error *error)
{
    struct pim_noc_topology *topology = layout->topology;
    struct dragonfly shape = {.p = topology->radix, .a = 2 * topology->radix};
    shape.groups = shape.a * shape.p + 1;
    topology->routers = shape.a * shape.groups;
    topology->nodes = topology->routers * shape.p;
    if (noc_layout_start(layout, topology, configuration->link_bits, 2 * shape.p + shape.a - 1, NULL,
                         error) != PIM_OK)
        return error->status;
    for (uint32_t node = 0; node < topology->nodes; node++)
        noc_put_terminal(topology, node, node / shape.p, node % shape.p, node / shape.p, node % shape.p);
    for (uint32_t router = 0; router < topology->routers; router++) {
        link_dragonfly(layout, &shape, router, configuration);
        for (uint32_t node = 0; node < topology->nodes; node++) {
            uint32_t target = node / shape.p;
            topology->way[(size_t)router * topology->nodes + node] =
                (uint8_t)(target == router ? node % shape.p : dragonfly_way(&shape, router, target));
        }
    }
    return PIM_OK;
}
