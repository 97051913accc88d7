/*
 * The labels of a stage: every choice of layers that may be part of an optimum, found candidate by candidate.
 *
 * A label is dropped when
 *  1. its priced cost and the least priced cost of covering the branches that are left exceed the limit;
 *  2. its weights and workspace exceed the memory, both of which only grow;
 *  3. another one covers as many branches with the same things provided, and is not above it in cycles,
 *     weights, lasting and scratch bytes: what completes one completes the other.
 */
#include "mappers/allspark/schedule/exact.h"
#include "sim/arena.h"
#include "sim/integer.h"

#include <assert.h>
#include <stdlib.h>

enum { MOST_ACTIVE = 40000 }; /* labels that are carried on from a candidate to the next */

/* Labels that are not complete, as indices. */
struct active {
    uint32_t *items, count;
    size_t capacity;
};

struct search {
    struct pim_labels *labels;
    const struct pim_view *view;
    const struct pim_bounds *bounds;
    const struct pim_label_limit *limit;
    bool out_of_memory;
};

static bool push(struct search *search, uint32_t **items, uint32_t *count, size_t *capacity, uint32_t value)
{
    uint32_t *grown = pim_array_grow(*items, capacity, (size_t)*count + 1, sizeof *grown);
    if (!grown) {
        search->out_of_memory = true;
        return false;
    }
    *items = grown;
    (*items)[(*count)++] = value;
    return true;
}

/* The priced cost of a label and of covering what is left with the candidates from `position` on. */
static int64_t priced_bound(const struct search *search, const struct pim_label *label, uint32_t position)
{
    uint32_t branches = search->view->stage->branches;
    uint64_t workspace = pim_larger(pim_label_workspace(label), search->limit->workspace);
    uint32_t left = label->covered < branches ? branches - label->covered : 0;
    int64_t rest = pim_bounds_rest(search->bounds, position, label->flags, left);
    return PIM_PRICE_SCALE * (int64_t)label->cycles +
           search->bounds->price * (int64_t)(label->weights + workspace) + rest;
}

/* Rules 1 and 2, for a label that goes on with the candidates from `position`. */
static bool within(const struct search *search, const struct pim_label *label, uint32_t position)
{
    const struct pim_label_limit *limit = search->limit;
    uint64_t workspace = pim_larger(pim_label_workspace(label), limit->workspace);
    return label->weights + workspace <= limit->memory &&
           priced_bound(search, label, position) <= limit->priced;
}

static uint32_t store(struct search *search, const struct pim_label *label)
{
    struct pim_labels *labels = search->labels;
    struct pim_label *grown =
        pim_array_grow(labels->items, &labels->capacity, (size_t)labels->count + 1, sizeof *grown);
    if (!grown || labels->count == PIM_LABEL_NONE) {
        search->out_of_memory = true;
        return PIM_LABEL_NONE;
    }
    labels->items = grown;
    labels->items[labels->count] = *label;
    return labels->count++;
}

/* All numbers of layers of the candidate at `position`, on top of one label. */
static void extend(struct search *search, uint32_t index, uint32_t position, struct active *next)
{
    const struct pim_schedule_candidate *candidate = pim_view_candidate(search->view, position);
    struct pim_labels *labels = search->labels;
    struct pim_label label = labels->items[index];
    if (!pim_view_permits(search->view, position, label.flags))
        return;
    label.parent = index;
    label.position = position;
    label.layers = 0;
    label.flags |= candidate->provides;
    label.cycles += candidate->once_cycles;
    label.weights += candidate->weights;
    label.lasting += candidate->once_bytes;
    label.scratch = pim_larger(label.scratch, candidate->scratch_bytes);
    uint32_t branches = search->view->stage->branches, needs = search->view->stage->needs;
    bool more = true;
    while (more && label.total < branches) { /* each layer has a branch */
        label.layers++;
        label.total++;
        label.covered += candidate->capacity;
        label.cycles += candidate->layer_cycles;
        label.lasting += candidate->layer_bytes;
        more = label.covered < branches;
        bool complete = !more && (needs & ~label.flags) == 0;
        if (!within(search, &label, complete ? search->view->count : position + 1))
            continue; /* one layer more may leave less for others */
        uint32_t stored = store(search, &label);
        if (stored == PIM_LABEL_NONE ||
            !(complete ? push(search, &labels->complete, &labels->complete_count, &labels->complete_capacity,
                              stored)
                       : push(search, &next->items, &next->count, &next->capacity, stored)))
            return;
    }
}

/* --- rule 3 --- */

/* What a comparison reads, side by side. */
struct sorted {
    uint64_t cycles, weights, lasting, scratch;
    uint32_t covered, flags, total, index;
};

static int compare(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    const uint64_t keys[][2] = {{a->cycles, b->cycles},
                                {b->covered, a->covered},
                                {a->weights, b->weights},
                                {a->lasting + a->scratch, b->lasting + b->scratch},
                                {a->index, b->index}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* `a` is not above `b` in cycles: the order. */
static bool beats(const struct sorted *a, const struct sorted *b, bool complete, bool turns)
{
    if (complete && turns)
        return a->weights <= b->weights && a->lasting <= b->lasting && a->scratch <= b->scratch;
    if (complete)
        return a->weights <= b->weights && a->lasting + a->scratch <= b->lasting + b->scratch;
    return a->covered >= b->covered && a->weights <= b->weights && a->lasting <= b->lasting &&
           a->scratch <= b->scratch && a->flags == b->flags && a->total <= b->total;
}

/* Sorts by cycles and leaves those that none before beats. Returns how many. */
static uint32_t filter(struct search *search, uint32_t *indices, uint32_t count, bool complete)
{
    struct sorted *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    uint32_t left = 0;
    if (!sorted) {
        search->out_of_memory = true;
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct pim_label *label = &search->labels->items[indices[i]];
        sorted[i] = (struct sorted){label->cycles,  label->weights, label->lasting, label->scratch,
                                    label->covered, label->flags,   label->total,   indices[i]};
    }
    qsort(sorted, count, sizeof *sorted, compare);
    for (uint32_t i = 0; i < count; i++) {
        bool beaten = false;
        for (uint32_t j = 0; j < left && !beaten; j++)
            beaten = beats(&sorted[j], &sorted[i], complete, search->limit->turns);
        if (!beaten)
            sorted[left++] = sorted[i];
    }
    for (uint32_t i = 0; i < left; i++)
        indices[i] = sorted[i].index;
    free(sorted);
    return left;
}

/* --- a beam --- */

struct priced {
    int64_t priced;
    uint32_t index;
};

static int compare_priced(const void *left, const void *right)
{
    const struct priced *a = left, *b = right;
    if (a->priced != b->priced)
        return a->priced < b->priced ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Keeps the `most` labels with the least priced bounds. */
static void cut(struct search *search, struct active *active, uint32_t position, uint32_t most)
{
    struct priced *priced = malloc(((size_t)active->count + 1) * sizeof *priced);
    if (!priced) {
        search->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < active->count; i++)
        priced[i] = (struct priced){priced_bound(search, &search->labels->items[active->items[i]], position),
                                    active->items[i]};
    qsort(priced, active->count, sizeof *priced, compare_priced);
    for (uint32_t i = 0; i < most && i < active->count; i++)
        active->items[i] = priced[i].index;
    free(priced);
    active->count = most;
    search->labels->cut = true;
}

/* The labels that are carried on from the candidate at `position` to the next. */
static void advance(struct search *search, uint32_t position, struct active *active, struct active *next)
{
    next->count = 0;
    assert(active->count == 0 || active->items);
    for (uint32_t i = 0; i < active->count && !search->out_of_memory; i++) {
        if (pim_stop_asked(search->limit->stop)) {
            search->labels->cut = true;
            next->count = 0;
            return;
        }
        if (within(search, &search->labels->items[active->items[i]], position + 1) &&
            !push(search, &next->items, &next->count, &next->capacity, active->items[i]))
            return;
        extend(search, active->items[i], position, next);
    }
    uint32_t most = search->limit->beam ? search->limit->beam : MOST_ACTIVE;
    if (next->count > most)
        cut(search, next, position + 1, most);
    next->count = filter(search, next->items, next->count, false);
}

bool pim_labels_make(struct pim_labels *labels, const struct pim_view *view, const struct pim_bounds *bounds,
                     const struct pim_label_limit *limit)
{
    struct search search = {.labels = labels, .view = view, .bounds = bounds, .limit = limit};
    struct active active = {0}, next = {0};
    *labels = (struct pim_labels){0};
    uint32_t root = store(&search, &(struct pim_label){.parent = PIM_LABEL_NONE});
    if (root != PIM_LABEL_NONE)
        (void)push(&search, &active.items, &active.count, &active.capacity, root);
    for (uint32_t position = 0; position < view->count && !search.out_of_memory && active.count > 0;
         position++) {
        advance(&search, position, &active, &next);
        struct active other = active;
        active = next;
        next = other;
    }
    free(active.items);
    free(next.items);
    if (!search.out_of_memory)
        labels->complete_count = filter(&search, labels->complete, labels->complete_count, true);
    return !search.out_of_memory;
}

void pim_labels_terminate(struct pim_labels *labels)
{
    free(labels->items);
    free(labels->complete);
    *labels = (struct pim_labels){0};
}

void pim_labels_layers(const struct pim_labels *labels, const struct pim_view *view, uint32_t index,
                       uint32_t *layers)
{
    for (; labels->items[index].parent != PIM_LABEL_NONE; index = labels->items[index].parent)
        layers[view->order[labels->items[index].position]] += labels->items[index].layers;
}
