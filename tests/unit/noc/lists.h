/*
 * Packet lists for the tests of the mesh: build them, run them through a network, compare runs.
 */
#ifndef PIMSIM_TESTS_UNIT_NOC_LISTS_H
#define PIMSIM_TESTS_UNIT_NOC_LISTS_H

#include "models/noc/noc.h"
#include "models/traffic/requests.h"

/* One packet of a list: the stimulus, and what a run answered. Sorted by `created`. */
struct list_packet {
    uint64_t created, flits;
    uint32_t source, destination;
    uint64_t head_injected, tail_injected, head_arrived, tail_arrived;
    uint32_t hops;
    bool delivered;
    uint32_t message; /* kind, of lists with requests and replies; else 0 */
};

struct list {
    struct list_packet *packets;
    size_t count, capacity;
};

void list_add(struct list *list, uint64_t created, uint32_t source, uint32_t destination, uint64_t flits);
void list_free(struct list *list);

/* A copy of the stimulus, without answers. */
struct list list_copy(const struct list *list);

/* Reads tests/data/noc/<name>.csv.zst with its answers; fails the test when it cannot. */
struct list list_read(const char *name);

/*
 * Runs the stimulus on an own network without a kernel until nothing more happens, and fills in the answers.
 * Every `check_period` steps (0: only at the end) pim_noc_check() must hold. Fails the test when a packet is
 * not delivered, or delivered twice. `links`, when not NULL, receives the flits of all links, [node][6], and
 * then their blocked cycles, to be freed by the caller.
 */
struct pim_noc_statistics list_run(const struct pim_noc_configuration *configuration, struct list *list,
                                   unsigned check_period, uint64_t **links);

/* Fails the test when a packet of requests and replies differs from row `row` of a list in any column. */
void list_expect_packet(const struct list_packet *expected, const struct pim_requests_packet *found,
                        size_t row, const char *what);

/* Fails the test at the first packet whose answers differ; `what` names the case. */
void list_expect_same(const struct list *expected, const struct list *found, const char *what);

#endif
