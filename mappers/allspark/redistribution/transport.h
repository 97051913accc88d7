/*
 * The program of a redistribution: copies within the memories of units, and messages between units, in steps.
 *
 * Invariants:
 *  1. Steps follow each other on a unit, which joins between them: what a step sends is what the step before
 *     has packed or received.
 *  2. Messages of a step have an order, in which both of their ends have them: the first message that is not
 *     done is the next one of its sender and of its receiver. So a transport cannot lock.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_TRANSPORT_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_TRANSPORT_H

#include "mappers/allspark/emitter.h"

/* Within the memory of a unit. Copies of a step that follow each other, have the same `run` and lie evenly
   apart on both sides are one load and one store. */
struct pim_transport_copy {
    uint32_t unit, step;
    uint64_t from, to;
    uint32_t bytes, run;
};

struct pim_transport_message {
    uint32_t step;
    enum pim_message kind;
    uint32_t from_unit, to_unit;
    uint32_t tag;   /* behind the first one of the phase */
    uint64_t order; /* among the messages of a step; of equal ones that with the smaller tag goes first */
    uint64_t from, to, bytes;
};

struct pim_transport {
    uint32_t units, steps, tags;
    /* units join between all steps; else only between two in which they have work */
    bool joins_always;
    /* those of unit n in step s: copies[first_copy[n * steps + s]] to copies[first_copy[n * steps + s + 1] -
       1], in the order in which they were added */
    size_t copy_capacity, message_capacity;
    uint32_t copy_count, message_count;
    struct pim_transport_copy *copies;
    uint32_t *first_copy;
    /* messages in their order; those that unit n sends or gets in step s: of_unit[first_message[...]], as
       above */
    struct pim_transport_message *messages;
    uint32_t *first_message, *of_unit;
};

/* Appends; false when memory is out. `joined`: what adjoins the last one on both sides lengthens it. */
bool pim_transport_add_copy(struct pim_transport *transport, const struct pim_transport_copy *copy,
                            bool joined);
bool pim_transport_add_message(struct pim_transport *transport, const struct pim_transport_message *message);

/* Sorts the messages by steps and order, which become their tags. */
void pim_transport_sort(struct pim_transport *transport);

/* The lists of the units, when all is there and the messages are in their order. False when memory is out. */
bool pim_transport_end(struct pim_transport *transport);
void pim_transport_terminate(struct pim_transport *transport);

/* Whether a unit has anything to do; its instructions, where the tags begin with `tag`. */
bool pim_transport_has_unit(const struct pim_transport *transport, uint32_t unit);
void pim_transport_emit(struct pim_emitter *emitter, const struct pim_transport *transport, uint32_t tag);

/*
 * A program of one step where nothing needs packing (reduction.c, head.c, focal.c): message i of `count` is
 * message_of(i). The unit at hand takes all that it receives, then all that it sends, or copies for itself,
 * in their order; nothing of an empty one.
 */
typedef struct pim_transport_message pim_message_function(const struct pim_emitter *emitter, uint32_t index);
void pim_transport_emit_plain(struct pim_emitter *emitter, uint32_t count, pim_message_function *message_of,
                              uint32_t tag);

/* What `count` messages of as many bytes to the same unit take, one after another. */
uint64_t pim_transport_collect(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t count);

/* Loads and stores of the copies of a unit in a step, in cycles. */
uint64_t pim_transport_copies(const struct pim_estimate_hardware *hardware,
                              const struct pim_transport *transport, uint32_t unit, uint32_t step);

#endif
