/* A measurement of synthetic traffic: warm-up, samples until the mean latency is known well enough, drain. */
#include "models/noc/watchdog.h"
#include "models/traffic/traffic.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { BATCHES_MOST = 1000, SHARES = PIM_TRAFFIC_CLASSES + 1 /* and the matrix */ };

struct measurement {
    const struct pim_traffic_configuration *configuration;
    struct pim_noc *network;
    struct pim_noc_watchdog watchdog;
    struct pim_sources *sources;
    struct pim_traffic_result *result;
    uint64_t cycle; /* first cycle that has not been done */
    uint64_t packets_sent;
    uint64_t from, to;         /* packets created in [from, to) count */
    uint64_t created, arrived; /* of those that count */
    struct pim_sum created_sum,
        arrived_created_sum; /* of their creation cycles, for the age of those under way */
    double batch_sum;        /* latencies of packets that arrived in this sample */
    uint64_t batch_count;
};

static void delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct measurement *measurement = context;
    struct pim_traffic_result *result = measurement->result;
    struct pim_traffic_share *share = &result->shares[delivery->packet % SHARES];
    if (delivery->tail_arrived >= measurement->from && delivery->tail_arrived < measurement->to)
        share->accepted_flits += delivery->flits;
    if (delivery->created < measurement->from || delivery->created >= measurement->to)
        return;
    uint64_t latency = delivery->tail_arrived - delivery->created;
    measurement->arrived++;
    pim_sum_add(&measurement->arrived_created_sum, delivery->created);
    measurement->batch_sum += (double)latency;
    measurement->batch_count++;
    result->packets++;
    result->hops += delivery->hops;
    pim_histogram_add(&result->latency, latency);
    share->packets++;
    pim_histogram_add(&share->latency, latency);
    pim_sum_add(&result->network_latency, delivery->tail_arrived - delivery->head_injected);
    if (delivery->tail_arrived >= result->cycles)
        result->cycles = delivery->tail_arrived + 1;
}

static void send_next(struct measurement *measurement)
{
    struct pim_listed_packet packet;
    uint32_t class = pim_sources_take(measurement->sources, &packet);
    if (packet.cycle >= measurement->from && packet.cycle < measurement->to) {
        measurement->created++;
        measurement->result->offered_flits += packet.flits;
        measurement->result->shares[class].offered_flits += packet.flits;
        pim_sum_add(&measurement->created_sum, packet.cycle);
    }
    pim_noc_send_tagged_at(measurement->network, packet.cycle, packet.source, packet.destination,
                           packet.flits, measurement->packets_sent++ * SHARES + class, packet.tag);
}

/* Runs all cycles before `end`; with `until_arrived` only until the packets that count have arrived. */
static enum pim_status run(struct measurement *measurement, uint64_t end, bool until_arrived,
                           struct pim_error *error)
{
    while (!until_arrived || measurement->arrived < measurement->created) {
        uint64_t cycle = pim_noc_next_cycle(measurement->network);
        uint64_t arrival = pim_sources_next(measurement->sources);
        if (arrival < cycle)
            cycle = arrival;
        if (cycle >= end)
            break;
        while (pim_sources_next(measurement->sources) == cycle)
            send_next(measurement);
        pim_noc_step(measurement->network, cycle);
        measurement->cycle = cycle + 1;
        if (pim_noc_watch(&measurement->watchdog, measurement->network, cycle, error) != PIM_OK)
            return error->status;
    }
    if (!until_arrived)
        measurement->cycle = end;
    return PIM_OK;
}

/* Mean latency of all that count, those under way with the age they have. */
static double latency_so_far(const struct measurement *measurement)
{
    if (measurement->created == 0)
        return 0;
    double under_way = (double)(measurement->created - measurement->arrived);
    double ages = under_way * (double)measurement->cycle -
                  (pim_sum_real(&measurement->created_sum) - pim_sum_real(&measurement->arrived_created_sum));
    return (pim_sum_real(&measurement->result->latency.sum) + ages) / (double)measurement->created;
}

/*
 * Half width of the 95 % interval of the mean of `count` batch means: Student's t with count - 1 degrees of
 * freedom; NaN of fewer than two.
 */
static double half_width(const double *means, uint32_t count)
{
    static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                               2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                               2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
    if (count < 2)
        return (double)NAN; /* not estimated, and not precise enough */
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += means[i] / count;
    for (uint32_t i = 0; i < count; i++)
        squares += (means[i] - mean) * (means[i] - mean);
    double quantile = count - 2 < sizeof t / sizeof t[0] ? t[count - 2] : 1.96;
    return quantile * sqrt(squares / (count - 1) / count);
}

static enum pim_status measure_samples(struct measurement *measurement, struct pim_error *error)
{
    const struct pim_traffic_configuration *configuration = measurement->configuration;
    struct pim_traffic_result *result = measurement->result;
    struct pim_noc_statistics before, after;
    double means[BATCHES_MOST];
    uint32_t batches = 0;
    measurement->from = measurement->cycle;
    measurement->to = UINT64_MAX;
    pim_noc_get_statistics(measurement->network, &before);
    while (result->samples < configuration->most_samples) {
        if (run(measurement, measurement->cycle + configuration->sample, false, error) != PIM_OK)
            return error->status;
        result->samples++;
        if (configuration->check && pim_noc_check(measurement->network, error) != PIM_OK)
            return error->status;
        if (measurement->batch_count)
            means[batches++] = measurement->batch_sum / (double)measurement->batch_count;
        measurement->batch_sum = 0;
        measurement->batch_count = 0;
        if (latency_so_far(measurement) > configuration->latency_limit) {
            result->saturated = true;
            break;
        }
        result->confidence = half_width(means, batches);
        if (result->samples >= configuration->least_samples &&
            result->confidence <= configuration->precision * pim_histogram_mean(&result->latency))
            break;
    }
    measurement->to = measurement->cycle;
    pim_noc_get_statistics(measurement->network, &after);
    result->measured_cycles = measurement->to - measurement->from;
    result->accepted_flits = after.flits_delivered - before.flits_delivered;
    return PIM_OK;
}

static enum pim_status check_configuration(const struct pim_traffic_configuration *configuration,
                                           struct pim_error *error)
{
    if (configuration->sample == 0 || configuration->least_samples == 0 ||
        configuration->most_samples < configuration->least_samples ||
        configuration->most_samples > BATCHES_MOST)
        return pim_fail(error, PIM_BAD_INPUT,
                        "samples of at least one cycle, and from 1 to %d of them, are expected",
                        BATCHES_MOST);
    if (configuration->class_count > PIM_TRAFFIC_CLASSES)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " classes of traffic: allowed are up to %d",
                        configuration->class_count, PIM_TRAFFIC_CLASSES);
    if (!(configuration->precision > 0) || !(configuration->latency_limit > 0))
        return pim_fail(error, PIM_BAD_INPUT, "precision and latency limit must be above 0");
    if (configuration->warm_up > UINT64_C(1) << 50 || configuration->sample > UINT64_C(1) << 40)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a warm-up of at most 2^50 and samples of at most 2^40 cycles are possible");
    return PIM_OK;
}

enum pim_status pim_traffic_measure(const struct pim_noc_configuration *noc,
                                    const struct pim_traffic_configuration *configuration,
                                    struct pim_traffic_result *result, struct pim_error *error)
{
    *result = (struct pim_traffic_result){.confidence = (double)NAN};
    if (check_configuration(configuration, error) != PIM_OK)
        return error->status;
    uint32_t shares = configuration->class_count + (configuration->flow_count > 0);
    result->shares = calloc((size_t)shares + 1, sizeof *result->shares);
    if (!result->shares)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the results of %" PRIu32 " classes", shares);
    for (; result->share_count < shares; result->share_count++) {
        struct pim_traffic_share *share = &result->shares[result->share_count];
        const struct pim_traffic_class *class = result->share_count < configuration->class_count
                                                    ? &configuration->classes[result->share_count]
                                                    : configuration->flow_class;
        share->network_class = class ? class->network_class : 0;
        pim_histogram_initialize(&share->latency, 12, UINT64_C(1) << 40);
    }
    struct measurement measurement = {
        .configuration = configuration, .result = result, .from = UINT64_MAX, .to = UINT64_MAX};
    struct pim_noc_callbacks callbacks = {.context = &measurement, .delivered = delivered};
    pim_histogram_initialize(&result->latency, 12, UINT64_C(1) << 40);
    if (pim_noc_create(noc, NULL, 1, &callbacks, &measurement.network, error) != PIM_OK) {
        pim_traffic_result_terminate(result);
        return error->status;
    }
    enum pim_status status = pim_sources_create(pim_noc_configuration(measurement.network), configuration,
                                                &measurement.sources, error);
    if (status == PIM_OK)
        status = run(&measurement, configuration->warm_up, false, error);
    if (status == PIM_OK)
        status = measure_samples(&measurement, error);
    if (status == PIM_OK && !result->saturated) {
        /*
         * Traffic goes on, so that the last packets meet what the first ones met. What takes as long as
         * everything before is stuck.
         */
        uint64_t patience = 10 * (configuration->warm_up + result->measured_cycles) + 100000;
        status = run(&measurement, measurement.cycle + patience, true, error);
        result->saturated = measurement.arrived < measurement.created;
    }
    if (status == PIM_OK && configuration->check)
        status = pim_noc_check(measurement.network, error);
    if (status == PIM_OK) {
        pim_noc_get_statistics(measurement.network, &result->noc);
        if (result->cycles < measurement.cycle)
            result->cycles = measurement.cycle;
        status = pim_traffic_links(measurement.network, result, error);
    }
    pim_sources_destroy(measurement.sources);
    pim_noc_destroy(measurement.network);
    if (status != PIM_OK)
        pim_traffic_result_terminate(result);
    return status;
}
