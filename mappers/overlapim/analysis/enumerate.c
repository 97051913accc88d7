#include "mappers/overlapim/analysis/enumerate.h"

#include "mappers/overlapim/analysis/tiles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A component as a walk sees it: cells of the same step together, or single cells. */
struct walked {
    uint64_t count;
    const uint64_t *step, *bank; /* bank NULL: maxima over banks */
    int64_t **term;              /* NULL: 0 */
    uint64_t *owned_step;        /* what the walk made itself */
    int64_t *owned_term;
};

struct walk {
    const struct pim_overlap *overlap;
    uint32_t components;
    struct walked component[PIM_OVERLAP_COMPONENTS];
    void (*visit)(void *context, uint64_t step, uint64_t bank, uint64_t ready);
    void *context;
};

/* Sums so far, by link; -1 when nothing is needed. */
struct sums {
    uint64_t step, bank;
    int64_t *key;
};

/* `keys` has room for links entries a level. */
static void walk_from(const struct walk *walk, uint32_t level, const struct sums *sums, int64_t *keys)
{
    uint32_t links = walk->overlap->links;
    if (level == walk->components) {
        uint64_t ready = 0;
        for (uint32_t j = 0; j < links; j++) {
            uint64_t time = pim_overlap_time(&walk->overlap->source[j], sums->key[j]);
            ready = time > ready ? time : ready;
        }
        walk->visit(walk->context, sums->step, sums->bank, ready);
        return;
    }
    const struct walked *component = &walk->component[level];
    for (uint64_t cell = 0; cell < component->count; cell++) {
        struct sums next = {.step = sums->step + component->step[cell],
                            .bank = sums->bank + (component->bank ? component->bank[cell] : 0),
                            .key = keys};
        for (uint32_t j = 0; j < links; j++) {
            int64_t term = component->term ? component->term[j][cell] : 0;
            keys[j] = sums->key[j] < 0 || term < 0 ? -1 : sums->key[j] + term;
        }
        walk_from(walk, level + 1, &next, keys + links);
    }
}

static enum pim_status run_walk(const struct walk *walk, struct pim_error *error)
{
    size_t links = walk->overlap->links;
    int64_t *keys = calloc((walk->components + 1) * links + 1, sizeof *keys);
    if (!keys)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %zu links", links);
    struct sums none = {0, 0, keys};
    walk_from(walk, 0, &none, keys + links);
    free(keys);
    return PIM_OK;
}

/* --- steps --- */

struct step_cell {
    uint64_t step, cell;
};

static int compare_step(const void *a, const void *b)
{
    const struct step_cell *first = a, *second = b;
    return first->step < second->step ? -1 : first->step > second->step;
}

/* Cells of a component that share a step become one, with the largest term of each link. */
static enum pim_status merge_banks(const struct pim_overlap *overlap, const struct pim_component *component,
                                   struct walked *walked, struct pim_error *error)
{
    uint64_t cells = component->cells;
    struct step_cell *order = malloc(cells * sizeof *order);
    walked->owned_step = malloc(cells * sizeof *walked->owned_step);
    walked->owned_term = malloc((overlap->links * cells + 1) * sizeof *walked->owned_term);
    walked->bank = NULL;
    walked->term = calloc(overlap->links + 1, sizeof *walked->term);
    if (!order || !walked->owned_step || !walked->owned_term || !walked->term) {
        free(order);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " tiles", cells);
    }
    for (uint64_t cell = 0; cell < cells; cell++)
        order[cell] = (struct step_cell){component->step[cell], cell};
    qsort(order, cells, sizeof *order, compare_step);
    for (uint32_t j = 0; j < overlap->links; j++)
        walked->term[j] = walked->owned_term + j * cells;
    walked->count = 0;
    for (uint64_t i = 0; i < cells; i++) {
        bool new = i == 0 || order[i].step != order[i - 1].step;
        uint64_t at = walked->count += new ? 1 : 0;
        walked->owned_step[at - 1] = order[i].step;
        for (uint32_t j = 0; j < overlap->links; j++) {
            int64_t term = component->term ? component->term[j][order[i].cell] : 0;
            int64_t *most = &walked->term[j][at - 1];
            *most = new || term > *most ? term : *most;
        }
    }
    walked->step = walked->owned_step;
    free(order);
    return PIM_OK;
}

static void release(struct walk *walk, bool merged)
{
    for (uint32_t c = 0; c < walk->components; c++) {
        free(walk->component[c].owned_step);
        free(walk->component[c].owned_term);
        if (merged)
            free(walk->component[c].term);
    }
}

/* Cell by cell; makes the cells of a component that is free. */
static enum pim_status take(struct pim_overlap *overlap, uint32_t c, struct walked *walked,
                            struct pim_error *error)
{
    struct pim_component *component = &overlap->component[c];
    *walked = (struct walked){0};
    if (pim_component_make(overlap->consumer, component, (struct pim_component_visitor){NULL, NULL}, error) !=
        PIM_OK)
        return error->status;
    *walked = (struct walked){
        .count = component->cells, .step = component->step, .bank = component->bank, .term = component->term};
    return PIM_OK;
}

struct step_table {
    uint64_t *ready;
    bool *exists;
};

static void visit_step(void *context, uint64_t step, uint64_t bank, uint64_t ready)
{
    struct step_table *table = context;
    (void)bank;
    if (ready > table->ready[step])
        table->ready[step] = ready;
    if (table->exists)
        table->exists[step] = true;
}

enum pim_status pim_overlap_step_ready(struct pim_overlap *overlap, uint64_t *ready, bool *exists,
                                       struct pim_error *error)
{
    struct step_table table = {ready, exists};
    struct walk walk = {.overlap = overlap, .visit = visit_step, .context = &table};
    bool merge = true;
    enum pim_status status = PIM_OK;
    memset(ready, 0, overlap->consumer->strides.steps * sizeof *ready);
    if (exists)
        memset(exists, 0, overlap->consumer->strides.steps * sizeof *exists);
    for (uint32_t j = 0; j < overlap->links; j++)
        merge = merge && overlap->source[j].monotone; /* else a maximum of keys is not one of times */
    for (uint32_t c = 0; c < overlap->components && status == PIM_OK; c++) {
        walk.components = c + 1;
        status = take(overlap, c, &walk.component[c], error);
        if (status == PIM_OK && merge)
            status = merge_banks(overlap, &overlap->component[c], &walk.component[c], error);
    }
    if (status == PIM_OK)
        status = run_walk(&walk, error);
    release(&walk, merge);
    return status;
}

/* --- data spaces --- */

struct listing {
    struct pim_ready *list;
    uint64_t count;
};

static void visit_space(void *context, uint64_t step, uint64_t bank, uint64_t ready)
{
    struct listing *listing = context;
    listing->list[listing->count++] = (struct pim_ready){ready, step, bank};
}

static int compare_place(const void *a, const void *b)
{
    const struct pim_ready *first = a, *second = b;
    if (first->step != second->step)
        return first->step < second->step ? -1 : 1;
    return first->bank < second->bank ? -1 : first->bank > second->bank;
}

static int compare_ready(const void *a, const void *b)
{
    const struct pim_ready *first = a, *second = b;
    if (first->ready != second->ready)
        return first->ready < second->ready ? -1 : 1;
    return compare_place(a, b);
}

enum pim_status pim_overlap_list(struct pim_overlap *overlap, struct pim_ready **list,
                                 struct pim_error *error)
{
    *list = NULL;
    if (overlap->data_spaces > PIM_OVERLAP_EXPLICIT)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: %" PRIu64 " data spaces: at most %" PRIu64 " are looked at one by one",
                        overlap->consumer->name, overlap->data_spaces, PIM_OVERLAP_EXPLICIT);
    struct listing listing = {.list = malloc(overlap->data_spaces * sizeof *listing.list)};
    if (!listing.list)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " data spaces",
                        overlap->data_spaces);
    struct walk walk = {.overlap = overlap, .visit = visit_space, .context = &listing};
    enum pim_status status = PIM_OK;
    for (uint32_t c = 0; c < overlap->components && status == PIM_OK; c++) {
        walk.components = c + 1;
        status = take(overlap, c, &walk.component[c], error);
    }
    if (status == PIM_OK)
        status = run_walk(&walk, error);
    if (status != PIM_OK) {
        free(listing.list);
        return status;
    }
    qsort(listing.list, listing.count, sizeof *listing.list, compare_place);
    *list = listing.list;
    return PIM_OK;
}

void pim_overlap_sort(struct pim_ready *list, uint64_t count)
{
    qsort(list, count, sizeof *list, compare_ready);
}
