/* Shortest tours, each set alone: the schedule that NicePIM's is held against. */
#include "mappers/nicepim/cycles/internal.h"

#include <stdlib.h>
#include <string.h>

enum { TOUR_STEPS = 200000 };

/* The shortest cycle of one set, from the order that is there; links are free. */
static enum pim_status shortest_tour(const struct pim_sharing *sharing, size_t set, uint32_t *order,
                                     const struct pim_cycles_options *options, struct pim_error *error)
{
    size_t start[2] = {0, sharing->start[set + 1] - sharing->start[set]};
    uint64_t weight = 1, tour;
    struct pim_sharing alone = {.rows = sharing->rows,
                                .columns = sharing->columns,
                                .set_count = 1,
                                .start = start,
                                .node = sharing->node + sharing->start[set],
                                .weight = &weight};
    bool reached;
    if (sharing_tours(&alone, &tour, error) != PIM_OK)
        return error->status;
    struct anneal anneal = {.sharing = &alone,
                            .asked = options,
                            .seed = options->seed,
                            .steps = TOUR_STEPS,
                            .load = PIM_SHARING_MEMBERS,
                            .hops_bound = tour,
                            .hot = 3,
                            .cold = 0.1};
    return anneal_run(&anneal, order + sharing->start[set], &reached, error);
}

enum pim_status pim_cycles_shortest_tours(const struct pim_sharing *sharing,
                                          const struct pim_cycles_options *options, struct pim_cycles *cycles,
                                          struct pim_error *error)
{
    size_t members = sharing->start[sharing->set_count];
    *cycles = (struct pim_cycles){.order = calloc(members, sizeof *cycles->order)};
    if (!cycles->order)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the cycles of %zu members", members);
    enum pim_status status = PIM_OK;
    for (size_t s = 0; s < sharing->set_count && status == PIM_OK; s++) {
        size_t first = sharing->start[s], count = sharing->start[s + 1] - first, model = 0;
        while (model < s && !sharing_alike(sharing, model, s))
            model++;
        for (size_t i = 0; i < count; i++)
            cycles->order[first + i] = model < s ? cycles->order[sharing->start[model] + i] : (uint32_t)i;
        if (model == s)
            status = shortest_tour(sharing, s, cycles->order, options, error);
    }
    if (status == PIM_OK)
        pim_cycles_evaluate(sharing, cycles->order, &cycles->max_load, &cycles->hops);
    else
        pim_cycles_terminate(cycles);
    return status;
}
