/*
 * Estimated cycles of a layout, without a simulation: what the search compares and phases of a trace carry
 * (docs/mappers/pimcomp.md, section Estimate).
 *
 * A layout is told to the estimate as portions: how many replicas of a layer have their home (first array
 * group) on a core, how many array groups of it are there, and what partial sums go out and come in. Both the
 * chromosomes of the search and finished layouts are brought into that form.
 *
 * All results are cycles of the cores' clock and integers: equal on every machine.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_COST_ESTIMATE_H
#define PIMSIM_MAPPERS_PIMCOMP_COST_ESTIMATE_H

#include "mappers/pimcomp/representation/pimcomp.h"
#include "mappers/pimcomp/throughput/rules.h"

/* The part of a core in a layer. */
struct pim_core_portion {
    uint32_t layer;
    uint32_t homes;    /* replicas whose first group is here */
    uint32_t replicas; /* replicas with any group here */
    uint32_t groups;   /* of all of them */
    uint32_t sums_in;  /* partial sums that the homes receive for one window each */
    uint32_t sums_out; /* that the other replicas send */
    /* of the replicas whose home is elsewhere */
    uint32_t contributor_groups;
    uint32_t span; /* homes of the cores where their homes are: replicas that take turns with them */
};

/* A replica that lies on several cores: position `contributor` sends its partial sums to position `home`.
 * Positions are those of pim_core_costs.walk. */
struct pim_core_link {
    uint32_t layer, home, contributor;
    uint32_t span; /* homes of the portion of `home` */
};

/* A layout as portions and links. */
struct pim_core_portions {
    struct pim_core_portion *portion;
    uint32_t *first; /* the portions of the core at position p are those from first[p] to first[p + 1] */
    struct pim_core_link *link; /* in the order of positions */
    uint32_t links;
};

/* Low latency: what a layer waits for of one of its producers. */
struct pim_core_reach {
    uint32_t layer;
    uint64_t first, total;  /* pixels of the producer before the first window; pixels of it in all */
    uint32_t rows, columns; /* windows of this layer, in y and x, that read one pixel */
    bool sent;              /* pixels have to move: not of a vector layer that works where they are made */
};

/* What is fixed for a layer: cycles and bytes for one window unless said otherwise. */
struct pim_core_cost {
    bool matrix;
    uint64_t windows;
    uint32_t groups;                /* of a replica */
    uint64_t mvm_beats;             /* local port: inputs and outputs of all groups of a replica */
    uint64_t add_beats, add_cycles; /* local port, vector engine: one partial sum added */
    uint64_t finish_beats;          /* local port: bias, activations, the way out of the pixel */
    uint64_t finish_cycles;         /* vector engine: bias and activations */
    uint32_t position_groups;       /* array groups that read one position of the kernel, 1 at least */
    uint64_t sum_beats, sum_cycles; /* a partial sum that goes to another core: local port, interconnect */
    uint64_t pixel_cycles;          /* an output pixel that goes to another core: interconnect */
    uint64_t pixel_bytes;
    /* loads of a job: of a window in a row of them; of a row of the map, of a kernel row of the first window,
     * and of each further window of the row */
    uint64_t new_bytes, row_bytes, window_bytes, column_bytes;
    uint32_t kernel_rows, fresh_rows; /* fresh: that a row of windows reads and the one before did not */
    uint32_t row;                     /* windows */
    uint64_t copy_beats;              /* HT, local port: windows that no MVM can read where they lie */
    uint32_t copies;                  /* HT: instructions for that, for each replica */
    uint64_t load_beats;              /* HT, vector layers, local port: of new_bytes */
    /* HT, matrix layers */
    uint64_t input_beats, trip; /* an MVM: local port for its input; latency and port, input and output */
    uint64_t sum_elements;      /* of a partial sum */
    uint64_t channels;
    bool bias;
    uint32_t afters;
    struct pim_chain_form chain; /* HT */
    uint64_t buffer_bytes;       /* vector layers: in local memories, of the whole layer */
    bool pointwise;              /* a core reads only the channels of its groups */
    uint32_t sources;
    const struct pim_core_reach *source;
};

/* Where a core is. */
struct pim_core_position {
    uint32_t x, y;
};

struct pim_core_costs {
    const struct pim_core_architecture *architecture;
    const struct pim_core_network *network;
    const struct pim_core_partition *partition;
    enum pim_core_mode mode;
    struct pim_core_cost *layer;
    uint32_t *chip; /* of each core */
    uint32_t chips;
    struct pim_core_position *position; /* of each core */
    uint32_t *walk; /* core at each position: chip by chip, in each row by row, every second one backwards */
    uint32_t room;  /* matrix layers: the most portions of a core */
    uint64_t load_cycles, memory_cycles; /* of a beat at the local and the global memory */
    uint64_t round_cycles;               /* LL: least time from pixel to pixel of the next layer */
};

struct pim_core_estimate {
    uint64_t cycles; /* HT: a saturated round. LL: one inference */
    uint64_t spread; /* of equal cycles the smaller is better: how evenly the work lies */
};

/* Everything that does not depend on the layout; lives in `arena`. PIM_NO_MEMORY. */
enum pim_status pim_core_costs_prepare(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                       struct pim_core_costs *costs, struct pim_error *error);

/* Room for one evaluation; not shared between threads. */
struct pim_core_evaluation {
    uint32_t *replicas; /* of each layer: filled by the caller */
    /* of each layer */
    uint64_t *work;                    /* LL: rounds: windows of a replica */
    uint32_t *homes, *members, *parts; /* LL: cores with a home; with any group; all parts of replicas */
    uint64_t *first, *last;            /* LL: rounds of the first and the last pixel */
    uint64_t *away;                    /* LL: cores that an output pixel goes to */
    uint32_t *place;                   /* LL: marks of its first round and behind its last */
    /* LL, of each mark: rounds at which the work changes */
    uint64_t *mark;
    uint64_t *slowest;            /* cycles of a round of the slowest core from here to the next mark */
    int64_t *change;              /* of the MVMs of a core in a round */
    int64_t *behind;              /* of the cycles behind them */
    struct pim_round_cost *round; /* HT; NULL in LL */
    struct pim_core_estimate result;
};

enum pim_status pim_core_evaluation_make(const struct pim_core_costs *costs, struct pim_arena *arena,
                                         struct pim_core_evaluation *evaluation, struct pim_error *error);

/* Evaluates a layout: one portion of a core for each layer, and evaluation->replicas is filled. The result is
 * in evaluation->result. */
void pim_core_evaluate(const struct pim_core_costs *costs, struct pim_core_evaluation *evaluation,
                       const struct pim_core_portions *portions);

/* The estimate of a finished layout. PIM_NO_MEMORY. */
enum pim_status pim_core_estimate_layout(const struct pim_core_mapping *mapping,
                                         struct pim_core_estimate *estimate, struct pim_error *error);

#endif
