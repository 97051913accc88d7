#include "tools/command/noc/report.h"

#include "models/system/report/report.h"
#include "sim/integer.h"
#include "sim/output/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double per_node_cycle(const struct pim_noc_configuration *noc, uint64_t flits, uint64_t cycles)
{
    return cycles ? (double)flits / ((double)pim_noc_nodes(noc) * (double)cycles) : (double)NAN;
}

struct noc_point noc_point_of(const struct pim_noc_configuration *noc, double rate,
                              const struct pim_traffic_result *result)
{
    double packets = result->packets ? (double)result->packets : (double)NAN; /* means of nothing */
    return (struct noc_point){
        .rate = rate,
        .offered = per_node_cycle(noc, result->offered_flits, result->measured_cycles),
        .accepted = per_node_cycle(noc, result->accepted_flits, result->measured_cycles),
        .latency = pim_histogram_mean(&result->latency),
        .p99 = result->packets ? (double)pim_histogram_quantile(&result->latency, 990) : (double)NAN,
        .network_latency = pim_sum_real(&result->network_latency) / packets,
        .hops = (double)result->hops / packets,
        .saturated = result->saturated};
}

static void put_real(struct pim_json *json, const char *key, double value)
{
    if (isnan(value))
        pim_json_put_null(json, key); /* of nothing */
    else
        pim_json_put_real(json, key, value);
}

/* Median and tail of the latency; null of nothing. */
static void put_quantiles(struct pim_json *json, const struct pim_histogram *latency)
{
    static const struct {
        const char *key;
        unsigned permille;
    } quantiles[] = {{"p50_packet_latency", 500}, {"p95_packet_latency", 950}, {"p99_packet_latency", 990}};
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        if (isnan(pim_histogram_mean(latency)))
            pim_json_put_null(json, quantiles[i].key);
        else
            pim_json_put_count(json, quantiles[i].key,
                               pim_histogram_quantile(latency, quantiles[i].permille));
}

static void put_point(struct pim_json *json, const struct noc_point *point)
{
    put_real(json, "average_packet_latency", point->latency);
    put_real(json, "average_network_latency", point->network_latency);
    put_real(json, "offered_flits_per_node_cycle", point->offered);
    put_real(json, "accepted_flits_per_node_cycle", point->accepted);
    put_real(json, "average_hops", point->hops);
    pim_json_put_boolean(json, "saturated", point->saturated);
}

/* What each class got, when there is more than one. */
static void put_shares(struct pim_json *json, const struct pim_noc_configuration *noc,
                       const struct pim_traffic_result *result)
{
    if (result->share_count < 2)
        return;
    pim_json_begin_array(json, "classes");
    for (uint32_t i = 0; i < result->share_count; i++) {
        const struct pim_traffic_share *share = &result->shares[i];
        uint64_t cycles = result->measured_cycles;
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "network_class", share->network_class);
        pim_json_put_count(json, "packets", share->packets);
        put_real(json, "average_packet_latency", pim_histogram_mean(&share->latency));
        put_quantiles(json, &share->latency);
        put_real(json, "offered_flits_per_node_cycle", per_node_cycle(noc, share->offered_flits, cycles));
        put_real(json, "accepted_flits_per_node_cycle", per_node_cycle(noc, share->accepted_flits, cycles));
        pim_json_end(json);
    }
    pim_json_end(json);
}

static enum pim_status write_json(FILE *file, const struct pim_noc_configuration *noc,
                                  const struct pim_traffic_result *result,
                                  const struct noc_report_inputs *inputs, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the report");
    struct noc_point point = noc_point_of(noc, 0, result);
    pim_json_put_count(json, "cycles", result->cycles);
    pim_json_put_count(json, "measured_cycles", result->measured_cycles);
    pim_json_put_count(json, "packets", result->packets);
    put_point(json, &point);
    put_quantiles(json, &result->latency);
    put_real(json, "confidence_interval_95", result->confidence);
    pim_json_put_count(json, "flit_hops", result->noc.flit_hops);
    if (result->batch_count > 0) {
        pim_json_begin_array(json, "batch_cycles");
        for (uint32_t i = 0; i < result->batch_count; i++)
            pim_json_put_count(json, NULL, result->batch_cycles[i]);
        pim_json_end(json);
    }
    put_shares(json, noc, result);
    pim_json_begin_array(json, "links");
    for (uint32_t i = 0; i < result->link_count; i++) {
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "from", result->links[i].from);
        pim_json_put_count(json, "to", result->links[i].to);
        pim_json_put_count(json, "flits", result->links[i].flits);
        put_real(json, "utilization",
                 result->cycles ? (double)result->links[i].busy_cycles / (double)result->cycles
                                : (double)NAN);
        if (result->links[i].blocked_cycles == UINT64_MAX)
            pim_json_put_null(json, "blocked_cycles");
        else
            pim_json_put_count(json, "blocked_cycles", result->links[i].blocked_cycles);
        pim_json_end(json);
    }
    pim_json_end(json);
    pim_json_begin_object(json, "simulator");
    pim_json_put_count(json, "events", result->noc.router_evaluations);
    double seconds;
    uint64_t memory;
    pim_host_usage(&seconds, &memory);
    put_real(json, "cpu_seconds", inputs->reproducible ? (double)NAN : seconds);
    if (inputs->reproducible)
        pim_json_put_null(json, "peak_memory_bytes");
    else
        pim_json_put_count(json, "peak_memory_bytes", memory);
    pim_json_end(json);
    pim_json_begin_object(json, "inputs");
    char hash[17];
    (void)snprintf(hash, sizeof hash, "%016" PRIx64, inputs->config_hash);
    pim_json_put_text(json, "config_hash", hash);
    pim_json_put_count(json, "seed", inputs->seed);
    pim_json_end(json);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

static void write_latencies(FILE *file, const struct pim_traffic_result *result,
                            const struct noc_point *point, const struct noc_report_inputs *inputs)
{
    fprintf(file, "packet latency         %.3f cycles on average", point->latency);
    if (inputs->synthetic && isfinite(result->confidence))
        fprintf(file, " +- %.3f (95 %%)", result->confidence);
    fprintf(file, ", p50 %" PRIu64 ", p95 %" PRIu64 ", p99 %" PRIu64 ", maximum %" PRIu64 "\n",
            pim_histogram_quantile(&result->latency, 500), pim_histogram_quantile(&result->latency, 950),
            pim_histogram_quantile(&result->latency, 990), result->latency.maximum);
    fprintf(file, "network latency        %.3f cycles on average\n", point->network_latency);
}

/* What each of several batches took. */
static void write_batches(FILE *file, const struct pim_traffic_result *result)
{
    uint64_t all = 0, least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < result->batch_count; i++) {
        all += result->batch_cycles[i];
        least = pim_smaller(least, result->batch_cycles[i]);
        most = pim_larger(most, result->batch_cycles[i]);
    }
    if (result->batch_count > 0)
        fprintf(file,
                "batches                %" PRIu32 ", of %.3f cycles on average, %" PRIu64 " to %" PRIu64 "\n",
                result->batch_count, (double)all / result->batch_count, least, most);
}

/* What each class got, when there is more than one. */
static void write_classes(FILE *file, const struct pim_noc_configuration *noc,
                          const struct pim_traffic_result *result)
{
    for (uint32_t i = 0; result->share_count > 1 && i < result->share_count; i++) {
        const struct pim_traffic_share *share = &result->shares[i];
        fprintf(file, "class %-2" PRIu32 "               ", i);
        if (share->packets > 0)
            fprintf(file, "latency %.3f cycles on average, p99 %" PRIu64, pim_histogram_mean(&share->latency),
                    pim_histogram_quantile(&share->latency, 990));
        else
            fprintf(file, "no packet");
        fprintf(file, "; %.5f offered, %.5f accepted",
                per_node_cycle(noc, share->offered_flits, result->measured_cycles),
                per_node_cycle(noc, share->accepted_flits, result->measured_cycles));
        if (noc->classes > 1 && share->network_class != i)
            fprintf(file, "; in class %" PRIu32 " of the network", share->network_class);
        fprintf(file, "\n");
    }
}

static void write_text(FILE *file, const struct pim_noc_configuration *noc,
                       const struct pim_traffic_result *result, const struct noc_report_inputs *inputs)
{
    struct noc_point point = noc_point_of(noc, 0, result);
    fprintf(file, "%s %" PRIu32 " x %" PRIu32, pim_noc_topology_name(noc->topology), noc->width,
            noc->height / noc->depth);
    if (noc->depth > 1)
        fprintf(file, " x %" PRIu32, noc->depth);
    fprintf(file, ", %" PRIu32 " virtual channels of %" PRIu32 " flits\n", noc->virtual_channels,
            noc->buffer_flits);
    if (result->saturated)
        fprintf(file,
                "SATURATED: the mean latency passed %g cycles (--latency-limit), or packets did not arrive; "
                "the latencies are those of the packets that arrived\n",
                inputs->latency_limit);
    fprintf(file, "cycles                 %" PRIu64 " (%" PRIu64 " measured)\n", result->cycles,
            result->measured_cycles);
    write_batches(file, result);
    fprintf(file, "packets                %" PRIu64 "\n", result->packets);
    if (result->packets > 0)
        write_latencies(file, result, &point, inputs);
    if (result->measured_cycles > 0)
        fprintf(file, "flits per node, cycle  %.5f offered, %.5f accepted\n", point.offered, point.accepted);
    if (result->packets > 0)
        fprintf(file, "routers traversed      %.3f on average\n", point.hops);
    write_classes(file, noc, result);
    const struct pim_noc_link_use *busiest = NULL;
    for (uint32_t i = 0; i < result->link_count; i++)
        if (result->links[i].busy_cycles > (busiest ? busiest->busy_cycles : 0))
            busiest = &result->links[i];
    if (!busiest)
        fprintf(file, "busiest link           none: no flit went over a link\n");
    else
        fprintf(file, "busiest link           %" PRIu32 " -> %" PRIu32 ": %.1f %%\n", busiest->from,
                busiest->to, 100.0 * (double)busiest->busy_cycles / (double)result->cycles);
}

enum pim_status noc_report(FILE *file, unsigned format, const struct pim_noc_configuration *noc,
                           const struct pim_traffic_result *result, const struct noc_report_inputs *inputs,
                           struct pim_error *error)
{
    if (format == NOC_FORMAT_JSON)
        return write_json(file, noc, result, inputs, error);
    if (format == NOC_FORMAT_CSV) {
        struct noc_point point = noc_point_of(noc, inputs->rate, result);
        return noc_curve(file, format, &point, 1, (double)NAN, (double)NAN, error);
    }
    write_text(file, noc, result, inputs);
    return PIM_OK;
}

/* --- curves --- */

enum { PLOT_ROWS = 16, PLOT_COLUMNS = 60 };

/*
 * Latency over accepted rate, with characters; latency on a logarithmic scale, as curves near saturation need
 * it.
 */
static void plot(FILE *file, const struct noc_point *points, size_t count)
{
    char canvas[PLOT_ROWS][PLOT_COLUMNS + 1];
    double least = (double)INFINITY, most = 0, widest = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(points[i].latency > 0))
            continue;
        least = fmin(least, points[i].latency);
        most = fmax(most, points[i].latency);
        widest = fmax(widest, points[i].accepted);
    }
    if (!(most > 0) || !(widest > 0))
        return;
    for (unsigned row = 0; row < PLOT_ROWS; row++) {
        memset(canvas[row], ' ', PLOT_COLUMNS);
        canvas[row][PLOT_COLUMNS] = '\0';
    }
    double range = most > least ? log(most / least) : 1;
    for (size_t i = 0; i < count; i++) {
        if (!(points[i].latency > 0))
            continue;
        unsigned row = (unsigned)lround((PLOT_ROWS - 1) * log(points[i].latency / least) / range);
        unsigned column = (unsigned)lround((PLOT_COLUMNS - 1) * points[i].accepted / widest);
        canvas[PLOT_ROWS - 1 - row][column] = points[i].saturated ? 'x' : 'o';
    }
    fprintf(file,
            "\npacket latency (cycles, logarithmic) over accepted flits per node and cycle; x: saturated\n");
    for (unsigned row = 0; row < PLOT_ROWS; row++) {
        for (unsigned end = PLOT_COLUMNS; end > 0 && canvas[row][end - 1] == ' '; end--)
            canvas[row][end - 1] = '\0';
        if (row == 0 || row == PLOT_ROWS - 1)
            fprintf(file, "%9.1f |%s\n", row == 0 ? most : least, canvas[row]);
        else
            fprintf(file, "          |%s\n", canvas[row]);
    }
    fprintf(file, "          +");
    for (unsigned column = 0; column < PLOT_COLUMNS; column++)
        fputc('-', file);
    fprintf(file, "\n           0%*.4f\n", PLOT_COLUMNS - 1, widest);
}

static enum pim_status curve_json(FILE *file, const struct noc_point *points, size_t count, double saturation,
                                  double resolution, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the curve");
    pim_json_begin_array(json, "points");
    for (size_t i = 0; i < count; i++) {
        pim_json_begin_object(json, NULL);
        pim_json_put_real(json, "rate", points[i].rate);
        put_point(json, &points[i]);
        put_real(json, "p99_packet_latency", points[i].p99);
        pim_json_end(json);
    }
    pim_json_end(json);
    put_real(json, "saturation_flits_per_node_cycle", saturation);
    put_real(json, "saturation_resolution", resolution);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

enum pim_status noc_curve(FILE *file, unsigned format, const struct noc_point *points, size_t count,
                          double saturation, double resolution, struct pim_error *error)
{
    if (format == NOC_FORMAT_JSON)
        return curve_json(file, points, count, saturation, resolution, error);
    if (format == NOC_FORMAT_CSV) {
        fprintf(file, "rate,offered_flits_per_node_cycle,accepted_flits_per_node_cycle,average_packet_"
                      "latency,p99_packet_latency,"
                      "average_network_latency,average_hops,saturated\n");
        for (size_t i = 0; i < count; i++) {
            const double fields[] = {points[i].rate,    points[i].offered, points[i].accepted,
                                     points[i].latency, points[i].p99,     points[i].network_latency,
                                     points[i].hops};
            for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
                if (isnan(fields[k])) /* of nothing: an empty field */
                    fputc(',', file);
                else
                    fprintf(file, "%.17g,", fields[k]);
            fprintf(file, "%d\n", points[i].saturated);
        }
        return PIM_OK;
    }
    fprintf(file, "    rate   offered  accepted     latency       p99   network    hops\n");
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%8.4f  %8.4f  %8.4f  %10.2f  %8.0f  %8.2f  %6.2f%s\n", points[i].rate,
                points[i].offered, points[i].accepted, points[i].latency, points[i].p99,
                points[i].network_latency, points[i].hops, points[i].saturated ? "  saturated" : "");
    plot(file, points, count);
    if (!isnan(saturation))
        fprintf(file,
                "\nsaturation: %.4f flits per node and cycle accepted (between the last rate with a bounded "
                "latency and one %.4f "
                "above it)\n",
                saturation, resolution);
    return PIM_OK;
}
