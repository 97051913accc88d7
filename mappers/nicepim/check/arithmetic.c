/* Matrix and vector instructions with numbers. */
#include "mappers/nicepim/check/execute.h"
#include "mappers/verify/evaluate.h"
#include "mappers/verify/value.h"

#include <stdlib.h>
#include <string.h>

/* --- products --- */

struct tile {
    struct execution *x;
    struct node_state *state;
    uint32_t node;
    const struct nice_note *note;
    const struct flow_operation *operation;
    const struct pim_conv *conv;
    uint32_t m, n, k;
    int16_t *input, *weight; /* m x k and k x n; from malloc */
};

static enum pim_status missing(const struct tile *t, const char *what)
{
    return pim_fail(t->x->error, PIM_BAD_INPUT,
                    "node %" PRIu32 ", instruction %" PRIu64
                    ": a product of layer %s needs %s that the node did "
                    "not load",
                    t->node, t->state->sequence, execution_layer(t->x, t->note->layer), what);
}

static enum pim_status find_element(const struct tile *t, const struct word_table *table, uint32_t input,
                                    const uint32_t at[4], int16_t *value)
{
    uint32_t layer = t->x->tensors->flow->graph->layers[t->note->layer].input[input];
    const struct identity identity = tensors_identify(t->x->tensors, layer, t->note->image, at);
    const struct word *word =
        word_table_find(table, WORD_DATA, execution_tensor(t->x, &identity), identity.element);
    if (!word)
        return missing(t, input == 0 ? "an input" : "an element of its second input");
    *value = word->value;
    return PIM_OK;
}

/* The group that the outputs of the tile belong to. */
static uint32_t group_of(const struct tile *t)
{
    return t->note->tile.output[1].from / (t->operation->dimension[1] / t->operation->groups);
}

/* Input `k` (place of the kernel, channel) under output `m` (batch, row, column). */
static enum pim_status gather_input(const struct tile *t, uint32_t m, uint32_t k)
{
    const struct nice_tile_note *tile = &t->note->tile;
    uint32_t position = k / tile->channels, rows = tile->output[2].count, columns = tile->output[3].count;
    int64_t row = (int64_t)(tile->output[2].from + m / columns % rows) * t->conv->stride_height -
                  t->conv->pad_top + position / t->conv->kernel_width,
            column = (int64_t)(tile->output[3].from + m % columns) * t->conv->stride_width -
                     t->conv->pad_left + position % t->conv->kernel_width;
    if (row < 0 || column < 0 || row >= t->conv->height || column >= t->conv->width)
        return PIM_OK; /* padding: 0 */
    const uint32_t at[4] = {tile->output[0].from + m / columns / rows,
                            group_of(t) * t->conv->length[PIM_LOOP_C] + tile->c.from + tile->first[1] +
                                k % tile->channels,
                            (uint32_t)row, (uint32_t)column};
    return find_element(t, &t->state->inputs, 0, at, &t->input[(size_t)m * t->k + k]);
}

/* Stored weights: a run of a copy of the node's own part of them, in the order that the tiles have. */
static enum pim_status gather_stored(const struct tile *t)
{
    const struct nice_tile_note *tile = &t->note->tile;
    uint32_t kernel = t->conv->kernel_height * t->conv->kernel_width;
    if (t->state->weight.count == 0 || t->state->weight.items[0].kind != WORD_WEIGHT)
        return missing(t, "weights");
    uint32_t id = t->state->weight.items[0].tensor;
    struct copy_of_weights *copy = &t->x->copies[id];
    if (id / t->x->nodes != t->note->layer || memcmp(&copy->k, &tile->k, sizeof copy->k) != 0 ||
        memcmp(&copy->c, &tile->c, sizeof copy->c) != 0)
        return missing(t, "weights of its own part");
    if (copy->order[0] == 0)
        memcpy(copy->order, tile->order, sizeof copy->order);
    if (memcmp(copy->order, tile->order, sizeof copy->order) != 0)
        return pim_fail(t->x->error, PIM_BAD_INPUT,
                        "node %" PRIu32 ": tiles of layer %s take %" PRIu32 " x %" PRIu32
                        " channels, and its weights lie for %" PRIu32 " x %" PRIu32,
                        t->node, execution_layer(t->x, t->note->layer), tile->order[0], tile->order[1],
                        copy->order[0], copy->order[1]);
    uint32_t outputs = t->operation->dimension[1] / t->operation->groups, all = tile->k.to - tile->k.from,
             channels = tile->c.to - tile->c.from;
    uint32_t base = tile->group * (outputs < all ? outputs : all) * channels * kernel +
                    tile->first[0] * channels * kernel + tile->first[1] * kernel * t->n;
    for (uint32_t k = 0; k < t->k; k++) {
        for (uint32_t n = 0; n < t->n; n++) {
            if (!word_table_find(&t->state->weights, WORD_WEIGHT, id, base + k * t->n + n))
                return missing(t, "weights");
            t->weight[(size_t)k * t->n + n] =
                tensors_weight(t->x->tensors, t->note->layer, tile->output[1].from + n,
                               tile->c.from + tile->first[1] + k % tile->channels, k / tile->channels);
        }
    }
    return PIM_OK;
}

/* Keys and values of the batch, of the head that the outputs belong to. */
static enum pim_status gather_right(const struct tile *t)
{
    const struct nice_tile_note *tile = &t->note->tile;
    uint32_t own = t->operation->dimension[1] / t->operation->groups;
    for (uint32_t k = 0; k < t->k; k++) {
        for (uint32_t n = 0; n < t->n; n++) {
            uint32_t output = tile->output[1].from + n, inner = tile->first[1] + k;
            const uint32_t keys[4] = {tile->output[0].from,
                                      output / own * t->conv->length[PIM_LOOP_C] + inner, output % own, 0},
                           values[4] = {tile->output[0].from, output, inner, 0};
            if (find_element(t, &t->state->weights, 1, t->operation->right == FLOW_KEYS ? keys : values,
                             &t->weight[(size_t)k * t->n + n]) != PIM_OK)
                return t->x->error->status;
        }
    }
    return PIM_OK;
}

static enum pim_status gather(struct tile *t)
{
    struct node_state *state = t->state;
    if (!state->inputs_known && !word_table_make(&state->inputs, state->input.items, state->input.count))
        return execution_no_memory(t->x);
    if (!state->weights_known && !word_table_make(&state->weights, state->weight.items, state->weight.count))
        return execution_no_memory(t->x);
    state->inputs_known = state->weights_known = true;
    for (uint32_t m = 0; m < t->m; m++) {
        for (uint32_t k = 0; k < t->k; k++) {
            if (gather_input(t, m, k) != PIM_OK)
                return t->x->error->status;
        }
    }
    return t->operation->right == FLOW_STORED ? gather_stored(t) : gather_right(t);
}

/* What the instruction gives back is all there is: no tile is loaded before the one before is worked. */
static enum pim_status release(const struct tile *t)
{
    const struct pim_instruction *i = &t->state->instruction;
    uint64_t held = i->u.matrix.window > 0 ? i->u.matrix.window : (uint64_t)t->m * t->k;
    if (((i->detail & PIM_MATRIX_RELEASE_INPUT) && t->state->input.count != held) ||
        ((i->detail & PIM_MATRIX_RELEASE_WEIGHT) && t->state->weight.count != (size_t)t->k * t->n))
        return pim_fail(t->x->error, PIM_BAD_INPUT,
                        "node %" PRIu32 ", instruction %" PRIu64
                        " gives back another number of elements than "
                        "the buffers hold (%zu, %zu)",
                        t->node, t->state->sequence, t->state->input.count, t->state->weight.count);
    if (i->detail & PIM_MATRIX_RELEASE_INPUT)
        t->state->input.count = 0;
    if (i->detail & PIM_MATRIX_RELEASE_WEIGHT)
        t->state->weight.count = 0;
    return PIM_OK;
}

static enum pim_status multiply(struct tile *t)
{
    struct node_state *state = t->state;
    size_t count = (size_t)t->m * t->n;
    if (state->instruction.detail & PIM_MATRIX_OPEN_OUTPUT) {
        free(state->sums);
        state->sums = calloc(count, sizeof *state->sums);
        state->sum_count = state->sums ? count : 0;
    }
    if (state->sum_count != count)
        return pim_fail(t->x->error, PIM_BAD_INPUT, "node %" PRIu32 ": sums of another tile are open",
                        t->node);
    for (uint32_t m = 0; m < t->m; m++) {
        for (uint32_t n = 0; n < t->n; n++) {
            int64_t sum = 0;
            for (uint32_t k = 0; k < t->k; k++)
                sum += (int32_t)t->input[(size_t)m * t->k + k] * t->weight[(size_t)k * t->n + n];
            state->sums[(size_t)m * t->n + n] += sum;
        }
    }
    t->x->products += (uint64_t)t->m * t->n * t->k;
    return PIM_OK;
}

enum pim_status execute_matrix(struct execution *x, uint32_t node, const struct nice_note *note)
{
    const struct pim_instruction *i = &x->node[node].instruction;
    const struct flow_operation *operation = &x->tensors->flow->operation[note->layer];
    struct tile t = {x,
                     &x->node[node],
                     node,
                     note,
                     operation,
                     &operation->conv,
                     i->u.matrix.m,
                     i->u.matrix.n,
                     i->u.matrix.k,
                     NULL,
                     NULL};
    const struct grid *output = note->tile.output;
    if (t.m != (uint64_t)output[0].count * output[2].count * output[3].count || t.n != output[1].count ||
        t.k != note->tile.channels * t.conv->kernel_height * t.conv->kernel_width)
        return pim_fail(x->error, PIM_BAD_INPUT, "node %" PRIu32 ", instruction %" PRIu64 " is no such tile",
                        node, t.state->sequence);
    t.input = calloc((size_t)t.m * t.k, sizeof *t.input);
    t.weight = calloc((size_t)t.k * t.n, sizeof *t.weight);
    enum pim_status status = t.input && t.weight ? gather(&t) : execution_no_memory(x);
    if (status == PIM_OK)
        status = multiply(&t);
    if (status == PIM_OK)
        status = release(&t);
    free(t.input);
    free(t.weight);
    return status;
}

/* The accumulators, as results or as partial sums. */
static enum pim_status make_tile(struct execution *x, uint32_t node, const struct nice_note *note)
{
    struct node_state *state = &x->node[node];
    const struct grid *output = note->tile.output;
    bool sums = state->instruction.u.vector.bits == 8 * FLOW_SUM_BYTES;
    enum pim_status status = PIM_OK;
    for (size_t i = 0; i < state->sum_count && status == PIM_OK; i++) {
        uint32_t m = (uint32_t)(i / output[1].count),
                 channel = output[1].from + (uint32_t)(i % output[1].count), columns = output[3].count,
                 rows = output[2].count;
        const uint32_t at[4] = {output[0].from + m / columns / rows, channel,
                                output[2].from + m / columns % rows, output[3].from + m % columns};
        const struct identity identity = tensors_identify(x->tensors, note->layer, note->image, at);
        int16_t sum = pim_value_cut(state->sums[i]);
        struct word word = {execution_tensor(x, &identity), identity.element, sum, WORD_SUM};
        if (!sums) {
            word.value = tensors_finish(x->tensors, note->layer, channel, sum);
            word.kind = WORD_DATA;
        }
        status = execution_make(x, node, &word);
    }
    state->sum_count = 0;
    return status;
}

/* --- partial sums --- */

static enum pim_status add_sums(struct execution *x, uint32_t node)
{
    const struct words *taken = &x->node[node].taken;
    enum pim_status status = PIM_OK;
    for (size_t i = 0; i < taken->count / 2 && status == PIM_OK; i++) {
        struct word a = taken->items[i];
        const struct word *b = &taken->items[taken->count / 2 + i];
        /* Padding of channels holds anything. */
        if (a.kind != b->kind || a.tensor != b->tensor || a.element != b->element || a.kind == WORD_DATA)
            a = (struct word){0};
        a.value = a.kind == WORD_SUM ? pim_value_cut((int64_t)a.value + b->value) : 0;
        status = execution_make(x, node, &a);
    }
    return status;
}

static uint32_t channel_of(const struct execution *x, uint32_t layer, uint32_t element)
{
    const struct pim_shape *shape = &x->tensors->flow->graph->layers[layer].output;
    if (shape->rank < 4 || x->tensors->flow->operation[layer].channels_last)
        return element % shape->dimension[shape->rank - 1];
    return element / (shape->dimension[2] * shape->dimension[3]) % shape->dimension[1];
}

static enum pim_status finish_sums(struct execution *x, uint32_t node, const struct nice_note *note)
{
    const struct words *taken = &x->node[node].taken;
    enum pim_status status = PIM_OK;
    for (size_t i = 0; i < taken->count && status == PIM_OK; i++) {
        struct word word = taken->items[i];
        if (word.kind != WORD_SUM)
            continue;
        word.kind = WORD_DATA;
        word.value =
            tensors_finish(x->tensors, note->layer, channel_of(x, note->layer, word.element), word.value);
        status = execution_make(x, node, &word);
    }
    return status;
}

/* --- other operations --- */

/* An input of a layer, as far as the node has loaded it; what it has not is drawn anew for each `trial`. */
static enum pim_status fill_input(struct execution *x, uint32_t node, const struct nice_note *note,
                                  uint32_t input, uint32_t sample, int trial, int16_t *values, bool *missing)
{
    const struct flow *flow = x->tensors->flow;
    uint32_t layer = flow->graph->layers[note->layer].input[input], at[4];
    const uint32_t *size = flow->operation[layer].dimension;
    uint32_t each = flow->graph->layers[layer].output.dimension[0];
    uint32_t first = (sample - note->image) * each;
    for (at[0] = first; at[0] < first + each; at[0]++)
        for (at[1] = 0; at[1] < size[1]; at[1]++)
            for (at[2] = 0; at[2] < size[2]; at[2]++)
                for (at[3] = 0; at[3] < size[3]; at[3]++) {
                    const struct identity i = tensors_identify(x->tensors, layer, note->image, at);
                    const struct word *word =
                        word_table_find(&x->node[node].table, WORD_DATA, execution_tensor(x, &i), i.element);
                    const uint32_t own[4] = {at[0], at[1], at[2], at[3]};
                    uint32_t place = tensors_element(x->tensors, layer, own);
                    int16_t other = (int16_t)((int32_t)((place + 1) * UINT32_C(0x9E3779B1) >> 17) - 8192);
                    values[place] = word ? word->value : trial == 0 ? INT16_MAX : other;
                    *missing |= !word;
                }
    return PIM_OK;
}

struct operation_at_work {
    struct execution *x;
    uint32_t node, sample;
    const struct nice_note *note;
    const int16_t **value;       /* of all layers */
    int16_t **input, *output[2]; /* output: of each trial */
    bool missing;
};

/* Twice with different numbers where nothing was loaded: results that differ depend on them. */
static enum pim_status evaluate_twice(struct operation_at_work *o)
{
    struct execution *x = o->x;
    const struct pim_layer *graph = &x->tensors->flow->graph->layers[o->note->layer];
    for (int trial = 0; trial < 2; trial++) {
        for (uint32_t k = 0; k < graph->inputs; k++) {
            if (!o->input[k])
                continue;
            if (fill_input(x, o->node, o->note, k, o->sample, trial, o->input[k], &o->missing) != PIM_OK)
                return x->error->status;
            o->value[graph->input[k]] = o->input[k];
        }
        if (pim_verify_evaluate_layer(x->tensors->flow->graph, o->note->layer, o->sample, o->value,
                                      o->output[trial], x->error) != PIM_OK)
            return x->error->status;
    }
    return PIM_OK;
}

/* Softmax and normalisations read all of their vectors, which their stand-ins do not: element by element. */
static bool has_vector(const struct execution *x, uint32_t node, const struct nice_note *note,
                       const uint32_t at[4])
{
    const struct flow_operation *operation = &x->tensors->flow->operation[note->layer];
    uint32_t from = at[1], to = at[1] + 1, p[4] = {at[0], at[1], at[2], at[3]};
    if (operation->reach == FLOW_CHANNELS) {
        from = at[1] / operation->group * operation->group;
        to = from + operation->group;
    } else if (operation->reach == FLOW_NEAR) {
        from = at[1] > 2 ? at[1] - 2 : 0;
        to = at[1] + 3 < operation->dimension[1] ? at[1] + 3 : operation->dimension[1];
    }
    for (p[1] = from; p[1] < to && to - from > 1; p[1]++) {
        const struct identity i = tensors_identify(
            x->tensors, x->tensors->flow->graph->layers[note->layer].input[0], note->image, p);
        if (!word_table_find(&x->node[node].table, WORD_DATA, execution_tensor(x, &i), i.element))
            return false;
    }
    return true;
}

static enum pim_status make_elements(const struct operation_at_work *o)
{
    struct execution *x = o->x;
    const struct pim_span *box = o->note->place.box;
    uint32_t at[4];
    for (at[0] = box[0].from; at[0] < box[0].to; at[0]++)
        for (at[1] = box[1].from; at[1] < box[1].to; at[1]++)
            for (at[2] = box[2].from; at[2] < box[2].to; at[2]++)
                for (at[3] = box[3].from; at[3] < box[3].to; at[3]++) {
                    const struct identity i =
                        tensors_identify(x->tensors, o->note->layer, o->note->image, at);
                    if (i.sample != o->sample)
                        continue;
                    if (o->output[0][i.element] != o->output[1][i.element] ||
                        !has_vector(x, o->node, o->note, at))
                        return pim_fail(x->error, PIM_BAD_INPUT,
                                        "node %" PRIu32 ", instruction %" PRIu64 ": element %" PRIu32
                                        " of layer %s depends on what the node did not load",
                                        o->node, x->node[o->node].sequence, i.element,
                                        execution_layer(x, o->note->layer));
                    const struct word word = {execution_tensor(x, &i), i.element, o->output[0][i.element],
                                              WORD_DATA};
                    if (execution_make(x, o->node, &word) != PIM_OK)
                        return x->error->status;
                }
    return PIM_OK;
}

static enum pim_status operate(struct execution *x, uint32_t node, const struct nice_note *note,
                               uint32_t sample)
{
    const struct flow *flow = x->tensors->flow;
    const struct pim_layer *graph = &flow->graph->layers[note->layer];
    struct operation_at_work o = {.x = x, .node = node, .sample = sample, .note = note};
    struct pim_arena arena;
    pim_arena_initialize(&arena, 0);
    o.value = PIM_ARENA_ARRAY(&arena, const int16_t *, flow->count);
    o.input = PIM_ARENA_ARRAY(&arena, int16_t *, graph->inputs + 1);
    bool room = o.value && o.input;
    for (uint32_t k = 0; k < graph->inputs && room; k++) {
        if (!x->tensors->value[sample][graph->input[k]])
            continue; /* learned: a function stands for it */
        o.input[k] = PIM_ARENA_ARRAY(&arena, int16_t, tensors_size(x->tensors, graph->input[k]));
        room = o.input[k];
    }
    for (int trial = 0; trial < 2 && room; trial++) {
        o.output[trial] = PIM_ARENA_ARRAY(&arena, int16_t, tensors_size(x->tensors, note->layer));
        room = o.output[trial];
    }
    enum pim_status status = room ? evaluate_twice(&o) : execution_no_memory(x);
    if (status == PIM_OK)
        status = make_elements(&o);
    pim_arena_terminate(&arena);
    return status;
}

enum pim_status execute_vector(struct execution *x, uint32_t node, const struct nice_note *note)
{
    switch ((int)note->kind) {
    case NICE_NOTE_TILE:
        return make_tile(x, node, note);
    case NICE_NOTE_ADD:
        return add_sums(x, node);
    case NICE_NOTE_FINISH:
        return finish_sums(x, node, note);
    default: {
        uint32_t each = x->tensors->flow->graph->layers[note->layer].output.dimension[0];
        enum pim_status status = PIM_OK;
        for (uint32_t s = note->place.box[0].from / each;
             status == PIM_OK && s * each < note->place.box[0].to; s++)
            status = operate(x, node, note, note->image + s);
        return status;
    }
    }
}
