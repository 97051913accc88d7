/* The transformed schedule: its end from the distribution of ready steps, and what it moves. */
#include "mappers/overlapim/analysis/enumerate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many cells (then: data spaces) have a key, ascending; key -1: nothing is needed. */
struct distribution {
    uint64_t count;
    int64_t *key;
    uint64_t *times;
};

#define DENSE_KEYS (INT64_C(1) << 24) /* a table over keys is at most so long */

static void distribution_terminate(struct distribution *distribution)
{
    free(distribution->key);
    free(distribution->times);
    memset(distribution, 0, sizeof *distribution);
}

static enum pim_status distribution_from_table(struct distribution *distribution, const uint64_t *table,
                                               int64_t most, struct pim_error *error)
{
    uint64_t count = 0;
    for (int64_t key = 0; key <= most + 1; key++)
        count += table[key] > 0;
    distribution->key = calloc(count + 1, sizeof *distribution->key);
    distribution->times = calloc(count + 1, sizeof *distribution->times);
    if (!distribution->key || !distribution->times)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a distribution of ready steps");
    for (int64_t key = 0; key <= most + 1; key++) {
        if (table[key] == 0)
            continue;
        distribution->key[distribution->count] = key - 1;
        distribution->times[distribution->count++] = table[key];
    }
    return PIM_OK;
}

/* The distribution of sums of a key so far and a term of the component. */
static enum pim_status convolve(struct distribution *so_far, const struct distribution *component,
                                struct pim_error *error)
{
    int64_t first = so_far->key[so_far->count - 1], second = component->key[component->count - 1];
    int64_t most = (first < 0 ? 0 : first) + (second < 0 ? 0 : second);
    uint64_t *table = calloc((size_t)most + 2, sizeof *table); /* entry 0: nothing is needed */
    if (!table)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRId64 " ready steps", most);
    for (uint64_t a = 0; a < so_far->count; a++) {
        for (uint64_t b = 0; b < component->count; b++) {
            bool nothing = so_far->key[a] < 0 || component->key[b] < 0;
            int64_t key = nothing ? -1 : so_far->key[a] + component->key[b];
            table[key + 1] += so_far->times[a] * component->times[b];
        }
    }
    struct distribution sum = {0};
    enum pim_status status = distribution_from_table(&sum, table, most, error);
    free(table);
    distribution_terminate(so_far);
    *so_far = sum;
    return status;
}

static enum pim_status of_component(const struct pim_component *component, struct distribution *distribution,
                                    struct pim_error *error)
{
    int64_t most = -1;
    for (uint64_t cell = 0; cell < component->cells; cell++)
        most = component->term[0][cell] > most ? component->term[0][cell] : most;
    uint64_t *table = calloc((size_t)most + 2, sizeof *table);
    if (!table)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRId64 " ready steps", most);
    for (uint64_t cell = 0; cell < component->cells; cell++)
        table[component->term[0][cell] + 1]++;
    enum pim_status status = distribution_from_table(distribution, table, most, error);
    free(table);
    return status;
}

static uint64_t rows_of(const struct pim_overlap *overlap)
{
    uint64_t banks = overlap->consumer->strides.banks;
    return overlap->data_spaces / banks + (overlap->data_spaces % banks != 0);
}

static enum pim_status end_by_distribution(const struct pim_overlap *overlap, uint64_t *end,
                                           struct pim_error *error)
{
    struct distribution all = {
        .count = 1, .key = calloc(1, sizeof *all.key), .times = calloc(1, sizeof *all.times)};
    enum pim_status status = all.key && all.times ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory");
    if (status == PIM_OK)
        all.times[0] = 1;
    for (uint32_t c = 0; c < overlap->components && status == PIM_OK; c++) {
        const struct pim_component *component = &overlap->component[c];
        struct distribution one = {0};
        if (component->free) {
            for (uint64_t i = 0; i < all.count; i++)
                all.times[i] *= component->cells;
            continue;
        }
        status = of_component(component, &one, error);
        if (status == PIM_OK)
            status = convolve(&all, &one, error);
        distribution_terminate(&one);
    }
    uint64_t rows = rows_of(overlap), banks = overlap->consumer->strides.banks, before = 0;
    *end = rows * overlap->consumer->latency;
    for (uint64_t i = 0; i < all.count && status == PIM_OK; i++) {
        /* the first row that has a data space of this ready time waits for it, or for a later one */
        uint64_t begin = pim_overlap_time(&overlap->source[0], all.key[i]);
        uint64_t last = begin + (rows - before / banks) * overlap->consumer->latency;
        *end = last > *end ? last : *end;
        before += all.times[i];
    }
    distribution_terminate(&all);
    return status;
}

uint64_t pim_overlap_rows_end(const struct pim_overlap *overlap, const struct pim_ready *sorted)
{
    uint64_t banks = overlap->consumer->strides.banks, now = 0;
    for (uint64_t i = 0; i < overlap->data_spaces; i += banks) {
        uint64_t last = overlap->data_spaces - i < banks ? overlap->data_spaces : i + banks;
        uint64_t ready = sorted[last - 1].ready;
        now = (ready > now ? ready : now) +
              pim_overlap_row_latency(overlap->consumer, i / banks, rows_of(overlap));
    }
    return now;
}

/* Keys of the one link are sums of terms, and few enough for a table. */
static bool has_distribution(const struct pim_overlap *overlap)
{
    if (overlap->links != 1 || !overlap->source[0].monotone || pim_overlap_uneven(overlap->consumer))
        return false;
    int64_t most = 0;
    for (uint32_t c = 0; c < overlap->components; c++) {
        const struct pim_component *component = &overlap->component[c];
        int64_t largest = 0;
        for (uint64_t cell = 0; !component->free && cell < component->cells; cell++)
            largest = component->term[0][cell] > largest ? component->term[0][cell] : largest;
        most += largest;
    }
    return most < DENSE_KEYS;
}

enum pim_status pim_overlap_transformed(struct pim_overlap *overlap, uint64_t *end, struct pim_error *error)
{
    if (overlap->links == 0 && !pim_overlap_uneven(overlap->consumer)) {
        *end = rows_of(overlap) * overlap->consumer->latency;
        return PIM_OK;
    }
    if (has_distribution(overlap))
        return end_by_distribution(overlap, end, error);
    struct pim_ready *list = NULL;
    enum pim_status status = pim_overlap_list(overlap, &list, error);
    if (status == PIM_OK) {
        pim_overlap_sort(list, overlap->data_spaces);
        *end = pim_overlap_rows_end(overlap, list);
    }
    free(list);
    return status;
}

struct contribution {
    uint64_t tile, bank;
};

static int compare_contribution(const void *a, const void *b)
{
    const struct contribution *first = a, *second = b;
    if (first->tile != second->tile)
        return first->tile < second->tile ? -1 : 1;
    return first->bank < second->bank ? -1 : first->bank > second->bank;
}

/* Sorts, and sets banks[tile] to the number of different banks that contribute to a tile. */
static void count_banks(struct contribution *list, uint64_t count, uint64_t *banks)
{
    qsort(list, count, sizeof *list, compare_contribution);
    for (uint64_t i = 0; i < count; i++)
        banks[list[i].tile] += i == 0 || compare_contribution(&list[i - 1], &list[i]) != 0;
}

enum pim_status pim_overlap_moved(const struct pim_overlap *overlap, const struct pim_ready *sorted,
                                  uint64_t *tiles, struct pim_error *error)
{
    const struct pim_overlap_layer *layer = overlap->consumer;
    uint32_t shape[4];
    uint64_t outputs = pim_overlap_output_tiles(layer, shape);
    struct contribution *list = malloc(overlap->data_spaces * sizeof *list);
    uint64_t *before = calloc(2 * outputs, sizeof *before);
    *tiles = 0;
    if (!list || !before) {
        free(list);
        free(before);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " output tiles", outputs);
    }
    for (uint64_t i = 0; i < overlap->data_spaces; i++)
        list[i] = (struct contribution){pim_overlap_output_tile(layer, shape, &sorted[i]), sorted[i].bank};
    count_banks(list, overlap->data_spaces, before);
    for (uint64_t i = 0; i < overlap->data_spaces; i++)
        list[i] = (struct contribution){pim_overlap_output_tile(layer, shape, &sorted[i]),
                                        i % layer->strides.banks};
    count_banks(list, overlap->data_spaces, before + outputs);
    for (uint64_t tile = 0; tile < outputs; tile++) {
        uint64_t now = before[outputs + tile];
        *tiles += now > before[tile] ? now - before[tile] : 0;
    }
    free(list);
    free(before);
    return PIM_OK;
}
