/*
 * Executes the programs of a trace with numbers (check_values.h). Each node fetches in order; what waits for
 * a message waits until it is there, and a message arrives when it is waited for and not before, so that what
 * does not wait reads what was there before. Nodes take turns in an order drawn from the seed.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_CHECK_EXECUTE_H
#define PIMSIM_MAPPERS_NICEPIM_CHECK_EXECUTE_H

#include "mappers/nicepim/check/record.h"
#include "mappers/nicepim/check/tensors.h"
#include "mappers/nicepim/check/words.h"
#include "traces/file/reader.h"

#include <inttypes.h>

/* A copy of weights: whose, and the order in which tiles take them, once one did. */
struct copy_of_weights {
    struct pim_span k, c;
    uint32_t order[2];
};

struct message {
    uint32_t from, tag;
    uint64_t address, bytes; /* RECEIVE: where to */
    uint64_t sequence;       /* of the RECEIVE */
    struct words words;
};

struct messages {
    struct message *items; /* from malloc */
    size_t count, capacity;
};

struct node_state {
    struct word_memory memory;
    struct pim_trace_cursor *cursor;
    struct pim_instruction instruction; /* fetched, and not done */
    bool fetched, ended;
    uint64_t sequence;            /* of it, or of the next */
    size_t note;                  /* of the node: the next */
    struct words stream;          /* loaded or made, and not taken: with the instruction of each */
    uint64_t *made;               /* from malloc: instructions of the stream */
    size_t made_capacity, before; /* before: words of the stream that are taken */
    struct words taken, input, weight;
    struct word_table table, inputs, weights;
    bool inputs_known, weights_known; /* tables are those of the words */
    int64_t *sums;                    /* of the open tile; from malloc */
    size_t sum_count;
    struct messages sent, wanted; /* to it and by it: neither has met the other */
    uint64_t joined;              /* everything before this instruction is complete */
    uint64_t last_load;           /* into a buffer of matrix that no product has waited for, and one more */
    uint64_t last_product;        /* that no vector operation has waited for, and one more */
    struct words stored;          /* by the last STORE, as long as nothing that waits for it came: */
    uint64_t *stored_at;          /* addresses; from malloc */
    size_t stored_capacity;
    uint64_t stored_by;
    bool stores; /* the instruction before was a STORE */
};

struct execution {
    const struct tensors *tensors;
    const struct nice_record *record;
    struct node_state *node;
    uint32_t nodes;
    struct copy_of_weights *copies; /* of each layer, of each node of its region */
    uint64_t products, moved;       /* multiply-accumulates; elements that went between nodes */
    struct pim_error *error;
};

enum pim_status execution_initialize(struct execution *execution, const struct tensors *tensors,
                                     const struct nice_record *record, const struct pim_trace *trace,
                                     uint64_t memory_bytes, struct pim_error *error);
enum pim_status execution_run(struct execution *execution, uint64_t seed);
void execution_terminate(struct execution *execution);

/* The arithmetic of one instruction: what it makes goes to the stream of the node. */
enum pim_status execute_matrix(struct execution *execution, uint32_t node, const struct nice_note *note);
enum pim_status execute_vector(struct execution *execution, uint32_t node, const struct nice_note *note);

static inline uint32_t execution_tensor(const struct execution *execution, const struct identity *identity)
{
    return identity->sample * execution->tensors->flow->count + identity->layer;
}

static inline const char *execution_layer(const struct execution *execution, uint32_t layer)
{
    return execution->tensors->flow->graph->layers[layer].name;
}

static inline enum pim_status execution_no_memory(const struct execution *execution)
{
    return pim_fail(execution->error, PIM_NO_MEMORY, "out of memory for the values of nodes");
}

/* Appends what the instruction at work makes. */
enum pim_status execution_make(struct execution *execution, uint32_t node, const struct word *word);

#endif
