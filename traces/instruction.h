/*
 * One instruction of a unit's program: 32 bytes, fixed size, the same in memory and (little endian) in the
 * trace file. traces/opcodes.def is the table of them; docs/reference/instructions.md shows it.
 *
 * A unit fetches its program in order and hands each instruction to an engine: matrix, vector, memory, send
 * or receive; control instructions are executed by the unit itself. An engine works its queue in order. An
 * instruction starts when every instruction it names in `dependency` is complete: dependency d > 0 means "the
 * instruction that this unit fetched d fetches earlier", counted in executed order, so it also reaches into
 * earlier iterations of a repeated block (in the first iteration it names what was fetched before the block).
 * 0 means none. REPEAT itself is not fetched and does not count; every other instruction does.
 *
 * Invariants (1 to 4 are checked by writer, reader and assembler: traces/validate.h; 5 to 7 by `pimsim trace
 * check`):
 *  1. opcode, detail and flags are in the tables; unused fields are 0; control instructions have no
 *     dependencies.
 *  2. A dependency does not reach before the start of the program, and none exceeds PIM_DEPENDENCY_REACH.
 *  3. Repeat blocks nest at most PIM_REPEAT_DEPTH deep, lie wholly inside the program, have 1 to
 *     PIM_REPEAT_LENGTH instructions (traces/trace.h; inner blocks included) and hold no phase marks.
 *  4. PHASE_BEGIN and PHASE_END alternate, the end with the phase of the beginning; everything else lies
 *     between them.
 *  5. Messages match by (source, destination, tag): the i-th send of a triple meets the i-th receive, of
 *     the same size.
 *  6. An instruction that gives back buffer space depends, directly or not, on those that took it.
 *  7. Between two joins (JOIN and phase marks) only one engine takes space in a buffer: LOADs or MATRIX,
 *     not both.
 */
#ifndef PIMSIM_TRACES_INSTRUCTION_H
#define PIMSIM_TRACES_INSTRUCTION_H

#include <stdint.h>

enum { PIM_DEPENDENCIES = 3, PIM_DEPENDENCY_REACH = 4095, PIM_REPEAT_DEPTH = 4 };
/* Rows of all its banks that an instruction of a channel moves at most: a unit has a slot for each. */
enum { PIM_ROWS_OF_A_MOVE = 1 << 18 };

enum pim_opcode {
#define OPCODE(number, name, ...) PIM_OP_##name = number,
#include "traces/opcodes.def"
    PIM_OPCODES
};

/* The engines of a unit. Send and receive are the two directions of the network interface. */
enum pim_engine {
    PIM_ENGINE_MATRIX,
    PIM_ENGINE_VECTOR,
    PIM_ENGINE_MEMORY,
    PIM_ENGINE_SEND,
    PIM_ENGINE_RECEIVE,
    PIM_ENGINE_CONTROL, /* the unit itself */
    PIM_ENGINES
};

/* The byte `detail`. These numbers stand in every trace: none ever changes.
 * X(number, name, text, ..., meaning) */

/* Of LOAD and STORE: which buffer the bytes enter or leave. */
#define PIM_BUFFER_MAP(X)                                                                                    \
    X(0, PIM_BUFFER_NONE, "none", "a plain copy that holds no space")                                        \
    X(1, PIM_BUFFER_INPUT, "input", "inputs of matrix")                                                      \
    X(2, PIM_BUFFER_WEIGHT, "weight", "weights of matrix")                                                   \
    X(3, PIM_BUFFER_OUTPUT, "output", "results of matrix and vector")

enum pim_buffer {
#define X(number, name, ...) name = number,
    PIM_BUFFER_MAP(X)
#undef X
        PIM_BUFFERS
};

/* Of VECTOR. */
#define PIM_VECTOR_MAP(X)                                                                                    \
    X(0, PIM_VECTOR_SOFTMAX, "softmax", "of each vector")                                                    \
    X(1, PIM_VECTOR_LAYERNORM, "layernorm", "of each vector")                                                \
    X(2, PIM_VECTOR_GELU, "gelu", "of each element")                                                         \
    X(3, PIM_VECTOR_RELU, "relu", "of each element")                                                         \
    X(4, PIM_VECTOR_ADD, "add", "two vectors")                                                               \
    X(5, PIM_VECTOR_MULTIPLY, "multiply", "two vectors, element by element")                                 \
    X(6, PIM_VECTOR_MAXIMUM, "maximum", "of pooling")                                                        \
    X(7, PIM_VECTOR_AVERAGE, "average", "of pooling")                                                        \
    X(8, PIM_VECTOR_SIGMOID, "sigmoid", "of each element")                                                   \
    X(9, PIM_VECTOR_TANH, "tanh", "of each element")                                                         \
    X(10, PIM_VECTOR_COPY, "copy", "moves elements")

enum pim_vector {
#define X(number, name, ...) name = number,
    PIM_VECTOR_MAP(X)
#undef X
        PIM_VECTORS
};

/*
 * Of LOCAL_VECTOR, element by element over two's complement integers of `bits`, results cut to `bits`. a is
 * the element at `source`, b the one at `second` (operations of two vectors), i the immediate, a signed
 * number.
 * X(number, name, text, vectors read, meaning)
 */
#define PIM_LOCAL_MAP(X)                                                                                     \
    X(0, PIM_LOCAL_ADD, "add", 2, "a + b")                                                                   \
    X(1, PIM_LOCAL_SUBTRACT, "subtract", 2, "a - b")                                                         \
    X(2, PIM_LOCAL_MULTIPLY, "multiply", 2, "a x b")                                                         \
    X(3, PIM_LOCAL_MAXIMUM, "maximum", 2, "the larger of a and b")                                           \
    X(4, PIM_LOCAL_MINIMUM, "minimum", 2, "the smaller of a and b")                                          \
    X(5, PIM_LOCAL_RELU, "relu", 1, "the larger of a and 0")                                                 \
    X(6, PIM_LOCAL_CLIP, "clip", 1, "a, at least 0 and at most i")                                           \
    X(7, PIM_LOCAL_DIVIDE, "divide", 1, "a / i, rounded towards 0")                                          \
    X(8, PIM_LOCAL_FUNCTION, "function", 1, "another function of a, numbered by i")                          \
    X(9, PIM_LOCAL_BINARY, "binary", 2, "another function of a and b, numbered by i")                        \
    X(10, PIM_LOCAL_NORMALIZE, "normalize", 1, "of the whole vector: softmax, normalisation; numbered by i")

enum pim_local {
#define X(number, name, ...) name = number,
    PIM_LOCAL_MAP(X)
#undef X
        PIM_LOCALS
};

/* Of BIT_SERIAL. */
#define PIM_BIT_SERIAL_MAP(X)                                                                                \
    X(0, PIM_BIT_SERIAL_ADD, "add", "two operands")                                                          \
    X(1, PIM_BIT_SERIAL_MULTIPLY, "multiply", "two operands")                                                \
    X(2, PIM_BIT_SERIAL_COPY, "copy", "rows to other rows")                                                  \
    X(3, PIM_BIT_SERIAL_TRANSPOSE, "transpose", "elements to bit rows")                                      \
    X(4, PIM_BIT_SERIAL_REDUCE, "reduce", "sums across columns")

enum pim_bit_serial {
#define X(number, name, ...) name = number,
    PIM_BIT_SERIAL_MAP(X)
#undef X
        PIM_BIT_SERIALS
};

/* Of ROW_COMPUTE. */
#define PIM_ROW_OPERATION_MAP(X)                                                                             \
    X(0, PIM_ROW_ADD, "add", "result = source + second, modulo 2^bits")                                      \
    X(1, PIM_ROW_SUBTRACT, "subtract", "result = source - second, modulo 2^bits")                            \
    X(2, PIM_ROW_MULTIPLY, "multiply", "result = source x second, unsigned, modulo 2^size")                  \
    X(3, PIM_ROW_COPY, "copy", "result = source")                                                            \
    X(4, PIM_ROW_REDUCE, "reduce", "sums over groups of 2^size columns; second: scratch rows")

enum pim_row_operation {
#define X(number, name, ...) name = number,
    PIM_ROW_OPERATION_MAP(X)
#undef X
        PIM_ROW_OPERATIONS
};

/* Of ROW_MOVE (column, bank), ROW_SEND and ROW_RECEIVE (channel, stack): how far rows go. */
#define PIM_REACH_MAP(X)                                                                                     \
    X(0, PIM_REACH_COLUMN, "column", "other columns of the same bank")                                       \
    X(1, PIM_REACH_BANK, "bank", "another bank of the channel")                                              \
    X(2, PIM_REACH_CHANNEL, "channel", "another channel of the stack")                                       \
    X(3, PIM_REACH_STACK, "stack", "a channel of another stack")

enum pim_reach {
#define X(number, name, ...) name = number,
    PIM_REACH_MAP(X)
#undef X
        PIM_REACHES
};

/* Of SEND and RECEIVE: what the message is for, the same on both ends. It changes nothing but the name under
 * which the message is counted. */
#define PIM_MESSAGE_MAP(X)                                                                                   \
    X(0, PIM_MESSAGE_PLAIN, "plain", "nothing of the others; the text form leaves it out")                   \
    X(1, PIM_MESSAGE_GATHER, "gather", "from a node of a group to the one that collects for all")            \
    X(2, PIM_MESSAGE_TRANSFER, "transfer", "between two nodes that collect")                                 \
    X(3, PIM_MESSAGE_SCATTER, "scatter", "from there to the nodes of the group")

enum pim_message {
#define X(number, name, ...) name = number,
    PIM_MESSAGE_MAP(X)
#undef X
        PIM_MESSAGES
};

/*
 * Of MATRIX: flags. X(bit, name, text, meaning)
 *
 * Buffer space. A LOAD into a buffer takes bytes * count at its start, and waits until that much is free; a
 * STORE from a buffer gives bytes * count back at its end. A MATRIX reads m * k elements of the input and k *
 * n of the weight buffer, and gives them back at its end when told so: ceil(m*k*input_bits/8) and
 * ceil(k*n*weight_bits/8) bytes. Where windows of a convolution overlap, `window` is how many elements the
 * m * k are made of, and ceil(window*input_bits/8) bytes are there and given back. The space of an output
 * tile, m * n accumulators of the hardware's width A, ceil(m*n*A/8) bytes, is taken by the MATRIX that opens
 * it and given back by the `release` of a VECTOR or by a STORE from the output buffer, whatever the precision
 * of the results is.
 */
#define PIM_MATRIX_MAP(X)                                                                                    \
    X(0, PIM_MATRIX_RELEASE_INPUT, "release_input",                                                          \
      "at its end gives back m x k elements of the input buffer, or `window`")                               \
    X(1, PIM_MATRIX_RELEASE_WEIGHT, "release_weight",                                                        \
      "at its end gives back k x n elements of the weight buffer")                                           \
    X(2, PIM_MATRIX_OPEN_OUTPUT, "open_output",                                                              \
      "at its start takes m x n accumulators of the output buffer")                                          \
    X(3, PIM_MATRIX_ACCUMULATE, "accumulate", "adds to partial sums that are in the output buffer")

enum pim_matrix_flags {
#define X(bit, name, ...) name = 1 << (bit),
    PIM_MATRIX_MAP(X)
#undef X
        PIM_MATRIX_FLAGS = 15
};

/* The operands of an opcode: traces/opcodes.def says what each of them is, and of which opcodes. */
#define FORM(form) struct pim_operands_##form {
#define FIELD(form, offset, type, member, ...) type member;
#define RESERVED(form, offset, type, member) type member;
#define RESERVED_WORDS(form, offset, member, count) uint32_t member[count];
#define FORM_END(form)                                                                                       \
    }                                                                                                        \
    ;
#include "traces/opcodes.def"

struct pim_instruction {
    uint8_t opcode; /* enum pim_opcode */
    uint8_t detail; /* see above; 0 where an opcode has none */
    uint16_t dependency[PIM_DEPENDENCIES];
    union {
#define FORM(form) struct pim_operands_##form form;
#include "traces/opcodes.def"
        uint8_t raw[24];
    } u;
};

_Static_assert(sizeof(struct pim_instruction) == 32, "the trace format fixes the size of an instruction");

/* Names for messages and the assembler; NULL for a value outside the tables. */
const char *pim_opcode_name(unsigned opcode);
const char *pim_buffer_name(unsigned buffer);
const char *pim_vector_name(unsigned operation);
const char *pim_bit_serial_name(unsigned operation);
const char *pim_local_name(unsigned operation);
const char *pim_row_operation_name(unsigned operation);
const char *pim_reach_name(unsigned reach);
const char *pim_message_name(unsigned kind);
const char *pim_matrix_flag_name(unsigned bit);

/* Vectors that a LOCAL_VECTOR reads, 1 or 2; `operation` must be valid. */
extern const unsigned char pim_local_vectors_read[];
static inline unsigned pim_local_sources(unsigned operation)
{
    return pim_local_vectors_read[operation];
}
const char *pim_engine_name(unsigned engine);

/* The engine that executes an opcode; `opcode` must be valid. */
extern const unsigned char pim_opcode_engines[];
static inline enum pim_engine pim_opcode_engine(unsigned opcode)
{
    return (enum pim_engine)pim_opcode_engines[opcode];
}

#endif
