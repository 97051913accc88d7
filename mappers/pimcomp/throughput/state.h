/*
 * The high-throughput schedule, inside: rounds, jobs and workers (docs/mappers/pimcomp-high-throughput.md).
 *
 *     layers --groups--> round in which each works    --places--> maps in global memory
 *     layers --jobs--> windows of a home core         --plan--> local memory of each worker
 *     rounds --matrix, vector--> instructions
 *
 * A job is a contiguous range of a matrix layer's windows: those of the replicas whose first array group lies
 * in one core, the job's home. A worker is a core's part in a job: its array groups of those replicas, one
 * part for each replica. The home is worker 0; the others send it partial sums.
 *
 * Invariants:
 *  1. The jobs of a layer cut its windows without gap or overlap.
 *  2. In step t of a job replica p of R works on window begin + t * R + p; replicas without one are idle,
 *     and those are the last ones.
 *  3. Buffers of a core never overlap; the first PIM_ROUND_RESERVED bytes belong to the barriers.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_STATE_H
#define PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_STATE_H

#include "mappers/pimcomp/kernels/emitter.h"
#include "mappers/pimcomp/kernels/folds.h"
#include "mappers/pimcomp/kernels/kernels.h"
#include "mappers/pimcomp/representation/pimcomp.h"
#include "mappers/pimcomp/schedule/schedule.h"
#include "mappers/pimcomp/throughput/rules.h"

enum { PIM_ROUND_RESERVED = 4, PIM_ROUND_TILES = 2 };

/* Channels of a source that lie back to back in global memory; `at` is their first one in the source. */
struct pim_round_run {
    uint64_t address; /* of pixel 0, sample 0 */
    uint64_t pixel_stride, sample_stride;
    uint32_t slots;
    uint32_t at, channels;
    const struct pim_round_resident *resident; /* NULL, or it is not in global memory but there, ... */
    uint32_t offset;                           /* ... from this channel of that map on */
};

/* A map that stays on chip (throughput/resident.c): who holds which of its pixels. */
struct pim_round_holding {
    uint32_t core;
    uint32_t begin, end; /* pixels, back to back */
    uint64_t address, slot_bytes;
};

struct pim_round_resident {
    bool resident;
    uint32_t slots; /* sample s lies in slot s modulo that */
    uint32_t holdings;
    struct pim_round_holding *holding;
    uint64_t pixel_bytes;
};

struct pim_round_source {
    uint32_t runs;
    const struct pim_round_run *run;
    uint32_t height, width; /* as in the layer */
};

/* How the windows of a layer lie on its input; [0] is y, [1] is x. Windows of one pixel at stride 1 without
 * padding are taken as those of a map of one row. */
struct pim_round_window {
    uint32_t kernel[2], stride[2], dilation[2], pad[2];
    uint32_t height, width, channels; /* of the input */
    uint32_t output_width;
    bool flat;
};

/* Where the elements of windows wait for the MVMs. */
enum pim_round_mode {
    PIM_ROUND_RING,             /* rows of the map */
    PIM_ROUND_TILES_OF_WINDOWS, /* what a few neighbouring windows of one row need */
    PIM_ROUND_WINDOW            /* each window for itself, in canonical order */
};

/* The choices that a worker's memory depends on; from generous to small in pim_round_shrink. */
struct pim_round_buffers {
    enum pim_round_mode mode;
    bool direct;      /* MVMs read ring or tile; otherwise windows are gathered by copies */
    uint32_t rows;    /* of the ring */
    uint32_t segment; /* windows of a tile */
    uint32_t tiles;   /* 1, or 2: one is loaded while the other is in use */
    uint32_t depth;   /* steps whose gathered windows and partial sums have a place: 1 or 2 */
    /* of the home */
    uint32_t run;      /* pixels that are stored together, a multiple of the replicas */
    uint32_t runs;     /* 1 or 2 */
    uint32_t receives; /* partial sums of others that have a place */
    uint32_t biases;   /* copies of the bias */
    bool merged;       /* others send the partial sums of all their replicas in one message */
};

/* Columns of the layer that one partial sum of a replica covers. */
struct pim_round_piece {
    uint32_t column, columns;
    bool first; /* the home has nothing for these columns yet */
};

struct pim_round_replica {
    uint32_t number;   /* of the replica in its layer */
    uint32_t position; /* in the job */
    uint32_t groups;
    uint32_t *group;   /* of the layer's partition */
    uint32_t *partial; /* of each group: its place among the worker's partial sums; UINT32_MAX: it is the
                            first of its columns and writes the sum itself */
    uint32_t pieces;
    struct pim_round_piece *piece;
    uint64_t
        input; /* in the present step: address of its gathered window, or of the first row that it reads */
    uint32_t *sum; /* layers with folds: of each group, where the replica sums up its outputs, in bytes */
    int64_t row;   /* ring: number of the first row that it reads */
};

/* Group number `group` of replica number `replica` of a worker. */
struct pim_round_other {
    uint32_t replica, group;
};

struct pim_round_worker {
    struct pim_round_job *job;
    struct pim_round_layer *layer; /* of the job, as is the emitter */
    struct pim_core_emitter *emitter;
    uint32_t core;
    uint32_t replicas;
    struct pim_round_replica *replica;
    /* what its groups read of a window: kernel rows and, of windows of one pixel or in bundles, channels */
    uint32_t kernel_row, kernel_rows;
    uint32_t channel, channels;
    uint32_t canonical; /* first canonical row of that */
    /* index space of its input rows and columns: input position, or, when the kernel has one position in that
       direction, output position */
    int64_t column;                   /* RING: first one held */
    uint32_t columns;                 /* RING */
    uint32_t others;                  /* groups that are not the first of their columns: */
    struct pim_round_other *other;    /* the first one of each replica, then the second, .. */
    uint32_t partials;                /* bytes of the partial sums of one step */
    uint32_t sum_column, sum_columns; /* not home: what its sums cover */
    uint32_t replica_bytes;           /* layers with folds: sums of one replica */
    bool uniform;    /* not home: its replicas have one piece each, all alike, and can share a message */
    bool contiguous; /* every group reads one stretch of a row: direct use is possible */
    struct pim_round_buffers buffers;
    uint64_t bytes;
    uint32_t given; /* choices that it gave up for a smaller one */
    bool smallest;
    /* local addresses */
    uint64_t input, gather, partial, sum, bias, receive, stage;
    uint64_t sum_rows;      /* home of a layer with folds */
    uint64_t receive_bytes; /* of one place */
    uint64_t row_bytes, window_bytes, tile_bytes;
    uint32_t stage_pixels;
    bool padded; /* zeros left and right are written */
    bool biased; /* the bias is loaded */
    /* state within a sample */
    int64_t next_row,
        part_end; /* ring: rows before are loaded; and rows before, in columns [part_from, part_to) */
    int64_t part_from, part_to;
    uint32_t tile_first[PIM_ROUND_TILES], tiles_loaded;
    uint32_t received;
};

struct pim_round_job {
    struct pim_round_layer *layer;
    struct pim_core_emitter *emitter;
    uint32_t home;
    uint32_t begin, end; /* windows */
    uint32_t replicas;
    uint32_t *replica;
    uint32_t workers;
    struct pim_round_worker *worker;
    uint32_t steps;
    uint32_t batch; /* steps whose sums are sent, finished and stored together */
    uint32_t step;  /* state */
    /* layers with folds: rows of the output that the home sums up; those that other jobs contribute to have a
     * place of their own (border[row - row_begin], UINT32_MAX: none), the others share a ring */
    uint32_t row_begin, row_end;
    uint32_t borders, *border;
    uint32_t rows;                  /* of the ring */
    uint32_t next_open, next_close; /* state: rows before are begun, and stored */
};

/* A core's tile of a pooling or element layer: items [begin, end), pixel by pixel, in each of `blocks`
 * ranges of channels. */
struct pim_round_tile {
    uint32_t core;
    uint32_t begin, end;
    uint32_t next; /* state */
};

struct pim_round_layer {
    struct pim_round_schedule *schedule;
    uint32_t index;
    const struct pim_core_layer *of;
    const struct pim_core_partition_layer *part;
    struct pim_round_source source[PIM_CORE_SOURCES];
    /* its output lies in the map of layer `united`, from channel `united_channel` of that on; that layer's
     * `resident` says whether the map stays on chip */
    uint32_t united, united_channel;
    struct pim_round_resident resident;
    /* matrix */
    struct pim_core_folds folds;    /* replicas work on vectors where there are any */
    struct pim_round_window window; /* of what replicas work on */
    uint32_t jobs;
    struct pim_round_job *job;
    /* others */
    uint32_t cuts; /* ranges of channels that lie back to back in all sources */
    struct pim_round_cut *cut;
    uint32_t blocks, block_channels; /* of an item */
    struct pim_core_runs runs;       /* MOVE */
    uint64_t moved_pixel;            /* MOVE: bytes of local memory for an output pixel */
    uint32_t tiles;
    struct pim_round_tile *tile;
    /* state */
    bool active, ready;
    uint32_t waits; /* producers in the same group that are not done */
};

/* Channels [at, at + channels) of all sources, in run[i] of source i. */
struct pim_round_cut {
    uint32_t at, channels;
    uint32_t run[PIM_CORE_SOURCES];
};

struct pim_round_core {
    uint64_t area; /* address of what pooling and element layers share */
    uint64_t area_bytes;
    uint32_t turn;           /* state: half of the area that is used next */
    uint64_t resident_bytes; /* of maps that stay here */
    uint64_t gather;         /* two places where pixels of such maps are brought together */
    uint64_t gather_bytes;   /* of each; 0: it holds none */
    uint32_t gathers;        /* state */
};

struct pim_round_schedule {
    const struct pim_core_mapping *mapping;
    const struct pim_core_architecture *architecture;
    const struct pim_core_network *network;
    const struct pim_core_schedule_options *options;
    struct pim_arena *arena;
    struct pim_core_memory_map *map;
    struct pim_error *error;
    struct pim_chain_layer *chain; /* of each layer: its group, and when it starts */
    struct pim_round_layer *layer;
    struct pim_round_core *core;
    uint32_t groups;
    uint64_t passes;                  /* of a round, about */
    uint32_t workers;                 /* of all jobs */
    struct pim_round_worker **worker; /* by core; those of core c are [first[c], first[c + 1]) */
    uint32_t *first;
    uint64_t *windows; /* of each core: that its workers go through */
    struct pim_core_emitter emitter;
    /* barrier members */
    uint32_t *member;
    bool *marked;
};

/* Buffers of a core begin on words of four bytes: the bytes that one takes, and its place at *end. */
static inline uint64_t pim_round_words(uint64_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

static inline uint64_t pim_round_take(uint64_t *end, uint64_t bytes)
{
    uint64_t address = *end;
    *end += pim_round_words(bytes);
    return address;
}

#endif
