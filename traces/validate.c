/*
 * Checks of one instruction and of one program; see validate.h. Each opcode's rules stand in one function, in
 * the order of the fields of the record.
 */
#include "traces/validate.h"

#include "traces/trace.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

enum { LARGEST_BITS = 64, LARGEST_SERIAL_BITS = 1024, LARGEST_ROW_BITS = 32, LARGEST_REDUCTION = 24 };

/* The messages stand apart from the checks: every instruction of a trace passes through these, so that they
 * are expanded where they are called, and what their constants settle costs nothing. */
static PIM_NOINLINE enum pim_status refuse_range(uint64_t value, uint64_t least, uint64_t most,
                                                 const char *name, struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT, "%s is %" PRIu64 ": allowed are %" PRIu64 " to %" PRIu64, name,
                    value, least, most);
}

static PIM_NOINLINE enum pim_status refuse_unused(uint64_t value, const char *name, struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT, "%s is %" PRIu64 ", but is not used here and must be 0", name,
                    value);
}

static PIM_ALWAYS_INLINE enum pim_status check_range(uint64_t value, uint64_t least, uint64_t most,
                                                     const char *name, struct pim_error *error)
{
    return PIM_LIKELY(value >= least && value <= most) ? PIM_OK
                                                       : refuse_range(value, least, most, name, error);
}

static PIM_ALWAYS_INLINE enum pim_status check_unused(uint64_t value, const char *name,
                                                      struct pim_error *error)
{
    return PIM_LIKELY(value == 0) ? PIM_OK : refuse_unused(value, name, error);
}

#define TRY(call)                                                                                            \
    do {                                                                                                     \
        enum pim_status try_status = (call);                                                                 \
        if (PIM_UNLIKELY(try_status != PIM_OK))                                                              \
            return try_status;                                                                               \
    } while (0)

static enum pim_status check_memory(const struct pim_instruction *instruction, struct pim_error *error)
{
    uint64_t address = instruction->u.memory.address;
    TRY(check_range(instruction->detail, 0, PIM_BUFFERS - 1, "buffer", error));
    TRY(check_range(address, 0, PIM_MEMORY_END, "address", error));
    TRY(check_range(instruction->u.memory.bytes, 1, UINT32_MAX, "bytes", error));
    TRY(check_range(instruction->u.memory.count, 1, UINT32_MAX, "count", error));
    if (instruction->u.memory.count > 1 && instruction->u.memory.stride < instruction->u.memory.bytes)
        return pim_fail(error, PIM_BAD_INPUT,
                        "stride is %" PRIu32 ": pieces of %" PRIu32 " bytes would overlap",
                        instruction->u.memory.stride, instruction->u.memory.bytes);
    uint64_t reach = (uint64_t)instruction->u.memory.stride * (instruction->u.memory.count - 1);
    /* each sum below stays under 2^64 because its parts were bounded before */
    TRY(check_range(reach, 0, PIM_MEMORY_END, "stride * (count - 1)", error));
    TRY(check_range(address + reach + instruction->u.memory.bytes, 0, PIM_MEMORY_END, "end of the last piece",
                    error));
    uint64_t amount = (uint64_t)instruction->u.memory.bytes * instruction->u.memory.count;
    return check_range(amount, 1, PIM_MEMORY_END, "bytes * count", error);
}

static enum pim_status check_matrix(const struct pim_instruction *instruction, struct pim_error *error)
{
    uint64_t m = instruction->u.matrix.m, n = instruction->u.matrix.n, k = instruction->u.matrix.k;
    TRY(check_range(instruction->detail, 0, PIM_MATRIX_FLAGS, "flags", error));
    TRY(check_range(m, 1, UINT32_MAX, "m", error));
    TRY(check_range(n, 1, UINT32_MAX, "n", error));
    TRY(check_range(k, 1, UINT32_MAX, "k", error));
    /* each product of two, times 64 bits, and the product of three stay far below 2^63 */
    if (m * n > PIM_MATRIX_WORK || m * k > PIM_MATRIX_WORK || n * k > PIM_MATRIX_WORK ||
        m * n > PIM_MATRIX_WORK / k)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "m * n * k = %" PRIu64 " * %" PRIu64 " * %" PRIu64 " is more than 2^48: split the tile", m, n, k);
    TRY(check_range(instruction->u.matrix.input_bits, 1, LARGEST_BITS, "input_bits", error));
    TRY(check_range(instruction->u.matrix.weight_bits, 1, LARGEST_BITS, "weight_bits", error));
    TRY(check_range(instruction->u.matrix.output_bits, 1, LARGEST_BITS, "output_bits", error));
    TRY(check_unused(instruction->u.matrix.reserved, "reserved byte 23", error));
    TRY(check_unused(instruction->u.matrix.reserved2[0], "reserved word 24", error));
    return check_unused(instruction->u.matrix.reserved2[1], "reserved word 28", error);
}

static PIM_ALWAYS_INLINE enum pim_status check_mvm(const struct pim_instruction *instruction,
                                                   struct pim_error *error)
{
    TRY(check_unused(instruction->detail, "detail", error));
    TRY(check_range(instruction->u.mvm.windows, 1, UINT32_MAX, "windows", error));
    TRY(check_range((uint64_t)instruction->u.mvm.input_address + instruction->u.mvm.input_bytes, 0,
                    UINT32_MAX, "end of the input", error));
    return check_range((uint64_t)instruction->u.mvm.output_address + instruction->u.mvm.output_bytes, 0,
                       UINT32_MAX, "end of the output", error);
}

static enum pim_status check_bit_serial(const struct pim_instruction *instruction, struct pim_error *error)
{
    TRY(check_range(instruction->detail, 0, PIM_BIT_SERIALS - 1, "operation", error));
    TRY(check_range(instruction->u.bit_serial.bits, 1, LARGEST_SERIAL_BITS, "bits", error));
    TRY(check_range(instruction->u.bit_serial.rows, 1, UINT32_MAX, "rows", error));
    TRY(check_range(instruction->u.bit_serial.banks, 1, UINT32_MAX, "banks", error));
    TRY(check_range((uint64_t)instruction->u.bit_serial.first_bank + instruction->u.bit_serial.banks, 1,
                    UINT32_MAX, "first_bank + banks", error));
    TRY(check_range(instruction->u.bit_serial.count, 1, UINT32_MAX, "count", error));
    return check_unused(instruction->u.bit_serial.reserved, "reserved word 28", error);
}

static enum pim_status check_peer(uint32_t peer, uint32_t unit, uint32_t units, struct pim_error *error)
{
    if (peer >= units)
        return pim_fail(error, PIM_BAD_INPUT, "peer is %" PRIu32 ": the trace has units 0 to %" PRIu32, peer,
                        units - 1);
    if (peer == unit)
        return pim_fail(error, PIM_BAD_INPUT,
                        "peer %" PRIu32 " is the unit itself: a message goes to another unit", unit);
    return PIM_OK;
}

/* Banks first + i * stride for i below `banks`. */
static enum pim_status check_banks(uint32_t first, uint32_t banks, uint32_t stride, struct pim_error *error)
{
    TRY(check_range(banks, 1, UINT16_MAX, "banks", error));
    TRY(check_range(stride, 1, UINT16_MAX, "bank_stride", error));
    return check_range((uint64_t)first + (uint64_t)(banks - 1) * stride, 0, UINT16_MAX, "the last bank",
                       error);
}

static enum pim_status check_rows(uint64_t first, uint64_t rows, const char *name, struct pim_error *error)
{
    return check_range(first + rows, 0, UINT32_MAX, name, error);
}

static enum pim_status check_row_compute(const struct pim_instruction *instruction, struct pim_error *error)
{
    uint32_t bits = instruction->u.row_compute.bits, size = instruction->u.row_compute.size;
    bool transpose = instruction->opcode == PIM_OP_ROW_TRANSPOSE;
    unsigned operation = transpose ? PIM_ROW_OPERATIONS : instruction->detail;
    TRY(check_range(instruction->detail, 0, transpose ? 0 : PIM_ROW_OPERATIONS - 1, "operation", error));
    TRY(check_range(bits, 1, LARGEST_ROW_BITS, "bits", error));
    if (operation == PIM_ROW_MULTIPLY)
        TRY(check_range(size, bits, 2 * bits, "size", error));
    else if (operation == PIM_ROW_REDUCE)
        TRY(check_range(size, 1, LARGEST_REDUCTION, "size", error));
    else
        TRY(check_unused(size, "size", error));
    if (transpose || operation == PIM_ROW_COPY)
        TRY(check_unused(instruction->u.row_compute.second, "second", error));
    TRY(check_rows(instruction->u.row_compute.source, 2 * LARGEST_ROW_BITS, "rows behind source", error));
    TRY(check_rows(instruction->u.row_compute.second, 2 * LARGEST_ROW_BITS, "rows behind second", error));
    TRY(check_rows(instruction->u.row_compute.result, 2 * LARGEST_ROW_BITS, "rows behind result", error));
    TRY(check_range(instruction->u.row_compute.count, 1, UINT32_MAX, "count", error));
    return check_banks(instruction->u.row_compute.first_bank, instruction->u.row_compute.banks,
                       instruction->u.row_compute.bank_stride, error);
}

static enum pim_status check_row_move(const struct pim_instruction *instruction, struct pim_error *error)
{
    uint32_t banks = instruction->u.row_move.banks, stride = instruction->u.row_move.bank_stride;
    bool column = instruction->detail == PIM_REACH_COLUMN;
    TRY(check_range(instruction->detail, PIM_REACH_COLUMN, PIM_REACH_BANK, "reach", error));
    TRY(check_range(instruction->u.row_move.rows, 1, UINT32_MAX, "rows", error));
    TRY(check_rows(instruction->u.row_move.source, instruction->u.row_move.rows, "source + rows", error));
    TRY(check_rows(instruction->u.row_move.result, instruction->u.row_move.rows, "result + rows", error));
    TRY(check_banks(instruction->u.row_move.first_bank, banks, stride, error));
    if (column)
        return check_unused(instruction->u.row_move.to_bank, "to_bank", error);
    TRY(check_unused(instruction->u.row_move.shift, "shift", error));
    return check_banks(instruction->u.row_move.to_bank, banks, stride, error);
}

static enum pim_status check_row_message(const struct pim_instruction *instruction, uint32_t unit,
                                         uint32_t units, struct pim_error *error)
{
    TRY(check_range(instruction->detail, PIM_REACH_CHANNEL, PIM_REACH_STACK, "reach", error));
    TRY(check_peer(instruction->u.row_message.peer, unit, units, error));
    TRY(check_range(instruction->u.row_message.rows, 1, UINT32_MAX, "rows", error));
    TRY(check_rows(instruction->u.row_message.row, instruction->u.row_message.rows, "row + rows", error));
    TRY(check_unused(instruction->u.row_message.reserved, "reserved half-word 30", error));
    return check_banks(instruction->u.row_message.first_bank, instruction->u.row_message.banks,
                       instruction->u.row_message.bank_stride, error);
}

static enum pim_status check_vector(const struct pim_instruction *instruction, struct pim_error *error)
{
    TRY(check_range(instruction->detail, 0, PIM_VECTORS - 1, "operation", error));
    TRY(check_range(instruction->u.vector.rows, 1, UINT32_MAX, "rows", error));
    TRY(check_range(instruction->u.vector.elements, 1, UINT32_MAX, "elements", error));
    TRY(check_range((uint64_t)instruction->u.vector.rows * instruction->u.vector.elements, 1, PIM_MATRIX_WORK,
                    "rows * elements", error));
    return check_range(instruction->u.vector.bits, 1, LARGEST_BITS, "bits", error);
}

/* What is wrong with pieces in the local memory. */
static PIM_NOINLINE enum pim_status refuse_pieces(uint64_t address, uint64_t bytes, uint64_t count,
                                                  uint64_t stride, bool apart, const char *what,
                                                  struct pim_error *error)
{
    TRY(check_range(bytes, 1, UINT32_MAX, "bytes", error));
    TRY(check_range(count, 1, UINT32_MAX, "count", error));
    if (apart && count > 1 && stride < bytes)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s stride is %" PRIu64 ": pieces of %" PRIu64 " bytes would overlap", what, stride,
                        bytes);
    if (count > 1 && stride > UINT32_MAX / (count - 1))
        return pim_fail(error, PIM_BAD_INPUT, "%s stride %" PRIu64 " times %" PRIu64 " pieces is beyond 2^32",
                        what, stride, count);
    return pim_fail(error, PIM_BAD_INPUT, "%s ends at %" PRIu64 ": a local memory ends below 2^32", what,
                    address + stride * (count - 1) + bytes);
}

/* Pieces in the local memory: the last one ends below 2^32. All but `bytes` are below 2^32, and that is far
 * below 2^63: no sum is beyond 64 bits. The stride of one piece does not matter. */
static PIM_ALWAYS_INLINE enum pim_status check_pieces(uint64_t address, uint64_t bytes, uint64_t count,
                                                      uint64_t stride, bool apart, const char *what,
                                                      struct pim_error *error)
{
    stride = count > 1 ? stride : 0;
    if (PIM_LIKELY(bytes > 0 && count > 0 && (!apart || count == 1 || stride >= bytes) &&
                   stride * (count - 1) + address + bytes <= UINT32_MAX))
        return PIM_OK;
    return refuse_pieces(address, bytes, count, stride, apart, what, error);
}

static PIM_ALWAYS_INLINE enum pim_status check_transfer(const struct pim_instruction *instruction,
                                                        struct pim_error *error)
{
    uint64_t bytes = instruction->u.transfer.bytes, count = instruction->u.transfer.count;
    TRY(check_unused(instruction->detail, "detail", error));
    TRY(check_range(instruction->u.transfer.address, 0, PIM_MEMORY_END, "address", error));
    TRY(check_pieces(instruction->u.transfer.local, bytes, count, bytes, true, "local", error));
    uint64_t stride = instruction->u.transfer.stride;
    if (count > 1 && stride < bytes)
        return pim_fail(error, PIM_BAD_INPUT,
                        "stride is %" PRIu64 ": pieces of %" PRIu64 " bytes would overlap", stride, bytes);
    if (count == 1)
        TRY(check_unused(stride, "stride", error));
    return check_range(instruction->u.transfer.address + stride * (count - 1) + bytes, 0, PIM_MEMORY_END,
                       "end of the last piece", error);
}

static PIM_ALWAYS_INLINE enum pim_status check_local_vector(const struct pim_instruction *instruction,
                                                            struct pim_error *error)
{
    uint64_t bits = instruction->u.local_vector.bits;
    TRY(check_range(instruction->detail, 0, PIM_LOCALS - 1, "operation", error));
    TRY(check_range(instruction->u.local_vector.elements, 1, UINT32_MAX, "elements", error));
    TRY(check_range(bits, 1, LARGEST_BITS, "bits", error));
    uint64_t bytes = instruction->u.local_vector.elements * ((bits + 7) / 8);
    TRY(check_pieces(instruction->u.local_vector.destination, bytes, 1, 0, true, "destination", error));
    TRY(check_pieces(instruction->u.local_vector.source, bytes, 1, 0, true, "source", error));
    if (pim_local_sources(instruction->detail) == 2)
        TRY(check_pieces(instruction->u.local_vector.second, bytes, 1, 0, true, "second", error));
    else
        TRY(check_unused(instruction->u.local_vector.second, "second", error));
    if (instruction->detail == PIM_LOCAL_DIVIDE && instruction->u.local_vector.immediate == 0)
        return pim_fail(error, PIM_BAD_INPUT, "immediate is 0: divide needs a divisor");
    return PIM_OK;
}

static PIM_ALWAYS_INLINE enum pim_status check_local_copy(const struct pim_instruction *instruction,
                                                          struct pim_error *error)
{
    uint64_t bytes = instruction->u.local_copy.bytes, count = instruction->u.local_copy.count;
    TRY(check_unused(instruction->detail, "detail", error));
    TRY(check_pieces(instruction->u.local_copy.destination, bytes, count,
                     instruction->u.local_copy.destination_stride, true, "destination", error));
    if (count == 1) {
        TRY(check_unused(instruction->u.local_copy.destination_stride, "destination_stride", error));
        TRY(check_unused(instruction->u.local_copy.source_stride, "source_stride", error));
    }
    return check_pieces(instruction->u.local_copy.source, bytes, count,
                        instruction->u.local_copy.source_stride, false, "source", error);
}

static enum pim_status check_local_write(const struct pim_instruction *instruction, struct pim_error *error)
{
    TRY(check_unused(instruction->detail, "detail", error));
    TRY(check_unused(instruction->u.local_write.reserved, "reserved word 28", error));
    TRY(check_range(instruction->u.local_write.value, 0, UINT8_MAX, "value", error));
    if (instruction->u.local_write.count == 1)
        TRY(check_unused(instruction->u.local_write.stride, "stride", error));
    return check_pieces(instruction->u.local_write.destination, instruction->u.local_write.bytes,
                        instruction->u.local_write.count, instruction->u.local_write.stride, true,
                        "destination", error);
}

static enum pim_status check_network(const struct pim_instruction *instruction, uint32_t unit, uint32_t units,
                                     struct pim_error *error)
{
    TRY(check_range(instruction->detail, 0, PIM_MESSAGES - 1, "kind of message", error));
    TRY(check_peer(instruction->u.network.peer, unit, units, error));
    TRY(check_range(instruction->u.network.address, 0, PIM_MEMORY_END, "address", error));
    TRY(check_range(instruction->u.network.bytes, 1, PIM_MEMORY_END, "bytes", error));
    return check_range(instruction->u.network.address + instruction->u.network.bytes, 0, PIM_MEMORY_END,
                       "address + bytes", error);
}

static enum pim_status check_control(const struct pim_instruction *instruction, struct pim_error *error)
{
    bool repeat = instruction->opcode == PIM_OP_REPEAT;
    TRY(check_unused(instruction->detail, "detail", error));
    for (int i = 0; i < PIM_DEPENDENCIES; i++)
        TRY(check_unused(instruction->dependency[i], "dependency", error));
    if (instruction->opcode != PIM_OP_PHASE_BEGIN && instruction->opcode != PIM_OP_PHASE_END)
        TRY(check_unused(instruction->u.control.phase, "phase", error));
    TRY(check_range(instruction->u.control.count, repeat, repeat ? UINT32_MAX : 0, "count", error));
    TRY(check_range(instruction->u.control.length, repeat, repeat ? PIM_REPEAT_LENGTH : 0, "length", error));
    for (int i = 0; i < 3; i++)
        TRY(check_unused(instruction->u.control.reserved[i], "reserved word", error));
    return PIM_OK;
}

static inline bool is_control(unsigned opcode)
{
    return opcode == PIM_OP_PHASE_BEGIN || opcode == PIM_OP_PHASE_END || opcode == PIM_OP_JOIN ||
           opcode == PIM_OP_REPEAT;
}

/* The bits of all dependencies: 0 when there are none, which is so of most instructions. */
static inline unsigned dependencies_of(const struct pim_instruction *instruction)
{
    _Static_assert(PIM_DEPENDENCIES == 3 && (PIM_DEPENDENCY_REACH & (PIM_DEPENDENCY_REACH + 1)) == 0,
                   "the bits of all are beyond the reach when those of one are");
    return (unsigned)instruction->dependency[0] | instruction->dependency[1] | instruction->dependency[2];
}

static PIM_ALWAYS_INLINE enum pim_status check_instruction(const struct pim_instruction *instruction,
                                                           uint32_t unit, uint32_t units,
                                                           struct pim_error *error)
{
    if (PIM_UNLIKELY(dependencies_of(instruction) > PIM_DEPENDENCY_REACH))
        for (int i = 0; i < PIM_DEPENDENCIES; i++)
            TRY(check_range(instruction->dependency[i], 0, PIM_DEPENDENCY_REACH, "dependency", error));
    switch (instruction->opcode) {
    case PIM_OP_PHASE_BEGIN:
    case PIM_OP_PHASE_END:
    case PIM_OP_JOIN:
    case PIM_OP_REPEAT:
        return check_control(instruction, error);
    case PIM_OP_LOAD:
    case PIM_OP_STORE:
        return check_memory(instruction, error);
    case PIM_OP_MATRIX:
        return check_matrix(instruction, error);
    case PIM_OP_MVM:
        return check_mvm(instruction, error);
    case PIM_OP_BIT_SERIAL:
        return check_bit_serial(instruction, error);
    case PIM_OP_VECTOR:
        return check_vector(instruction, error);
    case PIM_OP_SEND:
    case PIM_OP_RECEIVE:
        return check_network(instruction, unit, units, error);
    case PIM_OP_LOCAL_LOAD:
    case PIM_OP_LOCAL_STORE:
        return check_transfer(instruction, error);
    case PIM_OP_LOCAL_VECTOR:
        return check_local_vector(instruction, error);
    case PIM_OP_LOCAL_COPY:
        return check_local_copy(instruction, error);
    case PIM_OP_LOCAL_WRITE:
        return check_local_write(instruction, error);
    case PIM_OP_ROW_COMPUTE:
    case PIM_OP_ROW_TRANSPOSE:
        return check_row_compute(instruction, error);
    case PIM_OP_ROW_MOVE:
        return check_row_move(instruction, error);
    case PIM_OP_ROW_SEND:
    case PIM_OP_ROW_RECEIVE:
        return check_row_message(instruction, unit, units, error);
    default:
        return pim_fail(error, PIM_BAD_INPUT, "opcode is %u: known are 0 to %d",
                        (unsigned)instruction->opcode, PIM_OPCODES - 1);
    }
}

enum pim_status pim_instruction_check(const struct pim_instruction *instruction, uint32_t unit,
                                      uint32_t units, struct pim_error *error)
{
    return check_instruction(instruction, unit, units, error);
}

struct pim_program_state pim_program_start(uint32_t unit, uint32_t units, uint32_t phases)
{
    return (struct pim_program_state){.unit = unit, .units = units, .phases = phases, .phase = PIM_NO_PHASE};
}

/* Phase marks alternate; everything else lies between them. */
static enum pim_status check_phase(const struct pim_program_state *state,
                                   const struct pim_instruction *instruction, struct pim_error *error)
{
    bool begin = instruction->opcode == PIM_OP_PHASE_BEGIN;
    if (PIM_LIKELY(!begin && instruction->opcode != PIM_OP_PHASE_END)) {
        if (PIM_UNLIKELY(state->phase == PIM_NO_PHASE))
            return pim_fail(error, PIM_BAD_INPUT, "%s stands outside a phase: put phase_begin before it",
                            pim_opcode_name(instruction->opcode));
        return PIM_OK;
    }
    uint32_t phase = instruction->u.control.phase;
    if (phase >= state->phases)
        return pim_fail(error, PIM_BAD_INPUT, "phase is %" PRIu32 ": the trace has %" PRIu32 " phases", phase,
                        state->phases);
    if (state->depth > 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a repeat block holds a phase mark: phases begin and end outside of blocks");
    if (begin && state->phase != PIM_NO_PHASE)
        return pim_fail(error, PIM_BAD_INPUT, "phase %" PRIu32 " begins inside phase %" PRIu32, phase,
                        state->phase);
    if (!begin && state->phase == PIM_NO_PHASE)
        return pim_fail(error, PIM_BAD_INPUT, "phase %" PRIu32 " ends, but none is open", phase);
    if (!begin && state->phase != phase)
        return pim_fail(error, PIM_BAD_INPUT, "phase %" PRIu32 " ends, but phase %" PRIu32 " is open", phase,
                        state->phase);
    return PIM_OK;
}

/* All addresses that `step` leads to lie in memory; a step needs a block around it. */
static enum pim_status check_step(const struct pim_program_state *state,
                                  const struct pim_instruction *instruction, struct pim_error *error)
{
    int64_t step = instruction->u.memory.step;
    if (PIM_LIKELY(step == 0))
        return PIM_OK;
    if (state->depth == 0)
        return pim_fail(error, PIM_BAD_INPUT, "step is %" PRId64 " outside of a repeat block: it must be 0",
                        step);
    /* |step| <= 2^31 and count < 2^32, so the way stays below 2^63 */
    int64_t way = step * (int64_t)(state->repeat[state->depth - 1].count - 1);
    uint64_t address = instruction->u.memory.address;
    uint64_t end = address + (uint64_t)instruction->u.memory.stride * (instruction->u.memory.count - 1) +
                   instruction->u.memory.bytes;
    if (way < 0 && (uint64_t)-way > address)
        return pim_fail(error, PIM_BAD_INPUT,
                        "step %" PRId64 " leads from address %" PRIu64 " to below 0 in %" PRIu32
                        " iterations",
                        step, address, state->repeat[state->depth - 1].count);
    if (way > 0 && (uint64_t)way > PIM_MEMORY_END - end)
        return pim_fail(error, PIM_BAD_INPUT,
                        "step %" PRId64 " leads from address %" PRIu64 " to beyond 2^62 in %" PRIu32
                        " iterations",
                        step, address, state->repeat[state->depth - 1].count);
    return PIM_OK;
}

static enum pim_status check_dependencies(const struct pim_program_state *state,
                                          const struct pim_instruction *instruction, struct pim_error *error)
{
    for (int i = 0; i < PIM_DEPENDENCIES; i++)
        if (PIM_UNLIKELY(instruction->dependency[i] > state->fetches))
            return pim_fail(error, PIM_BAD_INPUT,
                            "dependency %u reaches before the start of the program: %" PRIu64
                            " were fetched before it",
                            (unsigned)instruction->dependency[i], state->fetches);
    return PIM_OK;
}

/* A block ends after its last instruction; ends of several may coincide. Its later iterations are added here.
 */
static enum pim_status close_blocks(struct pim_program_state *state, struct pim_error *error)
{
    while (state->depth > 0 && state->repeat[state->depth - 1].remaining == 0) {
        const struct pim_repeat_state *block = &state->repeat[state->depth - 1];
        uint64_t body = state->fetches - block->first_fetch;
        if (body != 0 && block->count - 1 > (PIM_PROGRAM_FETCHES - state->fetches) / body)
            return pim_fail(error, PIM_BAD_INPUT,
                            "the repeat block that ends here executes more than 2^62 instructions");
        state->fetches += body * (block->count - 1);
        state->depth--;
    }
    return PIM_OK;
}

static enum pim_status open_block(struct pim_program_state *state, const struct pim_instruction *instruction,
                                  struct pim_error *error)
{
    uint32_t length = instruction->u.control.length;
    if (state->depth == PIM_REPEAT_DEPTH)
        return pim_fail(error, PIM_BAD_INPUT, "repeat blocks nest more than %d deep", PIM_REPEAT_DEPTH);
    if (state->depth > 0) {
        struct pim_repeat_state *outer = &state->repeat[state->depth - 1];
        if (length > outer->remaining - 1)
            return pim_fail(error, PIM_BAD_INPUT,
                            "a repeat block of %" PRIu32 " ends behind the one around it, which has %" PRIu32
                            " left",
                            length, outer->remaining - 1);
        outer->remaining -= 1 + length;
    }
    state->repeat[state->depth++] = (struct pim_repeat_state){
        .first_fetch = state->fetches, .count = instruction->u.control.count, .remaining = length};
    state->stored++;
    return PIM_OK;
}

/* Counts an instruction that is fetched. */
static inline enum pim_status count_fetch(struct pim_program_state *state, struct pim_error *error)
{
    if (PIM_UNLIKELY(state->fetches >= PIM_PROGRAM_FETCHES))
        return pim_fail(error, PIM_BAD_INPUT, "the program executes more than 2^62 instructions");
    state->stored++;
    state->fetches++;
    if (PIM_UNLIKELY(state->depth > 0)) {
        state->repeat[state->depth - 1].remaining--;
        return close_blocks(state, error);
    }
    return PIM_OK;
}

/* A phase mark, JOIN or REPEAT: few instructions of a program. */
static PIM_NOINLINE enum pim_status add_control(struct pim_program_state *state,
                                                const struct pim_instruction *instruction,
                                                struct pim_error *error)
{
    TRY(pim_instruction_check(instruction, state->unit, state->units, error));
    TRY(check_phase(state, instruction, error));
    if (instruction->opcode == PIM_OP_REPEAT)
        return open_block(state, instruction, error);
    TRY(count_fetch(state, error));
    if (instruction->opcode == PIM_OP_PHASE_BEGIN)
        state->phase = instruction->u.control.phase;
    else if (instruction->opcode == PIM_OP_PHASE_END)
        state->phase = PIM_NO_PHASE;
    return PIM_OK;
}

static PIM_ALWAYS_INLINE enum pim_status
add(struct pim_program_state *state, const struct pim_instruction *instruction, struct pim_error *error)
{
    if (PIM_UNLIKELY(is_control(instruction->opcode)))
        return add_control(state, instruction, error);
    TRY(check_instruction(instruction, state->unit, state->units, error));
    if (PIM_UNLIKELY(state->phase == PIM_NO_PHASE))
        return check_phase(state, instruction, error);
    if (PIM_UNLIKELY(dependencies_of(instruction) != 0))
        TRY(check_dependencies(state, instruction, error));
    if (instruction->opcode == PIM_OP_LOAD || instruction->opcode == PIM_OP_STORE)
        TRY(check_step(state, instruction, error));
    return count_fetch(state, error);
}

enum pim_status pim_program_add(struct pim_program_state *state, const struct pim_instruction *instruction,
                                struct pim_error *error)
{
    return add(state, instruction, error);
}

enum pim_status pim_program_add_several(struct pim_program_state *state,
                                        const struct pim_instruction *instructions, uint32_t count,
                                        struct pim_error *error)
{
    const uint64_t first = state->stored;
    for (uint32_t i = 0; i < count; i++)
        if (PIM_UNLIKELY(add(state, &instructions[i], error) != PIM_OK))
            return pim_fail_in(error, "instruction %" PRIu64, first + i);
    return PIM_OK;
}

enum pim_status pim_program_end(const struct pim_program_state *state, struct pim_error *error)
{
    if (state->depth > 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the program ends inside a repeat block that needs %" PRIu32 " more instructions",
                        state->repeat[state->depth - 1].remaining);
    if (state->phase != PIM_NO_PHASE)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the program ends inside phase %" PRIu32 ": phase_end is missing", state->phase);
    return PIM_OK;
}
