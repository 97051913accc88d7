/* Topology and routing. */
#include "models/booksim/internal.h"

#include <string.h>

struct size {
    uint32_t k, n, c, noc_latency;
};

static bool is(const struct booksim_values *values, const char *key, const char *text)
{
    return strcmp(booksim_text(values, key), text) == 0;
}

static enum pim_status read_side(const struct booksim_values *values, const struct size *size,
                                 struct pim_noc_configuration *noc, struct pim_error *error)
{
    if (size->c != 1)
        return booksim_refuse(values, "c", error, "a mesh or torus has 1");
    if (size->n != 2 && size->n != 3)
        return booksim_refuse(values, "n", error, "honoured are 2 and 3");
    if (size->k > (size->n == 2 ? (uint32_t)PIM_NOC_SIDE_LIMIT : 16U))
        return booksim_refuse(values, "k", error, "allowed are up to %u, with n = 3 up to 16",
                              (unsigned)PIM_NOC_SIDE_LIMIT);
    noc->width = noc->height = size->k;
    if (size->n == 3) {
        noc->height *= size->k;
        noc->depth = size->k;
    }
    return PIM_OK;
}

static enum pim_status read_grid(const struct booksim_values *values, const struct size *size,
                                 struct pim_noc_configuration *noc, struct pim_error *error)
{
    bool torus = noc->topology == PIM_NOC_TORUS;
    bool ordered = is(values, "routing_function", "dim_order") || is(values, "routing_function", "dor");
    bool balanced = torus && is(values, "routing_function", "dim_order_bal");
    if (read_side(values, size, noc, error) != PIM_OK)
        return error->status;
    if (!ordered && !balanced)
        return booksim_refuse(values, "routing_function", error, "honoured %s",
                              torus ? "are dim_order and dim_order_bal" : "is dim_order");
    noc->link_latency = torus && size->noc_latency ? 2 : 1;
    if (torus && size->k > 2)
        noc->partition = balanced ? PIM_NOC_BALANCED : PIM_NOC_COORDINATE;
    if (torus && size->k <= 2)
        return booksim_refuse(values, "k", error, "a ring of a torus has 3 routers or more here");
    return PIM_OK;
}

/* A grid of nodes with `nodes` of them: as square as rows of a divisor up to the limit allow. */
static enum pim_status set_nodes(const struct booksim_values *values, uint64_t nodes,
                                 struct pim_noc_configuration *noc, struct pim_error *error)
{
    for (uint32_t height = 1; height <= PIM_NOC_SIDE_LIMIT && (uint64_t)height * height <= nodes; height++)
        if (nodes % height == 0 && nodes / height <= PIM_NOC_SIDE_LIMIT) {
            noc->height = height;
            noc->width = (uint32_t)(nodes / height);
        }
    if ((uint64_t)noc->width * noc->height == nodes)
        return PIM_OK;
    return booksim_refuse(values, "topology", error, "%llu nodes are no rectangle with sides of up to %u",
                          (unsigned long long)nodes, (unsigned)PIM_NOC_SIDE_LIMIT);
}

static uint64_t power(uint64_t base, uint32_t exponent)
{
    uint64_t result = 1;
    while (exponent-- > 0 && result < UINT32_MAX)
        result *= base;
    return result;
}

/* Fat trees, quad trees and butterflies: k ports down, n levels. */
static enum pim_status read_tree(const struct booksim_values *values, const struct size *size,
                                 struct pim_noc_configuration *noc, struct pim_error *error)
{
    noc->radix = size->k;
    noc->levels = size->n;
    if (noc->topology == PIM_NOC_QUAD_TREE && (size->k != 4 || size->n != 3))
        return booksim_refuse(values, "topology", error, "it has k = 4 and n = 3");
    return set_nodes(values, power(size->k, size->n), noc, error);
}

/* Flattened butterflies and concentrated meshes: k x k routers of xr x yr nodes. */
static enum pim_status read_tiles(const struct booksim_values *values, const struct size *size,
                                  struct pim_noc_configuration *noc, struct pim_error *error)
{
    uint32_t x, y, across, along;
    if (booksim_integer(values, "x", 1, 65536, &x, error) != PIM_OK ||
        booksim_integer(values, "y", 1, 65536, &y, error) != PIM_OK ||
        booksim_integer(values, "xr", 1, 16, &across, error) != PIM_OK ||
        booksim_integer(values, "yr", 1, 16, &along, error) != PIM_OK)
        return error->status;
    if (size->n != 2)
        return booksim_refuse(values, "n", error, "honoured is 2");
    if (x != size->k || y != size->k || across != along || size->c != across * along)
        return booksim_refuse(values, "k", error, "x and y must be the same, and c = xr yr with xr = yr");
    if (size->k > PIM_NOC_RADIX_LIMIT)
        return booksim_refuse(values, "k", error, "allowed are 2 to %u", (unsigned)PIM_NOC_RADIX_LIMIT);
    if (across > 3 && size->noc_latency) /* a terminal is |x| + |y| cycles away, counted from the middle */
        return booksim_refuse(values, "xr", error,
                              "honoured are 1 to 3, for with more nodes the links of terminals are longer "
                              "than a cycle; with use_noc_latency = 0 any");
    noc->radix = size->k;
    noc->width = noc->height = size->k * across;
    noc->latency_by_length = size->noc_latency;
    return PIM_OK;
}

static enum pim_status read_dragonfly(const struct booksim_values *values, const struct size *size,
                                      struct pim_noc_configuration *noc, struct pim_error *error)
{
    uint64_t p = size->k, groups = 2 * p * p + 1;
    if (size->n != 1)
        return booksim_refuse(values, "n", error, "honoured is 1");
    if (noc->virtual_channels < 2)
        return booksim_refuse(values, "num_vcs", error, "a dragonfly needs 2");
    noc->radix = size->k;
    noc->link_latency = 10;
    noc->global_latency = 100;
    return set_nodes(values, groups * 2 * p * p, noc, error);
}

/* A file has as many nodes as it says: they are counted when it is read as a network of one row. */
static enum pim_status read_file(const struct booksim_values *values, const struct size *size,
                                 struct pim_noc_configuration *noc, struct pim_error *error)
{
    (void)size;
    const char *path = booksim_text(values, "network_file");
    size_t length = strlen(path);
    if (length == 0 || length >= PIM_NOC_PATH_LIMIT)
        return booksim_refuse(values, "network_file", error, "a name of up to %u bytes is expected",
                              (unsigned)PIM_NOC_PATH_LIMIT - 1);
    memcpy(noc->network_file, path, length + 1);
    uint32_t nodes;
    if (pim_noc_file_nodes(path, &nodes, error) != PIM_OK)
        return error->status;
    return set_nodes(values, nodes, noc, error);
}

static const struct {
    const char *name, *routing; /* and another one, or NULL */
    const char *second;
    enum pim_noc_topology_kind kind;
    enum pim_noc_routing_kind first_routing, second_routing;
    enum pim_status (*read)(const struct booksim_values *, const struct size *,
                            struct pim_noc_configuration *, struct pim_error *);
} topologies[] = {
    {"mesh", NULL, NULL, PIM_NOC_MESH, PIM_NOC_XY, PIM_NOC_XY, read_grid},
    {"torus", NULL, NULL, PIM_NOC_TORUS, PIM_NOC_XY, PIM_NOC_XY, read_grid},
    {"fattree", "nca", NULL, PIM_NOC_FAT_TREE, PIM_NOC_MINIMAL, PIM_NOC_MINIMAL, read_tree},
    {"qtree", "nca", NULL, PIM_NOC_QUAD_TREE, PIM_NOC_MINIMAL, PIM_NOC_MINIMAL, read_tree},
    {"fly", "dest_tag", NULL, PIM_NOC_BUTTERFLY, PIM_NOC_MINIMAL, PIM_NOC_MINIMAL, read_tree},
    {"flatfly", "ran_min", NULL, PIM_NOC_FLATTENED_BUTTERFLY, PIM_NOC_MINIMAL, PIM_NOC_MINIMAL, read_tiles},
    {"cmesh", "dor", "dor_no_express", PIM_NOC_CONCENTRATED_MESH, PIM_NOC_MINIMAL, PIM_NOC_XY, read_tiles},
    {"dragonflynew", "min", NULL, PIM_NOC_DRAGONFLY, PIM_NOC_MINIMAL, PIM_NOC_MINIMAL, read_dragonfly},
    {"anynet", "min", NULL, PIM_NOC_FILE, PIM_NOC_MINIMAL, PIM_NOC_MINIMAL, read_file},
};

enum pim_status booksim_read_network(const struct booksim_values *values, struct pim_noc_configuration *noc,
                                     struct pim_error *error)
{
    struct size size;
    uint32_t seed;
    if (booksim_integer(values, "k", 1, 65536, &size.k, error) != PIM_OK ||
        booksim_integer(values, "n", 1, 16, &size.n, error) != PIM_OK ||
        booksim_integer(values, "c", 1, 256, &size.c, error) != PIM_OK ||
        booksim_integer(values, "use_noc_latency", 0, 1, &size.noc_latency, error) != PIM_OK ||
        booksim_integer(values, "seed", 0, INT32_MAX, &seed, error) != PIM_OK)
        return error->status;
    noc->seed = seed;
    for (size_t i = 0; i < sizeof topologies / sizeof *topologies; i++) {
        if (!is(values, "topology", topologies[i].name))
            continue;
        const char *second = topologies[i].second;
        bool other = second && is(values, "routing_function", second);
        if (topologies[i].routing && !other && !is(values, "routing_function", topologies[i].routing))
            return booksim_refuse(values, "routing_function", error, "honoured %s %s%s%s",
                                  second ? "are" : "is", topologies[i].routing, second ? " and " : "",
                                  second ? second : "");
        noc->topology = topologies[i].kind;
        noc->routing = other ? topologies[i].second_routing : topologies[i].first_routing;
        return topologies[i].read(values, &size, noc, error);
    }
    return booksim_refuse(values, "topology", error,
                          "honoured are mesh, torus, fattree, qtree, fly, flatfly, cmesh, dragonflynew and "
                          "anynet");
}
