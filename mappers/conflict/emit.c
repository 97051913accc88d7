/*
 * Programs of tiles. A step is its takes and itself; equal steps in a row become a repeat block, and equal
 * rows of a map one around it, so that a program has the length of a layer's borders, not of its pixels.
 */
#include "mappers/conflict/emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FEMTOSECONDS 1e6 /* in a nanosecond */

/* Inputs of a node that follow each other and take the same in every step. */
struct group {
    uint32_t first, count; /* inputs */
    uint32_t edge;         /* one of them */
    uint32_t *wait, *drop; /* by step of an image but the first, see `head` */
    uint32_t head;         /* first step of the first image: what the images before it have not left behind */
};

/* A program under way. */
struct emission {
    const struct pim_tile_graph *graph;
    const uint32_t *place;
    uint32_t images;
    const struct pim_tile_limits *limits;
    struct pim_trace_writer *writer;
    struct pim_error *error;
    uint32_t node, unit;
    uint32_t *input, *output; /* edges */
    uint32_t inputs, outputs;
    struct group *group;
    uint32_t groups;
    uint32_t image;
};

static enum pim_status append(struct emission *emission, const struct pim_instruction *instruction)
{
    return pim_trace_writer_append(emission->writer, emission->unit, instruction, emission->error);
}

static enum pim_status no_memory(const struct emission *emission)
{
    return pim_fail(emission->error, PIM_NO_MEMORY, "no memory for the program of node %" PRIu32,
                    emission->node);
}

/* --- edges --- */

static enum pim_status declare(struct emission *emission, enum pim_opcode opcode, uint32_t e)
{
    const struct pim_tile_edge *edge = &emission->graph->edge[e];
    uint32_t peer = opcode == PIM_OP_TILE_OUTPUT ? edge->destination : edge->source;
    uint64_t packets = (uint64_t)edge->packets * emission->images;
    if (packets > UINT32_MAX)
        return pim_fail(emission->error, PIM_BAD_INPUT,
                        "edge %" PRIu32 ": %" PRIu64 " packets of all images: below 2^32 are allowed", e,
                        packets);
    return append(emission, &(struct pim_instruction){.opcode = (uint8_t)opcode,
                                                      .u.tile_edge = {.edge = e,
                                                                      .peer = emission->place[peer],
                                                                      .bits = edge->bits,
                                                                      .packets = (uint32_t)packets}});
}

static enum pim_status declare_all(struct emission *emission)
{
    enum pim_status status = PIM_OK;
    for (uint32_t i = 0; i < emission->inputs && status == PIM_OK; i++)
        status = declare(emission, PIM_OP_TILE_INPUT, emission->input[i]);
    for (uint32_t i = 0; i < emission->outputs && status == PIM_OK; i++)
        status = declare(emission, PIM_OP_TILE_OUTPUT, emission->output[i]);
    return status;
}

/* --- what steps take --- */

/* Whether two edges of a node depend on their packets alike, as those of one layer do. */
static bool alike(const struct pim_tile_graph *graph, uint32_t a, uint32_t b)
{
    uint32_t steps = graph->node[graph->edge[a].destination].steps, need[2], drop[2];
    if (graph->edge[a].packets != graph->edge[b].packets)
        return false;
    for (uint32_t s = 0; s < steps; s++) {
        pim_tile_dependence(graph, a, s, &need[0], &drop[0]);
        pim_tile_dependence(graph, b, s, &need[1], &drop[1]);
        if (need[0] != need[1] || drop[0] != drop[1])
            return false;
        if (graph->node[graph->edge[a].source].layer == graph->node[graph->edge[b].source].layer)
            return true;
    }
    return true;
}

static enum pim_status make_groups(struct emission *emission)
{
    const struct pim_tile_graph *graph = emission->graph;
    uint32_t steps = graph->node[emission->node].steps;
    emission->group = calloc((size_t)emission->inputs + 1, sizeof *emission->group);
    if (!emission->group)
        return no_memory(emission);
    for (uint32_t i = 0; i < emission->inputs; i++) {
        uint32_t e = emission->input[i];
        struct group *group = emission->groups ? &emission->group[emission->groups - 1] : NULL;
        if (group && alike(graph, group->edge, e)) {
            group->count++;
            continue;
        }
        group = &emission->group[emission->groups++];
        *group = (struct group){.first = i, .count = 1, .edge = e};
        group->wait = calloc(steps, sizeof *group->wait);
        group->drop = calloc(steps, sizeof *group->drop);
        if (!group->wait || !group->drop)
            return no_memory(emission);
        uint32_t need = 0, most = 0;
        for (uint32_t s = 0; s < steps; s++) {
            pim_tile_dependence(graph, e, s, &need, &group->drop[s]);
            group->wait[s] = need > most ? need - most : 0;
            most = need > most ? need : most;
        }
        group->head = group->wait[0];
        group->wait[0] += graph->edge[e].packets - most; /* those of the image before */
    }
    return PIM_OK;
}

static uint32_t wait_of(const struct emission *emission, const struct group *group, uint32_t step)
{
    return emission->image == 0 && step == 0 ? group->head : group->wait[step];
}

static bool same_step(const struct emission *emission, uint32_t a, uint32_t b)
{
    for (uint32_t g = 0; g < emission->groups; g++)
        if (wait_of(emission, &emission->group[g], a) != wait_of(emission, &emission->group[g], b) ||
            emission->group[g].drop[a] != emission->group[g].drop[b])
            return false;
    return true;
}

static bool same_row(const struct emission *emission, uint32_t a, uint32_t b, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (!same_step(emission, a + i, b + i))
            return false;
    return true;
}

/* --- steps --- */

/* Instructions of a step. */
static uint32_t length_of(const struct emission *emission, uint32_t step)
{
    uint32_t length = 1;
    for (uint32_t g = 0; g < emission->groups; g++)
        length += wait_of(emission, &emission->group[g], step) + emission->group[g].drop[step] > 0;
    return length;
}

static enum pim_status repeat(struct emission *emission, uint32_t count, uint32_t length)
{
    return append(emission, &(struct pim_instruction){.opcode = PIM_OP_REPEAT,
                                                      .u.control = {.count = count, .length = length}});
}

static enum pim_status put_step(struct emission *emission, uint32_t step)
{
    const struct pim_tile_node *node = &emission->graph->node[emission->node];
    for (uint32_t g = 0; g < emission->groups; g++) {
        const struct group *group = &emission->group[g];
        struct pim_instruction take = {.opcode = PIM_OP_TILE_TAKE,
                                       .u.tile_take = {.input = group->first,
                                                       .count = group->count,
                                                       .packets = wait_of(emission, group, step),
                                                       .free = group->drop[step]}};
        if (take.u.tile_take.packets + take.u.tile_take.free > 0 && append(emission, &take) != PIM_OK)
            return emission->error->status;
    }
    struct pim_instruction instruction = {
        .opcode = node->arrays > 0 ? PIM_OP_TILE_STEP : PIM_OP_TILE_VECTOR,
        .u.tile_step = {.time = (uint64_t)nearbyint(node->latency_ns * FEMTOSECONDS),
                        .macs = node->macs,
                        .arrays = node->arrays}};
    return append(emission, &instruction);
}

/* The steps from `first` to before `end`, and how many instructions that is; `put` false: counted alone. */
static enum pim_status put_row(struct emission *emission, uint32_t first, uint32_t end, bool put,
                               uint32_t *length)
{
    enum pim_status status = PIM_OK;
    *length = 0;
    for (uint32_t s = first, next; s < end && status == PIM_OK; s = next) {
        for (next = s + 1; next < end && same_step(emission, s, next); next++)
            ;
        uint32_t one = length_of(emission, s);
        *length += one + (next - s > 1);
        if (put && next - s > 1)
            status = repeat(emission, next - s, one);
        if (put && status == PIM_OK)
            status = put_step(emission, s);
    }
    return status;
}

static enum pim_status put_image(struct emission *emission, uint32_t phase)
{
    const struct pim_tile_node *node = &emission->graph->node[emission->node];
    uint32_t width = emission->graph->layer[node->layer].window.out_size[1], length;
    struct pim_instruction mark = {.opcode = PIM_OP_PHASE_BEGIN, .u.control = {.phase = phase}};
    enum pim_status status = append(emission, &mark);
    if (status == PIM_OK && emission->image == 0)
        status = declare_all(emission);
    for (uint32_t s = 0, next; s < node->steps && status == PIM_OK; s = next) {
        for (next = s + width; next < node->steps && same_row(emission, s, next, width); next += width)
            ;
        (void)put_row(emission, s, s + width, false, &length);
        if (length > PIM_REPEAT_LENGTH)
            next = s + width;
        if (next - s > width)
            status = repeat(emission, (next - s) / width, length);
        if (status == PIM_OK)
            status = put_row(emission, s, s + width, true, &length);
    }
    mark.opcode = PIM_OP_PHASE_END;
    return status == PIM_OK ? append(emission, &mark) : status;
}

static enum pim_status put_node(struct emission *emission)
{
    enum pim_status status = make_groups(emission);
    uint32_t layers = emission->graph->layers;
    for (emission->image = 0; emission->image < emission->images && status == PIM_OK; emission->image++) {
        const struct pim_tile_limits *limits = emission->limits;
        status = put_image(emission, emission->image * layers + emission->graph->node[emission->node].layer);
        if (status == PIM_OK && limits->stop && emission->image % 64 == 0 &&
            limits->stop(limits->stop_context))
            status = pim_fail(emission->error, PIM_BAD_INPUT,
                              "it was stopped while the trace was written: there is none");
    }
    for (uint32_t g = 0; g < emission->groups; g++) {
        free(emission->group[g].wait);
        free(emission->group[g].drop);
    }
    free(emission->group);
    emission->group = NULL;
    emission->groups = 0;
    return status;
}

static void take_edges(struct emission *emission)
{
    const struct pim_tile_graph *graph = emission->graph;
    emission->inputs = emission->outputs = 0;
    for (uint32_t e = 0; e < graph->edges; e++) {
        if (graph->edge[e].destination == emission->node)
            emission->input[emission->inputs++] = e;
        if (graph->edge[e].source == emission->node)
            emission->output[emission->outputs++] = e;
    }
}

static enum pim_status put_phases(const struct emission *emission, const struct pim_tile_estimate *estimate)
{
    char name[512];
    uint64_t frontier = 0;
    for (uint32_t m = 0; m < emission->images; m++)
        for (uint32_t l = 0; l < emission->graph->layers; l++) {
            struct pim_trace_phase phase = {.name = name};
            (void)snprintf(name, sizeof name, "image%" PRIu32 "/layer%" PRIu32 "/%.400s", m, l,
                           emission->graph->layer[l].name);
            pim_tile_estimate_phase(estimate, m, l, &frontier, &phase);
            (void)pim_trace_writer_phase(emission->writer, &phase);
        }
    return PIM_OK;
}

enum pim_status pim_tile_emit(const struct pim_tile_graph *graph, const uint32_t *place, uint32_t images,
                              const struct pim_tile_estimate *estimate, const struct pim_tile_limits *limits,
                              struct pim_trace_writer *writer, struct pim_error *error)
{
    struct emission emission = {.graph = graph,
                                .place = place,
                                .images = images,
                                .limits = limits,
                                .writer = writer,
                                .error = error,
                                .input = calloc((size_t)graph->edges + 1, sizeof(uint32_t)),
                                .output = calloc((size_t)graph->edges + 1, sizeof(uint32_t))};
    enum pim_status status =
        emission.input && emission.output
            ? put_phases(&emission, estimate)
            : pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " edges", graph->edges);
    for (uint32_t n = 0; n < graph->nodes && status == PIM_OK; n++) {
        emission.node = n;
        emission.unit = place[n];
        take_edges(&emission);
        status = put_node(&emission);
    }
    free(emission.input);
    free(emission.output);
    return status;
}
