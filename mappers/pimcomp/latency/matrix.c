/*
 * One window of a layer with a matrix, on one replica. In this order: inputs from global memory; each group's
 * elements into its buffer; MVMs; partial sums within a member; partial sums to home; bias; activations.
 */
#include "mappers/pimcomp/latency/blocks.h"
#include "mappers/pimcomp/latency/state.h"
#include "mappers/pimcomp/latency/windows.h"

#include <assert.h>

/* Elements of a group's input: `bytes` from `source` in the local memory, or zeros. */
struct piece {
    uint32_t destination, source, bytes;
    bool zero;
};

/* Pieces gathered at a time; pieces of one instruction start at most so many times their size apart, because
 * hardware watches the whole range of a list, and what lies between would hold it back. */
enum { PIECES = 256, APART_MOST = 8 };

struct gather {
    struct pim_ll *ll;
    uint32_t core;
    uint32_t count;
    struct piece piece[PIECES];
};

/* Emits pieces first, first + 1, .. that make one instruction; returns how many. */
static uint32_t emit_pieces(struct gather *gather, uint32_t first)
{
    const struct piece *piece = &gather->piece[first];
    uint32_t most = gather->count - first, count = 1;
    uint32_t apart = 0, source_apart = 0;
    if (most > 1 && piece[1].zero == piece[0].zero && piece[1].bytes == piece[0].bytes &&
        (piece[0].zero || (piece[1].source >= piece[0].source &&
                           piece[1].source - piece[0].source <= APART_MOST * (uint64_t)piece[0].bytes))) {
        apart = piece[1].destination - piece[0].destination;
        source_apart = piece[0].zero ? 0 : piece[1].source - piece[0].source;
        while (count < most && piece[count].zero == piece[0].zero && piece[count].bytes == piece[0].bytes &&
               piece[count].destination == piece[0].destination + count * apart &&
               (piece[0].zero ||
                piece[count].source == (uint64_t)piece[0].source + (uint64_t)count * source_apart))
            count++;
    }
    struct pim_core_emitter *emitter = pim_ll_emitter_at(gather->ll, PIM_LL_GATHER);
    if (piece->zero)
        pim_core_emit_zeros(emitter, gather->core, piece->destination, piece->bytes, count, apart);
    else
        pim_core_emit_copy(emitter, gather->core, piece->destination, piece->source, piece->bytes, count,
                           apart, source_apart);
    return count;
}

static void emit_gather(struct gather *gather)
{
    for (uint32_t i = 0; i < gather->count;)
        i += emit_pieces(gather, i);
    gather->count = 0;
}

static void add_piece(struct gather *gather, const struct piece *piece)
{
    if (gather->count > 0) {
        struct piece *last = &gather->piece[gather->count - 1];
        if (last->zero == piece->zero && last->destination + last->bytes == piece->destination &&
            (piece->zero || last->source + last->bytes == piece->source)) {
            last->bytes += piece->bytes;
            return;
        }
    }
    if (gather->count == PIECES)
        emit_gather(gather);
    gather->piece[gather->count++] = *piece;
}

/*
 * The address of the inputs of a group: where they are when they lie in one piece, else `buffer`, into
 * which they are gathered. `found` has the records of the member's slots.
 */
static uint32_t gather_input(struct pim_ll *ll, const struct pim_ll_layer *layer,
                             const struct pim_trace_array_group *group, const uint32_t *found, uint32_t core,
                             uint32_t buffer)
{
    struct gather gather;
    gather.ll = ll;
    gather.core = core;
    gather.count = 0;
    bool all = true; /* nothing was emitted yet, so one piece may stay where it is */
    struct pim_core_stretch s;
    for (uint32_t row = group->row, end = row + group->rows; row < end; row += s.channels) {
        s = pim_core_stretch_at(layer->core_layer, layer->partition, row, end);
        for (uint32_t p = 0; p < layer->parts; p++) {
            const struct pim_ll_part *part = &layer->part[p];
            uint32_t first = part->offset, last = first + part->channels, stop = s.channel + s.channels;
            uint32_t from = first > s.channel ? first : s.channel, to = last < stop ? last : stop;
            if (from >= to)
                continue;
            uint32_t record = found[s.position * layer->parts + p];
            struct piece piece = {.destination =
                                      buffer + (row - group->row + from - s.channel) * PIM_CORE_ELEMENT_BYTES,
                                  .bytes = (to - from) * PIM_CORE_ELEMENT_BYTES,
                                  .zero = record == PIM_LL_PADDING};
            if (!piece.zero)
                piece.source = ll->pixels.record[record].address +
                               (part->channel + from - first) * PIM_CORE_ELEMENT_BYTES;
            all = all && gather.count < PIECES;
            add_piece(&gather, &piece);
        }
    }
    if (all && gather.count == 1 && !gather.piece[0].zero)
        return gather.piece[0].source;
    assert(buffer != PIM_PIXEL_NONE);
    emit_gather(&gather);
    return buffer;
}

uint32_t pim_ll_output_of(const struct pim_ll *ll, const struct pim_ll_layer *layer,
                          const struct pim_ll_replica *replica, uint32_t g)
{
    const struct pim_trace_array_group *group = &layer->partition->group[g];
    uint32_t half = replica->runs & (ll->settings.buffers - 1);
    return replica->output[g] + half * group->folds * group->columns * PIM_CORE_ELEMENT_BYTES;
}

void pim_ll_emit_mvm(struct pim_ll *ll, uint32_t index, const struct pim_ll_replica *replica, uint32_t m,
                     uint32_t g, uint32_t output)
{
    const struct pim_ll_layer *layer = &ll->layer[index];
    const struct pim_trace_array_group *group = &layer->partition->group[g];
    uint32_t buffer = replica->input[g];
    if (buffer != PIM_PIXEL_NONE)
        buffer += (replica->runs & (ll->settings.buffers - 1)) * group->rows * PIM_CORE_ELEMENT_BYTES;
    uint32_t input =
        gather_input(ll, layer, group, &ll->found[(size_t)m * layer->slots], replica->member[m].core, buffer);
    pim_core_emit_mvm(pim_ll_emitter_at(ll, PIM_LL_MVM), index, (uint32_t)(replica - layer->replica), g,
                      input, output);
}

/* Where the sum of a strip stands on a member: the output pixel at home; else at `base`, strips back to
 * back, the member's strips below this one take *before bytes. */
static uint32_t strip_sum(const struct pim_ll_strip *strip, bool home, uint32_t base, uint32_t *before)
{
    if (home)
        return base + strip->column * PIM_CORE_ELEMENT_BYTES;
    uint32_t address = base + *before;
    *before += strip->columns * PIM_CORE_ELEMENT_BYTES;
    return address;
}

/* Gathers, MVMs and sums of one member; the sums go to `base`, which is the output pixel at home. */
static void compute_member(struct pim_ll *ll, uint32_t index, struct pim_ll_replica *replica, uint32_t m,
                           uint32_t base)
{
    const struct pim_ll_layer *layer = &ll->layer[index];
    const struct pim_ll_member *member = &replica->member[m];
    for (int pass = 0; pass < 2; pass++) { /* MVMs; additions */
        uint32_t before = 0, sum = 0;
        for (uint32_t i = 0; i < member->groups; i++) {
            uint32_t g = member->group[i];
            bool opens = pim_ll_opens_strip(layer, member, i);
            if (opens)
                sum = strip_sum(&layer->strip[layer->strip_of[g]], m == 0, base, &before);
            uint32_t output = opens ? sum : pim_ll_output_of(ll, layer, replica, g);
            if (pass == 0)
                pim_ll_emit_mvm(ll, index, replica, m, g, output);
            else if (!opens)
                pim_core_emit_addition(pim_ll_emitter_at(ll, PIM_LL_ADD), member->core, sum, output,
                                       layer->partition->group[g].columns);
        }
    }
}

/* Partial sums that home has received and not added yet. */
struct pending {
    bool together; /* all messages of a round go ahead of all additions */
    uint32_t room, count;
    uint32_t to[PIM_LL_SCRATCH], columns[PIM_LL_SCRATCH];
};

static void add_pending(struct pim_ll *ll, const struct pim_ll_replica *replica, struct pending *pending)
{
    for (uint32_t i = 0; i < pending->count; i++)
        pim_core_emit_addition(pim_ll_emitter_at(ll, PIM_LL_POST), replica->home, pending->to[i],
                               replica->scratch + i * replica->scratch_bytes, pending->columns[i]);
    pending->count = 0;
}

/* A partial sum from `from` of `core` to home, number `number` of those that home adds. If messages do not go
 * ahead, they and additions take turns. */
static void collect_strip(struct pim_ll *ll, struct pim_ll_replica *replica, uint32_t core, uint32_t from,
                          uint32_t to, uint32_t columns, uint32_t number, struct pending *pending)
{
    const uint32_t bytes = columns * PIM_CORE_ELEMENT_BYTES;
    if (pending->together) {
        uint32_t place = replica->scratch + number * replica->scratch_bytes;
        pim_core_emit_message(pim_ll_emitter_at(ll, PIM_LL_COLLECT), core, from, replica->home, place, bytes);
        pim_core_emit_addition(pim_ll_emitter_at(ll, PIM_LL_POST), replica->home, to, place, columns);
        return;
    }
    if (pending->count == pending->room)
        add_pending(ll, replica, pending);
    pim_core_emit_message(pim_ll_emitter_at(ll, PIM_LL_POST), core, from, replica->home,
                          replica->scratch + pending->count * replica->scratch_bytes, bytes);
    pending->to[pending->count] = to;
    pending->columns[pending->count++] = columns;
}

/* Partial sums of the other members to home. */
static void collect(struct pim_ll *ll, const struct pim_ll_layer *layer, struct pim_ll_replica *replica,
                    const uint32_t *base, uint32_t pixel)
{
    struct pending pending = {.room =
                                  replica->scratches < PIM_LL_SCRATCH ? replica->scratches : PIM_LL_SCRATCH};
    uint32_t number = 0;
    /* The places at home serve one window in a round; with folds a round may complete several. */
    pending.together = replica->scratches == replica->added && replica->collected != ll->epoch;
    replica->collected = ll->epoch;
    for (uint32_t m = 1; m < replica->members; m++) {
        const struct pim_ll_member *member = &replica->member[m];
        uint32_t before = 0;
        for (uint32_t i = 0; i < member->groups; i++) {
            if (!pim_ll_opens_strip(layer, member, i))
                continue;
            uint32_t s = layer->strip_of[member->group[i]];
            uint32_t to = pixel + layer->strip[s].column * PIM_CORE_ELEMENT_BYTES;
            uint32_t from = strip_sum(&layer->strip[s], false, base[m], &before);
            uint32_t columns = layer->strip[s].columns;
            if (replica->strip_first[s] == m)
                pim_core_emit_message(pim_ll_emitter_at(ll, PIM_LL_COLLECT), member->core, from,
                                      replica->home, to, columns * PIM_CORE_ELEMENT_BYTES);
            else
                collect_strip(ll, replica, member->core, from, to, columns, number++, &pending);
        }
    }
    add_pending(ll, replica, &pending);
}

static void add_bias(struct pim_ll *ll, uint32_t index, struct pim_ll_replica *replica, uint32_t pixel)
{
    const struct pim_ll_layer *layer = &ll->layer[index];
    struct pim_ll_replica *owner = &layer->replica[replica->bias_owner];
    if (!owner->bias_loaded)
        pim_core_emit_transfer(pim_ll_emitter_at(ll, PIM_LL_GATHER), PIM_OP_LOCAL_LOAD, replica->home,
                               replica->bias, ll->map->bias[index], pim_ll_pixel_bytes(ll, index), 1, 0);
    owner->bias_loaded = true;
    pim_core_emit_addition(pim_ll_emitter_at(ll, PIM_LL_POST), replica->home, pixel, replica->bias,
                           layer->core_layer->channels);
}

void pim_ll_emit_sums(struct pim_ll *ll, uint32_t index, struct pim_ll_replica *replica, const uint32_t *base,
                      uint32_t pixel)
{
    const struct pim_core_layer *layer = ll->layer[index].core_layer;
    collect(ll, &ll->layer[index], replica, base, pixel);
    if (layer->bias)
        add_bias(ll, index, replica, pixel);
    pim_core_emit_afters(pim_ll_emitter_at(ll, PIM_LL_POST), replica->home, layer, pixel, layer->channels, 1);
}

static struct pim_ll_reader reader_of(const struct pim_ll *ll, uint32_t index,
                                      const struct pim_ll_replica *replica, uint32_t m)
{
    const struct pim_ll_member *member = &replica->member[m];
    return (struct pim_ll_reader){.layer = index,
                                  .task = replica->task,
                                  .core = member->core,
                                  .need = member->need,
                                  .needed = member->needed,
                                  .found = &ll->found[(size_t)m * ll->layer[index].slots]};
}

bool pim_ll_find_task(struct pim_ll *ll, uint32_t index, struct pim_ll_replica *replica)
{
    if (replica->waits && !pim_ll_is_here(ll, index, replica->waited))
        return false;
    replica->waits = true;
    for (uint32_t m = 0; m < replica->members; m++) {
        struct pim_ll_reader reader = reader_of(ll, index, replica, m);
        if (!pim_ll_find_inputs(ll, &reader, &replica->waited))
            return false;
    }
    replica->waits = false;
    return true;
}

bool pim_ll_reserve_task(struct pim_ll *ll, uint32_t index, const struct pim_ll_replica *replica)
{
    ll->reservations = ll->loads = 0;
    for (uint32_t m = 0; m < replica->members; m++) {
        struct pim_ll_reader reader = reader_of(ll, index, replica, m);
        if (!pim_ll_reserve_loads(ll, &reader))
            return false;
    }
    return true;
}

void pim_ll_load_task(struct pim_ll *ll, uint32_t index, const struct pim_ll_replica *replica)
{
    pim_ll_perform_loads(ll);
    for (uint32_t m = 0; m < replica->members; m++) {
        struct pim_ll_reader reader = reader_of(ll, index, replica, m);
        pim_ll_find_loaded(ll, &reader);
    }
}

void pim_ll_end_task(struct pim_ll *ll, uint32_t index, struct pim_ll_replica *replica)
{
    for (uint32_t m = 0; m < replica->members; m++) {
        struct pim_ll_reader reader = reader_of(ll, index, replica, m);
        pim_ll_use_inputs(ll, &reader);
    }
    replica->runs++;
    ll->steps++;
}

bool pim_ll_run_matrix(struct pim_ll *ll, uint32_t index, uint32_t r)
{
    struct pim_ll_layer *layer = &ll->layer[index];
    struct pim_ll_replica *replica = &layer->replica[r];
    size_t first = 0;
    if (!pim_ll_find_task(ll, index, replica) || !pim_ll_reserve_task(ll, index, replica) ||
        !pim_ll_reserve_output(ll, index, replica->next, replica->home, PIM_PIXEL_NONE, &first))
        return false;
    pim_ll_load_task(ll, index, replica);
    uint32_t pixel = ll->reservation[first].address, half = replica->runs & (ll->settings.buffers - 1);
    for (uint32_t m = 0; m < replica->members && ll->status == PIM_OK; m++) {
        ll->base[m] = m == 0 ? pixel : replica->member[m].partial + half * replica->member[m].partial_bytes;
        if (ll->emitter)
            compute_member(ll, index, replica, m, ll->base[m]);
    }
    if (ll->emitter && ll->status == PIM_OK)
        pim_ll_emit_sums(ll, index, replica, ll->base, pixel);
    if (ll->status == PIM_OK)
        pim_ll_deliver(ll, index, replica->next, replica->home, first);
    pim_ll_end_task(ll, index, replica);
    replica->next += layer->replicas;
    replica->task = replica->next;
    layer->done++;
    return true;
}
