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
#ifndef PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_ROUND_H
#define PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_ROUND_H

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
    uint32_t channels, height, width;
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

/* Places in global memory, and the sources by them (throughput/places.c). */
enum pim_status pim_round_place_maps(struct pim_round_schedule *schedule);
/* Takes the maps that stay on chip out of global memory. */
enum pim_status pim_round_place_others(struct pim_round_schedule *schedule);

/* Jobs, workers, replicas (throughput/jobs.c); their buffers (throughput/plan.c). */
enum pim_status pim_round_make_jobs(struct pim_round_schedule *schedule);
enum pim_status pim_round_plan_memory(struct pim_round_schedule *schedule);
/* Bytes that a core leaves for its shared area if it can; all layers have been dealt. */
uint64_t pim_round_area_wanted(const struct pim_round_schedule *schedule);

/* --- maps that stay on chip (throughput/resident.c) --- */

/* Chooses them, after a plan without any. */
enum pim_status pim_round_choose_residents(struct pim_round_schedule *schedule);
/* Then no map stays. */
void pim_round_forget_residents(struct pim_round_schedule *schedule);
/* Does the output of the layer stay on chip? */
bool pim_round_is_resident(const struct pim_round_schedule *schedule, uint32_t index);
/* Gives what a core holds addresses from `base` on. */
void pim_round_place_residents(struct pim_round_schedule *schedule, uint32_t core, uint64_t base);
/* Address of channel `channel` of pixel `pixel`, of a run in global memory; the channel is of the run. */
uint64_t pim_round_address(const struct pim_round_run *run, uint32_t sample, uint64_t pixel,
                           uint32_t channel);
/* Brings `bytes` of `count` pixels, from channel `channel` of the source on, back to back to `local`: pixels
 * `pixel`, `pixel` + apart, ... of the map, from wherever it lies. */
void pim_round_fetch(struct pim_round_schedule *schedule, uint32_t core, uint64_t local,
                     const struct pim_round_run *run, uint32_t sample, uint64_t pixel, uint32_t channel,
                     uint64_t bytes, uint64_t count, uint64_t apart);
/* The reverse for what a layer makes: `bytes` of pixels `pixel`, `pixel` + 1, ... from channel
 * `channel` on, which lie back to back at `local`. */
void pim_round_put(const struct pim_round_layer *layer, uint32_t core, uint64_t local, uint32_t sample,
                   uint64_t pixel, uint32_t channel, uint64_t bytes, uint64_t count);
/* A single round: are there slots that rounds before it would have written? And writes them. */
bool pim_round_needs_fill(const struct pim_round_schedule *schedule);
void pim_round_fill(struct pim_round_schedule *schedule);
/* Does the layer read maps of its own group from global memory? */
bool pim_round_needs_barrier(const struct pim_round_schedule *schedule, uint32_t index);

/* Where a worker reads (throughput/input.c). Numbers of input rows ([0]) or columns ([1]), see there:
 * from one output row (column) to the next, and from the first to behind the last of `taps` kernel rows
 * (columns). */
uint32_t pim_round_step(const struct pim_round_window *w, int axis);
uint32_t pim_round_span(const struct pim_round_window *w, int axis, uint32_t taps);
/* Can a window be loaded straight into its canonical order? */
bool pim_round_loads_windows(const struct pim_round_worker *worker);
void pim_round_input_reset(struct pim_round_worker *worker);
/* Gives the buffers of a worker addresses from `base` on and returns their end. */
uint64_t pim_round_input_place(struct pim_round_worker *worker, uint64_t base);
/* Brings what replica `replica` needs for `window` into local memory. */
void pim_round_input_load(struct pim_round_worker *worker, struct pim_round_replica *replica, uint32_t window,
                          uint32_t sample);
/* Address from which a group of the replica reads in this step. */
uint64_t pim_round_input_address(const struct pim_round_worker *worker,
                                 const struct pim_round_replica *replica, uint32_t canonical_row);

/* Stages of a step of a job (throughput/matrix.c), for sample `sample`: of a worker, then of the home.
 * */
void pim_round_worker_load(struct pim_round_worker *worker, uint32_t sample);
void pim_round_worker_mvm(struct pim_round_worker *worker);
void pim_round_worker_add(struct pim_round_worker *worker);
void pim_round_job_bias(struct pim_round_job *job);
void pim_round_job_collect(struct pim_round_job *job);
void pim_round_job_finish(struct pim_round_job *job, uint32_t sample);
/* Is the present step the last of a batch? */
bool pim_round_batch_ends(const struct pim_round_job *job);
/* Replicas of the job that have something to do in this step are busy. */
bool pim_round_is_busy(const struct pim_round_job *job, const struct pim_round_replica *replica);
uint32_t pim_round_turn(const struct pim_round_worker *worker);

/* --- layers with folds (throughput/folds.c) --- */

/* The layer's folds, and what its replicas work on. */
void pim_round_find_folds(struct pim_round_layer *layer);
/* Inputs and output rows of a job, `before` of `total` replicas being before its own. */
enum pim_status pim_round_fold_job(struct pim_round_job *job, uint32_t before, uint32_t total);
/* Bytes of the home's output rows. */
uint64_t pim_round_fold_bytes(const struct pim_round_job *job);
/* Stages: rows that others contribute to are begun with the job; after each step its sums are added to their
 * rows and complete rows stored; the rest is stored when all jobs of the layer are complete. */
void pim_round_fold_begin(struct pim_round_job *job);
void pim_round_fold_collect(struct pim_round_job *job);
void pim_round_fold_finish(struct pim_round_job *job, uint32_t sample);
void pim_round_fold_close(struct pim_round_layer *layer, uint32_t sample);

/* Marks the cores that work on a layer. */
void pim_round_mark_cores(const struct pim_round_layer *layer, bool *marked);

/* --- pooling and element layers (throughput/tiles.c, throughput/vector.c) --- */

/* Channels [channel, channel + channels) of output pixels [pixel, pixel + pixels), or, of a pooling, of
 * `rows` rows of `pixels`, the whole width, from there on. */
struct pim_round_piece_of_map {
    uint64_t pixel;
    uint32_t pixels, rows;
    uint32_t channel, channels;
};

/* A core at work on such a layer, for a sample. */
struct pim_round_work {
    struct pim_round_schedule *schedule;
    struct pim_core_emitter *emitter;
    const struct pim_core_layer *layer;
    const struct pim_round_layer *round;
    uint32_t core, sample;
};

enum pim_status pim_round_make_tiles(struct pim_round_schedule *schedule);
/* Their ranges of channels anew, when the runs of sources are. */
enum pim_status pim_round_cut_sources(struct pim_round_schedule *schedule);
/* Does the shared area of every core suffice for its tiles? */
bool pim_round_tiles_fit(const struct pim_round_schedule *schedule);
/* Does the layer work on whole pixels? */
bool pim_round_normalizes(const struct pim_core_layer *layer);
/* Least bytes of the shared area with which a core can work on the layer. */
uint64_t pim_round_vector_least(const struct pim_round_layer *layer);
/* Passes that the longest tile of a layer takes, about. */
uint32_t pim_round_vector_passes(const struct pim_round_layer *layer);
/* Some pixels of a tile; returns the bytes of local memory that they took, 0 when nothing is left. */
uint64_t pim_round_vector_chunk(const struct pim_round_layer *layer, struct pim_round_tile *tile,
                                uint32_t sample);
/* The fused activations on a piece at `local`, and its store. */
void pim_round_vector_store(const struct pim_round_work *work, const struct pim_round_piece_of_map *piece,
                            uint64_t local);

/* Next place in the shared area of the core, of *room bytes. */
uint64_t pim_round_take_turn(const struct pim_round_work *work, uint64_t *room);

/* MOVE layers (throughput/move.c): their copies, once the maps have places; some pixels of a tile, as
 * pim_round_vector_chunk(). */
enum pim_status pim_round_prepare_moves(struct pim_round_schedule *schedule);
uint64_t pim_round_move_chunk(const struct pim_round_work *work, struct pim_round_tile *tile);

/* Pooling (throughput/pooling.c): bytes for `rows` rows of `pixels`, and the work on them with the
 * buffers from `base` on; the channels of the piece lie in one run of the source. */
uint64_t pim_round_pooling_bytes(const struct pim_core_layer *layer, uint32_t pixels, uint32_t rows,
                                 uint32_t channels);
void pim_round_pooling_piece(const struct pim_round_work *work, const struct pim_round_piece_of_map *piece,
                             uint64_t base);

#endif
