#include "tools/command/noc_traffic.h"

#include "models/system/noc_schema.h"
#include "models/traffic/traffic.h"
#include "sim/csv.h"
#include "sim/output.h"
#include "sim/progress.h"
#include "tools/command/command.h"
#include "tools/command/noc_classes.h"
#include "tools/command/noc_report.h"
#include "tools/command/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CYCLES_MOST (UINT64_C(1) << 40)

struct request {
    struct common_options common;
    struct text_list classes;
    const char *packets, *matrix, *log, *stats, *sizes, *on_off, *hotspots, *sweep;
    double rate, precision, latency_limit;
    uint64_t seed, warm_up, sample, samples;
    unsigned pattern, rate_unit, format;
    bool check, reproducible;
    const char *synthetic; /* an option of synthetic traffic that is given, or NULL */
};

/* --- packet lists --- */

static enum pim_status write_log(const char *path, const struct pim_noc_delivery *deliveries, uint64_t count,
                                 struct pim_error *error)
{
    static const char *const header[] = {"packet",       "created",       "source",        "destination",
                                         "flits",        "head_injected", "tail_injected", "head_arrived",
                                         "tail_arrived", "hops"};
    struct pim_output *output;
    if (pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    struct pim_csv_writer writer;
    pim_csv_start(&writer, pim_output_file(output), header, sizeof header / sizeof header[0]);
    for (uint64_t i = 0; i < count; i++) {
        const struct pim_noc_delivery *delivery = &deliveries[i];
        const uint64_t fields[] = {i,
                                   delivery->created,
                                   delivery->source,
                                   delivery->destination,
                                   delivery->flits,
                                   delivery->head_injected,
                                   delivery->tail_injected,
                                   delivery->head_arrived,
                                   delivery->tail_arrived,
                                   delivery->hops};
        for (size_t field = 0; field < sizeof fields / sizeof fields[0]; field++)
            pim_csv_put_count(&writer, fields[field]);
        pim_csv_end_row(&writer);
    }
    return pim_output_commit(output, error);
}

static enum pim_status write_report(const struct request *request, const struct pim_noc_configuration *noc,
                                    const struct pim_traffic_result *result, uint64_t config_hash,
                                    bool synthetic, struct pim_error *error)
{
    struct noc_report_inputs inputs = {.config_hash = config_hash,
                                       .seed = synthetic ? request->seed : 0,
                                       .rate = request->rate, /* NaN with a list */
                                       .reproducible = request->reproducible,
                                       .synthetic = synthetic};
    struct pim_output *output;
    if (pim_output_open(&output, request->stats, error) != PIM_OK)
        return error->status;
    if (noc_report(pim_output_file(output), request->format, noc, result, &inputs, error) != PIM_OK) {
        pim_output_abandon(output);
        return error->status;
    }
    return pim_output_commit(output, error);
}

static enum pim_status replay_list(const struct request *request, const struct pim_noc_configuration *noc,
                                   uint64_t config_hash, struct pim_error *error)
{
    struct pim_packet_list list;
    if (pim_packet_list_read(request->packets, noc, &list, error) != PIM_OK)
        return error->status;
    struct pim_noc_delivery *deliveries = calloc(list.count + 1, sizeof *deliveries);
    struct pim_traffic_result result;
    enum pim_status status =
        deliveries ? pim_traffic_replay(noc, &list, request->check, deliveries, &result, error)
                   : pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " packets", list.count);
    if (status == PIM_OK) {
        if (request->log)
            status = write_log(request->log, deliveries, list.count, error);
        if (status == PIM_OK)
            status = write_report(request, noc, &result, config_hash, false, error);
        pim_traffic_result_terminate(&result);
    }
    free(deliveries);
    pim_packet_list_terminate(&list);
    return status;
}

/* --- synthetic traffic --- */

static struct pim_traffic_configuration traffic_of(const struct request *request,
                                                   const struct noc_traffic_set *set)
{
    return (struct pim_traffic_configuration){.classes = set->classes,
                                              .class_count = set->class_count,
                                              .flows = set->flows,
                                              .flow_count = set->flow_count,
                                              .flow_class = &set->flow_class,
                                              .seed = request->seed,
                                              .warm_up = request->warm_up,
                                              .sample = request->sample,
                                              .least_samples =
                                                  request->samples < 5 ? (uint32_t)request->samples : 5,
                                              .most_samples = (uint32_t)request->samples,
                                              .precision = request->precision,
                                              .latency_limit = request->latency_limit,
                                              .check = request->check};
}

/* All traffic, at the rate that the user asks for, or at the one that classes and matrix say (NaN). */
static enum pim_status make_traffic(const struct request *request, const struct pim_noc_configuration *noc,
                                    double rate, struct noc_traffic_set *set, struct pim_error *error)
{
    const struct noc_traffic_texts texts = {.pattern = request->pattern,
                                            .in_packets = request->rate_unit == 1,
                                            .sizes = request->sizes,
                                            .on_off = request->on_off,
                                            .hotspots = request->hotspots,
                                            .matrix = request->matrix,
                                            .classes = &request->classes};
    if (noc_traffic_set_make(&texts, noc, set, error) != PIM_OK) {
        noc_traffic_set_terminate(set);
        return error->status;
    }
    if (!isnan(rate))
        noc_traffic_set_scale(set, pim_noc_nodes(noc), rate, request->rate_unit == 1);
    return PIM_OK;
}

static enum pim_status measure(const struct request *request, const struct pim_noc_configuration *noc,
                               uint64_t config_hash, struct pim_error *error)
{
    struct noc_traffic_set set;
    if (make_traffic(request, noc, request->rate, &set, error) != PIM_OK)
        return error->status;
    struct pim_traffic_configuration traffic = traffic_of(request, &set);
    struct pim_traffic_result result;
    enum pim_status status = pim_traffic_measure(noc, &traffic, &result, error);
    if (status == PIM_OK) {
        status = write_report(request, noc, &result, config_hash, true, error);
        pim_traffic_result_terminate(&result);
    }
    noc_traffic_set_terminate(&set);
    return status;
}

/* One point of a sweep. */
static enum pim_status measure_point(const struct request *request, const struct pim_noc_configuration *noc,
                                     double rate, struct noc_point *point, struct pim_error *error)
{
    struct noc_traffic_set set;
    if (make_traffic(request, noc, rate, &set, error) != PIM_OK)
        return error->status;
    struct pim_traffic_configuration traffic = traffic_of(request, &set);
    struct pim_traffic_result result;
    enum pim_status status = pim_traffic_measure(noc, &traffic, &result, error);
    if (status == PIM_OK) {
        *point = noc_point_of(noc, rate, &result);
        pim_traffic_result_terminate(&result);
    } else {
        status = pim_fail_in(error, "rate %g", rate);
    }
    noc_traffic_set_terminate(&set);
    return status;
}

/* Whether sources can make packets at this rate at all. */
static bool possible(const struct request *request, const struct pim_noc_configuration *noc, double rate)
{
    struct pim_error error = {.status = PIM_OK};
    struct noc_traffic_set set;
    if (make_traffic(request, noc, rate, &set, &error) != PIM_OK)
        return false;
    struct pim_traffic_configuration traffic = traffic_of(request, &set);
    struct pim_sources *sources;
    bool made = pim_sources_create(noc, &traffic, &sources, &error) == PIM_OK;
    pim_sources_destroy(sources);
    noc_traffic_set_terminate(&set);
    return made;
}

/*
 * Halves the gap between the last rate with a bounded latency and the first without until it is at most the
 * resolution. `saturation`: flits accepted at the first one, then at the last one tried.
 */
static enum pim_status find_saturation(const struct request *request, const struct pim_noc_configuration *noc,
                                       double low, double high, double resolution, double *saturation,
                                       struct pim_error *error)
{
    struct noc_point point = {0};
    while (high - low > resolution) {
        double middle = (low + high) / 2;
        if (measure_point(request, noc, middle, &point, error) != PIM_OK)
            return error->status;
        if (point.saturated)
            high = middle;
        else
            low = middle;
        *saturation = point.accepted;
    }
    return PIM_OK;
}

static enum pim_status sweep(const struct request *request, const struct pim_noc_configuration *noc,
                             struct pim_error *error)
{
    enum { POINTS_MOST = 1000 };
    double from, to, step;
    char end;
    if (sscanf(request->sweep, "%lf:%lf:%lf%c", &from, &to, &step, &end) != 3 || !(from > 0) || !(step > 0) ||
        !(to >= from) || (to - from) / step >= POINTS_MOST)
        return pim_fail(error, PIM_USAGE,
                        "--sweep-rate %s: FROM:TO:STEP with 0 < FROM <= TO and at most %d steps is expected",
                        request->sweep, POINTS_MOST);
    size_t most = (size_t)floor((to - from) / step + 1e-9) + 1, count = 0;
    struct noc_point *points = calloc(most, sizeof *points);
    if (!points)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %zu points", most);
    struct pim_progress progress;
    pim_progress_start(&progress, "rates", most, request->common.quiet);
    enum pim_status status = PIM_OK;
    double saturation = (double)NAN, resolution = step / 20;
    while (status == PIM_OK && count < most) {
        double rate = from + (double)count * step;
        if (count > 0 && !possible(request, noc, rate)) /* the sources saturate, not the network */
            break;
        status = measure_point(request, noc, rate, &points[count], error);
        pim_progress_update(&progress, count + 1);
        if (status == PIM_OK && points[count++].saturated) { /* beyond it every rate is saturated */
            saturation = points[count - 1].accepted;
            status = find_saturation(request, noc, count > 1 ? rate - step : 0, rate, resolution, &saturation,
                                     error);
            break;
        }
    }
    pim_progress_finish(&progress);
    struct pim_output *output = NULL;
    if (status == PIM_OK)
        status = pim_output_open(&output, request->stats, error);
    if (status == PIM_OK) {
        status =
            noc_curve(pim_output_file(output), request->format, points, count, saturation, resolution, error);
        if (status == PIM_OK)
            status = pim_output_commit(output, error);
        else
            pim_output_abandon(output);
    }
    free(points);
    return status;
}

/* --- command --- */

static enum pim_status run(const struct request *request, struct pim_error *error)
{
    struct pim_configuration *configuration;
    if (options_configuration(&pim_noc_schema, &request->common.hardware, &request->common.sets, true,
                              &configuration, error) != PIM_OK)
        return error->status;
    struct pim_noc_configuration noc;
    enum pim_status status = pim_noc_configuration_read(
        configuration, (uint32_t)pim_configuration_integer(configuration, "noc.width"),
        (uint32_t)pim_configuration_integer(configuration, "noc.height"), &noc, error);
    uint64_t hash = pim_configuration_hash(configuration);
    pim_configuration_destroy(configuration);
    if (status != PIM_OK)
        return status;
    if (request->packets)
        return replay_list(request, &noc, hash, error);
    if (request->sweep)
        return sweep(request, &noc, error);
    return measure(request, &noc, hash, error);
}

/* Marks the options that say something of synthetic traffic. */
static void mark_synthetic(struct option_rule *rules, size_t count, const char **given)
{
    static const char *const names[] = {"rate",     "rate-unit",  "sizes",     "on-off",
                                        "hotspots", "sweep-rate", "seed",      "warm-up",
                                        "sample",   "samples",    "precision", "latency-limit"};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++)
            if (strcmp(rules[i].name, names[j]) == 0)
                rules[i].given = given;
}

/* Options that contradict each other, or would do nothing. */
static enum pim_status check_request(const struct request *request, struct pim_error *error)
{
    bool rate = !isnan(request->rate);
    int modes = (request->packets != NULL) + (request->matrix != NULL) + (request->pattern != PIM_PATTERNS) +
                (request->classes.count > 0);
    if (modes != 1)
        return pim_fail(error, PIM_USAGE,
                        "one of --packets FILE, --traffic PATTERN, --class TEXT and --matrix FILE is needed");
    if (request->pattern != PIM_PATTERNS && !rate && !request->sweep)
        return pim_fail(error, PIM_USAGE, "--traffic needs --rate R or --sweep-rate FROM:TO:STEP");
    if (request->packets && request->synthetic)
        return pim_fail(error, PIM_USAGE, "--%s goes with synthetic traffic, not with --packets",
                        request->synthetic);
    if (request->sweep && rate)
        return pim_fail(error, PIM_USAGE, "--rate and --sweep-rate: only one of them");
    if (request->log && !request->packets)
        return pim_fail(error, PIM_USAGE, "--log goes with --packets");
    return PIM_OK;
}

int noc_traffic(int argument_count, char **arguments)
{
    struct request request = {.stats = "-",
                              .rate = (double)NAN,
                              .precision = 0.005,
                              .latency_limit = 500,
                              .seed = 1,
                              .warm_up = 3000,
                              .sample = 2000,
                              .samples = 50,
                              .pattern = PIM_PATTERNS};
    struct option_rule rules[] = {
        OPTION_SET(request.common),
        {.name = "config",
         .kind = OPTION_LIST,
         .target = &request.common.hardware,
         .argument = "FILE",
         .help = "Configuration of the network (libconfig, keys noc.*)"},
        OPTION_QUIET(request.common),
        RULE_TEXT("packets", request.packets, "FILE",
                  "Replays a packet list: cycle,source,destination,flits[,class][,task]"),
        RULE_OUTPUT("log", request.log, WRITES_TEXT,
                    "With --packets: writes when each packet was injected and arrived"),
        RULE_CHOICE("traffic", request.pattern, "PATTERN", NOC_PATTERNS, "Synthetic traffic: " NOC_PATTERNS),
        {.name = "class",
         .kind = OPTION_LIST,
         .target = &request.classes,
         .argument = "TEXT",
         .help =
             "A class of traffic, to be repeated: \"traffic=PATTERN rate=RATE [unit=packets] [sizes=LIST] "
             "[on-off=ON:OFF] [hotspots=NODES] [class=N]\""},
        RULE_REAL("rate", request.rate, "RATE", 0, 1e9,
                  "Flits per node and cycle; scales the rates of --class and --matrix to this sum"),
        RULE_CHOICE("rate-unit", request.rate_unit, "UNIT", "flits|packets",
                    "What --rate and --sweep-rate count: flits (default) or packets"),
        RULE_TEXT("sizes", request.sizes, "LIST",
                  "Packet sizes in flits: 5, or 1,5, or 1:0.8,5:0.2 with weights; 1 by default"),
        RULE_TEXT("on-off", request.on_off, "ON:OFF",
                  "Bursts: probabilities of turning on and off in a cycle; the rate stays the mean"),
        RULE_TEXT("hotspots", request.hotspots, "NODES", "Nodes of hotspot traffic"),
        RULE_TEXT("matrix", request.matrix, "FILE",
                  "Rates per pair: source,destination,rate in flits per cycle"),
        RULE_TEXT("sweep-rate", request.sweep, "FROM:TO:STEP", "Latency-throughput curve up to saturation"),
        RULE_UNSIGNED("seed", request.seed, "N", 0, UINT64_MAX, "Seed of the traffic; 1 by default"),
        RULE_UNSIGNED("warm-up", request.warm_up, "CYCLES", 0, CYCLES_MOST,
                      "Cycles before measuring; 3000 by default"),
        RULE_UNSIGNED("sample", request.sample, "CYCLES", 1, CYCLES_MOST,
                      "Cycles of a sample; 2000 by default"),
        RULE_UNSIGNED(
            "samples", request.samples, "N", 1, 1000,
            "Most samples; 50 by default. At least 5 are taken, and no more once the mean latency is "
            "precise enough"),
        RULE_REAL("precision", request.precision, "SHARE", 1e-9, 1,
                  "95 % confidence at which to stop, as a share of the mean latency; 0.005 by default"),
        RULE_REAL("latency-limit", request.latency_limit, "CYCLES", 1, 1e12,
                  "Mean latency beyond which the network counts as saturated; 500 by default"),
        RULE_FLAG("check", request.check,
                  "Verifies flits, credits and owners of virtual channels on the way and at the end"),
        RULE_OUTPUT("stats", request.stats, WRITES_TEXT, "Where to write; - is standard output"),
        OPTION_FORMAT(request.format, "text|json|csv"),
        RULE_FLAG("reproducible", request.reproducible,
                  "Leaves out what differs from run to run: host seconds and memory"),
    };
    mark_synthetic(rules, sizeof rules / sizeof rules[0], &request.synthetic);
    const struct option_usage usage = {
        "",    "Simulates the network alone: a packet list, synthetic traffic, or a curve over rates.",
        rules, sizeof rules / sizeof rules[0],
        0,     0};
    options_parse(&usage, argument_count, arguments, NULL);
    struct pim_error error = {0};
    enum pim_status status = check_request(&request, &error);
    if (status == PIM_OK)
        status = run(&request, &error);
    int code = status == PIM_OK ? 0 : command_fail(arguments[0], &error);
    text_list_terminate(&request.classes);
    common_terminate(&request.common);
    return command_finish(arguments[0], code);
}
