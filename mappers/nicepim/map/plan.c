#include "mappers/nicepim/map/plan.h"

#include "mappers/nicepim/map/candidates.h"
#include "mappers/nicepim/space/select.h"
#include "mappers/place/slicing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One entry of the lists of the choice: a layer on a region, with its candidates. */
struct option {
    uint32_t layer;
    struct nice_region region;
    struct candidate_list list; /* borrowed from the memory of lists */
};

/* Lists that were found, by layer shape, region shape and layouts. */
struct memory {
    uint32_t layer, height, width;
    struct candidate_list list;
};

struct maker {
    struct nice_plan *plan;
    struct option *options;
    uint32_t option_count, option_capacity;
    struct memory *memories;
    uint32_t memory_count, memory_capacity;
    /* lists of the choice */
    uint32_t *mapping, *region, *layer, *candidate;
    uint64_t *latency, *size;
    uint32_t mappings, regions;
};

bool nice_tile_product(const struct nice_plan *plan, uint32_t layer, const struct pim_part *part,
                       uint32_t cuts_of_c, struct tile_product *product)
{
    const struct flow_operation *operation = &plan->flow.operation[layer];
    const struct pim_conv *conv = &operation->conv;
    uint64_t macs = pim_part_macs(conv, part);
    if (macs == 0)
        return false;
    uint64_t outputs = part->loop[PIM_LOOP_K].to - part->loop[PIM_LOOP_K].from;
    uint64_t channels = part->loop[PIM_LOOP_C].to - part->loop[PIM_LOOP_C].from;
    uint64_t k = channels * conv->kernel_height * conv->kernel_width;
    uint64_t own = operation->dimension[1] / (operation->groups ? operation->groups : 1);
    uint64_t n = operation->groups > 1 && own < outputs ? own : outputs;
    *product = (struct tile_product){.m = macs / k / outputs,
                                     .n = n,
                                     .k = k,
                                     .count = (uint32_t)((outputs + n - 1) / n),
                                     .channels = (uint32_t)channels,
                                     .kernel_width = conv->kernel_width,
                                     .point = conv->kernel_height * conv->kernel_width == 1 &&
                                              conv->stride_height * conv->stride_width == 1,
                                     .sums = cuts_of_c > 1};
    if (plan->layout) {
        product->input = plan->layout[plan->flow.graph->layers[layer].input[0]];
        product->output = plan->layout[layer];
    }
    return true;
}

/* --- candidates --- */

static bool same_layout(struct pim_map_layout a, struct pim_map_layout b)
{
    return a.order == b.order && a.group == b.group;
}

static bool same_layer(const struct nice_plan *plan, uint32_t a, uint32_t b)
{
    const struct flow_operation *x = &plan->flow.operation[a], *y = &plan->flow.operation[b];
    const struct pim_layer *layers = plan->flow.graph->layers;
    return memcmp(&x->conv, &y->conv, sizeof x->conv) == 0 && x->groups == y->groups &&
           same_layout(plan->layout[a], plan->layout[b]) &&
           same_layout(plan->layout[layers[a].input[0]], plan->layout[layers[b].input[0]]);
}

static enum pim_status find_list(struct maker *maker, uint32_t layer, uint32_t height, uint32_t width,
                                 struct candidate_list *list, struct pim_error *error)
{
    for (uint32_t i = 0; i < maker->memory_count; i++) {
        const struct memory *memory = &maker->memories[i];
        if (memory->height == height && memory->width == width &&
            same_layer(maker->plan, layer, memory->layer)) {
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
    if (candidates_find(maker->plan, layer, height, width, list, error) != PIM_OK)
        return error->status;
    maker->memories[maker->memory_count++] = (struct memory){layer, height, width, *list};
    return PIM_OK;
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
    if (find_list(maker, layer, region.height, region.width, &option.list, error) != PIM_OK)
        return error->status;
    maker->options[maker->option_count++] = option;
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
    return PIM_OK;
}

/* --- choice --- */

/* Bytes of the fullest region of a mapping, to the byte whatever unit the choice counted in. */
static uint64_t fullest_region(const struct maker *maker, const struct pim_choice *choice, uint32_t mapping)
{
    uint64_t fullest = 0;
    for (uint32_t r = maker->region[mapping]; r < maker->region[mapping + 1]; r++) {
        uint64_t stored = 0;
        for (uint32_t o = maker->layer[r]; o < maker->layer[r + 1]; o++)
            stored += maker->options[o].list.items[choice->candidate[o]].stored;
        fullest = stored > fullest ? stored : fullest;
    }
    return fullest;
}

static void take(struct maker *maker, const struct pim_choice *choice)
{
    struct nice_plan *plan = maker->plan;
    plan->cycles = choice->latency;
    plan->stored = 0;
    plan->front_points = choice->front_points;
    plan->parallel_segments = 0;
    for (uint32_t s = 0; s < plan->flow.segments.segment_count; s++) {
        uint32_t mapping = maker->mapping[s] + choice->mapping[s];
        plan->stored += fullest_region(maker, choice, mapping);
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
    candidates = 0;
    for (uint32_t o = 0; o < maker->option_count; o++) {
        const struct candidate_list *list = &maker->options[o].list;
        for (uint32_t c = 0; c < list->count; c++) {
            maker->latency[candidates] = list->items[c].cycles;
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
                                            maker->size};
    struct pim_choice choice;
    enum pim_status status = pim_select(&selection, plan->capacity, &choice, error);
    plan->unjoinable = status == PIM_BAD_INPUT;
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
    enum pim_status status = choose_in(maker, 1, error);
    if (status == PIM_OK || !maker->plan->unjoinable)
        return status;
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
        plan->stored = plan->cycles = 0;
        for (uint32_t o = 0; o < maker->option_count; o++) {
            const struct option *option = &maker->options[o];
            const struct candidate *candidate = &option->list.items[taken[o]];
            plan->stored += candidate->stored;
            plan->cycles += candidate->cycles;
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
    for (uint32_t i = 0; i < maker->memory_count; i++)
        free(maker->memories[i].list.items);
    free(maker->memories);
    free(maker->options);
    free(maker->mapping);
    free(maker->region);
    free(maker->layer);
    free(maker->candidate);
    free(maker->latency);
    free(maker->size);
}

static enum pim_status decide(struct nice_plan *plan, struct pim_error *error)
{
    enum { FIRST_OPTIONS = 256 };
    struct maker maker = {.plan = plan, .option_capacity = FIRST_OPTIONS};
    size_t segments = plan->flow.segments.segment_count, most = segments * (PIM_SLICING_PARTS + 1);
    maker.options = calloc(FIRST_OPTIONS, sizeof *maker.options);
    maker.mapping = calloc(segments + 1, sizeof *maker.mapping);
    maker.region = calloc(most + 1, sizeof *maker.region);
    maker.layer = calloc(most * PIM_SLICING_PARTS + 1, sizeof *maker.layer);
    enum pim_status status = PIM_OK;
    if (!maker.options || !maker.mapping || !maker.region || !maker.layer)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the segments");
    for (uint32_t s = 0; s < segments && status == PIM_OK; s++)
        status = add_segment(&maker, s, error);
    if (status == PIM_OK)
        status = plan->sequential ? share_until_fit(&maker, error) : choose(&maker, error);
    release(&maker);
    return status;
}

/* --- layouts --- */

/* Tensors that are tied by operations which do not change the layout: the smallest of them. */
static uint32_t class_of(const uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

static void tie_classes(const struct flow *flow, uint32_t *parent)
{
    for (uint32_t i = 0; i < flow->count; i++) {
        parent[i] = i;
        for (uint32_t k = 0; k < flow->graph->layers[i].inputs && flow->operation[i].kind != FLOW_PRODUCT;
             k++) {
            uint32_t a = class_of(parent, i), b = class_of(parent, flow->graph->layers[i].input[k]);
            parent[a > b ? a : b] = a > b ? b : a;
        }
    }
}

static uint64_t product_cycles(const struct nice_plan *plan, uint32_t layer, struct pim_map_layout input,
                               struct pim_map_layout output)
{
    const struct nice_decision *decision = &plan->decision[layer];
    const struct pim_cut *cut = &decision->cut;
    struct pim_part part;
    struct tile_product product;
    struct tiling tiling;
    pim_cut_part(&plan->flow.operation[layer].conv, cut, 0, 0, &part);
    if (!nice_tile_product(plan, layer, &part, cut->high[PIM_LOOP_C] * cut->wide[PIM_LOOP_C], &product))
        return 0;
    product.input = input;
    product.output = output;
    return tile_choose(plan->hardware, &product, &tiling) ? tiling.total : 0;
}

/* The layout of each class for which its writers and readers together take least. */
static void choose_layouts(struct nice_plan *plan, const uint32_t *parent, struct pim_map_layout *layout)
{
    const struct flow *flow = &plan->flow;
    uint32_t groups = plan->hardware->port_bytes / FLOW_BYTES;
    for (uint32_t class = 0; class < flow->count; class ++) {
        if (parent[class] != class)
            continue;
        uint64_t least = UINT64_MAX;
        for (uint32_t g = 0; g <= groups; g = g ? 2 * g : 1) {
            struct pim_map_layout trial = {g == 0 ? PIM_LAYOUT_BHWC : PIM_LAYOUT_BCHW, g == 0 ? 1 : g};
            const struct pim_map_layout none = {0};
            uint64_t cycles = 0;
            for (uint32_t i = 0; i < flow->count; i++) {
                if (flow->operation[i].kind != FLOW_PRODUCT)
                    continue;
                if (class_of(parent, i) == class)
                    cycles += product_cycles(plan, i, none, trial);
                if (class_of(parent, flow->graph->layers[i].input[0]) == class)
                    cycles += product_cycles(plan, i, trial, none);
            }
            if (cycles >= least)
                continue;
            least = cycles;
            layout[class] = trial;
        }
    }
    for (uint32_t i = 0; i < flow->count; i++)
        layout[i] = layout[class_of(parent, i)];
}

/* --- alternation --- */

/* The sum over segments with the layouts there are: what the rounds are compared by. */
static uint64_t value(const struct nice_plan *plan)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < plan->flow.count; i++) {
        if (plan->flow.operation[i].kind != FLOW_PRODUCT)
            continue;
        const struct pim_map_layout none = {0};
        uint64_t blind = product_cycles(plan, i, none, none);
        uint64_t seen =
            product_cycles(plan, i, plan->layout[plan->flow.graph->layers[i].input[0]], plan->layout[i]);
        sum += seen > blind ? seen - blind : 0;
    }
    return sum;
}

static enum pim_status alternate(struct nice_plan *plan, uint32_t *parent, struct pim_map_layout *layout,
                                 struct nice_decision *kept, struct pim_map_layout *kept_layout,
                                 struct pim_error *error)
{
    size_t count = plan->flow.count;
    uint64_t least = UINT64_MAX, kept_cycles = 0, kept_stored = 0;
    tie_classes(&plan->flow, parent);
    for (plan->rounds = 0; plan->rounds < NICE_ROUNDS; plan->rounds++) {
        if (decide(plan, error) != PIM_OK)
            return error->status;
        uint64_t blind = plan->rounds == 0;
        choose_layouts(plan, parent, layout);
        bool same = memcmp(layout, plan->layout, count * sizeof *layout) == 0;
        memcpy(plan->layout, layout, count * sizeof *layout);
        /* In the first round layouts were not seen: what they add is added. */
        uint64_t cycles = plan->cycles + (blind ? value(plan) : 0);
        if (cycles < least) {
            least = cycles;
            kept_cycles = cycles;
            kept_stored = plan->stored;
            memcpy(kept, plan->decision, count * sizeof *kept);
            memcpy(kept_layout, plan->layout, count * sizeof *kept_layout);
        }
        if (same)
            break;
    }
    memcpy(plan->decision, kept, count * sizeof *kept);
    memcpy(plan->layout, kept_layout, count * sizeof *kept_layout);
    plan->cycles = kept_cycles;
    plan->stored = kept_stored;
    return PIM_OK;
}

/* One layout for all maps: the best of three for the sum of all products. */
static enum pim_status make_sequential(struct nice_plan *plan, struct pim_error *error)
{
    static const struct pim_map_layout trials[] = {
        {PIM_LAYOUT_BCHW, 1}, {PIM_LAYOUT_BHWC, 1}, {PIM_LAYOUT_BCHW, 8}};
    uint64_t least = UINT64_MAX;
    struct pim_map_layout best = trials[0];
    if (decide(plan, error) != PIM_OK)
        return error->status;
    for (size_t t = 0; t < sizeof trials / sizeof trials[0]; t++) {
        uint64_t cycles = 0;
        for (uint32_t i = 0; i < plan->flow.count; i++)
            cycles += plan->flow.operation[i].kind == FLOW_PRODUCT
                          ? product_cycles(plan, i, trials[t], trials[t])
                          : 0;
        if (cycles < least) {
            least = cycles;
            best = trials[t];
        }
    }
    for (uint32_t i = 0; i < plan->flow.count; i++)
        plan->layout[i] = best;
    plan->cycles = least;
    plan->rounds = 1;
    return PIM_OK;
}

enum pim_status nice_plan_make(const struct pim_network *network,
                               const struct pim_estimate_hardware *hardware, uint32_t batch,
                               uint64_t capacity, enum nice_method method, struct nice_plan *plan,
                               struct pim_error *error)
{
    *plan = (struct nice_plan){.hardware = hardware,
                               .capacity = capacity,
                               .serial = method == NICE_SERIAL,
                               .sequential = method == NICE_SEQUENTIAL};
    if (flow_build(network, batch, &plan->flow, error) != PIM_OK)
        return error->status;
    size_t count = plan->flow.count + (size_t)1;
    plan->decision = calloc(count, sizeof *plan->decision);
    plan->layout = calloc(count, sizeof *plan->layout);
    uint32_t *parent = calloc(count, sizeof *parent);
    struct pim_map_layout *layout = calloc(count, sizeof *layout),
                          *kept_layout = calloc(count, sizeof *kept_layout);
    struct nice_decision *kept = calloc(count, sizeof *kept);
    enum pim_status status = PIM_OK;
    if (!plan->decision || !plan->layout || !parent || !layout || !kept_layout || !kept)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the plan");
    if (status == PIM_OK)
        status = plan->sequential ? make_sequential(plan, error)
                                  : alternate(plan, parent, layout, kept, kept_layout, error);
    free(parent);
    free(layout);
    free(kept_layout);
    free(kept);
    if (status != PIM_OK)
        nice_plan_terminate(plan);
    return status;
}

void nice_plan_terminate(struct nice_plan *plan)
{
    flow_terminate(&plan->flow);
    free(plan->decision);
    free(plan->layout);
    *plan = (struct nice_plan){0};
}
