/* From command to command (rules 1 to 5 of sequencer.h). */
#include "models/bitserial/sequencer_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

uint32_t pim_bitserial_bank_in_turn(const struct pim_dram_organization *organization, uint32_t index)
{
    uint32_t per_rank = pim_dram_banks_per_rank(organization);
    uint32_t rank = index / per_rank, inside = index % per_rank;
    uint32_t group = inside % organization->bank_groups, bank = inside / organization->bank_groups;
    return rank * per_rank + group * organization->banks + bank;
}

/* The table's rows about `command`, one entry for each command that it counts from and that is issued here.
 */
static void collect(struct sequencer *s, const struct pim_dram_constraint_table *table,
                    enum pim_dram_command command)
{
    const uint32_t issued = 1U << PIM_DRAM_ACT | 1U << PIM_DRAM_PRE | 1U << PIM_DRAM_RD | 1U << PIM_DRAM_WR |
                            1U << PIM_DRAM_REF | 1U << PIM_DRAM_ACT2;
    struct limits *limits = &s->limits[command];
    for (size_t i = 0; i < table->count; i++) {
        const struct pim_dram_constraint *row = &table->row[i];
        if (!(row->next >> command & 1))
            continue;
        if (row->window > 1) {
            assert(row->window == KEPT_ACTIVATES && row->scope == PIM_DRAM_SCOPE_RANK);
            limits->four_activates = row->cycles;
        }
        if (s->horizon < row->cycles)
            s->horizon = row->cycles;
        for (unsigned previous = 0; row->window == 1 && previous < PIM_DRAM_COMMANDS; previous++)
            if ((row->previous & issued) >> previous & 1) {
                assert(limits->count < RULES_MAX);
                limits->list[limits->count++] =
                    (struct distance){row->scope, (enum pim_dram_command)previous, row->cycles};
            }
    }
}

/* The first cycle in which the distances allow `command` at a place. */
static int64_t allowed(const struct sequencer *s, enum pim_dram_command command, const struct place *place)
{
    const struct limits *limits = &s->limits[command];
    const uint32_t node[] = {[PIM_DRAM_SCOPE_BANK] = place->bank,
                             [PIM_DRAM_SCOPE_GROUP] = s->first_node[PIM_DRAM_SCOPE_GROUP] + place->group,
                             [PIM_DRAM_SCOPE_RANK] = s->first_node[PIM_DRAM_SCOPE_RANK] + place->rank,
                             [PIM_DRAM_SCOPE_PSEUDO_CHANNEL] =
                                 s->first_node[PIM_DRAM_SCOPE_PSEUDO_CHANNEL] + place->pseudo,
                             [PIM_DRAM_SCOPE_CHANNEL] = s->first_node[PIM_DRAM_SCOPE_CHANNEL]};
    int64_t cycle = 0;
    for (uint32_t i = 0; i < limits->count; i++) {
        const struct distance *d = &limits->list[i];
        if (d->scope != PIM_DRAM_SCOPE_OTHER_RANK) {
            cycle = later(cycle, s->last[node[d->scope]][d->previous] + d->cycles);
            continue;
        }
        uint32_t ranks = s->schedule->specification->organization.ranks;
        for (uint32_t rank = place->pseudo * ranks; rank < (place->pseudo + 1) * ranks; rank++)
            if (rank != place->rank)
                cycle =
                    later(cycle, s->last[s->first_node[PIM_DRAM_SCOPE_RANK] + rank][d->previous] + d->cycles);
    }
    if (limits->four_activates > 0)
        cycle = later(cycle, s->activates[place->rank][KEPT_ACTIVATES - 1] + limits->four_activates);
    bool column = pim_dram_is_column(command) && s->schedule->specification->split_command_bus;
    return later(cycle, column ? s->column_bus : s->row_bus);
}

/* The next command of a worker that is not finished. */
static enum pim_dram_command next_command(const struct worker *worker)
{
    const struct pim_bitserial_step *step = &worker->runs[worker->run].step;
    if (worker->phase == 0)
        return PIM_DRAM_ACT;
    if (step->kind == PIM_BITSERIAL_STEP_AAP)
        return worker->phase == 1 ? PIM_DRAM_ACT2 : PIM_DRAM_PRE;
    if (worker->phase > step->accesses)
        return PIM_DRAM_PRE;
    return step->kind == PIM_BITSERIAL_STEP_READ ? PIM_DRAM_RD : PIM_DRAM_WR;
}

/* The step that a worker is at, as the program has it. */
static const struct pim_bitserial_step *present_step(const struct worker *worker)
{
    const struct run *run = &worker->runs[worker->run];
    return &worker->program->steps[run->first + worker->done % run->count];
}

/* A WRITE takes its slot; a WRITE_BIT takes all slots of the program. */
static int64_t data_ready(const struct sequencer *s, const struct worker *worker)
{
    const struct pim_bitserial_step *step = present_step(worker);
    bool all = step->kind == PIM_BITSERIAL_STEP_WRITE_BIT;
    uint32_t first = worker->first_slot + (all ? 0 : step->second);
    uint32_t count = all ? worker->program->slots : 1;
    int64_t ready = 0;
    for (uint32_t i = first; i < first + count; i++)
        ready = later(ready, s->slot_ready[i]);
    return ready;
}

/* A command that could issue. */
struct choice {
    int64_t cycle;
    uint32_t order; /* rule 3: smaller goes first */
    uint64_t steps;
    struct worker *worker; /* NULL: REF */
    enum pim_dram_command command;
    uint32_t rank;
};

static bool better(const struct choice *a, const struct choice *b)
{
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle;
    if (a->order != b->order)
        return a->order < b->order;
    return a->steps < b->steps;
}

static struct choice of_worker(const struct sequencer *s, struct worker *worker)
{
    enum pim_dram_command command = next_command(worker);
    struct choice choice = {.cycle = allowed(s, command, &worker->place),
                            .order = pim_dram_is_column(command) ? 1
                                     : command == PIM_DRAM_ACT2  ? 2
                                     : command == PIM_DRAM_PRE   ? 3
                                                                 : 4,
                            .steps = worker->steps,
                            .worker = worker,
                            .command = command};
    if (command == PIM_DRAM_WR) {
        int64_t ready = data_ready(s, worker);
        choice.cycle =
            ready == FAR_AWAY ? FAR_AWAY : later(choice.cycle, ready - s->parameter[PIM_DRAM_T_CWL]);
    }
    if (command == PIM_DRAM_ACT && choice.cycle >= s->due[worker->place.rank])
        choice.cycle = FAR_AWAY; /* rule 4: REF first */
    return choice;
}

/* Chooses the command that comes next; false: nothing can ever issue. */
static bool choose(const struct sequencer *s, struct choice *best)
{
    *best = (struct choice){.cycle = FAR_AWAY, .order = UINT32_MAX};
    for (uint32_t i = 0; i < s->worker_count; i++) {
        if (is_finished(&s->workers[i]))
            continue;
        struct choice choice = of_worker(s, &s->workers[i]);
        if (better(&choice, best))
            *best = choice;
    }
    for (uint32_t rank = 0; s->schedule->refresh && rank < s->ranks; rank++) {
        if (s->open[rank] > 0)
            continue;
        const struct place place = {.bank = rank * s->banks_per_rank,
                                    .group = rank * s->schedule->specification->organization.bank_groups,
                                    .rank = rank,
                                    .pseudo = rank / s->schedule->specification->organization.ranks};
        struct choice choice = {.cycle = later(s->due[rank], allowed(s, PIM_DRAM_REF, &place)),
                                .command = PIM_DRAM_REF,
                                .rank = rank};
        if (better(&choice, best))
            *best = choice;
    }
    return best->cycle < FAR_AWAY;
}

static void log_command(const struct sequencer *s, const struct choice *choice)
{
    const struct worker *worker = choice->worker;
    struct pim_dram_record record = {
        .cycle = (uint64_t)choice->cycle,
        .channel = s->schedule->channel,
        .command = (uint8_t)choice->command,
        .bank = (uint8_t)(worker ? worker->place.bank : choice->rank * s->banks_per_rank),
        .row = UINT32_MAX,
        .column = UINT32_MAX};
    if (worker) {
        const struct pim_bitserial_step *step = present_step(worker);
        uint32_t row = choice->command == PIM_DRAM_ACT2 ||
                               (choice->command == PIM_DRAM_PRE && step->kind == PIM_BITSERIAL_STEP_AAP)
                           ? step->second
                           : step->row;
        record.row = pim_bitserial_row_address(row, s->schedule->specification->organization.rows);
        if (pim_dram_is_column(choice->command))
            record.column = step->first_access + (worker->phase - 1) * step->access_step;
    }
    s->schedule->log(s->schedule->context, &record);
}

static void remember(struct sequencer *s, const struct choice *choice, const struct place *place)
{
    enum pim_dram_command command = choice->command;
    int64_t cycle = choice->cycle;
    if (command != PIM_DRAM_REF) {
        s->last[place->bank][command] = cycle;
        s->last[s->first_node[PIM_DRAM_SCOPE_GROUP] + place->group][command] = cycle;
    }
    s->last[s->first_node[PIM_DRAM_SCOPE_RANK] + place->rank][command] = cycle;
    s->last[s->first_node[PIM_DRAM_SCOPE_PSEUDO_CHANNEL] + place->pseudo][command] = cycle;
    s->last[s->first_node[PIM_DRAM_SCOPE_CHANNEL]][command] = cycle;
    if (command == PIM_DRAM_ACT || command == PIM_DRAM_ACT2) {
        int64_t *kept = s->activates[place->rank];
        memmove(&kept[1], &kept[0], (KEPT_ACTIVATES - 1) * sizeof kept[0]);
        kept[0] = cycle;
    }
    if (pim_dram_is_column(command) && s->schedule->specification->split_command_bus)
        s->column_bus = cycle + 1;
    else
        s->row_bus = cycle + 1;
    s->now = cycle;
    s->timing.commands[command]++;
    s->timing.issued++;
}

/* The step is over: the bank is closed. */
static void finish_step(struct sequencer *s, struct worker *worker)
{
    worker->phase = 0;
    worker->steps++;
    s->timing.steps++;
    s->open[worker->place.rank]--;
    worker->closed = s->now;
    if (++worker->done < run_length(worker))
        return;
    worker->done = 0;
    if (++worker->run < worker->run_count)
        return;
    if (worker->left > 0) {
        worker->left--;
        worker->run = 0;
    } else {
        s->working--;
    }
}

static void advance(struct sequencer *s, struct worker *worker, enum pim_dram_command command)
{
    const struct pim_bitserial_step *step = present_step(worker);
    const uint32_t *p = s->parameter;
    int64_t end = 0;
    if (worker->phase == 0) {
        s->open[worker->place.rank]++;
        if (step->kind == PIM_BITSERIAL_STEP_READ) /* what the slot held is gone */
            s->slot_ready[worker->first_slot + step->second] = FAR_AWAY;
    }
    if (command == PIM_DRAM_RD) {
        end = s->now + p[PIM_DRAM_T_CL] + p[PIM_DRAM_T_B];
        if (worker->phase == step->accesses)
            s->slot_ready[worker->first_slot + step->second] = end;
    } else if (command == PIM_DRAM_WR) {
        end = s->now + p[PIM_DRAM_T_CWL] + p[PIM_DRAM_T_B];
    }
    if ((uint64_t)end > s->timing.last_data)
        s->timing.last_data = (uint64_t)end;
    worker->phase++;
    if (command == PIM_DRAM_PRE)
        finish_step(s, worker);
}

static void issue(struct sequencer *s, const struct choice *choice)
{
    if (s->schedule->log)
        log_command(s, choice);
    if (!choice->worker) {
        const struct place place = {.rank = choice->rank,
                                    .pseudo = choice->rank / s->schedule->specification->organization.ranks};
        remember(s, choice, &place);
        s->due[choice->rank] += s->parameter[PIM_DRAM_T_REFI];
        s->refreshed = true;
        return;
    }
    remember(s, choice, &choice->worker->place);
    advance(s, choice->worker, choice->command);
}

static bool same_cost(const struct pim_bitserial_step *a, const struct pim_bitserial_step *b)
{
    return a->kind == PIM_BITSERIAL_STEP_AAP && b->kind == PIM_BITSERIAL_STEP_AAP;
}

/* The runs of a program; NULL: memory is out. */
static struct run *find_runs(const struct pim_bitserial_program *program, size_t *run_count)
{
    struct run *runs = calloc(program->count + 1, sizeof *runs);
    *run_count = 0;
    for (size_t i = 0; runs && i < program->count; i++) {
        if (*run_count > 0 && same_cost(&runs[*run_count - 1].step, &program->steps[i]))
            runs[*run_count - 1].count++;
        else
            runs[(*run_count)++] = (struct run){program->steps[i], i, 1};
    }
    return runs;
}

/* Workers of one program share its runs, which the first of them owns. */
static bool start_worker(struct sequencer *s, uint32_t index)
{
    const struct pim_dram_organization *o = &s->schedule->specification->organization;
    const struct pim_bitserial_work *work = &s->schedule->work[index];
    struct worker *worker = &s->workers[index];
    uint32_t group = work->bank / o->banks, rank = group / o->bank_groups;
    worker->program = work->program;
    worker->first_slot = work->first_slot;
    worker->place = (struct place){work->bank, group, rank, rank / o->ranks};
    for (uint32_t i = 0; i < index && !worker->runs; i++)
        if (s->workers[i].program == work->program) {
            worker->runs = s->workers[i].runs;
            worker->run_count = s->workers[i].run_count;
        }
    if (!worker->runs) {
        worker->owner = true;
        worker->runs = find_runs(work->program, &worker->run_count);
    }
    if (!worker->runs)
        return false;
    /* A program that is one run is repeated inside the run. */
    worker->factor = worker->run_count == 1 ? work->repeat : 1;
    worker->left = worker->run_count == 1 || work->repeat == 0 ? 0 : work->repeat - 1;
    if (work->repeat == 0)
        worker->run = worker->run_count;
    s->working += !is_finished(worker);
    return true;
}

static void terminate(struct sequencer *s)
{
    for (uint32_t i = 0; s->workers && i < s->worker_count; i++)
        if (s->workers[i].owner)
            free(s->workers[i].runs);
    pim_bitserial_shortcut_destroy(s);
    free(s->workers);
    free(s->last);
    free(s->activates);
    free(s->slot_ready);
    free(s->due);
    free(s->open);
}

static void find_nodes(struct sequencer *s)
{
    const struct pim_dram_organization *o = &s->schedule->specification->organization;
    s->ranks = pim_dram_ranks(o);
    s->banks_per_rank = pim_dram_banks_per_rank(o);
    s->first_node[PIM_DRAM_SCOPE_GROUP] = s->ranks * s->banks_per_rank;
    s->first_node[PIM_DRAM_SCOPE_RANK] = s->first_node[PIM_DRAM_SCOPE_GROUP] + s->ranks * o->bank_groups;
    s->first_node[PIM_DRAM_SCOPE_PSEUDO_CHANNEL] = s->first_node[PIM_DRAM_SCOPE_RANK] + s->ranks;
    s->first_node[PIM_DRAM_SCOPE_CHANNEL] = s->first_node[PIM_DRAM_SCOPE_PSEUDO_CHANNEL] + o->pseudo_channels;
    s->nodes = s->first_node[PIM_DRAM_SCOPE_CHANNEL] + 1;
}

static bool allocate(struct sequencer *s)
{
    s->workers = calloc(s->worker_count, sizeof *s->workers);
    s->last = calloc(s->nodes, sizeof *s->last);
    s->activates = calloc(s->ranks, sizeof *s->activates);
    s->slot_ready = calloc((size_t)s->schedule->slots + 1, sizeof *s->slot_ready);
    s->due = calloc(s->ranks, sizeof *s->due);
    s->open = calloc(s->ranks, sizeof *s->open);
    return s->workers && s->last && s->activates && s->slot_ready && s->due && s->open;
}

static enum pim_status start(struct sequencer *s, struct pim_error *error)
{
    const struct pim_bitserial_schedule *schedule = s->schedule;
    struct pim_dram_constraint_table table;
    pim_dram_constraints(schedule->specification, &table);
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        collect(s, &table, (enum pim_dram_command)i);
    find_nodes(s);
    if (!allocate(s))
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a channel of %u banks", s->worker_count);
    for (uint32_t i = 0; i < s->nodes; i++)
        for (unsigned j = 0; j < PIM_DRAM_COMMANDS; j++)
            s->last[i][j] = LONG_AGO;
    for (uint32_t i = 0; i < s->ranks; i++) {
        for (unsigned j = 0; j < KEPT_ACTIVATES; j++)
            s->activates[i][j] = LONG_AGO;
        s->due[i] = schedule->refresh ? s->parameter[PIM_DRAM_T_REFI] : FAR_AWAY;
    }
    for (uint32_t i = 0; i < schedule->slots; i++)
        s->slot_ready[i] = !schedule->slot_ready || schedule->slot_ready[i] == UINT64_MAX
                               ? FAR_AWAY
                               : (int64_t)schedule->slot_ready[i];
    for (uint32_t i = 0; i < s->worker_count; i++)
        if (!start_worker(s, i))
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for a microprogram");
    return schedule->log || schedule->stepped ? PIM_OK : pim_bitserial_shortcut_create(s, error);
}

static enum pim_status run(struct sequencer *s, struct pim_error *error)
{
    while (s->working > 0) {
        struct choice choice;
        bool found = choose(s, &choice);
        assert(found && "a WRITE waits for a slot that no READ brings");
        if (!found || choice.cycle > CYCLES_MAX)
            return pim_fail(error, PIM_BAD_INPUT, "the operation takes more than 2^62 cycles");
        issue(s, &choice);
        if (s->shortcut && choice.worker == &s->workers[0] && choice.command == PIM_DRAM_ACT)
            pim_bitserial_shortcut_try(s);
    }
    return PIM_OK;
}

/* Rule 5, and what the caller wants to know of the slots. */
static void finish(struct sequencer *s, struct pim_bitserial_timing *timing)
{
    const uint32_t *p = s->parameter;
    int64_t recovery = (int64_t)p[PIM_DRAM_T_RP] - (p[PIM_DRAM_T_ACT_CYCLES] - 1);
    int64_t end = 0;
    for (uint32_t i = 0; i < s->worker_count; i++)
        if (s->workers[i].steps > 0)
            end = later(end, s->workers[i].closed + later(recovery, 1));
    s->timing.cycles = (uint64_t)end;
    *timing = s->timing;
    for (uint32_t i = 0; s->schedule->slot_ready && i < s->schedule->slots; i++)
        s->schedule->slot_ready[i] = s->slot_ready[i] == FAR_AWAY ? UINT64_MAX : (uint64_t)s->slot_ready[i];
}

enum pim_status pim_bitserial_sequence(const struct pim_bitserial_schedule *schedule,
                                       struct pim_bitserial_timing *timing, struct pim_error *error)
{
    *timing = (struct pim_bitserial_timing){0};
    struct sequencer *s = calloc(1, sizeof *s);
    if (!s)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a channel");
    s->schedule = schedule;
    s->parameter = schedule->specification->parameter;
    s->worker_count = schedule->work_count;
    enum pim_status status = start(s, error);
    if (status == PIM_OK)
        status = run(s, error);
    if (status == PIM_OK)
        finish(s, timing);
    terminate(s);
    free(s);
    return status;
}
