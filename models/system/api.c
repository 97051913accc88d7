/*
 * The public interface (include/pimsim/pimsim.h) on top of traces and models.
 *
 * Invariants:
 *  1. Whatever a call leaves in the caller's buffer is a whole text with its final 0.
 *  2. A simulation is READY from create to the first run, then DONE or FAILED for good.
 *  3. The numbers of enum pimsim_status are those of enum pim_status.
 */
#include "include/pimsim/pimsim.h"

#include "models/system/configure.h"
#include "models/system/message.h"
#include "models/system/report/report.h"
#include "models/system/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Static_assert((int)PIMSIM_OK == (int)PIM_OK && (int)PIMSIM_BAD_INPUT == (int)PIM_BAD_INPUT &&
                   (int)PIMSIM_NO_MEMORY == (int)PIM_NO_MEMORY && (int)PIMSIM_IO == (int)PIM_IO &&
                   (int)PIMSIM_USAGE == (int)PIM_USAGE && (int)PIMSIM_DEADLOCK == (int)PIM_DEADLOCK &&
                   (int)PIMSIM_INTERNAL == (int)PIM_INTERNAL,
               "both headers number a status alike");

enum state { READY, DONE, FAILED };

struct pimsim_simulation {
    enum state state;
    char *trace_path;
    struct pim_trace *trace;
    struct pim_configuration *configuration;
    struct pim_system *system;
    struct pim_run_result result;
    double cpu_seconds;         /* of the calling threads in create and run */
    uint64_t peak_memory_bytes; /* of the process, when the run ended */
    char *json;                 /* made by the first pimsim_results() */
};

const char *pimsim_status_text(int status)
{
    return status >= PIMSIM_OK && status <= PIMSIM_INTERNAL ? pim_status_text((enum pim_status)status)
                                                            : "unknown status";
}

int pim_hand_out(const struct pim_error *error, char *message, size_t message_size)
{
    if (message && message_size > 0) {
        size_t length = error->status == PIM_OK ? 0 : strlen(error->text);
        if (length > message_size - 1)
            length = message_size - 1;
        memcpy(message, error->text, length);
        message[length] = '\0';
    }
    return (int)error->status;
}

/* Seconds of the calling thread: other simulations of the process are none of this one's cost. */
static double thread_seconds(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static enum pim_status check_options(const struct pimsim_options *options, struct pim_error *error)
{
    if (options->size != sizeof *options)
        return pim_fail(error, PIM_USAGE, "options.size is %zu, this library knows %zu: set it to sizeof",
                        options->size, sizeof *options);
    if (options->override_count > 0 && !options->overrides)
        return pim_fail(error, PIM_USAGE, "options.overrides is NULL, override_count is %zu",
                        options->override_count);
    for (size_t i = 0; i < options->override_count; i++) {
        if (!options->overrides[i])
            return pim_fail(error, PIM_USAGE, "options.overrides[%zu] is NULL", i);
    }
    if ((unsigned)options->noc > PIMSIM_NOC_FLIT)
        return pim_fail(error, PIM_USAGE, "options.noc is %d, allowed are 0 to %d", (int)options->noc,
                        (int)PIMSIM_NOC_FLIT);
    return PIM_OK;
}

/* Opens, configures and builds; after a failure the caller destroys what there is. */
static enum pim_status prepare(struct pimsim_simulation *simulation, const char *trace_path,
                               const struct pimsim_options *options, struct pim_error *error)
{
    static const char *const fidelities[] = {NULL, "ideal", "analytic", "flit"};
    const struct pim_hardware_sources sources = {.files = &options->hardware_path,
                                                 .file_count = options->hardware_path ? 1 : 0,
                                                 .sets = options->overrides,
                                                 .set_count = options->override_count,
                                                 .fidelity = fidelities[options->noc],
                                                 .purpose = PIM_TO_REPLAY};
    const struct pim_system_options system = {
        .until_cycle = options->until_cycle ? options->until_cycle : PIM_UNTIL_END, .quiet = true};
    struct pim_hardware hardware;
    simulation->trace_path = strdup(trace_path);
    if (!simulation->trace_path)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a simulation");
    if (pim_trace_open(trace_path, &simulation->trace, error) != PIM_OK)
        return error->status;
    if (pim_configure_replay(simulation->trace, trace_path, &sources, &simulation->configuration, &hardware,
                             error) != PIM_OK)
        return error->status;
    return pim_system_create(&hardware, simulation->trace, &system, &simulation->system, error);
}

int pimsim_create(struct pimsim_simulation **simulation, const char *trace_path,
                  const struct pimsim_options *options, char *message, size_t message_size)
{
    static const struct pimsim_options defaults = {.size = sizeof defaults};
    struct pim_error error = {.status = PIM_OK};
    double start = thread_seconds();
    if (simulation)
        *simulation = NULL;
    if (!simulation || !trace_path || (!message && message_size > 0)) {
        (void)pim_fail(&error, PIM_USAGE, "pimsim_create: %s is NULL",
                       !simulation   ? "simulation"
                       : !trace_path ? "trace_path"
                                     : "message");
        return pim_hand_out(&error, message, message_size);
    }
    if (!options)
        options = &defaults;
    if (check_options(options, &error) != PIM_OK)
        return pim_hand_out(&error, message, message_size);
    struct pimsim_simulation *made = calloc(1, sizeof *made);
    if (!made)
        (void)pim_fail(&error, PIM_NO_MEMORY, "out of memory for a simulation");
    else if (prepare(made, trace_path, options, &error) != PIM_OK)
        pimsim_destroy(made);
    else {
        made->cpu_seconds = thread_seconds() - start;
        *simulation = made;
    }
    return pim_hand_out(&error, message, message_size);
}

int pimsim_run(struct pimsim_simulation *simulation, char *message, size_t message_size)
{
    struct pim_error error = {.status = PIM_OK};
    if (!simulation || (!message && message_size > 0)) {
        (void)pim_fail(&error, PIM_USAGE, "pimsim_run: %s is NULL", simulation ? "message" : "simulation");
        return pim_hand_out(&error, message, message_size);
    }
    if (simulation->state != READY) {
        (void)pim_fail(&error, PIM_USAGE, "pimsim_run: this simulation has run already: create another");
        return pim_hand_out(&error, message, message_size);
    }
    double start = thread_seconds();
    simulation->state = FAILED;
    if (pim_system_run(simulation->system, &error) == PIM_OK &&
        pim_system_collect(simulation->system, &simulation->result, &error) == PIM_OK)
        simulation->state = DONE;
    double process_seconds;
    pim_host_usage(&process_seconds, &simulation->peak_memory_bytes);
    simulation->cpu_seconds += thread_seconds() - start;
    return pim_hand_out(&error, message, message_size);
}

/* The report as a text of its own. */
static enum pim_status make_json(struct pimsim_simulation *simulation, struct pim_error *error)
{
    char differs[1024];
    if (pim_configure_differences(simulation->trace, simulation->configuration, differs, sizeof differs,
                                  error) != PIM_OK)
        return error->status;
    const struct pim_report_inputs inputs = {.trace_name = simulation->trace_path,
                                             .estimate_differs = differs[0] ? differs : NULL,
                                             .config_hash = pim_configuration_hash(simulation->configuration),
                                             .configuration = simulation->configuration,
                                             .cpu_seconds = simulation->cpu_seconds,
                                             .peak_memory_bytes = simulation->peak_memory_bytes};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the results");
    enum pim_status status =
        pim_report_write(simulation->system, &simulation->result, &inputs, PIM_REPORT_JSON, file, error);
    if (fclose(file) != 0 && status == PIM_OK)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the results");
    if (status != PIM_OK) {
        free(text);
        return status;
    }
    simulation->json = text;
    return PIM_OK;
}

int pimsim_results(struct pimsim_simulation *simulation, const char **json, char *message,
                   size_t message_size)
{
    struct pim_error error = {.status = PIM_OK};
    if (json)
        *json = NULL;
    if (!simulation || !json || (!message && message_size > 0))
        (void)pim_fail(&error, PIM_USAGE, "pimsim_results: %s is NULL",
                       !simulation ? "simulation"
                       : !json     ? "json"
                                   : "message");
    else if (simulation->state != DONE)
        (void)pim_fail(&error, PIM_USAGE, "pimsim_results: there are none: %s",
                       simulation->state == READY ? "the simulation has not run" : "its run failed");
    else if (simulation->json || make_json(simulation, &error) == PIM_OK)
        *json = simulation->json;
    return pim_hand_out(&error, message, message_size);
}

void pimsim_destroy(struct pimsim_simulation *simulation)
{
    if (!simulation)
        return;
    pim_run_result_terminate(&simulation->result);
    pim_system_destroy(simulation->system);
    pim_configuration_destroy(simulation->configuration);
    pim_trace_close(simulation->trace);
    free(simulation->trace_path);
    free(simulation->json);
    free(simulation);
}
