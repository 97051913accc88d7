/* pimsim map: a network and a hardware configuration become a trace. */
#include "mappers/allspark/allspark.h"
#include "mappers/allspark/placement/placement.h"
#include "models/system/schema.h"
#include "tools/command/command.h"
#include "tools/command/hardware.h"
#include "tools/command/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    struct common_options common;
    const char *network, *output, *partition;
    uint64_t ring;
};

/* "branch", "patch", "head", "auto", or u,v for all stages, or u,v:u,v:... one for each. */
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
    options->scheme = PIM_ALLSPARK_EXPLICIT;
    const char *rest = text;
    do {
        unsigned u, v;
        int used = 0;
        if (options->explicit_count == PIM_STAGES || sscanf(rest, "%5u,%5u%n", &u, &v, &used) != 2 ||
            (rest[used] != '\0' && rest[used] != ':'))
            return pim_fail(error, PIM_USAGE,
                            "--partition %s: auto, branch (B), patch (P), head (AH), u,v for all stages, or "
                            "u,v:u,v:... with one "
                            "for each stage is expected",
                            text);
        options->u[options->explicit_count] = u;
        options->v[options->explicit_count++] = v;
        rest += used;
    } while (*rest++ == ':');
    return PIM_OK;
}

/* How far apart branches stand that give to each other (section VII of the paper), and what that takes. */
static void print_placement(const struct pim_allspark_plan *plan)
{
    struct pim_error error = {0};
    uint64_t between;
    for (uint32_t i = 0; i < plan->stages; i++) {
        struct pim_placement_report report;
        if (pim_allspark_placement(plan, i, NULL, &report, &error) == PIM_OK && report.greedy.edges > 0)
            printf("placement of stage %" PRIu32 ": %.2f hops on average over %" PRIu64
                   " edges (in order %.2f, at random %.2f)\n",
                   plan->stage[i].of + 1, report.greedy.average, report.greedy.edges, report.ordered.average,
                   report.random);
    }
    if (pim_allspark_estimate_interaction(plan, &between, &error) == PIM_OK && between > 0)
        printf("exchange between branches: %" PRIu64 " cycles of the estimate\n", between);
}

static void print_plan(const struct pim_allspark_plan *plan, uint64_t cycles)
{
    printf("%s on %" PRIu32 " x %" PRIu32 " nodes\n", plan->network->name, plan->hardware.width,
           plan->hardware.height);
    printf("stage  blocks  branches  tokens  heads  channels  partition  ring  sub-arrays  layers  "
           "weights/node\n");
    for (uint32_t i = 0; i < plan->stages; i++) {
        const struct pim_allspark_partition *stage = &plan->stage[i].partition[0];
        char partition[24];
        (void)snprintf(partition, sizeof partition, "%" PRIu32 "x%" PRIu32, stage->u, stage->v);
        printf("%5" PRIu32 "  %6" PRIu32 "  %8" PRIu32 "  %6" PRIu32 "  %5" PRIu32 "  %8" PRIu32
               "  %9s  %4" PRIu32 "  %10" PRIu32 "  %6" PRIu32 "  %12" PRIu64 "\n",
               plan->stage[i].of + 1, stage->blocks, stage->branches, stage->tokens, stage->heads,
               stage->channels, partition, stage->ring, stage->layout.count * stage->slots, stage->layers,
               stage->weight_bytes);
    }
    printf("memory of a node: weights %" PRIu64 " + workspace %" PRIu64 " = %" PRIu64 " of %" PRIu64
           " bytes\n",
           plan->weight_bytes, plan->workspace_bytes, plan->weight_bytes + plan->workspace_bytes,
           plan->hardware.memory_bytes);
    print_placement(plan);
    printf("estimate: %" PRIu64 " cycles\n", cycles);
}

static enum pim_status write_trace(const struct request *request, const struct pim_allspark_plan *plan,
                                   const char *configuration, struct pim_error *error)
{
    char network[256], mapping[256];
    const struct pim_network *source = plan->network;
    (void)snprintf(network, sizeof network, "%s %" PRIu32 "x%" PRIu32, source->name,
                   source->transformer->image, source->transformer->image);
    (void)snprintf(mapping, sizeof mapping, "partition %s", request->partition);
    uint64_t executed = pim_allspark_macs(plan);
    uint64_t mapped = source->graph.macs - pim_allspark_omitted_macs(source);
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

static enum pim_status map_network(const struct request *request, const struct pim_allspark_options *options,
                                   const struct pim_network *network, struct pim_error *error)
{
    struct pim_configuration *configuration;
    if (options_configuration(&pim_hardware_schema, &request->common.hardware, &request->common.sets, true,
                              &configuration, error) != PIM_OK)
        return error->status;
    struct pim_hardware hardware;
    struct pim_estimate_hardware estimate;
    struct pim_allspark_plan plan;
    char *text = pim_configuration_write(configuration, false);
    enum pim_status status = text ? pim_hardware_read(configuration, &hardware, error)
                                  : pim_fail(error, PIM_NO_MEMORY, "out of memory for the configuration");
    if (status == PIM_OK) {
        command_estimate_hardware(configuration, &hardware, &estimate);
        status = pim_allspark_plan(network, &estimate, options, &plan, error);
    }
    if (status == PIM_OK) {
        uint64_t cycles = 0;
        status = pim_allspark_estimate(&plan, &cycles, error);
        if (status == PIM_OK && request->output)
            status = write_trace(request, &plan, text, error);
        if (status == PIM_OK && !request->common.quiet)
            print_plan(&plan, cycles);
        pim_allspark_plan_terminate(&plan);
    }
    free(text);
    pim_configuration_destroy(configuration);
    return status;
}

/* --set goes to the network when its key begins with "network.", else to the hardware. */
static void split_sets(struct request *request, struct text_list *network_sets)
{
    struct text_list *sets = &request->common.sets;
    network_sets->items = calloc(sets->count + 1, sizeof *network_sets->items);
    if (!network_sets->items)
        abort();
    size_t kept = 0;
    for (size_t i = 0; i < sets->count; i++)
        if (strncmp(sets->items[i], "network.", strlen("network.")) == 0)
            network_sets->items[network_sets->count++] = sets->items[i];
        else
            sets->items[kept++] = sets->items[i];
    sets->count = kept;
}

static int map_allspark(int argument_count, char **arguments)
{
    struct request request = {.partition = "auto"};
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
         .help = "The trace to write; without it the plan is only printed"},
        {.name = "partition",
         .letter = 'p',
         .kind = OPTION_TEXT,
         .target = &request.partition,
         .argument = "SCHEME",
         .help = "auto, branch (B), patch (P), head (AH), u,v for all stages, or u,v:u,v:... for each stage"},
        {.name = "ring",
         .kind = OPTION_UNSIGNED,
         .target = &request.ring,
         .argument = "NODES",
         .help = "Nodes over which weights are spread; 0 (default) is the fewest that fit",
         .maximum = 256},
    };
    const struct option_usage usage = {
        "",    "Maps a vision transformer onto an array of DRAM-PIM nodes as Allspark does.",
        rules, sizeof rules / sizeof rules[0],
        0,     0};
    options_parse(&usage, argument_count, arguments, NULL);
    struct pim_error error = {0};
    struct pim_allspark_options options = {.ring = (uint32_t)request.ring};
    struct text_list network_sets = {0};
    struct pim_network *network = NULL;
    enum pim_status status = PIM_OK;
    if (!request.network || request.common.hardware.count == 0)
        status = pim_fail(&error, PIM_USAGE, "--network FILE and --hardware FILE are needed");
    split_sets(&request, &network_sets);
    if (status == PIM_OK)
        status = parse_partition(request.partition, &options, &error);
    if (status == PIM_OK)
        status = pim_network_read(request.network, network_sets.items, network_sets.count, &network, &error);
    if (status == PIM_OK)
        status = map_network(&request, &options, network, &error);
    int code = status == PIM_OK ? 0 : command_fail(arguments[0], &error);
    pim_network_destroy(network);
    text_list_terminate(&network_sets);
    common_terminate(&request.common);
    return command_finish(arguments[0], code);
}

int command_map(int argument_count, char **arguments)
{
    static const struct command table[] = {
        {"allspark", "Vision transformers on DRAM-PIM nodes", map_allspark},
    };
    return command_dispatch(table, sizeof table / sizeof table[0],
                            "Mapping front-ends: a network becomes a trace.", argument_count, arguments);
}
