/*
 * What the parts of the checker share: its tree with the history of each node (command_check_distance.c), the
 * state of banks and ranks (command_check_state.c), refreshes that are late or early
 * (command_check_refresh.c).
 */
#ifndef PIMSIM_MODELS_DRAM_CHECK_COMMAND_CHECK_INTERNAL_H
#define PIMSIM_MODELS_DRAM_CHECK_COMMAND_CHECK_INTERNAL_H

#include "models/dram/check/command_check_clock.h"

enum { CHECK_HISTORY = 4, CHECK_LEVELS = 6 };

/* The last issues of each command somewhere in the tree, newest first. */
struct checked_history {
    uint64_t cycle[PIM_DRAM_COMMANDS][CHECK_HISTORY];
    uint32_t count[PIM_DRAM_COMMANDS];
};

struct checked_bank {
    int64_t row; /* -1: closed */
    uint64_t opened_at;
    uint64_t idle_at;   /* an automatic precharge is over */
    uint64_t refreshes; /* REFpb */
};

/* Background: the time in which a rank has an open row or is refreshed. */
struct checked_rank {
    uint64_t all;        /* REF */
    uint64_t single;     /* REFpb, of all its banks */
    uint64_t least;      /* REFpb of the bank that has the fewest */
    uint64_t covered;    /* active cycles before `frontier`, without */
    uint64_t behind;     /* those behind the last data */
    uint64_t data;       /* the end of which was this when they were counted */
    uint64_t frontier;   /* cycle up to which both are known */
    uint64_t busy_until; /* rows that close by themselves and refreshes keep the rank active up to here */
    uint32_t open;
    bool late; /* reported */
};

/* One channel: the tree's nodes in the order banks, groups, ranks, pseudo-channels, channel, stack
 * identifiers. */
struct checked_channel {
    uint64_t late_cycle;                   /* no rank is late before this cycle */
    uint64_t bus_cycle[2];                 /* last use + 1: row bus (or the only one), column bus */
    uint64_t data_end[PIM_DRAM_RANKS_MAX]; /* of the data bus of each pseudo-channel */
    struct checked_rank rank[PIM_DRAM_RANKS_MAX];
    struct checked_bank bank[PIM_DRAM_BANKS_MAX];
    struct pim_dram_checked_clock clock;
    struct checked_history history[];
};

struct pim_dram_check {
    struct pim_dram_specification specification;
    struct pim_dram_policy policy;
    struct pim_dram_constraint_table table;
    void (*report)(void *context, const struct pim_dram_violation *violation);
    void *context;
    uint32_t first_node[CHECK_LEVELS + 1]; /* in the order of struct checked_channel */
    uint64_t commands, violations, last_cycle;
    uint64_t data_end; /* of all data so far: what is behind it is behind the run unless more come */
    struct pim_dram_counters counters;
    struct checked_channel *channel[];
};

/* Where a command is in the tree: its node at each level; commands to a rank have no bank and group. */
struct checked_place {
    uint32_t bank, group, stack, rank, pseudo;
    bool whole_rank;
    bool all_groups; /* REFsb: the bank of this number in every group, bank and group are the first */
};

/* Bank groups that the place is in, from its own on. */
static inline uint32_t check_groups(const struct pim_dram_check *check, const struct checked_place *place)
{
    return place->all_groups ? check->specification.organization.bank_groups : 1;
}

void check_violate(struct pim_dram_check *check, const struct pim_dram_logged *command, const char *rule,
                   const struct pim_dram_constraint *constraint, uint64_t previous);

/* command_check_distance.c: holds a constraint against what was issued; takes a command over. */
void check_constraint(struct pim_dram_check *check, const struct checked_channel *channel,
                      const struct checked_place *place, const struct pim_dram_constraint *constraint,
                      const struct pim_dram_logged *command);
void check_remember(const struct pim_dram_check *check, struct checked_channel *channel,
                    const struct checked_place *place, const struct pim_dram_logged *command);

/* command_check_state.c: is every row closed that the command needs closed, and the state of banks and ranks
 * before a command, which changes it. */
void check_idle(struct pim_dram_check *check, const struct checked_channel *channel,
                const struct checked_place *place, const struct pim_dram_logged *command);
void check_state(struct pim_dram_check *check, struct checked_channel *channel,
                 const struct checked_place *place, const struct pim_dram_logged *command);
/* Brings the active time of a rank up to `cycle`, before its state changes there. */
void check_cover(const struct pim_dram_check *check, struct checked_rank *rank, uint64_t cycle);

/* command_check_refresh.c: reports ranks of a channel that are late at the cycle of `command`, each once. */
void check_lateness(struct pim_dram_check *check, struct checked_channel *channel,
                    const struct pim_dram_logged *command);
/* A refresh may come before it is due, but no more of them than may be postponed at most. */
void check_earliness(struct pim_dram_check *check, const struct checked_channel *channel,
                     const struct checked_place *place, const struct pim_dram_logged *command);

#endif
