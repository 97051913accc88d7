/*
 * Traffic that waits for the network: requests that are answered, and batches with a limit of packets under
 * way. The rules are BookSim 2's (use_read_write, sim_type = batch); docs/models/noc-requests.md has them
 * with their source.
 *
 * 1. A terminal makes a packet only in a cycle in which nothing of an earlier one is left to inject.
 *    Replies go first, in the order in which the tails of their requests arrived, at the earliest one cycle
 *    after; then requests.
 * 2. A request is answered where it arrives. Its reply counts as created in the cycle of that arrival.
 * 3. Open traffic: a request is made in its cycle, or as soon as the terminal has time; it counts as
 *    created in its cycle.
 * 4. A batch: a terminal makes its requests one after another while it has made fewer than `batch` packets,
 *    replies included, and fewer than `outstanding` requests are out. A request is out until its tail has
 *    arrived, or the tail of its reply if it is answered; what arrives in a cycle counts from the next one
 *    on. Replies are made beyond `batch` too.
 * 5. In a batch a packet counts as created at the terminal's clock. It begins at 0 and goes on by one with
 *    every request, and to the next cycle in one in which the terminal has time but may make no request.
 * 6. A batch ends with the cycle after which every terminal has made `batch` packets and no flit is under
 *    way; replies that are not made yet do not hold it up. In the next cycle all terminals count anew.
 */
#ifndef PIMSIM_MODELS_TRAFFIC_REQUESTS_H
#define PIMSIM_MODELS_TRAFFIC_REQUESTS_H

#include "models/traffic/traffic.h"

/* Kinds of messages, by their numbers as classes of the network. A reply is its request + 1. */
enum pim_request_kind {
    PIM_READ_REQUEST,
    PIM_READ_REPLY,
    PIM_WRITE_REQUEST,
    PIM_WRITE_REPLY,
    PIM_REQUEST_KINDS
};

const char *pim_request_kind_name(unsigned message);

enum { PIM_BATCHES_MOST = 1 << 20 };

struct pim_requests {
    bool replies;                      /* needs a network with one class for each kind of message */
    uint64_t flits[PIM_REQUEST_KINDS]; /* with replies: of each kind; for those that are drawn, and replies */
    uint64_t batch;                    /* packets that each terminal makes; 0: open traffic */
    uint32_t batches;                  /* that follow one another; 0 counts as 1 */
    uint32_t outstanding;              /* requests out at a terminal, in a batch; 0: without limit */
    uint64_t from, to; /* packets created in [from, to) count in the result's sums; to 0: all */
    bool check;        /* verify the network's invariants every 1024 steps and at the end */
};

/* Most requests of one terminal: those of all batches. 0: open traffic. */
static inline uint64_t pim_requests_of_batches(const struct pim_requests *requests)
{
    return requests->batch * (requests->batches ? requests->batches : 1);
}

/* A packet that was sent; `created` by the rules above. */
struct pim_requests_packet {
    struct pim_noc_delivery delivery;
    enum pim_request_kind message; /* PIM_READ_REQUEST without replies */
};

struct pim_requests_result {
    struct pim_requests_packet *packets; /* by cycle of creation, source, requests before replies */
    uint64_t count;
    struct pim_traffic_result traffic; /* shares: by kind of message, one without replies; accepted: flits of
                                        * packets whose tails arrived in [from, to) */
};

void pim_requests_result_terminate(struct pim_requests_result *result);

/*
 * Runs the requests of a list until everything has arrived. Open traffic: each in its cycle; batches: each
 * source's in the order of the list, its cycles are not looked at. With replies the class of a listed
 * packet is its kind, a request. PIM_BAD_INPUT: a list or a network that does not fit, or a list that has too
 * few requests of a source for all of several batches; PIM_DEADLOCK, PIM_INTERNAL and PIM_NO_MEMORY as in
 * pim_traffic_replay(). The caller terminates the result of PIM_OK.
 */
enum pim_status pim_requests_run(const struct pim_noc_configuration *noc, const struct pim_requests *exchange,
                                 const struct pim_packet_list *list, struct pim_requests_result *result,
                                 struct pim_error *error);

/*
 * Draws such a list. Open traffic: requests of `cycles` cycles, at the class's rate, which counts packets.
 * Batches: `batch` requests for each source and batch, all in cycle 0; the rate is not looked at. With
 * replies a request is a write with probability `writes` and has the size of its kind, else the class's
 * sizes are drawn. The caller terminates the list of PIM_OK.
 */
enum pim_status pim_requests_draw(const struct pim_noc_configuration *noc,
                                  const struct pim_requests *exchange, const struct pim_traffic_class *class,
                                  double writes, uint64_t cycles, uint64_t seed, struct pim_packet_list *list,
                                  struct pim_error *error);

#endif
