/* Requests and replies, and batches (docs/models/noc-requests.md). */
#include "models/booksim/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The keys begin with these, by kind of message. */
static const char *const prefix[PIM_REQUEST_KINDS] = {"read_request", "read_reply", "write_request",
                                                      "write_reply"};

/* A virtual channel; a negative one is `other`. */
static enum pim_status read_channel(const struct booksim_values *values, enum pim_request_kind message,
                                    bool end, uint32_t channels, uint32_t other, uint32_t *value,
                                    struct pim_error *error)
{
    char key[32];
    (void)snprintf(key, sizeof key, "%s_%s_vc", prefix[message], end ? "end" : "begin");
    if (booksim_integer(values, key, INT32_MIN, (int64_t)channels - 1, value, error) != PIM_OK)
        return error->status;
    if (booksim_text(values, key)[0] == '-' && *value == 0)
        *value = other;
    return PIM_OK;
}

/* Negative: requests have the lower half of the virtual channels, replies the upper one. */
static enum pim_status read_range(const struct booksim_values *values, enum pim_request_kind message,
                                  struct pim_noc_configuration *noc, struct pim_error *error)
{
    char key[32];
    bool reply = message % 2 == 1;
    uint32_t first, last, all = noc->virtual_channels, half = all / 2;
    if (read_channel(values, message, false, all, reply ? half : 0, &first, error) != PIM_OK ||
        read_channel(values, message, true, all, reply || half == 0 ? all - 1 : half - 1, &last, error) !=
            PIM_OK)
        return error->status;
    if (last < first) {
        (void)snprintf(key, sizeof key, "%s_end_vc", prefix[message]);
        return booksim_refuse(values, key, error, "the range begins at %u", first);
    }
    noc->class_first[message] = first;
    noc->class_channels[message] = last - first + 1;
    return PIM_OK;
}

static enum pim_status read_kinds(const struct booksim_values *values, struct pim_booksim *booksim,
                                  struct pim_error *error)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < PIM_REQUEST_KINDS; i++) {
        char key[32];
        uint32_t flits;
        (void)snprintf(key, sizeof key, "%s_size", prefix[i]);
        if (booksim_integer(values, key, 1, INT32_MAX, &flits, error) != PIM_OK ||
            read_range(values, (enum pim_request_kind)i, &booksim->noc, error) != PIM_OK)
            return error->status;
        sum += booksim->requests.flits[i] = flits;
    }
    booksim->noc.classes = PIM_REQUEST_KINDS;
    booksim->noc.message_classes = true;
    uint64_t mean = sum / 2; /* of a request and its reply, rounded down as BookSim does */
    if (!booksim->traffic.rate_in_packets)
        booksim->traffic.rate /= (double)mean;
    return booksim_real(values, "write_fraction", 0, 1, &booksim->writes, error);
}

static enum pim_status read_batch(const struct booksim_values *values, struct pim_requests *requests,
                                  struct pim_error *error)
{
    uint32_t size;
    if (booksim_integer(values, "batch_size", 1, INT32_MAX, &size, error) != PIM_OK ||
        booksim_integer(values, "batch_count", 1, PIM_BATCHES_MOST, &requests->batches, error) != PIM_OK ||
        booksim_integer(values, "max_outstanding_requests", 0, INT32_MAX, &requests->outstanding, error) !=
            PIM_OK)
        return error->status;
    requests->batch = size;
    return PIM_OK;
}

enum pim_status booksim_read_messages(const struct booksim_values *values, struct pim_booksim *booksim,
                                      struct pim_error *error)
{
    uint32_t replies;
    bool batch = strcmp(booksim_text(values, "sim_type"), "batch") == 0;
    if (booksim_integer(values, "use_read_write", 0, 1, &replies, error) != PIM_OK)
        return error->status;
    if (!batch && strcmp(booksim_text(values, "sim_type"), "latency") != 0)
        return booksim_refuse(values, "sim_type", error, "honoured are latency and batch");
    booksim->waits = batch || replies;
    if (booksim->waits && booksim->traffic.on > 0)
        return booksim_refuse(values, "injection_process", error,
                              "with use_read_write or sim_type = batch bernoulli is honoured alone");
    booksim->requests.replies = replies;
    booksim->writes = 0.5;
    if (replies && read_kinds(values, booksim, error) != PIM_OK)
        return error->status;
    if (batch) {
        booksim->writes = 0.5; /* BookSim does not look at write_fraction in a batch */
        return read_batch(values, &booksim->requests, error);
    }
    if (replies) {
        booksim->requests.from = booksim->warm_up;
        booksim->requests.to = booksim->warm_up + booksim->most_samples * booksim->sample;
    }
    return PIM_OK;
}
