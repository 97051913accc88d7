/* pimsim map: a network and a hardware configuration become a trace. */
#include "mappers/allspark/allspark.h"
#include "mappers/allspark/placement/placement.h"
#include "models/system/schema.h"
#include "tools/command/command.h"
#include "tools/command/hardware.h"
#include "tools/command/map_plan.h"
#include "tools/command/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct request {
    struct common_options common;
    struct map_plan_file file; /* of --plan */
    const char *network, *output, *partition, *plan, *solver;
    uint64_t ring, chunks, batch, seconds;
    unsigned scheduler, exchange, format;
    bool ilp;
};

enum { FORMAT_TEXT, FORMAT_JSON };

/* "branch", "patch", "head", "auto", or partitions. */
static enum pim_status parse_partition(const char *text, struct pim_allspark_options *options,
                                       struct pim_error *error)
{
    static const struct {
        const char *name;
        enum pim_allspark_scheme scheme;
    } names[] = {{"auto", PIM_ALLSPARK_AUTOMATIC}, {"B", PIM_ALLSPARK_BRANCH},
                 {"branch", PIM_ALLSPARK_BRANCH},  {"P", PIM_ALLSPARK_PATCH},
                 {"patch", PIM_ALLSPARK_PATCH},    {"AH", PIM_ALLSPARK_HEAD},
                 {"head", PIM_ALLSPARK_HEAD}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i].name) == 0) {
            options->scheme = names[i].scheme;
            return PIM_OK;
        }
    return map_plan_parse(text, options, error);
}

/* On a terminal, for searches that take long. */
static void show_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    fprintf(stderr, "\r%s %" PRIu64 " of %" PRIu64 "\033[K", what, done, total);
}

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + 1e-9 * (double)(now.tv_nsec - begin->tv_nsec);
}

/* What partition was asked for; of a plan in a file, when that was made. */
static const char *label_of(const struct request *request)
{
    return request->plan ? map_plan_label(&request->file) : request->partition;
}

static enum pim_status print_plan(const struct request *request, const struct pim_allspark_plan *plan,
                                  double seconds, struct pim_error *error)
{
    struct map_result result = {.plan = plan,
                                .solve_seconds = seconds,
                                .scheduler = request->ilp ? "ilp" : "exact",
                                .partition = label_of(request)};
    if (pim_allspark_estimate(plan, &result.cycles, error) != PIM_OK ||
        pim_allspark_estimate_parts(plan, result.parts, error) != PIM_OK)
        return error->status;
    if (request->format != FORMAT_TEXT)
        return map_plan_write_json(&result, stdout, error);
    if (!request->common.quiet)
        map_plan_print(&result, stdout);
    return PIM_OK;
}

static enum pim_status write_trace(const struct request *request, const struct pim_allspark_plan *plan,
                                   const char *configuration, struct pim_error *error)
{
    char network[256], mapping[256], batch[32] = "";
    const char *exchange = plan->exchange == PIM_ALLSPARK_GATHER ? ", gather, transfer, scatter" : "";
    const struct pim_network *source = plan->network;
    (void)snprintf(network, sizeof network, "%s %" PRIu32 "x%" PRIu32, source->name,
                   source->transformer->image, source->transformer->image);
    if (plan->batch > 1)
        (void)snprintf(batch, sizeof batch, ", batch of %" PRIu32, plan->batch);
    (void)snprintf(mapping, sizeof mapping, "partition %s%s%s", label_of(request), batch, exchange);
    uint64_t executed = pim_allspark_macs(plan);
    uint64_t mapped = plan->batch * source->graph.macs;
    struct pim_trace_description description = {.family = "allspark",
                                                .network = network,
                                                .mapping = mapping,
                                                .configuration = configuration,
                                                .width = plan->hardware.width,
                                                .height = plan->hardware.height,
                                                .units = plan->hardware.width * plan->hardware.height,
                                                .macs = mapped,
                                                .padding_macs = executed - mapped,
                                                .weight_bytes = pim_allspark_weight_bytes(plan)};
    struct pim_trace_writer *writer;
    if (pim_trace_writer_create(request->output, &description, &writer, error) != PIM_OK)
        return error->status;
    if (pim_allspark_emit(plan, writer, error) != PIM_OK) {
        pim_trace_writer_abandon(writer);
        return error->status;
    }
    return pim_trace_writer_finish(writer, error);
}

static enum pim_status map_network(struct request *request, const struct pim_allspark_options *options,
                                   const struct pim_network *network, struct pim_error *error)
{
    struct pim_configuration *configuration;
    if (options_configuration(&pim_hardware_schema, &request->common.hardware, &request->common.sets, true,
                              &configuration, error) != PIM_OK)
        return error->status;
    struct pim_hardware hardware;
    struct pim_estimate_hardware estimate;
    struct pim_allspark_plan plan;
    double seconds = 0;
    char *text = pim_configuration_write(configuration, false);
    enum pim_status status = text ? pim_hardware_read(configuration, &hardware, error)
                                  : pim_fail(error, PIM_NO_MEMORY, "out of memory for the configuration");
    if (status == PIM_OK) {
        command_estimate_hardware(configuration, &hardware, &estimate);
        struct timespec begin;
        (void)clock_gettime(CLOCK_MONOTONIC, &begin);
        status = pim_allspark_plan(network, &estimate, options, &plan, error);
        if (options->progress)
            fputs("\r\033[K", stderr);
        seconds = seconds_since(&begin);
    }
    if (status == PIM_OK) {
        if (request->plan)
            status = map_plan_check(&request->file, &plan, error);
        if (status == PIM_OK && request->output)
            status = write_trace(request, &plan, text, error);
        if (status == PIM_OK)
            status = print_plan(request, &plan, seconds, error);
        pim_allspark_plan_terminate(&plan);
    }
    free(text);
    pim_configuration_destroy(configuration);
    return status;
}

static int map_allspark(int argument_count, char **arguments)
{
    struct request request = {.partition = "auto", .seconds = 600};
    const struct option_rule rules[] = {
        OPTIONS_COMMON(request.common),
        {.name = "network",
         .letter = 'n',
         .kind = OPTION_TEXT,
         .target = &request.network,
         .argument = "FILE",
         .help = "The network: a descriptor as in configs/networks"},
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .target = &request.output,
         .argument = "FILE",
         .writes = WRITES_TRACE,
         .help = "The trace to write; without it the plan is only printed"},
        {.name = "partition",
         .letter = 'p',
         .kind = OPTION_TEXT,
         .target = &request.partition,
         .argument = "SCHEME",
         .help = "auto, branch (B), patch (P), head (AH), u,v for all stages, or u,v:u,v:... for each stage; "
                 "u,v*layers+u,v for temporal layers that differ"},
        {.name = "ring",
         .kind = OPTION_UNSIGNED,
         .target = &request.ring,
         .argument = "NODES",
         .help =
             "Nodes over which weights are spread; 1: those of a branch, as in the paper; 0 (default): the "
             "best",
         .maximum = 256},
        RULE_UNSIGNED("chunks", request.chunks, "NUMBER", 0, PIM_CHUNKS,
                      "Pieces in which the weights of a phase go round; 0 (default): the best"),
        RULE_UNSIGNED("batch", request.batch, "IMAGES", 1, PIM_BATCH,
                      "Images that are worked together, phase by phase, with weights shared once for all"),
        RULE_CHOICE("exchange", request.exchange, "FORM", "auto|direct|gather",
                    "How branches give to each other: from node to node, or as in the paper over the "
                    "top-left nodes of their sub-arrays; auto: as the file of --plan says, else direct"),
        RULE_TEXT("plan", request.plan, "FILE", "Takes the plan of this file, as --format json writes it"),
        RULE_CHOICE("scheduler", request.scheduler, "METHOD", "exact|ilp",
                    "How the best plan is found: by pimsim, or by an integer programming solver"),
        RULE_TEXT("solver", request.solver, "NAME", "The solver for ilp: cbc, highs, gurobi_cl or glpsol"),
        RULE_UNSIGNED("time-limit", request.seconds, "SECONDS", 1, 86400, "Of the solver"),
        OPTION_FORMAT(request.format, "text|json"),
    };
    const struct option_usage usage = {
        "",    "Maps a vision transformer onto an array of DRAM-PIM nodes as Allspark does.",
        rules, sizeof rules / sizeof rules[0],
        0,     0};
    options_parse(&usage, argument_count, arguments, NULL);
    struct pim_error error = {0};
    request.ilp = request.scheduler == 1;
    struct pim_allspark_options options = {.ring = (uint32_t)request.ring,
                                           .chunks = (uint32_t)request.chunks,
                                           .batch = (uint32_t)request.batch,
                                           .exchange = (enum pim_allspark_exchange)request.exchange,
                                           .ilp = request.ilp,
                                           .solver = request.solver,
                                           .solver_seconds = (uint32_t)request.seconds};
    if (!request.common.quiet && isatty(STDERR_FILENO))
        options.progress = show_progress;
    struct text_list network_sets = {0};
    struct pim_network *network = NULL;
    enum pim_status status = PIM_OK;
    if (!request.network || request.common.hardware.count == 0)
        status = pim_fail(&error, PIM_USAGE, "--network FILE and --hardware FILE are needed");
    text_list_take(&request.common.sets, "network.", &network_sets);
    if (status == PIM_OK && request.plan && strcmp(request.partition, "auto") != 0)
        status = pim_fail(&error, PIM_USAGE, "--plan and --partition: one of them alone");
    if (status == PIM_OK)
        status = request.plan ? map_plan_read(&request.file, request.plan, &options, &error)
                              : parse_partition(request.partition, &options, &error);
    if (status == PIM_OK)
        status = pim_network_read(request.network, network_sets.items, network_sets.count, &network, &error);
    if (status == PIM_OK)
        status = map_network(&request, &options, network, &error);
    int code = status == PIM_OK ? 0 : command_fail(arguments[0], &error);
    map_plan_close(&request.file);
    pim_network_destroy(network);
    text_list_terminate(&network_sets);
    common_terminate(&request.common);
    return command_finish(arguments[0], code);
}

int command_map(int argument_count, char **arguments)
{
    static const struct command table[] = {
        {"allspark", "Vision transformers on DRAM-PIM nodes", map_allspark},
        {"pimcomp", "Networks on cores with crossbar arrays", command_map_pimcomp},
    };
    return command_dispatch(table, sizeof table / sizeof table[0],
                            "Mapping front-ends: a network becomes a trace.", argument_count, arguments);
}
