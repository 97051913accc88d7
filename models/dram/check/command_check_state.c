/* The state of banks and ranks as the checker knows it: open rows, rows that close by themselves. */
#include "models/dram/check/command_check_internal.h"

#include <assert.h>

void check_cover(const struct pim_dram_check *check, struct checked_rank *rank, uint64_t cycle)
{
    const uint64_t data = check->data_end, from = rank->frontier;
    if (rank->data != data) {
        rank->covered += rank->behind;
        rank->behind = 0;
        rank->data = data;
    }
    if (cycle <= from)
        return;
    const uint64_t until = rank->open > 0 || rank->busy_until > cycle ? cycle : rank->busy_until;
    const uint64_t split = until < data ? until : data > from ? data : from;
    rank->covered += split > from ? split - from : 0;
    rank->behind += until > split ? until - split : 0;
    rank->frontier = cycle;
}

static void stay_busy(struct checked_rank *rank, uint64_t until)
{
    if (until > rank->busy_until)
        rank->busy_until = until;
}

static void close_bank(struct pim_dram_check *check, struct checked_channel *channel,
                       const struct checked_place *place, uint32_t bank)
{
    if (channel->bank[bank].row < 0)
        return;
    channel->bank[bank].row = -1;
    channel->rank[place->rank].open--;
    check->counters.precharged_banks++;
}

/* When a row closes that RDA or WRA was told to close: not before tRAS is over. */
static uint64_t closing_time(const struct pim_dram_check *check, const struct checked_bank *bank,
                             const struct pim_dram_logged *command)
{
    const uint32_t *parameter = check->specification.parameter;
    uint64_t recovery =
        command->command == PIM_DRAM_RDA
            ? parameter[PIM_DRAM_T_RTP]
            : (uint64_t)parameter[PIM_DRAM_T_CWL] + parameter[PIM_DRAM_T_B] + parameter[PIM_DRAM_T_WR_PRE];
    uint64_t after_activate = bank->opened_at + parameter[PIM_DRAM_T_RAS] +
                              pim_dram_command_cycles(&check->specification, PIM_DRAM_ACT) - 1;
    uint64_t time =
        command->cycle + recovery + pim_dram_command_cycles(&check->specification, command->command) - 1;
    return time > after_activate ? time : after_activate;
}

static void check_column(struct pim_dram_check *check, struct checked_channel *channel,
                         const struct checked_place *place, const struct pim_dram_logged *command)
{
    struct checked_bank *bank = &channel->bank[place->bank];
    if (bank->row < 0)
        check_violate(check, command, "the bank is closed", NULL, 0);
    else if (bank->row != command->row)
        check_violate(check, command, "another row is open", NULL, 0);
    if (command->command == PIM_DRAM_RDA || command->command == PIM_DRAM_WRA) {
        const uint64_t closed = closing_time(check, bank, command);
        stay_busy(&channel->rank[place->rank], closed);
        bank->idle_at = closed + check->specification.parameter[PIM_DRAM_T_RP];
        close_bank(check, channel, place, place->bank);
    }
}

static void refresh_bank(const struct pim_dram_check *check, struct checked_channel *channel,
                         const struct checked_place *place)
{
    uint32_t per_rank = pim_dram_banks_per_rank(&check->specification.organization);
    struct checked_rank *rank = &channel->rank[place->rank];
    for (uint32_t g = 0; g < check_groups(check, place); g++) {
        rank->single++;
        channel->bank[place->bank + g * check->specification.organization.banks].refreshes++;
    }
    rank->least = channel->bank[place->bank].refreshes;
    for (uint32_t i = place->rank * per_rank; i < (place->rank + 1) * per_rank; i++)
        if (channel->bank[i].refreshes < rank->least)
            rank->least = channel->bank[i].refreshes;
}

/* ACT and REFpb of a bank, REF of all banks of a rank: not before a row that RDA or WRA closed is closed. The
 * distances count from RDA or WRA; here tRAS counts as well, which may keep the row open longer. */
void check_idle(struct pim_dram_check *check, const struct checked_channel *channel,
                const struct checked_place *place, const struct pim_dram_logged *command)
{
    const uint32_t banks = pim_dram_banks_per_rank(&check->specification.organization);
    const uint64_t last = pim_dram_command_cycles(&check->specification, command->command) - 1;
    if (command->command != PIM_DRAM_ACT && command->command != PIM_DRAM_REFPB &&
        command->command != PIM_DRAM_REFSB && command->command != PIM_DRAM_REF)
        return;
    const uint32_t first = place->whole_rank ? place->rank * banks : place->bank;
    const uint32_t step = place->whole_rank ? 1 : check->specification.organization.banks;
    const uint32_t count = place->whole_rank ? banks : check_groups(check, place);
    for (uint32_t i = first; i < first + count * step; i += step)
        if (command->cycle + last < channel->bank[i].idle_at) {
            check_violate(check, command, "an automatic precharge of the bank is not over", NULL, 0);
            return;
        }
}

/* Is a bank that is refreshed alone, or with those of its number in other groups, open? */
static bool is_open(const struct pim_dram_check *check, const struct checked_channel *channel,
                    const struct checked_place *place)
{
    for (uint32_t g = 0; g < check_groups(check, place); g++)
        if (channel->bank[place->bank + g * check->specification.organization.banks].row >= 0)
            return true;
    return false;
}

static void refresh_rank(struct pim_dram_check *check, struct checked_rank *rank,
                         const struct pim_dram_logged *command)
{
    if (rank->open > 0)
        check_violate(check, command, "a row of the rank is open", NULL, 0);
    rank->all++;
    stay_busy(rank, command->cycle + check->specification.parameter[PIM_DRAM_T_RFC]);
}

/* State of banks and ranks before and after the command. */
void check_state(struct pim_dram_check *check, struct checked_channel *channel,
                 const struct checked_place *place, const struct pim_dram_logged *command)
{
    const uint32_t *parameter = check->specification.parameter;
    struct checked_rank *rank = &channel->rank[place->rank];
    struct checked_bank *bank = &channel->bank[place->bank];
    uint32_t per_rank = pim_dram_banks_per_rank(&check->specification.organization);
    assert(per_rank > 0);
    check_cover(check, rank, command->cycle);
    switch (command->command) {
    case PIM_DRAM_ACT:
        if (bank->row >= 0)
            check_violate(check, command, "the bank is open already", NULL, 0);
        else
            rank->open++;
        bank->row = command->row;
        bank->opened_at = command->cycle;
        break;
    case PIM_DRAM_ACT2:
        if (check->specification.parameter[PIM_DRAM_T_AA] == 0)
            check_violate(check, command, "the memory has no second activations: dram.taa is 0", NULL, 0);
        if (bank->row < 0)
            check_violate(check, command, "the bank is closed", NULL, 0);
        else
            bank->row = command->row;
        break;
    case PIM_DRAM_PRE:
        close_bank(check, channel, place, place->bank);
        break;
    case PIM_DRAM_PREA:
        for (uint32_t i = 0; i < per_rank; i++)
            close_bank(check, channel, place, place->rank * per_rank + i);
        break;
    case PIM_DRAM_REF:
        refresh_rank(check, rank, command);
        break;
    case PIM_DRAM_REFPB:
    case PIM_DRAM_REFSB:
        if (is_open(check, channel, place))
            check_violate(check, command, "the bank is open", NULL, 0);
        refresh_bank(check, channel, place);
        if (bank->refreshes > rank->single / per_rank + 1)
            check_violate(check, command, "another bank has waited longer for its refresh", NULL, 0);
        stay_busy(rank, command->cycle + parameter[PIM_DRAM_T_RFCPB]);
        break;
    case PIM_DRAM_RD:
    case PIM_DRAM_WR:
    case PIM_DRAM_RDA:
    case PIM_DRAM_WRA:
        check_column(check, channel, place, command);
        break;
    case PIM_DRAM_ACT_SECOND:
    case PIM_DRAM_CAS_RD:
    case PIM_DRAM_CAS_WR:
        break; /* command_check_clock.c */
    case PIM_DRAM_COMMANDS:
    default:
        assert(false && "no such command");
    }
}
