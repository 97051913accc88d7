/* Reports of the network alone. */
#ifndef PIMSIM_TOOLS_COMMAND_NOC_REPORT_H
#define PIMSIM_TOOLS_COMMAND_NOC_REPORT_H

#include "models/traffic/traffic.h"

#include <stdio.h>

struct noc_report_inputs {
    uint64_t config_hash, seed;
    bool reproducible;
    bool synthetic;
};

enum { NOC_FORMAT_TEXT, NOC_FORMAT_JSON, NOC_FORMAT_CSV };

/* One result; CSV is a row under the header that noc_csv_header writes. */
enum pim_status noc_report(FILE *file, unsigned format, const struct pim_noc_configuration *noc,
                           const struct pim_traffic_result *result, const struct noc_report_inputs *inputs,
                           struct pim_error *error);

/* A point of a latency-throughput curve. */
struct noc_point {
    double rate;              /* as asked for */
    double offered, accepted; /* flits per node and cycle */
    double latency, p99, network_latency, hops;
    bool saturated;
};

struct noc_point noc_point_of(const struct pim_noc_configuration *noc, double rate,
                              const struct pim_traffic_result *result);
enum pim_status noc_curve(FILE *file, unsigned format, const struct noc_point *points, size_t count,
                          double saturation, double resolution, struct pim_error *error);

#endif
