/*
 * pimsim map conflict: a network becomes a task graph and a mapping of it onto the mesh of the
 * communication-conflict paper. Both are files that `pimsim tasks` replays.
 */
#include "tools/command/map_conflict.h"

#include "sim/csv.h"
#include "sim/json.h"
#include "sim/output.h"
#include "sim/progress.h"
#include "tools/command/command.h"
#include "tools/command/conflict_graph.h"
#include "tools/command/interrupt.h"
#include "tools/command/network.h"
#include "tools/command/tasks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *network, *recorded, *output, *mesh, *log;
    struct text_list dimensions;
    struct pim_conflict_options options;
    unsigned mapping, fitness, preset, switching, routing, arbiter, format;
    uint64_t population, generations, finalists, group, seed, threads, images, input_bits, output_bits;
    double seconds;
    bool quiet;
};

struct run {
    struct request *request;
    struct pim_arena arena;
    struct pim_network *network;
    struct pim_tile_graph tiles;
    struct conflict_simulator simulator;
    struct pim_task_graph *graph;
    uint32_t *place;
    struct pim_tile_mapping_result result;
    struct pim_progress progress;
    struct pim_output *log;
    struct pim_csv_writer writer;
};

/* --- the graph --- */

static enum pim_status read_layers(struct run *run, struct pim_tile_layer **layers, uint32_t *count,
                                   struct pim_error *error)
{
    const struct request *request = run->request;
    const struct text_list none = {0};
    const struct pim_onnx_options onnx = {.dimensions = request->dimensions.items,
                                          .count = request->dimensions.count};
    if ((request->network != NULL) == (request->recorded != NULL))
        return pim_fail(error, PIM_USAGE, "either --network FILE or --recorded NAME is needed");
    if (request->recorded) {
        if (pim_tile_layers_named(request->recorded, &run->arena, layers, count))
            return PIM_OK;
        return pim_fail(
            error, PIM_BAD_INPUT,
            "--recorded %.60s: there are cifar- and imagenet- with alexnet, vgg8, resnet18 and vgg16",
            request->recorded);
    }
    if (command_network_read(request->network, &none, &onnx, &run->network, error) != PIM_OK)
        return error->status;
    return pim_tile_layers_of(&run->network->graph, &run->arena, layers, count, error);
}

static enum pim_status make_graph(struct run *run, struct pim_error *error)
{
    const struct request *request = run->request;
    struct pim_tile_hardware hardware = PIM_TILE_DEFAULTS;
    struct pim_tile_layer *layers = NULL;
    uint32_t count = 0;
    hardware.preset = request->preset == 0 ? PIM_TILE_CODE : PIM_TILE_FIXED;
    if (read_layers(run, &layers, &count, error) != PIM_OK)
        return error->status;
    const char *name = request->recorded ? request->recorded : run->network->name;
    enum pim_status status =
        pim_tile_graph_make(&run->tiles, name, layers, count, &hardware, &run->arena, error);
    return status == PIM_OK ? conflict_task_graph(&run->tiles, &run->graph, error) : status;
}

/* --- the mapping --- */

static void show_progress(void *context, uint64_t steps, double best)
{
    struct run *run = context;
    (void)best;
    pim_progress_update(&run->progress, steps);
}

static void log_finalist(void *context, const struct pim_tile_finalist *finalist)
{
    struct run *run = context;
    pim_csv_put_count(&run->writer, finalist->rank);
    pim_csv_put_count(&run->writer, finalist->cost);
    pim_csv_put_count(&run->writer, finalist->bottleneck);
    pim_csv_put_real(&run->writer, finalist->latency_ns);
    pim_csv_put_real(&run->writer, finalist->interval_ns);
    pim_csv_end_row(&run->writer);
}

static enum pim_status open_log(struct run *run, struct pim_error *error)
{
    static const char *const header[] = {"rank", "cost_bit_hops", "bottleneck_bit_hops", "latency_ns",
                                         "interval_ns"};
    if (!run->request->log)
        return PIM_OK;
    if (pim_output_open(&run->log, run->request->log, error) != PIM_OK)
        return error->status;
    pim_csv_start(&run->writer, pim_output_file(run->log), header, sizeof header / sizeof header[0]);
    return PIM_OK;
}

static bool asked_to_stop(void *context)
{
    (void)context;
    return interrupt_asked();
}

/* Whether the graph runs at all: buffers that are too small stop it wherever its nodes stand. */
static enum pim_status try_to_run(struct run *run, struct pim_error *error)
{
    struct pim_conflict_result result;
    const struct pim_grid grid = {run->simulator.options.mesh.width, run->simulator.options.mesh.height};
    pim_tile_pattern(PIM_TILE_ROW_MAJOR, &grid, run->tiles.nodes, run->place);
    enum pim_status status =
        pim_conflict_run(run->graph, run->place, &run->simulator.options, &result, error);
    pim_conflict_result_terminate(&result);
    return status;
}

static enum pim_status make_mapping(struct run *run, struct pim_error *error)
{
    const struct request *request = run->request;
    const struct pim_tile_mapping_options options = {
        .mapping = (enum pim_tile_mapping)request->mapping,
        .fitness = (enum pim_tile_fitness)request->fitness,
        .grid = {run->simulator.options.mesh.width, run->simulator.options.mesh.height},
        .population = (uint32_t)request->population,
        .generations = (uint32_t)request->generations,
        .group_most = (uint32_t)request->group,
        .finalists = (uint32_t)request->finalists,
        .seed = request->seed,
        .threads = (unsigned)request->threads,
        .seconds = request->seconds,
        .stop = asked_to_stop,
        .finalist = request->log ? log_finalist : NULL,
        .finalist_context = run,
        .progress = show_progress,
        .progress_context = run,
        .simulate = conflict_simulate,
        .simulate_context = &run->simulator};
    run->place = calloc((size_t)run->tiles.nodes + 1, sizeof *run->place);
    if (!run->place)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " nodes", run->tiles.nodes);
    run->simulator.graph = run->graph;
    if (run->tiles.nodes <= pim_grid_cells(&options.grid) && try_to_run(run, error) != PIM_OK)
        return error->status;
    if (open_log(run, error) != PIM_OK)
        return error->status;
    pim_progress_start(&run->progress, "mapping", request->generations, request->quiet);
    interrupt_begin();
    enum pim_status status = pim_tile_map(&run->tiles, &options, run->place, &run->result, error);
    interrupt_end();
    pim_progress_finish(&run->progress);
    if (status == PIM_OK && run->log) {
        status = pim_output_commit(run->log, error);
        run->log = NULL;
    }
    return status;
}

/* --- what is written --- */

/* PREFIX.mappings.json: the mapping by its name, rows and columns of the nodes. */
static enum pim_status write_mapping(const struct run *run, struct pim_error *error)
{
    char path[4200];
    struct pim_output *output;
    uint32_t width = run->simulator.options.mesh.width;
    (void)snprintf(path, sizeof path, "%.4095s.mappings.json", run->request->output);
    if (pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    FILE *file = pim_output_file(output);
    fprintf(file, "{\"%s\": [", pim_tile_mapping_name(run->request->mapping));
    for (uint32_t n = 0; n < run->tiles.nodes; n++)
        fprintf(file, "%s[%" PRIu32 ", %" PRIu32 "]", n ? ", " : "", run->place[n] / width,
                run->place[n] % width);
    fputs("]}\n", file);
    return pim_output_commit(output, error);
}

static void print_text(const struct run *run, FILE *file)
{
    const struct pim_tile_mapping_result *result = &run->result;
    const struct pim_tile_graph *tiles = &run->tiles;
    uint64_t packets = 0, bits = 0;
    for (uint32_t e = 0; e < tiles->edges; e++) {
        packets += tiles->edge[e].packets;
        bits += tiles->edge[e].packets * tiles->edge[e].bits;
    }
    fprintf(file, "network              %s, preset %s\n", tiles->name,
            run->request->preset ? "fixed" : "code");
    fprintf(file,
            "graph                %" PRIu32 " nodes, %" PRIu32 " edges; an image: %" PRIu64
            " packets, %" PRIu64 " bits\n",
            tiles->nodes, tiles->edges, packets, bits);
    fprintf(file, "mapping              %s: %s\n", pim_tile_mapping_name(run->request->mapping),
            pim_tile_mapping_text(run->request->mapping));
    if (result->searched) {
        fprintf(file,
                "search               by %s, %" PRIu64 " generations, %" PRIu64 " scores; it ended: %s\n",
                pim_tile_fitness_name(run->request->fitness), result->search.steps,
                result->search.evaluations, pim_search_end_name(result->search.end));
        fprintf(file, "search space         10^%.1f", result->space);
        if (result->groups)
            fprintf(file, " for %" PRIu32 " groups", result->groups);
        fprintf(file, "\n");
        if (result->finalists)
            fprintf(file, "simulated in the end %" PRIu32 " of the last population\n", result->finalists);
        if (result->front)
            fprintf(file, "first front          %" PRIu32 " mappings\n", result->front);
    }
    fprintf(file, "communication cost   %" PRIu64 " bits x hops\n", result->cost);
    fprintf(file, "bottleneck link      %.3f us held\n",
            (double)result->bottleneck / run->simulator.options.bandwidth_gbps / 1000);
    if (!isnan(result->latency_ns))
        fprintf(file, "latency              %.3f us\n", result->latency_ns / 1000);
    if (!isnan(result->interval_ns) && run->simulator.options.images > 1)
        fprintf(file, "time for an image    %.3f us, %" PRIu32 " images\n", result->interval_ns / 1000,
                run->simulator.options.images);
}

static void put_real_or_null(struct pim_json *json, const char *name, double value)
{
    if (isfinite(value))
        pim_json_put_real(json, name, value);
    else
        pim_json_put_null(json, name);
}

static enum pim_status print_json(const struct run *run, FILE *file, struct pim_error *error)
{
    const struct pim_tile_mapping_result *result = &run->result;
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the report");
    pim_json_put_text(json, "network", run->tiles.name);
    pim_json_put_text(json, "preset", run->request->preset ? "fixed" : "code");
    pim_json_put_count(json, "nodes", run->tiles.nodes);
    pim_json_put_count(json, "edges", run->tiles.edges);
    pim_json_put_text(json, "mapping", pim_tile_mapping_name(run->request->mapping));
    pim_json_put_text(json, "fitness", pim_tile_fitness_name(run->request->fitness));
    pim_json_put_count(json, "seed", run->request->seed);
    pim_json_put_count(json, "generations", result->search.steps);
    pim_json_put_count(json, "evaluations", result->search.evaluations);
    pim_json_put_count(json, "groups", result->groups);
    put_real_or_null(json, "search_space_log10", result->searched ? result->space : nan(""));
    pim_json_put_count(json, "cost_bit_hops", result->cost);
    pim_json_put_count(json, "bottleneck_bit_hops", result->bottleneck);
    put_real_or_null(json, "latency_ns", result->latency_ns);
    put_real_or_null(json, "interval_ns", result->interval_ns);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

static enum pim_status execute(struct run *run, struct pim_error *error)
{
    struct request *request = run->request;
    struct pim_conflict_options *options = &request->options;
    options->switching = (enum pim_switching)request->switching;
    options->routing = (enum pim_conflict_routing)request->routing;
    options->arbiter = (enum pim_conflict_arbiter)request->arbiter;
    options->images = (uint32_t)request->images;
    options->input_bits = request->input_bits;
    options->output_bits = request->output_bits;
    if (tasks_parse_mesh(request->mesh, &options->mesh, error) != PIM_OK)
        return error->status;
    run->simulator.options = *options;
    enum pim_status status = make_graph(run, error);
    if (status == PIM_OK)
        status = make_mapping(run, error);
    if (status == PIM_OK && request->output)
        status = conflict_graph_write(&run->tiles, request->output, error);
    if (status == PIM_OK && request->output)
        status = write_mapping(run, error);
    if (status == PIM_OK && request->format == 1)
        return print_json(run, stdout, error);
    if (status == PIM_OK && !request->quiet)
        print_text(run, stdout);
    return status;
}

#define BITS_MOST (UINT64_C(1) << 50)

/* What is mapped and how; the network that judges, and what is shown. */
#define OPTIONS_SEARCH(request)                                                                              \
    {.name = "network",                                                                                      \
     .letter = 'n',                                                                                          \
     .kind = OPTION_TEXT,                                                                                    \
     .target = &(request).network,                                                                           \
     .argument = "FILE",                                                                                     \
     .help = "The network: a descriptor as in configs/networks, or an ONNX file"},                           \
        RULE_TEXT(                                                                                           \
            "recorded", (request).recorded, "NAME",                                                          \
            "A network of the paper's authors: cifar- or imagenet- and alexnet, vgg8, resnet18 or vgg16"),   \
        {.name = "dim",                                                                                      \
         .kind = OPTION_LIST,                                                                                \
         .target = &(request).dimensions,                                                                    \
         .argument = "NAME=SIZE",                                                                            \
         .help = "A size that an ONNX network leaves open: of a dimension, or of an output"},                \
        {.name = "output",                                                                                   \
         .letter = 'o',                                                                                      \
         .kind = OPTION_TEXT,                                                                                \
         .target = &(request).output,                                                                        \
         .argument = "PREFIX",                                                                               \
         .help = "Writes PREFIX.nodes.csv and so on, the graph, and PREFIX.mappings.json"},                  \
        RULE_CHOICE("preset", (request).preset, "PRESET", "code|fixed",                                      \
                    "Times as the authors' code has them (default), or without its two errors"),             \
        RULE_CHOICE("mapping", (request).mapping, "NAME",                                                    \
                    "row-major|snake|boustrophedon|heuristic|node-group|groups|capped-groups|nsga2",         \
                    "How nodes are placed; node-group"),                                                     \
        RULE_CHOICE("fitness", (request).fitness, "WHAT", "cost|bottleneck|simulation",                      \
                    "What a search judges mappings by; cost"),                                               \
        RULE_UNSIGNED("population", (request).population, "N", 2, 65536, "Mappings that survive; 200"),      \
        RULE_UNSIGNED("generations", (request).generations, "N", 0, 1000000,                                 \
                      "Generations of a search; 300"),                                                       \
        RULE_UNSIGNED("finalists", (request).finalists, "N", 0, 65536,                                       \
                      "Mappings of the last population that are simulated, the fastest is taken; 200"),      \
        RULE_UNSIGNED("group", (request).group, "N", 0, 65536,                                               \
                      "Nodes of a capped group; 0 (default): a sixteenth of all"),                           \
        RULE_UNSIGNED("seed", (request).seed, "NUMBER", 0, INT64_MAX, "Of the search"),                      \
        RULE_UNSIGNED("threads", (request).threads, "NUMBER", 1, 64,                                         \
                      "Threads of the search; 1. Results do not depend on it"),                              \
    {                                                                                                        \
        .name = "time-limit", .kind = OPTION_REAL, .target = &(request).seconds, .argument = "SECONDS",      \
        .help = "Then the best so far is taken", .real_maximum = 1e6                                         \
    }

#define OPTIONS_MESH(request)                                                                                \
    RULE_OUTPUT("log", (request).log, WRITES_TEXT,                                                           \
                "Writes cost, bottleneck and latency of the finalists (CSV)"),                               \
        RULE_TEXT("mesh", (request).mesh, "ROWSxCOLUMNS", "Size of the mesh; 16x16"),                        \
        RULE_UNSIGNED("images", (request).images, "N", 1, 65535,                                             \
                      "Images behind each other, for the time of one"),                                      \
        RULE_CHOICE("switching", (request).switching, "MODE", "path_hold|saf", "As pimsim tasks has it"),    \
        RULE_CHOICE("routing", (request).routing, "RULE", "xy|yx|adaptive", "As pimsim tasks has it"),       \
        RULE_CHOICE("arbiter", (request).arbiter, "RULE", "fixed|balance|fifo|round-robin",                  \
                    "As pimsim tasks has it"),                                                               \
        {.name = "bandwidth",                                                                                \
         .kind = OPTION_REAL,                                                                                \
         .target = &(request).options.bandwidth_gbps,                                                        \
         .argument = "GBPS",                                                                                 \
         .help = "Bandwidth of every link in Gb/s; 8",                                                       \
         .real_minimum = 1e-6,                                                                               \
         .real_maximum = 1e6},                                                                               \
        RULE_UNSIGNED("input-buffer", (request).input_bits, "BITS", 1, BITS_MOST,                            \
                      "Input buffer of a node, split among its sources; 822400"),                            \
        RULE_UNSIGNED("output-buffer", (request).output_bits, "BITS", 1, BITS_MOST,                          \
                      "Output buffer of a node for each of its targets; 822400"),                            \
        OPTION_FORMAT((request).format, "text|json"),                                                        \
    {                                                                                                        \
        .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .target = &(request).quiet,                     \
        .help = "No progress, only results and errors"                                                       \
    }

int command_map_conflict(int argument_count, char **arguments)
{
    struct request request = {.options = PIM_CONFLICT_DEFAULTS,
                              .mesh = "16x16",
                              .mapping = PIM_TILE_NODE_GROUP,
                              .population = 200,
                              .generations = 300,
                              .finalists = 200,
                              .seed = 1,
                              .threads = 1,
                              .images = 1,
                              .input_bits = 822400,
                              .output_bits = 822400};
    const struct option_rule rules[] = {OPTIONS_SEARCH(request), OPTIONS_MESH(request)};
    const struct option_usage usage = {"",
                                       "Maps a convolutional network onto a mesh of crossbar tiles, with "
                                       "conflicts of communication in mind.",
                                       rules,
                                       sizeof rules / sizeof rules[0],
                                       0,
                                       0};
    options_parse(&usage, argument_count, arguments, NULL);
    struct pim_error error = {0};
    struct run run = {.request = &request};
    pim_arena_initialize(&run.arena, 0);
    int code = execute(&run, &error) == PIM_OK ? 0 : command_fail(arguments[0], &error);
    pim_output_abandon(run.log);
    free(run.place);
    pim_task_graph_destroy(run.graph);
    pim_network_destroy(run.network);
    pim_arena_terminate(&run.arena);
    text_list_terminate(&request.dimensions);
    return command_finish(arguments[0], code);
}
