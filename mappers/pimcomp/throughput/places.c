/*
 * Maps in global memory. A map has as many slots as samples of it are alive at a time: it is written in the
 * round of its layer's group g and read for the last time in round g + d of the same sample, so d + 1 slots,
 * and the sample modulo d + 1 is the slot. Inputs and outputs of the network keep all samples of the batch if
 * the memory has room.
 *
 * Layers whose outputs are concatenated are placed as channels of one wide map, so that the concatenation is
 * read as it lies. Invariant: a layer is in at most one such map.
 */
#include "mappers/pimcomp/throughput/maps.h"
#include "mappers/pimcomp/throughput/state.h"
#include "sim/try.h"

#include <inttypes.h>
#include <string.h>

struct places {
    struct pim_round_schedule *schedule;
    bool *placed;
    uint32_t *slots;
    uint64_t end;
};

static uint32_t lifetime_slots(const struct pim_round_schedule *schedule, uint32_t index, bool whole_batch)
{
    const struct pim_core_layer *layer = &schedule->network->layer[index];
    uint32_t first = schedule->chain[index].group, last = first;
    for (uint32_t i = 0; i < layer->consumers; i++) {
        if (schedule->chain[layer->consumer[i]].group > last)
            last = schedule->chain[layer->consumer[i]].group;
    }
    uint32_t slots = last - first + 1;
    bool outside = layer->output || layer->kind == PIM_CORE_INPUT;
    if (outside && whole_batch && schedule->options->batch > slots)
        slots = schedule->options->batch;
    return slots;
}

static void place(struct places *places, uint32_t index, uint64_t address, uint64_t pixel_stride,
                  uint64_t sample_stride, uint32_t slots)
{
    places->schedule->map->map[index] = (struct pim_core_place){
        .address = address, .pixel_stride = pixel_stride, .sample_stride = sample_stride, .slots = slots};
    places->placed[index] = true;
    places->schedule->layer[index].united = index;
    places->schedule->layer[index].united_channel = 0;
}

/* May the parts of a source become channels of one wide map? */
static bool can_unite(const struct places *places, const struct pim_core_source *source)
{
    const struct pim_core_network *network = places->schedule->network;
    if (source->parts < 2)
        return false;
    for (uint32_t i = 0; i < source->parts; i++) {
        const struct pim_core_part *part = &source->part[i];
        const struct pim_core_layer *layer = &network->layer[part->layer];
        if (places->placed[part->layer] || part->channel || part->channels != layer->channels ||
            layer->height != source->height || layer->width != source->width)
            return false;
        for (uint32_t j = 0; j < i; j++) {
            if (source->part[j].layer == part->layer)
                return false;
        }
    }
    return true;
}

static void unite(struct places *places, const struct pim_core_source *source)
{
    uint32_t slots = 1;
    for (uint32_t i = 0; i < source->parts; i++) {
        if (places->slots[source->part[i].layer] > slots)
            slots = places->slots[source->part[i].layer];
    }
    uint64_t pixel = (uint64_t)source->channels * PIM_CORE_ELEMENT_BYTES;
    uint64_t sample = pim_core_map_bytes((uint64_t)source->height * source->width * pixel);
    uint64_t channel = 0;
    for (uint32_t i = 0; i < source->parts; i++) {
        place(places, source->part[i].layer, places->end + channel * PIM_CORE_ELEMENT_BYTES, pixel, sample,
              slots);
        struct pim_round_layer *layer = &places->schedule->layer[source->part[i].layer];
        layer->united = source->part[0].layer;
        layer->united_channel = (uint32_t)channel;
        channel += source->part[i].channels;
    }
    places->end += sample * slots;
}

/* Concatenations with the most parts first: those that are the beginning of a longer one lie in it. */
static void unite_sources(struct places *places)
{
    const struct pim_core_network *network = places->schedule->network;
    uint32_t most = 0;
    for (uint32_t pass = 0; pass == 0 || most >= 2; pass++) {
        uint32_t next = 0;
        for (uint32_t i = 0; i < network->count; i++) {
            for (uint32_t j = 0; j < network->layer[i].sources; j++) {
                const struct pim_core_source *source = &network->layer[i].source[j];
                if (pass && source->parts == most && can_unite(places, source))
                    unite(places, source);
                if ((pass == 0 || source->parts < most) && source->parts > next)
                    next = source->parts;
            }
        }
        most = next;
    }
}

static enum pim_status place_all(struct places *places, bool whole_batch)
{
    struct pim_round_schedule *schedule = places->schedule;
    const struct pim_core_network *network = schedule->network;
    const struct pim_core_placement *placement = schedule->options->placement;
    places->end = placement ? placement->base : 0;
    for (uint32_t i = 0; i < network->count; i++) {
        places->slots[i] = lifetime_slots(schedule, i, whole_batch);
        places->placed[i] = pim_round_is_resident(schedule, i);
        if (placement && placement->place[i].address != PIM_CORE_NOWHERE)
            place(places, i, placement->place[i].address, placement->place[i].pixel_stride,
                  placement->place[i].sample_stride, placement->place[i].slots);
    }
    unite_sources(places);
    for (uint32_t i = 0; i < network->count; i++) {
        const struct pim_core_layer *layer = &network->layer[i];
        if (!places->placed[i]) {
            uint64_t pixel = (uint64_t)layer->channels * PIM_CORE_ELEMENT_BYTES;
            uint64_t sample = pim_core_map_bytes((uint64_t)layer->height * layer->width * pixel);
            place(places, i, places->end, pixel, sample, places->slots[i]);
            places->end += sample * places->slots[i];
        }
        schedule->map->bias[i] = PIM_CORE_NOWHERE;
        if (layer->kind == PIM_CORE_MATRIX && layer->bias) {
            schedule->map->bias[i] = places->end;
            places->end += pim_core_map_bytes((uint64_t)layer->channels * PIM_CORE_ELEMENT_BYTES);
        }
    }
    schedule->map->bytes = places->end;
    if (places->end <= schedule->architecture->global_memory_bytes)
        return PIM_OK;
    return pim_fail(schedule->error, PIM_BAD_INPUT,
                    "the maps of %s take %" PRIu64 " bytes of global memory: there are %" PRIu64,
                    network->name, places->end, schedule->architecture->global_memory_bytes);
}

/* The runs of a source: parts that follow each other in memory are one. */
static enum pim_status find_runs(struct pim_round_schedule *schedule, const struct pim_core_source *source,
                                 struct pim_round_source *result)
{
    struct pim_round_run *run = PIM_ARENA_ARRAY(schedule->arena, struct pim_round_run, source->parts);
    PIM_NEED_MEMORY(run, schedule->error, "no memory for the sources of layers");
    uint32_t runs = 0, at = 0;
    for (uint32_t i = 0; i < source->parts; i++) {
        const struct pim_core_part *part = &source->part[i];
        const struct pim_core_place *place = &schedule->map->map[part->layer];
        struct pim_round_run next = {.address =
                                         place->address + (uint64_t)part->channel * PIM_CORE_ELEMENT_BYTES,
                                     .pixel_stride = place->pixel_stride,
                                     .sample_stride = place->sample_stride,
                                     .slots = place->slots,
                                     .at = at,
                                     .channels = part->channels};
        if (pim_round_is_resident(schedule, part->layer)) {
            next.resident = &schedule->layer[schedule->layer[part->layer].united].resident;
            next.offset = schedule->layer[part->layer].united_channel + part->channel;
        }
        struct pim_round_run *last = runs ? &run[runs - 1] : NULL;
        if (last && last->address + (uint64_t)last->channels * PIM_CORE_ELEMENT_BYTES == next.address &&
            last->pixel_stride == next.pixel_stride && last->sample_stride == next.sample_stride &&
            last->slots == next.slots && last->resident == next.resident)
            last->channels += next.channels;
        else
            run[runs++] = next;
        at += part->channels;
    }
    *result = (struct pim_round_source){runs, run, source->height, source->width};
    return PIM_OK;
}

/* Places all maps that do not stay on chip; those that do keep the addresses that they had before. */
static enum pim_status place_and_find(struct pim_round_schedule *schedule)
{
    uint32_t layers = schedule->network->count;
    struct places places = {.schedule = schedule,
                            .placed = PIM_ARENA_ARRAY(schedule->arena, bool, layers),
                            .slots = PIM_ARENA_ARRAY(schedule->arena, uint32_t, layers)};
    PIM_NEED_MEMORY(places.placed && places.slots, schedule->error,
                    "no memory for the maps of %" PRIu32 " layers", layers);
    enum pim_status status = place_all(&places, true);
    if (status == PIM_BAD_INPUT && schedule->options->batch > 1) {
        schedule->error->status = PIM_OK;
        status = place_all(&places, false);
    }
    PIM_TRY(status);
    for (uint32_t i = 0; i < layers; i++) {
        const struct pim_core_layer *layer = &schedule->network->layer[i];
        for (uint32_t j = 0; j < layer->sources; j++)
            PIM_TRY(find_runs(schedule, &layer->source[j], &schedule->layer[i].source[j]));
    }
    return PIM_OK;
}

enum pim_status pim_round_place_maps(struct pim_round_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->network->count; i++) /* before anything can be asked of a map */
        schedule->layer[i].united = i;
    return place_and_find(schedule);
}

enum pim_status pim_round_place_others(struct pim_round_schedule *schedule)
{
    enum pim_status status = place_and_find(schedule);
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        if (pim_round_is_resident(schedule, i))
            schedule->map->map[i].address = PIM_CORE_NOWHERE;
    }
    return status;
}
