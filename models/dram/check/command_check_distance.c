/* The distances of the checker: what was issued at each node of the tree, and constraints held against it. */
#include "models/dram/check/command_check_internal.h"

#include <assert.h>
#include <string.h>

/* Holds one constraint against the issues of `previous` at one node; false: it is violated. */
static bool check_node(struct pim_dram_check *check, const struct checked_channel *channel, uint32_t node,
                       enum pim_dram_command previous, const struct pim_dram_constraint *constraint,
                       const struct pim_dram_logged *command)
{
    const struct checked_history *history = &channel->history[node];
    if (history->count[previous] == 0)
        return true;
    uint64_t cycle = history->cycle[previous][0];
    if (command->cycle >= cycle + constraint->cycles)
        return true;
    check_violate(check, command, "too early", constraint, cycle);
    return false;
}

/* The same at nodes that are `step` apart, reported once. */
static void check_nodes(struct pim_dram_check *check, const struct checked_channel *channel, uint32_t first,
                        uint32_t step, uint32_t count, enum pim_dram_command previous,
                        const struct pim_dram_constraint *constraint, const struct pim_dram_logged *command)
{
    for (uint32_t i = 0; i < count; i++)
        if (!check_node(check, channel, first + i * step, previous, constraint, command))
            return;
}

/* The same for a window, over the issues of all `previous` together. */
static void check_window(struct pim_dram_check *check, const struct checked_history *history,
                         const struct pim_dram_constraint *constraint, const struct pim_dram_logged *command)
{
    uint32_t taken[PIM_DRAM_COMMANDS] = {0};
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < constraint->window; i++) {
        unsigned newest = PIM_DRAM_COMMANDS;
        for (unsigned j = 0; j < PIM_DRAM_COMMANDS; j++)
            if ((constraint->previous >> j & 1) && taken[j] < history->count[j] &&
                (newest == PIM_DRAM_COMMANDS || history->cycle[j][taken[j]] > cycle)) {
                newest = j;
                cycle = history->cycle[j][taken[j]];
            }
        if (newest == PIM_DRAM_COMMANDS)
            return;
        taken[newest]++;
    }
    if (command->cycle < cycle + constraint->cycles)
        check_violate(check, command, "too early", constraint, cycle);
}

void check_constraint(struct pim_dram_check *check, const struct checked_channel *channel,
                      const struct checked_place *place, const struct pim_dram_constraint *constraint,
                      const struct pim_dram_logged *command)
{
    const struct pim_dram_organization *o = &check->specification.organization;
    const uint32_t groups = check_groups(check, place);
    if (constraint->window > 1) {
        assert(constraint->scope == PIM_DRAM_SCOPE_RANK);
        check_window(check, &channel->history[check->first_node[2] + place->rank], constraint, command);
        return;
    }
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++) {
        enum pim_dram_command previous = (enum pim_dram_command)i;
        if (!(constraint->previous >> i & 1))
            continue;
        switch (constraint->scope) {
        case PIM_DRAM_SCOPE_BANK:
            check_nodes(check, channel, place->bank, o->banks, groups, previous, constraint, command);
            break;
        case PIM_DRAM_SCOPE_GROUP:
            check_nodes(check, channel, check->first_node[1] + place->group, 1, groups, previous, constraint,
                        command);
            break;
        case PIM_DRAM_SCOPE_STACK:
            (void)check_node(check, channel, check->first_node[5] + place->stack, previous, constraint,
                             command);
            break;
        case PIM_DRAM_SCOPE_OTHER_STACK:
            for (uint32_t stack = place->rank * o->stack_ids; stack < (place->rank + 1) * o->stack_ids;
                 stack++)
                if (stack != place->stack)
                    (void)check_node(check, channel, check->first_node[5] + stack, previous, constraint,
                                     command);
            break;
        case PIM_DRAM_SCOPE_RANK:
            (void)check_node(check, channel, check->first_node[2] + place->rank, previous, constraint,
                             command);
            break;
        case PIM_DRAM_SCOPE_OTHER_RANK:
            for (uint32_t rank = place->pseudo * o->ranks; rank < (place->pseudo + 1) * o->ranks; rank++)
                if (rank != place->rank)
                    (void)check_node(check, channel, check->first_node[2] + rank, previous, constraint,
                                     command);
            break;
        case PIM_DRAM_SCOPE_PSEUDO_CHANNEL:
            (void)check_node(check, channel, check->first_node[3] + place->pseudo, previous, constraint,
                             command);
            break;
        case PIM_DRAM_SCOPE_CHANNEL:
            (void)check_node(check, channel, check->first_node[4], previous, constraint, command);
            break;
        default:
            assert(false && "unknown scope");
        }
    }
}

static void remember_at(struct checked_history *history, enum pim_dram_command command, uint64_t cycle)
{
    uint64_t *cycles = history->cycle[command];
    memmove(&cycles[1], &cycles[0], (CHECK_HISTORY - 1) * sizeof cycles[0]);
    cycles[0] = cycle;
    if (history->count[command] < CHECK_HISTORY)
        history->count[command]++;
}

void check_remember(const struct pim_dram_check *check, struct checked_channel *channel,
                    const struct checked_place *place, const struct pim_dram_logged *command)
{
    const uint32_t banks = check->specification.organization.banks;
    for (uint32_t g = 0; g < check_groups(check, place) && !place->whole_rank; g++) {
        remember_at(&channel->history[place->bank + g * banks], command->command, command->cycle);
        remember_at(&channel->history[check->first_node[1] + place->group + g], command->command,
                    command->cycle);
    }
    if (!place->whole_rank && !place->all_groups)
        remember_at(&channel->history[check->first_node[5] + place->stack], command->command, command->cycle);
    remember_at(&channel->history[check->first_node[2] + place->rank], command->command, command->cycle);
    remember_at(&channel->history[check->first_node[3] + place->pseudo], command->command, command->cycle);
    remember_at(&channel->history[check->first_node[4]], command->command, command->cycle);
}
