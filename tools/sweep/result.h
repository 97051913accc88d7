/*
 * The result of one point.
 *
 * Statistics are every single figure of the JSON of a run (docs/reference/run-json.md; arrays are left out,
 * and what a run costs), under the same names; and, for what the arrays hold:
 *
 *     estimate_cycles, estimate_error_percent          as in the total of `pimsim validate`
 *     steps.<step>.cycles, steps.<step>.estimate_cycles      the same by the last part of the phases' names
 *     unit_cycles_by.<what>                            the breakdown of time, summed over units
 *     search_cycles, search_beaten,
 *     program_search, program_of.<key>                 where programs of other points may run (best.h)
 *     noc.link_utilization_mean, ..._maximum           over the links, as in links[].utilization
 */
#ifndef PIMSIM_TOOLS_SWEEP_RESULT_H
#define PIMSIM_TOOLS_SWEEP_RESULT_H

#include "sim/arena.h"
#include "sim/status.h"
#include "tools/sweep/sweep.h"

struct pim_sweep_statistic {
    const char *name;
    enum pim_sweep_kind kind; /* NOTHING (there is no such number), INTEGER or REAL */
    int64_t integer;
    double real;
};

struct pim_run_result;
struct pim_system;

struct pim_sweep_result {
    uint64_t point;
    const char *trace, *network, *mapper; /* labels of the source; NULL where it has none */
    uint64_t repeat, seed;
    struct pim_sweep_value *settings; /* of the keys of all axes, in their order; in `texts` */
    size_t setting_count;
    enum pim_status status;
    const char *error; /* the message when status is not PIM_OK, else NULL */
    bool has_trace, has_configuration;
    bool beaten; /* the program of another point ran: best.h */
    uint64_t trace_hash, config_hash;
    const char *configuration; /* canonical text, or NULL */
    struct pim_sweep_statistic *statistics;
    size_t count, capacity;
    double cpu_seconds, wall_seconds; /* of this thread; all else is the same in every run */
    struct pim_arena texts;           /* holds the texts */
};

/* An empty result, and its end. */
void pim_sweep_result_initialize(struct pim_sweep_result *result, uint64_t point);
void pim_sweep_result_terminate(struct pim_sweep_result *result);

/* Adds a statistic; the name is copied. A result for which memory ran out gets the status PIM_NO_MEMORY. */
void pim_sweep_result_add(struct pim_sweep_result *result, const char *name,
                          struct pim_sweep_statistic value);

/* An integer; a real, where what is not finite is no figure. */
void pim_sweep_result_add_integer(struct pim_sweep_result *result, const char *name, uint64_t value);
void pim_sweep_result_add_real(struct pim_sweep_result *result, const char *name, double value);

/* What a run says; `estimates`: those of its trace are of the hardware it ran on. */
enum pim_status pim_sweep_result_add_run(struct pim_sweep_result *result, const struct pim_system *system,
                                         const struct pim_run_result *run, bool estimates,
                                         struct pim_error *error);

/*
 * What a point of a system says beyond its run, as statistics system.* (docs/systems.md): of one image,
 * and in comparable terms. Nothing where the point is of no system.
 */
enum pim_status pim_sweep_result_add_system(struct pim_sweep_result *result, const struct pim_sweep *sweep,
                                            const struct pim_sweep_point *point,
                                            const struct pim_trace *trace, const struct pim_run_result *run,
                                            struct pim_error *error);

#endif
