/* The array of nodes: life cycle, results, and the report of who waits for what. */
#include "models/node/node_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum pim_status initialize_node(struct pim_node_array *array, uint32_t id, struct pim_error *error)
{
    struct pim_node *node = &array->nodes[id];
    const struct pim_node_configuration *configuration = &array->configuration;
    node->array = array;
    node->id = id;
    node->slots = calloc(configuration->window, sizeof *node->slots);
    node->interface.posted = calloc(configuration->posted_receives, sizeof(struct pim_slot *));
    bool complete = node->slots && node->interface.posted;
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++) {
        node->queue[engine].sequence = calloc(configuration->window, sizeof(uint64_t));
        complete = complete && node->queue[engine].sequence;
    }
    if (!complete)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for unit %" PRIu32 " of %" PRIu32, id,
                        array->count);
    for (uint32_t i = 0; i < configuration->window; i++)
        node->slots[i].node = node;
    for (unsigned buffer = PIM_BUFFER_INPUT; buffer < PIM_BUFFERS; buffer++)
        pim_buffer_initialize(&node->buffer[buffer], configuration->buffer_bytes[buffer]);
    pim_bank_initialize(&node->port.bank, &configuration->bank);
    node->port.last = PIM_PORT_CLIENTS - 1;
    if (pim_trace_cursor_create(array->trace, id, &node->cursor, error) != PIM_OK)
        return pim_fail_in(error, "unit %" PRIu32, id);
    pim_kernel_schedule(array->kernel, 0, PIM_PHASE_UNIT, pim_unit_start, node);
    return PIM_OK;
}

/* --- deadlock report --- */

static bool pending(void *context)
{
    const struct pim_node_array *array = context;
    return array->running > 0;
}

/* What the instruction at the head of a queue waits for, in words. */
static void describe(struct pim_node *node, const struct pim_engine_queue *queue, const struct pim_slot *slot,
                     char *text, size_t size)
{
    const struct pim_instruction *instruction = &slot->instruction;
    unsigned wait = queue->state >= PIM_STATE_WAIT ? queue->state - PIM_STATE_WAIT : PIM_WAITS;
    const struct pim_slot *other = pim_engine_blocker(node, slot);
    if (other)
        (void)snprintf(text, size, "instruction %" PRIu64 " (%s)", other->sequence,
                       pim_opcode_name(other->instruction.opcode));
    else if (wait == PIM_WAIT_PEER && instruction->opcode == PIM_OP_SEND)
        (void)snprintf(text, size, "unit %" PRIu32 " to announce its receive", instruction->u.network.peer);
    else if (instruction->opcode == PIM_OP_RECEIVE)
        (void)snprintf(text, size, "an open receive to end: %" PRIu32 " are open",
                       node->interface.posted_count);
    else if (wait == PIM_WAIT_BUFFER) {
        unsigned buffer = instruction->opcode == PIM_OP_LOAD ? instruction->detail : PIM_BUFFER_OUTPUT;
        (void)snprintf(text, size, "space: %" PRIu64 " of %" PRIu64 " bytes of the %s buffer are free",
                       pim_buffer_free(&node->buffer[buffer]), node->buffer[buffer].capacity,
                       pim_buffer_name(buffer));
    } else if (wait == PIM_WAIT_ISSUE)
        (void)snprintf(text, size, "instruction %" PRIu64 " to start (in-order issue)", node->issued);
    else
        (void)snprintf(text, size, "its engine");
}

static void report_head(struct pim_node *node, enum pim_engine engine, struct pim_idle_report *report)
{
    const struct pim_engine_queue *queue = &node->queue[engine];
    if (queue->head == queue->tail)
        return;
    const struct pim_slot *slot = pim_node_slot(node, queue->sequence[queue->head & pim_node_mask(node)]);
    const struct pim_instruction *instruction = &slot->instruction;
    char message[64] = "", cause[128];
    if (engine == PIM_ENGINE_SEND || engine == PIM_ENGINE_RECEIVE)
        (void)snprintf(message, sizeof message, " %s unit %" PRIu32 ", tag %" PRIu32,
                       engine == PIM_ENGINE_SEND ? "to" : "from", instruction->u.network.peer,
                       instruction->u.network.tag);
    describe(node, queue, slot, cause, sizeof cause);
    pim_idle_report_line(report, "unit %" PRIu32 ", instruction %" PRIu64 ": %s%s waits for %s", node->id,
                         slot->sequence, pim_opcode_name(instruction->opcode), message, cause);
}

/* Open receives: what came in, and whether the sender has started. */
static void report_receives(const struct pim_node *node, struct pim_idle_report *report)
{
    for (uint32_t i = 0; i < node->interface.posted_count; i++) {
        const struct pim_slot *slot = node->interface.posted[i];
        const struct pim_instruction *instruction = &slot->instruction;
        if (slot->matched)
            pim_idle_report_line(report,
                                 "unit %" PRIu32 ", instruction %" PRIu64 ": receive from unit %" PRIu32
                                 ", tag %" PRIu32 " has %" PRIu64 " of %" PRIu64 " bytes",
                                 node->id, slot->sequence, instruction->u.network.peer,
                                 instruction->u.network.tag, slot->moved, instruction->u.network.bytes);
        else
            pim_idle_report_line(
                report,
                "unit %" PRIu32 ", instruction %" PRIu64 ": receive from unit %" PRIu32 ", tag %" PRIu32
                " waits for a send that has not started%s",
                node->id, slot->sequence, instruction->u.network.peer, instruction->u.network.tag,
                node->array->nodes[instruction->u.network.peer].finished ? ": that unit has finished" : "");
    }
}

static void report(void *context, struct pim_idle_report *report)
{
    struct pim_node_array *array = context;
    for (uint32_t id = 0; id < array->count; id++) {
        struct pim_node *node = &array->nodes[id];
        if (node->finished)
            continue;
        report_receives(node, report);
        for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
            report_head(node, (enum pim_engine)engine, report);
    }
}

/* --- life cycle --- */

enum pim_status pim_node_array_initialize(struct pim_node_array *array, struct pim_kernel *kernel,
                                          const struct pim_node_configuration *configuration,
                                          const struct pim_trace *trace, struct pim_error *error)
{
    assert(configuration->window > 0 && (configuration->window & (configuration->window - 1)) == 0);
    memset(array, 0, sizeof *array);
    array->kernel = kernel;
    array->configuration = *configuration;
    array->trace = trace;
    array->error = error;
    array->count = pim_trace_description(trace)->units;
    array->phase_count = pim_trace_phases(trace);
    /* Sums of times over all units, and what the network adds behind the last event of a unit, stay below
     * 2^64. */
    array->time_last = PIM_TIME_LAST / 2 / (array->count ? array->count : 1);
    array->nodes = calloc((size_t)array->count + 1, sizeof *array->nodes);
    array->phases = calloc((size_t)array->phase_count + 1, sizeof *array->phases);
    if (!array->nodes || !array->phases)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " units", array->count);
    array->running = array->count;
    for (uint32_t id = 0; id < array->count; id++)
        if (initialize_node(array, id, error) != PIM_OK)
            return error->status;
    array->pending_work = (struct pim_pending_work){.pending = pending, .report = report, .context = array};
    pim_kernel_add_pending_work(kernel, &array->pending_work);
    return PIM_OK;
}

void pim_node_array_terminate(struct pim_node_array *array)
{
    for (uint32_t id = 0; array->nodes && id < array->count; id++) {
        struct pim_node *node = &array->nodes[id];
        for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
            free(node->queue[engine].sequence);
        free(node->interface.posted);
        free(node->interface.announcements);
        free(node->slots);
        pim_trace_cursor_destroy(node->cursor);
    }
    pim_packets_terminate(array);
    free(array->nodes);
    free(array->phases);
}

struct pim_noc_callbacks pim_node_array_callbacks(struct pim_node_array *array)
{
    return (struct pim_noc_callbacks){
        .context = array, .injected = pim_interface_injected, .delivered = pim_interface_delivered};
}

uint64_t pim_node_array_instructions(const struct pim_node_array *array)
{
    uint64_t sum = 0;
    for (uint32_t id = 0; id < array->count; id++)
        sum += array->nodes[id].result.instructions;
    return sum;
}

pim_time pim_node_array_end(const struct pim_node_array *array)
{
    return array->running > 0 ? pim_kernel_now(array->kernel) : array->finished_at;
}

void pim_node_array_close(struct pim_node_array *array)
{
    pim_time end = pim_node_array_end(array);
    for (uint32_t id = 0; id < array->count; id++) {
        struct pim_node *node = &array->nodes[id];
        if (!node->in_phase)
            continue;
        pim_unit_account_until(node, end);
        pim_unit_leave_phase(node, end);
    }
}

void pim_node_result(struct pim_node_array *array, uint32_t unit, struct pim_unit_result *result)
{
    struct pim_node *node = &array->nodes[unit];
    pim_time end = pim_node_array_end(array);
    pim_unit_account_until(node, end);
    *result = node->result;
    for (unsigned buffer = PIM_BUFFER_INPUT; buffer < PIM_BUFFERS; buffer++)
        result->buffer_high_water[buffer] = node->buffer[buffer].high_water;
    pim_bank_advance(&node->port.bank, end / array->configuration.memory_period);
    pim_bank_read_counters(&node->port.bank, &result->bank);
#ifndef NDEBUG
    pim_time shares = 0;
    for (unsigned share = 0; share < PIM_SHARES; share++)
        shares += result->share[share];
    assert(shares == end);
    for (unsigned class = 0; class < PIM_CLASSES; class ++)
        assert(result->busy[class] + result->stall[class] + result->idle[class] == end);
#endif
}
