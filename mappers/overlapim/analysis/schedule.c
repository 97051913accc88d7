/* Schedules of a consumer: in lock step, per bank, and as its own consumers will see it. */
#include "mappers/overlapim/analysis/enumerate.h"
#include "mappers/overlapim/analysis/tiles.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pim_schedule_terminate(struct pim_schedule *schedule)
{
    free(schedule->step_end);
    free(schedule->tile_end);
    memset(schedule, 0, sizeof *schedule);
}

uint64_t pim_overlap_sequential(const struct pim_overlap_layer *layer)
{
    return layer->strides.steps * layer->latency;
}

/* The closed form: the latest start + rest over all steps, as a maximum over each component's cells. */
static uint64_t lockstep_uniform(const struct pim_overlap *overlap)
{
    const struct pim_overlap_layer *layer = overlap->consumer;
    int64_t latency = (int64_t)layer->latency;
    uint64_t end = pim_overlap_sequential(layer);
    for (uint32_t j = 0; j < overlap->links; j++) {
        const struct pim_overlap_source *source = &overlap->source[j];
        int64_t sum = (int64_t)((source->tail + 1) * source->latency + source->transfer +
                                pim_overlap_sequential(layer)) -
                      (int64_t)source->head;
        bool needed = true;
        for (uint32_t c = 0; c < overlap->components && needed; c++) {
            const struct pim_component *component = &overlap->component[c];
            int64_t best = INT64_MIN;
            for (uint64_t cell = 0; !component->free && cell < component->cells; cell++) {
                int64_t term = component->term[j][cell];
                int64_t value = term * (int64_t)source->latency - (int64_t)component->step[cell] * latency;
                if (term >= 0 && value > best)
                    best = value;
            }
            needed = component->free || best != INT64_MIN;
            sum += component->free ? 0 : best;
        }
        if (needed && sum > 0 && (uint64_t)sum > end)
            end = (uint64_t)sum;
    }
    return end;
}

static bool is_uniform(const struct pim_overlap *overlap)
{
    for (uint32_t j = 0; j < overlap->links; j++) {
        if (overlap->source[j].table)
            return false;
    }
    return overlap->regular && (overlap->links == 0 || !pim_overlap_uneven(overlap->consumer));
}

/* Goes through the steps; `step_end` may be NULL. */
static enum pim_status lockstep_by_steps(struct pim_overlap *overlap, uint64_t *step_end, uint64_t *end,
                                         struct pim_error *error)
{
    uint64_t steps = overlap->consumer->strides.steps;
    if (steps > PIM_OVERLAP_EXPLICIT)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: %" PRIu64 " steps behind a layer that stalled: at most %" PRIu64
                        " are gone through",
                        overlap->consumer->name, steps, PIM_OVERLAP_EXPLICIT);
    uint64_t *ready = malloc(steps * sizeof *ready);
    bool *exists = malloc(steps * sizeof *exists);
    enum pim_status status =
        ready && exists ? pim_overlap_step_ready(overlap, ready, exists, error)
                        : pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " steps", steps);
    uint64_t now = 0;
    for (uint64_t s = 0; status == PIM_OK && s < steps; s++) {
        if (exists[s])
            now = (ready[s] > now ? ready[s] : now) + pim_overlap_row_latency(overlap->consumer, s, steps);
        if (step_end)
            step_end[s] = now;
    }
    *end = now;
    free(ready);
    free(exists);
    return status;
}

enum pim_status pim_overlap_lockstep(struct pim_overlap *overlap, uint64_t *end, struct pim_error *error)
{
    if (!is_uniform(overlap))
        return lockstep_by_steps(overlap, NULL, end, error);
    *end = lockstep_uniform(overlap);
    return PIM_OK;
}

enum pim_status pim_overlap_per_bank(const struct pim_overlap *overlap, const struct pim_ready *list,
                                     uint64_t *end, struct pim_error *error)
{
    uint64_t banks = overlap->consumer->strides.banks, *now = calloc(banks, sizeof *now);
    if (!now)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " banks", banks);
    *end = 0;
    for (uint64_t i = 0; i < overlap->data_spaces; i++) {
        uint64_t *bank = &now[list[i].bank];
        *bank = (list[i].ready > *bank ? list[i].ready : *bank) + overlap->consumer->latency;
        *end = *bank > *end ? *bank : *end;
    }
    free(now);
    return PIM_OK;
}

/* Index of the output tile of a data space in [N][K][P][Q]. */
uint64_t pim_overlap_output_tile(const struct pim_overlap_layer *layer, const uint32_t tiles[4],
                                 const struct pim_ready *space)
{
    struct pim_interval box[PIM_DIMENSIONS];
    uint64_t index = 0;
    (void)pim_nest_data_space(&layer->workload, &layer->nest, &layer->strides, space->bank, space->step, box);
    for (unsigned need = 0; need < 4; need++) {
        unsigned d = pim_need_dimension((enum pim_need_axis)need);
        index = index * tiles[need] + pim_axis_tile(layer->strides.extent[d], box[d].first);
    }
    return index;
}

uint64_t pim_overlap_output_tiles(const struct pim_overlap_layer *layer, uint32_t tiles[4])
{
    uint64_t total = 1;
    for (unsigned need = 0; need < 4; need++) {
        unsigned d = pim_need_dimension((enum pim_need_axis)need);
        uint32_t extent = layer->strides.extent[d];
        tiles[need] = (layer->workload.size[d] + extent - 1) / extent;
        total *= tiles[need];
    }
    return total;
}

static enum pim_status schedule_rows(struct pim_overlap *overlap, struct pim_schedule *schedule,
                                     struct pim_error *error)
{
    const struct pim_overlap_layer *layer = overlap->consumer;
    struct pim_ready *list = NULL;
    if (pim_overlap_list(overlap, &list, error) != PIM_OK)
        return error->status;
    pim_overlap_sort(list, overlap->data_spaces);
    uint64_t tiles = pim_overlap_output_tiles(layer, schedule->tiles);
    schedule->tile_end = calloc(tiles, sizeof *schedule->tile_end);
    if (!schedule->tile_end) {
        free(list);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " output tiles", tiles);
    }
    uint64_t banks = layer->strides.banks, now = 0, rows = pim_divide_up(overlap->data_spaces, banks);
    for (uint64_t i = 0; i < overlap->data_spaces; i += banks) {
        uint64_t row_end = i + banks < overlap->data_spaces ? i + banks : overlap->data_spaces;
        uint64_t ready = list[row_end - 1].ready;
        uint64_t latency = pim_overlap_row_latency(layer, i / banks, rows);
        /* a row is one step of all banks: it begins with the latest of its inputs */
        for (uint64_t j = i; j < row_end; j++) {
            uint64_t *tile = &schedule->tile_end[pim_overlap_output_tile(layer, schedule->tiles, &list[j])];
            uint64_t end = (ready > now ? ready : now) + latency;
            *tile = end > *tile ? end : *tile;
        }
        now = (ready > now ? ready : now) + latency;
    }
    schedule->end = now;
    free(list);
    return PIM_OK;
}

enum pim_status pim_overlap_schedule(struct pim_overlap *overlap, bool transformed,
                                     struct pim_schedule *schedule, struct pim_error *error)
{
    const struct pim_overlap_layer *layer = overlap->consumer;
    memset(schedule, 0, sizeof *schedule);
    schedule->latency = layer->latency;
    if (transformed)
        return schedule_rows(overlap, schedule, error);
    if (layer->links == 0 && overlap->regular) {
        schedule->end = pim_overlap_sequential(layer);
        return PIM_OK;
    }
    uint64_t steps = layer->strides.steps;
    schedule->step_end = steps <= PIM_OVERLAP_EXPLICIT ? malloc(steps * sizeof *schedule->step_end) : NULL;
    if (!schedule->step_end)
        return pim_fail(error, PIM_BAD_INPUT, "%s: a table of %" PRIu64 " steps is needed: at most %" PRIu64,
                        layer->name, steps, PIM_OVERLAP_EXPLICIT);
    return lockstep_by_steps(overlap, schedule->step_end, &schedule->end, error);
}
