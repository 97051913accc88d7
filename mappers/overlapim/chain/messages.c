#include "mappers/overlapim/chain/messages.h"

#include "mappers/overlapim/analysis/enumerate.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct making {
    const struct pim_search_inputs *inputs;
    const struct pim_layer_mapping *mappings;
    struct pim_overlap_layer *layers;
    const struct pim_schedule *times; /* in ticks: they decide the order of transformed layers */
    struct pim_schedule *counts;      /* in rows: a row ends at its number + 1 */
    struct pim_messages *messages;
    bool transformed, ends;
    struct pim_error *error;
};

void pim_messages_terminate(struct pim_messages *messages)
{
    for (uint32_t f = 0; messages->flow && f < messages->flows; f++)
        free(messages->flow[f].message);
    free(messages->flow);
    free(messages->rows);
    memset(messages, 0, sizeof *messages);
}

/* --- rows --- */

/* The data spaces of a layer, transformed: by step and bank, with the row that each is in. */
struct placed {
    struct pim_ready *list;
    uint64_t *row;
    uint64_t count;
};

static enum pim_status place(const struct making *making, uint32_t index, struct placed *placed)
{
    const uint64_t banks = making->layers[index].strides.banks, count = placed->count;
    /* sorted with its place in the list in mind: (step, bank) names it, and the list is ordered by them */
    struct pim_ready *list = placed->list, *sorted = malloc((count + 1) * sizeof *sorted);
    placed->row = malloc((count + 1) * sizeof *placed->row);
    if (!sorted || !placed->row) {
        free(sorted);
        return pim_fail(making->error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " data spaces", count);
    }
    memcpy(sorted, list, count * sizeof *sorted);
    pim_overlap_sort(sorted, count);
    for (uint64_t j = 0; j < count; j++) {
        uint64_t low = 0, high = count;
        while (high - low > 1) {
            uint64_t middle = low + (high - low) / 2;
            bool before = list[middle].step < sorted[j].step ||
                          (list[middle].step == sorted[j].step && list[middle].bank <= sorted[j].bank);
            *(before ? &low : &high) = middle;
        }
        placed->row[low] = j / banks;
    }
    free(sorted);
    return PIM_OK;
}

/* In lock step: nothing is placed. */
static enum pim_status make_rows(const struct making *making, uint32_t index, struct placed *placed)
{
    const struct pim_strides *strides = &making->layers[index].strides;
    struct pim_overlap overlap;
    *placed = (struct placed){0};
    making->messages->rows[index] = strides->steps;
    if (!making->transformed)
        return PIM_OK;
    enum pim_status status =
        pim_overlap_initialize(&overlap, making->layers, index, making->times, making->error);
    if (status == PIM_OK)
        status = pim_overlap_list(&overlap, &placed->list, making->error);
    placed->count = overlap.data_spaces;
    making->messages->rows[index] = pim_divide_up(placed->count, strides->banks);
    if (status == PIM_OK)
        status = place(making, index, placed);
    pim_overlap_terminate(&overlap);
    return status;
}

static enum pim_status make_counts(const struct making *making, uint32_t index, const struct placed *placed)
{
    const struct pim_overlap_layer *layer = &making->layers[index];
    struct pim_schedule *schedule = &making->counts[index];
    schedule->latency = 1;
    schedule->end = making->messages->rows[index];
    if (!making->transformed)
        return PIM_OK;
    uint64_t tiles = pim_overlap_output_tiles(layer, schedule->tiles);
    schedule->tile_end = calloc(tiles, sizeof *schedule->tile_end);
    if (!schedule->tile_end)
        return pim_fail(making->error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " output tiles", tiles);
    for (uint64_t i = 0; i < placed->count; i++) {
        uint64_t *end =
            &schedule->tile_end[pim_overlap_output_tile(layer, schedule->tiles, &placed->list[i])];
        *end = pim_larger(placed->row[i] + 1, *end);
    }
    return PIM_OK;
}

/* Of the producer of a link, the rows that must have ended before each row: need[row], not falling. */
static enum pim_status find_need(const struct making *making, uint32_t index, uint32_t link,
                                 const struct placed *placed, uint64_t *need)
{
    struct pim_overlap_layer *layer = &making->layers[index], whole = *layer;
    struct pim_link one = layer->link[link];
    struct pim_ready *list = NULL;
    struct pim_overlap overlap;
    const uint64_t rows = making->messages->rows[index];
    one.transfer = one.head = 0;
    layer->link = &one;
    layer->links = 1;
    enum pim_status status =
        pim_overlap_initialize(&overlap, making->layers, index, making->counts, making->error);
    if (status == PIM_OK)
        status = making->transformed ? pim_overlap_list(&overlap, &list, making->error)
                                     : pim_overlap_step_ready(&overlap, need, NULL, making->error);
    pim_overlap_terminate(&overlap);
    layer->link = whole.link;
    layer->links = whole.links;
    for (uint64_t i = 0; list && i < placed->count; i++)
        need[placed->row[i]] = pim_larger(list[i].ready, need[placed->row[i]]);
    for (uint64_t r = 1; status == PIM_OK && r < rows; r++)
        need[r] = pim_larger(need[r], need[r - 1]);
    free(list);
    return status;
}

/* --- messages --- */

/* Rows of each bank of a layer that are final after `rows` of its rows. */
static uint64_t data_after(uint64_t all, uint64_t of, uint64_t rows)
{
    return all / of * rows + all % of * rows / of;
}

static uint64_t data_of(const struct making *making, uint32_t index)
{
    const struct pim_layer_mapping *mapping = &making->mappings[index];
    const struct pim_mapped_layer *layer = &making->inputs->layers->layer[index];
    struct pim_column_use use;
    pim_column_use(layer, &mapping->nest, &mapping->strides, &use);
    if (making->transformed)
        pim_column_use_existing(layer, &mapping->nest, &mapping->strides, &use);
    return making->inputs->machine->word_bits * use.outputs * use.output_stores;
}

static enum pim_status fill(const struct making *making, const uint64_t *need, struct pim_layer_flow *flow)
{
    const uint64_t rows = making->messages->rows[flow->consumer], last = need[rows - 1],
                   channels = making->mappings[flow->consumer].cost.channels,
                   of = making->messages->rows[flow->producer], all = data_of(making, flow->producer);
    uint64_t before = 0, data = 0, count = 0;
    for (uint64_t r = 0; r < rows; before = need[r++])
        count += need[r] > before;
    flow->count = flow->ends && count > 0 ? 1 : count;
    flow->message = calloc(flow->count + 1, sizeof *flow->message);
    if (!flow->message)
        return pim_fail(making->error, PIM_NO_MEMORY, "out of memory for messages");
    struct pim_layer_message *message = flow->message;
    before = 0;
    for (uint64_t r = 0; r < rows && message < flow->message + flow->count; r++) {
        const uint64_t now = flow->ends ? last : need[r];
        if (now <= before)
            continue;
        const uint64_t final = data_after(all, of, now), each = pim_divide_up(final - data, channels);
        *message++ = (struct pim_layer_message){r, now, each > 0 ? each : 1};
        before = now;
        data = final;
    }
    return PIM_OK;
}

static enum pim_status make_flow(const struct making *making, uint32_t index, uint32_t link,
                                 const struct placed *placed)
{
    struct pim_layer_flow *flow = &making->messages->flow[making->messages->flows++];
    const uint32_t producer = making->inputs->layers->layer[index].link[link].producer;
    *flow =
        (struct pim_layer_flow){.producer = producer,
                                .consumer = index,
                                .link = link,
                                .ends = making->ends && pim_intake_at_end(making->inputs, index, producer)};
    uint64_t *need = calloc(making->messages->rows[index], sizeof *need);
    if (!need)
        return pim_fail(making->error, PIM_NO_MEMORY, "out of memory for rows");
    enum pim_status status = find_need(making, index, link, placed, need);
    if (status == PIM_OK)
        status = fill(making, need, flow);
    free(need);
    return status;
}

static enum pim_status make_layer(const struct making *making, uint32_t index)
{
    struct placed placed;
    enum pim_status status = make_rows(making, index, &placed);
    for (uint32_t j = 0; j < making->inputs->layers->layer[index].links && status == PIM_OK; j++)
        status = make_flow(making, index, j, &placed);
    if (status == PIM_OK)
        status = make_counts(making, index, &placed);
    free(placed.list);
    free(placed.row);
    return status;
}

enum pim_status pim_messages_make(const struct pim_search_inputs *inputs,
                                  const struct pim_layer_mapping *mappings, bool transformed, bool ends,
                                  struct pim_overlap_layer *layers, const struct pim_schedule *schedules,
                                  struct pim_messages *messages, struct pim_error *error)
{
    const uint32_t count = inputs->layers->count;
    struct making making = {.inputs = inputs,
                            .mappings = mappings,
                            .layers = layers,
                            .times = schedules,
                            .counts = calloc(count, sizeof *making.counts),
                            .messages = messages,
                            .transformed = transformed,
                            .ends = ends,
                            .error = error};
    uint32_t links = 0;
    for (uint32_t i = 0; i < count; i++)
        links += inputs->layers->layer[i].links;
    *messages = (struct pim_messages){.rows = calloc(count, sizeof *messages->rows),
                                      .flow = calloc(links + 1, sizeof *messages->flow)};
    enum pim_status status = making.counts && messages->rows && messages->flow
                                 ? PIM_OK
                                 : pim_fail(error, PIM_NO_MEMORY, "out of memory for the messages");
    for (uint32_t i = 0; i < count && status == PIM_OK; i++)
        status = make_layer(&making, i);
    for (uint32_t i = 0; making.counts && i < count; i++)
        pim_schedule_terminate(&making.counts[i]);
    free(making.counts);
    return status;
}
