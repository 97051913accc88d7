/*
 * A saturated round of high throughput, weighed pass by pass: estimate.h and docs/mappers/pimcomp.md, section
 * Estimate, which states the rules. Inside of the estimate.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_COST_WEIGH_ROUND_H
#define PIMSIM_MAPPERS_PIMCOMP_COST_WEIGH_ROUND_H

#include "mappers/pimcomp/cost/estimate.h"

#include <string.h>

enum { PIM_PART = 16 }; /* instructions are counted in such parts, because some come once in several passes */

/* What a share, or all shares of a core that are at work, do in a pass. */
struct pim_weigh_work {
    uint64_t mvms, others;    /* instructions, in parts */
    uint64_t ahead;           /* of the others: those that bring the windows of the next pass; in parts */
    uint64_t sums;            /* of the others: additions within the core; in parts */
    uint64_t weight, batched; /* of what comes once in several passes: cycles; times those passes */
    uint64_t inputs;          /* local port: of the MVMs */
    uint64_t port;            /* local port, all together */
    uint64_t adds, ends;      /* vector engine: before and behind the messages */
    uint64_t bytes;           /* through the global memory */
};

/* A matrix layer's part of a core. */
struct pim_weigh_share {
    uint32_t core;
    bool works;           /* in the passes at hand */
    uint64_t first_bytes; /* to be loaded before the first pass */
    uint64_t trip;        /* of an MVM: reading its input, writing its output */
    struct pim_weigh_work work;
};

/* Sums from a guest to a home in a pass. */
struct pim_weigh_message {
    uint32_t home, guest; /* cores */
    uint64_t notice;      /* until the sender knows of the receiver */
    uint64_t way, bytes;  /* of one message: through the interconnect, and of its link; of a pass */
    uint64_t add;         /* to the sums of the home */
};

/* What is known of a layer before the passes begin. */
struct pim_weigh_layer {
    uint64_t steps;
    uint64_t begin, end;               /* passes; of what has none (unchained vector layers) UINT64_MAX */
    uint64_t left;                     /* vector layers: passes still to do */
    uint64_t most_homes, most_workers; /* of a job: replicas, cores */
    uint32_t shares;                   /* vector layers: cores that work on it */
    uint32_t first, next;              /* matrix: its part of the list of shares */
    uint32_t first_link, next_link;
    bool before; /* a layer of its group comes before it */
};

struct pim_weigh_core {
    struct pim_weigh_work now; /* of all that is at work */
    uint64_t trip;             /* of all that is at work: the longest */
    uint32_t first, next;      /* its part of the list of own shares */
    bool changed;              /* since the following was found */
    uint64_t matrix;           /* of a pass */
    /* what the window does: parts of 1024 of what follows the MVMs that keep the next pass back, and the last
     * pass for which that matters, `hidden` cycles later */
    uint64_t batch, early_part, late_part, hidden;
    uint64_t wait;  /* for what vector layers load */
    uint64_t late;  /* chunks of vector layers that are left when all passes are over */
    uint64_t load;  /* lanes x steps: other work, by which vector layers choose cores */
    uint64_t start; /* of the last MVM of the next pass */
    uint64_t done, sums;
    uint64_t vector, send, receive; /* when these engines are free */
    uint64_t end;                   /* of a pass */
    uint64_t rate;                  /* cycles of a pass, when many follow */
    uint64_t alone, work;           /* cycles of a pass, were no others there; and of all passes */
};

/* Room for one evaluation. */
struct pim_weigh_round {
    struct pim_weigh_layer *layer;
    struct pim_chain_layer *chain;     /* of each layer, as the schedule decides it */
    struct pim_weigh_share *share;     /* by layer */
    uint64_t *chunks;                  /* of vector layers without a chain that so many cores and one share */
    uint32_t *own;                     /* shares core by core: places in `share` */
    struct pim_weigh_message *message; /* by layer */
    struct pim_weigh_core *core;
    uint64_t *member; /* of each layer: a bit for each core at work on it; `words` words */
    uint64_t *marked; /* `words` */
    uint32_t words;
    uint32_t *list; /* cores */
    uint64_t *mark; /* passes at which layers begin or end */
    uint32_t marks;
    uint64_t *memory; /* of each chip: when the global memory is free */
    uint64_t *bytes, *loads, *starts;
    uint64_t passes, planned;         /* of the round; as the schedule counts before it begins */
    uint64_t side_vector, side_port;  /* of layers that nobody waits for: of a core in a pass */
    uint64_t side_bytes;              /* of a chip in a pass */
    uint64_t late_cycles, late_bytes; /* of a chunk of them */
};

/* Groups of layers, and the passes in which they work (weigh_chain.c). Needs of each layer: steps, homes,
 * members, and its shares. */
void pim_weigh_chains(const struct pim_core_costs *costs, struct pim_weigh_round *round);

/* Enters a value into an ascending list without repetitions that has room for it. */
static inline void pim_weigh_mark(uint64_t *mark, uint32_t *marks, uint64_t value)
{
    uint32_t at = *marks;
    while (at > 0 && mark[at - 1] > value)
        at--;
    if (at > 0 && mark[at - 1] == value)
        return;
    memmove(mark + at + 1, mark + at, ((*marks)++ - at) * sizeof *mark);
    mark[at] = value;
}

/* The way between two cores. */
static inline uint64_t pim_weigh_way(const struct pim_core_costs *costs, uint32_t from, uint32_t to)
{
    const struct pim_core_architecture *a = costs->architecture;
    const struct pim_core_spot *x = &costs->spot[from], *y = &costs->spot[to];
    if (costs->chip[from] != costs->chip[to])
        return a->chip_link_cycles;
    uint32_t hops = (x->x > y->x ? x->x - y->x : y->x - x->x) + (x->y > y->y ? x->y - y->y : y->y - x->y);
    return a->connection == PIM_CORE_MESH ? (uint64_t)hops * a->hop_cycles : 1;
}

/* Shares and messages of all layers, chains, and what is beside them (weigh_work.c). */
void pim_weigh_prepare(const struct pim_core_costs *costs, struct pim_core_weighing *w,
                       const struct pim_core_share *share, const uint32_t *first,
                       const struct pim_core_link *link, uint32_t links);

/* Sets w->result. */
void pim_weigh_round(const struct pim_core_costs *costs, struct pim_core_weighing *w,
                     const struct pim_core_share *share, const uint32_t *first,
                     const struct pim_core_link *link, uint32_t links);

enum pim_status pim_weigh_round_make(const struct pim_core_costs *costs, struct pim_arena *arena,
                                     struct pim_weigh_round **round, struct pim_error *error);

#endif
