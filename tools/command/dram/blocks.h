/*
 * Requests of `pimsim dram` from their arrival until all their accesses are served, in blocks. A request may
 * wait for as long as others come (a write while reads do, the last request of a channel that gets no more):
 * of the blocks behind it DRAM_BLOCKS_KEPT stay in memory, the others go to a temporary file.
 */
#ifndef PIMSIM_TOOLS_COMMAND_DRAM_BLOCKS_H
#define PIMSIM_TOOLS_COMMAND_DRAM_BLOCKS_H

#include "models/dram/memory.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { DRAM_BLOCK = 1 << 14, DRAM_BLOCKS_KEPT = 8 };

struct dram_result {
    uint64_t first_command, completed; /* first_command: UINT64_MAX without a command */
};

struct dram_payload {
    struct pim_dram_request requests[DRAM_BLOCK];
    uint64_t arrived[DRAM_BLOCK];
    struct dram_result results[DRAM_BLOCK];
};

/* Requests that follow one another; done with when all their accesses are served. */
struct dram_block {
    struct dram_block *before, *next;
    uint64_t first; /* number of its first request */
    size_t count;
    uint64_t accesses, served;
    struct dram_payload *payload; /* NULL: in the file */
    uint64_t place;               /* in the file, where it was once; UINT64_MAX: nowhere */
};

/* All zero is empty. */
struct dram_blocks {
    struct dram_block *oldest, *newest, *spare;  /* owned */
    struct dram_payload *free[DRAM_BLOCKS_KEPT]; /* owned, as those of blocks are */
    struct dram_payload *read;                   /* owned: of the file, while it is handed on */
    size_t free_count, made;
    bool ordered; /* blocks are handed on in the order of their requests; else as they are done with */
    FILE *file;
    uint64_t places;
    int failed; /* errno of the file; 0: it did not fail */
};

/* A block behind the others, its results empty. NULL: memory is out, or the file failed. */
struct dram_block *dram_blocks_add(struct dram_blocks *blocks, uint64_t first, struct pim_error *error);
/* One access of a request. */
void dram_blocks_served(struct dram_blocks *blocks, uint64_t request, uint64_t first_command,
                        uint64_t completed);
/* Hands on, and forgets, what is done with. */
enum pim_status dram_blocks_retire(struct dram_blocks *blocks, void *context,
                                   enum pim_status (*take)(void *context, const struct dram_block *block,
                                                           const struct dram_payload *payload,
                                                           struct pim_error *error),
                                   struct pim_error *error);
void dram_blocks_terminate(struct dram_blocks *blocks);

#endif
