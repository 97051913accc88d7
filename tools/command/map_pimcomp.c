/* pimsim map pimcomp: a network becomes programs for cores with crossbar arrays. */
#include "tools/command/map_pimcomp.h"

#include "mappers/pimcomp/baseline.h"
#include "mappers/pimcomp/layout.h"
#include "mappers/pimcomp/phases.h"
#include "models/system/schema.h"
#include "tools/command/command.h"
#include "tools/command/network.h"
#include "tools/command/options.h"
#include "traces/reader.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FORMAT_TEXT, FORMAT_JSON };
enum { LAYOUT_GENETIC, LAYOUT_BALANCE, LAYOUT_FIRST };

static const char presets[] = "default|fast|paper";
static const char *const preset_names[] = {"default", "fast", "paper"};
/* Layouts of the search that are simulated, by preset. */
enum { PROFILE_BY_PRESET = PIM_RUNNERS_UP_MOST + 2 };
static const uint32_t preset_profiles[] = {4, 1, 8};
static const char layouts[] = "genetic|balance|first";
static const char unfoldings[] = "auto|i_o_kk|i_okk_1|ik_o_k|ik_ok_1|ikk_o_1";

struct request {
    struct common_options common;
    struct text_list network_sets, dimensions;
    struct pim_onnx_options onnx;
    const char *network, *output;
    unsigned mode, preset, layout, unfolding, baseline, reuse, format;
    uint64_t seed, threads, batch, threshold, profile;
    bool no_grouping, no_keeping, keep_pixels, check;
    bool progress;
};

static double seconds_since(struct timespec *begin)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - begin->tv_sec) + 1e-9 * (double)(now.tv_nsec - begin->tv_nsec);
    *begin = now;
    return seconds;
}

static uint64_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint64_t)count : 1;
}

/* --- the stages --- */

static enum pim_status partition(const struct request *request, struct map_pimcomp_plan *plan,
                                 struct pim_arena *arena, struct pim_error *error)
{
    enum pim_unfolding *forced = NULL;
    if (request->unfolding > 0) {
        forced = PIM_ARENA_ARRAY(arena, enum pim_unfolding, plan->network.count);
        if (!forced)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the unfoldings");
        for (uint32_t i = 0; i < plan->network.count; i++)
            forced[i] = (enum pim_unfolding)(request->unfolding - 1);
    }
    return pim_core_partition_make(&plan->network, &plan->architecture, plan->mapping.mode, forced, arena,
                                   &plan->partition, error);
}

static enum pim_status search(const struct request *request, struct map_pimcomp_plan *plan,
                              struct pim_arena *arena, struct pim_error *error)
{
    struct pim_core_search_options options;
    bool known = pim_core_search_preset(preset_names[request->preset], &options);
    assert(known); /* preset_names are the choices */
    (void)known;
    options.seed = request->seed;
    options.threads = (unsigned)request->threads;
    options.quiet = !request->progress;
    options.runners_up = request->profile ? (uint32_t)request->profile - 1 : 0;
    plan->searched = true;
    return pim_core_layout_search(&plan->architecture, &plan->network, &plan->partition, plan->mapping.mode,
                                  &options, arena, &plan->layout, &plan->search, error);
}

static void add_candidate(struct map_pimcomp_profile *profile, const char *name,
                          const struct pim_core_layout *layout)
{
    struct map_pimcomp_candidate *candidate = &profile->candidate[profile->count++];
    *candidate = (struct map_pimcomp_candidate){.name = name, .number = 1, .layout = *layout};
    for (uint32_t i = 0; i + 1 < profile->count; i++)
        candidate->number += strcmp(profile->candidate[i].name, name) == 0;
}

/* Takes the fastest of what the search found and the layouts without a search. */
static enum pim_status profile(const struct request *request, struct map_pimcomp_plan *plan,
                               const struct pim_hardware *hardware, struct pim_arena *arena,
                               struct pim_error *error)
{
    const struct map_pimcomp_profile_options options = {
        .hardware = hardware,
        .mapping = &plan->mapping,
        .schedule = {.no_grouping = request->no_grouping,
                     .reuse = (enum pim_core_reuse)request->reuse,
                     .transmit_threshold = (uint32_t)request->threshold},
        .threads = (unsigned)request->threads,
        .quiet = !request->progress};
    struct pim_core_layout other;
    add_candidate(&plan->profile, "genetic", &plan->layout);
    for (uint32_t i = 0; i < plan->search.runners_up; i++)
        add_candidate(&plan->profile, "genetic", &plan->search.runner_up[i]);
    /* Whoever asks for a search wants its refusals, not theirs. */
    if (pim_core_layout_balance(&plan->architecture, &plan->network, &plan->partition, arena, &other,
                                error) == PIM_OK)
        add_candidate(&plan->profile, "balance", &other);
    if (pim_core_layout_whole_cores(&plan->architecture, &plan->network, &plan->partition, arena, &other,
                                    error) == PIM_OK)
        add_candidate(&plan->profile, "whole cores", &other);
    *error = (struct pim_error){0};
    if (map_pimcomp_profile_run(&options, &plan->profile, error) != PIM_OK)
        return error->status;
    plan->layout = plan->profile.candidate[plan->profile.taken].layout;
    return PIM_OK;
}

static enum pim_status lay_out(const struct request *request, struct map_pimcomp_plan *plan,
                               struct pim_arena *arena, struct pim_error *error)
{
    if (request->baseline != PIM_BASELINE_NONE)
        return pim_core_baseline_layout((enum pim_core_baseline)request->baseline, &plan->architecture,
                                        &plan->network, &plan->partition, arena, &plan->layout, error);
    if (request->layout == LAYOUT_FIRST)
        return pim_core_layout_first(&plan->architecture, &plan->network, &plan->partition, arena,
                                     &plan->layout, error);
    if (request->layout == LAYOUT_BALANCE)
        return pim_core_layout_balance(&plan->architecture, &plan->network, &plan->partition, arena,
                                       &plan->layout, error);
    return search(request, plan, arena, error);
}

static enum pim_status schedule(const struct request *request, struct map_pimcomp_plan *plan,
                                struct pim_trace_writer *writer, struct pim_arena *arena,
                                struct pim_error *error)
{
    struct pim_core_schedule_options options = {.batch = (uint32_t)plan->batch,
                                                .no_grouping = request->no_grouping,
                                                .no_keeping = request->no_keeping,
                                                .reuse = (enum pim_core_reuse)request->reuse,
                                                .transmit_threshold = (uint32_t)request->threshold,
                                                .keep_pixels = request->keep_pixels,
                                                .report = &plan->report};
    enum pim_core_mode mode = (enum pim_core_mode)request->mode;
    if (pim_core_baseline_schedule((enum pim_core_baseline)request->baseline, &mode, &options, error) !=
        PIM_OK)
        return error->status;
    plan->batch = options.batch;
    if (pim_core_schedule(&plan->mapping, writer, &options, arena, &plan->map, error) != PIM_OK)
        return error->status;
    return pim_core_estimate_phases(&plan->mapping, &plan->report, (uint32_t)plan->batch, writer,
                                    &plan->estimate_cycles, plan->estimate_parts, error);
}

/* Partition and layout. */
static enum pim_status compile(const struct request *request, struct map_pimcomp_plan *plan,
                               const struct pim_hardware *hardware, struct pim_arena *arena,
                               struct pim_error *error)
{
    struct timespec begin;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    if (partition(request, plan, arena, error) != PIM_OK)
        return error->status;
    plan->partition_seconds = seconds_since(&begin);
    if (lay_out(request, plan, arena, error) != PIM_OK)
        return error->status;
    plan->layout_seconds = seconds_since(&begin);
    if (plan->searched && request->profile && profile(request, plan, hardware, arena, error) != PIM_OK)
        return error->status;
    plan->profile_seconds = seconds_since(&begin);
    return pim_core_layout_check(&plan->mapping, error);
}

/* --- the trace --- */

static enum pim_status write_trace(const struct request *request, struct map_pimcomp_plan *plan,
                                   const char *path, const char *configuration, struct pim_arena *arena,
                                   struct pim_error *error)
{
    char mapping[128];
    uint64_t samples = plan->batch ? plan->batch : 1;
    (void)snprintf(mapping, sizeof mapping, "mode %s, %s %s, seed %" PRIu64, plan->mode,
                   request->baseline ? "baseline" : "layout",
                   request->baseline ? plan->baseline : plan->method, request->seed);
    struct pim_trace_description description = {.family = "pimcomp",
                                                .network = plan->network.name,
                                                .mapping = mapping,
                                                .configuration = configuration,
                                                .width = plan->architecture.width,
                                                .height = plan->architecture.height,
                                                .units = plan->architecture.cores,
                                                .macs = plan->macs * samples,
                                                .padding_macs = (plan->network.macs - plan->macs) * samples,
                                                .weight_bytes =
                                                    plan->network.weights * plan->architecture.element_bytes};
    struct pim_trace_writer *writer = NULL;
    struct timespec begin;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    if (path && pim_trace_writer_create(path, &description, &writer, error) != PIM_OK)
        return error->status;
    if (schedule(request, plan, writer, arena, error) != PIM_OK) {
        pim_trace_writer_abandon(writer);
        return error->status;
    }
    if (writer && pim_trace_writer_finish(writer, error) != PIM_OK)
        return error->status;
    plan->schedule_seconds = seconds_since(&begin);
    return PIM_OK;
}

static enum pim_status check_values(const struct request *request, struct map_pimcomp_plan *plan,
                                    const struct pim_graph *graph, const char *path, struct pim_error *error)
{
    const struct pim_core_check_options options = {.samples = plan->batch ? (uint32_t)plan->batch : 1,
                                                   .seed = request->seed};
    struct pim_trace *trace;
    if (pim_trace_open(path, &trace, error) != PIM_OK)
        return error->status;
    plan->checked = true;
    enum pim_status status =
        pim_core_check_values(graph, &plan->mapping, &plan->map, trace, &options, &plan->check, error);
    pim_trace_close(trace);
    return status == PIM_OK ? PIM_OK : pim_fail_in(error, "the program is wrong");
}

static enum pim_status print(const struct request *request, const struct map_pimcomp_plan *plan,
                             struct pim_error *error)
{
    if (request->format == FORMAT_JSON)
        return map_pimcomp_write_json(plan, stdout, error);
    if (!request->common.quiet)
        map_pimcomp_print(plan, stdout);
    return PIM_OK;
}

/* Writes the trace under another name, proves it, and only then gives it its own. */
static enum pim_status write_checked(const struct request *request, const struct pim_network *network,
                                     struct map_pimcomp_plan *plan, const char *configuration,
                                     struct pim_arena *arena, struct pim_error *error)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    int length = request->output
                     ? snprintf(path, sizeof path, "%s.XXXXXX", request->output)
                     : snprintf(path, sizeof path, "%s/pimsim-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = length > 0 && (size_t)length < sizeof path ? mkstemp(path) : -1;
    if (file < 0)
        return pim_fail(error, PIM_IO, "%s: no file can be made there, and the check needs one", path);
    (void)close(file);
    enum pim_status status = write_trace(request, plan, path, configuration, arena, error);
    if (status == PIM_OK)
        status = check_values(request, plan, &network->graph, path, error);
    if (status == PIM_OK && request->output && rename(path, request->output) != 0)
        status = pim_fail(error, PIM_IO, "%s: %s", request->output, strerror(errno));
    (void)unlink(path);
    return status;
}

/* The whole way of a network; `configuration` is the canonical text of the hardware. */
static enum pim_status map_network(const struct request *request, const struct pim_network *network,
                                   struct map_pimcomp_plan *plan, const struct pim_hardware *hardware,
                                   const char *configuration, struct pim_arena *arena,
                                   struct pim_error *error)
{
    plan->macs = network->graph.macs;
    if (pim_core_network_lower(&network->graph, network->name, arena, &plan->network, error) != PIM_OK ||
        compile(request, plan, hardware, arena, error) != PIM_OK)
        return error->status;
    enum pim_status status = request->check
                                 ? write_checked(request, network, plan, configuration, arena, error)
                                 : write_trace(request, plan, request->output, configuration, arena, error);
    return status == PIM_OK ? print(request, plan, error) : status;
}

static enum pim_status read_and_map(struct request *request, struct pim_error *error)
{
    struct pim_configuration *configuration;
    struct pim_network *network;
    if (command_network_read(request->network, &request->network_sets, &request->onnx, &network, error) !=
        PIM_OK)
        return error->status;
    if (options_configuration(&pim_hardware_schema, &request->common.hardware, &request->common.sets, true,
                              &configuration, error) != PIM_OK) {
        pim_network_destroy(network);
        return error->status;
    }
    struct pim_arena arena;
    struct pim_hardware hardware;
    pim_arena_initialize(&arena, 1 << 20);
    struct map_pimcomp_plan plan = {.mode = request->mode == PIM_CORE_LOW_LATENCY ? "ll" : "ht",
                                    .method = request->layout == LAYOUT_FIRST     ? "first"
                                              : request->layout == LAYOUT_BALANCE ? "balance"
                                                                                  : "genetic",
                                    .baseline = pim_core_baseline_name(request->baseline),
                                    .batch = request->batch};
    struct pim_core_schedule_options ignored = {.batch = 0};
    plan.mapping = (struct pim_core_mapping){.architecture = &plan.architecture,
                                             .network = &plan.network,
                                             .partition = &plan.partition,
                                             .layout = &plan.layout,
                                             .mode = (enum pim_core_mode)request->mode};
    char *text = pim_configuration_write(configuration, false);
    enum pim_status status = text ? pim_core_baseline_schedule((enum pim_core_baseline)request->baseline,
                                                               &plan.mapping.mode, &ignored, error)
                                  : pim_fail(error, PIM_NO_MEMORY, "out of memory for the configuration");
    if (status == PIM_OK)
        status = pim_core_architecture_read(configuration, &plan.architecture, error);
    if (status == PIM_OK)
        status = pim_hardware_read(configuration, &hardware, error);
    if (status == PIM_OK)
        status = map_network(request, network, &plan, &hardware, text, &arena, error);
    free(text);
    pim_arena_terminate(&arena);
    pim_configuration_destroy(configuration);
    pim_network_destroy(network);
    return status;
}

/* Options that do nothing in the mode or with the layout are refused. */
static enum pim_status check_request(const struct request *request, struct pim_error *error)
{
    bool low_latency = request->mode == PIM_CORE_LOW_LATENCY;
    if (!request->network || request->common.hardware.count == 0)
        return pim_fail(error, PIM_USAGE, "--network FILE and --hardware FILE are needed");
    if (low_latency &&
        (request->batch > 0 || request->no_grouping || request->no_keeping || request->reuse > 0))
        return pim_fail(error, PIM_USAGE,
                        "--batch, --no-grouping, --no-keeping and --reuse are for --mode ht");
    if (!low_latency && (request->threshold > 0 || request->keep_pixels))
        return pim_fail(error, PIM_USAGE, "--transmit-threshold and --keep-pixels are for --mode ll");
    if (request->keep_pixels && request->output)
        return pim_fail(error, PIM_USAGE,
                        "--keep-pixels counts memory that cores do not have: no -o with it");
    if (request->check && !low_latency && request->batch == 0 && request->baseline != PIM_BASELINE_SONGC)
        return pim_fail(
            error, PIM_USAGE,
            "--check-values needs --batch 1 or more in --mode ht: a saturated round starts in the "
            "middle");
    if (request->profile && request->keep_pixels)
        return pim_fail(error, PIM_USAGE,
                        "--keep-pixels counts memory that cores do not have: no --profile with it");
    if (request->check && request->keep_pixels)
        return pim_fail(error, PIM_USAGE, "--check-values and --keep-pixels: one of them alone");
    return PIM_OK;
}

int command_map_pimcomp(int argument_count, char **arguments)
{
    struct request request = {.seed = 1, .profile = PROFILE_BY_PRESET};
    const struct option_rule rules[] = {
        OPTIONS_COMMON(request.common),
        {.name = "network",
         .letter = 'n',
         .kind = OPTION_TEXT,
         .target = &request.network,
         .argument = "FILE",
         .help = "The network: a descriptor as in configs/networks, or an ONNX file"},
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .target = &request.output,
         .argument = "FILE",
         .writes = WRITES_TRACE,
         .help = "The trace to write; without it the plan is only printed"},
        RULE_CHOICE("mode", request.mode, "MODE", "ht|ll", "High throughput (default) or low latency"),
        RULE_CHOICE("preset", request.preset, "PRESET", presets,
                    "Budget of the search: until it has settled (default), for sweeps, or that of the paper"),
        RULE_UNSIGNED("seed", request.seed, "NUMBER", 0, INT64_MAX, "Of the search and of --check-values"),
        RULE_UNSIGNED(
            "threads", request.threads, "NUMBER", 0, 256,
            "Threads of the search; 0 (default): one for each processor. Results do not depend on it"),
        RULE_CHOICE("layout", request.layout, "METHOD", layouts,
                    "Replicas and places of array groups: searched (default), balanced by windows, or one "
                    "replica first fit"),
        RULE_UNSIGNED("profile", request.profile, "LAYOUTS", 0, PIM_RUNNERS_UP_MOST + 1,
                      "Layouts of the search that are simulated at its end, beside two without a search: the "
                      "fastest is taken; 0: none. Default: 4, preset fast 1, paper 8"),
        RULE_CHOICE("unfolding", request.unfolding, "NAME", unfoldings,
                    "Of all layers; auto (default): chosen for each"),
        RULE_UNSIGNED("batch", request.batch, "SAMPLES", 0, 4096,
                      "High throughput: samples that go through; 0 (default): one saturated round"),
        RULE_CHOICE("reuse", request.reuse, "KIND", "rows|unfolding|none",
                    "High throughput: what of the input is loaded once and kept"),
        RULE_FLAG("no-grouping", request.no_grouping, "High throughput: each layer takes a round of its own"),
        RULE_FLAG("no-keeping", request.no_keeping,
                  "High throughput: every map goes through global memory, even where cores have room for it"),
        RULE_UNSIGNED("transmit-threshold", request.threshold, "MESSAGES", 0, UINT32_MAX,
                      "Low latency: messages are held back until so many wait; 0 (default): chosen"),
        RULE_FLAG("keep-pixels", request.keep_pixels,
                  "Low latency: counts the local memory that is needed when nothing is reclaimed"),
        RULE_CHOICE("baseline", request.baseline, "NAME", "none|songc|puma|polyhedral",
                    "Maps as this compiler does"),
        {.name = "dim",
         .kind = OPTION_LIST,
         .target = &request.dimensions,
         .argument = "NAME=SIZE",
         .help = "A size that an ONNX network leaves open: of a dimension, or of an output"},
        RULE_FLAG(
            "check-values", request.check,
            "Executes the program with numbers and compares them with a direct evaluation of the network"),
        OPTION_FORMAT(request.format, "text|json"),
    };
    const struct option_usage usage = {
        "",    "Maps a network onto cores with crossbar arrays as PIMCOMP does.",
        rules, sizeof rules / sizeof rules[0],
        0,     0};
    options_parse(&usage, argument_count, arguments, NULL);
    struct pim_error error = {0};
    text_list_take(&request.common.sets, "network.", &request.network_sets);
    request.onnx.dimensions = request.dimensions.items;
    request.onnx.count = request.dimensions.count;
    if (request.threads == 0)
        request.threads = processors();
    if (request.profile == PROFILE_BY_PRESET)
        request.profile = request.keep_pixels ? 0 : preset_profiles[request.preset];
    request.progress = !request.common.quiet && isatty(STDERR_FILENO);
    enum pim_status status = check_request(&request, &error);
    if (status == PIM_OK)
        status = read_and_map(&request, &error);
    int code = status == PIM_OK ? 0 : command_fail(arguments[0], &error);
    text_list_terminate(&request.network_sets);
    text_list_terminate(&request.dimensions);
    common_terminate(&request.common);
    return command_finish(arguments[0], code);
}
