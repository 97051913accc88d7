/*
 * Twins: the global attention of a stage in branches.
 *
 * A global block attends from all tokens of the map to keys that are made of `reduction` tokens each. Only
 * keys and values meet all tokens; everything else treats tokens, or those of a key, one by one. So the map
 * is cut into G branches of M / G keys and the tokens that these are made of, which follow each other in the
 * order of the map (pim_windows_to_map). Before the scores every branch gets the keys and values of the
 * others (neighbours.c): the exchange between all branches of section VII-A. Branches fill the array where a
 * single sub-array of u x v nodes cannot: u is not more than a line of the array, and v not more than the
 * heads.
 *
 * G divides M, so that branches are alike, and maps with tokens beyond whole patches of a key are not cut.
 * Which G: that with which the blocks of the stage alone are quickest, by the closed forms with rings of one
 * branch. Fixed schemes and given partitions have the single branch of the network, unless the plan says G.
 */
#include "mappers/allspark/candidates/candidates.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/shapes.h"
#include "sim/integer.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdlib.h>

bool pim_stage_is_global(const struct pim_allspark_plan *plan, uint32_t index)
{
    return pim_families[plan->network->transformer->family].alternates && plan->stage[index].first_block == 1;
}

/* Whether `branches` can be cut from the single one that `whole` is. */
static bool divides(const struct pim_allspark_partition *whole, uint32_t branches)
{
    return whole->key_tokens % branches == 0 &&
           (branches == 1 || (uint64_t)whole->key_tokens * whole->reduction == whole->tokens);
}

static void cut(struct pim_allspark_partition *part, uint32_t branches)
{
    part->tokens /= branches;
    part->made_keys /= branches;
    part->branches = branches;
}

/* --- which G --- */

struct search {
    const struct pim_allspark_plan *plan;
    const struct pim_allspark_partition *whole;
    struct pim_emitter emitter;
    uint64_t least;    /* cycles */
    uint32_t branches; /* with which they are least */
};

/* A partition of G branches; false when it does not fit the array or the branch. */
static bool make_part(const struct search *search, uint32_t branches, uint32_t u, uint32_t v,
                      struct pim_allspark_partition *part)
{
    const struct pim_estimate_hardware *hardware = &search->plan->hardware;
    *part = *search->whole;
    cut(part, branches);
    part->u = part->ring = u;
    part->v = v;
    part->slots = part->chunks = 1;
    part->batch = search->plan->batch;
    part->prefetch = search->plan->prefetch;
    part->layout.count = pim_allspark_layout_count(hardware->height, hardware->width, u, v);
    return u <= part->tokens && v <= part->heads && part->layout.count > 0;
}

/* Tokens times heads that the busiest node works one after another, in all layers. */
static uint64_t work_of(const struct pim_allspark_partition *part)
{
    return (uint64_t)pim_divide_up32(part->branches, part->layout.count) * pim_stage_tokens(part, 0) *
           pim_divide_up32(part->heads, part->v);
}

/* What the exchange of keys and values takes in a layer of a block, before branches have a place. What a node
   gets is written, read, and written where it is wanted, with a message from each branch; and a quarter of
   all bytes crosses the middle of the array each way. */
static uint64_t exchange_of(const struct search *search, const struct pim_allspark_partition *part)
{
    const struct pim_estimate_hardware *hardware = &search->plan->hardware;
    if (!pim_stage_collects(part))
        return 0;
    uint64_t bytes =
        2 * (uint64_t)(pim_stage_keys(part, 0) - pim_stage_made(part, 0)) * pim_stage_channels(part, 0);
    uint64_t messages = part->branches - 1;
    uint32_t at_once = part->layout.count < part->branches ? part->layout.count : part->branches;
    uint64_t all = 2 * (uint64_t)at_once * (part->key_tokens - part->made_keys) * part->channels;
    uint64_t links = hardware->width < hardware->height ? hardware->width : hardware->height;
    uint64_t flits = all / (4 * links * hardware->flit_bytes);
    return part->batch *
           (4 * messages * pim_estimate_access(hardware) + 2 * pim_estimate_stream(hardware, bytes, false) +
            2 * pim_estimate_stream(hardware, bytes, true) + pim_estimate_flits(hardware, flits));
}

static void try_part(struct search *search, const struct pim_allspark_partition *part)
{
    struct pim_emitter *emitter = &search->emitter;
    emitter->part = part;
    emitter->status = PIM_OK;
    emitter->estimate_cycles = 0;
    uint64_t cycles = pim_estimate_layer(emitter) + part->blocks * exchange_of(search, part);
    cycles *= pim_divide_up32(part->branches, part->layout.count);
    if (emitter->status == PIM_OK && (search->branches == 0 || cycles < search->least)) {
        search->least = cycles;
        search->branches = part->branches;
    }
}

/* All G and all u x v whose busiest node has little more work than is possible at all. */
static void try_all(struct search *search)
{
    const struct pim_estimate_hardware *hardware = &search->plan->hardware;
    uint32_t line = hardware->width > hardware->height ? hardware->width : hardware->height;
    uint32_t nodes = hardware->width * hardware->height;
    uint64_t least = UINT64_MAX;
    struct pim_allspark_partition part;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t branches = 1; branches <= nodes && branches <= search->whole->key_tokens; branches++)
            for (uint32_t u = 1; u <= line && divides(search->whole, branches); u++)
                for (uint32_t v = 1; v <= line; v++) {
                    if (!make_part(search, branches, u, v, &part))
                        continue;
                    uint64_t work = work_of(&part);
                    least = work < least ? work : least;
                    if (pass == 1 && work <= least + least / 4)
                        try_part(search, &part);
                }
}

static enum pim_status choose(struct pim_allspark_plan *plan, uint32_t index, uint32_t *branches,
                              struct pim_error *error)
{
    struct pim_error ignored = {0}; /* a product without a tile: that partition is none */
    struct search search = {.plan = plan,
                            .whole = &plan->stage[index].partition[0],
                            .emitter = {.plan = plan,
                                        .stage = &plan->stage[index],
                                        .index = index,
                                        .error = &ignored,
                                        .tilings = calloc(1, sizeof(struct pim_tilings))}};
    PIM_NEED_MEMORY(search.emitter.tilings, error, "out of memory for the plan");
    try_all(&search);
    free(search.emitter.tilings);
    *branches = search.branches > 0 ? search.branches : 1;
    return PIM_OK;
}

enum pim_status pim_plan_divide(struct pim_allspark_plan *plan, const struct pim_allspark_options *options,
                                struct pim_error *error)
{
    for (uint32_t i = 0; i < plan->stages; i++) {
        struct pim_allspark_partition *whole = &plan->stage[i].partition[0];
        uint32_t branches = options->branches[i];
        if (!pim_stage_is_global(plan, i))
            continue;
        if (branches == 0 && options->scheme != PIM_ALLSPARK_AUTOMATIC)
            branches = 1;
        if (branches == 0 && choose(plan, i, &branches, error) != PIM_OK)
            return error->status;
        if (!divides(whole, branches))
            return pim_fail(error, PIM_BAD_INPUT,
                            "stage %" PRIu32 ": the global attention of %" PRIu32 " tokens to %" PRIu32
                            " keys is not cut into %" PRIu32 " equal branches",
                            i + 1, whole->tokens, whole->key_tokens, branches);
        cut(whole, branches);
    }
    return PIM_OK;
}
