/* Tiles of a product on each of its nodes. */
#include "mappers/nicepim/map/program/product.h"

#include "sim/integer.h"

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

struct tile_walk {
    struct emitter *emitter;
    const struct product *product;
    const struct tile_product *shape;
    const struct tiling *tiling;
    uint32_t node, part;   /* the node, and its number in the region */
    uint64_t weights;      /* of the group: bytes from the start of the node's */
    uint32_t group, batch; /* batch: of weights that are activations, one at a time */
    uint64_t held;         /* elements of the input tile */
    /* Results that are not stored yet. */
    struct grid pending[PLACE_DIMENSIONS];
    uint64_t after;
    bool waits;
};

/* Positions of the input under `count` outputs from `from` on, without padding. */
static struct grid window(const struct tile_walk *walk, size_t dimension, uint32_t from, uint32_t count)
{
    const struct pim_conv *conv = &walk->product->operation->conv;
    uint32_t step, positions = tile_window(walk->shape, dimension, count, &step);
    int64_t stride = dimension == 0 ? conv->stride_height : conv->stride_width,
            pad = dimension == 0 ? conv->pad_top : conv->pad_left,
            size = dimension == 0 ? conv->height : conv->width;
    int64_t first = from * stride - pad, end = first + (int64_t)positions * step;
    if (first < 0)
        first += (-first + step - 1) / step * step;
    if (end > size)
        end = size;
    return (struct grid){(uint32_t)first, first < end ? (uint32_t)((end - first + step - 1) / step) : 0,
                         step};
}

/* The tile of outputs at these positions of the part. */
struct tile {
    struct grid output[PLACE_DIMENSIONS];
    uint32_t n0; /* of the group */
};

static uint32_t input_layer(const struct tile_walk *walk, size_t input)
{
    return walk->emitter->plan->flow.graph->layers[walk->product->layer].input[input];
}

static uint64_t load_inputs(struct tile_walk *walk, const struct tile *tile, uint32_t c0, uint32_t c,
                            uint64_t *elements)
{
    const struct product *product = walk->product;
    uint32_t channel = product->box[walk->part][1].from + walk->group * walk->shape->channels + c0;
    const struct grid part[PLACE_DIMENSIONS] = {tile->output[0],
                                                {channel, c, 1},
                                                window(walk, 0, tile->output[2].from, tile->output[2].count),
                                                window(walk, 1, tile->output[3].from, tile->output[3].count)};
    *elements = 0;
    return operand_part(walk->emitter, walk->node, PIM_OP_LOAD, PIM_BUFFER_INPUT, input_layer(walk, 0),
                        &product->input[walk->part], part, PROGRAM_NOTHING, elements);
}

/* A tile of keys or values. */
static uint64_t load_right(struct tile_walk *walk, const struct tile *tile, uint32_t c0, uint32_t c,
                           uint32_t n)
{
    const struct product *product = walk->product;
    const struct pim_span *box = product->right_box[walk->part];
    const struct tile_product *shape = walk->shape;
    struct grid part[PLACE_DIMENSIONS] = {{tile->output[0].from, 1, 1}, {0, 0, 1}, {0, 0, 1}, {0, 1, 1}};
    uint64_t elements = 0;
    if (shape->right == FLOW_KEYS) {
        part[1] = (struct grid){box[1].from + walk->group * shape->channels + c0, c, 1};
        part[2] = (struct grid){box[2].from + tile->n0, n, 1};
    } else {
        part[1] = (struct grid){box[1].from + walk->group * shape->n + tile->n0, n, 1};
        part[2] = (struct grid){box[2].from + c0, c, 1};
    }
    return operand_part(walk->emitter, walk->node, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, input_layer(walk, 1),
                        &product->right[walk->part], part, PROGRAM_NOTHING, &elements);
}

static uint64_t load_weights(struct tile_walk *walk, uint64_t from, uint64_t bytes)
{
    const struct weights *weights = &walk->product->weights[walk->part];
    const uint64_t borders[] = {from, weights->own_from, weights->own_to, from + bytes};
    uint64_t last = PROGRAM_NOTHING;
    for (size_t i = 0; i < 3; i++) {
        uint64_t low = borders[i] > from ? borders[i] : from,
                 high = borders[i + 1] < from + bytes ? borders[i + 1] : from + bytes;
        if (low >= high)
            continue;
        uint64_t address = i == 1 ? weights->own + (low - weights->own_from) : weights->address + low;
        last = program_memory(&walk->emitter->program, walk->node, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, address,
                              high - low, PROGRAM_NOTHING);
    }
    return last;
}

static void flush(struct tile_walk *walk)
{
    uint64_t elements = 0;
    if (walk->waits)
        (void)operand_part(walk->emitter, walk->node, PIM_OP_STORE, PIM_BUFFER_NONE, walk->product->layer,
                           &walk->product->output[walk->part], walk->pending, walk->after, &elements);
    walk->waits = false;
}

static uint64_t outputs_of(const struct tile *tile)
{
    return (uint64_t)tile->output[0].count * tile->output[2].count * tile->output[3].count;
}

/* What of a tile is loaded, and given back when it is worked. */
struct stays {
    bool load_input, give_input, load_weight, give_weight;
};

static struct nice_note note_tile(const struct tile_walk *walk, const struct tile *tile, uint32_t c0,
                                  uint32_t c)
{
    const struct pim_part *part = &walk->product->part[walk->part];
    struct nice_note note = {.kind = NICE_NOTE_MATRIX,
                             .layer = walk->product->layer,
                             .tile = {.k = part->loop[PIM_LOOP_K],
                                      .c = part->loop[PIM_LOOP_C],
                                      .group = walk->group,
                                      .first = {tile->n0, c0},
                                      .channels = c,
                                      .order = {walk->tiling->n, walk->tiling->channels}}};
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++)
        note.tile.output[d] = tile->output[d];
    return note;
}

/* One tile of results: all tiles of input channels. Gives the last matrix instruction. */
static uint64_t emit_products(struct tile_walk *walk, const struct tile *tile, const struct stays *stays)
{
    const struct tile_product *shape = walk->shape;
    struct program *program = &walk->emitter->program;
    uint64_t done = PROGRAM_NOTHING, m = outputs_of(tile), n = tile->output[1].count;
    uint32_t c;
    for (uint32_t c0 = 0; c0 < shape->channels; c0 += c) {
        c = smaller(walk->tiling->channels, shape->channels - c0);
        uint64_t k = tile_k(shape, c), input = PROGRAM_NOTHING, weight = PROGRAM_NOTHING;
        if (stays->load_input)
            input = load_inputs(walk, tile, c0, c, &walk->held);
        if (stays->load_weight && shape->right != FLOW_STORED)
            weight = load_right(walk, tile, c0, c, (uint32_t)n);
        else if (stays->load_weight)
            weight = load_weights(walk,
                                  walk->weights +
                                      (tile->n0 * tile_k(shape, shape->channels) + tile_k(shape, c0) * n) *
                                          FLOW_BYTES,
                                  k * n * FLOW_BYTES);
        struct pim_instruction instruction = {.opcode = PIM_OP_MATRIX};
        instruction.detail = (uint8_t)((stays->give_weight ? PIM_MATRIX_RELEASE_WEIGHT : 0) |
                                       (stays->give_input && walk->held > 0 ? PIM_MATRIX_RELEASE_INPUT : 0) |
                                       (c0 == 0 ? PIM_MATRIX_OPEN_OUTPUT : PIM_MATRIX_ACCUMULATE));
        instruction.u.matrix.m = (uint32_t)m;
        instruction.u.matrix.n = (uint32_t)n;
        instruction.u.matrix.k = (uint32_t)k;
        instruction.u.matrix.window = walk->held < m * k ? (uint32_t)walk->held : 0;
        instruction.u.matrix.input_bits = instruction.u.matrix.weight_bits = 8 * FLOW_BYTES;
        instruction.u.matrix.output_bits = 8 * (shape->sums ? FLOW_SUM_BYTES : FLOW_BYTES);
        const struct nice_note note = note_tile(walk, tile, c0, c);
        program->note = &note;
        done = program_append(program, walk->node, instruction, input, weight);
        program->note = NULL;
        program->macs += m * n * k;
    }
    return done;
}

static void emit_tile(struct tile_walk *walk, const struct tile *tile, const struct stays *stays)
{
    struct program *program = &walk->emitter->program;
    uint64_t done = emit_products(walk, tile, stays), m = outputs_of(tile), n = tile->output[1].count;
    flush(walk); /* behind the loads of this tile */
    enum pim_vector vector = walk->shape->sums ? PIM_VECTOR_COPY : walk->product->operation->vector;
    struct nice_note note = note_tile(walk, tile, 0, 0);
    note.kind = NICE_NOTE_TILE;
    program->note = &note;
    walk->after =
        program_vector(program, walk->node, vector, m, n, m * n * program->plan->hardware->accumulator_bytes,
                       8 * (walk->shape->sums ? FLOW_SUM_BYTES : FLOW_BYTES), done, PROGRAM_NOTHING);
    program->note = NULL;
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++)
        walk->pending[d] = tile->output[d];
    walk->waits = true;
}

static uint32_t count_tiles(uint32_t length, uint32_t tile)
{
    return length / tile + (length % tile != 0);
}

static struct grid cut_grid(uint32_t base, uint32_t length, uint32_t tile, uint32_t index)
{
    uint32_t from = index * tile;
    return (struct grid){base + from, smaller(tile, length - from), 1};
}

/* Tile `position` of batches, rows and columns, `channels` of the output channels. */
static void emit_place(struct tile_walk *walk, uint32_t position, uint32_t channels, uint32_t positions)
{
    const struct tile_product *shape = walk->shape;
    const struct tiling *tiling = walk->tiling;
    const struct pim_part *part = &walk->product->part[walk->part];
    uint32_t q = count_tiles(shape->columns, tiling->columns), p = count_tiles(shape->rows, tiling->rows),
             n = count_tiles(shape->n, tiling->n);
    struct tile tile = {.n0 = channels * tiling->n};
    tile.output[0] = cut_grid(part->loop[PIM_LOOP_B].from + walk->batch, shape->batches, tiling->batches,
                              position / (p * q));
    tile.output[1] =
        cut_grid(part->loop[PIM_LOOP_K].from + walk->group * shape->n, shape->n, tiling->n, channels);
    tile.output[2] = cut_grid(part->loop[PIM_LOOP_P].from, shape->rows, tiling->rows, position / q % p);
    tile.output[3] = cut_grid(part->loop[PIM_LOOP_Q].from, shape->columns, tiling->columns, position % q);
    const struct stays stays = {.load_input = !tiling->resident || channels == 0,
                                .give_input = !tiling->resident || channels + 1 == n,
                                .load_weight = !tiling->stationary || position == 0,
                                .give_weight = !tiling->stationary || position + 1 == positions};
    emit_tile(walk, &tile, &stays);
}

/* Where weights stay, output channels are the outer loop. */
static void emit_group(struct tile_walk *walk)
{
    const struct tile_product *shape = walk->shape;
    const struct tiling *tiling = walk->tiling;
    uint32_t positions = count_tiles(shape->batches, tiling->batches) *
                         count_tiles(shape->rows, tiling->rows) *
                         count_tiles(shape->columns, tiling->columns);
    uint32_t channels = count_tiles(shape->n, tiling->n);
    for (uint32_t i = 0; i < positions * channels && walk->emitter->program.status == PIM_OK; i++) {
        if (tiling->stationary)
            emit_place(walk, i % positions, i / positions, positions);
        else
            emit_place(walk, i / channels, i % channels, positions);
    }
}

/* The largest place of an operand, as tiles see it. */
static void see_operand(const struct operand *operand, struct spread *spread)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < operand->count; i++) {
        const struct place *place = &operand->places[i];
        uint64_t elements = flow_box_elements(place->box);
        if (elements <= most)
            continue;
        most = elements;
        spread->layout = place->layout;
        for (size_t d = 0; d < PLACE_DIMENSIONS; d++)
            spread->size[d] = place->box[d].to - place->box[d].from;
    }
}

static bool node_shape(const struct emitter *emitter, const struct product *product, uint32_t i,
                       struct tile_product *shape)
{
    if (!nice_tile_product(emitter->plan, product->layer, &product->decision->cut, &product->part[i], shape))
        return false;
    see_operand(&product->input[i], &shape->input);
    see_operand(&product->output[i], &shape->output);
    if (product->right[i].count > 0)
        see_operand(&product->right[i], &shape->weights);
    return true;
}

/* Weights that nodes hold together lie in the order of one tiling: that of the node with most positions,
 * whose channels fit with fewer positions too. */
static bool choose_order(const struct emitter *emitter, struct product *product, uint32_t first)
{
    struct tile_product shape, widest = {0};
    struct tiling tiling;
    uint64_t most = 0;
    for (uint32_t i = first; i < product->nodes; i++) {
        if (product->copy[i] != first || !node_shape(emitter, product, i, &shape))
            continue;
        uint64_t positions = (uint64_t)shape.batches * shape.rows * shape.columns;
        widest = positions > most ? shape : widest;
        most = positions > most ? positions : most;
    }
    if (!nice_tiling(emitter->plan, &widest, &tiling))
        return false;
    product->order[first][0] = tiling.n;
    product->order[first][1] = tiling.channels;
    return true;
}

static bool choose_tiling(const struct emitter *emitter, struct product *product, uint32_t i,
                          const struct tile_product *shape, struct tiling *tiling)
{
    uint32_t first = product->copy[i];
    if (first == UINT32_MAX)
        return nice_tiling(emitter->plan, shape, tiling);
    return (product->order[first][0] > 0 || choose_order(emitter, product, first)) &&
           tile_choose_positions(emitter->plan->hardware, shape, &emitter->plan->weights,
                                 product->order[first], tiling);
}

void product_compute(struct emitter *emitter, struct product *product, uint64_t parts[PIM_ESTIMATE_PARTS])
{
    uint64_t last = 0, array = 0;
    for (uint32_t i = 0; i < product->nodes && emitter->program.status == PIM_OK; i++) {
        struct tile_product shape;
        struct tiling tiling;
        if (!node_shape(emitter, product, i, &shape))
            continue;
        if (!choose_tiling(emitter, product, i, &shape, &tiling)) {
            emitter->program.status = pim_fail(emitter->program.error, PIM_INTERNAL, "a part has no tiling");
            return;
        }
        struct tile_walk walk = {.emitter = emitter,
                                 .product = product,
                                 .shape = &shape,
                                 .tiling = &tiling,
                                 .node = product_node(emitter, product, i),
                                 .part = i};
        program_pace(&emitter->program, walk.node);
        bool own = shape.right != FLOW_STORED;
        uint32_t batches =
            own ? product->part[i].loop[PIM_LOOP_B].to - product->part[i].loop[PIM_LOOP_B].from : 1;
        for (; walk.batch < batches; walk.batch++) {
            for (walk.group = 0; walk.group < shape.count / batches; walk.group++) {
                emit_group(&walk);
                walk.weights += tile_k(&shape, shape.channels) * shape.n * FLOW_BYTES;
            }
        }
        flush(&walk);
        program_paced(&emitter->program, walk.node);
        array = emitter->program.clock[walk.node] > last ? tiling.compute : array;
        last = pim_larger(last, emitter->program.clock[walk.node]);
    }
    const uint64_t cycles = program_section(&emitter->program);
    parts[PIM_ESTIMATE_COMPUTE] = pim_smaller(array, cycles);
    parts[PIM_ESTIMATE_MEMORY] = cycles - parts[PIM_ESTIMATE_COMPUTE];
}
