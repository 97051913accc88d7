/* What the files of the writer share: what it holds until the file is laid out. */
#ifndef PIMSIM_TRACES_FILE_WRITER_INTERNAL_H
#define PIMSIM_TRACES_FILE_WRITER_INTERNAL_H

#include "sim/output/output.h"
#include "traces/file/format.h"
#include "traces/file/sections.h"
#include "traces/file/writer.h"
#include "traces/validate.h"

#include <stdio.h>

#include <zstd.h>

struct pim_stored_chunk {
    uint64_t offset; /* in the spool */
    uint32_t bytes;  /* header included */
};

struct pim_stored_program {
    struct pim_program_state state; /* state.units is 0 until the first instruction */
    struct pim_instruction *buffer; /* the chunk that is being filled */
    uint32_t used, capacity;
    uint32_t chunks, chunk_capacity;
    struct pim_stored_chunk *chunk;
    uint64_t bytes; /* of all its chunks */
    XXH64_state_t hash;
};

struct pim_trace_writer {
    struct pim_output *output;
    char *path;
    FILE *spool;
    uint64_t spooled;
    ZSTD_CCtx *compressor;
    struct pim_trace_description description; /* texts are owned */
    struct pim_trace_phase *phase;            /* names are owned */
    uint32_t phases, phase_capacity;
    struct pim_behaviour_table *table;
    uint32_t tables, table_capacity;
    uint64_t behaviours;
    struct pim_array_group_list *groups; /* of each unit; NULL: no unit has any */
    uint32_t group_count;                /* of all units */
    struct pim_stored_program *program;
    struct pim_error failed; /* remembered from pim_trace_writer_phase */
    uint8_t frame[PIM_CHUNK_SIZE + PIM_CHUNK_STORED_MOST];
};

enum pim_status pim_writer_no_memory(const struct pim_trace_writer *writer, struct pim_error *error);
enum pim_status pim_writer_spool_failed(const struct pim_trace_writer *writer, struct pim_error *error);

/* Compresses the chunk that a program fills and puts it into the spool. */
enum pim_status pim_writer_flush(struct pim_trace_writer *writer, struct pim_stored_program *program,
                                 struct pim_error *error);

#endif
