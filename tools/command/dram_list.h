/* Request lists of `pimsim dram`: read from a file or generated. */
#ifndef PIMSIM_TOOLS_COMMAND_DRAM_LIST_H
#define PIMSIM_TOOLS_COMMAND_DRAM_LIST_H

#include "models/dram/memory.h"
#include "models/dram/schema.h"

struct dram_list {
    struct pim_dram_request *items; /* owned */
    size_t count;
};

/* INTERLEAVED walks through the columns of a row in all channels, pseudo-channels and bank groups in turn,
 * then through the banks and ranks, then through the rows: the stream that hardware likes best, whatever
 * the mapping of addresses is. */
enum dram_pattern { DRAM_SEQUENTIAL, DRAM_RANDOM, DRAM_STRIDED, DRAM_MIXED, DRAM_INTERLEAVED };
#define DRAM_PATTERN_NAMES "sequential|random|strided|mixed|interleaved"

struct dram_stream {
    unsigned pattern; /* enum dram_pattern */
    uint64_t count;   /* requests */
    uint64_t stride;  /* bytes, strided */
    double locality;  /* mixed: probability that the next request is the next column of the same row */
    double reads;     /* share of reads */
    double rate;      /* requests handed over per cycle */
    uint64_t seed;
};

/* Reads `cycle,op,address[,bytes]`. Refuses cycles that go back and addresses beyond the capacity. */
enum pim_status dram_list_read(struct dram_list *list, const char *path,
                               const struct pim_dram_configuration *configuration, struct pim_error *error);

/* Makes a stream; the same for the same arguments on every machine. */
enum pim_status dram_list_generate(struct dram_list *list, const struct dram_stream *stream,
                                   const struct pim_dram_configuration *configuration,
                                   struct pim_error *error);

void dram_list_terminate(struct dram_list *list);

#endif
