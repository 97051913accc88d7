/*
 * Layers whose windows do not slide: which pixels each of them reads is written in tables, and so is the
 * reverse, which windows read a pixel.
 */
#include "mappers/pimcomp/latency/preparation.h"
#include "mappers/pimcomp/latency/state.h"
#include "sim/try.h"

#include <assert.h>
#include <inttypes.h>

static enum pim_status no_memory(struct pim_ll *ll, const struct pim_core_layer *layer)
{
    return pim_fail(ll->error, PIM_NO_MEMORY, "no memory for what the windows of %s read", layer->name);
}

static uint32_t pixels_of(const struct pim_core_source *source)
{
    return source->height * source->width;
}

/* An empty table of a source. */
static bool create_table(struct pim_ll *ll, struct pim_ll_layer *layer, uint32_t source)
{
    const struct pim_core_layer *from = layer->core_layer;
    struct pim_ll_table *table = &layer->table[source];
    size_t places = (size_t)from->windows * layer->positions;
    table->pixel = PIM_ARENA_ARRAY(ll->arena, uint32_t, places);
    table->first = PIM_ARENA_ARRAY(ll->arena, uint32_t, (size_t)pixels_of(&from->source[source]) + 1);
    table->place = PIM_ARENA_ARRAY(ll->arena, uint32_t, places);
    table->prefix = PIM_ARENA_ARRAY(ll->arena, uint32_t, from->windows);
    for (size_t i = 0; i < places && table->pixel; i++)
        table->pixel[i] = PIM_NONE;
    return table->pixel && table->first && table->place && table->prefix;
}

/* The reverse of a table, and how far it has read. */
static void complete_table(const struct pim_ll_layer *layer, uint32_t source)
{
    const struct pim_core_layer *from = layer->core_layer;
    const struct pim_ll_table *table = &layer->table[source];
    uint32_t pixels = pixels_of(&from->source[source]), prefix = 0;
    for (uint32_t w = 0, place = 0; w < from->windows; w++) {
        for (uint32_t q = 0; q < layer->positions; q++, place++) {
            uint32_t pixel = table->pixel[place];
            if (pixel == PIM_NONE)
                continue;
            table->first[pixel + 1]++;
            prefix = pixel + 1 > prefix ? pixel + 1 : prefix;
        }
        table->prefix[w] = prefix;
    }
    for (uint32_t p = 0; p < pixels; p++)
        table->first[p + 1] += table->first[p];
    uint32_t places = from->windows * layer->positions;
    for (uint32_t place = places; place-- > 0;) /* backwards: `first` ends up where it began */
        if (table->pixel[place] != PIM_NONE)
            table->place[--table->first[table->pixel[place] + 1]] = place;
    for (uint32_t p = 0; p < pixels; p++)
        table->first[p] = table->first[p + 1];
    table->first[pixels] = 0;
    for (uint32_t place = 0; place < places; place++)
        table->first[pixels] += table->pixel[place] != PIM_NONE;
}

/* --- moves --- */

/* Numbers the pixels of sources that each window reads: the position of each run. Sets `positions`; once
 * tables are there, enters the pixels. */
static void number_pixels(struct pim_ll_layer *layer, uint32_t *seen[PIM_CORE_SOURCES],
                          uint32_t *number[PIM_CORE_SOURCES], bool enter)
{
    const struct pim_core_layer *from = layer->core_layer;
    uint32_t most = 1;
    for (uint32_t w = 0; w < from->windows; w++) {
        uint32_t count[PIM_CORE_SOURCES] = {0};
        for (uint32_t r = layer->runs.first[w]; r < layer->runs.first[w + 1]; r++) {
            const struct pim_core_run *run = &layer->runs.run[r];
            uint32_t s = run->source, stamp = 2 * w + 1 + enter;
            if (seen[s][run->from_pixel] != stamp) {
                seen[s][run->from_pixel] = stamp;
                number[s][run->from_pixel] = count[s]++;
                most = count[s] > most ? count[s] : most;
            }
            layer->run_position[r] = number[s][run->from_pixel];
            if (enter)
                layer->table[s].pixel[(size_t)w * layer->positions + layer->run_position[r]] =
                    run->from_pixel;
        }
    }
    layer->positions = most;
}

static enum pim_status plan_moves(struct pim_ll *ll, struct pim_ll_layer *layer)
{
    const struct pim_core_layer *from = layer->core_layer;
    uint32_t *seen[PIM_CORE_SOURCES], *number[PIM_CORE_SOURCES];
    PIM_TRY(pim_core_runs_make(from, true, ll->arena, &layer->runs, ll->error));
    layer->run_position = PIM_ARENA_ARRAY(ll->arena, uint32_t, layer->runs.first[from->windows]);
    if (!layer->run_position)
        return no_memory(ll, from);
    for (uint32_t s = 0; s < from->sources; s++) {
        seen[s] = PIM_ARENA_ARRAY(ll->arena, uint32_t, pixels_of(&from->source[s]));
        number[s] = PIM_ARENA_ARRAY(ll->arena, uint32_t, pixels_of(&from->source[s]));
        if (!seen[s] || !number[s])
            return no_memory(ll, from);
    }
    number_pixels(layer, seen, number, false);
    for (uint32_t s = 0; s < from->sources; s++)
        if (!create_table(ll, layer, s))
            return no_memory(ll, from);
    number_pixels(layer, seen, number, true);
    return PIM_OK;
}

/* Every window reads the one pixel of the second source. */
static enum pim_status plan_broadcast(struct pim_ll *ll, struct pim_ll_layer *layer)
{
    layer->positions = 1;
    if (!create_table(ll, layer, 1))
        return no_memory(ll, layer->core_layer);
    for (uint32_t w = 0; w < layer->core_layer->windows; w++)
        layer->table[1].pixel[w] = 0;
    complete_table(layer, 1);
    return PIM_OK;
}

/* A window reads its pixel of the first source, and all pixels of its branch of the second. */
static enum pim_status plan_product(struct pim_ll *ll, struct pim_ll_layer *layer)
{
    const struct pim_core_layer *from = layer->core_layer;
    assert(from->product.branches && from->width);
    layer->positions = pixels_of(&from->source[1]) / from->product.branches;
    if ((uint64_t)from->windows * layer->positions > UINT32_MAX / 8)
        return pim_fail(ll->error, PIM_BAD_INPUT, "%s: its windows read too many pixels", from->name);
    if (!create_table(ll, layer, 0) || !create_table(ll, layer, 1))
        return no_memory(ll, from);
    for (uint32_t w = 0; w < from->windows; w++) {
        size_t place = (size_t)w * layer->positions;
        uint32_t first = w / from->width * layer->positions;
        layer->table[0].pixel[place] = w;
        for (uint32_t q = 0; q < layer->positions; q++)
            layer->table[1].pixel[place + q] = first + q;
    }
    return PIM_OK;
}

enum pim_status pim_ll_plan_tables(struct pim_ll *ll, uint32_t index, bool *made)
{
    struct pim_ll_layer *layer = &ll->layer[index];
    const struct pim_core_layer *from = layer->core_layer;
    *made = from->kind == PIM_CORE_MOVE || from->kind == PIM_CORE_PRODUCT;
    layer->folds.count = 1;
    if (from->kind == PIM_CORE_ELEMENT && from->broadcast)
        return plan_broadcast(ll, layer);
    if (!*made)
        return PIM_OK;
    PIM_TRY((from->kind == PIM_CORE_MOVE ? plan_moves : plan_product)(ll, layer));
    if ((uint64_t)from->windows * layer->positions > UINT32_MAX / 2 ||
        (uint64_t)layer->positions * layer->parts > UINT32_MAX / 2)
        return pim_fail(ll->error, PIM_BAD_INPUT, "%s: its windows read too many pixels", from->name);
    for (uint32_t s = 0; s < from->sources; s++)
        complete_table(layer, s);
    layer->slots = layer->positions * layer->parts;
    return PIM_OK;
}
