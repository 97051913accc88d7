/* What a search for mappings looks at, and a mapping that it has found. */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_SEARCH_INPUTS_H
#define PIMSIM_MAPPERS_OVERLAPIM_SEARCH_INPUTS_H

#include "mappers/nest/space.h"
#include "mappers/overlapim/model.h"
#include "mappers/search/workers.h"

/* A mapping of a layer. */
struct pim_layer_mapping {
    struct pim_nest nest;
    struct pim_strides strides;
    struct pim_step_cost cost;
    uint64_t score; /* of its search */
    uint64_t bound; /* no mapping of the layer has a lower score next to the same neighbour */
    uint64_t valid; /* candidates that fitted */
    uint64_t drawn; /* candidates that were looked at */
};

enum pim_search_order {
    PIM_ORDER_FORWARD,
    PIM_ORDER_BACKWARD,
    PIM_ORDER_MIDDLE_OUTPUT,
    PIM_ORDER_MIDDLE_TOTAL
};

struct pim_search_inputs {
    const struct pim_mapped_layers *layers;
    const struct pim_machine *machine;
    const struct pim_mapping_space *spaces; /* by layer */
    uint32_t channels;                      /* of every layer */
    uint64_t budget, seed;
    enum pim_search_order order;
    bool random; /* all candidates are drawn from the whole space (search.h) */
    bool real;   /* products are worked on rows of their own words (emit/real.h) */
    struct pim_workers *workers;
    /* Ready times by comparison of all data spaces, as OverlaPIM finds them: then this many comparisons for
     * each candidate of the budget, and the search of a layer ends when they are used up. 0: by analysis. */
    uint64_t comparisons;
    void (*progress)(void *context, uint64_t done, uint64_t total);
    bool (*stop)(void *context); /* asked between some hundred candidates of a layer; true: what is found is
                                    taken, and the layers to come get the first candidates that fit */
    void *context;
};

#endif
