#include "mappers/overlapim/chain/mix.h"

#include "mappers/nest/near.h"

#include <stdlib.h>
#include <string.h>

struct mixing {
    const struct pim_search_inputs *inputs;
    const struct pim_layer_mapping *const *found;
    unsigned count;
    bool transformed;
    struct pim_layer_mapping *mappings;
    struct pim_chain *chain;
    uint32_t *runs; /* that are left */
    uint32_t taken;
};

/* What the layers add to the end of all before them. */
static void measure(const struct mixing *mixing, uint64_t *adds)
{
    uint64_t frontier = 0;
    for (uint32_t i = 0; i < mixing->inputs->layers->count; i++) {
        const uint64_t end = mixing->chain->layer[i].left;
        adds[i] = end > frontier ? end - frontier : 0;
        frontier = end > frontier ? end : frontier;
    }
}

/* The layer that adds most, the first of equal ones; of those that had no turn. PIM_NONE: none is left. */
static uint32_t next_layer(const struct mixing *mixing, const uint64_t *adds, bool *had)
{
    uint32_t most = PIM_NONE;
    for (uint32_t i = 0; i < mixing->inputs->layers->count; i++) {
        if (!had[i] && (most == PIM_NONE || adds[i] > adds[most]))
            most = i;
    }
    if (most != PIM_NONE)
        had[most] = true;
    return most;
}

/* Whether it is one that has been tried for the layer. */
static bool is_known(const struct mixing *mixing, uint32_t layer, unsigned of)
{
    const struct pim_nest *nest = &mixing->found[of][layer].nest;
    for (unsigned j = 0; j < of; j++) {
        if (pim_nest_like(nest, &mixing->found[j][layer].nest))
            return true;
    }
    return pim_nest_like(nest, &mixing->mappings[layer].nest);
}

/* Takes the mapping of a layer if the network ends earlier with it. */
static enum pim_status try_one(struct mixing *mixing, uint32_t layer, const struct pim_layer_mapping *mapping,
                               struct pim_error *error)
{
    const struct pim_layer_mapping before = mixing->mappings[layer];
    struct pim_chain chain;
    bool earlier;
    mixing->mappings[layer] = *mapping;
    --*mixing->runs;
    if (pim_chain_run_before(mixing->inputs, mixing->mappings, mixing->transformed, mixing->chain->end,
                             &earlier, &chain, error) != PIM_OK)
        return error->status;
    if (!earlier)
        mixing->mappings[layer] = before;
    mixing->taken += earlier;
    pim_chain_terminate(earlier ? mixing->chain : &chain);
    if (earlier)
        *mixing->chain = chain;
    return PIM_OK;
}

static enum pim_status mix(struct mixing *mixing, uint64_t *adds, bool *had, struct pim_error *error)
{
    const struct pim_search_inputs *inputs = mixing->inputs;
    measure(mixing, adds);
    for (uint32_t layer; (layer = next_layer(mixing, adds, had)) != PIM_NONE;) {
        for (unsigned j = 0; j < mixing->count; j++) {
            if (*mixing->runs == 0 || (inputs->stop && inputs->stop(inputs->context)))
                return PIM_OK;
            if (!is_known(mixing, layer, j) &&
                try_one(mixing, layer, &mixing->found[j][layer], error) != PIM_OK)
                return error->status;
        }
    }
    return PIM_OK;
}

enum pim_status pim_chain_mix(const struct pim_search_inputs *inputs,
                              const struct pim_layer_mapping *const *found, unsigned count, bool transformed,
                              uint32_t *runs, struct pim_layer_mapping *mappings, struct pim_chain *chain,
                              struct pim_error *error)
{
    struct mixing mixing = {.inputs = inputs,
                            .found = found,
                            .count = count,
                            .transformed = transformed,
                            .mappings = mappings,
                            .chain = chain,
                            .runs = runs};
    uint64_t *adds = calloc(inputs->layers->count + 1, sizeof *adds);
    bool *had = calloc(inputs->layers->count + 1, sizeof *had);
    enum pim_status status = adds && had ? mix(&mixing, adds, had, error)
                                         : pim_fail(error, PIM_NO_MEMORY, "out of memory for the mixture");
    free(adds);
    free(had);
    if (status != PIM_OK || !transformed || mixing.taken == 0)
        return status;
    pim_chain_terminate(chain); /* once more, with what its layers have moved */
    return pim_chain_run(inputs, mappings, true, false, chain, error);
}
