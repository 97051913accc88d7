/* Behaviour tables in the behaviour section of a trace; see table.h for the encoding. */
#include "models/conflict/table.h"

#include "traces/file/hardware.h"
#include "traces/file/reader.h"
#include "traces/file/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum pim_status write_router(struct pim_trace_writer *writer, uint32_t router,
                                    const struct pim_operation_list *list, struct pim_error *error)
{
    if (list->count > PIM_TRACE_BEHAVIOURS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "router %" PRIu32 " has %zu operations: a trace holds at most %d", router,
                        list->count, PIM_TRACE_BEHAVIOURS);
    struct pim_trace_behaviour *entries = calloc(list->count, sizeof *entries);
    if (!entries)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %zu operations of router %" PRIu32,
                        list->count, router);
    for (size_t i = 0; i < list->count; i++)
        entries[i] = (struct pim_trace_behaviour){
            .task = list->operation[i].task, .start = list->operation[i].from, .end = list->operation[i].to};
    enum pim_status status =
        pim_trace_writer_behaviour(writer, router, entries, (uint32_t)list->count, error);
    free(entries);
    return status;
}

enum pim_status pim_behaviour_put(const struct pim_behaviour *behaviour, struct pim_trace_writer *writer,
                                  struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    for (uint32_t r = 0; r < pim_conflict_routers(&behaviour->mesh) && status == PIM_OK; r++)
        if (behaviour->router[r].count > 0)
            status = write_router(writer, r, &behaviour->router[r], error);
    return status;
}

enum pim_status pim_behaviour_write(const struct pim_behaviour *behaviour, const char *path,
                                    const char *network, const char *mapping, struct pim_error *error)
{
    char made[64] = "";
    if (!isnan(behaviour->made_end_ns))
        (void)snprintf(made, sizeof made, PIM_TRACE_MADE_END "%.17g;\n", behaviour->made_end_ns);
    uint32_t routers = pim_conflict_routers(&behaviour->mesh);
    const struct pim_trace_description description = {.family = "conflict",
                                                      .network = network,
                                                      .mapping = mapping,
                                                      .configuration = made,
                                                      .width = behaviour->mesh.width,
                                                      .height = behaviour->mesh.height,
                                                      .units = routers};
    struct pim_trace_writer *writer;
    enum pim_status status = pim_trace_writer_create(path, &description, &writer, error);
    if (status != PIM_OK)
        return status;
    status = pim_behaviour_put(behaviour, writer, error);
    if (status == PIM_OK)
        return pim_trace_writer_finish(writer, error);
    pim_trace_writer_abandon(writer);
    return status;
}

static enum pim_status read_router(struct pim_behaviour *behaviour, uint32_t router,
                                   const struct pim_trace_behaviour *entries, uint32_t count,
                                   struct pim_error *error)
{
    if (router >= pim_conflict_routers(&behaviour->mesh))
        return pim_fail(error, PIM_BAD_INPUT, "behaviour table of router %" PRIu32 ": the mesh has %" PRIu32,
                        router, pim_conflict_routers(&behaviour->mesh));
    struct pim_operation_list *list = &behaviour->router[router];
    list->operation = calloc((size_t)count + 1, sizeof *list->operation);
    if (!list->operation)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the behaviour table of router %" PRIu32,
                        router);
    list->room = (size_t)count + 1;
    for (uint32_t i = 0; i < count; i++) {
        if (entries[i].start >= PIM_PORTS || entries[i].end >= PIM_PORTS)
            return pim_fail(error, PIM_BAD_INPUT,
                            "behaviour table of router %" PRIu32 " entry %" PRIu32 ": start %" PRIu32
                            ", end %" PRIu32 " are no orientations: allowed are 0 to %d",
                            router, i, entries[i].start, entries[i].end, PIM_PORTS - 1);
        list->operation[i] =
            (struct pim_operation){entries[i].task, (uint8_t)entries[i].start, (uint8_t)entries[i].end};
        list->count++;
    }
    return PIM_OK;
}

/* The end that stands in the configuration; NaN where there is none. */
static enum pim_status read_made_end(const char *configuration, double *end, struct pim_error *error)
{
    *end = (double)NAN;
    if (strncmp(configuration, PIM_TRACE_MADE_END, strlen(PIM_TRACE_MADE_END)) != 0)
        return PIM_OK;
    char *behind;
    const char *number = configuration + strlen(PIM_TRACE_MADE_END);
    *end = strtod(number, &behind);
    return *number >= '0' && *number <= '9' && *behind == ';' && isfinite(*end) && *end >= 0
               ? PIM_OK
               : pim_fail(error, PIM_BAD_INPUT, "%.60s: a time of 0 ns or later is expected", configuration);
}

enum pim_status pim_behaviour_take(struct pim_behaviour *behaviour, const struct pim_trace *trace,
                                   struct pim_error *error)
{
    const struct pim_trace_description *description = pim_trace_description(trace);
    const struct pim_conflict_mesh mesh = {description->width, description->height};
    *behaviour = (struct pim_behaviour){.router = NULL};
    if (strcmp(description->family, "conflict") != 0 || pim_trace_behaviour_routers(trace) == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a trace of family %.40s with %" PRIu32
                        " behaviour tables: behaviour tables of family conflict "
                        "are needed",
                        description->family, pim_trace_behaviour_routers(trace));
    enum pim_status status = pim_behaviour_initialize(behaviour, &mesh, error);
    if (status == PIM_OK)
        status = read_made_end(description->configuration, &behaviour->made_end_ns, error);
    for (uint32_t i = 0; status == PIM_OK && i < pim_trace_behaviour_routers(trace); i++) {
        uint32_t router, count;
        const struct pim_trace_behaviour *entries = pim_trace_behaviour(trace, i, &router, &count);
        status = read_router(behaviour, router, entries, count, error);
    }
    if (status != PIM_OK)
        pim_behaviour_terminate(behaviour);
    return status;
}

enum pim_status pim_behaviour_read(struct pim_behaviour *behaviour, const char *path, struct pim_error *error)
{
    *behaviour = (struct pim_behaviour){.router = NULL};
    struct pim_trace *trace;
    if (pim_trace_open(path, &trace, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_behaviour_take(behaviour, trace, error);
    pim_trace_close(trace);
    return status == PIM_OK ? PIM_OK : pim_fail_in(error, "%s", path);
}
