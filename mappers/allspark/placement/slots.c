/* The sub-arrays of the temporal layers, in the order in which a layer is filled. */
#include "mappers/allspark/allspark.h"
#include "mappers/allspark/placement/placement.h"

#include <inttypes.h>
#include <stdlib.h>

uint64_t pim_placement_capacity(uint32_t height, uint32_t width, const struct pim_placement_layer *layer)
{
    uint64_t rows = (uint64_t)layer->u * layer->stacked;
    if (rows == 0 || rows > UINT32_MAX)
        return 0;
    return (uint64_t)pim_allspark_layout_count(height, width, (uint32_t)rows, layer->v) * layer->stacked;
}

/* The first branches of one layer; false when memory is out. */
static bool lay_out(uint32_t height, uint32_t width, const struct pim_placement_layer *layer, uint32_t index,
                    struct pim_placement_slot *slots)
{
    struct pim_allspark_layout layout;
    if (!pim_allspark_layout(height, width, layer->u * layer->stacked, layer->v, &layout))
        return false;
    for (uint32_t branch = 0; branch < layer->branches; branch++) {
        const struct pim_allspark_tile *tile = &layout.tiles[branch / layer->stacked];
        uint32_t down = branch % layer->stacked * layer->u;
        slots[branch] = (struct pim_placement_slot){.layer = index,
                                                    .x = tile->x + (tile->turned ? down : 0),
                                                    .y = tile->y + (tile->turned ? 0 : down)};
    }
    free(layout.tiles);
    return true;
}

enum pim_status pim_placement_slots(uint32_t height, uint32_t width, const struct pim_placement_layer *layers,
                                    uint32_t count, struct pim_placement_slot **slots, uint32_t *total,
                                    struct pim_error *error)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t capacity = pim_placement_capacity(height, width, &layers[i]);
        if (layers[i].branches > capacity)
            return pim_fail(error, PIM_BAD_INPUT,
                            "temporal layer %" PRIu32 ": %" PRIu32 " branches on sub-arrays of %" PRIu32
                            " x %" PRIu32 ", of which an array of %" PRIu32 " x %" PRIu32 " has %" PRIu64,
                            i, layers[i].branches, layers[i].u, layers[i].v, height, width, capacity);
        sum += layers[i].branches;
    }
    if (sum > UINT32_MAX)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu64 " branches are more than 2^32 - 1", sum);
    *slots = calloc((size_t)sum + 1, sizeof **slots);
    bool made = *slots != NULL;
    *total = 0;
    for (uint32_t i = 0; i < count && made; i++) {
        made = lay_out(height, width, &layers[i], i, *slots + *total);
        *total += layers[i].branches;
    }
    if (made)
        return PIM_OK;
    free(*slots);
    *slots = NULL;
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for the sub-arrays of %" PRIu64 " branches", sum);
}
