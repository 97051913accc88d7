/*
 * Any bytes as a task graph: a JSON task list, or, when they begin with "node", CSV files in one text, each
 * but the first behind a line
 * "----": nodes, edges, then dependences, or layers when they begin with "layer". What is refused must have a
 * message; what is accepted must run to its end, or stand still with a message, in both switching modes.
 */
#include "models/conflict/conflict.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

/* The bytes from `*at` to the next separator line as a stream; NULL when there are none. */
static FILE *next_part(const char *text, size_t size, size_t *at)
{
    static const char separator[] = "\n----\n";
    size_t length = sizeof separator - 1, end = *at;
    if (*at >= size)
        return NULL;
    while (end < size && (end + length > size || memcmp(text + end, separator, length) != 0))
        end++;
    FILE *part = tmpfile();
    if (!part)
        abort();
    size_t bytes = (end < size ? end + 1 : size) - *at;
    if (fwrite(text + *at, 1, bytes, part) != bytes)
        abort();
    rewind(part);
    *at = end < size ? end + length : size;
    return part;
}

static enum pim_status read_csv(const char *text, size_t size, struct pim_task_graph **graph,
                                struct pim_error *error)
{
    size_t at = 0, third;
    *graph = NULL;
    FILE *nodes = next_part(text, size, &at), *edges = next_part(text, size, &at);
    third = at;
    FILE *rest = next_part(text, size, &at);
    bool layers = rest && size - third >= 5 && memcmp(text + third, "layer", 5) == 0;
    enum pim_status status = pim_fail(error, PIM_BAD_INPUT, "parts are missing");
    if (nodes && edges && rest)
        status = pim_task_graph_read_csv("fuzz", nodes, edges, layers ? NULL : rest, layers ? rest : NULL,
                                         graph, error);
    FILE *parts[] = {nodes, edges, rest};
    for (size_t i = 0; i < 3; i++) {
        if (parts[i])
            (void)fclose(parts[i]);
    }
    return status;
}

static void replay(const struct pim_task_graph *graph, enum pim_switching switching,
                   enum pim_conflict_routing routing)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_conflict_result result;
    struct pim_conflict_options options = PIM_CONFLICT_DEFAULTS;
    options.switching = switching;
    options.routing = routing;
    options.arbiter = PIM_CONFLICT_BALANCE;
    options.images = 2;
    uint32_t *placement;
    enum pim_status status =
        pim_conflict_place_named(NULL, "snake", graph, &options.mesh, &placement, &error);
    require(status == PIM_OK, "placement", &error);
    status = pim_conflict_run(graph, placement, &options, &result, &error);
    require(status == PIM_OK || error.text[0] != '\0', "failed without a message", &error);
    pim_conflict_result_terminate(&result);
    free(placement);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_task_graph *graph;
    const char *text = (const char *)data;
    enum pim_status status = size > 4 && memcmp(text, "node", 4) == 0
                                 ? read_csv(text, size, &graph, &error)
                                 : pim_task_graph_parse_json("fuzz.json", text, size, &graph, &error);
    if (status != PIM_OK) {
        require(graph == NULL && error.text[0] != '\0', "refused without a message", &error);
        return 0;
    }
    uint64_t steps = 0;
    for (uint32_t n = 0; n < graph->nodes; n++)
        steps += graph->node[n].steps;
    if (graph->nodes <= 32 && steps <= 1000) { /* small enough to replay again and again */
        replay(graph, PIM_SWITCHING_PATH_HOLD, PIM_CONFLICT_ADAPTIVE);
        replay(graph, PIM_SWITCHING_SAF, PIM_CONFLICT_XY);
    }
    pim_task_graph_destroy(graph);
    return 0;
}
