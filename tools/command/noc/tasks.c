/* pimsim tasks: a task graph on the network of the communication-conflict paper. */
#include "tools/command/noc/tasks.h"

#include "models/area/area.h"
#include "models/conflict/conflict.h"
#include "models/system/report/report.h"
#include "sim/output/csv.h"
#include "sim/output/json.h"
#include "sim/output/output.h"
#include "tools/command/command.h"
#include "tools/command/noc/tasks_request.h"
#include "tools/command/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Everything of a run that has to be given back. */
struct run {
    struct pim_task_graph *graph;
    uint32_t *placement;
    struct pim_behaviour table, made;
    struct pim_conflict_result result;
    struct pim_output *log;
    struct pim_csv_writer writer;
    const struct request *request;
};

bool noc_tasks_wanted(int argument_count, char **arguments)
{
    for (int i = 1; i < argument_count; i++) {
        if (strcmp(arguments[i], "--tasks") == 0 || strncmp(arguments[i], "--tasks=", 8) == 0)
            return true;
    }
    return false;
}

/* --- intervals --- */

enum { PATH_TEXT = 4096 };

/* Routers of a path as "row:column row:column ...", cut when it is very long. */
static void write_path(char *text, const struct pim_conflict_interval *interval,
                       const struct pim_conflict_mesh *mesh)
{
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i <= interval->hops && interval->hops > 0 && length + 32 < PATH_TEXT; i++) {
        uint32_t link = interval->links[i < interval->hops ? i : i - 1];
        uint32_t router = link / PIM_DIRECTIONS;
        if (i == interval->hops)
            router = pim_conflict_neighbour(mesh, router, link % PIM_DIRECTIONS);
        length += (size_t)snprintf(text + length, PATH_TEXT - length, "%s%" PRIu32 ":%" PRIu32, i ? " " : "",
                                   router / mesh->width, router % mesh->width);
    }
}

static void record(void *context, const struct pim_conflict_interval *interval)
{
    struct run *run = context;
    const struct pim_conflict_options *options = &run->request->options;
    static const char *const kinds[] = {"step", "transfer", "hop"};
    char path[PATH_TEXT];
    bool step = interval->kind == PIM_INTERVAL_STEP;
    const struct pim_task_edge *edge = step ? NULL : &run->graph->edge[interval->task];
    pim_csv_put_text(&run->writer, kinds[interval->kind]);
    pim_csv_put_count(&run->writer, interval->task);
    pim_csv_put_integer(&run->writer, edge ? (int64_t)edge->source : (int64_t)interval->task);
    pim_csv_put_integer(&run->writer, edge ? (int64_t)edge->destination : -1);
    pim_csv_put_count(&run->writer, interval->image);
    pim_csv_put_count(&run->writer, interval->index);
    pim_csv_put_real(&run->writer, pim_conflict_ns(options->arithmetic, interval->start));
    pim_csv_put_real(&run->writer, pim_conflict_ns(options->arithmetic, interval->end));
    write_path(path, interval, &options->mesh);
    pim_csv_put_text(&run->writer, path);
    pim_csv_end_row(&run->writer);
}

static enum pim_status open_log(struct run *run, struct request *request, struct pim_error *error)
{
    static const char *const header[] = {"kind",  "task",     "source", "destination", "image",
                                         "index", "start_ns", "end_ns", "path"};
    if (!request->log)
        return PIM_OK;
    if (pim_output_open(&run->log, request->log, error) != PIM_OK)
        return error->status;
    pim_csv_start(&run->writer, pim_output_file(run->log), header, sizeof header / sizeof header[0]);
    request->options.record = record;
    request->options.record_context = run;
    return PIM_OK;
}

/* --- results --- */

/* What behaviour tables take as memories of their own at 28 nm: each router has one as long as the longest
 * list, which is read a word of 64 bits, 12 operations, at a time. */
struct memories {
    double area_mm2, read_nj;
};

static struct memories memories_of(const struct request *request, const struct pim_behaviour_size *size)
{
    enum { WORD = 64, OPERATIONS = 12 };
    double words = ceil((double)size->longest_list / OPERATIONS), bytes = words * WORD / 8,
           routers = (double)pim_conflict_routers(&request->options.mesh);
    return (struct memories){.area_mm2 = routers * pim_area_sram(PIM_AREA_MID, bytes, WORD) * 1e-6,
                             .read_nj = (double)size->operations / OPERATIONS *
                                        pim_area_sram_read_pj(bytes, WORD) * 1e-3};
}

static enum pim_status write_json(FILE *file, const struct run *run, struct pim_error *error)
{
    const struct request *request = run->request;
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the report");
    pim_json_put_text(json, "tasks_file", request->tasks);
    pim_json_put_text(json, "mapping", request->mapping);
    pim_conflict_report_json(json, run->graph, &request->options, &run->result);
    if (run->made.router) {
        pim_json_begin_object(json, "behaviour_tables");
        const struct pim_behaviour_size size = pim_behaviour_measure(&run->made);
        pim_json_put_count(json, "operations", size.operations);
        pim_json_put_count(json, "longest", size.longest_list);
        pim_json_put_count(json, "bits", size.bits);
        pim_json_put_count(json, "count_bits", size.count_bits);
        pim_json_put_count(json, "longest_row", size.longest_row);
        pim_json_put_count(json, "run_length_bits", size.coded_bits);
        const struct memories memories = memories_of(request, &size);
        pim_json_put_real(json, "area_mm2", memories.area_mm2);
        pim_json_put_real(json, "read_nj", memories.read_nj);
        pim_json_end(json);
    }
    if (request->table) {
        const double made = run->table.made_end_ns, end = run->result.end_ns;
        pim_json_begin_object(json, "made_by");
        pim_json_put_real(json, "end_ns", made);
        pim_json_put_real(json, "end_ratio", made > 0 ? end / made : (double)NAN);
        pim_json_end(json);
    }
    pim_json_begin_object(json, "simulator");
    pim_json_put_text(json, "version", PIMSIM_VERSION);
    pim_json_put_count(json, "events", run->result.events);
    double seconds;
    uint64_t memory;
    pim_host_usage(&seconds, &memory);
    if (request->reproducible) {
        pim_json_put_null(json, "cpu_seconds");
        pim_json_put_null(json, "peak_memory_bytes");
    } else {
        pim_json_put_real(json, "cpu_seconds", seconds);
        pim_json_put_count(json, "peak_memory_bytes", memory);
    }
    pim_json_end(json);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

/* The end of a replay beside that of the run that made its table. */
static void print_made_by(FILE *file, const struct run *run)
{
    const double made = run->table.made_end_ns, end = run->result.end_ns;
    if (isnan(made))
        fputs("\nmade by              a run whose end the table does not say\n", file);
    else if (made == end)
        fprintf(file, "\nmade by              a run that ends at %.9g ns, as this one does\n", made);
    else
        fprintf(file, "\nmade by              a run that ends at %.9g ns: this one takes %.4f of its time\n",
                made, made > 0 ? end / made : (double)INFINITY);
}

static enum pim_status write_report(const struct run *run, struct pim_error *error)
{
    struct pim_output *output;
    if (pim_output_open(&output, run->request->stats, error) != PIM_OK)
        return error->status;
    if (run->request->format == 1 && write_json(pim_output_file(output), run, error) != PIM_OK) {
        pim_output_abandon(output);
        return error->status;
    }
    if (run->request->format == 0) {
        pim_conflict_report_text(pim_output_file(output), run->graph, &run->request->options, &run->result);
        if (run->request->table)
            print_made_by(pim_output_file(output), run);
        if (run->made.router) {
            const struct pim_behaviour_size size = pim_behaviour_measure(&run->made);
            fprintf(pim_output_file(output),
                    "\nbehaviour tables     %zu operations, the longest of %zu; %" PRIu64
                    " bits, run-length coded %" PRIu64 "\n",
                    size.operations, size.longest_list, size.bits, size.coded_bits);
            const struct memories memories = memories_of(run->request, &size);
            fprintf(
                pim_output_file(output),
                "as memories, 28 nm   %.3f mm2, each router's as long as the longest; %.1f nJ to read them\n",
                memories.area_mm2, memories.read_nj);
        }
    }
    return pim_output_commit(output, error);
}

/* --- options --- */

enum pim_status tasks_parse_mesh(const char *text, struct pim_conflict_mesh *mesh, struct pim_error *error)
{
    char rows[16], columns[16];
    uint64_t height, width;
    if (sscanf(text, "%15[0-9]x%15[0-9]", rows, columns) != 2 ||
        strlen(rows) + strlen(columns) + 1 != strlen(text))
        return pim_fail(error, PIM_USAGE, "--mesh: found %.60s, ROWSxCOLUMNS is expected, as 16x16", text);
    if (pim_parse_unsigned("--mesh", rows, 1, 1024, &height, error) != PIM_OK ||
        pim_parse_unsigned("--mesh", columns, 1, 1024, &width, error) != PIM_OK)
        return error->status;
    *mesh = (struct pim_conflict_mesh){.width = (uint32_t)width, .height = (uint32_t)height};
    return PIM_OK;
}

static enum pim_status take_options(struct request *request, struct pim_error *error)
{
    struct pim_conflict_options *options = &request->options;
    if (tasks_check_effects(request, error) != PIM_OK)
        return error->status;
    tasks_set_defaults(request);
    options->switching = (enum pim_switching)request->switching;
    options->routing = (enum pim_conflict_routing)request->routing;
    options->arbiter = (enum pim_conflict_arbiter)request->arbiter;
    options->arithmetic = (enum pim_conflict_arithmetic)request->arithmetic;
    options->images = (uint32_t)request->images;
    options->input_bits = request->input_bits;
    options->output_bits = request->output_bits;
    options->router_packets = (uint32_t)request->router_packets;
    options->seed = request->seed;
    options->perturb_milli = (uint32_t)(request->perturb_percent * 10 + 0.5);
    options->detour = (struct pim_detour){.detour_milli = (uint32_t)(request->detour * 1000 + 0.5),
                                          .slack = (uint32_t)request->slack,
                                          .count_routers = request->count == 0,
                                          .tie_break = (enum pim_tie_break)request->tie_break};
    if (request->table && options->routing != PIM_CONFLICT_TABLE)
        return pim_fail(error, PIM_USAGE, "--table is executed with --routing table");
    if (!request->table && options->routing == PIM_CONFLICT_TABLE)
        return pim_fail(error, PIM_USAGE, "--routing table needs --table FILE (made by --make-table)");
    return tasks_parse_mesh(request->mesh, &options->mesh, error);
}

/* The file with the mappings: the one given, else, for a name that is no pattern or when it is there,
 * PREFIX.mappings.json. */
static enum pim_status place(struct run *run, const struct request *request, struct pim_error *error)
{
    char path[4200];
    const char *file = request->mappings;
    if (!file && strcmp(request->mapping, "row-major") != 0 &&
        strcmp(request->mapping, "boustrophedon") != 0) {
        (void)snprintf(path, sizeof path, "%.4095s.mappings.json", run->graph->name);
        if (access(path, F_OK) == 0)
            file = path;
    }
    return pim_conflict_place_named(file, request->mapping, run->graph, &request->options.mesh,
                                    &run->placement, error);
}

static enum pim_status prepare(struct run *run, struct request *request, struct pim_error *error)
{
    if (take_options(request, error) != PIM_OK ||
        pim_task_graph_read(request->tasks, &run->graph, error) != PIM_OK ||
        place(run, request, error) != PIM_OK)
        return error->status;
    if (request->table) {
        if (pim_behaviour_read(&run->table, request->table, error) != PIM_OK)
            return error->status;
        request->options.table = &run->table;
    }
    if (request->make_table) {
        if (pim_behaviour_initialize(&run->made, &request->options.mesh, error) != PIM_OK)
            return error->status;
        request->options.make_table = &run->made;
    }
    return open_log(run, request, error);
}

static enum pim_status execute(struct run *run, struct request *request, struct pim_error *error)
{
    enum pim_status status = prepare(run, request, error);
    if (status == PIM_OK)
        status = pim_conflict_run(run->graph, run->placement, &request->options, &run->result, error);
    if (status == PIM_OK && request->make_table) {
        run->made.made_end_ns = run->result.end_ns;
        const char *slash = strrchr(run->graph->name, '/');
        status = pim_behaviour_write(&run->made, request->make_table, slash ? slash + 1 : run->graph->name,
                                     request->mapping, error);
    }
    if (status == PIM_OK && run->log) {
        status = pim_output_commit(run->log, error);
        run->log = NULL;
    }
    if (status == PIM_OK)
        status = write_report(run, error);
    return status;
}

static void terminate(struct run *run)
{
    pim_output_abandon(run->log);
    pim_conflict_result_terminate(&run->result);
    pim_behaviour_terminate(&run->table);
    pim_behaviour_terminate(&run->made);
    free(run->placement);
    pim_task_graph_destroy(run->graph);
}

#define BITS_MOST (UINT64_C(1) << 50)

/* What the replay is of; how packets move; routing that looks for ways; what is written. */
#define GRAPH_HELP                                                                                           \
    "Task graph: prefix of .nodes.csv, .edges.csv and .deps.csv (or .layers.csv), or a .json task list"
#define OPTION_TASKS(request)                                                                                \
    {                                                                                                        \
        .name = "tasks", .kind = OPTION_TEXT, .target = &(request).tasks, .argument = "GRAPH",               \
        .help = GRAPH_HELP                                                                                   \
    }

#define OPTIONS_GRAPH(request)                                                                               \
    {.name = "mapping",                                                                                      \
     .kind = OPTION_TEXT,                                                                                    \
     .target = &(request).mapping,                                                                           \
     .argument = "NAME",                                                                                     \
     .help = "How nodes are placed: row-major, snake, boustrophedon, or a name in the mappings file"},       \
        {.name = "mappings",                                                                                 \
         .kind = OPTION_TEXT,                                                                                \
         .target = &(request).mappings,                                                                      \
         .argument = "FILE",                                                                                 \
         .help = "Mappings by name (JSON)",                                                                  \
         .standard = "GRAPH.mappings.json if it is there"},                                                  \
        {.name = "mesh",                                                                                     \
         .kind = OPTION_TEXT,                                                                                \
         .target = &(request).mesh,                                                                          \
         .argument = "ROWSxCOLUMNS",                                                                         \
         .help = "Size of the mesh"},                                                                        \
        {.name = "batch",                                                                                    \
         .kind = OPTION_UNSIGNED,                                                                            \
         .target = &(request).images,                                                                        \
         .argument = "IMAGES",                                                                               \
         .help = "Images, one after the other",                                                              \
         .minimum = 1,                                                                                       \
         .maximum = 65535},                                                                                  \
        {.name = "input-buffer",                                                                             \
         .kind = OPTION_UNSIGNED,                                                                            \
         .target = &(request).input_bits,                                                                    \
         .argument = "BITS",                                                                                 \
         .help = "Input buffer of a node, split among its sources",                                          \
         .minimum = 1,                                                                                       \
         .maximum = BITS_MOST},                                                                              \
        {.name = "output-buffer",                                                                            \
         .kind = OPTION_UNSIGNED,                                                                            \
         .target = &(request).output_bits,                                                                   \
         .argument = "BITS",                                                                                 \
         .help = "Output buffer of a node for each of its targets",                                          \
         .minimum = 1,                                                                                       \
         .maximum = BITS_MOST},                                                                              \
        {.name = "perturb",                                                                                  \
         .kind = OPTION_REAL,                                                                                \
         .target = &(request).perturb_percent,                                                               \
         .argument = "PERCENT",                                                                              \
         .help = "Draws each step's time from +-PERCENT around its own",                                     \
         .real_maximum = 99.9},                                                                              \
        {.name = "seed",                                                                                     \
         .kind = OPTION_UNSIGNED,                                                                            \
         .target = &(request).seed,                                                                          \
         .argument = "N",                                                                                    \
         .help = "Seed of --perturb",                                                                        \
         .standard = "1",                                                                                    \
         .maximum = UINT64_MAX - 1},                                                                         \
    {                                                                                                        \
        .name = "arithmetic", .kind = OPTION_CHOICE, .target = &(request).arithmetic, .argument = "NAME",    \
        .choices = "rounded|exact",                                                                          \
        .help = "Sums of times: rounded to 53 bits as in the authors' code, or exact"                        \
    }

#define OPTIONS_NETWORK(request)                                                                             \
    {.name = "switching",                                                                                    \
     .kind = OPTION_CHOICE,                                                                                  \
     .target = &(request).switching,                                                                         \
     .argument = "MODE",                                                                                     \
     .choices = "path_hold|saf",                                                                             \
     .help = "A transfer holds its whole path (path_hold), or stores and forwards (saf)"},                   \
        {.name = "routing",                                                                                  \
         .kind = OPTION_CHOICE,                                                                              \
         .target = &(request).routing,                                                                       \
         .argument = "NAME",                                                                                 \
         .choices = "xy|yx|adaptive|table",                                                                  \
         .help = "Which way; adaptive: extended Dijkstra over idle links"},                                  \
        {.name = "arbiter",                                                                                  \
         .kind = OPTION_CHOICE,                                                                              \
         .target = &(request).arbiter,                                                                       \
         .argument = "NAME",                                                                                 \
         .choices = "fixed|balance|fifo|round-robin",                                                        \
         .help = "Who goes first; fixed: the lower edge",                                                    \
         .standard = "fixed"},                                                                               \
        {.name = "ideal",                                                                                    \
         .kind = OPTION_FLAG,                                                                                \
         .target = &(request).options.ideal,                                                                 \
         .help = "Links are never busy"},                                                                    \
        {.name = "half-duplex",                                                                              \
         .kind = OPTION_FLAG,                                                                                \
         .target = &(request).options.half_duplex,                                                           \
         .help = "saf: the two directions of a link exclude each other (in path_hold they always do)"},      \
        {.name = "bandwidth",                                                                                \
         .kind = OPTION_REAL,                                                                                \
         .target = &(request).options.bandwidth_gbps,                                                        \
         .argument = "GBPS",                                                                                 \
         .help = "Bandwidth of every link in Gb/s",                                                          \
         .real_minimum = 1e-6,                                                                               \
         .real_maximum = 1e6},                                                                               \
        {.name = "router-packets",                                                                           \
         .kind = OPTION_UNSIGNED,                                                                            \
         .target = &(request).router_packets,                                                                \
         .argument = "N",                                                                                    \
         .help = "saf: packets a router stores from each direction; 0: without limit",                       \
         .maximum = 1000000},                                                                                \
    {                                                                                                        \
        .name = "router-delay", .kind = OPTION_REAL, .target = &(request).options.router_delay_ns,           \
        .argument = "NS", .help = "saf: added to every hop", .real_maximum = 1e6                             \
    }

#define OPTIONS_ADAPTIVE(request)                                                                            \
    {.name = "detour",                                                                                       \
     .kind = OPTION_REAL,                                                                                    \
     .target = &(request).detour,                                                                            \
     .argument = "R",                                                                                        \
     .help = "adaptive: longest path accepted, as a multiple of the shortest",                               \
     .standard = "1.8",                                                                                      \
     .real_minimum = 1,                                                                                      \
     .real_maximum = 1000},                                                                                  \
        {.name = "slack",                                                                                    \
         .kind = OPTION_UNSIGNED,                                                                            \
         .target = &(request).slack,                                                                         \
         .argument = "N",                                                                                    \
         .help = "adaptive: or the shortest and so many more, if that is longer",                            \
         .standard = "2",                                                                                    \
         .maximum = 1000000},                                                                                \
        {.name = "count",                                                                                    \
         .kind = OPTION_CHOICE,                                                                              \
         .target = &(request).count,                                                                         \
         .argument = "WHAT",                                                                                 \
         .choices = "routers|hops",                                                                          \
         .help = "adaptive: what lengths count",                                                             \
         .standard = "routers"},                                                                             \
        {.name = "tie-break",                                                                                \
         .kind = OPTION_CHOICE,                                                                              \
         .target = &(request).tie_break,                                                                     \
         .argument = "RULE",                                                                                 \
         .choices = "release|release-backward|stateless",                                                    \
         .help = "adaptive: order of the search",                                                            \
         .standard = "release"},                                                                             \
        {.name = "make-table",                                                                               \
         .kind = OPTION_TEXT,                                                                                \
         .target = &(request).make_table,                                                                    \
         .argument = "FILE",                                                                                 \
         .writes = WRITES_TRACE,                                                                             \
         .help = "Writes the behaviour tables of this path_hold run into a trace"},                          \
    {                                                                                                        \
        .name = "table", .kind = OPTION_TEXT, .target = &(request).table, .argument = "FILE",                \
        .help = "Behaviour tables that --routing table executes"                                             \
    }

#define OPTIONS_RESULT(request)                                                                              \
    {.name = "log",                                                                                          \
     .kind = OPTION_TEXT,                                                                                    \
     .target = &(request).log,                                                                               \
     .argument = "FILE",                                                                                     \
     .writes = WRITES_TEXT,                                                                                  \
     .help = "Writes every step and transfer (CSV)"},                                                        \
        {.name = "stats",                                                                                    \
         .kind = OPTION_TEXT,                                                                                \
         .target = &(request).stats,                                                                         \
         .argument = "FILE",                                                                                 \
         .writes = WRITES_TEXT,                                                                              \
         .help = "Where to write the results"},                                                              \
        OPTION_FORMAT((request).format, "text|json"),                                                        \
        {.name = "check",                                                                                    \
         .kind = OPTION_FLAG,                                                                                \
         .target = &(request).options.check,                                                                 \
         .help = "Verifies the counts of packets and the buffers of every edge at every time point"},        \
        {.name = "reproducible",                                                                             \
         .kind = OPTION_FLAG,                                                                                \
         .target = &(request).reproducible,                                                                  \
         .help = "Leaves out host time and memory"},                                                         \
    {                                                                                                        \
        .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .target = &(request).quiet,                     \
        .help = "No progress, only results and errors"                                                       \
    }

/* `named`: the graph comes with --tasks, else as the argument. */
static int replay(bool named, int argument_count, char **arguments)
{
    struct request request = {.options = PIM_CONFLICT_DEFAULTS,
                              .mapping = "row-major",
                              .mesh = "16x16",
                              .stats = "-",
                              .images = 1,
                              .input_bits = 822400,
                              .output_bits = 822400,
                              .arbiter = TASKS_NOT_GIVEN,
                              .tie_break = TASKS_NOT_GIVEN,
                              .count = TASKS_NOT_GIVEN,
                              .slack = TASKS_NO_NUMBER,
                              .detour = (double)NAN,
                              .seed = TASKS_NO_NUMBER};
    const struct option_rule rules[] = {OPTION_TASKS(request), OPTIONS_GRAPH(request),
                                        OPTIONS_NETWORK(request), OPTIONS_ADAPTIVE(request),
                                        OPTIONS_RESULT(request)};
    const size_t own = named ? 0 : 1, count = sizeof rules / sizeof rules[0] - own;
    const struct option_usage usage = {
        named ? "" : "GRAPH",
        named ? "Replays a task graph on the network of the communication-conflict paper."
              : "Replays a task graph on the network of the communication-conflict paper. " GRAPH_HELP ".",
        rules + own,
        count,
        own,
        own};
    struct text_list graphs = {0};
    options_parse(&usage, argument_count, arguments, named ? NULL : &graphs);
    if (!named)
        request.tasks = graphs.items[0];
    struct pim_error error = {0};
    struct run run = {.request = &request};
    enum pim_status status = execute(&run, &request, &error);
    terminate(&run);
    text_list_terminate(&graphs);
    return command_end(arguments[0], status, &error);
}

int noc_tasks(int argument_count, char **arguments)
{
    return replay(true, argument_count, arguments);
}

int command_tasks(int argument_count, char **arguments)
{
    return replay(false, argument_count, arguments);
}
