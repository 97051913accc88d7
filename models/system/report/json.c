/* The JSON of a run, from the table of figures. Keys are a contract: docs/reference/run-json.md. */
#include "include/pimsim/pimsim.h"
#include "models/system/family.h"
#include "models/system/report/json_rows.h"
#include "models/system/report/report.h"
#include "models/system/report/results.h"
#include "models/system/report/steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void put_hash(struct pim_json *json, const char *key, uint64_t hash)
{
    char text[17];
    (void)snprintf(text, sizeof text, "%016" PRIx64, hash);
    pim_json_put_text(json, key, text);
}

static void put_stall_causes(struct pim_json *json, const struct pim_system *system,
                             const struct pim_unit_result *unit)
{
    pim_json_begin_object(json, "stall_causes");
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++) {
        pim_time before = unit->busy[pim_class_of_engine(engine)];
        pim_json_begin_object(json, pim_engine_name(engine));
        for (unsigned cause = 0; cause < PIM_WAITS; cause++) {
            const pim_time wait = unit->wait[engine][cause];
            pim_json_put_count(json, pim_wait_name(cause), pim_system_part_cycles(system, before, wait));
            before += wait;
        }
        pim_json_end(json);
    }
    pim_json_end(json);
}

/* The components that the family has beyond those of nodes. */
static void put_beyond(struct pim_json *json, const struct pim_system *system,
                       const struct pim_energy *energy)
{
    for (const struct pim_energy_row *row = system->hardware.family->beyond; row->key; row++)
        pim_json_put_real(json, row->key, pim_energy_of_row(energy, row));
}

/* The figures that the family alone has. */
static void put_own(struct pim_json *json, const struct pim_system *system,
                    const struct pim_run_result *result)
{
    if (system->hardware.family->put)
        system->hardware.family->put(json, system, result);
}

static void put_configuration(struct pim_json *json, const struct pim_report_inputs *inputs)
{
    char *text = inputs->configuration ? pim_configuration_write(inputs->configuration, false) : NULL;
    if (text)
        pim_json_put_text(json, "configuration", text);
    else
        pim_json_put_null(json, "configuration");
    free(text);
}

static void put_figures(struct pim_json *json, const struct pim_system *system,
                        const struct pim_run_result *result, const struct pim_report_inputs *inputs)
{
    const struct pim_trace_description *description = pim_trace_description(system->trace);
    const struct pim_histogram *latency = &system->packet_latency;
    struct pim_energy_component components[PIM_ENERGY_COMPONENTS_MOST];
    const uint32_t component_count = pim_energy_components(system, &result->energy, components);
    /* They are of whole phases, and those of a stopped run are not. */
    const bool estimated = pim_trace_is_estimated(system->trace) && result->complete;
    uint64_t frontier = 0;
#define EACH(key, count, ...)                                                                                \
    pim_json_begin_array(json, key);                                                                         \
    for (uint32_t i = 0; i < (count); i++) {                                                                 \
        pim_json_begin_object(json, NULL);                                                                   \
        __VA_ARGS__
#define EACH_END                                                                                             \
    pim_json_end(json);                                                                                      \
    }                                                                                                        \
    pim_json_end(json);
#define ONLY(condition) if (condition) {
#define ONLY_END }
#define HASH(page, key, unit, definition, value) put_hash(json, key, value);
#define FLAG(page, key, unit, definition, value, ...) pim_json_put_boolean(json, key, value);
#define BEYOND(energy) put_beyond(json, system, &(energy));
#define FAMILY_FIGURES put_own(json, system, result);
#define ROWS(key, unit, definition, statement) statement;
#include "models/system/results.def"
}

enum pim_status pim_report_json(const struct pim_system *system, const struct pim_run_result *result,
                                const struct pim_report_inputs *inputs, FILE *file, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the report");
    put_figures(json, system, result, inputs);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}
