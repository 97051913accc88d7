#include "models/conflict/table.h"

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
