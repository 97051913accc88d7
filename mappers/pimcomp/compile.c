/* Partition, and a layout: by a rule, of a file, of a baseline, or searched, timed and refined. */
#include "mappers/pimcomp/compile.h"

#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/layout/plan_file.h"
#include "mappers/pimcomp/partition/partition.h"
#include "mappers/pimcomp/refine.h"
#include "mappers/pimcomp/segmented.h"
#include "mappers/search/workers.h"
#include "sim/try.h"

/* Budget of the refinement, by preset: instructions that are timed or, where programs are large, so many of
 * them; a low-latency program takes several times as long. */
static const uint64_t preset_instructions[] = {24000000, 2000000, 160000000};
static const uint32_t preset_timed[][3] = {
    [PIM_CORE_HIGH_THROUGHPUT] = {512, 32, 1536}, [PIM_CORE_LOW_LATENCY] = {96, 8, 288}};

/* How often the searches of "fast" are run before those of larger presets. */
static const uint32_t preset_restarts[][3] = {
    [PIM_CORE_HIGH_THROUGHPUT] = {2, 0, 8}, [PIM_CORE_LOW_LATENCY] = {4, 0, 24}};

const struct pim_core_layout_method pim_core_layout_methods[] = {
    {"genetic", NULL}, {"balance", pim_core_layout_balance}, {"first", pim_core_layout_first}};

/* Seconds since *begin, which is now then. */
double pim_core_seconds_since(double *begin)
{
    double before = *begin;
    *begin = pim_search_seconds();
    return *begin - before;
}

/* Told of progress. */
static void tell(void *context, const char *what, uint64_t done, uint64_t total)
{
    const struct pim_core_compilation *made = context;
    made->choices.search.progress(made->choices.search.context, what, done, total);
}

/* A stop that comes when the time is over is none: that it was the time is told. */
static bool is_stopped(void *context)
{
    struct pim_core_compilation *made = context;
    return pim_search_limit_over(&made->limit) && pim_search_limit_end(&made->limit) == PIM_SEARCH_STOPPED;
}

/* What is left of --time-limit; 0: there is none. */
static double remaining(const struct pim_core_compilation *made)
{
    return pim_search_left((double)made->choices.search.seconds, made->limit.begin);
}

/* The unfolding that was asked for. */
static enum pim_unfolding unfolding_of(const struct pim_core_choices *choices)
{
    return choices->unfolding ? (enum pim_unfolding)(choices->unfolding - 1) : PIM_UNFOLDINGS;
}

/* What a user asked of a search, within the time that is left. */
static struct pim_core_search_options search_options(struct pim_core_compilation *made)
{
    const struct pim_core_choices *choices = &made->choices;
    struct pim_core_search_options options = pim_core_search_preset(choices->preset);
    options.seed = choices->search.seed;
    options.threads = (unsigned)choices->search.threads;
    options.seconds = remaining(made);
    options.progress = choices->search.progress ? tell : NULL;
    options.stop = is_stopped;
    options.context = made;
    if (choices->search.steps)
        options.generations = (uint32_t)choices->search.steps;
    return options;
}

static enum pim_status search(struct pim_core_compilation *made, struct pim_error *error)
{
    const struct pim_core_choices *choices = &made->choices;
    struct pim_core_plan *plan = &made->plan;
    struct pim_core_layout start[PIM_CORE_GIVEN_MOST];
    uint32_t starts = 0;
    if (choices->starts && pim_core_layouts_read(choices->starts, &plan->mapping, PIM_CORE_GIVEN_MOST,
                                                 &made->arena, start, &starts, error) != PIM_OK)
        return error->status;
    struct pim_core_search_options options = search_options(made);
    options.runners_up = choices->profile ? (uint32_t)choices->profile - 1 : 0;
    options.starts = starts;
    options.start = start;
    plan->searched = true;
    PIM_TRY(pim_core_searches_run(&plan->mapping, &options,
                                  preset_restarts[plan->mapping.mode][choices->preset], &made->arena,
                                  &made->searches, error));
    plan->layout = made->searches.found[pim_core_searches_best(&made->searches)].layout;
    plan->search = pim_core_searches_sum(&made->searches);
    return PIM_OK;
}

/* What the searches from number `first` on found; *best: where the best of all is, if it is among them. */
static void add_found(const struct pim_core_profile_options *options,
                      const struct pim_core_searches *searches, uint32_t first, uint32_t end,
                      struct pim_core_profile *profile, uint32_t *best)
{
    for (uint32_t s = first; s < end; s++) {
        const struct pim_core_search_result *result = &searches->found[s].result;
        if (s == pim_core_searches_best(searches))
            *best = profile->count;
        pim_core_profile_add(options, profile, "genetic", true, &searches->found[s].layout);
        for (uint32_t i = 0; i < result->runners_up; i++)
            pim_core_profile_add(options, profile, "genetic", true, &result->runner_up[i]);
    }
}

/* Whether a candidate before number `end` has as many replicas of each layer as that one. */
static bool is_seen(const struct pim_core_mapping *mapping, const struct pim_core_profile *profile,
                    uint32_t end)
{
    uint32_t i = 0;
    while (i < end && !pim_core_layouts_replicate_equally(mapping, &profile->candidate[i].layout,
                                                          &profile->candidate[end].layout))
        i++;
    return i < end;
}

/* Whether a candidate has this very layout. */
static bool is_known(const struct pim_core_mapping *mapping, const struct pim_core_profile *profile,
                     const struct pim_core_layout *layout)
{
    for (uint32_t i = 0; i < profile->count; i++)
        if (pim_core_layouts_equal(mapping, &profile->candidate[i].layout, layout))
            return true;
    return false;
}

/* The replicas of every candidate apart, in each order of layers. */
static enum pim_status add_spread(const struct pim_core_profile_options *options,
                                  struct pim_core_profile *profile, struct pim_arena *arena,
                                  struct pim_error *error)
{
    const uint32_t candidates = profile->count;
    for (uint32_t i = 0; i < candidates && !pim_core_profile_ends(options); i++)
        for (unsigned by = 0; by < PIM_CORE_SPREADS && !is_seen(options->mapping, profile, i); by++) {
            struct pim_core_layout layout;
            bool placed;
            PIM_TRY(pim_core_layout_spread(options->mapping, &profile->candidate[i].layout,
                                           (enum pim_core_spread)by, arena, &layout, &placed, error));
            if (placed && !is_known(options->mapping, profile, &layout))
                pim_core_profile_add(options, profile, "spread", true, &layout);
        }
    return PIM_OK;
}

/* As much of the budget of the refinement as --budget leaves of the generations. */
static uint64_t part_of_budget(const struct pim_core_choices *choices, uint64_t budget)
{
    const uint32_t generations = pim_core_search_preset(choices->preset).generations;
    if (choices->search.steps == 0 || choices->search.steps >= generations)
        return budget;
    return budget * choices->search.steps / generations;
}

/* Does what times layouts, on the threads that were asked for. */
static enum pim_status with_workers(struct pim_core_compilation *made,
                                    enum pim_status (*task)(struct pim_core_compilation *made,
                                                            struct pim_workers *workers,
                                                            struct pim_error *error),
                                    struct pim_error *error)
{
    struct pim_workers *workers;
    PIM_TRY(pim_workers_create(&workers, (unsigned)made->choices.search.threads, error));
    enum pim_status status = task(made, workers, error);
    pim_workers_destroy(workers);
    return status;
}

_Static_assert(PIM_CORE_CANDIDATES_MOST >= 2 * (1 + PIM_CORE_SPREADS) *
                                                   (PIM_CORE_SEARCHES_MOST + 2 * PIM_RUNNERS_UP_MOST +
                                                    PIM_CORE_RULES + PIM_CORE_EVENS + PIM_CORE_GIVEN_MOST) +
                                               PIM_REFINE_CHAINS,
               "room for all candidates");

/* Takes the fastest of what the searches found, the layouts without a search, and what refining the best of
 * them finds. */
static enum pim_status profile(struct pim_core_compilation *made, struct pim_workers *workers,
                               struct pim_error *error)
{
    const struct pim_core_choices *choices = &made->choices;
    struct pim_core_plan *plan = &made->plan;
    struct pim_core_profile *profile = &plan->profile;
    const struct pim_core_searches *searches = &made->searches;
    plan->ranking.most = (uint32_t)choices->rank;
    plan->ranking.arena = &made->arena;
    const struct pim_core_profile_options options = {.timed = choices->rank ? pim_core_ranking_see : NULL,
                                                     .observer = &plan->ranking,
                                                     .simulate = made->inputs->simulate,
                                                     .simulator = made->inputs->simulator,
                                                     .mapping = &plan->mapping,
                                                     .schedule = made->schedule,
                                                     .workers = workers,
                                                     .progress = choices->search.progress ? tell : NULL,
                                                     .context = made,
                                                     .limit = &made->limit};
    uint32_t best = 0;
    add_found(&options, searches, 0, searches->brief, profile, &best);
    for (uint32_t i = 0; i < searches->rules; i++)
        pim_core_profile_add(&options, profile, searches->rule_name[i], false, &searches->start[i]);
    const uint32_t given = searches->rules + searches->evens;
    for (uint32_t i = searches->rules; i < given; i++)
        pim_core_profile_add(&options, profile, "even", true, &searches->start[i]);
    for (uint32_t i = given; i < searches->starts; i++)
        pim_core_profile_add(&options, profile, "start", false, &searches->start[i]);
    add_found(&options, searches, searches->brief, searches->count, profile, &best);
    PIM_TRY(add_spread(&options, profile, &made->arena, error));
    PIM_TRY(pim_core_profile_time(&options, profile, 0, best, error));
    const struct pim_refine_options refine = {
        .instructions = part_of_budget(choices, preset_instructions[choices->preset]),
        .timed = (uint32_t)part_of_budget(choices, preset_timed[plan->mapping.mode][choices->preset]),
        .seed = choices->search.seed,
        .max_layers_in_core = pim_core_search_preset(choices->preset).max_layers_in_core};
    PIM_TRY(pim_core_refine(&options, &refine, &made->arena, profile, error));
    PIM_TRY(pim_core_profile_run(&options, (uint32_t)choices->profile, profile, error));
    if (profile->cut_short && !pim_search_end_cause(plan->search.end))
        plan->search.end = pim_search_limit_end(&made->limit);
    const struct pim_core_candidate *taken = &profile->candidate[profile->taken];
    plan->layout = taken->layout;
    plan->taken = taken->name;
    made->schedule.no_keeping = taken->no_keeping;
    return choices->rank ? pim_core_ranking_make(&plan->ranking, &options, error) : PIM_OK;
}

/* A network that does not fit: in segments, whose weights are written one after the other. */
static enum pim_status cut(struct pim_core_compilation *made, struct pim_error *error)
{
    const struct pim_core_choices *choices = &made->choices;
    struct pim_core_plan *plan = &made->plan;
    bool high = plan->mapping.mode == PIM_CORE_HIGH_THROUGHPUT;
    if (high && made->schedule.batch == 0)
        made->schedule.batch = PIM_CORE_SEGMENT_SAMPLES;
    made->lowered = plan->network;
    made->problem = (struct pim_core_segment_problem){.architecture = &plan->architecture,
                                                      .network = &plan->network,
                                                      .forced = unfolding_of(choices),
                                                      .mode = plan->mapping.mode,
                                                      .samples = high ? made->schedule.batch : 1};
    PIM_TRY(pim_core_segments_split(&made->lowered, &made->problem, &made->arena, &plan->network, error));
    return pim_core_segments_cut(&made->problem, choices->cut != 0, &made->arena, &plan->segments, error);
}

static enum pim_status search_segments(struct pim_core_compilation *made, struct pim_workers *workers,
                                       struct pim_error *error)
{
    const struct pim_core_choices *choices = &made->choices;
    struct pim_core_plan *plan = &made->plan;
    struct pim_core_search_options options = search_options(made);
    const struct pim_core_profile_options profiling = {
        .schedule = made->schedule, .workers = workers, .limit = &made->limit};
    plan->searched = true;
    return pim_core_segmented_search(&made->problem, &options, &profiling, (uint32_t)choices->profile,
                                     &made->arena, &plan->segments, &plan->search, error);
}

static enum pim_status compile_segments(struct pim_core_compilation *made, struct pim_error *error)
{
    const struct pim_core_choices *choices = &made->choices;
    struct pim_core_plan *plan = &made->plan;
    double begin = made->limit.begin;
    if (choices->starts || choices->rank)
        return pim_fail(error, PIM_BAD_INPUT,
                        choices->starts
                            ? "--start-from: a layout of all layers is no start for the searches of segments"
                            : "--rank: segments have no layouts of all layers that are timed");
    PIM_TRY(cut(made, error));
    plan->partition_seconds = pim_core_seconds_since(&begin);
    pim_core_layout_rule *rule = pim_core_layout_methods[choices->layout].rule;
    enum pim_status status = rule ? pim_core_segmented_rule(&made->problem, rule, plan->method, &made->arena,
                                                            &plan->segments, error)
                                  : with_workers(made, search_segments, error);
    if (status == PIM_OK)
        status = pim_core_segments_join(&made->problem, &plan->segments, &made->arena, &plan->partition,
                                        &plan->layout, error);
    plan->layout_seconds = pim_core_seconds_since(&begin);
    return status;
}

static enum pim_status lay_out(struct pim_core_compilation *made, struct pim_error *error)
{
    const struct pim_core_choices *choices = &made->choices;
    struct pim_core_plan *plan = &made->plan;
    struct pim_arena *arena = &made->arena;
    pim_core_layout_rule *rule = pim_core_layout_methods[choices->layout].rule;
    if (choices->baseline != PIM_BASELINE_NONE)
        rule = choices->baseline == PIM_BASELINE_POLYHEDRAL ? pim_core_layout_whole_cores
                                                            : pim_core_layout_first;
    if (choices->plan) {
        bool nothing_kept = false;
        enum pim_status status = pim_core_layout_read(choices->plan, &plan->mapping, arena, &plan->layout,
                                                      &plan->taken, &nothing_kept, error);
        made->schedule.no_keeping = made->schedule.no_keeping || nothing_kept;
        return status;
    }
    return rule ? rule(&plan->mapping, arena, &plan->layout, error) : search(made, error);
}

/* Whether a layout failed for lack of arrays: then a rule of thumb fails, too, which has no other reason. */
static bool finds_no_room(struct pim_core_compilation *made)
{
    struct pim_core_plan *plan = &made->plan;
    struct pim_error ignored = {0};
    struct pim_core_layout layout;
    return pim_core_layout_first(&plan->mapping, &made->arena, &layout, &ignored) == PIM_BAD_INPUT;
}

/* What is too large for the chip, says `why`, goes in segments; if it does not, both reasons are told. */
static enum pim_status compile_larger(struct pim_core_compilation *made, const struct pim_error *why,
                                      struct pim_error *error)
{
    struct pim_error other = {0};
    if (compile_segments(made, &other) == PIM_OK)
        return PIM_OK;
    if (other.status != PIM_BAD_INPUT) {
        *error = other;
        return other.status;
    }
    return pim_fail(error, PIM_BAD_INPUT, "%s; in segments: %s", why->text, other.text);
}

enum pim_status pim_core_compile(struct pim_core_compilation *made, struct pim_error *error)
{
    struct pim_core_plan *plan = &made->plan;
    struct pim_error why = {.status = PIM_OK}; /* no failure where it goes in segments */
    const struct pim_mapper_search *search = &made->choices.search;
    pim_search_limit_begin(&made->limit, (double)search->seconds, search->stop, search->context);
    double begin = made->limit.begin;
    enum pim_status status =
        pim_core_partition_make(&plan->network, &plan->architecture, plan->mapping.mode,
                                unfolding_of(&made->choices), &made->arena, &plan->partition, &why);
    bool larger = plan->partition.larger;
    plan->partition_seconds = pim_core_seconds_since(&begin);
    if (status == PIM_OK) {
        status = lay_out(made, &why);
        larger = status == PIM_BAD_INPUT && finds_no_room(made);
    }
    if (larger && plan->architecture.write_row_cycles > 0 && made->choices.baseline == PIM_BASELINE_NONE &&
        !made->choices.plan)
        return compile_larger(made, &why, error);
    if (status != PIM_OK) {
        *error = why;
        return status;
    }
    plan->layout_seconds = pim_core_seconds_since(&begin);
    if (plan->searched && made->choices.profile && with_workers(made, profile, error) != PIM_OK)
        return error->status;
    plan->profile_seconds = pim_core_seconds_since(&begin);
    return pim_core_layout_check(&plan->mapping, error);
}
