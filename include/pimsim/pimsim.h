/*
 * pimsim as a library: map networks to traces, replay a trace on a hardware configuration, sweep, and read
 * the results.
 *
 *     char message[1024];
 *     struct pimsim_simulation *simulation = NULL;
 *     struct pimsim_options options = {.size = sizeof options, .until_cycle = 0};
 *     const char *json = NULL;
 *     int status = pimsim_create(&simulation, "trace.bin", &options, message, sizeof message);
 *     if (status == PIMSIM_OK)
 *         status = pimsim_run(simulation, message, sizeof message);
 *     if (status == PIMSIM_OK)
 *         status = pimsim_results(simulation, &json, message, sizeof message);
 *     if (status == PIMSIM_OK)
 *         puts(json);
 *     else
 *         fprintf(stderr, "%s\n", message);
 *     pimsim_destroy(simulation);
 *
 * Invariants:
 *  1. The library has no mutable global state: any number of simulations live in one process, and different
 *     ones may be used from different threads at once. One simulation belongs to one thread at a time.
 *  2. The library never prints, never ends the process because of its input, and never changes the locale or
 *     a signal handler.
 *  3. A function that fails says so by its return value and leaves a message in the caller's buffer; no
 *     result is half written.
 *  4. The same trace and options give the same results, bit for bit, but for the cost of the simulation
 *     itself (`simulator` in the results).
 *
 * This header needs C99 or C++11 and includes only <stddef.h> and <stdint.h>.
 */
#ifndef PIMSIM_PIMSIM_H
#define PIMSIM_PIMSIM_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header. The library that is linked tells its own by pimsim_version(). */
#define PIMSIM_VERSION_MAJOR 0
#define PIMSIM_VERSION_MINOR 1
#define PIMSIM_VERSION_PATCH 0

#if defined(__GNUC__)
#define PIMSIM_API __attribute__((visibility("default")))
#else
#define PIMSIM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a function returns. The numbers are fixed: new ones are only added at the end. */
enum pimsim_status {
    PIMSIM_OK = 0,
    PIMSIM_BAD_INPUT = 1, /* trace, configuration or an override is wrong, or they do not fit each other */
    PIMSIM_NO_MEMORY = 2,
    PIMSIM_IO = 3,       /* a file could not be opened, read or written */
    PIMSIM_USAGE = 4,    /* arguments, or a moment of the call, that this header does not allow */
    PIMSIM_DEADLOCK = 5, /* work is left and nothing can happen; the message tells who waits for what */
    PIMSIM_INTERNAL = 6, /* a bug of pimsim */
};

/* How exactly the network on chip is simulated. */
enum pimsim_noc {
    PIMSIM_NOC_CONFIGURED = 0, /* as the hardware configuration says */
    PIMSIM_NOC_IDEAL = 1,      /* latency and bandwidth of each interface, no contention inside the network */
    PIMSIM_NOC_ANALYTIC = 2,   /* routes and link loads in closed form, no flits */
    PIMSIM_NOC_FLIT = 3,       /* routers, virtual channels and credits, flit by flit */
};

/*
 * Options of a simulation. Set every field that is not used to 0; `size` is sizeof(struct pimsim_options), so
 * that a later version of the library can tell which fields its caller knows. All strings belong to the
 * caller and are copied where they are kept.
 */
struct pimsim_options {
    size_t size;
    const char *hardware_path;    /* hardware configuration (libconfig); NULL: the one inside the trace */
    const char *const *overrides; /* texts "path.of.key=value", applied in order after the file; a key that
                                     says nothing of the file's kind of units is refused */
    size_t override_count;        /* overrides may be NULL if this is 0 */
    enum pimsim_noc noc;          /* applied after the overrides */
    uint64_t until_cycle;         /* stop at the start of this cycle of the logic clock; 0: run to the end */
};

/* One replay of one trace on one configuration. Opaque. */
struct pimsim_simulation;

/* The version of the library as "major.minor.patch"; a constant of the library, never NULL. */
PIMSIM_API const char *pimsim_version(void);

/*
 * A short English text for a value of enum pimsim_status ("bad input"), or "unknown status"; a constant,
 * never NULL.
 */
PIMSIM_API const char *pimsim_status_text(int status);

/*
 * Opens the trace at `trace_path`, reads and checks the configuration, and builds the hardware: everything
 * that can be refused is refused here, before the first cycle.
 *
 * simulation   receives the simulation, which the caller gives back with pimsim_destroy(); NULL on failure
 * trace_path   a file; it is read while the simulation runs: leave it unchanged until pimsim_destroy()
 * options      may be NULL: the configuration inside the trace, without overrides, to the end
 * message      receives, on failure, at most message_size - 1 bytes and a final 0, without newline: what is
 *              wrong, where, and what would be right; a longer text is cut; "" on success.
 *              May be NULL if message_size is 0.
 *
 * Returns PIMSIM_OK, PIMSIM_BAD_INPUT, PIMSIM_IO, PIMSIM_NO_MEMORY, PIMSIM_USAGE (NULL argument,
 * options->size unknown).
 */
PIMSIM_API int pimsim_create(struct pimsim_simulation **simulation, const char *trace_path,
                             const struct pimsim_options *options, char *message, size_t message_size);

/*
 * Runs the simulation to its end or to options.until_cycle. A simulation runs once; a second call returns
 * PIMSIM_USAGE. After PIMSIM_DEADLOCK or another failure there are no results. `message` as above.
 *
 * Returns PIMSIM_OK, PIMSIM_DEADLOCK, PIMSIM_BAD_INPUT or PIMSIM_IO (the trace is damaged further on: it is
 * streamed), PIMSIM_NO_MEMORY, PIMSIM_USAGE, PIMSIM_INTERNAL.
 */
PIMSIM_API int pimsim_run(struct pimsim_simulation *simulation, char *message, size_t message_size);

/*
 * The results as JSON text (UTF-8, final 0), the same as `pimsim run --stats FILE --format json` writes; its
 * keys are described in the documentation of the command. `*json` receives the text, or NULL on failure; it
 * belongs to the simulation and lives until pimsim_destroy(). A repeated call gives the same text. `message`
 * as above.
 *
 * Returns PIMSIM_OK, PIMSIM_USAGE (not run, or run without success), PIMSIM_NO_MEMORY.
 */
PIMSIM_API int pimsim_results(struct pimsim_simulation *simulation, const char **json, char *message,
                              size_t message_size);

/*
 * Gives back the simulation and everything that belongs to it, the text of pimsim_results() included. NULL is
 * allowed.
 */
PIMSIM_API void pimsim_destroy(struct pimsim_simulation *simulation);

/* --- mapping: a network becomes a trace --- */

/*
 * What is to be mapped. Set every field that is not used to 0; `size` is sizeof(struct pimsim_map_options).
 * All strings belong to the caller and are not kept.
 */
struct pimsim_map_options {
    size_t size;
    const char *mapper;           /* "allspark": a name that pimsim_mapper_name() gives */
    const char *network_path;     /* descriptor, or ONNX file (*.onnx) */
    const char *hardware_path;    /* hardware configuration (libconfig) */
    const char *const *overrides; /* texts "path.of.key=value", applied in order; "network.key=value" is for
                                       the descriptor */
    size_t override_count;        /* overrides may be NULL if this is 0 */
    const char *const *options; /* of the mapper: "name=value", or "name" of a flag, as behind `pimsim map` */
    size_t option_count;        /* options may be NULL if this is 0 */
    const char *const *dimensions; /* "name=size": sizes that an ONNX network leaves open */
    size_t dimension_count;        /* dimensions may be NULL if this is 0 */
    const char *trace_path;        /* the trace to write, whole or not at all, and over nothing that is there
                                      but a trace or an empty file; NULL: none */
    /* Told now and then how far a search is: `done` of `total` parts of `what`; total 0: not known. NULL:
       nobody is told. */
    void (*progress)(void *context, const char *what, uint64_t done, uint64_t total);
    /* Asked now and then; not 0 ends a search with the best so far. NULL: never. */
    int (*stop)(void *context);
    void *context; /* of both functions; threads of the library call them, several of them `stop` at once */
};

/* A network that was mapped. Opaque. */
struct pimsim_mapping;

/* An option of a mapper. Texts are constants of the library. */
struct pimsim_mapper_option {
    const char *name;     /* "seed" */
    const char *kind;     /* "flag", "text", "choice", "count" or "real" */
    const char *argument; /* what its value is: "FILE"; NULL of a flag */
    const char *help;
    const char *choices;     /* of a choice: "json|csv|text"; else NULL */
    double minimum, maximum; /* of a count or a real number */
};

/* The name of mapper `index`, from 0; NULL behind the last one. A constant of the library. */
PIMSIM_API const char *pimsim_mapper_name(size_t index);

/*
 * Option `index` of a mapper, from 0. Returns PIMSIM_OK, or PIMSIM_USAGE behind the last option and for a
 * mapper that there is not.
 */
PIMSIM_API int pimsim_mapper_option(const char *mapper, size_t index, struct pimsim_mapper_option *option);

/*
 * Maps a network and writes the trace. *mapping receives the plan, which the caller gives back with
 * pimsim_mapping_destroy(); NULL on failure. `message` as for pimsim_create().
 *
 * Returns PIMSIM_OK, PIMSIM_BAD_INPUT, PIMSIM_IO, PIMSIM_NO_MEMORY, PIMSIM_USAGE (NULL argument,
 * options->size unknown, options of the mapper that do not exist or contradict each other), PIMSIM_INTERNAL.
 */
PIMSIM_API int pimsim_map(struct pimsim_mapping **mapping, const struct pimsim_map_options *options,
                          char *message, size_t message_size);

/* The estimate of the mapper for the whole trace, in cycles of the logic clock; 0 when it has none, or when
 * `mapping` is NULL. */
PIMSIM_API uint64_t pimsim_mapping_cycles(const struct pimsim_mapping *mapping);

/*
 * The plan as JSON text, the same as `pimsim map --format json` prints. It belongs to the mapping and lives
 * until pimsim_mapping_destroy(); NULL when `mapping` is NULL.
 */
PIMSIM_API const char *pimsim_mapping_plan(const struct pimsim_mapping *mapping);

/* Gives back a mapping and everything that belongs to it. NULL is allowed. */
PIMSIM_API void pimsim_mapping_destroy(struct pimsim_mapping *mapping);

/* --- sweeps: many hardwares and networks, and a file of results --- */

enum pimsim_sweep_mode {
    PIMSIM_SWEEP_NEW = 0, /* a file that holds results is refused */
    PIMSIM_SWEEP_RESUME =
        1,                  /* runs what the file lacks of the same sweep, or of one that it has grown into */
    PIMSIM_SWEEP_FORCE = 2, /* throws results in the file away */
};

/*
 * What is to be swept. Set every field that is not used to 0; `size` is sizeof(struct pimsim_sweep_options).
 * All strings belong to the caller and are not kept.
 */
struct pimsim_sweep_options {
    size_t size;
    const char *specification_path; /* as of `pimsim sweep`; NULL: nothing runs, results are read */
    const char *results_path;       /* the file of results (SQLite) */
    const char *cache_path;         /* folder of the traces that are mapped; NULL: results_path + ".traces" */
    const char *const *overrides;   /* texts "path.of.key=value", as `set` of the specification */
    size_t override_count;          /* overrides may be NULL if this is 0 */
    enum pimsim_sweep_mode mode;
    unsigned threads; /* points that run at a time; 0: one for each processor */
    /* Told when a point is done. Calls never overlap, and come from threads of the library. NULL: nobody
       is. */
    void (*progress)(void *context, const char *what, uint64_t done, uint64_t total);
    /* Asked before each point; not 0: no further one begins. NULL: never. */
    int (*stop)(void *context);
    void *context; /* of both functions */
};

/* Results of a sweep. Opaque. */
struct pimsim_sweep_results;

/*
 * Runs the points of a sweep that its file of results lacks, then reads all of them. A point that fails is a
 * result like any other. *results is for the caller to give back with pimsim_sweep_destroy(); NULL on
 * failure. `message` as for pimsim_create(). SIGINT is the caller's: `stop` ends a sweep.
 *
 * Returns PIMSIM_OK, PIMSIM_BAD_INPUT, PIMSIM_IO, PIMSIM_NO_MEMORY, PIMSIM_USAGE, PIMSIM_INTERNAL.
 */
PIMSIM_API int pimsim_sweep(struct pimsim_sweep_results **results, const struct pimsim_sweep_options *options,
                            char *message, size_t message_size);

/* The results as JSON text, the same as `pimsim sweep --export json` writes; it belongs to the results. */
PIMSIM_API const char *pimsim_sweep_json(const struct pimsim_sweep_results *results);

/* How many points the sweep has, how many of them are done and failed (both may be NULL). */
PIMSIM_API uint64_t pimsim_sweep_points(const struct pimsim_sweep_results *results, uint64_t *done,
                                        uint64_t *failed);

/* Gives back results and their text. NULL is allowed. */
PIMSIM_API void pimsim_sweep_destroy(struct pimsim_sweep_results *results);

#ifdef __cplusplus
}
#endif

#endif
