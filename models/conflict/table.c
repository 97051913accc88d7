/* Behaviour tables: making them, and making them ready for execution; see table.h and internal.h. */
#include "models/conflict/internal.h"

#include "sim/arena.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum pim_status pim_behaviour_initialize(struct pim_behaviour *behaviour,
                                         const struct pim_conflict_mesh *mesh, struct pim_error *error)
{
    *behaviour = (struct pim_behaviour){.mesh = *mesh, .made_end_ns = (double)NAN};
    behaviour->router = calloc((size_t)pim_conflict_routers(mesh) + 1, sizeof *behaviour->router);
    return behaviour->router
               ? PIM_OK
               : pim_fail(error, PIM_NO_MEMORY, "out of memory for behaviour tables of %" PRIu32 " routers",
                          pim_conflict_routers(mesh));
}

void pim_behaviour_terminate(struct pim_behaviour *behaviour)
{
    for (uint32_t r = 0; behaviour->router && r < pim_conflict_routers(&behaviour->mesh); r++)
        free(behaviour->router[r].operation);
    free(behaviour->router);
    *behaviour = (struct pim_behaviour){.router = NULL};
}

static enum pim_status add(struct pim_behaviour *behaviour, uint32_t router, struct pim_operation operation,
                           struct pim_error *error)
{
    struct pim_operation_list *list = &behaviour->router[router];
    struct pim_operation *grown =
        pim_array_grow(list->operation, &list->room, list->count + 1, sizeof *grown);
    if (!grown)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the behaviour table of router %" PRIu32,
                        router);
    list->operation = grown;
    list->operation[list->count++] = operation;
    return PIM_OK;
}

enum pim_status pim_behaviour_append(struct pim_behaviour *behaviour, uint32_t task, const uint32_t *links,
                                     uint32_t hops, struct pim_error *error)
{
    uint32_t router = links[0] / PIM_DIRECTIONS;
    unsigned from = PIM_PORT_PE;
    for (uint32_t i = 0; i < hops; i++) {
        unsigned to = links[i] % PIM_DIRECTIONS;
        if (add(behaviour, router, (struct pim_operation){task, (uint8_t)from, (uint8_t)to}, error) != PIM_OK)
            return error->status;
        router = pim_conflict_neighbour(&behaviour->mesh, router, to);
        from = pim_conflict_opposite(to);
    }
    return add(behaviour, router, (struct pim_operation){task, (uint8_t)from, PIM_PORT_PE}, error);
}

size_t pim_behaviour_operations(const struct pim_behaviour *behaviour)
{
    size_t total = 0;
    for (uint32_t r = 0; r < pim_conflict_routers(&behaviour->mesh); r++)
        total += behaviour->router[r].count;
    return total;
}

size_t pim_behaviour_longest(const struct pim_behaviour *behaviour)
{
    size_t longest = 0;
    for (uint32_t r = 0; r < pim_conflict_routers(&behaviour->mesh); r++)
        longest = behaviour->router[r].count > longest ? behaviour->router[r].count : longest;
    return longest;
}

/* Entries that the rows of equal operations take with counts of up to 2^width; *longest: of the rows. */
static uint64_t entries(const struct pim_behaviour *behaviour, unsigned width, size_t *longest)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < pim_conflict_routers(&behaviour->mesh); r++) {
        const struct pim_operation_list *list = &behaviour->router[r];
        size_t row = 0;
        for (size_t i = 0; i < list->count; i++) {
            bool same = i > 0 && list->operation[i].from == list->operation[i - 1].from &&
                        list->operation[i].to == list->operation[i - 1].to;
            row = same ? row + 1 : 1;
            count += (row - 1) % ((size_t)1 << width) == 0;
            *longest = row > *longest ? row : *longest;
        }
    }
    return count;
}

struct pim_behaviour_size pim_behaviour_measure(const struct pim_behaviour *behaviour)
{
    enum { OPERATION_BITS = 5, WIDEST = 24 };
    struct pim_behaviour_size size = {.operations = pim_behaviour_operations(behaviour),
                                      .longest_list = pim_behaviour_longest(behaviour)};
    size.bits = size.coded_bits = (uint64_t)size.operations * OPERATION_BITS;
    for (unsigned width = 1; width <= WIDEST; width++) {
        uint64_t bits = entries(behaviour, width, &size.longest_row) * (OPERATION_BITS + width);
        if (bits < size.coded_bits) {
            size.coded_bits = bits;
            size.count_bits = width;
        }
    }
    return size;
}

/* --- plans --- */

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
                        "behaviour tables are for a mesh of %" PRIu32 " x %" PRIu32 " routers, not %" PRIu32
                        " x %" PRIu32,
                        table->mesh.width, table->mesh.height, replay->options->mesh.width,
                        replay->options->mesh.height);
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
