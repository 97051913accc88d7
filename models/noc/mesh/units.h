/*
 * Routers and terminals of the flit-level mesh, and what they remember to find out that they repeat
 * themselves.
 */
#ifndef PIMSIM_MODELS_NOC_MESH_UNITS_H
#define PIMSIM_MODELS_NOC_MESH_UNITS_H

#include "models/noc/mesh/slots.h"

#include <string.h>

/* One word of all sets of rows of a router. */
struct noc_sets {
    /* rows of inputs */
    uint64_t filled;        /* the buffer is not empty */
    uint64_t queued;        /* it came to the front behind the tail that left in this cycle */
    uint64_t routing;       /* the route is being computed */
    uint64_t bidding;       /* the head asks for a virtual channel downstream */
    uint64_t active;        /* it has one */
    uint64_t allocated;     /* it has one, and may use it later (allocation longer
                         than a cycle) */
    uint64_t credited;      /* it has one, with a credit */
    uint64_t to[NOC_PORTS]; /* by output port: the packet at the front leaves by it */
    /* rows of outputs */
    uint64_t free;      /* no owner */
    uint64_t nonfull;   /* with a credit */
    uint64_t tail_sent; /* owned until all credits are back (wait_for_tail_credit) */
};

/* A virtual channel of an input. */
struct noc_input {
    uint32_t front; /* packet, NOC_NO_PACKET when none */
    uint32_t left;  /* flits of `front` that have not been sent on, modulo 2^32:
                     pim_noc_left() */
    uint16_t count; /* flits in its buffer */
    uint8_t x, y;   /* destination of `front` */
    uint8_t more;   /* whether packets follow in the buffer */
    uint8_t output; /* row of the outputs: the route, and the virtual channel when
                     it has one */
    uint8_t accept; /* VC allocator: pointer, a row of the outputs */
    uint8_t next;   /* of its next flit: NOC_FLIT, NOC_HEAD if it is one, NOC_SHORT
                   if its packet is sent by flit */
};

/* A virtual channel of an output: what this router knows of the buffer
 * downstream. */
struct noc_output {
    uint16_t credits;
    uint8_t grant; /* VC allocator: pointer, a row of the inputs */
    uint8_t owner; /* row of the inputs that has it, when it is neither free nor
                    in tail_sent */
};

/* The state of the switch and its allocator. */
struct noc_crossbar {
    uint8_t accept; /* pointer: an output */
    uint8_t vc;     /* first virtual channel to be considered */
};

struct noc_switch {
    uint8_t grant[NOC_PORTS]; /* by output: pointer, a crossbar input */
    struct noc_crossbar crossbar[NOC_CROSSBAR];
    uint8_t held_vc[NOC_CROSSBAR]; /* by crossbar input: who keeps the switch, for
                                    members of `held` */
    uint8_t unused[3];
    uint32_t held; /* crossbar inputs that keep the switch (hold_switch_for_packet) */
};
enum { NOC_PLAIN_SWITCH = 16 }; /* bytes of it that are used with one crossbar input a port */

/* What the channels of a router carry by themselves: sets of ports. A stream
 * repeats what it carried last; the others follow their pattern. */
struct noc_activity {
    uint8_t flit_streams, credit_streams, flit_repeats, credit_repeats;                 /* in */
    uint8_t flit_out_streams, credit_out_streams, flit_out_repeats, credit_out_repeats; /* out */
};

/* What is used in every evaluation comes first, in as few cache lines as
 * possible; the inputs come last (pim_noc_inputs()). */
struct noc_router {
    _Alignas(PIM_LINE) uint64_t since; /* first cycle that is not accounted for; UINT64_MAX: nothing is */
    uint64_t planned;                  /* next evaluation if no channel changes, UINT64_MAX: none */
    uint64_t calm_since, clean_since;  /* the first of the calm, of the clean steps up to now */
    uint64_t grants;                   /* of the last evaluation: a byte for each, row of the input
                      + 1 */
    struct noc_activity carries;
    uint32_t neighbour[4];
    _Alignas(PIM_LINE) struct noc_sets sets[NOC_WORDS_LIMIT];
    _Alignas(PIM_LINE) uint64_t link_flits[NOC_PORTS];
    uint8_t x, y;
    uint8_t period;                   /* while it sleeps: after how many cycles everything repeats */
    uint8_t blocked;                  /* by output: links that were blocked in the last evaluation */
    struct noc_switch arbiter;        /* (its first NOC_PLAIN_SWITCH bytes are in the same line) */
    uint64_t link_blocked[NOC_PORTS]; /* cycles */
    uint64_t entered;                 /* the cycle for which the plan is in the agenda */
    uint64_t ahead_until;             /* express.h: flits are counted that leave up to this cycle: */
    uint8_t ahead_last,
        ahead_always;           /* sets of outputs: those of one in it; in NOC_EXPRESS cycles before, too */
    uint8_t flit_vc[NOC_PORTS]; /* in: of the body flits, by input port */
    uint8_t flit_out_vc[NOC_TERMINAL];              /* out */
    uint32_t credit_in[NOC_PORTS];                  /* sets of virtual channels, by output port */
    uint32_t credit_out[NOC_EJECTED + 1];           /* by input port; [NOC_EJECTED]: what the
                                      terminal that is sent flits returns */
    uint32_t credits_changed[NOC_EJECTED + 1];      /* by input port: the cycle, modulo 2^32, after
                                  the one of the last change */
    _Alignas(PIM_LINE) struct noc_output outputs[]; /* pim_noc_rows() */
};

/*
 * What a unit remembers to find out that it repeats itself. A step is calm when
 * no packet begins, ends or gets a virtual channel in it, and clean when
 * moreover no channel changes.
 */
enum { NOC_HISTORY = 2 * NOC_PERIOD_LIMIT };
#define NOC_NO_SNAPSHOT (UINT64_C(1) << 63) /* a cycle that never comes */
struct noc_rhythm {
    uint64_t last;                /* last step recorded */
    uint64_t grants[NOC_HISTORY]; /* by cycle % NOC_HISTORY, as in struct noc_router */
    uint8_t blocked[NOC_HISTORY]; /* the same */
    uint64_t snapshot_cycle;      /* the state after this step: */
    uint64_t filled[NOC_WORDS_LIMIT], nonfull[NOC_WORDS_LIMIT];
    struct noc_switch arbiter;
};

struct noc_terminal {
    uint64_t since;
    uint32_t queue_front, queue_back;   /* packets that have not begun */
    uint32_t current;                   /* packet that is being injected */
    uint32_t owned, nonfull, tail_sent; /* sets of virtual channels of the router's input */
    uint64_t left;                      /* flits of `current` that are still to be injected */
    uint32_t credit_in;                 /* credits that come in every cycle */
    uint8_t flit_out_stream, flit_out_repeats, credit_repeats; /* 0 or 1 */
    uint8_t vc, last_vc;
    uint8_t heading; /* the next flit is a head */
    uint8_t brief;   /* NOC_SHORT when `current` is sent by flit, else 0 */
    uint8_t sending; /* a flit went out in the last evaluation */
    uint8_t period;  /* as for routers */
    uint64_t link_flits, link_blocked;
    uint8_t waiting; /* in the last evaluation no flit went out although there was one */
    uint64_t sent;   /* history: bit i says whether a flit went out i steps ago */
    uint64_t calm_since, clean_since, last, snapshot_cycle; /* as for routers */
    uint32_t snapshot_nonfull;
};

/* All of it at once; 0: nothing. */
static inline uint64_t pim_noc_carried(const struct noc_activity *activity)
{
    uint64_t carried;
    memcpy(&carried, activity, sizeof carried);
    return carried;
}

#endif
