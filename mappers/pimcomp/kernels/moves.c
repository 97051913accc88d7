/* From the loops of a MOVE layer to its copies: kernels.h. */
#include "mappers/pimcomp/kernels/kernels.h"
#include "sim/try.h"

#include <inttypes.h>

enum { CHANNEL, ROW, COLUMN, AXES };

/* The loop that a run goes along: over channels of the output, neighbouring ones of a pixel at best; loops
 * if there is none. */
static uint32_t inner_loop(const struct pim_core_move *move, bool within_pixels)
{
    uint32_t best = move->loops;
    uint64_t most = 0;
    for (uint32_t i = 0; i < move->loops; i++) {
        const struct pim_core_loop *loop = &move->loop[i];
        bool in_pixel = loop->from[ROW] == 0 && loop->from[COLUMN] == 0;
        bool close = in_pixel && loop->from[CHANNEL] == 1 && loop->to[CHANNEL] == 1;
        if (loop->to[ROW] != 0 || loop->to[COLUMN] != 0 || (within_pixels && !in_pixel))
            continue;
        uint64_t worth = ((uint64_t)close << 34) + ((uint64_t)in_pixel << 33) + loop->extent;
        if (worth > most) {
            most = worth;
            best = i;
        }
    }
    return best;
}

struct walk {
    const struct pim_core_layer *layer;
    const struct pim_core_move *move;
    uint32_t inner;
    uint32_t *first;          /* counts runs of pixel p at first[p + 1], or is where the next one of p goes */
    struct pim_core_run *run; /* NULL: counts */
    uint64_t total;
};

static void put_run(struct walk *w, const int32_t from[AXES], const int32_t to[AXES])
{
    uint32_t pixel = (uint32_t)to[ROW] * w->layer->width + (uint32_t)to[COLUMN];
    if (!w->run) {
        w->first[pixel + 1]++;
        w->total++;
        return;
    }
    int32_t width = (int32_t)w->layer->source[w->move->source].width;
    struct pim_core_run *run = &w->run[w->first[pixel]++];
    *run = (struct pim_core_run){.source = w->move->source,
                                 .from_pixel = (uint32_t)from[ROW] * (uint32_t)width + (uint32_t)from[COLUMN],
                                 .from_channel = (uint32_t)from[CHANNEL],
                                 .to_channel = (uint32_t)to[CHANNEL],
                                 .from_channel_step = 1,
                                 .to_step = 1,
                                 .count = 1};
    if (w->inner == w->move->loops)
        return;
    const struct pim_core_loop *loop = &w->move->loop[w->inner];
    run->count = loop->extent;
    run->from_pixel_step = loop->from[ROW] * width + loop->from[COLUMN];
    run->from_channel_step = loop->from[CHANNEL];
    run->to_step = loop->to[CHANNEL];
}

/* All tuples of the loops but the inner one, in order. */
static void walk_move(struct walk *w)
{
    const struct pim_core_move *move = w->move;
    uint32_t index[PIM_CORE_LOOPS] = {0};
    int32_t from[AXES], to[AXES];
    for (int axis = 0; axis < AXES; axis++) {
        from[axis] = move->from[axis];
        to[axis] = move->to[axis];
    }
    for (;;) {
        put_run(w, from, to);
        uint32_t i = move->loops;
        while (i-- > 0) {
            const struct pim_core_loop *loop = &move->loop[i];
            if (i == w->inner)
                continue;
            bool goes_on = ++index[i] < loop->extent;
            int32_t steps = goes_on ? 1 : -(int32_t)(loop->extent - 1);
            for (int axis = 0; axis < AXES; axis++) {
                from[axis] += loop->from[axis] * steps;
                to[axis] += loop->to[axis] * steps;
            }
            if (goes_on)
                break;
            index[i] = 0;
        }
        if (i == UINT32_MAX)
            return;
    }
}

static uint64_t elements_of(const struct pim_core_move *move)
{
    uint64_t elements = 1;
    for (uint32_t i = 0; i < move->loops; i++)
        elements *= move->loop[i].extent;
    return elements;
}

enum pim_status pim_core_runs_make(const struct pim_core_layer *layer, bool within_pixels,
                                   struct pim_arena *arena, struct pim_core_runs *runs,
                                   struct pim_error *error)
{
    uint64_t elements = 0;
    struct walk w = {.layer = layer};
    uint32_t *next = PIM_ARENA_ARRAY(arena, uint32_t, layer->windows);
    w.first = PIM_ARENA_ARRAY(arena, uint32_t, (size_t)layer->windows + 1);
    *runs = (struct pim_core_runs){.first = w.first};
    PIM_NEED_MEMORY(w.first && next, error, "no memory for the copies of %s", layer->name);
    for (uint32_t i = 0; i < layer->moves; i++) {
        w.move = &layer->move[i];
        w.inner = inner_loop(w.move, within_pixels);
        elements += elements_of(w.move);
        walk_move(&w);
    }
    if (w.total > UINT32_MAX)
        return pim_fail(error, PIM_BAD_INPUT, "%s: %" PRIu64 " copies are too many", layer->name, w.total);
    runs->zeros = elements < (uint64_t)layer->windows * layer->channels;
    runs->run = w.run = PIM_ARENA_ARRAY(arena, struct pim_core_run, w.total);
    PIM_NEED_MEMORY(w.run, error, "no memory for the %" PRIu64 " copies of %s", w.total, layer->name);
    for (uint32_t p = 0; p < layer->windows; p++) {
        w.first[p + 1] += w.first[p];
        next[p] = w.first[p];
    }
    w.first = next;
    for (uint32_t i = 0; i < layer->moves; i++) {
        w.move = &layer->move[i];
        w.inner = inner_loop(w.move, within_pixels);
        walk_move(&w);
    }
    return PIM_OK;
}

void pim_core_emit_run(struct pim_core_emitter *emitter, uint32_t core, const struct pim_core_run *run,
                       uint64_t to, uint64_t from, uint32_t count)
{
    pim_core_emit_copy(emitter, core, to, from, PIM_CORE_ELEMENT_BYTES, count,
                       (uint64_t)run->to_step * PIM_CORE_ELEMENT_BYTES,
                       (uint64_t)run->from_channel_step * PIM_CORE_ELEMENT_BYTES);
}

uint64_t pim_core_moves_reach(const struct pim_core_layer *layer, uint32_t source)
{
    uint64_t reach = 1, width = layer->source[source].width;
    for (uint32_t i = 0; i < layer->moves; i++) {
        const struct pim_core_move *move = &layer->move[i];
        if (move->source != source || move->to[ROW] != 0 || move->to[COLUMN] != 0)
            continue;
        int64_t row = move->from[ROW], column = move->from[COLUMN];
        for (uint32_t n = 0; n < move->loops; n++) { /* loops that stay in the pixel, to their far ends */
            const struct pim_core_loop *loop = &move->loop[n];
            if (loop->to[ROW] != 0 || loop->to[COLUMN] != 0)
                continue;
            row += loop->from[ROW] > 0 ? (int64_t)loop->from[ROW] * (loop->extent - 1) : 0;
            column += loop->from[COLUMN] > 0 ? (int64_t)loop->from[COLUMN] * (loop->extent - 1) : 0;
        }
        uint64_t pixels = (uint64_t)row * width + (uint64_t)column + 1;
        reach = pixels > reach ? pixels : reach;
    }
    return reach;
}
