/*
 * Overlap of a layer with its producers: when every data space of the consumer has its inputs, and what that
 * makes of the consumer's schedule.
 *
 * A data space is a bank and a step of the consumer's nest. It is ready when the last producing step of
 * everything it reads has ended and was moved. Dimensions of the consumer that a need reads together form a
 * component; a data space is a choice of one cell in every component, and its ready step is the sum of the
 * cells' terms. Maxima over steps and banks, and the distribution of ready times, follow from the components
 * alone, without going through the data spaces.
 *
 * Schedules of a layer:
 *   lock step     all banks begin a step together, when every bank of it is ready
 *   per bank      every bank goes through its own steps
 *   transformed   data spaces sorted by (ready, step, bank) and dealt out to the banks in rows; a row is one
 *                 step of all banks and begins with the latest of its inputs
 * All times are ticks from the start of the first layer.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_OVERLAP_H
#define PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_OVERLAP_H

#include "mappers/overlapim/analysis/producer.h"

/* Data spaces that are looked at one by one (placements, tables of transformed layers) are at most that. */
#define PIM_OVERLAP_EXPLICIT (UINT64_C(1) << 24)
/* Pairs of data spaces that the comparison one by one looks at: minutes. */
#define PIM_OVERLAP_COMPARISONS (UINT64_C(1) << 36)
#define PIM_OVERLAP_TIME (UINT64_C(1) << 60) /* no schedule may last longer */

/* When the outputs of a layer that was scheduled are final. Exactly one of the three forms. */
struct pim_schedule {
    uint64_t latency;   /* of a step; uniform: step s ends at (s + 1) * latency */
    uint64_t *step_end; /* by step, not falling; NULL: another form */
    uint64_t *tile_end; /* by output tile [N][K][P][Q], reduction included; NULL: another form */
    uint32_t tiles[4];  /* of tile_end */
    uint64_t end;       /* of the layer */
};
void pim_schedule_terminate(struct pim_schedule *schedule);

/* What happens in some steps of a layer alone, spread evenly over them: so often, each time so many ticks;
 * and, of them, in data spaces that exist: those that are left when it is transformed. */
struct pim_overlap_events {
    uint64_t count, ticks, existing;
};

/* A layer and where it reads from; producers are indices into the same array of layers. */
struct pim_overlap_layer {
    char name[PIM_NEST_NAME];
    struct pim_workload workload;
    struct pim_nest nest;
    struct pim_strides strides;              /* derived */
    uint64_t latency;                        /* ticks of a step, in the mean */
    struct pim_overlap_events loads, stores; /* of these, the first in the first step; the last in the last */
    bool transformed;                        /* how the layers behind it see it */
    uint32_t links;
    struct pim_link *link; /* owned */
};

enum { PIM_OVERLAP_COMPONENTS = PIM_DIMENSIONS };

/* Cells of the consumer's dimensions in `dimensions`: those that exist. */
struct pim_component {
    unsigned dimensions; /* bit d */
    bool free;           /* no link depends on it: terms are 0 and cells are made only when asked for */
    uint64_t cells;
    uint64_t *step, *bank; /* what the cell adds to the data space's step and bank; NULL while not made */
    int64_t **term;        /* [link][cell]: added to the key of the link; -1: nothing is needed */
};

/* How a key of a link becomes a time. */
struct pim_overlap_source {
    const uint64_t *table; /* end by key; NULL: (key + 1) * latency */
    uint64_t *owned;       /* the table, when it was made for this overlap */
    uint64_t latency, tail, transfer, head;
    bool monotone; /* a larger key is never earlier */
};

struct pim_overlap {
    const struct pim_overlap_layer *consumer;
    uint32_t links, components;
    struct pim_component component[PIM_OVERLAP_COMPONENTS];
    struct pim_overlap_source *source; /* by link */
    uint64_t data_spaces;              /* that exist */
    uint64_t inputs_end;               /* the latest end of a producer */
    bool regular;                      /* every step has a data space */
};

/* Initializes a layer without links; terminate frees its links. */
void pim_overlap_layer_initialize(struct pim_overlap_layer *layer);
void pim_overlap_layer_terminate(struct pim_overlap_layer *layer);

/* Checks workload, nest and links of layer `index` (its producers were checked) and derives its strides. */
enum pim_status pim_overlap_layer_derive(struct pim_overlap_layer *layers, uint32_t index,
                                         struct pim_error *error);

/*
 * Prepares the overlap of layer `consumer` with the schedules of its producers (`schedules` by layer).
 * PIM_BAD_INPUT when tables would be too large. Borrowed until pim_overlap_terminate: layers and schedules.
 */
enum pim_status pim_overlap_initialize(struct pim_overlap *overlap, const struct pim_overlap_layer *layers,
                                       uint32_t consumer, const struct pim_schedule *schedules,
                                       struct pim_error *error);
void pim_overlap_terminate(struct pim_overlap *overlap);

/* When the consumer's step may begin for a key of a link: its ready time, less what the step does before it
 * waits for the link. key < 0: nothing is needed, 0. */
uint64_t pim_overlap_time(const struct pim_overlap_source *source, int64_t key);

/* The end of the lock-step schedule of the consumer. Without going through the steps where producers are
 * uniform and the consumer is regular. */
enum pim_status pim_overlap_lockstep(struct pim_overlap *overlap, uint64_t *end, struct pim_error *error);

/*
 * ready[step] for all steps of the consumer; exists[step] (may be NULL when the consumer is regular) says
 * whether any bank works in it.
 */
enum pim_status pim_overlap_step_ready(struct pim_overlap *overlap, uint64_t *ready, bool *exists,
                                       struct pim_error *error);

/* A data space with its time. */
struct pim_ready {
    uint64_t ready, step, bank;
};

/* All data spaces, ordered by step, then bank; the caller frees them. At most PIM_OVERLAP_EXPLICIT. */
enum pim_status pim_overlap_list(struct pim_overlap *overlap, struct pim_ready **list,
                                 struct pim_error *error);

/* The end when every bank goes through its own steps: `list` as pim_overlap_list made it. */
enum pim_status pim_overlap_per_bank(const struct pim_overlap *overlap, const struct pim_ready *list,
                                     uint64_t *end, struct pim_error *error);

/* The end of the transformed schedule; from the distribution of ready steps where the consumer has one
 * producer with a schedule by steps, from a sorted list otherwise. */
enum pim_status pim_overlap_transformed(struct pim_overlap *overlap, uint64_t *end, struct pim_error *error);

/* Orders `list` by (ready, step, bank): place j is bank j mod banks in row j / banks. */
void pim_overlap_sort(struct pim_ready *list, uint64_t count);

/* The end of the transformed schedule of a sorted list. */
uint64_t pim_overlap_rows_end(const struct pim_overlap *overlap, const struct pim_ready *sorted);

/*
 * Partial sums that the transformation moves: over all output tiles, the banks that contribute to it in the
 * sorted order less the banks that did before, where positive.
 */
enum pim_status pim_overlap_moved(const struct pim_overlap *overlap, const struct pim_ready *sorted,
                                  uint64_t *tiles, struct pim_error *error);

/* The consumer's schedule as its own consumers will see it, in lock step or transformed. */
enum pim_status pim_overlap_schedule(struct pim_overlap *overlap, bool transformed,
                                     struct pim_schedule *schedule, struct pim_error *error);

/*
 * The oracle: sets `ready` of every data space of the list by comparing its needs with the output of every
 * data space of every producer. Costs data spaces x data spaces; agrees with pim_overlap_list.
 */
enum pim_status pim_overlap_exhaustive(const struct pim_overlap_layer *layers, uint32_t consumer,
                                       const struct pim_schedule *schedules, struct pim_ready *list,
                                       uint64_t count, struct pim_error *error);

/* Ticks of row `row` of so many, where they are not the same in all (pim_overlap_uneven): the mean without
 * what loads and stores take in it, and those that fall on this row. */
bool pim_overlap_uneven(const struct pim_overlap_layer *layer);
uint64_t pim_overlap_row_latency(const struct pim_overlap_layer *layer, uint64_t row, uint64_t rows);

/* Of so many events, spread evenly over rows, those on this one: with the last on the last row, or with the
 * first on the first. */
uint64_t pim_overlap_last_share(uint64_t events, uint64_t row, uint64_t rows);
uint64_t pim_overlap_first_share(uint64_t events, uint64_t row, uint64_t rows);

/* Ticks of the layer alone, all inputs in place: steps one after the other. */
uint64_t pim_overlap_sequential(const struct pim_overlap_layer *layer);

#endif
