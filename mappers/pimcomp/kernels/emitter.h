/*
 * The emitter: instructions of all cores, in one global order.
 *
 * A schedule emits work in an order in which it could be done one instruction after the other. A message is
 * emitted for both of its cores at once. So programs cannot deadlock: of all instructions that are not
 * complete, the one emitted first finds everything that it waits for complete, whatever the hardware
 * overlaps.
 *
 * Invariants:
 *  1. The i-th send of a core to another meets the i-th receive there (tag 0).
 *  2. The array groups of a core are numbered in the order (layer, replica, group) of those that the layout
 *     put there, from the mapping's first number on; the trace has them in that order.
 *  3. A core has instructions in a phase only between its own marks, which the emitter sets: at its first
 *     instruction in the phase, and when the phase ends.
 *  4. No local address at or above the architecture's local_memory_bytes is emitted.
 *  5. After the first failure nothing more is emitted; its message stays in the program's `error`.
 *
 * Stages. A schedule may emit out of its order: instructions that are emitted into a stage are checked at
 * once, and counted but for `instructions`; they are appended to the programs when it is released. Every
 * instruction must lie in a phase of the program.
 *
 * Addresses: `local` ones are bytes in the core's local memory, `global` ones bytes in the global memory.
 * Elements are 16-bit.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_KERNELS_EMITTER_H
#define PIMSIM_MAPPERS_PIMCOMP_KERNELS_EMITTER_H

#include "mappers/emit/program.h"
#include "mappers/pimcomp/representation/pimcomp.h"
#include "traces/file/writer.h"

enum { PIM_CORE_ELEMENT_BYTES = 2, PIM_CORE_ELEMENT_BITS = 16 };

/* Instructions that wait. The two of a message between two cores, send and receive, stand together. */
struct pim_core_staged {
    uint32_t core;
    struct pim_instruction instruction;
};
struct pim_core_stage {
    struct pim_core_staged *staged; /* of the heap: whose stage it is frees it */
    size_t count, room;
};

struct pim_core_counts {
    uint64_t instructions; /* phase marks included; counted by the program: set in a report */
    uint64_t mvms;
    uint64_t loaded_bytes, stored_bytes;
    uint64_t copied_bytes, written_bytes; /* within local memories */
    uint64_t messages, sent_bytes;
    uint64_t vector_elements;
    uint64_t joins, barriers;
    uint64_t weight_bytes; /* written into cells */
};

struct pim_core_emitter {
    const struct pim_core_mapping *mapping;
    struct pim_program program;
    struct pim_core_counts counts;
    uint64_t *layer_mvms;         /* of each layer */
    uint64_t *local_bytes;        /* of each core: end of the highest local address so far */
    uint32_t **number;            /* of each layer: [replica * groups + group], number in the core */
    bool *word_written;           /* of each core: the element that barriers send */
    struct pim_core_stage *stage; /* where instructions go; NULL: to the programs */
};

/* Numbers the array groups and, with a writer, puts them into the trace. `mapping`, `writer` and `error` are
 * kept; the arrays live in `arena`. */
enum pim_status pim_core_emitter_initialize(struct pim_core_emitter *emitter,
                                            const struct pim_core_mapping *mapping,
                                            struct pim_trace_writer *writer, struct pim_arena *arena,
                                            struct pim_error *error);

/* Appends what is in a stage, which is empty then. */
void pim_core_emitter_release(struct pim_core_emitter *emitter, struct pim_core_stage *stage);

/* One MVM of an array group of a replica, on its core: rows elements from `input`, folds * columns to
 * `output`. */
void pim_core_emit_mvm(struct pim_core_emitter *emitter, uint32_t layer, uint32_t replica, uint32_t group,
                       uint64_t input, uint64_t output);

/* Rows [row, row + rows) of an array group of a replica, on its core, from `source`. */
void pim_core_emit_array_write(struct pim_core_emitter *emitter, uint32_t layer, uint32_t replica,
                               uint32_t group, uint32_t row, uint32_t rows, uint64_t source);

/* destination[i] = operation(source[i], second[i]); `second` is ignored where the operation reads one. */
void pim_core_emit_vector(struct pim_core_emitter *emitter, uint32_t core, struct pim_core_vector operation,
                          uint64_t destination, uint64_t source, uint64_t second, uint64_t elements);

/* `count` pieces of `bytes`. PIM_OP_LOCAL_LOAD: from global addresses `stride` apart to back to back local
 * ones; PIM_OP_LOCAL_STORE: the reverse; copy and zeros: strides in the local memory. Pieces that lie back to
 * back become one. Nothing is emitted for no bytes. */
void pim_core_emit_transfer(struct pim_core_emitter *emitter, enum pim_opcode opcode, uint32_t core,
                            uint64_t local, uint64_t global, uint64_t bytes, uint64_t count, uint64_t stride);
void pim_core_emit_copy(struct pim_core_emitter *emitter, uint32_t core, uint64_t destination,
                        uint64_t source, uint64_t bytes, uint64_t count, uint64_t destination_stride,
                        uint64_t source_stride);
void pim_core_emit_zeros(struct pim_core_emitter *emitter, uint32_t core, uint64_t destination,
                         uint64_t bytes, uint64_t count, uint64_t stride);

/* The send and its receive. From a core to itself it is a copy. */
void pim_core_emit_message(struct pim_core_emitter *emitter, uint32_t source, uint64_t source_local,
                           uint32_t destination, uint64_t destination_local, uint64_t bytes);

/*
 * A barrier over `count` different cores: when one is past it, everything that all of them emitted before is
 * complete (loads and stores of global memory included). A binary tree of messages of one element, up to
 * core[0] and down again; every core keeps its first two elements
 * free for it.
 */
void pim_core_emit_barrier(struct pim_core_emitter *emitter, const uint32_t *core, uint32_t count);

#endif
