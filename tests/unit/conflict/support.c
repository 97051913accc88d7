#include "tests/unit/conflict/support.h"

#include "sim/arena.h"
#include "sim/output/csv.h"
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double real(const struct pim_csv_reader *reader, const char *name)
{
    struct pim_error error = {0};
    size_t column;
    ck_assert_int_eq(pim_csv_column(reader, name, &column, &error), PIM_OK);
    char *end;
    double value = strtod(pim_csv_text(reader, column), &end);
    ck_assert_int_eq(*end, '\0');
    return value;
}

static void text(char *target, size_t size, const struct pim_csv_reader *reader, const char *name)
{
    struct pim_error error = {0};
    size_t column;
    ck_assert_int_eq(pim_csv_column(reader, name, &column, &error), PIM_OK);
    (void)snprintf(target, size, "%s", pim_csv_text(reader, column));
}

static void read_row(const struct pim_csv_reader *reader, struct golden_row *row, bool detailed)
{
    *row = (struct golden_row){.detailed = detailed};
    text(row->net, sizeof row->net, reader, "net");
    text(row->mapping, sizeof row->mapping, reader, "mapping");
    text(row->schedule, sizeof row->schedule, reader, detailed ? "schedule" : "model");
    row->images = (uint32_t)real(reader, "images");
    row->end_ns = real(reader, "end_ns");
    row->links_used = (uint32_t)real(reader, detailed ? "wires_used" : "links_used");
    row->utilization_used = real(reader, detailed ? "util_avg_used" : "util_used");
    if (!detailed)
        return;
    row->first_latency_ns = real(reader, "first_image_latency_ns");
    row->average_latency_ns = real(reader, "avg_image_latency_ns");
    row->interval_ns = real(reader, "interval_ns");
    row->utilization_all = real(reader, "util_avg_all480");
    row->utilization_maximum = real(reader, "util_max");
    row->links_below_tenth = (uint32_t)real(reader, "used_wires_below_10pct");
    row->bit_hops = (uint64_t)real(reader, "bit_hops");
    row->distance_bit_hops = (uint64_t)real(reader, "total_comm_cost_bit_hops_manhattan");
    row->time_points = (uint64_t)real(reader, "events");
}

struct golden_row *read_golden(const char *file, size_t *count)
{
    char relative[128], path[4096];
    (void)snprintf(relative, sizeof relative, "tests/data/conflict/%s", file);
    bool detailed = strcmp(file, "results_replay_matrix.csv") == 0, more = true;
    struct pim_error error = {0};
    struct pim_csv_reader *reader;
    struct golden_row *rows = NULL;
    size_t room = 0;
    *count = 0;
    ck_assert_msg(pim_csv_open(&reader, pimsim_source_path(path, sizeof path, relative), NULL, 0, &error) ==
                      PIM_OK,
                  "%s", error.text);
    for (;;) {
        ck_assert_msg(pim_csv_next(reader, &more, &error) == PIM_OK, "%s", error.text);
        if (!more)
            break;
        rows = pim_array_require(rows, &room, *count + 1, sizeof *rows);
        read_row(reader, &rows[(*count)++], detailed);
    }
    pim_csv_close(reader);
    return rows;
}

void load_net(struct golden_net *net, const char *name, const char *mapping,
              const struct pim_conflict_mesh *mesh)
{
    char relative[128], path[4096];
    struct pim_error error = {0};
    (void)snprintf(relative, sizeof relative, "tests/data/conflict/%s", name);
    ck_assert_msg(pim_task_graph_read(pimsim_source_path(path, sizeof path, relative), &net->graph, &error) ==
                      PIM_OK,
                  "%s", error.text);
    (void)snprintf(relative, sizeof relative, "tests/data/conflict/%s.mappings.json", name);
    ck_assert_msg(pim_conflict_place_named(pimsim_source_path(path, sizeof path, relative), mapping,
                                           net->graph, mesh, &net->placement, &error) == PIM_OK,
                  "%s", error.text);
}

void unload_net(struct golden_net *net)
{
    pim_task_graph_destroy(net->graph);
    free(net->placement);
}

struct pim_conflict_options golden_options(const struct golden_row *row)
{
    struct pim_conflict_options options = PIM_CONFLICT_DEFAULTS;
    options.check = true;
    options.images = row->images;
    options.ideal = strstr(row->schedule, "ideal") != NULL;
    options.arbiter = strstr(row->schedule, "balance") ? PIM_CONFLICT_BALANCE : PIM_CONFLICT_FIXED;
    options.routing = strncmp(row->schedule, "table", 5) == 0 ? PIM_CONFLICT_ADAPTIVE : PIM_CONFLICT_XY;
    options.half_duplex = strstr(row->schedule, "halfdup") != NULL;
    /* One packet of an edge in flight over links that are never busy: that is path_hold's ideal. */
    bool saf = strncmp(row->schedule, "saf", 3) == 0 && strstr(row->schedule, "one_packet") == NULL;
    options.switching = saf ? PIM_SWITCHING_SAF : PIM_SWITCHING_PATH_HOLD;
    return options;
}

static bool close_to(double value, double wanted)
{
    return fabs(value - wanted) <= 1e-9 * fabs(wanted);
}

static void check_details(const struct golden_row *row, const struct pim_conflict_result *result,
                          const struct pim_conflict_summary *summary)
{
    ck_assert_msg(close_to(summary->first_latency_ns, row->first_latency_ns), "first image: %.17g, not %.17g",
                  summary->first_latency_ns, row->first_latency_ns);
    ck_assert_msg(close_to(summary->average_latency_ns, row->average_latency_ns),
                  "mean latency: %.17g, not %.17g", summary->average_latency_ns, row->average_latency_ns);
    ck_assert_msg(close_to(summary->interval_ns, row->interval_ns), "interval: %.17g, not %.17g",
                  summary->interval_ns, row->interval_ns);
    ck_assert(fabs(summary->utilization_all - row->utilization_all) < 1e-6);
    ck_assert(fabs(summary->utilization_maximum - row->utilization_maximum) < 1e-6);
    ck_assert_uint_eq(summary->links_below_tenth, row->links_below_tenth);
    ck_assert_uint_eq(result->bit_hops, row->bit_hops);
    ck_assert_uint_eq(result->distance_bit_hops, row->distance_bit_hops);
    ck_assert_uint_eq(result->time_points, row->time_points);
}

void check_golden_row(const struct golden_row *row)
{
    struct pim_conflict_options options = golden_options(row);
    struct golden_net net;
    struct pim_conflict_result result;
    struct pim_error error = {0};
    load_net(&net, row->net, row->mapping, &options.mesh);
    ck_assert_msg(pim_conflict_run(net.graph, net.placement, &options, &result, &error) == PIM_OK, "%s",
                  error.text);
    struct pim_conflict_summary summary = pim_conflict_summarize(&result, &options);
    double difference = fabs(result.end_ns - row->end_ns);
    ck_assert_msg(!(difference > 0), "%s %s %s %u images: %.17g, not %.17g", row->net, row->mapping,
                  row->schedule, row->images, result.end_ns, row->end_ns);
    if (!options.ideal || row->detailed) {
        ck_assert_uint_eq(summary.links_used, row->links_used);
        ck_assert(fabs(summary.utilization_used - row->utilization_used) < 1e-6);
    }
    if (row->detailed)
        check_details(row, &result, &summary);
    pim_conflict_result_terminate(&result);
    unload_net(&net);
}

static FILE *stream_of(const char *content)
{
    FILE *stream = tmpfile();
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(content, 1, strlen(content), stream), strlen(content));
    rewind(stream);
    return stream;
}

enum pim_status graph_from_text(const char *nodes, const char *edges, const char *deps, const char *layers,
                                struct pim_task_graph **graph, struct pim_error *error)
{
    FILE *streams[4] = {stream_of(nodes), stream_of(edges), deps ? stream_of(deps) : NULL,
                        layers ? stream_of(layers) : NULL};
    enum pim_status status =
        pim_task_graph_read_csv("net", streams[0], streams[1], streams[2], streams[3], graph, error);
    for (size_t i = 0; i < 4; i++) {
        if (streams[i])
            ck_assert_int_eq(fclose(streams[i]), 0);
    }
    return status;
}

struct pim_task_graph *small_graph(uint32_t nodes, const uint32_t *steps, const double *const *latency_ns,
                                   uint32_t edges, const struct small_edge *edge)
{
    struct pim_error error = {0};
    struct pim_task_graph *graph = pim_task_graph_create("small", nodes, edges);
    ck_assert_ptr_nonnull(graph);
    for (uint32_t n = 0; n < nodes; n++) {
        graph->node[n] = (struct pim_task_node){
            .steps = steps[n], .latencies = steps[n], .first_latency = graph->latencies};
        graph->latencies += steps[n];
    }
    graph->latency_ns = calloc(graph->latencies, sizeof *graph->latency_ns);
    ck_assert_ptr_nonnull(graph->latency_ns);
    for (uint32_t n = 0; n < nodes; n++)
        memcpy(&graph->latency_ns[graph->node[n].first_latency], latency_ns[n], steps[n] * sizeof(double));
    for (uint32_t e = 0; e < edges; e++)
        graph->edge[e] = (struct pim_task_edge){.source = edge[e].source,
                                                .destination = edge[e].destination,
                                                .packets = steps[edge[e].source],
                                                .bits = edge[e].bits};
    ck_assert_msg(pim_task_graph_connect(graph, &error) == PIM_OK, "%s", error.text);
    for (uint32_t e = 0; e < edges; e++) {
        for (uint32_t s = 0; s < steps[edge[e].destination]; s++) {
            graph->need[graph->edge[e].first + s] = edge[e].need ? edge[e].need[s] : s + 1;
            graph->drop[graph->edge[e].first + s] = edge[e].drop ? edge[e].drop[s] : 1;
        }
    }
    ck_assert_msg(pim_task_graph_finish(graph, &error) == PIM_OK, "%s", error.text);
    return graph;
}
