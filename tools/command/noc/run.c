#include "models/booksim/booksim.h"
#include "models/system/hardware/noc_schema.h"
#include "models/system/used.h"
#include "sim/output/output.h"
#include "sim/output/progress.h"
#include "tools/command/command.h"
#include "tools/command/noc/classes.h"
#include "tools/command/noc/report.h"
#include "tools/command/noc/request.h"
#include "tools/command/noc/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- packet lists --- */

static enum pim_status write_report(const struct noc_request *request,
                                    const struct pim_noc_configuration *noc,
                                    const struct pim_traffic_result *result, uint64_t config_hash,
                                    bool synthetic, struct pim_error *error)
{
    struct noc_report_inputs inputs = {.config_hash = config_hash,
                                       .seed = synthetic ? request->seed : 0,
                                       .rate = request->rate, /* NaN with a list */
                                       .latency_limit = request->latency_limit,
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

static enum pim_status check_watched(const struct noc_request *request,
                                     const struct pim_noc_configuration *noc,
                                     const struct pim_packet_list *list, struct pim_error *error)
{
    if (!request->watch_log)
        return PIM_OK;
    if (request->watched >= list->count)
        return pim_fail(error, PIM_BAD_INPUT,
                        "--watch %" PRIu64 ": the list has %" PRIu64 " packets, from 0 on", request->watched,
                        list->count);
    if (noc->fidelity != PIM_NOC_FLIT)
        return pim_fail(error, PIM_BAD_INPUT,
                        "--watch needs noc.fidelity = \"flit\": the others have no stages");
    return PIM_OK;
}

static enum pim_status replay_list(const struct noc_request *request, const struct pim_noc_configuration *noc,
                                   uint64_t config_hash, struct pim_error *error)
{
    struct pim_packet_list list;
    if (pim_packet_list_read(request->packets, noc, &list, error) != PIM_OK)
        return error->status;
    struct pim_noc_delivery *deliveries = calloc(list.count + 1, sizeof *deliveries);
    struct pim_traffic_result result;
    struct noc_watch watch;
    noc_watch_start(&watch, request->watched);
    enum pim_status status = check_watched(request, noc, &list, error);
    if (status == PIM_OK)
        status =
            deliveries
                ? pim_traffic_replay(noc, &list, request->check, request->watch_log ? &watch.watch : NULL,
                                     deliveries, &result, error)
                : pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " packets", list.count);
    if (status == PIM_DEADLOCK && request->watch_log) { /* up to the stop; the deadlock is what is told */
        struct pim_error other = {PIM_OK, ""};
        if (noc_watch_write(&watch, request->watch_log, true, &other) != PIM_OK)
            (void)command_fail("pimsim noc", &other);
    }
    if (status == PIM_OK) {
        if (request->watch_log)
            status = noc_watch_write(&watch, request->watch_log, false, error);
        if (status == PIM_OK && request->log)
            status = noc_log_write(request->log, deliveries, list.count, error);
        if (status == PIM_OK)
            status = write_report(request, noc, &result, config_hash, false, error);
        pim_traffic_result_terminate(&result);
    }
    noc_watch_terminate(&watch);
    free(deliveries);
    pim_packet_list_terminate(&list);
    return status;
}

/* --- requests --- */

/* Traffic that waits for the network: a list, or drawn. */
static enum pim_status run_requests(const struct noc_request *request,
                                    const struct pim_noc_configuration *noc, uint64_t config_hash,
                                    const struct noc_requests *requests,
                                    const struct pim_traffic_class *class, struct pim_error *error)
{
    struct pim_requests_result result;
    if (noc_requests_run(requests, noc, class, request->packets, request->log, &result, error) != PIM_OK)
        return error->status;
    /* Only at a rate can a network be saturated: a batch and a list end, however long their packets take. */
    result.traffic.saturated = !request->packets && requests->rules.batch == 0 &&
                               pim_histogram_mean(&result.traffic.latency) > request->latency_limit;
    enum pim_status status =
        write_report(request, noc, &result.traffic, config_hash, request->packets == NULL, error);
    pim_requests_result_terminate(&result);
    return status;
}

/* --- synthetic traffic --- */

static struct pim_traffic_configuration traffic_of(const struct noc_request *request,
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
static enum pim_status make_traffic(const struct noc_request *request,
                                    const struct pim_noc_configuration *noc, double rate,
                                    struct noc_traffic_set *set, struct pim_error *error)
{
    if (request->traffic) {
        *set = (struct noc_traffic_set){.classes = {*request->traffic}, .class_count = 1};
        return PIM_OK;
    }
    const struct noc_traffic_texts texts = {.pattern = request->pattern,
                                            .in_packets = request->rate_unit == RATE_IN_PACKETS,
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
        noc_traffic_set_scale(set, pim_noc_nodes(noc), rate, request->rate_unit == RATE_IN_PACKETS);
    return PIM_OK;
}

static enum pim_status measure(const struct noc_request *request, const struct pim_noc_configuration *noc,
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
static enum pim_status measure_point(const struct noc_request *request,
                                     const struct pim_noc_configuration *noc, double rate,
                                     struct noc_point *point, struct pim_error *error)
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
static bool possible(const struct noc_request *request, const struct pim_noc_configuration *noc, double rate)
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
static enum pim_status find_saturation(const struct noc_request *request,
                                       const struct pim_noc_configuration *noc, double low, double high,
                                       double resolution, double *saturation, struct pim_error *error)
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

static enum pim_status sweep(const struct noc_request *request, const struct pim_noc_configuration *noc,
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

/* --- all --- */

/* Requests as the options say; --rate counts them. */
static enum pim_status run_waiting(const struct noc_request *request, const struct pim_noc_configuration *noc,
                                   uint64_t config_hash, struct pim_error *error)
{
    struct noc_requests requests = request->requests;
    struct noc_traffic_set set = {.class_count = 0};
    requests.seed = request->seed;
    if (isnan(requests.writes))
        requests.writes = 0.5;
    if (noc_requests_parse(&requests, error) != PIM_OK ||
        (!request->packets && make_traffic(request, noc, (double)NAN, &set, error) != PIM_OK))
        return error->status;
    set.classes[0].rate = request->rate;
    if (!request->packets && requests.rules.batch == 0) {
        requests.rules.from = request->warm_up;
        requests.rules.to = request->warm_up + request->samples * request->sample;
        requests.cycles = requests.rules.to + request->sample;
    }
    requests.rules.check = request->check;
    enum pim_status status = run_requests(request, noc, config_hash, &requests, &set.classes[0], error);
    noc_traffic_set_terminate(&set);
    return status;
}

/* The network, and without a packet list the traffic, of a BookSim file. */
static enum pim_status run_booksim(const struct noc_request *request, struct pim_error *error)
{
    struct pim_booksim booksim;
    if (pim_booksim_read(request->booksim, &booksim, error) != PIM_OK)
        return error->status;
    if (request->fixed_draws)
        pim_booksim_fix_draws(&booksim);
    if (booksim.waits && request->watch_log)
        return pim_fail(error, PIM_BAD_INPUT,
                        "--watch goes with packets that wait for nothing: the traffic of %s waits for the "
                        "network (use_read_write, or sim_type = batch)",
                        request->booksim);
    if (!booksim.waits && request->log && !request->packets)
        return pim_fail(error, PIM_BAD_INPUT,
                        "--log goes with --packets, or with traffic that waits for the network: that of %s "
                        "does not (no use_read_write, no sim_type = batch)",
                        request->booksim);
    if (request->packets) /* all of a list counts */
        booksim.requests.from = booksim.requests.to = 0;
    if (booksim.waits) {
        struct noc_request waiting = *request;
        waiting.seed = booksim.seed;
        waiting.latency_limit = booksim.latency_limit;
        const struct noc_requests requests = {.rules = booksim.requests,
                                              .writes = booksim.writes,
                                              .seed = booksim.seed,
                                              .cycles = booksim.requests.to + booksim.sample};
        return run_requests(&waiting, &booksim.noc, booksim.hash, &requests, &booksim.traffic, error);
    }
    if (request->packets)
        return replay_list(request, &booksim.noc, booksim.hash, error);
    struct noc_request synthetic = *request;
    synthetic.traffic = &booksim.traffic;
    synthetic.rate_unit = booksim.traffic.rate_in_packets;
    synthetic.rate = booksim.traffic.rate;
    synthetic.seed = booksim.seed;
    synthetic.warm_up = booksim.warm_up;
    synthetic.sample = booksim.sample;
    synthetic.samples = booksim.most_samples;
    synthetic.latency_limit = booksim.latency_limit;
    return measure(&synthetic, &booksim.noc, booksim.hash, error);
}

enum pim_status noc_run(const struct noc_request *request, struct pim_error *error)
{
    if (request->booksim)
        return run_booksim(request, error);
    struct pim_configuration *configuration;
    if (options_configuration(&pim_noc_schema, &request->common.hardware, &request->common.sets,
                              PIM_TO_REPLAY, &configuration, error) != PIM_OK)
        return error->status;
    struct pim_noc_configuration noc;
    enum pim_status status =
        pim_noc_configuration_read(configuration, pim_configuration_count(configuration, "noc.width"),
                                   pim_configuration_count(configuration, "noc.height"), &noc, error);
    uint64_t hash = pim_configuration_hash(configuration);
    pim_configuration_destroy(configuration);
    if (status != PIM_OK)
        return status;
    if (noc_request_waits(request))
        return run_waiting(request, &noc, hash, error);
    if (request->packets)
        return replay_list(request, &noc, hash, error);
    if (request->sweep)
        return sweep(request, &noc, error);
    return measure(request, &noc, hash, error);
}
