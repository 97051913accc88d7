/*
 * The parts of the stepped controller: its state; when a command may issue (stepped/timing.c); refreshes and
 * closing of rows (stepped/maintenance.c). Requests are in stepped/controller.c.
 */
#ifndef PIMSIM_TESTS_UNIT_DRAM_CHANNEL_STEPPED_INTERNAL_H
#define PIMSIM_TESTS_UNIT_DRAM_CHANNEL_STEPPED_INTERNAL_H

#include "tests/unit/dram_channel/support.h"

enum { BANKS = PIM_DRAM_BANKS_MAX, QUEUE = 128, KEPT = 4 };

struct waiter {
    uint64_t arrived;
    size_t request;
    struct pim_dram_location place;
    bool write;
};

struct line {
    struct waiter item[QUEUE];
    size_t count;
};

struct job {
    enum { JOB_REFRESH, JOB_REFRESH_BANK, JOB_REFRESH_SAME, JOB_CLOSE } kind;
    uint32_t rank, bank;
};

struct controller {
    const struct pim_dram_configuration *configuration;
    const struct pim_dram_policy *policy;
    struct pim_dram_constraint_table table;
    uint64_t clock;
    uint32_t ranks, banks, per_rank, per_group;
    /* When each command was last issued for a bank (commands to a rank: for its first bank), newest first. */
    uint64_t issued[PIM_DRAM_COMMANDS][BANKS][KEPT];
    int64_t row[BANKS];
    uint32_t accesses[BANKS];
    uint64_t used[BANKS], opened[BANKS];
    uint64_t idle[BANKS]; /* an automatic precharge is over, tRAS included */
    bool closing[BANKS];
    struct line active, queue[2];
    struct job jobs[2 * BANKS];
    size_t job_count;
    bool write_mode;
    bool fenced; /* by rows of one's own: no request is looked at while independent maintenance waits */
    int32_t owed[PIM_DRAM_RANKS_MAX];
    uint32_t turn[PIM_DRAM_RANKS_MAX];
    bool queued[PIM_DRAM_RANKS_MAX];
    /* LPDDR5: the request whose ACT waits for its ACT-2, and the column command behind a CAS. */
    struct waiter half;
    uint64_t half_cycle; /* 0: none */
    struct line *forced_line;
    size_t forced;
    uint64_t clock_end;
    struct outcome *outcome;
};

enum slot { SLOT_ANY, SLOT_COLUMN, SLOT_ROW };

/* --- timing --- */

/* Banks of one number in the groups of a rank. */
bool stepped_same_number(const struct controller *c, uint32_t a, uint32_t b);
/* Has enough time passed by then since every command that this one must wait for? */
bool stepped_ready_in(const struct controller *c, uint64_t cycle, enum pim_dram_command command,
                      uint32_t bank);
/* The same, now. */
bool stepped_ready(const struct controller *c, enum pim_dram_command command, uint32_t bank);
void stepped_issue(struct controller *c, enum pim_dram_command command, uint32_t bank, int64_t row,
                   int64_t column);
void stepped_close_row(struct controller *c, uint32_t bank);
/* Does an active request stand in one of the banks [first, end)? */
bool stepped_has_active(const struct controller *c, uint32_t first, uint32_t end);

/* --- maintenance --- */

/* Rows of one's own by which commands of some banks keep PRE, PREA and refreshes of others waiting, or column
 * commands those of other pseudo-channels: commands of whatever kind but refreshes, and PREs before PREs that
 * they keep as far from one another. */
bool stepped_keeps_waiting(const struct pim_dram_specification *specification);
/* Independent maintenance keeps requests away from its own banks, and from what would delay it for ever. */
bool stepped_kept_away(const struct controller *c, uint32_t bank);
/* A job of the maintenance queue; true when it took the slot. */
bool stepped_serve_job(struct controller *c, enum slot slot, size_t index);
/* Refreshes that are due, postponed ones that may go now, and rows that the page policy wants closed. */
void stepped_ask_for_maintenance(struct controller *c, uint64_t interval);

#endif
