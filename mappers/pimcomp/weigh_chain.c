/*
 * Who waits for whom in a round: groups of layers, and the pass in which each layer begins
 * (docs/mappers/pimcomp-high-throughput.md, rules 1 to 3). The same rules as those of the schedule
 * (high_throughput_groups.c), by numbers of replicas and cores alone.
 */
#include "mappers/pimcomp/estimate_times.h"
#include "mappers/pimcomp/high_throughput.h"
#include "mappers/pimcomp/weigh_round.h"

#include <assert.h>
#include <string.h>

enum { MARGIN = 8, BLOCK_CHANNELS = 64 }; /* as in the schedule */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- groups --- */

static uint64_t matrix_cycles(const struct pim_core_costs *costs, const struct pim_weigh_round *round,
                              uint32_t index)
{
    const struct pim_core_architecture *a = costs->architecture;
    const struct pim_core_cost *cost = &costs->layer[index];
    const struct pim_weigh_layer *layer = &round->layer[index];
    uint64_t replicas = layer->most_homes, workers = layer->most_workers;
    uint64_t around = (cost->group_window + cost->group_sums / workers) * replicas;
    uint64_t step = a->in_order ? a->mvm_cycles + around : larger(a->mvm_cycles, around);
    return layer->steps * (step + (workers - 1) * replicas * cost->group_message);
}

/* The last group of the producers of a layer, and when the last of them that are in it is done. */
static bool find_producers(const struct pim_core_costs *costs, const struct pim_weigh_round *round,
                           uint32_t index, uint32_t *group, uint64_t *end)
{
    const struct pim_core_cost *cost = &costs->layer[index];
    bool any = false;
    *group = 0;
    *end = 0;
    for (uint32_t s = 0; s < cost->sources; s++) {
        const struct pim_weigh_layer *producer = &round->layer[cost->source[s].layer];
        if (!producer->scheduled)
            continue;
        if (!any || producer->group > *group)
            *end = 0;
        if (!any || producer->group >= *group) {
            *group = producer->group;
            *end = larger(*end, producer->start + producer->cycles);
        }
        any = true;
    }
    return any;
}

static void find_groups(const struct pim_core_costs *costs, struct pim_weigh_round *round)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < costs->network->count; i++) {
        struct pim_weigh_layer *layer = &round->layer[i];
        const struct pim_core_cost *cost = &costs->layer[i];
        uint64_t work = cost->matrix ? 0 : cost->group_sums;
        if (cost->matrix && layer->scheduled)
            work = matrix_cycles(costs, round, i);
        layer->cycles =
            costs->architecture->in_order ? cost->group_memory + work : larger(cost->group_memory, work);
        if (layer->scheduled)
            longest = larger(longest, layer->cycles);
    }
    for (uint32_t i = 0; i < costs->network->count; i++) {
        struct pim_weigh_layer *layer = &round->layer[i];
        if (!layer->scheduled)
            continue;
        bool after = find_producers(costs, round, i, &layer->group, &layer->start);
        if (after && layer->start + layer->cycles > longest - longest / MARGIN) {
            layer->group++;
            layer->start = 0;
        }
    }
}

/* --- vector layers --- */

static void mark(const struct pim_weigh_round *round, uint64_t *bits, uint32_t core)
{
    (void)round;
    bits[core / 64] |= UINT64_C(1) << core % 64;
}

static uint32_t count_bits(const struct pim_weigh_round *round, const uint64_t *bits)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < round->words; i++)
        count += (uint32_t)__builtin_popcountll(bits[i]);
    return count;
}

/* Pieces that the layer is cut into when `able` cores may work on it. */
static uint32_t pieces_of(const struct pim_core_layer *layer, uint32_t able)
{
    const struct pim_sliding *s = &layer->sliding;
    uint64_t blocks = 1;
    if (layer->kind == PIM_CORE_POOLING && (s->kernel[0] > s->stride[0] || s->kernel[1] > s->stride[1]))
        blocks = smaller(able, pim_time_divide_up(layer->channels, PIM_ROUND_LEAST_CHANNELS));
    else if (layer->windows < able)
        blocks = smaller(pim_time_divide_up(able, layer->windows),
                         pim_time_divide_up(layer->channels, BLOCK_CHANNELS));
    uint64_t items = layer->windows * blocks;
    return (uint32_t)(items < able ? items : able / blocks * blocks);
}

/* Leaves the `count` cores with the least other work. */
static void choose_cores(struct pim_weigh_round *round, uint64_t *bits, uint32_t cores, uint32_t count)
{
    for (uint32_t i = 0, left = count; i < cores; i++) {
        uint32_t core = round->list[i];
        if (!(bits[core / 64] >> core % 64 & 1))
            continue;
        if (left)
            left--;
        else
            bits[core / 64] &= ~(UINT64_C(1) << core % 64);
    }
}

/* Cores by their other work, into round->list. */
static void sort_cores(struct pim_weigh_round *round, uint32_t cores)
{
    for (uint32_t core = 0; core < cores; core++) {
        uint32_t at = core;
        for (; at > 0 && round->core[round->list[at - 1]].load > round->core[core].load; at--)
            round->list[at] = round->list[at - 1];
        round->list[at] = core;
    }
}

/* Cores that work on a vector layer: of those that held its producers in its group, or of all. */
static void place_vector(const struct pim_core_costs *costs, struct pim_weigh_round *round, uint32_t index)
{
    const struct pim_core_cost *cost = &costs->layer[index];
    struct pim_weigh_layer *layer = &round->layer[index];
    uint64_t *bits = round->member + (size_t)index * round->words;
    uint32_t cores = costs->architecture->cores;
    memset(bits, 0, round->words * sizeof *bits);
    for (uint32_t s = 0; s < cost->sources; s++) {
        uint32_t from = cost->source[s].layer;
        for (uint32_t i = 0; i < round->words && round->layer[from].scheduled; i++)
            if (round->layer[from].group == layer->group)
                bits[i] |= round->member[(size_t)from * round->words + i];
    }
    for (uint32_t core = 0; core < cores && !layer->before; core++)
        mark(round, bits, core);
    uint32_t able = count_bits(round, bits);
    layer->shares = pieces_of(&costs->network->layer[index], able ? able : 1);
    if (layer->shares < able && layer->chained)
        choose_cores(round, bits, cores, layer->shares);
    uint64_t chunk = layer->chained ? PIM_ROUND_CHAIN_CHUNK : PIM_ROUND_CHUNK;
    assert(layer->shares > 0);
    layer->passes = cost->buffer_bytes / layer->shares / chunk + 1;
}

/* --- passes --- */

/* A layer starts halfway between the pass in which it could and the last with which its chain ends with the
 * round; but not before those that it waits for are done. */
static void find_passes(const struct pim_core_costs *costs, struct pim_weigh_round *round)
{
    uint32_t layers = costs->network->count;
    uint64_t all = 0;
    for (uint32_t i = 0; i < layers; i++) {
        struct pim_weigh_layer *layer = &round->layer[i];
        layer->earliest = 0;
        layer->chain = 0;
        for (uint32_t s = 0; s < costs->layer[i].sources && layer->scheduled; s++) {
            const struct pim_weigh_layer *from = &round->layer[costs->layer[i].source[s].layer];
            if (from->scheduled && from->group == layer->group)
                layer->earliest = larger(layer->earliest, from->earliest + from->passes);
        }
        if (layer->scheduled)
            all = larger(all, layer->earliest + layer->passes);
    }
    for (uint32_t i = layers; i-- > 0;) {
        struct pim_weigh_layer *layer = &round->layer[i];
        if (!layer->scheduled)
            continue;
        layer->chain += layer->passes;
        for (uint32_t s = 0; s < costs->layer[i].sources; s++) {
            struct pim_weigh_layer *from = &round->layer[costs->layer[i].source[s].layer];
            if (from->scheduled && from->group == layer->group)
                from->chain = larger(from->chain, layer->chain);
        }
        if (layer->earliest && all - layer->earliest > layer->chain)
            layer->earliest += (all - layer->earliest - layer->chain) / 2;
    }
    round->planned = all;
}

/* Are all that the layer waits for done by pass `pass`? */
static bool is_ready(const struct pim_core_costs *costs, const struct pim_weigh_round *round, uint32_t index,
                     uint64_t pass)
{
    const struct pim_weigh_layer *layer = &round->layer[index];
    for (uint32_t s = 0; s < costs->layer[index].sources; s++) {
        const struct pim_weigh_layer *from = &round->layer[costs->layer[index].source[s].layer];
        if (from->scheduled && from->group == layer->group && from->end > pass)
            return false;
    }
    return true;
}

/* A pass of the vector layers that are in chains: a core works on the first of those that it has. */
static bool serve(const struct pim_core_costs *costs, struct pim_weigh_round *round, uint64_t pass)
{
    bool any = false;
    memset(round->marked, 0, round->words * sizeof *round->marked);
    for (uint32_t i = 0; i < costs->network->count; i++) {
        struct pim_weigh_layer *layer = &round->layer[i];
        if (costs->layer[i].matrix || !layer->chained || layer->begin > pass || layer->end <= pass)
            continue;
        const uint64_t *bits = round->member + (size_t)i * round->words;
        bool taken = false;
        for (uint32_t k = 0; k < round->words; k++) {
            taken = taken || round->marked[k] & bits[k];
            round->marked[k] |= bits[k];
        }
        any = true;
        if (taken)
            continue;
        if (--layer->left == 0)
            layer->end = pass + 1;
    }
    return any;
}

/* Goes through the passes in which anything begins or ends: sets begin and end of layers, and the passes of
 * the round. */
static void run_chains(const struct pim_core_costs *costs, struct pim_weigh_round *round)
{
    uint32_t layers = costs->network->count, open = 0;
    for (uint32_t i = 0; i < layers; i++) {
        struct pim_weigh_layer *layer = &round->layer[i];
        layer->begin = layer->end = UINT64_MAX;
        layer->left = layer->passes;
        if (!layer->scheduled || (!costs->layer[i].matrix && !layer->chained))
            continue;
        open++;
        if (layer->before)
            continue;
        layer->begin = 0;
        layer->end = costs->layer[i].matrix ? layer->passes : UINT64_MAX;
    }
    round->passes = 0;
    for (uint64_t pass = 0; open;) { /* what begins with `pass` is known */
        bool served = serve(costs, round, pass), working = false;
        uint64_t next = UINT64_MAX; /* end of a pass that changes something */
        for (uint32_t i = 0; i < layers; i++)
            if (round->layer[i].begin <= pass && round->layer[i].end != UINT64_MAX &&
                round->layer[i].end > pass)
                next = smaller(next, round->layer[i].end);
        for (uint32_t i = 0; i < layers; i++)
            if (round->layer[i].before && round->layer[i].begin == UINT64_MAX &&
                is_ready(costs, round, i, pass + 1))
                next = smaller(next, larger(round->layer[i].earliest, pass + 1));
        pass = served || next == UINT64_MAX ? pass + 1 : next;
        open = 0;
        for (uint32_t i = 0; i < layers; i++) {
            const struct pim_weigh_layer *layer = &round->layer[i];
            if (layer->begin == UINT64_MAX)
                continue;
            working = working || layer->end > pass;
            if (layer->end <= pass)
                round->passes = larger(round->passes, layer->end);
        }
        for (uint32_t i = 0; i < layers; i++) {
            struct pim_weigh_layer *layer = &round->layer[i];
            if (layer->before && layer->begin == UINT64_MAX) {
                if (is_ready(costs, round, i, pass) && (!working || pass >= layer->earliest)) {
                    layer->begin = pass;
                    layer->end = costs->layer[i].matrix ? pass + layer->passes : UINT64_MAX;
                }
                open++;
            } else if (layer->begin != UINT64_MAX && layer->end > pass) {
                open++;
            }
        }
    }
}

void pim_weigh_chains(const struct pim_core_costs *costs, struct pim_weigh_round *round)
{
    find_groups(costs, round);
    for (uint32_t i = 0; i < costs->network->count; i++)
        round->layer[i].chained = round->layer[i].before = false;
    for (uint32_t i = 0; i < costs->network->count; i++) {
        struct pim_weigh_layer *layer = &round->layer[i];
        for (uint32_t s = 0; s < costs->layer[i].sources && layer->scheduled; s++) {
            struct pim_weigh_layer *from = &round->layer[costs->layer[i].source[s].layer];
            if (from->scheduled && from->group == layer->group)
                layer->before = layer->chained = from->chained = true;
        }
    }
    sort_cores(round, costs->architecture->cores);
    for (uint32_t i = 0; i < costs->network->count; i++) {
        if (costs->layer[i].matrix)
            round->layer[i].passes = round->layer[i].steps;
        else if (round->layer[i].scheduled)
            place_vector(costs, round, i);
    }
    find_passes(costs, round);
    run_chains(costs, round);
}
