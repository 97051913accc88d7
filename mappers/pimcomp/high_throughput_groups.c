/*
 * Layers in groups (paper, section VII-A): a layer joins the last group of its producers when the chain of
 * data-dependent layers in that group, itself included, takes less time than the longest layer alone, which
 * sets the length of a round, by a margin for the barriers between them; otherwise the group after. Layers
 * that need nothing of each other meet in one group this way. The round does not get longer, and the first
 * sample is through after as many rounds as there are groups.
 *
 * Times are closed forms, for this choice alone.
 */
#include "mappers/pimcomp/high_throughput.h"

#include <inttypes.h>

enum { MARGIN = 8 }; /* an eighth of the round */

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return b ? (a + b - 1) / b : a;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Bytes of the maps that a layer reads, once each. */
static uint64_t input_bytes(const struct pim_core_layer *layer)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < layer->sources; i++)
        bytes += (uint64_t)layer->source[i].height * layer->source[i].width * layer->source[i].channels;
    return bytes * PIM_CORE_ELEMENT_BYTES;
}

static uint64_t matrix_cycles(const struct pim_round_schedule *schedule, uint32_t index)
{
    const struct pim_core_architecture *a = schedule->architecture;
    const struct pim_core_layer *layer = &schedule->network->layer[index];
    const struct pim_round_layer *round = &schedule->layer[index];
    uint64_t longest = 0;
    for (uint32_t i = 0; i < round->jobs; i++) {
        const struct pim_round_job *job = &round->job[i];
        uint64_t groups = schedule->mapping->partition->layer[index].groups;
        uint64_t window =
            2 * divide_up((uint64_t)layer->rows * PIM_CORE_ELEMENT_BYTES, a->local_bytes_per_cycle);
        uint64_t sums = divide_up(groups * layer->channels, a->vector_lanes) / job->workers;
        uint64_t around = (window + sums) * job->replicas;
        uint64_t step = a->in_order ? a->mvm_cycles + around : larger(a->mvm_cycles, around);
        uint64_t sum = (uint64_t)layer->channels * PIM_CORE_ELEMENT_BYTES;
        step += (job->workers - 1) * job->replicas * divide_up(sum, a->link_bytes_per_cycle); /* one by one */
        longest = larger(longest, job->steps * step);
    }
    return longest;
}

static uint64_t vector_cycles(const struct pim_round_schedule *schedule, uint32_t index)
{
    const struct pim_core_architecture *a = schedule->architecture;
    const struct pim_core_layer *layer = &schedule->network->layer[index];
    uint64_t operations = 1;
    if (layer->kind == PIM_CORE_POOLING)
        operations = (uint64_t)layer->sliding.kernel[0] + layer->sliding.kernel[1];
    if (layer->kind == PIM_CORE_PRODUCT) /* multiplications, additions, copies */
        operations = 3 * (uint64_t)layer->product.inner;
    uint64_t elements = (uint64_t)layer->windows * layer->channels * (operations + layer->afters);
    return divide_up(divide_up(elements, a->vector_lanes), a->cores);
}

static uint64_t layer_cycles(const struct pim_round_schedule *schedule, uint32_t index)
{
    const struct pim_core_architecture *a = schedule->architecture;
    const struct pim_core_layer *layer = &schedule->network->layer[index];
    uint64_t chips = (uint64_t)(a->width / a->chip_width) * (a->height / a->chip_height);
    uint64_t bytes = input_bytes(layer) + (uint64_t)layer->windows * layer->channels * PIM_CORE_ELEMENT_BYTES;
    uint64_t memory = divide_up(bytes, (uint64_t)a->global_bytes_per_cycle * larger(chips, 1));
    uint64_t work =
        layer->kind == PIM_CORE_MATRIX ? matrix_cycles(schedule, index) : vector_cycles(schedule, index);
    return a->in_order ? memory + work : larger(memory, work);
}

/* The last group of the producers of a layer, and when the last of them that are in it is done. */
static bool find_producers(const struct pim_round_schedule *schedule, uint32_t index, uint32_t *group,
                           uint64_t *end)
{
    const struct pim_core_layer *layer = &schedule->network->layer[index];
    bool any = false;
    *group = 0;
    *end = 0;
    for (uint32_t i = 0; i < layer->sources; i++) {
        for (uint32_t j = 0; j < layer->source[i].parts; j++) {
            const struct pim_round_layer *producer = &schedule->layer[layer->source[i].part[j].layer];
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
    }
    return any;
}

enum pim_status pim_round_group_layers(struct pim_round_schedule *schedule)
{
    uint32_t layers = schedule->network->count;
    uint64_t longest = 0;
    for (uint32_t i = 0; i < layers; i++) {
        struct pim_round_layer *layer = &schedule->layer[i];
        layer->scheduled = schedule->network->layer[i].kind != PIM_CORE_INPUT;
        layer->cycles = layer->scheduled ? layer_cycles(schedule, i) : 0;
        longest = larger(longest, layer->cycles);
    }
    schedule->groups = 0;
    for (uint32_t i = 0; i < layers; i++) {
        struct pim_round_layer *layer = &schedule->layer[i];
        if (!layer->scheduled)
            continue;
        uint32_t group;
        uint64_t end;
        bool after = find_producers(schedule, i, &group, &end);
        layer->group = group;
        layer->start = end;
        if (schedule->options->no_grouping) {
            layer->group = schedule->groups;
            layer->start = 0;
        } else if (after && end + layer->cycles > longest - longest / MARGIN) {
            layer->group = group + 1;
            layer->start = 0;
        }
        if (layer->group + 1 > schedule->groups)
            schedule->groups = layer->group + 1;
    }
    if (!schedule->groups)
        return pim_fail(schedule->error, PIM_BAD_INPUT, "%s has no layer that cores execute",
                        schedule->network->name);
    return PIM_OK;
}

/* --- passes --- */

static uint32_t latest_pass(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Sets `chained` of a layer, and of those that wait for it. */
static void find_chained(struct pim_round_schedule *schedule, uint32_t index)
{
    const struct pim_core_layer *of = &schedule->network->layer[index];
    struct pim_round_layer *layer = &schedule->layer[index];
    for (uint32_t i = 0; i < of->consumers && layer->scheduled; i++) {
        struct pim_round_layer *consumer = &schedule->layer[of->consumer[i]];
        if (consumer->group == layer->group)
            layer->chained = consumer->chained = true;
    }
}

/* A layer that waits for others of its group starts halfway between the pass in which they could be done and
 * the last one with which its own chain still ends with the round: so a chain that runs late holds up nobody,
 * and neither does the barrier hold up what its cores do besides. */
void pim_round_time_layers(struct pim_round_schedule *schedule)
{
    uint32_t layers = schedule->network->count, all = 0;
    for (uint32_t i = 0; i < layers; i++) {
        struct pim_round_layer *layer = &schedule->layer[i];
        find_chained(schedule, i);
        layer->passes = layer->shares ? pim_round_vector_passes(schedule, i) : 0;
        for (uint32_t j = 0; j < layer->jobs; j++)
            layer->passes = latest_pass(layer->passes, layer->job[j].steps);
        layer->first_pass = 0;
    }
    for (uint32_t i = 0; i < layers; i++) { /* as early as can be */
        const struct pim_core_layer *of = &schedule->network->layer[i];
        const struct pim_round_layer *layer = &schedule->layer[i];
        uint32_t end = layer->first_pass + layer->passes;
        all = latest_pass(all, end);
        for (uint32_t j = 0; j < of->consumers && layer->scheduled; j++) {
            struct pim_round_layer *consumer = &schedule->layer[of->consumer[j]];
            if (consumer->group == layer->group)
                consumer->first_pass = latest_pass(consumer->first_pass, end);
        }
    }
    schedule->passes = all;
    for (uint32_t i = layers; i-- > 0;) { /* from the ends of the chains on */
        const struct pim_core_layer *of = &schedule->network->layer[i];
        struct pim_round_layer *layer = &schedule->layer[i];
        uint32_t after = 0;
        for (uint32_t j = 0; j < of->consumers; j++) {
            const struct pim_round_layer *consumer = &schedule->layer[of->consumer[j]];
            if (consumer->group == layer->group)
                after = latest_pass(after, consumer->chain);
        }
        layer->chain = after + layer->passes;
        if (layer->first_pass && all - layer->first_pass > layer->chain)
            layer->first_pass += (all - layer->first_pass - layer->chain) / 2;
    }
}
