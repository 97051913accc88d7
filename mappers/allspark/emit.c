/* Appending instructions, walking over the nodes of a temporal layer, and the whole program. */
#include "mappers/allspark/emitter.h"

#include "sim/check.h"

#include <stdlib.h>
#include <string.h>

static uint16_t distance(const struct pim_emitter *emitter, uint64_t after)
{
    if (after == PIM_NOTHING)
        return 0;
    uint64_t reach = emitter->sequence - after;
    /* What lies further back than any window of instructions in flight is complete. */
    return reach > PIM_DEPENDENCY_REACH ? 0 : (uint16_t)reach;
}

uint64_t pim_emit(struct pim_emitter *emitter, struct pim_instruction instruction, uint64_t after,
                  uint64_t after2, uint64_t after3)
{
    instruction.dependency[0] = distance(emitter, after);
    instruction.dependency[1] = distance(emitter, after2);
    instruction.dependency[2] = distance(emitter, after3);
    if (emitter->status == PIM_OK)
        emitter->status =
            pim_trace_writer_append(emitter->writer, emitter->place.unit, &instruction, emitter->error);
    return emitter->sequence++;
}

void pim_emit_join(struct pim_emitter *emitter)
{
    (void)pim_emit(emitter, (struct pim_instruction){.opcode = PIM_OP_JOIN}, PIM_NOTHING, PIM_NOTHING,
                   PIM_NOTHING);
}

uint64_t pim_emit_memory(struct pim_emitter *emitter, enum pim_opcode opcode, enum pim_buffer buffer,
                         uint64_t address, uint64_t bytes, uint64_t stride, uint64_t count, uint64_t after)
{
    if (count > 1 && stride == bytes) {
        bytes *= count;
        count = 1;
    }
    pim_check(bytes > 0 && count > 0, "an empty load or store");
    struct pim_instruction instruction = {.opcode = (uint8_t)opcode, .detail = (uint8_t)buffer};
    instruction.u.memory.address = address;
    instruction.u.memory.bytes = pim_narrow_32(bytes);
    instruction.u.memory.stride = count > 1 ? pim_narrow_32(stride) : 0;
    instruction.u.memory.count = pim_narrow_32(count);
    return pim_emit(emitter, instruction, after, PIM_NOTHING, PIM_NOTHING);
}

uint64_t pim_emit_vector(struct pim_emitter *emitter, enum pim_vector operation, uint64_t rows,
                         uint64_t elements, uint64_t release, uint64_t after, uint64_t after2)
{
    struct pim_instruction instruction = {.opcode = PIM_OP_VECTOR, .detail = (uint8_t)operation};
    instruction.u.vector.rows = pim_narrow_32(rows);
    instruction.u.vector.elements = pim_narrow_32(elements);
    instruction.u.vector.release = pim_narrow_32(release);
    instruction.u.vector.bits = 8;
    return pim_emit(emitter, instruction, after, after2, PIM_NOTHING);
}

uint32_t pim_tile_unit(const struct pim_emitter *emitter, const struct pim_allspark_tile *tile, uint32_t ring,
                       uint32_t column)
{
    uint32_t x = tile->x + (tile->turned ? ring : column);
    uint32_t y = tile->y + (tile->turned ? column : ring);
    return y * emitter->plan->hardware.width + x;
}

uint32_t pim_place_unit(const struct pim_emitter *emitter, uint32_t ring, uint32_t column)
{
    return pim_tile_unit(emitter, &emitter->part->layout.tiles[emitter->place.group], ring, column);
}

uint32_t pim_branches_of_layer(const struct pim_allspark_partition *part, uint32_t layer)
{
    uint32_t capacity = part->layout.count * part->slots;
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
                   unsigned step, uint32_t block, uint32_t tag)
{
    emitter->place = place;
    emitter->sequence = pim_trace_writer_fetches(emitter->writer, place.unit);
    struct pim_instruction mark = {.opcode = PIM_OP_PHASE_BEGIN};
    mark.u.control.phase = id;
    (void)pim_emit(emitter, mark, PIM_NOTHING, PIM_NOTHING, PIM_NOTHING);
    body(emitter, step, block, tag);
    mark.opcode = PIM_OP_PHASE_END;
    (void)pim_emit(emitter, mark, PIM_NOTHING, PIM_NOTHING, PIM_NOTHING);
}

void pim_for_each_node(struct pim_emitter *emitter, uint32_t layer, uint32_t id, pim_emit_function *body,
                       unsigned step, uint32_t block, uint32_t tag)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint32_t branches = pim_branches_of_layer(part, layer);
    for (uint32_t group = 0; group < part->layout.count && group * part->slots < branches; group++)
        for (uint32_t ring = 0; ring < part->ring; ring++)
            for (uint32_t column = 0; column < part->v && emitter->status == PIM_OK; column++) {
                struct pim_place place = {
                    .group = group, .ring = ring, .row = ring % part->u, .column = column};
                place.branch = group * part->slots + ring / part->u;
                place.active = place.branch < branches;
                place.unit = pim_tile_unit(emitter, &part->layout.tiles[group], ring, column);
                pim_emit_node(emitter, place, id, body, step, block, tag);
            }
}

bool pim_layer_has_unit(const struct pim_emitter *emitter, uint32_t layer, uint32_t unit)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint32_t branches = pim_branches_of_layer(part, layer);
    for (uint32_t group = 0; group < part->layout.count && group * part->slots < branches; group++)
        for (uint32_t ring = 0; ring < part->ring; ring++)
            for (uint32_t column = 0; column < part->v; column++)
                if (pim_tile_unit(emitter, &part->layout.tiles[group], ring, column) == unit)
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

static enum pim_status emit(const struct pim_allspark_plan *plan, struct pim_trace_writer *writer,
                            uint64_t *cycles, uint64_t *parts, struct pim_error *error)
{
    struct pim_tilings *tilings = calloc(1, sizeof *tilings);
    if (!tilings)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the trace");
    struct pim_emitter emitter = {
        .plan = plan, .writer = writer, .error = error, .status = PIM_OK, .tilings = tilings};
    for (uint32_t stage = 0; stage < plan->stages && emitter.status == PIM_OK; stage++)
        pim_emit_stage(&emitter, stage);
    if (emitter.status == PIM_OK)
        pim_emit_head(&emitter);
    *cycles = emitter.estimate_cycles;
    if (parts)
        memcpy(parts, emitter.estimate_parts, sizeof emitter.estimate_parts);
    free(tilings);
    return emitter.status;
}

enum pim_status pim_allspark_emit(const struct pim_allspark_plan *plan, struct pim_trace_writer *writer,
                                  struct pim_error *error)
{
    uint64_t cycles;
    return emit(plan, writer, &cycles, NULL, error);
}

enum pim_status pim_allspark_estimate(const struct pim_allspark_plan *plan, uint64_t *cycles,
                                      struct pim_error *error)
{
    return emit(plan, NULL, cycles, NULL, error);
}

enum pim_status pim_allspark_estimate_parts(const struct pim_allspark_plan *plan,
                                            uint64_t parts[PIM_ESTIMATE_PARTS], struct pim_error *error)
{
    uint64_t cycles;
    return emit(plan, NULL, &cycles, parts, error);
}
