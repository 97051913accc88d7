#include "mappers/nicepim/map/candidates/pieces.h"

#include <stdlib.h>
#include <string.h>

struct pieces *pieces_create(const struct flow_operation *operation, uint32_t side,
                             struct pim_map_layout layout)
{
    struct pieces *pieces = calloc(1, sizeof *pieces);
    if (pieces) {
        pieces->operation = operation;
        pieces->side = side;
        pieces->layout = layout;
    }
    return pieces;
}

static uint32_t parts_along(const struct pim_cut *cut, uint32_t loop)
{
    return cut->high[loop] * cut->wide[loop];
}

void pieces_begin(struct pieces *pieces, const struct pim_cut *cut)
{
    const bool same = memcmp(pieces->cut.high, cut->high, sizeof cut->high) == 0 &&
                      memcmp(pieces->cut.wide, cut->wide, sizeof cut->wide) == 0;
    pieces->cut = *cut;
    pim_cut_number(cut, &pieces->numbers);
    if (same)
        return;
    pieces->made++;
    pieces->idle = false;
    for (uint32_t loop = 0; loop < PIM_LOOPS; loop++)
        pieces->idle |= parts_along(cut, loop) > pieces->operation->conv.length[loop];
    pieces->sharing = pieces->side == 0 ? parts_along(cut, PIM_LOOP_K)
                                        : parts_along(cut, PIM_LOOP_P) * parts_along(cut, PIM_LOOP_Q);
}

static void make(const struct pieces *pieces, uint32_t row, uint32_t column, struct cut_piece *piece)
{
    const struct flow_operation *operation = pieces->operation;
    const struct pim_cut *cut = &pieces->cut;
    struct pim_part part;
    struct pim_span box[4];
    bool runs;
    pim_cut_part(&operation->conv, cut, row, column, &part);
    *piece = (struct cut_piece){.made = pieces->made,
                                .works = !pieces->idle || pim_part_macs(&operation->conv, &part) > 0};
    if (!piece->works)
        return;
    uint32_t index = part.index[PIM_LOOP_K];
    if (pieces->side == 0) {
        flow_product_box(operation, &part, box);
    } else {
        flow_right_box(operation, &part, box);
        index = part.index[PIM_LOOP_P] * parts_along(cut, PIM_LOOP_Q) + part.index[PIM_LOOP_Q];
    }
    if (pieces->sharing > 1)
        split_box(box, pieces->layout, pieces->sharing, index, piece->box, &runs);
    else
        memcpy(piece->box, box, sizeof box);
    piece->elements = flow_box_elements(piece->box);
}

const struct cut_piece *pieces_of(struct pieces *pieces, uint32_t row, uint32_t column)
{
    struct cut_piece *piece = &pieces->piece[pieces->numbers.row[row] + pieces->numbers.column[column]];
    if (piece->made != pieces->made)
        make(pieces, row, column, piece);
    return piece;
}
