/* Every cycle, every bank, every command so far. */
#include "tests/unit/bitserial/stepped_channel.h"

#include <stdlib.h>

struct state {
    size_t step;
    uint32_t phase;
};

struct channel {
    const struct pim_dram_specification *specification;
    struct pim_dram_constraint_table table;
    struct pim_dram_record *records;
    size_t count, room;
    uint64_t clock;
};

struct location {
    uint32_t bank, group, rank, pseudo;
};

static struct location locate(const struct pim_dram_organization *o, uint32_t bank)
{
    uint32_t group = bank / o->banks, rank = group / o->bank_groups;
    return (struct location){bank, group, rank, rank / o->ranks};
}

static bool in_scope(enum pim_dram_scope scope, const struct location *a, const struct location *b,
                     bool whole_rank)
{
    switch (scope) {
    case PIM_DRAM_SCOPE_BANK:
        return !whole_rank && a->bank == b->bank;
    case PIM_DRAM_SCOPE_GROUP:
        return !whole_rank && a->group == b->group;
    case PIM_DRAM_SCOPE_STACK: /* one identifier alone computes, whose rows are those of the rank */
    case PIM_DRAM_SCOPE_OTHER_STACK:
    case PIM_DRAM_SCOPE_RANK:
        return a->rank == b->rank;
    case PIM_DRAM_SCOPE_OTHER_RANK:
        return a->rank != b->rank && a->pseudo == b->pseudo;
    case PIM_DRAM_SCOPE_PSEUDO_CHANNEL:
        return a->pseudo == b->pseudo;
    case PIM_DRAM_SCOPE_CHANNEL:
    default:
        return true;
    }
}

/* May `command` issue at `bank` in this cycle? */
static bool legal(const struct channel *c, enum pim_dram_command command, uint32_t bank)
{
    const struct pim_dram_organization *o = &c->specification->organization;
    struct location here = locate(o, bank);
    for (size_t i = 0; i < c->table.count; i++) {
        const struct pim_dram_constraint *row = &c->table.row[i];
        uint32_t too_close = 0;
        if (!(row->next >> command & 1))
            continue;
        for (size_t j = 0; j < c->count; j++) {
            const struct pim_dram_record *before = &c->records[j];
            struct location there = locate(o, before->bank);
            too_close += (row->previous >> before->command & 1) && c->clock < before->cycle + row->cycles &&
                         in_scope(row->scope, &there, &here, before->command == PIM_DRAM_REF);
        }
        if (too_close >= row->window)
            return false;
    }
    for (size_t j = 0; j < c->count; j++)
        if (c->records[j].cycle == c->clock &&
            (!c->specification->split_command_bus ||
             pim_dram_is_column(command) == pim_dram_is_column((enum pim_dram_command)c->records[j].command)))
            return false;
    return true;
}

static enum pim_dram_command next_command(const struct pim_bitserial_step *step, uint32_t phase)
{
    if (phase == 0)
        return PIM_DRAM_ACT;
    if (step->kind == PIM_BITSERIAL_STEP_AAP)
        return phase == 1 ? PIM_DRAM_ACT2 : PIM_DRAM_PRE;
    if (phase > step->accesses)
        return PIM_DRAM_PRE;
    return step->kind == PIM_BITSERIAL_STEP_READ ? PIM_DRAM_RD : PIM_DRAM_WR;
}

static void issue(struct channel *c, enum pim_dram_command command, uint32_t bank)
{
    if (c->count < c->room)
        c->records[c->count++] =
            (struct pim_dram_record){.cycle = c->clock, .command = (uint8_t)command, .bank = (uint8_t)bank};
}

static uint32_t order(enum pim_dram_command command)
{
    return pim_dram_is_column(command) ? 0 : command == PIM_DRAM_ACT2 ? 1 : command == PIM_DRAM_PRE ? 2 : 3;
}

/* One choice of rule 3 in this cycle; false: nothing is ready. */
static bool issue_one(struct channel *c, const struct stepped_bank *banks, struct state *states,
                      uint32_t bank_count, const uint64_t *due)
{
    const struct pim_dram_organization *o = &c->specification->organization;
    uint32_t best = bank_count;
    enum pim_dram_command chosen = PIM_DRAM_COMMANDS;
    for (uint32_t i = 0; i < bank_count; i++) {
        if (states[i].step == banks[i].program->count)
            continue;
        enum pim_dram_command command =
            next_command(&banks[i].program->steps[states[i].step], states[i].phase);
        if ((command == PIM_DRAM_ACT && c->clock >= due[locate(o, banks[i].bank).rank]) ||
            !legal(c, command, banks[i].bank))
            continue;
        if (best == bank_count || order(command) < order(chosen) ||
            (order(command) == order(chosen) && states[i].step < states[best].step)) {
            best = i;
            chosen = command;
        }
    }
    if (best == bank_count)
        return false;
    issue(c, chosen, banks[best].bank);
    states[best].phase++;
    if (chosen == PIM_DRAM_PRE)
        states[best] = (struct state){states[best].step + 1, 0};
    return true;
}

/* Rule 4: a rank whose refresh is due and whose banks are closed. */
static void refresh(struct channel *c, const struct stepped_bank *banks, const struct state *states,
                    uint32_t bank_count, uint64_t *due)
{
    const struct pim_dram_organization *o = &c->specification->organization;
    for (uint32_t rank = 0; rank < pim_dram_ranks(o); rank++) {
        uint32_t first = rank * pim_dram_banks_per_rank(o);
        bool open = false;
        for (uint32_t i = 0; i < bank_count; i++)
            open |= locate(o, banks[i].bank).rank == rank && states[i].phase > 0;
        if (c->clock < due[rank] || open || !legal(c, PIM_DRAM_REF, first))
            continue;
        issue(c, PIM_DRAM_REF, first);
        due[rank] += c->specification->parameter[PIM_DRAM_T_REFI];
    }
}

size_t stepped_channel_run(const struct pim_dram_specification *specification, bool refreshed,
                           const struct stepped_bank *banks, uint32_t bank_count,
                           struct pim_dram_record *records, size_t room)
{
    struct channel c = {.specification = specification, .records = records, .room = room};
    uint64_t due[PIM_DRAM_RANKS_MAX];
    struct state *states = calloc(bank_count, sizeof *states);
    pim_dram_constraints(specification, &c.table);
    for (uint32_t i = 0; i < PIM_DRAM_RANKS_MAX; i++)
        due[i] = refreshed ? specification->parameter[PIM_DRAM_T_REFI] : UINT64_MAX;
    for (bool working = states != NULL; working; c.clock++) {
        if (refreshed)
            refresh(&c, banks, states, bank_count, due);
        while (issue_one(&c, banks, states, bank_count, due)) {
        }
        working = false;
        for (uint32_t i = 0; i < bank_count; i++)
            working |= states[i].step < banks[i].program->count;
        working &= c.count < room;
    }
    free(states);
    return c.count;
}
