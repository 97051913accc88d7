#include "mappers/overlapim/analysis/tiles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pim_tiles_initialize(struct pim_component_tiles *tiles, const struct pim_producer *producer,
                          const struct pim_link *link, const struct pim_schedule *schedule)
{
    *tiles = (struct pim_component_tiles){
        .active = true, .producer = producer, .link = link, .schedule = schedule};
}

void pim_tiles_terminate(struct pim_component_tiles *tiles)
{
    for (unsigned need = 0; need < PIM_NEEDS; need++)
        free(tiles->range[need]);
    memset(tiles, 0, sizeof *tiles);
}

enum pim_status pim_tiles_open(struct pim_component_tiles *tiles, enum pim_need_axis need, unsigned component,
                               uint64_t cells, struct pim_error *error)
{
    tiles->component[need] = component;
    tiles->cells[need] = cells;
    tiles->range[need] = malloc(cells * sizeof *tiles->range[need]);
    if (!tiles->range[need])
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the needs of %" PRIu64 " tiles", cells);
    for (uint64_t cell = 0; cell < cells; cell++)
        tiles->range[need][cell] = (struct pim_interval){0, -1};
    return PIM_OK;
}

void pim_tiles_put(struct pim_component_tiles *tiles, enum pim_need_axis need, uint64_t cell,
                   struct pim_interval range)
{
    tiles->range[need][cell] = range;
}

/* An array of [outer][middle][inner] times. */
struct block {
    uint64_t outer, middle, inner;
    uint64_t *time;
};

static enum pim_status allocate(struct block *block, struct pim_error *error)
{
    uint64_t limit = PIM_OVERLAP_EXPLICIT;
    if (block->outer > limit || block->middle > limit || block->inner > limit ||
        block->outer * block->middle > limit || block->outer * block->middle * block->inner > limit)
        return pim_fail(error, PIM_BAD_INPUT,
                        "behind a transformed layer: more than %" PRIu64 " different needs", limit);
    /* One more, so that it is never an allocation of size 0. */
    block->time = calloc(block->outer * block->middle * block->inner + 1, sizeof *block->time);
    return block->time ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for a table of needs");
}

/* The first and the last tile that an interval touches; nothing when it is empty. */
static bool touched(struct pim_interval range, uint32_t extent, uint64_t *first, uint64_t *last)
{
    if (pim_range_empty(range))
        return false;
    *first = pim_axis_tile(extent, range.first);
    *last = pim_axis_tile(extent, range.last);
    return true;
}

/* Replaces the middle dimension, tiles, by cells: each the maximum over the tiles it touches. */
static enum pim_status reduce(struct block *from, const struct pim_interval *ranges, uint64_t cells,
                              uint32_t extent, struct pim_error *error)
{
    struct block to = {.outer = from->outer, .middle = cells, .inner = from->inner};
    if (allocate(&to, error) != PIM_OK)
        return error->status;
    for (uint64_t outer = 0; outer < to.outer; outer++) {
        for (uint64_t cell = 0; cell < cells; cell++) {
            uint64_t first = 0, last = from->middle - 1;
            if (ranges && !touched(ranges[cell], extent, &first, &last))
                continue;
            uint64_t *out = &to.time[(outer * cells + cell) * to.inner];
            for (uint64_t tile = first; tile <= last; tile++) {
                const uint64_t *in = &from->time[(outer * from->middle + tile) * from->inner];
                for (uint64_t i = 0; i < to.inner; i++)
                    out[i] = in[i] > out[i] ? in[i] : out[i];
            }
        }
    }
    free(from->time);
    *from = to;
    return PIM_OK;
}

/* Tiles of N where the cells have chosen along K already, and both needs are of one component: every cell
 * takes its own tiles. `inner` is what lies within a cell of K. */
static enum pim_status reduce_own(struct block *from, const struct pim_interval *ranges, uint64_t cells,
                                  uint64_t inner, uint32_t extent, struct pim_error *error)
{
    struct block to = {.outer = 1, .middle = cells, .inner = inner};
    if (allocate(&to, error) != PIM_OK)
        return error->status;
    for (uint64_t cell = 0; cell < cells; cell++) {
        uint64_t first = 0, last = 0, *out = &to.time[cell * inner];
        if (!touched(ranges[cell], extent, &first, &last))
            continue;
        for (uint64_t tile = first; tile <= last; tile++) {
            const uint64_t *in = &from->time[(tile * cells + cell) * inner];
            for (uint64_t i = 0; i < inner; i++)
                out[i] = in[i] > out[i] ? in[i] : out[i];
        }
    }
    free(from->time);
    *from = to;
    return PIM_OK;
}

static uint64_t box_end(const struct pim_component_tiles *tiles, uint64_t batch,
                        const struct pim_flat_box *box)
{
    const uint32_t *count = tiles->schedule->tiles, *extent = tiles->producer->strides->extent;
    uint64_t first[3] = {0}, last[3] = {0}, most = 0;
    (void)touched(box->channel, extent[PIM_K], &first[0], &last[0]);
    (void)touched(box->row, extent[PIM_P], &first[1], &last[1]);
    (void)touched(box->column, extent[PIM_Q], &first[2], &last[2]);
    for (uint64_t k = first[0]; k <= last[0]; k++) {
        for (uint64_t p = first[1]; p <= last[1]; p++) {
            const uint64_t *end =
                &tiles->schedule->tile_end[((batch * count[1] + k) * count[2] + p) * count[3]];
            for (uint64_t q = first[2]; q <= last[2]; q++)
                most = end[q] > most ? end[q] : most;
        }
    }
    return most;
}

/* [N tiles][flat cells], for links that flatten. */
static enum pim_status flatten(const struct pim_component_tiles *tiles, struct block *block,
                               struct pim_error *error)
{
    *block =
        (struct block){.outer = 1, .middle = tiles->schedule->tiles[0], .inner = tiles->cells[PIM_NEED_FLAT]};
    if (allocate(block, error) != PIM_OK)
        return error->status;
    for (uint64_t cell = 0; cell < block->inner; cell++) {
        struct pim_interval range = tiles->range[PIM_NEED_FLAT][cell];
        struct pim_flat_box boxes[PIM_FLAT_BOXES];
        unsigned count =
            pim_range_empty(range) ? 0 : pim_producer_unflatten(tiles->producer, tiles->link, range, boxes);
        for (uint64_t batch = 0; batch < block->middle; batch++) {
            uint64_t *out = &block->time[batch * block->inner + cell];
            for (unsigned b = 0; b < count; b++) {
                uint64_t end = box_end(tiles, batch, &boxes[b]);
                *out = end > *out ? end : *out;
            }
        }
    }
    return PIM_OK;
}

/* Terms of a cell: its place in every dimension of the table that its component chose. */
static void index_terms(const struct pim_component_tiles *tiles, struct pim_overlap *overlap, uint32_t link,
                        const uint64_t stride[PIM_NEEDS])
{
    for (unsigned need = 0; need < PIM_NEEDS; need++) {
        if (!tiles->range[need])
            continue;
        int64_t *term = overlap->component[tiles->component[need]].term[link];
        for (uint64_t cell = 0; cell < tiles->cells[need]; cell++) {
            if (term[cell] >= 0)
                term[cell] += (int64_t)(cell * stride[need]);
        }
    }
}

enum pim_status pim_tiles_finish(struct pim_component_tiles *tiles, struct pim_overlap *overlap,
                                 uint32_t link, struct pim_error *error)
{
    static const unsigned order[] = {PIM_NEED_Q, PIM_NEED_P, PIM_NEED_K, PIM_NEED_N};
    const uint32_t *count = tiles->schedule->tiles;
    uint64_t stride[PIM_NEEDS] = {0}, inner = 1;
    struct block block = {.outer = (uint64_t)count[0] * count[1] * count[2], .middle = count[3], .inner = 1};
    unsigned from = 0;
    if (tiles->link->flatten) {
        if (flatten(tiles, &block, error) != PIM_OK)
            return error->status;
        stride[PIM_NEED_FLAT] = 1;
        inner = block.inner;
        from = 3;
    } else {
        if (allocate(&block, error) != PIM_OK)
            return error->status;
        memcpy(block.time, tiles->schedule->tile_end, block.outer * block.middle * sizeof *block.time);
    }
    for (unsigned i = from; i < 4; i++) {
        unsigned need = order[i];
        uint64_t cells = tiles->range[need] ? tiles->cells[need] : 1;
        block.outer /= i == from ? 1 : count[need];
        block.middle = count[need];
        block.inner = inner;
        if (need == PIM_NEED_N && tiles->range[need] && tiles->range[PIM_NEED_K] &&
            tiles->component[need] == tiles->component[PIM_NEED_K]) {
            if (reduce_own(&block, tiles->range[need], cells, stride[PIM_NEED_K],
                           tiles->producer->strides->extent[PIM_N], error) != PIM_OK) {
                free(block.time);
                return error->status;
            }
            continue; /* the term of K is that of both */
        }
        if (reduce(&block, tiles->range[need], cells,
                   tiles->producer->strides->extent[pim_need_dimension((enum pim_need_axis)need)],
                   error) != PIM_OK) {
            free(block.time);
            return error->status;
        }
        stride[need] = inner;
        inner *= cells;
    }
    overlap->source[link].table = overlap->source[link].owned = block.time;
    index_terms(tiles, overlap, link, stride);
    return PIM_OK;
}
