/*
 * The low-latency schedule, as its files share it (docs/mappers/pimcomp-low-latency.md).
 *
 *     latency/latency.c          Algorithm 2: the queue of layers, throttling, attempts
 *     latency/plan.c     what does not change: dependencies, cores of vector windows, global memory
 *     latency/buffers.c  members of replicas, fixed buffers of an attempt
 *     latency/memory.c   pixels and blocks in local memories; destinations of a pixel
 *     latency/matrix.c   one window of a layer with a matrix
 *     latency/folds.c    the same for unfoldings with folds, which work input by input
 *     latency/vector.c   one window of a pooling or an elementwise layer
 *     latency/program.c  stages of a round, messages with pixels, several in one
 *     latency/order.c    the order of messages
 *
 * Words. A *slot* of a layer is a (position of the kernel, part of its sources): slot = position * parts
 * + part. The *member* of a replica is a core that holds groups of it; the *home* is the member with
 * group 0, where the output pixel is put together. A *worker* is a replica of a vector layer: the windows
 * that one core runs.
 *
 * A *task* of a layer is what it reads inputs for: a window; where groups have folds (struct
 * pim_trace_array_group), an input vector, which serves one window for each fold.
 *
 * Invariants:
 *  1. A record that is `here` has uses > 0 or belongs to a window that is being run (unless pixels are kept).
 *  2. Blocks that instructions not yet emitted refer to are not given back before they are emitted.
 *  3. A rehearsal (emitter NULL) and the emission with the same settings do the same steps.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LATENCY_STATE_H
#define PIMSIM_MAPPERS_PIMCOMP_LATENCY_STATE_H

#include "mappers/emit/local_heap.h"
#include "mappers/pimcomp/kernels/emitter.h"
#include "mappers/pimcomp/kernels/folds.h"
#include "mappers/pimcomp/kernels/kernels.h"
#include "mappers/pimcomp/latency/pixels.h"
#include "mappers/pimcomp/schedule/schedule.h"

#define PIM_LL_NO_LIMIT UINT32_MAX

/* Places for partial sums at home: one for each when there are at most TOGETHER, else SCRATCH in turns. */
enum { PIM_LL_TOGETHER = 16, PIM_LL_SCRATCH = 8 };

/* A part of a consumer that reads a layer. */
struct pim_ll_link {
    uint32_t layer, part; /* the consumer; part counts over all its sources */
};

struct pim_ll_part {
    uint32_t layer, channel, channels; /* as in struct pim_core_part */
    uint32_t source, offset;           /* source and the first channel in it */
};

struct pim_ll_strip { /* columns that some groups have in common */
    uint32_t column, columns;
};

struct pim_ll_member {
    uint32_t core;
    uint32_t groups;
    uint32_t *group; /* sorted by strip, then as the partition has them */
    uint8_t *needs;  /* of each slot */
    uint32_t needed; /* slots, ascending */
    uint32_t *need;
    uint32_t partial; /* address of the partial sums of this member's strips, one after the other; not home */
    uint32_t partial_bytes;
};

struct pim_ll_replica {
    uint32_t next; /* window */
    uint32_t task; /* that reads inputs next: the window, or an input vector */
    uint32_t runs; /* tasks done: their parity chooses the half of double buffers */
    uint32_t home;
    uint32_t members;
    struct pim_ll_member *member; /* member[0] is home */
    uint32_t *input, *output;     /* buffers of each group; PIM_PIXEL_NONE: none needed */
    uint32_t *strip_first;        /* of each strip: the first member that has groups of it */
    uint32_t added;               /* partial sums that home receives and adds */
    uint32_t scratch;             /* where it receives them: `scratches` places of `scratch_bytes` */
    uint32_t scratches, scratch_bytes;
    uint32_t collected;  /* epoch of the last collection */
    uint32_t bias;       /* address of the bias at home */
    uint32_t bias_owner; /* the first replica with this home */
    bool bias_loaded;
    bool waits; /* `waited` is a pixel whose absence held the window back */
    uint64_t waited;
};

struct pim_ll_worker {
    uint32_t core;
    uint32_t next, end; /* in `order` of the layer */
    uint32_t begin;
    bool waits;
    uint64_t waited;
    /* of a window that is pooled pixel by pixel */
    uint32_t taken;     /* slots */
    uint32_t positions; /* inside the map, among them */
    uint32_t pixel;     /* address of the output, from the first slot on */
};

/* What the windows of a layer read of one source, where that is no sliding window (latency/tables.c). */
struct pim_ll_table {
    uint32_t *pixel;         /* [window * positions + position]; PIM_NONE: none. NULL: windows slide */
    uint32_t *first, *place; /* of each pixel: where it stands in `pixel`: place[first[pixel]], .. */
    uint32_t *prefix;        /* windows up to this one read pixels below */
};

struct pim_ll_layer {
    const struct pim_core_layer *core_layer;
    const struct pim_core_partition_layer *partition;
    struct pim_sliding window; /* of elementwise layers: 1 x 1 */
    struct pim_sliding task; /* the part of the window that a task reads: all of it, unless there are folds */
    uint32_t task_height, task_width;
    struct pim_core_folds folds; /* where there are any a task is a vector */
    uint32_t in_height, in_width;
    uint32_t positions, parts, slots;
    struct pim_ll_table table[PIM_CORE_SOURCES];
    struct pim_core_runs runs; /* MOVE */
    uint32_t *run_position;    /* of each run */
    struct pim_ll_part *part;
    uint32_t links;
    struct pim_ll_link *link;
    uint32_t low;  /* all windows below are done */
    uint32_t done; /* windows */
    /* matrix */
    uint32_t replicas;
    struct pim_ll_replica *replica;
    uint32_t strips;
    struct pim_ll_strip *strip;
    uint32_t *strip_of; /* each group */
    /* vector */
    bool pools_as_they_come; /* a pixel is pooled when it arrives, not when all are there */
    uint32_t workers;
    struct pim_ll_worker *worker;
    uint32_t *order; /* windows, by worker */
    uint32_t *home;  /* core of each window */
};

struct pim_ll_block {
    uint32_t address, bytes;
    uint32_t live; /* pixels in it; in a free block: the next free one */
};

struct pim_ll_request {
    uint32_t layer;
    uint32_t source, destination; /* numbers of records */
    uint32_t next;                /* request of the same bundle, UINT32_MAX at the end */
    bool follows;                 /* another request is the first of its bundle */
};

struct pim_ll_bundle {
    uint32_t transmission, first; /* request, valid in that transmission */
    uint32_t address;
};

struct pim_ll_pair {
    uint64_t cores; /* source and destination */
    uint32_t request;
};

/* A place that a window needs before it can run; given back when another one is not to be had. */
struct pim_ll_reservation {
    uint32_t core, address, bytes;
    bool held; /* it was there before the window: is not given back */
};

/* Pixels of an input map that a window loads: `count` from `pixel` on into one block. */
struct pim_ll_load {
    uint32_t layer, core, pixel, count;
    uint32_t reservation;
};

/* How often windows of each core read a pixel: uses[core], which is 0 but for core[0], .. core[cores - 1]. */
struct pim_ll_uses {
    uint32_t *uses, *core;
    uint32_t cores;
};

/* Stages of a round: see latency/program.c. */
enum pim_ll_stage {
    PIM_LL_GATHER,   /* loads, inputs of groups */
    PIM_LL_MVM,      /* MVMs */
    PIM_LL_ADD,      /* sums within a member */
    PIM_LL_COLLECT,  /* messages with partial sums */
    PIM_LL_POST,     /* sums at home, bias, activations, vector layers, stores */
    PIM_LL_TRANSMIT, /* messages with pixels */
    PIM_LL_STAGES
};
struct pim_ll_order;

struct pim_ll_settings {
    uint32_t lead;    /* rounds that a layer may be ahead of what its consumers need, or PIM_LL_NO_LIMIT */
    uint32_t buffers; /* 1 or 2 of each fixed buffer */
    bool scratch;     /* home has more than two places for partial sums that it receives */
    bool bundles;     /* pixels that go from one core to another in a round are one message */
    uint32_t capacity;
};

struct pim_ll {
    const struct pim_core_mapping *mapping;
    const struct pim_core_schedule_options *options;
    struct pim_arena *arena;
    struct pim_error *error;
    enum pim_status status; /* of the first failure */
    struct pim_core_memory_map *map;
    uint32_t layers, cores;
    struct pim_ll_layer *layer;
    struct pim_ll_settings settings;
    struct pim_core_emitter *emitter; /* NULL: a rehearsal */
    bool in_order;
    uint32_t epoch;              /* flushes so far */
    struct pim_local_heap *heap; /* of each core */
    struct pim_pixel_table pixels;
    struct pim_pixel_table
        sums; /* of layers with folds: windows begun; `uses` is the vectors still to come */
    struct pim_ll_block *block;
    size_t blocks, block_room;
    uint32_t free_block;
    struct pim_core_stage stage[PIM_LL_STAGES];
    struct pim_ll_order *order; /* of the messages of a stage */
    struct pim_ll_request *request;
    size_t requests, request_room;
    struct pim_ll_pair *pair;          /* of each request, sorted */
    struct pim_ll_bundle *last_bundle; /* that each core copied together */
    uint32_t transmission;             /* so many, this one included */
    size_t pair_room;
    struct pim_ll_reservation *deferred; /* given back at the next flush */
    size_t deferrals, deferred_room;
    /* of the window that is being run */
    struct pim_ll_reservation *reservation;
    size_t reservations, reservation_room;
    struct pim_ll_load *load;
    size_t loads, load_room;
    uint32_t *found;           /* [member * slots + slot]: number of a record */
    uint32_t *base;            /* of each member: its partial sums */
    struct pim_ll_uses output; /* of its output pixel; nothing between windows */
    struct pim_ll_uses loaded; /* of a pixel that it loads */
    /* why the last reservation failed; what was free there when the attempt ended */
    uint32_t short_layer, short_core, short_bytes;
    uint32_t short_free, short_largest;
    uint32_t most_local; /* end of the highest local address of any core and attempt */
    uint32_t *queue;     /* of layers */
    uint32_t threshold;  /* requests that are not held back any more */
    uint64_t steps;      /* windows run and messages sent: progress */
};

/* Values of `found` that are not records. */
#define PIM_LL_PADDING (UINT32_MAX - 1)
#define PIM_LL_MISSING (UINT32_MAX - 2) /* of an input map: to be loaded */
#define PIM_LL_UNUSED UINT32_MAX        /* a slot that the core does not need */

static inline uint32_t pim_ll_pixel_bytes(const struct pim_ll *ll, uint32_t layer)
{
    return ll->layer[layer].core_layer->channels * PIM_CORE_ELEMENT_BYTES;
}

/* The emitter, for instructions of a stage; not in a rehearsal. */
static inline struct pim_core_emitter *pim_ll_emitter_at(struct pim_ll *ll, enum pim_ll_stage stage)
{
    ll->emitter->stage = &ll->stage[stage];
    return ll->emitter;
}

/* Address of channel `channel` of the pixel that a slot of the task at hand reads; of the source's channels,
 * one that the slot's part has. */
static inline uint32_t pim_ll_element(const struct pim_ll *ll, const struct pim_ll_layer *layer,
                                      uint32_t slot, uint32_t channel)
{
    const struct pim_ll_part *part = &layer->part[slot % layer->parts];
    return ll->pixels.record[ll->found[slot]].address +
           (part->channel + channel - part->offset) * PIM_CORE_ELEMENT_BYTES;
}

/* Group i of a member is the member's first of its strip: its output needs no addition. */
static inline bool pim_ll_opens_strip(const struct pim_ll_layer *layer, const struct pim_ll_member *member,
                                      uint32_t i)
{
    return i == 0 || layer->strip_of[member->group[i - 1]] != layer->strip_of[member->group[i]];
}

/* The input pixel of a slot of a task; false: padding. */
static inline bool pim_ll_input_pixel(const struct pim_ll_layer *layer, uint32_t task, uint32_t slot,
                                      uint32_t *pixel)
{
    uint32_t position = slot / layer->parts;
    const struct pim_ll_table *table = &layer->table[layer->part[slot % layer->parts].source];
    if (table->pixel) {
        *pixel = table->pixel[(size_t)task * layer->positions + position];
        return *pixel != PIM_NONE;
    }
    uint32_t columns = layer->task.kernel[1];
    int64_t y = pim_sliding_input(&layer->task, 0, task / layer->task_width, position / columns);
    int64_t x = pim_sliding_input(&layer->task, 1, task % layer->task_width, position % columns);
    if (y < 0 || x < 0 || y >= layer->in_height || x >= layer->in_width)
        return false;
    *pixel = (uint32_t)y * layer->in_width + (uint32_t)x;
    return true;
}

/* Replica r of a layer with folds makes the columns [first, end) of the map, so that an input vector serves
 * windows of as few replicas as possible. */
static inline uint32_t pim_ll_first_column(const struct pim_ll_layer *layer, uint32_t replica)
{
    return (uint32_t)(((uint64_t)replica * layer->core_layer->width + layer->replicas - 1) / layer->replicas);
}

/* The replica that makes a window (Fig. 8d; with folds, see above). */
static inline uint32_t pim_ll_replica_of(const struct pim_ll_layer *layer, uint32_t window)
{
    if (layer->folds.count == 1)
        return window % layer->replicas;
    uint32_t width = layer->core_layer->width;
    return (uint32_t)((uint64_t)(window % width) * layer->replicas / width);
}

#endif
