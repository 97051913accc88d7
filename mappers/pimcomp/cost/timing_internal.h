/* Inside of the timing of a schedule: cores, their windows and engines. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_COST_TIMING_INTERNAL_H
#define PIMSIM_MAPPERS_PIMCOMP_COST_TIMING_INTERNAL_H

#include "mappers/pimcomp/cost/timing.h"
#include "sim/arena.h"

/*
 * A server that several ask for cycles, first come first served, told of the requests in any order: global
 * memory of a chip, bus, links between chips, and those of a mesh where messages are asynchronous.
 *
 * It keeps the intervals in which it is busy. A request takes the cycles that are free from its arrival on;
 * one that is told of late goes between those that were told of before. Intervals far behind the latest one
 * are forgotten: nothing before their end is free.
 */

/* Cycles [begin, end). */
struct pim_server_interval {
    uint64_t begin, end;
};

struct pim_server {
    struct pim_server_interval *busy; /* a ring, ascending, with free cycles between */
    uint32_t mask, head, tail;
    uint64_t forgotten; /* cycles before this one are not given any more */
};

/* A server that keeps 2^kept intervals, in `arena`; false: no memory. */
bool pim_server_make(struct pim_server *server, unsigned kept, struct pim_arena *arena);

/* The cycle in which a request of `cycles` that comes at `at` is served. */
uint64_t pim_server_take(struct pim_server *server, uint64_t at, uint64_t cycles);

enum { PIM_SERVER_OUT, PIM_SERVER_IN, PIM_SERVER_BUS, PIM_SERVER_MEMORY, PIM_SERVERS }; /* of a chip */

#define PIM_TIMING_UNKNOWN UINT64_MAX /* the end of an instruction that is not timed yet */

/* Bytes [begin, end) of a local memory. */
struct pim_timing_range {
    uint32_t begin, end;
};

/* What an instruction touches. */
struct pim_timing_touched {
    struct pim_timing_range write, read[2];
};

enum { PIM_TIMING_LINES = 128, PIM_TIMING_LINE_BYTES = 512, PIM_TIMING_WORD = 64 };

/* Which of the last instructions of a core write and read in each line of the local memory: a bit for each
 * instruction. A large window takes several words. */
struct pim_timing_lines {
    uint64_t writers[PIM_TIMING_LINES], readers[PIM_TIMING_LINES];
};

/* An instruction that has been fetched. */
struct pim_timing_entry {
    struct pim_instruction instruction;
    struct pim_timing_touched touched;
    uint64_t sequence; /* of its core, without joins and marks */
    uint64_t start, end;
    uint64_t due;         /* it has started: when it asks for what ends it */
    uint64_t whole, left; /* a receive: when the last packet is there; bytes that are not written yet */
    enum pim_engine engine;
};

/*
 * A link of a mesh. It gives its cycles in turn to the inputs of its router from which messages come, and
 * those of an input in turn to its messages. So one that comes holds up those that are there, too, and their
 * ends are put off.
 *
 * It is told of messages ahead of their arrival, in any order, but of none that came before what it was told
 * to be the present.
 */

enum { PIM_LINK_KEPT = 16 }; /* messages on a link or on their way to it */

struct pim_timing_message {
    struct pim_timing_entry *send, *receive;
    uint64_t sent_by, received_by; /* their sequences: entries are used again */
    unsigned input;
    uint64_t head; /* when its first flit comes */
    uint64_t hold; /* cycles of the link that it takes */
    uint64_t left; /* of these, in parts of a cycle */
    uint64_t end;  /* when the last flit has passed */
    uint64_t rest; /* cycles of a flit from there to its receiver */
    uint64_t flits;
    uint64_t held; /* flits that stay at the sender until others have passed the link */
};

struct pim_timing_link {
    struct pim_timing_message *message;
    uint64_t now;
    uint32_t count;
};

bool pim_timing_link_make(struct pim_timing_link *link, struct pim_arena *arena);

/* A message comes to a link, of which `left` and `end` are not looked at; `now` is the present. Ends that
 * it puts off, and its own, go into the sends and receives that have not ended: no sooner are they `due`,
 * or `whole`. */
void pim_timing_link_pass(struct pim_timing_link *link, const struct pim_timing_message *message,
                          uint64_t now);

/* The instructions of an engine that have not started, in order. */
struct pim_timing_engine {
    uint64_t *sequence; /* a ring */
    uint32_t head, tail;
    uint64_t free;                          /* when it can take the next one */
    const struct pim_timing_entry *blocker; /* of the first one: its end is to be known; NULL: none */
    bool ready; /* the start of the first one is known, or it works and keeps the engine */
};

struct pim_timing_core {
    uint32_t number, chip;
    uint64_t fence; /* a join: nothing behind it starts before; the first instruction behind it */
    uint64_t behind;
    uint64_t latest;  /* end of all so far */
    uint64_t retired; /* end of all that have left the window */
    uint64_t fetched;
    uint32_t open; /* fetched, and their ends unknown */
    struct pim_timing_entry *window;
    uint64_t *obstacles;            /* of each place of the window: earlier ones that may conflict with it */
    struct pim_timing_lines *lines; /* of each word */
    struct pim_timing_engine engine[PIM_ENGINES];
    /* instructions that are not fetched yet, as a ring */
    struct pim_instruction *queue;
    uint32_t first, queued, room;
    uint64_t port; /* free from here on */
    uint32_t groups;
    const struct pim_timing_entry **group_holder; /* at work, and its end unknown; NULL: none */
    uint64_t *group_free, *group_mvms;
    uint64_t vector, transfer; /* busy in this phase */
};

struct pim_timing_phase {
    struct pim_trace_phase of;
    uint64_t end;
};

struct pim_timing_turn {
    uint64_t cycle;
    uint32_t number;
};

struct pim_core_timing {
    struct pim_arena arena;
    struct pim_core_architecture a;
    uint32_t mask;  /* of the rings of cores */
    uint32_t slots; /* of bits, by sequence: a power of two, a window at least */
    uint32_t words; /* that they take */
    struct pim_timing_core *core;
    struct pim_server *server; /* [chip * PIM_SERVERS + what] */
    /* Of a mesh, [core * PIM_MACHINE_LINKS + where to]: links that synchronous messages share, and such that
     * serve asynchronous ones in order. NULL: ways are not known. */
    struct pim_timing_link *shared;
    struct pim_server *served;
    struct pim_machine_grid grid;
    uint64_t now;     /* of the turn */
    uint64_t ways;    /* that were drawn */
    uint64_t *memory; /* of each chip: busy in this phase */
    uint32_t chips;
    uint64_t queued; /* of all cores */
    uint64_t instructions;
    /* What has its turn, a heap by cycles, then numbers. Of each core first the places of the window, whose
     * instructions have started and ask for what ends them, then the engines, whose next instruction can
     * start; a send stands for its receive as well. */
    uint32_t nodes; /* of a core */
    uint32_t heap_count;
    bool first_taken; /* the first of the heap has its turn: what is pushed next takes its place */
    struct pim_timing_turn *heap;
    uint32_t phases;
    size_t phases_room;
    struct pim_timing_phase *phase;
    bool out_of_memory;
};

static inline struct pim_timing_entry *pim_timing_at(const struct pim_core_timing *timing,
                                                     const struct pim_timing_core *core, uint64_t sequence)
{
    return &core->window[sequence & timing->mask];
}

/* The next instruction of an engine; NULL: there is none. */
static inline struct pim_timing_entry *pim_timing_next(const struct pim_core_timing *timing,
                                                       const struct pim_timing_core *core,
                                                       enum pim_engine engine)
{
    const struct pim_timing_engine *e = &core->engine[engine];
    return e->head == e->tail ? NULL : pim_timing_at(timing, core, e->sequence[e->head & timing->mask]);
}

/* Fills in what the instruction of an entry touches, and what may be in its way. */
void pim_timing_touch(const struct pim_core_timing *timing, struct pim_timing_core *core,
                      struct pim_timing_entry *entry);
/* Sets the earliest start of the next instruction of an engine; false: it waits for engine->blocker. */
bool pim_timing_ready(const struct pim_core_timing *timing, struct pim_timing_core *core,
                      enum pim_engine engine);
/* When the next send of `from` can begin, whose receive is the next one of `to`. */
uint64_t pim_timing_meeting(const struct pim_core_timing *timing, const struct pim_timing_core *from,
                            const struct pim_timing_core *to);
/* Starts the next instruction of an engine, which is no message. Its end is known afterwards, or when it is
 * due. */
void pim_timing_execute(struct pim_core_timing *timing, struct pim_timing_core *core,
                        struct pim_timing_entry *entry);
/* Starts the next send of `from`, and times it, and the next receive of `to`. */
void pim_timing_pass(struct pim_core_timing *timing, struct pim_timing_core *from,
                     struct pim_timing_core *to);
/* An instruction asks for what ends it. Its end is known afterwards, or it is due again. */
void pim_timing_end(struct pim_core_timing *timing, struct pim_timing_core *core,
                    struct pim_timing_entry *entry);

#endif
