/* The state of the machine, for machine.c and machine_compute.c. */
#ifndef PIMSIM_TESTS_UNIT_ALLSPARK_MACHINE_MACHINE_INTERNAL_H
#define PIMSIM_TESTS_UNIT_ALLSPARK_MACHINE_MACHINE_INTERNAL_H

#include "tests/unit/allspark/machine/machine.h"

/* Result of an instruction of the current phase; values is NULL when it has none. */
struct result {
    uint64_t *values;
    uint64_t count;
    bool shared; /* an output tile: freed with the instruction that opened it */
};

/* An access to memory since the last join: `count` pieces of `bytes`, `stride` apart. */
struct access {
    uint64_t begin, bytes, stride, count, sequence;
    enum pim_engine engine;
    bool write;
};

struct posted {
    uint32_t peer, tag;
    uint64_t address, bytes, sequence;
    bool done;
};

struct queue { /* input tiles, or weights in one row */
    struct result *tiles;
    uint32_t head, count, capacity;
};

struct unit {
    struct pim_instruction *program;
    uint64_t length, at;
    uint64_t *memory;
    bool *known;
    uint32_t phase;
    uint64_t phase_start, join; /* sequence of the first instruction of the phase; of the last join */
    struct result *results;     /* from phase_start on */
    uint64_t results_capacity;
    struct queue inputs;
    uint64_t *weights; /* byte stream */
    /* last: sequence of the newest load */
    uint64_t weights_head, weights_count, weights_capacity, weights_last;
    uint64_t weights_tile; /* of the newest load of an input tile */
    uint64_t channel;      /* of a convolution, the next one of its tile */
    uint32_t tile;         /* which input tile the next MATRIX reads */
    struct result output;
    uint64_t output_last; /* sequence of the MATRIX that accumulated last */
    bool output_open;
    uint64_t output_width, columns; /* of a row of the open tile, and of those that are accumulated to */
    struct posted *posted;
    uint32_t posted_count, posted_capacity;
    struct access *accesses;
    uint32_t access_count, access_capacity;
};

struct machine {
    const struct scenario *scenario;
    uint64_t memory_bytes;
    uint32_t count;
    struct unit *units;
};

/* Fails the test at the instruction that `unit` is at. */
PIM_PRINTF(3, 4)
_Noreturn void machine_broken(const struct machine *machine, uint32_t unit, const char *format, ...);

/* realloc that does not fail; room for `count` numbers. */
void *machine_grown(void *items, uint64_t capacity, size_t size);
uint64_t *machine_values(uint64_t count);

/* The result of an earlier instruction of the phase; that which dependency `slot` names, values NULL when it
   names none. */
struct result *machine_result(struct machine *machine, uint32_t unit, uint64_t sequence);
struct result machine_operand(struct machine *machine, uint32_t unit, unsigned slot);

/* Whether `later` cannot start before `earlier` is complete: through dependencies and engines that work one
   instruction at a time. */
bool machine_ordered(const struct unit *unit, uint64_t earlier, uint64_t later);

/* Execute the MATRIX or VECTOR that the unit is at. */
struct result machine_multiply(struct machine *machine, uint32_t unit);
struct result machine_vector(struct machine *machine, uint32_t unit);

#endif
