/*
 * Requests of `pimsim dram`: read from a file, generated, or a list in memory. A source gives them block by
 * block, so that no list has to fit the memory.
 */
#ifndef PIMSIM_TOOLS_COMMAND_DRAM_LIST_H
#define PIMSIM_TOOLS_COMMAND_DRAM_LIST_H

#include "models/dram/memory.h"
#include "models/dram/standard/schema.h"
#include "tools/command/dram/tensor.h"

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

/*
 * CSV: cycle,op,address[,bytes]. RAMULATOR: lines "LD ADDRESS", "ST ADDRESS" or "R PLACES", "W PLACES" with
 * the places of all levels, channel first and column last, with commas; they have no cycles and are handed
 * over as fast as they are accepted. DRAMSIM3: lines "ADDRESS READ CYCLE", the address in hexadecimal.
 */
enum dram_list_format { DRAM_LIST_CSV, DRAM_LIST_RAMULATOR, DRAM_LIST_DRAMSIM3 };
#define DRAM_LIST_FORMAT_NAMES "csv|ramulator|dramsim3"

struct dram_source;

/* Of a file, "-" for standard input; refuses cycles that go back and addresses beyond the capacity. `*source`
 * is NULL after a failure; the configuration must outlive it. */
enum pim_status dram_source_open(struct dram_source **source, const char *path, enum dram_list_format format,
                                 const struct pim_dram_configuration *configuration, struct pim_error *error);
/* A generated stream; the same for the same arguments on every machine. */
enum pim_status dram_source_generate(struct dram_source **source, const struct dram_stream *stream,
                                     const struct pim_dram_configuration *configuration,
                                     struct pim_error *error);
/* A window of a tensor; `cost` as dram_tensor_start has it. */
enum pim_status dram_source_tensor(struct dram_source **source, const struct dram_tensor *tensor,
                                   const struct pim_dram_configuration *configuration,
                                   struct pim_layout_cost *cost, struct pim_error *error);
/* A list, which must outlive the source. */
enum pim_status dram_source_items(struct dram_source **source, const struct dram_list *list,
                                  struct pim_error *error);
/* The next requests, at most `room` of them; `*count` is 0 at the end. */
enum pim_status dram_source_next(struct dram_source *source, struct pim_dram_request *requests, size_t room,
                                 size_t *count, struct pim_error *error);
/* NULL is allowed. */
void dram_source_close(struct dram_source *source);

/* The whole of a CSV file, or of a stream. */
enum pim_status dram_list_read(struct dram_list *list, const char *path,
                               const struct pim_dram_configuration *configuration, struct pim_error *error);
enum pim_status dram_list_generate(struct dram_list *list, const struct dram_stream *stream,
                                   const struct pim_dram_configuration *configuration,
                                   struct pim_error *error);

void dram_list_terminate(struct dram_list *list);

#endif
