/*
 * What open and cursor share: the opened trace. For traces/file/reader.c and traces/file/cursor.c only.
 */
#ifndef PIMSIM_TRACES_FILE_READER_INTERNAL_H
#define PIMSIM_TRACES_FILE_READER_INTERNAL_H

#include "traces/file/format.h"
#include "traces/file/reader.h"
#include "traces/file/sections.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <zstd.h>

/* What decompressing one chunk needs for a moment: lent to one cursor at a time. */
struct pim_scratch {
    ZSTD_DCtx *decompressor;
    uint8_t bytes[PIM_CHUNK_SIZE + PIM_CHUNK_STORED_MOST];
};

enum { PIM_SCRATCHES = 8 };

/* Scratches that nobody uses; empty places are NULL. A cursor takes one with an exchange and puts it back
 * into an empty place. */
struct pim_scratch_pool {
    _Atomic(struct pim_scratch *) place[PIM_SCRATCHES];
};

struct pim_trace_unit {
    uint64_t offset, bytes; /* its chunks in the file */
    uint64_t instructions;
    uint64_t hash; /* XXH64 over its instructions */
    uint32_t chunks;
};

struct pim_trace {
    char *name;            /* for messages */
    int descriptor;        /* -1: in memory */
    const uint8_t *memory; /* NULL: in a file */
    uint64_t file_bytes;
    uint64_t content;
    struct pim_trace_description description;
    struct pim_trace_phase *phase;
    uint32_t phases;
    struct pim_behaviour_table *table;
    uint32_t tables;
    struct pim_array_groups groups;
    struct pim_trace_unit *unit;
    struct pim_scratch_pool *pool;
    char *description_storage, *phase_storage;
    struct pim_trace_behaviour *table_storage;
};

/* Copies `bytes` bytes at `offset` to `to`; the caller has checked that they lie in the file. PIM_IO when
 * they cannot be read (a file that became shorter since it was opened included). */
enum pim_status pim_trace_read(const struct pim_trace *trace, uint64_t offset, void *to, size_t bytes,
                               struct pim_error *error);

/* A scratch, from the pool or new; NULL when memory is out. */
struct pim_scratch *pim_scratch_take(const struct pim_trace *trace);
void pim_scratch_give(const struct pim_trace *trace, struct pim_scratch *scratch);

#endif
