/*
 * The independent checker: reads commands in the order of a log and reports everything that the specification
 * forbids. It shares parameters and organisation with the scheduler and nothing else: it has constraints of
 * its own (command_check_rules.h), knows no controller, no queues and no ready times, and looks every
 * distance up anew.
 *
 * What it reports: distances shorter than a constraint; commands that the state of a bank does not allow (ACT
 * of an open bank, RD of a closed one or of another row, REF with a row open or still closing by itself); two
 * commands of one bus in one cycle; data that overlap on a data bus; places that do not exist; cycles that go
 * back; refreshes that come too late, of any rank, at every command and at the end, or more than 8 ahead of
 * their time. It also counts, so that energy can be computed from the log alone.
 */
#ifndef PIMSIM_MODELS_DRAM_CHECK_COMMAND_CHECK_H
#define PIMSIM_MODELS_DRAM_CHECK_COMMAND_CHECK_H

#include "models/dram/channel/channel.h"

/* A command as a log has it; -1 in a place that the command does not have. */
struct pim_dram_logged {
    uint64_t cycle;
    enum pim_dram_command command;
    int64_t channel, rank, bank_group, bank, row, column;
};

struct pim_dram_violation {
    uint64_t number; /* of the command in the log, from 0 */
    struct pim_dram_logged command;
    const struct pim_dram_constraint *constraint; /* NULL for rules that are no distances */
    uint64_t previous; /* with a constraint: the cycle of the command that it counts from */
    const char *rule;  /* what was broken, in words */
};

struct pim_dram_check;

/* Refresh is checked when the policy has it. `report` is called for each violation. NULL: memory is out. */
struct pim_dram_check *pim_dram_check_create(const struct pim_dram_specification *specification,
                                             const struct pim_dram_policy *policy,
                                             void (*report)(void *context, const struct pim_dram_violation *),
                                             void *context);
void pim_dram_check_destroy(struct pim_dram_check *check);

/* The next command of the log. PIM_NO_MEMORY only. */
enum pim_status pim_dram_check_command(struct pim_dram_check *check, const struct pim_dram_logged *command,
                                       struct pim_error *error);

/*
 * The end of the log, at the cycle of its last command: ranks whose refresh is overdue there, also those of
 * channels without a command. Each is reported as a REF that is missing. PIM_NO_MEMORY only.
 */
enum pim_status pim_dram_check_end(struct pim_dram_check *check, struct pim_error *error);

/* Commands and violations so far. */
uint64_t pim_dram_check_commands(const struct pim_dram_check *check);
uint64_t pim_dram_check_violations(const struct pim_dram_check *check);

/* Counters re-added from the log, up to `cycle`: that in which the last data end, or none before the last
 * command. All commands count, active cycles up to `cycle`; what only a controller knows is 0. */
void pim_dram_check_counters(const struct pim_dram_check *check, uint64_t cycle,
                             struct pim_dram_counters *counters);

/* A record of a channel in the form of a log. A command to a rank has no bank, and no bank group if there are
 * several. */
struct pim_dram_logged pim_dram_logged_record(const struct pim_dram_specification *specification,
                                              const struct pim_dram_record *record);

#endif
