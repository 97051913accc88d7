/*
 * Who makes which value, which nodes an output needs, and in which order they can be converted.
 *
 * ONNX wants nodes sorted. Where they are, their order is kept; a file whose nodes are not is sorted here all
 * the same. A walk from the outputs along makers, depth first, finds what is needed and any cycle.
 */
#include "mappers/network/onnx/importer.h"
#include "onnx.pb-c.h"

#include <stdio.h>
#include <string.h>

enum { NEW, OPEN, DONE };

/* One node of the walk: its inputs from `next` on are still to be visited. */
struct step {
    uint32_t node;
    size_t next;
};

static void find_makers(struct pim_onnx_importer *i)
{
    const struct Onnx__GraphProto *g = i->model;
    for (uint32_t n = 0; n < g->n_node && i->status == PIM_OK; n++) {
        for (size_t in = 0; in < g->node[n]->n_input; in++)
            if (g->node[n]->input[in][0])
                (void)pim_onnx_value_named(i, g->node[n]->input[in]);
        for (size_t out = 0; out < g->node[n]->n_output; out++) {
            const char *name = g->node[n]->output[out];
            if (name[0] == '\0')
                continue;
            uint32_t at = pim_onnx_value_named(i, name);
            i->node = g->node[n];
            if (i->value[at].maker != PIM_NONE || i->value[at].kind != PIM_ONNX_ABSENT)
                pim_onnx_fail(i, "output \"%s\" is made a second time: every tensor has one maker", name);
            i->node = NULL;
            i->value[at].maker = n;
        }
    }
}

/* The node behind the next input of `step` that a node makes; PIM_NONE when all are visited. */
static uint32_t next_maker(const struct pim_onnx_importer *i, struct step *step)
{
    const struct Onnx__NodeProto *node = i->model->node[step->node];
    while (step->next < node->n_input) {
        const char *name = node->input[step->next++];
        uint32_t value = name[0] ? pim_onnx_names_find(&i->value_names, name) : PIM_NONE;
        if (value != PIM_NONE && i->value[value].maker != PIM_NONE)
            return i->value[value].maker;
    }
    return PIM_NONE;
}

static void name_cycle(struct pim_onnx_importer *i, const struct step *stack, uint32_t depth, uint32_t again)
{
    char text[400];
    size_t used = 0;
    uint32_t first = depth;
    while (stack[first - 1].node != again)
        first--;
    for (uint32_t d = first - 1; d < depth && used < sizeof text - 80; d++) {
        const struct Onnx__NodeProto *node = i->model->node[stack[d].node];
        int written =
            snprintf(text + used, sizeof text - used, "%.40s (%.20s) <- ", node->name, node->op_type);
        used += written > 0 ? (size_t)written : 0;
    }
    pim_onnx_fail(i, "the nodes form a cycle: %s%.40s", text, i->model->node[again]->name);
}

/* Everything that node `root` needs, itself last, is put into the order. */
static void walk(struct pim_onnx_importer *i, uint32_t root, uint8_t *state, struct step *stack)
{
    uint32_t depth = 0;
    if (state[root] == DONE)
        return;
    stack[depth++] = (struct step){root, 0};
    state[root] = OPEN;
    while (depth > 0 && i->status == PIM_OK) {
        uint32_t maker = next_maker(i, &stack[depth - 1]);
        if (maker == PIM_NONE) {
            state[stack[--depth].node] = DONE;
            i->order[i->ordered++] = stack[depth].node;
        } else if (state[maker] == OPEN) {
            name_cycle(i, stack, depth, maker);
        } else if (state[maker] == NEW) {
            state[maker] = OPEN;
            stack[depth++] = (struct step){maker, 0};
        }
    }
}

/* Takes the file's own order where it is one. */
static void keep_order(struct pim_onnx_importer *i, const uint8_t *state)
{
    for (uint32_t o = 0; o < i->ordered; o++) {
        struct step step = {i->order[o], 0};
        for (uint32_t maker = next_maker(i, &step); maker != PIM_NONE; maker = next_maker(i, &step))
            if (maker > i->order[o])
                return;
    }
    i->ordered = 0;
    for (uint32_t n = 0; n < i->model->n_node; n++)
        if (state[n] == DONE)
            i->order[i->ordered++] = n;
}

static void count_readers(struct pim_onnx_importer *i)
{
    for (uint32_t o = 0; o < i->ordered; o++) {
        const struct Onnx__NodeProto *node = i->model->node[i->order[o]];
        for (size_t in = 0; in < node->n_input; in++) {
            uint32_t value =
                node->input[in][0] ? pim_onnx_names_find(&i->value_names, node->input[in]) : PIM_NONE;
            if (value == PIM_NONE)
                continue;
            i->value[value].readers++;
            i->value[value].reader = i->order[o];
        }
    }
}

void pim_onnx_order(struct pim_onnx_importer *i)
{
    const struct Onnx__GraphProto *g = i->model;
    find_makers(i);
    size_t nodes = g->n_node + 1;
    uint8_t *state = PIM_ARENA_ARRAY(&i->scratch, uint8_t, nodes);
    struct step *stack = PIM_ARENA_ARRAY(&i->scratch, struct step, nodes);
    i->order = PIM_ARENA_ARRAY(&i->scratch, uint32_t, nodes);
    i->absorbed = PIM_ARENA_ARRAY(&i->scratch, uint8_t, nodes);
    if (!state || !stack || !i->order || !i->absorbed) {
        i->status = pim_fail(i->error, PIM_NO_MEMORY, "out of memory while reading %s", i->path);
        return;
    }
    for (size_t out = 0; out < g->n_output && i->status == PIM_OK; out++) {
        uint32_t value = pim_onnx_names_find(&i->value_names, g->output[out]->name);
        if (value == PIM_NONE ||
            (i->value[value].maker == PIM_NONE && i->value[value].kind == PIM_ONNX_ABSENT)) {
            pim_onnx_fail(i, "output \"%s\" of the network is made by no node", g->output[out]->name);
            return;
        }
        i->value[value].output = true;
        i->value[value].readers++;
        if (i->value[value].maker != PIM_NONE)
            walk(i, i->value[value].maker, state, stack);
    }
    if (i->status == PIM_OK) {
        keep_order(i, state);
        count_readers(i);
    }
}
