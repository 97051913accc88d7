#include "traces/counts.h"

#include <stdbool.h>
#include <string.h>

uint64_t pim_add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t pim_multiply_saturating(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

uint64_t pim_memory_bytes(const struct pim_instruction *instruction)
{
    return (uint64_t)instruction->u.memory.bytes * instruction->u.memory.count;
}

uint64_t pim_matrix_bytes(const struct pim_instruction *instruction, enum pim_buffer buffer,
                          uint32_t accumulator_bits)
{
    uint64_t m = instruction->u.matrix.m, n = instruction->u.matrix.n, k = instruction->u.matrix.k;
    switch (buffer) {
    case PIM_BUFFER_INPUT:
        return (m * k * instruction->u.matrix.input_bits + 7) / 8;
    case PIM_BUFFER_WEIGHT:
        return (k * n * instruction->u.matrix.weight_bits + 7) / 8;
    case PIM_BUFFER_OUTPUT:
        return (m * n * (accumulator_bits ? accumulator_bits : instruction->u.matrix.output_bits) + 7) / 8;
    case PIM_BUFFER_NONE:
    case PIM_BUFFERS:
        break;
    }
    return 0;
}

uint64_t pim_group_macs(const struct pim_trace_array_group *group)
{
    return (uint64_t)group->folds * group->columns * group->rows; /* below 2^31 * 2^31 */
}

static void add(uint64_t *count, uint64_t value, uint64_t times)
{
    *count = pim_add_saturating(*count, pim_multiply_saturating(value, times));
}

/* Instructions of the local memory of a core. */
static void add_local(struct pim_trace_counts *counts, const struct pim_instruction *instruction,
                      uint64_t times)
{
    switch (instruction->opcode) {
    case PIM_OP_LOCAL_LOAD:
        add(&counts->local_loaded_bytes,
            (uint64_t)instruction->u.transfer.bytes * instruction->u.transfer.count, times);
        break;
    case PIM_OP_LOCAL_STORE:
        add(&counts->local_stored_bytes,
            (uint64_t)instruction->u.transfer.bytes * instruction->u.transfer.count, times);
        break;
    case PIM_OP_LOCAL_VECTOR:
        add(&counts->local_elements, instruction->u.local_vector.elements, times);
        break;
    case PIM_OP_LOCAL_COPY:
        add(&counts->local_copied_bytes,
            (uint64_t)instruction->u.local_copy.bytes * instruction->u.local_copy.count, times);
        break;
    case PIM_OP_LOCAL_WRITE:
        add(&counts->local_written_bytes,
            (uint64_t)instruction->u.local_write.bytes * instruction->u.local_write.count, times);
        break;
    default:
        break;
    }
}

static void add_message(struct pim_trace_counts *counts, const struct pim_instruction *instruction,
                        uint64_t times)
{
    unsigned kind = instruction->detail;
    bool sends = instruction->opcode == PIM_OP_SEND;
    add(sends ? &counts->sent_bytes : &counts->received_bytes, instruction->u.network.bytes, times);
    add(sends ? &counts->sent_by_kind[kind] : &counts->received_by_kind[kind], instruction->u.network.bytes,
        times);
    add(&counts->sends_by_kind[kind], sends ? 1 : 0, times);
}

void pim_counts_add(struct pim_trace_counts *counts, const struct pim_instruction *instruction,
                    uint64_t times)
{
    unsigned opcode = instruction->opcode;
    add(&counts->by_opcode[opcode], 1, times);
    if (opcode != PIM_OP_REPEAT)
        add(&counts->fetched, 1, times);
    if (opcode == PIM_OP_LOAD)
        add(&counts->loaded_bytes[instruction->detail], pim_memory_bytes(instruction), times);
    else if (opcode == PIM_OP_STORE)
        add(&counts->stored_bytes[instruction->detail], pim_memory_bytes(instruction), times);
    else if (opcode == PIM_OP_MATRIX)
        add(&counts->macs,
            (uint64_t)instruction->u.matrix.m * instruction->u.matrix.n * instruction->u.matrix.k, times);
    else if (opcode == PIM_OP_MVM)
        add(&counts->mvm_windows, instruction->u.mvm.windows, times);
    else if (opcode == PIM_OP_BIT_SERIAL)
        add(&counts->bit_serial_operations, instruction->u.bit_serial.count, times);
    else if (opcode == PIM_OP_ROW_COMPUTE || opcode == PIM_OP_ROW_TRANSPOSE)
        add(&counts->bit_serial_operations, instruction->u.row_compute.count, times);
    else if (opcode == PIM_OP_VECTOR)
        add(&counts->vector_elements, (uint64_t)instruction->u.vector.rows * instruction->u.vector.elements,
            times);
    else if (opcode == PIM_OP_SEND || opcode == PIM_OP_RECEIVE)
        add_message(counts, instruction, times);
    else if (opcode >= PIM_OP_LOCAL_LOAD)
        add_local(counts, instruction, times);
}

void pim_counts_merge(struct pim_trace_counts *counts, const struct pim_trace_counts *other)
{
    add(&counts->stored, other->stored, 1);
    add(&counts->fetched, other->fetched, 1);
    for (int i = 0; i < PIM_OPCODES; i++)
        add(&counts->by_opcode[i], other->by_opcode[i], 1);
    add(&counts->macs, other->macs, 1);
    add(&counts->mvm_windows, other->mvm_windows, 1);
    add(&counts->crossbar_macs, other->crossbar_macs, 1);
    add(&counts->bit_serial_operations, other->bit_serial_operations, 1);
    add(&counts->vector_elements, other->vector_elements, 1);
    for (int i = 0; i < PIM_BUFFERS; i++) {
        add(&counts->loaded_bytes[i], other->loaded_bytes[i], 1);
        add(&counts->stored_bytes[i], other->stored_bytes[i], 1);
    }
    add(&counts->sent_bytes, other->sent_bytes, 1);
    add(&counts->received_bytes, other->received_bytes, 1);
    for (int i = 0; i < PIM_MESSAGES; i++) {
        add(&counts->sends_by_kind[i], other->sends_by_kind[i], 1);
        add(&counts->sent_by_kind[i], other->sent_by_kind[i], 1);
        add(&counts->received_by_kind[i], other->received_by_kind[i], 1);
    }
    add(&counts->local_loaded_bytes, other->local_loaded_bytes, 1);
    add(&counts->local_stored_bytes, other->local_stored_bytes, 1);
    add(&counts->local_elements, other->local_elements, 1);
    add(&counts->local_copied_bytes, other->local_copied_bytes, 1);
    add(&counts->local_written_bytes, other->local_written_bytes, 1);
}

enum pim_status pim_counts_of_unit(const struct pim_trace *trace, uint32_t unit,
                                   struct pim_trace_counts *counts, struct pim_error *error)
{
    uint64_t times[PIM_REPEAT_DEPTH + 1] = {1}; /* how often the code at each depth is executed */
    uint32_t remaining[PIM_REPEAT_DEPTH + 1] = {0};
    unsigned depth = 0;
    uint32_t groups;
    const struct pim_trace_array_group *group = pim_trace_array_groups(trace, unit, &groups);
    struct pim_trace_cursor *cursor;
    memset(counts, 0, sizeof *counts);
    enum pim_status status = pim_trace_cursor_create_stored(trace, unit, &cursor, error);
    if (status != PIM_OK)
        return status;
    const struct pim_instruction *instruction;
    while ((status = pim_trace_cursor_next(cursor, &instruction, error)) == PIM_OK && instruction) {
        counts->stored++;
        pim_counts_add(counts, instruction, times[depth]);
        if (instruction->opcode == PIM_OP_MVM && instruction->u.mvm.group < groups)
            add(&counts->crossbar_macs,
                pim_multiply_saturating(pim_group_macs(&group[instruction->u.mvm.group]),
                                        instruction->u.mvm.windows),
                times[depth]);
        if (instruction->opcode == PIM_OP_REPEAT) {
            if (depth > 0)
                remaining[depth] -= 1 + instruction->u.control.length;
            depth++;
            remaining[depth] = instruction->u.control.length;
            times[depth] = pim_multiply_saturating(times[depth - 1], instruction->u.control.count);
            continue;
        }
        if (depth > 0)
            remaining[depth]--;
        while (depth > 0 && remaining[depth] == 0)
            depth--;
    }
    pim_trace_cursor_destroy(cursor);
    return status;
}
