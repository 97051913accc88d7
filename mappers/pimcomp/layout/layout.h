/*
 * Layouts: how many replicas of each layer there are, and which core holds which array group of which
 * replica (paper, section VI; docs/mappers/pimcomp.md, section Layout).
 *
 * All layouts keep invariants 3 and 4 of representation/pimcomp.h; pim_core_layout_check() verifies them.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LAYOUT_LAYOUT_H
#define PIMSIM_MAPPERS_PIMCOMP_LAYOUT_LAYOUT_H

#include "mappers/pimcomp/schedule/schedule.h"

/* Fills the layout of a mapping, which is not looked at before; it then lives in `arena`. */
typedef enum pim_status pim_core_layout_rule(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                             struct pim_core_layout *layout, struct pim_error *error);

/*
 * One replica of every layer, groups in the order of layers first fit into cores from core 0 on. When that
 * fails for its fragments, groups are placed in order of falling size. PIM_BAD_INPUT says how many arrays
 * found no room.
 */
enum pim_status pim_core_layout_first(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                      struct pim_core_layout *layout, struct pim_error *error);

/*
 * The first layout with more replicas, as the released PIMCOMP's "balance": always one more for the layer
 * with the most windows for each replica, until half of the arrays that one replica of each leaves are used
 * or the layer's next replica finds no room. Fully connected layers (one window) keep one.
 */
enum pim_status pim_core_layout_balance(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                        struct pim_core_layout *layout, struct pim_error *error);

/* PIM_INTERNAL names the layer or the core that breaks invariant 3 or 4. */
enum pim_status pim_core_layout_check(const struct pim_core_mapping *mapping, struct pim_error *error);

/* Whether two layouts of a mapping have the same cores in the same order. */
bool pim_core_layouts_equal(const struct pim_core_mapping *mapping, const struct pim_core_layout *one,
                            const struct pim_core_layout *two);
/* Whether they have as many replicas of each layer. */
bool pim_core_layouts_replicate_equally(const struct pim_core_mapping *mapping,
                                        const struct pim_core_layout *one, const struct pim_core_layout *two);

/* A copy of a layout of a mapping in an arena. PIM_NO_MEMORY. */
enum pim_status pim_core_layout_copy(const struct pim_core_mapping *mapping,
                                     const struct pim_core_layout *from, struct pim_arena *arena,
                                     struct pim_core_layout *to, struct pim_error *error);

/* Arrays that a layout uses of all cores together. */
uint64_t pim_core_layout_arrays(const struct pim_core_mapping *mapping);

/*
 * The layout of Polyhedral: whole cores are given to replicas. A replica takes cores that hold nothing else,
 * its groups packed in their order; the next replica always goes to the layer with the most windows for each
 * replica, until the cores that are left hold no more of it. When one replica of every layer needs more cores
 * than there are, layers share cores first fit, without further replicas.
 */
enum pim_status pim_core_layout_whole_cores(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                            struct pim_core_layout *layout, struct pim_error *error);

/*
 * Layouts in which all layers take the same number of steps: a layer of w windows has w / s replicas, rounded
 * up, so that each of them goes through s windows at most. Where layers hold each other back, a layout of few
 * steps needs many replicas more at once, and a search that adds them one by one gains nothing on the way.
 */

/*
 * Up to `most` such layouts: that of the fewest steps which finds room, then of an eighth more steps each.
 * Replicas are placed first fit, layers by falling size of their groups. None when not even one replica of
 * each layer finds room like this. PIM_NO_MEMORY.
 */
enum pim_status pim_core_layouts_even(const struct pim_core_mapping *mapping, uint32_t most,
                                      struct pim_arena *arena, struct pim_core_layout *layout,
                                      uint32_t *count, struct pim_error *error);

/*
 * Replicas apart: those of another layout, each of them whole where a core has room for it, on the core whose
 * replicas go through the fewest windows. A core does one window behind another, and first fit puts those
 * that work at the same time on one core.
 */

/* Which layers are placed first: those with the largest array groups, or with the largest replicas. */
enum pim_core_spread { PIM_CORE_SPREAD_BY_GROUP, PIM_CORE_SPREAD_BY_REPLICA, PIM_CORE_SPREADS };

/* The layers with array groups by falling size in arrays, of equals the earlier one first. PIM_NO_MEMORY. */
enum pim_status pim_core_layers_by_size(const struct pim_core_mapping *mapping, enum pim_core_spread by,
                                        struct pim_arena *arena, uint32_t **ordered, uint32_t *layers,
                                        struct pim_error *error);

/* *placed: whether all found room; else the layout is not to be used. PIM_NO_MEMORY. */
enum pim_status pim_core_layout_spread(const struct pim_core_mapping *mapping,
                                       const struct pim_core_layout *of, enum pim_core_spread by,
                                       struct pim_arena *arena, struct pim_core_layout *layout, bool *placed,
                                       struct pim_error *error);

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

#endif
