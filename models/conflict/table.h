/*
 * Behaviour tables: for each router the ordered list of what it does, "take the packet of this task from that
 * side, hand it to this side".
 *
 * The paper writes an entry as O_k: Start -> End, with orientations north, south, west, east and PE. Tables
 * are made by a path_hold run (every transfer that starts appends an entry to each router of its path) and
 * executed by routers in either mode: strictly in order.
 *
 * In a trace an entry is a struct pim_trace_behaviour with task = edge, start = orientation it comes from
 * (enum pim_port) and end = orientation it goes to.
 */
#ifndef PIMSIM_MODELS_CONFLICT_TABLE_H
#define PIMSIM_MODELS_CONFLICT_TABLE_H

#include "models/conflict/mesh.h"
#include "sim/status.h"

#include <stddef.h>

struct pim_trace;
struct pim_trace_writer;

struct pim_operation {
    uint32_t task;    /* edge */
    uint8_t from, to; /* enum pim_port */
};

struct pim_operation_list {
    struct pim_operation *operation;
    size_t count, room;
};

struct pim_behaviour {
    struct pim_conflict_mesh mesh;
    struct pim_operation_list *router; /* by router; NULL while the mesh is 0 x 0 */
    double made_end_ns;                /* end of the run that made them; NaN: not known */
};

/* Empty tables; PIM_NO_MEMORY. */
enum pim_status pim_behaviour_initialize(struct pim_behaviour *behaviour,
                                         const struct pim_conflict_mesh *mesh, struct pim_error *error);
void pim_behaviour_terminate(struct pim_behaviour *behaviour);

/* Appends the operations of a packet of `task` that goes over these directed links (at least one). */
enum pim_status pim_behaviour_append(struct pim_behaviour *behaviour, uint32_t task, const uint32_t *links,
                                     uint32_t hops, struct pim_error *error);

/* Operations of all routers, and of the longest list. */
size_t pim_behaviour_operations(const struct pim_behaviour *behaviour);
size_t pim_behaviour_longest(const struct pim_behaviour *behaviour);

/*
 * What the tables take in the routers: an operation names a side to take from and one to hand to, 5 bits for
 * one of 25. Run-length coded, an entry has a count of `count_bits` bits beside it, and longer rows of equal
 * operations take several: the width with the fewest bits, 0 where coding gains nothing.
 */
struct pim_behaviour_size {
    size_t operations;   /* of all routers */
    size_t longest_list; /* operations of a router, at most */
    size_t longest_row;  /* equal operations one after another, at most */
    unsigned count_bits;
    uint64_t bits, coded_bits;
};
struct pim_behaviour_size pim_behaviour_measure(const struct pim_behaviour *behaviour);

/* Adds the tables to a trace that is being written. */
enum pim_status pim_behaviour_put(const struct pim_behaviour *behaviour, struct pim_trace_writer *writer,
                                  struct pim_error *error);

/* Writes a trace without programs that holds the tables. `network` and `mapping` are for its description. */
enum pim_status pim_behaviour_write(const struct pim_behaviour *behaviour, const char *path,
                                    const char *network, const char *mapping, struct pim_error *error);

/* The tables of an open trace: PIM_BAD_INPUT when it has none, or an entry is no operation. The caller
 * terminates them; after a failure they are empty. */
enum pim_status pim_behaviour_take(struct pim_behaviour *behaviour, const struct pim_trace *trace,
                                   struct pim_error *error);

/* The same of a file. */
enum pim_status pim_behaviour_read(struct pim_behaviour *behaviour, const char *path,
                                   struct pim_error *error);

#endif
