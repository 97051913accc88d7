/*
 * The oracle of the analysis: every data space of the consumer against every data space of its producers, by
 * intersection of boxes. Uses no strides of time, no digits and no tail: an output that is reduced over
 * several steps simply meets all of them.
 */
#include "mappers/overlapim/analysis/enumerate.h"

#include <inttypes.h>
#include <stdlib.h>

/* A producer's output box and when it ends. */
struct made {
    struct pim_interval range[4];
    uint64_t end;
};

static bool meets(struct pim_interval a, struct pim_interval b)
{
    return a.first <= b.last && b.first <= a.last;
}

static enum pim_status list_made(const struct pim_overlap_layer *layer, const struct pim_schedule *schedule,
                                 struct made **result, uint64_t *count, struct pim_error *error)
{
    uint64_t steps = layer->strides.steps, banks = layer->strides.banks, now = 0;
    uint32_t shape[4];
    (void)pim_overlap_output_tiles(layer, shape);
    *count = 0;
    *result = steps * banks <= PIM_OVERLAP_EXPLICIT ? malloc(steps * banks * sizeof **result) : NULL;
    if (!*result)
        return pim_fail(error, PIM_BAD_INPUT, "%s: %" PRIu64 " data spaces are too many to compare",
                        layer->name, steps * banks);
    for (uint64_t step = 0; step < steps; step++) {
        bool any = false;
        uint64_t first = *count;
        for (uint64_t bank = 0; bank < banks; bank++) {
            struct pim_interval box[PIM_DIMENSIONS];
            if (!pim_nest_data_space(&layer->workload, &layer->nest, &layer->strides, bank, step, box))
                continue;
            struct made *made = &(*result)[(*count)++];
            struct pim_ready space = {.step = step, .bank = bank};
            for (unsigned need = 0; need < 4; need++)
                made->range[need] = box[pim_need_dimension((enum pim_need_axis)need)];
            made->end = schedule->tile_end ? schedule->tile_end[pim_overlap_output_tile(layer, shape, &space)]
                        : schedule->step_end ? schedule->step_end[step]
                                             : 0;
            any = true;
        }
        now += any ? schedule->latency : 0;
        for (uint64_t i = first; i < *count && !schedule->tile_end && !schedule->step_end; i++)
            (*result)[i].end = now;
    }
    return PIM_OK;
}

/* The needs of a data space as boxes of the producer's output; returns how many. */
static unsigned needs_of(const struct pim_overlap_layer *layers, const struct pim_overlap_layer *layer,
                         const struct pim_link *link, const struct pim_interval box[PIM_DIMENSIONS],
                         struct pim_interval needs[PIM_FLAT_BOXES][4])
{
    const struct pim_overlap_layer *from = &layers[link->producer];
    struct pim_interval range[PIM_NEEDS];
    for (unsigned need = 0; need < PIM_NEEDS; need++) {
        if (!pim_link_has(link, (enum pim_need_axis)need))
            continue;
        range[need] = pim_link_range(link, &from->workload, &layer->workload, box, (enum pim_need_axis)need);
        if (pim_range_empty(range[need]))
            return 0;
    }
    if (!link->flatten) {
        for (unsigned need = 0; need < 4; need++)
            needs[0][need] = range[need];
        return 1;
    }
    struct pim_producer producer;
    struct pim_flat_box boxes[PIM_FLAT_BOXES];
    pim_producer_initialize(&producer, &from->workload, &from->nest, &from->strides);
    unsigned count = pim_producer_unflatten(&producer, link, range[PIM_NEED_FLAT], boxes);
    for (unsigned b = 0; b < count; b++) {
        needs[b][PIM_NEED_N] = range[PIM_NEED_N];
        needs[b][PIM_NEED_K] = boxes[b].channel;
        needs[b][PIM_NEED_P] = boxes[b].row;
        needs[b][PIM_NEED_Q] = boxes[b].column;
    }
    return count;
}

enum pim_status pim_overlap_exhaustive(const struct pim_overlap_layer *layers, uint32_t consumer,
                                       const struct pim_schedule *schedules, struct pim_ready *list,
                                       uint64_t count, struct pim_error *error)
{
    const struct pim_overlap_layer *layer = &layers[consumer];
    for (uint64_t i = 0; i < count; i++)
        list[i].ready = 0;
    for (uint32_t j = 0; j < layer->links; j++) {
        const struct pim_link *link = &layer->link[j];
        struct made *made = NULL;
        uint64_t made_count = 0;
        if (list_made(&layers[link->producer], &schedules[link->producer], &made, &made_count, error) !=
            PIM_OK)
            return error->status;
        if (made_count > 0 && count > PIM_OVERLAP_COMPARISONS / made_count) {
            free(made);
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: %" PRIu64 " x %" PRIu64 " data spaces are too many to compare one by one: "
                            "at most %" PRIu64 " pairs; the analysis without it has no such limit",
                            layer->name, count, made_count, PIM_OVERLAP_COMPARISONS);
        }
        for (uint64_t i = 0; i < count; i++) {
            struct pim_interval box[PIM_DIMENSIONS], needs[PIM_FLAT_BOXES][4];
            (void)pim_nest_data_space(&layer->workload, &layer->nest, &layer->strides, list[i].bank,
                                      list[i].step, box);
            unsigned boxes = needs_of(layers, layer, link, box, needs);
            uint64_t end = 0;
            for (uint64_t m = 0; m < made_count; m++) {
                for (unsigned b = 0; b < boxes && made[m].end > end; b++) {
                    if (meets(needs[b][0], made[m].range[0]) && meets(needs[b][1], made[m].range[1]) &&
                        meets(needs[b][2], made[m].range[2]) && meets(needs[b][3], made[m].range[3]))
                        end = made[m].end;
                }
            }
            end += boxes > 0 ? link->transfer : 0;
            end -= end < link->head ? end : link->head;
            list[i].ready = end > list[i].ready ? end : list[i].ready;
        }
        free(made);
    }
    return PIM_OK;
}
