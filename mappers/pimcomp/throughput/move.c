/*
 * MOVE layers on the memory engine: the elements of some output pixels are loaded from where they lie, and
 * stored. Elements that lie back to back in both maps are loaded into their places, pieces a regular step
 * apart by one load. Pixels whose channels change places are loaded beside and copied within the local
 * memory: channel by channel for several pixels at once, or pixel by pixel, whatever takes fewer copies.
 */
#include "mappers/pimcomp/throughput/elements.h"
#include "mappers/pimcomp/throughput/maps.h"
#include "mappers/pimcomp/throughput/state.h"
#include "sim/try.h"

#include <string.h>

struct mover {
    const struct pim_round_work *work;
    uint64_t beside; /* where source pixels are loaded that are copied from there */
    /* a load that may go on */
    uint64_t local, global, bytes, count, stride;
    /* the source pixel that is beside */
    bool holds;
    uint32_t source, pixel;
};

static bool is_direct(const struct pim_core_run *run)
{
    return run->count == 1 || (run->from_pixel_step == 0 && run->from_channel_step == 1 && run->to_step == 1);
}

/* Elements of several pixels that become neighbouring channels. */
static bool is_gathered(const struct pim_core_run *run)
{
    return run->to_step == 1 && run->from_channel_step == 0 && run->from_pixel_step > 0;
}

/* Within a pixel, forwards: by a copy. */
static bool is_copied(const struct pim_core_run *run)
{
    return !is_direct(run) && run->from_pixel_step == 0 && run->from_channel_step >= 0 && run->to_step > 0;
}

enum pim_status pim_round_prepare_moves(struct pim_round_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        const struct pim_core_layer *layer = &schedule->network->layer[i];
        struct pim_round_layer *round = &schedule->layer[i];
        if (layer->kind != PIM_CORE_MOVE)
            continue;
        PIM_TRY(pim_core_runs_make(layer, false, schedule->arena, &round->runs, schedule->error));
        uint32_t widest = 0;
        for (uint32_t r = 0; r < round->runs.first[layer->windows]; r++) {
            const struct pim_core_run *run = &round->runs.run[r];
            uint32_t channels = layer->source[run->source].channels;
            if (is_copied(run) && channels > widest)
                widest = channels;
        }
        round->moved_pixel = ((uint64_t)layer->channels + widest) * PIM_CORE_ELEMENT_BYTES;
    }
    return PIM_OK;
}

static void flush(struct mover *m)
{
    if (m->count)
        pim_core_emit_transfer(m->work->emitter, PIM_OP_LOCAL_LOAD, m->work->core, m->local, m->global,
                               m->bytes, m->count, m->stride);
    m->count = 0;
}

/* `bytes` from `global` to `local`: goes on with the load before if it can. */
static void load(struct mover *m, uint64_t local, uint64_t global, uint64_t bytes)
{
    uint64_t step = global - m->global - (m->count ? (m->count - 1) * m->stride : 0);
    bool goes_on = m->count && bytes == m->bytes && local == m->local + m->count * m->bytes &&
                   global > m->global && step >= bytes && step <= UINT32_MAX &&
                   (m->count == 1 || step == m->stride);
    if (!goes_on) {
        flush(m);
        m->local = local;
        m->global = global;
        m->bytes = bytes;
        m->stride = bytes;
    } else {
        m->stride = step;
    }
    m->count++;
}

/* Channels [channel, channel + channels) of a pixel of a source. */
static void load_channels(struct mover *m, uint64_t local, uint32_t source, uint32_t pixel, uint32_t channel,
                          uint32_t channels)
{
    const struct pim_round_source *from = &m->work->round->source[source];
    const struct pim_round_run *run = from->run;
    for (uint32_t done = 0; done < channels;) {
        while (run->at + run->channels <= channel + done)
            run++;
        uint32_t most = run->at + run->channels - channel - done;
        uint32_t some = most < channels - done ? most : channels - done;
        load(m, local + (uint64_t)done * PIM_CORE_ELEMENT_BYTES,
             pim_round_address(run, m->work->sample, pixel, channel + done),
             (uint64_t)some * PIM_CORE_ELEMENT_BYTES);
        done += some;
    }
}

static void copy_run(struct mover *m, const struct pim_core_run *run, uint64_t to)
{
    if (!m->holds || m->source != run->source || m->pixel != run->from_pixel) {
        load_channels(m, m->beside, run->source, run->from_pixel, 0,
                      m->work->layer->source[run->source].channels);
        flush(m);
        m->holds = true;
        m->source = run->source;
        m->pixel = run->from_pixel;
    }
    pim_core_emit_run(m->work->emitter, m->work->core, run, to,
                      m->beside + (uint64_t)run->from_channel * PIM_CORE_ELEMENT_BYTES, run->count);
}

static void gather_run(struct mover *m, const struct pim_core_run *run, uint64_t to)
{
    const struct pim_round_source *from = &m->work->round->source[run->source];
    const struct pim_round_run *memory = from->run;
    while (memory->at + memory->channels <= run->from_channel)
        memory++;
    flush(m);
    pim_core_emit_transfer(m->work->emitter, PIM_OP_LOCAL_LOAD, m->work->core, to,
                           pim_round_address(memory, m->work->sample, run->from_pixel, run->from_channel),
                           PIM_CORE_ELEMENT_BYTES, run->count,
                           memory->pixel_stride * (uint64_t)run->from_pixel_step);
}

/* One run of a pixel that lies at `pixel`. */
static void move_run(struct mover *m, const struct pim_core_run *run, uint64_t pixel)
{
    uint64_t to = pixel + (uint64_t)run->to_channel * PIM_CORE_ELEMENT_BYTES;
    if (is_direct(run)) {
        load_channels(m, to, run->source, run->from_pixel, run->from_channel, run->count);
    } else if (is_gathered(run)) {
        gather_run(m, run, to);
    } else if (is_copied(run)) {
        copy_run(m, run, to);
    } else {
        for (uint32_t i = 0; i < run->count; i++) {
            int64_t step = i;
            load_channels(m,
                          pixel + (uint64_t)(run->to_channel + step * run->to_step) * PIM_CORE_ELEMENT_BYTES,
                          run->source, (uint32_t)(run->from_pixel + step * run->from_pixel_step),
                          (uint32_t)(run->from_channel + step * run->from_channel_step), 1);
        }
    }
}

/* Pixels [pixel, pixel + pixels) are neighbours in the source, too, and their channels change places alike.
 */
static bool is_uniform(const struct mover *m, uint32_t pixel, uint32_t pixels)
{
    const struct pim_core_runs *runs = &m->work->round->runs;
    uint32_t first = runs->first[pixel], count = runs->first[pixel + 1] - first;
    if (pixels < 2 || count == 0)
        return false;
    for (uint32_t p = 0; p < pixels; p++) {
        uint32_t at = runs->first[pixel + p];
        if (runs->first[pixel + p + 1] - at != count)
            return false;
        for (uint32_t i = 0; i < count; i++) {
            struct pim_core_run run = runs->run[at + i];
            if (!is_copied(&run) || run.source != runs->run[first].source ||
                run.from_pixel != runs->run[first].from_pixel + p)
                return false;
            run.from_pixel = runs->run[first + i].from_pixel;
            if (memcmp(&run, &runs->run[first + i], sizeof run) != 0)
                return false;
        }
    }
    return true;
}

static void move_uniform(struct mover *m, uint32_t pixel, uint32_t pixels, uint64_t base)
{
    const struct pim_core_runs *runs = &m->work->round->runs;
    const struct pim_core_run *first = &runs->run[runs->first[pixel]];
    uint32_t count = runs->first[pixel + 1] - runs->first[pixel], elements = 0;
    uint64_t to_pixel = (uint64_t)m->work->layer->channels * PIM_CORE_ELEMENT_BYTES;
    uint64_t from_pixel = (uint64_t)m->work->layer->source[first->source].channels * PIM_CORE_ELEMENT_BYTES;
    for (uint32_t p = 0; p < pixels; p++)
        load_channels(m, m->beside + p * from_pixel, first->source, first->from_pixel + p, 0,
                      m->work->layer->source[first->source].channels);
    flush(m);
    for (uint32_t i = 0; i < count; i++)
        elements += first[i].count;
    bool by_channel = elements < (uint64_t)count * pixels;
    for (uint32_t i = 0; i < count; i++) {
        const struct pim_core_run *run = &first[i];
        uint64_t to_step = (uint64_t)run->to_step * PIM_CORE_ELEMENT_BYTES;
        uint64_t from_step = (uint64_t)run->from_channel_step * PIM_CORE_ELEMENT_BYTES;
        uint64_t to = base + (uint64_t)run->to_channel * PIM_CORE_ELEMENT_BYTES;
        uint64_t from = m->beside + (uint64_t)run->from_channel * PIM_CORE_ELEMENT_BYTES;
        for (uint32_t e = 0; e < run->count && by_channel; e++)
            pim_core_emit_copy(m->work->emitter, m->work->core, to + e * to_step, from + e * from_step,
                               PIM_CORE_ELEMENT_BYTES, pixels, to_pixel, from_pixel);
        for (uint32_t p = 0; p < pixels && !by_channel; p++)
            pim_core_emit_run(m->work->emitter, m->work->core, run, to + p * to_pixel, from + p * from_pixel,
                              run->count);
    }
}

uint64_t pim_round_move_chunk(const struct pim_round_work *work, struct pim_round_tile *tile)
{
    const struct pim_core_layer *layer = work->layer;
    const struct pim_round_layer *round = work->round;
    uint64_t room, base = pim_round_take_turn(work, &room);
    uint64_t pixel_bytes = (uint64_t)layer->channels * PIM_CORE_ELEMENT_BYTES;
    uint64_t most = (room < PIM_ROUND_CHUNK ? room : PIM_ROUND_CHUNK) / round->moved_pixel;
    uint32_t left = tile->end - tile->next, pixels = most < left ? (uint32_t)most : left;
    pixels = pixels ? pixels : 1;
    struct pim_round_piece_of_map piece = {
        .pixel = tile->next, .pixels = pixels, .rows = 1, .channels = layer->channels};
    struct mover m = {.work = work, .beside = base + pixels * pixel_bytes};
    if (round->runs.zeros)
        pim_core_emit_zeros(work->emitter, work->core, base, pixels * pixel_bytes, 1, 0);
    if (is_uniform(&m, tile->next, pixels)) {
        move_uniform(&m, tile->next, pixels, base);
    } else {
        for (uint32_t p = 0; p < pixels; p++)
            for (uint32_t r = round->runs.first[tile->next + p]; r < round->runs.first[tile->next + p + 1];
                 r++)
                move_run(&m, &round->runs.run[r], base + p * pixel_bytes);
    }
    flush(&m);
    pim_round_vector_store(work, &piece, base);
    tile->next += pixels;
    return pixels * round->moved_pixel;
}
