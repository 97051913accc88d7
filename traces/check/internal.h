/*
 * The state of an abstract execution, for traces/check/check.c, which runs it, and traces/check/report.c,
 * which explains where it stuck. Instructions are named by their fetch: how many the unit fetched before.
 */
#ifndef PIMSIM_TRACES_CHECK_INTERNAL_H
#define PIMSIM_TRACES_CHECK_INTERNAL_H

#include "traces/check/check.h"
#include "traces/local.h"

#include <stdbool.h>

#define PIM_NO_FETCH UINT64_MAX

/* Bytes of the local memory from `first` to before `end`; the last of an instruction is what it writes. */
struct pim_check_span {
    uint32_t first, end;
};
enum { PIM_CHECK_SPANS = PIM_LOCAL_READS + 1 };

/* An instruction that was fetched: from the oldest that is not complete on. */
struct pim_check_slot {
    struct pim_instruction instruction;
    uint64_t stored; /* its index in the program */
    uint64_t next;   /* fetch of the next in the queue of its engine, or PIM_NO_FETCH */
    struct pim_check_span span[PIM_CHECK_SPANS]; /* of a core */
    uint64_t clear; /* of a core: nothing before this fetch that is still in flight touches the same bytes */
    bool started;   /* a receive: it is open */
    bool done;
};

/* What is remembered of each of the last PIM_DEPENDENCY_REACH + 1 fetches: sums of space since the beginning
 * of the program. */
struct pim_check_history {
    uint64_t sure[PIM_BUFFERS];   /* taken for sure when it starts, by it and by what it comes after */
    uint64_t so_far[PIM_BUFFERS]; /* taken by it and everything fetched before it */
};

struct pim_check_queue {
    uint64_t head, tail;        /* of those that have not started; PIM_NO_FETCH when empty */
    uint64_t sure[PIM_BUFFERS]; /* as in the history, of the last one that was put into the queue */
};

struct pim_check_unit {
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *next; /* is to be fetched; NULL: not looked at yet, or the end */
    bool ended;
    bool listed;      /* waits in the list of units that may be able to go on */
    uint64_t fetched; /* so far */
    uint64_t oldest;  /* everything before it is complete */
    uint64_t issued;  /* in_order: everything before it has started (cores use `oldest`) */
    struct pim_check_queue queue[PIM_ENGINE_CONTROL];
    struct pim_check_slot *slot; /* a ring: fetch f lies at f mod capacity */
    uint32_t slot_capacity;
    struct pim_check_history *history; /* a ring */
    uint32_t history_capacity;
    uint32_t open_count;
    uint64_t open[PIM_CHECK_RECEIVES_MOST]; /* receives that have started, in order */
    uint64_t held[PIM_BUFFERS];
    uint64_t taken[PIM_BUFFERS], given[PIM_BUFFERS]; /* by everything fetched so far */
    enum pim_engine taker[PIM_BUFFERS];              /* since the last join; PIM_ENGINE_CONTROL: nobody */
};

struct pim_check {
    const struct pim_trace *trace;
    struct pim_check_limits limits; /* without the zeros that stand for something else, kind included */
    struct pim_check_unit *unit;
    uint32_t units;
    uint32_t *list; /* of units that may be able to go on */
    uint32_t listed;
    struct pim_check_race *race; /* of cores; NULL: not checked */
    struct pim_check_result *result;
};

static inline struct pim_check_slot *pim_check_slot(const struct pim_check_unit *unit, uint64_t fetch)
{
    return &unit->slot[fetch & (unit->slot_capacity - 1)];
}

static inline bool pim_check_complete(const struct pim_check_unit *unit, uint64_t fetch)
{
    return fetch < unit->oldest || pim_check_slot(unit, fetch)->done;
}

/* The first dependency of an instruction in flight that is not complete, as a fetch; PIM_NO_FETCH when there
 * is none. */
static inline uint64_t pim_check_blocker(const struct pim_check_unit *unit, uint64_t fetch)
{
    const struct pim_instruction *instruction = &pim_check_slot(unit, fetch)->instruction;
    for (int i = 0; i < PIM_DEPENDENCIES; i++)
        if (instruction->dependency[i] != 0 && !pim_check_complete(unit, fetch - instruction->dependency[i]))
            return fetch - instruction->dependency[i];
    return PIM_NO_FETCH;
}

/* Cores: the first instruction in flight before `fetch`, not complete, that touches the same bytes of the
 * local memory, from fetch `from` on; PIM_NO_FETCH when there is none. */
uint64_t pim_check_hazard(const struct pim_check_unit *unit, uint64_t fetch, uint64_t from);

/* Whether the other end of a message is the one this instruction meets: `unit` sends to or receives from the
 * unit of `other`. */
static inline bool pim_check_meets(const struct pim_instruction *own, uint32_t unit,
                                   const struct pim_instruction *other)
{
    return other->u.network.peer == unit && other->u.network.tag == own->u.network.tag;
}

/* Space of `buffer` that an instruction takes at its start. */
uint64_t pim_check_takes(const struct pim_check *check, const struct pim_instruction *instruction,
                         enum pim_buffer buffer);

/* Whether `buffer` has no room for what an instruction takes of it. */
bool pim_check_lacks_space(const struct pim_check *check, const struct pim_check_unit *unit,
                           const struct pim_instruction *instruction, enum pim_buffer buffer);

/* The execution can go no further although a unit has not ended: sets PIM_DEADLOCK and says who waits for
 * whom. */
enum pim_status pim_check_explain(const struct pim_check *check, struct pim_error *error);

#endif
