/* When a command of the stepped controller may issue: distances of the table, one by one. */
#include "tests/unit/dram_channel/stepped/internal.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static bool in_scope(const struct controller *c, enum pim_dram_scope scope, uint32_t a, uint32_t b)
{
    uint32_t rank_a = a / c->per_rank, rank_b = b / c->per_rank;
    uint32_t per_pseudo = c->configuration->specification.organization.ranks;
    bool same_pseudo = rank_a / per_pseudo == rank_b / per_pseudo;
    uint32_t per_stack = c->per_rank / c->configuration->specification.organization.stack_ids;
    uint32_t stack_a = a / per_stack, stack_b = b / per_stack;
    switch (scope) {
    case PIM_DRAM_SCOPE_BANK:
        return a == b;
    case PIM_DRAM_SCOPE_GROUP:
        return a / c->per_group == b / c->per_group;
    case PIM_DRAM_SCOPE_STACK:
        return stack_a == stack_b;
    case PIM_DRAM_SCOPE_OTHER_STACK:
        return rank_a == rank_b && stack_a != stack_b;
    case PIM_DRAM_SCOPE_RANK:
        return rank_a == rank_b;
    case PIM_DRAM_SCOPE_OTHER_RANK:
        return rank_a != rank_b && same_pseudo;
    case PIM_DRAM_SCOPE_PSEUDO_CHANNEL:
        return same_pseudo;
    case PIM_DRAM_SCOPE_CHANNEL:
    default:
        return true;
    }
}

bool stepped_same_number(const struct controller *c, uint32_t a, uint32_t b)
{
    return a / c->per_rank == b / c->per_rank && a % c->per_group == b % c->per_group;
}

/* Are automatic precharges over in all banks that the command needs idle? */
static bool is_idle(const struct controller *c, uint64_t cycle, enum pim_dram_command command, uint32_t bank)
{
    const uint64_t last = cycle + pim_dram_command_cycles(&c->configuration->specification, command) - 1;
    for (uint32_t i = 0; i < c->banks; i++) {
        const bool needed = command == PIM_DRAM_REF     ? i / c->per_rank == bank / c->per_rank
                            : command == PIM_DRAM_REFSB ? stepped_same_number(c, i, bank)
                                                        : i == bank;
        if (needed && last < c->idle[i])
            return false;
    }
    return true;
}

bool stepped_ready_in(const struct controller *c, uint64_t cycle, enum pim_dram_command command,
                      uint32_t bank)
{
    bool any_edge = c->configuration->specification.command[command].either_edge;
    if (c->configuration->specification.half_clock && cycle % 2 == 0 && !any_edge)
        return false;
    if (command == PIM_DRAM_ACT && c->half_cycle > 0)
        return false;
    const bool idle = command == PIM_DRAM_ACT || command == PIM_DRAM_REF || command == PIM_DRAM_REFPB ||
                      command == PIM_DRAM_REFSB;
    if (idle && !is_idle(c, cycle, command, bank))
        return false;
    for (size_t i = 0; i < c->table.count; i++) {
        const struct pim_dram_constraint *row = &c->table.row[i];
        if (!(row->next >> command & 1))
            continue;
        for (unsigned previous = 0; previous < PIM_DRAM_COMMANDS; previous++) {
            if (!(row->previous >> previous & 1))
                continue;
            uint32_t too_close = 0;
            for (uint32_t other = 0; other < c->banks; other++)
                for (unsigned k = 0;
                     k < KEPT && c->issued[previous][other][k] > 0 && in_scope(c, row->scope, bank, other);
                     k++)
                    too_close += cycle < c->issued[previous][other][k] + row->cycles;
            if (too_close >= row->window)
                return false;
        }
    }
    return true;
}

bool stepped_ready(const struct controller *c, enum pim_dram_command command, uint32_t bank)
{
    return stepped_ready_in(c, c->clock, command, bank);
}

void stepped_issue(struct controller *c, enum pim_dram_command command, uint32_t bank, int64_t row,
                   int64_t column)
{
    for (uint32_t i = 0; i < c->banks; i++) {
        if (i != bank && !(command == PIM_DRAM_REFSB && stepped_same_number(c, i, bank)))
            continue;
        uint64_t *issued = c->issued[command][i];
        memmove(&issued[1], &issued[0], (KEPT - 1) * sizeof issued[0]);
        issued[0] = c->clock;
    }
    struct outcome *outcome = c->outcome;
    if (outcome->record_count == outcome->record_room) {
        outcome->record_room = outcome->record_room ? 2 * outcome->record_room : 1024;
        outcome->records = realloc(outcome->records, outcome->record_room * sizeof *outcome->records);
        ck_assert_ptr_nonnull(outcome->records);
    }
    outcome->records[outcome->record_count++] = (struct pim_dram_record){
        c->clock, (uint32_t)row, (uint32_t)column, 0, (uint8_t)command, (uint8_t)bank};
}

void stepped_close_row(struct controller *c, uint32_t bank)
{
    c->row[bank] = -1;
    c->closing[bank] = false;
}

bool stepped_has_active(const struct controller *c, uint32_t first, uint32_t end)
{
    for (size_t i = 0; i < c->active.count; i++)
        if (c->active.item[i].place.bank >= first && c->active.item[i].place.bank < end)
            return true;
    return false;
}
