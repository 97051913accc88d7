/* How long refreshes may take, and how far apart they must be. */
#include "models/dram/standard/check.h"

#include <inttypes.h>
#include <stdio.h>

#define SET(name) (UINT32_C(1) << PIM_DRAM_##name)
#define T(name) PIM_DRAM_T_##name

/* Names what is allowed, also of banks that compute; `ranks_help`: the interval would do for ranks that
 * refresh by themselves. */
static enum pim_status refuse_interval(const struct pim_dram_specification *specification, bool per_bank,
                                       uint64_t interval, uint64_t least, bool ranks_help,
                                       struct pim_error *error)
{
    const uint32_t *parameter = specification->parameter;
    const char *key = per_bank ? "trefi_bank" : "trefi";
    const uint64_t step =
        !per_bank && parameter[T(AA)] > 0 ? pim_dram_computing_step(specification) + parameter[T(RFC)] : 0;
    const uint64_t needed = step > least + 1 ? step : least + 1;
    const uint64_t others = per_bank ? interval : needed - parameter[T(RFC)];
    char enough[PIM_DRAM_INTERVAL_TEXT], computing[80] = "";
    if (step > least + 1)
        (void)snprintf(computing, sizeof computing,
                       ", and at least %" PRIu64 " for a step of banks that compute", step);
    pim_dram_interval_text(enough, specification, key, needed, interval > others ? interval - others : 0);
    return pim_fail(error, PIM_BAD_INPUT,
                    "dram.%s: refreshes are %" PRIu64 " cycles of %" PRIu32
                    " ps apart, but closing the rows and refreshing takes up to %" PRIu64
                    ": give more than that%s, %s%s, or dram.refresh = false",
                    key, interval, specification->clock_ps, least, computing, enough,
                    ranks_help ? ", dram.maintenance = \"rank\"" : "");
}

/*
 * What refreshes of banks take at most, when closing the rows of one takes `close` and so many ranks wait for
 * one another. REFpb keeps the next one of its rank away while the rows of that are closed; alone it has to
 * let in an ACT that came just before. REFsb, for which more banks are closed, has the sum of both.
 */
static uint64_t longest_step(const struct pim_dram_specification *specification, bool same_bank,
                             uint64_t waits, uint64_t close)
{
    const uint32_t *parameter = specification->parameter;
    const uint64_t turns =
        same_bank ? specification->organization.banks : pim_dram_banks_per_rank(&specification->organization);
    const uint64_t apart = parameter[T(REFPB_REFPB)];
    const uint64_t others = same_bank && apart > parameter[T(RREFD)] ? apart : parameter[T(RREFD)];
    const uint64_t steps = waits * (close + others) + parameter[T(RFCPB)] / turns;
    const uint64_t least = apart + (waits > 1 ? waits * close : parameter[T(RRD_L)] + 2);
    return steps > least ? steps : least;
}

/* Rows of a rank open so far apart, in the mean: by tFAW and tRRD, where their rows were not taken out. */
static uint64_t least_opening(const struct pim_dram_specification *specification)
{
    uint64_t fourth = (specification->parameter[T(FAW)] + UINT64_C(3)) / 4;
    uint64_t next = specification->parameter[T(RRD_S)];
    for (unsigned i = 0; i < specification->taken; i++) {
        const struct pim_dram_row *row = &specification->taken_row[i];
        if (row->scope == PIM_DRAM_SCOPE_RANK && (row->previous & row->next & SET(ACT)) != 0)
            *(row->window > 1 ? &fourth : &next) = 0;
    }
    return fourth > next ? fourth : next;
}

/*
 * Independent refreshes let in no row of another rank while they wait for a request whose row is open, but
 * the rows that were opened before are served first, each at another rank's distance on the data bus: in all
 * banks of the other ranks, unless rows open no faster than the bus serves them. Ranks that take turns
 * (refresh_stagger) wait as long: rows open as freely between their refreshes.
 */
static uint64_t others_served(const struct pim_dram_specification *specification, bool same_bank)
{
    const uint32_t *parameter = specification->parameter;
    const struct pim_dram_organization *organization = &specification->organization;
    const uint64_t change = parameter[T(B)] + parameter[T(CS)];
    const uint64_t step = change > parameter[T(CCD_S)] ? change : parameter[T(CCD_S)];
    const uint64_t open = least_opening(specification);
    const uint64_t precharges = same_bank ? (uint64_t)organization->bank_groups * (parameter[T(PPD)] + 1) : 0;
    const uint64_t served =
        organization->ranks * step > open ? pim_dram_banks_per_rank(organization) * step : 0;
    return (organization->ranks - 1) * (served + precharges);
}

/* Requests of other stack identifiers whose rows are open are served first: one change between two of them,
 * or as many as there are banks where rows open faster than that. */
static uint64_t stacks_served(const struct pim_dram_specification *specification)
{
    const uint32_t change = specification->parameter[T(CCD_R)];
    if (specification->organization.stack_ids == 1)
        return 0;
    return change > least_opening(specification)
               ? (uint64_t)pim_dram_banks_per_rank(&specification->organization) * change
               : change;
}

enum pim_status pim_dram_refresh_check(const struct pim_dram_specification *specification,
                                       enum pim_dram_refreshing refreshing, bool independent,
                                       struct pim_error *error)
{
    const uint32_t *parameter = specification->parameter;
    const bool same_bank = refreshing == PIM_DRAM_SAME_BANK;
    const bool per_bank_refresh = refreshing == PIM_DRAM_PER_BANK || same_bank;
    const uint64_t ranks = pim_dram_ranks(&specification->organization);
    /* What one refresh takes at most: the row that is open is served, behind those of the other banks of its
     * group, and closed first. Every rank waits for those before it; independent ones only for the bus. */
    uint64_t served = (uint64_t)(specification->organization.banks - 1) * parameter[PIM_DRAM_T_CCD_L_WR];
    const uint64_t row = (uint64_t)parameter[PIM_DRAM_T_RAS] + parameter[PIM_DRAM_T_RP];
    uint64_t close = (row > parameter[PIM_DRAM_T_RC] ? row : parameter[PIM_DRAM_T_RC]) + served +
                     parameter[PIM_DRAM_T_AAD] + parameter[PIM_DRAM_T_CWL] + parameter[PIM_DRAM_T_B] +
                     parameter[PIM_DRAM_T_WR_PRE] + parameter[PIM_DRAM_T_RPAB];
    if (same_bank) /* each of its banks is served and closed, one behind the other on the buses */
        close += (uint64_t)(specification->organization.bank_groups - 1) *
                 (parameter[PIM_DRAM_T_CCD_S] + parameter[PIM_DRAM_T_PPD] + 1);
    close += stacks_served(specification);
    if (independent)
        close += others_served(specification, same_bank);
    const uint64_t waits = independent ? 1 : ranks;
    uint64_t least = waits * close + parameter[PIM_DRAM_T_RFC];
    if (per_bank_refresh)
        least = longest_step(specification, same_bank, waits, close);
    least += ranks * (pim_dram_own_delay(specification) + (independent ? 4 : 0));
    const uint64_t interval =
        per_bank_refresh ? pim_dram_bank_refresh_interval(specification) : parameter[PIM_DRAM_T_REFI];
    if (interval > least)
        return PIM_OK;
    struct pim_error ignored = {0};
    const bool ranks_help = !independent && ranks > 1 &&
                            pim_dram_refresh_check(specification, refreshing, true, &ignored) == PIM_OK;
    return refuse_interval(specification, per_bank_refresh, interval, least, ranks_help, error);
}
