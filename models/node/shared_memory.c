#include "models/node/shared_memory.h"

#include "models/dram/memory.h"

#include <assert.h>
#include <stdlib.h>

struct pim_shared_memory {
    struct pim_node_array *array;
    uint32_t first, count; /* nodes */
    uint32_t turn;         /* of them, who is asked first */
    struct pim_event event;
    bool closed; /* the run is over: nothing is told any more */
    struct shared_channel {
        struct pim_shared_memory *memory;
        struct pim_dram_channel *channel;
        uint64_t wake;     /* cycle of its next command; UINT64_MAX while nothing waits */
        uint64_t accepted; /* cycle of the last access + 1 */
        uint32_t waiting;  /* accesses whose column command has not issued */
    } channel[];
};

/* A request of a client, from its first part to its last data. */
struct pim_transfer {
    struct pim_node *node;
    pim_handler *handler;
    void *context;
    uint64_t open;      /* accesses under way, and one until the last part was handed over */
    uint64_t completed; /* latest end of data so far */
};

static uint64_t cycle_now(const struct pim_shared_memory *memory)
{
    return pim_kernel_now(memory->array->units.kernel) / memory->array->configuration.memory_period;
}

/* An event in `cycle`, unless one comes earlier. */
static void wake(struct pim_shared_memory *memory, uint64_t cycle)
{
    struct pim_kernel *kernel = memory->array->units.kernel;
    const pim_time period = memory->array->configuration.memory_period;
    if (!pim_unit_in_time(pim_units_at(&memory->array->units, memory->first), cycle, period) ||
        pim_event_time(&memory->event) <= cycle * period)
        return;
    (void)pim_event_cancel(kernel, &memory->event);
    pim_event_schedule_at(kernel, &memory->event, cycle * period, PIM_PHASE_UNIT);
}

static void end_access(struct pim_transfer *transfer)
{
    struct pim_node *node = transfer->node;
    struct pim_node_array *array = node->array;
    const pim_time period = array->configuration.memory_period;
    if (--transfer->open > 0)
        return;
    /* What a waiting write answers or absorbs is complete in the cycle that is under way. */
    const uint64_t next = cycle_now(node->port.memory) + 1;
    const uint64_t completed = transfer->completed > next ? transfer->completed : next;
    if (pim_unit_in_time(&node->unit, completed, period))
        pim_kernel_schedule(array->units.kernel, completed * period - pim_kernel_now(array->units.kernel),
                            PIM_PHASE_MEMORY, transfer->handler, transfer->context);
    pim_pool_give(&array->transfers, transfer);
}

static bool may_hand_over(const struct pim_node *node)
{
    const uint32_t most = node->array->configuration.channels.accesses;
    return most == 0 || node->port.under_way < most;
}

/* The port is free from the cycle `cycle` on. */
static void free_port(struct pim_node *node, uint64_t cycle)
{
    struct pim_memory_port *port = &node->port;
    port->busy = port->held = false;
    port->free_at = cycle * node->array->configuration.memory_period;
    pim_port_next(node);
}

static void served(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    struct shared_channel *channel = context;
    struct pim_shared_memory *memory = channel->memory;
    struct pim_transfer *transfer = (struct pim_transfer *)(uintptr_t)request;
    struct pim_node *node = transfer->node;
    (void)first_command;
    if (memory->closed)
        return;
    assert(node->port.under_way > 0 && channel->waiting > 0);
    channel->waiting--;
    node->port.under_way--;
    transfer->completed = completed > transfer->completed ? completed : transfer->completed;
    end_access(transfer);
    if (node->port.held && may_hand_over(node))
        free_port(node, cycle_now(memory));
}

static void count_access(struct pim_node *node, uint32_t bytes)
{
    struct pim_bank_counters *counters = &node->port.counters;
    if (node->port.part.write) {
        counters->writes++;
        counters->bytes_written += bytes;
    } else {
        counters->reads++;
        counters->bytes_read += bytes;
    }
}

/* The last access of the part was accepted in `cycle`. */
static void end_part(struct pim_node *node, uint64_t cycle)
{
    struct pim_memory_port *port = &node->port;
    if (port->ends) {
        port->ends = false;
        end_access(port->transfer);
        port->transfer = NULL;
    }
    port->held = !may_hand_over(node);
    if (!port->held)
        free_port(node, cycle + 1);
}

/* Hands over the next access of a node, if its channel takes it; in `again` whether to ask in the next cycle.
 */
static bool hand_over(struct pim_shared_memory *memory, uint32_t place, uint64_t cycle, bool *again)
{
    const struct pim_node_configuration *configuration = &memory->array->configuration;
    struct pim_node *node = pim_node_at(memory->array, memory->first + place);
    struct pim_memory_port *port = &node->port;
    const uint32_t bytes = configuration->bank.port_bytes;
    if (!port->busy || port->held || !may_hand_over(node) ||
        !pim_burst_find_column(&port->part, &port->cursor, bytes))
        return false;
    if (port->handed == cycle + 1) { /* the work of a cycle may be done in parts */
        *again = true;
        return false;
    }
    const uint64_t address = configuration->bank.capacity_bytes * place + port->cursor.column * bytes;
    const struct pim_dram_location location = pim_dram_locate(&configuration->channels.dram.mapping, address);
    struct shared_channel *channel = &memory->channel[location.channel];
    if (channel->accepted == cycle + 1) {
        *again = true;
        return false;
    }
    struct pim_transfer *transfer = port->transfer;
    /* Counted before, because an access that a waiting write answers is served at once. */
    transfer->open++;
    port->under_way++;
    channel->waiting++;
    if (!pim_dram_channel_offer(channel->channel, cycle, &location, port->part.write,
                                (uint64_t)(uintptr_t)transfer)) {
        transfer->open--;
        port->under_way--;
        channel->waiting--;
        return false;
    }
    channel->accepted = cycle + 1;
    port->handed = cycle + 1;
    count_access(node, bytes);
    pim_burst_next_column(&port->cursor);
    *again = true;
    if (!pim_burst_find_column(&port->part, &port->cursor, bytes))
        end_part(node, cycle);
    return true;
}

/* The commands of this cycle, then one access of each node. */
static void work(struct pim_kernel *kernel, void *context)
{
    struct pim_shared_memory *memory = context;
    const uint32_t channels = memory->array->configuration.channels.dram.specification.organization.channels;
    (void)kernel;
    const uint64_t cycle = cycle_now(memory);
    for (uint32_t i = 0; i < channels; i++)
        if (memory->channel[i].wake <= cycle)
            pim_dram_channel_advance(memory->channel[i].channel, cycle);
    bool again = false;
    const uint32_t turn = memory->turn;
    for (uint32_t i = 0; i < memory->count; i++) {
        const uint32_t place = (turn + i) % memory->count;
        if (hand_over(memory, place, cycle, &again))
            memory->turn = (place + 1) % memory->count;
    }
    uint64_t next = again ? cycle + 1 : UINT64_MAX;
    for (uint32_t i = 0; i < channels; i++) {
        struct shared_channel *channel = &memory->channel[i];
        channel->wake = channel->waiting > 0 ? pim_dram_channel_next(channel->channel) : UINT64_MAX;
        next = channel->wake < next ? channel->wake : next;
    }
    if (next < UINT64_MAX)
        wake(memory, next);
}

void pim_shared_memory_take(struct pim_node *node, const struct pim_burst *part,
                            struct pim_port_request *request, bool last)
{
    struct pim_memory_port *port = &node->port;
    struct pim_transfer *transfer = request->transfer;
    if (!transfer) {
        transfer = pim_pool_take(&node->array->transfers, sizeof *transfer);
        if (!transfer) {
            pim_units_exhausted(&node->array->units, "memory requests");
            return;
        }
        *transfer = (struct pim_transfer){
            .node = node, .handler = request->handler, .context = request->context, .open = 1};
    }
    request->transfer = last ? NULL : transfer;
    port->transfer = transfer;
    port->ends = last;
    port->part = *part;
    port->cursor = (struct pim_burst_cursor){0};
    port->held = false;
    port->busy = true;
    wake(port->memory, cycle_now(port->memory));
}

/* --- life cycle --- */

static void destroy(struct pim_shared_memory *memory, uint32_t channels)
{
    for (uint32_t i = 0; memory && i < channels; i++)
        pim_dram_channel_destroy(memory->channel[i].channel);
    free(memory);
}

static struct pim_shared_memory *create(struct pim_node_array *array, uint32_t first, uint32_t count)
{
    const uint32_t channels = array->configuration.channels.dram.specification.organization.channels;
    struct pim_shared_memory *memory = calloc(1, sizeof *memory + channels * sizeof memory->channel[0]);
    if (!memory)
        return NULL;
    memory->array = array;
    memory->first = first;
    memory->count = count;
    pim_event_initialize(&memory->event, work, memory);
    for (uint32_t i = 0; i < channels; i++) {
        const struct pim_dram_sink sink = {&memory->channel[i], served, NULL};
        memory->channel[i].memory = memory;
        memory->channel[i].wake = UINT64_MAX;
        memory->channel[i].channel = pim_dram_channel_create(array->channel_rules, i, &sink);
        if (!memory->channel[i].channel) {
            destroy(memory, channels);
            return NULL;
        }
    }
    return memory;
}

enum pim_status pim_shared_memories_create(struct pim_node_array *array, struct pim_error *error)
{
    const struct pim_node_channels *channels = &array->configuration.channels;
    const uint32_t nodes = array->units.count;
    if (channels->nodes == 0)
        return PIM_OK;
    array->channel_rules = pim_dram_rules_create(&channels->dram.specification, &channels->dram.policy);
    if (!array->channel_rules)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the rules of the DRAM channels");
    for (uint32_t first = 0; first < nodes; first += channels->nodes) {
        const uint32_t rest = nodes - first;
        const uint32_t count = rest < channels->nodes ? rest : channels->nodes;
        struct pim_shared_memory *memory = create(array, first, count);
        if (!memory)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the DRAM channels of the nodes");
        for (uint32_t i = 0; i < count; i++)
            pim_node_at(array, first + i)->port.memory = memory;
    }
    return PIM_OK;
}

void pim_shared_memories_destroy(struct pim_node_array *array)
{
    const struct pim_node_channels *channels = &array->configuration.channels;
    for (uint32_t id = 0; array->units.first && channels->nodes > 0 && id < array->units.count;
         id += channels->nodes)
        destroy(pim_node_at(array, id)->port.memory, channels->dram.specification.organization.channels);
    pim_dram_rules_destroy(array->channel_rules);
    pim_pool_terminate(&array->transfers);
}

void pim_shared_memories_rows(const struct pim_units *units, struct pim_dram_counters *sum)
{
    const struct pim_node_array *array = (const struct pim_node_array *)units;
    const struct pim_node_channels *channels = &array->configuration.channels;
    for (uint32_t id = 0; channels->nodes > 0 && id < units->count; id += channels->nodes) {
        const struct pim_shared_memory *memory =
            ((const struct pim_node *)pim_units_at(units, id))->port.memory;
        for (uint32_t i = 0; i < channels->dram.specification.organization.channels; i++) {
            struct pim_dram_counters one;
            pim_dram_channel_counters(memory->channel[i].channel, cycle_now(memory), &one);
            pim_dram_counters_add(sum, &one);
        }
    }
}

void pim_shared_memory_close(struct pim_node *node, pim_time end, struct pim_bank_counters *counters)
{
    struct pim_shared_memory *memory = node->port.memory;
    struct pim_node_array *array = node->array;
    const struct pim_dram_specification *specification = &array->configuration.channels.dram.specification;
    *counters = node->port.counters;
    counters->data_cycles = (counters->reads + counters->writes) * array->configuration.bank.column_step;
    if (node->unit.id != memory->first)
        return;
    const uint64_t cycle = end / array->configuration.memory_period;
    memory->closed = true;
    for (uint32_t i = 0; i < specification->organization.channels; i++) {
        struct pim_dram_counters one;
        pim_dram_channel_advance(memory->channel[i].channel, cycle);
        pim_dram_channel_counters(memory->channel[i].channel, cycle, &one);
        pim_dram_counters_to_bank(&one, counters);
        pim_dram_counters_add(&array->channel_counters, &one);
    }
}
