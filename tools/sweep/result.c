#include "tools/sweep/result.h"

#include "models/system/report/report.h"
#include "models/system/report/steps.h"
#include "models/system/system.h"
#include "sim/output/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };

void pim_sweep_result_initialize(struct pim_sweep_result *result, uint64_t point)
{
    *result = (struct pim_sweep_result){.point = point};
    pim_arena_initialize(&result->texts, 8192);
}

void pim_sweep_result_terminate(struct pim_sweep_result *result)
{
    free(result->statistics);
    pim_arena_terminate(&result->texts);
}

void pim_sweep_result_add(struct pim_sweep_result *result, const char *name, struct pim_sweep_statistic value)
{
    struct pim_sweep_statistic *grown =
        pim_array_grow(result->statistics, &result->capacity, result->count + 1, sizeof *grown);
    if (!grown) {
        result->status = PIM_NO_MEMORY;
        return;
    }
    result->statistics = grown;
    value.name = pim_arena_copy_text(&result->texts, name);
    grown[result->count++] = value;
}

void pim_sweep_result_add_integer(struct pim_sweep_result *result, const char *name, uint64_t value)
{
    pim_sweep_result_add(result, name,
                         (struct pim_sweep_statistic){.kind = PIM_SWEEP_INTEGER, .integer = (int64_t)value});
}

void pim_sweep_result_add_real(struct pim_sweep_result *result, const char *name, double value)
{
    pim_sweep_result_add(result, name,
                         (struct pim_sweep_statistic){
                             .kind = isfinite(value) ? PIM_SWEEP_REAL : PIM_SWEEP_NOTHING, .real = value});
}

/* --- the JSON of a run --- */

/* What a run costs, and inputs, which stand elsewhere in a result. */
static bool left_out(const char *name)
{
    static const char *const names[] = {"simulator.cpu_seconds", "simulator.peak_memory_bytes", "inputs"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void add_figures(struct pim_sweep_result *result, const char *prefix, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        char name[NAME_BYTES];
        (void)snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", key);
        if (left_out(name))
            continue;
        if (json_is_object(value))
            add_figures(result, name, value);
        else if (json_is_integer(value))
            pim_sweep_result_add_integer(result, name, (uint64_t)json_integer_value(value));
        else if (json_is_real(value))
            pim_sweep_result_add_real(result, name, json_real_value(value));
        else if (json_is_boolean(value))
            pim_sweep_result_add_integer(result, name, json_is_true(value) ? 1 : 0);
        else if (json_is_null(value))
            pim_sweep_result_add_real(result, name, (double)NAN);
    }
}

static enum pim_status add_report(struct pim_sweep_result *result, const struct pim_system *system,
                                  const struct pim_run_result *run, struct pim_error *error)
{
    const struct pim_report_inputs inputs = {
        .trace_name = "", .config_hash = result->config_hash, .reproducible = true};
    char *text = NULL;
    size_t size = 0;
    json_t *document = NULL;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the results");
    enum pim_status status = pim_report_json(system, run, &inputs, file, error);
    if (fclose(file) != 0 && status == PIM_OK)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the results");
    if (status == PIM_OK)
        status = pim_json_parse("results", text, size, &document, error);
    free(text);
    if (status == PIM_OK)
        add_figures(result, "", document);
    json_decref(document);
    return status;
}

/* --- what its arrays hold --- */

struct step {
    const char *name; /* of the trace */
    uint64_t estimate, cycles;
};

/* `estimates`: they are of this hardware and of as much as was run; else there is none to hold beside. */
static void add_estimate(struct pim_sweep_result *result, const char *name, uint64_t estimate, bool estimates)
{
    if (estimates)
        pim_sweep_result_add_integer(result, name, estimate);
    else
        pim_sweep_result_add_real(result, name, (double)NAN);
}

static void add_steps(struct pim_sweep_result *result, const struct pim_system *system,
                      const struct pim_run_result *run, bool estimates)
{
    uint32_t phases = system->phase_count;
    size_t count = 0;
    uint64_t estimate = 0, frontier = 0; /* phases tile the run: each counts by how much it moves its end */
    struct step *steps = calloc((size_t)phases + 1, sizeof *steps);
    if (!steps) {
        result->status = PIM_NO_MEMORY;
        return;
    }
    for (uint32_t i = 0; i < phases; i++) {
        const struct pim_trace_phase *phase = pim_trace_phase(system->trace, i);
        const struct pim_phase_result *outcome = &system->phases[i];
        const char *name = pim_sweep_label(phase->name);
        size_t at = 0;
        while (at < count && strcmp(steps[at].name, name) != 0)
            at++;
        if (at == count)
            steps[count++].name = name;
        steps[at].estimate += phase->estimate_cycles;
        estimate += phase->estimate_cycles;
        if (outcome->units > 0)
            steps[at].cycles += pim_phase_advance(pim_system_cycles(system, outcome->end), &frontier);
    }
    estimates = estimates && pim_trace_is_estimated(system->trace);
    add_estimate(result, "estimate_cycles", estimate, estimates);
    pim_sweep_result_add_real(result, "estimate_error_percent",
                              estimates && run->cycles
                                  ? 100.0 * ((double)estimate - (double)run->cycles) / (double)run->cycles
                                  : (double)NAN);
    for (size_t i = 0; i < count; i++) {
        char name[NAME_BYTES];
        (void)snprintf(name, sizeof name, "steps.%.200s.cycles", steps[i].name);
        pim_sweep_result_add_integer(result, name, steps[i].cycles);
        (void)snprintf(name, sizeof name, "steps.%.200s.estimate_cycles", steps[i].name);
        add_estimate(result, name, steps[i].estimate, estimates);
    }
    free(steps);
}

static void add_sums(struct pim_sweep_result *result, const struct pim_system *system,
                     const struct pim_run_result *run)
{
    uint64_t busy = 0, most = 0;
    pim_time sums[PIM_SHARES] = {0};
    for (uint32_t unit = 0; unit < run->unit_count; unit++)
        for (unsigned share = 0; share < PIM_SHARES; share++)
            sums[share] += run->units[unit].share[share];
    for (unsigned share = 0; share < PIM_SHARES; share++) {
        char name[NAME_BYTES];
        (void)snprintf(name, sizeof name, "unit_cycles_by.%s", pim_share_name(share));
        pim_sweep_result_add_integer(result, name, pim_system_share_cycles(system, sums, share));
    }
    for (uint32_t i = 0; i < run->link_count; i++) {
        busy += run->links[i].busy_cycles;
        most = run->links[i].busy_cycles > most ? run->links[i].busy_cycles : most;
    }
    double cycles = run->network_cycles && run->link_count ? (double)run->network_cycles : (double)NAN;
    pim_sweep_result_add_real(result, "noc.link_utilization_mean",
                              (double)busy / (double)run->link_count / cycles);
    pim_sweep_result_add_real(result, "noc.link_utilization_maximum", (double)most / cycles);
}

enum pim_status pim_sweep_result_add_run(struct pim_sweep_result *result, const struct pim_system *system,
                                         const struct pim_run_result *run, bool estimates,
                                         struct pim_error *error)
{
    if (add_report(result, system, run, error) != PIM_OK)
        return error->status;
    add_steps(result, system, run, estimates && run->complete);
    add_sums(result, system, run);
    return PIM_OK;
}
