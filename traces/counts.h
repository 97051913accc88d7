/*
 * What the programs of a trace amount to: instructions by opcode, work, bytes. Repeats are counted with all
 * their iterations, without executing them.
 *
 * Counts stop at UINT64_MAX instead of wrapping: only a trace that could never be executed gets there.
 */
#ifndef PIMSIM_TRACES_COUNTS_H
#define PIMSIM_TRACES_COUNTS_H

#include "sim/status.h"
#include "traces/file/reader.h"

#include <stdint.h>

struct pim_trace_counts {
    uint64_t stored;                    /* instructions in the file, REPEAT included */
    uint64_t fetched;                   /* instructions executed, repeats expanded */
    uint64_t by_opcode[PIM_OPCODES];    /* executed; REPEAT: as often as its block is entered */
    uint64_t macs;                      /* sum of m * n * k of MATRIX */
    uint64_t mvm_windows;               /* sum of windows of MVM */
    uint64_t crossbar_macs;             /* sum of windows * inputs * outputs of MVM: pim_group_macs */
    uint64_t bit_serial_operations;     /* sum of count of BIT_SERIAL */
    uint64_t vector_elements;           /* sum of rows * elements of VECTOR */
    uint64_t loaded_bytes[PIM_BUFFERS]; /* by LOAD, for each buffer */
    uint64_t stored_bytes[PIM_BUFFERS]; /* by STORE, for each buffer */
    uint64_t sent_bytes, received_bytes;
    uint64_t sends_by_kind[PIM_MESSAGES];                                /* messages of each kind, sent */
    uint64_t sent_by_kind[PIM_MESSAGES], received_by_kind[PIM_MESSAGES]; /* bytes, in the sums above */
    uint64_t local_loaded_bytes, local_stored_bytes;                     /* by LOCAL_LOAD and LOCAL_STORE */
    uint64_t local_elements;                                             /* sum of elements of LOCAL_VECTOR */
    uint64_t local_copied_bytes, local_written_bytes;                    /* by LOCAL_COPY and LOCAL_WRITE */
    uint64_t array_written_bytes;                                        /* by ARRAY_WRITE */
};

/* a + b and a * b, UINT64_MAX when that is too much. */
uint64_t pim_add_saturating(uint64_t a, uint64_t b);
uint64_t pim_multiply_saturating(uint64_t a, uint64_t b);

/* Bytes of buffer space (traces/instruction.h): what a LOAD takes or a STORE gives back; what a MATRIX reads
 * of input and weight, and the output tile it opens, with `accumulator_bits` per element (0: its
 * output_bits). */
static inline uint64_t pim_memory_bytes(const struct pim_instruction *instruction)
{
    return (uint64_t)instruction->u.memory.bytes * instruction->u.memory.count;
}

static inline uint64_t pim_matrix_bytes(const struct pim_instruction *instruction, enum pim_buffer buffer,
                                        uint32_t accumulator_bits)
{
    uint64_t m = instruction->u.matrix.m, n = instruction->u.matrix.n, k = instruction->u.matrix.k;
    switch (buffer) {
    case PIM_BUFFER_INPUT:
        return ((instruction->u.matrix.window ? instruction->u.matrix.window : m * k) *
                    instruction->u.matrix.input_bits +
                7) /
               8;
    case PIM_BUFFER_WEIGHT:
        return (k * n * instruction->u.matrix.weight_bits + 7) / 8;
    case PIM_BUFFER_OUTPUT:
        return m * n * (((accumulator_bits ? accumulator_bits : instruction->u.matrix.output_bits) + 7) / 8);
    case PIM_BUFFER_NONE:
    case PIM_BUFFERS:
        break;
    }
    return 0;
}

/* What an instruction takes of a buffer at its start: the bytes, and of which; NONE: of none. */
static inline uint64_t pim_space_taken(const struct pim_instruction *instruction, uint32_t accumulator_bits,
                                       enum pim_buffer *buffer)
{
    *buffer = PIM_BUFFER_NONE;
    if (instruction->opcode == PIM_OP_LOAD)
        *buffer = (enum pim_buffer)instruction->detail;
    else if (instruction->opcode == PIM_OP_MATRIX && (instruction->detail & PIM_MATRIX_OPEN_OUTPUT))
        *buffer = PIM_BUFFER_OUTPUT;
    if (*buffer == PIM_BUFFER_NONE)
        return 0;
    return instruction->opcode == PIM_OP_LOAD ? pim_memory_bytes(instruction)
                                              : pim_matrix_bytes(instruction, *buffer, accumulator_bits);
}

/* What it gives back of each buffer at its end. */
struct pim_space {
    uint64_t bytes[PIM_BUFFERS];
};

static inline struct pim_space pim_space_given(const struct pim_instruction *instruction)
{
    struct pim_space space = {{0}};
    if (instruction->opcode == PIM_OP_MATRIX) {
        if (instruction->detail & PIM_MATRIX_RELEASE_INPUT)
            space.bytes[PIM_BUFFER_INPUT] = pim_matrix_bytes(instruction, PIM_BUFFER_INPUT, 0);
        if (instruction->detail & PIM_MATRIX_RELEASE_WEIGHT)
            space.bytes[PIM_BUFFER_WEIGHT] = pim_matrix_bytes(instruction, PIM_BUFFER_WEIGHT, 0);
    } else if (instruction->opcode == PIM_OP_VECTOR) {
        space.bytes[PIM_BUFFER_OUTPUT] = instruction->u.vector.release;
    } else if (instruction->opcode == PIM_OP_STORE) {
        for (unsigned buffer = PIM_BUFFER_INPUT; buffer < PIM_BUFFERS; buffer++)
            space.bytes[buffer] = instruction->detail == buffer ? pim_memory_bytes(instruction) : 0;
    }
    return space;
}

/* Multiply-accumulates of a window of an array group: a cell of a fold is one, whether it holds a weight or
 * not; of a block-diagonal group those of its blocks alone. */
uint64_t pim_group_macs(const struct pim_trace_array_group *group);

/* Adds `times` executions of an instruction (neither to `stored` nor to `crossbar_macs`). */
void pim_counts_add(struct pim_trace_counts *counts, const struct pim_instruction *instruction,
                    uint64_t times);

/* Adds the counts of another unit. */
void pim_counts_merge(struct pim_trace_counts *counts, const struct pim_trace_counts *other);

/* Counts the program of one unit; the time it takes depends on the instructions stored. Fails as
 * pim_trace_cursor_next does. */
enum pim_status pim_counts_of_unit(const struct pim_trace *trace, uint32_t unit,
                                   struct pim_trace_counts *counts, struct pim_error *error);

#endif
