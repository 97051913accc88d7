/* The unit: fetch, dispatch, completion, phases and the accounts of its time. Rules: node.h,
 * docs/models/node.md. */
#include "models/node/node_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Joins take no time: a program of nothing else would never let the clock move on. */
enum { JOINS_MOST = 1 << 20 };

void pim_node_fail(struct pim_node *node, const struct pim_slot *slot, const char *format, ...)
{
    struct pim_error *error = node->array->error;
    if (error->status != PIM_OK)
        return; /* the first error of a run is the one to report */
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (slot)
        (void)pim_fail(error, PIM_BAD_INPUT, "unit %" PRIu32 ", instruction %" PRIu64 " (%s): %s", node->id,
                       slot->sequence, pim_opcode_name(slot->instruction.opcode), text);
    else
        (void)pim_fail(error, PIM_BAD_INPUT, "unit %" PRIu32 ": %s", node->id, text);
    pim_kernel_stop(node->array->kernel);
}

void pim_actions_add(struct pim_node *node, uint32_t phase, size_t offset, uint64_t amount)
{
    uint64_t *sums[] = {(uint64_t *)(void *)((char *)&node->result.actions + offset),
                        (uint64_t *)(void *)((char *)&node->array->phases[phase].actions + offset)};
    for (unsigned i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        if (*sums[i] + amount < amount)
            pim_node_fail(node, NULL, "the work of phase %" PRIu32 " cannot be counted in 64 bits", phase);
        *sums[i] += amount;
    }
}

bool pim_node_in_time(struct pim_node *node, const struct pim_slot *slot, pim_time from, uint64_t cycles,
                      pim_time period)
{
    pim_time last = node->array->time_last;
    if (from <= last && cycles <= (last - from) / period)
        return true;
    pim_node_fail(node, slot,
                  "the run goes on after tick %" PRIu64
                  ", beyond which times cannot be counted: shorten the trace, or choose clocks "
                  "with a larger common divisor",
                  last);
    return false;
}

void pim_unit_account_until(struct pim_node *node, pim_time time)
{
    pim_time elapsed = time - node->accounted;
    if (elapsed == 0)
        return;
    assert(time > node->accounted);
    node->accounted = time;
    struct pim_unit_result *result = &node->result;
    unsigned busy = node->busy_mask;
    unsigned wait = node->wait_mask;
    enum { NETWORK = 1 << PIM_ENGINE_SEND | 1 << PIM_ENGINE_RECEIVE };
    static const unsigned classes[PIM_CLASSES] = {1 << PIM_ENGINE_MATRIX, 1 << PIM_ENGINE_VECTOR,
                                                  1 << PIM_ENGINE_MEMORY, NETWORK};
    unsigned share = PIM_SHARE_WAITING;
    for (unsigned class = PIM_CLASSES; class -- > 0;) {
        if (busy & classes[class]) {
            result->busy[class] += elapsed;
            share = class;
        } else if (wait & classes[class]) {
            result->stall[class] += elapsed;
        } else {
            result->idle[class] += elapsed;
        }
    }
    result->share[share] += elapsed;
    struct pim_phase_result *phase = node->in_phase ? &node->array->phases[node->phase] : NULL;
    if (phase)
        phase->share[share] += elapsed;
    for (; wait; wait &= wait - 1) {
        unsigned engine = (unsigned)__builtin_ctz(wait);
        unsigned cause = node->queue[engine].state - PIM_STATE_WAIT;
        result->wait[engine][cause] += elapsed;
        if (phase)
            phase->wait[cause] += elapsed;
    }
}

void pim_unit_account(struct pim_node *node)
{
    pim_unit_account_until(node, pim_kernel_now(node->array->kernel));
}

void pim_unit_set_state(struct pim_node *node, enum pim_engine engine, uint8_t state)
{
    struct pim_engine_queue *queue = &node->queue[engine];
    if (queue->state == state)
        return;
    pim_unit_account(node);
    queue->state = state;
    uint8_t bit = (uint8_t)(1u << engine);
    node->busy_mask = (uint8_t)(state == PIM_STATE_BUSY ? node->busy_mask | bit : node->busy_mask & ~bit);
    node->wait_mask = (uint8_t)(state >= PIM_STATE_WAIT ? node->wait_mask | bit : node->wait_mask & ~bit);
}

static void begin_phase(struct pim_node *node, uint32_t phase)
{
    struct pim_node_array *array = node->array;
    if (node->in_phase || phase >= array->phase_count) {
        pim_node_fail(node, NULL, "phase_begin %" PRIu32 ": %s", phase,
                      node->in_phase ? "the phase before it is still open" : "the trace has no such phase");
        return;
    }
    pim_unit_account(node);
    pim_time now = pim_kernel_now(array->kernel);
    struct pim_phase_result *result = &array->phases[phase];
    if (result->units == 0 || now < result->start)
        result->start = now;
    result->units++;
    node->in_phase = true;
    node->phase = phase;
    node->phase_start = now;
    memcpy(node->share_at_start, node->result.share, sizeof node->share_at_start);
}

static void end_phase(struct pim_node *node, uint32_t phase)
{
    struct pim_node_array *array = node->array;
    if (!node->in_phase || phase != node->phase) {
        pim_node_fail(node, NULL, "phase_end %" PRIu32 ": that phase is not open", phase);
        return;
    }
    pim_time now = pim_kernel_now(array->kernel);
    pim_unit_account_until(node, now);
    pim_unit_leave_phase(node, now);
    if (array->observer)
        array->observer(array->observer_context, node->id, NULL, phase, node->phase_start, now);
}

void pim_unit_leave_phase(struct pim_node *node, pim_time now)
{
    struct pim_node_array *array = node->array;
    pim_port_attribute(node);
    struct pim_phase_result *result = &array->phases[node->phase];
    pim_time duration = now - node->phase_start;
    result->time_sum += duration;
    if (duration > result->time_maximum)
        result->time_maximum = duration;
    if (now >= result->end) {
        result->end = now;
        result->last_time = duration;
        for (unsigned share = 0; share < PIM_SHARES; share++)
            result->last_share[share] = node->result.share[share] - node->share_at_start[share];
    }
    if (now > array->finished_at)
        array->finished_at = now;
    node->in_phase = false;
}

/* A control instruction whose turn has come: everything before it is complete. It takes no time. */
static void execute_control(struct pim_node *node)
{
    const struct pim_instruction *instruction = &node->held;
    assert(node->oldest == node->fetched);
    if (instruction->opcode == PIM_OP_PHASE_BEGIN)
        begin_phase(node, instruction->u.control.phase);
    else if (instruction->opcode == PIM_OP_PHASE_END)
        end_phase(node, instruction->u.control.phase);
    else if (++node->joins > JOINS_MOST)
        pim_node_fail(node, NULL, "more than %d joins follow each other without work between them",
                      (int)JOINS_MOST);
    pim_node_slot(node, node->fetched)->done = true;
    node->oldest = node->issued = ++node->fetched;
    node->result.instructions++;
}

static void dispatch(struct pim_node *node, const struct pim_instruction *instruction)
{
    uint64_t sequence = node->fetched++;
    struct pim_slot *slot = pim_node_slot(node, sequence);
    slot->instruction = *instruction;
    slot->sequence = sequence;
    slot->moved = slot->predecessor = 0;
    slot->done = slot->matched = slot->begun = false;
    node->joins = 0;
    struct pim_engine_queue *queue = &node->queue[pim_opcode_engine(instruction->opcode)];
    queue->sequence[queue->tail++ & pim_node_mask(node)] = sequence;
    node->result.instructions++;
}

static void finish(struct pim_node *node)
{
    if (node->in_phase) {
        pim_node_fail(node, NULL, "the program ends inside phase %" PRIu32 ": phase_end is missing",
                      node->phase);
        return;
    }
    node->finished = true;
    node->result.finished_at = pim_kernel_now(node->array->kernel);
    node->array->running--;
}

static void fetch(struct pim_node *node)
{
    struct pim_error *error = node->array->error;
    while (!node->finished && error->status == PIM_OK) {
        if (node->holding) {
            if (node->oldest != node->fetched)
                return;
            node->holding = false;
            execute_control(node);
            continue;
        }
        if (node->fetched - node->oldest >= node->array->configuration.window)
            return;
        const struct pim_instruction *instruction;
        if (node->at_end)
            instruction = NULL;
        else if (pim_trace_cursor_next(node->cursor, &instruction, error) != PIM_OK) {
            pim_kernel_stop(node->array->kernel);
            return;
        }
        if (!instruction) {
            node->at_end = true;
            if (node->oldest != node->fetched)
                return;
            finish(node);
        } else if (pim_opcode_engine(instruction->opcode) == PIM_ENGINE_CONTROL) {
            node->held = *instruction;
            node->holding = true;
        } else {
            dispatch(node, instruction);
        }
    }
}

void pim_unit_advance(struct pim_node *node)
{
    bool started;
    do {
        fetch(node);
        started = false;
        for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
            while (pim_engine_try(node, (enum pim_engine)engine))
                started = true;
        /* With a queue for each engine, a start lets no other engine start; with in-order issue it does. */
    } while (started && node->array->configuration.in_order);
}

void pim_unit_complete(struct pim_slot *slot)
{
    struct pim_node *node = slot->node;
    struct pim_node_array *array = node->array;
    slot->done = true;
    if (array->observer)
        array->observer(array->observer_context, node->id, &slot->instruction, node->phase, slot->started,
                        pim_kernel_now(array->kernel));
    while (node->oldest < node->fetched && pim_node_slot(node, node->oldest)->done)
        node->oldest++;
    pim_unit_advance(node);
}

void pim_unit_start(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    pim_unit_advance(context);
}
