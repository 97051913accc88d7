/* Label-setting dynamic programming; see labels.h. */
#include "mappers/search/labels.h"

#include "sim/arena.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define SUM_MOST (UINT64_MAX / 2)

struct label {
    uint64_t cost, resource[PIM_LABEL_RESOURCES];
    uint32_t parent, arc;
    uint32_t next; /* of the same node */
};

struct run {
    const struct pim_label_arc *arcs;
    const uint64_t *limit;
    struct label *labels;
    size_t room;
    uint32_t count;
    uint32_t *last_of; /* by node: its label that was made last */
    uint32_t *first_arc, *arc_of;
    struct label *sorted; /* room for the labels of a node */
    size_t sorted_room;
};

static int compare(const void *left, const void *right)
{
    const struct label *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    for (unsigned i = 0; i < PIM_LABEL_RESOURCES; i++)
        if (a->resource[i] != b->resource[i])
            return a->resource[i] < b->resource[i] ? -1 : 1;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return a->arc < b->arc ? -1 : a->arc > b->arc;
}

static bool beats(const struct label *a, const struct label *b)
{
    bool not_above = true;
    for (unsigned i = 0; i < PIM_LABEL_RESOURCES; i++)
        not_above = not_above && a->resource[i] <= b->resource[i];
    return not_above && a->cost <= b->cost;
}

static enum pim_status store(struct run *run, uint32_t node, struct label label, struct pim_error *error)
{
    if (run->count == PIM_LABELS_MOST)
        return pim_fail(error, PIM_BAD_INPUT, "more than %d labels", PIM_LABELS_MOST);
    struct label *grown =
        pim_array_grow(run->labels, &run->room, (size_t)run->count + 1, sizeof *run->labels);
    if (!grown)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " labels", run->count);
    run->labels = grown;
    label.next = run->last_of[node];
    run->labels[run->count] = label;
    run->last_of[node] = run->count++;
    return PIM_OK;
}

/* The label at the other end of an arc, unless it breaks a limit. */
static enum pim_status extend(struct run *run, uint32_t from, uint32_t arc, struct pim_error *error)
{
    const struct pim_label_arc *way = &run->arcs[arc];
    struct label label = run->labels[from];
    if (way->cost > SUM_MOST - label.cost)
        return pim_fail(error, PIM_BAD_INPUT, "arc %" PRIu32 ": the cost of a path is beyond %" PRIu64, arc,
                        SUM_MOST);
    label.cost += way->cost;
    for (unsigned i = 0; i < PIM_LABEL_RESOURCES; i++) {
        if (way->resource[i] > SUM_MOST - label.resource[i])
            return pim_fail(error, PIM_BAD_INPUT, "arc %" PRIu32 ": a resource of a path is beyond %" PRIu64,
                            arc, SUM_MOST);
        label.resource[i] += way->resource[i];
        if (label.resource[i] > run->limit[i])
            return PIM_OK;
    }
    label.parent = from;
    label.arc = arc;
    return store(run, way->to, label, error);
}

/* Gathers the labels of a node that no other one beats, in order; *kept says how many. */
static enum pim_status settle(struct run *run, uint32_t node, uint32_t *kept, struct pim_error *error)
{
    uint32_t count = 0;
    *kept = 0;
    for (uint32_t i = run->last_of[node]; i != NONE; i = run->labels[i].next)
        count++;
    struct label *grown =
        pim_array_grow(run->sorted, &run->sorted_room, (size_t)count + 1, sizeof *run->sorted);
    if (!grown)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " labels", count);
    run->sorted = grown;
    count = 0;
    for (uint32_t i = run->last_of[node]; i != NONE; i = run->labels[i].next) {
        run->sorted[count] = run->labels[i];
        run->sorted[count++].next = i; /* its place */
    }
    if (count > 0)
        qsort(run->sorted, count, sizeof *run->sorted, compare);
    for (uint32_t i = 0; i < count; i++) {
        bool beaten = false;
        for (uint32_t k = 0; k < *kept && !beaten; k++)
            beaten = beats(&run->sorted[k], &run->sorted[i]);
        if (!beaten)
            run->sorted[(*kept)++] = run->sorted[i];
    }
    return PIM_OK;
}

static enum pim_status index_arcs(struct run *run, uint32_t nodes, uint32_t count, struct pim_error *error)
{
    run->first_arc = calloc((size_t)nodes + 2, sizeof *run->first_arc);
    run->arc_of = calloc((size_t)count + 1, sizeof *run->arc_of);
    run->last_of = calloc((size_t)nodes + 1, sizeof *run->last_of);
    if (!run->first_arc || !run->arc_of || !run->last_of)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a graph of %" PRIu32 " nodes", nodes);
    memset(run->last_of, 0xff, nodes * sizeof *run->last_of);
    for (uint32_t a = 0; a < count; a++) {
        if (run->arcs[a].from >= run->arcs[a].to || run->arcs[a].to >= nodes)
            return pim_fail(error, PIM_BAD_INPUT,
                            "arc %" PRIu32 " leads from node %" PRIu32 " to %" PRIu32
                            ": it must lead upwards, to one of %" PRIu32 " nodes",
                            a, run->arcs[a].from, run->arcs[a].to, nodes);
        run->first_arc[run->arcs[a].from + 2]++;
    }
    for (uint32_t n = 2; n <= nodes + 1; n++)
        run->first_arc[n] += run->first_arc[n - 1];
    for (uint32_t a = 0; a < count; a++)
        run->arc_of[run->first_arc[run->arcs[a].from + 1]++] = a;
    return PIM_OK;
}

static enum pim_status read_path(const struct run *run, const struct label *label,
                                 struct pim_label_path *path, struct pim_error *error)
{
    path->found = true;
    path->cost = label->cost;
    memcpy(path->resource, label->resource, sizeof path->resource);
    for (const struct label *at = label; at->parent != NONE; at = &run->labels[at->parent])
        path->count++;
    path->arcs = calloc((size_t)path->count + 1, sizeof *path->arcs);
    if (!path->arcs)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a path of %" PRIu32 " arcs", path->count);
    uint32_t place = path->count;
    for (const struct label *at = label; at->parent != NONE; at = &run->labels[at->parent])
        path->arcs[--place] = at->arc;
    return PIM_OK;
}

static enum pim_status work(struct run *run, uint32_t nodes, struct pim_label_path *path,
                            struct pim_error *error)
{
    enum pim_status status = store(run, 0, (struct label){.parent = NONE, .arc = NONE}, error);
    for (uint32_t n = 0; n < nodes && status == PIM_OK; n++) {
        uint32_t kept;
        status = settle(run, n, &kept, error);
        if (status == PIM_OK && n == nodes - 1 && kept > 0)
            return read_path(run, &run->sorted[0], path, error);
        for (uint32_t k = 0; k < kept && status == PIM_OK; k++)
            for (uint32_t i = run->first_arc[n]; i < run->first_arc[n + 1] && status == PIM_OK; i++)
                status = extend(run, run->sorted[k].next, run->arc_of[i], error);
    }
    return status;
}

enum pim_status pim_label_path(uint32_t nodes, const struct pim_label_arc *arcs, uint32_t count,
                               const uint64_t limit[PIM_LABEL_RESOURCES], struct pim_label_path *path,
                               struct pim_error *error)
{
    struct run run = {.arcs = arcs, .limit = limit};
    *path = (struct pim_label_path){0};
    if (nodes == 0 || nodes > UINT32_MAX - 2)
        return pim_fail(error, PIM_BAD_INPUT, "a graph of %" PRIu32 " nodes", nodes);
    enum pim_status status = index_arcs(&run, nodes, count, error);
    if (status == PIM_OK)
        status = work(&run, nodes, path, error);
    path->labels = run.count;
    free(run.labels);
    free(run.sorted);
    free(run.first_arc);
    free(run.arc_of);
    free(run.last_of);
    return status;
}
