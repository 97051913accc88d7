/* Behaviour tables made ready for execution: which operation a packet meets next. */
#include "models/conflict/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An operation by who meets it: packets of a task that come into a router from a side meet its operations in
 * their order. */
struct meeting {
    uint32_t router, task, from, operation;
};

struct building {
    struct conflict_plan *plan;
    const struct conflict_replay *replay;
    struct meeting *meeting; /* sorted */
    uint32_t *taken;         /* by place of the first meeting of a group: how many of the group are taken */
    uint32_t *visited;       /* by router: number of the packet that was there last, from 1 */
    uint32_t operations, packets, used;
};

static int compare_groups(const struct meeting *a, const struct meeting *b)
{
    if (a->router != b->router)
        return a->router < b->router ? -1 : 1;
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

static int compare_meetings(const void *a, const void *b)
{
    const struct meeting *first = a, *second = b;
    int order = compare_groups(first, second);
    return order != 0                             ? order
           : first->operation < second->operation ? -1
                                                  : first->operation > second->operation;
}

/* The next operation that a packet meets; CONFLICT_NONE when the table has none left. */
static uint32_t meet(struct building *building, uint32_t router, uint32_t task, unsigned from)
{
    struct meeting key = {.router = router, .task = task, .from = from};
    uint32_t low = 0, high = building->operations;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_groups(&building->meeting[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == building->operations)
        return CONFLICT_NONE;
    uint32_t place = low + building->taken[low];
    if (place >= building->operations || compare_groups(&building->meeting[place], &key) != 0)
        return CONFLICT_NONE;
    building->taken[low]++;
    building->used++;
    return building->meeting[place].operation;
}

static enum pim_status refuse(uint32_t e, uint32_t packet, uint32_t router, const char *what,
                              struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT,
                    "behaviour tables: packet %" PRIu32 " of edge %" PRIu32 ", in router %" PRIu32 ": %s",
                    packet, e, router, what);
}

/* Follows a packet from its source through the tables. */
static enum pim_status follow(struct building *building, uint32_t e, uint32_t packet, struct pim_error *error)
{
    const struct conflict_replay *replay = building->replay;
    struct conflict_plan *plan = building->plan;
    uint32_t router = replay->placement[replay->graph->edge[e].source];
    uint32_t target = replay->placement[replay->graph->edge[e].destination];
    uint32_t before = CONFLICT_NONE, depth = 0;
    unsigned from = PIM_PORT_PE;
    building->packets++;
    for (;;) {
        if (building->visited[router] == building->packets)
            return refuse(e, packet, router, "the tables lead it in a loop", error);
        building->visited[router] = building->packets;
        uint32_t at = meet(building, router, e, from);
        if (at == CONFLICT_NONE)
            return refuse(e, packet, router, "no operation takes it on: it never arrives", error);
        if (before == CONFLICT_NONE)
            plan->packet[plan->first_packet[e] + packet] = at;
        else
            plan->next[before] = at;
        plan->depth[at] = depth++;
        plan->number[at] = packet;
        before = at;
        unsigned to = plan->operation[at].to;
        if (to == PIM_PORT_PE)
            return router == target
                       ? PIM_OK
                       : refuse(e, packet, router, "it is delivered there, not at its destination", error);
        router = pim_conflict_neighbour(&replay->options->mesh, router, to);
        from = pim_conflict_opposite(to);
    }
}

static enum pim_status check_operation(const struct conflict_replay *replay, uint32_t router, size_t place,
                                       struct pim_operation operation, struct pim_error *error)
{
    const struct pim_conflict_mesh *mesh = &replay->options->mesh;
    bool link_in = operation.from == PIM_PORT_PE || pim_conflict_has_neighbour(mesh, router, operation.from);
    bool link_out = operation.to == PIM_PORT_PE || pim_conflict_has_neighbour(mesh, router, operation.to);
    if (operation.task >= replay->graph->edges)
        return pim_fail(error, PIM_BAD_INPUT,
                        "behaviour table of router %" PRIu32 " entry %zu: there is no edge %" PRIu32, router,
                        place, operation.task);
    if (operation.from >= PIM_PORTS || operation.to >= PIM_PORTS || operation.from == operation.to ||
        !link_in || !link_out)
        return pim_fail(error, PIM_BAD_INPUT,
                        "behaviour table of router %" PRIu32
                        " entry %zu: %u -> %u names no two links of that router",
                        router, place, operation.from, operation.to);
    return PIM_OK;
}

/* All operations in one array. */
static enum pim_status flatten(struct building *building, const struct pim_behaviour *table,
                               struct pim_error *error)
{
    struct conflict_plan *plan = building->plan;
    uint32_t routers = pim_conflict_routers(&table->mesh), at = 0;
    for (uint32_t r = 0; r < routers; r++) {
        plan->first[r] = at;
        for (size_t i = 0; i < table->router[r].count; i++, at++) {
            struct pim_operation operation = table->router[r].operation[i];
            if (check_operation(building->replay, r, i, operation, error) != PIM_OK)
                return error->status;
            plan->operation[at] = operation;
            plan->router[at] = r;
            plan->next[at] = CONFLICT_NONE;
            building->meeting[at] = (struct meeting){r, operation.task, operation.from, at};
        }
    }
    plan->first[routers] = at;
    if (at > 0)
        qsort(building->meeting, at, sizeof *building->meeting, compare_meetings);
    return PIM_OK;
}

static bool allocate(struct building *building, size_t operations, size_t packets, size_t routers)
{
    struct conflict_plan *plan = building->plan;
    plan->first = calloc(routers + 1, sizeof *plan->first);
    plan->counter = calloc(routers + 1, sizeof *plan->counter);
    plan->next = calloc(operations + 1, sizeof *plan->next);
    plan->router = calloc(operations + 1, sizeof *plan->router);
    plan->depth = calloc(operations + 1, sizeof *plan->depth);
    plan->operation = calloc(operations + 1, sizeof *plan->operation);
    plan->number = calloc(operations + 1, sizeof *plan->number);
    plan->packet = calloc(packets + 1, sizeof *plan->packet);
    plan->first_packet = calloc((size_t)building->replay->graph->edges + 1, sizeof *plan->first_packet);
    building->meeting = calloc(operations + 1, sizeof *building->meeting);
    building->taken = calloc(operations + 1, sizeof *building->taken);
    building->visited = calloc(routers + 1, sizeof *building->visited);
    return plan->first && plan->counter && plan->next && plan->router && plan->depth && plan->number &&
           plan->operation && plan->packet && plan->first_packet && building->meeting && building->taken &&
           building->visited;
}

static enum pim_status build(struct building *building, const struct pim_behaviour *table,
                             struct pim_error *error)
{
    const struct conflict_replay *replay = building->replay;
    size_t packets = 0;
    if (flatten(building, table, error) != PIM_OK)
        return error->status;
    for (uint32_t e = 0; e < replay->graph->edges; e++) {
        building->plan->first_packet[e] = packets;
        packets += replay->edge[e].total;
        for (uint32_t k = 0; k < replay->edge[e].total; k++) {
            if (follow(building, e, k, error) != PIM_OK)
                return error->status;
        }
    }
    if (building->used != building->operations)
        return pim_fail(error, PIM_BAD_INPUT,
                        "behaviour tables: %" PRIu32 " of %" PRIu32
                        " operations belong to no packet of this graph, "
                        "placement and number of images",
                        building->operations - building->used, building->operations);
    return PIM_OK;
}

enum pim_status conflict_plan_create(struct conflict_plan *plan, const struct conflict_replay *replay,
                                     struct pim_error *error)
{
    const struct pim_behaviour *table = replay->options->table;
    if (table->mesh.width != replay->options->mesh.width ||
        table->mesh.height != replay->options->mesh.height)
        return pim_fail(error, PIM_BAD_INPUT,
                        "behaviour tables are for a mesh of %" PRIu32 " rows x %" PRIu32
                        " columns, not of %" PRIu32 " x %" PRIu32,
                        table->mesh.height, table->mesh.width, replay->options->mesh.height,
                        replay->options->mesh.width);
    size_t operations = pim_behaviour_operations(table), packets = 0;
    for (uint32_t e = 0; e < replay->graph->edges; e++)
        packets += replay->edge[e].total;
    if (operations >= UINT32_MAX || packets >= UINT32_MAX)
        return pim_fail(error, PIM_BAD_INPUT,
                        "behaviour tables of %zu operations for %zu packets: allowed are below 2^32",
                        operations, packets);
    struct building building = {.plan = plan, .replay = replay, .operations = (uint32_t)operations};
    enum pim_status status =
        allocate(&building, operations, packets, pim_conflict_routers(&table->mesh))
            ? build(&building, table, error)
            : pim_fail(error, PIM_NO_MEMORY, "out of memory for behaviour tables of %zu operations",
                       operations);
    free(building.meeting);
    free(building.taken);
    free(building.visited);
    return status;
}

void conflict_plan_terminate(struct conflict_plan *plan)
{
    free(plan->first);
    free(plan->next);
    free(plan->router);
    free(plan->depth);
    free(plan->number);
    free(plan->operation);
    free(plan->packet);
    free(plan->first_packet);
    free(plan->counter);
    *plan = (struct conflict_plan){.first = NULL};
}
