/* What MATRIX instructions compute. */
#include "mappers/allspark/check/machine/machine_internal.h"
#include "mappers/allspark/check/numbers.h"
#include "sim/try.h"

#include <inttypes.h>
#include <string.h>

/* Room for the open tile, zeros in front of `columns` more columns of its rows. */
static enum pim_status widen(struct machine *machine, struct output *output, uint64_t m, uint64_t columns)
{
    uint64_t before = output->open ? output->width : 0, width = before + columns;
    uint16_t *values =
        pim_array_grow(output->values, &output->capacity, (size_t)(m * width) + 1, sizeof *output->values);
    if (!values)
        return machine_no_memory(machine);
    output->values = values;
    for (uint64_t i = m; i-- > 0;) {
        memmove(values + i * width, values + i * before, before * sizeof *values);
        memset(values + i * width + before, 0, columns * sizeof *values);
    }
    output->count = m * width;
    output->width = width;
    output->columns = columns;
    output->open = true;
    return PIM_OK;
}

/* Opens m x n outputs: a tile of its own, or, in the scores, further columns of the rows that are open. */
static enum pim_status open_columns(struct machine *machine, uint32_t number, uint64_t m, uint64_t n)
{
    struct unit *unit = &machine->units[number];
    const struct output *output = &unit->output;
    if (output->open && (!machine_kind(machine, unit)->scores || output->count != m * output->width))
        return machine_broken(machine, number, "opens an output tile before the last one is taken");
    return widen(machine, &unit->output, m, n);
}

static enum pim_status input_tile(struct machine *machine, uint32_t number, uint64_t size,
                                  const uint16_t **values)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *now = unit->now;
    struct queue *queue = &unit->inputs;
    if (now->detail & PIM_MATRIX_OPEN_OUTPUT)
        unit->tile = queue->head;
    if (unit->tile < queue->head || unit->tile >= queue->count || queue->items[unit->tile].count != size)
        return machine_broken(machine, number, "no input tile of %" PRIu64 " elements is in the buffer",
                              size);
    const struct loaded *tile = &queue->items[unit->tile];
    if (!order_is_behind(unit, tile->sequence))
        return machine_broken(
            machine, number, "does not wait for the load of its input, instruction %" PRIu64, tile->sequence);
    if ((now->detail & PIM_MATRIX_RELEASE_INPUT) && unit->tile != queue->head)
        return machine_broken(machine, number, "gives back another input tile than the oldest");
    unit->tile++;
    *values = tile->values;
    return PIM_OK;
}

/* n x k becomes k x n. */
static enum pim_status turn(struct machine *machine, const uint16_t **weights, uint64_t n, uint64_t k)
{
    uint16_t *turned = pim_array_grow(machine->scratch, &machine->scratch_capacity, (size_t)(n * k),
                                      sizeof *machine->scratch);
    if (!turned)
        return machine_no_memory(machine);
    machine->scratch = turned;
    for (uint64_t j = 0; j < n; j++)
        for (uint64_t c = 0; c < k; c++)
            turned[c * n + j] = (*weights)[j * k + c];
    *weights = turned;
    return PIM_OK;
}

/*
 * A product of a depthwise convolution: that of one channel of a tile, whose channels follow each other. The
 * input tile has nine weights for each channel; the weight buffer has nine taps, of each the tokens, of each
 * the channels. The products of a tile open its output together, and give back as they go.
 */
static enum pim_status convolve(struct machine *machine, uint32_t number, struct result *result)
{
    enum { TAPS = 9, FLAGS = PIM_MATRIX_OPEN_OUTPUT | PIM_MATRIX_RELEASE_INPUT | PIM_MATRIX_RELEASE_WEIGHT };
    struct unit *unit = &machine->units[number];
    struct output *output = &unit->output;
    uint64_t tokens = unit->now->u.matrix.n, sequence;
    if (unit->now->u.matrix.m != 1 || unit->now->u.matrix.k != TAPS || unit->now->detail != FLAGS)
        return machine_broken(machine, number, "is no product of a convolution");
    if (unit->inputs.head + 1 != unit->inputs.count)
        return machine_broken(machine, number, "has %zu tiles of weights: one is right",
                              unit->inputs.count - unit->inputs.head);
    const struct loaded *weights = &unit->inputs.items[unit->inputs.head];
    const uint16_t *neighbours;
    uint64_t channels = weights->count / TAPS;
    if (unit->weights_left != TAPS * tokens * channels || weights->count % TAPS != 0 || channels == 0)
        return machine_broken(machine, number, "has %" PRIu64 " neighbours for %" PRIu64 " channels",
                              unit->weights_left, channels);
    PIM_TRY(machine_weights(machine, number, unit->weights_left, &neighbours, &sequence));
    if (!order_is_behind(unit, sequence) || !order_is_behind(unit, weights->sequence))
        return machine_broken(machine, number, "does not wait for its operands");
    if (!output->open) {
        PIM_TRY(widen(machine, output, tokens, channels));
        output->channel = 0;
    }
    for (uint64_t t = 0; t < tokens; t++)
        for (uint64_t tap = 0; tap < TAPS; tap++) {
            uint16_t *sum = &output->values[t * channels + output->channel];
            *sum = plus_product(*sum, weights->values[output->channel * TAPS + tap],
                                neighbours[(tap * tokens + t) * channels + output->channel]);
        }
    if (++output->channel == channels) {
        machine_release_input(unit);
        machine_release_weights(unit, unit->weights_left);
    }
    output->last = unit->at;
    result->output = true;
    return PIM_OK;
}

/* Columns that do not accumulate begin anew. */
static void clear(struct output *output, uint64_t m)
{
    for (uint64_t i = 0; i < m; i++)
        memset(output->values + (i + 1) * output->width - output->columns, 0,
               output->columns * sizeof *output->values);
}

enum pim_status machine_multiply(struct machine *machine, uint32_t number, struct result *result)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *now = unit->now;
    struct output *output = &unit->output;
    if (machine_kind(machine, unit)->convolution)
        return convolve(machine, number, result);
    uint64_t m = now->u.matrix.m, n = now->u.matrix.n, k = now->u.matrix.k, sequence;
    const uint16_t *input = NULL, *weights = NULL;
    PIM_TRY(input_tile(machine, number, m * k, &input));
    if (!(now->detail & PIM_MATRIX_RELEASE_WEIGHT))
        return machine_broken(machine, number, "does not give back its weights");
    PIM_TRY(machine_weights(machine, number, k * n, &weights, &sequence));
    if (!order_is_behind(unit, sequence))
        return machine_broken(machine, number,
                              "does not wait for the load of its weights, instruction %" PRIu64, sequence);
    if (now->detail & PIM_MATRIX_OPEN_OUTPUT)
        PIM_TRY(open_columns(machine, number, m, n));
    if (!output->open || output->count != m * output->width || output->columns != n)
        return machine_broken(machine, number, "accumulates to a tile that is not open");
    if (!(now->detail & (PIM_MATRIX_OPEN_OUTPUT | PIM_MATRIX_ACCUMULATE)))
        clear(output, m);
    if (machine_kind(machine, unit)->scores) /* the right-hand operand is loaded row by row */
        PIM_TRY(turn(machine, &weights, n, k));
    allspark_product(input, weights, output->values + output->width - n, m, n, k, output->width);
    machine_release_weights(unit, k * n);
    if (now->detail & PIM_MATRIX_RELEASE_INPUT)
        machine_release_input(unit);
    output->last = unit->at;
    result->output = true;
    return PIM_OK;
}
