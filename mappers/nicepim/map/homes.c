#include "mappers/nicepim/map/homes.h"

#include <stdlib.h>
#include <string.h>

/* --- homes --- */

bool home_reserve(struct emitter *emitter, struct home *home, size_t count)
{
    home->pieces = calloc(count + 1, sizeof *home->pieces);
    if (!home->pieces && emitter->program.status == PIM_OK)
        emitter->program.status =
            pim_fail(emitter->program.error, PIM_NO_MEMORY, "out of memory for the places of maps");
    return home->pieces != NULL;
}

void home_add(struct emitter *emitter, struct home *home, uint32_t node, const struct pim_span box[4])
{
    uint64_t elements = flow_box_elements(box);
    if (elements == 0)
        return;
    struct piece *piece = &home->pieces[home->count++];
    piece->node = node;
    memcpy(piece->box, box, sizeof piece->box);
    piece->address = program_allocate(&emitter->program, node, elements * FLOW_BYTES);
}

void split_box(const struct pim_span box[4], uint32_t parts, uint32_t index, struct pim_span part[4])
{
    static const size_t order[] = {1, 2, 0, 3};
    size_t along = 1;
    for (size_t i = 0; i < 4; i++) {
        size_t d = order[i];
        uint32_t length = box[d].to - box[d].from;
        if (length > box[along].to - box[along].from)
            along = d;
        if (length >= parts) {
            along = d;
            break;
        }
    }
    memcpy(part, box, 4 * sizeof *part);
    struct pim_span span = pim_span_of(box[along].to - box[along].from, parts, index);
    part[along] = (struct pim_span){box[along].from + span.from, box[along].from + span.to};
}

/* --- moving boxes --- */

void clear_moves(struct emitter *emitter)
{
    memset(emitter->between, 0,
           (size_t)emitter->program.nodes * emitter->program.nodes * sizeof *emitter->between);
}

void need_box(struct emitter *emitter, const struct home *home, uint32_t node, const struct pim_span box[4])
{
    for (uint32_t i = 0; i < home->count; i++) {
        const struct piece *piece = &home->pieces[i];
        if (piece->node != node)
            emitter->between[(size_t)piece->node * emitter->program.nodes + node] +=
                pim_box_overlap(piece->box, box) * FLOW_BYTES;
    }
}

uint64_t move_boxes(struct emitter *emitter)
{
    struct program *program = &emitter->program;
    size_t count = 0;
    for (uint32_t from = 0; from < program->nodes; from++) {
        for (uint32_t to = 0; to < program->nodes; to++) {
            uint64_t bytes = emitter->between[(size_t)from * program->nodes + to];
            if (bytes > 0)
                emitter->messages[count++] = (struct program_message){
                    .from = from, .to = to, .bytes = bytes, .target = program_borrow(program, to, bytes)};
        }
    }
    return program_exchange(program, emitter->messages, count);
}
