#include "mappers/nicepim/map/make_plan.h"

#include "mappers/nicepim/ddam/divide.h"
#include "mappers/nicepim/map/choose.h"
#include "mappers/nicepim/map/program/product.h"
#include "mappers/nicepim/map/program/vectors.h"
#include "mappers/nicepim/map/results.h"
#include "sim/integer.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MOST = 3 };

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

static uint64_t product_cost(const struct nice_plan *plan, uint32_t layer,
                             const struct pim_map_layout layouts[3])
{
    const struct nice_decision *decision = &plan->decision[layer];
    struct pim_part part;
    struct tile_product product;
    struct tiling tiling;
    pim_cut_part(&plan->flow.operation[layer].conv, &decision->cut, 0, 0, &part);
    if (!nice_tile_product_in(plan, layer, &decision->cut, &part, layouts, &product))
        return 0;
    if (!nice_tiling(plan, &product, &tiling))
        return 0;
    /* Cycles are those of one part, energy is that of all. */
    double parts = flow_parts_like(&plan->flow.operation[layer].conv, &part);
    return nice_cost(&plan->weights, tiling.total, tiling.pj * parts);
}

static bool reads_class(const struct nice_plan *plan, const uint32_t *parent, uint32_t layer, uint32_t class)
{
    const struct pim_layer *graph = &plan->flow.graph->layers[layer];
    for (uint32_t k = 0; k < graph->inputs; k++) {
        if (class_of(parent, graph->input[k]) == class)
            return true;
    }
    return false;
}

/* What it costs to bring a layer its inputs from where they lie, in the layouts that they have: packing,
 * messages, unpacking, and for an operation on the vector unit its loads. Nothing is written. */
static uint64_t bring_cost(struct emitter *places, uint32_t layer)
{
    uint64_t parts[PIM_ESTIMATE_PARTS] = {0}, loads = 0;
    const struct nice_plan *plan = places->plan;
    const struct pim_estimate_actions nothing = {0};
    places->program.actions = nothing;
    program_rewind(&places->program); /* the same whatever was tried before */
    enum flow_kind kind = places->plan->flow.operation[layer].kind;
    if (kind == FLOW_PRODUCT) {
        struct product *product = product_create(places, layer);
        if (product)
            product_share_inputs(places, product, false, parts);
        product_destroy(product);
    } else if (kind == FLOW_VECTOR || kind == FLOW_FLATTEN) {
        struct operand *operands = vector_bring(places, layer, &parts[PIM_ESTIMATE_TRANSFER]);
        loads = operands ? vector_loads(places, layer, operands) : 0;
        vector_release(places, layer, operands);
    }
    program_give_back(&places->program);
    return nice_cost(&plan->weights, parts[PIM_ESTIMATE_TRANSFER] + loads,
                     nice_actions_pj(plan->hardware, &places->program.actions));
}

/* What a product takes with this class alone in a layout, in each of the places that it has there. */
static uint64_t product_in_class(const struct nice_plan *plan, const uint32_t *parent, uint32_t layer,
                                 uint32_t class, struct pim_map_layout trial)
{
    const struct pim_layer *graph = &plan->flow.graph->layers[layer];
    const uint32_t tensors[] = {graph->input[0], layer, graph->inputs > 1 ? graph->input[1] : layer};
    uint64_t cost = 0;
    for (size_t i = 0; i < (graph->inputs > 1 ? 3 : 2); i++) {
        struct pim_map_layout layouts[3] = {{0}};
        layouts[i] = trial;
        if (class_of(parent, tensors[i]) == class)
            cost += product_cost(plan, layer, layouts);
    }
    return cost;
}

static void lay_out_class(struct emitter *places, const uint32_t *parent, uint32_t class,
                          struct pim_map_layout trial)
{
    const struct nice_plan *plan = places->plan;
    const struct flow *flow = &plan->flow;
    for (uint32_t i = class; i < flow->count; i++) {
        if (class_of(parent, i) != class)
            continue;
        plan->layout[i] = trial;
        for (uint32_t p = 0; p < places->home[i].count; p++)
            places->home[i].pieces[p].place.layout = trial;
    }
}

/* A class in a layout: its writers and readers; `least`, or more: not all of them were counted. What products
 * take is known soon, and what they are brought is not. */
static uint64_t class_cost(struct emitter *places, const uint32_t *parent, uint32_t class,
                           struct pim_map_layout trial, uint64_t least)
{
    const struct nice_plan *plan = places->plan;
    const struct flow *flow = &plan->flow;
    uint64_t cost = 0;
    lay_out_class(places, parent, class, trial);
    for (uint32_t i = class; i < flow->count && cost < least; i++) {
        if (flow->operation[i].kind == FLOW_PRODUCT)
            cost += product_in_class(plan, parent, i, class, trial);
    }
    for (uint32_t i = class; i < flow->count && cost < least && places->program.status == PIM_OK; i++) {
        if (reads_class(plan, parent, i, class))
            cost += bring_cost(places, i);
    }
    return cost;
}

static enum pim_status place_all(struct emitter *places, const struct nice_plan *plan,
                                 struct pim_error *error)
{
    places->plan = plan;
    places->home = calloc((size_t)plan->flow.count + 1, sizeof *places->home);
    if (!program_initialize(&places->program, plan, NULL, error) || !places->home)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the places of maps");
    places->program.rough = true;
    places->program.timed = plan->weights.energy == 0;
    for (uint32_t i = 0; i < plan->flow.count && places->program.status == PIM_OK; i++) {
        if (plan->flow.operation[i].kind == FLOW_PRODUCT)
            results_of_product(places, i);
        else
            (void)results_follow(places, i);
    }
    return places->program.status;
}

/* Layouts by number: BHWC, then BCHW with 1, 2, 4 .. channels together. */
static struct pim_map_layout layout_of(uint32_t number)
{
    return (struct pim_map_layout){number == 0 ? PIM_LAYOUT_BHWC : PIM_LAYOUT_BCHW,
                                   number == 0 ? 1 : 1u << (number - 1)};
}

/* The layout of least cost, of several the first. The one that the class has is looked at before all others:
 * mostly it stays, and others are soon seen to cost more. */
static struct pim_map_layout cheapest_layout(struct emitter *places, const uint32_t *parent, uint32_t class)
{
    const struct pim_map_layout present = places->plan->layout[class];
    const uint32_t groups = places->plan->hardware->port_bytes / FLOW_BYTES;
    uint64_t least = UINT64_MAX;
    uint32_t count = 1, best = UINT32_MAX, begin = 0;
    for (; count < 32 && layout_of(count).group <= groups; count++) {
        const struct pim_map_layout layout = layout_of(count);
        begin = layout.order == present.order && layout.group == present.group ? count : begin;
    }
    for (uint32_t turn = 0; turn < count; turn++) {
        const uint32_t number = turn == 0 ? begin : turn <= begin ? turn - 1 : turn;
        const uint64_t limit = number < best && least < UINT64_MAX ? least + 1 : least,
                       cost = class_cost(places, parent, class, layout_of(number), limit);
        if (cost >= limit)
            continue;
        least = cost;
        best = number;
    }
    return best == UINT32_MAX ? (struct pim_map_layout){0} : layout_of(best);
}

/* The layout of each class for which its writers and readers together take least, and what comes to them. */
static enum pim_status choose_layouts(struct nice_plan *plan, const uint32_t *parent, struct pim_error *error)
{
    struct emitter places = {0};
    enum pim_status status = place_all(&places, plan, error);
    for (uint32_t class = 0; class < plan->flow.count && status == PIM_OK; class ++) {
        if (parent[class] != class)
            continue;
        lay_out_class(&places, parent, class, cheapest_layout(&places, parent, class));
        status = places.program.status;
    }
    for (uint32_t i = 0; places.home && i < plan->flow.count; i++)
        free(places.home[i].pieces);
    free(places.home);
    free(places.moves);
    program_terminate(&places.program);
    return status;
}

/* --- alternation --- */

/* The sum over segments with the layouts there are: what the rounds are compared by. */
static uint64_t value(const struct nice_plan *plan)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < plan->flow.count; i++) {
        if (plan->flow.operation[i].kind != FLOW_PRODUCT)
            continue;
        const struct pim_map_layout none[3] = {{0}};
        struct pim_map_layout layouts[3];
        nice_layouts_of(plan, i, layouts);
        uint64_t blind = product_cost(plan, i, none), seen = product_cost(plan, i, layouts);
        sum += seen > blind ? seen - blind : 0;
    }
    return sum;
}

static enum pim_status alternate(struct nice_plan *plan, uint32_t *parent, struct pim_map_layout *layout,
                                 struct nice_decision *kept, struct pim_map_layout *kept_layout,
                                 struct pim_error *error)
{
    size_t count = plan->flow.count;
    uint64_t least = UINT64_MAX, kept_stored = 0;
    tie_classes(&plan->flow, parent);
    for (plan->rounds = 0; plan->rounds < ROUNDS_MOST; plan->rounds++) {
        plan->cut_short = plan->rounds > 0 && nice_stop_asked(&plan->stop);
        if (plan->cut_short)
            break;
        if (nice_decide(plan, error) != PIM_OK)
            return error->status;
        uint64_t blind = plan->rounds == 0;
        memcpy(layout, plan->layout, count * sizeof *layout);
        if (choose_layouts(plan, parent, error) != PIM_OK)
            return error->status;
        bool same = memcmp(layout, plan->layout, count * sizeof *layout) == 0;
        /* In the first round layouts were not seen: what they add is added. */
        uint64_t cost = plan->cost + (blind ? value(plan) : 0);
        if (cost < least) {
            least = cost;
            kept_stored = plan->stored;
            memcpy(kept, plan->decision, count * sizeof *kept);
            memcpy(kept_layout, plan->layout, count * sizeof *kept_layout);
        }
        if (same)
            break;
    }
    memcpy(plan->decision, kept, count * sizeof *kept);
    memcpy(plan->layout, kept_layout, count * sizeof *kept_layout);
    plan->cost = least;
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
    if ((plan->part ? ddam_divide(plan, error) : nice_decide(plan, error)) != PIM_OK)
        return error->status;
    uint64_t slowest = plan->cost;
    for (size_t t = 0; t < sizeof trials / sizeof trials[0]; t++) {
        const struct pim_map_layout layouts[] = {trials[t], trials[t], trials[t]};
        uint64_t cost = 0;
        for (uint32_t i = 0; i < plan->flow.count; i++)
            cost += plan->flow.operation[i].kind == FLOW_PRODUCT ? product_cost(plan, i, layouts) : 0;
        if (cost < least) {
            least = cost;
            best = trials[t];
        }
    }
    for (uint32_t i = 0; i < plan->flow.count; i++)
        plan->layout[i] = best;
    plan->cost = plan->part ? slowest : least;
    plan->rounds = 1;
    return PIM_OK;
}

/* --- rules of thumb --- */

/* False: groups would be cut, or no tile fits. */
static bool cut_by_rule(struct nice_plan *plan, uint32_t layer, enum nice_rule rule)
{
    const struct flow_operation *operation = &plan->flow.operation[layer];
    const uint32_t height = plan->hardware->height, width = plan->hardware->width;
    const bool rows = rule == NICE_BY_ROWS && operation->conv.length[PIM_LOOP_P] > 1;
    struct nice_decision *decision = &plan->decision[layer];
    struct pim_part part;
    struct tile_product product;
    struct tiling tiling;
    *decision = (struct nice_decision){.region = {.width = width, .height = height}, .sharing = 1};
    for (size_t loop = 0; loop < PIM_LOOPS; loop++) {
        const bool cut = loop == (rows ? PIM_LOOP_P : PIM_LOOP_K);
        decision->cut.high[loop] = cut ? height : 1;
        decision->cut.wide[loop] = cut ? width : 1;
        decision->cut.order[loop] = (uint8_t)loop;
    }
    if (!flow_groups_are_whole(operation, rows ? 1 : height * width))
        return false;
    pim_cut_part(&operation->conv, &decision->cut, 0, 0, &part);
    const uint64_t port = plan->hardware->port_bytes,
                   bytes = pim_part_weights(&operation->conv, &part) * FLOW_BYTES;
    decision->stored = operation->right == FLOW_STORED ? pim_divide_up(bytes, port) * port : 0;
    if (!nice_tile_product(plan, layer, &decision->cut, &part, &product) ||
        !nice_tiling(plan, &product, &tiling))
        return false;
    decision->cycles = tiling.total;
    return true;
}

static enum pim_status make_by_rule(struct nice_plan *plan, const struct nice_request *request,
                                    uint32_t *parent, struct pim_error *error)
{
    plan->cost = 0;
    plan->by_rule = true;
    for (uint32_t i = 0; i < plan->flow.count; i++)
        plan->layout[i] = (struct pim_map_layout){PIM_LAYOUT_BHWC, 1};
    for (uint32_t i = 0; i < plan->flow.count; i++) {
        if (plan->flow.operation[i].kind == FLOW_PRODUCT && !cut_by_rule(plan, i, request->rule))
            return pim_fail(error, PIM_BAD_INPUT, "layer %.80s cannot be cut by the rule",
                            plan->flow.graph->layers[i].name);
        plan->cost += plan->decision[i].cycles;
    }
    plan->stored = nice_plan_stored(plan);
    if (plan->stored > plan->capacity)
        return pim_fail(error, PIM_BAD_INPUT, "the weights do not fit where no nodes share them");
    if (!request->layouts)
        return PIM_OK;
    tie_classes(&plan->flow, parent);
    return choose_layouts(plan, parent, error);
}

/* --- plans --- */

/* The hardware with the nodes alone that work. */
static enum pim_status take_corner(const struct nice_request *request, struct nice_plan *plan,
                                   struct pim_error *error)
{
    if (request->width == 0)
        return PIM_OK;
    plan->corner = malloc(sizeof *plan->corner);
    if (!plan->corner)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the plan");
    *plan->corner = *request->hardware;
    plan->corner->width = request->width;
    plan->corner->height = request->height;
    plan->hardware = plan->corner;
    return PIM_OK;
}

enum pim_status nice_plan_make(const struct nice_request *request, struct nice_plan *plan,
                               struct pim_error *error)
{
    *plan = (struct nice_plan){.hardware = request->hardware,
                               .array = request->hardware,
                               .weights = request->weights,
                               .capacity = request->capacity,
                               .cycles = request->cycles,
                               .copy_limit = request->copy_limit,
                               .stop = request->stop,
                               .most_cycles = request->most_cycles,
                               .serial = request->method == NICE_SERIAL,
                               .sequential = request->method == NICE_SEQUENTIAL};
    bool pipeline = request->method == NICE_PIPELINE;
    plan->images = pipeline ? request->batch : 1;
    if (take_corner(request, plan, error) != PIM_OK)
        return error->status;
    if (flow_build(request->network, pipeline ? 1 : request->batch, &plan->flow, error) != PIM_OK) {
        nice_plan_terminate(plan);
        return error->status;
    }
    size_t count = plan->flow.count + (size_t)1;
    plan->decision = calloc(count, sizeof *plan->decision);
    plan->layout = calloc(count, sizeof *plan->layout);
    plan->own_tiles = request->tiles ? NULL : tile_memory_create();
    plan->tiles = request->tiles ? request->tiles : plan->own_tiles;
    plan->part = pipeline ? calloc(count, sizeof *plan->part) : NULL;
    uint32_t *parent = calloc(count, sizeof *parent);
    struct pim_map_layout *layout = calloc(count, sizeof *layout),
                          *kept_layout = calloc(count, sizeof *kept_layout);
    struct nice_decision *kept = calloc(count, sizeof *kept);
    enum pim_status status = PIM_OK;
    if (!plan->decision || !plan->layout || !plan->tiles || (pipeline && !plan->part) || !parent || !layout ||
        !kept_layout || !kept)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the plan");
    if (status == PIM_OK && request->rule != NICE_NO_RULE)
        status = make_by_rule(plan, request, parent, error);
    else if (status == PIM_OK)
        status = plan->sequential || pipeline ? make_sequential(plan, error)
                                              : alternate(plan, parent, layout, kept, kept_layout, error);
    free(parent);
    free(layout);
    free(kept_layout);
    free(kept);
    if (status != PIM_OK)
        nice_plan_terminate(plan);
    return status;
}
