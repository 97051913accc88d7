/* Between the files of `pimsim noc`: what is asked for, and its run. */
#ifndef PIMSIM_TOOLS_COMMAND_NOC_REQUEST_H
#define PIMSIM_TOOLS_COMMAND_NOC_REQUEST_H

#include "tools/command/noc/requests.h"
#include "tools/command/options.h"

enum { RATE_IN_FLITS, RATE_IN_PACKETS, RATE_IN_NO_UNIT /* not given: flits */ };

/* What the options of `pimsim noc` say. */
struct noc_request {
    struct common_options common;
    struct text_list classes;
    const char *packets, *matrix, *log, *stats, *sizes, *on_off, *hotspots, *sweep, *booksim;
    double rate, precision, latency_limit;
    uint64_t seed, warm_up, sample, samples;
    unsigned pattern, rate_unit, format;
    bool check, reproducible, fixed_draws;
    struct noc_requests requests;
    uint64_t watched;      /* packet */
    const char *watch_log; /* NULL: none is watched */
    /* An option of synthetic traffic that is given, or NULL: of its samples, of their precision, of its
     * saturation, another. */
    const char *measured, *precise, *limited, *synthetic;
    const struct pim_traffic_class *traffic; /* of a BookSim file, or NULL */
};

/* Traffic that waits for the network. */
static inline bool noc_request_waits(const struct noc_request *request)
{
    return request->requests.messages || request->requests.rules.batch > 0;
}

/* Runs what is asked for and writes the results. */
enum pim_status noc_run(const struct noc_request *request, struct pim_error *error);

#endif
