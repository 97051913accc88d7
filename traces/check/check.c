/* Executes a trace without time; see check.h. */
#include "traces/check/check.h"

#include "traces/check/instruction.h"
#include "traces/check/internal.h"
#include "traces/check/local.h"
#include "traces/check/race.h"
#include "traces/check/tile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const enum pim_buffer buffers[] = {PIM_BUFFER_INPUT, PIM_BUFFER_WEIGHT, PIM_BUFFER_OUTPUT};
enum { BUFFERS = 3, FIRST_HISTORY = 64, FIRST_SLOTS = 16 };

uint64_t pim_check_takes(const struct pim_check *check, const struct pim_instruction *instruction,
                         enum pim_buffer buffer)
{
    enum pim_buffer own;
    const uint64_t bytes = pim_space_taken(instruction, check->limits.accumulator_bits, &own);
    return own == buffer ? bytes : 0;
}

bool pim_check_lacks_space(const struct pim_check *check, const struct pim_check_unit *unit,
                           const struct pim_instruction *instruction, enum pim_buffer buffer)
{
    uint64_t takes = pim_check_takes(check, instruction, buffer),
             capacity = check->limits.buffer_bytes[buffer];
    return takes != 0 && capacity != 0 && takes > capacity - unit->held[buffer];
}

static struct pim_check_span span_of(const struct pim_local_pieces *pieces)
{
    /* pim_check_local refused what ends beyond 2^32 */
    return (struct pim_check_span){(uint32_t)pieces->address, (uint32_t)pim_local_end(pieces)};
}

static void fill_spans(struct pim_check_slot *slot)
{
    struct pim_local_access access;
    pim_local_access_of(&slot->instruction, &access);
    for (int i = 0; i < PIM_LOCAL_READS; i++)
        slot->span[i] = span_of(&access.read[i]);
    slot->span[PIM_LOCAL_READS] = span_of(&access.write);
}

static bool meet(struct pim_check_span a, struct pim_check_span b)
{
    return a.first < b.end && b.first < a.end;
}

/* Whether two instructions touch the same bytes, and one of them writes. */
static bool conflict(const struct pim_check_slot *a, const struct pim_check_slot *b)
{
    const struct pim_check_span a_writes = a->span[PIM_LOCAL_READS], b_writes = b->span[PIM_LOCAL_READS];
    bool any = meet(a_writes, b_writes);
    for (int i = 0; i < PIM_LOCAL_READS; i++)
        any = any || meet(a_writes, b->span[i]) || meet(a->span[i], b_writes);
    return any;
}

uint64_t pim_check_hazard(const struct pim_check_unit *unit, uint64_t fetch, uint64_t from)
{
    const struct pim_check_slot *own = pim_check_slot(unit, fetch);
    for (uint64_t other = from > unit->oldest ? from : unit->oldest; other < fetch; other++)
        if (!pim_check_slot(unit, other)->done && conflict(own, pim_check_slot(unit, other)))
            return other;
    return PIM_NO_FETCH;
}

static bool is_core(const struct pim_check *check)
{
    return check->limits.kind == PIM_CHECK_CORES;
}

static void list_unit(struct pim_check *check, uint32_t unit)
{
    if (!check->unit[unit].listed) {
        check->unit[unit].listed = true;
        check->list[check->listed++] = unit;
    }
}

/* Room for one more instruction in flight: the ring doubles. False when memory is out. */
static bool grow_slots(struct pim_check_unit *self)
{
    if (self->slot_capacity != 0 && self->fetched - self->oldest < self->slot_capacity)
        return true;
    uint32_t wanted = self->slot_capacity ? self->slot_capacity * 2 : FIRST_SLOTS;
    struct pim_check_slot *larger = calloc(wanted, sizeof *larger);
    if (!larger)
        return false;
    for (uint64_t fetch = self->oldest; fetch < self->fetched; fetch++)
        larger[fetch & (wanted - 1)] = *pim_check_slot(self, fetch);
    free(self->slot);
    self->slot = larger;
    self->slot_capacity = wanted;
    return true;
}

/* Room for one more fetch in the history; it wraps only when it has its full size. False when memory is out.
 */
static bool grow_history(struct pim_check_unit *self)
{
    if (self->fetched < self->history_capacity || self->history_capacity == PIM_DEPENDENCY_REACH + 1)
        return true;
    uint32_t wanted = self->history_capacity ? self->history_capacity * 2 : FIRST_HISTORY;
    struct pim_check_history *larger = realloc(self->history, wanted * sizeof *larger);
    if (!larger)
        return false;
    self->history = larger;
    self->history_capacity = wanted;
    return true;
}

static struct pim_check_history *history_of(const struct pim_check_unit *self, uint64_t fetch)
{
    return &self->history[fetch & (self->history_capacity - 1)];
}

static void raise_to(uint64_t sums[PIM_BUFFERS], const uint64_t other[PIM_BUFFERS])
{
    for (int buffer = 0; buffer < PIM_BUFFERS; buffer++)
        if (other[buffer] > sums[buffer])
            sums[buffer] = other[buffer];
}

/* Units of the right kind; for nodes, addresses in their memory. (Channels check rows themselves.) */
static enum pim_status check_memory(const struct pim_check *check, const struct pim_instruction *instruction,
                                    struct pim_error *error)
{
    if (is_core(check))
        return PIM_OK; /* pim_check_local was there before */
    enum pim_status status = pim_check_kind_of(instruction, check->limits.kind, error);
    if (status != PIM_OK || check->limits.kind == PIM_CHECK_CHANNELS)
        return status;
    const uint64_t end = pim_node_end(instruction);
    if (check->limits.memory_bytes != 0 && end > check->limits.memory_bytes)
        return pim_fail(error, PIM_BAD_INPUT,
                        "it ends at address %" PRIu64 ": the memory of a node has %" PRIu64 " bytes", end,
                        check->limits.memory_bytes);
    return PIM_OK;
}

/* Space that an instruction takes: it must fit at all, and this engine must be the only taker since the last
 * join. */
static enum pim_status account_take(const struct pim_check *check, struct pim_check_unit *self,
                                    enum pim_engine engine, enum pim_buffer buffer, uint64_t takes,
                                    struct pim_error *error)
{
    uint64_t capacity = check->limits.buffer_bytes[buffer];
    if (capacity != 0 && takes > capacity)
        return pim_fail(error, PIM_BAD_INPUT,
                        "it takes %" PRIu64 " bytes of the %s buffer, which has %" PRIu64, takes,
                        pim_buffer_name(buffer), capacity);
    if (self->taker[buffer] != PIM_ENGINE_CONTROL && self->taker[buffer] != engine)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "the %s engine takes space of the %s buffer, and since the last join the %s engine did: "
            "who comes first would depend on timing; put a join between them",
            pim_engine_name(engine), pim_buffer_name(buffer), pim_engine_name(self->taker[buffer]));
    if (takes > UINT64_MAX - self->taken[buffer])
        return pim_fail(error, PIM_BAD_INPUT, "more than 2^64 bytes went through the %s buffer",
                        pim_buffer_name(buffer));
    self->taker[buffer] = engine;
    self->taken[buffer] += takes;
    return PIM_OK;
}

/* All space of an instruction at its fetch. `sure` comes as what was taken for sure before it starts, and
 * leaves with its own. */
static enum pim_status account_space(const struct pim_check *check, struct pim_check_unit *self,
                                     const struct pim_instruction *instruction, uint64_t sure[PIM_BUFFERS],
                                     struct pim_error *error)
{
    for (int i = 0; i < BUFFERS; i++) {
        enum pim_buffer buffer = buffers[i];
        uint64_t takes = pim_check_takes(check, instruction, buffer),
                 gives = pim_space_given(instruction).bytes[buffer];
        if (takes != 0) {
            enum pim_status status =
                account_take(check, self, pim_opcode_engine(instruction->opcode), buffer, takes, error);
            if (status != PIM_OK)
                return status;
            sure[buffer] =
                self->taken[buffer]; /* earlier takers stand before it in the same queue, or before a join */
        }
        self->given[buffer] = pim_add_saturating(self->given[buffer], gives);
        if (gives != 0 && self->given[buffer] > sure[buffer])
            return pim_fail(error, PIM_BAD_INPUT,
                            "it gives back %" PRIu64 " bytes of the %s buffer: up to here %" PRIu64
                            " are given back, but only %" PRIu64
                            " were taken for sure by what it comes after",
                            gives, pim_buffer_name(buffer), self->given[buffer], sure[buffer]);
    }
    return PIM_OK;
}

/* A join: everything before is complete, so all that was taken was taken for sure, and takers may change. */
static void pass_join(struct pim_check_unit *self, uint64_t sure[PIM_BUFFERS])
{
    memcpy(sure, self->taken, sizeof self->taken);
    for (int engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
        memcpy(self->queue[engine].sure, self->taken, sizeof self->taken);
    for (int buffer = 0; buffer < PIM_BUFFERS; buffer++)
        self->taker[buffer] = PIM_ENGINE_CONTROL;
}

static void enqueue(struct pim_check_unit *self, enum pim_engine engine, uint64_t fetch)
{
    struct pim_check_queue *queue = &self->queue[engine];
    if (queue->head == PIM_NO_FETCH)
        queue->head = fetch;
    else
        pim_check_slot(self, queue->tail)->next = fetch;
    queue->tail = fetch;
}

/* Hands an instruction of an engine, self->next, to its queue. */
static enum pim_status dispatch(const struct pim_check *check, struct pim_check_unit *self,
                                uint64_t sure[PIM_BUFFERS], struct pim_error *error)
{
    const struct pim_instruction *instruction = self->next;
    enum pim_engine engine = pim_opcode_engine(instruction->opcode);
    memcpy(sure, self->queue[engine].sure, sizeof self->queue[engine].sure);
    for (int i = 0; i < PIM_DEPENDENCIES; i++)
        if (instruction->dependency[i] != 0)
            raise_to(sure, history_of(self, self->fetched - instruction->dependency[i])->sure);
    if (self->fetched >= check->limits.window)
        raise_to(sure, history_of(self, self->fetched - check->limits.window)->so_far);
    enum pim_status status = check_memory(check, instruction, error);
    if (status == PIM_OK)
        status = account_space(check, self, instruction, sure, error);
    if (status == PIM_OK) {
        memcpy(self->queue[engine].sure, sure, sizeof self->queue[engine].sure);
        enqueue(self, engine, self->fetched);
    }
    return status;
}

/* Takes self->next into flight. */
static enum pim_status take_next(struct pim_check *check, uint32_t unit, struct pim_error *error)
{
    struct pim_check_unit *self = &check->unit[unit];
    const struct pim_instruction *instruction = self->next;
    bool control = pim_opcode_engine(instruction->opcode) == PIM_ENGINE_CONTROL;
    uint64_t sure[PIM_BUFFERS] = {0}, stored = pim_trace_cursor_stored(self->cursor);
    if (!grow_slots(self) || !grow_history(self))
        return pim_fail(error, PIM_NO_MEMORY, "out of memory while a trace is checked");
    *pim_check_slot(self, self->fetched) = (struct pim_check_slot){.instruction = *instruction,
                                                                   .stored = stored,
                                                                   .next = PIM_NO_FETCH,
                                                                   .clear = self->oldest,
                                                                   .started = control,
                                                                   .done = control};
    if (is_core(check))
        fill_spans(pim_check_slot(self, self->fetched));
    enum pim_status status = PIM_OK;
    if (check->race && control)
        pim_check_race_join(check->race, unit);
    else if (check->race)
        status = pim_check_race_access(check->race, unit, instruction, stored, error);
    if (control) {
        pass_join(self, sure);
        self->oldest = self->issued = self->fetched + 1;
    } else if (status != PIM_OK || dispatch(check, self, sure, error) != PIM_OK) {
        char place[256];
        return pim_fail_in(error, "%s",
                           pim_check_place(unit, stored, self->fetched, instruction, place, sizeof place));
    }
    struct pim_check_history *own = history_of(self, self->fetched);
    memcpy(own->sure, sure, sizeof own->sure);
    memcpy(own->so_far, self->taken, sizeof own->so_far);
    self->fetched++;
    pim_counts_add(&check->result->counts, instruction, 1);
    return PIM_OK;
}

/* Fetches one instruction if the unit may; *moved says whether it did. */
static enum pim_status fetch(struct pim_check *check, uint32_t unit, bool *moved, struct pim_error *error)
{
    struct pim_check_unit *self = &check->unit[unit];
    *moved = false;
    if (self->ended)
        return PIM_OK;
    if (!self->next) {
        enum pim_status status = pim_trace_cursor_next(self->cursor, &self->next, error);
        if (status != PIM_OK)
            return status;
        if (!self->next) {
            self->ended = true;
            return PIM_OK;
        }
    }
    uint64_t in_flight = self->fetched - self->oldest;
    if (pim_opcode_engine(self->next->opcode) == PIM_ENGINE_CONTROL ? in_flight > 0
                                                                    : in_flight >= check->limits.window)
        return PIM_OK;
    enum pim_status status = take_next(check, unit, error);
    self->next = NULL;
    *moved = true;
    return status;
}

static void complete(struct pim_check_unit *self, uint64_t fetch)
{
    pim_check_slot(self, fetch)->done = true;
    while (self->oldest < self->fetched && pim_check_slot(self, self->oldest)->done)
        self->oldest++;
}

/* The head of the queue starts. */
static void start_head(struct pim_check_unit *self, enum pim_engine engine)
{
    struct pim_check_slot *slot = pim_check_slot(self, self->queue[engine].head);
    slot->started = true;
    self->queue[engine].head = slot->next;
    self->issued++;
}

/* Matrix, vector and memory engine: starts and completes the head if there is space. */
static bool run_local(const struct pim_check *check, struct pim_check_unit *self, enum pim_engine engine)
{
    uint64_t fetch = self->queue[engine].head;
    const struct pim_instruction *instruction = &pim_check_slot(self, fetch)->instruction;
    for (int i = 0; i < BUFFERS; i++)
        if (pim_check_lacks_space(check, self, instruction, buffers[i]))
            return false;
    for (int i = 0; i < BUFFERS; i++) {
        self->held[buffers[i]] +=
            pim_check_takes(check, instruction, buffers[i]); /* the sum of all that is ever taken fits */
        assert(pim_space_given(instruction).bytes[buffers[i]] <= self->held[buffers[i]]);
        self->held[buffers[i]] -= pim_space_given(instruction).bytes[buffers[i]];
    }
    start_head(self, engine);
    complete(self, fetch);
    return true;
}

/* Opens the receive at the head; its sender may be able to go on then. */
static bool run_receive(struct pim_check *check, struct pim_check_unit *self)
{
    uint64_t fetch = self->queue[PIM_ENGINE_RECEIVE].head;
    if (self->open_count == check->limits.posted_receives)
        return false;
    self->open[self->open_count++] = fetch;
    start_head(self, PIM_ENGINE_RECEIVE);
    list_unit(check, pim_check_slot(self, fetch)->instruction.u.network.peer);
    return true;
}

/* Bytes, or rows of all banks: only channels send rows. */
static uint64_t message_size(const struct pim_instruction *instruction)
{
    if (instruction->opcode == PIM_OP_ROW_SEND || instruction->opcode == PIM_OP_ROW_RECEIVE)
        return (uint64_t)instruction->u.row_message.rows * instruction->u.row_message.banks;
    return instruction->u.network.bytes;
}

/* Completes the send at the head together with the receive it meets, if that is open. */
static enum pim_status run_send(struct pim_check *check, uint32_t unit, bool *moved, struct pim_error *error)
{
    struct pim_check_unit *self = &check->unit[unit];
    uint64_t fetch = self->queue[PIM_ENGINE_SEND].head;
    const struct pim_check_slot *own = pim_check_slot(self, fetch);
    uint32_t peer = own->instruction.u.network.peer, i = 0;
    struct pim_check_unit *other = &check->unit[peer];
    while (i < other->open_count &&
           !pim_check_meets(&own->instruction, unit, &pim_check_slot(other, other->open[i])->instruction))
        i++;
    if (i == other->open_count)
        return PIM_OK;
    uint64_t their_fetch = other->open[i];
    const struct pim_check_slot *theirs = pim_check_slot(other, their_fetch);
    bool sizes = message_size(&theirs->instruction) == message_size(&own->instruction);
    if (!sizes || theirs->instruction.detail != own->instruction.detail) {
        char here[256], there[256];
        return pim_fail(
            error, PIM_BAD_INPUT, "%s meets %s: they must have the same %s",
            pim_check_place(unit, own->stored, fetch, &own->instruction, here, sizeof here),
            pim_check_place(peer, theirs->stored, their_fetch, &theirs->instruction, there, sizeof there),
            sizes ? "kind" : "size");
    }
    memmove(other->open + i, other->open + i + 1, (other->open_count - i - 1) * sizeof other->open[0]);
    other->open_count--;
    start_head(self, PIM_ENGINE_SEND);
    complete(self, fetch);
    complete(other, their_fetch);
    check->result->messages++;
    if (check->race)
        pim_check_race_message(check->race, unit, peer);
    list_unit(check, peer);
    *moved = true;
    return PIM_OK;
}

/* Cores: whether the local memory lets an instruction start. What was passed once is never looked at again.
 */
static bool is_clear(struct pim_check_unit *self, uint64_t fetch)
{
    struct pim_check_slot *slot = pim_check_slot(self, fetch);
    uint64_t hazard = pim_check_hazard(self, fetch, slot->clear);
    slot->clear = hazard == PIM_NO_FETCH ? fetch : hazard;
    return hazard == PIM_NO_FETCH;
}

static enum pim_status run_engine(struct pim_check *check, uint32_t unit, enum pim_engine engine, bool *moved,
                                  struct pim_error *error)
{
    struct pim_check_unit *self = &check->unit[unit];
    uint64_t head = self->queue[engine].head;
    *moved = false;
    if (head == PIM_NO_FETCH || pim_check_blocker(self, head) != PIM_NO_FETCH ||
        (check->limits.in_order && head != (is_core(check) ? self->oldest : self->issued)) ||
        (is_core(check) && !is_clear(self, head)))
        return PIM_OK;
    if (engine == PIM_ENGINE_SEND)
        return run_send(check, unit, moved, error);
    *moved = engine == PIM_ENGINE_RECEIVE ? run_receive(check, self) : run_local(check, self, engine);
    return PIM_OK;
}

/* Runs one unit until it can do nothing more by itself. */
static enum pim_status run_unit(struct pim_check *check, uint32_t unit, struct pim_error *error)
{
    for (bool any = true; any;) {
        bool moved = true;
        any = false;
        while (moved) {
            enum pim_status status = fetch(check, unit, &moved, error);
            if (status != PIM_OK)
                return status;
            any = any || moved;
            if (moved && is_core(check))
                break; /* few in flight: each is held against those before it */
        }
        for (int engine = 0; engine < PIM_ENGINE_CONTROL; engine++) {
            do {
                enum pim_status status = run_engine(check, unit, (enum pim_engine)engine, &moved, error);
                if (status != PIM_OK)
                    return status;
                any = any || moved;
            } while (moved);
        }
    }
    return PIM_OK;
}

static enum pim_status execute(struct pim_check *check, struct pim_error *error)
{
    for (uint32_t unit = check->units; unit-- > 0;)
        list_unit(check, unit);
    while (check->listed > 0) {
        uint32_t unit = check->list[--check->listed];
        check->unit[unit].listed = false;
        enum pim_status status = run_unit(check, unit, error);
        if (status != PIM_OK)
            return status;
    }
    for (uint32_t unit = 0; unit < check->units; unit++)
        if (!check->unit[unit].ended)
            return pim_check_explain(check, error);
    for (uint32_t unit = 0; unit < check->units; unit++)
        for (int i = 0; i < BUFFERS; i++)
            check->result->left_bytes[buffers[i]] =
                pim_add_saturating(check->result->left_bytes[buffers[i]], check->unit[unit].held[buffers[i]]);
    return PIM_OK;
}

static enum pim_status start_unit(struct pim_check *check, uint32_t unit, struct pim_error *error)
{
    struct pim_check_unit *self = &check->unit[unit];
    for (int engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
        self->queue[engine].head = self->queue[engine].tail = PIM_NO_FETCH;
    for (int buffer = 0; buffer < PIM_BUFFERS; buffer++)
        self->taker[buffer] = PIM_ENGINE_CONTROL;
    check->result->counts.stored += pim_trace_instructions(check->trace, unit);
    return pim_trace_cursor_create(check->trace, unit, &self->cursor, error);
}

/* Replaces the zeros that stand for something else. */
static enum pim_status set_limits(struct pim_check *check, const struct pim_check_limits *limits,
                                  struct pim_error *error)
{
    check->limits = *limits;
    enum pim_status status = pim_check_find_kind(check->trace, limits, &check->limits.kind, error);
    if (status != PIM_OK)
        return status;
    check->result->kind = check->limits.kind;
    if (limits->window > PIM_CHECK_WINDOW_MOST)
        return pim_fail(error, PIM_BAD_INPUT, "the window is %" PRIu32 " instructions: allowed are 1 to %d",
                        limits->window, PIM_CHECK_WINDOW_MOST);
    if (limits->posted_receives > PIM_CHECK_RECEIVES_MOST)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " receives may be open: allowed are 1 to %d",
                        limits->posted_receives, PIM_CHECK_RECEIVES_MOST);
    if (limits->accumulator_bits > 64)
        return pim_fail(error, PIM_BAD_INPUT, "accumulators have %" PRIu32 " bits: allowed are 1 to 64",
                        limits->accumulator_bits);
    if (limits->window == 0)
        check->limits.window = PIM_CHECK_WINDOW_MOST;
    if (limits->posted_receives == 0 || is_core(check))
        check->limits.posted_receives = 1;
    return PIM_OK;
}

enum pim_status pim_trace_check(const struct pim_trace *trace, const struct pim_check_limits *limits,
                                struct pim_check_result *result, struct pim_error *error)
{
    struct pim_check check = {.trace = trace, .units = pim_trace_description(trace)->units, .result = result};
    memset(result, 0, sizeof *result);
    enum pim_status status = set_limits(&check, limits, error);
    if (status == PIM_OK && check.limits.kind == PIM_CHECK_TILES)
        return pim_check_tile(trace, &check.limits, result, error);
    if (status == PIM_OK && is_core(&check))
        status = pim_check_local(trace, &check.limits, result, error);
    if (status == PIM_OK && is_core(&check))
        status = pim_check_race_create(trace, &check.race, error);
    if (status != PIM_OK)
        return status;
    check.unit = calloc(check.units, sizeof *check.unit);
    check.list = calloc(check.units, sizeof *check.list);
    if (!check.unit || !check.list)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory while a trace of %" PRIu32 " units is checked",
                          check.units);
    for (uint32_t unit = 0; unit < check.units && status == PIM_OK; unit++)
        status = start_unit(&check, unit, error);
    if (status == PIM_OK)
        status = execute(&check, error);
    for (uint32_t unit = 0; check.unit && unit < check.units; unit++) {
        pim_trace_cursor_destroy(check.unit[unit].cursor);
        free(check.unit[unit].slot);
        free(check.unit[unit].history);
    }
    free(check.unit);
    free(check.list);
    pim_check_race_destroy(check.race);
    return status;
}
