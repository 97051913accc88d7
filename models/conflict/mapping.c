/* Placements: three patterns, and lists of positions in a JSON file. */
#include "models/conflict/conflict.h"
#include "models/cost/pattern.h"
#include "sim/output/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 1 << 26 };

static enum pim_status place_pattern(const char *name, const struct pim_conflict_mesh *mesh,
                                     uint32_t *routers, uint32_t count, struct pim_error *error)
{
    if (strcmp(name, "snake") == 0) {
        pim_pattern_snake(mesh->width, mesh->height, count, routers);
        return PIM_OK;
    }
    bool turns = strcmp(name, "boustrophedon") == 0;
    if (!turns && strcmp(name, "row-major") != 0)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "mapping %.60s: without a file of mappings there are row-major, snake and boustrophedon", name);
    pim_pattern_rows(mesh->width, turns, count, routers);
    return PIM_OK;
}

static enum pim_status take_position(const json_t *position, const struct pim_conflict_mesh *mesh,
                                     uint32_t *router)
{
    const json_t *row = json_array_get(position, 0), *column = json_array_get(position, 1);
    if (json_array_size(position) != 2 || !json_is_integer(row) || !json_is_integer(column))
        return PIM_BAD_INPUT;
    json_int_t y = json_integer_value(row), x = json_integer_value(column);
    if (y < 0 || x < 0 || y >= (json_int_t)mesh->height || x >= (json_int_t)mesh->width)
        return PIM_BAD_INPUT;
    *router = (uint32_t)y * mesh->width + (uint32_t)x;
    return PIM_OK;
}

static enum pim_status refuse_name(const char *file, const char *name, json_t *root, struct pim_error *error)
{
    char names[512] = "";
    size_t length = 0;
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value)
    {
        if (length < sizeof names)
            length +=
                (size_t)snprintf(names + length, sizeof names - length, "%s%.60s", length ? ", " : "", key);
    }
    return pim_fail(error, PIM_BAD_INPUT, "%s: has no mapping %.60s: there are %s", file, name, names);
}

static enum pim_status place_list(const char *file, const char *name, const struct pim_conflict_mesh *mesh,
                                  uint32_t *routers, uint32_t count, struct pim_error *error)
{
    json_t *root;
    if (pim_json_read(file, LARGEST_FILE, &root, error) != PIM_OK)
        return error->status;
    json_t *list = json_object_get(root, name);
    enum pim_status status = PIM_OK;
    if (!list)
        status = json_is_object(root)
                     ? refuse_name(file, name, root, error)
                     : pim_fail(error, PIM_BAD_INPUT, "%s: must be an object of mappings by name", file);
    else if (!json_is_array(list) || json_array_size(list) != count)
        status = pim_fail(error, PIM_BAD_INPUT,
                          "%s: mapping %.60s must have the positions of %" PRIu32 " nodes, not of %zu", file,
                          name, count, json_array_size(list));
    for (uint32_t n = 0; n < count && status == PIM_OK; n++) {
        if (take_position(json_array_get(list, n), mesh, &routers[n]) != PIM_OK)
            status = pim_fail(error, PIM_BAD_INPUT,
                              "%s: mapping %.60s, node %" PRIu32
                              ": must be [row, column] in a mesh of %" PRIu32 " rows and %" PRIu32 " columns",
                              file, name, n, mesh->height, mesh->width);
    }
    json_decref(root);
    return status;
}

enum pim_status pim_conflict_place_named(const char *file, const char *name,
                                         const struct pim_task_graph *graph,
                                         const struct pim_conflict_mesh *mesh, uint32_t **placement,
                                         struct pim_error *error)
{
    *placement = NULL;
    if (mesh->width == 0 || mesh->height == 0 || (uint64_t)mesh->width * mesh->height < graph->nodes)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu32 " nodes do not fit a mesh of %" PRIu32 " rows x %" PRIu32 " columns",
                        graph->nodes, mesh->height, mesh->width);
    uint32_t *routers = calloc((size_t)graph->nodes + 1, sizeof *routers);
    if (!routers)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " nodes", graph->nodes);
    enum pim_status status = file ? place_list(file, name, mesh, routers, graph->nodes, error)
                                  : place_pattern(name, mesh, routers, graph->nodes, error);
    if (status == PIM_OK)
        *placement = routers;
    else
        free(routers);
    return status;
}
