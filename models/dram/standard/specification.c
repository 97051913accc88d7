/* The table of constraints: the evaluation of its rows. */
#include "models/dram/standard/specification.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SET(name) (UINT32_C(1) << PIM_DRAM_##name)
#define COLUMNS (SET(RD) | SET(RDA) | SET(WR) | SET(WRA))
#define ROW_COMMANDS (SET(ACT) | SET(ACT2) | SET(PRE) | SET(PREA) | SET(REF) | SET(REFPB) | SET(REFSB))

const char *pim_dram_command_text(enum pim_dram_command command)
{
    static const char *const texts[] = {
#define X(name, text) text,
        PIM_DRAM_COMMAND_MAP(X)
#undef X
    };
    assert(command < PIM_DRAM_COMMANDS);
    return texts[command];
}

enum pim_dram_command pim_dram_command_parse(const char *text)
{
    unsigned command = 0;
    while (command < PIM_DRAM_COMMANDS &&
           strcmp(text, pim_dram_command_text((enum pim_dram_command)command)) != 0)
        command++;
    return (enum pim_dram_command)command;
}

const char *pim_dram_scope_text(enum pim_dram_scope scope)
{
    static const char *const texts[] = {"bank", "bank group", "stack",          "other stack",
                                        "rank", "other rank", "pseudo-channel", "channel"};
    return texts[scope];
}

const char *pim_dram_parameter_key(enum pim_dram_parameter parameter)
{
    static const char *const keys[] = {"",
#define X(name, key, fallback, text) key,
                                       PIM_DRAM_PARAMETER_MAP(X)
#undef X
    };
    assert(parameter < PIM_DRAM_PARAMETERS);
    return keys[parameter];
}

uint32_t pim_dram_bank_refresh_interval(const struct pim_dram_specification *specification)
{
    uint32_t given = specification->parameter[PIM_DRAM_T_REFIPB];
    return given ? given
                 : specification->parameter[PIM_DRAM_T_REFI] /
                       pim_dram_banks_per_rank(&specification->organization);
}

void pim_dram_interval_text(char text[PIM_DRAM_INTERVAL_TEXT],
                            const struct pim_dram_specification *specification, const char *key,
                            uint64_t cycles, uint64_t longest)
{
    const uint32_t rate = specification->refresh_rate;
    if (rate > 1 && strcmp(key, "trefi") == 0)
        cycles *= rate;
    const double ns = (double)cycles * specification->clock_ps / 1000;
    char refresh[56] = "";
    if (longest > 0)
        (void)snprintf(refresh, sizeof refresh, ", or at most dram.%s = %" PRIu64,
                       rate > 1 ? "trfc_fine" : "trfc", longest);
    if (cycles > PIM_DRAM_REFRESH_INTERVAL_MAX)
        (void)snprintf(text, PIM_DRAM_INTERVAL_TEXT, "but allowed are up to %d: shorten the other times%s",
                       PIM_DRAM_REFRESH_INTERVAL_MAX, refresh);
    else if (ns > PIM_DRAM_NS_MAX)
        (void)snprintf(text, PIM_DRAM_INTERVAL_TEXT, "as dram.%s = %" PRIu64 "%s", key, cycles, refresh);
    else
        (void)snprintf(text, PIM_DRAM_INTERVAL_TEXT, "as dram.%s_ns = %.13g%s", key, ns, refresh);
}

uint64_t pim_dram_aap_cycles(const struct pim_dram_specification *specification)
{
    const uint32_t *p = specification->parameter;
    uint64_t first = p[PIM_DRAM_T_AA], second = p[PIM_DRAM_T_RAS], last = p[PIM_DRAM_T_RP];
    /* A command of two cycles moves its end and its beginning: they cancel, except where another rule is
     * longer. */
    uint64_t hold = p[PIM_DRAM_T_ACT_CYCLES];
    if (first < hold)
        first = hold;
    if (first < p[PIM_DRAM_T_RRD_L])
        first = p[PIM_DRAM_T_RRD_L];
    uint64_t cycle = first + second + last;
    return cycle > p[PIM_DRAM_T_RC] ? cycle : p[PIM_DRAM_T_RC];
}

uint64_t pim_dram_computing_step(const struct pim_dram_specification *specification)
{
    const uint32_t *p = specification->parameter;
    const uint64_t pace = p[PIM_DRAM_T_B] > p[PIM_DRAM_T_CCD_L_WR] ? p[PIM_DRAM_T_B] : p[PIM_DRAM_T_CCD_L_WR];
    const uint64_t row = p[PIM_DRAM_T_RCDWR] + pace * specification->organization.columns +
                         p[PIM_DRAM_T_CWL] + p[PIM_DRAM_T_WR_PRE] + p[PIM_DRAM_T_RP];
    const uint64_t aap = pim_dram_aap_cycles(specification);
    return aap > row ? aap : row;
}

uint64_t pim_dram_capacity(const struct pim_dram_organization *organization)
{
    return (uint64_t)organization->channels * pim_dram_ranks(organization) *
           pim_dram_banks_per_rank(organization) * organization->rows * organization->columns *
           organization->access_bytes;
}

uint32_t pim_dram_command_cycles(const struct pim_dram_specification *specification,
                                 enum pim_dram_command command)
{
    const struct pim_dram_term *term = &specification->command[command].cycles;
    return term->parameter ? specification->parameter[term->parameter] : term->cycles;
}

uint32_t pim_dram_commands(const struct pim_dram_specification *specification)
{
    uint32_t set = 0;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        set |= (uint32_t)specification->command[i].exists << i;
    return specification->parameter[PIM_DRAM_T_AA] > 0 ? set : set & ~SET(ACT2);
}

/* The commands of a set that hold the bus as long as its first one. */
static uint32_t alike(const struct pim_dram_specification *specification, uint32_t set)
{
    uint32_t cycles = 0, found = 0;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++) {
        const uint32_t own = pim_dram_command_cycles(specification, (enum pim_dram_command)i);
        if (!(set >> i & 1))
            continue;
        cycles = found ? cycles : own;
        found |= own == cycles ? UINT32_C(1) << i : 0;
    }
    return found;
}

/* Cycles that commands which are alike hold the bus. */
static int64_t cycles_of(const struct pim_dram_specification *specification, uint32_t set)
{
    unsigned i = 0;
    while (!(set >> i & 1))
        i++;
    return pim_dram_command_cycles(specification, (enum pim_dram_command)i);
}

static void add(struct pim_dram_constraint_table *table, struct pim_dram_constraint constraint)
{
    assert(table->count < PIM_DRAM_CONSTRAINTS_MAX);
    table->row[table->count++] = constraint;
}

/* Commands that hold their bus for more than one cycle keep the others of that bus away. */
static void add_bus_rows(const struct pim_dram_specification *specification,
                         struct pim_dram_constraint_table *table)
{
    const uint32_t known = pim_dram_commands(specification) & (ROW_COMMANDS | COLUMNS);
    for (uint32_t left = known, set; left; left &= ~set) {
        set = alike(specification, left);
        const int64_t cycles = cycles_of(specification, set);
        for (unsigned bus = 0; cycles > 1 && bus < 2; bus++) {
            const uint32_t own = bus ? set & COLUMNS : set & ~COLUMNS;
            const uint32_t same_bus = !specification->split_command_bus ? known
                                      : bus                             ? known & COLUMNS
                                                                        : known & ~COLUMNS;
            if (own)
                add(table, (struct pim_dram_constraint){PIM_DRAM_SCOPE_CHANNEL, own, same_bus,
                                                        (uint32_t)cycles, 1, "a command holds its bus"});
        }
    }
}

/* The distance of a row in cycles, as the standard counts it; 0 or less: the row constrains nothing. */
static int64_t distance_of(const struct pim_dram_specification *specification, const struct pim_dram_row *row)
{
    int64_t cycles = 0;
    for (unsigned i = 0; i < row->terms; i++) {
        const struct pim_dram_term *term = &row->term[i];
        const int64_t value = term->parameter ? specification->parameter[term->parameter] : term->cycles;
        cycles += term->minus ? -value : value;
    }
    return cycles;
}

static void add_row(const struct pim_dram_specification *specification, const struct pim_dram_row *row,
                    struct pim_dram_constraint_table *table)
{
    const uint32_t known = pim_dram_commands(specification);
    const int64_t distance = distance_of(specification, row);
    const bool stacks = specification->organization.stack_ids > 1;
    const enum pim_dram_scope scope =
        row->scope == PIM_DRAM_SCOPE_STACK && !stacks ? PIM_DRAM_SCOPE_RANK : row->scope;
    if (scope == PIM_DRAM_SCOPE_OTHER_STACK && !stacks)
        return;
    /* A parameter that is 0 switches its row off: nothing is longer for taking two cycles. */
    if (distance <= 0)
        return;
    for (uint32_t left = row->previous & known, previous; left; left &= ~previous) {
        previous = alike(specification, left);
        for (uint32_t rest = row->next & known, next; rest; rest &= ~next) {
            next = alike(specification, rest);
            /* JEDEC counts from the last cycle of a command to the last cycle of the next one. */
            const int64_t cycles =
                distance + cycles_of(specification, previous) - cycles_of(specification, next);
            if (cycles > 0)
                add(table, (struct pim_dram_constraint){scope, previous, next, (uint32_t)cycles, row->window,
                                                        row->text});
        }
    }
}

void pim_dram_constraints(const struct pim_dram_specification *specification,
                          struct pim_dram_constraint_table *table)
{
    assert(specification->standard);
    table->count = 0;
    for (unsigned i = 0; i < specification->rows; i++)
        add_row(specification, &specification->row[i], table);
    add_bus_rows(specification, table);
}

void pim_dram_own_constraints(const struct pim_dram_specification *specification,
                              struct pim_dram_constraint_table *table)
{
    for (unsigned i = 0; i < specification->rows; i++)
        if (specification->row[i].own)
            add_row(specification, &specification->row[i], table);
}

int64_t pim_dram_longest_distance(const struct pim_dram_specification *specification,
                                  const struct pim_dram_row *row)
{
    const int64_t distance = distance_of(specification, row);
    int64_t previous = 0, next = PIM_DRAM_COMMAND_CYCLES_MAX;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++) {
        const int64_t cycles = pim_dram_command_cycles(specification, (enum pim_dram_command)i);
        if ((row->previous >> i & 1) && cycles > previous)
            previous = cycles;
        if ((row->next >> i & 1) && cycles < next)
            next = cycles;
    }
    return distance > 0 ? distance + previous - next : 0;
}

unsigned pim_dram_count_constraints(const struct pim_dram_specification *specification)
{
    unsigned count = 2 * PIM_DRAM_COMMANDS;
    for (unsigned i = 0; i < specification->rows; i++) {
        unsigned groups[2] = {0};
        const uint32_t sets[2] = {specification->row[i].previous, specification->row[i].next};
        for (unsigned side = 0; side < 2; side++)
            for (uint32_t left = sets[side]; left; left &= ~alike(specification, left))
                groups[side]++;
        count += groups[0] * groups[1];
    }
    return count;
}
