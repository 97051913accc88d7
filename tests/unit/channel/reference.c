#include "tests/unit/channel/reference.h"

#include <check.h>

enum { LONGEST_RUN = 40000000 };

/* Whether all banks that an instruction reads or writes are free; with `take` they are given to `holder`. The
 * three words lie at the same place in all records of channels. */
static bool banks(struct reference_channel *channel, const struct pim_instruction *instruction, bool take,
                  int holder)
{
    uint32_t first = instruction->u.row_compute.first_bank, count = instruction->u.row_compute.banks;
    uint32_t stride = instruction->u.row_compute.bank_stride, to = first;
    if (instruction->opcode == PIM_OP_ROW_MOVE && instruction->detail == PIM_REACH_BANK)
        to = instruction->u.row_move.to_bank;
    bool free = true;
    for (uint32_t i = 0; i < count; i++) {
        free = free && channel->holder[first + i * stride] < 0 && channel->holder[to + i * stride] < 0;
        if (take)
            channel->holder[first + i * stride] = channel->holder[to + i * stride] = holder;
    }
    return free;
}

/* The receive that a send meets: the first with its name that has been posted and has met nobody. */
static int find_receive(const struct reference *r, int id, const struct reference_instruction *send)
{
    const struct reference_channel *peer = &r->channel[send->instruction.u.row_message.peer];
    for (int i = 0; i < peer->count; i++) {
        const struct reference_instruction *one = &peer->list[i];
        if (one->instruction.opcode == PIM_OP_ROW_RECEIVE && one->started && one->meets < 0 &&
            one->instruction.u.row_message.peer == (uint32_t)id &&
            one->instruction.u.row_message.tag == send->instruction.u.row_message.tag)
            return i;
    }
    return -1;
}

static bool dependencies_done(const struct reference_channel *channel, int i)
{
    for (unsigned d = 0; d < PIM_DEPENDENCIES; d++) {
        int distance = channel->list[i].instruction.dependency[d];
        if (distance > 0 && distance <= i && !channel->list[i - distance].done)
            return false;
    }
    return true;
}

/* Whether all earlier instructions of the same engine have started. */
static bool is_head(const struct reference_channel *channel, int i)
{
    for (int j = 0; j < i; j++)
        if (!channel->list[j].started && pim_opcode_engine(channel->list[j].instruction.opcode) ==
                                             pim_opcode_engine(channel->list[i].instruction.opcode))
            return false;
    return true;
}

static uint64_t rows_of(const struct pim_instruction *instruction)
{
    return (uint64_t)instruction->u.row_message.rows * instruction->u.row_message.banks;
}

static void begin(struct reference_instruction *one, const struct pim_channel_cost *cost, uint64_t now)
{
    one->began = now;
    one->work = cost->cycles;
    one->rows = cost->row_cycles;
    one->data = cost->data_cycles;
    one->banks_taken = true;
}

static void get_cost(const struct reference *r, unsigned kind, const struct pim_instruction *instruction,
                     struct pim_channel_cost *cost)
{
    struct pim_channel_costs *costs;
    struct pim_error error = {.status = PIM_OK};
    ck_assert_int_eq(pim_channel_costs_create(&r->configuration.memory, &costs, &error), PIM_OK);
    ck_assert_int_eq(pim_channel_cost_of(costs, kind, instruction, cost, &error), PIM_OK);
    pim_channel_costs_destroy(costs);
}

/* Starts instruction i of a channel if it can, or the write of a receive. */
static bool try_one(struct reference *r, int id, int i, uint64_t now)
{
    struct reference_channel *channel = &r->channel[id];
    struct reference_instruction *one = &channel->list[i];
    const struct pim_channel_memory *memory = &r->configuration.memory;
    unsigned opcode = one->instruction.opcode;
    if (one->started) { /* a receive whose rows have come may be written */
        if (opcode != PIM_OP_ROW_RECEIVE || one->banks_taken || one->meets < 0 || now < one->first ||
            !banks(channel, &one->instruction, false, 0))
            return false;
        one->start = now;
        banks(channel, &one->instruction, true, i);
        begin(one, &one->cost, now);
        if (!r->channel[one->instruction.u.row_message.peer].list[one->meets].done)
            one->tail = one->cost.first;
        return true;
    }
    if (!is_head(channel, i) || !dependencies_done(channel, i))
        return false;
    if (opcode == PIM_OP_ROW_RECEIVE) {
        one->started = true;
        return true;
    }
    int receive = opcode == PIM_OP_ROW_SEND ? find_receive(r, id, one) : -1;
    if ((opcode == PIM_OP_ROW_SEND && receive < 0) || !banks(channel, &one->instruction, false, 0))
        return false;
    one->started = true;
    one->start = now;
    banks(channel, &one->instruction, true, i);
    begin(one, &one->cost, now);
    if (receive < 0)
        return true;
    struct reference_instruction *other = &r->channel[one->instruction.u.row_message.peer].list[receive];
    uint64_t row = (memory->columns / 8 + memory->link_bytes - 1) / memory->link_bytes;
    uint64_t bytes = rows_of(&one->instruction) * (memory->columns / 8);
    one->meets = receive;
    other->meets = i;
    one->out = one->in = rows_of(&one->instruction) * row;
    one->bus =
        one->instruction.detail == PIM_REACH_STACK ? (bytes + memory->bus_bytes - 1) / memory->bus_bytes : 0;
    other->first = now + (one->cost.first > row ? one->cost.first : row);
    return true;
}

/* A cycle of a server: of the first, in the order of starting, that has some left. */
static void serve(struct reference *r, const int (*order)[2], int count, size_t offset, int of_channel,
                  bool in)
{
    for (int i = 0; i < count; i++) {
        struct reference_instruction *one = &r->channel[order[i][0]].list[order[i][1]];
        int where = in ? (int)one->instruction.u.row_message.peer : order[i][0];
        uint64_t *left = (uint64_t *)(void *)((char *)one + offset);
        if (*left == 0 || (of_channel >= 0 && where != of_channel))
            continue;
        --*left;
        return;
    }
}

/* Whether an instruction that began in `began` works in cycle `now`, or a refresh is going on. */
static bool works(const struct pim_channel_memory *memory, uint64_t began, uint64_t now, uint64_t lost)
{
    if (!memory->commands || !memory->refresh)
        return true;
    uint64_t interval = memory->specification.parameter[PIM_DRAM_T_REFI];
    if (now < interval)
        return true;
    bool before = began < now - now % interval;
    return now % interval >= (before ? lost : memory->specification.parameter[PIM_DRAM_T_RFC]);
}

bool reference_run(struct reference *r)
{
    static int order[REFERENCE_CHANNELS * REFERENCE_INSTRUCTIONS * 2][2]; /* what began, in order */
    const struct pim_channel_memory *memory = &r->configuration.memory;
    uint64_t lost =
        memory->specification.parameter[PIM_DRAM_T_RFC] + memory->specification.parameter[PIM_DRAM_T_AA] +
        memory->specification.parameter[PIM_DRAM_T_RAS] + memory->specification.parameter[PIM_DRAM_T_RP];
    int begun = 0, left = 0;
    for (int id = 0; id < r->channels; id++) {
        for (int bank = 0; bank < REFERENCE_BANKS; bank++)
            r->channel[id].holder[bank] = -1;
        for (int i = 0; i < r->channel[id].count; i++, left++) {
            struct reference_instruction *one = &r->channel[id].list[i];
            struct pim_instruction instruction = one->instruction;
            unsigned kind = instruction.opcode == PIM_OP_ROW_SEND      ? (unsigned)PIM_CHANNEL_READ
                            : instruction.opcode == PIM_OP_ROW_RECEIVE ? (unsigned)PIM_CHANNEL_WRITE
                                                                       : instruction.opcode;
            *one = (struct reference_instruction){.instruction = instruction, .meets = -1};
            get_cost(r, kind, &instruction, &one->cost);
        }
    }
    for (uint64_t now = 0; left > 0; now++) {
        if (now > LONGEST_RUN)
            return false;
        /* ends of this cycle */
        for (int id = 0; id < r->channels; id++)
            for (int i = 0; i < r->channel[id].count; i++) {
                struct reference_instruction *one = &r->channel[id].list[i];
                if (!one->banks_taken || one->done)
                    continue;
                bool own = one->work == 0 && one->rows == 0 && one->data == 0;
                bool way = one->out == 0 && one->in == 0 && one->bus == 0;
                if (one->instruction.opcode == PIM_OP_ROW_RECEIVE) {
                    const struct reference_instruction *send =
                        &r->channel[one->instruction.u.row_message.peer].list[one->meets];
                    if (!send->done)
                        one->tail = one->cost.first;
                    own = own && send->done && one->tail == 0;
                }
                if (own && r->channel[id].holder[one->instruction.u.row_compute.first_bank] == i)
                    banks(&r->channel[id], &one->instruction, true, -1);
                if (own && way) {
                    one->done = true;
                    one->end = now;
                    left--;
                }
            }
        /* starts */
        for (bool any = true; any;) {
            any = false;
            for (int id = 0; id < r->channels; id++)
                for (bool again = true; again;) {
                    again = false;
                    for (int i = 0; i < r->channel[id].count && !again; i++) {
                        bool taken = r->channel[id].list[i].banks_taken;
                        if (!try_one(r, id, i, now))
                            continue;
                        any = again = true;
                        if (!taken && r->channel[id].list[i].banks_taken) {
                            order[begun][0] = id;
                            order[begun++][1] = i;
                        }
                    }
                }
        }
        /* work of this cycle */
        for (int i = 0; i < begun; i++) {
            struct reference_instruction *one = &r->channel[order[i][0]].list[order[i][1]];
            if (one->work > 0 && works(memory, one->began, now, lost))
                one->work--;
            if (one->instruction.opcode == PIM_OP_ROW_RECEIVE && !one->done && one->tail > 0 &&
                r->channel[one->instruction.u.row_message.peer].list[one->meets].done)
                one->tail--;
        }
        for (int id = 0; id < r->channels; id++) {
            serve(r, (const int(*)[2])order, begun, offsetof(struct reference_instruction, rows), id, false);
            serve(r, (const int(*)[2])order, begun, offsetof(struct reference_instruction, data), id, false);
            serve(r, (const int(*)[2])order, begun, offsetof(struct reference_instruction, out), id, false);
            serve(r, (const int(*)[2])order, begun, offsetof(struct reference_instruction, in), id, true);
        }
        serve(r, (const int(*)[2])order, begun, offsetof(struct reference_instruction, bus), -1, false);
    }
    return true;
}
