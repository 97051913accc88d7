#include "mappers/overlapim/chain/times.h"

#include "mappers/overlapim/chain/bus.h"
#include "mappers/overlapim/emit/real_program.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX

/* A flow on its way. */
struct sending {
    struct pim_message_cycles cycles; /* of a message of `data` */
    uint64_t data;
    uint64_t *final; /* by message: when its rows have ended; */
    uint64_t *begun; /* it begins to be sent */
    uint64_t *out;   /* it has left its channels */
    uint64_t *last;  /* it is there */
    uint64_t next;   /* message that the layer which is run waits for, or sends */
};

struct times {
    const struct pim_search_inputs *inputs;
    const struct pim_layer_mapping *mappings;
    const struct pim_messages *messages;
    struct pim_overlap_chain_layer *layer;
    struct sending *sending; /* by flow */
    uint64_t row;            /* cycles of a row of a bank */
    struct pim_bus bus;      /* between stacks */
    uint32_t ran;            /* layers that have been */
    bool transformed, ends;
};

static const struct pim_layer_flow *flow_of(const struct times *times, uint32_t f)
{
    return &times->messages->flow[f];
}

static struct pim_message_cycles cycles_of(const struct times *times, uint32_t f, uint64_t message)
{
    const struct pim_layer_flow *flow = flow_of(times, f);
    struct sending *sending = &times->sending[f];
    const uint64_t data = flow->message[message].data;
    if (data != sending->data) {
        const struct pim_way way = {pim_chain_unit(times->inputs, flow->producer),
                                    pim_chain_unit(times->inputs, flow->consumer)};
        sending->cycles = pim_message_cycles(times->inputs->machine, &times->mappings[flow->producer].cost,
                                             &times->mappings[flow->consumer].cost, data, way);
        sending->data = data;
    }
    return sending->cycles;
}

static uint64_t carried(struct pim_message_cycles cycles)
{
    return pim_larger(pim_larger(cycles.read, cycles.bus), pim_larger(cycles.out, cycles.in));
}

/* Messages of a flow that are sent before the one of flow `f` behind `rows` rows of the same producer. */
static uint64_t count_before(const struct times *times, uint32_t of, uint32_t f, uint64_t rows)
{
    const struct pim_layer_flow *flow = flow_of(times, of);
    uint64_t low = 0, high = flow->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const bool before = flow->message[middle].rows < rows + (of < f);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

/* When the channels of a flow's consumer take what its producer sends while it works; NEVER: not known. */
static uint64_t open_at(const struct times *times, const struct pim_layer_flow *flow)
{
    const uint32_t places = pim_intake_places(times->inputs), reader = flow->consumer;
    if (flow->ends)
        return NEVER;
    if (reader < places)
        return 0;
    return reader - places < times->ran ? times->layer[reader - places].left : NEVER;
}

/* When a unit may begin to send a message of flow `f`: behind those before it, of which each waits until its
 * receiver takes it. `*out`: its link is free. */
static uint64_t behind_others(const struct times *times, uint32_t f, uint64_t rows, uint64_t *out)
{
    uint64_t begin = 0;
    *out = 0;
    for (uint32_t g = 0; g < times->messages->flows; g++) {
        const struct pim_layer_flow *flow = flow_of(times, g);
        if (flow->producer != flow_of(times, f)->producer)
            continue;
        const uint64_t before = count_before(times, g, f, rows);
        if (before == 0)
            continue;
        const struct sending *sending = &times->sending[g];
        const bool sent = flow->consumer < times->ran || g <= f;
        const uint64_t open = sent ? 0 : open_at(times, flow);
        if (open < NEVER)
            begin = pim_larger(
                begin, (sent ? sending->begun[before - 1] : pim_larger(open, sending->final[before - 1])) +
                           cycles_of(times, g, before - 1).read);
        *out = sent ? pim_larger(*out, sending->out[before - 1]) : *out;
    }
    return begin;
}

/* When the first row of the next message of a flow is there. */
static uint64_t first_of(const struct times *times, uint32_t f)
{
    const struct sending *sending = &times->sending[f];
    return pim_smaller(sending->last[sending->next], sending->begun[sending->next] + times->row);
}

/* The flow from `first` to `last` - 1 with the earliest time in `at` of the message that is next, if it is
 * before `limit`; PIM_NONE: none. */
static uint32_t earliest(const struct times *times, uint32_t first, uint32_t last, bool arrived,
                         uint64_t limit)
{
    uint32_t found = PIM_NONE;
    for (uint32_t f = first; f < last; f++) {
        const struct sending *sending = &times->sending[f];
        if (sending->next == flow_of(times, f)->count)
            continue;
        const uint64_t at = arrived ? first_of(times, f) : sending->final[sending->next];
        if (at < limit) {
            limit = at;
            found = f;
        }
    }
    return found;
}

/* What carries one message after the other. */
static uint64_t serve(uint64_t *free, uint64_t from, uint64_t cycles)
{
    if (cycles == 0)
        return from;
    *free = pim_larger(*free, from) + cycles;
    return *free;
}

static enum pim_status carry(struct times *times, uint32_t f, uint64_t open, uint64_t *in,
                             struct pim_error *error)
{
    const struct pim_layer_flow *flow = flow_of(times, f);
    struct sending *sending = &times->sending[f];
    const uint64_t m = sending->next++;
    const struct pim_message_cycles cycles = cycles_of(times, f, m);
    uint64_t by_bus, out, begin = behind_others(times, f, flow->message[m].rows, &out);
    begin = pim_larger(begin, pim_larger(sending->final[m], open));
    uint64_t last = begin + cycles.read;
    if (pim_bus_serve(&times->bus, begin, cycles.bus, &by_bus, error) != PIM_OK)
        return error->status;
    sending->out[m] = serve(&out, begin, cycles.out);
    last = pim_larger(last, sending->out[m]);
    last = pim_larger(last, serve(in, begin, cycles.in));
    sending->last[m] = pim_larger(last, by_bus);
    sending->begun[m] = begin;
    return PIM_OK;
}

/* All messages to a layer, in the order in which they are sent, on their ways. */
static enum pim_status carry_all(struct times *times, uint32_t index, uint32_t first, uint32_t last,
                                 struct pim_error *error)
{
    uint64_t in = 0; /* the links into its channels are free */
    for (uint32_t f = first; f < last; f++) {
        struct sending *sending = &times->sending[f];
        sending->next = 0;
        sending->begun = calloc(3 * flow_of(times, f)->count + 1, sizeof *sending->begun);
        if (!sending->begun)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the times of messages");
        sending->out = sending->begun + flow_of(times, f)->count;
        sending->last = sending->out + flow_of(times, f)->count;
    }
    for (uint32_t f; (f = earliest(times, first, last, false, UINT64_MAX)) != PIM_NONE;) {
        const uint64_t open = pim_chain_taken_from(times->inputs, times->layer, flow_of(times, f)->producer,
                                                   index, times->ends);
        if (carry(times, f, open, &in, error) != PIM_OK)
            return error->status;
    }
    for (uint32_t f = first; f < last; f++)
        times->sending[f].next = 0;
    return PIM_OK;
}

/* Where layers hand over at their ends, to one of a later turn: it is written in the program of the layer
 * that has the channels then. */
static bool is_taken_by_others(const struct times *times, const struct pim_layer_flow *flow)
{
    const uint32_t places = pim_intake_places(times->inputs);
    return flow->ends && flow->consumer / places != flow->producer / places;
}

static uint64_t write_next(const struct times *times, uint32_t f, uint64_t now)
{
    struct sending *sending = &times->sending[f];
    const uint64_t first = first_of(times, f), m = sending->next++, write = cycles_of(times, f, m).write;
    if (is_taken_by_others(times, flow_of(times, f)))
        return pim_larger(now, sending->last[m]);
    now = pim_larger(now, first);
    return write > 0 ? pim_larger(now + write, sending->last[m]) : now;
}

/* What row `row` needs of a flow, written; while the layer waits, what comes on the others. */
static uint64_t take(const struct times *times, uint32_t f, uint32_t first, uint32_t last, uint64_t row,
                     uint64_t now)
{
    const struct pim_layer_flow *flow = flow_of(times, f);
    const struct sending *sending = &times->sending[f];
    while (sending->next < flow->count && flow->message[sending->next].row <= row) {
        const uint64_t there = first_of(times, f);
        uint32_t other = f;
        if (now < there)
            other = earliest(times, first, last, true, there);
        now = write_next(times, other == PIM_NONE ? f : other, now);
    }
    return now;
}

/* What a layer does in a row, without messages. */
struct work {
    struct pim_overlap_layer alone;
    uint64_t load, loads, rows; /* moves of inputs; how often; in so many rows */
    struct pim_real real;       /* of a product with real rows: all behind what is received */
    uint64_t cycles[16];        /* of such a row, by what it does beside its products; 0: not known yet */
};

static struct work work_of(const struct times *times, uint32_t index)
{
    const struct pim_mapped_layer *mapped = &times->inputs->layers->layer[index];
    const struct pim_layer_mapping *own = &times->mappings[index];
    struct work work = {.load = own->cost.load, .rows = times->messages->rows[index]};
    pim_chain_alone(mapped, own, &work.alone);
    pim_chain_events(mapped, own, times->transformed, &work.alone);
    work.loads = !pim_overlap_uneven(&work.alone) ? work.rows
                 : times->transformed             ? work.alone.loads.existing
                                                  : work.alone.loads.count;
    struct pim_error ignored = {PIM_OK, ""}; /* said when it is written */
    if (times->inputs->real && mapped->product && !times->transformed)
        (void)pim_real_place(times->inputs->machine, mapped, times->inputs->spaces[index].drop_weights,
                             &own->nest, &own->strides, &work.real, &ignored);
    return work;
}

/* Cycles of a row whose operations are on real rows. */
static uint64_t real_cycles(const struct times *times, uint32_t index, struct work *work, uint64_t row)
{
    const struct pim_real_step step = pim_real_step(&work->real, row);
    uint64_t *known = &work->cycles[(unsigned)step.loads_inputs | (unsigned)step.loads_weights << 1 |
                                    (unsigned)step.first << 2 | (unsigned)step.last << 3];
    if (*known == 0)
        *known = pim_real_step_cycles(times->inputs->machine, &times->inputs->layers->layer[index],
                                      &work->real, times->mappings[index].cost.banks,
                                      pim_chain_unit(times->inputs, index), row);
    return *known;
}

/* The end of a row that begins at `now`. */
static uint64_t run_row(const struct times *times, uint32_t index, struct work *work, uint32_t first,
                        uint32_t last, uint64_t row, uint64_t now)
{
    const struct pim_mapped_layer *mapped = &times->inputs->layers->layer[index];
    const uint64_t all = work->real.used ? real_cycles(times, index, work, row)
                                         : pim_overlap_row_latency(&work->alone, row, work->rows);
    const uint64_t moved =
        work->real.used ? 0 : work->load * pim_overlap_first_share(work->loads, row, work->rows);
    for (uint32_t f = first; f < last; f++) {
        if (flow_of(times, f)->ends)
            now = take(times, f, first, last, row, now);
    }
    for (uint32_t f = first; f < last; f++) {
        now = take(times, f, first, last, row, now);
        now += pim_intake_share(mapped, moved, f - first + 1) - pim_intake_share(mapped, moved, f - first);
    }
    return now + all - (last > first ? moved : 0);
}

/* What a layer has to send and has not begun: a unit sends one message after the other. */
struct unsent {
    uint64_t open; /* when all receivers so far take theirs */
    uint64_t read; /* cycles of its banks */
};

/* Sends what consumers wait for behind row `row`, which ends at `now`; when the banks have been read. */
static uint64_t send(const struct times *times, uint32_t index, uint64_t row, uint64_t now,
                     struct unsent *unsent)
{
    for (uint32_t f = 0; f < times->messages->flows; f++) {
        const struct pim_layer_flow *flow = flow_of(times, f);
        struct sending *sending = &times->sending[f];
        if (flow->producer != index || sending->next == flow->count ||
            flow->message[sending->next].rows != row + 1)
            continue;
        sending->final[sending->next] = now;
        unsent->open = pim_larger(unsent->open, open_at(times, flow));
        unsent->read += cycles_of(times, f, sending->next).read;
        sending->next++;
    }
    if (now >= unsent->open) {
        now += unsent->read;
        unsent->read = 0;
    }
    return now;
}

/* When a layer has sent all: its messages as they are, and those that have been sent as they were. */
static uint64_t left_at(const struct times *times, uint32_t index, uint32_t but)
{
    struct pim_leaving leaving = pim_chain_leave(times->layer, index, but, times->ends);
    for (uint32_t f = 0; f < times->messages->flows; f++) {
        const struct pim_layer_flow *flow = flow_of(times, f);
        if (flow->producer != index || flow->count == 0)
            continue;
        const uint64_t message = carried(cycles_of(times, f, flow->count - 1));
        if (flow->consumer >= times->ran) {
            pim_chain_send_last(times->inputs, times->layer, flow->consumer,
                                (struct pim_handover){.sent = message, .message = message}, &leaving);
        } else if (message > 0) {
            leaving.now = pim_larger(leaving.now, times->sending[f].last[flow->count - 1]);
            leaving.left = pim_larger(leaving.left, leaving.now);
        }
    }
    return leaving.left;
}

/* Where layers hand over at their ends: the channels of a layer take what layers of the turn before send to
 * later ones on them, message by message, and its rows are behind that. It has its channels at `now`. */
static uint64_t taken_for_others(const struct times *times, uint32_t index, uint64_t now)
{
    const uint32_t places = pim_intake_places(times->inputs),
                   turn = places > 0 ? index - index % places : 0; /* its first layer */
    for (uint32_t i = turn > 0 ? index - places + 1 : 0; i < turn; i++) {
        for (uint32_t f = 0; f < times->messages->flows; f++) {
            const struct pim_layer_flow *flow = flow_of(times, f);
            const bool taken = flow->ends && flow->producer == i && flow->count > 0 &&
                               flow->consumer > index && (flow->consumer - index) % places == 0;
            const uint64_t message = taken ? carried(cycles_of(times, f, flow->count - 1)) : 0;
            now = message > 0 ? pim_larger(now, times->layer[i].end) + message : now;
        }
    }
    return now;
}

static enum pim_status run_layer(struct times *times, uint32_t index, uint32_t first, uint32_t last,
                                 struct pim_error *error)
{
    const uint32_t places = pim_intake_places(times->inputs);
    struct work work = work_of(times, index);
    struct unsent unsent = {0, 0};
    uint64_t now = 0;
    if (index >= places) {
        struct pim_overlap_chain_layer *before = &times->layer[index - places];
        now = before->left = left_at(times, index - places, index);
        now = times->ends ? taken_for_others(times, index, now) : now;
    }
    if (carry_all(times, index, first, last, error) != PIM_OK)
        return error->status;
    for (uint64_t row = 0; row < work.rows; row++) {
        now = run_row(times, index, &work, first, last, row, now);
        times->layer[index].end = times->layer[index].left = now;
        now = send(times, index, row, now, &unsent);
    }
    return PIM_OK;
}

static enum pim_status run(struct times *times, uint64_t limit, uint64_t *end, struct pim_error *error)
{
    const struct pim_messages *messages = times->messages;
    for (uint32_t f = 0; f < messages->flows; f++) {
        times->sending[f].final = calloc(messages->flow[f].count + 1, sizeof *times->sending[f].final);
        if (!times->sending[f].final)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the times of messages");
    }
    *end = 0;
    for (uint32_t i = 0; i < times->inputs->layers->count; i++)
        times->layer[i].end = times->layer[i].left = 0;
    for (uint32_t i = 0, first = 0, last = 0; i < times->inputs->layers->count && *end < limit;
         i++, first = last) {
        while (last < messages->flows && messages->flow[last].consumer == i)
            last++;
        if (run_layer(times, i, first, last, error) != PIM_OK)
            return error->status;
        times->ran = i + 1;
        *end = pim_larger(*end, times->layer[i].end);
    }
    for (uint32_t i = 0; i < times->ran; i++)
        times->layer[i].left = left_at(times, i, PIM_NONE);
    return PIM_OK;
}

enum pim_status pim_times_run(const struct pim_search_inputs *inputs,
                              const struct pim_layer_mapping *mappings, bool transformed, bool ends,
                              uint64_t limit, struct pim_chain *chain, struct pim_error *error)
{
    struct times times = {.inputs = inputs,
                          .mappings = mappings,
                          .messages = &chain->messages,
                          .layer = chain->layer,
                          .sending = calloc(chain->messages.flows + 1, sizeof *times.sending),
                          .row = pim_machine_rows(inputs->machine, 1, 1),
                          .transformed = transformed,
                          .ends = ends};
    if (!times.sending)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the times of messages");
    enum pim_status status = run(&times, limit, &chain->end, error);
    for (uint32_t f = 0; f < chain->messages.flows; f++) {
        free(times.sending[f].final);
        free(times.sending[f].begun);
    }
    free(times.sending);
    pim_bus_terminate(&times.bus);
    return status;
}
