/* What each instruction does to the numbers (execute.h). */
#include "mappers/verify/execute_internal.h"
#include "mappers/verify/value.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENT_BYTES = 2, ELEMENT_BITS = 16 };

static struct pim_execute_range range(uint64_t begin, uint64_t bytes)
{
    return (struct pim_execute_range){begin, begin + bytes};
}

static struct pim_execute_range pieces(uint64_t begin, uint64_t bytes, uint64_t count, uint64_t stride)
{
    return range(begin, stride * (count - 1) + bytes);
}

bool pim_execute_same_arrays(const struct pim_instruction *a, const struct pim_instruction *b)
{
    bool writes = a->opcode == PIM_OP_ARRAY_WRITE || b->opcode == PIM_OP_ARRAY_WRITE;
    const struct pim_instruction *const both[] = {a, b};
    uint32_t group[2] = {0, 0};
    for (int i = 0; i < 2 && writes; i++) {
        if (both[i]->opcode != PIM_OP_ARRAY_WRITE && both[i]->opcode != PIM_OP_MVM)
            return false;
        group[i] = both[i]->opcode == PIM_OP_MVM ? both[i]->u.mvm.group : both[i]->u.array_write.group;
    }
    return writes && group[0] == group[1];
}

enum pim_status pim_execute_ranges(struct pim_execute_slot *slot, struct pim_error *error)
{
    const struct pim_instruction *i = &slot->instruction;
    slot->read[0] = slot->read[1] = slot->write = range(0, 0);
    slot->engine = (uint8_t)pim_opcode_engine(i->opcode);
    switch (i->opcode) {
    case PIM_OP_MVM:
        slot->read[0] = range(i->u.mvm.input_address, i->u.mvm.input_bytes);
        slot->write = range(i->u.mvm.output_address, i->u.mvm.output_bytes);
        return PIM_OK;
    case PIM_OP_ARRAY_WRITE:
        slot->read[0] = range(i->u.array_write.source, i->u.array_write.bytes);
        return PIM_OK;
    case PIM_OP_LOCAL_LOAD:
        slot->write = range(i->u.transfer.local, (uint64_t)i->u.transfer.bytes * i->u.transfer.count);
        return PIM_OK;
    case PIM_OP_LOCAL_STORE:
        slot->read[0] = range(i->u.transfer.local, (uint64_t)i->u.transfer.bytes * i->u.transfer.count);
        return PIM_OK;
    case PIM_OP_LOCAL_VECTOR: {
        uint64_t bytes = (uint64_t)i->u.local_vector.elements * ELEMENT_BYTES;
        slot->read[0] = range(i->u.local_vector.source, bytes);
        if (pim_local_sources(i->detail) == 2)
            slot->read[1] = range(i->u.local_vector.second, bytes);
        slot->write = range(i->u.local_vector.destination, bytes);
        return PIM_OK;
    }
    case PIM_OP_LOCAL_COPY:
        slot->read[0] = pieces(i->u.local_copy.source, i->u.local_copy.bytes, i->u.local_copy.count,
                               i->u.local_copy.source_stride);
        slot->write = pieces(i->u.local_copy.destination, i->u.local_copy.bytes, i->u.local_copy.count,
                             i->u.local_copy.destination_stride);
        return PIM_OK;
    case PIM_OP_LOCAL_WRITE:
        slot->write = pieces(i->u.local_write.destination, i->u.local_write.bytes, i->u.local_write.count,
                             i->u.local_write.stride);
        return PIM_OK;
    case PIM_OP_SEND:
        slot->read[0] = range(i->u.network.address, i->u.network.bytes);
        return PIM_OK;
    case PIM_OP_RECEIVE:
        slot->write = range(i->u.network.address, i->u.network.bytes);
        return PIM_OK;
    default:
        return pim_fail(error, PIM_BAD_INPUT, "it is no instruction of cores with crossbars");
    }
}

uint8_t *pim_execute_scratch(struct pim_core_execution *execution, size_t size)
{
    if (size > execution->scratch_capacity) {
        uint8_t *grown = realloc(execution->scratch, size);
        if (!grown)
            return NULL;
        execution->scratch = grown;
        execution->scratch_capacity = size;
    }
    return execution->scratch;
}

static int16_t get(const uint8_t *bytes)
{
    return pim_value_cut(bytes[0] | bytes[1] << 8);
}

static void put(uint8_t *bytes, int16_t value)
{
    bytes[0] = (uint8_t)((unsigned)value & UINT8_MAX);
    bytes[1] = (uint8_t)((unsigned)value >> 8 & UINT8_MAX);
}

/* The weights of a layer, all rows and columns that any group has of it. */
static enum pim_status matrix_of(struct pim_core_execution *execution, uint32_t layer,
                                 const struct pim_execute_matrix **found, struct pim_error *error)
{
    assert(layer < execution->matrices);
    struct pim_execute_matrix *matrix = &execution->matrix[layer];
    *found = matrix;
    if (matrix->weight)
        return PIM_OK;
    if (!execution->options.weight)
        return pim_fail(error, PIM_BAD_INPUT, "nobody has given the weights of layer %" PRIu32, layer);
    int16_t *weight = calloc((size_t)matrix->rows * matrix->columns, sizeof *weight);
    if (!weight)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the weights of layer %" PRIu32, layer);
    matrix->weight = weight;
    for (uint32_t row = 0; row < matrix->rows; row++)
        for (uint32_t column = 0; column < matrix->columns; column++)
            *weight++ =
                pim_value_cut(execution->options.weight(execution->options.context, layer, row, column));
    return PIM_OK;
}

/* The weights of a group: of a fold, the first row; from a row to the next. */
struct weights {
    const int16_t *first;
    size_t fold, row;
};

/* What the arrays of a group hold: what the program has written, or the matrix of the layer. */
static enum pim_status weights_of(struct pim_core_execution *execution, const struct pim_execute_core *core,
                                  uint32_t number, struct weights *weights, struct pim_error *error)
{
    const struct pim_trace_array_group *group = &core->group[number];
    if (group->set == 0) {
        const struct pim_execute_matrix *matrix;
        if (matrix_of(execution, group->layer, &matrix, error) != PIM_OK)
            return error->status;
        *weights =
            (struct weights){.first = matrix->weight + (size_t)group->row * matrix->columns + group->column,
                             .fold = (size_t)group->fold_stride * matrix->columns,
                             .row = matrix->columns};
        return PIM_OK;
    }
    if (core->set != group->set || core->cells[number].rows < group->rows)
        return pim_fail(error, PIM_BAD_INPUT,
                        "array group %" PRIu32 " of set %" PRIu32 ": its arrays hold %" PRIu32 " of %" PRIu32
                        " rows of it",
                        number, group->set, core->set == group->set ? core->cells[number].rows : 0,
                        group->rows);
    *weights = (struct weights){.first = core->cells[number].weight,
                                .fold = group->columns,
                                .row = (size_t)group->folds * group->columns};
    return PIM_OK;
}

static void forget_cells(struct pim_execute_core *core)
{
    for (uint32_t i = 0; i < core->groups; i++) {
        free(core->cells[i].weight);
        core->cells[i] = (struct pim_execute_cells){.rows = 0};
    }
}

static enum pim_status write_cells(struct pim_core_execution *execution, struct pim_execute_core *core,
                                   const struct pim_instruction *instruction, struct pim_error *error)
{
    const struct pim_operands_array_write *o = &instruction->u.array_write;
    if (o->group >= core->groups || core->group[o->group].set == 0)
        return pim_fail(error, PIM_BAD_INPUT, "array group %" PRIu32 " is not one that is written", o->group);
    const struct pim_trace_array_group *group = &core->group[o->group];
    uint64_t weights = (uint64_t)group->folds * group->columns;
    if (o->rows > group->rows || o->row > group->rows - o->rows ||
        o->bytes != o->rows * weights * ELEMENT_BYTES)
        return pim_fail(error, PIM_BAD_INPUT,
                        "array group %" PRIu32 " has %" PRIu32 " rows of %" PRIu64 " weights", o->group,
                        group->rows, weights);
    if (!core->cells)
        core->cells = calloc(core->groups, sizeof *core->cells);
    if (!core->cells)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the cells of a core");
    if (core->set != group->set)
        forget_cells(core);
    core->set = group->set;
    struct pim_execute_cells *cells = &core->cells[o->group];
    if (!cells->weight)
        cells->weight = calloc(group->rows * weights, sizeof *cells->weight);
    uint8_t *bytes = pim_execute_scratch(execution, o->bytes);
    if (!cells->weight || !bytes)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the cells of an array group");
    if (o->row > cells->rows)
        return pim_fail(error, PIM_BAD_INPUT,
                        "array group %" PRIu32 ": row %" PRIu32 " is written before row %" PRIu32, o->group,
                        o->row, cells->rows);
    if (pim_execute_load(&core->local, o->source, bytes, o->bytes, error) != PIM_OK)
        return error->status;
    for (size_t i = 0; i < o->rows * weights; i++)
        cells->weight[o->row * weights + i] = get(bytes + i * ELEMENT_BYTES);
    cells->rows = o->row + o->rows;
    return PIM_OK;
}

static void multiply(const struct weights *weights, const struct pim_trace_array_group *group, uint32_t fold,
                     const uint8_t *input, uint32_t *sum)
{
    memset(sum, 0, group->columns * sizeof *sum);
    for (size_t row = 0; row < group->rows; row++) {
        int32_t element = get(input + row * ELEMENT_BYTES);
        const int16_t *weight = weights->first + fold * weights->fold + row * weights->row;
        for (uint32_t column = 0; column < group->columns; column++)
            sum[column] += (uint32_t)(element * weight[column]); /* below 2^31 */
    }
}

static enum pim_status mvm(struct pim_core_execution *execution, struct pim_execute_core *core,
                           const struct pim_instruction *instruction, struct pim_error *error)
{
    uint32_t number = instruction->u.mvm.group;
    if (number >= core->groups)
        return pim_fail(error, PIM_BAD_INPUT, "array group %" PRIu32 ": the core has %" PRIu32, number,
                        core->groups);
    const struct pim_trace_array_group *group = &core->group[number];
    uint64_t input_bytes = (uint64_t)group->rows * ELEMENT_BYTES;
    uint64_t output_bytes = (uint64_t)group->folds * group->columns * ELEMENT_BYTES;
    if (instruction->u.mvm.windows != 1 || instruction->u.mvm.input_bytes != input_bytes ||
        instruction->u.mvm.output_bytes != output_bytes)
        return pim_fail(error, PIM_BAD_INPUT,
                        "array group %" PRIu32 " takes 1 window of %" PRIu64 " bytes and makes %" PRIu64,
                        number, input_bytes, output_bytes);
    struct weights weights = {.first = NULL};
    if (weights_of(execution, core, number, &weights, error) != PIM_OK)
        return error->status;
    size_t sums = group->columns * sizeof(uint32_t);
    uint8_t *scratch = pim_execute_scratch(execution, sums + input_bytes + output_bytes);
    if (!scratch)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a vector");
    uint32_t *sum = (uint32_t *)(void *)scratch;
    uint8_t *input = scratch + sums, *output = input + input_bytes;
    if (pim_execute_load(&core->local, instruction->u.mvm.input_address, input, input_bytes, error) != PIM_OK)
        return error->status;
    uint8_t *next = output;
    for (uint32_t fold = 0; fold < group->folds; fold++) {
        multiply(&weights, group, fold, input, sum);
        for (uint32_t column = 0; column < group->columns; column++, next += ELEMENT_BYTES)
            put(next, pim_value_cut(sum[column]));
    }
    execution->counts.mvms++;
    return pim_execute_store(&core->local, instruction->u.mvm.output_address, output, output_bytes, error);
}

static enum pim_status vector(struct pim_core_execution *execution, struct pim_execute_core *core,
                              const struct pim_instruction *instruction, struct pim_error *error)
{
    if (instruction->u.local_vector.bits != ELEMENT_BITS)
        return pim_fail(error, PIM_BAD_INPUT, "elements of %" PRIu32 " bits: the executor knows 16",
                        instruction->u.local_vector.bits);
    size_t elements = instruction->u.local_vector.elements, bytes = elements * ELEMENT_BYTES;
    uint8_t *a = pim_execute_scratch(execution, 2 * bytes);
    if (!a)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a vector");
    uint8_t *b = a + bytes;
    if (pim_execute_load(&core->local, instruction->u.local_vector.source, a, bytes, error) != PIM_OK)
        return error->status;
    bool two = pim_local_sources(instruction->detail) == 2;
    if (two && pim_execute_load(&core->local, instruction->u.local_vector.second, b, bytes, error) != PIM_OK)
        return error->status;
    for (size_t i = 0; i < elements; i++) {
        int16_t second = two ? get(b + i * ELEMENT_BYTES) : 0;
        put(a + i * ELEMENT_BYTES, pim_value_local(instruction->detail, instruction->u.local_vector.immediate,
                                                   get(a + i * ELEMENT_BYTES), second));
    }
    return pim_execute_store(&core->local, instruction->u.local_vector.destination, a, bytes, error);
}

static enum pim_status copy(struct pim_core_execution *execution, struct pim_execute_core *core,
                            const struct pim_instruction *instruction, struct pim_error *error)
{
    size_t bytes = instruction->u.local_copy.bytes, count = instruction->u.local_copy.count;
    uint8_t *buffer = pim_execute_scratch(execution, bytes * count);
    if (!buffer)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a copy");
    for (size_t i = 0; i < count; i++)
        if (pim_execute_load(&core->local,
                             instruction->u.local_copy.source + i * instruction->u.local_copy.source_stride,
                             buffer + i * bytes, bytes, error) != PIM_OK)
            return error->status;
    for (size_t i = 0; i < count; i++)
        if (pim_execute_store(&core->local,
                              instruction->u.local_copy.destination +
                                  i * instruction->u.local_copy.destination_stride,
                              buffer + i * bytes, bytes, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

static enum pim_status fill(struct pim_core_execution *execution, struct pim_execute_core *core,
                            const struct pim_instruction *instruction, struct pim_error *error)
{
    size_t bytes = instruction->u.local_write.bytes;
    uint8_t *buffer = pim_execute_scratch(execution, bytes);
    if (!buffer)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a constant");
    memset(buffer, (int)(instruction->u.local_write.value & UINT8_MAX), bytes);
    for (size_t i = 0; i < instruction->u.local_write.count; i++)
        if (pim_execute_store(&core->local,
                              instruction->u.local_write.destination + i * instruction->u.local_write.stride,
                              buffer, bytes, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

static enum pim_status load(struct pim_core_execution *execution, struct pim_execute_core *core,
                            const struct pim_instruction *instruction, struct pim_error *error)
{
    size_t bytes = instruction->u.transfer.bytes, count = instruction->u.transfer.count;
    uint8_t *buffer = pim_execute_scratch(execution, bytes * count);
    if (!buffer)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a load");
    for (size_t i = 0; i < count; i++)
        if (pim_execute_load(&execution->global,
                             instruction->u.transfer.address + i * instruction->u.transfer.stride,
                             buffer + i * bytes, bytes, error) != PIM_OK)
            return error->status;
    return pim_execute_store(&core->local, instruction->u.transfer.local, buffer, bytes * count, error);
}

/* Each piece waits as a store of its own; whether it waits to the next join is drawn for all of them. */
static enum pim_status store(struct pim_core_execution *execution, struct pim_execute_core *core,
                             const struct pim_instruction *instruction, struct pim_error *error)
{
    size_t bytes = instruction->u.transfer.bytes, count = instruction->u.transfer.count;
    bool waits = pim_random_next(&execution->random) & 1;
    for (size_t i = 0; i < count; i++) {
        struct pim_execute_bytes *piece = malloc(sizeof *piece + bytes);
        if (!piece)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for a store");
        piece->address = instruction->u.transfer.address + i * instruction->u.transfer.stride;
        piece->count = bytes;
        piece->next = core->pending;
        core->pending = piece;
        if (pim_execute_load(&core->local, instruction->u.transfer.local + i * bytes, piece->byte, bytes,
                             error) != PIM_OK)
            return error->status;
    }
    return waits ? PIM_OK : pim_execute_flush(execution, core, error);
}

enum pim_status pim_execute_flush(struct pim_core_execution *execution, struct pim_execute_core *core,
                                  struct pim_error *error)
{
    struct pim_execute_bytes *oldest = NULL;
    while (core->pending) {
        struct pim_execute_bytes *next = core->pending->next;
        core->pending->next = oldest;
        oldest = core->pending;
        core->pending = next;
    }
    enum pim_status status = PIM_OK;
    while (oldest) {
        struct pim_execute_bytes *next = oldest->next;
        if (status == PIM_OK)
            status =
                pim_execute_store(&execution->global, oldest->address, oldest->byte, oldest->count, error);
        free(oldest);
        oldest = next;
    }
    return status;
}

enum pim_status pim_execute_message(struct pim_core_execution *execution, struct pim_execute_core *source,
                                    const struct pim_instruction *send, struct pim_execute_core *destination,
                                    const struct pim_instruction *receive, struct pim_error *error)
{
    size_t bytes = send->u.network.bytes;
    uint8_t *buffer = pim_execute_scratch(execution, bytes);
    if (!buffer)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a message");
    if (pim_execute_load(&source->local, send->u.network.address, buffer, bytes, error) != PIM_OK)
        return error->status;
    return pim_execute_store(&destination->local, receive->u.network.address, buffer, bytes, error);
}

enum pim_status pim_execute_instruction(struct pim_core_execution *execution, struct pim_execute_core *core,
                                        const struct pim_instruction *instruction, struct pim_error *error)
{
    switch (instruction->opcode) {
    case PIM_OP_MVM:
        return mvm(execution, core, instruction, error);
    case PIM_OP_ARRAY_WRITE:
        return write_cells(execution, core, instruction, error);
    case PIM_OP_LOCAL_LOAD:
        return load(execution, core, instruction, error);
    case PIM_OP_LOCAL_STORE:
        return store(execution, core, instruction, error);
    case PIM_OP_LOCAL_VECTOR:
        return vector(execution, core, instruction, error);
    case PIM_OP_LOCAL_COPY:
        return copy(execution, core, instruction, error);
    default:
        assert(instruction->opcode == PIM_OP_LOCAL_WRITE); /* pim_execute_ranges refuses others */
        return fill(execution, core, instruction, error);
    }
}
