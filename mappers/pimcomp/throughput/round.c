/*
 * The high-throughput schedule: rounds (paper, section VII-A, Algorithm 1).
 *
 * In a round every group of layers works on a sample of its own: group g of round r on sample r - g. Within a
 * group a layer starts when its producers in the group are done, behind a barrier over the cores concerned;
 * all others start with the round. A pass over all layers at work emits one step of each: every replica does
 * one window, every core of a pooling or element layer some pixels. A barrier over the cores of this round
 * and the next ends it.
 *
 * In-order cores: in a pass, the windows of all layers first, then all MVMs, then what follows (Fig. 2c), so
 * that MVMs overlap. Out-of-order cores: windows and MVMs layer by layer (Fig. 2d), then what follows. With
 * synchronous communication the messages of a pass come after the MVMs and sums of all layers (Fig. 3b).
 */
#include "mappers/pimcomp/throughput/elements.h"
#include "mappers/pimcomp/throughput/maps.h"
#include "mappers/pimcomp/throughput/state.h"
#include "mappers/pimcomp/throughput/workers.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROUND_NAME = 64 };

/* --- one pass --- */

static uint32_t sample_of(const struct pim_round_schedule *schedule, uint32_t round, uint32_t layer)
{
    uint32_t group = schedule->chain[layer].group;
    return schedule->options->batch ? round - group : schedule->groups - 1 - group;
}

static void load_job(struct pim_round_job *job, uint32_t sample)
{
    pim_round_job_bias(job);
    if (job->layer->folds.count > 1)
        pim_round_fold_begin(job);
    for (uint32_t i = 0; i < job->workers; i++)
        pim_round_worker_load(&job->worker[i], sample);
}

static void complete_job(struct pim_round_job *job, uint32_t sample)
{
    if (job->layer->folds.count > 1) {
        pim_round_fold_collect(job);
        pim_round_fold_finish(job, sample);
    } else if (pim_round_batch_ends(job)) {
        pim_round_job_collect(job);
        pim_round_job_finish(job, sample);
    }
}

/* The windows of the next step. */
static void load_ahead(struct pim_round_job *job, uint32_t sample)
{
    if (job->step + 1 == job->steps)
        return;
    job->step++;
    load_job(job, sample);
    job->step--;
}

/* What a pass does with a job, bit by bit. */
enum { LOAD_FIRST = 1, LOAD = 2, MULTIPLY = 4, LOAD_AHEAD = 8, ADD = 16, COMPLETE = 32 };

static void pass_jobs(struct pim_round_schedule *schedule, uint32_t round, unsigned stages)
{
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        struct pim_round_layer *layer = &schedule->layer[i];
        if (!layer->active)
            continue;
        uint32_t sample = sample_of(schedule, round, i);
        for (uint32_t j = 0; j < layer->jobs; j++) {
            struct pim_round_job *job = &layer->job[j];
            if (job->step == job->steps)
                continue;
            if (stages & LOAD || (stages & LOAD_FIRST && !job->step))
                load_job(job, sample);
            if (stages & MULTIPLY)
                for (uint32_t k = 0; k < job->workers; k++)
                    pim_round_worker_mvm(&job->worker[k]);
            if (stages & LOAD_AHEAD)
                load_ahead(job, sample);
            if (stages & ADD)
                for (uint32_t k = 0; k < job->workers; k++)
                    pim_round_worker_add(&job->worker[k]);
            if (stages & COMPLETE) {
                complete_job(job, sample);
                job->step++;
            }
        }
    }
}

/* A core works on one layer without matrix in a pass, those first that are in a chain. */
static void pass_tiles(struct pim_round_schedule *schedule, uint32_t round, uint32_t pass)
{
    uint32_t layers = schedule->network->count;
    memset(schedule->marked, 0, schedule->architecture->cores * sizeof *schedule->marked);
    for (uint32_t i = 0; i < 2 * layers; i++) {
        uint32_t index = i < layers ? i : i - layers, sample = sample_of(schedule, round, index);
        struct pim_round_layer *layer = &schedule->layer[index];
        const bool chained = schedule->chain[index].chained;
        if (!layer->active || chained != (i < layers))
            continue;
        for (uint32_t j = 0; j < layer->tiles; j++) {
            uint32_t core = layer->tile[j].core;
            bool *busy = &schedule->marked[core];
            if (!chained && pass < pim_round_begin(core, schedule->architecture->cores, schedule->passes))
                continue;
            uint64_t most = *busy ? 0 : chained ? PIM_ROUND_CHAIN_CHUNK : 1, done = 0, now = 1;
            for (; done < most && now; done += now)
                now = pim_round_vector_chunk(layer, &layer->tile[j], sample);
            *busy = *busy || done;
        }
    }
    memset(schedule->marked, 0, schedule->architecture->cores * sizeof *schedule->marked);
}

static void emit_pass(struct pim_round_schedule *schedule, uint32_t round, uint32_t pass)
{
    if (schedule->architecture->in_order) {
        pass_jobs(schedule, round, LOAD);
        pass_jobs(schedule, round, MULTIPLY);
        pass_jobs(schedule, round, ADD);
        pass_jobs(schedule, round, COMPLETE);
    } else {
        pass_jobs(schedule, round, LOAD_FIRST | MULTIPLY);
        pass_jobs(schedule, round, LOAD_AHEAD);
        if (schedule->architecture->synchronous) {
            pass_jobs(schedule, round, ADD);
            pass_jobs(schedule, round, COMPLETE);
        } else {
            pass_jobs(schedule, round, ADD | COMPLETE);
        }
    }
    pass_tiles(schedule, round, pass);
}

/* --- barriers --- */

void pim_round_mark_cores(const struct pim_round_layer *layer, bool *marked)
{
    for (uint32_t i = 0; i < layer->jobs; i++) {
        for (uint32_t j = 0; j < layer->job[i].workers; j++)
            marked[layer->job[i].worker[j].core] = true;
    }
    for (uint32_t i = 0; i < layer->tiles; i++)
        marked[layer->tile[i].core] = true;
}

/* A barrier over the marked cores, which are unmarked. */
static void barrier(struct pim_round_schedule *schedule)
{
    uint32_t members = 0;
    for (uint32_t core = 0; core < schedule->architecture->cores; core++) {
        if (schedule->marked[core])
            schedule->member[members++] = core;
        schedule->marked[core] = false;
    }
    pim_core_emit_barrier(&schedule->emitter, schedule->member, members);
}

/* --- a round --- */

static bool is_in_round(const struct pim_round_schedule *schedule, uint32_t round, uint32_t layer)
{
    const struct pim_chain_layer *of = &schedule->chain[layer];
    if (!of->scheduled || !schedule->options->batch)
        return of->scheduled;
    return of->group <= round && round - of->group < schedule->options->batch;
}

static void start_layer(struct pim_round_layer *layer)
{
    layer->ready = false;
    for (uint32_t i = 0; i < layer->jobs; i++) {
        layer->job[i].step = 0;
        for (uint32_t j = 0; j < layer->job[i].workers; j++)
            pim_round_input_reset(&layer->job[i].worker[j]);
    }
    for (uint32_t i = 0; i < layer->tiles; i++)
        layer->tile[i].next = layer->tile[i].begin;
}

/* Prepares the layers of a round; those that wait for nothing in their group are active. False: none works.
 * */
static bool start_round(struct pim_round_schedule *schedule, uint32_t round)
{
    bool any = false;
    for (uint32_t i = 0; i < schedule->network->count; i++)
        schedule->layer[i].waits = 0;
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        const struct pim_core_layer *layer = &schedule->network->layer[i];
        for (uint32_t j = 0; j < layer->consumers && schedule->chain[i].scheduled; j++) {
            uint32_t consumer = layer->consumer[j];
            schedule->layer[consumer].waits += schedule->chain[consumer].group == schedule->chain[i].group;
        }
    }
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        struct pim_round_layer *layer = &schedule->layer[i];
        bool works = is_in_round(schedule, round, i);
        layer->active = works && !layer->waits;
        if (works)
            start_layer(layer);
        any = any || works;
    }
    return any;
}

static bool is_complete(const struct pim_round_layer *layer)
{
    for (uint32_t i = 0; i < layer->jobs; i++) {
        if (layer->job[i].step < layer->job[i].steps)
            return false;
    }
    for (uint32_t i = 0; i < layer->tiles; i++) {
        if (layer->tile[i].next < layer->tile[i].end)
            return false;
    }
    return true;
}

/* Ends the layers that have become complete; those of their group that waited for them alone are ready. */
static void end_layers(struct pim_round_schedule *schedule, uint32_t round)
{
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        struct pim_round_layer *layer = &schedule->layer[i];
        if (!layer->active || !is_complete(layer))
            continue;
        layer->active = false;
        pim_round_fold_close(layer, sample_of(schedule, round, i));
        const struct pim_core_layer *of = &schedule->network->layer[i];
        for (uint32_t j = 0; j < of->consumers; j++) {
            struct pim_round_layer *consumer = &schedule->layer[of->consumer[j]];
            bool waits = schedule->chain[of->consumer[j]].group == schedule->chain[i].group;
            consumer->ready = consumer->ready || (waits && --consumer->waits == 0);
        }
    }
}

/* Marks the cores of a layer and of those of its group that it waited for. */
static void mark_behind(struct pim_round_schedule *schedule, uint32_t index)
{
    const struct pim_core_layer *layer = &schedule->network->layer[index];
    pim_round_mark_cores(&schedule->layer[index], schedule->marked);
    for (uint32_t i = 0; i < layer->sources; i++) {
        for (uint32_t j = 0; j < layer->source[i].parts; j++) {
            uint32_t producer = layer->source[i].part[j].layer;
            if (schedule->chain[producer].group == schedule->chain[index].group)
                pim_round_mark_cores(&schedule->layer[producer], schedule->marked);
        }
    }
}

/* After pass `pass`: ready layers whose time has come start, behind a barrier over their cores and those of
 * what they waited for. When nothing else is at work, all do. False: the round is over. */
static bool update_layers(struct pim_round_schedule *schedule, uint32_t round, uint32_t pass)
{
    bool working = false, starts = false, behind = false;
    end_layers(schedule, round);
    for (uint32_t i = 0; i < schedule->network->count; i++)
        working = working || schedule->layer[i].active;
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        struct pim_round_layer *layer = &schedule->layer[i];
        if (!layer->ready || (working && pass + 1 < schedule->chain[i].first_pass))
            continue;
        layer->ready = false;
        layer->active = starts = true;
        if (!pim_round_needs_barrier(schedule, i))
            continue;
        mark_behind(schedule, i);
        behind = true;
    }
    if (behind)
        barrier(schedule);
    return working || starts;
}

static uint32_t emit_round(struct pim_round_schedule *schedule, uint32_t round)
{
    char name[ROUND_NAME];
    const char *part = schedule->options->part;
    snprintf(name, sizeof name, "round %" PRIu32 "%s%s", round, part ? "/rounds of " : "", part ? part : "");
    uint32_t phase = pim_program_phase_begin(&schedule->emitter.program, name);
    bool works = start_round(schedule, round);
    for (uint32_t i = 0; works && schedule->emitter.program.status == PIM_OK; i++) {
        emit_pass(schedule, round, i);
        works = update_layers(schedule, round, i);
    }
    memset(schedule->marked, 0, schedule->architecture->cores * sizeof *schedule->marked);
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        if (is_in_round(schedule, round, i) || is_in_round(schedule, round + 1, i))
            pim_round_mark_cores(&schedule->layer[i], schedule->marked);
    }
    barrier(schedule);
    pim_program_phase_end(&schedule->emitter.program);
    return phase;
}

/* --- groups of layers, and their starts (rules.h; paper, section VII-A) --- */

/* The round does not get longer by them; the first sample is through after as many rounds as there are. */
static enum pim_status group_layers(struct pim_round_schedule *schedule)
{
    const struct pim_core_architecture *a = schedule->architecture;
    const struct pim_core_network *network = schedule->network;
    for (uint32_t i = 0; i < network->count; i++) {
        const struct pim_round_layer *round = &schedule->layer[i];
        const struct pim_chain_form form = pim_chain_form_of(a, round->of, round->part->groups);
        uint64_t work = network->layer[i].kind == PIM_CORE_MATRIX ? 0 : form.sums;
        for (uint32_t j = 0; j < round->jobs; j++) {
            const struct pim_round_job *job = &round->job[j];
            uint64_t cycles = pim_chain_job_cycles(a, &form, job->replicas, job->workers, job->steps);
            work = cycles > work ? cycles : work;
        }
        schedule->chain[i].scheduled = network->layer[i].kind != PIM_CORE_INPUT;
        schedule->chain[i].cycles = schedule->chain[i].scheduled ? pim_chain_cycles(a, &form, work) : 0;
    }
    schedule->groups = pim_chain_groups(network, schedule->options->no_grouping, schedule->chain);
    if (!schedule->groups)
        return pim_fail(schedule->error, PIM_BAD_INPUT, "%s has no layer that cores execute", network->name);
    return PIM_OK;
}

static void time_layers(struct pim_round_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        const struct pim_round_layer *layer = &schedule->layer[i];
        uint64_t passes = layer->tiles ? pim_round_vector_passes(layer) : 0;
        for (uint32_t j = 0; j < layer->jobs; j++)
            passes = layer->job[j].steps > passes ? layer->job[j].steps : passes;
        schedule->chain[i].passes = passes;
    }
    schedule->passes = pim_chain_passes(schedule->network, schedule->chain);
}

/* --- everything --- */

/* Maps that stay on chip take memory that a plan without any has left. */
static enum pim_status keep_maps(struct pim_round_schedule *schedule)
{
    PIM_TRY(pim_round_choose_residents(schedule));
    PIM_TRY(pim_round_place_others(schedule));
    PIM_TRY(pim_round_plan_memory(schedule));
    return pim_round_cut_sources(schedule);
}

static enum pim_status place(struct pim_round_schedule *schedule)
{
    PIM_TRY(pim_round_place_maps(schedule));
    PIM_TRY(pim_round_prepare_moves(schedule));
    PIM_TRY(pim_round_plan_memory(schedule));
    PIM_TRY(pim_round_make_tiles(schedule));
    if (schedule->options->no_keeping)
        return PIM_OK;
    enum pim_status status = keep_maps(schedule);
    if (status == PIM_NO_MEMORY || (status == PIM_OK && pim_round_tiles_fit(schedule)))
        return status;
    schedule->error->status = PIM_OK; /* buffers became larger: then no map stays */
    pim_round_forget_residents(schedule);
    PIM_TRY(pim_round_place_maps(schedule));
    PIM_TRY(pim_round_plan_memory(schedule));
    return pim_round_cut_sources(schedule);
}

static enum pim_status prepare(struct pim_round_schedule *schedule, struct pim_trace_writer *writer)
{
    uint32_t cores = schedule->architecture->cores;
    schedule->chain = PIM_ARENA_ARRAY(schedule->arena, struct pim_chain_layer, schedule->network->count);
    schedule->layer = PIM_ARENA_ARRAY(schedule->arena, struct pim_round_layer, schedule->network->count);
    schedule->core = PIM_ARENA_ARRAY(schedule->arena, struct pim_round_core, cores);
    schedule->member = PIM_ARENA_ARRAY(schedule->arena, uint32_t, cores);
    schedule->marked = PIM_ARENA_ARRAY(schedule->arena, bool, cores);
    PIM_NEED_MEMORY(
        schedule->chain && schedule->layer && schedule->core && schedule->member && schedule->marked,
        schedule->error, "no memory for the schedule of %" PRIu32 " layers", schedule->network->count);
    for (uint32_t i = 0; i < schedule->network->count; i++)
        schedule->layer[i] = (struct pim_round_layer){.schedule = schedule,
                                                      .index = i,
                                                      .of = &schedule->network->layer[i],
                                                      .part = &schedule->mapping->partition->layer[i]};
    PIM_TRY(pim_round_make_jobs(schedule));
    PIM_TRY(group_layers(schedule));
    PIM_TRY(place(schedule));
    time_layers(schedule);
    memset(schedule->marked, 0, cores * sizeof *schedule->marked);
    return pim_core_schedule_begin(schedule->options, &schedule->emitter, schedule->mapping, writer,
                                   schedule->arena, schedule->error);
}

/* A single round reads what rounds before it would have left on chip: a phase of its own puts zeros there. */
static void fill(struct pim_round_schedule *schedule)
{
    if (!pim_round_needs_fill(schedule))
        return;
    pim_program_phase_begin(&schedule->emitter.program, "before the round");
    pim_round_fill(schedule);
    pim_program_phase_end(&schedule->emitter.program);
}

static enum pim_status report(struct pim_round_schedule *schedule, struct pim_core_schedule_report *result,
                              uint32_t first_phase, uint32_t rounds)
{
    *result = (struct pim_core_schedule_report){
        .groups = schedule->groups,
        .rounds = rounds,
        .resident = PIM_ARENA_ARRAY(schedule->arena, bool, schedule->network->count),
        .first_phase = first_phase,
        .phases = rounds};
    PIM_TRY(pim_core_schedule_report(&schedule->emitter, schedule->arena, result, schedule->error));
    PIM_NEED_MEMORY(result->resident, schedule->error, "no memory for the report of the schedule");
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        result->group[i] = schedule->chain[i].group;
        result->resident[i] = pim_round_is_resident(schedule, i);
    }
    return PIM_OK;
}

enum pim_status pim_core_schedule_high_throughput(const struct pim_core_mapping *mapping,
                                                  struct pim_trace_writer *writer,
                                                  const struct pim_core_schedule_options *options,
                                                  struct pim_arena *arena, struct pim_core_memory_map *map,
                                                  struct pim_error *error)
{
    struct pim_round_schedule schedule = {.mapping = mapping,
                                          .architecture = mapping->architecture,
                                          .network = mapping->network,
                                          .options = options,
                                          .arena = arena,
                                          .map = map,
                                          .error = error};
    PIM_TRY(prepare(&schedule, writer));
    if (options->batch > UINT32_MAX - schedule.groups)
        return pim_fail(error, PIM_BAD_INPUT, "a batch of %" PRIu32 " samples is too large", options->batch);
    if (!options->batch)
        fill(&schedule);
    uint32_t rounds = options->batch ? options->batch + schedule.groups - 1 : 1, first_phase = 0;
    for (uint32_t round = 0; round < rounds && schedule.emitter.program.status == PIM_OK; round++) {
        uint32_t phase = emit_round(&schedule, round);
        first_phase = round ? first_phase : phase;
    }
    if (schedule.emitter.program.status != PIM_OK)
        return schedule.emitter.program.status;
    return options->report ? report(&schedule, options->report, first_phase, rounds) : PIM_OK;
}
