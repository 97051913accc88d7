/*
 * One instruction of a unit's program: 32 bytes, fixed size, the same in memory and (little endian) in the
 * trace file.
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
 *  1. opcode, detail and flags are in the tables below; unused fields are 0; control instructions have no
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

/* The numbers of this table and of those below stand in every trace: none ever changes.
 * X(number, name, mnemonic, engine) */
#define PIM_OPCODE_MAP(X)                                                                                    \
    X(0, PIM_OP_PHASE_BEGIN, "phase_begin", PIM_ENGINE_CONTROL) /* joins, then opens phase control.phase */  \
    X(1, PIM_OP_PHASE_END, "phase_end", PIM_ENGINE_CONTROL)     /* joins, then closes it */                  \
    X(2, PIM_OP_JOIN, "join",                                                                                \
      PIM_ENGINE_CONTROL) /* fetches nothing more until all earlier work is complete */                      \
    X(3, PIM_OP_REPEAT, "repeat",                                                                            \
      PIM_ENGINE_CONTROL)                            /* runs the next `length` instructions `count` times */ \
    X(4, PIM_OP_LOAD, "load", PIM_ENGINE_MEMORY)     /* memory -> buffer */                                  \
    X(5, PIM_OP_STORE, "store", PIM_ENGINE_MEMORY)   /* buffer -> memory */                                  \
    X(6, PIM_OP_MATRIX, "matrix", PIM_ENGINE_MATRIX) /* output[m][n] (+)= input[m][k] * weight[k][n] */      \
    X(7, PIM_OP_MVM, "mvm", PIM_ENGINE_MATRIX)       /* matrix-vector product of a crossbar array group */   \
    X(8, PIM_OP_BIT_SERIAL, "bit_serial", PIM_ENGINE_MATRIX) /* row-parallel, in DRAM or ReRAM banks */      \
    X(9, PIM_OP_VECTOR, "vector", PIM_ENGINE_VECTOR)         /* `detail` names the operation */              \
    X(10, PIM_OP_SEND, "send", PIM_ENGINE_SEND)                                                              \
    X(11, PIM_OP_RECEIVE, "receive", PIM_ENGINE_RECEIVE)                                                     \
    /* Of units with a local memory that programs address (cores with crossbars): see `transfer` below. */   \
    X(12, PIM_OP_LOCAL_LOAD, "local_load", PIM_ENGINE_MEMORY)     /* global memory -> local memory */        \
    X(13, PIM_OP_LOCAL_STORE, "local_store", PIM_ENGINE_MEMORY)   /* local memory -> global memory */        \
    X(14, PIM_OP_LOCAL_VECTOR, "local_vector", PIM_ENGINE_VECTOR) /* `detail` names the operation */         \
    X(15, PIM_OP_LOCAL_COPY, "local_copy", PIM_ENGINE_MEMORY)     /* within the local memory */              \
    X(16, PIM_OP_LOCAL_WRITE, "local_write", PIM_ENGINE_MEMORY)   /* a constant into the local memory */     \
    /* Of channels whose banks compute: docs/models/channel.md. */                                           \
    X(17, PIM_OP_ROW_COMPUTE, "row_compute", PIM_ENGINE_MATRIX)     /* `detail` names the operation */       \
    X(18, PIM_OP_ROW_TRANSPOSE, "row_transpose", PIM_ENGINE_VECTOR) /* words in rows to rows of bits */      \
    X(19, PIM_OP_ROW_MOVE, "row_move", PIM_ENGINE_MEMORY)           /* rows, within the channel */           \
    X(20, PIM_OP_ROW_SEND, "row_send", PIM_ENGINE_SEND)             /* rows, to another channel */           \
    X(21, PIM_OP_ROW_RECEIVE, "row_receive", PIM_ENGINE_RECEIVE)

enum pim_opcode {
#define X(number, name, mnemonic, engine) name = number,
    PIM_OPCODE_MAP(X)
#undef X
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

/* `detail` of LOAD and STORE: which buffer the bytes enter or leave. PIM_BUFFER_NONE is a plain copy that
 * holds no space. */
#define PIM_BUFFER_MAP(X)                                                                                    \
    X(0, PIM_BUFFER_NONE, "none")                                                                            \
    X(1, PIM_BUFFER_INPUT, "input")                                                                          \
    X(2, PIM_BUFFER_WEIGHT, "weight")                                                                        \
    X(3, PIM_BUFFER_OUTPUT, "output")

enum pim_buffer {
#define X(number, name, text) name = number,
    PIM_BUFFER_MAP(X)
#undef X
        PIM_BUFFERS
};

/* `detail` of VECTOR. X(number, name, mnemonic) */
#define PIM_VECTOR_MAP(X)                                                                                    \
    X(0, PIM_VECTOR_SOFTMAX, "softmax")                                                                      \
    X(1, PIM_VECTOR_LAYERNORM, "layernorm")                                                                  \
    X(2, PIM_VECTOR_GELU, "gelu")                                                                            \
    X(3, PIM_VECTOR_RELU, "relu")                                                                            \
    X(4, PIM_VECTOR_ADD, "add")                                                                              \
    X(5, PIM_VECTOR_MULTIPLY, "multiply")                                                                    \
    X(6, PIM_VECTOR_MAXIMUM, "maximum")                                                                      \
    X(7, PIM_VECTOR_AVERAGE, "average")                                                                      \
    X(8, PIM_VECTOR_SIGMOID, "sigmoid")                                                                      \
    X(9, PIM_VECTOR_TANH, "tanh")                                                                            \
    X(10, PIM_VECTOR_COPY, "copy")

enum pim_vector {
#define X(number, name, mnemonic) name = number,
    PIM_VECTOR_MAP(X)
#undef X
        PIM_VECTORS
};

/*
 * `detail` of LOCAL_VECTOR, element by element over two's complement integers of `bits`, results cut to
 * `bits`. a is the element at `source`, b the one at `second` (operations of two vectors), i the immediate, a
 * signed number. X(number, name, mnemonic, vectors read)
 */
#define PIM_LOCAL_MAP(X)                                                                                     \
    X(0, PIM_LOCAL_ADD, "add", 2)           /* a + b */                                                      \
    X(1, PIM_LOCAL_SUBTRACT, "subtract", 2) /* a - b */                                                      \
    X(2, PIM_LOCAL_MULTIPLY, "multiply", 2) /* a * b */                                                      \
    X(3, PIM_LOCAL_MAXIMUM, "maximum", 2)   /* the larger of a and b */                                      \
    X(4, PIM_LOCAL_MINIMUM, "minimum", 2)   /* the smaller of a and b */                                     \
    X(5, PIM_LOCAL_RELU, "relu", 1)         /* the larger of a and 0 */                                      \
    X(6, PIM_LOCAL_CLIP, "clip", 1)         /* a, at least 0 and at most i */                                \
    X(7, PIM_LOCAL_DIVIDE, "divide", 1)     /* a / i, rounded towards 0; i is not 0 */                       \
    X(8, PIM_LOCAL_FUNCTION, "function", 1) /* another function of one element; i numbers it, any value */   \
    X(9, PIM_LOCAL_BINARY, "binary", 2)     /* another function of two elements; i numbers it, any value */  \
    X(10, PIM_LOCAL_NORMALIZE, "normalize", 1) /* of the whole vector: softmax, normalisation; i numbers it */

enum pim_local {
#define X(number, name, mnemonic, vectors) name = number,
    PIM_LOCAL_MAP(X)
#undef X
        PIM_LOCALS
};

/* `detail` of BIT_SERIAL. */
#define PIM_BIT_SERIAL_MAP(X)                                                                                \
    X(0, PIM_BIT_SERIAL_ADD, "add")                                                                          \
    X(1, PIM_BIT_SERIAL_MULTIPLY, "multiply")                                                                \
    X(2, PIM_BIT_SERIAL_COPY, "copy")                                                                        \
    X(3, PIM_BIT_SERIAL_TRANSPOSE, "transpose")                                                              \
    X(4, PIM_BIT_SERIAL_REDUCE, "reduce")

enum pim_bit_serial {
#define X(number, name, mnemonic) name = number,
    PIM_BIT_SERIAL_MAP(X)
#undef X
        PIM_BIT_SERIALS
};

/* `detail` of ROW_COMPUTE. */
#define PIM_ROW_OPERATION_MAP(X)                                                                             \
    X(0, PIM_ROW_ADD, "add")           /* result = source + second, modulo 2^bits */                         \
    X(1, PIM_ROW_SUBTRACT, "subtract") /* result = source - second, modulo 2^bits */                         \
    X(2, PIM_ROW_MULTIPLY, "multiply") /* result = source * second, unsigned, modulo 2^size */               \
    X(3, PIM_ROW_COPY, "copy")         /* result = source */                                                 \
    X(4, PIM_ROW_REDUCE, "reduce")     /* sums over groups of 2^size columns; `second`: scratch rows */

enum pim_row_operation {
#define X(number, name, mnemonic) name = number,
    PIM_ROW_OPERATION_MAP(X)
#undef X
        PIM_ROW_OPERATIONS
};

/* How far rows go: `detail` of ROW_MOVE (column, bank), ROW_SEND and ROW_RECEIVE (channel, stack). */
#define PIM_REACH_MAP(X)                                                                                     \
    X(0, PIM_REACH_COLUMN, "column")   /* other columns of the same bank */                                  \
    X(1, PIM_REACH_BANK, "bank")       /* another bank of the channel */                                     \
    X(2, PIM_REACH_CHANNEL, "channel") /* another channel of the stack */                                    \
    X(3, PIM_REACH_STACK, "stack")     /* a channel of another stack */

enum pim_reach {
#define X(number, name, text) name = number,
    PIM_REACH_MAP(X)
#undef X
        PIM_REACHES
};

/* `detail` of SEND and RECEIVE: what the message is for, the same on both ends. It changes nothing but the
 * name under which the message is counted. X(number, name, text) */
#define PIM_MESSAGE_MAP(X)                                                                                   \
    X(0, PIM_MESSAGE_PLAIN, "plain")       /* nothing of the others; the text form leaves it out */          \
    X(1, PIM_MESSAGE_GATHER, "gather")     /* from a node of a group to the one that collects for all */     \
    X(2, PIM_MESSAGE_TRANSFER, "transfer") /* between two nodes that collect */                              \
    X(3, PIM_MESSAGE_SCATTER, "scatter")   /* from there to the nodes of the group */

enum pim_message {
#define X(number, name, text) name = number,
    PIM_MESSAGE_MAP(X)
#undef X
        PIM_MESSAGES
};

/*
 * `detail` of MATRIX: bits.
 *
 * Buffer space. A LOAD into a buffer takes bytes * count at its start, and waits until that much is free; a
 * STORE from a buffer gives bytes * count back at its end. A MATRIX reads m * k elements of the input and k *
 * n of the weight buffer, and gives them back at its end when told so: ceil(m*k*input_bits/8) and
 * ceil(k*n*weight_bits/8) bytes. The space of an output tile, m * n accumulators of the hardware's width A,
 * ceil(m*n*A/8) bytes, is taken by the MATRIX that opens it and given back by the `release` of a VECTOR or by
 * a STORE from the output buffer, whatever the precision of the results is.
 */
enum pim_matrix_flags {
    PIM_MATRIX_RELEASE_INPUT = 1,  /* at its end gives back m*k elements of the input buffer */
    PIM_MATRIX_RELEASE_WEIGHT = 2, /* at its end gives back k*n elements of the weight buffer */
    PIM_MATRIX_OPEN_OUTPUT = 4,    /* at its start takes m*n accumulators of the output buffer */
    PIM_MATRIX_ACCUMULATE = 8,     /* adds to partial sums in the output buffer (read-modify-write) */
    PIM_MATRIX_FLAGS = 15
};

struct pim_instruction {
    uint8_t opcode; /* enum pim_opcode */
    uint8_t detail; /* see above; 0 where an opcode has none */
    uint16_t dependency[PIM_DEPENDENCIES];
    union {
        struct { /* LOAD, STORE: `count` pieces of `bytes`, starts `stride` bytes apart; in iteration i (from
                    0) of the innermost repeat around it address counts as address + i * step; outside of a
                    repeat step is 0 */
            uint64_t address;
            uint32_t bytes;
            uint32_t stride;
            uint32_t count;
            int32_t step;
        } memory;
        struct { /* MATRIX: shapes in elements; bits of an input, weight and stored-output element */
            uint32_t m, n, k;
            uint8_t input_bits, weight_bits, output_bits, reserved;
            uint32_t reserved2[2];
        } matrix;
        struct { /* MVM: `windows` vectors through array group `group`; local memory addresses of input and
                    output */
            uint32_t group;
            uint32_t windows;
            uint32_t input_address, input_bytes;
            uint32_t output_address, output_bytes;
        } mvm;
        struct { /* LOCAL_LOAD, LOCAL_STORE: `count` pieces of `bytes`; in global memory they start `stride`
                    bytes apart from `address` on, in local memory they lie back to back from `local` on */
            uint64_t address;
            uint32_t local;
            uint32_t bytes, count, stride;
        } transfer;
        struct { /* LOCAL_VECTOR: local addresses of vectors of `elements`, each element in the ceil(bits / 8)
                    bytes, little endian; `second` is 0 where an operation reads one vector */
            uint32_t elements;
            uint32_t destination, source, second;
            uint32_t bits;
            int32_t immediate;
        } local_vector;
        struct { /* LOCAL_COPY: `count` pieces of `bytes`, which start the strides apart (at least `bytes` in
                    the destination when there are several) */
            uint32_t destination, source;
            uint32_t bytes, count;
            uint32_t destination_stride, source_stride;
        } local_copy;
        struct { /* LOCAL_WRITE: `count` pieces of `bytes`, each byte is the low byte of `value` */
            uint32_t destination;
            uint32_t bytes, count, stride;
            uint32_t value;
            uint32_t reserved;
        } local_write;
        struct { /* BIT_SERIAL: operands of `bits`, in `rows` rows of each of `banks` banks from bank
                    `first_bank` on */
            uint32_t bits;
            uint32_t rows;
            uint32_t first_bank, banks;
            uint32_t count; /* repetitions one after another */
            uint32_t reserved;
        } bit_serial;
        struct { /* ROW_COMPUTE, ROW_TRANSPOSE: numbers of `bits`, whose bit 0 is in the row named, in all
                    columns of the banks first_bank + i * bank_stride for i below `banks`, `count` times one
                    after another. `size`: MULTIPLY, bits of the result; REDUCE, log2 of the columns of a
                    group; else 0 */
            uint32_t source, second, result;
            uint32_t count;
            uint16_t first_bank, banks, bank_stride;
            uint8_t bits, size;
        } row_compute;
        struct { /* ROW_MOVE: `rows` rows from `source` on in each bank as above, to `result` on: in the same
                    bank `shift` columns towards column 0, or in the banks to_bank + i * bank_stride */
            uint32_t source, result;
            uint32_t rows, shift;
            uint16_t first_bank, banks, bank_stride;
            uint16_t to_bank;
        } row_move;
        struct { /* ROW_SEND, ROW_RECEIVE: `rows` rows from `row` on in each bank as above. Peer and tag lie
                    where SEND and RECEIVE have them */
            uint32_t peer, tag;
            uint32_t row, rows;
            uint16_t first_bank, banks, bank_stride;
            uint16_t reserved;
        } row_message;
        struct { /* VECTOR: `rows` vectors of `elements` each; `release` bytes of the output buffer are given
                    back at its end */
            uint32_t rows, elements;
            uint32_t release;
            uint32_t source_address, destination_address;
            uint32_t bits;
        } vector;
        struct {           /* SEND, RECEIVE: the payload is read from, or written to, memory at `address` */
            uint32_t peer; /* unit */
            uint32_t tag;
            uint64_t address;
            uint64_t bytes;
        } network;
        struct { /* PHASE_*: phase. REPEAT: count, length */
            uint32_t phase;
            uint32_t count;
            uint32_t length;
            uint32_t reserved[3];
        } control;
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

/* Vectors that a LOCAL_VECTOR reads, 1 or 2; `operation` must be valid. */
unsigned pim_local_sources(unsigned operation);
const char *pim_engine_name(unsigned engine);

/* The engine that executes an opcode; `opcode` must be valid. */
enum pim_engine pim_opcode_engine(unsigned opcode);

#endif
