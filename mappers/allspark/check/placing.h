/* The weights of a stage, placed where docs/mappers/allspark.md says they are. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_CHECK_PLACING_H
#define PIMSIM_MAPPERS_ALLSPARK_CHECK_PLACING_H

#include "mappers/allspark/check/machine/machine.h"
#include "sim/arena.h"

struct placing {
    struct machine *machine;
    const struct pim_allspark_plan *plan;
    uint32_t index;          /* of the stage */
    struct pim_arena *arena; /* has the numbers, until the machine forgets them */
};

/* The weights of all blocks on all nodes. */
enum pim_status place_weights(const struct placing *placing, struct pim_error *error);
/* Those of the classifier, behind the stage. */
enum pim_status place_head(const struct placing *placing, struct pim_error *error);

#endif
