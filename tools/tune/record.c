#include "tools/tune/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 512 };

void pim_tune_sum_up(const struct pim_tune_subject *subject, struct pim_tune_outcome *outcome)
{
    for (int f = 0; f < PIM_TUNE_FIDELITIES; f++) {
        outcome->cost[f] = 0;
        for (size_t n = 0; n < subject->networks && outcome->status == PIM_OK; n++) {
            const struct pim_tune_figures *figures = &outcome->network[n].of[f];
            outcome->cost[f] += pim_tune_cost(&subject->goal, figures->energy_pj, figures->time_ns);
        }
        if (outcome->status != PIM_OK)
            outcome->cost[f] = (double)INFINITY;
    }
}

/* --- writing --- */

static void put_real(struct pim_sweep_result *result, const char *name, double value)
{
    pim_sweep_result_add(result, name,
                         (struct pim_sweep_statistic){
                             .kind = isfinite(value) ? PIM_SWEEP_REAL : PIM_SWEEP_NOTHING, .real = value});
}

static void put_count(struct pim_sweep_result *result, const char *name, uint64_t value)
{
    pim_sweep_result_add(result, name,
                         (struct pim_sweep_statistic){.kind = PIM_SWEEP_INTEGER, .integer = (int64_t)value});
}

/* "networks.vgg16." or, of a fidelity that is not the one of the goal, "networks.vgg16.ideal.". */
static void prefix_of(const struct pim_tune_subject *subject, size_t network, int fidelity,
                      char prefix[NAME_BYTES])
{
    bool own = fidelity == (int)subject->fidelity;
    (void)snprintf(prefix, NAME_BYTES, "networks.%.200s.%s%s", subject->labels[network],
                   own ? "" : pim_tune_fidelity_name((enum pim_tune_fidelity)fidelity), own ? "" : ".");
}

static void put_figures(const struct pim_tune_subject *subject, const struct pim_tune_outcome *outcome,
                        size_t network, int fidelity, struct pim_sweep_result *result)
{
    const struct pim_tune_figures *figures = &outcome->network[network].of[fidelity];
    char prefix[NAME_BYTES], name[NAME_BYTES + 16];
    prefix_of(subject, network, fidelity, prefix);
    (void)snprintf(name, sizeof name, "%scycles", prefix);
    put_count(result, name, figures->cycles);
    (void)snprintf(name, sizeof name, "%stime_ns", prefix);
    put_real(result, name, figures->time_ns);
    (void)snprintf(name, sizeof name, "%senergy_pj", prefix);
    put_real(result, name, figures->energy_pj);
    (void)snprintf(name, sizeof name, "%scost", prefix);
    put_real(result, name, pim_tune_cost(&subject->goal, figures->energy_pj, figures->time_ns));
}

static void put_sums(const struct pim_tune_subject *subject, const struct pim_tune_outcome *outcome,
                     struct pim_sweep_result *result)
{
    uint64_t cycles = 0;
    double time = 0, energy = 0;
    for (size_t n = 0; n < subject->networks; n++) {
        const struct pim_tune_figures *figures = &outcome->network[n].of[subject->fidelity];
        cycles += figures->cycles;
        time += figures->time_ns;
        energy += figures->energy_pj;
    }
    put_count(result, "cycles", cycles);
    put_real(result, "time_ns", time);
    put_real(result, "energy_pj.total", energy);
}

static void put_statistics(const struct pim_tune_subject *subject, const struct pim_tune_outcome *outcome,
                           const struct pim_tune_best *best, struct pim_sweep_result *result)
{
    struct pim_area area;
    char name[64];
    pim_tune_area(subject->space, &outcome->proposal.architecture, &area);
    put_sums(subject, outcome, result);
    put_real(result, "tune.cost", outcome->cost[subject->fidelity]);
    put_real(result, "tune.quality", 1 / outcome->cost[subject->fidelity]);
    put_real(result, "tune.best_quality", pim_tune_best_quality(best));
    put_real(result, "tune.best_three", pim_tune_best_mean_quality(best));
    put_count(result, "tune.rejected", outcome->proposal.rejected);
    if (outcome->proposal.drawn > 0) {
        double percent = 100 / (double)outcome->proposal.drawn;
        put_real(result, "tune.false_accepts_percent", percent * (double)outcome->proposal.false_accepts);
        put_real(result, "tune.false_rejects_percent", percent * (double)outcome->proposal.false_rejects);
    }
    put_real(result, "area.engines_mm2", area.engines);
    put_real(result, "area.total_mm2", area.total);
    for (size_t n = 0; n < subject->networks; n++)
        for (int f = 0; f < PIM_TUNE_FIDELITIES; f++)
            if (subject->fidelities & 1U << f)
                put_figures(subject, outcome, n, f, result);
    for (int f = 0; f < PIM_TUNE_FIDELITIES; f++)
        if (subject->fidelities != 1U << subject->fidelity && (subject->fidelities & 1U << f)) {
            (void)snprintf(name, sizeof name, "ladder.%s.cost",
                           pim_tune_fidelity_name((enum pim_tune_fidelity)f));
            put_real(result, name, outcome->cost[f]);
        }
}

static enum pim_status put_configuration(const struct pim_tune_subject *subject,
                                         const struct pim_tune_outcome *outcome,
                                         struct pim_sweep_result *result, struct pim_error *error)
{
    struct pim_configuration *configuration;
    if (pim_tune_configure(subject->space, &outcome->proposal.architecture, &configuration, error) != PIM_OK)
        return error->status;
    char *text = pim_configuration_write(configuration, false);
    result->config_hash = pim_configuration_hash(configuration);
    result->configuration = text ? pim_arena_copy_text(&result->texts, text) : NULL;
    result->has_configuration = text != NULL;
    pim_configuration_destroy(configuration);
    free(text);
    return result->has_configuration ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for a result");
}

enum pim_status pim_tune_write_outcome(const struct pim_tune_subject *subject, uint64_t iteration,
                                       const struct pim_tune_outcome *outcome,
                                       const struct pim_tune_best *best, struct pim_sweep_result *result,
                                       struct pim_error *error)
{
    pim_sweep_result_initialize(result, iteration);
    result->settings = pim_arena_require_array(&result->texts, PIM_TUNE_DIMENSIONS + 1,
                                               sizeof *result->settings, _Alignof(struct pim_sweep_value));
    result->settings[result->setting_count++] =
        (struct pim_sweep_value){.kind = PIM_SWEEP_INTEGER, .integer = (int64_t)iteration};
    for (int d = 0; d < PIM_TUNE_DIMENSIONS; d++)
        result->settings[result->setting_count++] = (struct pim_sweep_value){
            .kind = PIM_SWEEP_INTEGER,
            .integer = (int64_t)pim_tune_setting(subject->space, &outcome->proposal.architecture,
                                                 (enum pim_tune_dimension)d)};
    result->cpu_seconds = outcome->cpu_seconds;
    result->wall_seconds = outcome->wall_seconds;
    if (put_configuration(subject, outcome, result, error) != PIM_OK)
        return error->status;
    if (outcome->status == PIM_OK)
        put_statistics(subject, outcome, best, result);
    else
        result->error = pim_arena_copy_text(&result->texts, outcome->error);
    if (result->status == PIM_NO_MEMORY)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a result");
    result->status = outcome->status;
    return PIM_OK;
}

/* --- reading --- */

static const struct pim_sweep_statistic *find(const struct pim_sweep_result *result, const char *prefix,
                                              const char *name)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; i < result->count; i++)
        if (strncmp(result->statistics[i].name, prefix, length) == 0 &&
            strcmp(result->statistics[i].name + length, name) == 0)
            return &result->statistics[i];
    return NULL;
}

static bool read_figures(const struct pim_tune_subject *subject, const struct pim_sweep_result *result,
                         size_t network, int fidelity, struct pim_tune_figures *figures)
{
    char prefix[NAME_BYTES];
    prefix_of(subject, network, fidelity, prefix);
    const struct pim_sweep_statistic *cycles = find(result, prefix, "cycles"),
                                     *time = find(result, prefix, "time_ns"),
                                     *energy = find(result, prefix, "energy_pj");
    if (!cycles || !time || !energy || cycles->kind != PIM_SWEEP_INTEGER)
        return false;
    figures->cycles = (uint64_t)cycles->integer;
    figures->time_ns = time->kind == PIM_SWEEP_INTEGER ? (double)time->integer : time->real;
    figures->energy_pj = energy->kind == PIM_SWEEP_INTEGER ? (double)energy->integer : energy->real;
    return true;
}

enum pim_status pim_tune_read_outcome(const struct pim_tune_subject *subject,
                                      const struct pim_sweep_result *result, struct pim_tune_outcome *outcome,
                                      struct pim_error *error)
{
    bool same = result->setting_count == PIM_TUNE_DIMENSIONS + 1, whole = true;
    for (int d = 0; same && d < PIM_TUNE_DIMENSIONS; d++)
        same = result->settings[d + 1].integer == (int64_t)pim_tune_setting(subject->space,
                                                                            &outcome->proposal.architecture,
                                                                            (enum pim_tune_dimension)d);
    if (!same)
        return pim_fail(error, PIM_BAD_INPUT,
                        "iteration %" PRIu64 " has another architecture than the search proposes again",
                        result->point);
    outcome->status = result->status;
    (void)snprintf(outcome->error, sizeof outcome->error, "%.500s", result->error ? result->error : "");
    for (size_t n = 0; n < subject->networks && result->status == PIM_OK; n++)
        for (int f = 0; f < PIM_TUNE_FIDELITIES; f++)
            if (subject->fidelities & 1U << f)
                whole = whole && read_figures(subject, result, n, f, &outcome->network[n].of[f]);
    if (!whole)
        return pim_fail(error, PIM_BAD_INPUT, "iteration %" PRIu64 " lacks figures of a network",
                        result->point);
    pim_tune_sum_up(subject, outcome);
    outcome->known = true;
    return PIM_OK;
}

/* --- the axis --- */

enum pim_status pim_tune_add_axis(struct pim_sweep *sweep, uint64_t iterations, struct pim_error *error)
{
    struct pim_sweep_axis axis = {.key_count = PIM_TUNE_DIMENSIONS + 1, .count = (size_t)iterations};
    axis.keys = calloc(axis.key_count, sizeof *axis.keys);
    bool good = axis.keys != NULL;
    axis.key_count = good ? axis.key_count : 0;
    for (size_t i = 0; good && i < axis.key_count; i++) {
        axis.keys[i].name = strdup(i == 0 ? "iteration" : pim_tune_key((enum pim_tune_dimension)(i - 1)));
        good = axis.keys[i].name != NULL;
    }
    if (!good) {
        pim_sweep_axis_terminate(&axis);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a sweep");
    }
    return pim_sweep_add_axis(sweep, &axis, error);
}
