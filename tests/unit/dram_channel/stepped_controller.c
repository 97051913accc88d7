#include "tests/unit/dram_channel/stepped_controller.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { BANKS = PIM_DRAM_BANKS_MAX, QUEUE = 128, KEPT = 4 };

struct waiter {
    uint64_t arrived;
    size_t request;
    struct pim_dram_location place;
    bool write;
};

struct line {
    struct waiter item[QUEUE];
    size_t count;
};

struct job {
    enum { JOB_REFRESH, JOB_REFRESH_BANK, JOB_REFRESH_SAME, JOB_CLOSE } kind;
    uint32_t rank, bank;
};

struct controller {
    const struct pim_dram_configuration *configuration;
    const struct pim_dram_policy *policy;
    struct pim_dram_constraint_table table;
    uint64_t clock;
    uint32_t ranks, banks, per_rank, per_group;
    /* When each command was last issued for a bank (commands to a rank: for its first bank), newest first. */
    uint64_t issued[PIM_DRAM_COMMANDS][BANKS][KEPT];
    int64_t row[BANKS];
    uint32_t accesses[BANKS];
    uint64_t used[BANKS], opened[BANKS];
    uint64_t idle[BANKS]; /* an automatic precharge is over, tRAS included */
    bool closing[BANKS];
    struct line active, queue[2];
    struct job jobs[2 * BANKS];
    size_t job_count;
    bool write_mode;
    bool fenced; /* by rows of one's own: no request is looked at while independent maintenance waits */
    int32_t owed[PIM_DRAM_RANKS_MAX];
    uint32_t turn[PIM_DRAM_RANKS_MAX];
    bool queued[PIM_DRAM_RANKS_MAX];
    /* LPDDR5: the request whose ACT waits for its ACT-2, and the column command behind a CAS. */
    struct waiter half;
    uint64_t half_cycle; /* 0: none */
    struct line *forced_line;
    size_t forced;
    uint64_t clock_end;
    struct outcome *outcome;
};

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

static bool same_number(const struct controller *c, uint32_t a, uint32_t b)
{
    return a / c->per_rank == b / c->per_rank && a % c->per_group == b % c->per_group;
}

/* Are automatic precharges over in all banks that the command needs idle? */
static bool is_idle(const struct controller *c, uint64_t cycle, enum pim_dram_command command, uint32_t bank)
{
    const uint64_t last = cycle + pim_dram_command_cycles(&c->configuration->specification, command) - 1;
    for (uint32_t i = 0; i < c->banks; i++) {
        const bool needed = command == PIM_DRAM_REF     ? i / c->per_rank == bank / c->per_rank
                            : command == PIM_DRAM_REFSB ? same_number(c, i, bank)
                                                        : i == bank;
        if (needed && last < c->idle[i])
            return false;
    }
    return true;
}

/* Has enough time passed by then since every command that this one must wait for? */
static bool ready_in(const struct controller *c, uint64_t cycle, enum pim_dram_command command, uint32_t bank)
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

static bool ready(const struct controller *c, enum pim_dram_command command, uint32_t bank)
{
    return ready_in(c, c->clock, command, bank);
}

static void issue(struct controller *c, enum pim_dram_command command, uint32_t bank, int64_t row,
                  int64_t column)
{
    for (uint32_t i = 0; i < c->banks; i++) {
        if (i != bank && !(command == PIM_DRAM_REFSB && same_number(c, i, bank)))
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

static void close_row(struct controller *c, uint32_t bank)
{
    c->row[bank] = -1;
    c->closing[bank] = false;
}

/* RDA or WRA of this cycle closes its row: behind tRTP or tWR, and not before tRAS is over. */
static void close_behind(struct controller *c, uint32_t bank, enum pim_dram_command command)
{
    const struct pim_dram_specification *specification = &c->configuration->specification;
    const uint32_t *parameter = specification->parameter;
    const uint64_t restored = c->opened[bank] + pim_dram_command_cycles(specification, PIM_DRAM_ACT) - 1 +
                              parameter[PIM_DRAM_T_RAS];
    uint64_t at = c->clock + pim_dram_command_cycles(specification, command) - 1;
    at += command == PIM_DRAM_RDA
              ? parameter[PIM_DRAM_T_RTP]
              : parameter[PIM_DRAM_T_CWL] + parameter[PIM_DRAM_T_B] + parameter[PIM_DRAM_T_WR_PRE];
    c->idle[bank] = (at > restored ? at : restored) + parameter[PIM_DRAM_T_RP];
    close_row(c, bank);
}

static bool has_active(const struct controller *c, uint32_t first, uint32_t end)
{
    for (size_t i = 0; i < c->active.count; i++)
        if (c->active.item[i].place.bank >= first && c->active.item[i].place.bank < end)
            return true;
    return false;
}

static enum pim_dram_command needed(const struct controller *c, const struct waiter *waiter)
{
    int64_t row = c->row[waiter->place.bank];
    if (row < 0)
        return PIM_DRAM_ACT;
    if (row != waiter->place.row)
        return PIM_DRAM_PRE;
    return waiter->write ? PIM_DRAM_WR : PIM_DRAM_RD;
}

/* What schedulers other than the plain one forbid. */
static bool allowed(const struct controller *c, const struct line *line, const struct waiter *waiter)
{
    enum pim_dram_command command = needed(c, waiter);
    uint32_t bank = waiter->place.bank;
    if (command == PIM_DRAM_PRE && has_active(c, bank, bank + 1))
        return false;
    for (size_t i = 0; i < line->count; i++) {
        const struct waiter *other = &line->item[i];
        bool older = other->arrived < waiter->arrived;
        if (c->policy->scheduler == PIM_DRAM_FCFS && older)
            return false;
        if (other->place.bank != bank || !older)
            continue;
        if (command == PIM_DRAM_PRE && other->place.row == c->row[bank] &&
            c->policy->scheduler == PIM_DRAM_FRFCFS_ROW_HIT)
            return false;
        if (pim_dram_is_column(command) && other->place.row != c->row[bank] && c->policy->row_hit_cap > 0 &&
            c->accesses[bank] >= c->policy->row_hit_cap && c->policy->scheduler != PIM_DRAM_FCFS)
            return false;
    }
    return c->policy->scheduler != PIM_DRAM_FCFS || c->active.count == 0;
}

enum slot { SLOT_ANY, SLOT_COLUMN, SLOT_ROW };

static bool fits(enum slot slot, enum pim_dram_command command)
{
    return slot == SLOT_ANY || (slot == SLOT_COLUMN) == pim_dram_is_column(command);
}

/* The oldest request of a line whose command is ready; SIZE_MAX: none. */
static bool kept_away(const struct controller *c, uint32_t bank);

static size_t pick(const struct controller *c, const struct line *line, enum slot slot, bool active)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < line->count; i++) {
        const struct waiter *waiter = &line->item[i];
        enum pim_dram_command command = needed(c, waiter);
        if (!active && kept_away(c, waiter->place.bank))
            continue;
        if (!fits(slot, command) || (!active && !allowed(c, line, waiter)) ||
            !ready(c, command, waiter->place.bank))
            continue;
        if (best == SIZE_MAX || waiter->arrived < line->item[best].arrived)
            best = i;
    }
    return best;
}

static void take_out(struct line *line, size_t index)
{
    memmove(&line->item[index], &line->item[index + 1], (line->count - index - 1) * sizeof line->item[0]);
    line->count--;
}

static void issue_second_half(struct controller *c)
{
    issue(c, PIM_DRAM_ACT_SECOND, c->half.place.bank, c->half.place.row, c->half.place.column);
    c->half_cycle = 0;
}

/* Cycles until the ACT-2 must issue; far away when none has to. */
static uint64_t second_half_left(const struct controller *c)
{
    uint64_t last = c->half_cycle + c->configuration->specification.parameter[PIM_DRAM_T_AAD];
    return c->half_cycle > 0 ? last - c->clock : UINT64_MAX;
}

/* A column command needs a CAS before it: issues that, or the ACT-2 that could not wait for both. */
static bool starts_clock(struct controller *c, struct line *line, size_t index)
{
    const struct waiter *waiter = &line->item[index];
    if (!c->configuration->specification.write_clock || c->clock < c->clock_end || c->forced_line)
        return false;
    if (second_half_left(c) <= 1) {
        issue_second_half(c);
        c->outcome->first_command[waiter->request] = c->outcome->first_command[waiter->request] == c->clock
                                                         ? UINT64_MAX
                                                         : c->outcome->first_command[waiter->request];
        return true;
    }
    issue(c, waiter->write ? PIM_DRAM_CAS_WR : PIM_DRAM_CAS_RD, waiter->place.bank, waiter->place.row,
          waiter->place.column);
    c->forced_line = line;
    c->forced = index;
    return true;
}

static void serve_waiter(struct controller *c, struct line *line, size_t index)
{
    struct waiter waiter = line->item[index];
    uint32_t bank = waiter.place.bank;
    enum pim_dram_command command = needed(c, &waiter);
    /* A row that was opened for another request stays open for it. */
    bool others = line != &c->active && has_active(c, bank, bank + 1);
    bool close =
        c->policy->page == PIM_DRAM_PAGE_CLOSED && c->accesses[bank] >= c->policy->page_cap && !others;
    if (close && pim_dram_is_column(command))
        command = command == PIM_DRAM_RD ? PIM_DRAM_RDA : PIM_DRAM_WRA;
    if (c->outcome->first_command[waiter.request] == UINT64_MAX)
        c->outcome->first_command[waiter.request] = c->clock;
    if (pim_dram_is_column(command) && starts_clock(c, line, index))
        return;
    issue(c, command, bank, waiter.place.row, waiter.place.column);
    if (command == PIM_DRAM_PRE) {
        close_row(c, bank);
        return;
    }
    take_out(line, index);
    c->used[bank] = c->clock;
    if (command == PIM_DRAM_ACT) {
        c->row[bank] = waiter.place.row;
        c->opened[bank] = c->clock;
        c->accesses[bank] = 0;
        c->active.item[c->active.count++] = waiter;
        if (c->configuration->specification.parameter[PIM_DRAM_T_AAD] > 0) {
            c->half = waiter;
            c->half_cycle = c->clock;
        }
        return;
    }
    c->accesses[bank]++;
    if (close)
        close_behind(c, bank, command);
    const struct pim_dram_specification *specification = &c->configuration->specification;
    uint64_t latency =
        waiter.write ? pim_dram_write_latency(specification) : pim_dram_read_latency(specification);
    c->outcome->completed[waiter.request] = c->clock + latency;
    uint64_t end = c->clock + latency + specification->parameter[PIM_DRAM_T_WCKPST];
    c->clock_end = end > c->clock_end ? end : c->clock_end;
    if (c->outcome->cycles < c->clock + latency)
        c->outcome->cycles = c->clock + latency;
}

static void finish_job(struct controller *c, size_t index)
{
    memmove(&c->jobs[index], &c->jobs[index + 1], (c->job_count - 1 - index) * sizeof c->jobs[0]);
    c->job_count--;
}

static bool in_job(const struct controller *c, const struct job *job, uint32_t bank)
{
    if (job->kind == JOB_REFRESH)
        return job->rank == bank / c->per_rank;
    return job->kind == JOB_REFRESH_SAME ? same_number(c, job->bank, bank) : job->bank == bank;
}

/* Could requests for `bank` keep away for ever the active ones that a refresh waits for? */
static bool is_rival(const struct controller *c, const struct job *job, uint32_t bank)
{
    const uint32_t pseudo = c->configuration->specification.organization.ranks * c->per_rank;
    bool waits = false, same_direction = false;
    for (size_t i = 0; i < c->active.count; i++)
        if (in_job(c, job, c->active.item[i].place.bank)) {
            waits = true;
            same_direction |= c->active.item[i].write == c->write_mode;
        }
    /* Requests for one stack identifier follow one another more closely than those for several. */
    const struct pim_dram_organization *o = &c->configuration->specification.organization;
    const uint32_t stack = c->per_rank / o->stack_ids;
    bool peer = bank / c->per_rank == job->rank;
    if (o->stack_ids > 1)
        peer = peer && job->kind == JOB_REFRESH_BANK && bank / stack == job->bank / stack;
    return waits && bank / pseudo == job->rank * c->per_rank / pseudo && !(peer && same_direction);
}

/* From ACT to the next command of the kind in another bank of the rank: of the same group (`scope` group), of
 * another one (stack), of another stack identifier (other_stack), or the least of all (rank). */
static uint32_t behind_act(const struct controller *c, enum pim_dram_scope scope, enum pim_dram_command next)
{
    uint32_t longest = 1;
    for (size_t i = 0; i < c->table.count; i++) {
        const struct pim_dram_constraint *row = &c->table.row[i];
        const bool elsewhere = row->scope == PIM_DRAM_SCOPE_OTHER_RANK ||
                               (row->scope == PIM_DRAM_SCOPE_OTHER_STACK && row->scope != scope);
        if ((row->previous >> PIM_DRAM_ACT & 1) && (row->next >> next & 1) && row->window == 1 &&
            row->scope >= scope && !elsewhere && row->cycles > longest)
            longest = row->cycles;
    }
    return longest;
}

/* Would an ACT for `bank` keep away a refresh of banks that waits for nothing but a few cycles more? */
static bool is_held(const struct controller *c, const struct job *job, uint32_t bank)
{
    if (c->row[bank] >= 0 || bank / c->per_rank != job->rank ||
        (job->kind != JOB_REFRESH_BANK && job->kind != JOB_REFRESH_SAME))
        return false;
    const enum pim_dram_command refresh = job->kind == JOB_REFRESH_BANK ? PIM_DRAM_REFPB : PIM_DRAM_REFSB;
    uint32_t apart = 0;
    bool outrun = false;
    for (enum pim_dram_scope scope = PIM_DRAM_SCOPE_GROUP; scope <= PIM_DRAM_SCOPE_OTHER_STACK; scope++) {
        const uint32_t here = behind_act(c, scope, refresh);
        outrun |= here > behind_act(c, refresh == PIM_DRAM_REFSB ? PIM_DRAM_SCOPE_RANK : scope, PIM_DRAM_ACT);
        apart = here > apart ? here : apart;
    }
    if (!outrun)
        return false;
    uint64_t last = c->clock + apart - 1;
    last -= c->configuration->specification.half_clock && last % 2 == 0;
    for (uint32_t i = 0; i < c->banks; i++)
        if (in_job(c, job, i) &&
            (c->row[i] >= 0 || has_active(c, i, i + 1) || !ready_in(c, last, refresh, i)))
            return false;
    return true;
}

/* Rows of one's own by which commands of some banks keep PRE, PREA and refreshes of others waiting, or column
 * commands those of other pseudo-channels: commands of whatever kind but refreshes, and PREs before PREs that
 * they keep as far from one another. */
static bool keeps_waiting(const struct pim_dram_specification *specification)
{
#define SET(name) (UINT32_C(1) << PIM_DRAM_##name)
    const struct pim_dram_organization *o = &specification->organization;
    const uint32_t closings = SET(PRE) | SET(PREA), refreshes = SET(REF) | SET(REFPB) | SET(REFSB);
    for (unsigned i = 0; i < specification->rows; i++) {
        const struct pim_dram_row *row = &specification->row[i];
        const bool nobody = (row->scope == PIM_DRAM_SCOPE_OTHER_RANK && o->ranks == 1) ||
                            (row->scope == PIM_DRAM_SCOPE_OTHER_STACK && o->stack_ids == 1);
        const bool all_pseudo = row->scope == PIM_DRAM_SCOPE_CHANNEL && o->pseudo_channels > 1;
        const uint32_t columns = all_pseudo ? SET(RD) | SET(RDA) | SET(WR) | SET(WRA) : 0;
        if (!row->own || nobody || row->scope == PIM_DRAM_SCOPE_BANK ||
            pim_dram_longest_distance(specification, row) <= 1 || (row->previous | refreshes) == refreshes)
            continue;
        const bool others =
            row->scope == PIM_DRAM_SCOPE_OTHER_RANK || row->scope == PIM_DRAM_SCOPE_OTHER_STACK;
        const bool prea =
            row->scope > PIM_DRAM_SCOPE_RANK && (row->previous & SET(PRE)) && (row->next & SET(PREA));
        if ((row->next & columns) || (row->next & refreshes) ||
            ((row->next & closings) && (others || prea || ((row->previous | row->next) & ~closings))))
            return true;
    }
#undef SET
    return false;
}

/* Independent maintenance keeps requests away from its own banks, and from what would delay it for ever. */
static bool kept_away(const struct controller *c, uint32_t bank)
{
    if (c->fenced && c->job_count > 0)
        return true;
    for (size_t i = 0; i < c->job_count; i++)
        if (in_job(c, &c->jobs[i], bank) ||
            (c->jobs[i].kind != JOB_CLOSE && is_rival(c, &c->jobs[i], bank)) ||
            (c->policy->independent && is_held(c, &c->jobs[i], bank)))
            return true;
    return false;
}

/* What a job issues next: in `bank` the one it is for; PIM_DRAM_COMMANDS: nothing may issue. */
static enum pim_dram_command next_of_job(const struct controller *c, const struct job *job, uint32_t *bank)
{
    static const enum pim_dram_command commands[] = {[JOB_REFRESH] = PIM_DRAM_REF,
                                                     [JOB_REFRESH_BANK] = PIM_DRAM_REFPB,
                                                     [JOB_REFRESH_SAME] = PIM_DRAM_REFSB};
    bool open = false, all_ready = true;
    *bank = job->kind == JOB_REFRESH ? job->rank * c->per_rank : job->bank;
    for (uint32_t i = 0; i < c->banks; i++) {
        if (!in_job(c, job, i))
            continue;
        if (has_active(c, i, i + 1))
            return PIM_DRAM_COMMANDS;
        open |= c->row[i] >= 0;
        all_ready &= job->kind == JOB_CLOSE || ready(c, commands[job->kind], i);
    }
    if (!open)
        return all_ready ? commands[job->kind] : PIM_DRAM_COMMANDS;
    if (job->kind == JOB_REFRESH)
        return ready(c, PIM_DRAM_PREA, *bank) ? PIM_DRAM_PREA : PIM_DRAM_COMMANDS;
    for (*bank = 0; *bank < c->banks; ++*bank)
        if (in_job(c, job, *bank) && c->row[*bank] >= 0 && ready(c, PIM_DRAM_PRE, *bank))
            return PIM_DRAM_PRE;
    return PIM_DRAM_COMMANDS;
}

/* A job of the maintenance queue; true when it took the slot. */
static bool serve_job(struct controller *c, enum slot slot, size_t index)
{
    const struct job job = c->jobs[index];
    uint32_t bank;
    const enum pim_dram_command command =
        slot == SLOT_COLUMN ? PIM_DRAM_COMMANDS : next_of_job(c, &job, &bank);
    if (command == PIM_DRAM_COMMANDS)
        return false;
    issue(c, command, bank, UINT32_MAX, UINT32_MAX);
    const bool open = command == PIM_DRAM_PREA || command == PIM_DRAM_PRE;
    for (uint32_t i = 0; open && i < c->banks; i++)
        if (command == PIM_DRAM_PREA ? in_job(c, &job, i) : i == bank)
            close_row(c, i);
    if (job.kind == JOB_CLOSE) {
        finish_job(c, index);
    } else if (!open) {
        c->owed[job.rank]--;
        c->queued[job.rank] = false;
        c->turn[job.rank] =
            (c->turn[job.rank] + 1) % (job.kind == JOB_REFRESH_SAME ? c->per_group : c->per_rank);
        finish_job(c, index);
    }
    for (size_t i = 0; i < (c->policy->independent ? c->job_count : c->job_count > 0);)
        if (c->jobs[i].kind == JOB_CLOSE && c->row[c->jobs[i].bank] < 0)
            finish_job(c, i);
        else
            i++;
    return true;
}

static void run_slot(struct controller *c, enum slot slot)
{
    if (c->forced_line) {
        serve_waiter(c, c->forced_line, c->forced);
        c->forced_line = NULL;
        return;
    }
    if (second_half_left(c) == 0) {
        issue_second_half(c);
        return;
    }
    if (slot != SLOT_ROW) {
        size_t best = pick(c, &c->active, slot, true);
        if (best != SIZE_MAX) {
            serve_waiter(c, &c->active, best);
            return;
        }
    }
    for (size_t i = 0; i < c->job_count; i++)
        if (serve_job(c, slot, i) || !c->policy->independent)
            return;
    size_t reads = c->queue[0].count, writes = c->queue[1].count;
    if (!c->write_mode)
        c->write_mode = writes >= c->policy->write_high || reads == 0;
    else if (writes <= c->policy->write_low && reads > 0)
        c->write_mode = false;
    struct line *line = &c->queue[c->write_mode];
    size_t best = pick(c, line, slot, false);
    if (best != SIZE_MAX)
        serve_waiter(c, line, best);
}

/* Refreshes that are due, postponed ones that may go now, and rows that the page policy wants closed. */
static void ask_for_maintenance(struct controller *c, uint64_t interval)
{
    for (uint32_t rank = 0; rank < c->ranks; rank++) {
        uint32_t first = rank * c->per_rank;
        bool wanted = has_active(c, first, first + c->per_rank);
        for (unsigned i = 0; i < 2; i++)
            for (size_t j = 0; j < c->queue[i].count; j++)
                wanted |= c->queue[i].item[j].place.bank / c->per_rank == rank;
        const uint64_t step = c->policy->stagger ? interval / c->ranks : interval;
        const bool turn = !c->policy->stagger || (c->clock / step + c->ranks - 1) % c->ranks == rank;
        if (c->policy->refresh && c->clock % step == 0 && turn)
            c->owed[rank]++;
        const int32_t ahead = c->policy->refresh ? (int32_t)c->policy->pull_in : 0;
        if (c->owed[rank] <= -ahead || c->queued[rank] ||
            (c->owed[rank] <= (int32_t)c->policy->postpone && wanted))
            continue;
        c->queued[rank] = true;
        const struct job job = {!c->policy->per_bank_refresh ? JOB_REFRESH
                                : c->policy->same_bank       ? JOB_REFRESH_SAME
                                                             : JOB_REFRESH_BANK,
                                rank, c->policy->per_bank_refresh ? first + c->turn[rank] : first};
        c->jobs[c->job_count++] = job;
    }
    for (uint32_t bank = 0; bank < c->banks && c->policy->page != PIM_DRAM_PAGE_OPEN; bank++) {
        bool due = c->policy->page == PIM_DRAM_PAGE_CLOSED
                       ? c->accesses[bank] >= c->policy->page_cap
                       : c->clock >= c->used[bank] + c->policy->page_timeout;
        if (c->row[bank] < 0 || c->accesses[bank] == 0 || !due || c->closing[bank] ||
            has_active(c, bank, bank + 1) || !ready(c, PIM_DRAM_PRE, bank))
            continue;
        if (c->forced_line && c->forced_line->item[c->forced].place.bank == bank)
            continue; /* the command behind a CAS comes first */
        c->closing[bank] = true;
        c->jobs[c->job_count++] = (struct job){JOB_CLOSE, 0, bank};
    }
}

/* A request comes in this cycle; false when its queue is full. */
static bool accept(struct controller *c, const struct access *access, size_t request)
{
    struct pim_dram_location place = pim_dram_locate(&c->configuration->mapping, access->address);
    const struct line *writes = &c->queue[1];
    for (size_t i = 0; i < writes->count; i++) {
        const struct pim_dram_location *other = &writes->item[i].place;
        if (other->bank != place.bank || other->row != place.row || other->column != place.column)
            continue;
        c->outcome->completed[request] = access->write ? c->clock : c->clock + 1;
        if (c->outcome->cycles < c->outcome->completed[request])
            c->outcome->cycles = c->outcome->completed[request];
        return true;
    }
    struct line *line = &c->queue[access->write];
    if (line->count >= (access->write ? c->policy->write_queue : c->policy->read_queue))
        return false;
    line->item[line->count++] = (struct waiter){c->clock, request, place, access->write};
    return true;
}

void stepped_serve(struct outcome *outcome, const struct pim_dram_configuration *configuration,
                   const struct access *list, size_t count)
{
    const struct pim_dram_organization *organization = &configuration->specification.organization;
    struct controller *c = calloc(1, sizeof *c);
    *outcome = (struct outcome){.count = count};
    outcome->arrived = malloc((count + 1) * sizeof *outcome->arrived);
    outcome->first_command = malloc((count + 1) * sizeof *outcome->first_command);
    outcome->completed = malloc((count + 1) * sizeof *outcome->completed);
    ck_assert(c && outcome->arrived && outcome->first_command && outcome->completed);
    c->configuration = configuration;
    c->policy = &configuration->policy;
    c->outcome = outcome;
    c->ranks = pim_dram_ranks(organization);
    c->per_rank = pim_dram_banks_per_rank(organization);
    c->per_group = organization->banks;
    c->banks = c->ranks * c->per_rank;
    for (uint32_t i = 0; i < BANKS; i++)
        c->row[i] = -1;
    pim_dram_constraints(&configuration->specification, &c->table);
    c->fenced = c->policy->independent && keeps_waiting(&configuration->specification);
    bool split = configuration->specification.split_command_bus;
    uint64_t interval = configuration->policy.per_bank_refresh
                            ? pim_dram_bank_refresh_interval(&configuration->specification)
                            : configuration->specification.parameter[PIM_DRAM_T_REFI];
    for (size_t next = 0; next < count || c->active.count + c->queue[0].count + c->queue[1].count > 0 ||
                          c->clock < outcome->cycles;
         c->clock++) {
        if (c->clock > 0) {
            ask_for_maintenance(c, interval);
            const size_t issued = outcome->record_count;
            run_slot(c, split ? SLOT_COLUMN : SLOT_ANY);
            if (outcome->record_count == issued && c->half_cycle > 0)
                issue_second_half(c);
            if (split)
                run_slot(c, SLOT_ROW);
        }
        if (next < count && list[next].cycle <= c->clock) {
            outcome->first_command[next] = UINT64_MAX;
            outcome->arrived[next] = c->clock;
            next += accept(c, &list[next], next);
        }
    }
    free(c);
}
