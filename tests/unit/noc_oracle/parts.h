/* The state of the oracle (oracle.h): flits, what is under way, routers and terminals. */
#ifndef PIMSIM_TESTS_UNIT_NOC_ORACLE_PARTS_H
#define PIMSIM_TESTS_UNIT_NOC_ORACLE_PARTS_H

#include "tests/unit/noc_general/support.h"
#include "tests/unit/noc_oracle/net.h"

#include <stdlib.h>
#include <string.h>

struct flit {
    uint32_t packet, hops; /* routers before this one */
    bool head, tail;
    int channel;
    uint64_t injected, written;
};

/* Flits or credits under way, in the order in which they can be used. */
struct pipe {
    struct event {
        uint64_t due;
        struct flit flit; /* of a credit: the channel alone */
    } * events;
    size_t first, count, capacity;
};

struct list_of {
    int *item, count;
};

enum state { IDLE, ROUTED, WAITS, ACTIVE };

/* A virtual channel of an input. */
struct input {
    struct flit *buffer;
    uint32_t first, count;
    enum state state;
    bool won;          /* the switch, in this cycle */
    uint64_t ready;    /* first cycle in which it may ask: for a channel, or for the switch */
    int port, channel; /* of the output; port: that it asks for in this cycle, or NONE */
    int wants;         /* the port that it asked for last, or its first one */
    uint32_t allowed;  /* channels that it asks for */
    bool empty;        /* with empty buffers only */
    int granted;       /* the channel it gets in this cycle, or NONE */
};

/* A virtual channel of an output, or of a terminal that injects. */
struct output {
    bool owned, tail_sent;
    uint32_t occupancy;
};

struct wire {                   /* what an output writes to */
    struct pipe flits, waiting; /* waiting: behind the crossbar, with output speedup */
    uint64_t free;              /* in parts of a cycle: 1 / bits.numerator */
    uint64_t passed, blocked;
    bool wanted; /* in vain, in this cycle */
};

struct router {
    int ports;
    struct input *input;                                     /* by port x channels + channel */
    struct output *output;                                   /* alike */
    struct wire *wire;                                       /* by output port */
    struct pipe *credits;                                    /* by output port: on their way back to it */
    struct list_of routing, waiting, given, asking, holding; /* inputs, in BookSim's order */
    struct pipe crossbar;                                    /* with output speedup */
    struct arbiter *crossbar_input;                          /* by row and column: which channel asks */
    struct matching channels, crossing;
    size_t flits;
};

struct terminal {
    struct output *output;
    struct wire wire;
    struct pipe credits;
    struct {
        size_t *packet, first, count, capacity;
        uint64_t sent; /* flits of the packet in front */
        int channel, last;
    } queue[PIM_NOC_CLASS_LIMIT];
    int turn;      /* the class that sent last */
    uint32_t made; /* packets so far */
};

struct oracle {
    struct net net;
    const struct pim_noc_configuration *is;
    int vcs, rows, columns; /* crossbar inputs and outputs of a port */
    struct list *list;
    struct journey *journeys; /* by packet, as the next */
    uint32_t *of_source;      /* packets that the source of a packet sent before it */
    size_t added, capacity;   /* packets that have these */
    struct router *routers;
    struct terminal *terminals;
    uint64_t cycle, moved; /* the next one; the last one in which something moved */
    size_t arrived;
    struct list_of arrivals; /* packets of which the tail arrived in the last cycle, by destination */
};

void oracle_create(struct oracle *oracle, const struct pim_noc_configuration *is, struct list *list);
void oracle_destroy(struct oracle *oracle);
/* The next packet of the list stands in its source's queue from now on; it leaves when it is created, or
 * later. */
void oracle_add(struct oracle *oracle);
/* A cycle. False when nothing has moved for a long time. */
bool oracle_step(struct oracle *oracle);
/* What the links between routers have carried; the caller frees links->link. */
void oracle_take_links(const struct oracle *oracle, struct links *links);

/* --- pipes, lists, links of any width --- */

static inline void pipe_put(struct pipe *pipe, uint64_t due, struct flit flit)
{
    if (pipe->first + pipe->count == pipe->capacity) {
        size_t capacity = 2 * pipe->count + 16;
        struct event *events = zeros(capacity, sizeof *events);
        if (pipe->count)
            memcpy(events, pipe->events + pipe->first, pipe->count * sizeof *events);
        free(pipe->events);
        *pipe = (struct pipe){events, 0, pipe->count, capacity};
    }
    pipe->events[pipe->first + pipe->count++] = (struct event){due, flit};
}

static inline bool pipe_due(const struct pipe *pipe, uint64_t cycle)
{
    return pipe->count && pipe->events[pipe->first].due <= cycle;
}

static inline struct flit pipe_take(struct pipe *pipe)
{
    pipe->count--;
    return pipe->events[pipe->first++].flit;
}

static inline void append(struct list_of *list, int item)
{
    list->item[list->count++] = item;
}

static inline uint64_t parts_of(struct pim_noc_bits bits)
{
    return bits.numerator ? bits.numerator : 1;
}

static inline bool wire_free(const struct oracle *oracle, const struct wire *wire, struct pim_noc_bits bits)
{
    return wire->free < (oracle->cycle + 1) * parts_of(bits);
}

/* Whether something is on the link in this cycle. */
static inline bool wire_passes(const struct oracle *oracle, const struct wire *wire, struct pim_noc_bits bits)
{
    return wire->free > oracle->cycle * parts_of(bits);
}

/* How long a flit holds a link, in parts of a cycle. */
static inline uint64_t parts_of_flit(const struct oracle *oracle, struct pim_noc_bits bits)
{
    uint64_t takes = bits.numerator ? (uint64_t)oracle->is->flit_bits * bits.denominator : 1;
    return takes > parts_of(bits) ? takes : parts_of(bits);
}

/* A flit gets the link now: the cycle in which its last bit passes. */
static inline uint64_t wire_pass(const struct oracle *oracle, struct wire *wire, struct pim_noc_bits bits)
{
    uint64_t parts = parts_of(bits), now = oracle->cycle * parts;
    wire->free = (wire->free > now ? wire->free : now) + parts_of_flit(oracle, bits);
    return (wire->free + parts - 1) / parts - 1;
}

static inline bool has_credit(const struct oracle *oracle, const struct output *output)
{
    return output->occupancy < oracle->is->buffer_flits;
}

static inline void take_credit(const struct oracle *oracle, struct output *output)
{
    output->occupancy--;
    if (oracle->is->wait_for_tail_credit && output->tail_sent && output->occupancy == 0)
        output->owned = false;
}

/* A router's cycle. */
void oracle_step_router(struct oracle *oracle, int number);

#endif
