#include "mappers/overlapim/emit/rows.h"

#include "mappers/overlapim/analysis/enumerate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pim_rows_free(struct pim_layer_rows *rows, uint32_t layers)
{
    for (uint32_t i = 0; rows && i < layers; i++) {
        for (uint32_t j = 0; rows[i].need && j < rows[i].links; j++)
            free(rows[i].need[j]);
        free(rows[i].need);
    }
    free(rows);
}

struct making {
    struct pim_overlap_layer *layers;
    struct pim_schedule *times;  /* in ticks: they decide the order of transformed layers */
    struct pim_schedule *counts; /* in rows: a row ends at its number + 1 */
    struct pim_layer_rows *rows;
    bool transformed;
    struct pim_error *error;
};

/* The row of every data space, in the order of pim_overlap_list. */
static enum pim_status place(const struct making *making, uint32_t index, struct pim_ready *list,
                             uint64_t count, uint64_t *row)
{
    uint64_t banks = making->layers[index].strides.banks;
    if (!making->transformed) {
        for (uint64_t i = 0; i < count; i++)
            row[i] = list[i].step;
        return PIM_OK;
    }
    /* sorted with its place in the list in mind: (step, bank) names it, and the list is ordered by them */
    struct pim_ready *sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted)
        return pim_fail(making->error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " data spaces", count);
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
        row[low] = j / banks;
    }
    free(sorted);
    return PIM_OK;
}

/* What one producer has to have done before each row. */
static enum pim_status fill_need(const struct making *making, uint32_t index, uint32_t link,
                                 const uint64_t *row, uint64_t count)
{
    struct pim_overlap_layer *layer = &making->layers[index], whole = *layer;
    struct pim_link one = layer->link[link];
    struct pim_ready *list = NULL;
    struct pim_overlap overlap;
    one.transfer = one.head = 0;
    layer->link = &one;
    layer->links = 1;
    enum pim_status status =
        pim_overlap_initialize(&overlap, making->layers, index, making->counts, making->error);
    if (status == PIM_OK)
        status = pim_overlap_list(&overlap, &list, making->error);
    pim_overlap_terminate(&overlap);
    layer->link = whole.link;
    layer->links = whole.links;
    uint64_t *need = making->rows[index].need[link], so_far = 0;
    for (uint64_t i = 0; i < count && status == PIM_OK; i++)
        need[row[i]] = list[i].ready > need[row[i]] ? list[i].ready : need[row[i]];
    for (uint64_t r = 0; r < making->rows[index].rows; r++)
        so_far = need[r] = need[r] > so_far ? need[r] : so_far;
    free(list);
    return status;
}

static enum pim_status fill_counts(const struct making *making, uint32_t index, const struct pim_ready *list,
                                   const uint64_t *row, uint64_t count)
{
    const struct pim_overlap_layer *layer = &making->layers[index];
    struct pim_schedule *schedule = &making->counts[index];
    schedule->latency = 1;
    schedule->end = making->rows[index].rows;
    if (!making->transformed)
        return PIM_OK;
    uint64_t tiles = pim_overlap_output_tiles(layer, schedule->tiles);
    schedule->tile_end = calloc(tiles, sizeof *schedule->tile_end);
    if (!schedule->tile_end)
        return pim_fail(making->error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " output tiles", tiles);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t *end = &schedule->tile_end[pim_overlap_output_tile(layer, schedule->tiles, &list[i])];
        *end = row[i] + 1 > *end ? row[i] + 1 : *end;
    }
    return PIM_OK;
}

static enum pim_status make_layer(const struct making *making, uint32_t index)
{
    struct pim_overlap_layer *layer = &making->layers[index];
    struct pim_layer_rows *rows = &making->rows[index];
    struct pim_overlap overlap;
    struct pim_ready *list = NULL;
    uint64_t *row = NULL;
    enum pim_status status =
        pim_overlap_initialize(&overlap, making->layers, index, making->times, making->error);
    if (status == PIM_OK)
        status = pim_overlap_list(&overlap, &list, making->error);
    uint64_t count = overlap.data_spaces;
    if (status == PIM_OK) {
        uint64_t banks = layer->strides.banks;
        rows->rows = making->transformed ? (count + banks - 1) / banks : layer->strides.steps;
        rows->need = calloc(layer->links + 1, sizeof *rows->need);
        rows->links = layer->links;
        row = malloc((count + 1) * sizeof *row);
        if (!rows->need || !row)
            status = pim_fail(making->error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " rows", count);
    }
    if (status == PIM_OK)
        status = place(making, index, list, count, row);
    for (uint32_t j = 0; j < layer->links && status == PIM_OK; j++) {
        rows->need[j] = calloc(rows->rows, sizeof **rows->need);
        status = rows->need[j] ? fill_need(making, index, j, row, count)
                               : pim_fail(making->error, PIM_NO_MEMORY, "out of memory for rows");
    }
    if (status == PIM_OK)
        status = fill_counts(making, index, list, row, count);
    if (status == PIM_OK)
        status = pim_overlap_schedule(&overlap, making->transformed, &making->times[index], making->error);
    pim_overlap_terminate(&overlap);
    free(list);
    free(row);
    return status;
}

enum pim_status pim_rows_make(const struct pim_search_inputs *inputs,
                              const struct pim_layer_mapping *mappings, bool transformed,
                              const struct pim_chain *chain, struct pim_layer_rows **rows,
                              struct pim_error *error)
{
    uint32_t count = inputs->layers->count;
    struct making making = {.times = calloc(count, sizeof *making.times),
                            .counts = calloc(count, sizeof *making.counts),
                            .rows = calloc(count, sizeof *making.rows),
                            .transformed = transformed,
                            .error = error};
    enum pim_status status =
        making.times && making.counts && making.rows
            ? pim_chain_layers(inputs, mappings, transformed, chain, &making.layers, error)
            : pim_fail(error, PIM_NO_MEMORY, "out of memory for the rows");
    for (uint32_t i = 0; i < count && status == PIM_OK; i++)
        status = make_layer(&making, i);
    for (uint32_t i = 0; i < count; i++) {
        if (making.times)
            pim_schedule_terminate(&making.times[i]);
        if (making.counts)
            pim_schedule_terminate(&making.counts[i]);
    }
    free(making.times);
    free(making.counts);
    pim_chain_layers_free(making.layers, count);
    *rows = status == PIM_OK ? making.rows : NULL;
    if (status != PIM_OK)
        pim_rows_free(making.rows, count);
    return status;
}
