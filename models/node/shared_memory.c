/*
 * A memory that several nodes share: channels of a DRAM standard with their controllers
 * (models/dram/channel) in place of a private bank for each node. Rules: docs/models/shared-memory.md.
 */
#include "models/node/node_internal.h"

#include "models/unit/shared_channels.h"

#include <assert.h>
#include <stdlib.h>

struct pim_shared_memory {
    struct pim_node_array *array;
    uint32_t first; /* node */
    struct pim_shared_channels *channels;
};

/* A request of a client, from its first part to its last data. */
struct pim_transfer {
    struct pim_node *node;
    pim_handler *handler;
    void *context;
    uint64_t open;      /* accesses under way, and one until the last part was handed over */
    uint64_t completed; /* latest end of data so far */
};

static void end_access(struct pim_transfer *transfer)
{
    struct pim_node *node = transfer->node;
    struct pim_node_array *array = node->array;
    const pim_time period = array->configuration.memory_period;
    if (--transfer->open > 0)
        return;
    /* What a waiting write answers or absorbs is complete in the cycle that is under way. */
    const uint64_t next = pim_shared_channels_cycle(node->port.memory->channels) + 1;
    const uint64_t completed = transfer->completed > next ? transfer->completed : next;
    if (pim_unit_in_time(&node->unit, 0, completed, period))
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

static void served(void *context, uint64_t request, uint64_t completed)
{
    const struct pim_shared_memory *memory = context;
    struct pim_transfer *transfer = (struct pim_transfer *)(uintptr_t)request;
    struct pim_node *node = transfer->node;
    assert(node->port.under_way > 0);
    node->port.under_way--;
    transfer->completed = completed > transfer->completed ? completed : transfer->completed;
    end_access(transfer);
    if (node->port.held && may_hand_over(node))
        free_port(node, pim_shared_channels_cycle(memory->channels));
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

static PIM_ALWAYS_INLINE enum pim_handed hand_over(void *context, uint32_t place, uint64_t cycle)
{
    const struct pim_shared_memory *memory = context;
    const struct pim_node_configuration *configuration = &memory->array->configuration;
    struct pim_node *node = pim_node_at(memory->array, memory->first + place);
    struct pim_memory_port *port = &node->port;
    const uint32_t bytes = configuration->bank.port_bytes;
    if (!port->busy || port->held || !may_hand_over(node) ||
        !pim_burst_find_column(&port->part, &port->cursor, bytes))
        return PIM_HANDED_NOTHING;
    const uint64_t address = configuration->bank.capacity_bytes * place + port->cursor.column * bytes;
    struct pim_transfer *transfer = port->transfer;
    transfer->open++;
    port->under_way++;
    const enum pim_handed handed = pim_shared_channels_offer(memory->channels, cycle, &port->handed, address,
                                                             port->part.write, (uint64_t)(uintptr_t)transfer);
    if (handed != PIM_HANDED_ONE) {
        transfer->open--;
        port->under_way--;
        return handed;
    }
    pim_bank_count_access(&port->counters, port->part.write, bytes);
    pim_burst_next_column(&port->cursor);
    if (!pim_burst_find_column(&port->part, &port->cursor, bytes))
        end_part(node, cycle);
    return PIM_HANDED_ONE;
}

static void work(struct pim_kernel *kernel, void *channels)
{
    (void)kernel;
    pim_shared_channels_work(channels, hand_over);
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
    pim_shared_channels_wake(port->memory->channels, pim_shared_channels_cycle(port->memory->channels));
}

/* --- life cycle --- */

static void destroy(struct pim_shared_memory *memory)
{
    if (memory)
        pim_shared_channels_destroy(memory->channels);
    free(memory);
}

static struct pim_shared_memory *create(struct pim_node_array *array, uint32_t first, uint32_t count)
{
    struct pim_shared_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    memory->array = array;
    memory->first = first;
    const struct pim_shared_channels_owner owner = {.unit = pim_units_at(&array->units, first),
                                                    .dram = &array->configuration.channels.dram,
                                                    .period = array->configuration.memory_period,
                                                    .clients = count,
                                                    .context = memory,
                                                    .work = work,
                                                    .served = served};
    memory->channels = pim_shared_channels_create(&owner, array->channel_rules);
    if (memory->channels)
        return memory;
    destroy(memory);
    return NULL;
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
        destroy(pim_node_at(array, id)->port.memory);
    pim_dram_rules_destroy(array->channel_rules);
    pim_pool_terminate(&array->transfers);
}

void pim_shared_memories_rows(const struct pim_units *units, struct pim_dram_counters *sum)
{
    const struct pim_node_array *array = (const struct pim_node_array *)units;
    const uint32_t nodes = array->configuration.channels.nodes;
    const uint64_t cycle = pim_kernel_now(units->kernel) / array->configuration.memory_period;
    for (uint32_t id = 0; nodes > 0 && id < units->count; id += nodes)
        pim_shared_channels_count(((const struct pim_node *)pim_units_at(units, id))->port.memory->channels,
                                  cycle, sum);
}

void pim_shared_memory_close(struct pim_node *node, pim_time end, struct pim_bank_counters *counters)
{
    const struct pim_shared_memory *memory = node->port.memory;
    struct pim_node_array *array = node->array;
    struct pim_dram_counters own = {0};
    *counters = node->port.counters;
    counters->data_cycles = (counters->reads + counters->writes) * array->configuration.bank.column_step;
    if (node->unit.id != memory->first)
        return;
    pim_shared_channels_close(memory->channels, end / array->configuration.memory_period, &own);
    pim_dram_counters_to_bank(&own, counters);
    pim_dram_counters_add(&array->channel_counters, &own);
}
