/*
 * A sweep: which points there are, and what each one is.
 *
 * A point is one replay: a source (a trace, or a network with a mapper that makes the trace), a value for
 * each axis, and a repeat. Its number is a mixed-radix count of these, the source slowest, then the axes in
 * their order, the repeat fastest. Points are worked out from their number, never stored: a sweep of 10^9
 * points takes no memory.
 *
 * Invariants
 * 1. Nothing that a point is depends on the order in which points run, nor on the number of threads.
 * 2. What the files said when the sweep was prepared holds for all its points: the base configuration of each
 *    source is kept as text, and traces are kept open.
 * 3. The identity of a sweep (pim_sweep_identity) covers everything that a result can depend on, and nothing
 *    else: the same identity means that results may stand in one table.
 */
#ifndef PIMSIM_TOOLS_SWEEP_SWEEP_H
#define PIMSIM_TOOLS_SWEEP_SWEEP_H

#include "sim/arena.h"
#include "sim/status.h"
#include "tools/library/words.h"
#include "tools/sweep/specification/axis.h"
#include "tools/sweep/specification/expression.h"
#include "tools/systems/list.h"
#include "traces/file/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PIM_SWEEP_POINTS_MOST (UINT64_C(1) << 53)
enum { PIM_SWEEP_AXES_MOST = 64, PIM_SWEEP_KEYS_MOST = 256, PIM_SWEEP_REPEATS_MOST = 1000000 };

/* Owned texts; all zero is an empty list. */
struct pim_texts {
    char **items;
    size_t count, capacity;
};
enum pim_status pim_texts_add(struct pim_texts *texts, const char *text, struct pim_error *error);
void pim_texts_terminate(struct pim_texts *texts);

#define PIM_NO_SYSTEM SIZE_MAX

/* Where the trace of a point comes from. */
struct pim_sweep_source {
    char *trace; /* path, or NULL: */
    char *network,
        *mapper;   /* path of a network, and words as behind `pimsim map`: "allspark --partition head" */
    size_t system; /* of the sweep's systems, whose hardware and mapper it has; PIM_NO_SYSTEM: of none */
    struct pim_trace *opened; /* of `trace`; from prepare on */
    char *base;               /* canonical hardware configuration before the axes; from prepare on */
    struct pim_configuration *configuration; /* the same; what it lacks is taken from the first point */
    char *network_content; /* canonical configuration of `network`, or the hash of another kind of file */
    char mapper_files[PIM_MAP_FILES_BYTES]; /* hash of what the mapper reads; "": nothing */
    bool starts; /* the mapper can start from plans of other points; from prepare on */
};

struct pim_sweep {
    char *name; /* for people; NULL: none */
    struct pim_sweep_source *sources;
    size_t source_count, source_capacity;
    struct pim_systems systems;    /* that sources are of */
    struct pim_texts hardware;     /* configuration files; none beside systems, which have their own */
    struct pim_texts sets;         /* "key=value" of the hardware */
    struct pim_texts network_sets; /* "network.key=value" */
    const char *fidelity;          /* "ideal", "analytic", "flit", or NULL: as configured */
    uint64_t until_cycle;          /* as in pim_system_options; 0: to the end */
    bool map_once;     /* traces are made for the base configuration, not for that of each point */
    bool own_programs; /* each point runs its own, also where take_best would be */
    bool take_best;    /* the fastest program of neighbouring points runs: best.h; from prepare on */
    struct pim_sweep_axis *axes;
    size_t axis_count, axis_capacity;
    struct pim_texts conditions;         /* constraints as texts */
    struct pim_expression **constraints; /* made of them by prepare */
    uint64_t repeats;                    /* at least 1 */
    uint64_t seed;                       /* of repeat 0 */
    uint64_t numbers;                    /* points before constraints; from prepare on */
    char *identity;                      /* JSON text; from prepare on */
};

void pim_sweep_initialize(struct pim_sweep *sweep);
void pim_sweep_terminate(struct pim_sweep *sweep);

/* Add a part; texts are copied, the axis is taken over (also after a failure). */
enum pim_status pim_sweep_add_trace(struct pim_sweep *sweep, const char *trace, struct pim_error *error);
enum pim_status pim_sweep_add_mapped(struct pim_sweep *sweep, const char *network, const char *mapper,
                                     struct pim_error *error);
/* A network on system `system` of sweep->systems. */
enum pim_status pim_sweep_add_system(struct pim_sweep *sweep, const char *network, size_t system,
                                     struct pim_error *error);
enum pim_status pim_sweep_add_axis(struct pim_sweep *sweep, struct pim_sweep_axis *axis,
                                   struct pim_error *error);
/* Whether "key=value" sets a key of the network. */
bool pim_sweep_of_network(const char *set);
/* Sets what a mapper's words set beside the network, and completes the configuration. */
enum pim_status pim_sweep_set_words(struct pim_configuration *configuration,
                                    const struct pim_map_words *words, struct pim_error *error);
/* "key=value", to the network when its key begins with "network.". */
enum pim_status pim_sweep_add_set(struct pim_sweep *sweep, const char *set, struct pim_error *error);

/* The parts of point `number` (below sweep->numbers). */
struct pim_sweep_point {
    uint64_t number, source, repeat;
    uint64_t seed;
    size_t value[PIM_SWEEP_AXES_MOST]; /* index into the values of each axis */
};
void pim_sweep_locate(const struct pim_sweep *sweep, uint64_t number, struct pim_sweep_point *point);

/* Whether all constraints hold. */
enum pim_status pim_sweep_admits(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                 bool *admitted, struct pim_error *error);

/* Points that the constraints admit; looks at every one when there are constraints. */
enum pim_status pim_sweep_count(const struct pim_sweep *sweep, uint64_t *count, struct pim_error *error);

/* The hardware configuration of a point: base, then the values of the axes; `base_only` leaves these out.
 * Complete. The caller destroys it. */
enum pim_status pim_sweep_configure(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                    bool base_only, struct pim_configuration **configuration,
                                    struct pim_error *error);

/* Sets the values of the axes whose keys are of the network, or of the hardware. */
enum pim_status pim_sweep_set_axes(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                   bool of_network, struct pim_configuration *configuration,
                                   struct pim_error *error);

/* The settings "network.key=value" at a point: those of the mapper's words, of the sweep, of the axes; in
   `arena`. */
struct pim_map_words;
enum pim_status pim_sweep_network_sets(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                       const struct pim_map_words *words, struct pim_arena *arena,
                                       const char ***sets, size_t *count, struct pim_error *error);

/* The network at a point, as its mapper takes it; `as_read`: as it stands in its file, whatever the mapper
 * takes. The caller destroys *network. */
struct pim_network;
enum pim_status pim_sweep_read_network(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                       bool as_read, struct pim_network **network, struct pim_error *error);

/* The last part of a path. */
const char *pim_sweep_label(const char *path);

/* The same of a trace or a network of the sweep, with as many folders before it as tell it from the others.
 */
const char *pim_sweep_label_among(const struct pim_sweep *sweep, const char *path);

/* The content of a network (of an ONNX file its hash) with the settings of `point` (NULL: of the sweep
   alone): what its trace depends
 * on. The caller frees *content. */
enum pim_status pim_sweep_network_content(const struct pim_sweep *sweep,
                                          const struct pim_sweep_source *source,
                                          const struct pim_sweep_point *point, char **content,
                                          struct pim_error *error);

#endif
