/*
 * A mapper: a network and a hardware configuration become a plan, and the plan a trace. `pimsim map`, sweeps
 * and libpimsim call all mappers through this interface and know none of them; mappers/mappers.c is the
 * table.
 *
 * To add one: a folder with a `const struct pim_mapper`, and a line in the table.
 *
 * Invariants:
 *  1. A mapper has no mutable global state: any number of plans may be made at once, in any threads.
 *  2. A mapper prints nothing and never ends the process because of its input.
 *  3. The same inputs and options give the same plan and the same trace, bit for bit, whatever the number of
 *     threads; only a time limit or a stop may end a search at another place.
 */
#ifndef PIMSIM_MAPPERS_MAPPER_H
#define PIMSIM_MAPPERS_MAPPER_H

#include "mappers/network/descriptor/descriptor.h"
#include "mappers/option.h"
#include "mappers/search/problem.h"
#include "sim/configuration/configuration.h"
#include "sim/status.h"
#include "traces/file/writer.h"

#include <stdio.h>

struct pim_estimate_hardware;

/* Told of a long search: `done` of `total` parts of `what`; total 0: not known. */
typedef void pim_mapper_progress(void *context, const char *what, uint64_t done, uint64_t total);

/*
 * How a search goes on. It is the first member of every mapper's options; a mapper has rows (PIM_SEED_ROW,
 * ..) for what its searches honour, and callers set the functions.
 */
struct pim_mapper_search {
    uint64_t given; /* which options were (mappers/option.h) */
    uint64_t seed;
    uint64_t threads;              /* 0: one for each processor, PIM_SEARCH_THREADS at most */
    uint64_t steps;                /* budget, in what the mapper calls a step; 0: its own choice */
    uint64_t seconds;              /* of wall clock; then the best so far is taken; 0: no limit */
    pim_mapper_progress *progress; /* NULL: nobody is told */
    /* Asked now and then, by several threads at once; true, and then for good: the best so far is taken.
       NULL: never. */
    bool (*stop)(void *context);
    void *context; /* of both */
};

#define PIM_SEED_ROW(...)                                                                                    \
    PIM_COUNT_ROW("seed", struct pim_mapper_search, seed, "NUMBER", 0, INT64_MAX, __VA_ARGS__)
#define PIM_THREADS_ROW(...)                                                                                 \
    PIM_COUNT_ROW("threads", struct pim_mapper_search, threads, "NUMBER", 0, PIM_SEARCH_THREADS, __VA_ARGS__)
#define PIM_STEPS_ROW(...)                                                                                   \
    PIM_COUNT_ROW("budget", struct pim_mapper_search, steps, "STEPS", 0, INT64_MAX, __VA_ARGS__)
#define PIM_SECONDS_ROW(...)                                                                                 \
    PIM_COUNT_ROW("time-limit", struct pim_mapper_search, seconds, "SECONDS", 1, 86400, __VA_ARGS__)

/*
 * Runs a trace on the hardware of the inputs, up to `limit` cycles of the logic clock (UINT64_MAX: to its
 * end). Mappers do not know the models: who calls a mapper may bring this along. Several threads may call it
 * at once.
 */
typedef enum pim_status pim_mapper_simulate(void *context, const char *trace, uint64_t limit,
                                            uint64_t *cycles, bool *complete, struct pim_error *error);

/*
 * Replays graphs of tiles on the hardware of the inputs, in memory: for the conflict mapper, which asks for
 * thousands of latencies. Who calls a mapper may bring it along, as pim_mapper_simulate.
 */
struct pim_tile_graph;

/* Where a replay is given up. */
struct pim_tile_limits {
    double latency_ns;           /* an image that takes longer; INFINITY: none does */
    bool (*stop)(void *context); /* asked every so often; true: it ends at once. NULL: never */
    void *stop_context;
};

/* Told when a node has ended an image, ns. */
typedef void pim_tile_end(void *context, uint32_t image, uint32_t node, double end_ns);

struct pim_mapper_tiles {
    /* `graph` is not needed afterwards. */
    enum pim_status (*create)(void *context, const struct pim_tile_graph *graph, uint32_t images,
                              void **replay, struct pim_error *error);
    /* NULL: it tells what a run of the trace does; else in what it differs from that, as there is too much to
     * replay. Static text. */
    const char *(*differs)(const void *replay);
    /* Latency of an image, and end / images for all of them, ns; both INFINITY when an image takes longer
     * than the limit, and NAN what was stopped before its end. `interval_ns` NULL: one image is replayed
     * alone. PIM_DEADLOCK says who waits for what. Several threads may call it at once. */
    enum pim_status (*run)(void *replay, const uint32_t *place, const struct pim_tile_limits *limits,
                           double *latency_ns, double *interval_ns, struct pim_error *error);
    /* Tells the ends of all nodes in all images of such a run; false in *complete: it was stopped before. */
    enum pim_status (*ends)(void *replay, const uint32_t *place, const struct pim_tile_limits *limits,
                            pim_tile_end *told, void *told_context, bool *complete, struct pim_error *error);
    /* The behaviour tables of such a run into a trace; PIM_BAD_INPUT when it is stopped. */
    enum pim_status (*tables)(void *replay, const uint32_t *place, const struct pim_tile_limits *limits,
                              struct pim_trace_writer *writer, struct pim_error *error);
    void (*destroy)(void *replay); /* NULL is allowed */
};

/*
 * A number in the rows of a bank, for mappers to memories that compute: bit j stands in row `row` +
 * j x `row_step` of column `column` + j x `column_step`.
 */
struct pim_mapper_number {
    uint32_t unit, bank, row, row_step, column, column_step, bits;
    uint64_t value;
};

/*
 * Runs a trace with real bits on the hardware of the inputs: `before` stands in the rows when it begins,
 * every other bit is 0; when it has ended, the values of `after` are filled in.
 */
typedef enum pim_status pim_mapper_execute(void *context, const char *trace,
                                           const struct pim_mapper_number *before, uint64_t before_count,
                                           struct pim_mapper_number *after, uint64_t after_count,
                                           struct pim_error *error);

/* What every mapper gets; borrowed until the plan is terminated. */
struct pim_mapper_inputs {
    const struct pim_network *network;             /* NULL: `known` */
    const char *known;                             /* a network that the mapper knows by this name, or NULL */
    const struct pim_configuration *configuration; /* of the hardware; complete */
    const char *configuration_text;                /* the same, canonical: traces carry it */
    const struct pim_estimate_hardware *nodes;     /* the hardware as closed forms see it */
    pim_mapper_simulate *simulate;                 /* NULL: there is no simulator */
    const struct pim_mapper_tiles *tiles;          /* NULL: there is none */
    pim_mapper_execute *execute;                   /* NULL: there is none that has bits */
    void *simulator;                               /* their context */
};

struct pim_mapper_estimate {
    uint64_t cycles; /* of the logic clock, of the whole trace */
    uint64_t parts[PIM_ESTIMATE_PARTS];
};

/* What stands at the head of a trace and is known before the plan is made. */
struct pim_mapper_job {
    char network[256];
    char mapping[256]; /* its beginning */
    uint64_t macs[2];  /* one of these, or 0: not known */
};

/* Vision transformers in ONNX files. */
enum pim_mapper_transformers {
    PIM_TRANSFORMERS_AS_READ,    /* are graphs like others */
    PIM_TRANSFORMERS_RECOGNISED, /* are taken as their descriptor makes them; other graphs as they are */
    PIM_TRANSFORMERS_ALONE       /* the same; nothing else is taken */
};

struct pim_mapper {
    const char *name;        /* "allspark" */
    const char *summary;     /* for a list of mappers */
    const char *description; /* a sentence or more */
    enum pim_mapper_transformers transformers;
    bool stops; /* its searches ask search.stop */
    /* Turns at the port of a bank of fewer bytes are known to its estimates only roughly; 0: none are. */
    uint32_t turn_bytes;
    /* Whether it knows a network by this name, which then is no file; NULL: none. */
    bool (*knows)(const char *name);
    struct pim_option_table options;

    /* Refuses options that contradict each other or do nothing, before anything is read; `writes`: a trace is
       wanted. PIM_USAGE. NULL: all are good. */
    enum pim_status (*accept)(const void *options, bool writes, struct pim_error *error);

    /* The job that options ask for, into a zeroed `job`; cheap. NULL: it is known with the plan alone. */
    void (*foresee)(const struct pim_mapper_inputs *inputs, const void *options, struct pim_mapper_job *job);

    /* Whether the trace is one round of a pipeline over images (or, of a network larger than the chip, of
       several images), whose time is that between two images and not that of one. NULL: never. */
    bool (*rounds)(const void *options);

    /* Decides everything, in `plan_size` zeroed bytes. `options` is borrowed too. */
    size_t plan_size;
    enum pim_status (*plan)(const struct pim_mapper_inputs *inputs, const void *options, void *plan,
                            struct pim_error *error);
    /* Gives back what the bytes own, also after a failure of `plan`, wherever that was. */
    void (*terminate)(void *plan);

    /* Of the whole trace; the same before and after it is emitted. */
    enum pim_status (*estimate)(void *plan, struct pim_mapper_estimate *estimate, struct pim_error *error);

    /* What stands at the head of the trace; texts belong to the plan. */
    enum pim_status (*describe)(void *plan, struct pim_trace_description *description,
                                struct pim_error *error);
    /* Writes programs, phases and estimates. Once for a plan, or as `prove` says. */
    enum pim_status (*emit)(void *plan, struct pim_trace_writer *writer, struct pim_error *error);
    /* Whether the trace is to be held against the network before it is handed out, and how. NULL: it is not
       offered. */
    bool (*checks)(const void *plan);
    /* Whether the trace that was written can complete; *again: it cannot, and is to be written once more: the
       plan has changed so that it can. NULL: programs cannot wait for each other. */
    enum pim_status (*prove)(void *plan, const char *trace, bool *again, struct pim_error *error);
    enum pim_status (*check)(void *plan, const char *trace, struct pim_error *error);

    /* The plan for people, and as JSON; after it was estimated. */
    enum pim_status (*print)(void *plan, FILE *file, struct pim_error *error);
    enum pim_status (*write_json)(void *plan, FILE *file, struct pim_error *error);
};

/* A plan with its mapper. */
struct pim_mapping {
    const struct pim_mapper *mapper;
    void *plan;
};

/* A copy of the defaults, for the caller to free; NULL when memory is out. */
void *pim_mapper_options(const struct pim_mapper *mapper);

/*
 * Plans. `mapping` needs pim_mapping_terminate() on success; inputs and options must last until then.
 */
enum pim_status pim_mapping_make(const struct pim_mapper *mapper, const struct pim_mapper_inputs *inputs,
                                 const void *options, struct pim_mapping *mapping, struct pim_error *error);
void pim_mapping_terminate(struct pim_mapping *mapping);

/*
 * Writes the trace to `path`, whole or not at all, and checks it before where the options ask for it; NULL:
 * no trace is wanted, the plan is estimated, and checked in a temporary file. Once for a mapping.
 */
enum pim_status pim_mapping_write(struct pim_mapping *mapping, const char *path, struct pim_error *error);

#endif
