/* What MATRIX and VECTOR instructions compute. */
#include "tests/unit/allspark/algebra.h"
#include "tests/unit/allspark/machine/machine_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- matrix --- */

/*
 * `weights` is k x n, or n x k in the scores, whose right-hand operand is loaded transposed. A row of the
 * output has `width` elements.
 */
static void accumulate(const uint64_t *input, const uint64_t *weights, bool transposed, uint64_t *output,
                       uint64_t m, uint64_t n, uint64_t k, uint64_t width)
{
    for (uint64_t i = 0; i < m; i++)
        for (uint64_t c = 0; c < k; c++)
            for (uint64_t j = 0; j < n; j++)
                output[i * width + j] +=
                    input[i * k + c] * (transposed ? weights[j * k + c] : weights[c * n + j]);
}

static bool phase_is(const struct machine *machine, const struct unit *unit, const char *end)
{
    const char *name = pim_trace_phase(machine->scenario->trace, unit->phase)->name;
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

static const uint64_t *input_tile(struct machine *machine, uint32_t number, uint64_t size)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    if (instruction->detail & PIM_MATRIX_OPEN_OUTPUT)
        unit->tile = unit->inputs.head;
    if (unit->tile >= unit->inputs.count || unit->inputs.tiles[unit->tile].count != size)
        machine_broken(machine, number, "no input tile of %" PRIu64 " elements is in the buffer", size);
    const uint64_t *values = unit->inputs.tiles[unit->tile++].values;
    uint64_t distance = instruction->dependency[0];
    if (distance && machine_result(machine, number, unit->at - distance)->values != values)
        machine_broken(machine, number, "waits for another load than that of its input");
    if (instruction->detail & PIM_MATRIX_RELEASE_INPUT) {
        if (unit->tile != ++unit->inputs.head)
            machine_broken(machine, number, "gives back another input tile than the oldest");
    }
    return values;
}

/*
 * A product of a depthwise convolution: that of one channel of a tile, whose channels follow each other. The
 * input tile has nine weights for each channel; the weight buffer has nine taps, of each the tokens, of each
 * the channels. The products of a tile open its output together, and give back as they go.
 */
static struct result convolve(struct machine *machine, uint32_t number)
{
    enum { TAPS = 9 };
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    uint64_t tokens = instruction->u.matrix.n, stream = unit->weights_count - unit->weights_head;
    bool first = !unit->output_open;
    if (instruction->u.matrix.m != 1 || instruction->u.matrix.k != TAPS ||
        instruction->detail !=
            (PIM_MATRIX_OPEN_OUTPUT | PIM_MATRIX_RELEASE_INPUT | PIM_MATRIX_RELEASE_WEIGHT))
        machine_broken(machine, number, "is no product of a convolution");
    if (unit->inputs.head + 1 != unit->inputs.count)
        machine_broken(machine, number, "has %u tiles of weights", unit->inputs.count - unit->inputs.head);
    const struct result *weights = &unit->inputs.tiles[unit->inputs.head];
    uint64_t channels = weights->count / TAPS;
    if (stream != TAPS * tokens * channels || weights->count % TAPS != 0)
        machine_broken(machine, number, "has %" PRIu64 " neighbours for %" PRIu64 " channels", stream,
                       channels);
    for (unsigned i = 0; i < 2; i++) { /* waits for the weights, and for the last neighbours */
        uint64_t wanted = i == 0 ? unit->weights_tile : unit->weights_last;
        if (!machine_ordered(unit, wanted, unit->at))
            machine_broken(machine, number, "does not wait for its operands");
    }
    if (first) {
        unit->output = (struct result){.values = calloc(tokens * channels, sizeof(uint64_t)),
                                       .count = tokens * channels};
        unit->output_open = true;
        unit->channel = 0;
    }
    for (uint64_t t = 0; t < tokens; t++)
        for (uint64_t tap = 0; tap < TAPS; tap++)
            unit->output.values[t * channels + unit->channel] +=
                weights->values[unit->channel * TAPS + tap] *
                unit->weights[unit->weights_head + (tap * tokens + t) * channels + unit->channel];
    if (++unit->channel == channels) {
        unit->inputs.head++;
        unit->weights_head = unit->weights_count = 0;
    }
    unit->output_last = unit->at;
    return (struct result){.values = unit->output.values, .count = unit->output.count, .shared = !first};
}

/* Opens m x n outputs: a tile of its own, or, in the scores, further columns of the rows that are open. */
static void open_columns(struct machine *machine, uint32_t number, uint64_t m, uint64_t n)
{
    struct unit *unit = &machine->units[number];
    uint64_t before = unit->output_open ? unit->output_width : 0, width = before + n;
    if (before > 0 && (!phase_is(machine, unit, "/scores") || unit->output.count != m * before))
        machine_broken(machine, number, "opens an output tile before the last one is taken");
    uint64_t *values = calloc(m * width, sizeof *values);
    for (uint64_t i = 0; before > 0 && i < m; i++)
        memcpy(values + i * width, unit->output.values + i * before, before * sizeof *values);
    unit->output = (struct result){.values = values, .count = m * width};
    unit->output_open = true;
    unit->output_width = width;
    unit->columns = n;
}

struct result machine_multiply(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    if (phase_is(machine, unit, "/position") || phase_is(machine, unit, "/local_position"))
        return convolve(machine, number);
    uint64_t m = instruction->u.matrix.m, n = instruction->u.matrix.n, k = instruction->u.matrix.k;
    const uint64_t *input = input_tile(machine, number, m * k);
    if (unit->weights_count - unit->weights_head < k * n ||
        !(instruction->detail & PIM_MATRIX_RELEASE_WEIGHT))
        machine_broken(machine, number, "no %" PRIu64 " weights are in the buffer", k * n);
    if (unit->weights_count - unit->weights_head == k * n &&
        !machine_ordered(unit, unit->weights_last, unit->at))
        machine_broken(machine, number, "does not wait for its weights");
    if (instruction->detail & PIM_MATRIX_OPEN_OUTPUT)
        open_columns(machine, number, m, n);
    if (!unit->output_open || unit->output.count != m * unit->output_width || unit->columns != n)
        machine_broken(machine, number, "accumulates to a tile that is not open");
    accumulate(input, unit->weights + unit->weights_head, phase_is(machine, unit, "/scores"),
               unit->output.values + unit->output_width - n, m, n, k, unit->output_width);
    unit->weights_head += k * n;
    if (unit->weights_head == unit->weights_count)
        unit->weights_head = unit->weights_count = 0;
    unit->output_last = unit->at;
    return (struct result){.values = unit->output.values,
                           .count = unit->output.count,
                           .shared = !(instruction->detail & PIM_MATRIX_OPEN_OUTPUT)};
}

/* --- vector --- */

static void softmax(const uint64_t *x, uint64_t *y, uint64_t rows, uint64_t elements)
{
    for (uint64_t i = 0; i < rows; i++, x += elements, y += elements) {
        uint64_t sum = 0;
        for (uint64_t j = 0; j < elements; j++)
            sum += exponential_of(x[j]);
        for (uint64_t j = 0; j < elements; j++)
            y[j] = softmax_of(x[j], sum);
    }
}

/* Two sums of 16 bits in four bytes: the second byte of each must go wherever the first goes. */
static void put_sums(uint64_t *bytes, uint64_t sum, uint64_t squares)
{
    bytes[0] = sum;
    bytes[1] = mixed(sum);
    bytes[2] = squares;
    bytes[3] = mixed(squares);
}

static void normalise(struct machine *machine, uint32_t number, struct result x, struct result statistics,
                      uint64_t *y)
{
    struct unit *unit = &machine->units[number];
    uint64_t rows = unit->program[unit->at].u.vector.rows,
             elements = unit->program[unit->at].u.vector.elements;
    uint64_t pieces = statistics.values ? statistics.count / (4 * rows) : 0;
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t sum = 0, squares = 0;
        for (uint64_t j = 0; j < elements && !statistics.values; j++) {
            sum += x.values[i * elements + j];
            squares += x.values[i * elements + j] * x.values[i * elements + j];
        }
        for (uint64_t piece = 0; piece < pieces; piece++) {
            const uint64_t *bytes = statistics.values + 4 * (piece * rows + i);
            if (bytes[1] != mixed(bytes[0]) || bytes[3] != mixed(bytes[2]))
                machine_broken(machine, number, "statistics of piece %" PRIu64 " are damaged", piece);
            sum += bytes[0];
            squares += bytes[2];
        }
        for (uint64_t j = 0; j < elements; j++)
            y[i * elements + j] = normal_of(x.values[i * elements + j], sum, squares);
    }
}

/* Of a part of the channels, before a layer normalisation; of tokens, for the classifier; of such
   averages. */
static struct result average(struct machine *machine, uint32_t number, struct result x)
{
    struct unit *unit = &machine->units[number];
    uint64_t rows = unit->program[unit->at].u.vector.rows,
             elements = unit->program[unit->at].u.vector.elements;
    const char *phase = pim_trace_phase(machine->scenario->trace, unit->phase)->name;
    bool second = x.count == 2 * rows * elements, last = second && strcmp(phase, "pool") == 0;
    if (phase_is(machine, unit, "/window_pool")) { /* Focal: what the rows have of a pooled token */
        struct result result = {.values = machine_values(rows), .count = rows};
        if (x.count != rows * elements)
            machine_broken(machine, number, "adds up %" PRIu64 " sums, there are %" PRIu64, rows * elements,
                           x.count);
        for (uint64_t i = 0; i < rows; i++) {
            result.values[i] = 0;
            for (uint64_t j = 0; j < elements; j++)
                result.values[i] += x.values[j * rows + i];
        }
        return result;
    }
    if (strncmp(phase, "pool", 4) != 0) {
        struct result result = {.values = machine_values(4 * rows), .count = 4 * rows};
        for (uint64_t i = 0; i < rows; i++) {
            uint64_t sum = 0, squares = 0;
            for (uint64_t j = 0; j < elements; j++) {
                sum += x.values[i * elements + j];
                squares += x.values[i * elements + j] * x.values[i * elements + j];
            }
            put_sums(result.values + 4 * i, sum, squares);
        }
        return result;
    }
    struct result result = {.values = machine_values(2 * rows), .count = last ? rows : 2 * rows};
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t sum = 0;
        for (uint64_t j = 0; j < elements; j++)
            sum += x.values[second ? 2 * (j * rows + i) : j * rows + i];
        result.values[last ? i : 2 * i] = sum;
        if (!last)
            result.values[2 * i + 1] = mixed(sum);
    }
    return result;
}

struct result machine_vector(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    uint64_t count = (uint64_t)instruction->u.vector.rows * instruction->u.vector.elements;
    struct result x = machine_operand(machine, number, 0), y = machine_operand(machine, number, 1);
    bool averages = instruction->detail == PIM_VECTOR_AVERAGE;
    if (!x.values || (x.count != count && !averages))
        machine_broken(machine, number, "works on %" PRIu64 " elements of a result of %" PRIu64, count,
                       x.count);
    if (unit->output_open && x.values == unit->output.values) {
        if (unit->at - instruction->dependency[0] != unit->output_last ||
            instruction->u.vector.release != count * machine->scenario->plan.hardware.accumulator_bytes)
            machine_broken(machine, number, "does not take the whole output tile");
        unit->output_open = false;
    }
    if (averages)
        return average(machine, number, x);
    struct result result = {.values = machine_values(count), .count = count};
    memcpy(result.values, x.values, count * sizeof *x.values);
    switch ((enum pim_vector)instruction->detail) {
    case PIM_VECTOR_SOFTMAX:
        softmax(x.values, result.values, instruction->u.vector.rows, instruction->u.vector.elements);
        break;
    case PIM_VECTOR_LAYERNORM:
        normalise(machine, number, x, y, result.values);
        break;
    case PIM_VECTOR_ADD:
        if (y.count != count)
            machine_broken(machine, number, "adds %" PRIu64 " elements to %" PRIu64, y.count, count);
        for (uint64_t i = 0; i < count; i++)
            result.values[i] += y.values[i];
        break;
    case PIM_VECTOR_GELU:
        for (uint64_t i = 0; i < count; i++)
            result.values[i] = gelu_of(result.values[i]);
        break;
    case PIM_VECTOR_COPY:
        break;
    case PIM_VECTOR_AVERAGE:
    case PIM_VECTOR_RELU:
    case PIM_VECTOR_MULTIPLY:
    case PIM_VECTOR_MAXIMUM:
    case PIM_VECTOR_SIGMOID:
    case PIM_VECTOR_TANH:
    case PIM_VECTORS:
        machine_broken(machine, number, "operation %u is not expected", instruction->detail);
    }
    return result;
}
