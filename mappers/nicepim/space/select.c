#include "mappers/nicepim/space/select.h"

#include "mappers/search/front.h"

#include <stdlib.h>
#include <string.h>

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

/*
 * What the best choice can still be, by Lagrange: with a price for size, the sum over segments of the least
 * latency + price x size, less price x capacity, is a lower bound; what a point and the least of the rest
 * make up above the best choice known is in no best choice. Points are dropped for that alone, so that the
 * optimum stays what it is.
 */
struct bounds {
    bool known;
    double price, lower, best; /* best: the latency of a choice that fits */
    double *layer;             /* least value of each layer */
    double *segment;           /* and of each segment, from below */
};

struct solver {
    const struct pim_selection *selection;
    uint64_t capacity;
    struct store store;
    struct bounds bounds;
};

static double value_of(double price, uint64_t latency, uint64_t size)
{
    return (double)latency + price * (double)size;
}

/* --- bounds --- */

/* The candidate of a layer with the least value, of equal ones the first; UINT32_MAX: none fits. */
static uint32_t best_candidate(const struct solver *solver, uint32_t layer, double price)
{
    const struct pim_selection *selection = solver->selection;
    uint32_t best = UINT32_MAX;
    for (uint32_t c = selection->candidate[layer]; c < selection->candidate[layer + 1]; c++) {
        if (selection->size[c] <= solver->capacity &&
            (best == UINT32_MAX || value_of(price, selection->latency[c], selection->size[c]) <
                                       value_of(price, selection->latency[best], selection->size[best])))
            best = c;
    }
    return best;
}

struct sums {
    double value;
    uint64_t latency, size;
    bool fits;
};

/* A mapping with the best candidate of each layer: its value is at least that of any of its regions. */
static struct sums price_mapping(const struct solver *solver, uint32_t mapping, double price, double *layer)
{
    const struct pim_selection *selection = solver->selection;
    struct sums sums = {.fits = true};
    for (uint32_t r = selection->region[mapping]; r < selection->region[mapping + 1]; r++) {
        struct sums region = {0};
        for (uint32_t l = selection->layer[r]; l < selection->layer[r + 1]; l++) {
            uint32_t best = best_candidate(solver, l, price);
            if (best == UINT32_MAX) {
                sums.fits = false;
                continue;
            }
            layer[l] = value_of(price, selection->latency[best], selection->size[best]);
            region.value += layer[l];
            region.latency += selection->latency[best];
            region.size += selection->size[best];
        }
        sums.value = region.value > sums.value ? region.value : sums.value;
        if (selection->regions_add)
            sums.latency += region.latency;
        else if (region.latency > sums.latency)
            sums.latency = region.latency;
        sums.size = region.size > sums.size ? region.size : sums.size;
    }
    return sums;
}

/* The bound for a price, and the choice it makes, of which better ones are kept. True: the choice fits. */
static bool try_price(struct solver *solver, double price, double *layer, double *segment)
{
    struct bounds *bounds = &solver->bounds;
    const struct pim_selection *selection = solver->selection;
    double lower = -price * (double)solver->capacity;
    uint64_t latency = 0, size = 0;
    for (uint32_t s = 0; s < selection->segments; s++) {
        struct sums best = {0};
        bool found = false;
        for (uint32_t m = selection->mapping[s]; m < selection->mapping[s + 1]; m++) {
            struct sums sums = price_mapping(solver, m, price, layer);
            if (sums.fits && (!found || sums.value < best.value)) {
                best = sums;
                found = true;
            }
        }
        if (!found)
            return false;
        segment[s] = best.value;
        lower += best.value;
        latency += best.latency;
        size += best.size;
    }
    bool fits = size <= solver->capacity;
    if (fits && (!bounds->known || (double)latency < bounds->best)) {
        bounds->best = (double)latency;
        bounds->known = true;
    }
    if (price == 0 || lower > bounds->lower) {
        bounds->lower = lower;
        bounds->price = price;
        memcpy(bounds->layer, layer, solver->store.layers * sizeof *layer);
        memcpy(bounds->segment, segment, selection->segments * sizeof *segment);
    }
    return fits;
}

/* Halves the prices between one that is too low and one that is high enough. */
static enum pim_status find_bounds(struct solver *solver, struct pim_error *error)
{
    enum { DOUBLINGS = 60, HALVINGS = 40 };
    struct bounds *bounds = &solver->bounds;
    size_t layers = (size_t)solver->store.layers + 1, segments = (size_t)solver->selection->segments + 1;
    double *layer = calloc(layers, sizeof *layer), *segment = calloc(segments, sizeof *segment), low = 0;
    bounds->layer = calloc(layers, sizeof *bounds->layer);
    bounds->segment = calloc(segments, sizeof *bounds->segment);
    enum pim_status status = PIM_OK;
    if (!layer || !segment || !bounds->layer || !bounds->segment)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the candidates of %u layers",
                          (unsigned)solver->store.layers);
    if (status == PIM_OK && !try_price(solver, 0, layer, segment)) {
        double high = 1e-6;
        for (int i = 0; i < DOUBLINGS && !try_price(solver, high, layer, segment); i++) {
            low = high;
            high *= 2;
        }
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (low + high) / 2;
            if (try_price(solver, middle, layer, segment))
                high = middle;
            else
                low = middle;
        }
    }
    free(layer);
    free(segment);
    return status;
}

/* Drops the points of a front whose value, with that of what is still to come, is above a limit; what
 * rounding may do is left to them. */
static void drop_points(const struct solver *solver, struct pim_front *front, double rest, double limit)
{
    uint32_t kept = 0;
    if (!solver->bounds.known)
        return;
    for (uint32_t i = 0; i < front->count; i++) {
        const struct pim_front_point *point = &front->points[i];
        if (value_of(solver->bounds.price, point->cost, point->weight) + rest <= limit + 1 + 1e-9 * limit)
            front->points[kept++] = *point;
    }
    front->count = kept;
}

/* The most that a segment may be worth. */
static double limit_of(const struct solver *solver, uint32_t segment)
{
    return solver->bounds.best - solver->bounds.lower + solver->bounds.segment[segment];
}

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
static enum pim_status fold_region(struct solver *solver, uint32_t segment, uint32_t region,
                                   struct pim_error *error)
{
    const struct pim_selection *selection = solver->selection;
    struct store *store = &solver->store;
    const struct pim_front *before = &store->region_end[region];
    if (empty_front(&store->region_end[region], error) != PIM_OK)
        return error->status;
    double rest = 0;
    for (uint32_t l = selection->layer[region]; l < selection->layer[region + 1]; l++)
        rest += solver->bounds.layer[l];
    for (uint32_t l = selection->layer[region]; l < selection->layer[region + 1]; l++) {
        rest -= solver->bounds.layer[l];
        if (pim_front_join(before, &store->item[l], PIM_FRONT_SUM, PIM_FRONT_SUM, solver->capacity,
                           &store->region_fold[l], error) != PIM_OK)
            return error->status;
        drop_points(solver, &store->region_fold[l], rest, limit_of(solver, segment));
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
static enum pim_status fold_mapping(struct solver *solver, uint32_t segment, uint32_t mapping,
                                    struct pim_error *error)
{
    const struct pim_selection *selection = solver->selection;
    struct store *store = &solver->store;
    uint32_t first = selection->region[mapping], end = selection->region[mapping + 1];
    for (uint32_t r = first; r < end; r++) {
        if (fold_region(solver, segment, r, error) != PIM_OK)
            return error->status;
        if (r == first)
            continue;
        const struct pim_front *before =
            r == first + 1 ? region_front(solver, first) : &store->mapping_fold[r - 1];
        if (pim_front_join(before, region_front(solver, r), PIM_FRONT_LARGER,
                           selection->regions_add ? PIM_FRONT_SUM : PIM_FRONT_LARGER, solver->capacity,
                           &store->mapping_fold[r], error) != PIM_OK)
            return error->status;
        drop_points(solver, &store->mapping_fold[r], 0, limit_of(solver, segment));
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
        status = fold_mapping(solver, segment, first + m, error);
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
    double rest = -solver->bounds.price * (double)solver->capacity;
    for (uint32_t s = 0; s < solver->selection->segments; s++)
        rest += solver->bounds.segment[s];
    for (uint32_t s = 0; s < solver->selection->segments; s++) {
        rest -= solver->bounds.segment[s];
        if (unite_segment(solver, s, error) != PIM_OK)
            return error->status;
        if (s > 0 && pim_front_join(s == 1 ? &store->segment[0] : &store->network_fold[s - 1],
                                    &store->segment[s], PIM_FRONT_SUM, PIM_FRONT_SUM, solver->capacity,
                                    &store->network_fold[s], error) != PIM_OK)
            return error->status;
        drop_points(solver, s == 0 ? &store->segment[0] : &store->network_fold[s], rest, solver->bounds.best);
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

/* --- life --- */

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
        status = find_bounds(&solver, error);
    if (status == PIM_OK)
        status = make_items(&solver, error);
    if (status == PIM_OK)
        status = fold_network(&solver, error);
    if (status == PIM_OK && selection->segments > 0)
        read_choice(&solver, choice);
    else if (status == PIM_OK)
        choice->feasible = true;
    uint64_t bound = solver.bounds.lower > 0 ? (uint64_t)solver.bounds.lower : 0;
    free(solver.bounds.layer);
    free(solver.bounds.segment);
    release_fronts(store->item, store->layers);
    release_fronts(store->region_fold, store->layers);
    release_fronts(store->region_end, store->regions);
    release_fronts(store->mapping_fold, store->regions);
    release_fronts(store->segment, selection->segments);
    release_fronts(store->network_fold, selection->segments);
    if (status != PIM_OK)
        pim_choice_terminate(choice);
    choice->bound = bound;
    return status;
}

void pim_choice_terminate(struct pim_choice *choice)
{
    free(choice->mapping);
    free(choice->candidate);
    *choice = (struct pim_choice){0};
}
