/* Reports of the network alone. */
#ifndef PIMSIM_TOOLS_COMMAND_NOC_REPORT_H
#define PIMSIM_TOOLS_COMMAND_NOC_REPORT_H

#include "models/traffic/requests.h"

#include <stdio.h>

struct noc_report_inputs {
    uint64_t config_hash, seed;
    double rate;          /* as asked for; NaN: none was */
    double latency_limit; /* beyond which the network counts as saturated */
    bool reproducible;    /* leave out what differs from run to run */
    bool synthetic;       /* traffic that was measured, not a list */
};

enum { NOC_FORMAT_TEXT, NOC_FORMAT_JSON, NOC_FORMAT_CSV };

/* One result; CSV is a curve of this one point. PIM_NO_MEMORY. */
enum pim_status noc_report(FILE *file, unsigned format, const struct pim_noc_configuration *noc,
                           const struct pim_traffic_result *result, const struct noc_report_inputs *inputs,
                           struct pim_error *error);

/* A row for every packet of a list: when it was created, injected and arrived. */
enum pim_status noc_log_write(const char *path, const struct pim_noc_delivery *deliveries, uint64_t count,
                              struct pim_error *error);
/* The same of requests, with the kind of message it is where there are `kinds`. */
enum pim_status noc_requests_log_write(const char *path, const struct pim_requests_packet *packets,
                                       uint64_t count, bool kinds, struct pim_error *error);

/* A point of a latency-throughput curve. Means of nothing are NaN: an empty field in CSV, null in JSON. */
struct noc_point {
    double rate;                          /* as asked for */
    double offered, accepted;             /* flits per node and cycle */
    double latency, p99, network_latency; /* cycles */
    double hops;                          /* routers */
    bool saturated;
};

struct noc_point noc_point_of(const struct pim_noc_configuration *noc, double rate,
                              const struct pim_traffic_result *result);
/* `saturation` in flits accepted per node and cycle, NaN: not reached; `resolution` of the rate it was
 * found with. PIM_NO_MEMORY. */
enum pim_status noc_curve(FILE *file, unsigned format, const struct noc_point *points, size_t count,
                          double saturation, double resolution, struct pim_error *error);

#endif
