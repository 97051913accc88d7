/* Cuts of a product, and how many nodes share its weights: those that no other beats in size and time. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_CANDIDATES_CANDIDATES_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_CANDIDATES_CANDIDATES_H

#include "mappers/nicepim/map/program/homes.h"

struct candidate {
    struct pim_cut cut;
    uint32_t sharing;
    uint64_t cycles, stored;
    uint64_t cost; /* by the plan's weights */
};

struct candidate_list {
    struct candidate *items; /* from malloc */
    uint32_t count;
};

/*
 * Walks over all cuts of operation `layer` on a region. `inputs`: where its inputs lie, so that what moves
 * counts; NULL: not known, or there is none. PIM_BAD_INPUT when no tile of any cut fits the buffers.
 */
enum pim_status candidates_find(const struct nice_plan *plan, uint32_t layer,
                                const struct nice_region *region, const struct home *const inputs[2],
                                struct candidate_list *list, struct pim_error *error);

/* The `count` cuts of least cost, cheapest first, each with the number of nodes of a copy with which it costs
 * least of those that need no more than `most_stored` bytes on a node; none where there are none. */
enum pim_status candidates_nearest(const struct nice_plan *plan, uint32_t layer,
                                   const struct nice_region *region, const struct home *const inputs[2],
                                   uint64_t most_stored, uint32_t count, struct candidate_list *list,
                                   struct pim_error *error);

#endif
