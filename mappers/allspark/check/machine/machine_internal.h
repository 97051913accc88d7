/* The state of the machine, for the files of this folder. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_CHECK_MACHINE_MACHINE_INTERNAL_H
#define PIMSIM_MAPPERS_ALLSPARK_CHECK_MACHINE_MACHINE_INTERNAL_H

#include "mappers/allspark/check/machine/machine.h"
#include "sim/arena.h"

/* Result of an instruction of the current phase; values is NULL when it has none, and that of a MATRIX is in
   the output tile. */
struct result {
    const uint16_t *values;
    uint64_t count;
    bool output;
};

/* What a LOAD brought into the input or the weight buffer. */
struct loaded {
    const uint16_t *values;
    uint16_t *owned; /* the same, or NULL: they lie with the weights */
    uint64_t count, sequence;
};

struct queue {
    struct loaded *items;
    size_t head, count, capacity;
};

/* Weights in the memory of a unit, in the order of their addresses while the machine runs. */
struct region {
    uint64_t address, bytes;
    const uint16_t *values;
};

/* --- order (order.c) --- */

enum { ORDERED_ENGINES = 4 }; /* work one instruction at a time: all but the receive engine */

/* What is complete when an instruction of this join starts: of an engine, the instructions up to that number,
   counted from 1; the receives of a set of bits. */
struct moment {
    uint32_t complete[ORDERED_ENGINES];
    uint32_t receive, words; /* number of the receive, if it is one; words of the set */
    const uint64_t *receives;
    uint8_t engine;
    bool open; /* a receive whose message has not come */
};

/* An access to memory since the last join: `count` pieces of `bytes`, `stride` apart. */
struct access {
    uint64_t begin, end, bytes, stride, count;
    uint32_t moment;
};

enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_SEND, ACCESS_RECEIVE, ACCESS_KINDS };

struct accesses {
    struct access *items;
    size_t count, capacity;
};

struct order {
    uint64_t join; /* sequence of the last join or phase mark */
    struct moment *moments;
    size_t count, capacity;
    uint32_t last[ORDERED_ENGINES]; /* of each engine, counted from 1; 0: none */
    uint32_t receives;
    struct accesses accesses[ACCESS_KINDS];
    size_t passed; /* receives at the front that every access by LOAD and STORE comes behind */
    struct pim_arena arena;
};

struct posted {
    uint32_t peer, tag, moment;
    uint64_t address, bytes;
    bool done;
};

/* --- units --- */

/* The output tile that MATRIX instructions accumulate to. */
struct output {
    uint16_t *values;
    size_t capacity;
    uint64_t count, width, columns; /* of a row, and of those of it that are accumulated to */
    uint64_t last;                  /* sequence of the MATRIX that accumulated last */
    uint64_t channel;               /* of a convolution: the next one of its tile */
    bool open;
};

struct unit {
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *now; /* NULL: at the end */
    uint64_t at;                       /* sequence of `now` */
    uint32_t phase;                    /* UINT32_MAX: between two */
    uint64_t phase_start;
    uint16_t *memory; /* the workspace */
    uint8_t *known;
    struct region *regions;
    size_t region_count, region_capacity, region_last;
    struct pim_arena arena; /* of the phase */
    struct result *results; /* from phase_start on */
    size_t results_capacity;
    struct queue inputs, weights;
    uint64_t weights_used, weights_left; /* of the first item; of all */
    size_t tile;                         /* which input tile the next MATRIX reads */
    struct output output;
    uint64_t output_loaded; /* bytes that LOADs have put into the output buffer, and nobody has given back */
    struct posted *posted;
    size_t posted_first, posted_count, posted_capacity;
    size_t posted_open;
    struct order order;
};

/* What the name of a phase says. */
struct phase_kind {
    uint32_t stage; /* of the network, from 0; UINT32_MAX: none */
    bool scores, convolution, window_pool;
    bool pools, collects; /* averages for the classifier; the last of them */
};

struct machine {
    const struct pim_allspark_plan *plan;
    const struct pim_trace *trace;
    struct phase_kind *kinds;
    uint64_t base, bytes; /* of the workspace */
    uint32_t count;
    struct unit *units;
    uint16_t *scratch; /* for a matrix that is turned */
    size_t scratch_capacity;
    struct pim_error *error; /* of the call under way */
};

/* The message names the instruction that `unit` is at. */
PIM_PRINTF(3, 4)
enum pim_status machine_broken(const struct machine *machine, uint32_t unit, const char *format, ...);
enum pim_status machine_no_memory(const struct machine *machine);

static inline const struct phase_kind *machine_kind(const struct machine *machine, const struct unit *unit)
{
    return &machine->kinds[unit->phase];
}

/* Numbers that last as long as the phase; NULL: memory is out. */
static inline uint16_t *machine_values(struct unit *unit, uint64_t count)
{
    return PIM_ARENA_ITEMS(&unit->arena, uint16_t, count);
}

/* The operand that dependency `slot` names; values NULL when it names none. */
enum pim_status machine_operand(struct machine *machine, uint32_t unit, unsigned slot,
                                struct result *operand);

/* --- memory.c --- */

/* Refuses bytes to be written that do not lie in the workspace. */
enum pim_status machine_accept(const struct machine *machine, uint32_t unit, uint64_t address,
                               uint64_t bytes);
enum pim_status machine_sort_regions(struct machine *machine);
enum pim_status machine_load(struct machine *machine, uint32_t unit, struct result *result);
enum pim_status machine_store(struct machine *machine, uint32_t unit);
/* A message; the receive is posted, in the unit `to`. */
enum pim_status machine_transfer(struct machine *machine, uint32_t unit, uint32_t to,
                                 const struct posted *receive);

/* The `count` weights that come next, in one row, and the sequence of the last load of them. They stay until
   they are given back. */
enum pim_status machine_weights(struct machine *machine, uint32_t unit, uint64_t count,
                                const uint16_t **values, uint64_t *sequence);
void machine_release_weights(struct unit *unit, uint64_t count);
void machine_release_input(struct unit *unit);
void machine_empty_queue(struct queue *queue);

/* --- order.c --- */

void order_initialize(struct order *order);
void order_terminate(struct order *order);
void order_join(struct order *order, uint64_t sequence);
/* Of the instruction that the unit is at, once, before it is executed. */
enum pim_status order_begin(struct machine *machine, uint32_t unit);
/* Whether an instruction is complete when the one that the unit is at starts. */
bool order_is_behind(const struct unit *unit, uint64_t sequence);
/* Refuses an access whose order with another is not certain; `access` has begin, bytes, stride, count. */
enum pim_status order_access(struct machine *machine, uint32_t unit, enum access_kind kind,
                             struct access access);

/* --- matrix.c, vector.c --- */

/* Execute the MATRIX or VECTOR that the unit is at. */
enum pim_status machine_multiply(struct machine *machine, uint32_t unit, struct result *result);
enum pim_status machine_vector(struct machine *machine, uint32_t unit, struct result *result);

#endif
