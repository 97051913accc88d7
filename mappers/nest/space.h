/*
 * The mapping space of a layer: six slots for the factors of every dimension, the order of the temporal
 * loops, and what a user pins down. A sample is a nest with, outermost first,
 *
 *     outer     temporal, steps of the whole memory
 *     channels  spatial
 *     banks     spatial
 *     steps     temporal, steps of a bank      (the cut is behind these)
 *     columns   spatial
 *     inside    temporal, one after another in a column
 *
 * Columns that reduce together (C, R, S) are summed in a tree: each such group takes a power of two of them.
 *
 * Factors need not divide: the outermost loop of a dimension is rounded up, so primes use the memory as well
 * as others. Samples are regular: every step has a data space.
 */
#ifndef PIMSIM_MAPPERS_NEST_SPACE_H
#define PIMSIM_MAPPERS_NEST_SPACE_H

#include "mappers/nest/nest.h"
#include "sim/random.h"

/* X(name, text, spatial, level) */
#define PIM_SLOT_MAP(X)                                                                                      \
    X(PIM_SLOT_OUTER, "outer", false, 0)                                                                     \
    X(PIM_SLOT_CHANNELS, "channels", true, 1)                                                                \
    X(PIM_SLOT_BANKS, "banks", true, 2)                                                                      \
    X(PIM_SLOT_STEPS, "steps", false, 2)                                                                     \
    X(PIM_SLOT_COLUMNS, "columns", true, 3)                                                                  \
    X(PIM_SLOT_INSIDE, "inside", false, 3)

enum pim_nest_slot {
#define X(name, text, spatial, level) name,
    PIM_SLOT_MAP(X)
#undef X
        PIM_SLOTS
};

const char *pim_slot_name(unsigned slot);

struct pim_mapping_space {
    struct pim_workload workload;
    uint32_t instances[PIM_SLOTS];              /* of spatial slots: what the factors may multiply to */
    uint64_t data_spaces;                       /* steps x banks of a sample, at most */
    uint32_t factor[PIM_SLOTS][PIM_DIMENSIONS]; /* pinned; 0: free */
    uint8_t order[PIM_SLOTS][PIM_DIMENSIONS];   /* of outer and steps, outermost first; valid when ordered */
    bool ordered[PIM_SLOTS];
    bool drop_weights; /* weights are not kept in the rows but written like inputs */
};

/* Nothing pinned. */
void pim_mapping_space_initialize(struct pim_mapping_space *space, const struct pim_workload *workload,
                                  uint32_t channels, uint32_t banks, uint32_t columns, uint64_t data_spaces);

/* Pins what is free so that samples go through their outputs row by row: rows are not spread over columns,
 * banks and channels, and the temporal loops outside of a bank are N, P, Q, then the others. */
void pim_mapping_space_by_rows(struct pim_mapping_space *space);

/* PIM_BAD_INPUT says which pinned factors cannot be: more than there are instances, or a product that is
 * larger than the dimension. */
enum pim_status pim_mapping_space_check(const struct pim_mapping_space *space, struct pim_error *error);

/* A sample; the same numbers give the same nest. False: this draw does not fit data_spaces or the pins. */
bool pim_mapping_space_sample(const struct pim_mapping_space *space, struct pim_random *random,
                              struct pim_nest *nest);

#endif
