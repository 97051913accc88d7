/* Results as JSON and as text; docs/models/conflict.md names the fields. */
#include "models/conflict/conflict.h"
#include "sim/output/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define FIXED_TO_NS 0x1p-20

static void put_options(struct pim_json *json, const struct pim_conflict_options *options)
{
    pim_json_put_text(json, "switching", pim_switching_name(options->switching));
    pim_json_put_text(json, "routing", pim_conflict_routing_name(options->routing));
    pim_json_put_text(json, "arbiter", pim_conflict_arbiter_name(options->arbiter));
    pim_json_put_boolean(json, "ideal", options->ideal);
    pim_json_put_boolean(json, "half_duplex",
                         options->half_duplex || options->switching == PIM_SWITCHING_PATH_HOLD);
    pim_json_put_text(json, "arithmetic", options->arithmetic == PIM_CONFLICT_EXACT ? "exact" : "rounded");
    pim_json_put_count(json, "width", options->mesh.width);
    pim_json_put_count(json, "height", options->mesh.height);
    pim_json_put_count(json, "images", options->images);
    pim_json_put_real(json, "bandwidth_gbps", options->bandwidth_gbps);
    pim_json_put_count(json, "input_buffer_bits", options->input_bits);
    pim_json_put_count(json, "output_buffer_bits", options->output_bits);
    if (options->switching == PIM_SWITCHING_SAF) {
        pim_json_put_count(json, "router_packets", options->router_packets);
        pim_json_put_real(json, "router_delay_ns", options->router_delay_ns);
    }
    if (options->perturb_milli > 0) {
        pim_json_put_real(json, "perturb_percent", options->perturb_milli / 10.0);
        pim_json_put_count(json, "seed", options->seed);
    }
    if (options->routing == PIM_CONFLICT_ADAPTIVE) {
        pim_json_put_real(json, "detour", options->detour.detour_milli / 1000.0);
        pim_json_put_count(json, "slack", options->detour.slack);
        pim_json_put_text(json, "count", options->detour.count_routers ? "routers" : "hops");
        pim_json_put_text(json, "tie_break", pim_tie_break_name(options->detour.tie_break));
    }
}

static void put_links(struct pim_json *json, const struct pim_conflict_options *options,
                      const struct pim_conflict_result *result)
{
    pim_json_begin_array(json, "links");
    for (uint32_t i = 0; i < result->links; i++) {
        const struct pim_conflict_link *link = &result->link[i];
        double held = pim_conflict_held_ns(link, options, result->end);
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "from", link->from);
        pim_json_put_count(json, "to", link->to);
        pim_json_put_count(json, "transfers", link->transfers);
        pim_json_put_real(json, "busy_ns", held);
        pim_json_put_real(json, "utilization", result->end_ns > 0 ? held / result->end_ns : (double)NAN);
        pim_json_put_count(json, "blocked", link->waits);
        pim_json_put_real(json, "blocked_ns", (double)link->wait_fixed * FIXED_TO_NS);
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_tasks(struct pim_json *json, const struct pim_task_graph *graph,
                      const struct pim_conflict_options *options, const struct pim_conflict_result *result)
{
    pim_json_begin_array(json, "tasks");
    for (uint32_t e = 0; e < result->tasks; e++) {
        const struct pim_conflict_task *task = &result->task[e];
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "edge", e);
        pim_json_put_count(json, "source", graph->edge[e].source);
        pim_json_put_count(json, "destination", graph->edge[e].destination);
        pim_json_put_count(json, "packets", task->packets);
        pim_json_put_count(json, "bits", task->bits);
        pim_json_put_count(json, "hops", task->hops);
        pim_json_put_real(json, "waiting_ns", (double)task->wait_fixed * FIXED_TO_NS);
        pim_json_put_real(json, "first_start_ns", pim_conflict_ns(options->arithmetic, task->first_start));
        pim_json_put_real(json, "last_end_ns", pim_conflict_ns(options->arithmetic, task->last_end));
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_nodes(struct pim_json *json, const struct pim_conflict_options *options,
                      const struct pim_conflict_result *result)
{
    pim_json_begin_array(json, "nodes");
    for (uint32_t n = 0; n < result->nodes; n++) {
        const struct pim_conflict_node_result *node = &result->node[n];
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "node", n);
        pim_json_put_count(json, "steps", node->steps);
        pim_json_put_real(json, "busy_ns", node->busy_ns);
        pim_json_put_real(json, "first_start_ns", pim_conflict_ns(options->arithmetic, node->first_start));
        pim_json_put_real(json, "last_end_ns", pim_conflict_ns(options->arithmetic, node->last_end));
        pim_json_end(json);
    }
    pim_json_end(json);
}

void pim_conflict_report_json(struct pim_json *json, const struct pim_task_graph *graph,
                              const struct pim_conflict_options *options,
                              const struct pim_conflict_result *result)
{
    struct pim_conflict_summary summary = pim_conflict_summarize(result, options);
    pim_json_begin_object(json, "configuration");
    put_options(json, options);
    pim_json_end(json);
    pim_json_put_count(json, "nodes_of_graph", graph->nodes);
    pim_json_put_count(json, "edges_of_graph", graph->edges);
    pim_json_put_real(json, "end_ns", result->end_ns);
    pim_json_put_real(json, "first_image_latency_ns", summary.first_latency_ns);
    pim_json_put_real(json, "average_image_latency_ns", summary.average_latency_ns);
    pim_json_put_real(json, "interval_ns", result->images > 1 ? summary.interval_ns : (double)NAN);
    pim_json_put_real(json, "end_over_images_ns", summary.end_over_images_ns);
    pim_json_put_count(json, "packets", result->packets);
    pim_json_put_count(json, "bit_hops", result->bit_hops);
    pim_json_put_count(json, "communication_cost_bit_hops", result->distance_bit_hops);
    pim_json_put_count(json, "time_points", result->time_points);
    pim_json_begin_object(json, "utilization");
    pim_json_put_count(json, "links", result->links);
    pim_json_put_count(json, "links_used", summary.links_used);
    pim_json_put_count(json, "links_below_tenth", summary.links_below_tenth);
    pim_json_put_real(json, "all", summary.utilization_all);
    pim_json_put_real(json, "used", summary.utilization_used);
    pim_json_put_real(json, "maximum", summary.utilization_maximum);
    pim_json_end(json);
    put_links(json, options, result);
    put_tasks(json, graph, options, result);
    put_nodes(json, options, result);
}

/* --- text --- */

struct ranked {
    double value;
    uint32_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *first = a, *second = b;
    if (first->value > second->value || first->value < second->value)
        return first->value < second->value ? 1 : -1;
    return first->index < second->index ? -1 : first->index > second->index;
}

static void print_links(FILE *file, const struct pim_conflict_options *options,
                        const struct pim_conflict_result *result)
{
    struct ranked *order = calloc((size_t)result->links + 1, sizeof *order);
    if (!order)
        return;
    for (uint32_t i = 0; i < result->links; i++)
        order[i] = (struct ranked){pim_conflict_held_ns(&result->link[i], options, result->end), i};
    qsort(order, result->links, sizeof *order, compare_ranked);
    fprintf(file, "\nbusiest links       transfers       busy ns  share   blocked    blocked ns\n");
    for (uint32_t k = 0; k < result->links && k < 8 && order[k].value > 0; k++) {
        const struct pim_conflict_link *link = &result->link[order[k].index];
        uint32_t width = options->mesh.width;
        fprintf(file,
                "(%2" PRIu32 ",%2" PRIu32 ")-(%2" PRIu32 ",%2" PRIu32 ") %12" PRIu64
                " %13.0f %5.1f%% %9" PRIu64 " %13.0f\n",
                link->from / width, link->from % width, link->to / width, link->to % width, link->transfers,
                order[k].value, 100 * order[k].value / result->end_ns, link->waits,
                (double)link->wait_fixed * FIXED_TO_NS);
    }
    free(order);
}

static void print_tasks(FILE *file, const struct pim_task_graph *graph,
                        const struct pim_conflict_result *result)
{
    struct ranked *order = calloc((size_t)result->tasks + 1, sizeof *order);
    if (!order)
        return;
    for (uint32_t e = 0; e < result->tasks; e++)
        order[e] = (struct ranked){(double)result->task[e].wait_fixed * FIXED_TO_NS, e};
    qsort(order, result->tasks, sizeof *order, compare_ranked);
    fprintf(file, "\ntasks that waited most   packets  hops/packet    waiting ns\n");
    for (uint32_t k = 0; k < result->tasks && k < 8 && order[k].value > 0; k++) {
        const struct pim_conflict_task *task = &result->task[order[k].index];
        const struct pim_task_edge *edge = &graph->edge[order[k].index];
        fprintf(file, "edge %4" PRIu32 ": %4" PRIu32 " -> %-4" PRIu32 " %10" PRIu64 " %12.2f %13.0f\n",
                order[k].index, edge->source, edge->destination, task->packets,
                task->packets ? (double)task->hops / (double)task->packets : 0.0, order[k].value);
    }
    free(order);
}

void pim_conflict_report_text(FILE *file, const struct pim_task_graph *graph,
                              const struct pim_conflict_options *options,
                              const struct pim_conflict_result *result)
{
    struct pim_conflict_summary summary = pim_conflict_summarize(result, options);
    fprintf(file,
            "%s: %" PRIu32 " nodes, %" PRIu32 " edges on %" PRIu32 " x %" PRIu32
            "; %s, %s routing, %s arbiter%s; %g Gb/s\n",
            graph->name, graph->nodes, graph->edges, options->mesh.height, options->mesh.width,
            pim_switching_name(options->switching), pim_conflict_routing_name(options->routing),
            pim_conflict_arbiter_name(options->arbiter), options->ideal ? ", links never busy" : "",
            options->bandwidth_gbps);
    fprintf(file, "end                  %.9g ns (%" PRIu32 " images, %.9g ns each)\n", result->end_ns,
            result->images, summary.end_over_images_ns);
    fprintf(file, "image latency        first %.9g ns, mean %.9g ns", summary.first_latency_ns,
            summary.average_latency_ns);
    if (result->images > 1)
        fprintf(file, "; interval %.9g ns", summary.interval_ns);
    fprintf(file, "\n");
    fprintf(file, "packets              %" PRIu64 ", %" PRIu64 " bit-hops (shortest: %" PRIu64 ")\n",
            result->packets, result->bit_hops, result->distance_bit_hops * result->images);
    fprintf(file, "links                %" PRIu32 " of %" PRIu32 " used", summary.links_used, result->links);
    if (summary.links_used > 0)
        fprintf(file, "; busy %.2f %% of the time (all: %.2f %%, highest: %.2f %%)",
                100 * summary.utilization_used, 100 * summary.utilization_all,
                100 * summary.utilization_maximum);
    fputc('\n', file);
    print_links(file, options, result);
    print_tasks(file, graph, result);
}
