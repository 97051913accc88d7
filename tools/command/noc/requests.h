/* `pimsim noc` with traffic that waits for the network: requests with replies, and batches. */
#ifndef PIMSIM_TOOLS_COMMAND_NOC_REQUESTS_H
#define PIMSIM_TOOLS_COMMAND_NOC_REQUESTS_H

#include "models/traffic/requests.h"

struct noc_requests {
    struct pim_requests rules;
    double writes;         /* share of the requests that write */
    uint64_t seed, cycles; /* of requests that are drawn */
    const char *messages;  /* the option's text, or NULL */
};

/* Fills rules.flits and rules.replies from "READ_REQUEST,READ_REPLY,WRITE_REQUEST,WRITE_REPLY". PIM_USAGE. */
enum pim_status noc_requests_parse(struct noc_requests *requests, struct pim_error *error);

/* Runs the list at `packets`, or draws one when that is NULL, and writes the log when `log` is none. The
 * caller terminates the result of PIM_OK. */
enum pim_status noc_requests_run(const struct noc_requests *requests, const struct pim_noc_configuration *noc,
                                 const struct pim_traffic_class *class, const char *packets, const char *log,
                                 struct pim_requests_result *result, struct pim_error *error);

#endif
