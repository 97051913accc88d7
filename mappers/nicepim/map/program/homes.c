#include "mappers/nicepim/map/program/homes.h"

#include "mappers/nicepim/map/program/messages.h"

#include <stdlib.h>
#include <string.h>

static void out_of_memory(struct emitter *emitter)
{
    if (emitter->program.status == PIM_OK)
        emitter->program.status =
            pim_fail(emitter->program.error, PIM_NO_MEMORY, "out of memory for the places of maps");
}

/* --- homes and operands --- */

bool home_reserve(struct emitter *emitter, struct home *home, size_t count)
{
    home->pieces = calloc(count + 1, sizeof *home->pieces);
    if (!home->pieces)
        out_of_memory(emitter);
    return home->pieces != NULL;
}

void home_add(struct emitter *emitter, uint32_t layer, uint32_t node, const struct pim_span box[4])
{
    struct home *home = &emitter->home[layer];
    if (flow_box_elements(box) == 0)
        return;
    struct piece *piece = &home->pieces[home->count++];
    piece->node = node;
    piece->place = (struct place){.layout = emitter->plan->layout[layer], .width = FLOW_BYTES};
    memcpy(piece->place.box, box, sizeof piece->place.box);
    piece->place.address = program_allocate(&emitter->program, node, place_bytes(&piece->place));
}

struct place place_borrow(struct emitter *emitter, uint32_t node, const struct pim_span box[4],
                          struct pim_map_layout layout, uint32_t width)
{
    struct place place = {.layout = layout, .width = width};
    memcpy(place.box, box, sizeof place.box);
    place.address = program_borrow(&emitter->program, node, place_bytes(&place));
    return place;
}

static bool operand_reserve(struct emitter *emitter, struct operand *operand, size_t count)
{
    *operand = (struct operand){.places = calloc(count + 1, sizeof *operand->places)};
    if (!operand->places)
        out_of_memory(emitter);
    return operand->places != NULL;
}

void operand_of_place(struct emitter *emitter, const struct place *place, struct operand *operand)
{
    if (operand_reserve(emitter, operand, 1))
        operand->places[operand->count++] = *place;
}

void operand_terminate(struct operand *operand)
{
    free(operand->places);
    *operand = (struct operand){0};
}

uint64_t operand_part(struct emitter *emitter, uint32_t node, enum pim_opcode opcode, enum pim_buffer buffer,
                      uint32_t layer, const struct operand *operand, const struct grid part[PLACE_DIMENSIONS],
                      uint64_t after, uint64_t *elements)
{
    uint64_t last = PROGRAM_NOTHING;
    for (uint32_t i = 0; i < operand->count; i++) {
        struct grid met[PLACE_DIMENSIONS];
        if (!place_meets(&operand->places[i], part, met))
            continue;
        last = program_part(&emitter->program, node, opcode, buffer, layer, &operand->places[i], met, after);
        *elements += (uint64_t)met[0].count * met[1].count * met[2].count * met[3].count;
        after = PROGRAM_NOTHING; /* loads and stores start in order */
    }
    return last;
}

/* --- moves --- */

static void add_move(struct emitter *emitter, uint32_t layer, uint32_t from, uint32_t to,
                     const struct place *source, const struct place *target,
                     const struct grid part[PLACE_DIMENSIONS])
{
    if (emitter->move_count == emitter->move_capacity) {
        size_t capacity = emitter->move_capacity ? 2 * emitter->move_capacity : 256;
        struct move *grown = realloc(emitter->moves, capacity * sizeof *grown);
        if (!grown) {
            out_of_memory(emitter);
            return;
        }
        emitter->moves = grown;
        emitter->move_capacity = capacity;
    }
    struct move *move = &emitter->moves[emitter->move_count++];
    *move = (struct move){.from = from,
                          .to = to,
                          .layer = layer,
                          .source = *source,
                          .target = *target,
                          .packed = PROGRAM_NOTHING,
                          .received = PROGRAM_NOTHING};
    memcpy(move->part, part, sizeof move->part);
}

/* Asked of every piece of a tensor for every box: without branches, as most do not meet. */
static bool boxes_meet(const struct pim_span a[PLACE_DIMENSIONS], const struct pim_span b[PLACE_DIMENSIONS])
{
    unsigned apart = 0;
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++) {
        uint32_t from = a[d].from > b[d].from ? a[d].from : b[d].from;
        uint32_t to = a[d].to < b[d].to ? a[d].to : b[d].to;
        apart |= from >= to;
    }
    return apart == 0;
}

void move_box(struct emitter *emitter, uint32_t layer, uint32_t node, const struct pim_span box[4],
              const struct place *target)
{
    const struct home *home = &emitter->home[layer];
    struct grid part[PLACE_DIMENSIONS], met[PLACE_DIMENSIONS];
    grid_of_box(box, part);
    for (uint32_t i = 0; i < home->count; i++) {
        const struct piece *piece = &home->pieces[i];
        if (boxes_meet(piece->place.box, box) && place_meets(&piece->place, part, met))
            add_move(emitter, layer, piece->node, node, &piece->place, target, met);
    }
}

void operand_bring(struct emitter *emitter, uint32_t layer, uint32_t node, const struct pim_span box[4],
                   struct operand *operand)
{
    const struct home *home = &emitter->home[layer];
    struct grid part[PLACE_DIMENSIONS], met[PLACE_DIMENSIONS];
    uint32_t places = 0, meets[OPERAND_PLACES];
    grid_of_box(box, part);
    for (uint32_t i = 0; i < home->count; i++) {
        if (!boxes_meet(home->pieces[i].place.box, box))
            continue;
        if (places < OPERAND_PLACES)
            meets[places] = i;
        places++;
    }
    if (home->everywhere || places > OPERAND_PLACES) {
        struct place place = place_borrow(emitter, node, box, emitter->plan->layout[layer], FLOW_BYTES);
        const struct nice_note placed = {.kind = NICE_NOTE_PLACED, .layer = layer, .place = place};
        if (home->everywhere)
            program_note(&emitter->program, node, &placed);
        move_box(emitter, layer, node, box, &place);
        operand_of_place(emitter, &place, operand);
        return;
    }
    if (!operand_reserve(emitter, operand, places))
        return;
    for (uint32_t i = 0; i < places; i++) {
        const struct piece *piece = &home->pieces[meets[i]];
        struct pim_span overlap[PLACE_DIMENSIONS];
        (void)place_meets(&piece->place, part, met);
        for (size_t d = 0; d < PLACE_DIMENSIONS; d++)
            overlap[d] = (struct pim_span){met[d].from, met[d].from + met[d].count};
        struct place *place = &operand->places[operand->count++];
        *place = piece->place;
        if (piece->node == node)
            continue;
        *place = place_borrow(emitter, node, overlap, piece->place.layout, FLOW_BYTES);
        add_move(emitter, layer, piece->node, node, &piece->place, place, met);
    }
}

static uint64_t move_bytes(const struct move *move)
{
    return (uint64_t)move->part[0].count * move->part[1].count * move->part[2].count * move->part[3].count *
           move->source.width;
}

/* A copy through the port of a node: its load, and its store when the next load has been asked for. */
struct copy {
    struct move *move;
    uint64_t loaded;
};

static void finish_copy(struct emitter *emitter, struct copy *copy)
{
    struct move *move = copy->move;
    if (!move)
        return;
    struct program *program = &emitter->program;
    if (move->from == move->to) {
        (void)program_part(program, move->to, PIM_OP_STORE, PIM_BUFFER_NONE, move->layer, &move->target,
                           move->part, copy->loaded);
    } else {
        uint64_t bytes = move_bytes(move), address = program_borrow(program, move->from, bytes);
        struct nice_note note = {.kind = NICE_NOTE_PACK, .layer = move->layer, .place = move->target};
        memcpy(note.tile.output, move->part, sizeof note.tile.output);
        program->note = &note;
        uint64_t stored =
            program_memory(program, move->from, PIM_OP_STORE, PIM_BUFFER_NONE, address, bytes, copy->loaded);
        program->note = NULL;
        move->source.address = address;
        move->packed = stored;
    }
    copy->move = NULL;
}

/* What stays on its node is copied; what is not one run is packed into one, in the order of its target. What
 * is one here and there has that order: groups of channels are whole in both, or positions are one. */
static void pack(struct emitter *emitter, struct copy *copies)
{
    struct program *program = &emitter->program;
    for (size_t i = 0; i < emitter->move_count && program->status == PIM_OK; i++) {
        struct move *move = &emitter->moves[i];
        uint64_t address, bytes;
        bool run = place_is_run(&move->source, move->part, &address, &bytes);
        if (run && move->from != move->to) {
            move->source.address = address;
            continue;
        }
        uint64_t loaded = program_part(program, move->from, PIM_OP_LOAD, PIM_BUFFER_NONE, move->layer,
                                       &move->source, move->part, PROGRAM_NOTHING);
        finish_copy(emitter, &copies[move->from]);
        copies[move->from] = (struct copy){move, loaded};
    }
    for (uint32_t node = 0; node < program->nodes; node++)
        finish_copy(emitter, &copies[node]);
}

/* Parts that do not lie in one run where they go come in elsewhere and are put in their places. */
static void unpack(struct emitter *emitter, const struct program_message *messages, size_t count)
{
    struct program *program = &emitter->program;
    for (size_t i = 0; i < count && program->status == PIM_OK; i++) {
        const struct move *move = &emitter->moves[messages[i].number];
        if (move->received == PROGRAM_NOTHING)
            continue;
        uint64_t loaded = program_memory(program, move->to, PIM_OP_LOAD, PIM_BUFFER_NONE, move->received,
                                         messages[i].bytes, messages[i].received);
        (void)program_part(program, move->to, PIM_OP_STORE, PIM_BUFFER_NONE, move->layer, &move->target,
                           move->part, loaded);
    }
}

static size_t make_messages(struct emitter *emitter, struct program_message *messages)
{
    size_t count = 0;
    for (size_t i = 0; i < emitter->move_count; i++) {
        struct move *move = &emitter->moves[i];
        uint64_t address, bytes;
        if (move->from == move->to)
            continue;
        if (!place_is_run(&move->target, move->part, &address, &bytes)) {
            bytes = move_bytes(move);
            address = move->received = program_borrow(&emitter->program, move->to, bytes);
        }
        messages[count++] = (struct program_message){.from = move->from,
                                                     .to = move->to,
                                                     .number = (uint32_t)i,
                                                     .bytes = bytes,
                                                     .source = move->source.address,
                                                     .target = address,
                                                     .after = move->packed};
    }
    return count;
}

uint64_t move_all(struct emitter *emitter)
{
    struct program *program = &emitter->program;
    struct program_message *messages = calloc(emitter->move_count + 1, sizeof *messages);
    struct copy *copies = calloc((size_t)program->nodes + 1, sizeof *copies);
    if (!messages || !copies) {
        out_of_memory(emitter);
    } else if (emitter->move_count > 0) {
        program_pace_all(program);
        pack(emitter, copies);
        program_paced_all(program);
        size_t count = make_messages(emitter, messages);
        program_exchange(program, messages, count);
        program_pace_all(program);
        unpack(emitter, messages, count);
        program_paced_all(program);
    }
    free(messages);
    free(copies);
    emitter->move_count = 0;
    return program_section(program);
}
