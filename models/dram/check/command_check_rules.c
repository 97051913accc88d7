#include "models/dram/check/command_check_rules.h"

#include <assert.h>

#define C(name) (UINT32_C(1) << PIM_DRAM_##name)

enum direction { READ, WRITE };

/* All in cycles; what is derived from parameters stands here once. */
struct maker {
    struct pim_dram_constraint_table *table;
    const uint32_t *t;
    const struct pim_dram_specification *specification;
    bool second;           /* second activations exist */
    int64_t data_begin[2]; /* from RD, WR to the data */
    int64_t data_end[2];   /* to the cycle behind the data */
    int64_t last_use[2];   /* from RD, WR to the earliest precharge of the bank */
    int64_t precharge;     /* one bank */
    int64_t precharge_all; /* all banks of a rank */
};

static const uint32_t accesses[2] = {C(RD) | C(RDA), C(WR) | C(WRA)};
static const uint32_t keeps_open[2] = {C(RD), C(WR)};
/* Refreshes of one bank, and of the banks of one number in all groups. */
static const uint32_t single = C(REFPB) | C(REFSB);
static const uint32_t closes[2] = {C(RDA), C(WRA)};

/* Takes from a set, which is not empty, the commands of the standard that hold the bus as long as the last of
 * them, and tells how long; 0: none is left. */
static uint32_t take(const struct maker *m, uint32_t *set, int64_t *hold)
{
    uint32_t taken = 0;
    *hold = 0;
    for (unsigned i = PIM_DRAM_COMMANDS; i-- > 0;) {
        const struct pim_dram_command_row *command = &m->specification->command[i];
        const int64_t cycles =
            command->cycles.parameter ? m->t[command->cycles.parameter] : command->cycles.cycles;
        if (!(*set >> i & 1) || (command->exists && *hold > 0 && cycles != *hold))
            continue;
        *set &= ~(UINT32_C(1) << i);
        if (!command->exists)
            continue;
        *hold = cycles;
        taken |= UINT32_C(1) << i;
    }
    return taken;
}

/* `next` in the first cycle that is so far behind `previous`, as the bus holds both. */
static void put(struct maker *m, enum pim_dram_scope scope, uint32_t previous, uint32_t next, int64_t cycles,
                const char *text)
{
    struct pim_dram_constraint_table *table = m->table;
    if (cycles <= 0)
        return;
    assert(table->count < PIM_DRAM_CONSTRAINTS_MAX);
    table->row[table->count++] =
        (struct pim_dram_constraint){scope, previous, next, (uint32_t)cycles, 1, text};
}

/* A standard's distance counts from the last cycle of a command to the last cycle of the next; without a
 * distance there is no rule. */
static void need(struct maker *m, enum pim_dram_scope scope, uint32_t previous, uint32_t next,
                 int64_t distance, const char *text)
{
    int64_t first, second;
    for (uint32_t before; distance > 0 && (before = take(m, &previous, &first)) > 0;) {
        uint32_t rest = next;
        for (uint32_t behind; (behind = take(m, &rest, &second)) > 0;)
            put(m, scope, before, behind, distance + first - second, text);
    }
}

/* Data of two column commands on one bus, `gap` cycles between them. */
static void data_apart(struct maker *m, enum pim_dram_scope scope, enum direction first,
                       enum direction second, int64_t gap, const char *text)
{
    need(m, scope, accesses[first], accesses[second], m->data_end[first] + gap - m->data_begin[second], text);
}

static void columns(struct maker *m)
{
    const uint32_t *t = m->t;
    data_apart(m, PIM_DRAM_SCOPE_PSEUDO_CHANNEL, READ, READ, 0, "data of two reads");
    data_apart(m, PIM_DRAM_SCOPE_PSEUDO_CHANNEL, WRITE, WRITE, 0, "data of two writes");
    /* Another rank drives the data of a read; the controller drives those of all writes. */
    data_apart(m, PIM_DRAM_SCOPE_OTHER_RANK, READ, READ, t[PIM_DRAM_T_CS], "tCS between reads");
    data_apart(m, PIM_DRAM_SCOPE_OTHER_RANK, READ, WRITE, t[PIM_DRAM_T_CS], "tCS, read to write");
    data_apart(m, PIM_DRAM_SCOPE_OTHER_RANK, WRITE, READ, t[PIM_DRAM_T_CS], "tCS, write to read");
    data_apart(m, PIM_DRAM_SCOPE_RANK, READ, WRITE, t[PIM_DRAM_T_RTW], "tRTW");
    for (unsigned i = READ; i <= WRITE; i++)
        need(m, PIM_DRAM_SCOPE_STACK, accesses[i], accesses[i], t[PIM_DRAM_T_CCD_S], "tCCD_S");
    need(m, PIM_DRAM_SCOPE_OTHER_STACK, accesses[READ], accesses[READ], t[PIM_DRAM_T_CCD_R], "tCCD_R");
    need(m, PIM_DRAM_SCOPE_GROUP, accesses[READ], accesses[READ], t[PIM_DRAM_T_CCD_L], "tCCD_L");
    need(m, PIM_DRAM_SCOPE_GROUP, accesses[WRITE], accesses[WRITE], t[PIM_DRAM_T_CCD_L_WR], "tCCD_L (write)");
    need(m, PIM_DRAM_SCOPE_RANK, accesses[WRITE], accesses[READ], m->data_end[WRITE] + t[PIM_DRAM_T_WTR_S],
         "tWTR_S");
    need(m, PIM_DRAM_SCOPE_GROUP, accesses[WRITE], accesses[READ], m->data_end[WRITE] + t[PIM_DRAM_T_WTR_L],
         "tWTR_L");
}

/* What a bank must have behind it before it is activated (or refreshed, which activates it inside): the scope
 * is that of the refresh. */
static void bank_is_idle(struct maker *m, enum pim_dram_scope scope, uint32_t next)
{
    const bool rank = scope == PIM_DRAM_SCOPE_RANK && m->second;
    need(m, scope, rank ? C(ACT) | C(ACT2) : C(ACT), next, m->t[PIM_DRAM_T_RC], "tRC");
    need(m, scope, C(PRE), next, m->precharge, "tRP");
    for (unsigned i = READ; i <= WRITE; i++)
        need(m, scope, closes[i], next, m->last_use[i] + m->precharge, "automatic precharge and tRP");
    need(m, PIM_DRAM_SCOPE_RANK, C(PREA), next, m->precharge_all, "tRPab");
}

static void rows(struct maker *m)
{
    const uint32_t *t = m->t;
    const uint32_t activates = m->second ? C(ACT) | C(ACT2) : C(ACT);
    bank_is_idle(m, PIM_DRAM_SCOPE_BANK, C(ACT));
    need(m, PIM_DRAM_SCOPE_BANK, C(ACT), accesses[READ], t[PIM_DRAM_T_RCDRD], "tRCD (read)");
    need(m, PIM_DRAM_SCOPE_BANK, C(ACT), accesses[WRITE], t[PIM_DRAM_T_RCDWR], "tRCD (write)");
    /* PRE of the bank, PREA of all banks of the rank. */
    const struct {
        enum pim_dram_scope scope;
        uint32_t next, activates;
    } precharges[] = {{PIM_DRAM_SCOPE_BANK, C(PRE), C(ACT)}, {PIM_DRAM_SCOPE_RANK, C(PREA), activates}};
    for (unsigned i = 0; i < 2; i++) {
        need(m, precharges[i].scope, precharges[i].activates, precharges[i].next, t[PIM_DRAM_T_RAS], "tRAS");
        need(m, precharges[i].scope, keeps_open[READ], precharges[i].next, m->last_use[READ], "tRTP");
        need(m, precharges[i].scope, keeps_open[WRITE], precharges[i].next, m->last_use[WRITE], "tWR");
    }
    need(m, PIM_DRAM_SCOPE_RANK, C(PRE) | C(PREA), C(PRE) | C(PREA), t[PIM_DRAM_T_PPD], "tPPD");
    need(m, PIM_DRAM_SCOPE_GROUP, activates, activates, t[PIM_DRAM_T_RRD_L], "tRRD_L");
    need(m, PIM_DRAM_SCOPE_RANK, activates, activates, t[PIM_DRAM_T_RRD_S], "tRRD_S");
    need(m, PIM_DRAM_SCOPE_RANK, activates, activates, t[PIM_DRAM_T_FAW], "tFAW");
    if (t[PIM_DRAM_T_FAW] > 0)
        m->table->row[m->table->count - 1].window = 4;
    if (m->second) {
        need(m, PIM_DRAM_SCOPE_BANK, C(ACT), C(ACT2), t[PIM_DRAM_T_AA], "tAA");
        need(m, PIM_DRAM_SCOPE_BANK, C(ACT2), C(PRE), t[PIM_DRAM_T_RAS], "tRAS behind ACT2");
    }
}

static void refreshes(struct maker *m)
{
    const uint32_t *t = m->t;
    const uint32_t activates = m->second ? C(ACT) | C(ACT2) : C(ACT);
    bank_is_idle(m, PIM_DRAM_SCOPE_RANK, C(REF));
    bank_is_idle(m, PIM_DRAM_SCOPE_BANK, single);
    /* A rank that is refreshed takes no row command. */
    need(m, PIM_DRAM_SCOPE_RANK, C(REF), C(ACT), t[PIM_DRAM_T_RFC], "tRFC");
    need(m, PIM_DRAM_SCOPE_RANK, C(REF), C(REF) | single | C(PREA), t[PIM_DRAM_T_RFC], "tRFC");
    need(m, PIM_DRAM_SCOPE_RANK, single, C(REF), t[PIM_DRAM_T_RFCPB], "tRFCpb");
    need(m, PIM_DRAM_SCOPE_BANK, single, C(ACT), t[PIM_DRAM_T_RFCPB], "tRFCpb");
    need(m, PIM_DRAM_SCOPE_BANK, single, single, t[PIM_DRAM_T_RFCPB], "tRFCpb");
    /* REFpb draws the current of an activation. */
    need(m, PIM_DRAM_SCOPE_GROUP, activates, single, t[PIM_DRAM_T_RRD_L], "tRRD_L before REFpb");
    need(m, PIM_DRAM_SCOPE_RANK, activates, single, t[PIM_DRAM_T_RRD_S], "tRRD_S before REFpb");
    need(m, PIM_DRAM_SCOPE_RANK, single, activates, t[PIM_DRAM_T_RREFD], "tRREFD");
    need(m, PIM_DRAM_SCOPE_RANK, single, single, t[PIM_DRAM_T_REFPB_REFPB], "REFpb to REFpb");
}

/* A bus is free behind the last cycle of a command. One cycle needs no rule: the checker sees it. */
static void command_bus(struct maker *m, bool split)
{
    const uint32_t activates = m->second ? C(ACT) | C(ACT2) : C(ACT);
    const uint32_t rows = activates | C(PRE) | C(PREA) | C(REF) | single;
    const uint32_t columns = accesses[READ] | accesses[WRITE];
    const uint32_t sides[] = {rows, columns};
    for (unsigned i = 0; i < 2; i++) {
        int64_t hold, other;
        for (uint32_t left = sides[i], set; (set = take(m, &left, &hold)) > 0;) {
            uint32_t kept = split ? sides[i] : rows | columns, next = 0;
            for (uint32_t more; (more = take(m, &kept, &other)) > 0;)
                next |= more;
            if (hold > 1)
                put(m, PIM_DRAM_SCOPE_CHANNEL, set, next, hold,
                    i ? "a column command holds the bus" : "a row command holds the bus");
        }
    }
}

/* Rules that the configuration took out: none here is about more commands than a row of jedec. */
static void take_out(struct maker *m)
{
    struct pim_dram_constraint_table *table = m->table;
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct pim_dram_constraint *rule = &table->row[i];
        bool taken = false;
        for (unsigned j = 0; j < m->specification->taken; j++) {
            const struct pim_dram_row *row = &m->specification->taken_row[j];
            taken |= rule->scope == row->scope && rule->window == row->window &&
                     !(rule->previous & ~row->previous) && !(rule->next & ~row->next);
        }
        if (!taken)
            table->row[kept++] = *rule;
    }
    table->count = kept;
}

/* A rank with one stack identifier is that. */
static void join_stacks(struct pim_dram_constraint_table *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct pim_dram_constraint rule = table->row[i];
        if (rule.scope == PIM_DRAM_SCOPE_STACK)
            rule.scope = PIM_DRAM_SCOPE_RANK;
        if (rule.scope != PIM_DRAM_SCOPE_OTHER_STACK)
            table->row[kept++] = rule;
    }
    table->count = kept;
}

void pim_dram_check_rules(const struct pim_dram_specification *specification,
                          struct pim_dram_constraint_table *table)
{
    const uint32_t *t = specification->parameter;
    const int64_t burst = t[PIM_DRAM_T_B];
    struct maker m = {
        .table = table,
        .t = t,
        .specification = specification,
        .second = t[PIM_DRAM_T_AA] > 0,
        .data_begin = {t[PIM_DRAM_T_CL], t[PIM_DRAM_T_CWL]},
        .data_end = {t[PIM_DRAM_T_CL] + burst, t[PIM_DRAM_T_CWL] + burst},
        .last_use = {t[PIM_DRAM_T_RTP], t[PIM_DRAM_T_CWL] + burst + t[PIM_DRAM_T_WR_PRE]},
        .precharge = t[PIM_DRAM_T_RP],
        .precharge_all = t[PIM_DRAM_T_RPAB],
    };
    table->count = 0;
    columns(&m);
    rows(&m);
    refreshes(&m);
    take_out(&m);
    if (specification->organization.stack_ids <= 1)
        join_stacks(table);
    command_bus(&m, specification->split_command_bus);
}
