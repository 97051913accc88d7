#include "mappers/nicepim/space/select.h"

#include "mappers/search/front.h"

#include <stdlib.h>

/*
 * Fronts are kept while they are folded, because a point names its parts: `item` of every layer, `fold` after
 * each part of a sequence. Layers, regions and segments are folded alike.
 */
struct store {
    struct pim_front *item;                     /* of each layer */
    struct pim_front *region_fold, *region_end; /* after each layer; of each region */
    struct pim_front *mapping_fold;             /* after each region */
    struct pim_front *segment;                  /* of each segment: united over its mappings */
    struct pim_front *network_fold;             /* after each segment */
    uint32_t layers, regions, mappings;
};

struct solver {
    const struct pim_selection *selection;
    uint64_t capacity;
    struct store store;
};

/* A front with the one point of nothing. */
static enum pim_status empty_front(struct pim_front *front, struct pim_error *error)
{
    const uint64_t nothing = 0;
    return pim_front_of_items(&nothing, &nothing, 1, UINT64_MAX, front, error);
}

static enum pim_status make_items(struct solver *solver, struct pim_error *error)
{
    const struct pim_selection *selection = solver->selection;
    for (uint32_t l = 0; l < solver->store.layers; l++) {
        uint32_t first = selection->candidate[l];
        if (pim_front_of_items(selection->size + first, selection->latency + first,
                               selection->candidate[l + 1] - first, solver->capacity, &solver->store.item[l],
                               error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

/* Layers of a region follow each other: sizes and latencies add up. */
static enum pim_status fold_region(struct solver *solver, uint32_t region, struct pim_error *error)
{
    const struct pim_selection *selection = solver->selection;
    struct store *store = &solver->store;
    const struct pim_front *before = &store->region_end[region];
    if (empty_front(&store->region_end[region], error) != PIM_OK)
        return error->status;
    for (uint32_t l = selection->layer[region]; l < selection->layer[region + 1]; l++) {
        if (pim_front_join(before, &store->item[l], PIM_FRONT_SUM, PIM_FRONT_SUM, solver->capacity,
                           &store->region_fold[l], error) != PIM_OK)
            return error->status;
        before = &store->region_fold[l];
    }
    return PIM_OK;
}

static const struct pim_front *region_front(const struct solver *solver, uint32_t region)
{
    uint32_t first = solver->selection->layer[region], end = solver->selection->layer[region + 1];
    return end > first ? &solver->store.region_fold[end - 1] : &solver->store.region_end[region];
}

/* Regions work side by side: the slowest and the fullest count. */
static enum pim_status fold_mapping(struct solver *solver, uint32_t mapping, struct pim_error *error)
{
    const struct pim_selection *selection = solver->selection;
    struct store *store = &solver->store;
    uint32_t first = selection->region[mapping], end = selection->region[mapping + 1];
    for (uint32_t r = first; r < end; r++) {
        if (fold_region(solver, r, error) != PIM_OK)
            return error->status;
        if (r == first)
            continue;
        const struct pim_front *before =
            r == first + 1 ? region_front(solver, first) : &store->mapping_fold[r - 1];
        if (pim_front_join(before, region_front(solver, r), PIM_FRONT_LARGER, PIM_FRONT_LARGER,
                           solver->capacity, &store->mapping_fold[r], error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

static const struct pim_front *mapping_front(const struct solver *solver, uint32_t mapping)
{
    uint32_t first = solver->selection->region[mapping], end = solver->selection->region[mapping + 1];
    return end > first + 1 ? &solver->store.mapping_fold[end - 1] : region_front(solver, first);
}

static enum pim_status unite_segment(struct solver *solver, uint32_t segment, struct pim_error *error)
{
    uint32_t first = solver->selection->mapping[segment],
             count = solver->selection->mapping[segment + 1] - first;
    const struct pim_front **parts = calloc(count, sizeof *parts);
    if (!parts)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the mappings of a segment");
    enum pim_status status = PIM_OK;
    for (uint32_t m = 0; m < count && status == PIM_OK; m++) {
        status = fold_mapping(solver, first + m, error);
        parts[m] = mapping_front(solver, first + m);
    }
    if (status == PIM_OK)
        status = pim_front_unite(parts, count, &solver->store.segment[segment], error);
    free(parts);
    return status;
}

static enum pim_status fold_network(struct solver *solver, struct pim_error *error)
{
    struct store *store = &solver->store;
    for (uint32_t s = 0; s < solver->selection->segments; s++) {
        if (unite_segment(solver, s, error) != PIM_OK)
            return error->status;
        if (s > 0 && pim_front_join(s == 1 ? &store->segment[0] : &store->network_fold[s - 1],
                                    &store->segment[s], PIM_FRONT_SUM, PIM_FRONT_SUM, solver->capacity,
                                    &store->network_fold[s], error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

/* --- reading the choice back --- */

static void read_region(const struct solver *solver, uint32_t region, uint32_t point,
                        struct pim_choice *choice)
{
    const struct pim_selection *selection = solver->selection;
    for (uint32_t l = selection->layer[region + 1]; l-- > selection->layer[region];) {
        const struct pim_front_point *at = &solver->store.region_fold[l].points[point];
        choice->candidate[l] = solver->store.item[l].points[at->right].left;
        point = at->left;
    }
}

static void read_mapping(const struct solver *solver, uint32_t mapping, uint32_t point,
                         struct pim_choice *choice)
{
    uint32_t first = solver->selection->region[mapping];
    for (uint32_t r = solver->selection->region[mapping + 1]; --r > first;) {
        const struct pim_front_point *at = &solver->store.mapping_fold[r].points[point];
        read_region(solver, r, at->right, choice);
        point = at->left;
    }
    read_region(solver, first, point, choice);
}

static void read_choice(const struct solver *solver, struct pim_choice *choice)
{
    const struct store *store = &solver->store;
    uint32_t segments = solver->selection->segments;
    const struct pim_front *front = segments > 1 ? &store->network_fold[segments - 1] : &store->segment[0];
    choice->front_points = front->count;
    choice->feasible = front->count > 0;
    if (!choice->feasible)
        return;
    uint32_t point = front->count - 1; /* costs fall with weight */
    choice->latency = front->points[point].cost;
    choice->size = front->points[point].weight;
    for (uint32_t s = segments; s-- > 0;) {
        uint32_t own = point;
        if (s > 0) {
            own = store->network_fold[s].points[point].right;
            point = store->network_fold[s].points[point].left;
        }
        choice->mapping[s] = store->segment[s].points[own].left;
        read_mapping(solver, solver->selection->mapping[s] + choice->mapping[s],
                     store->segment[s].points[own].right, choice);
    }
}

/* --- bounds and life --- */

static uint64_t least_region(const struct pim_selection *selection, uint32_t region)
{
    uint64_t sum = 0;
    for (uint32_t l = selection->layer[region]; l < selection->layer[region + 1]; l++) {
        uint64_t least = UINT64_MAX;
        for (uint32_t c = selection->candidate[l]; c < selection->candidate[l + 1]; c++)
            least = selection->size[c] < least ? selection->size[c] : least;
        sum += least;
    }
    return sum;
}

static uint64_t least_capacity(const struct pim_selection *selection)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < selection->segments; s++) {
        uint64_t least = UINT64_MAX;
        for (uint32_t m = selection->mapping[s]; m < selection->mapping[s + 1]; m++) {
            uint64_t fullest = 0;
            for (uint32_t r = selection->region[m]; r < selection->region[m + 1]; r++) {
                uint64_t region = least_region(selection, r);
                fullest = region > fullest ? region : fullest;
            }
            least = fullest < least ? fullest : least;
        }
        sum += least;
    }
    return sum;
}

static void release_fronts(struct pim_front *fronts, uint32_t count)
{
    for (uint32_t i = 0; fronts && i < count; i++)
        pim_front_terminate(&fronts[i]);
    free(fronts);
}

enum pim_status pim_select(const struct pim_selection *selection, uint64_t capacity,
                           struct pim_choice *choice, struct pim_error *error)
{
    struct solver solver = {.selection = selection, .capacity = capacity};
    struct store *store = &solver.store;
    store->mappings = selection->mapping[selection->segments];
    store->regions = selection->region[store->mappings];
    store->layers = selection->layer[store->regions];
    *choice = (struct pim_choice){.least_capacity = least_capacity(selection)};
    choice->mapping = calloc((size_t)selection->segments + 1, sizeof *choice->mapping);
    choice->candidate = calloc((size_t)store->layers + 1, sizeof *choice->candidate);
    store->item = calloc((size_t)store->layers + 1, sizeof *store->item);
    store->region_fold = calloc((size_t)store->layers + 1, sizeof *store->region_fold);
    store->region_end = calloc((size_t)store->regions + 1, sizeof *store->region_end);
    store->mapping_fold = calloc((size_t)store->regions + 1, sizeof *store->mapping_fold);
    store->segment = calloc((size_t)selection->segments + 1, sizeof *store->segment);
    store->network_fold = calloc((size_t)selection->segments + 1, sizeof *store->network_fold);
    enum pim_status status = PIM_OK;
    if (!choice->mapping || !choice->candidate || !store->item || !store->region_fold || !store->region_end ||
        !store->mapping_fold || !store->segment || !store->network_fold)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the candidates of %u layers",
                          (unsigned)store->layers);
    if (status == PIM_OK)
        status = make_items(&solver, error);
    if (status == PIM_OK)
        status = fold_network(&solver, error);
    if (status == PIM_OK && selection->segments > 0)
        read_choice(&solver, choice);
    else if (status == PIM_OK)
        choice->feasible = true;
    release_fronts(store->item, store->layers);
    release_fronts(store->region_fold, store->layers);
    release_fronts(store->region_end, store->regions);
    release_fronts(store->mapping_fold, store->regions);
    release_fronts(store->segment, selection->segments);
    release_fronts(store->network_fold, selection->segments);
    if (status != PIM_OK)
        pim_choice_terminate(choice);
    return status;
}

void pim_choice_terminate(struct pim_choice *choice)
{
    free(choice->mapping);
    free(choice->candidate);
    *choice = (struct pim_choice){0};
}
