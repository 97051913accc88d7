/* What the nodes of a product share: inputs, weights, partial sums. */
#include "mappers/nicepim/map/program/messages.h"
#include "mappers/nicepim/map/program/product.h"

#include <stdlib.h>
#include <string.h>

void product_output_box(const struct pim_part *part, struct pim_span box[4])
{
    box[0] = part->loop[PIM_LOOP_B];
    box[1] = part->loop[PIM_LOOP_K];
    box[2] = part->loop[PIM_LOOP_P];
    box[3] = part->loop[PIM_LOOP_Q];
}

/* --- life --- */

static bool reserve_product(struct product *product)
{
    size_t nodes = (size_t)product->nodes + 1;
    product->part = calloc(nodes, sizeof *product->part);
    product->box = calloc(nodes, sizeof *product->box);
    product->set = calloc(nodes, sizeof *product->set);
    product->right_box = calloc(nodes, sizeof *product->right_box);
    product->right = calloc(nodes, sizeof *product->right);
    product->input = calloc(nodes, sizeof *product->input);
    product->output = calloc(nodes, sizeof *product->output);
    product->weights = calloc(nodes, sizeof *product->weights);
    product->copy = malloc(nodes * sizeof *product->copy);
    product->order = calloc(nodes, sizeof *product->order);
    if (product->copy)
        memset(product->copy, 0xff, nodes * sizeof *product->copy); /* UINT32_MAX */
    return product->part && product->box && product->right_box && product->right && product->set &&
           product->input && product->output && product->weights && product->copy && product->order;
}

void product_destroy(struct product *product)
{
    if (!product)
        return;
    for (uint32_t i = 0; i < product->nodes; i++) {
        if (product->input)
            operand_terminate(&product->input[i]);
        if (product->right)
            operand_terminate(&product->right[i]);
        if (product->output)
            operand_terminate(&product->output[i]);
    }
    free(product->part);
    free(product->box);
    free(product->right_box);
    free(product->right);
    free(product->set);
    free(product->input);
    free(product->output);
    free(product->weights);
    free(product->copy);
    free(product->order);
    free(product);
}

struct product *product_create(struct emitter *emitter, uint32_t layer)
{
    const struct nice_decision *decision = &emitter->plan->decision[layer];
    struct program *program = &emitter->program;
    struct product *product = calloc(1, sizeof *product);
    if (product) {
        product->layer = layer;
        product->nodes = decision->region.width * decision->region.height;
        product->decision = decision;
        product->operation = &emitter->plan->flow.operation[layer];
        product->cuts_of_c = decision->cut.high[PIM_LOOP_C] * decision->cut.wide[PIM_LOOP_C];
    }
    if (!product || !reserve_product(product)) {
        if (program->status == PIM_OK)
            program->status = pim_fail(program->error, PIM_NO_MEMORY, "out of memory for a layer");
        product_destroy(product);
        return NULL;
    }
    for (uint32_t i = 0; i < product->nodes; i++) {
        pim_cut_part(&product->operation->conv, &decision->cut, i / decision->region.width,
                     i % decision->region.width, &product->part[i]);
        flow_product_box(product->operation, &product->part[i], product->box[i]);
        if (product->operation->right != FLOW_STORED && product_works(product, i))
            flow_right_box(product->operation, &product->part[i], product->right_box[i]);
    }
    return product;
}

/* One of the inputs: its tensor, what each node needs of it and where that comes to lie. */
struct side {
    uint32_t layer;
    struct pim_span (*box)[4];
    struct operand *operand;
};

/* Groups of nodes with equal boxes of an input. */
static uint32_t group_boxes(struct product *product, const struct side *side)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < product->nodes; i++) {
        product->set[i] = UINT32_MAX;
        for (uint32_t j = 0; product_works(product, i) && j < i && product->set[i] == UINT32_MAX; j++) {
            if (product->set[j] != UINT32_MAX && memcmp(side->box[i], side->box[j], sizeof side->box[i]) == 0)
                product->set[i] = product->set[j];
        }
        if (product_works(product, i) && product->set[i] == UINT32_MAX)
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

static bool new_ring(struct emitter *emitter, struct program_ring *ring, uint32_t members)
{
    if (program_ring_initialize(ring, members))
        return true;
    emitter->program.status =
        pim_fail(emitter->program.error, PIM_NO_MEMORY, "out of memory for sharing sets");
    return false;
}

/* The ring of the nodes of a set: places in the region are members until the nodes are known. */
static bool ring_of_set(struct emitter *emitter, const struct product *product, uint32_t set,
                        struct program_ring *ring)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < product->nodes; i++)
        count += product->set[i] == set;
    if (!new_ring(emitter, ring, count))
        return false;
    count = 0;
    for (uint32_t i = 0; i < product->nodes; i++) {
        if (product->set[i] == set)
            ring->member[count++] = i;
    }
    return true;
}

/* --- blocks --- */

static struct place piece_of(const struct pim_span box[4], struct pim_map_layout layout, uint32_t width,
                             uint32_t parts, uint32_t index, bool *runs)
{
    struct place place = {.layout = layout, .width = width};
    split_box(box, layout, parts, index, place.box, runs);
    return place;
}

/* Sizes and places of the pieces of a block that the members of a ring have; true when they make up the
 * block's own layout. */
static bool cut_block(const struct emitter *emitter, struct program_ring *ring, const struct pim_span box[4],
                      struct pim_map_layout layout, uint32_t width)
{
    uint64_t port = emitter->plan->hardware->port_bytes, at = 0;
    bool runs = true;
    for (uint32_t m = 0; m < ring->count; m++) {
        const struct place piece = piece_of(box, layout, width, ring->count, m, &runs);
        ring->bytes[m] = place_bytes(&piece);
        ring->offset[m] = at;
        at += runs ? ring->bytes[m] : (ring->bytes[m] + port - 1) / port * port;
    }
    return runs;
}

/* A block on a node: one place, or one for each piece where pieces do not follow each other in the layout. */
static void place_block(struct emitter *emitter, uint32_t node, const struct program_ring *ring, bool runs,
                        const struct pim_span box[4], struct pim_map_layout layout, uint32_t width,
                        struct operand *operand)
{
    uint32_t last = ring->count - 1;
    struct place whole = {.layout = layout, .width = width};
    memcpy(whole.box, box, sizeof whole.box);
    whole.address = program_borrow(&emitter->program, node, ring->offset[last] + ring->bytes[last]);
    if (runs) {
        operand_of_place(emitter, &whole, operand);
        return;
    }
    *operand = (struct operand){.places = calloc((size_t)ring->count + 1, sizeof *operand->places)};
    if (!operand->places) {
        emitter->program.status =
            pim_fail(emitter->program.error, PIM_NO_MEMORY, "out of memory for sharing sets");
        return;
    }
    for (uint32_t m = 0; m < ring->count; m++) {
        struct place piece = piece_of(box, layout, width, ring->count, m, &runs);
        piece.address = whole.address + ring->offset[m];
        if (ring->bytes[m] > 0)
            operand->places[operand->count++] = piece;
    }
}

/* --- inputs --- */

/* A set of several nodes: each begins with a piece of the block. */
static void fill_ring(struct emitter *emitter, struct product *product, const struct side *side,
                      struct program_ring *ring)
{
    uint32_t layer = side->layer;
    struct pim_map_layout layout = emitter->plan->layout[layer];
    const struct pim_span *box = side->box[ring->member[0]];
    bool runs = cut_block(emitter, ring, box, layout, FLOW_BYTES);
    for (uint32_t m = 0; m < ring->count && emitter->program.status == PIM_OK; m++) {
        uint32_t i = ring->member[m], node = product_node(emitter, product, i);
        place_block(emitter, node, ring, runs, box, layout, FLOW_BYTES, &side->operand[i]);
        if (side->operand[i].count == 0)
            continue;
        bool ignored;
        struct place piece = piece_of(box, layout, FLOW_BYTES, ring->count, m, &ignored);
        ring->address[m] = side->operand[i].places[0].address;
        piece.address = ring->address[m] + ring->offset[m];
        ring->member[m] = node;
        move_box(emitter, layer, node, piece.box, &piece);
    }
}

/* Passes what the members of all rings begin with round; they have it when what came before is complete. */
static uint64_t pass_round(struct emitter *emitter, struct program_ring *rings, uint32_t count, bool reduce)
{
    struct program *program = &emitter->program;
    if (count == 0 || program->status != PIM_OK)
        return 0;
    for (uint32_t r = 0; r < count; r++) {
        for (uint32_t m = 0; m < rings[r].count; m++)
            program_join(program, rings[r].member[m]);
    }
    program_schedule(program, rings, count);
    program_rings(program, rings, count, reduce);
    return program_section(program);
}

/* Every element goes to the member that owns its piece, then round the set; to a node alone without piece. */
static void share_side(struct emitter *emitter, struct product *product, const struct side *side, bool pass,
                       uint64_t parts[PIM_ESTIMATE_PARTS])
{
    uint32_t layer = side->layer;
    uint32_t groups = group_boxes(product, side), count = 0;
    bool everywhere = emitter->home[layer].everywhere;
    struct program_ring *rings = reserve_rings(emitter, groups);
    for (uint32_t g = 0; rings && g < groups && emitter->program.status == PIM_OK; g++) {
        struct program_ring *ring = &rings[count];
        if (!ring_of_set(emitter, product, g, ring))
            break;
        if (ring->count > 1 && !everywhere) {
            fill_ring(emitter, product, side, ring);
            count++;
            continue;
        }
        for (uint32_t m = 0; m < ring->count; m++) {
            uint32_t i = ring->member[m];
            operand_bring(emitter, layer, product_node(emitter, product, i), side->box[i], &side->operand[i]);
        }
        program_ring_terminate(ring);
    }
    parts[PIM_ESTIMATE_TRANSFER] += move_all(emitter);
    if (pass)
        parts[PIM_ESTIMATE_TRANSFER] += pass_round(emitter, rings, rings ? count : 0, false);
    release_rings(rings, count);
}

void product_share_inputs(struct emitter *emitter, struct product *product, bool pass,
                          uint64_t parts[PIM_ESTIMATE_PARTS])
{
    const uint32_t *input = emitter->plan->flow.graph->layers[product->layer].input;
    const struct side left = {input[0], product->box, product->input};
    share_side(emitter, product, &left, pass, parts);
    if (product->operation->right == FLOW_STORED)
        return;
    const struct side right = {input[1], product->right_box, product->right};
    share_side(emitter, product, &right, pass, parts);
}

/* --- weights --- */

static uint64_t block_of_weights(const struct product *product, uint32_t i)
{
    return pim_part_weights(&product->operation->conv, &product->part[i]) * FLOW_BYTES;
}

/* Memory for the weights of a node, the same for all images. */
static uint64_t keep_weights(struct emitter *emitter, const struct product *product, uint32_t i,
                             uint64_t bytes)
{
    uint32_t node = product_node(emitter, product, i);
    if (!emitter->kept_weights)
        return program_allocate(&emitter->program, node, bytes);
    uint64_t **kept = &emitter->kept_weights[product->layer];
    if (!*kept) {
        *kept = malloc(product->nodes * sizeof **kept);
        for (uint32_t n = 0; *kept && n < product->nodes; n++)
            (*kept)[n] = PROGRAM_NOTHING;
    }
    if (!*kept) {
        emitter->program.status =
            pim_fail(emitter->program.error, PIM_NO_MEMORY, "out of memory for the weights of a layer");
        return 0;
    }
    if ((*kept)[i] == PROGRAM_NOTHING)
        (*kept)[i] = program_allocate(&emitter->program, node, bytes);
    return (*kept)[i];
}

static void note_weights(struct emitter *emitter, const struct product *product, uint32_t node,
                         struct nice_note *note)
{
    note->kind = NICE_NOTE_WEIGHTS;
    note->layer = product->layer;
    program_note(&emitter->program, node, note);
}

/* `members` nodes of a set from `first` on hold a copy together: each a share for good, the rest comes. */
static void fill_copy(struct emitter *emitter, struct product *product, const uint32_t *member,
                      struct program_ring *ring)
{
    uint64_t block = block_of_weights(product, member[0]), at = 0;
    for (uint32_t m = 0; m < ring->count; m++) {
        struct pim_span span = pim_span_of((uint32_t)(block / FLOW_BYTES), ring->count, m);
        uint32_t node = product_node(emitter, product, member[m]);
        ring->bytes[m] = (uint64_t)(span.to - span.from) * FLOW_BYTES;
        ring->offset[m] = at;
        ring->member[m] = node;
        product->copy[member[m]] = member[0];
        ring->address[m] = program_borrow(&emitter->program, node, block);
        ring->own[m] = keep_weights(emitter, product, member[m], ring->bytes[m]);
        note_weights(emitter, product, node,
                     &(struct nice_note){.copy = member[0],
                                         .address = ring->own[m],
                                         .from = at,
                                         .bytes = ring->bytes[m],
                                         .tile = {.k = product->part[member[m]].loop[PIM_LOOP_K],
                                                  .c = product->part[member[m]].loop[PIM_LOOP_C]}});
        product->weights[member[m]] =
            (struct weights){ring->address[m], ring->own[m], at, at + ring->bytes[m]};
        at += ring->bytes[m];
    }
}

/* g nodes of a set, one after another, hold a copy together and pass it round. */
uint64_t product_share_weights(struct emitter *emitter, struct product *product)
{
    struct program *program = &emitter->program;
    if (product->operation->right != FLOW_STORED)
        return 0;
    uint32_t g = product->decision->sharing, count = 0;
    uint32_t groups = pim_cut_groups(product->part, product->nodes, PIM_SHARED_WEIGHTS, product->set);
    struct program_ring *rings = reserve_rings(emitter, product->nodes);
    for (uint32_t s = 0; rings && s < groups && program->status == PIM_OK; s++) {
        struct program_ring all;
        if (!ring_of_set(emitter, product, s, &all))
            break;
        for (uint32_t first = 0; first < all.count; first += g) {
            uint32_t i = all.member[first], members = all.count - first < g ? all.count - first : g;
            if (members < 2) { /* alone, with all of it */
                uint64_t block = block_of_weights(product, i);
                if (product_works(product, i)) {
                    product->weights[i].address = keep_weights(emitter, product, i, block);
                    note_weights(emitter, product, product_node(emitter, product, i),
                                 &(struct nice_note){.copy = i,
                                                     .address = product->weights[i].address,
                                                     .bytes = block,
                                                     .tile = {.k = product->part[i].loop[PIM_LOOP_K],
                                                              .c = product->part[i].loop[PIM_LOOP_C]}});
                }
            } else if (new_ring(emitter, &rings[count], members)) {
                fill_copy(emitter, product, all.member + first, &rings[count++]);
            } else {
                break;
            }
        }
        program_ring_terminate(&all);
    }
    if (count > 0 && program->status == PIM_OK) {
        program_schedule(program, rings, count);
        program_rings(program, rings, count, false);
    }
    release_rings(rings, count);
    return program_section(program);
}

/* --- results and partial sums --- */

void product_place_results(struct emitter *emitter, struct product *product)
{
    struct program *program = &emitter->program;
    struct home *home = &emitter->home[product->layer];
    struct pim_map_layout layout = emitter->plan->layout[product->layer];
    uint32_t groups = pim_cut_groups(product->part, product->nodes, PIM_SHARED_SUMS, product->set);
    if (!home_reserve(emitter, home, product->nodes))
        return;
    for (uint32_t i = 0; i < product->nodes && product->cuts_of_c <= 1 && program->status == PIM_OK; i++) {
        struct pim_span box[4];
        if (!product_works(product, i))
            continue;
        product_output_box(&product->part[i], box);
        home_add(emitter, product->layer, product_node(emitter, product, i), box);
        operand_of_place(emitter, &home->pieces[home->count - 1].place, &product->output[i]);
    }
    for (uint32_t s = 0; s < groups && product->cuts_of_c > 1 && program->status == PIM_OK; s++) {
        struct program_ring ring;
        struct pim_span box[4];
        if (!ring_of_set(emitter, product, s, &ring))
            break;
        product_output_box(&product->part[ring.member[0]], box);
        bool runs = cut_block(emitter, &ring, box, layout, FLOW_SUM_BYTES);
        for (uint32_t m = 0; m < ring.count; m++)
            place_block(emitter, product_node(emitter, product, ring.member[m]), &ring, runs, box, layout,
                        FLOW_SUM_BYTES, &product->output[ring.member[m]]);
        program_ring_terminate(&ring);
    }
}

/* A member's piece of the sums becomes a piece of the results, in 16 bits. */
static void finish_sums(struct emitter *emitter, const struct product *product,
                        const struct program_ring *ring, const struct pim_span box[4], uint32_t place)
{
    struct program *program = &emitter->program;
    uint32_t own = ring->piece[(place + 1) % ring->count], node = ring->member[place];
    struct home *home = &emitter->home[product->layer];
    bool runs;
    const struct place sums =
        piece_of(box, emitter->plan->layout[product->layer], FLOW_SUM_BYTES, ring->count, own, &runs);
    uint64_t bytes = place_bytes(&sums), elements = bytes / FLOW_SUM_BYTES;
    home_add(emitter, product->layer, node, sums.box);
    if (bytes == 0)
        return;
    program_join(program, node);
    uint64_t loaded =
        program_memory(program, node, PIM_OP_LOAD, PIM_BUFFER_NONE,
                       ring->address[ring->piece[place]] + ring->offset[own], bytes, PROGRAM_NOTHING);
    const struct nice_note note = {.kind = NICE_NOTE_FINISH, .layer = product->layer};
    program->note = &note;
    uint64_t done = program_vector(program, node, product->operation->vector, 1, elements, 0, 32, loaded,
                                   PROGRAM_NOTHING);
    program->note = NULL;
    (void)program_store_place(program, node, product->layer, &home->pieces[home->count - 1].place, done);
}

/* Partial sums of nodes with other input channels are added round a cycle; each ends with a piece of the
 * results. */
uint64_t product_reduce_sums(struct emitter *emitter, struct product *product)
{
    struct program *program = &emitter->program;
    struct pim_map_layout layout = emitter->plan->layout[product->layer];
    uint32_t groups = pim_cut_groups(product->part, product->nodes, PIM_SHARED_SUMS, product->set), made = 0;
    struct program_ring *rings = reserve_rings(emitter, groups);
    struct pim_span(*box)[4] = calloc((size_t)groups + 1, sizeof *box);
    if (!box && program->status == PIM_OK)
        program->status = pim_fail(program->error, PIM_NO_MEMORY, "out of memory for partial sums");
    for (; made < groups && program->status == PIM_OK; made++) {
        struct program_ring *ring = &rings[made];
        if (!ring_of_set(emitter, product, made, ring))
            break;
        product_output_box(&product->part[ring->member[0]], box[made]);
        (void)cut_block(emitter, ring, box[made], layout, FLOW_SUM_BYTES);
        for (uint32_t m = 0; m < ring->count; m++) {
            const struct operand *output = &product->output[ring->member[m]];
            ring->address[m] = output->count > 0 ? output->places[0].address : 0;
            ring->member[m] = product_node(emitter, product, ring->member[m]);
        }
    }
    if (program->status == PIM_OK) {
        program_schedule(program, rings, groups);
        program_rings(program, rings, groups, true);
    }
    for (uint32_t s = 0; s < groups && program->status == PIM_OK; s++) {
        for (uint32_t place = 0; place < rings[s].count; place++)
            finish_sums(emitter, product, &rings[s], box[s], place);
    }
    release_rings(rings, made);
    free(box);
    return program_section(program);
}
