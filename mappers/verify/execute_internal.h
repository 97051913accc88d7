/* What the files of the executor share. */
#ifndef PIMSIM_MAPPERS_VERIFY_EXECUTE_INTERNAL_H
#define PIMSIM_MAPPERS_VERIFY_EXECUTE_INTERNAL_H

#include "mappers/verify/execute.h"
#include "sim/random.h"

/* A memory whose bytes know whether they were written, in pages that exist when they were. */
enum { PIM_EXECUTE_PAGE = 1 << 14 };

struct pim_execute_page {
    uint8_t byte[PIM_EXECUTE_PAGE];
    bool written[PIM_EXECUTE_PAGE];
};

struct pim_execute_memory {
    struct pim_execute_page **page;
    size_t pages;     /* that `page` has room for */
    uint64_t limit;   /* addresses lie below */
    uint64_t end;     /* the highest that was touched */
    const char *name; /* for messages */
};

/* Copies between a memory and `bytes`. PIM_BAD_INPUT beyond the limit, and for bytes never written. */
enum pim_status pim_execute_store(struct pim_execute_memory *memory, uint64_t address, const uint8_t *bytes,
                                  size_t count, struct pim_error *error);
enum pim_status pim_execute_load(struct pim_execute_memory *memory, uint64_t address, uint8_t *bytes,
                                 size_t count, struct pim_error *error);
void pim_execute_memory_terminate(struct pim_execute_memory *memory);

/* Bytes [begin, end) of the local memory; begin = end: none. */
struct pim_execute_range {
    uint64_t begin, end;
};

/* An instruction under way. */
struct pim_execute_slot {
    struct pim_instruction instruction;
    uint64_t fetch;
    struct pim_execute_range read[2], write;
    uint8_t engine; /* enum pim_engine */
};

/* Bytes of a store that are not in the global memory yet, or of a message that waits. */
struct pim_execute_bytes {
    struct pim_execute_bytes *next;
    uint64_t address; /* of a store */
    uint64_t count;
    uint8_t byte[];
};

/* The messages of a (source, destination, tag) that were sent and not received. */
struct pim_execute_channel {
    uint32_t source, destination, tag;
    struct pim_execute_bytes *first;
};

/* What a program has written into the arrays of a group: `rows` rows of all folds. */
struct pim_execute_cells {
    uint32_t rows;
    int16_t *weight;
};

struct pim_execute_core {
    struct pim_trace_cursor *cursor;
    const struct pim_trace_array_group *group;
    uint32_t groups;
    struct pim_execute_cells *cells; /* of each group; NULL: nothing is written here */
    uint32_t set;                    /* that the arrays hold; 0: none */
    struct pim_execute_slot slot[PIM_CORE_EXECUTION_WINDOW]; /* in the order of the program */
    uint32_t slots;
    uint64_t fetched;
    struct pim_instruction barrier; /* a control instruction that waits for everything before it */
    bool at_barrier, ended;
    bool listed; /* may be able to go on */
    struct pim_execute_memory local;
    struct pim_execute_bytes *pending; /* stores, the youngest first */
};

/* The weight matrix of a layer, row by row; made when it is needed. */
struct pim_execute_matrix {
    uint32_t rows, columns;
    int16_t *weight;
};

struct pim_core_execution {
    const struct pim_trace *trace;
    struct pim_core_execution_options options; /* without the zeros that stand for something else */
    struct pim_core_execution_counts counts;
    struct pim_random random;
    struct pim_execute_core *core;
    uint32_t cores;
    uint32_t *list; /* of cores that may be able to go on */
    uint32_t listed;
    struct pim_execute_memory global;
    struct pim_execute_matrix *matrix;
    uint32_t matrices;
    struct pim_execute_channel *channel;
    size_t channels, channel_capacity;
    uint8_t *scratch; /* bytes of one instruction */
    size_t scratch_capacity;
};

/* The local memory that an instruction reads and writes. PIM_BAD_INPUT for one that is not of cores. */
enum pim_status pim_execute_ranges(struct pim_execute_slot *slot, struct pim_error *error);

/* Whether one of two instructions writes the arrays that the other one uses. */
bool pim_execute_same_arrays(const struct pim_instruction *a, const struct pim_instruction *b);

/* Executes an instruction other than a message. Errors lack the place. */
enum pim_status pim_execute_instruction(struct pim_core_execution *execution, struct pim_execute_core *core,
                                        const struct pim_instruction *instruction, struct pim_error *error);

/* Puts everything that `core` has stored into the global memory, in the order of the stores. */
enum pim_status pim_execute_flush(struct pim_core_execution *execution, struct pim_execute_core *core,
                                  struct pim_error *error);

/* Moves the bytes of a message from one local memory to the other. */
enum pim_status pim_execute_message(struct pim_core_execution *execution, struct pim_execute_core *source,
                                    const struct pim_instruction *send, struct pim_execute_core *destination,
                                    const struct pim_instruction *receive, struct pim_error *error);

/* Room for `size` bytes; valid until the next call. NULL when memory is out. */
uint8_t *pim_execute_scratch(struct pim_core_execution *execution, size_t size);

#endif
