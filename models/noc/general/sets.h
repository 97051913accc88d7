/*
 * The bit-set evaluation of networks of any topology: what general.h describes, by the usual rules, with sets
 * of rows in words as in the fast mesh (mesh.h). Ports, neighbours, latencies, terminals and the virtual
 * channels that a packet may take come from tables, so that routers may have any number of ports.
 *
 * The routers of router.c are its reference: the same cycles, links and statistics.
 *
 * 1. A row is port << shift | virtual channel; 2^shift is the first power of two that is not less than the
 *    number of virtual channels. All rows of a router are in at most SETS_WORDS words.
 * 2. Every flit and every credit under way is an event of its own, in the place of the port that will take it
 *    and of the cycle in which it can be used; its router is evaluated in that cycle.
 * 3. A credit may be added at once to a counter that cannot run out before its time: no decision can tell
 *    (channels.h of the mesh).
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_SETS_H
#define PIMSIM_MODELS_NOC_GENERAL_SETS_H

#include "models/noc/general/general.h"
#include "models/noc/mesh/allocators.h"

enum { SETS_WORDS = 3, SETS_PORTS = PIM_NOC_PORT_LIMIT, SETS_RING_LIMIT = 256 /* cycles */ };
_Static_assert((unsigned)SETS_RING_LIMIT < (unsigned)PIM_NOC_HORIZON, "the agenda reaches as far");
_Static_assert(64 * SETS_WORDS >= NOC_ROWS_LIMIT && NOC_ROWS_LIMIT <= UINT8_MAX, "rows of the allocators");
_Static_assert(SETS_PORTS <= 64, "a set of ports is a word");

/* One word of the sets of rows of a router, as in struct noc_sets. */
struct sets_word {
    uint64_t filled, queued, routing, bidding, active, credited; /* rows of inputs */
    uint64_t free, nonfull, tail_sent;                           /* rows of outputs */
};

/* A port: who takes the credits of its input, and the switch's pointers. */
struct sets_port {
    uint32_t feeder; /* output port upstream; node, when a terminal feeds it */
    uint32_t router; /* upstream; GENERAL_NONE: a terminal */
    uint32_t credit_latency;
    uint8_t grant;  /* output: an input port */
    uint8_t accept; /* input: an output port */
    uint8_t turn;   /* input: a virtual channel */
};

/* What a port takes in a cycle: a flit (virtual channel << 2 | GENERAL_HEAD | GENERAL_TAIL) at its input,
 * credits at its output. */
struct sets_event {
    uint32_t packet, credits;
    uint16_t flit;
};

/* Which ports of a router take something in a cycle. */
struct sets_slot {
    uint64_t flits, credits;
};

struct general_sets {
    unsigned shift, words;
    uint32_t ring; /* cycles; a power of two */
    uint32_t ports, routers;
    bool narrow;        /* some link takes a flit longer than a cycle */
    bool early_credits; /* rule 3 */
    bool wavefront_vcs;
    bool urgent; /* classes of traffic go before each other */
    enum pim_noc_allocator switch_allocator;
    uint8_t next_row[64 * SETS_WORDS];

    struct sets_word *word;   /* [router][words] */
    uint64_t *closed;         /* [router]: outputs whose link may still pass a flit, when `narrow` */
    uint64_t *to;             /* [port][words]: rows whose front leaves by the port */
    struct noc_input *inputs; /* [port][row of it] */
    struct noc_output *outputs;
    uint32_t *allowed;         /* [port][row of it]: virtual channels that the front may take */
    uint32_t *left_high;       /* the same: (flits left - 1) / 2^32 */
    struct sets_port *port;    /* [port] */
    struct sets_event *events; /* [ring][port] */
    struct sets_slot *slots;   /* [ring][router] */
};

static inline struct sets_event *pim_noc_sets_event(const struct general_sets *sets, uint64_t time,
                                                    uint32_t port)
{
    return sets->events + (time & (sets->ring - 1)) * sets->ports + port;
}

static inline struct sets_slot *pim_noc_sets_slot(const struct general_sets *sets, uint64_t time,
                                                  uint32_t router)
{
    return sets->slots + (time & (sets->ring - 1)) * sets->routers + router;
}

/* `time` is less than SETS_RING_LIMIT, and so than the agenda's horizon, away. */
static PIM_ALWAYS_INLINE void pim_noc_sets_wake(struct noc_general *general, uint32_t router, uint64_t time)
{
    struct pim_noc_spoke spoke = pim_noc_spoke_at(&general->router_wheel, time);
    pim_noc_wake_in(&spoke, router);
}

/* A flit for input port `input` of the whole network, from `usable` on. */
static PIM_ALWAYS_INLINE void pim_noc_sets_post(struct noc_general *general, uint32_t router, uint32_t input,
                                                uint64_t usable, uint32_t packet, uint32_t flit)
{
    const struct general_sets *sets = general->sets;
    struct sets_event *event = pim_noc_sets_event(sets, usable, input);
    event->packet = packet;
    event->flit = (uint16_t)flit;
    pim_noc_sets_slot(sets, usable, router)->flits |= UINT64_C(1) << (input - general->routers[router].first);
    pim_noc_sets_wake(general, router, usable);
}

/* sets_router.c: the function that evaluates the routers of a cycle. */
void pim_noc_sets_choose_run(struct noc_general *general, bool bit_manipulation);

#endif
