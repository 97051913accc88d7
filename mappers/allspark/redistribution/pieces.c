/* Cutting at the borders of moves, and where a piece would be too large. */
#include "mappers/allspark/redistribution/pieces.h"

#include <stdlib.h>

struct cutting {
    const struct pim_exchange *exchange;
    uint64_t most; /* bytes of a piece */
    uint32_t moves;
    struct pim_move *move; /* from one node to another, by what they take */
    struct pim_pieces *pieces;
};

static int compare_moves(const void *left, const void *right)
{
    const struct pim_move *a = left, *b = right;
    if (a->from_region != b->from_region)
        return a->from_region < b->from_region ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to_region != b->to_region)
        return a->to_region < b->to_region ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The moves between nodes, without those of a node to itself. */
static bool list_moves(struct cutting *work)
{
    const struct pim_exchange *exchange = work->exchange;
    work->move = calloc((size_t)exchange->move_count + 1, sizeof *work->move);
    for (uint32_t i = 0; work->move && i < exchange->move_count; i++)
        if (exchange->region[exchange->moves[i].from_region].unit !=
            exchange->region[exchange->moves[i].to_region].unit)
            work->move[work->moves++] = exchange->moves[i];
    if (work->move)
        qsort(work->move, work->moves, sizeof *work->move, compare_moves);
    return work->move != NULL;
}

/* Ascending borders of what the moves first .. end - 1, all of one region, take; between two of them
   everything has the same consumers. Returns their number. */
static uint32_t list_borders(const struct cutting *work, uint32_t first, uint32_t end, uint64_t *border)
{
    uint32_t count = 0, distinct = 0;
    for (uint32_t i = first; i < end; i++) {
        border[count++] = work->move[i].from;
        border[count++] = work->move[i].from + work->move[i].bytes;
    }
    qsort(border, count, sizeof *border, compare_numbers);
    for (uint32_t i = 0; i < count; i++)
        if (distinct == 0 || border[distinct - 1] != border[i])
            border[distinct++] = border[i];
    return distinct;
}

/* Appends a need, and the piece where none has been made of these bytes. */
static void add_need(struct cutting *work, const struct pim_move *move, uint32_t piece, uint64_t begin,
                     uint64_t bytes)
{
    struct pim_pieces *pieces = work->pieces;
    if (pieces->count <= piece)
        pieces->count = piece + 1;
    struct pim_piece *of = &pieces->piece[piece];
    of->from_region = move->from_region;
    of->root = work->exchange->region[move->from_region].root;
    of->from = begin;
    of->bytes = (uint32_t)bytes;
    of->needs++;
    pieces->need[pieces->needs++] =
        (struct pim_need){.piece = piece, .to_region = move->to_region, .to = move->to + begin - move->from};
}

/* Cuts what a region gives. Counts alone while there is no room for pieces yet; *pieces and *needs go on. */
static void cut_region(struct cutting *work, uint32_t first, uint32_t end, const uint64_t *border,
                       uint32_t borders, uint64_t *pieces, uint64_t *needs)
{
    const uint64_t most = work->most;
    uint32_t low = 0;
    for (uint32_t i = first; i < end; i++) {
        const struct pim_move *move = &work->move[i];
        uint64_t past = move->from + move->bytes, before = 0;
        while (border[low] < move->from) { /* moves ascend */
            *pieces += (border[low + 1] - border[low] + most - 1) / most;
            low++;
        }
        for (uint32_t j = low; j + 1 < borders && border[j] < past; j++)
            for (uint64_t at = border[j]; at < border[j + 1]; at += most) {
                uint64_t left = border[j + 1] - at;
                if (work->pieces->piece)
                    add_need(work, move, (uint32_t)(*pieces + before), at, left < most ? left : most);
                before++;
                ++*needs;
            }
    }
    for (; low + 1 < borders; low++)
        *pieces += (border[low + 1] - border[low] + most - 1) / most;
}

static int compare_needs(const void *left, const void *right)
{
    const struct pim_need *a = left, *b = right;
    if (a->piece != b->piece)
        return a->piece < b->piece ? -1 : 1;
    if (a->to_region != b->to_region) /* the regions of a branch follow each other */
        return a->to_region < b->to_region ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

/* Counts in the first pass, cuts in the second. */
static bool cut_moves(struct cutting *work)
{
    uint64_t *border = calloc(2 * (size_t)work->moves + 1, sizeof *border);
    struct pim_pieces *cut = work->pieces;
    uint64_t pieces = 0, needs = 0;
    for (unsigned pass = 0; border && pass < 2; pass++) {
        if (pass == 1) {
            cut->piece = pieces < UINT32_MAX ? calloc((size_t)pieces + 1, sizeof *cut->piece) : NULL;
            cut->need = needs < UINT32_MAX ? calloc((size_t)needs + 1, sizeof *cut->need) : NULL;
            if (!cut->piece || !cut->need)
                break;
            pieces = needs = 0;
        }
        for (uint32_t first = 0, end; first < work->moves; first = end) {
            for (end = first;
                 end < work->moves && work->move[end].from_region == work->move[first].from_region;)
                end++;
            uint32_t borders = list_borders(work, first, end, border);
            cut_region(work, first, end, border, borders, &pieces, &needs);
        }
    }
    free(border);
    if (!cut->piece || !cut->need)
        return false;
    qsort(cut->need, cut->needs, sizeof *cut->need, compare_needs);
    for (uint32_t i = 0, next = 0; i < cut->count; next += cut->piece[i++].needs)
        cut->piece[i].need = cut->need + next;
    return true;
}

bool pim_pieces_cut(const struct pim_exchange *exchange, uint64_t most, struct pim_pieces *pieces)
{
    struct cutting work = {.exchange = exchange, .most = most, .pieces = pieces};
    *pieces = (struct pim_pieces){0};
    bool made = list_moves(&work) && cut_moves(&work);
    free(work.move);
    return made;
}

void pim_pieces_terminate(struct pim_pieces *pieces)
{
    free(pieces->piece);
    free(pieces->need);
}
