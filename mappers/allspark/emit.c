/* Appending instructions, walking over the nodes of a temporal layer, and the whole program. */
#include "mappers/allspark/emitter.h"

#include "mappers/allspark/memory.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/shapes.h"
#include "sim/check.h"
#include "sim/try.h"

#include <stdlib.h>
#include <string.h>

static uint64_t done(struct pim_emitter *emitter, uint64_t number)
{
    emitter->status = emitter->program->status;
    return number;
}

uint64_t pim_emit(struct pim_emitter *emitter, struct pim_instruction instruction, uint64_t after,
                  uint64_t after2, uint64_t after3)
{
    return done(emitter, pim_program_append(emitter->program, emitter->place.unit, instruction, after, after2,
                                            after3));
}

void pim_emit_join(struct pim_emitter *emitter)
{
    (void)done(emitter, pim_program_join(emitter->program, emitter->place.unit));
}

uint64_t pim_emit_memory(struct pim_emitter *emitter, enum pim_opcode opcode, enum pim_buffer buffer,
                         uint64_t address, uint64_t bytes, uint64_t stride, uint64_t count, uint64_t after)
{
    const struct pim_program_pieces pieces = {address, bytes, stride, count};
    pim_check(bytes > 0 && count > 0, "an empty load or store");
    return done(emitter,
                pim_program_memory(emitter->program, emitter->place.unit, opcode, buffer, &pieces, after));
}

uint64_t pim_emit_vector(struct pim_emitter *emitter, enum pim_vector operation, uint64_t rows,
                         uint64_t elements, uint64_t release, uint64_t after, uint64_t after2)
{
    return done(emitter, pim_program_vector(emitter->program, emitter->place.unit, operation, rows, elements,
                                            release, after, after2));
}

uint64_t pim_emit_copy(struct pim_emitter *emitter, uint64_t from, uint64_t to, uint64_t bytes)
{
    uint64_t loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, from, bytes, 0, 1, PIM_NOTHING);
    return pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE, to, bytes, 0, 1, loaded);
}

uint64_t pim_emit_message(struct pim_emitter *emitter, struct pim_message_end end, uint64_t after)
{
    struct pim_instruction instruction = {.opcode = end.sends ? PIM_OP_SEND : PIM_OP_RECEIVE,
                                          .detail = (uint8_t)end.kind};
    instruction.u.network.peer = end.peer;
    instruction.u.network.tag = end.tag;
    instruction.u.network.address = end.address;
    instruction.u.network.bytes = end.bytes;
    return pim_emit(emitter, instruction, after, PIM_NOTHING, PIM_NOTHING);
}

uint32_t pim_place_unit(const struct pim_emitter *emitter, uint32_t ring, uint32_t column)
{
    return pim_tile_unit(emitter->plan, &emitter->part->layout.tiles[emitter->place.group], ring, column);
}

uint32_t pim_branches_of_layer(const struct pim_allspark_partition *part, uint32_t layer)
{
    uint32_t capacity = pim_layer_capacity(part);
    uint32_t before = layer * capacity;
    return part->layer_branches - before < capacity ? part->layer_branches - before : capacity;
}

void pim_emit_image(struct pim_emitter *emitter, uint32_t image)
{
    if (emitter->image == image)
        return;
    pim_workspace_layout(emitter->stage, emitter->partition, image, emitter->plan->workspace_base,
                         &emitter->workspace);
    emitter->image = image;
}

void pim_emit_begin_partition(struct pim_emitter *emitter, uint32_t index)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    emitter->partition = index;
    emitter->part = &stage->partition[index];
    emitter->whole = NULL;
    for (uint32_t i = 0; i < stage->partitions; i++)
        if (stage->partition[i].reused)
            emitter->whole = &stage->partition[i];
    emitter->image = UINT32_MAX;
    pim_emit_image(emitter, 0);
}

void pim_emit_node(struct pim_emitter *emitter, struct pim_place place, uint32_t id, pim_emit_function *body,
                   const void *context, uint32_t tag)
{
    emitter->place = place;
    pim_program_enter(emitter->program, place.unit, id);
    body(emitter, context, tag);
    pim_program_leave(emitter->program, place.unit);
    emitter->status = emitter->program->status;
}

/* Node `index` of a layer of emitter->part, group by group; false behind the last. */
static bool place_of(const struct pim_emitter *emitter, uint32_t layer, uint32_t index,
                     struct pim_place *place)
{
    const struct pim_allspark_partition *part = emitter->part;
    const uint32_t nodes = part->slots * part->u * part->v, group = index / nodes,
                   branches = pim_branches_of_layer(part, layer);
    if (group >= part->layout.count || group * part->slots >= branches)
        return false;
    *place = (struct pim_place){
        .group = group, .ring = index % nodes / part->v, .column = index % nodes % part->v};
    place->row = place->ring % part->u;
    place->branch = group * part->slots + place->ring / part->u;
    place->active = place->branch < branches;
    place->unit = pim_tile_unit(emitter->plan, &part->layout.tiles[group], place->ring, place->column);
    return true;
}

void pim_for_each_node(struct pim_emitter *emitter, uint32_t layer, uint32_t id, pim_emit_function *body,
                       const void *context, uint32_t tag)
{
    struct pim_place place;
    for (uint32_t i = 0; emitter->status == PIM_OK && place_of(emitter, layer, i, &place); i++)
        pim_emit_node(emitter, place, id, body, context, tag);
}

bool pim_layer_has_unit(const struct pim_emitter *emitter, uint32_t layer, uint32_t unit)
{
    struct pim_place place;
    for (uint32_t i = 0; place_of(emitter, layer, i, &place); i++)
        if (place.unit == unit)
            return true;
    return false;
}

void pim_add_up(struct pim_emitter *emitter, struct pim_trace_phase *phase)
{
    phase->estimate_cycles = 0;
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        phase->estimate_cycles += phase->estimate_parts[part];
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        emitter->estimate_parts[part] += phase->estimate_parts[part];
    emitter->estimate_cycles += phase->estimate_cycles;
}

static void emit_all(struct pim_emitter *emitter)
{
    for (uint32_t stage = 0; stage < emitter->plan->stages && emitter->status == PIM_OK; stage++)
        pim_emit_stage(emitter, stage);
    if (emitter->status == PIM_OK)
        pim_emit_head(emitter);
}

static enum pim_status emit(const struct pim_allspark_plan *plan, struct pim_trace_writer *writer,
                            uint64_t *cycles, uint64_t *parts, struct pim_error *error)
{
    enum { ELEMENT_BITS = 8 };
    const uint32_t units = plan->hardware.width * plan->hardware.height;
    struct pim_tilings *tilings = calloc(1, sizeof *tilings);
    struct pim_program program;
    struct pim_arena arena;
    PIM_NEED_MEMORY(tilings, error, "out of memory for the trace");
    struct pim_emitter emitter = {.plan = plan,
                                  .writer = writer,
                                  .program = writer ? &program : NULL,
                                  .error = error,
                                  .status = PIM_OK,
                                  .tilings = tilings};
    pim_arena_initialize(&arena, 4096);
    if (writer)
        emitter.status = pim_program_initialize(&program, writer, units, ELEMENT_BITS, &arena, error);
    if (emitter.status == PIM_OK)
        emit_all(&emitter);
    if (cycles)
        *cycles = emitter.estimate_cycles;
    if (parts)
        memcpy(parts, emitter.estimate_parts, sizeof emitter.estimate_parts);
    pim_arena_terminate(&arena);
    free(tilings);
    return emitter.status;
}

enum pim_status pim_allspark_emit(const struct pim_allspark_plan *plan, struct pim_trace_writer *writer,
                                  struct pim_error *error)
{
    return emit(plan, writer, NULL, NULL, error);
}

enum pim_status pim_allspark_estimate(const struct pim_allspark_plan *plan, uint64_t *cycles,
                                      uint64_t parts[PIM_ESTIMATE_PARTS], struct pim_error *error)
{
    return emit(plan, NULL, cycles, parts, error);
}
