/*
 * Windows of PRODUCT layers (kernels/kernels.h). A window needs a pixel of the first operand and all
 * pixels of its branch of the second; it brings tiles of the second together, multiplies and adds.
 */
#include "mappers/pimcomp/kernels/kernels.h"
#include "mappers/pimcomp/latency/latency.h"

#include <assert.h>

struct work {
    struct pim_ll *ll;
    const struct pim_ll_layer *layer;
    uint32_t core;
};

/* Rows of the second operand in a tile: at most an eighth of the local memory for it and what it is
 * multiplied in; a sixty-fourth when the schedule is tried again with small buffers. */
static uint32_t tile_rows(const struct pim_ll *ll, const struct pim_core_product *p)
{
    uint64_t row = (2 * (uint64_t)p->columns + 1) * PIM_CORE_ELEMENT_BYTES;
    uint64_t rows = ll->settings.capacity / (ll->settings.scratch ? 8 : 64) / row;
    rows = rows < p->inner ? rows : p->inner;
    return rows ? (uint32_t)rows : 1;
}

uint32_t pim_ll_product_bytes(const struct pim_ll *ll, uint32_t index)
{
    const struct pim_core_product *p = &ll->layer[index].core_layer->product;
    uint64_t bytes = tile_rows(ll, p) * (2 * (uint64_t)p->columns + 1) * PIM_CORE_ELEMENT_BYTES;
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* Channels [channel, channel + count) of the pixel at a position of a source go to `to`, elements `step`
 * apart. */
static void bring(struct work *w, uint32_t source, uint32_t position, uint32_t channel, uint32_t count,
                  uint32_t to, uint32_t step)
{
    const struct pim_ll_layer *layer = w->layer;
    for (uint32_t p = 0; p < layer->parts; p++) {
        const struct pim_ll_part *part = &layer->part[p];
        uint32_t end = part->offset + part->channels;
        uint32_t from = channel > part->offset ? channel : part->offset;
        uint32_t last = channel + count < end ? channel + count : end;
        if (part->source != source || from >= last)
            continue;
        pim_core_emit_copy(pim_ll_emitter_at(w->ll, PIM_LL_POST), w->core,
                           to + (uint64_t)(from - channel) * step * PIM_CORE_ELEMENT_BYTES,
                           pim_ll_element(w->ll, layer, position * layer->parts + p, from),
                           PIM_CORE_ELEMENT_BYTES, last - from, (uint64_t)step * PIM_CORE_ELEMENT_BYTES,
                           PIM_CORE_ELEMENT_BYTES);
    }
}

/* Rows [inner, inner + count) of the second operand, for a block of channels. */
static void multiply_tile(struct work *w, uint32_t block, uint32_t inner, uint32_t count, uint32_t pixel,
                          uint32_t memory)
{
    const struct pim_core_product *p = &w->layer->core_layer->product;
    uint32_t size = count * p->columns * PIM_CORE_ELEMENT_BYTES;
    struct pim_core_product_tile tile = {.columns = p->columns,
                                         .inner = count,
                                         .first = inner == 0,
                                         .row = memory + 2 * size,
                                         .tile = memory,
                                         .work = memory + size,
                                         .result = pixel + block * p->columns * PIM_CORE_ELEMENT_BYTES};
    bring(w, 0, 0, block * p->inner + inner, count, (uint32_t)tile.row, 1);
    for (uint32_t n = 0; n < p->columns && p->transposed; n++)
        bring(w, 1, n, block * p->inner + inner, count, memory + n * PIM_CORE_ELEMENT_BYTES, p->columns);
    for (uint32_t k = 0; k < count && !p->transposed; k++)
        bring(w, 1, inner + k, block * p->columns, p->columns,
              memory + k * p->columns * PIM_CORE_ELEMENT_BYTES, 1);
    pim_core_product_row(pim_ll_emitter_at(w->ll, PIM_LL_POST), w->core, &tile);
}

void pim_ll_product_window(struct pim_ll *ll, uint32_t index, uint32_t core, uint32_t pixel, uint32_t memory)
{
    struct work w = {.ll = ll, .layer = &ll->layer[index], .core = core};
    const struct pim_core_product *p = &w.layer->core_layer->product;
    uint32_t rows = tile_rows(ll, p);
    for (uint32_t block = 0; block < p->batches; block++)
        for (uint32_t inner = 0; inner < p->inner; inner += rows)
            multiply_tile(&w, block, inner, rows < p->inner - inner ? rows : p->inner - inner, pixel, memory);
}

/* Every core with windows needs the whole second operand of their branches, so windows go in contiguous
 * ranges to about as many cores as each of them gets windows. */
void pim_ll_choose_product_cores(const struct pim_ll *ll, uint32_t index, const uint64_t *work,
                                 uint32_t *home)
{
    uint32_t windows = ll->layer[index].core_layer->windows, wanted = 1, taken = 0, core = 0;
    while (wanted < ll->cores && (uint64_t)wanted * wanted < windows)
        wanted++;
    uint64_t least = 0;
    for (uint32_t w = 0; w < windows; w++) {
        uint32_t range = (uint32_t)((uint64_t)w * wanted / windows);
        if (w > 0 && range < taken) {
            home[w] = core;
            continue;
        }
        /* the next core by (work, number), behind the last one taken */
        uint32_t best = UINT32_MAX;
        for (uint32_t c = 0; c < ll->cores; c++) {
            bool behind = taken == 0 || work[c] > least || (work[c] == least && c > core);
            if (behind && (best == UINT32_MAX || work[c] < work[best]))
                best = c;
        }
        assert(best != UINT32_MAX);
        core = best;
        least = work[best];
        taken++;
        home[w] = core;
    }
}
