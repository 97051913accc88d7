/* Allocators and arbiters of the oracle (oracle.h): dense matrices of requests, one cell after the other. */
#ifndef PIMSIM_TESTS_UNIT_NOC_ORACLE_MATCH_H
#define PIMSIM_TESTS_UNIT_NOC_ORACLE_MATCH_H

#include "models/noc/noc.h"

enum { NONE = -1 };

/* A priority: urgency of the class, what is not speculative, then noc.priority; the greater first. */
enum { URGENCY_BITS = 58, SPECULATION_BITS = 57, IGNORED = 63 };

struct arbiter {
    enum pim_noc_arbiter kind;
    int size, groups, pointer, group_pointer;
    int *in_group;
    uint64_t *served, clock; /* when each was served last; 0: never */
};

struct matching {
    enum pim_noc_allocator kind;
    uint32_t iterations;
    int rows, columns, requests;
    struct arbiter *row, *column;
    int64_t *priority; /* by row x columns + column; below 0: no request */
    uint32_t *packet;  /* that asks */
    bool *row_asks, *column_asked;
    int row_ignores, column_ignores; /* low bits of the priority that a side does not look at */
    int diagonal;
    int *partner; /* of a row, or NONE */
};

void *zeros(size_t count, size_t size);

void arbiter_create(struct arbiter *arbiter, enum pim_noc_arbiter kind, int size, int groups);
void arbiter_destroy(struct arbiter *arbiter);
/* Whether i goes before j, of equal priority. */
bool arbiter_prefers(const struct arbiter *arbiter, int i, uint32_t packet_i, int j, uint32_t packet_j);
void arbiter_serve(struct arbiter *arbiter, int winner);

void matching_create(struct matching *matching, enum pim_noc_allocator kind, uint32_t iterations, int rows,
                     int columns, enum pim_noc_arbiter arbiter, int groups);
void matching_destroy(struct matching *matching);
void matching_clear(struct matching *matching);
void matching_ask(struct matching *matching, int row, int column, int64_t priority, uint32_t packet);
void matching_make(struct matching *matching);

#endif
