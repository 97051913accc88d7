/*
 * Configuration files of BookSim 2: "key = value;" with // comments, as networks of this house.
 *
 * 1. A key that BookSim does not know is refused with the nearest one; a value that the network cannot
 *    honour, with what it can. Keys that change no cycle (output, statistics, power) are read over.
 * 2. What a key is not given for has BookSim's default, but routing_function has to be given.
 * 3. A network that could deadlock is run, as BookSim runs it.
 */
#ifndef PIMSIM_MODELS_BOOKSIM_BOOKSIM_H
#define PIMSIM_MODELS_BOOKSIM_BOOKSIM_H

#include "models/traffic/requests.h"

struct pim_booksim {
    struct pim_noc_configuration noc;
    /* The synthetic traffic, for who has no packet list. */
    struct pim_traffic_class traffic;
    /* use_read_write, sim_type = batch: terminals wait for the network, and `traffic` counts requests. */
    bool waits;
    struct pim_requests requests;
    double writes;
    uint64_t hash; /* of the text */
    uint64_t seed;
    uint64_t warm_up, sample; /* cycles */
    uint32_t most_samples;    /* after the warm-up */
    double latency_limit;
};

/* `name` is the file's, for messages, which have its line. PIM_BAD_INPUT. */
enum pim_status pim_booksim_parse(const char *text, size_t length, const char *name,
                                  struct pim_booksim *booksim, struct pim_error *error);

/* The same from a file, - is standard input. PIM_IO, PIM_NO_MEMORY too. */
enum pim_status pim_booksim_read(const char *path, struct pim_booksim *booksim, struct pim_error *error);

/* Fixed rules in place of what the routing draws, as lists have that are measured side by side: ties,
 * partitions and channels of injection by the packet's number, a fat tree's way up by the destination. */
void pim_booksim_fix_draws(struct pim_booksim *booksim);

#endif
