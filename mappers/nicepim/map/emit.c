#include "mappers/nicepim/map/emit.h"

#include "mappers/nicepim/map/homes.h"

#include <stdlib.h>
#include <string.h>

/* --- products --- */

struct product {
    uint32_t layer, nodes; /* nodes of the region */
    const struct nice_decision *decision;
    const struct flow_operation *operation;
    struct pim_part *part;
    struct pim_span (*box)[4];
    uint32_t *set;
    uint64_t *weights; /* address of the weights on each node */
    uint32_t cuts_of_c;
};

static uint32_t node_of(const struct emitter *emitter, const struct product *product, uint32_t i)
{
    const struct nice_region *region = &product->decision->region;
    return (region->y + i / region->width) * emitter->plan->hardware->width + region->x + i % region->width;
}

static bool works(const struct product *product, uint32_t i)
{
    return pim_part_macs(&product->operation->conv, &product->part[i]) > 0;
}

/* Groups of nodes with equal boxes of the input. */
static uint32_t group_boxes(struct product *product)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < product->nodes; i++) {
        product->set[i] = UINT32_MAX;
        for (uint32_t j = 0; works(product, i) && j < i && product->set[i] == UINT32_MAX; j++) {
            if (product->set[j] != UINT32_MAX &&
                memcmp(product->box[i], product->box[j], sizeof product->box[i]) == 0)
                product->set[i] = product->set[j];
        }
        if (works(product, i) && product->set[i] == UINT32_MAX)
            product->set[i] = groups++;
    }
    return groups;
}

static struct program_ring *reserve_rings(struct emitter *emitter, uint32_t count)
{
    struct program_ring *rings = calloc((size_t)count + 1, sizeof *rings);
    if (!rings && emitter->program.status == PIM_OK)
        emitter->program.status =
            pim_fail(emitter->program.error, PIM_NO_MEMORY, "out of memory for sharing sets");
    return rings;
}

static void release_rings(struct program_ring *rings, uint32_t count)
{
    for (uint32_t r = 0; rings && r < count; r++)
        program_ring_terminate(&rings[r]);
    free(rings);
}

/* The ring of the nodes of a set: places in the region are members until the nodes are known. */
static bool ring_of_set(struct emitter *emitter, const struct product *product, uint32_t set,
                        struct program_ring *ring)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < product->nodes; i++)
        count += product->set[i] == set;
    if (!program_ring_initialize(ring, count)) {
        emitter->program.status =
            pim_fail(emitter->program.error, PIM_NO_MEMORY, "out of memory for sharing sets");
        return false;
    }
    count = 0;
    for (uint32_t i = 0; i < product->nodes; i++) {
        if (product->set[i] == set)
            ring->member[count++] = i;
    }
    return true;
}

/* Inputs: every element to the member that owns its piece, then round the set. */
static uint64_t share_inputs(struct emitter *emitter, struct product *product, uint64_t *moved)
{
    struct program *program = &emitter->program;
    const struct home *home = &emitter->home[emitter->plan->flow.graph->layers[product->layer].input[0]];
    uint32_t groups = group_boxes(product), count = 0;
    struct program_ring *rings = home->everywhere ? NULL : reserve_rings(emitter, groups);
    clear_moves(emitter);
    for (uint32_t g = 0; rings && g < groups; g++) {
        struct program_ring *ring = &rings[count];
        if (!ring_of_set(emitter, product, g, ring))
            break;
        uint32_t first = ring->member[0];
        uint64_t block = flow_box_elements(product->box[first]) * FLOW_BYTES;
        for (uint32_t m = 0; m < ring->count; m++) {
            struct pim_span piece[4];
            split_box(product->box[first], ring->count, m, piece);
            uint32_t node = node_of(emitter, product, ring->member[m]);
            need_box(emitter, home, node, piece);
            ring->bytes[m] = flow_box_elements(piece) * FLOW_BYTES;
            ring->member[m] = node;
            ring->address[m] = ring->count > 1 ? program_borrow(program, node, block) : 0;
        }
        count += ring->count > 1;
        if (ring->count == 1)
            program_ring_terminate(ring);
    }
    *moved = move_boxes(emitter);
    uint64_t cycles = 0;
    if (count > 0 && program->status == PIM_OK) {
        uint64_t load = program_schedule(program, rings, count);
        cycles = program_rings(program, rings, count, load, false);
    }
    release_rings(rings, count);
    return cycles;
}

/* Weights: g nodes of a set, one after another, hold a copy together and pass it round. */
static uint64_t share_weights(struct emitter *emitter, struct product *product)
{
    struct program *program = &emitter->program;
    uint32_t g = product->decision->sharing, count = 0;
    uint32_t groups = pim_cut_groups(product->part, product->nodes, PIM_SHARED_WEIGHTS, product->set);
    struct program_ring *rings = g > 1 ? reserve_rings(emitter, product->nodes) : NULL;
    for (uint32_t s = 0; rings && s < groups && program->status == PIM_OK; s++) {
        struct program_ring all;
        if (!ring_of_set(emitter, product, s, &all))
            break;
        for (uint32_t first = 0; first < all.count; first += g) {
            uint32_t members = all.count - first < g ? all.count - first : g;
            uint64_t block =
                pim_part_weights(&product->operation->conv, &product->part[all.member[first]]) * FLOW_BYTES;
            if (members < 2) { /* what g does not divide: alone, with all of it */
                product->weights[all.member[first]] =
                    program_allocate(program, node_of(emitter, product, all.member[first]), block);
                continue;
            }
            if (!program_ring_initialize(&rings[count++], members)) {
                program->status = pim_fail(program->error, PIM_NO_MEMORY, "out of memory for sharing sets");
                break;
            }
            struct program_ring *ring = &rings[count - 1];
            for (uint32_t m = 0; m < members; m++) {
                struct pim_span span = pim_span_of((uint32_t)(block / FLOW_BYTES), members, m);
                uint32_t node = node_of(emitter, product, all.member[first + m]);
                ring->bytes[m] = (uint64_t)(span.to - span.from) * FLOW_BYTES;
                ring->member[m] = node;
                ring->address[m] = program_borrow(program, node, block);
                product->weights[all.member[first + m]] = ring->address[m];
                /* The own share lies apart for good. */
                (void)program_allocate(program, node, ring->bytes[m]);
            }
        }
        program_ring_terminate(&all);
    }
    for (uint32_t i = 0; g == 1 && i < product->nodes; i++) {
        if (works(product, i))
            product->weights[i] =
                program_allocate(program, node_of(emitter, product, i),
                                 pim_part_weights(&product->operation->conv, &product->part[i]) * FLOW_BYTES);
    }
    uint64_t cycles = 0;
    if (count > 0 && program->status == PIM_OK) {
        uint64_t load = program_schedule(program, rings, count);
        cycles = program_rings(program, rings, count, load, false);
    }
    release_rings(rings, count);
    return cycles;
}

/* --- tiles --- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

struct store {
    uint64_t address, bytes, piece, after;
    bool pending;
};

static void flush(struct program *program, uint32_t node, struct store *store)
{
    if (store->pending)
        (void)program_memory(program, node, PIM_OP_STORE, PIM_BUFFER_NONE, store->address, store->bytes,
                             store->piece, store->after);
    store->pending = false;
}

struct tile_walk {
    struct program *program;
    const struct tile_product *product;
    const struct tiling *tiling;
    uint32_t node;
    uint64_t input, weights, output; /* addresses */
    struct store store;
};

/* One tile of results: all tiles of k. Gives the last matrix instruction. */
static uint64_t emit_result_tile(struct tile_walk *walk, uint64_t m0, uint64_t m, uint64_t n0, uint64_t n)
{
    const struct tile_product *product = walk->product;
    const struct tiling *tiling = walk->tiling;
    uint64_t done = PROGRAM_NOTHING, k;
    for (uint64_t k0 = 0; k0 < product->k; k0 += k) {
        k = smaller(tiling->k, product->k - k0);
        bool load = !tiling->resident || n0 == 0, give = !tiling->resident || n0 + n == product->n;
        uint64_t input = PROGRAM_NOTHING;
        if (load)
            input = program_memory(walk->program, walk->node, PIM_OP_LOAD, PIM_BUFFER_INPUT,
                                   walk->input + (m0 * product->k + k0) * FLOW_BYTES, m * k * FLOW_BYTES,
                                   tile_input_piece(product, m, k), PROGRAM_NOTHING);
        uint64_t weight = program_memory(walk->program, walk->node, PIM_OP_LOAD, PIM_BUFFER_WEIGHT,
                                         walk->weights + (n0 * product->k + k0 * n) * FLOW_BYTES,
                                         k * n * FLOW_BYTES, 0, PROGRAM_NOTHING);
        struct pim_instruction instruction = {.opcode = PIM_OP_MATRIX};
        instruction.detail = (uint8_t)(PIM_MATRIX_RELEASE_WEIGHT | (give ? PIM_MATRIX_RELEASE_INPUT : 0) |
                                       (k0 == 0 ? PIM_MATRIX_OPEN_OUTPUT : PIM_MATRIX_ACCUMULATE));
        instruction.u.matrix.m = (uint32_t)m;
        instruction.u.matrix.n = (uint32_t)n;
        instruction.u.matrix.k = (uint32_t)k;
        instruction.u.matrix.input_bits = instruction.u.matrix.weight_bits = 8 * FLOW_BYTES;
        instruction.u.matrix.output_bits = 8 * (product->sums ? FLOW_SUM_BYTES : FLOW_BYTES);
        done = program_append(walk->program, walk->node, instruction, input, weight);
        walk->program->macs += m * n * k;
    }
    return done;
}

static void emit_tiles(struct tile_walk *walk)
{
    const struct tile_product *product = walk->product;
    struct program *program = walk->program;
    uint64_t width = product->sums ? FLOW_SUM_BYTES : FLOW_BYTES, m, n;
    for (uint64_t m0 = 0; m0 < product->m; m0 += m) {
        m = smaller(walk->tiling->m, product->m - m0);
        for (uint64_t n0 = 0; n0 < product->n; n0 += n) {
            n = smaller(walk->tiling->n, product->n - n0);
            uint64_t done = emit_result_tile(walk, m0, m, n0, n);
            flush(program, walk->node, &walk->store);
            done = program_vector(program, walk->node, PIM_VECTOR_COPY, m, n,
                                  m * n * program->plan->hardware->accumulator_bytes, (uint32_t)(8 * width),
                                  done, PROGRAM_NOTHING);
            walk->store = (struct store){walk->output + (m0 * product->n + n0 * m) * width, m * n * width,
                                         tile_output_piece(product, m, n), done, true};
        }
    }
}

static void compute(struct emitter *emitter, struct product *product, const uint64_t *output,
                    uint64_t parts[PIM_ESTIMATE_PARTS])
{
    uint64_t slowest = 0;
    for (uint32_t i = 0; i < product->nodes && emitter->program.status == PIM_OK; i++) {
        struct tile_product tiles;
        struct tiling tiling;
        if (!nice_tile_product(emitter->plan, product->layer, &product->part[i], product->cuts_of_c, &tiles))
            continue;
        if (!tile_choose(emitter->plan->hardware, &tiles, &tiling)) {
            emitter->program.status = pim_fail(emitter->program.error, PIM_INTERNAL, "a part has no tiling");
            return;
        }
        struct tile_walk walk = {&emitter->program,   &tiles,    &tiling, node_of(emitter, product, i), 0,
                                 product->weights[i], output[i], {0}};
        for (uint32_t group = 0; group < tiles.count; group++) {
            emit_tiles(&walk);
            walk.weights += tiles.k * tiles.n * FLOW_BYTES;
            walk.output += tiles.m * tiles.n * (tiles.sums ? FLOW_SUM_BYTES : FLOW_BYTES);
        }
        flush(&emitter->program, walk.node, &walk.store);
        if (tiling.total > slowest) {
            slowest = tiling.total;
            parts[PIM_ESTIMATE_COMPUTE] = tiling.compute;
            parts[PIM_ESTIMATE_MEMORY] = tiling.total - tiling.compute;
        }
    }
}

/* --- partial sums --- */

static void add_output(struct emitter *emitter, struct product *product, uint32_t i,
                       const struct pim_span box[4])
{
    home_add(emitter, &emitter->home[product->layer], node_of(emitter, product, i), box);
}

static void output_box(const struct pim_part *part, struct pim_span box[4])
{
    box[0] = part->loop[PIM_LOOP_B];
    box[1] = part->loop[PIM_LOOP_K];
    box[2] = part->loop[PIM_LOOP_P];
    box[3] = part->loop[PIM_LOOP_Q];
}

/* Partial sums of nodes with other input channels are added round a cycle; each ends with a piece of the
 * results. */
static uint64_t reduce_sums(struct emitter *emitter, struct product *product, const uint64_t *output)
{
    struct program *program = &emitter->program;
    uint32_t groups = pim_cut_groups(product->part, product->nodes, PIM_SHARED_SUMS, product->set);
    struct program_ring *rings = reserve_rings(emitter, groups);
    uint32_t *place = calloc((size_t)product->nodes + 1, sizeof *place);
    uint64_t cycles = 0;
    for (uint32_t s = 0; rings && s < groups && program->status == PIM_OK; s++) {
        if (!ring_of_set(emitter, product, s, &rings[s]))
            break;
        struct pim_span box[4], piece[4];
        output_box(&product->part[rings[s].member[0]], box);
        if (place)
            place[s] = rings[s].member[0];
        for (uint32_t m = 0; m < rings[s].count; m++) {
            split_box(box, rings[s].count, m, piece);
            rings[s].bytes[m] = flow_box_elements(piece) * FLOW_SUM_BYTES;
            rings[s].address[m] = output[rings[s].member[m]];
            rings[s].member[m] = node_of(emitter, product, rings[s].member[m]);
        }
    }
    if (rings && place && program->status == PIM_OK) {
        uint64_t load = program_schedule(program, rings, groups);
        cycles = program_rings(program, rings, groups, load, true);
    }
    for (uint32_t s = 0; rings && place && s < groups && program->status == PIM_OK; s++) {
        struct pim_span box[4], piece[4];
        output_box(&product->part[place[s]], box);
        for (uint32_t i = 0; i < rings[s].count; i++) {
            uint32_t own = rings[s].piece[(i + 1) % rings[s].count], node = rings[s].member[i];
            split_box(box, rings[s].count, own, piece);
            uint64_t elements = flow_box_elements(piece);
            home_add(emitter, &emitter->home[product->layer], node, piece);
            if (elements == 0)
                continue;
            program_join(program, node);
            uint64_t loaded = program_memory(program, node, PIM_OP_LOAD, PIM_BUFFER_NONE, 0,
                                             elements * FLOW_SUM_BYTES, 0, PROGRAM_NOTHING);
            uint64_t done =
                program_vector(program, node, PIM_VECTOR_COPY, 1, elements, 0, 32, loaded, PROGRAM_NOTHING);
            (void)program_memory(program, node, PIM_OP_STORE, PIM_BUFFER_NONE, 0, elements * FLOW_BYTES, 0,
                                 done);
        }
    }
    release_rings(rings, rings ? groups : 0);
    free(place);
    return cycles;
}

/* --- one product --- */

static bool reserve_product(struct emitter *emitter, struct product *product, uint64_t **output)
{
    product->part = calloc((size_t)product->nodes + 1, sizeof *product->part);
    product->box = calloc((size_t)product->nodes + 1, sizeof *product->box);
    product->set = calloc((size_t)product->nodes + 1, sizeof *product->set);
    product->weights = calloc((size_t)product->nodes + 1, sizeof *product->weights);
    *output = calloc((size_t)product->nodes + 1, sizeof **output);
    return product->part && product->box && product->set && product->weights && *output &&
           home_reserve(emitter, &emitter->home[product->layer], product->nodes);
}

static void place_results(struct emitter *emitter, struct product *product, uint64_t *output)
{
    for (uint32_t i = 0; i < product->nodes && emitter->program.status == PIM_OK; i++) {
        struct pim_span box[4];
        if (!works(product, i))
            continue;
        output_box(&product->part[i], box);
        if (product->cuts_of_c > 1) {
            output[i] = program_borrow(&emitter->program, node_of(emitter, product, i),
                                       flow_box_elements(box) * FLOW_SUM_BYTES);
            continue;
        }
        add_output(emitter, product, i, box);
        const struct home *home = &emitter->home[product->layer];
        output[i] = home->pieces[home->count - 1].address;
    }
}

static void emit_product(struct emitter *emitter, uint32_t layer)
{
    const struct nice_decision *decision = &emitter->plan->decision[layer];
    struct product product = {.layer = layer,
                              .nodes = decision->region.width * decision->region.height,
                              .decision = decision,
                              .operation = &emitter->plan->flow.operation[layer],
                              .cuts_of_c = decision->cut.high[PIM_LOOP_C] * decision->cut.wide[PIM_LOOP_C]};
    const char *name = emitter->plan->flow.graph->layers[layer].name;
    uint64_t *output = NULL, parts[PIM_ESTIMATE_PARTS] = {0}, none[PIM_ESTIMATE_PARTS] = {0};
    if (reserve_product(emitter, &product, &output)) {
        for (uint32_t i = 0; i < product.nodes; i++) {
            pim_cut_part(&product.operation->conv, &decision->cut, i / decision->region.width,
                         i % decision->region.width, &product.part[i]);
            flow_product_box(product.operation, &product.part[i], product.box[i]);
        }
        program_begin(&emitter->program, name, "share");
        uint64_t moved;
        uint64_t shared = share_inputs(emitter, &product, &moved);
        parts[PIM_ESTIMATE_TRANSFER] = moved + shared;
        parts[PIM_ESTIMATE_WEIGHT_SHARING] = share_weights(emitter, &product);
        program_end(&emitter->program, parts);
        place_results(emitter, &product, output);
        memcpy(parts, none, sizeof parts);
        program_begin(&emitter->program, name, "compute");
        compute(emitter, &product, output, parts);
        program_end(&emitter->program, parts);
        if (product.cuts_of_c > 1) {
            memcpy(parts, none, sizeof parts);
            program_begin(&emitter->program, name, "sums");
            parts[PIM_ESTIMATE_TRANSFER] = reduce_sums(emitter, &product, output);
            program_end(&emitter->program, parts);
        }
        program_give_back(&emitter->program);
    } else if (emitter->program.status == PIM_OK) {
        emitter->program.status =
            pim_fail(emitter->program.error, PIM_NO_MEMORY, "out of memory for a layer");
    }
    free(product.part);
    free(product.box);
    free(product.set);
    free(product.weights);
    free(output);
}

/* --- other operations --- */

static void share_home(struct emitter *emitter, uint32_t layer, const uint32_t *inputs, uint32_t count)
{
    struct home *home = &emitter->home[layer];
    size_t pieces = 0;
    uint32_t channels = 0;
    for (uint32_t i = 0; i < count; i++)
        pieces += emitter->home[inputs[i]].count;
    if (!home_reserve(emitter, home, pieces))
        return;
    for (uint32_t i = 0; i < count; i++) {
        const struct home *from = &emitter->home[inputs[i]];
        for (uint32_t p = 0; p < from->count; p++) {
            struct piece *piece = &home->pieces[home->count++];
            *piece = from->pieces[p];
            piece->box[1].from += channels;
            piece->box[1].to += channels;
        }
        home->everywhere = from->everywhere;
        channels += emitter->plan->flow.operation[inputs[i]].dimension[1];
    }
}

/* A span of the output in proportion to one of the input. */
static struct pim_span scaled(struct pim_span span, uint32_t input, uint32_t output)
{
    return (struct pim_span){(uint32_t)((uint64_t)span.from * output / input),
                             (uint32_t)((uint64_t)span.to * output / input)};
}

/* Results of a vector operation lie where the like part of the first input lies. */
static void place_vector(struct emitter *emitter, uint32_t layer)
{
    const struct flow *flow = &emitter->plan->flow;
    const struct flow_operation *operation = &flow->operation[layer];
    uint32_t first = flow->graph->layers[layer].input[0];
    const uint32_t *size = flow->operation[first].dimension;
    const struct home *from = &emitter->home[first];
    struct home *home = &emitter->home[layer];
    bool spread = from->everywhere || operation->kind == FLOW_FLATTEN;
    if (!home_reserve(emitter, home, spread ? emitter->program.nodes : from->count))
        return;
    for (uint32_t i = 0; i < (spread ? emitter->program.nodes : from->count); i++) {
        struct pim_span box[4];
        for (size_t d = 0; d < 4; d++)
            box[d] = spread ? (struct pim_span){0, operation->dimension[d]} : from->pieces[i].box[d];
        if (spread) {
            uint32_t channels = operation->kind == FLOW_FLATTEN ? size[1] : operation->dimension[1];
            struct pim_span part = pim_span_of(channels, emitter->program.nodes, i);
            uint32_t plane = operation->dimension[1] / channels;
            box[1] = (struct pim_span){part.from * plane, part.to * plane};
            home_add(emitter, home, i, box);
            continue;
        }
        if (operation->reach == FLOW_PLANE && (box[2].from > 0 || box[3].from > 0))
            continue;
        if (operation->reach == FLOW_CHANNELS && box[1].from > 0)
            continue;
        for (size_t d = 0; d < 4; d++)
            box[d] = scaled(box[d], size[d], operation->dimension[d]);
        if (operation->reach == FLOW_PLANE)
            box[2] = box[3] = (struct pim_span){0, 1};
        if (operation->reach == FLOW_CHANNELS)
            box[1] = (struct pim_span){0, operation->dimension[1]};
        home_add(emitter, home, from->pieces[i].node, box);
    }
}

static uint64_t vector_piece(struct emitter *emitter, uint32_t layer, const struct piece *piece)
{
    const struct flow_operation *operation = &emitter->plan->flow.operation[layer];
    const struct pim_estimate_hardware *hardware = emitter->plan->hardware;
    const struct pim_layer *graph = &emitter->plan->flow.graph->layers[layer];
    uint64_t elements = flow_box_elements(piece->box), loaded = PROGRAM_NOTHING, bytes = 0;
    for (uint32_t k = 0; k < graph->inputs; k++) {
        struct pim_span box[4];
        flow_needs(&emitter->plan->flow, layer, k, piece->box, box);
        uint64_t input = flow_box_elements(box) * FLOW_BYTES;
        if (input == 0)
            continue;
        bytes += input;
        loaded = program_memory(&emitter->program, piece->node, PIM_OP_LOAD, PIM_BUFFER_NONE, 0, input, 0,
                                PROGRAM_NOTHING);
    }
    uint64_t rows = operation->vector == PIM_VECTOR_SOFTMAX ? elements / operation->dimension[1] : elements;
    uint64_t length = operation->vector == PIM_VECTOR_SOFTMAX ? operation->dimension[1] : operation->taps;
    length = length > 0 ? length : 1;
    enum pim_vector vector = operation->kind == FLOW_FLATTEN ? PIM_VECTOR_COPY : operation->vector;
    bool pairs = vector == PIM_VECTOR_ADD || vector == PIM_VECTOR_MULTIPLY || vector == PIM_VECTOR_RELU ||
                 vector == PIM_VECTOR_COPY;
    uint64_t done = program_vector(&emitter->program, piece->node, vector, pairs ? 1 : rows,
                                   pairs ? elements : length, 0, 8 * FLOW_BYTES, loaded, PROGRAM_NOTHING);
    (void)program_memory(&emitter->program, piece->node, PIM_OP_STORE, PIM_BUFFER_NONE, piece->address,
                         elements * FLOW_BYTES, 0, done);
    return 2 * pim_estimate_access(hardware) + pim_estimate_stream(hardware, bytes, false) +
           pim_estimate_vector(hardware, pairs ? 1 : rows, pairs ? elements : length, 1) +
           pim_estimate_stream(hardware, elements * FLOW_BYTES, true);
}

static void emit_vector(struct emitter *emitter, uint32_t layer)
{
    const struct flow *flow = &emitter->plan->flow;
    const struct pim_layer *graph = &flow->graph->layers[layer];
    uint64_t parts[PIM_ESTIMATE_PARTS] = {0};
    place_vector(emitter, layer);
    const struct home *home = &emitter->home[layer];
    clear_moves(emitter);
    for (uint32_t p = 0; p < home->count; p++) {
        for (uint32_t k = 0; k < graph->inputs; k++) {
            struct pim_span box[4];
            flow_needs(flow, layer, k, home->pieces[p].box, box);
            need_box(emitter, &emitter->home[graph->input[k]], home->pieces[p].node, box);
        }
    }
    program_begin(&emitter->program, graph->name, "move");
    parts[PIM_ESTIMATE_TRANSFER] = move_boxes(emitter);
    program_end(&emitter->program, parts);
    parts[PIM_ESTIMATE_TRANSFER] = 0;
    program_begin(&emitter->program, graph->name, "vector");
    uint64_t *cycles = calloc((size_t)emitter->program.nodes + 1, sizeof *cycles);
    for (uint32_t p = 0; cycles && p < home->count && emitter->program.status == PIM_OK; p++) {
        uint32_t node = home->pieces[p].node;
        cycles[node] += vector_piece(emitter, layer, &home->pieces[p]);
        parts[PIM_ESTIMATE_VECTOR] =
            cycles[node] > parts[PIM_ESTIMATE_VECTOR] ? cycles[node] : parts[PIM_ESTIMATE_VECTOR];
    }
    free(cycles);
    program_end(&emitter->program, parts);
    program_give_back(&emitter->program);
}

static void emit_operation(struct emitter *emitter, uint32_t layer)
{
    const struct flow_operation *operation = &emitter->plan->flow.operation[layer];
    const struct pim_layer *graph = &emitter->plan->flow.graph->layers[layer];
    bool plain = operation->kind == FLOW_FLATTEN &&
                 operation->dimension[1] == emitter->plan->flow.operation[graph->input[0]].dimension[1];
    if (operation->kind == FLOW_INPUT)
        emitter->home[layer].everywhere = true;
    else if (operation->kind == FLOW_PRODUCT)
        emit_product(emitter, layer);
    else if (operation->kind == FLOW_CONCAT)
        share_home(emitter, layer, graph->input, graph->inputs);
    else if (operation->kind == FLOW_FUSED || plain)
        share_home(emitter, layer, graph->input, 1);
    else
        emit_vector(emitter, layer);
}

/* --- the network --- */

enum pim_status nice_emit(const struct nice_plan *plan, struct pim_trace_writer *writer,
                          struct nice_result *result, struct pim_error *error)
{
    struct emitter emitter = {.plan = plan};
    struct program *program = &emitter.program;
    bool ready = program_initialize(program, plan, writer, error);
    size_t pairs = (size_t)program->nodes * program->nodes;
    emitter.home = calloc((size_t)plan->flow.count + 1, sizeof *emitter.home);
    emitter.between = calloc(pairs + 1, sizeof *emitter.between);
    emitter.messages = calloc(pairs + 1, sizeof *emitter.messages);
    if (!ready || !emitter.home || !emitter.between || !emitter.messages)
        program->status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the programs of %u nodes",
                                   (unsigned)program->nodes);
    for (uint32_t i = 0; i < plan->flow.count && program->status == PIM_OK; i++)
        emit_operation(&emitter, i);
    *result = (struct nice_result){.cycles = program->cycles, .macs = program->macs};
    memcpy(result->parts, program->parts, sizeof result->parts);
    for (uint32_t node = 0; node < program->nodes && program->status == PIM_OK; node++) {
        uint64_t bytes = program->top[node] + program->most_scratch[node];
        result->memory_bytes = bytes > result->memory_bytes ? bytes : result->memory_bytes;
    }
    uint64_t memory = plan->hardware->memory_bytes;
    if (program->status == PIM_OK && writer && result->memory_bytes > memory)
        program->status =
            pim_fail(error, PIM_BAD_INPUT, "the fullest node needs %llu bytes of memory and has %llu",
                     (unsigned long long)result->memory_bytes, (unsigned long long)memory);
    if (program->status == PIM_OK && program->macs != plan->flow.macs)
        program->status =
            pim_fail(error, PIM_INTERNAL, "the programs make %llu multiply-accumulates, the network has %llu",
                     (unsigned long long)program->macs, (unsigned long long)plan->flow.macs);
    for (uint32_t i = 0; emitter.home && i < plan->flow.count; i++)
        free(emitter.home[i].pieces);
    free(emitter.home);
    free(emitter.between);
    free(emitter.messages);
    program_terminate(program);
    return program->status;
}
