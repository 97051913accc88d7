/*
 * One DRAM channel with its controller, exact to the cycle, without a clock that ticks: the controller plans
 * the next command that its rules will issue and goes there at once. A cycle in which nothing happens costs
 * nothing.
 *
 * The rules are those of Ramulator 2.1 (commit c5b1c3a); docs/models/dram.md holds them in the order in which
 * the controller applies them. Time is in cycles of the memory clock. A request that is handed over in cycle
 * a causes its first command in a + 1 at the earliest; a read is complete at RD + tCL + B, a write at
 * WR + tCWL + B.
 *
 * Invariants:
 *  1. Every command meets every constraint of the specification's table (command_check.c holds it against
 *     a log).
 *  2. A row that was opened for a request is not closed before that request was served.
 *  3. Of two plans at the same cycle the order is: request whose row was opened, maintenance (refresh, page
 *     policy), oldest request.
 *  4. Cycles do not depend on how often, or up to which cycles, pim_dram_channel_advance is called.
 */
#ifndef PIMSIM_MODELS_DRAM_CHANNEL_CHANNEL_H
#define PIMSIM_MODELS_DRAM_CHANNEL_CHANNEL_H

#include "models/dram/mapping.h"
#include "models/dram/standard/specification.h"

enum pim_dram_scheduler {
    PIM_DRAM_FRFCFS,         /* oldest request whose next command is ready */
    PIM_DRAM_FRFCFS_ROW_HIT, /* the same, but a row is not closed while an older request hits it */
    PIM_DRAM_FCFS            /* strictly one after the other */
};

enum pim_dram_page {
    PIM_DRAM_PAGE_OPEN,   /* rows stay open until another is needed, or a refresh */
    PIM_DRAM_PAGE_CLOSED, /* a row is closed by the access behind page_cap others, or after them */
    PIM_DRAM_PAGE_TIMEOUT /* a row is closed when it was not accessed for page_timeout cycles */
};

enum { PIM_DRAM_QUEUE_MAX = 4096, PIM_DRAM_POSTPONE_MAX = 8 };

struct pim_dram_policy {
    enum pim_dram_scheduler scheduler;
    uint32_t row_hit_cap; /* after so many accesses of a row hits no longer overtake older requests of the
                             bank; 0: no cap */
    enum pim_dram_page page;
    uint32_t page_cap;     /* closed */
    uint32_t page_timeout; /* timeout, at least 1 */
    uint32_t read_queue, write_queue;
    uint32_t write_high; /* writes are served from so many waiting ones on; */
    uint32_t write_low;  /* reads again when so few wait, if a read waits */
    bool refresh;
    bool per_bank_refresh; /* of one bank at a time, or with same_bank of one in each bank group */
    bool same_bank;
    bool independent;  /* maintenance of a rank or a bank keeps away requests for it alone */
    bool stagger;      /* ranks owe their refreshes in turn, not all at once */
    uint32_t postpone; /* due refreshes of a rank that may wait while requests for it wait */
    uint32_t pull_in;  /* refreshes of a rank ahead of their time, made while no request for it waits */
};

/* Refuses queue sizes, marks and caps that make no sense. */
enum pim_status pim_dram_check_policy(const struct pim_dram_policy *policy, struct pim_error *error);

struct pim_dram_record {
    uint64_t cycle;
    uint32_t row, column; /* of the request that caused the command; UINT32_MAX: none */
    uint16_t channel;
    uint8_t command; /* enum pim_dram_command */
    uint8_t bank; /* in the channel, as in struct pim_dram_location; of a command to a rank its first one */
};

/* Where a channel tells what happens. Calls of `served` come when the column command is issued, `completed`
 * may lie ahead. */
struct pim_dram_sink {
    void *context;
    /* `first_command` is UINT64_MAX for a request that caused no command: a read that a waiting write
     * answered, a write that one absorbed. */
    void (*served)(void *context, uint64_t request, uint64_t first_command, uint64_t completed);
    void (*command)(void *context, const struct pim_dram_record *record); /* NULL: not wanted */
};

struct pim_dram_counters {
    /* One of the three for each request, by the first command it causes: RD or WR, ACT, PRE. */
    uint64_t row_hits, row_misses, row_conflicts;
    uint64_t forwarded_reads, absorbed_writes;
    uint64_t commands[PIM_DRAM_COMMANDS];
    uint64_t precharged_banks;  /* banks that were closed, by whatever command */
    uint64_t active_cycles;     /* ranks x cycles with an open row or a refresh */
    uint64_t skipped_refreshes; /* of the REF, those that were counted without being planned (idle time) */
    uint64_t late_refreshes;    /* not done when the next one was due: the configuration is not held */
};

/* Adds the counters of one channel to a sum. */
void pim_dram_counters_add(struct pim_dram_counters *sum, const struct pim_dram_counters *one);

/* PIM_BAD_INPUT for a run whose refreshes came too late: its cycles are not those of such a memory. */
enum pim_status pim_dram_counters_judge(const struct pim_dram_counters *counters, struct pim_error *error);

struct pim_dram_rules;
struct pim_dram_channel;

/* Specification and policy, checked, with the table compiled for the scheduler. Shared read-only by channels,
 * must outlive them. NULL: memory is out. */
struct pim_dram_rules *pim_dram_rules_create(const struct pim_dram_specification *specification,
                                             const struct pim_dram_policy *policy);
void pim_dram_rules_destroy(struct pim_dram_rules *rules);

/* All rows closed, cycle 0. `index` goes into the records. NULL: memory is out. */
struct pim_dram_channel *pim_dram_channel_create(const struct pim_dram_rules *rules, uint32_t index,
                                                 const struct pim_dram_sink *sink);
void pim_dram_channel_destroy(struct pim_dram_channel *channel);

/* Executes all cycles up to and including `cycle`. */
void pim_dram_channel_advance(struct pim_dram_channel *channel, uint64_t cycle);

/*
 * Hands a request over in `cycle`: after the commands of that cycle, later than the request before it, at
 * most 2^62. False when the queue is full in that cycle; pim_dram_channel_wait then finds the first cycle in
 * which it is not. `location` is in range; its channel is not looked at.
 */
bool pim_dram_channel_offer(struct pim_dram_channel *channel, uint64_t cycle,
                            const struct pim_dram_location *location, bool write, uint64_t request);

/* A run of accesses to consecutive columns of one row. Access i counts as request `request` + i x `stride`
 * (stride 0: parts of one request; else 1). */
struct pim_dram_run {
    struct pim_dram_location location; /* of the first access */
    uint32_t count;                    /* they end with the row at the latest */
    bool write;
    uint64_t request;
    uint32_t stride;
    uint64_t *arrived; /* for each request the cycle in which (the first part of) it was accepted; or NULL */
};

/*
 * The fast path of a stream: accesses of `run` are handed over from *cycle on, one in a cycle as the queue
 * has room. As long as every waiting request of its direction is for the bank of the run, those in front hit
 * its open row, and nothing else can come in between, column commands follow one another with a fixed
 * distance. Hands over as many accesses as that holds for, and sets *cycle to that in which the last of them
 * was accepted; 0: the rules have to be worked through for the first one. All cycles are those of
 * pim_dram_channel_offer and _wait, access by access.
 */
uint32_t pim_dram_channel_stream(struct pim_dram_channel *channel, const struct pim_dram_run *run,
                                 uint64_t *cycle);

/* Executes cycles until the queue for reads or for writes has room; returns the cycle. */
uint64_t pim_dram_channel_wait(struct pim_dram_channel *channel, bool write);

/* Executes until every request is served. Returns the cycle in which the last one was complete (0 without
 * requests); it may lie ahead. */
uint64_t pim_dram_channel_drain(struct pim_dram_channel *channel);

/* For the end of a run, when no request waits: executes up to `cycle`, and further until the maintenance that
 * was asked for by then is done. */
void pim_dram_channel_stop(struct pim_dram_channel *channel, uint64_t cycle);

/* The next cycle in which the channel will issue a command, or has something to decide, if no request comes;
 * UINT64_MAX: never. Requests may still be handed over in the cycle up to which it was executed. */
uint64_t pim_dram_channel_next(struct pim_dram_channel *channel);

/* Counters up to now; active_cycles up to `cycle`. */
void pim_dram_channel_counters(const struct pim_dram_channel *channel, uint64_t cycle,
                               struct pim_dram_counters *counters);

/* Brings the state that a request for `bank` will need towards the cache. Nothing but speed depends on it. */
void pim_dram_channel_prefetch(const struct pim_dram_channel *channel, uint32_t bank);

#endif
