/*
 * The compilers that PIMCOMP is compared with, as section VIII of its paper tells them apart: by layout,
 * replication and pipeline. What they share with PIMCOMP (unfolding, reuse, gathering of messages) they have
 * here too, as in the paper. docs/mappers/pimcomp-baselines.md says how each is built and what is left out.
 *
 * | baseline   | replicas         | a core holds        | pipeline                                        |
 * | songc      | 1                | groups, first fit   | none: one layer of one sample at a time         |
 * | puma       | 1                | groups, first fit   | windows, as in low latency                      |
 * | polyhedral | by time of layer | one replica's groups | samples (high throughput); none (low latency)  |
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LAYOUT_BASELINE_H
#define PIMSIM_MAPPERS_PIMCOMP_LAYOUT_BASELINE_H

#include "mappers/pimcomp/representation/pimcomp.h"
#include "mappers/pimcomp/schedule/schedule.h"

/* X(name, text) */
#define PIM_CORE_BASELINE_MAP(X)                                                                             \
    X(PIM_BASELINE_NONE, "none")                                                                             \
    X(PIM_BASELINE_SONGC, "songc")                                                                           \
    X(PIM_BASELINE_PUMA, "puma")                                                                             \
    X(PIM_BASELINE_POLYHEDRAL, "polyhedral")

enum pim_core_baseline {
#define X(name, text) name,
    PIM_CORE_BASELINE_MAP(X)
#undef X
        PIM_CORE_BASELINES
};

/* "none", ..; NULL outside. */
const char *pim_core_baseline_name(unsigned baseline);

/* The schedule that a baseline has in `mode`, and what of its options is not the user's choice: the batch of
 * those that take one sample at a time is 1. PIM_USAGE: it has none in that mode. */
enum pim_status pim_core_baseline_schedule(enum pim_core_baseline baseline, enum pim_core_mode *mode,
                                           struct pim_core_schedule_options *options,
                                           struct pim_error *error);

/* Its layout; not of PIM_BASELINE_NONE. PIM_BAD_INPUT when the network does not fit. */
enum pim_status pim_core_baseline_layout(enum pim_core_baseline baseline,
                                         const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                         struct pim_core_layout *layout, struct pim_error *error);

/*
 * The layout of Polyhedral: whole cores are given to replicas. A replica takes cores that hold nothing else,
 * its groups packed in their order; the next replica always goes to the layer with the most windows for each
 * replica, until the cores that are left hold no more of it. When one replica of every layer needs more cores
 * than there are, layers share cores first fit, without further replicas.
 */
enum pim_status pim_core_layout_whole_cores(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                            struct pim_core_layout *layout, struct pim_error *error);

#endif
