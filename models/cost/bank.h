/*
 * The private memory of a node: one DRAM bank, or several banks in lock-step that share a wider port, or two
 * or four such banks that take turns row by row, behind one port that executes bursts in the order given.
 * Pure arithmetic on memory cycles: a bank needs no kernel,
 * costs nothing while idle (refreshes that passed are made up for when the next burst comes) and handles a
 * run of column accesses in one open row as one step.
 *
 * The timing rules, in the order in which hardware applies them, are in docs/models/dram.md; they are those
 * of Ramulator 2.1 (commit c5b1c3a) where service in order and FR-FCFS agree.
 *
 * Invariants:
 *  1. Commands of a bank have strictly increasing cycles; no command is ever withdrawn.
 *  2. activates == row_misses + row_conflicts: the row a column access opened is not closed before that
 *     access was served.
 *  3. Over any stretch in which the port always has work,
 *     data_cycles + row_cycles + refresh_cycles + turnaround_cycles = cycles of the stretch.
 *  4. With one bank: handing over a burst earlier than `next` of the burst before it changes no cycle.
 */
#ifndef PIMSIM_MODELS_COST_BANK_H
#define PIMSIM_MODELS_COST_BANK_H

#include "models/cost/bank_rules.h"
#include "models/cost/burst.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Cycles. An access is that of a column; its data are complete at RD + CL + B or WR + CWL + B. */
struct pim_burst_times {
    uint64_t first_command; /* first PRE, ACT, RD or WR of this burst; refreshes are not its own */
    uint64_t first_data;    /* data of the first access are complete */
    uint64_t last_data;     /* data of the last access are complete: the burst is */
    /* Of one bank the last RD or WR: a burst that arrives in this cycle follows without losing one. Of
       interleaved banks earlier, so that as many bursts as banks are under way. */
    uint64_t next;
};

struct pim_bank_counters {
    /* One of the three for each column access, by the first command it causes: RD or WR, ACT, PRE. */
    uint64_t row_hits, row_misses, row_conflicts;
    /* Commands; one counts for all banks in lock-step. Precharges are explicit and automatic ones. */
    uint64_t activates, precharges, refreshes;
    uint64_t reads, writes;             /* column accesses */
    uint64_t bytes_read, bytes_written; /* whole columns, as they pass the port */
    uint64_t data_cycles;               /* column accesses x column step */
    uint64_t row_cycles;                /* in which a burst waited for PRE and ACT */
    uint64_t refresh_cycles;            /* in which a burst waited for a refresh */
    uint64_t turnaround_cycles; /* in which a burst waited for the change between reading and writing */
};

/* An access of whoever keeps reads, writes and bytes of a bank itself. */
static inline void pim_bank_count_access(struct pim_bank_counters *counters, bool write, uint32_t bytes)
{
    *(write ? &counters->writes : &counters->reads) += 1;
    *(write ? &counters->bytes_written : &counters->bytes_read) += bytes;
}

/* Column accesses that looked at a row: on channels not those that a waiting write answered or absorbed. */
static inline uint64_t pim_bank_row_accesses(const struct pim_bank_counters *counters)
{
    return counters->row_hits + counters->row_misses + counters->row_conflicts;
}

/* The row buffer of a bank. */
struct pim_bank_row {
    uint64_t open_row;     /* UINT64_MAX: none */
    uint64_t activate_at;  /* earliest ACT or REF */
    uint64_t precharge_at; /* earliest PRE of the open row */
};

/* What a bank alone needs is the first 128 bytes: 1 024 banks stay in a second-level cache. Fields are
   private to bank.c. */
struct pim_bank {
    const struct pim_bank_rules *rules;
    uint64_t
        refresh_due;   /* next multiple of trefi whose refresh was not yet done; UINT64_MAX without refresh */
    uint64_t read_at;  /* earliest RD as far as the data bus goes */
    uint64_t write_at; /* earliest WR as far as the data bus goes */
    uint64_t row_misses, row_conflicts, precharges, refreshes, reads, writes;
    uint64_t row_cycles, refresh_cycles, turnaround_cycles;
    struct pim_bank_row row[PIM_BANK_INTERLEAVED_MAX];
    /* Of interleaved banks. */
    uint64_t start_at;        /* earliest PRE or ACT of a run: behind the start of the one before */
    uint64_t any_activate_at; /* earliest ACT of any bank */
    uint64_t last_access[PIM_BANK_INTERLEAVED_MAX - 1]; /* of the bursts before, the newest first */
};

/* Refuses an empty burst, overlapping pieces, and addresses beyond the capacity. */
enum pim_status pim_bank_check_burst(const struct pim_bank_rules *rules, const struct pim_burst *burst,
                                     struct pim_error *error);

/* All rows closed, cycle 0, counters 0. `rules` is borrowed. Nothing to terminate. */
void pim_bank_initialize(struct pim_bank *bank, const struct pim_bank_rules *rules);

/*
 * Executes a burst that arrives in memory cycle `cycle`; its first command is in cycle + 1 at the earliest
 * (the controller's overhead); with one bank, after all commands of the bursts before it. The burst must have
 * passed pim_bank_check_burst. `cycle` at most 2^62. Costs O(rows touched), plus a logarithm of the port
 * width for each row of a strided burst; nothing for refreshes in between.
 */
void pim_bank_access(struct pim_bank *bank, const struct pim_burst *burst, uint64_t cycle,
                     struct pim_burst_times *times);

/* Makes up for the refreshes due up to and including `cycle`, so that counters (and energy) are complete at
 * the end of a run. */
void pim_bank_advance(struct pim_bank *bank, uint64_t cycle);

void pim_bank_read_counters(const struct pim_bank *bank, struct pim_bank_counters *counters);

#endif
