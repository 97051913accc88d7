/*
 * The work of pooling and element layers, piece by piece: some pixels, some channels, in the area of a core's
 * local memory that these layers share.
 */
#include "mappers/pimcomp/throughput/elements.h"
#include "mappers/pimcomp/throughput/maps.h"
#include "mappers/pimcomp/throughput/state.h"
#include "sim/integer.h"

/* For `rows` output pixels and `inner` rows of the second operand: results, rows of the first operand, and
 * the tile with what it is multiplied in; the tile once more where it is turned. */
static uint64_t product_bytes(const struct pim_core_product *p, uint64_t rows, uint64_t inner)
{
    uint64_t tiles = p->transposed ? 3 : 2;
    return (rows * (p->columns + inner) + tiles * inner * p->columns) * PIM_CORE_ELEMENT_BYTES;
}

static uint64_t product_least(const struct pim_core_layer *layer)
{
    return product_bytes(&layer->product, 1, 1);
}

uint64_t pim_round_vector_least(const struct pim_round_layer *round)
{
    const struct pim_core_layer *layer = round->of;
    if (layer->kind == PIM_CORE_MOVE)
        return round->moved_pixel;
    if (layer->kind == PIM_CORE_PRODUCT)
        return product_least(layer);
    uint32_t channels = pim_round_normalizes(layer)
                            ? layer->channels
                            : pim_smaller32(layer->channels, PIM_ROUND_LEAST_CHANNELS);
    return layer->kind == PIM_CORE_POOLING ? pim_round_pooling_bytes(layer, 1, 1, channels)
                                           : (uint64_t)layer->sources * channels * PIM_CORE_ELEMENT_BYTES;
}

/* Elements of pixels [pixel, pixel + pixels), channels [channel, channel + channels): in at most as many
 * loads as there are cuts, which with several cuts holds for one pixel only. */
static void load_elements(const struct pim_round_work *work, const struct pim_round_piece_of_map *piece,
                          uint64_t base)
{
    const struct pim_round_layer *round = work->round;
    uint32_t end = piece->channel + piece->channels;
    for (uint32_t i = 0; i < work->layer->sources; i++) {
        const bool repeated = i == 1 && work->layer->broadcast; /* one pixel for all */
        uint64_t to = base + (uint64_t)i * piece->pixels * piece->channels * PIM_CORE_ELEMENT_BYTES;
        for (uint32_t j = 0; j < round->cuts; j++) {
            const struct pim_round_cut *cut = &round->cut[j];
            uint32_t from = cut->at > piece->channel ? cut->at : piece->channel;
            uint32_t last = pim_smaller32(cut->at + cut->channels, end);
            if (from >= last)
                continue;
            const struct pim_round_run *run = &round->source[i].run[cut->run[i]];
            pim_round_fetch(
                work->schedule, work->core, to + (uint64_t)(from - piece->channel) * PIM_CORE_ELEMENT_BYTES,
                run, work->sample, repeated ? 0 : piece->pixel, from,
                (uint64_t)(last - from) * PIM_CORE_ELEMENT_BYTES, repeated ? 1 : piece->pixels, 1);
        }
        uint64_t pixel = (uint64_t)piece->channels * PIM_CORE_ELEMENT_BYTES;
        if (repeated && piece->pixels > 1)
            pim_core_emit_copy(work->emitter, work->core, to + pixel, to, pixel, piece->pixels - 1, pixel, 0);
    }
}

static void element_piece(const struct pim_round_work *work, const struct pim_round_piece_of_map *piece,
                          uint64_t base)
{
    const struct pim_core_layer *layer = work->layer;
    load_elements(work, piece, base);
    uint64_t elements = (uint64_t)piece->pixels * piece->channels;
    if (layer->sources == 2)
        pim_core_emit_vector(work->emitter, work->core, layer->element, base, base,
                             base + elements * PIM_CORE_ELEMENT_BYTES, elements);
    else if (layer->block)
        pim_core_emit_vectors(work->emitter, work->core, layer->element, base, base, layer->block,
                              elements / layer->block);
    else
        pim_core_emit_vectors(work->emitter, work->core, layer->element, base, base, piece->channels,
                              piece->pixels);
    pim_round_vector_store(work, piece, base);
}

void pim_round_vector_store(const struct pim_round_work *work, const struct pim_round_piece_of_map *piece,
                            uint64_t local)
{
    uint64_t pixels = (uint64_t)piece->pixels * piece->rows;
    pim_core_emit_afters(work->emitter, work->core, work->layer, local, piece->channels, pixels);
    pim_round_put(work->round, work->core, local, work->sample, piece->pixel, piece->channel,
                  (uint64_t)piece->channels * PIM_CORE_ELEMENT_BYTES, pixels);
}

static uint64_t bytes_of(const struct pim_core_layer *layer, uint32_t pixels, uint32_t rows,
                         uint32_t channels)
{
    return layer->kind == PIM_CORE_POOLING
               ? pim_round_pooling_bytes(layer, pixels, rows, channels)
               : (uint64_t)layer->sources * pixels * channels * PIM_CORE_ELEMENT_BYTES;
}

/* The most pixels of one row (`rows`: the most rows of `pixels`), up to `most`, of which `channels`
 * channels fit `room` bytes; at least 1. */
static uint32_t most_that_fit(const struct pim_core_layer *layer, bool rows, uint32_t pixels, uint32_t most,
                              uint32_t channels, uint64_t room)
{
    uint32_t low = 1, high = most;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        uint64_t bytes =
            rows ? bytes_of(layer, pixels, middle, channels) : bytes_of(layer, middle, 1, channels);
        if (bytes <= room)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Bytes of the area that a layer has at a time: half of it, in turns, where that is enough. */
static uint64_t room_of(const struct pim_round_work *work)
{
    const uint64_t area = work->schedule->core[work->core].area_bytes, half = area / 2 / 4 * 4;
    return work->schedule->architecture->in_order || half < pim_round_vector_least(work->round) ? area : half;
}

uint64_t pim_round_take_turn(const struct pim_round_work *work, uint64_t *room)
{
    struct pim_round_core *place = &work->schedule->core[work->core];
    *room = room_of(work);
    return place->area + (*room < place->area_bytes ? place->turn++ % 2 * *room : 0);
}

/* Channels [channel, channel + channels) of pixels, in pieces that fit. */
static void work_channels(const struct pim_round_work *work, const struct pim_round_piece_of_map *whole,
                          uint32_t most)
{
    struct pim_round_piece_of_map piece = *whole;
    for (uint32_t done = 0; done < whole->channels; done += piece.channels) {
        uint64_t room, base = pim_round_take_turn(work, &room);
        piece.channel = whole->channel + done;
        piece.channels = pim_smaller32(whole->channels - done, most);
        (work->layer->kind == PIM_CORE_POOLING ? pim_round_pooling_piece : element_piece)(work, &piece, base);
    }
}

uint32_t pim_round_vector_passes(const struct pim_round_layer *round)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < round->tiles; i++) {
        uint64_t items = round->tile[i].end - round->tile[i].begin;
        most = items > most ? items : most;
    }
    const struct pim_core_layer *layer = round->of;
    uint64_t bytes = most * bytes_of(layer, 1, 1, round->block_channels);
    if (layer->kind == PIM_CORE_PRODUCT) /* as product_chunk() counts */
        bytes = most * layer->product.inner * layer->product.columns * PIM_CORE_ELEMENT_BYTES;
    return (uint32_t)(bytes / (round->schedule->chain[round->index].chained ? PIM_ROUND_CHAIN_CHUNK
                                                                            : PIM_ROUND_CHUNK)) +
           1;
}

/* Pixels, rows and channels of the next piece of a tile, which has `most` pixels of the block left;
 * returns the channels of a part of it. Of a pooling several whole rows if they fit, otherwise pixels of
 * one row; channels are halved until that much fits, down to a bound. */
static uint32_t choose_piece(const struct pim_core_layer *layer, struct pim_round_piece_of_map *piece,
                             uint32_t most, uint64_t room)
{
    uint32_t channels = piece->channels;
    if (layer->kind == PIM_CORE_POOLING) {
        uint32_t width = layer->width, left = width - (uint32_t)(piece->pixel % width);
        uint32_t rows = left == width ? most / width : 0, fewer = channels;
        while (rows > 1 && fewer > PIM_ROUND_LEAST_CHANNELS &&
               bytes_of(layer, width, pim_smaller32(rows, 4), fewer) > room)
            fewer = (fewer + 1) / 2;
        if (rows > 1 && bytes_of(layer, width, 2, fewer) <= room) {
            piece->pixels = width;
            piece->rows = most_that_fit(layer, true, width, rows, fewer, room);
            return fewer;
        }
        most = pim_smaller32(most, left);
        while (channels > PIM_ROUND_LEAST_CHANNELS && bytes_of(layer, most, 1, channels) > room)
            channels = (channels + 1) / 2;
    } else if (room > PIM_ROUND_CHUNK) {
        room = PIM_ROUND_CHUNK;
    }
    while (channels > 1 && bytes_of(layer, 1, 1, channels) > room)
        channels = (channels + 1) / 2;
    piece->pixels = most_that_fit(layer, false, 1, most, channels, room);
    return channels;
}

/*
 * --- products ---
 *
 * PRODUCT layers on the vector units (kernels/kernels.h says how). A tile is a range of output
 * pixels of a block of channels; a piece of it brings a tile of the second operand into local memory once and
 * multiplies it with the rows of several pixels.
 */

enum { ROWS = 32 }; /* of a piece, at most */

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

static uint64_t product_chunk(struct pim_round_work *work, struct pim_round_tile *tile)
{
    const struct pim_core_layer *layer = work->layer;
    const struct pim_core_product *p = &layer->product;
    uint64_t room, base = pim_round_take_turn(work, &room);
    uint32_t block = tile->next / layer->windows, pixel = tile->next % layer->windows;
    uint64_t rows = pim_smaller(layer->width - pixel % layer->width, tile->end - tile->next);
    rows = pim_smaller(rows, ROWS);
    while (rows > 1 && product_bytes(p, rows, pim_smaller(p->inner, 8)) > room)
        rows = (rows + 1) / 2;
    uint32_t inner = p->inner;
    while (inner > 1 && product_bytes(p, rows, inner) > room)
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

/* --- a tile --- */

uint64_t pim_round_vector_chunk(const struct pim_round_layer *round, struct pim_round_tile *tile,
                                uint32_t sample)
{
    const struct pim_core_layer *layer = round->of;
    struct pim_round_work work = {.schedule = round->schedule,
                                  .emitter = &round->schedule->emitter,
                                  .layer = layer,
                                  .round = round,
                                  .core = tile->core,
                                  .sample = sample};
    if (tile->next >= tile->end)
        return 0;
    if (layer->kind == PIM_CORE_MOVE)
        return pim_round_move_chunk(&work, tile);
    if (layer->kind == PIM_CORE_PRODUCT)
        return product_chunk(&work, tile);
    uint32_t block = tile->next / layer->windows, pixel = tile->next % layer->windows;
    uint32_t most = pim_smaller32(layer->windows - pixel, tile->end - tile->next);
    uint32_t channel = block * round->block_channels;
    uint32_t end = pim_smaller32(channel + round->block_channels, layer->channels);
    uint64_t room = room_of(&work);
    struct pim_round_piece_of_map piece = {
        .pixel = pixel, .pixels = 1, .rows = 1, .channel = channel, .channels = end - channel};
    if (pim_round_normalizes(layer)) { /* whole pixels; with several cuts one at a time */
        if (layer->kind == PIM_CORE_POOLING)
            most = pim_smaller32(most, layer->width - pixel % layer->width);
        piece.pixels = round->cuts > 1 ? 1 : most_that_fit(layer, false, 1, most, end - channel, room);
        work_channels(&work, &piece, piece.channels);
        tile->next += piece.pixels;
        return bytes_of(layer, piece.pixels, 1, end - channel);
    }
    uint32_t channels = choose_piece(layer, &piece, most, room);
    for (uint32_t i = 0; i < round->cuts; i++) {
        uint32_t from = round->cut[i].at > channel ? round->cut[i].at : channel;
        uint32_t last = pim_smaller32(round->cut[i].at + round->cut[i].channels, end);
        if (from >= last)
            continue;
        piece.channel = from;
        piece.channels = last - from;
        work_channels(&work, &piece, channels);
    }
    tile->next += piece.pixels * piece.rows;
    return bytes_of(layer, piece.pixels, piece.rows, end - channel);
}
