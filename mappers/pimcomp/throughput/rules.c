/* Groups of layers, and when they start: rules.h. */
#include "mappers/pimcomp/throughput/rules.h"
#include "mappers/machine/core_times.h"

enum { MARGIN = 8 }; /* an eighth of the round */

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return b ? (a + b - 1) / b : a;
}

/* --- times --- */

struct pim_chain_form pim_chain_form_of(const struct pim_core_architecture *a,
                                        const struct pim_core_layer *layer, uint32_t groups)
{
    uint64_t chips = pim_core_chips(a);
    uint64_t elements = (uint64_t)layer->windows * layer->channels, operations = 1;
    struct pim_chain_form form = {.window = 0};
    if (layer->kind == PIM_CORE_MATRIX) {
        form.window = 2 * divide_up((uint64_t)layer->rows * a->element_bytes, a->local_bytes_per_cycle);
        form.sums = divide_up((uint64_t)groups * layer->channels, a->vector_lanes);
        form.message = pim_time_link(a, (uint64_t)layer->channels * a->element_bytes);
    } else {
        if (layer->kind == PIM_CORE_POOLING)
            operations = (uint64_t)layer->sliding.kernel[0] + layer->sliding.kernel[1];
        if (layer->kind == PIM_CORE_PRODUCT) /* multiplications, additions, copies */
            operations = 3 * (uint64_t)layer->product.inner;
        form.sums = divide_up(divide_up(elements * (operations + layer->afters), a->vector_lanes), a->cores);
    }
    for (uint32_t s = 0; s < layer->sources; s++)
        elements += (uint64_t)layer->source[s].height * layer->source[s].width * layer->source[s].channels;
    form.memory =
        divide_up(elements * a->element_bytes, (uint64_t)a->global_bytes_per_cycle * pim_larger(chips, 1));
    return form;
}

uint64_t pim_chain_job_cycles(const struct pim_core_architecture *a, const struct pim_chain_form *form,
                              uint64_t replicas, uint64_t workers, uint64_t steps)
{
    uint64_t around = (form->window + form->sums / workers) * replicas;
    uint64_t step = a->in_order ? a->mvm_cycles + around : pim_larger(a->mvm_cycles, around);
    return steps * (step + (workers - 1) * replicas * form->message); /* messages one by one */
}

uint64_t pim_chain_cycles(const struct pim_core_architecture *a, const struct pim_chain_form *form,
                          uint64_t work)
{
    return a->in_order ? form->memory + work : pim_larger(form->memory, work);
}

/* --- groups --- */

/* The last group of the producers of a layer, and when the last of them that are in it is done. */
static bool find_producers(const struct pim_core_layer *of, const struct pim_chain_layer *layer,
                           uint32_t *group, uint64_t *end)
{
    bool any = false;
    *group = 0;
    *end = 0;
    for (uint32_t i = 0; i < of->sources; i++)
        for (uint32_t j = 0; j < of->source[i].parts; j++) {
            const struct pim_chain_layer *producer = &layer[of->source[i].part[j].layer];
            if (!producer->scheduled)
                continue;
            if (!any || producer->group > *group)
                *end = 0;
            if (!any || producer->group >= *group) {
                *group = producer->group;
                *end = pim_larger(*end, producer->start + producer->cycles);
            }
            any = true;
        }
    return any;
}

/* Sets `chained` of a layer, and of those that wait for it. */
static void find_chained(const struct pim_core_layer *of, struct pim_chain_layer *layer, uint32_t index)
{
    for (uint32_t i = 0; i < of->consumers && layer[index].scheduled; i++) {
        struct pim_chain_layer *consumer = &layer[of->consumer[i]];
        if (consumer->scheduled && consumer->group == layer[index].group)
            layer[index].chained = consumer->chained = true;
    }
}

uint32_t pim_chain_groups(const struct pim_core_network *network, bool alone, struct pim_chain_layer *layer)
{
    uint64_t longest = 0;
    uint32_t groups = 0;
    for (uint32_t i = 0; i < network->count; i++) {
        layer[i].chained = false;
        if (layer[i].scheduled)
            longest = pim_larger(longest, layer[i].cycles);
    }
    for (uint32_t i = 0; i < network->count; i++) {
        if (!layer[i].scheduled)
            continue;
        bool after = find_producers(&network->layer[i], layer, &layer[i].group, &layer[i].start);
        if (alone) {
            layer[i].group = groups;
            layer[i].start = 0;
        } else if (after && layer[i].start + layer[i].cycles > longest - longest / MARGIN) {
            layer[i].group++;
            layer[i].start = 0;
        }
        groups = layer[i].group >= groups ? layer[i].group + 1 : groups;
    }
    for (uint32_t i = 0; i < network->count; i++)
        find_chained(&network->layer[i], layer, i);
    return groups;
}

/* --- passes --- */

uint64_t pim_chain_passes(const struct pim_core_network *network, struct pim_chain_layer *layer)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < network->count; i++)
        layer[i].first_pass = 0;
    for (uint32_t i = 0; i < network->count; i++) { /* as early as can be */
        const struct pim_core_layer *of = &network->layer[i];
        uint64_t end = layer[i].first_pass + layer[i].passes;
        if (!layer[i].scheduled)
            continue;
        all = pim_larger(all, end);
        for (uint32_t j = 0; j < of->consumers; j++) {
            struct pim_chain_layer *consumer = &layer[of->consumer[j]];
            if (consumer->scheduled && consumer->group == layer[i].group)
                consumer->first_pass = pim_larger(consumer->first_pass, end);
        }
    }
    for (uint32_t i = network->count; i-- > 0;) { /* from the ends of the chains on */
        const struct pim_core_layer *of = &network->layer[i];
        uint64_t after = 0;
        if (!layer[i].scheduled)
            continue;
        for (uint32_t j = 0; j < of->consumers; j++) {
            const struct pim_chain_layer *consumer = &layer[of->consumer[j]];
            if (consumer->scheduled && consumer->group == layer[i].group)
                after = pim_larger(after, consumer->chain);
        }
        layer[i].chain = after + layer[i].passes;
        if (layer[i].first_pass && all - layer[i].first_pass > layer[i].chain)
            layer[i].first_pass += (all - layer[i].first_pass - layer[i].chain) / 2;
    }
    return all;
}
