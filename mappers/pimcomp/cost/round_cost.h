/*
 * A saturated round of high throughput, pass by pass: estimate.h and docs/mappers/pimcomp.md, section
 * Estimate, which states the rules. Inside of the estimate.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_COST_ROUND_COST_H
#define PIMSIM_MAPPERS_PIMCOMP_COST_ROUND_COST_H

#include "mappers/pimcomp/cost/estimate.h"
#include "sim/integer.h"

#include <string.h>

enum { PIM_PART = 16 }; /* instructions are counted in such parts, because some come once in several passes */

/* What a portion, or all portions of a core that are at work, do in a pass. */
struct pim_round_cost_work {
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
struct pim_round_cost_portion {
    uint32_t core;
    bool works;           /* in the passes at hand */
    uint64_t first_bytes; /* to be loaded before the first pass */
    uint64_t trip;        /* of an MVM: reading its input, writing its output */
    struct pim_round_cost_work work;
};

/* Sums from a contributor to a home in a pass. */
struct pim_round_cost_message {
    uint32_t home, contributor; /* cores */
    uint64_t notice;            /* until the sender knows of the receiver */
    uint64_t way, bytes;        /* of one message: through the interconnect, and of its link; of a pass */
    uint64_t add;               /* to the sums of the home */
};

/* What is known of a layer before the passes begin. */
struct pim_round_cost_layer {
    uint64_t steps;
    uint64_t begin, end;               /* passes; of what has none (unchained vector layers) UINT64_MAX */
    uint64_t left;                     /* vector layers: passes still to do */
    uint64_t most_homes, most_workers; /* of a job: replicas, cores */
    uint32_t portions;                 /* vector layers: cores that work on it */
    uint32_t first, next;              /* matrix: its part of the list of portions */
    uint32_t first_link, next_link;
    bool before; /* a layer of its group comes before it */
};

struct pim_round_cost_core {
    struct pim_round_cost_work now; /* of all that is at work */
    uint64_t trip;                  /* of all that is at work: the longest */
    uint32_t first, next;           /* its part of the list of own portions */
    bool changed;                   /* since the following was found */
    uint64_t matrix;                /* of a pass */
    /* what the window does: parts of 1024 of what follows the MVMs that keep the next pass back, and the last
     * pass for which that matters, `hidden` cycles later */
    uint64_t batch, early_part, late_part, hidden;
    uint64_t wait;  /* for what vector layers load */
    uint64_t late;  /* chunks of vector layers that are left when all passes are over */
    uint64_t load;  /* replicas x steps: other work, by which vector layers choose cores */
    uint64_t start; /* of the last MVM of the next pass */
    uint64_t done, sums;
    uint64_t vector, send, receive; /* when these engines are free */
    uint64_t end;                   /* of a pass */
    uint64_t rate;                  /* cycles of a pass, when many follow */
    uint64_t alone, work;           /* cycles of a pass, were no others there; and of all passes */
};

/* Room for one evaluation. */
struct pim_round_cost {
    struct pim_round_cost_layer *layer;
    struct pim_chain_layer *chain;          /* of each layer, as the schedule decides it */
    struct pim_round_cost_portion *portion; /* by layer */
    uint64_t *chunks; /* of vector layers without a chain that so many cores and one portion */
    uint32_t *own;    /* portions core by core: places in `portion` */
    struct pim_round_cost_message *message; /* by layer */
    struct pim_round_cost_core *core;
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

/* Groups of layers, and the passes in which they work (round_chains.c). Needs of each layer: steps, homes,
 * members, and its portions. */
void pim_round_cost_chains(const struct pim_core_costs *costs, struct pim_round_cost *round);

/* Enters a value into an ascending list without repetitions that has room for it. */
static inline void pim_round_cost_mark(uint64_t *mark, uint32_t *marks, uint64_t value)
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
static inline uint64_t pim_round_cost_path(const struct pim_core_costs *costs, uint32_t from, uint32_t to)
{
    const struct pim_core_architecture *a = costs->architecture;
    const struct pim_core_position *x = &costs->position[from], *y = &costs->position[to];
    if (costs->chip[from] != costs->chip[to])
        return a->chip_link_cycles;
    uint32_t hops = pim_difference(x->x, y->x) + pim_difference(x->y, y->y);
    return a->connection == PIM_CORE_MESH ? (uint64_t)hops * a->hop_cycles : 1;
}

/* Portions and messages of all layers, chains, and what is beside them (round_work.c). */
void pim_round_cost_prepare(const struct pim_core_costs *costs, struct pim_core_evaluation *w,
                            const struct pim_core_portions *portions);

/* Sets w->result. */
void pim_round_cost(const struct pim_core_costs *costs, struct pim_core_evaluation *w,
                    const struct pim_core_portions *portions);

enum pim_status pim_round_cost_make(const struct pim_core_costs *costs, struct pim_arena *arena,
                                    struct pim_round_cost **round, struct pim_error *error);

#endif
