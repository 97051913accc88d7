/* Sharing sets: reading, routes, what an order costs. */
#include "mappers/nicepim/cycles/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- reading --- */

/* An integer member in [least, most]. */
static enum pim_status read_integer(const json_t *value, const char *what, int64_t least, int64_t most,
                                    int64_t *target, struct pim_error *error)
{
    if (!value)
        return pim_fail(error, PIM_BAD_INPUT, "%s is missing", what);
    if (!json_is_integer(value) || json_integer_value(value) < least || json_integer_value(value) > most)
        return pim_fail(error, PIM_BAD_INPUT, "%s is not an integer from %" PRId64 " to %" PRId64, what,
                        least, most);
    *target = json_integer_value(value);
    return PIM_OK;
}

static enum pim_status read_node(const json_t *pair, struct pim_sharing *sharing, size_t place,
                                 struct pim_error *error)
{
    int64_t row = 0, column = 0;
    if (!json_is_array(pair) || json_array_size(pair) != 2)
        return pim_fail(error, PIM_BAD_INPUT, "a node is not [row, column]");
    if (read_integer(json_array_get(pair, 0), "the row of a node", 0, sharing->rows - 1, &row, error) !=
            PIM_OK ||
        read_integer(json_array_get(pair, 1), "the column of a node", 0, sharing->columns - 1, &column,
                     error) != PIM_OK)
        return error->status;
    sharing->node[place] = (uint32_t)row * sharing->columns + (uint32_t)column;
    return PIM_OK;
}

static enum pim_status read_set(const json_t *set, struct pim_sharing *sharing, size_t first,
                                unsigned char *seen, struct pim_error *error)
{
    size_t count = json_array_size(set);
    memset(seen, 0, sharing_nodes(sharing));
    for (size_t i = 0; i < count; i++) {
        if (read_node(json_array_get(set, i), sharing, first + i, error) != PIM_OK)
            return error->status;
        uint32_t node = sharing->node[first + i];
        if (seen[node])
            return pim_fail(error, PIM_BAD_INPUT, "node [%" PRIu32 ", %" PRIu32 "] stands twice",
                            node / sharing->columns, node % sharing->columns);
        seen[node] = 1;
    }
    return PIM_OK;
}

static enum pim_status count_members(const json_t *sets, size_t *count, size_t *members,
                                     struct pim_error *error)
{
    *members = 0;
    *count = json_array_size(sets);
    if (!json_is_array(sets) || *count == 0 || *count > PIM_SHARING_MEMBERS)
        return pim_fail(error, PIM_BAD_INPUT, "sets is not a list of 1 to %d lists of nodes",
                        PIM_SHARING_MEMBERS);
    for (size_t s = 0; s < *count; s++) {
        const json_t *set = json_array_get(sets, s);
        if (!json_is_array(set) || json_array_size(set) == 0)
            return pim_fail(error, PIM_BAD_INPUT, "sets[%zu] is not a list of nodes, one at least", s);
        *members += json_array_size(set);
        if (*members > PIM_SHARING_MEMBERS)
            return pim_fail(error, PIM_BAD_INPUT, "the sets have more than %d members together",
                            PIM_SHARING_MEMBERS);
    }
    return PIM_OK;
}

static enum pim_status read_sets(const json_t *sets, const json_t *weights, struct pim_sharing *sharing,
                                 unsigned char *seen, struct pim_error *error)
{
    char what[64];
    for (size_t s = 0; s < sharing->set_count; s++) {
        const json_t *set = json_array_get(sets, s);
        int64_t weight = 1;
        (void)snprintf(what, sizeof what, "weights[%zu]", s);
        if (weights &&
            read_integer(json_array_get(weights, s), what, 1, PIM_SHARING_WEIGHT, &weight, error) != PIM_OK)
            return error->status;
        sharing->weight[s] = (uint64_t)weight;
        sharing->start[s + 1] = sharing->start[s] + json_array_size(set);
        if (read_set(set, sharing, sharing->start[s], seen, error) != PIM_OK)
            return pim_fail_in(error, "sets[%zu]", s);
    }
    return PIM_OK;
}

enum pim_status pim_sharing_read(const json_t *root, struct pim_sharing *sharing, struct pim_error *error)
{
    *sharing = (struct pim_sharing){0};
    if (!json_is_object(root))
        return pim_fail(error, PIM_BAD_INPUT, "the case is not an object");
    const json_t *sets = json_object_get(root, "sets"), *weights = json_object_get(root, "weights");
    int64_t rows = 0, columns = 0;
    size_t count = 0, members = 0;
    if (read_integer(json_object_get(root, "rows"), "rows", 1, PIM_SHARING_SIDE, &rows, error) != PIM_OK ||
        read_integer(json_object_get(root, "cols"), "cols", 1, PIM_SHARING_SIDE, &columns, error) != PIM_OK ||
        count_members(sets, &count, &members, error) != PIM_OK)
        return error->status;
    if (weights && (!json_is_array(weights) || json_array_size(weights) != count))
        return pim_fail(error, PIM_BAD_INPUT, "weights is not a list of %zu integers, one for each set",
                        count);
    sharing->rows = (uint32_t)rows;
    sharing->columns = (uint32_t)columns;
    sharing->set_count = count;
    sharing->start = calloc(count + 1, sizeof *sharing->start);
    sharing->node = calloc(members, sizeof *sharing->node);
    sharing->weight = calloc(count, sizeof *sharing->weight);
    unsigned char *seen = calloc(sharing_nodes(sharing), 1);
    enum pim_status status = PIM_OK;
    if (!sharing->start || !sharing->node || !sharing->weight || !seen)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for %zu sharing sets", count);
    else
        status = read_sets(sets, weights, sharing, seen, error);
    free(seen);
    if (status != PIM_OK)
        pim_sharing_terminate(sharing);
    return status;
}

void pim_sharing_terminate(struct pim_sharing *sharing)
{
    free(sharing->start);
    free(sharing->node);
    free(sharing->weight);
    *sharing = (struct pim_sharing){0};
}

void pim_cycles_terminate(struct pim_cycles *cycles)
{
    free(cycles->order);
    *cycles = (struct pim_cycles){0};
}

/* --- routes --- */

uint32_t sharing_route(const struct pim_sharing *sharing, uint32_t a, uint32_t b, uint32_t *links)
{
    uint32_t columns = sharing->columns, count = 0;
    uint32_t row = a / columns, column = a % columns, to_row = b / columns, to_column = b % columns;
    for (; column < to_column; column++)
        links[count++] = (row * columns + column) * LINK_DIRECTIONS + LINK_EAST;
    for (; column > to_column; column--)
        links[count++] = (row * columns + column) * LINK_DIRECTIONS + LINK_WEST;
    for (; row < to_row; row++)
        links[count++] = (row * columns + column) * LINK_DIRECTIONS + LINK_SOUTH;
    for (; row > to_row; row--)
        links[count++] = (row * columns + column) * LINK_DIRECTIONS + LINK_NORTH;
    return count;
}

uint64_t sharing_links(const struct pim_sharing *sharing)
{
    uint64_t rows = sharing->rows, columns = sharing->columns;
    return 2 * (rows * (columns - 1) + columns * (rows - 1));
}

void pim_cycles_evaluate(const struct pim_sharing *sharing, const uint32_t *order, uint64_t *max_load,
                         uint64_t *hops)
{
    uint64_t load[PIM_SHARING_SIDE * PIM_SHARING_SIDE * LINK_DIRECTIONS] = {0};
    uint32_t links[2 * PIM_SHARING_SIDE];
    *max_load = *hops = 0;
    for (size_t s = 0; s < sharing->set_count; s++) {
        size_t first = sharing->start[s], count = sharing->start[s + 1] - first;
        for (size_t i = 0; i < count; i++) {
            uint32_t from = sharing->node[first + order[first + i]];
            uint32_t to = sharing->node[first + order[first + (i + 1) % count]];
            uint32_t length = sharing_route(sharing, from, to, links);
            *hops += sharing->weight[s] * length;
            for (uint32_t l = 0; l < length; l++) {
                load[links[l]] += sharing->weight[s];
                *max_load = load[links[l]] > *max_load ? load[links[l]] : *max_load;
            }
        }
    }
}

enum pim_status pim_cycles_check(const struct pim_sharing *sharing, const uint32_t *order,
                                 struct pim_error *error)
{
    for (size_t s = 0; s < sharing->set_count; s++) {
        size_t first = sharing->start[s], count = sharing->start[s + 1] - first;
        unsigned char seen[PIM_SHARING_SIDE * PIM_SHARING_SIDE] = {0};
        for (size_t i = 0; i < count; i++) {
            uint32_t member = order[first + i];
            if (member >= count || seen[member])
                return pim_fail(error, PIM_BAD_INPUT,
                                "cycles[%zu]: member %" PRIu32
                                " stands twice or is none of the %zu of the set",
                                s, member, count);
            seen[member] = 1;
        }
    }
    return PIM_OK;
}

bool sharing_alike(const struct pim_sharing *sharing, size_t a, size_t b)
{
    size_t n = sharing->start[a + 1] - sharing->start[a];
    const uint32_t *x = sharing->node + sharing->start[a], *y = sharing->node + sharing->start[b];
    uint32_t columns = sharing->columns;
    if (n != sharing->start[b + 1] - sharing->start[b])
        return false;
    for (size_t i = 1; i < n; i++) {
        if (x[i] / columns - x[0] / columns != y[i] / columns - y[0] / columns ||
            x[i] % columns - x[0] % columns != y[i] % columns - y[0] % columns)
            return false;
    }
    return true;
}

const char *pim_cycles_proof_name(enum pim_cycles_proof proof)
{
    static const char *const names[] = {"trivial", "count", "rectangle", "tours", "unsat"};
    return names[proof];
}
