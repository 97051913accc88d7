/*
 * Layers without a matrix (paper, Algorithm 1, lines 12 to 14): their output pixels are dealt to all cores
 * that are free for them: whose local memory has room beside the array groups and which need not wait for
 * others. A layer that starts within the round, behind layers of its own group, is dealt to the cores of
 * those; a barrier over more would hold up the rest. When there are fewer pixels than cores, an item is a
 * block of a pixel's channels. All these layers share one area of a core's local memory; with issue out of
 * order, its two halves take turns.
 *
 * Everything is done channel by channel, so channels may be worked on in any pieces: those that lie back to
 * back in all sources (cuts), and less when the memory is small. Normalisations, which need all channels of a
 * pixel at once, are the exception: their items are whole pixels.
 */
#include "mappers/pimcomp/throughput/elements.h"
#include "mappers/pimcomp/throughput/state.h"
#include "mappers/pimcomp/throughput/workers.h"
#include "sim/integer.h"
#include "sim/try.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

bool pim_round_normalizes(const struct pim_core_layer *layer)
{
    bool found = layer->kind == PIM_CORE_MOVE;
    found = found || (layer->kind == PIM_CORE_ELEMENT && layer->element.operation == PIM_LOCAL_NORMALIZE);
    for (uint32_t i = 0; i < layer->afters; i++)
        found = found || layer->after[i].operation == PIM_LOCAL_NORMALIZE;
    return found;
}

static enum pim_status find_cuts(struct pim_round_layer *round)
{
    const struct pim_core_layer *layer = round->of;
    struct pim_round_schedule *schedule = round->schedule;
    uint32_t most = 0;
    round->cuts = 0;
    for (uint32_t i = 0; i < layer->sources; i++)
        most += round->source[i].runs;
    round->cut = PIM_ARENA_ARRAY(schedule->arena, struct pim_round_cut, most);
    PIM_NEED_MEMORY(round->cut, schedule->error, "no memory for the channels of %s", layer->name);
    uint32_t run[PIM_CORE_SOURCES] = {0};
    for (uint32_t at = 0; at < layer->channels;) {
        struct pim_round_cut *cut = &round->cut[round->cuts++];
        uint32_t end = layer->channels;
        cut->at = at;
        for (uint32_t i = 0; i < layer->sources; i++) {
            const struct pim_round_source *source = &round->source[i];
            while (source->run[run[i]].at + source->run[run[i]].channels <= at)
                run[i]++;
            cut->run[i] = run[i];
            end = pim_smaller32(end, source->run[run[i]].at + source->run[run[i]].channels);
        }
        cut->channels = end - at;
        at = end;
    }
    return PIM_OK;
}

/* Which cores a layer may be dealt to: free[core]. */
static void find_free(const struct pim_round_layer *round, bool *free)
{
    const struct pim_core_layer *layer = round->of;
    const struct pim_round_schedule *schedule = round->schedule;
    uint32_t cores = schedule->architecture->cores;
    uint64_t least = pim_round_vector_least(round);
    bool behind = false, any = false;
    memset(free, 0, cores * sizeof *free);
    for (uint32_t i = 0; i < layer->sources; i++) {
        for (uint32_t j = 0; j < layer->source[i].parts; j++) {
            uint32_t from = layer->source[i].part[j].layer;
            if (!schedule->chain[from].scheduled ||
                schedule->chain[from].group != schedule->chain[round->index].group)
                continue;
            behind = true;
            pim_round_mark_cores(&schedule->layer[from], free);
        }
    }
    for (uint32_t core = 0; core < cores; core++) {
        bool room = schedule->core[core].area_bytes >= least;
        free[core] = room && (free[core] || !behind);
        any = any || free[core];
    }
    for (uint32_t core = 0; core < cores && !any; core++) /* none of those has room: then all that have */
        free[core] = schedule->core[core].area_bytes >= least;
}

/* Ranges of channels that a layer's items are made of. */
static uint32_t blocks_of(const struct pim_core_layer *layer, uint32_t able)
{
    if (pim_round_normalizes(layer))
        return 1;
    return layer->kind == PIM_CORE_PRODUCT ? layer->product.batches : pim_round_blocks(layer, able);
}

/* Chooses the cores of a layer's tiles from the free ones: when there are fewer tiles, those with the least
 * other work. */
static void choose_cores(struct pim_round_layer *round, uint32_t tiles, uint32_t able, const bool *free)
{
    const uint64_t *work = round->schedule->windows;
    uint32_t cores = round->schedule->architecture->cores;
    uint64_t limit = UINT64_MAX; /* the amount of other work below which a core takes part */
    while (tiles < able) {
        uint64_t below = 0;
        uint32_t taken = 0;
        for (uint32_t core = 0; core < cores; core++) {
            if (!free[core] || work[core] >= limit)
                continue;
            taken++;
            below = work[core] > below ? work[core] : below;
        }
        if (taken <= tiles)
            break;
        limit = below;
    }
    for (int pass = 0; pass < 2; pass++) { /* those below, then others until there are enough */
        for (uint32_t core = 0; core < cores && round->tiles < tiles; core++) {
            if (free[core] && (work[core] < limit) == (pass == 0))
                round->tile[round->tiles++].core = core;
        }
    }
}

/* Equal contiguous ranges of items; of a pooling whole rows if there are enough. */
static void cut_items(const struct pim_core_layer *layer, struct pim_round_layer *round)
{
    uint64_t items = (uint64_t)layer->windows * round->blocks;
    uint32_t each = round->tiles % round->blocks ? 0 : round->tiles / round->blocks; /* tiles of a block */
    bool rows = layer->kind == PIM_CORE_POOLING && each && each <= layer->height;
    for (uint32_t i = 0; i < round->tiles; i++) {
        struct pim_round_tile *tile = &round->tile[i];
        tile->begin = (uint32_t)(items * i / round->tiles);
        tile->end = (uint32_t)(items * (i + 1) / round->tiles);
        if (!rows)
            continue;
        uint64_t block = (uint64_t)(i / each) * layer->windows, height = layer->height;
        tile->begin = (uint32_t)(block + height * (i % each) / each * layer->width);
        tile->end = (uint32_t)(block + height * (i % each + 1) / each * layer->width);
    }
}

/* Deals the items of a layer to the free cores. */
static enum pim_status deal(struct pim_round_layer *round, bool *free)
{
    const struct pim_core_layer *layer = round->of;
    struct pim_round_schedule *schedule = round->schedule;
    uint32_t cores = schedule->architecture->cores, able = 0;
    uint64_t most_room = 0;
    find_free(round, free);
    for (uint32_t core = 0; core < cores; core++) {
        uint64_t room = schedule->core[core].area_bytes;
        able += free[core];
        most_room = room > most_room ? room : most_room;
    }
    if (!able)
        return pim_fail(schedule->error, PIM_BAD_INPUT,
                        "%s needs at least %" PRIu64
                        " bytes of a core's local memory: the most that array groups "
                        "leave is %" PRIu64 " of core.local_memory_bytes = %" PRIu64,
                        layer->name, pim_round_vector_least(round), most_room,
                        schedule->architecture->local_memory_bytes);
    assert(layer->windows && layer->channels);
    round->blocks = blocks_of(layer, able);
    assert(round->blocks);
    round->block_channels = (layer->channels + round->blocks - 1) / round->blocks;
    round->blocks = (layer->channels + round->block_channels - 1) / round->block_channels;
    uint64_t items = (uint64_t)layer->windows * round->blocks;
    uint32_t tiles = items < able ? (uint32_t)items : able / round->blocks * round->blocks;
    tiles = tiles ? tiles : able; /* fewer cores than blocks */
    round->tile = PIM_ARENA_ARRAY(schedule->arena, struct pim_round_tile, tiles);
    if (!round->tile || items > UINT32_MAX)
        return pim_fail(schedule->error, PIM_NO_MEMORY, "no memory for the tiles of %s", layer->name);
    choose_cores(round, tiles, able, free);
    cut_items(layer, round);
    return PIM_OK;
}

enum pim_status pim_round_make_tiles(struct pim_round_schedule *schedule)
{
    uint32_t cores = schedule->architecture->cores;
    bool *free = PIM_ARENA_ARRAY(schedule->arena, bool, cores);
    PIM_NEED_MEMORY(free, schedule->error, "no memory for %" PRIu32 " cores", cores);
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        enum pim_core_layer_kind kind = schedule->network->layer[i].kind;
        if (!schedule->chain[i].scheduled || kind == PIM_CORE_MATRIX)
            continue;
        if (kind != PIM_CORE_MOVE && kind != PIM_CORE_PRODUCT)
            PIM_TRY(find_cuts(&schedule->layer[i]));
        PIM_TRY(deal(&schedule->layer[i], free));
    }
    return PIM_OK;
}

enum pim_status pim_round_cut_sources(struct pim_round_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        enum pim_core_layer_kind kind = schedule->network->layer[i].kind;
        if (schedule->layer[i].tiles && (kind == PIM_CORE_POOLING || kind == PIM_CORE_ELEMENT))
            PIM_TRY(find_cuts(&schedule->layer[i]));
    }
    return PIM_OK;
}

bool pim_round_tiles_fit(const struct pim_round_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        const struct pim_round_layer *round = &schedule->layer[i];
        uint64_t least = round->tiles ? pim_round_vector_least(round) : 0;
        for (uint32_t j = 0; j < round->tiles; j++) {
            if (schedule->core[round->tile[j].core].area_bytes < least)
                return false;
        }
    }
    return true;
}
