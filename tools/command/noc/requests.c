#include "tools/command/noc/requests.h"

#include "tools/command/noc/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum pim_status noc_requests_parse(struct noc_requests *requests, struct pim_error *error)
{
    uint64_t *flits = requests->rules.flits;
    char end;
    if (!requests->messages)
        return PIM_OK;
    requests->rules.replies = true;
    if (!strchr(requests->messages, '-') &&
        sscanf(requests->messages, "%9" SCNu64 ",%9" SCNu64 ",%9" SCNu64 ",%9" SCNu64 "%c", &flits[0],
               &flits[1], &flits[2], &flits[3], &end) == 4 &&
        flits[0] && flits[1] && flits[2] && flits[3])
        return PIM_OK;
    return pim_fail(
        error, PIM_USAGE,
        "--messages %s: the flits of read requests, read replies, write requests and write replies are "
        "expected, as in 1,5,5,1",
        requests->messages);
}

/* A node makes no more than the packets of its batches: further rows of a list would be ignored. */
static enum pim_status check_batch(const struct noc_requests *requests,
                                   const struct pim_noc_configuration *noc,
                                   const struct pim_packet_list *list, struct pim_error *error)
{
    const uint32_t nodes = pim_noc_nodes(noc);
    if (requests->rules.batch == 0)
        return PIM_OK;
    uint64_t *rows = calloc(nodes, sizeof *rows), most = 0;
    if (!rows)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the batches of %" PRIu32 " nodes", nodes);
    uint32_t source = 0;
    for (uint64_t i = 0; i < list->count; i++)
        if (++rows[list->packets[i].source] > most) {
            source = list->packets[i].source;
            most = rows[source];
        }
    free(rows);
    const uint64_t made = pim_requests_of_batches(&requests->rules);
    if (most <= made)
        return PIM_OK;
    return pim_fail(
        error, PIM_BAD_INPUT,
        "node %" PRIu32 " has %" PRIu64 " rows, but makes %" PRIu64
        " packets in all: give a larger --batch (batch_size in a file of BookSim), more --batches "
        "(batch_count), or a list of fewer rows",
        source, most, made);
}

enum pim_status noc_requests_run(const struct noc_requests *requests, const struct pim_noc_configuration *noc,
                                 const struct pim_traffic_class *class, const char *packets, const char *log,
                                 struct pim_requests_result *result, struct pim_error *error)
{
    struct pim_packet_list list;
    enum pim_status status = packets ? pim_packet_list_read(packets, noc, &list, error)
                                     : pim_requests_draw(noc, &requests->rules, class, requests->writes,
                                                         requests->cycles, requests->seed, &list, error);
    if (status != PIM_OK)
        return status;
    if (packets)
        status = check_batch(requests, noc, &list, error);
    if (status == PIM_OK)
        status = pim_requests_run(noc, &requests->rules, &list, result, error);
    if (status == PIM_BAD_INPUT && packets)
        (void)pim_fail_in(error, "%s", packets);
    pim_packet_list_terminate(&list);
    if (status == PIM_OK && log) {
        status = noc_requests_log_write(log, result->packets, result->count, requests->rules.replies, error);
        if (status != PIM_OK)
            pim_requests_result_terminate(result);
    }
    return status;
}
