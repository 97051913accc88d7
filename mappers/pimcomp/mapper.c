/* PIMCOMP as a mapper: the stages of the front-end, one after the other. */
#include "mappers/pimcomp/mapper.h"

#include "mappers/machine/nodes.h"
#include "mappers/pimcomp/compilation.h"
#include "mappers/pimcomp/cost/timing.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/layout/plan_file.h"
#include "mappers/pimcomp/partition/partition.h"
#include "mappers/pimcomp/refine.h"
#include "mappers/pimcomp/searches.h"
#include "mappers/pimcomp/segmented.h"
#include "mappers/search/workers.h"
#include "sim/try.h"
#include "traces/file/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LAYOUT_GENETIC, LAYOUT_BALANCE, LAYOUT_FIRST };
enum { MAX_LAYERS_IN_CORE = 32 };

/* Layouts of the search that are simulated, by preset. */
enum { PROFILE_BY_PRESET = PIM_RUNNERS_UP_MOST + 2 };
static const uint32_t preset_profiles[] = {4, 1, 8};
/* Budget of the refinement, by preset: instructions that are timed or, where programs are large, so many of
 * them; a low-latency program takes several times as long. */
static const uint64_t preset_instructions[] = {24000000, 2000000, 160000000};
static const uint32_t preset_timed[][3] = {
    [PIM_CORE_HIGH_THROUGHPUT] = {256, 32, 768}, [PIM_CORE_LOW_LATENCY] = {96, 8, 288}};

/* How often the searches of "fast" are run before those of larger presets. */
static const uint32_t preset_restarts[][3] = {
    [PIM_CORE_HIGH_THROUGHPUT] = {2, 0, 8}, [PIM_CORE_LOW_LATENCY] = {4, 0, 24}};

/* The options, as a user gives them. */
struct choices {
    struct pim_mapper_search search;
    unsigned mode, preset, layout, unfolding, baseline, reuse, cut;
    uint64_t batch, threshold, profile, rank;
    bool no_grouping, no_keeping, keep_pixels, check;
    const char *plan, *starts; /* files; NULL: none */
};

static const struct choices defaults = {.search = {.seed = 1}, .profile = PROFILE_BY_PRESET};

static const struct pim_option rows[] = {
    PIM_CHOICE_ROW("mode", struct choices, mode, "MODE", "ht|ll", "High throughput (default) or low latency"),
    PIM_CHOICE_ROW("preset", struct choices, preset, "PRESET", "default|fast|paper",
                   "Budget of the search: until it has settled (default), for sweeps, or that of the paper"),
    PIM_SEED_ROW("Of the search and of --check-values"),
    PIM_THREADS_ROW(
        "Threads of the search; 0 (default): one for each processor. Results do not depend on it"),
    PIM_COUNT_ROW("budget", struct pim_mapper_search, steps, "GENERATIONS", 0, 1000000,
                  "Generations of each search at most; 0 (default): as --preset says"),
    PIM_SECONDS_ROW("Of the search, which then takes the best so far; results depend on it"),
    PIM_CHOICE_ROW("layout", struct choices, layout, "METHOD", "genetic|balance|first",
                   "Replicas and places of array groups: searched (default), balanced by windows, or one "
                   "replica first fit"),
    PIM_TEXT_ROW("plan", struct choices, plan, "FILE",
                 "Takes the layout of this plan, as --format json writes it, and searches none"),
    PIM_TEXT_ROW("start-from", struct choices, starts, "FILE",
                 "The search starts from the layout of this plan, too, or of a list of plans"),
    PIM_COUNT_ROW("profile", struct choices, profile, "LAYOUTS", 0, PIM_RUNNERS_UP_MOST + 1,
                  "Layouts of the search that are timed at its end, beside those without a search: the "
                  "best are refined, the fastest is taken; in segments they are timed alone; 0: none. "
                  "Default: 4, preset fast "
                  "1, paper 8"),
    PIM_COUNT_ROW(
        "rank", struct choices, rank, "LAYOUTS", 0, PIM_CORE_RANKED_MOST,
        "Simulates so many of the layouts that were timed, those of the least estimates, and says how "
        "well the estimates rank them; 0 (default): none"),
    PIM_CHOICE_ROW("unfolding", struct choices, unfolding, "NAME",
                   "auto|i_o_kk|i_okk_1|ik_o_k|ik_ok_1|ikk_o_1|blocks",
                   "Of all layers; auto (default): chosen for each"),
    PIM_COUNT_ROW(
        "batch", struct choices, batch, "SAMPLES", 0, 4096,
        "High throughput: samples that go through; 0 (default): one saturated round, 8 samples where "
        "the network is larger than the chip"),
    PIM_CHOICE_ROW("cut", struct choices, cut, "METHOD", "search|longest",
                   "Where a network larger than the chip is cut into segments, whose weights are written one "
                   "after the other: searched (default), or each as long as it fits"),
    PIM_CHOICE_ROW("reuse", struct choices, reuse, "KIND", "rows|unfolding|none",
                   "High throughput: what of the input is loaded once and kept"),
    PIM_FLAG_ROW("no-grouping", struct choices, no_grouping,
                 "High throughput: each layer takes a round of its own"),
    PIM_FLAG_ROW("no-keeping", struct choices, no_keeping,
                 "High throughput: every map goes through global memory, even where cores have room for it"),
    PIM_COUNT_ROW("transmit-threshold", struct choices, threshold, "MESSAGES", 0, UINT32_MAX,
                  "Low latency: messages are held back until so many wait; 0 (default): chosen"),
    PIM_FLAG_ROW("keep-pixels", struct choices, keep_pixels,
                 "Low latency: counts the local memory that is needed when nothing is reclaimed"),
    PIM_CHOICE_ROW("baseline", struct choices, baseline, "NAME", "none|songc|puma|polyhedral",
                   "Maps as this compiler does"),
    PIM_FLAG_ROW(
        "check-values", struct choices, check,
        "Executes the program with numbers and compares them with a direct evaluation of the network"),
};

/* A plan, what it was made of, and what its traces carry. */
struct made {
    struct choices choices;
    const struct pim_mapper_inputs *inputs;
    struct pim_arena arena;
    struct pim_core_plan plan;
    struct pim_core_schedule_options schedule; /* of the trace and of the layouts that are simulated */
    struct pim_core_network lowered;           /* where plan->network has wide layers in parts */
    struct pim_core_segment_problem problem;   /* of a plan with segments */
    double begin;                              /* of the searches: seconds of the clock */
    struct pim_core_searches searches;
    bool scheduled;
    char mapping[128];
};

/* Seconds since *begin, which is now then. */
static double seconds_since(double *begin)
{
    double before = *begin;
    *begin = pim_search_seconds();
    return *begin - before;
}

/* What is left of --time-limit; 0: there is none. */
static double remaining(const struct made *made)
{
    return pim_search_left((double)made->choices.search.seconds, made->begin);
}

/* --- the stages --- */

/* The unfolding that was asked for, of each layer; NULL: each has its own. */
static enum pim_status force(struct made *made, uint32_t layers, const enum pim_unfolding **forced,
                             struct pim_error *error)
{
    *forced = NULL;
    if (made->choices.unfolding == 0)
        return PIM_OK;
    enum pim_unfolding *all = PIM_ARENA_ARRAY(&made->arena, enum pim_unfolding, layers);
    PIM_NEED_MEMORY(all, error, "out of memory for the unfoldings");
    for (uint32_t i = 0; i < layers; i++)
        all[i] = (enum pim_unfolding)(made->choices.unfolding - 1);
    *forced = all;
    return PIM_OK;
}

static enum pim_status partition(struct made *made, struct pim_error *error)
{
    struct pim_core_plan *plan = &made->plan;
    const enum pim_unfolding *forced;
    PIM_TRY(force(made, plan->network.count, &forced, error));
    return pim_core_partition_make(&plan->network, &plan->architecture, plan->mapping.mode, forced,
                                   &made->arena, &plan->partition, error);
}

/* What a user asked of a search, within the time that is left. */
static struct pim_core_search_options search_options(const struct made *made)
{
    const struct choices *choices = &made->choices;
    struct pim_core_search_options options = pim_core_search_preset(choices->preset);
    options.seed = choices->search.seed;
    options.threads = (unsigned)choices->search.threads;
    options.seconds = remaining(made);
    options.progress = choices->search.progress;
    options.stop = choices->search.stop;
    options.context = choices->search.context;
    if (choices->search.steps)
        options.generations = (uint32_t)choices->search.steps;
    return options;
}

static enum pim_status search(struct made *made, struct pim_error *error)
{
    const struct choices *choices = &made->choices;
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

/* As much of the budget of the refinement as --budget leaves of the generations. */
static uint64_t part_of_budget(const struct choices *choices, uint64_t budget)
{
    const uint32_t generations = pim_core_search_preset(choices->preset).generations;
    if (choices->search.steps == 0 || choices->search.steps >= generations)
        return budget;
    return budget * choices->search.steps / generations;
}

/* Does what times layouts, on the threads that were asked for. */
static enum pim_status with_workers(struct made *made,
                                    enum pim_status (*task)(struct made *made, struct pim_workers *workers,
                                                            struct pim_error *error),
                                    struct pim_error *error)
{
    struct pim_workers *workers;
    PIM_TRY(pim_workers_create(&workers, (unsigned)made->choices.search.threads, error));
    enum pim_status status = task(made, workers, error);
    pim_workers_destroy(workers);
    return status;
}

/* Takes the fastest of what the searches found, the layouts without a search, and what refining the best of
 * them finds. */
static enum pim_status profile(struct made *made, struct pim_workers *workers, struct pim_error *error)
{
    const struct choices *choices = &made->choices;
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
                                                     .progress = choices->search.progress,
                                                     .begin = made->begin,
                                                     .seconds = (double)choices->search.seconds,
                                                     .stop = choices->search.stop,
                                                     .context = choices->search.context};
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
    PIM_TRY(pim_core_profile_time(&options, profile, 0, best, error));
    const struct pim_refine_options refine = {
        .instructions = part_of_budget(choices, preset_instructions[choices->preset]),
        .timed = (uint32_t)part_of_budget(choices, preset_timed[plan->mapping.mode][choices->preset]),
        .seed = choices->search.seed,
        .max_layers_in_core = MAX_LAYERS_IN_CORE};
    PIM_TRY(pim_core_refine(&options, &refine, &made->arena, profile, error));
    PIM_TRY(pim_core_profile_run(&options, (uint32_t)choices->profile, profile, error));
    if (profile->cut_short)
        plan->search.end = pim_core_profile_end(&options);
    const struct pim_core_candidate *taken = &profile->candidate[profile->taken];
    plan->layout = taken->layout;
    plan->taken = taken->name;
    made->schedule.no_keeping = taken->no_keeping;
    return choices->rank ? pim_core_ranking_make(&plan->ranking, &options, error) : PIM_OK;
}

/* A network that does not fit: in segments, whose weights are written one after the other. */
static enum pim_status cut(struct made *made, struct pim_error *error)
{
    const struct choices *choices = &made->choices;
    struct pim_core_plan *plan = &made->plan;
    bool high = plan->mapping.mode == PIM_CORE_HIGH_THROUGHPUT;
    if (high && made->schedule.batch == 0)
        made->schedule.batch = PIM_CORE_SEGMENT_SAMPLES;
    made->lowered = plan->network;
    made->problem = (struct pim_core_segment_problem){.architecture = &plan->architecture,
                                                      .network = &plan->network,
                                                      .mode = plan->mapping.mode,
                                                      .samples = high ? made->schedule.batch : 1};
    if (force(made, made->lowered.count, &made->problem.forced, error) != PIM_OK ||
        pim_core_segments_split(&made->lowered, &made->problem, &made->arena, &plan->network, error) !=
            PIM_OK ||
        force(made, plan->network.count, &made->problem.forced, error) != PIM_OK)
        return error->status;
    return pim_core_segments_cut(&made->problem, choices->cut != 0, &made->arena, &plan->segments, error);
}

static enum pim_status search_segments(struct made *made, struct pim_workers *workers,
                                       struct pim_error *error)
{
    const struct choices *choices = &made->choices;
    struct pim_core_plan *plan = &made->plan;
    struct pim_core_search_options options = search_options(made);
    const struct pim_core_profile_options profiling = {.schedule = made->schedule,
                                                       .workers = workers,
                                                       .begin = made->begin,
                                                       .seconds = (double)choices->search.seconds,
                                                       .stop = choices->search.stop,
                                                       .context = choices->search.context};
    plan->searched = true;
    return pim_core_segmented_search(&made->problem, &options, &profiling, (uint32_t)choices->profile,
                                     &made->arena, &plan->segments, &plan->search, error);
}

static enum pim_status compile_segments(struct made *made, struct pim_error *error)
{
    const struct choices *choices = &made->choices;
    struct pim_core_plan *plan = &made->plan;
    double begin = made->begin;
    if (choices->starts || choices->rank)
        return pim_fail(error, PIM_BAD_INPUT,
                        choices->starts
                            ? "--start-from: a layout of all layers is no start for the searches of segments"
                            : "--rank: segments have no layouts of all layers that are timed");
    PIM_TRY(cut(made, error));
    plan->partition_seconds = seconds_since(&begin);
    enum pim_status status = choices->layout == LAYOUT_FIRST
                                 ? pim_core_segmented_rule(&made->problem, pim_core_layout_first, "first",
                                                           &made->arena, &plan->segments, error)
                             : choices->layout == LAYOUT_BALANCE
                                 ? pim_core_segmented_rule(&made->problem, pim_core_layout_balance, "balance",
                                                           &made->arena, &plan->segments, error)
                                 : with_workers(made, search_segments, error);
    if (status == PIM_OK)
        status = pim_core_segments_join(&made->problem, &plan->segments, &made->arena, &plan->partition,
                                        &plan->layout, error);
    plan->layout_seconds = seconds_since(&begin);
    return status;
}

static enum pim_status lay_out(struct made *made, struct pim_error *error)
{
    const struct choices *choices = &made->choices;
    struct pim_core_plan *plan = &made->plan;
    struct pim_arena *arena = &made->arena;
    if (choices->baseline != PIM_BASELINE_NONE)
        return pim_core_baseline_layout((enum pim_core_baseline)choices->baseline, &plan->mapping, arena,
                                        &plan->layout, error);
    if (choices->plan) {
        bool nothing_kept = false;
        enum pim_status status = pim_core_layout_read(choices->plan, &plan->mapping, arena, &plan->layout,
                                                      &plan->taken, &nothing_kept, error);
        made->schedule.no_keeping = made->schedule.no_keeping || nothing_kept;
        return status;
    }
    if (choices->layout == LAYOUT_FIRST)
        return pim_core_layout_first(&plan->mapping, arena, &plan->layout, error);
    if (choices->layout == LAYOUT_BALANCE)
        return pim_core_layout_balance(&plan->mapping, arena, &plan->layout, error);
    return search(made, error);
}

/* Whether a layout failed for lack of arrays: then a rule of thumb fails, too, which has no other reason. */
static bool finds_no_room(struct made *made)
{
    struct pim_core_plan *plan = &made->plan;
    struct pim_error ignored = {0};
    struct pim_core_layout layout;
    return pim_core_layout_first(&plan->mapping, &made->arena, &layout, &ignored) == PIM_BAD_INPUT;
}

/* What is too large for the chip, says `why`, goes in segments; if it does not, both reasons are told. */
static enum pim_status compile_larger(struct made *made, const struct pim_error *why, struct pim_error *error)
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

/* Partition and layout. */
static enum pim_status compile(struct made *made, struct pim_error *error)
{
    struct pim_core_plan *plan = &made->plan;
    struct pim_error why = {.status = PIM_OK}; /* no failure where it goes in segments */
    double begin = made->begin = pim_search_seconds();
    enum pim_status status = partition(made, &why);
    bool larger = plan->partition.larger;
    plan->partition_seconds = seconds_since(&begin);
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
    plan->layout_seconds = seconds_since(&begin);
    if (plan->searched && made->choices.profile && with_workers(made, profile, error) != PIM_OK)
        return error->status;
    plan->profile_seconds = seconds_since(&begin);
    return pim_core_layout_check(&plan->mapping, error);
}

/* --- the mapper --- */

/* Options that do nothing in the mode or with the layout are refused. Threads change no result, and are
 * taken where nothing is searched, too. */
static enum pim_status accept(const void *options, bool writes, struct pim_error *error)
{
    const struct choices *choices = options;
    const bool low_latency = choices->mode == PIM_CORE_LOW_LATENCY, baseline = choices->baseline > 0;
    const bool songc = choices->baseline == PIM_BASELINE_SONGC;
    const bool searches = !choices->plan && !baseline && choices->layout == LAYOUT_GENETIC;
    const bool simulates = choices->profile && choices->profile != PROFILE_BY_PRESET;
    const struct pim_option_refusal refusals[] = {
        {low_latency, "batch no-grouping no-keeping reuse", "is for --mode ht"},
        {!low_latency, "transmit-threshold keep-pixels", "is for --mode ll"},
        {baseline && choices->baseline != PIM_BASELINE_PUMA, "transmit-threshold keep-pixels",
         "is for programs of --mode ll: those of --baseline songc and polyhedral are of ht"},
        {songc, "batch no-grouping", "does nothing: --baseline songc works on one sample, layer by layer"},
        {baseline, "plan layout cut", "does nothing: --baseline has a layout of its own, in one piece"},
        {choices->plan, "layout cut", "does nothing: --plan has a layout, in one piece"},
        {!searches, "preset budget time-limit profile start-from rank",
         "is for a search: --layout genetic, without --plan and --baseline"},
        {!searches && !choices->check, "seed",
         "is for a search and --check-values: --plan, --baseline and other layouts have nothing random"},
        {choices->profile == 0 || (choices->keep_pixels && !simulates), "rank",
         "does nothing: without --profile no layouts are timed"},
        {choices->keep_pixels && simulates, "profile",
         "does nothing: --keep-pixels counts memory that cores do not have"},
        {choices->keep_pixels && choices->check, "check-values",
         "does nothing: --keep-pixels counts memory that cores do not have"}};
    if (choices->keep_pixels && writes)
        return pim_fail(error, PIM_USAGE,
                        "--keep-pixels counts memory that cores do not have: no -o with it");
    return pim_option_refuse(&pim_pimcomp_mapper.options, options, refusals,
                             sizeof refusals / sizeof refusals[0], error);
}

static void terminate(void *plan)
{
    struct made *made = plan;
    pim_arena_terminate(&made->arena);
}

/* What of the options depends on others. */
static void settle(struct choices *choices)
{
    if (choices->search.threads == 0)
        choices->search.threads = pim_workers_processors();
    if (choices->profile == PROFILE_BY_PRESET)
        choices->profile = choices->keep_pixels ? 0 : preset_profiles[choices->preset];
}

static enum pim_status schedule(struct made *made, struct pim_trace_writer *writer,
                                const struct pim_core_schedule_options *options, struct pim_error *error)
{
    struct pim_core_plan *plan = &made->plan;
    if (plan->segments.count > 0)
        return pim_core_segments_schedule(&made->problem, &plan->segments, writer, options, &made->arena,
                                          &plan->map, error);
    return pim_core_schedule(&plan->mapping, writer, options, &made->arena, &plan->map, error);
}

/* A saturated round starts in the middle: values are checked over a batch of a sample more than there are
 * groups of layers, so that every buffer is used again. */
static enum pim_status choose_batch(struct made *made, struct pim_error *error)
{
    struct pim_core_plan *plan = &made->plan;
    bool given = plan->segments.count > 0 ? made->choices.batch > 0 : made->schedule.batch > 0;
    if (!made->choices.check || plan->mapping.mode == PIM_CORE_LOW_LATENCY || given)
        return PIM_OK;
    if (plan->segments.count > 0)
        made->problem.samples = made->schedule.batch = 1;
    PIM_TRY(schedule(made, NULL, &made->schedule, error));
    made->schedule.batch = made->problem.samples = plan->report.groups + 1;
    return PIM_OK;
}

/* The mode, as the words of a trace begin. */
static const char *mode_name(const struct choices *choices)
{
    return choices->mode == PIM_CORE_LOW_LATENCY ? "ll" : "ht";
}

static enum pim_status make(struct made *made, struct pim_error *error)
{
    static const char *const methods[] = {"genetic", "balance", "first"};
    const struct choices *choices = &made->choices;
    const struct pim_network *network = made->inputs->network;
    struct pim_core_plan *plan = &made->plan;
    *plan = (struct pim_core_plan){.mode = mode_name(choices),
                                   .method = choices->plan ? "plan" : methods[choices->layout],
                                   .taken = methods[choices->layout],
                                   .baseline = pim_core_baseline_name(choices->baseline),
                                   .macs = network->graph.macs};
    plan->mapping = (struct pim_core_mapping){.architecture = &plan->architecture,
                                              .network = &plan->network,
                                              .partition = &plan->partition,
                                              .layout = &plan->layout,
                                              .mode = (enum pim_core_mode)choices->mode};
    made->schedule = (struct pim_core_schedule_options){.batch = (uint32_t)choices->batch,
                                                        .no_grouping = choices->no_grouping,
                                                        .no_keeping = choices->no_keeping,
                                                        .reuse = (enum pim_core_reuse)choices->reuse,
                                                        .transmit_threshold = (uint32_t)choices->threshold,
                                                        .keep_pixels = choices->keep_pixels,
                                                        .report = &plan->report};
    PIM_TRY(pim_core_baseline_schedule((enum pim_core_baseline)choices->baseline, &plan->mapping.mode,
                                       &made->schedule, error));
    PIM_TRY(pim_core_architecture_read(made->inputs->configuration, &made->inputs->nodes->network,
                                       &plan->architecture, error));
    PIM_TRY(pim_core_network_lower(&network->graph, network->name, &made->arena, &plan->network, error));
    PIM_TRY(compile(made, error));
    PIM_TRY(choose_batch(made, error));
    plan->batch = made->schedule.batch;
    plan->nothing_kept = made->schedule.no_keeping;
    return PIM_OK;
}

static enum pim_status plan(const struct pim_mapper_inputs *inputs, const void *options, void *made_plan,
                            struct pim_error *error)
{
    struct made *made = made_plan;
    made->choices = *(const struct choices *)options;
    made->inputs = inputs;
    settle(&made->choices);
    pim_arena_initialize(&made->arena, 1 << 20);
    return make(made, error);
}

static enum pim_status emit(void *made_plan, struct pim_trace_writer *writer, struct pim_error *error)
{
    struct made *made = made_plan;
    struct pim_core_plan *plan = &made->plan;
    double begin = pim_search_seconds();
    struct pim_core_timing *timing = pim_core_timing_create(&plan->mapping);
    PIM_NEED_MEMORY(timing, error, "no memory to estimate the phases of a schedule");
    struct pim_core_schedule_options options = made->schedule;
    options.observe = pim_core_timing_observe;
    options.observer = timing;
    enum pim_status status = schedule(made, writer, &options, error);
    if (status == PIM_OK)
        status = pim_core_timing_report(timing, writer, &plan->estimate_cycles, plan->estimate_parts, error);
    pim_core_timing_destroy(timing);
    plan->schedule_seconds = seconds_since(&begin);
    made->scheduled = status == PIM_OK;
    return status;
}

/* The estimate is that of the schedule, which is made with or without a trace. */
static enum pim_status estimate(void *made_plan, struct pim_mapper_estimate *estimate,
                                struct pim_error *error)
{
    const struct made *made = made_plan;
    if (!made->scheduled && emit(made_plan, NULL, error) != PIM_OK)
        return error->status;
    estimate->cycles = made->plan.estimate_cycles;
    memcpy(estimate->parts, made->plan.estimate_parts, sizeof estimate->parts);
    return PIM_OK;
}

#define MODE_OF_MAPPING "mode %s"

static void foresee(const struct pim_mapper_inputs *inputs, const void *options, struct pim_mapper_job *job)
{
    const struct choices *choices = options;
    const uint64_t macs = inputs->network->graph.macs;
    (void)snprintf(job->network, sizeof job->network, "%s", inputs->network->name);
    if (choices->baseline != PIM_BASELINE_NONE)
        return; /* its mode and batch are its own */
    (void)snprintf(job->mapping, sizeof job->mapping, MODE_OF_MAPPING, mode_name(choices));
    if (choices->batch > 0 || choices->check)
        return;
    job->macs[0] = macs;
    if (choices->mode == PIM_CORE_HIGH_THROUGHPUT)
        job->macs[1] = macs * PIM_CORE_SEGMENT_SAMPLES; /* where it does not fit */
}

static enum pim_status describe(void *made_plan, struct pim_trace_description *description,
                                struct pim_error *error)
{
    struct made *made = made_plan;
    const struct pim_core_plan *plan = &made->plan;
    uint64_t samples = plan->batch ? plan->batch : 1;
    bool baseline = made->choices.baseline != PIM_BASELINE_NONE;
    /* stored zeros; products of two activations are the network's MACs, and none of the matrices' */
    uint64_t padding = plan->partition.macs > plan->macs ? plan->partition.macs - plan->macs : 0;
    (void)error;
    (void)snprintf(made->mapping, sizeof made->mapping, MODE_OF_MAPPING ", %s %s, seed %" PRIu64, plan->mode,
                   baseline ? "baseline" : "layout", baseline ? plan->baseline : plan->method,
                   made->choices.search.seed);
    *description = (struct pim_trace_description){.family = "pimcomp",
                                                  .network = plan->network.name,
                                                  .mapping = made->mapping,
                                                  .configuration = made->inputs->configuration_text,
                                                  .width = plan->architecture.width,
                                                  .height = plan->architecture.height,
                                                  .units = plan->architecture.cores,
                                                  .macs = plan->macs * samples,
                                                  .padding_macs = padding * samples,
                                                  .weight_bytes = plan->partition.weights *
                                                                  plan->architecture.element_bytes};
    return PIM_OK;
}

static bool checks(const void *plan)
{
    const struct made *made = plan;
    return made->choices.check;
}

static enum pim_status check(void *made_plan, const char *path, struct pim_error *error)
{
    struct made *made = made_plan;
    struct pim_core_plan *plan = &made->plan;
    const struct pim_core_check_options options = {.samples = plan->batch ? (uint32_t)plan->batch : 1,
                                                   .seed = made->choices.search.seed};
    struct pim_trace *trace;
    PIM_TRY(pim_trace_open(path, &trace, error));
    plan->checked = true;
    enum pim_status status = pim_core_check_values(&made->inputs->network->graph, &plan->mapping, &plan->map,
                                                   trace, &options, &plan->check, error);
    pim_trace_close(trace);
    return status == PIM_OK ? PIM_OK : pim_fail_in(error, "the program is wrong");
}

static enum pim_status print(void *plan, FILE *file, struct pim_error *error)
{
    const struct made *made = plan;
    (void)error;
    pim_core_plan_print(&made->plan, file);
    return PIM_OK;
}

static enum pim_status write_json(void *plan, FILE *file, struct pim_error *error)
{
    const struct made *made = plan;
    return pim_core_plan_write_json(&made->plan, file, error);
}

const struct pim_mapper pim_pimcomp_mapper = {
    .name = "pimcomp",
    .summary = "Networks on cores with crossbar arrays",
    .description = "Maps a network onto cores with crossbar arrays as PIMCOMP does.",
    .stops = true,
    .options = {rows, sizeof rows / sizeof rows[0], sizeof(struct choices), &defaults},
    .accept = accept,
    .plan_size = sizeof(struct made),
    .plan = plan,
    .terminate = terminate,
    .estimate = estimate,
    .foresee = foresee,
    .describe = describe,
    .emit = emit,
    .checks = checks,
    .check = check,
    .print = print,
    .write_json = write_json,
};
