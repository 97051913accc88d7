/*
 * What the channels of the flit-level mesh carry (rules 2 and 4 of mesh.h): changes by the cycle in which
 * they become visible, and patterns.
 */
#ifndef PIMSIM_MODELS_NOC_MESH_SLOTS_H
#define PIMSIM_MODELS_NOC_MESH_SLOTS_H

#include "models/noc/noc.h"
#include "models/noc/wheel.h"

enum {
    NOC_PORTS = 5,                /* EAST, WEST, SOUTH, NORTH, and the terminal */
    NOC_TERMINAL = PIM_NOC_EJECT, /* the terminal's port: inject as input, eject as output */
    NOC_EJECTED = NOC_PORTS,      /* credits going out: those of the consuming terminal */
    NOC_CROSSBAR = NOC_PORTS * PIM_NOC_SPEEDUP_LIMIT, /* crossbar inputs */
    NOC_ROWS_LIMIT = NOC_PORTS * PIM_NOC_VC_LIMIT,    /* rows of inputs, or of outputs */
    NOC_WORDS_LIMIT = (NOC_ROWS_LIMIT + 63) / 64,     /* words of a set of rows */
    NOC_SINGLE_SHIFT = 3,                             /* the least `shift`: a set of rows is one word */
    NOC_NEAR_BYTES = 1 << 20 /* bytes of routers that a processor's second cache has room for */
};

/* What a flit channel carries in a cycle is 0 for nothing, or virtual channel
 * << 8 | one or more of: */
enum {
    NOC_FLIT = 1,
    NOC_HEAD = 2,
    NOC_TAIL = 4,
    NOC_REPEATS = 8, /* as a change: from this cycle on the channel repeats its pattern */
    NOC_SHORT = 16   /* of a packet sent by flit: nothing follows by itself */
};
enum { NOC_SHORT_FLITS = 8 };             /* packets of so many flits are always sent by flit */
enum { NOC_LONE = NOC_TAIL | NOC_SHORT }; /* nothing follows */

/* What a channel carries while it repeats itself: in cycle c of the writer,
 * entries[c % period]. Used by writer and reader alike. A credit channel
 * carries a set of virtual channels. */
enum { NOC_PERIOD_LIMIT = 16 };
struct noc_pattern {
    uint32_t entries[NOC_PERIOD_LIMIT];
    uint64_t writable; /* first cycle in which the reader is sure to be done with it */
    uint32_t period;
};

static inline uint32_t pim_noc_pattern_entry(const struct noc_pattern *pattern, uint64_t cycle)
{
    return pattern->entries[cycle % pattern->period];
}

/* The changes that become visible to a router in one cycle. */
struct noc_slot {
    _Alignas(PIM_LINE) uint32_t packets[NOC_PORTS]; /* by input port, of heads and tails */
    uint32_t credits[NOC_PORTS];                    /* by output port */
    uint16_t flits[NOC_PORTS];                      /* by input port, as above */
    uint8_t x[NOC_PORTS], y[NOC_PORTS];             /* by input port, of heads: the destination */
    uint8_t flit_ports;                             /* input ports with a change */
    uint8_t head_ports;                             /* those whose change is a head */
    uint8_t credit_ports;                           /* output ports with a change */
    uint8_t credit_once;                            /* those whose credits are for this cycle only; without
                                                       credits, that repeat a pattern from this cycle on */
};

/* The changes of credits that announce a pattern. */
static inline unsigned pim_noc_credit_repeats(const struct noc_slot *slot, unsigned port)
{
    return (slot->credit_once >> port & 1) & (unsigned)(slot->credits[port] == 0);
}

/* Where the changes written in the present cycle go: slots by node, and the
 * readers' agenda. */
struct noc_outbox {
    struct noc_slot *slots;
    struct pim_noc_spoke spoke;
};

/* The same for a terminal: credits, and what they are; `changed` is 0 when
 * there is no change. */
struct noc_terminal_slot {
    uint32_t credits;
    uint8_t changed, once, repeats;
};

#endif
