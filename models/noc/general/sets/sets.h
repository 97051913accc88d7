/*
 * The bit-set evaluation of networks of any topology: what state.h describes, by the usual rules, with sets
 * of rows in words as in the fast mesh (mesh.h). Ports, neighbours, latencies, terminals and the virtual
 * channels that a packet may take come from tables, so that routers may have any number of ports.
 *
 * The routers of general/router.c are its reference: the same cycles, links and statistics.
 *
 * 1. A row is port << shift | virtual channel; 2^shift is the first power of two that is not less than the
 *    number of virtual channels. All rows of a router are in at most SETS_WORDS words.
 * 2. Every flit and every credit under way is an event of its own, in the place of the cycle in which it can
 *    be used and of the port that will take it; its router is evaluated in that cycle.
 * 3. A credit may be added at once to a counter that cannot run out before its time: no decision can tell
 *    (channels.h of the mesh). Not where heads have a choice, which compares credits.
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_SETS_SETS_H
#define PIMSIM_MODELS_NOC_GENERAL_SETS_SETS_H

#include "models/noc/general/links.h"
#include "models/noc/general/match.h"
#include "models/noc/mesh/allocators.h"

enum {
    SETS_WORDS = 3,
    SETS_ROWS = 64, /* of a word */
    SETS_SHIFT = 3, /* the usual shift */
    SETS_PORTS = PIM_NOC_PORT_LIMIT,
    SETS_RING_LIMIT = 256 /* cycles */
};
_Static_assert((unsigned)SETS_RING_LIMIT < (unsigned)PIM_NOC_HORIZON, "the agenda reaches as far");
_Static_assert(64 * SETS_WORDS >= NOC_ROWS_LIMIT && NOC_ROWS_LIMIT <= UINT8_MAX, "rows of the allocators");
_Static_assert(SETS_PORTS <= 64, "a set of ports is a word");

/* One word of the sets of rows of a router, as in struct noc_sets. */
struct sets_word {
    uint64_t filled, queued, routing, bidding, active, credited; /* rows of inputs */
    uint64_t free, nonfull, tail_sent;                           /* rows of outputs */
};

/* What a port takes in a cycle: a flit (row << 2 | GENERAL_HEAD | GENERAL_TAIL) at its input, credits at its
 * output. */
struct sets_event {
    uint32_t packet, credits;
    uint32_t flit;
};

/* Which ports of a router take something in a cycle; behind it the events of its ports. */
struct sets_slot {
    uint64_t flits, credits;
};

/* A port. Pointers of arbiters may be one behind the last candidate: the next one is the first. */
struct sets_port {
    uint64_t to[SETS_WORDS]; /* rows whose front leaves by the output */
    char *slots;             /* of the router downstream; NULL: a terminal */
    uint32_t next;           /* that router */
    uint16_t reader_row;     /* the first row of its port that takes the flits */
    uint8_t reader;          /* that port */
    /* Of the input: who takes its credits. Upstream, that of virtual channel v is credits[v << spread]. */
    uint16_t *credits;
    uint32_t credit_latency;
    uint32_t feeder; /* output port upstream; node, when a terminal feeds it */
    uint32_t router; /* upstream; GENERAL_NONE: a terminal */
    uint8_t spread;
    uint8_t grant;  /* output: an input port */
    uint8_t accept; /* input: an output port */
    uint8_t turn;   /* input: a virtual channel */
};

/* A router; behind it (SETS_ROWS * words each) its rows of inputs and of outputs, and what is beside the
 * inputs (switch.h), then its ports and, for each cycle modulo `ring`, its slots with their events. */
struct sets_router {
    struct general_router *known; /* what all engines keep of it */
    struct general_output *out;   /* its ports */
    struct sets_port *port;
    char *slots;
    uint64_t ports;
    struct sets_word word[SETS_WORDS];
    /* When `narrow`: outputs whose link passes something still in the cycle after the last evaluation, so
     * that it can take no flit; those of them for which that may be so later, too; and the rows that wait for
     * the first ones. */
    uint64_t closed, longer, shut[SETS_WORDS];
};

struct general_sets {
    unsigned shift, words;
    uint32_t ring; /* cycles; a power of two */
    uint32_t routers;
    bool narrow;        /* some link takes a flit longer than a cycle */
    bool early_credits; /* rule 3 */
    bool wavefront_vcs;
    bool urgent;   /* classes of traffic go before each other */
    bool adaptive; /* heads may have a choice among outputs */
    bool advances; /* the state of a packet changes on its way */
    bool large;    /* the routers do not fit into the caches that are near */
    enum pim_noc_allocator switch_allocator;
    uint8_t next_row[SETS_ROWS * SETS_WORDS];

    size_t router_bytes, port_offset, slot_offset, slot_bytes;
    char *router;               /* [router] struct sets_router with what is behind it */
    struct sets_port *terminal; /* [node]: as the output of a port, to the router that it injects into */
};

static inline struct sets_router *pim_noc_sets_router(const struct general_sets *sets, uint32_t router)
{
    return (void *)(sets->router + router * sets->router_bytes);
}

/* What the router with these slots takes in cycle `time`. */
static PIM_ALWAYS_INLINE struct sets_slot *pim_noc_sets_slot(const struct general_sets *sets, char *slots,
                                                             uint64_t time)
{
    return (void *)(slots + (time & (sets->ring - 1)) * sets->slot_bytes);
}

/* By port. */
static PIM_ALWAYS_INLINE struct sets_event *pim_noc_sets_events(struct sets_slot *slot)
{
    return (void *)(slot + 1);
}

/* `time` is less than SETS_RING_LIMIT, and so than the agenda's horizon, away. */
static PIM_ALWAYS_INLINE void pim_noc_sets_wake(struct noc_general *general, uint32_t router, uint64_t time)
{
    struct pim_noc_spoke spoke = pim_noc_spoke_at(&general->router_wheel, time);
    pim_noc_wake_in(&spoke, router);
}

/* A flit (virtual channel << 2 | GENERAL_HEAD | GENERAL_TAIL) that the port's reader can use from `usable`
 * on. */
static PIM_ALWAYS_INLINE void pim_noc_sets_post(struct noc_general *general, const struct sets_port *port,
                                                uint64_t usable, uint32_t packet, uint32_t flit)
{
    struct sets_slot *slot = pim_noc_sets_slot(general->sets, port->slots, usable);
    struct sets_event *event = &pim_noc_sets_events(slot)[port->reader];
    event->packet = packet;
    event->flit = ((uint32_t)port->reader_row << 2) + flit;
    slot->flits |= UINT64_C(1) << port->reader;
    pim_noc_sets_wake(general, port->next, usable);
}

/* router.c: the function that evaluates the routers of a cycle. */
void pim_noc_sets_choose_run(struct noc_general *general, bool bit_manipulation);

#endif
