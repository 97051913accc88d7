#include "mappers/nicepim/map/refine/refine.h"

#include "mappers/nicepim/map/candidates/candidates.h"
#include "mappers/nicepim/map/program/vectors.h"
#include "mappers/nicepim/map/results.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WINDOW = 16 }; /* operations that are looked at with a product */

/* From the first operation to the last. What is changed in a block stays or goes as a whole: so larger blocks
 * reach what no single change does, and smaller ones keep what is good in a large one that is not. */
struct pass {
    uint32_t nearest; /* cuts that are tried of each product */
    uint32_t blocks;  /* parts of the network after each of which the whole is estimated */
};

static const struct pass passes[] = {{6, 8}, {12, 16}};

struct refiner {
    struct nice_plan *plan;
    struct emitter places;        /* homes of all layers; nothing is written */
    uint64_t *top;                /* memory of each node that all homes take */
    bool *moved;                  /* whose home follows the decision that is looked at */
    uint32_t window[MOST_WINDOW]; /* that product, and what reads it */
    uint32_t window_count;
    struct nice_decision *kept; /* decisions before the present block */
};

static void release_home(struct refiner *refiner, uint32_t layer)
{
    struct home *home = &refiner->places.home[layer];
    free(home->pieces);
    *home = (struct home){0};
}

static void place(struct refiner *refiner, uint32_t layer)
{
    release_home(refiner, layer);
    if (refiner->plan->flow.operation[layer].kind == FLOW_PRODUCT)
        results_of_product(&refiner->places, layer);
    else
        (void)results_follow(&refiner->places, layer);
}

static void place_all(struct refiner *refiner)
{
    struct program *program = &refiner->places.program;
    memset(program->top, 0, program->nodes * sizeof *program->top);
    for (uint32_t i = 0; i < refiner->plan->flow.count && program->status == PIM_OK; i++)
        place(refiner, i);
    memcpy(refiner->top, program->top, program->nodes * sizeof *program->top);
}

/* Whether an operation that is no product lies where its input k does. */
static bool follows(const struct flow_operation *operation, uint32_t k)
{
    if (operation->kind == FLOW_PRODUCT || (operation->kind == FLOW_VECTOR && operation->reach >= FLOW_SLICE))
        return false;
    return k == 0 || operation->kind == FLOW_CONCAT;
}

/* A product, the operations that lie where it does, and all that read one of these. */
static void find_window(struct refiner *refiner, uint32_t layer)
{
    const struct flow *flow = &refiner->plan->flow;
    memset(refiner->moved, 0, flow->count * sizeof *refiner->moved);
    refiner->moved[layer] = true;
    refiner->window[0] = layer;
    refiner->window_count = 1;
    for (uint32_t i = layer + 1; i < flow->count && refiner->window_count < MOST_WINDOW; i++) {
        bool reads = false;
        for (uint32_t k = 0; k < flow->graph->layers[i].inputs; k++) {
            if (!refiner->moved[flow->graph->layers[i].input[k]])
                continue;
            reads = true;
            refiner->moved[i] = refiner->moved[i] || follows(&flow->operation[i], k);
        }
        if (reads)
            refiner->window[refiner->window_count++] = i;
    }
}

static void begin_window(struct refiner *refiner)
{
    struct program *program = &refiner->places.program;
    memcpy(program->top, refiner->top, program->nodes * sizeof *program->top);
    program_rewind(program);
    program->cycles = 0;
}

/* Cycles of the window by itself, as its programs are estimated; from `least` on they are not counted. */
static uint64_t window_cycles(struct refiner *refiner, uint64_t least)
{
    struct emitter *places = &refiner->places;
    begin_window(refiner);
    for (uint32_t i = 0; i < refiner->window_count && places->program.cycles < least; i++) {
        const uint32_t layer = refiner->window[i];
        if (places->program.status != PIM_OK)
            break;
        release_home(refiner, layer);
        if (refiner->plan->flow.operation[layer].kind == FLOW_PRODUCT)
            nice_emit_product(places, layer);
        else if (results_follow(places, layer))
            vector_emit(places, layer);
        program_give_back(&places->program);
    }
    return places->program.cycles;
}

static void place_window(struct refiner *refiner)
{
    begin_window(refiner);
    for (uint32_t i = 0; i < refiner->window_count && refiner->places.program.status == PIM_OK; i++)
        place(refiner, refiner->window[i]);
}

/* The cut of the nearest with which the window takes least; true: another than there was. */
static bool improve(struct refiner *refiner, uint32_t layer, uint32_t nearest, struct pim_error *error)
{
    struct nice_plan *plan = refiner->plan;
    const struct pim_layer *graph = &plan->flow.graph->layers[layer];
    const struct home *inputs[2] = {&refiner->places.home[graph->input[0]], NULL};
    struct nice_decision *decision = &plan->decision[layer], best = *decision, present = best;
    struct candidate_list list;
    if (plan->flow.operation[layer].right != FLOW_STORED)
        inputs[1] = &refiner->places.home[graph->input[1]];
    const uint64_t room = plan->capacity > plan->stored ? plan->capacity - plan->stored : 0;
    if (candidates_nearest(plan, layer, &present.region, inputs, present.stored + room, nearest, &list,
                           error) != PIM_OK) {
        refiner->places.program.status = error->status;
        return false;
    }
    find_window(refiner, layer);
    uint64_t least = window_cycles(refiner, UINT64_MAX);
    bool changed = false;
    for (uint32_t c = 0; c < list.count && refiner->places.program.status == PIM_OK; c++) {
        const struct candidate *trial = &list.items[c];
        *decision =
            (struct nice_decision){present.region, trial->cut, trial->sharing, trial->cycles, trial->stored};
        const uint64_t cycles = window_cycles(refiner, least);
        if (cycles < least) {
            least = cycles;
            best = *decision;
            changed = true;
        }
    }
    free(list.items);
    *decision = best;
    plan->stored = nice_plan_stored(plan);
    place_window(refiner);
    return changed;
}

/* Keeps what was changed where the whole ends earlier for it and fits. */
static void judge(struct refiner *refiner, struct nice_result *result, uint64_t stored,
                  struct pim_error *error)
{
    struct nice_plan *plan = refiner->plan;
    struct nice_result trial;
    if (nice_emit(plan, NULL, &trial, error) != PIM_OK) {
        refiner->places.program.status = error->status;
        return;
    }
    if (trial.cycles < result->cycles && trial.memory_bytes <= plan->hardware->memory_bytes) {
        *result = trial;
        return;
    }
    memcpy(plan->decision, refiner->kept, plan->flow.count * sizeof *refiner->kept);
    plan->stored = stored;
    place_all(refiner);
}

static bool is_over(const struct refiner *refiner)
{
    refiner->plan->cut_short = refiner->plan->cut_short || nice_stop_asked(&refiner->plan->stop);
    return refiner->plan->cut_short;
}

static void refine_blocks(struct refiner *refiner, const struct pass *pass, struct nice_result *result,
                          struct pim_error *error)
{
    struct nice_plan *plan = refiner->plan;
    const uint32_t count = plan->flow.count;
    for (uint32_t block = 0; block < pass->blocks && refiner->places.program.status == PIM_OK; block++) {
        const uint64_t stored = plan->stored;
        bool changed = false;
        memcpy(refiner->kept, plan->decision, count * sizeof *refiner->kept);
        for (uint32_t i = count * block / pass->blocks;
             i < count * (block + 1) / pass->blocks && !is_over(refiner); i++) {
            if (plan->flow.operation[i].kind == FLOW_PRODUCT && refiner->places.program.status == PIM_OK)
                changed = improve(refiner, i, pass->nearest, error) || changed;
        }
        if (changed && refiner->places.program.status == PIM_OK)
            judge(refiner, result, stored, error);
    }
}

enum pim_status nice_refine(struct nice_plan *plan, struct nice_result *result, struct pim_error *error)
{
    if (plan->sequential || plan->parts > 0)
        return PIM_OK;
    const size_t count = (size_t)plan->flow.count + 1,
                 nodes = (size_t)plan->hardware->width * plan->hardware->height;
    struct refiner refiner = {.plan = plan, .places.plan = plan};
    struct program *program = &refiner.places.program;
    const bool ready = program_initialize(program, plan, NULL, error);
    refiner.places.home = calloc(count, sizeof *refiner.places.home);
    refiner.places.started = calloc(count, sizeof(struct product *));
    refiner.moved = calloc(count, sizeof *refiner.moved);
    refiner.kept = calloc(count, sizeof *refiner.kept);
    refiner.top = calloc(nodes, sizeof *refiner.top);
    program->timed = true;
    if (!ready || !refiner.places.home || !refiner.places.started || !refiner.moved || !refiner.kept ||
        !refiner.top)
        program->status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the places of maps");
    for (size_t pass = 0; pass < sizeof passes / sizeof passes[0] && program->status == PIM_OK; pass++) {
        place_all(&refiner);
        refine_blocks(&refiner, &passes[pass], result, error);
    }
    for (uint32_t i = 0; refiner.places.home && i < plan->flow.count; i++)
        release_home(&refiner, i);
    free(refiner.places.home);
    free(refiner.places.started);
    free(refiner.places.moves);
    free(refiner.moved);
    free(refiner.kept);
    free(refiner.top);
    const enum pim_status status = program->status;
    program_terminate(program);
    return status;
}
