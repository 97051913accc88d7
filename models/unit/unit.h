/*
 * A unit, whatever its family: it fetches a program, executes the control instructions, and accounts for
 * phases, work and time. Families (models/node, models/core, ...) plug in the engines.
 *
 * Rules that all families share, in the order in which they apply:
 *  1. Fetch: in program order and without cost, while fewer than `window` instructions are in flight (fetched
 *     since the oldest that is not complete). A phase mark or join is executed by the unit when everything
 *     before it is complete; it takes no time.
 *  2. A fetched instruction enters the queue of its engine at once. What starts it, and when, is the
 *     family's.
 *  3. A program ends outside of a phase. A run ends when every program has ended.
 *
 * A family embeds `struct pim_units` and, first in its own unit, `struct pim_unit`; fetch.h has the
 * inline part.
 */
#ifndef PIMSIM_MODELS_UNIT_UNIT_H
#define PIMSIM_MODELS_UNIT_UNIT_H

#include "models/noc/noc.h"
#include "models/unit/result.h"
#include "sim/arena.h"
#include "sim/kernel/kernel.h"
#include "sim/status.h"
#include "traces/file/reader.h"

#include <stddef.h>

/* Joins take no time: a program of nothing else would never let the clock move on. */
enum { PIM_JOINS_MOST = 1 << 20 };

struct pim_dram_counters;
struct pim_unit;
struct pim_units;

/* A figure of a unit that timelines show over time: what it holds now, or, with `whole`, which part of the
 * events of a kind; both of these only grow. */
struct pim_gauge {
    const char *name, *unit;
    uint64_t (*value)(const struct pim_unit *unit, unsigned detail);
    uint64_t (*whole)(const struct pim_unit *unit, unsigned detail);
    unsigned detail;
};

/* What a family is to those who run it. `units` is the family's own, of which pim_units is a part. */
struct pim_unit_family {
    const char *noun;             /* of a unit in messages */
    bool names_phase;             /* whose work does not fit 64 bits */
    struct pim_noc_callbacks noc; /* `context` is left out: it is the units */
    /* Whether a packet carries payload; NULL: all do. */
    bool (*is_payload)(const struct pim_noc_delivery *delivery);
    /* Before the run, which is refused when it goes on after time_last, and may be stopped at cycle `until`;
     * NULL: nothing follows from that. */
    void (*limit)(struct pim_units *units, uint64_t until);
    /* Brings the accounts of a unit up to a tick; NULL: by the states of its engines. */
    void (*account)(struct pim_unit *unit, pim_time time);
    /* When a unit has left its phase; NULL: what it does then is outside of any. */
    void (*leave_phase)(struct pim_unit *unit);
    /* Lines about what waits in a unit that has not finished. */
    void (*describe)(struct pim_unit *unit, struct pim_idle_report *report);
    /* Adds to the unit's result what is not accounted while it runs; NULL: nothing. */
    void (*complete_result)(struct pim_unit *unit, pim_time end, struct pim_unit_result *result);
    /* Adds what the channels that units share have counted so far; NULL: there are none. */
    void (*shared_rows)(const struct pim_units *units, struct pim_dram_counters *sum);
    void (*terminate)(struct pim_units *units);
    const struct pim_gauge *gauges; /* at most 8, up to one without a name; NULL: none */
};

/* What all units of a run share. */
struct pim_units {
    const struct pim_unit_family *family;
    struct pim_kernel *kernel;
    struct pim_noc *noc; /* set by the owner after creating it */
    const struct pim_trace *trace;
    void *first; /* the units, `size` bytes each */
    size_t size;
    uint32_t count;
    uint32_t running; /* that have not finished their program */
    uint32_t window;  /* instructions in flight */
    pim_time period;  /* ticks of the cycle that families count in: 1 for those that count ticks */
    struct pim_phase_result *phases;
    uint32_t phase_count;
    struct pim_phase_result outside; /* takes what is done outside of any phase */
    pim_observer *observer;
    void *observer_context;
    struct pim_error *error; /* set by a handler that met bad input; the kernel is stopped then */
    pim_time finished_at;    /* end of the last phase of the last unit */
    pim_time time_last; /* a run that goes on after this tick is refused: sums over units would not fit */
    struct pim_pending_work pending_work;
};

/* What the engines of a unit do, for families whose completions are events: an engine is idle, busy, or waits
 * for a cause. The accounts of its time follow from that. (Cores, which run ahead, account by ends.) */
enum { PIM_STATE_IDLE = 0, PIM_STATE_BUSY = 1, PIM_STATE_WAIT = 2 /* + enum pim_wait */ };

struct pim_engine_states {
    uint8_t state[PIM_ENGINE_CONTROL]; /* PIM_STATE_* */
    uint8_t busy_mask, wait_mask;      /* one bit an engine */
    pim_time accounted;                /* up to here */
};

/* In the order in which an event looks at it, so that it meets few cache lines: with thousands of units each
 * comes from memory. The first line has what every event of a family that works by events needs. */
struct pim_unit {
    _Alignas(PIM_LINE) struct pim_units *units;
    struct pim_trace_cursor *cursor;
    struct pim_phase_result *sums; /* of the phase it is in */
    uint64_t fetched, oldest;      /* in executed order; everything before `oldest` is complete */
    struct pim_engine_states states;
    uint32_t id;
    bool holding, at_end, finished, in_phase;
    struct pim_unit_result result;
    uint32_t phase, joins;       /* joins that followed each other without work between them */
    uint64_t issued;             /* instructions started or executed, for families that issue in order */
    uint64_t *rings;             /* of sequence numbers, one for each engine */
    struct pim_instruction held; /* a control instruction that waits for everything before it */
    pim_time phase_start;
    pim_time share_at_start[PIM_SHARES];
};
_Static_assert(offsetof(struct pim_unit, result) == PIM_LINE, "the first line is full");

/* state.c */
/* Brings the accounts of a unit up to a tick; before a state changes. */
void pim_states_account(struct pim_unit *unit, pim_time time);
/* The engine's state from now on. */
void pim_states_set(struct pim_unit *unit, unsigned engine, uint8_t state);

static inline void pim_states_account_now(struct pim_unit *unit)
{
    pim_states_account(unit, pim_kernel_now(unit->units->kernel));
}

/* Space for packets, messages and the like: records of one size that are never moved. */
struct pim_pool {
    void *free;
    struct pim_pool_chunk *chunks;
};
/* A record, whatever it held; `size` is always the same, a multiple of that of a pointer. It lies at a
 * multiple of PIM_LINE where `size` is one. NULL: out of memory. */
void *pim_pool_take(struct pim_pool *pool, size_t size);
void pim_pool_give(struct pim_pool *pool, void *record);
void pim_pool_terminate(struct pim_pool *pool);

/*
 * Takes `size` bytes for each unit of the trace, all zero, and the phases. The family then calls
 * pim_unit_initialize() for each. `error` keeps the first error of a run; the trace must outlive the units.
 */
enum pim_status pim_units_initialize(struct pim_units *units, const struct pim_unit_family *family,
                                     struct pim_kernel *kernel, const struct pim_trace *trace, size_t size,
                                     struct pim_error *error);
/* A unit with room for `ring` instructions in each queue, a power of two; 0: its family has its own. */
enum pim_status pim_unit_initialize(struct pim_units *units, uint32_t id, uint32_t ring,
                                    struct pim_error *error);
/* Before the run: it is refused when it goes on after tick `last` (or time_last, if that is earlier), and may
 * be stopped at cycle `until`. */
void pim_units_limit(struct pim_units *units, pim_time last, uint64_t until);
/* Gives back what these two took; the families' terminate() ends with it. */
void pim_units_terminate(struct pim_units *units);

static inline struct pim_unit *pim_units_at(const struct pim_units *units, uint32_t id)
{
    return (struct pim_unit *)(void *)((char *)units->first + units->size * id);
}

uint64_t pim_units_instructions(const struct pim_units *units); /* fetched so far by all units */

/* Tick up to which results account: the end of the last unit, or now while units still run. */
pim_time pim_units_end(const struct pim_units *units);

/* Closes the phases that are open, as if they ended now: for results of a run that was stopped before its
 * end. The units must not run on after that. Without effect when every unit has finished. */
void pim_units_close(struct pim_units *units);

/* Brings the accounts of a unit up to pim_units_end() and writes its result. Debug builds check that for each
 * class busy + stalled + idle is the total time, and that the shares sum to it. */
void pim_unit_result_of(struct pim_units *units, uint32_t id, struct pim_unit_result *result);

/* The first error of a run, with unit and instruction; stops the kernel. */
void pim_unit_fail(struct pim_unit *unit, const char *format, ...) PIM_PRINTF(2, 3);
void pim_unit_fail_at(struct pim_unit *unit, uint64_t sequence, unsigned opcode, const char *format, ...)
    PIM_PRINTF(4, 5);

/* "node", "core", "channel", "tile": value number `kind` of the key array.kind; NULL outside. */
const char *pim_unit_kind_name(unsigned kind);
enum { PIM_UNIT_KINDS_TEXT = 64 };
/* "\"node\" or \"core\"": those with a bit 1 << kind in `kinds`. */
void pim_unit_kinds_text(unsigned kinds, char text[PIM_UNIT_KINDS_TEXT]);

/* The refusal of an instruction that these units have no engine for: it names the hardware that has one. */
enum pim_status pim_unit_refuse_opcode(unsigned opcode, struct pim_error *error);
/* The same as the first error of a run. */
void pim_unit_no_engine(struct pim_unit *unit, uint64_t sequence, unsigned opcode);

/* Do `cycles` of a clock from tick `from` on end within time_last? Else the run has failed, at an instruction
 * if one is named. */
bool pim_unit_in_time(struct pim_unit *unit, pim_time from, uint64_t cycles, pim_time period);
bool pim_unit_in_time_at(struct pim_unit *unit, uint64_t sequence, unsigned opcode, pim_time from,
                         uint64_t cycles, pim_time period);

/* Out of memory, in the middle of a run. */
void pim_units_exhausted(struct pim_units *units, const char *what);

void pim_unit_begin_phase(struct pim_unit *unit, uint32_t phase, pim_time now);
void pim_unit_end_phase(struct pim_unit *unit, uint32_t phase, pim_time now);
void pim_unit_finish(struct pim_unit *unit, pim_time now);
void pim_unit_too_many_joins(struct pim_unit *unit);
void pim_unit_uncountable(struct pim_unit *unit, const struct pim_phase_result *phase);

/* Adds to a count of struct pim_actions, of the unit and of a phase; a sum beyond 64 bits fails the run. */
static inline void pim_actions_add(struct pim_unit *unit, struct pim_phase_result *phase, size_t offset,
                                   uint64_t amount)
{
    uint64_t *mine = (uint64_t *)(void *)((char *)&unit->result.actions + offset);
    uint64_t *sum = (uint64_t *)(void *)((char *)&phase->actions + offset);
    if (__builtin_add_overflow(*mine, amount, mine) || __builtin_add_overflow(*sum, amount, sum))
        pim_unit_uncountable(unit, phase);
}
#define PIM_ADD_ACTION(owner, member, amount)                                                                \
    pim_actions_add(&(owner)->unit, (owner)->unit.sums, offsetof(struct pim_actions, member), amount)

/* Bytes that went one way: loaded, stored, sent, received. */
#define PIM_ADD_BYTES(owner, member, amount)                                                                 \
    ((owner)->unit.result.member += (amount), (owner)->unit.sums->member += (amount))

static inline void pim_unit_observe(const struct pim_unit *unit, const struct pim_instruction *instruction,
                                    pim_time start, pim_time end)
{
    const struct pim_units *units = unit->units;
    if (units->observer)
        units->observer(units->observer_context, unit->id, instruction, unit->phase, start, end);
}

/* Why an instruction waits for one of that engine; the class of results that it belongs to. */
static inline enum pim_wait pim_wait_of_engine(unsigned engine)
{
    return engine < PIM_ENGINE_SEND ? (enum pim_wait)engine : PIM_WAIT_NETWORK;
}
static inline enum pim_engine_class pim_class_of_engine(unsigned engine)
{
    return engine < PIM_ENGINE_SEND ? (enum pim_engine_class)engine : PIM_CLASS_NOC;
}
_Static_assert((int)PIM_ENGINE_MATRIX == (int)PIM_WAIT_MATRIX &&
                   (int)PIM_ENGINE_VECTOR == (int)PIM_WAIT_VECTOR &&
                   (int)PIM_ENGINE_MEMORY == (int)PIM_WAIT_MEMORY &&
                   PIM_ENGINE_RECEIVE == PIM_ENGINE_SEND + 1,
               "causes are in the order of engines");
_Static_assert((int)PIM_ENGINE_MATRIX == (int)PIM_CLASS_PE && (int)PIM_ENGINE_VECTOR == (int)PIM_CLASS_ACU &&
                   (int)PIM_ENGINE_MEMORY == (int)PIM_CLASS_DRAM,
               "classes are in the order of engines");

/* A line of the deadlock report about the head of a queue: what it waits for, in words. */
void pim_unit_report_head(const struct pim_unit *unit, uint64_t sequence,
                          const struct pim_instruction *instruction, const char *cause,
                          struct pim_idle_report *report);

/* A packet is there: its work and its time beyond the latency without load (in network cycles: fixed + hops x
 * per_router + the tail behind the head) belong to the phase in which its sender made it. */
struct pim_zero_load {
    uint64_t fixed, per_router;
    uint32_t flit_bits;
    pim_time period; /* of the network */
};
void pim_unit_attribute_packet(struct pim_unit *source, struct pim_phase_result *phase,
                               const struct pim_zero_load *zero_load,
                               const struct pim_noc_delivery *delivery);

#endif
