/* PIMCOMP as a mapper: its options, and the stages of the front-end, one after the other. */
#include "mappers/mappers.h"

#include "mappers/machine/nodes.h"
#include "mappers/pimcomp/compile.h"
#include "mappers/pimcomp/cost/timing.h"
#include "mappers/pimcomp/segmented.h"
#include "mappers/search/workers.h"
#include "sim/try.h"
#include "traces/file/reader.h"

#include <inttypes.h>
#include <string.h>

/* Layouts of the search that are simulated, by preset. */
enum { PROFILE_BY_PRESET = PIM_RUNNERS_UP_MOST + 2 };
static const uint32_t preset_profiles[] = {4, 1, 8};
static const struct pim_core_choices defaults = {.search = {.seed = 1}, .profile = PROFILE_BY_PRESET};

static const struct pim_option rows[] = {
    PIM_CHOICE_ROW("mode", struct pim_core_choices, mode, "MODE", "ht|ll", "High throughput or low latency"),
    PIM_CHOICE_ROW("preset", struct pim_core_choices, preset, "PRESET", "default|fast|paper",
                   "Budget of the search: until it has settled, for sweeps, or that of the paper"),
    PIM_SEED_ROW("Seed of the search and of --check-values"),
    PIM_THREADS_ROW("Threads of the search; 0: one for each processor. Results do not depend on it"),
    PIM_COUNT_ROW("budget", struct pim_mapper_search, steps, "GENERATIONS", 0, 1000000,
                  "Generations of each search at most; 0: as --preset says"),
    PIM_SECONDS_ROW("Of the search, which then takes the best so far; results depend on it",
                    .standard = "no limit"),
    PIM_CHOICE_ROW(
        "layout", struct pim_core_choices, layout, "METHOD", "genetic|balance|first",
        "Replicas and places of array groups: searched, balanced by windows, or one replica first fit"),
    PIM_TEXT_ROW("plan", struct pim_core_choices, plan, "FILE",
                 "Takes the layout of this plan, as --format json writes it, and searches none"),
    PIM_TEXT_ROW("start-from", struct pim_core_choices, starts, "FILE",
                 "The search starts from the layout of this plan, too, or of a list of plans"),
    PIM_COUNT_ROW("profile", struct pim_core_choices, profile, "LAYOUTS", 0, PIM_RUNNERS_UP_MOST + 1,
                  "Layouts of the search that are timed at its end, beside those without a search: the best "
                  "are refined, the fastest is taken; in segments they are timed alone; 0: none",
                  .standard = "4, of --preset fast 1, of paper 8"),
    PIM_COUNT_ROW("rank", struct pim_core_choices, rank, "LAYOUTS", 0, PIM_CORE_RANKED_MOST,
                  "Simulates so many of the layouts that were timed, those of the least estimates, and says "
                  "how well the estimates rank them; 0: none"),
    PIM_CHOICE_ROW("unfolding", struct pim_core_choices, unfolding, "NAME",
                   "auto|i_o_kk|i_okk_1|ik_o_k|ik_ok_1|ikk_o_1|blocks",
                   "How weights become matrices, in all layers; auto: chosen for each"),
    PIM_COUNT_ROW("batch", struct pim_core_choices, batch, "SAMPLES", 0, 4096,
                  "High throughput: samples that go through; 0: one saturated round, 8 samples where the "
                  "network is larger than the chip"),
    PIM_CHOICE_ROW("cut", struct pim_core_choices, cut, "METHOD", "search|longest",
                   "Where a network larger than the chip is cut into segments, whose weights are written one "
                   "after the other: searched, or each as long as it fits"),
    PIM_CHOICE_ROW("reuse", struct pim_core_choices, reuse, "KIND", "rows|unfolding|none",
                   "High throughput: what of the input is loaded once and kept"),
    PIM_FLAG_ROW("no-grouping", struct pim_core_choices, no_grouping,
                 "High throughput: each layer takes a round of its own"),
    PIM_FLAG_ROW("no-keeping", struct pim_core_choices, no_keeping,
                 "High throughput: every map goes through global memory, even where cores have room for it"),
    PIM_COUNT_ROW("transmit-threshold", struct pim_core_choices, threshold, "MESSAGES", 0, UINT32_MAX,
                  "Low latency: messages are held back until so many wait; 0: chosen"),
    PIM_FLAG_ROW("keep-pixels", struct pim_core_choices, keep_pixels,
                 "Low latency: counts the local memory that is needed when nothing is reclaimed"),
    PIM_CHOICE_ROW("baseline", struct pim_core_choices, baseline, "NAME", "none|songc|puma|polyhedral",
                   "Maps as this compiler does"),
    PIM_FLAG_ROW(
        "check-values", struct pim_core_choices, check,
        "Executes the program with numbers and compares them with a direct evaluation of the network"),
};

/* Options that do nothing in the mode or with the layout are refused. Threads change no result, and are
 * taken where nothing is searched, too. */
static enum pim_status accept(const void *options, bool writes, struct pim_error *error)
{
    const struct pim_core_choices *choices = options;
    const bool low_latency = choices->mode == PIM_CORE_LOW_LATENCY, baseline = choices->baseline > 0;
    const bool songc = choices->baseline == PIM_BASELINE_SONGC;
    const bool searches = !choices->plan && !baseline && !pim_core_layout_methods[choices->layout].rule;
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
    struct pim_core_compilation *made = plan;
    pim_arena_terminate(&made->arena);
}

/* What of the options depends on others. */
static void settle(struct pim_core_choices *choices)
{
    choices->search.threads = pim_workers_wanted(choices->search.threads);
    if (choices->profile == PROFILE_BY_PRESET)
        choices->profile = choices->keep_pixels ? 0 : preset_profiles[choices->preset];
}

static enum pim_status schedule(struct pim_core_compilation *made, struct pim_trace_writer *writer,
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
static enum pim_status choose_batch(struct pim_core_compilation *made, struct pim_error *error)
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
static const char *mode_name(const struct pim_core_choices *choices)
{
    return choices->mode == PIM_CORE_LOW_LATENCY ? "ll" : "ht";
}

static enum pim_status make(struct pim_core_compilation *made, struct pim_error *error)
{
    const struct pim_core_choices *choices = &made->choices;
    const struct pim_network *network = made->inputs->network;
    const char *method = pim_core_layout_methods[choices->layout].name;
    struct pim_core_plan *plan = &made->plan;
    *plan = (struct pim_core_plan){.mode = mode_name(choices),
                                   .method = choices->plan ? "plan" : method,
                                   .taken = method,
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
    PIM_TRY(pim_core_compile(made, error));
    PIM_TRY(choose_batch(made, error));
    plan->batch = made->schedule.batch;
    plan->nothing_kept = made->schedule.no_keeping;
    return PIM_OK;
}

static enum pim_status plan(const struct pim_mapper_inputs *inputs, const void *options, void *made_plan,
                            struct pim_error *error)
{
    struct pim_core_compilation *made = made_plan;
    made->choices = *(const struct pim_core_choices *)options;
    made->inputs = inputs;
    settle(&made->choices);
    pim_arena_initialize(&made->arena, 1 << 20);
    return make(made, error);
}

static enum pim_status emit(void *made_plan, struct pim_trace_writer *writer, struct pim_error *error)
{
    struct pim_core_compilation *made = made_plan;
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
    plan->schedule_seconds = pim_core_seconds_since(&begin);
    made->scheduled = status == PIM_OK;
    return status;
}

/* The estimate is that of the schedule, which is made with or without a trace. */
static enum pim_status estimate(void *made_plan, struct pim_mapper_estimate *estimate,
                                struct pim_error *error)
{
    const struct pim_core_compilation *made = made_plan;
    if (!made->scheduled && emit(made_plan, NULL, error) != PIM_OK)
        return error->status;
    estimate->cycles = made->plan.estimate_cycles;
    memcpy(estimate->parts, made->plan.estimate_parts, sizeof estimate->parts);
    return PIM_OK;
}

#define MODE_OF_MAPPING "mode %s"

static void foresee(const struct pim_mapper_inputs *inputs, const void *options, struct pim_mapper_job *job)
{
    const struct pim_core_choices *choices = options;
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

/* Songc's and PUMA's schedules are of one sample. */
static bool rounds(const void *options)
{
    const struct pim_core_choices *choices = options;
    return choices->mode == PIM_CORE_HIGH_THROUGHPUT && choices->batch == 0 && !choices->check &&
           (choices->baseline == PIM_BASELINE_NONE || choices->baseline == PIM_BASELINE_POLYHEDRAL);
}

static enum pim_status describe(void *made_plan, struct pim_trace_description *description,
                                struct pim_error *error)
{
    struct pim_core_compilation *made = made_plan;
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
    const struct pim_core_compilation *made = plan;
    return made->choices.check;
}

static enum pim_status check(void *made_plan, const char *path, struct pim_error *error)
{
    struct pim_core_compilation *made = made_plan;
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
    const struct pim_core_compilation *made = plan;
    (void)error;
    pim_core_plan_print(&made->plan, file);
    return PIM_OK;
}

static enum pim_status write_json(void *plan, FILE *file, struct pim_error *error)
{
    const struct pim_core_compilation *made = plan;
    return pim_core_plan_write_json(&made->plan, file, error);
}

const struct pim_mapper pim_pimcomp_mapper = {
    .name = "pimcomp",
    .summary = "Networks on cores with crossbar arrays",
    .description = "Maps a network onto cores with crossbar arrays as PIMCOMP does.",
    .transformers = PIM_TRANSFORMERS_RECOGNISED,
    .stops = true,
    .options = {rows, sizeof rows / sizeof rows[0], sizeof(struct pim_core_choices), &defaults},
    .accept = accept,
    .plan_size = sizeof(struct pim_core_compilation),
    .plan = plan,
    .terminate = terminate,
    .estimate = estimate,
    .foresee = foresee,
    .rounds = rounds,
    .describe = describe,
    .emit = emit,
    .checks = checks,
    .check = check,
    .print = print,
    .write_json = write_json,
};
