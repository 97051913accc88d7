/*
 * Maps that stay on chip (paper, section VII-A: an output pixel is stored to global memory "or retained on
 * the chip based on the capacity of the on-chip local memory").
 *
 * A resident map is cut into stretches of pixels, all channels, which lie in the local memories of cores that
 * have room, its holders, in as many slots as samples of the map are alive at a time. What a global memory
 * would do for it messages do: to the holder when pixels are made, from the holder when they are read; on one
 * core a copy. Pieces of pixels that do not lie back to back at the holder are brought together or spread
 * there, in two places that take turns. Layers whose outputs are concatenated share a map, as they do in
 * global memory.
 *
 * Messages are emitted for both cores at once, in the one global order of the emitter. So nothing about a
 * resident map needs a barrier: a reader comes after the writer in that order, and within a core the hardware
 * holds back what conflicts in the local memory.
 *
 * Choice. The memory of all cores is planned as if no map were resident. Then maps are taken by what they
 * save of the traffic of global memory for each byte that they take, as long as there is room beside the
 * shared areas, until what is left of the traffic takes BUSY_PERCENT of the time of the longest job:
 * messages tie cores to each other, which costs more than a global memory that nobody waits for. Stretches
 * go to the cores with the least to do.
 *
 * Invariants:
 *  1. The holdings of a resident map cut its pixels without gap or overlap, in ascending order.
 *  2. A resident map is nowhere in global memory; outputs of the network are not resident.
 */
#include "mappers/pimcomp/throughput/maps.h"
#include "mappers/pimcomp/throughput/state.h"
#include "mappers/pimcomp/throughput/workers.h"
#include "sim/try.h"

#include <assert.h>
#include <string.h>

/* Bytes of a place for pixels that do not lie back to back; of a stretch, and of its traffic; of that
 * traffic, those that count as much as a window of a core's own. */
enum { GATHER_BYTES = 2048, STRETCH_BYTES = 16384, TRAFFIC_BYTES = 131072, WINDOW_BYTES = 4096 };
enum { BUSY_PERCENT = 65 };

static uint64_t map_bytes(const struct pim_core_layer *layer)
{
    return (uint64_t)layer->windows * layer->channels * PIM_CORE_ELEMENT_BYTES;
}

bool pim_round_is_resident(const struct pim_round_schedule *schedule, uint32_t index)
{
    return schedule->layer[schedule->layer[index].united].resident.resident;
}

/* --- reading --- */

static const struct pim_round_holding *holding_of(const struct pim_round_resident *resident, uint64_t pixel)
{
    uint32_t low = 0, high = resident->holdings - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pixel < resident->holding[middle].end)
            high = middle;
        else
            low = middle + 1;
    }
    assert(pixel >= resident->holding[low].begin && pixel < resident->holding[low].end);
    return &resident->holding[low];
}

/* `count` pieces of `bytes`: back to back at `packed` on one core, `stride` apart at `spread` on that of the
 * holder; out of the holder's memory or into it. */
struct passage {
    uint32_t core, holder;
    uint64_t packed, spread, bytes, count, stride;
    bool into;
};

static void pass_copy(struct pim_round_schedule *schedule, const struct passage *p, uint64_t packed)
{
    if (p->into)
        pim_core_emit_copy(&schedule->emitter, p->holder, p->spread, packed, p->bytes, p->count, p->stride,
                           p->bytes);
    else
        pim_core_emit_copy(&schedule->emitter, p->holder, packed, p->spread, p->bytes, p->count, p->bytes,
                           p->stride);
}

static void pass_message(struct pim_round_schedule *schedule, const struct passage *p, uint64_t at_holder)
{
    if (p->into)
        pim_core_emit_message(&schedule->emitter, p->core, p->packed, p->holder, at_holder,
                              p->bytes * p->count);
    else
        pim_core_emit_message(&schedule->emitter, p->holder, at_holder, p->core, p->packed,
                              p->bytes * p->count);
}

/* Pieces that lie apart travel together: the holder gathers them, or spreads them when they have arrived. */
static void pass(struct pim_round_schedule *schedule, const struct passage *whole)
{
    if (whole->holder == whole->core) {
        pass_copy(schedule, whole, whole->packed);
        return;
    }
    if (whole->count == 1 || whole->bytes == whole->stride) {
        pass_message(schedule, whole, whole->spread);
        return;
    }
    struct pim_round_core *place = &schedule->core[whole->holder];
    uint64_t most = place->gather_bytes / whole->bytes;
    for (uint64_t done = 0; done < whole->count; done += most) {
        struct passage part = *whole;
        uint64_t together = place->gather + place->gathers++ % 2 * place->gather_bytes;
        part.count = whole->count - done < most ? whole->count - done : most;
        part.packed += done * whole->bytes;
        part.spread += done * whole->stride;
        if (whole->into)
            pass_message(schedule, &part, together);
        pass_copy(schedule, &part, together);
        if (!whole->into)
            pass_message(schedule, &part, together);
    }
}

/* Elements of pixels `pixel`, `pixel` + `apart`, .. from byte `offset` of each on, wherever they lie. */
static void pass_pixels(struct pim_round_schedule *schedule, const struct pim_round_resident *resident,
                        uint32_t sample, uint64_t pixel, uint64_t offset, uint64_t apart,
                        struct passage *passage)
{
    uint64_t count = passage->count;
    passage->stride = apart * resident->pixel_bytes;
    while (count > 0) {
        const struct pim_round_holding *holding = holding_of(resident, pixel);
        uint64_t now = (holding->end - pixel + apart - 1) / apart;
        passage->count = now < count ? now : count;
        passage->holder = holding->core;
        passage->spread = holding->address + sample % resident->slots * holding->slot_bytes +
                          (pixel - holding->begin) * resident->pixel_bytes + offset;
        pass(schedule, passage);
        passage->packed += passage->count * passage->bytes;
        pixel += passage->count * apart;
        count -= passage->count;
    }
}

uint64_t pim_round_address(const struct pim_round_run *run, uint32_t sample, uint64_t pixel, uint32_t channel)
{
    assert(!run->resident);
    return run->address + sample % run->slots * run->sample_stride + pixel * run->pixel_stride +
           (uint64_t)(channel - run->at) * PIM_CORE_ELEMENT_BYTES;
}

void pim_round_fetch(struct pim_round_schedule *schedule, uint32_t core, uint64_t local,
                     const struct pim_round_run *run, uint32_t sample, uint64_t pixel, uint32_t channel,
                     uint64_t bytes, uint64_t count, uint64_t apart)
{
    const struct pim_round_resident *resident = run->resident;
    if (!resident) {
        pim_core_emit_transfer(&schedule->emitter, PIM_OP_LOCAL_LOAD, core, local,
                               pim_round_address(run, sample, pixel, channel), bytes, count,
                               apart * run->pixel_stride);
        return;
    }
    assert(apart > 0 && bytes > 0);
    uint64_t offset = ((uint64_t)run->offset + channel - run->at) * PIM_CORE_ELEMENT_BYTES;
    struct passage passage = {.core = core, .packed = local, .bytes = bytes, .count = count};
    pass_pixels(schedule, resident, sample, pixel, offset, apart, &passage);
}

/* --- writing --- */

void pim_round_put(const struct pim_round_layer *layer, uint32_t core, uint64_t local, uint32_t sample,
                   uint64_t pixel, uint32_t channel, uint64_t bytes, uint64_t count)
{
    struct pim_round_schedule *schedule = layer->schedule;
    const struct pim_round_resident *resident = &schedule->layer[layer->united].resident;
    const struct pim_core_place *place = &schedule->map->map[layer->index];
    if (!resident->resident) {
        pim_core_emit_transfer(&schedule->emitter, PIM_OP_LOCAL_STORE, core, local,
                               place->address + sample % place->slots * place->sample_stride +
                                   pixel * place->pixel_stride + (uint64_t)channel * PIM_CORE_ELEMENT_BYTES,
                               bytes, count, place->pixel_stride);
        return;
    }
    uint64_t offset = ((uint64_t)layer->united_channel + channel) * PIM_CORE_ELEMENT_BYTES;
    struct passage passage = {.core = core, .packed = local, .bytes = bytes, .count = count, .into = true};
    pass_pixels(schedule, resident, sample, pixel, offset, 1, &passage);
}

bool pim_round_needs_fill(const struct pim_round_schedule *schedule)
{
    bool any = false;
    for (uint32_t i = 0; i < schedule->network->count; i++)
        any = any || (schedule->layer[i].resident.resident && schedule->layer[i].resident.slots > 1);
    return any;
}

void pim_round_fill(struct pim_round_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        const struct pim_round_resident *resident = &schedule->layer[i].resident;
        for (uint32_t j = 0; resident->resident && resident->slots > 1 && j < resident->holdings; j++) {
            const struct pim_round_holding *holding = &resident->holding[j];
            pim_core_emit_zeros(&schedule->emitter, holding->core, holding->address,
                                resident->slots * holding->slot_bytes, 1, 0);
        }
    }
}

bool pim_round_needs_barrier(const struct pim_round_schedule *schedule, uint32_t index)
{
    const struct pim_core_layer *layer = &schedule->network->layer[index];
    for (uint32_t i = 0; i < layer->sources; i++) {
        for (uint32_t j = 0; j < layer->source[i].parts; j++) {
            uint32_t before = layer->source[i].part[j].layer;
            const struct pim_chain_layer *producer = &schedule->chain[before];
            if (producer->scheduled && producer->group == schedule->chain[index].group &&
                !pim_round_is_resident(schedule, before))
                return true;
        }
    }
    return false;
}

/* --- choice --- */

/* A map that might be resident, by the layer that stands for it. */
struct candidate {
    uint32_t layer;
    bool able;
    uint64_t saved; /* bytes of traffic */
    uint64_t worth; /* of that, for each KiB of local memory */
};

/* What is known while maps are chosen. */
struct choice {
    struct pim_round_schedule *schedule;
    uint64_t wanted; /* bytes that a core leaves for its shared area */
    uint64_t *load;  /* of each core: windows of its workers, and messages of what it holds */
};

/* Bytes that worker `worker` of a matrix layer takes of its input, about: each pixel once. */
static uint64_t worker_reads(const struct pim_round_worker *worker)
{
    const struct pim_core_layer *layer = worker->layer->of;
    const struct pim_core_source *source = &layer->source[0];
    uint64_t windows =
        worker->layer->folds.count > 1 ? (uint64_t)source->height * source->width : layer->windows;
    assert(windows > 0);
    uint64_t pixels =
        (uint64_t)source->height * source->width * (worker->job->end - worker->job->begin) / windows;
    return pixels * worker->channels * PIM_CORE_ELEMENT_BYTES;
}

/* Bytes that `consumer` takes of all its sources, each once for every core that needs it. */
static uint64_t layer_reads(const struct pim_round_layer *round)
{
    const struct pim_core_layer *layer = round->of;
    uint64_t bytes = 0;
    if (layer->kind != PIM_CORE_MATRIX) {
        for (uint32_t i = 0; i < layer->sources; i++)
            bytes += (uint64_t)layer->source[i].height * layer->source[i].width * layer->source[i].channels *
                     PIM_CORE_ELEMENT_BYTES;
        return bytes;
    }
    for (uint32_t i = 0; i < round->jobs; i++) {
        for (uint32_t j = 0; j < round->job[i].workers; j++)
            bytes += worker_reads(&round->job[i].worker[j]);
    }
    return bytes;
}

/* Of what a consumer reads, the part that is layer `producer`'s. */
static uint64_t part_of_reads(const struct pim_round_schedule *schedule, uint32_t consumer, uint32_t producer)
{
    const struct pim_core_layer *layer = &schedule->network->layer[consumer];
    uint64_t channels = 0, all = 0;
    for (uint32_t i = 0; i < layer->sources; i++) {
        for (uint32_t j = 0; j < layer->source[i].parts; j++) {
            const struct pim_core_part *part = &layer->source[i].part[j];
            channels += part->layer == producer ? part->channels : 0;
            all += part->channels;
        }
    }
    return all ? layer_reads(&schedule->layer[consumer]) / all * channels : 0;
}

/* Bytes that a round moves through global memory; *free: how many it may move without holding up its MVMs. */
static uint64_t find_traffic(const struct pim_round_schedule *schedule, uint64_t *free)
{
    const struct pim_core_architecture *a = schedule->architecture;
    uint64_t chips = pim_core_chips(a);
    uint64_t steps = 0, moved = 0;
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        const struct pim_round_layer *round = &schedule->layer[i];
        if (!schedule->chain[i].scheduled)
            continue;
        moved += map_bytes(round->of) + layer_reads(round);
        for (uint32_t j = 0; j < round->jobs; j++)
            steps = round->job[j].steps > steps ? round->job[j].steps : steps;
    }
    *free = steps * a->mvm_cycles * BUSY_PERCENT / 100 * a->global_bytes_per_cycle * chips;
    return moved;
}

/* Bytes through global memory that the output of a layer costs: its store, and what its consumers load. */
static uint64_t saved_bytes(const struct pim_round_schedule *schedule, uint32_t index)
{
    const struct pim_core_layer *layer = &schedule->network->layer[index];
    uint64_t saved = map_bytes(layer);
    for (uint32_t i = 0; i < layer->consumers; i++)
        saved += part_of_reads(schedule, layer->consumer[i], index);
    return saved;
}

/* May the output of a layer be resident? Poolings read rows of several holders for every pixel: many small
 * messages, which cost more than the loads. So do layers that move elements. */
static bool is_able(const struct pim_round_schedule *schedule, uint32_t index)
{
    const struct pim_core_layer *layer = &schedule->network->layer[index];
    bool able = schedule->chain[index].scheduled && !layer->output && layer->consumers > 0;
    for (uint32_t i = 0; i < layer->consumers && able; i++) {
        enum pim_core_layer_kind kind = schedule->network->layer[layer->consumer[i]].kind;
        able = kind == PIM_CORE_MATRIX || kind == PIM_CORE_ELEMENT;
    }
    return able;
}

/* The core for the next stretch, of `bytes` in all its slots: the least busy one with room. */
static uint32_t find_holder(const struct choice *choice, uint64_t bytes, uint64_t gather)
{
    const struct pim_round_schedule *schedule = choice->schedule;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < schedule->architecture->cores; i++) {
        const struct pim_round_core *core = &schedule->core[i];
        uint64_t places = 2 * (gather > core->gather_bytes ? gather : core->gather_bytes);
        if (choice->wanted + core->resident_bytes + bytes + places <= core->area_bytes &&
            (best == UINT32_MAX || choice->load[i] < choice->load[best]))
            best = i;
    }
    return best;
}

/* Stretches of a map: small enough for a holder's memory, and for its port when many read them. */
static uint32_t count_stretches(uint64_t windows, uint64_t pixel_bytes, uint64_t traffic)
{
    uint64_t pixels = pixel_bytes < STRETCH_BYTES ? STRETCH_BYTES / pixel_bytes : 1;
    uint64_t count = (windows + pixels - 1) / pixels, by_traffic = traffic / TRAFFIC_BYTES;
    by_traffic = by_traffic < windows ? by_traffic : windows;
    return (uint32_t)(count > by_traffic ? count : by_traffic);
}

/* Makes the map resident if cores have room for all of it. */
static enum pim_status take(const struct choice *choice, const struct candidate *candidate)
{
    struct pim_round_schedule *schedule = choice->schedule;
    const struct pim_core_place *place = &schedule->map->map[candidate->layer];
    struct pim_round_resident *resident = &schedule->layer[candidate->layer].resident;
    uint32_t windows = schedule->network->layer[candidate->layer].windows;
    *resident = (struct pim_round_resident){.slots = place->slots, .pixel_bytes = place->pixel_stride};
    uint32_t holdings = count_stretches(windows, resident->pixel_bytes, candidate->saved);
    uint64_t gather =
        resident->pixel_bytes > GATHER_BYTES ? pim_round_words(resident->pixel_bytes) : GATHER_BYTES;
    resident->holding = PIM_ARENA_ARRAY(schedule->arena, struct pim_round_holding, holdings);
    PIM_NEED_MEMORY(resident->holding, schedule->error, "no memory for the places of maps");
    for (; resident->holdings < holdings; resident->holdings++) {
        struct pim_round_holding *next = &resident->holding[resident->holdings];
        next->begin = (uint32_t)((uint64_t)windows * resident->holdings / holdings);
        next->end = (uint32_t)((uint64_t)windows * (resident->holdings + 1) / holdings);
        next->slot_bytes = pim_round_words((next->end - next->begin) * resident->pixel_bytes);
        next->core = find_holder(choice, next->slot_bytes * resident->slots, gather);
        if (next->core == UINT32_MAX)
            break;
        schedule->core[next->core].resident_bytes += next->slot_bytes * resident->slots;
        choice->load[next->core] += candidate->saved / holdings / WINDOW_BYTES;
    }
    resident->resident = resident->holdings == holdings;
    for (uint32_t i = 0; i < resident->holdings; i++) {
        struct pim_round_core *core = &schedule->core[resident->holding[i].core];
        if (resident->resident) {
            core->gather_bytes = gather > core->gather_bytes ? gather : core->gather_bytes;
            continue;
        }
        core->resident_bytes -= resident->holding[i].slot_bytes * resident->slots;
        choice->load[resident->holding[i].core] -= candidate->saved / holdings / WINDOW_BYTES;
    }
    return PIM_OK;
}

/* Sorts maps by what they are worth, the best first; returns how many there are. */
static uint32_t find_candidates(const struct pim_round_schedule *schedule, struct candidate *candidate)
{
    uint32_t layers = schedule->network->count, count = 0;
    for (uint32_t i = 0; i < layers; i++)
        candidate[i] = (struct candidate){.layer = i, .able = true};
    for (uint32_t i = 0; i < layers; i++) {
        struct candidate *of = &candidate[schedule->layer[i].united];
        of->able = of->able && is_able(schedule, i);
        of->saved += of->able ? saved_bytes(schedule, i) : 0;
    }
    for (uint32_t i = 0; i < layers; i++) {
        const struct pim_core_place *map = &schedule->map->map[i];
        struct candidate next = candidate[i];
        if (schedule->layer[i].united != i || !next.able)
            continue;
        uint64_t bytes = schedule->network->layer[i].windows * map->pixel_stride * map->slots;
        assert(bytes > 0);
        next.worth = next.saved * 1024 / bytes;
        uint32_t place = count++;
        for (; place > 0 && next.worth > candidate[place - 1].worth; place--)
            candidate[place] = candidate[place - 1];
        candidate[place] = next;
    }
    return count;
}

enum pim_status pim_round_choose_residents(struct pim_round_schedule *schedule)
{
    uint32_t cores = schedule->architecture->cores;
    struct candidate *candidate =
        PIM_ARENA_ARRAY(schedule->arena, struct candidate, schedule->network->count);
    struct choice choice = {.schedule = schedule,
                            .wanted = pim_round_area_wanted(schedule),
                            .load = PIM_ARENA_ARRAY(schedule->arena, uint64_t, cores)};
    PIM_NEED_MEMORY(candidate && choice.load, schedule->error, "no memory for the places of maps");
    memcpy(choice.load, schedule->windows, cores * sizeof *choice.load);
    uint32_t count = find_candidates(schedule, candidate);
    uint64_t free, moved = find_traffic(schedule, &free);
    for (uint32_t i = 0; i < count && moved > free; i++) {
        PIM_TRY(take(&choice, &candidate[i]));
        if (schedule->layer[candidate[i].layer].resident.resident)
            moved -= candidate[i].saved < moved ? candidate[i].saved : moved;
    }
    return PIM_OK;
}

void pim_round_forget_residents(struct pim_round_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->network->count; i++)
        schedule->layer[i].resident.resident = false;
    for (uint32_t i = 0; i < schedule->architecture->cores; i++)
        schedule->core[i].resident_bytes = schedule->core[i].gather_bytes = 0;
}

void pim_round_place_residents(struct pim_round_schedule *schedule, uint32_t index, uint64_t base)
{
    struct pim_round_core *core = &schedule->core[index];
    core->gather = base;
    base += 2 * core->gather_bytes;
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        const struct pim_round_resident *resident = &schedule->layer[i].resident;
        for (uint32_t j = 0; resident->resident && j < resident->holdings; j++) {
            struct pim_round_holding *holding = &resident->holding[j];
            if (holding->core != index)
                continue;
            holding->address = base;
            base += resident->slots * holding->slot_bytes;
        }
    }
}
