/* Topologies and ways of the oracle (oracle.h), from the tables of docs/models/noc-routing.md. */
#ifndef PIMSIM_TESTS_UNIT_NOC_ORACLE_NET_H
#define PIMSIM_TESTS_UNIT_NOC_ORACLE_NET_H

#include "tests/unit/noc_oracle/match.h"

enum { PORTS = PIM_NOC_PORT_LIMIT };

/* What is behind an output or before an input: a port of a router, or a terminal, or nothing (all NONE). */
struct end {
    int router, port, node;
    uint32_t latency;
    struct pim_noc_bits bits;
};

struct net {
    const struct pim_noc_configuration *is;
    int routers, nodes, dimensions, side[PIM_NOC_DIMENSION_LIMIT], radix, levels;
    int *ports;                /* by router */
    struct end *out, *in;      /* by router x PORTS + port */
    struct end *enter, *leave; /* by node: the input it injects into, the output that delivers to it */
    int express;               /* the first port of express links, of a grid */
    int *next;                 /* file and table: port by router x routers + router */
    struct pim_noc_topology *topology; /* for draws alone */
    struct pim_noc_routing *routing;
};

/* What a packet has drawn and where its head is. */
struct journey {
    int source, destination, number, class;
    /* columns first; by phase and dimension, lower ones at a tie; the second part where it is free */
    bool y_first, lower[2][PIM_NOC_DIMENSION_LIMIT], second[PIM_NOC_DIMENSION_LIMIT];
    int intermediate, phase; /* router to pass first, or NONE; 1 behind it */
    uint32_t injection;      /* virtual channels at the terminal */
    struct pim_noc_packet_state drawn;
    int dimension; /* in which it is under way, and with which part of the channels */
    int part;
    bool crossed; /* a link between groups */
};

/* A way on: virtual channels of an output port. */
struct way {
    int port;
    uint32_t channels;
    bool escape, empty;
};

/* A link from an output to an input. */
void net_link(struct net *net, int from, int from_port, int to, int to_port, uint32_t latency);

/* What stands in files: express links, links that differ, a table of ways (files.c). */
void net_add_express(struct net *net);
void net_change_links(struct net *net);
void net_read_table(struct net *net);

void net_create(struct net *net, const struct pim_noc_configuration *configuration);
void net_destroy(struct net *net);

/* Virtual channels of a class. */
uint32_t net_class(const struct net *net, int class);

void journey_start(const struct net *net, struct journey *journey, int number, int source, int destination,
                   int class);
/* The head is in a router, having come by a port of it. Called once for each router. */
void journey_arrive(const struct net *net, struct journey *journey, int router);
int journey_ways(const struct net *net, const struct journey *journey, int router, struct way *ways);
/* The head leaves by a port. */
void journey_leave(const struct net *net, struct journey *journey, int router, int port);

#endif
