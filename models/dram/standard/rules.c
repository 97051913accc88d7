/* The table of constraints compiled for the scheduler, and the checks of the policy. */
#include "models/dram/channel/internal.h"
#include "models/dram/standard/check.h"

#include <assert.h>
#include <stdlib.h>

static const enum class class_of[PIM_DRAM_COMMANDS] = {
    [PIM_DRAM_ACT] = CLASS_ACT,     [PIM_DRAM_PRE] = CLASS_PRE,     [PIM_DRAM_PREA] = CLASS_PREA,
    [PIM_DRAM_RD] = CLASS_READ,     [PIM_DRAM_WR] = CLASS_WRITE,    [PIM_DRAM_RDA] = CLASS_READ,
    [PIM_DRAM_WRA] = CLASS_WRITE,   [PIM_DRAM_REF] = CLASS_REF,     [PIM_DRAM_REFPB] = CLASS_REFPB,
    [PIM_DRAM_REFSB] = CLASS_REFSB, [PIM_DRAM_ACT2] = CLASS_ACT,    [PIM_DRAM_ACT_SECOND] = CLASS_ACT,
    [PIM_DRAM_CAS_RD] = CLASS_READ, [PIM_DRAM_CAS_WR] = CLASS_WRITE};

enum pim_status pim_dram_check_policy(const struct pim_dram_policy *policy, struct pim_error *error)
{
    const struct {
        const char *key;
        uint32_t value;
    } queues[] = {{"read_queue", policy->read_queue}, {"write_queue", policy->write_queue}};
    for (size_t i = 0; i < 2; i++)
        if (queues[i].value == 0 || queues[i].value > PIM_DRAM_QUEUE_MAX)
            return pim_fail(error, PIM_BAD_INPUT, "dram.%s is %u: allowed are 1 to %d entries", queues[i].key,
                            queues[i].value, PIM_DRAM_QUEUE_MAX);
    if (policy->write_high == 0 || policy->write_high > policy->write_queue)
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.write_high is %u: allowed are 1 to dram.write_queue, which is %u",
                        policy->write_high, policy->write_queue);
    if (policy->write_low >= policy->write_high)
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.write_low is %u: must be below dram.write_high, which is %u", policy->write_low,
                        policy->write_high);
    if (policy->page == PIM_DRAM_PAGE_TIMEOUT && policy->page_timeout == 0)
        return pim_fail(error, PIM_BAD_INPUT, "dram.page_timeout is 0: allowed are 1 cycle and more");
    if (policy->postpone > PIM_DRAM_POSTPONE_MAX)
        return pim_fail(error, PIM_BAD_INPUT, "dram.refresh_postpone is %u: allowed are 0 to %d",
                        policy->postpone, PIM_DRAM_POSTPONE_MAX);
    if (policy->pull_in > PIM_DRAM_POSTPONE_MAX)
        return pim_fail(error, PIM_BAD_INPUT, "dram.refresh_pull_in is %u: allowed are 0 to %d",
                        policy->pull_in, PIM_DRAM_POSTPONE_MAX);
    return PIM_OK;
}

/* Does a constraint of `scope` hold at `reach`, seen from the bank of the command before? */
static bool reaches(enum pim_dram_scope scope, enum reach reach)
{
    switch (scope) {
    case PIM_DRAM_SCOPE_BANK:
        return reach == REACH_BANK;
    case PIM_DRAM_SCOPE_GROUP:
        return reach == REACH_GROUP;
    case PIM_DRAM_SCOPE_STACK:
        return reach == REACH_STACK;
    case PIM_DRAM_SCOPE_OTHER_STACK:
        return reach == REACH_OTHER_STACK;
    case PIM_DRAM_SCOPE_RANK:
        return reach == REACH_RANK;
    case PIM_DRAM_SCOPE_OTHER_RANK:
        return reach == REACH_PSEUDO_CHANNEL;
    case PIM_DRAM_SCOPE_PSEUDO_CHANNEL:
        return reach == REACH_RANK || reach == REACH_PSEUDO_CHANNEL;
    case PIM_DRAM_SCOPE_CHANNEL:
        return reach == REACH_RANK || reach == REACH_PSEUDO_CHANNEL || reach == REACH_CHANNEL;
    default:
        return false;
    }
}

/* Does the controller ever issue commands of a class? What nobody issues need not be kept waiting. */
static bool is_issued(const struct pim_dram_policy *policy, enum class next)
{
    if (next == CLASS_REFPB || next == CLASS_REFSB)
        return policy->refresh && policy->per_bank_refresh && policy->same_bank == (next == CLASS_REFSB);
    if (next == CLASS_REF || next == CLASS_PREA)
        return policy->refresh && !policy->per_bank_refresh;
    return true;
}

/* The effects of `command` at `reach`, one for each class, the longest distance of all rows. */
static void compile(struct pim_dram_rules *rules, enum pim_dram_command command, enum reach reach)
{
    uint32_t distance[CLASSES] = {0};
    for (size_t i = 0; i < rules->constraints.count; i++) {
        const struct pim_dram_constraint *row = &rules->constraints.row[i];
        if (!(row->previous >> command & 1) || !reaches(row->scope, reach))
            continue;
        if (row->window > 1) {
            assert(command == PIM_DRAM_ACT && row->scope == PIM_DRAM_SCOPE_RANK && row->window == 4);
            const uint32_t four = row->cycles + (rules->half & row->cycles & 1);
            rules->four_activates = four > rules->four_activates ? four : rules->four_activates;
            continue;
        }
        for (unsigned next = 0; next < PIM_DRAM_COMMANDS; next++)
            if ((row->next >> next & 1) && next != PIM_DRAM_ACT2 && row->cycles > distance[class_of[next]])
                distance[class_of[next]] = row->cycles;
    }
    /* From one rising edge to another; behind a PRE the edge is known when it issues (forbid_later). */
    for (unsigned next = 0; rules->rising[class_of[command]] && next < CLASSES; next++)
        distance[next] += distance[next] & rules->rising[next];
    struct effects *effects = &rules->effects[command];
    uint32_t count = effects->begin[reach];
    for (uint32_t next = 0; next < CLASSES; next++)
        if (distance[next] > 0 && is_issued(&rules->policy, (enum class)next))
            effects->list[count++] = (struct effect){next, distance[next]};
    assert(count <= EFFECTS_MAX);
    effects->begin[reach + 1] = count;
}

/* The distance from a command to the next of a class at the same bank. */
static uint32_t own_distance(const struct pim_dram_rules *rules, enum pim_dram_command command,
                             enum class next)
{
    const struct effects *effects = &rules->effects[command];
    uint32_t distance = 1;
    for (uint32_t i = 0; i < effects->begin[REACH_PSEUDO_CHANNEL]; i++) {
        const bool other = i >= effects->begin[REACH_OTHER_STACK] && i < effects->begin[REACH_RANK];
        if (!other && effects->list[i].next == (uint32_t)next && effects->list[i].cycles > distance)
            distance = effects->list[i].cycles;
    }
    return distance;
}

static bool needs_idle_bank(enum pim_dram_command command)
{
    return command == PIM_DRAM_ACT || command == PIM_DRAM_REF || command == PIM_DRAM_REFPB ||
           command == PIM_DRAM_REFSB;
}

/* The longest distance from ACT to the next of a class at another bank of the rank that has `reach` as its
 * narrowest. */
static uint32_t other_distance(const struct pim_dram_rules *rules, enum reach reach, enum class next)
{
    const struct effects *effects = &rules->effects[PIM_DRAM_ACT];
    uint32_t distance = 1;
    for (uint32_t i = effects->begin[reach]; i < effects->begin[REACH_PSEUDO_CHANNEL]; i++) {
        const bool same_stack = reach < REACH_OTHER_STACK;
        const bool of_others = i >= effects->begin[REACH_OTHER_STACK] && i < effects->begin[REACH_RANK];
        if (!(same_stack && of_others) && effects->list[i].next == (uint32_t)next &&
            effects->list[i].cycles > distance)
            distance = effects->list[i].cycles;
    }
    return distance;
}

/* Could ACTs that follow one another keep a refresh of banks away for ever? Where it stays farther from an
 * ACT than the next ACT does: in a bank of the same group, of another one, or of another stack identifier.
 * REFsb is of all groups, whose ACTs come in turns. The distance that keeps it away; 0: they cannot. */
static uint32_t hold_behind_act(const struct pim_dram_rules *rules, enum class refresh)
{
    bool outrun = false;
    uint32_t longest = 0;
    for (enum reach reach = REACH_GROUP; reach <= REACH_OTHER_STACK; reach++) {
        const uint32_t distance = other_distance(rules, reach, refresh);
        outrun |= distance > other_distance(rules, refresh == CLASS_REFSB ? REACH_RANK : reach, CLASS_ACT);
        longest = distance > longest ? distance : longest;
    }
    return outrun ? longest : 0;
}

/* What keeps requests away from independent maintenance, beside its own banks. */
static void take_holds(struct pim_dram_rules *rules)
{
    const struct pim_dram_policy *policy = &rules->policy;
    if (!policy->independent)
        return;
    rules->fenced = pim_dram_own_rows_hold(&rules->specification);
    if (policy->per_bank_refresh)
        rules->refresh_behind_act = hold_behind_act(rules, policy->same_bank ? CLASS_REFSB : CLASS_REFPB);
}

struct pim_dram_rules *pim_dram_rules_create(const struct pim_dram_specification *specification,
                                             const struct pim_dram_policy *policy)
{
    struct pim_dram_rules *rules = calloc(1, sizeof *rules);
    if (!rules)
        return NULL;
    const uint32_t *parameter = specification->parameter;
    rules->specification = *specification;
    rules->policy = *policy;
    pim_dram_constraints(&rules->specification, &rules->constraints);
    rules->half = specification->half_clock;
    for (unsigned class = 0; class < CLASSES; class ++)
        rules->rising[class] = rules->half;
    for (unsigned command = 0; command < PIM_DRAM_COMMANDS; command++)
        if (specification->command[command].either_edge)
            rules->rising[class_of[command]] = 0;
    rules->low_power = specification->write_clock || parameter[PIM_DRAM_T_AAD] > 0;
    rules->plain = policy->page == PIM_DRAM_PAGE_OPEN && !rules->low_power;
    rules->replans = policy->scheduler == PIM_DRAM_FCFS || rules->low_power;
    /* The controller issues no ACT2: banks that compute are sequenced elsewhere. What comes behind it in the
     * list keeps no other command away by a distance. */
    for (unsigned command = 0; command < PIM_DRAM_ACT2; command++)
        for (unsigned reach = 0; reach < REACHES; reach++)
            compile(rules, (enum pim_dram_command)command, (enum reach)reach);
    rules->column_step[0] = own_distance(rules, PIM_DRAM_RD, CLASS_READ);
    rules->column_step[1] = own_distance(rules, PIM_DRAM_WR, CLASS_WRITE);
    rules->read_latency = (uint32_t)pim_dram_read_latency(specification);
    rules->write_latency = (uint32_t)pim_dram_write_latency(specification);
    /* Distances between commands count from their last cycles on the bus. */
    rules->read_close = parameter[PIM_DRAM_T_RTP] + pim_dram_command_cycles(specification, PIM_DRAM_RD) - 1;
    rules->write_close = rules->write_latency + parameter[PIM_DRAM_T_WR_PRE] +
                         pim_dram_command_cycles(specification, PIM_DRAM_WR) - 1;
    rules->activate_close =
        parameter[PIM_DRAM_T_RAS] + pim_dram_command_cycles(specification, PIM_DRAM_ACT) - 1;
    for (unsigned command = 0; command < PIM_DRAM_COMMANDS; command++)
        if (needs_idle_bank((enum pim_dram_command)command)) {
            const uint32_t last = pim_dram_command_cycles(specification, (enum pim_dram_command)command) - 1;
            rules->precharge[class_of[command]] =
                parameter[PIM_DRAM_T_RP] > last ? parameter[PIM_DRAM_T_RP] - last : 0;
        }
    rules->refresh_interval =
        policy->per_bank_refresh ? pim_dram_bank_refresh_interval(specification) : parameter[PIM_DRAM_T_REFI];
    rules->ranks = pim_dram_ranks(&specification->organization);
    rules->refresh_turns = policy->stagger ? rules->ranks : 1;
    rules->refresh_interval /= rules->refresh_turns;
    rules->banks_per_rank = pim_dram_banks_per_rank(&specification->organization);
    rules->sections = (rules->ranks * rules->banks_per_rank + SECTION_BANKS - 1) / SECTION_BANKS;
    rules->refresh_banks = !policy->per_bank_refresh ? 1
                           : policy->same_bank       ? specification->organization.banks
                                                     : rules->banks_per_rank;
    rules->banks_per_group = specification->organization.banks;
    take_holds(rules);
    rules->groups_per_rank = specification->organization.bank_groups;
    rules->groups_per_stack = pim_dram_groups_per_stack(&specification->organization);
    rules->ranks_per_pseudo = specification->organization.ranks;
    return rules;
}

void pim_dram_rules_destroy(struct pim_dram_rules *rules)
{
    free(rules);
}
