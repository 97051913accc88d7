/*
 * A bank stepped cycle by cycle: the oracle for models/cost/bank.c. It shares no arithmetic with it: it holds
 * the cycle of the last command of each kind, asks in every cycle which command is legal, and lists the
 * columns of a burst byte by byte.
 */
#ifndef PIMSIM_TESTS_UNIT_DRAM_STEPPED_BANK_H
#define PIMSIM_TESTS_UNIT_DRAM_STEPPED_BANK_H

#include "models/cost/bank.h"

#include <stddef.h>

enum stepped_command { STEPPED_ACT, STEPPED_PRE, STEPPED_RD, STEPPED_WR, STEPPED_REF, STEPPED_COMMANDS };

struct stepped_log {
    struct {
        uint64_t cycle;
        enum stepped_command command;
        uint64_t row, column; /* column within its row; 0 where a command has none */
    } * entry;
    size_t length, room;
};

struct stepped_bank {
    struct pim_bank_timing timing;
    struct pim_bank_organization organization;
    uint64_t cycle; /* next to be stepped */
    int64_t
        last[STEPPED_COMMANDS]; /* cycle of the last command of a kind; far in the past before the first */
    int64_t open_row;           /* -1: none */
    bool closing;               /* an automatic precharge is under way */
    uint64_t refreshes_pending;
    uint64_t accept_refreshes_until;
    uint64_t refreshed_until; /* first cycle after the last refresh */
    struct pim_bank_counters counters;
    struct stepped_log *log; /* NULL: none; automatic precharges are not logged, they are no commands */
};

void stepped_bank_initialize(struct stepped_bank *bank, const struct pim_bank_timing *timing,
                             const struct pim_bank_organization *organization);

/* The same contract as pim_bank_access. */
void stepped_bank_access(struct stepped_bank *bank, const struct pim_burst *burst, uint64_t cycle,
                         struct pim_burst_times *times);

/* Steps on until every refresh due up to `cycle` was issued. */
void stepped_bank_finish(struct stepped_bank *bank, uint64_t cycle);

#endif
