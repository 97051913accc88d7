/* From a consumer and its links to components, cells and terms. */
#include "mappers/overlapim/analysis/overlap.h"

#include "mappers/overlapim/analysis/tiles.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Joins dimensions that a need reads together; `root` is the smallest of a component. */
static void join(unsigned root[PIM_DIMENSIONS], unsigned mask)
{
    unsigned least = PIM_DIMENSIONS;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        if (mask >> d & 1 && root[d] < least)
            least = root[d];
    }
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        unsigned old = root[d];
        if (!(mask >> d & 1) || old == least)
            continue;
        for (unsigned e = 0; e < PIM_DIMENSIONS; e++) {
            if (root[e] == old)
                root[e] = least;
        }
    }
}

static uint64_t cells_of(const struct pim_overlap_layer *layer, unsigned dimensions)
{
    uint64_t cells = 1;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        uint32_t extent = layer->strides.extent[d];
        if (dimensions >> d & 1)
            cells *= (layer->workload.size[d] + extent - 1) / extent;
    }
    return cells;
}

static void find_components(struct pim_overlap *overlap)
{
    const struct pim_overlap_layer *layer = overlap->consumer;
    unsigned root[PIM_DIMENSIONS], read = 0;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        root[d] = d;
    for (uint32_t j = 0; j < layer->links; j++) {
        for (unsigned need = 0; need < PIM_NEEDS; need++) {
            if (!pim_link_has(&layer->link[j], (enum pim_need_axis)need))
                continue;
            unsigned mask = pim_link_depends(&layer->link[j], &layer->workload, (enum pim_need_axis)need);
            join(root, mask);
            read |= mask;
        }
    }
    overlap->data_spaces = 1;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        if (root[d] != d)
            continue;
        struct pim_component *component = &overlap->component[overlap->components++];
        for (unsigned e = d; e < PIM_DIMENSIONS; e++)
            component->dimensions |= root[e] == d ? 1U << e : 0;
        component->free = (component->dimensions & read) == 0;
        component->cells = cells_of(layer, component->dimensions);
        overlap->data_spaces *= component->cells;
    }
}

/* Every step has a data space when the smallest element of the last temporal iterations exists. */
static bool is_regular(const struct pim_overlap_layer *layer)
{
    uint64_t least[PIM_DIMENSIONS] = {0};
    for (uint32_t i = 0; i < layer->nest.cut; i++) {
        const struct pim_nest_loop *loop = &layer->nest.loop[i];
        if (!loop->spatial)
            least[loop->dimension] += (loop->count - 1) * layer->strides.tile[i];
    }
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        if (least[d] >= layer->workload.size[d])
            return false;
    }
    return true;
}

/* Loops of a component as an odometer. */
struct odometer {
    uint32_t loops, loop[PIM_NEST_LOOPS], index[PIM_NEST_LOOPS];
};

static bool advance(struct odometer *odometer, const struct pim_nest *nest)
{
    for (uint32_t i = odometer->loops; i-- > 0;) {
        if (++odometer->index[i] < nest->loop[odometer->loop[i]].count)
            return true;
        odometer->index[i] = 0;
    }
    return false;
}

/* The box, step and bank at an odometer; false when the cell does not exist. */
static bool locate(const struct pim_overlap_layer *layer, const struct odometer *odometer,
                   unsigned dimensions, struct pim_interval box[PIM_DIMENSIONS], uint64_t *step,
                   uint64_t *bank)
{
    *step = *bank = 0;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        box[d] = (struct pim_interval){0, 0};
    for (uint32_t i = 0; i < odometer->loops; i++) {
        uint32_t loop = odometer->loop[i];
        uint64_t index = odometer->index[i];
        box[layer->nest.loop[loop].dimension].first += (int64_t)(index * layer->strides.tile[loop]);
        *step += index * layer->strides.time[loop];
        *bank += index * layer->strides.space[loop];
    }
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        if (!(dimensions >> d & 1))
            continue;
        int64_t last = (int64_t)layer->workload.size[d] - 1;
        box[d].last = box[d].first + layer->strides.extent[d] - 1;
        box[d].last = box[d].last < last ? box[d].last : last;
        if (pim_range_empty(box[d]))
            return false;
    }
    return true;
}

enum pim_status pim_component_make(const struct pim_overlap_layer *layer, struct pim_component *component,
                                   struct pim_component_visitor visitor, struct pim_error *error)
{
    if (component->step)
        return PIM_OK;
    if (component->cells > PIM_OVERLAP_EXPLICIT)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: %" PRIu64 " tiles along dimensions that are read together: at most %" PRIu64,
                        layer->name, component->cells, PIM_OVERLAP_EXPLICIT);
    component->step = malloc(2 * component->cells * sizeof *component->step);
    if (!component->step)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for %" PRIu64 " tiles", layer->name,
                        component->cells);
    component->bank = component->step + component->cells;
    struct odometer odometer = {0};
    for (uint32_t i = 0; i < layer->nest.cut; i++) {
        if (component->dimensions >> layer->nest.loop[i].dimension & 1)
            odometer.loop[odometer.loops++] = i;
    }
    uint64_t cell = 0;
    do {
        struct pim_interval box[PIM_DIMENSIONS];
        uint64_t step, bank;
        if (!locate(layer, &odometer, component->dimensions, box, &step, &bank))
            continue;
        component->step[cell] = step;
        component->bank[cell] = bank;
        if (visitor.visit)
            visitor.visit(visitor.context, cell, box);
        cell++;
    } while (advance(&odometer, &layer->nest));
    return PIM_OK;
}

/* What a visit of a component's cells fills in. */
struct filling {
    const struct pim_overlap *overlap;
    struct pim_component *component;
    const struct pim_producer *producers; /* by link */
    struct pim_component_tiles *tiles;    /* by link; entries of links with a table of tiles are in use */
};

static bool needed_here(const struct pim_link *link, const struct pim_workload *consumer, unsigned need,
                        unsigned dimensions)
{
    return pim_link_has(link, (enum pim_need_axis)need) &&
           (pim_link_depends(link, consumer, (enum pim_need_axis)need) & dimensions) != 0;
}

static void fill_cell(void *context, uint64_t cell, const struct pim_interval box[PIM_DIMENSIONS])
{
    struct filling *filling = context;
    const struct pim_overlap_layer *layer = filling->overlap->consumer;
    for (uint32_t j = 0; j < layer->links; j++) {
        const struct pim_link *link = &layer->link[j];
        int64_t term = 0;
        for (unsigned need = 0; need < PIM_NEEDS && term >= 0; need++) {
            if (!needed_here(link, &layer->workload, need, filling->component->dimensions))
                continue;
            struct pim_interval range = pim_link_range(link, filling->producers[j].workload, &layer->workload,
                                                       box, (enum pim_need_axis)need);
            if (pim_range_empty(range))
                term = -1;
            else if (filling->tiles[j].active)
                pim_tiles_put(&filling->tiles[j], (enum pim_need_axis)need, cell, range);
            else
                term +=
                    (int64_t)pim_producer_last(&filling->producers[j], link, (enum pim_need_axis)need, range);
        }
        filling->component->term[j][cell] = term;
    }
}

static enum pim_status make_component(const struct pim_overlap *overlap, struct pim_component *component,
                                      const struct pim_producer *producers, struct pim_component_tiles *tiles,
                                      struct pim_error *error)
{
    const struct pim_overlap_layer *layer = overlap->consumer;
    if (component->free)
        return PIM_OK;
    if (component->cells > PIM_OVERLAP_EXPLICIT)
        return pim_component_make(layer, component, (struct pim_component_visitor){NULL, NULL}, error);
    component->term = calloc(layer->links + 1, sizeof *component->term);
    if (!component->term)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory", layer->name);
    for (uint32_t j = 0; j < layer->links; j++) {
        component->term[j] = malloc(component->cells * sizeof **component->term);
        if (!component->term[j])
            return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for %" PRIu64 " tiles", layer->name,
                            component->cells);
        for (unsigned need = 0; tiles[j].active && need < PIM_NEEDS; need++) {
            if (needed_here(&layer->link[j], &layer->workload, need, component->dimensions) &&
                pim_tiles_open(&tiles[j], (enum pim_need_axis)need,
                               (unsigned)(component - overlap->component), component->cells, error) != PIM_OK)
                return error->status;
        }
    }
    struct filling filling = {overlap, component, producers, tiles};
    return pim_component_make(layer, component, (struct pim_component_visitor){fill_cell, &filling}, error);
}

static enum pim_status make_sources(struct pim_overlap *overlap, const struct pim_overlap_layer *layers,
                                    const struct pim_schedule *schedules, struct pim_producer *producers,
                                    struct pim_component_tiles *tiles, struct pim_error *error)
{
    const struct pim_overlap_layer *layer = overlap->consumer;
    for (uint32_t j = 0; j < layer->links; j++) {
        uint32_t index = layer->link[j].producer;
        const struct pim_overlap_layer *from = &layers[index];
        const struct pim_schedule *schedule = &schedules[index];
        pim_producer_initialize(&producers[j], &from->workload, &from->nest, &from->strides);
        overlap->source[j] = (struct pim_overlap_source){.table = schedule->step_end,
                                                         .latency = schedule->latency,
                                                         .tail = from->strides.tail,
                                                         .transfer = layer->link[j].transfer,
                                                         .head = layer->link[j].head,
                                                         .monotone = true};
        if (schedule->end > overlap->inputs_end)
            overlap->inputs_end = schedule->end;
        for (unsigned need = 0; need < PIM_NEEDS; need++) { /* the same for all data spaces */
            enum pim_need_axis which = (enum pim_need_axis)need;
            if (pim_link_has(&layer->link[j], which) &&
                pim_link_depends(&layer->link[j], &layer->workload, which) == 0)
                overlap->source[j].tail += pim_producer_last(
                    &producers[j], &layer->link[j], which,
                    pim_link_range(&layer->link[j], &from->workload, &layer->workload, NULL, which));
        }
        if (schedule->tile_end) {
            overlap->source[j].tail = 0;
            overlap->source[j].monotone = false;
            pim_tiles_initialize(&tiles[j], &producers[j], &layer->link[j], schedule);
        }
    }
    for (uint32_t c = 0; c < overlap->components; c++) {
        if (make_component(overlap, &overlap->component[c], producers, tiles, error) != PIM_OK)
            return error->status;
    }
    for (uint32_t j = 0; j < layer->links; j++) {
        if (tiles[j].active && pim_tiles_finish(&tiles[j], overlap, j, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

enum pim_status pim_overlap_initialize(struct pim_overlap *overlap, const struct pim_overlap_layer *layers,
                                       uint32_t consumer, const struct pim_schedule *schedules,
                                       struct pim_error *error)
{
    memset(overlap, 0, sizeof *overlap);
    const struct pim_overlap_layer *layer = overlap->consumer = &layers[consumer];
    overlap->links = layer->links;
    overlap->regular = is_regular(layer);
    find_components(overlap);
    overlap->source = calloc(layer->links + 1, sizeof *overlap->source);
    struct pim_producer *producers = calloc(layer->links + 1, sizeof *producers);
    struct pim_component_tiles *tiles = calloc(layer->links + 1, sizeof *tiles);
    enum pim_status status =
        overlap->source && producers && tiles
            ? make_sources(overlap, layers, schedules, producers, tiles, error)
            : pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for its producers", layer->name);
    for (uint32_t j = 0; tiles && j < layer->links; j++)
        pim_tiles_terminate(&tiles[j]);
    free(tiles);
    free(producers);
    return status;
}

void pim_overlap_terminate(struct pim_overlap *overlap)
{
    for (uint32_t c = 0; c < overlap->components; c++) {
        struct pim_component *component = &overlap->component[c];
        for (uint32_t j = 0; component->term && j < overlap->links; j++)
            free(component->term[j]);
        free(component->term);
        free(component->step);
    }
    for (uint32_t j = 0; overlap->source && j < overlap->links; j++)
        free(overlap->source[j].owned);
    free(overlap->source);
    memset(overlap, 0, sizeof *overlap);
}

uint64_t pim_overlap_time(const struct pim_overlap_source *source, int64_t key)
{
    if (key < 0)
        return 0;
    uint64_t step = (uint64_t)key + source->tail;
    uint64_t there = (source->table ? source->table[step] : (step + 1) * source->latency) + source->transfer;
    return there > source->head ? there - source->head : 0;
}
