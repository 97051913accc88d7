/* Which pieces go through which top-left nodes, in which round, and where they lie there. */
#include "mappers/allspark/memory.h"
#include "mappers/allspark/redistribution/pieces.h"
#include "mappers/allspark/redistribution/redistribute.h"
#include "sim/integer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
    SPLIT = 64 /* pieces are so much smaller than the room, that many of them go in a round */
};

struct work {
    struct pim_exchange *exchange;
    uint64_t room, limit; /* addresses between which the top-left nodes have their staging */
    struct pim_pieces cut;
    uint32_t rounds;
    uint32_t *rank;               /* of each region: of its branch, among those that give or those that get */
    uint32_t ranks;               /* more than any */
    uint64_t *cursor;             /* of each unit: the next byte of its staging in the round */
    uint64_t *leaving, *arriving; /* of each region: the next byte of its staging */
};

static uint32_t unit_of(const struct work *work, uint32_t region)
{
    return work->exchange->region[region].unit;
}

static uint32_t root_of(const struct work *work, uint32_t region)
{
    return work->exchange->region[region].root;
}

/* --- rounds --- */

/* By branches, then by rounds, then by consumers: what goes the same way lies together. */
static int compare_pieces(const void *left, const void *right)
{
    const struct pim_piece *a = left, *b = right;
    if ((a->needs == 0) != (b->needs == 0)) /* gaps between moves: at the end */
        return a->needs == 0 ? 1 : -1;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    if (a->round != b->round)
        return a->round < b->round ? -1 : 1;
    for (uint32_t i = 0; i < a->needs && i < b->needs; i++)
        if (a->need[i].to_region != b->need[i].to_region)
            return a->need[i].to_region < b->need[i].to_region ? -1 : 1;
    if (a->needs != b->needs)
        return a->needs < b->needs ? -1 : 1;
    if (a->from_region != b->from_region)
        return a->from_region < b->from_region ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Units whose top-left staging a piece takes, a unit as often as it takes it: at most needs + 1. */
static uint32_t list_stages(const struct work *work, const struct pim_piece *piece, uint32_t *unit)
{
    uint32_t count = 0, own = unit_of(work, piece->root);
    unit[count++] = own;
    for (uint32_t i = 0; i < piece->needs; i++) {
        uint32_t root = root_of(work, piece->need[i].to_region);
        bool again = i > 0 && root == root_of(work, piece->need[i - 1].to_region);
        if (!again && unit_of(work, root) != own)
            unit[count++] = unit_of(work, root);
    }
    return count;
}

struct level {
    uint32_t round;
    uint64_t used;
};

/* Takes the bytes of a piece on all of its units in one round; false when they have no room there. */
static bool take(const struct work *work, const struct pim_piece *piece, const uint32_t *unit, uint32_t units,
                 uint32_t round, struct level *level)
{
    for (uint32_t i = 0; i < units; i++) {
        struct level *of = &level[unit[i]];
        if (of->round < round)
            *of = (struct level){.round = round};
        of->used += piece->bytes;
    }
    for (uint32_t i = 0; i < units; i++)
        if (level[unit[i]].used > work->limit - work->room)
            return false;
    return true;
}

/* The first round in which a piece has room, not before one that a unit of it has left. False: in none. */
static bool find_round(struct work *work, struct pim_piece *piece, uint32_t *unit, struct level *level)
{
    uint32_t units = list_stages(work, piece, unit), round = 0;
    for (uint32_t i = 0; i < units; i++)
        round = level[unit[i]].round > round ? level[unit[i]].round : round;
    if (!take(work, piece, unit, units, round, level) && !take(work, piece, unit, units, ++round, level))
        return false;
    piece->round = round;
    work->rounds = round + 1 > work->rounds ? round + 1 : work->rounds;
    return true;
}

/* Branches take turns, so that all of them go forward at the same time. */
static enum pim_status deal_rounds(struct work *work, struct pim_error *error)
{
    struct level *level = calloc((size_t)work->exchange->units + 1, sizeof *level);
    uint32_t *unit = calloc((size_t)work->cut.needs + 2, sizeof *unit),
             *next = calloc((size_t)work->cut.count + 1, sizeof *next), branches = 0;
    bool fits = true;
    for (uint32_t i = 0; next && i < work->cut.count; i++) /* where the pieces of each branch begin */
        if (i == 0 || work->cut.piece[i].root != work->cut.piece[i - 1].root)
            next[branches++] = i;
    for (bool more = true; more && level && unit && next && fits;) {
        more = false;
        for (uint32_t i = 0; i < branches && fits; i++) {
            uint32_t at = next[i];
            if (at == UINT32_MAX)
                continue;
            fits = find_round(work, &work->cut.piece[at], unit, level);
            bool last = at + 1 == work->cut.count || work->cut.piece[at + 1].root != work->cut.piece[at].root;
            next[i] = last ? UINT32_MAX : at + 1;
            more = more || !last;
        }
    }
    bool memory = level && unit && next;
    free(level);
    free(unit);
    free(next);
    if (!memory)
        return pim_exchange_no_memory(error);
    if (!fits)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the top-left nodes have no room to gather features: %" PRIu64
                        " bytes of their memory are left; more memory, or direct messages, are needed",
                        work->limit - work->room);
    return PIM_OK;
}

/* --- the work --- */

/* Of the transport: step 0 packs, the last one unpacks. */
static uint32_t step_of(uint32_t round, enum pim_message kind)
{
    return 3 * round + (uint32_t)kind;
}

static uint32_t last_step(const struct work *work)
{
    return work->exchange->transport.steps - 1;
}

static bool copy(const struct work *work, uint32_t region, uint32_t step, uint64_t from, uint64_t to,
                 uint32_t bytes)
{
    const struct pim_transport_copy copy = {unit_of(work, region), step, from, to, bytes, 0};
    return pim_transport_add_copy(&work->exchange->transport, &copy, true);
}

static bool send(const struct work *work, uint32_t round, enum pim_message kind, uint32_t from_region,
                 uint32_t to_region, uint64_t order, uint64_t from, uint64_t to, uint32_t bytes)
{
    const struct pim_transport_message message = {.step = step_of(round, kind),
                                                  .kind = kind,
                                                  .from_unit = unit_of(work, from_region),
                                                  .to_unit = unit_of(work, to_region),
                                                  .order = order,
                                                  .from = from,
                                                  .to = to,
                                                  .bytes = bytes};
    return pim_transport_add_message(&work->exchange->transport, &message);
}

static uint64_t take_bytes(struct work *work, uint32_t region, uint32_t bytes)
{
    uint64_t *cursor = &work->cursor[unit_of(work, region)], at = *cursor;
    *cursor += bytes;
    assert(*cursor <= work->limit);
    work->exchange->end = pim_larger(work->exchange->end, *cursor);
    return at;
}

/* Nodes pack and send to the top-left node, which packs its own part where the others arrive. */
static bool gather(struct work *work, struct pim_piece *piece, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++) {
        struct pim_piece *p = &piece[i];
        bool own = p->from_region == p->root;
        p->collected = take_bytes(work, p->root, p->bytes);
        if (own) {
            if (!copy(work, p->root, step_of(p->round, PIM_MESSAGE_GATHER), p->from, p->collected, p->bytes))
                return false;
            continue;
        }
        p->staged = work->leaving[p->from_region];
        work->leaving[p->from_region] += p->bytes;
        if (!copy(work, p->from_region, 0, p->from, p->staged, p->bytes) ||
            !send(work, p->round, PIM_MESSAGE_GATHER, p->from_region, p->root, p->root, p->staged,
                  p->collected, p->bytes))
            return false;
    }
    return true;
}

/* What one node of a branch gets of a piece: from the top-left node to where it wants it. */
static bool scatter(struct work *work, const struct pim_piece *piece, uint32_t first, uint32_t end)
{
    uint32_t region = piece->need[first].to_region, root = root_of(work, region), last = last_step(work);
    uint64_t at = piece->arrived;
    bool own = region == root, made = true;
    if (!own || work->rounds > 1) {
        at = work->arriving[region];
        work->arriving[region] += piece->bytes;
    }
    if (own && at != piece->arrived) /* the next round comes to the same place */
        made =
            copy(work, region, step_of(piece->round, PIM_MESSAGE_SCATTER), piece->arrived, at, piece->bytes);
    if (!own)
        made = send(work, piece->round, PIM_MESSAGE_SCATTER, root, region, root, piece->arrived, at,
                    piece->bytes);
    for (uint32_t i = first; made && i < end; i++)
        made = copy(work, region, last, at, piece->need[i].to, piece->bytes);
    return made;
}

/* The pieces of a branch that go to branch `root`. needs[i] is the next need of piece i. */
static bool give(struct work *work, struct pim_piece *piece, uint32_t pieces, uint32_t *needs, uint32_t root)
{
    uint32_t regions = work->exchange->regions;
    for (uint32_t i = 0; i < pieces; i++) {
        struct pim_piece *p = &piece[i];
        if (needs[i] == p->needs || root_of(work, p->need[needs[i]].to_region) != root)
            continue;
        p->arrived = p->collected;
        if (unit_of(work, root) != unit_of(work, p->root)) {
            uint64_t behind = ((uint64_t)work->rank[root] + work->ranks - work->rank[p->root]) % work->ranks;
            p->arrived = take_bytes(work, root, p->bytes);
            if (!send(work, p->round, PIM_MESSAGE_TRANSFER, p->root, root, behind << 32 | p->root,
                      p->collected, p->arrived, p->bytes))
                return false;
        }
    }
    /* Node by node, so that what a node gets of a branch is one message. */
    for (uint32_t region = root; region < regions && root_of(work, region) == root; region++)
        for (uint32_t i = 0; i < pieces; i++) {
            uint32_t first = needs[i];
            while (needs[i] < piece[i].needs && piece[i].need[needs[i]].to_region == region)
                needs[i]++;
            if (needs[i] > first && !scatter(work, &piece[i], first, needs[i]))
                return false;
        }
    return true;
}

/* The branches that get something of these pieces, in their order. */
static bool give_all(struct work *work, struct pim_piece *piece, uint32_t pieces)
{
    uint32_t *needs = calloc((size_t)pieces + 1, sizeof *needs);
    bool made = needs != NULL;
    for (;;) {
        uint32_t root = UINT32_MAX;
        for (uint32_t i = 0; made && i < pieces; i++)
            if (needs[i] < piece[i].needs && root_of(work, piece[i].need[needs[i]].to_region) < root)
                root = root_of(work, piece[i].need[needs[i]].to_region);
        if (!made || root == UINT32_MAX)
            break;
        made = give(work, piece, pieces, needs, root);
    }
    free(needs);
    return made;
}

/* The pieces of one branch in one round begin at i; returns the first behind them. */
static uint32_t end_of(const struct work *work, uint32_t i)
{
    uint32_t end = i;
    while (end < work->cut.count && work->cut.piece[end].root == work->cut.piece[i].root &&
           work->cut.piece[end].round == work->cut.piece[i].round)
        end++;
    return end;
}

static bool relay_pieces(struct work *work)
{
    for (uint32_t round = 0; round < work->rounds; round++) {
        for (uint32_t unit = 0; unit < work->exchange->units; unit++)
            work->cursor[unit] = work->room;
        for (uint32_t i = 0, end; i < work->cut.count; i = end) {
            end = end_of(work, i);
            if (work->cut.piece[i].round == round && !gather(work, &work->cut.piece[i], end - i))
                return false;
        }
        for (uint32_t i = 0, end; i < work->cut.count; i = end) {
            end = end_of(work, i);
            if (work->cut.piece[i].round == round && !give_all(work, &work->cut.piece[i], end - i))
                return false;
        }
    }
    return true;
}

/* What nodes give to themselves: as without a relay. The staging of the others follows. */
static bool add_local(struct work *work)
{
    const struct pim_exchange *exchange = work->exchange;
    uint32_t last = last_step(work);
    for (uint32_t i = 0; i < exchange->move_count; i++) {
        const struct pim_move *move = &exchange->moves[i];
        uint64_t at = work->leaving[move->from_region];
        if (unit_of(work, move->from_region) != unit_of(work, move->to_region))
            continue;
        if (exchange->apart) {
            if (!copy(work, move->to_region, last, move->from, move->to, move->bytes))
                return false;
            continue;
        }
        work->leaving[move->from_region] += move->bytes;
        if (!copy(work, move->from_region, 0, move->from, at, move->bytes) ||
            !copy(work, move->to_region, last, at, move->to, move->bytes))
            return false;
    }
    return true;
}

/* --- the whole --- */

/* The staging of the regions begins. */
static void begin_staging(struct work *work)
{
    for (uint32_t i = 0; i < work->exchange->regions; i++) {
        work->leaving[i] = work->exchange->region[i].leaving;
        work->arriving[i] = work->exchange->region[i].arriving;
    }
}

/* Where that of the top-left nodes begins: behind that of the regions. */
static uint64_t end_of_staging(struct work *work, uint64_t room)
{
    begin_staging(work);
    for (uint32_t i = 0; i < work->exchange->move_count; i++) {
        const struct pim_move *move = &work->exchange->moves[i];
        room = pim_larger(room, work->leaving[move->from_region] += move->bytes);
        room = pim_larger(room, work->arriving[move->to_region] += move->bytes);
    }
    begin_staging(work);
    return pim_memory_align(room);
}

/* Numbers the branches. Each gives at most once to those that are so many numbers behind it, and gets at most
   once from those before it: transfers of one distance go at the same time. */
static void rank_branches(struct work *work)
{
    const struct pim_exchange *exchange = work->exchange;
    uint32_t rank = 0;
    for (uint32_t i = 0; i < exchange->regions; i++) {
        if (i == exchange->producers)
            rank = 0;
        else if (i > 0 && exchange->region[i].root == i)
            rank++;
        work->rank[i] = rank;
        work->ranks = rank + 1 > work->ranks ? rank + 1 : work->ranks;
    }
}

static bool begin(const struct pim_allspark_plan *plan, struct work *work, uint64_t room)
{
    const struct pim_exchange *exchange = work->exchange;
    work->rank = calloc((size_t)exchange->regions + 1, sizeof *work->rank);
    work->cursor = calloc((size_t)exchange->units + 1, sizeof *work->cursor);
    work->leaving = calloc((size_t)exchange->regions + 1, sizeof *work->leaving);
    work->arriving = calloc((size_t)exchange->regions + 1, sizeof *work->arriving);
    if (!work->rank || !work->cursor || !work->leaving || !work->arriving)
        return false;
    work->room = end_of_staging(work, room);
    work->limit = pim_larger(plan->hardware.memory_bytes, work->room);
    rank_branches(work);
    return pim_pieces_cut(exchange, pim_larger(1, (work->limit - work->room) / SPLIT), &work->cut);
}

static bool finish(struct work *work)
{
    struct pim_transport *transport = &work->exchange->transport;
    *transport = (struct pim_transport){.units = work->exchange->units, .steps = 3 * work->rounds + 2};
    qsort(work->cut.piece, work->cut.count, sizeof *work->cut.piece,
          compare_pieces); /* rounds are known now */
    if (!add_local(work) || !relay_pieces(work))
        return false;
    pim_transport_sort(transport);
    return pim_transport_end(transport);
}

enum pim_status pim_relay_make(const struct pim_allspark_plan *plan, struct pim_exchange *exchange,
                               uint64_t room, struct pim_error *error)
{
    struct work work = {.exchange = exchange};
    enum pim_status status = PIM_OK;
    bool made = begin(plan, &work, room);
    if (made) {
        qsort(work.cut.piece, work.cut.count, sizeof *work.cut.piece, compare_pieces);
        while (work.cut.count > 0 && work.cut.piece[work.cut.count - 1].needs == 0)
            work.cut.count--;
        status = deal_rounds(&work, error);
        made = status != PIM_OK || finish(&work);
    }
    pim_pieces_terminate(&work.cut);
    free(work.rank);
    free(work.cursor);
    free(work.leaving);
    free(work.arriving);
    return made ? status : pim_exchange_no_memory(error);
}
