#include "models/system/report/arrows.h"

#include "sim/arena.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_TABLE = 256 };

bool pim_message_end_of(const struct pim_instruction *instruction, uint32_t unit, struct pim_arrow_end *end)
{
    enum pim_opcode opcode = (enum pim_opcode)instruction->opcode;
    bool sends = opcode == PIM_OP_SEND || opcode == PIM_OP_ROW_SEND || opcode == PIM_OP_TILE_OUTPUT;
    uint32_t peer, tag;
    if (sends ? opcode == PIM_OP_SEND : opcode == PIM_OP_RECEIVE) {
        peer = instruction->u.network.peer;
        tag = instruction->u.network.tag;
    } else if (sends ? opcode == PIM_OP_ROW_SEND : opcode == PIM_OP_ROW_RECEIVE) {
        peer = instruction->u.row_message.peer;
        tag = instruction->u.row_message.tag;
    } else if (sends ? opcode == PIM_OP_TILE_OUTPUT : opcode == PIM_OP_TILE_INPUT) {
        peer = instruction->u.tile_edge.peer;
        tag = instruction->u.tile_edge.edge;
    } else {
        return false;
    }
    *end = (struct pim_arrow_end){sends, sends ? unit : peer, sends ? peer : unit, tag};
    return true;
}

static size_t place_of(const struct pim_arrows *arrows, uint32_t source, uint32_t destination, uint32_t tag)
{
    const uint32_t key[] = {source, destination, tag};
    uint64_t hash = 0xcbf29ce484222325U; /* FNV-1a over the words */
    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++)
        hash = (hash ^ key[i]) * 0x100000001b3U;
    size_t place = (size_t)(hash ^ hash >> 32) & (arrows->table_size - 1);
    while (arrows->table[place]) {
        const struct pim_arrow *arrow = &arrows->arrow[arrows->table[place] - 1];
        if (arrow->source == source && arrow->destination == destination && arrow->tag == tag)
            break;
        place = (place + 1) & (arrows->table_size - 1);
    }
    return place;
}

static void grow(struct pim_arrows *arrows)
{
    size_t size = arrows->table_size ? 2 * arrows->table_size : FIRST_TABLE, room = 0;
    free(arrows->table);
    arrows->table = pim_array_require(NULL, &room, size, sizeof *arrows->table);
    arrows->table_size = size;
    memset(arrows->table, 0, size * sizeof *arrows->table);
    for (size_t i = 0; i < arrows->count; i++) {
        const struct pim_arrow *arrow = &arrows->arrow[i];
        arrows->table[place_of(arrows, arrow->source, arrow->destination, arrow->tag)] = (uint32_t)(i + 1);
    }
}

uint64_t pim_arrows_next(struct pim_arrows *arrows, const struct pim_arrow_end *end)
{
    if (2 * arrows->count >= arrows->table_size)
        grow(arrows);
    size_t place = place_of(arrows, end->source, end->destination, end->tag);
    if (!arrows->table[place]) {
        arrows->arrow =
            pim_array_require(arrows->arrow, &arrows->capacity, arrows->count + 1, sizeof *arrows->arrow);
        arrows->arrow[arrows->count] = (struct pim_arrow){end->source, end->destination, end->tag, 0, 0};
        arrows->table[place] = (uint32_t)++arrows->count;
    }
    const uint32_t index = arrows->table[place];
    struct pim_arrow *arrow = &arrows->arrow[index - 1];
    return (uint64_t)index << 32 | (end->sends ? arrow->sent++ : arrow->received++);
}

void pim_arrows_terminate(struct pim_arrows *arrows)
{
    free(arrows->arrow);
    free(arrows->table);
}
