#include "mappers/nicepim/map/choose.h"

#include "mappers/nicepim/map/candidates/candidates.h"
#include "mappers/nicepim/map/results.h"
#include "mappers/nicepim/space/select.h"
#include "mappers/place/slicing.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One entry of the lists of the choice: a layer on a region, with its candidates. */
struct option {
    uint32_t layer;
    struct nice_region region;
    struct candidate_list list; /* borrowed from the memory of lists */
};

/* Lists that were found, by layer shape, region, layouts and where the input lies. */
struct memory {
    uint32_t layer;
    struct nice_region region;
    struct home input[2]; /* copies; of a product with stored weights the first */
    struct candidate_list list;
};

struct maker {
    struct nice_plan *plan;
    struct option *options;
    uint32_t option_count, option_capacity;
    struct emitter places; /* homes of layers as they are decided so far; nothing is written */
    bool *placed;          /* whose home is known */
    struct memory *memories;
    uint32_t memory_count, memory_capacity;
    /* lists of the choice */
    uint32_t *mapping, *region, *layer, *candidate;
    uint64_t *latency, *size;
    uint32_t mappings, regions;
};

/* --- candidates --- */

static bool same_layout(struct pim_map_layout a, struct pim_map_layout b)
{
    return a.order == b.order && a.group == b.group;
}

static bool same_layer(const struct nice_plan *plan, uint32_t a, uint32_t b)
{
    const struct flow_operation *x = &plan->flow.operation[a], *y = &plan->flow.operation[b];
    const struct pim_layer *layers = plan->flow.graph->layers;
    if (x->right != y->right || (x->right != FLOW_STORED && !same_layout(plan->layout[layers[a].input[1]],
                                                                         plan->layout[layers[b].input[1]])))
        return false;
    return memcmp(&x->conv, &y->conv, sizeof x->conv) == 0 && x->groups == y->groups &&
           same_layout(plan->layout[a], plan->layout[b]) &&
           same_layout(plan->layout[layers[a].input[0]], plan->layout[layers[b].input[0]]);
}

/* --- where layers lie --- */

/* Forgets the homes of a layer and of all that follow. */
static void forget_from(struct maker *maker, uint32_t layer)
{
    for (uint32_t i = layer; i < maker->plan->flow.count; i++) {
        free(maker->places.home[i].pieces);
        maker->places.home[i] = (struct home){0};
        maker->placed[i] = false;
    }
}

/* Products lie as they are decided, everything else where its inputs do. */
static const struct home *home_of(struct maker *maker, uint32_t layer)
{
    const struct pim_layer *graph = &maker->plan->flow.graph->layers[layer];
    if (maker->placed[layer])
        return &maker->places.home[layer];
    if (maker->plan->flow.operation[layer].kind == FLOW_PRODUCT) {
        results_of_product(&maker->places, layer);
    } else {
        for (uint32_t k = 0; k < graph->inputs; k++)
            (void)home_of(maker, graph->input[k]);
        (void)results_follow(&maker->places, layer);
    }
    maker->placed[layer] = true;
    return &maker->places.home[layer];
}

static bool same_home(const struct home *a, const struct home *b)
{
    if (a->everywhere != b->everywhere || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->pieces[i].node != b->pieces[i].node ||
            memcmp(a->pieces[i].place.box, b->pieces[i].place.box, sizeof a->pieces[i].place.box) != 0)
            return false;
    }
    return true;
}

static bool same_region(const struct nice_region *a, const struct nice_region *b)
{
    return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height;
}

static bool copy_home(const struct home *from, struct home *to)
{
    *to = *from;
    to->pieces = calloc((size_t)from->count + 1, sizeof *to->pieces);
    if (to->pieces && from->count > 0)
        memcpy(to->pieces, from->pieces, from->count * sizeof *to->pieces);
    return to->pieces != NULL;
}

static enum pim_status find_list(struct maker *maker, uint32_t layer, const struct nice_region *region,
                                 struct candidate_list *list, struct pim_error *error)
{
    static const struct home nowhere = {0};
    const struct nice_plan *plan = maker->plan;
    const uint32_t *tensor = plan->flow.graph->layers[layer].input;
    const struct home *inputs[] = {&nowhere, &nowhere};
    for (size_t k = 0; !plan->sequential && k < (plan->flow.operation[layer].right != FLOW_STORED ? 2 : 1);
         k++)
        inputs[k] = home_of(maker, tensor[k]);
    if (maker->places.program.status != PIM_OK)
        return maker->places.program.status;
    for (uint32_t i = 0; i < maker->memory_count; i++) {
        const struct memory *memory = &maker->memories[i];
        if (same_region(&memory->region, region) && same_layer(maker->plan, layer, memory->layer) &&
            same_home(&memory->input[0], inputs[0]) && same_home(&memory->input[1], inputs[1])) {
            *list = memory->list;
            return PIM_OK;
        }
    }
    if (maker->memory_count == maker->memory_capacity) {
        uint32_t capacity = maker->memory_capacity ? 2 * maker->memory_capacity : 64;
        struct memory *grown = realloc(maker->memories, capacity * sizeof *grown);
        if (!grown)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for candidates");
        maker->memories = grown;
        maker->memory_capacity = capacity;
    }
    struct memory memory = {.layer = layer, .region = *region};
    if (!copy_home(inputs[0], &memory.input[0]) || !copy_home(inputs[1], &memory.input[1])) {
        free(memory.input[0].pieces);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for candidates");
    }
    for (size_t k = 0; k < 2; k++)
        inputs[k] = inputs[k] == &nowhere ? NULL : inputs[k];
    if (candidates_find(plan, layer, region, inputs, list, error) != PIM_OK) {
        free(memory.input[0].pieces);
        free(memory.input[1].pieces);
        return error->status;
    }
    memory.list = *list;
    maker->memories[maker->memory_count++] = memory;
    return PIM_OK;
}

/* What is decided until the choice is made: what later layers see. The last candidate costs least. */
static const struct candidate *cheapest(const struct maker *maker, const struct option *option)
{
    assert(option->list.items != NULL && option->list.count > 0);
    return &option->list.items[maker->plan->sequential ? 0 : option->list.count - 1];
}

static void suppose(struct maker *maker, const struct option *option)
{
    const struct candidate *fastest = cheapest(maker, option);
    maker->plan->decision[option->layer] = (struct nice_decision){
        option->region, fastest->cut, fastest->sharing, fastest->cycles, fastest->stored};
    forget_from(maker, option->layer);
}

static enum pim_status add_option(struct maker *maker, uint32_t layer, struct nice_region region,
                                  struct pim_error *error)
{
    struct option option = {.layer = layer, .region = region};
    if (maker->option_count == maker->option_capacity) {
        uint32_t capacity = 2 * maker->option_capacity;
        struct option *grown = realloc(maker->options, capacity * sizeof *grown);
        if (!grown)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for candidates");
        maker->options = grown;
        maker->option_capacity = capacity;
    }
    if (find_list(maker, layer, &region, &option.list, error) != PIM_OK)
        return error->status;
    maker->options[maker->option_count++] = option;
    suppose(maker, &option);
    return PIM_OK;
}

static enum pim_status add_branch(struct maker *maker, uint32_t branch, struct nice_region region,
                                  struct pim_error *error)
{
    const struct pim_segments *segments = &maker->plan->flow.segments;
    for (uint32_t i = segments->first[branch]; i < segments->first[branch + 1]; i++) {
        if (add_option(maker, segments->layers[i], region, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

static void end_region(struct maker *maker)
{
    maker->layer[++maker->regions] = maker->option_count;
}

static void end_mapping(struct maker *maker)
{
    maker->region[++maker->mappings] = maker->regions;
}

static struct nice_region whole(const struct nice_plan *plan)
{
    return (struct nice_region){0, 0, plan->hardware->width, plan->hardware->height};
}

/* Branches side by side on `count` regions, as level as slicing trees allow. */
static enum pim_status add_parallel(struct maker *maker, uint32_t segment, uint32_t count,
                                    struct pim_error *error)
{
    const struct nice_plan *plan = maker->plan;
    const struct pim_segments *segments = &plan->flow.segments;
    uint32_t first = segments->branch[segment], branches = segments->branch[segment + 1] - first;
    uint64_t works[PIM_SLICING_PARTS] = {0};
    const struct pim_grid grid = {.width = plan->hardware->width, .height = plan->hardware->height};
    struct pim_slicing slicing;
    for (uint32_t b = 0; b < branches; b++) {
        for (uint32_t i = segments->first[first + b]; i < segments->first[first + b + 1]; i++)
            works[b] += plan->flow.graph->layers[segments->layers[i]].macs >> 10;
    }
    if (pim_slice(&grid, works, branches, count, &slicing, error) != PIM_OK)
        return error->status;
    for (uint32_t r = 0; r < slicing.regions; r++) {
        struct nice_region region = {slicing.region[r].x, slicing.region[r].y, slicing.region[r].width,
                                     slicing.region[r].height};
        for (uint32_t b = 0; b < branches; b++) {
            if (slicing.region[r].parts >> b & 1 && add_branch(maker, first + b, region, error) != PIM_OK)
                return error->status;
        }
        end_region(maker);
    }
    end_mapping(maker);
    return PIM_OK;
}

/* Only cycles count: the slowest of regions side by side decides, else all of them do. */
static bool side_by_side(const struct nice_plan *plan)
{
    return plan->weights.energy == 0;
}

/* What the cycles of a layer on one of several regions add to the sum: all of them together about as much
 * as the slowest region costs, as regions are level. */
static uint64_t candidate_cost(const struct maker *maker, const struct candidate *candidate, uint32_t regions)
{
    const struct nice_weights *weights = &maker->plan->weights;
    uint64_t cycles = weights->cycles * candidate->cycles;
    return side_by_side(maker->plan) ? candidate->cost : candidate->cost - cycles + cycles / regions;
}

/* The mapping of a segment that costs least, each layer with its cheapest candidate. */
static void suppose_fastest(struct maker *maker, uint32_t segment)
{
    uint64_t least = UINT64_MAX;
    uint32_t best = maker->mapping[segment];
    for (uint32_t m = maker->mapping[segment]; m < maker->mapping[segment + 1]; m++) {
        uint64_t slowest = 0, sum = 0;
        for (uint32_t r = maker->region[m]; r < maker->region[m + 1]; r++) {
            uint64_t cost = 0;
            for (uint32_t o = maker->layer[r]; o < maker->layer[r + 1]; o++) {
                suppose(maker, &maker->options[o]);
                cost += candidate_cost(maker, cheapest(maker, &maker->options[o]),
                                       maker->region[m + 1] - maker->region[m]);
            }
            slowest = cost > slowest ? cost : slowest;
            sum += cost;
        }
        if ((side_by_side(maker->plan) ? slowest : sum) < least) {
            least = side_by_side(maker->plan) ? slowest : sum;
            best = m;
        }
    }
    for (uint32_t o = maker->layer[maker->region[best]]; o < maker->layer[maker->region[best + 1]]; o++)
        suppose(maker, &maker->options[o]);
}

static enum pim_status add_segment(struct maker *maker, uint32_t segment, struct pim_error *error)
{
    const struct pim_segments *segments = &maker->plan->flow.segments;
    uint32_t first = segments->branch[segment], branches = segments->branch[segment + 1] - first;
    uint32_t nodes = maker->plan->hardware->width * maker->plan->hardware->height;
    for (uint32_t b = 0; b < branches; b++) {
        if (add_branch(maker, first + b, whole(maker->plan), error) != PIM_OK)
            return error->status;
    }
    end_region(maker);
    end_mapping(maker);
    bool parallel = !maker->plan->sequential && !maker->plan->serial && branches <= PIM_SLICING_PARTS;
    for (uint32_t count = 2; parallel && count <= branches && count <= nodes; count++) {
        if (add_parallel(maker, segment, count, error) != PIM_OK)
            return error->status;
    }
    maker->mapping[segment + 1] = maker->mappings;
    suppose_fastest(maker, segment);
    return PIM_OK;
}

/* --- choice --- */

static void take(struct maker *maker, const struct pim_choice *choice)
{
    struct nice_plan *plan = maker->plan;
    plan->cost = choice->latency;
    plan->front_points = choice->front_points;
    plan->parallel_segments = 0;
    for (uint32_t s = 0; s < plan->flow.segments.segment_count; s++) {
        uint32_t mapping = maker->mapping[s] + choice->mapping[s];
        plan->parallel_segments += choice->mapping[s] > 0;
        for (uint32_t o = maker->layer[maker->region[mapping]]; o < maker->layer[maker->region[mapping + 1]];
             o++) {
            const struct option *option = &maker->options[o];
            const struct candidate *candidate = &option->list.items[choice->candidate[o]];
            plan->decision[option->layer] = (struct nice_decision){.region = option->region,
                                                                   .cut = candidate->cut,
                                                                   .sharing = candidate->sharing,
                                                                   .cycles = candidate->cycles,
                                                                   .stored = candidate->stored};
        }
    }
    plan->stored = nice_plan_stored(plan); /* to the byte, whatever unit the choice counted in */
}

/* Sizes count in units, rounded up. */
static enum pim_status choose_in(struct maker *maker, uint64_t unit, struct pim_error *error)
{
    struct nice_plan *plan = maker->plan;
    size_t candidates = 0;
    for (uint32_t o = 0; o < maker->option_count; o++)
        candidates += maker->options[o].list.count;
    free(maker->candidate);
    free(maker->latency);
    free(maker->size);
    maker->candidate = calloc((size_t)maker->option_count + 1, sizeof *maker->candidate);
    maker->latency = calloc(candidates + 1, sizeof *maker->latency);
    maker->size = calloc(candidates + 1, sizeof *maker->size);
    if (!maker->candidate || !maker->latency || !maker->size)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for candidates");
    uint32_t mapping = 0;
    candidates = 0;
    for (uint32_t o = 0; o < maker->option_count; o++) {
        const struct candidate_list *list = &maker->options[o].list;
        while (o >= maker->layer[maker->region[mapping + 1]])
            mapping++;
        uint32_t regions = maker->region[mapping + 1] - maker->region[mapping];
        for (uint32_t c = 0; c < list->count; c++) {
            maker->latency[candidates] = candidate_cost(maker, &list->items[c], regions);
            maker->size[candidates++] = (list->items[c].stored + unit - 1) / unit * unit;
        }
        maker->candidate[o + 1] = (uint32_t)candidates;
    }
    const struct pim_selection selection = {plan->flow.segments.segment_count,
                                            maker->mapping,
                                            maker->region,
                                            maker->layer,
                                            maker->candidate,
                                            maker->latency,
                                            maker->size,
                                            !side_by_side(plan)};
    struct pim_choice choice;
    enum pim_status status = pim_select(&selection, plan->capacity, &choice, error);
    plan->unjoinable = status == PIM_BAD_INPUT;
    plan->bound = unit == 1 ? choice.bound : plan->bound;
    if (status != PIM_OK)
        return status;
    if (choice.feasible)
        take(maker, &choice);
    else
        status = pim_fail(error, PIM_BAD_INPUT,
                          "the weights do not fit: a node needs %" PRIu64 " bytes at least and has %" PRIu64
                          " for weights, %" PRIu64 " too few",
                          choice.least_capacity, plan->capacity, choice.least_capacity - plan->capacity);
    pim_choice_terminate(&choice);
    return status;
}

/* To the byte, and where the fronts get too large for that to a 4096th of the capacity. */
static enum pim_status choose(struct maker *maker, struct pim_error *error)
{
    enum { COARSE = 4096 };
    maker->plan->rounded = false;
    enum pim_status status = choose_in(maker, 1, error);
    if (status == PIM_OK || !maker->plan->unjoinable)
        return status;
    maker->plan->rounded = true;
    return choose_in(maker, maker->plan->capacity / COARSE + 1, error);
}

/* --- the baseline --- */

/* Shares the weights of the layer that holds most of them by more nodes until all fit. */
static enum pim_status share_until_fit(struct maker *maker, struct pim_error *error)
{
    struct nice_plan *plan = maker->plan;
    uint32_t *taken = calloc((size_t)maker->option_count + 1, sizeof *taken);
    if (!taken)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for candidates");
    for (;;) {
        uint32_t most = UINT32_MAX;
        plan->stored = plan->cost = 0;
        for (uint32_t o = 0; o < maker->option_count; o++) {
            const struct option *option = &maker->options[o];
            const struct candidate *candidate = &option->list.items[taken[o]];
            plan->stored += candidate->stored;
            plan->cost += candidate->cost;
            plan->decision[option->layer] = (struct nice_decision){
                option->region, candidate->cut, candidate->sharing, candidate->cycles, candidate->stored};
            if (taken[o] + 1 < option->list.count &&
                (most == UINT32_MAX ||
                 candidate->stored > maker->options[most].list.items[taken[most]].stored))
                most = o;
        }
        if (plan->stored <= plan->capacity || most == UINT32_MAX)
            break;
        taken[most]++;
    }
    free(taken);
    if (plan->stored > plan->capacity)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the weights do not fit: a node needs %" PRIu64 " bytes at least and has %" PRIu64
                        " for weights, %" PRIu64 " too few",
                        plan->stored, plan->capacity, plan->stored - plan->capacity);
    return PIM_OK;
}

static void release(struct maker *maker)
{
    for (uint32_t i = 0; i < maker->memory_count; i++) {
        free(maker->memories[i].list.items);
        free(maker->memories[i].input[0].pieces);
        free(maker->memories[i].input[1].pieces);
    }
    for (uint32_t i = 0; maker->places.home && i < maker->plan->flow.count; i++)
        free(maker->places.home[i].pieces);
    free(maker->places.home);
    free(maker->placed);
    program_terminate(&maker->places.program);
    free(maker->memories);
    free(maker->options);
    free(maker->mapping);
    free(maker->region);
    free(maker->layer);
    free(maker->candidate);
    free(maker->latency);
    free(maker->size);
}

enum pim_status nice_decide(struct nice_plan *plan, struct pim_error *error)
{
    enum { FIRST_OPTIONS = 256 };
    struct maker maker = {.plan = plan, .option_capacity = FIRST_OPTIONS};
    size_t segments = plan->flow.segments.segment_count, most = segments * (PIM_SLICING_PARTS + 1);
    maker.options = calloc(FIRST_OPTIONS, sizeof *maker.options);
    maker.mapping = calloc(segments + 1, sizeof *maker.mapping);
    maker.region = calloc(most + 1, sizeof *maker.region);
    maker.layer = calloc(most * PIM_SLICING_PARTS + 1, sizeof *maker.layer);
    enum pim_status status = PIM_OK;
    maker.places.plan = plan;
    maker.places.home = calloc((size_t)plan->flow.count + 1, sizeof *maker.places.home);
    maker.placed = calloc((size_t)plan->flow.count + 1, sizeof *maker.placed);
    bool ready = program_initialize(&maker.places.program, plan, NULL, error);
    if (!maker.options || !maker.mapping || !maker.region || !maker.layer || !maker.places.home ||
        !maker.placed || !ready)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the segments");
    for (uint32_t s = 0; s < segments && status == PIM_OK; s++)
        status = add_segment(&maker, s, error);
    if (status == PIM_OK)
        status = plan->sequential ? share_until_fit(&maker, error) : choose(&maker, error);
    release(&maker);
    return status;
}
