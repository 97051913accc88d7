/* Refreshes of the checker: none too late, none too early. */
#include "models/dram/check/command_check_internal.h"

#include <assert.h>

/* Distance of due refreshes of a rank: REF, or with per-bank refresh REFpb. */
static uint64_t refresh_interval(const struct pim_dram_check *check)
{
    uint64_t interval = check->policy.per_bank_refresh ? pim_dram_bank_refresh_interval(&check->specification)
                                                       : check->specification.parameter[PIM_DRAM_T_REFI];
    uint64_t turns = check->policy.stagger ? pim_dram_ranks(&check->specification.organization) : 1;
    return interval / turns * turns; /* whole steps from rank to rank */
}

/* Refreshes that make one of all banks of a rank: REFpb, or REFsb of all groups. */
static uint64_t refreshes_of_rank(const struct pim_dram_check *check)
{
    const struct pim_dram_organization *o = &check->specification.organization;
    return check->policy.same_bank ? o->banks : pim_dram_banks_per_rank(o);
}

/* Refreshes that a rank has had, in what is due once an interval: a REF is one REFpb for each bank, and a
 * REFpb for every bank is one REF. A REFsb is one REFpb for each of its banks. */
static uint64_t refreshes_done(const struct pim_dram_check *check, const struct checked_rank *rank)
{
    if (!check->policy.per_bank_refresh)
        return rank->all + rank->least;
    const uint64_t banks = pim_dram_banks_per_rank(&check->specification.organization);
    const uint64_t refreshes = refreshes_of_rank(check);
    assert(refreshes > 0 && banks >= refreshes);
    return (rank->all * banks + rank->single) / (banks / refreshes);
}

/* The k-th refresh of a rank is due so much before k x interval: staggered ranks take turns. */
static uint64_t lead(const struct pim_dram_check *check, uint32_t rank)
{
    const uint32_t ranks = pim_dram_ranks(&check->specification.organization);
    return check->policy.stagger ? refresh_interval(check) / ranks * (ranks - 1 - rank) : 0;
}

/* A refresh may be late by one interval and those that may be postponed. */
static uint64_t late_cycle(const struct pim_dram_check *check, const struct checked_channel *channel,
                           uint32_t rank)
{
    const uint64_t next = refreshes_done(check, &channel->rank[rank]) + 1;
    return (next + 1 + check->policy.postpone) * refresh_interval(check) - lead(check, rank);
}

void check_lateness(struct pim_dram_check *check, struct checked_channel *channel,
                    const struct pim_dram_logged *command)
{
    if (!check->policy.refresh || command->cycle < channel->late_cycle)
        return;
    channel->late_cycle = UINT64_MAX;
    for (uint32_t i = 0; i < pim_dram_ranks(&check->specification.organization); i++) {
        struct checked_rank *rank = &channel->rank[i];
        if (rank->late)
            continue;
        uint64_t late = late_cycle(check, channel, i);
        if (command->cycle >= late) {
            struct pim_dram_logged place = *command;
            place.rank = i;
            rank->late = true; /* once is enough */
            check_violate(check, &place, "a refresh of the rank is overdue", NULL, 0);
        } else if (late < channel->late_cycle) {
            channel->late_cycle = late;
        }
    }
}

void check_earliness(struct pim_dram_check *check, const struct checked_channel *channel,
                     const struct checked_place *place, const struct pim_dram_logged *command)
{
    uint64_t ahead = PIM_DRAM_POSTPONE_MAX;
    if (check->policy.per_bank_refresh)
        ahead *= refreshes_of_rank(check);
    const bool refreshes = command->command == PIM_DRAM_REF || command->command == PIM_DRAM_REFPB ||
                           command->command == PIM_DRAM_REFSB;
    const uint64_t due = (command->cycle + lead(check, place->rank)) / refresh_interval(check);
    if (check->policy.refresh && refreshes &&
        refreshes_done(check, &channel->rank[place->rank]) > due + ahead)
        check_violate(check, command, "more than 8 refreshes of the rank ahead of their time", NULL, 0);
}
