/*
 * Who waits for whom in a round: groups of layers, and the pass in which each layer begins, by the rules of
 * the schedule (throughput/rules.h) and numbers of replicas and cores alone.
 */
#include "mappers/machine/core_times.h"
#include "mappers/pimcomp/cost/round_cost.h"
#include "mappers/pimcomp/throughput/rules.h"
#include "sim/integer.h"

#include <assert.h>
#include <string.h>

/* --- groups --- */

static void find_groups(const struct pim_core_costs *costs, struct pim_round_cost *round)
{
    const struct pim_core_architecture *a = costs->architecture;
    for (uint32_t i = 0; i < costs->network->count; i++) {
        const struct pim_round_cost_layer *layer = &round->layer[i];
        const struct pim_core_cost *cost = &costs->layer[i];
        uint64_t work = cost->matrix ? 0 : cost->chain.sums;
        if (cost->matrix && round->chain[i].scheduled)
            work =
                pim_chain_job_cycles(a, &cost->chain, layer->most_homes, layer->most_workers, layer->steps);
        round->chain[i].cycles = pim_chain_cycles(a, &cost->chain, work);
    }
    (void)pim_chain_groups(costs->network, false, round->chain);
}

/* --- vector layers --- */

static uint32_t count_bits(const struct pim_round_cost *round, const uint64_t *bits)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < round->words; i++)
        count += (uint32_t)__builtin_popcountll(bits[i]);
    return count;
}

/* Pieces that the layer is cut into when `able` cores may work on it. */
static uint32_t pieces_of(const struct pim_core_layer *layer, uint32_t able)
{
    uint32_t blocks = pim_round_blocks(layer, able);
    uint64_t items = (uint64_t)layer->windows * blocks;
    return (uint32_t)(items < able ? items : able / blocks * blocks);
}

/* Leaves the `count` cores with the least other work. */
static void choose_cores(struct pim_round_cost *round, uint64_t *bits, uint32_t cores, uint32_t count)
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
static void sort_cores(struct pim_round_cost *round, uint32_t cores)
{
    for (uint32_t core = 0; core < cores; core++) {
        uint32_t at = core;
        for (; at > 0 && round->core[round->list[at - 1]].load > round->core[core].load; at--)
            round->list[at] = round->list[at - 1];
        round->list[at] = core;
    }
}

/* Cores that work on a vector layer: of those that held its producers in its group, or of all. */
static void place_vector(const struct pim_core_costs *costs, struct pim_round_cost *round, uint32_t index)
{
    const struct pim_core_cost *cost = &costs->layer[index];
    struct pim_round_cost_layer *layer = &round->layer[index];
    uint64_t *bits = round->member + (size_t)index * round->words;
    uint32_t cores = costs->architecture->cores;
    memset(bits, 0, round->words * sizeof *bits);
    for (uint32_t s = 0; s < cost->sources; s++) {
        uint32_t from = cost->source[s].layer;
        for (uint32_t i = 0; i < round->words && round->chain[from].scheduled; i++)
            if (round->chain[from].group == round->chain[index].group)
                bits[i] |= round->member[(size_t)from * round->words + i];
    }
    for (uint32_t core = 0; core < cores && !layer->before; core++)
        bits[core / 64] |= UINT64_C(1) << core % 64;
    uint32_t able = count_bits(round, bits);
    layer->portions = pieces_of(&costs->network->layer[index], able ? able : 1);
    if (layer->portions < able && round->chain[index].chained)
        choose_cores(round, bits, cores, layer->portions);
    uint64_t chunk = round->chain[index].chained ? PIM_ROUND_CHAIN_CHUNK : PIM_ROUND_CHUNK;
    assert(layer->portions > 0);
    round->chain[index].passes = cost->buffer_bytes / layer->portions / chunk + 1;
}

/* --- passes --- */

/* Are all that the layer waits for done by pass `pass`? */
static bool is_ready(const struct pim_core_costs *costs, const struct pim_round_cost *round, uint32_t index,
                     uint64_t pass)
{
    for (uint32_t s = 0; s < costs->layer[index].sources; s++) {
        uint32_t from = costs->layer[index].source[s].layer;
        if (round->chain[from].scheduled && round->chain[from].group == round->chain[index].group &&
            round->layer[from].end > pass)
            return false;
    }
    return true;
}

/* A pass of the vector layers that are in chains: a core works on the first of those that it has. */
static bool serve(const struct pim_core_costs *costs, struct pim_round_cost *round, uint64_t pass)
{
    bool any = false;
    memset(round->marked, 0, round->words * sizeof *round->marked);
    for (uint32_t i = 0; i < costs->network->count; i++) {
        struct pim_round_cost_layer *layer = &round->layer[i];
        if (costs->layer[i].matrix || !round->chain[i].chained || layer->begin > pass || layer->end <= pass)
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
static void run_chains(const struct pim_core_costs *costs, struct pim_round_cost *round)
{
    uint32_t layers = costs->network->count, open = 0;
    for (uint32_t i = 0; i < layers; i++) {
        struct pim_round_cost_layer *layer = &round->layer[i];
        layer->begin = layer->end = UINT64_MAX;
        layer->left = round->chain[i].passes;
        if (!round->chain[i].scheduled || (!costs->layer[i].matrix && !round->chain[i].chained))
            continue;
        open++;
        if (layer->before)
            continue;
        layer->begin = 0;
        layer->end = costs->layer[i].matrix ? round->chain[i].passes : UINT64_MAX;
    }
    round->passes = 0;
    for (uint64_t pass = 0; open;) { /* what begins with `pass` is known */
        bool served = serve(costs, round, pass), working = false;
        uint64_t next = UINT64_MAX; /* end of a pass that changes something */
        for (uint32_t i = 0; i < layers; i++)
            if (round->layer[i].begin <= pass && round->layer[i].end != UINT64_MAX &&
                round->layer[i].end > pass)
                next = pim_smaller(next, round->layer[i].end);
        for (uint32_t i = 0; i < layers; i++)
            if (round->layer[i].before && round->layer[i].begin == UINT64_MAX &&
                is_ready(costs, round, i, pass + 1))
                next = pim_smaller(next, pim_larger(round->chain[i].first_pass, pass + 1));
        pass = served || next == UINT64_MAX ? pass + 1 : next;
        open = 0;
        for (uint32_t i = 0; i < layers; i++) {
            const struct pim_round_cost_layer *layer = &round->layer[i];
            if (layer->begin == UINT64_MAX)
                continue;
            working = working || layer->end > pass;
            if (layer->end <= pass)
                round->passes = pim_larger(round->passes, layer->end);
        }
        for (uint32_t i = 0; i < layers; i++) {
            struct pim_round_cost_layer *layer = &round->layer[i];
            if (layer->before && layer->begin == UINT64_MAX) {
                if (is_ready(costs, round, i, pass) && (!working || pass >= round->chain[i].first_pass)) {
                    layer->begin = pass;
                    layer->end = costs->layer[i].matrix ? pass + round->chain[i].passes : UINT64_MAX;
                }
                open++;
            } else if (layer->begin != UINT64_MAX && layer->end > pass) {
                open++;
            }
        }
    }
}

void pim_round_cost_chains(const struct pim_core_costs *costs, struct pim_round_cost *round)
{
    find_groups(costs, round);
    for (uint32_t i = 0; i < costs->network->count; i++) {
        round->layer[i].before = false;
        for (uint32_t s = 0; s < costs->layer[i].sources && round->chain[i].scheduled; s++) {
            const struct pim_chain_layer *from = &round->chain[costs->layer[i].source[s].layer];
            if (from->scheduled && from->group == round->chain[i].group)
                round->layer[i].before = true;
        }
    }
    sort_cores(round, costs->architecture->cores);
    for (uint32_t i = 0; i < costs->network->count; i++) {
        if (costs->layer[i].matrix)
            round->chain[i].passes = round->layer[i].steps;
        else if (round->chain[i].scheduled)
            place_vector(costs, round, i);
    }
    round->planned = pim_chain_passes(costs->network, round->chain);
    run_chains(costs, round);
}
