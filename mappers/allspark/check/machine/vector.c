/* What VECTOR instructions compute. */
#include "mappers/allspark/check/machine/machine_internal.h"
#include "mappers/allspark/check/numbers.h"
#include "sim/try.h"

#include <inttypes.h>
#include <string.h>

/* Rows and elements of a VECTOR, its operands, and where its result goes. */
struct work {
    uint64_t rows, elements;
    struct result x, y;
    uint16_t *to;
};

static void softmax(const struct work *work)
{
    const uint16_t *x = work->x.values;
    uint16_t *y = work->to;
    for (uint64_t i = 0; i < work->rows; i++, x += work->elements, y += work->elements) {
        uint64_t sum = 0;
        for (uint64_t j = 0; j < work->elements; j++)
            sum += exponential_of(x[j]);
        for (uint64_t j = 0; j < work->elements; j++)
            y[j] = softmax_of(x[j], sum);
    }
}

/* Two sums of 16 bits in four bytes. */
static void put_sums(uint16_t *bytes, uint16_t sum, uint16_t squares)
{
    bytes[0] = sum;
    bytes[1] = second_half(sum);
    bytes[2] = squares;
    bytes[3] = second_half(squares);
}

/* By the sums that came from all columns; without any: of the row itself. */
static enum pim_status normalise(struct machine *machine, uint32_t number, const struct work *work)
{
    const struct result *statistics = &work->y;
    if (!statistics->values) {
        allspark_normalise(work->x.values, work->to, work->rows, work->elements);
        return PIM_OK;
    }
    uint64_t pieces = statistics->count / (4 * work->rows);
    if (pieces * 4 * work->rows != statistics->count)
        return machine_broken(machine, number, "has %" PRIu64 " bytes of statistics for %" PRIu64 " rows",
                              statistics->count, work->rows);
    for (uint64_t i = 0; i < work->rows; i++) {
        uint16_t sum = 0, squares = 0;
        for (uint64_t piece = 0; piece < pieces; piece++) {
            const uint16_t *bytes = statistics->values + 4 * (piece * work->rows + i);
            if (bytes[1] != second_half(bytes[0]) || bytes[3] != second_half(bytes[2]))
                return machine_broken(machine, number, "statistics of piece %" PRIu64 " are damaged", piece);
            sum = plus(sum, bytes[0]);
            squares = plus(squares, bytes[2]);
        }
        for (uint64_t j = 0; j < work->elements; j++)
            work->to[i * work->elements + j] =
                normal_of(work->x.values[i * work->elements + j], sum, squares);
    }
    return PIM_OK;
}

/* Sums of the channels before a layer normalisation. */
static void add_up_rows(const struct work *work)
{
    for (uint64_t i = 0; i < work->rows; i++) {
        uint16_t sum = 0, squares = 0;
        for (uint64_t j = 0; j < work->elements; j++) {
            uint16_t value = work->x.values[i * work->elements + j];
            sum = plus(sum, value);
            squares = plus_product(squares, value, value);
        }
        put_sums(work->to + 4 * i, sum, squares);
    }
}

/* Sums of `elements` rows, of each every `step`-th number of `rows`; two bytes each where `wide`. */
static void add_up_columns(const struct work *work, uint64_t step, bool wide)
{
    for (uint64_t i = 0; i < work->rows; i++) {
        uint16_t sum = 0;
        for (uint64_t j = 0; j < work->elements; j++)
            sum = plus(sum, work->x.values[step * (j * work->rows + i)]);
        work->to[wide ? 2 * i : i] = sum;
        if (wide)
            work->to[2 * i + 1] = second_half(sum);
    }
}

/* Of a part of the channels, before a layer normalisation; of tokens, for the classifier; of such averages;
   in Focal of what the rows have of a pooled token. */
static enum pim_status average(struct machine *machine, uint32_t number, struct work *work,
                               struct result *result)
{
    struct unit *unit = &machine->units[number];
    const struct phase_kind *kind = machine_kind(machine, unit);
    uint64_t all = work->rows * work->elements;
    bool second = kind->pools && work->x.count == 2 * all, last = second && kind->collects;
    if (!second && work->x.count != all)
        return machine_broken(machine, number, "averages %" PRIu64 " elements of a result of %" PRIu64, all,
                              work->x.count);
    for (uint64_t i = 0; second && i < all; i++)
        if (work->x.values[2 * i + 1] != second_half(work->x.values[2 * i]))
            return machine_broken(machine, number, "sum %" PRIu64 " is damaged", i);
    uint64_t width = kind->window_pool || last ? 1 : kind->pools ? 2 : 4;
    work->to = machine_values(unit, width * work->rows);
    if (!work->to)
        return machine_no_memory(machine);
    *result = (struct result){.values = work->to, .count = width * work->rows};
    if (width == 4)
        add_up_rows(work);
    else
        add_up_columns(work, second ? 2 : 1, width == 2);
    return PIM_OK;
}

/* Operands out of the output tile are taken whole, and give it back; others at most what was loaded to the
   output buffer. */
static enum pim_status take_output(struct machine *machine, uint32_t number, const struct work *work)
{
    struct unit *unit = &machine->units[number];
    uint64_t release = unit->now->u.vector.release;
    if (!work->x.output && !work->y.output) {
        if (release > unit->output_loaded)
            return machine_broken(machine, number, "gives back more of the output buffer than was loaded");
        unit->output_loaded -= release;
        return PIM_OK;
    }
    if (release != unit->output.count * machine->plan->hardware.accumulator_bytes)
        return machine_broken(machine, number, "does not give back the whole output tile");
    unit->output.open = false;
    return PIM_OK;
}

static enum pim_status element_wise(struct machine *machine, uint32_t number, const struct work *work,
                                    unsigned operation)
{
    uint64_t count = work->rows * work->elements;
    if (operation == PIM_VECTOR_ADD && work->y.count != count)
        return machine_broken(machine, number, "adds %" PRIu64 " elements to %" PRIu64, work->y.count, count);
    switch (operation) {
    case PIM_VECTOR_ADD:
        for (uint64_t i = 0; i < count; i++)
            work->to[i] = plus(work->x.values[i], work->y.values[i]);
        return PIM_OK;
    case PIM_VECTOR_GELU:
        for (uint64_t i = 0; i < count; i++)
            work->to[i] = gelu_of(work->x.values[i]);
        return PIM_OK;
    case PIM_VECTOR_COPY:
        memcpy(work->to, work->x.values, count * sizeof *work->to);
        return PIM_OK;
    default:
        return machine_broken(machine, number, "operation %u is none of this mapper", operation);
    }
}

enum pim_status machine_vector(struct machine *machine, uint32_t number, struct result *result)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *now = unit->now;
    struct work work = {.rows = now->u.vector.rows, .elements = now->u.vector.elements};
    uint64_t count = work.rows * work.elements;
    PIM_TRY(machine_operand(machine, number, 0, &work.x));
    PIM_TRY(machine_operand(machine, number, 1, &work.y));
    if (!work.x.values || (work.x.count != count && now->detail != PIM_VECTOR_AVERAGE))
        return machine_broken(machine, number, "works on %" PRIu64 " elements of a result of %" PRIu64, count,
                              work.x.count);
    PIM_TRY(take_output(machine, number, &work));
    if (now->detail == PIM_VECTOR_AVERAGE)
        return average(machine, number, &work, result);
    work.to = machine_values(unit, count);
    if (!work.to)
        return machine_no_memory(machine);
    *result = (struct result){.values = work.to, .count = count};
    if (now->detail == PIM_VECTOR_SOFTMAX) {
        softmax(&work);
        return PIM_OK;
    }
    if (now->detail == PIM_VECTOR_LAYERNORM)
        return normalise(machine, number, &work);
    return element_wise(machine, number, &work, now->detail);
}
