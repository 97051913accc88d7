/* Start and end of the instructions of a channel. Rules: channel.h. */
#include "models/channel/channel_internal.h"

#include "models/unit/fetch.h"
#include "sim/integer.h"

#include <assert.h>
#include <inttypes.h>

static uint64_t now_of(const struct pim_channel *channel)
{
    return pim_kernel_now(channel->unit.units->kernel) / channel->unit.units->period;
}

/* --- banks --- */

/* The banks of an instruction: `first` + i * `stride`, and those that a move writes. */
struct banks {
    uint32_t first, count, stride;
    uint32_t to; /* or that of `first` */
};

static struct banks banks_of(const struct pim_instruction *instruction)
{
    switch (instruction->opcode) {
    case PIM_OP_ROW_MOVE: {
        uint32_t first = instruction->u.row_move.first_bank;
        bool column = instruction->detail == PIM_REACH_COLUMN;
        return (struct banks){first, instruction->u.row_move.banks, instruction->u.row_move.bank_stride,
                              column ? first : instruction->u.row_move.to_bank};
    }
    case PIM_OP_ROW_SEND:
    case PIM_OP_ROW_RECEIVE: {
        uint32_t first = instruction->u.row_message.first_bank;
        return (struct banks){first, instruction->u.row_message.banks, instruction->u.row_message.bank_stride,
                              first};
    }
    default: {
        uint32_t first = instruction->u.row_compute.first_bank;
        return (struct banks){first, instruction->u.row_compute.banks, instruction->u.row_compute.bank_stride,
                              first};
    }
    }
}

const struct pim_channel_slot *pim_channel_holder(const struct pim_channel *channel,
                                                  const struct pim_channel_slot *slot)
{
    const struct banks banks = banks_of(&slot->instruction);
    for (uint32_t i = 0; i < banks.count; i++) {
        if (channel->holder[banks.first + i * banks.stride])
            return channel->holder[banks.first + i * banks.stride];
        if (channel->holder[banks.to + i * banks.stride])
            return channel->holder[banks.to + i * banks.stride];
    }
    return NULL;
}

static void hold(struct pim_channel *channel, const struct pim_channel_slot *slot,
                 const struct pim_channel_slot *holder)
{
    const struct banks banks = banks_of(&slot->instruction);
    for (uint32_t i = 0; i < banks.count; i++)
        channel->holder[banks.first + i * banks.stride] = channel->holder[banks.to + i * banks.stride] =
            holder;
}

/* --- time --- */

/* A server that is free from `free` on works for `cycles`, from `now` on at the earliest: the end. */
static uint64_t serve(uint64_t *free, uint64_t now, uint64_t cycles)
{
    *free = pim_larger(*free, now) + cycles;
    return *free;
}

/* The same of what a cost holds already: it tells only what others, who are before, add. */
static uint64_t share(uint64_t *free, uint64_t now, uint64_t cycles)
{
    bool others = *free > now && cycles > 0;
    uint64_t end = serve(free, now, cycles);
    return others ? end : 0;
}

/* The end of an instruction that starts now; rules 3 and 4. */
static uint64_t end_of(struct pim_channel *channel, const struct pim_channel_cost *cost)
{
    uint64_t now = now_of(channel);
    uint64_t end = pim_channel_refreshed(&channel->channels->configuration.memory, now, cost->cycles);
    end = pim_larger(end, share(&channel->rows_free, now, cost->row_cycles));
    return pim_larger(end, share(&channel->data_free, now, cost->data_cycles));
}

static bool schedule(struct pim_channel *channel, struct pim_channel_slot *slot, uint64_t cycle,
                     pim_handler *handler)
{
    struct pim_units *units = channel->unit.units;
    if (!pim_unit_in_time_at(&channel->unit, slot->sequence, slot->instruction.opcode, 0, cycle,
                             units->period))
        return false;
    pim_kernel_schedule_at(units->kernel, cycle * units->period, PIM_PHASE_ENGINE, handler, slot);
    return true;
}

static void count(struct pim_channel *channel, const struct pim_channel_cost *cost)
{
    PIM_ADD_ACTION(channel, dram_activates, cost->activates);
    PIM_ADD_ACTION(channel, dram_bits, cost->bits);
    PIM_ADD_ACTION(channel, crossbar_steps, cost->steps);
    PIM_ADD_ACTION(channel, interconnect_bits, cost->bits); /* between the banks and the controller */
    PIM_ADD_ACTION(channel, macs, cost->products);
}

/* --- ends --- */

static void complete(struct pim_channel_slot *slot, unsigned engine)
{
    struct pim_channel *channel = slot->channel;
    pim_states_account_now(&channel->unit);
    channel->queue[engine].in_flight--;
    slot->done = true;
    pim_unit_observe(&channel->unit, &slot->instruction, slot->started * channel->unit.units->period,
                     pim_kernel_now(channel->unit.units->kernel));
    pim_channel_look(channel);
}

/* Its banks are free; what it does to their bits is done at once. */
static void release(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_channel_slot *slot = context;
    struct pim_channel_values *values = slot->channel->channels->values;
    struct pim_error problem = {.status = PIM_OK};
    if (values &&
        pim_channel_values_execute(values, slot->channel->unit.id, &slot->instruction, &problem) != PIM_OK)
        pim_channel_fail(slot->channel, slot, "%s", problem.text);
    hold(slot->channel, slot, NULL);
    pim_channel_look(slot->channel);
}

static void ended(struct pim_kernel *kernel, void *context)
{
    struct pim_channel_slot *slot = context;
    release(kernel, context);
    complete(slot, pim_opcode_engine(slot->instruction.opcode));
}

static void sent(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    complete(context, PIM_ENGINE_SEND);
}

static void written(struct pim_kernel *kernel, void *context)
{
    struct pim_channel_slot *slot = context;
    struct pim_channel *channel = slot->channel;
    uint32_t i = 0;
    while (channel->posted[i] != slot)
        i++;
    for (channel->posted_count--; i < channel->posted_count; i++)
        channel->posted[i] = channel->posted[i + 1];
    release(kernel, context);
    complete(slot, PIM_ENGINE_RECEIVE);
}

static void arrived(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_channel_slot *slot = context;
    slot->arrived = true;
    pim_channel_look(slot->channel);
}

/* --- starts --- */

const struct pim_channel_slot *pim_channel_blocker(const struct pim_channel *channel,
                                                   const struct pim_channel_slot *slot)
{
    for (unsigned i = 0; i < PIM_DEPENDENCIES; i++) {
        uint64_t distance = slot->instruction.dependency[i];
        if (distance == 0 || distance > slot->sequence || slot->sequence - distance < channel->unit.oldest)
            continue;
        const struct pim_channel_slot *other = pim_channel_slot_of(channel, slot->sequence - distance);
        if (!other->done)
            return other;
    }
    return NULL;
}

static uint64_t message_bytes(const struct pim_channel *channel, const struct pim_instruction *instruction)
{
    return (uint64_t)instruction->u.row_message.rows * instruction->u.row_message.banks *
           (channel->channels->configuration.memory.columns / 8);
}

/* The first receive of the peer that has the name of this send, and whose send has not started. */
static struct pim_channel_slot *find_posted(const struct pim_channel *channel,
                                            const struct pim_channel_slot *send)
{
    const struct pim_channel *peer = pim_channel_at(channel->channels, send->instruction.u.row_message.peer);
    for (uint32_t i = 0; i < peer->posted_count; i++) {
        struct pim_channel_slot *slot = peer->posted[i];
        if (!slot->met && slot->instruction.u.row_message.peer == channel->unit.id &&
            slot->instruction.u.row_message.tag == send->instruction.u.row_message.tag)
            return slot;
    }
    return NULL;
}

static bool cost_of(struct pim_channel *channel, const struct pim_channel_slot *slot, unsigned kind,
                    struct pim_channel_cost *cost)
{
    struct pim_error problem = {.status = PIM_OK};
    if (pim_channel_cost_of(channel->channels->costs, kind, &slot->instruction, cost, &problem) == PIM_OK)
        return true;
    pim_channel_fail(channel, slot, "%s", problem.text);
    return false;
}

/* A message and its receive: the same rows, over the way that both name. */
static bool is_right(struct pim_channel *channel, const struct pim_channel_slot *send,
                     const struct pim_channel_slot *receive)
{
    const struct pim_instruction *from = &send->instruction, *to = &receive->instruction;
    uint32_t width = channel->channels->configuration.width;
    bool between = channel->unit.id / width != from->u.row_message.peer / width;
    if (message_bytes(channel, from) != message_bytes(channel, to)) {
        pim_channel_fail(channel, send,
                         "sends %" PRIu32 " rows of %" PRIu32 " banks, tag %" PRIu32 ", and channel %" PRIu32
                         " waits for %" PRIu32 " of %" PRIu32,
                         from->u.row_message.rows, from->u.row_message.banks, from->u.row_message.tag,
                         from->u.row_message.peer, to->u.row_message.rows, to->u.row_message.banks);
        return false;
    }
    if (from->detail == (between ? PIM_REACH_STACK : PIM_REACH_CHANNEL) && to->detail == from->detail)
        return true;
    pim_channel_fail(
        channel, send, "goes to channel %" PRIu32 ", which is in %s stack: both ends must say \"%s\"",
        from->u.row_message.peer, between ? "another" : "the same", between ? "stack" : "channel");
    return false;
}

static void start_send(struct pim_channel *channel, struct pim_channel_slot *slot,
                       struct pim_channel_slot *receive)
{
    struct pim_channels *channels = channel->channels;
    const struct pim_channel_memory *memory = &channels->configuration.memory;
    struct pim_channel_cost cost;
    if (!is_right(channel, slot, receive) || !cost_of(channel, slot, PIM_CHANNEL_READ, &cost))
        return;
    uint64_t now = now_of(channel), bytes = message_bytes(channel, &slot->instruction);
    uint64_t rows = bytes / (memory->columns / 8);
    uint64_t row = pim_channel_ceiling(memory->columns / 8, memory->link_bytes), way = rows * row;
    uint64_t read = end_of(channel, &cost), first = pim_larger(now + cost.first, now + row);
    uint64_t last = pim_larger(read, now + way);
    last = pim_larger(last, serve(&channel->link_out_free, now, way));
    last = pim_larger(last, serve(&receive->channel->link_in_free, now, way));
    if (slot->instruction.detail == PIM_REACH_STACK) {
        uint64_t bus = pim_channel_ceiling(bytes, memory->bus_bytes);
        last = pim_larger(last, serve(&channels->bus_free, now, bus));
        channels->bus_cycles += bus;
        PIM_ADD_ACTION(channel, chip_link_bits, 8 * bytes);
    }
    first = first < last ? first : last;
    hold(channel, slot, slot);
    receive->met = true;
    receive->last = last;
    count(channel, &cost);
    PIM_ADD_BYTES(channel, bytes_sent, bytes);
    if (schedule(channel, slot, read, release) && schedule(channel, slot, last, sent))
        (void)schedule(receive->channel, receive, first, arrived);
}

static void start_write(struct pim_channel *channel, struct pim_channel_slot *slot)
{
    struct pim_channel_cost cost;
    if (!cost_of(channel, slot, PIM_CHANNEL_WRITE, &cost))
        return;
    pim_states_account_now(&channel->unit);
    slot->writing = true;
    slot->started = now_of(channel);
    channel->queue[PIM_ENGINE_RECEIVE].in_flight++;
    hold(channel, slot, slot);
    count(channel, &cost);
    PIM_ADD_BYTES(channel, bytes_received, message_bytes(channel, &slot->instruction));
    (void)schedule(channel, slot, pim_larger(end_of(channel, &cost), slot->last + cost.first), written);
}

/* Takes the head off its queue. */
static void take(struct pim_channel *channel, unsigned engine, struct pim_channel_slot *slot)
{
    channel->queue[engine].head++;
    channel->queue[engine].in_flight += engine != PIM_ENGINE_RECEIVE;
    slot->started = now_of(channel);
}

static void start(struct pim_channel *channel, unsigned engine, struct pim_channel_slot *slot)
{
    struct pim_channel_cost cost;
    take(channel, engine, slot);
    if (engine == PIM_ENGINE_SEND) {
        start_send(channel, slot, find_posted(channel, slot));
    } else if (engine == PIM_ENGINE_RECEIVE) {
        channel->posted[channel->posted_count++] = slot;
        pim_channel_look(pim_channel_at(channel->channels, slot->instruction.u.row_message.peer));
    } else if (cost_of(channel, slot, slot->instruction.opcode, &cost)) {
        hold(channel, slot, slot);
        count(channel, &cost);
        (void)schedule(channel, slot, end_of(channel, &cost), ended);
    }
}

/* Why a head has not started, as a state of its engine; IDLE: it can. */
static uint8_t look_at(const struct pim_channel *channel, unsigned engine,
                       const struct pim_channel_slot *slot)
{
    const struct pim_channel_slot *other = pim_channel_blocker(channel, slot);
    if (!other && engine == PIM_ENGINE_RECEIVE)
        return PIM_STATE_IDLE;
    if (!other && engine == PIM_ENGINE_SEND && !find_posted(channel, slot))
        return PIM_STATE_WAIT + PIM_WAIT_PEER;
    if (!other)
        other = pim_channel_holder(channel, slot);
    return other
               ? (uint8_t)(PIM_STATE_WAIT + pim_wait_of_engine(pim_opcode_engine(other->instruction.opcode)))
               : PIM_STATE_IDLE;
}

/* Starts the oldest instruction that can; false when there is none. Else what each engine waits for is
 * told. */
static bool start_oldest(struct pim_channel *channel, uint8_t states[PIM_ENGINE_CONTROL])
{
    struct pim_channel_slot *oldest = NULL;
    for (uint32_t i = 0; i < channel->posted_count && !oldest; i++)
        if (channel->posted[i]->arrived && !channel->posted[i]->writing &&
            !pim_channel_holder(channel, channel->posted[i]))
            oldest = channel->posted[i];
    bool write = oldest != NULL;
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++) {
        const struct pim_channel_queue *queue = &channel->queue[engine];
        states[engine] = PIM_STATE_IDLE;
        if (queue->head == queue->tail)
            continue;
        struct pim_channel_slot *slot =
            pim_channel_slot_of(channel, queue->sequence[queue->head & channel->mask]);
        states[engine] = look_at(channel, engine, slot);
        if (states[engine] != PIM_STATE_IDLE || (oldest && oldest->sequence < slot->sequence))
            continue;
        oldest = slot;
        write = false;
    }
    if (write)
        start_write(channel, oldest);
    else if (oldest)
        start(channel, pim_opcode_engine(oldest->instruction.opcode), oldest);
    return oldest != NULL;
}

static void show(struct pim_channel *channel, const uint8_t states[PIM_ENGINE_CONTROL])
{
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++) {
        uint8_t state = channel->queue[engine].in_flight > 0 ? PIM_STATE_BUSY : states[engine];
        if (state == PIM_STATE_IDLE && engine == PIM_ENGINE_RECEIVE && channel->posted_count > 0)
            state = PIM_STATE_WAIT + PIM_WAIT_PEER;
        pim_states_set(&channel->unit, engine, state);
    }
}

/* --- fetch --- */

static bool is_done(const struct pim_unit *unit, uint64_t sequence, uint64_t now)
{
    (void)now; /* completions are events */
    return pim_channel_slot_of((const struct pim_channel *)unit, sequence)->done;
}

static bool dispatch(struct pim_unit *unit, uint64_t sequence, const struct pim_instruction *instruction,
                     uint64_t now)
{
    (void)now;
    struct pim_channel *channel = (struct pim_channel *)unit;
    struct pim_channel_slot *slot = pim_channel_slot_of(channel, sequence);
    *slot = (struct pim_channel_slot){.instruction = *instruction, .channel = channel, .sequence = sequence};
    struct pim_error problem = {.status = PIM_OK};
    if (pim_channel_check(&channel->channels->configuration.memory, instruction, &problem) != PIM_OK) {
        pim_channel_fail(channel, slot, "%s", problem.text);
        return false;
    }
    struct pim_channel_queue *queue = &channel->queue[pim_opcode_engine(instruction->opcode)];
    queue->sequence[queue->tail++ & channel->mask] = sequence;
    return true;
}

static void look(struct pim_channel *channel)
{
    static const struct pim_fetch_operations operations = {.is_done = is_done, .prepare = dispatch};
    const struct pim_error *error = channel->unit.units->error;
    uint8_t states[PIM_ENGINE_CONTROL];
    pim_unit_fetch(&channel->unit, &operations, now_of(channel));
    while (error->status == PIM_OK && start_oldest(channel, states))
        ;
    if (error->status == PIM_OK)
        show(channel, states);
}

/* Rule 2, last in its tick: channels look in the order of their numbers, until none has anything new. */
static void look_all(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_channels *channels = context;
    while (channels->looking_count > 0)
        for (uint32_t id = 0; id < channels->units.count; id++)
            if (channels->looking[id]) {
                channels->looking[id] = false;
                channels->looking_count--;
                look(pim_channel_at(channels, id));
            }
}

void pim_channel_look(struct pim_channel *channel)
{
    struct pim_channels *channels = channel->channels;
    if (channels->looking[channel->unit.id])
        return;
    channels->looking[channel->unit.id] = true;
    if (channels->looking_count++ == 0)
        pim_kernel_schedule(channels->units.kernel, 0, PIM_PHASE_UNIT, look_all, channels);
}
