/*
 * Topologies of the network on chip: which routers there are, which ports they have and which links lead
 * from where to where. Meshes and tori of any rectangle, with concentration, express links, and a latency
 * and a width of every link.
 *
 * Router r stands in column r % width and row r / width; x + 1 is east, y + 1 south. With concentration c
 * every router has c terminals: node n sits at router n / c. Every router has the ports
 *
 *     0 .. 3           east, west, south, north (enum pim_noc_direction)
 *     4 .. 3 + c       its terminals, in the order of the nodes
 *     4 + c ..         express links, in the order in which they were given
 *
 * A port has an output and an input. A link that leaves by output port d < 4 arrives at the neighbour's input
 * port d ^ 1, so that both directions to one neighbour have the same port. Outputs and inputs of express
 * ports are counted apart: the k-th express link that leaves a router has output port 4 + c + k there, the
 * k-th that arrives input port 4 + c + k.
 *
 * With a depth of z layers a grid has three dimensions: its rows of routers are those of the first layer,
 * then of the second, and so on; ports 4 and 5 lead to the next and the previous layer, terminals follow. The
 * other kinds (tree.c, flat.c, file.c) have their routers and ports in an order of
 * their own, terminals at any of them, and a table of ways on.
 *
 * A torus closes every row and every column of at least 3 routers with a link that wraps around. In a row or
 * column of 2 both ways lead to the same neighbour, and there is one link each way, as in a mesh; in one of 1
 * there is none.
 *
 * 1. At most one link leads from one router to another.
 * 2. Links are sorted by (from, from_port).
 * 3. A topology does not change once it has been created.
 */
#ifndef PIMSIM_MODELS_NOC_TOPOLOGY_TOPOLOGY_H
#define PIMSIM_MODELS_NOC_TOPOLOGY_TOPOLOGY_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, text) */
#define PIM_NOC_TOPOLOGY_MAP(X)                                                                              \
    X(PIM_NOC_MESH, "mesh")                                                                                  \
    X(PIM_NOC_TORUS, "torus")                                                                                \
    X(PIM_NOC_FAT_TREE, "fat_tree")                                                                          \
    X(PIM_NOC_QUAD_TREE, "quad_tree")                                                                        \
    X(PIM_NOC_BUTTERFLY, "butterfly")                                                                        \
    X(PIM_NOC_FLATTENED_BUTTERFLY, "flattened_butterfly")                                                    \
    X(PIM_NOC_CONCENTRATED_MESH, "concentrated_mesh")                                                        \
    X(PIM_NOC_DRAGONFLY, "dragonfly")                                                                        \
    X(PIM_NOC_FILE, "file")

enum pim_noc_topology_kind {
#define X(name, text) name,
    PIM_NOC_TOPOLOGY_MAP(X)
#undef X
        PIM_NOC_TOPOLOGIES
};

enum {
    PIM_NOC_GRID_PORTS = 4, /* east, west, south, north */
    PIM_NOC_DIMENSION_LIMIT = 3,
    PIM_NOC_RADIX_LIMIT = 16,
    PIM_NOC_LEVEL_LIMIT = 8,
    PIM_NOC_CONCENTRATION_LIMIT = 16,  /* terminals of one router */
    PIM_NOC_EXPRESS_LIMIT = 16,        /* express links that leave, or arrive at, one router */
    PIM_NOC_LINK_LATENCY_LIMIT = 1024, /* cycles */
    PIM_NOC_LINK_BITS_LIMIT = 1 << 20, /* bits per cycle; denominators too */
    PIM_NOC_PORT_LIMIT = PIM_NOC_GRID_PORTS + PIM_NOC_CONCENTRATION_LIMIT + PIM_NOC_EXPRESS_LIMIT
};
#define PIM_NOC_NONE UINT32_MAX

/* Bits per cycle, exact; 0 / anything: as many as the receiver takes, one flit per cycle. */
struct pim_noc_bits {
    uint32_t numerator, denominator;
};

/* One way between two routers. */
struct pim_noc_link {
    uint32_t from, to;           /* routers */
    uint16_t from_port, to_port; /* output port of `from`, input port of `to` */
    uint32_t latency;            /* cycles, 1 to PIM_NOC_LINK_LATENCY_LIMIT */
    struct pim_noc_bits bits;    /* numerator 0: one flit per cycle */
    uint8_t dimension;           /* 0: along a row, 1: a column, 2: through layers, 3: none of them */
    uint8_t direction; /* 0: towards higher coordinates, 1: towards lower ones (wrapping included) */
    bool wraps;        /* from the last router of a row or column to the first, or back */
    bool express;
};

/* Where a terminal sits: it injects at an input, and is delivered to from an output. */
struct pim_noc_terminal {
    uint32_t input_router, output_router;
    uint16_t input_port, output_port;
};

enum { PIM_NOC_ANY_UP = 255 }; /* in a table of ways on: any of the ports radix .. 2 radix - 1 */

struct pim_noc_topology {
    enum pim_noc_topology_kind kind;
    uint32_t width, height, concentration;
    uint32_t dimensions, side[PIM_NOC_DIMENSION_LIMIT]; /* of a mesh or torus; else 0 */
    uint32_t radix, levels;                             /* of the other kinds */
    uint32_t grid_ports;                                /* 2 x dimensions */
    uint32_t routers, nodes, links;
    struct pim_noc_link *link;
    uint32_t *first_port;  /* by router, one more than routers: sum of the ports before it */
    uint32_t *output_link; /* by first_port[r] + port: the link that leaves by it, or PIM_NOC_NONE */
    uint32_t *input_link;  /* by first_port[r] + port: the link that arrives by it, or PIM_NOC_NONE */
    uint32_t most_ports;   /* of one router */
    uint16_t *coordinate[PIM_NOC_DIMENSION_LIMIT]; /* by router */
    const uint16_t *column, *row;                  /* the first two of them */
    struct pim_noc_terminal *terminal;             /* by node */
    uint32_t *output_node, *input_node; /* by first_port[r] + port: the terminal there, or PIM_NOC_NONE */
    /* The next output port by router * nodes + destination, PIM_NOC_ANY_UP where several do; grids: NULL.
     * `second_way`: of concentrated meshes without their express links. */
    uint8_t *way, *second_way;
};

/* A link given by its ends: an express link, or what is different about a link of the grid. */
struct pim_noc_link_entry {
    uint32_t from, to;        /* routers */
    uint32_t latency;         /* cycles; 0: the topology's default */
    struct pim_noc_bits bits; /* denominator 0: the topology's default */
};

struct pim_noc_topology_configuration {
    enum pim_noc_topology_kind kind;
    uint32_t width, height;   /* 1 to PIM_NOC_SIDE_LIMIT; of the other kinds, the nodes in a grid */
    uint32_t depth;           /* layers; must divide the height */
    uint32_t radix, levels;   /* of the other kinds, see there */
    uint32_t global_latency;  /* dragonfly: of links between groups */
    bool latency_by_length;   /* flattened butterfly, concentrated mesh: link_latency for every node passed */
    const char *network_file; /* PIM_NOC_FILE */
    uint32_t concentration;   /* terminals per router, 1 to PIM_NOC_CONCENTRATION_LIMIT */
    uint32_t link_latency;    /* cycles; of links that are not told otherwise */
    struct pim_noc_bits link_bits;
    const struct pim_noc_link_entry *express; /* one way each; not between neighbours of the grid */
    uint32_t express_count;
    const struct pim_noc_link_entry *overrides; /* of links that exist, one way each */
    uint32_t override_count;
};

/* An 8 x 8 mesh, one terminal per router, link latency 1, one flit per cycle. */
void pim_noc_topology_configuration_initialize(struct pim_noc_topology_configuration *configuration);

/*
 * Builds a topology; the arrays of the configuration are not kept. PIM_BAD_INPUT names the field or the entry
 * ("express link 3"), what is wrong and what is allowed; PIM_NO_MEMORY.
 */
enum pim_status pim_noc_topology_create(const struct pim_noc_topology_configuration *configuration,
                                        struct pim_noc_topology **topology, struct pim_error *error);
void pim_noc_topology_destroy(struct pim_noc_topology *topology); /* may be NULL */

const char *pim_noc_topology_name(unsigned kind);

/* Number of ports of a router. */
static inline uint32_t pim_noc_ports(const struct pim_noc_topology *topology, uint32_t router)
{
    return topology->first_port[router + 1] - topology->first_port[router];
}

/* Index of the link that leaves a router by a port, or arrives by it; PIM_NOC_NONE: none (the rim, or a
 * terminal). */
static inline uint32_t pim_noc_output_link(const struct pim_noc_topology *topology, uint32_t router,
                                           uint32_t port)
{
    return topology->output_link[topology->first_port[router] + port];
}
static inline uint32_t pim_noc_input_link(const struct pim_noc_topology *topology, uint32_t router,
                                          uint32_t port)
{
    return topology->input_link[topology->first_port[router] + port];
}

/* The router that delivers to a node, the output port there, and back: the node behind an output, or
 * PIM_NOC_NONE. */
static inline uint32_t pim_noc_node_router(const struct pim_noc_topology *topology, uint32_t node)
{
    return topology->terminal[node].output_router;
}
static inline uint32_t pim_noc_node_port(const struct pim_noc_topology *topology, uint32_t node)
{
    return topology->terminal[node].output_port;
}
static inline uint32_t pim_noc_port_node(const struct pim_noc_topology *topology, uint32_t router,
                                         uint32_t port)
{
    return topology->output_node[topology->first_port[router] + port];
}

/* The router that a node injects into. */
static inline uint32_t pim_noc_node_source(const struct pim_noc_topology *topology, uint32_t node)
{
    return topology->terminal[node].input_router;
}

/* The link from one router to another, or PIM_NOC_NONE. */
uint32_t pim_noc_find_link(const struct pim_noc_topology *topology, uint32_t from, uint32_t to);

/* Links of the grid on a shortest path between two routers; express links do not count. */
uint32_t pim_noc_distance(const struct pim_noc_topology *topology, uint32_t from, uint32_t to);

/*
 * Reads a list of links from a file, "from,to,latency,bits_per_cycle" with a header; the last two columns may
 * be missing or empty (the default), and bits may be a whole number, a decimal fraction or a quotient: 32,
 * 12.5, 100/3. PIM_BAD_INPUT names the row. The caller frees *entries, which is NULL for an empty list.
 */
enum pim_status pim_noc_link_list_read(const char *path, struct pim_noc_link_entry **entries, uint32_t *count,
                                       struct pim_error *error);

/* Nodes of the network in a file (PIM_NOC_FILE). PIM_BAD_INPUT, PIM_IO, PIM_NO_MEMORY. */
enum pim_status pim_noc_file_nodes(const char *path, uint32_t *nodes, struct pim_error *error);

/* Bits per cycle from text, as above. */
enum pim_status pim_noc_bits_parse(const char *text, struct pim_noc_bits *bits, struct pim_error *error);

#endif
