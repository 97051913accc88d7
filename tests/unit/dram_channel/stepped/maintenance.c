/* Refreshes of the stepped controller, rows that its page policy closes, and what they keep away. */
#include "tests/unit/dram_channel/stepped/internal.h"

#include <string.h>

static void finish_job(struct controller *c, size_t index)
{
    memmove(&c->jobs[index], &c->jobs[index + 1], (c->job_count - 1 - index) * sizeof c->jobs[0]);
    c->job_count--;
}

static bool in_job(const struct controller *c, const struct job *job, uint32_t bank)
{
    if (job->kind == JOB_REFRESH)
        return job->rank == bank / c->per_rank;
    return job->kind == JOB_REFRESH_SAME ? stepped_same_number(c, job->bank, bank) : job->bank == bank;
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
            (c->row[i] >= 0 || stepped_has_active(c, i, i + 1) || !stepped_ready_in(c, last, refresh, i)))
            return false;
    return true;
}

bool stepped_keeps_waiting(const struct pim_dram_specification *specification)
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

bool stepped_kept_away(const struct controller *c, uint32_t bank)
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
        if (stepped_has_active(c, i, i + 1))
            return PIM_DRAM_COMMANDS;
        open |= c->row[i] >= 0;
        all_ready &= job->kind == JOB_CLOSE || stepped_ready(c, commands[job->kind], i);
    }
    if (!open)
        return all_ready ? commands[job->kind] : PIM_DRAM_COMMANDS;
    if (job->kind == JOB_REFRESH)
        return stepped_ready(c, PIM_DRAM_PREA, *bank) ? PIM_DRAM_PREA : PIM_DRAM_COMMANDS;
    for (*bank = 0; *bank < c->banks; ++*bank)
        if (in_job(c, job, *bank) && c->row[*bank] >= 0 && stepped_ready(c, PIM_DRAM_PRE, *bank))
            return PIM_DRAM_PRE;
    return PIM_DRAM_COMMANDS;
}

bool stepped_serve_job(struct controller *c, enum slot slot, size_t index)
{
    const struct job job = c->jobs[index];
    uint32_t bank;
    const enum pim_dram_command command =
        slot == SLOT_COLUMN ? PIM_DRAM_COMMANDS : next_of_job(c, &job, &bank);
    if (command == PIM_DRAM_COMMANDS)
        return false;
    stepped_issue(c, command, bank, UINT32_MAX, UINT32_MAX);
    const bool open = command == PIM_DRAM_PREA || command == PIM_DRAM_PRE;
    for (uint32_t i = 0; open && i < c->banks; i++)
        if (command == PIM_DRAM_PREA ? in_job(c, &job, i) : i == bank)
            stepped_close_row(c, i);
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

void stepped_ask_for_maintenance(struct controller *c, uint64_t interval)
{
    for (uint32_t rank = 0; rank < c->ranks; rank++) {
        uint32_t first = rank * c->per_rank;
        bool wanted = stepped_has_active(c, first, first + c->per_rank);
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
            stepped_has_active(c, bank, bank + 1) || !stepped_ready(c, PIM_DRAM_PRE, bank))
            continue;
        if (c->forced_line && c->forced_line->item[c->forced].place.bank == bank)
            continue; /* the command behind a CAS comes first */
        c->closing[bank] = true;
        c->jobs[c->job_count++] = (struct job){JOB_CLOSE, 0, bank};
    }
}
