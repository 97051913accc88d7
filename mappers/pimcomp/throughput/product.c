/*
 * PRODUCT layers on the vector units (kernels/kernels.h says how). A tile is a range of output
 * pixels of a block of channels; a piece of it brings a tile of the second operand into local memory once and
 * multiplies it with the rows of several pixels.
 */
#include "mappers/pimcomp/kernels/kernels.h"
#include "mappers/pimcomp/throughput/round.h"
#include "sim/integer.h"

enum { ROWS = 32 }; /* of a piece, at most */

/* For `rows` output pixels and `inner` rows of the second operand: results, rows of the first operand, and
 * the tile with what it is multiplied in; the tile once more where it is turned. */
static uint64_t bytes_of(const struct pim_core_product *p, uint64_t rows, uint64_t inner)
{
    uint64_t tiles = p->transposed ? 3 : 2;
    return (rows * (p->columns + inner) + tiles * inner * p->columns) * PIM_CORE_ELEMENT_BYTES;
}

uint64_t pim_round_product_least(const struct pim_core_layer *layer)
{
    return bytes_of(&layer->product, 1, 1);
}

/* Channels [channel, channel + channels) of `pixels` pixels, back to back from `local` on. */
static void load_block(const struct pim_round_work *work, uint64_t local, uint32_t source, uint64_t pixel,
                       uint64_t pixels, uint32_t channel, uint64_t channels)
{
    const struct pim_round_source *from = &work->round->source[source];
    const struct pim_round_run *run = from->run;
    while (run->at + run->channels <= channel)
        run++;
    bool together = channel + channels <= run->at + run->channels;
    for (uint64_t p = 0; p < (together ? 1 : pixels); p++) {
        const struct pim_round_run *part = run;
        for (uint64_t done = 0, some; done < channels; done += some, part++) {
            some = pim_smaller(channels - done, part->at + part->channels - channel - done);
            pim_core_emit_transfer(
                work->emitter, PIM_OP_LOCAL_LOAD, work->core,
                local + (p * channels + done) * PIM_CORE_ELEMENT_BYTES,
                pim_round_address(part, work->sample, pixel + p, (uint32_t)(channel + done)),
                some * PIM_CORE_ELEMENT_BYTES, together ? pixels : 1, part->pixel_stride);
        }
    }
}

/* One tile: rows [inner, inner + count) of the second operand. */
static void multiply_tile(struct pim_round_work *work, const struct pim_core_product *p, uint64_t base,
                          uint64_t pixel, uint64_t rows, uint32_t block, uint32_t inner, uint32_t count)
{
    uint64_t results = base, first = results + rows * p->columns * PIM_CORE_ELEMENT_BYTES;
    uint64_t tile = first + rows * count * PIM_CORE_ELEMENT_BYTES;
    uint64_t size = (uint64_t)count * p->columns * PIM_CORE_ELEMENT_BYTES, room = tile + size;
    uint64_t side = (uint64_t)work->round->source[1].height * work->round->source[1].width / p->branches;
    uint64_t across = (uint64_t)work->round->source[0].height * work->round->source[0].width / p->branches;
    uint64_t second = pixel / across * side;
    load_block(work, first, 0, pixel, rows, block * p->inner + inner, count);
    if (p->transposed) {
        load_block(work, room + size, 1, second, p->columns, block * p->inner + inner, count);
        pim_core_product_turn(work->emitter, work->core, p->columns, count, tile, room + size);
    } else {
        load_block(work, tile, 1, second + inner, count, block * p->columns, p->columns);
    }
    for (uint64_t row = 0; row < rows; row++) {
        const struct pim_core_product_tile product = {.columns = p->columns,
                                                      .inner = count,
                                                      .first = inner == 0,
                                                      .row = first + row * count * PIM_CORE_ELEMENT_BYTES,
                                                      .tile = tile,
                                                      .work = room,
                                                      .result = results +
                                                                row * p->columns * PIM_CORE_ELEMENT_BYTES};
        pim_core_product_row(work->emitter, work->core, &product);
    }
}

uint64_t pim_round_product_chunk(struct pim_round_work *work, struct pim_round_tile *tile)
{
    const struct pim_core_layer *layer = work->layer;
    const struct pim_core_product *p = &layer->product;
    uint64_t room, base = pim_round_take_turn(work, &room);
    uint32_t block = tile->next / layer->windows, pixel = tile->next % layer->windows;
    uint64_t rows = pim_smaller(layer->width - pixel % layer->width, tile->end - tile->next);
    rows = pim_smaller(rows, ROWS);
    while (rows > 1 && bytes_of(p, rows, pim_smaller(p->inner, 8)) > room)
        rows = (rows + 1) / 2;
    uint32_t inner = p->inner;
    while (inner > 1 && bytes_of(p, rows, inner) > room)
        inner = (inner + 1) / 2;
    for (uint32_t done = 0; done < p->inner; done += inner)
        multiply_tile(work, p, base, pixel, rows, block, done, (uint32_t)pim_smaller(inner, p->inner - done));
    const struct pim_round_piece_of_map map = {.pixel = pixel,
                                               .pixels = (uint32_t)rows,
                                               .rows = 1,
                                               .channel = block * p->columns,
                                               .channels = p->columns};
    pim_round_vector_store(work, &map, base);
    tile->next += (uint32_t)rows;
    /* as much work as so many bytes of other layers */
    return rows * p->inner * p->columns * PIM_CORE_ELEMENT_BYTES;
}
