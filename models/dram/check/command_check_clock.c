#include "models/dram/check/command_check_clock.h"

static bool same_bank(const struct pim_dram_logged *a, const struct pim_dram_logged *b)
{
    return a->rank == b->rank && a->bank_group == b->bank_group && a->bank == b->bank;
}

/*
 * Half clocks: commands issue at rising edges, in odd cycles, those of either_edge (PRE and PREA) at any. The
 * first falling edge behind the last cycle of a row command allows the same pseudo-channel only a PRE of
 * another bank, and none behind PREA and REF.
 */
static const char *check_edge(const struct pim_dram_specification *specification,
                              struct pim_dram_checked_clock *clock, const struct pim_dram_logged *command)
{
    const int64_t ranks = specification->organization.ranks;
    const struct pim_dram_logged *row = &clock->row;
    if (command->cycle % 2 == 0) {
        if (!specification->command[command->command].either_edge)
            return "this command does not issue at a falling edge of the clock, in an even cycle";
        if (clock->paired != command->cycle || command->rank / ranks != row->rank / ranks)
            return NULL;
        return command->command == PIM_DRAM_PREA || row->command == PIM_DRAM_PREA ||
                       row->command == PIM_DRAM_REF || same_bank(row, command)
                   ? "the row command of the rising edge before allows at most a PRE of another bank"
                   : NULL;
    }
    if (!pim_dram_is_column(command->command)) {
        clock->row = *command;
        clock->paired = command->cycle + (pim_dram_command_cycles(specification, command->command) | 1);
    }
    return NULL;
}

static const char *check_halves(const struct pim_dram_specification *specification,
                                struct pim_dram_checked_clock *clock, const struct pim_dram_logged *command)
{
    const uint64_t most = specification->parameter[PIM_DRAM_T_AAD];
    const struct pim_dram_logged *half = &clock->half;
    if (command->command == PIM_DRAM_ACT_SECOND) {
        if (!clock->waits || !same_bank(half, command) || half->row != command->row)
            return "no ACT of this row waits for its ACT-2";
        clock->waits = false;
        return command->cycle > half->cycle + most ? "ACT-2 later than tAAD behind its ACT" : NULL;
    }
    if (clock->waits && command->cycle >= half->cycle + most) {
        clock->waits = false; /* once is enough */
        return "an ACT-2 is overdue";
    }
    if (command->command == PIM_DRAM_ACT) {
        const bool second = clock->waits;
        clock->half = *command;
        clock->waits = true;
        return second ? "another ACT waits for its ACT-2" : NULL;
    }
    const bool whole = command->command == PIM_DRAM_PREA || command->command == PIM_DRAM_REF;
    if (clock->waits && (whole ? command->rank == half->rank : same_bank(half, command)))
        return "the ACT of this bank waits for its ACT-2";
    return NULL;
}

static const char *check_write_clock(const struct pim_dram_specification *specification,
                                     struct pim_dram_checked_clock *clock,
                                     const struct pim_dram_logged *command)
{
    if (command->command == PIM_DRAM_CAS_RD || command->command == PIM_DRAM_CAS_WR) {
        clock->cas = *command;
        clock->started = true;
        return NULL;
    }
    if (!pim_dram_is_column(command->command))
        return NULL;
    const bool write = command->command == PIM_DRAM_WR || command->command == PIM_DRAM_WRA;
    const bool starts = clock->started && command->cycle == clock->cas.cycle + 1 &&
                        (clock->cas.command == PIM_DRAM_CAS_WR) == write && same_bank(&clock->cas, command);
    const bool runs = command->cycle < clock->running_until;
    const uint64_t end =
        command->cycle + specification->parameter[PIM_DRAM_T_WCKPST] +
        (write ? pim_dram_write_latency(specification) : pim_dram_read_latency(specification));
    clock->running_until = end > clock->running_until ? end : clock->running_until;
    return runs || starts ? NULL : "the write clock does not run: CAS must come in the cycle before";
}

const char *pim_dram_check_clock(const struct pim_dram_specification *specification,
                                 struct pim_dram_checked_clock *clock, const struct pim_dram_logged *command)
{
    const bool halves = specification->parameter[PIM_DRAM_T_AAD] > 0;
    if (command->command == PIM_DRAM_ACT_SECOND && !halves)
        return "ACT is one command: dram.taad is 0";
    if ((command->command == PIM_DRAM_CAS_RD || command->command == PIM_DRAM_CAS_WR) &&
        !specification->write_clock)
        return "there is no write clock: dram.write_clock is false";
    const char *edge = specification->half_clock ? check_edge(specification, clock, command) : NULL;
    const char *half = halves ? check_halves(specification, clock, command) : NULL;
    const char *write = specification->write_clock ? check_write_clock(specification, clock, command) : NULL;
    return edge ? edge : half ? half : write;
}
