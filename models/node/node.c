/* The array of nodes: life cycle, results, and what they wait for. */
#include "models/node/node_internal.h"
#include "sim/try.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static enum pim_status initialize_node(struct pim_node_array *array, uint32_t id, struct pim_error *error)
{
    struct pim_node *node = pim_node_at(array, id);
    const struct pim_node_configuration *configuration = &array->configuration;
    PIM_TRY(pim_unit_initialize(&array->units, id, 0, error));
    node->array = array;
    node->mask = configuration->window - 1;
    node->slots = array->slots + (size_t)id * configuration->window;
    node->interface.posted = calloc(configuration->posted_receives, sizeof(struct pim_slot *));
    PIM_NEED_MEMORY(node->interface.posted, error, "out of memory for unit %" PRIu32 " of %" PRIu32, id,
                    array->units.count);
    for (uint32_t i = 0; i < configuration->window; i++)
        node->slots[i].node = node;
    for (unsigned buffer = PIM_BUFFER_INPUT; buffer < PIM_BUFFERS; buffer++)
        pim_buffer_initialize(&node->buffer[buffer], configuration->buffer_bytes[buffer]);
    pim_bank_initialize(&node->port.bank, &configuration->bank);
    node->port.last = PIM_PORT_CLIENTS - 1;
    pim_kernel_schedule(array->units.kernel, 0, PIM_PHASE_UNIT, pim_node_start, node);
    return PIM_OK;
}

/* --- deadlock report --- */

/* What the instruction at the head of a queue waits for, in words. */
static void describe_head(struct pim_node *node, const struct pim_slot *slot, char *text, size_t size)
{
    const struct pim_instruction *instruction = &slot->instruction;
    uint8_t state = node->unit.states.state[pim_opcode_engine(instruction->opcode)];
    unsigned wait = state >= PIM_STATE_WAIT ? state - PIM_STATE_WAIT : PIM_WAITS;
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
        (void)snprintf(text, size, "instruction %" PRIu64 " to start (in-order issue)", node->unit.issued);
    else
        (void)snprintf(text, size, "its engine");
}

static void report_head(struct pim_node *node, enum pim_engine engine, struct pim_idle_report *report)
{
    if (node->queue[engine].waiting == 0)
        return;
    const struct pim_slot *slot = pim_node_head(node, engine);
    char cause[128];
    describe_head(node, slot, cause, sizeof cause);
    pim_unit_report_head(&node->unit, slot->sequence, &slot->instruction, cause, report);
}

/* Open receives: what came in, and whether the sender has started. */
static void report_receives(const struct pim_node *node, struct pim_idle_report *report)
{
    for (uint32_t i = 0; i < node->interface.posted_count; i++) {
        const struct pim_slot *slot = node->interface.posted[i];
        const struct pim_instruction *instruction = &slot->instruction;
        char what[96];
        if (slot->matched)
            (void)snprintf(what, sizeof what, "has %" PRIu64 " of %" PRIu64 " bytes", slot->receive.moved,
                           instruction->u.network.bytes);
        else
            (void)snprintf(what, sizeof what, "waits for a send that has not started%s",
                           pim_units_at(node->unit.units, instruction->u.network.peer)->finished
                               ? ": that unit has finished"
                               : "");
        pim_idle_report_line(
            report,
            "unit %" PRIu32 ", instruction %" PRIu64 ": receive from unit %" PRIu32 ", tag %" PRIu32 " %s",
            node->unit.id, slot->sequence, instruction->u.network.peer, instruction->u.network.tag, what);
    }
}

static void describe(struct pim_unit *unit, struct pim_idle_report *report)
{
    struct pim_node *node = (struct pim_node *)unit;
    report_receives(node, report);
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
        report_head(node, (enum pim_engine)engine, report);
}

/* --- life cycle --- */

enum pim_status pim_node_array_initialize(struct pim_node_array *array, struct pim_kernel *kernel,
                                          const struct pim_node_configuration *configuration,
                                          const struct pim_trace *trace, struct pim_error *error)
{
    assert(configuration->window > 0 && (configuration->window & (configuration->window - 1)) == 0 &&
           configuration->window <= PIM_WINDOW_MOST);
    *array = (struct pim_node_array){.configuration = *configuration};
    uint32_t groups = 0;
    PIM_TRY(
        pim_units_initialize(&array->units, &pim_node_family, kernel, trace, sizeof(struct pim_node), error));
    array->units.window = configuration->window;
    for (uint32_t id = 0; id < array->units.count; id++) {
        (void)pim_trace_array_groups(trace, id, &groups);
        if (groups > 0)
            return pim_fail(error, PIM_BAD_INPUT,
                            "the trace is made for cores with crossbars, the hardware has nodes: name "
                            "hardware with array.kind = \"core\"");
    }
    bool failed = false;
    array->slots =
        pim_lines_allocate(array->units.count, configuration->window * sizeof *array->slots, &failed);
    PIM_NEED_MEMORY(!failed, error, "out of memory for %" PRIu32 " units", array->units.count);
    for (uint32_t id = 0; id < array->units.count; id++)
        PIM_TRY(initialize_node(array, id, error));
    return pim_shared_memories_create(array, error);
}

static void terminate(struct pim_units *units)
{
    struct pim_node_array *array = (struct pim_node_array *)units;
    pim_shared_memories_destroy(array);
    for (uint32_t id = 0; units->first && id < units->count; id++) {
        struct pim_node *node = pim_node_at(array, id);
        free(node->interface.posted);
        free(node->interface.announcements);
    }
    free(array->slots);
    pim_pool_terminate(&array->packets);
    pim_units_terminate(units);
}

static void complete_result(struct pim_unit *unit, pim_time end, struct pim_unit_result *result)
{
    struct pim_node *node = (struct pim_node *)unit;
    for (unsigned buffer = PIM_BUFFER_INPUT; buffer < PIM_BUFFERS; buffer++)
        result->buffer_high_water[buffer] = node->buffer[buffer].high_water;
    if (node->port.memory) {
        pim_shared_memory_close(node, end, &result->bank);
        return;
    }
    pim_bank_advance(&node->port.bank, end / node->array->configuration.memory_period);
    pim_bank_read_counters(&node->port.bank, &result->bank);
}

/* --- gauges --- */

static uint64_t buffer_taken(const struct pim_unit *unit, unsigned buffer)
{
    return ((const struct pim_node *)unit)->buffer[buffer].taken;
}

/* Of a private bank; channels are shared, and count for all of their nodes. */
static uint64_t row_hits(const struct pim_unit *unit, unsigned detail)
{
    (void)detail;
    return pim_port_counters(&((const struct pim_node *)unit)->port).row_hits;
}

static uint64_t row_accesses(const struct pim_unit *unit, unsigned detail)
{
    (void)detail;
    const struct pim_bank_counters counters = pim_port_counters(&((const struct pim_node *)unit)->port);
    return pim_bank_row_accesses(&counters);
}

static const struct pim_gauge gauges[] = {{"input buffer", "bytes", buffer_taken, NULL, PIM_BUFFER_INPUT},
                                          {"weight buffer", "bytes", buffer_taken, NULL, PIM_BUFFER_WEIGHT},
                                          {"output buffer", "bytes", buffer_taken, NULL, PIM_BUFFER_OUTPUT},
                                          {"row hits", "per mille", row_hits, row_accesses, 0},
                                          {NULL, NULL, NULL, NULL, 0}};

const struct pim_unit_family pim_node_family = {
    .noun = "unit",
    .names_phase = true,
    .noc = {.injected = pim_interface_injected, .delivered = pim_interface_delivered},
    .is_payload = pim_interface_is_payload,
    .leave_phase = pim_port_attribute,
    .describe = describe,
    .complete_result = complete_result,
    .shared_rows = pim_shared_memories_rows,
    .terminate = terminate,
    .gauges = gauges,
};
