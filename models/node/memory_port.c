/*
 * The memory port: three clients (memory engine, sending and receiving side of the network interface) share
 * one bank, by the rules of docs/models/node.md ("Memory port").
 */
#include "models/node/node_internal.h"

#include <assert.h>

static void arbitrate(struct pim_kernel *kernel, void *context);

static void schedule(struct pim_node *node)
{
    struct pim_memory_port *port = &node->port;
    if (port->scheduled || port->busy)
        return;
    struct pim_kernel *kernel = node->array->units.kernel;
    pim_time now = pim_kernel_now(kernel);
    pim_time at = pim_edge(now, node->array->configuration.memory_period);
    if (at < port->free_at)
        at = port->free_at;
    port->scheduled = true;
    /* Arbitration is the last phase of its tick, so that every request of the tick takes part. */
    pim_kernel_schedule(kernel, at - now, PIM_PHASE_UNIT, arbitrate, port);
}

/* The port has taken the whole request of a client. */
static void taken(struct pim_node *node, unsigned client)
{
    node->port.active &= (uint8_t) ~(1u << client);
    if (client == PIM_PORT_MEMORY)
        pim_node_advance_engine(node, PIM_ENGINE_MEMORY);
    else
        pim_interface_served(node, (enum pim_port_client)client);
}

void pim_port_next(struct pim_node *node)
{
    if (node->port.active)
        schedule(node);
}

static void arbitrate(struct pim_kernel *kernel, void *context)
{
    struct pim_memory_port *port = context;
    struct pim_node *node = (struct pim_node *)(void *)((char *)port - offsetof(struct pim_node, port));
    PIM_PREFETCH(&port->bank);
    PIM_PREFETCH(&port->bank.row);
    PIM_PREFETCH(&port->bank.last_access);
    PIM_PREFETCH(&node->array);
    const struct pim_node_configuration *configuration = &node->array->configuration;
    port->scheduled = false;
    if (port->busy || !port->active)
        return;
    /* The first one behind `last`, in turn. */
    const unsigned later = port->active & (~1u << port->last);
    const unsigned client = (unsigned)__builtin_ctz(later ? later : port->active);
    struct pim_port_request *request = &port->request[client];
    port->last = (uint8_t)client;

    pim_time now = pim_kernel_now(kernel);
    struct pim_burst part;
    struct pim_burst_times times;
    bool last = pim_burst_part(&request->burst, &request->next, configuration->arbitration_bytes,
                               configuration->bank.port_bytes, configuration->bank.columns_per_row, &part);
    if (port->memory) {
        pim_shared_memory_take(node, &part, request, last);
        if (last)
            taken(node, client);
        return;
    }
    pim_bank_access(&port->bank, &part, now / configuration->memory_period, &times);
    if (!pim_unit_in_time(&node->unit, 0, times.last_data, configuration->memory_period))
        return;
    port->free_at = times.next * configuration->memory_period;
    if (last) {
        pim_kernel_schedule(kernel, times.last_data * configuration->memory_period - now, PIM_PHASE_MEMORY,
                            request->handler, request->context);
        taken(node, client);
    }
    pim_port_next(node);
}

void pim_port_submit(struct pim_node *node, enum pim_port_client client, const struct pim_burst *burst,
                     pim_handler *handler, void *context)
{
    struct pim_port_request *request = &node->port.request[client];
    assert(!pim_port_is_active(node, client) && burst->bytes > 0 && burst->count > 0);
    node->port.active |= (uint8_t)(1u << client);
    *request = (struct pim_port_request){.burst = *burst, .handler = handler, .context = context};
    pim_burst_join(&request->burst);
    schedule(node);
}

struct pim_bank_counters pim_port_counters(const struct pim_memory_port *port)
{
    struct pim_bank_counters counters = port->counters;
    if (!port->memory)
        pim_bank_read_counters(&port->bank, &counters);
    return counters;
}

void pim_port_attribute(struct pim_unit *unit)
{
    struct pim_node *node = (struct pim_node *)unit;
    const struct pim_bank_counters counters = pim_port_counters(&node->port), *now = &counters;
    struct pim_bank_counters *seen = &node->port.seen;
    struct pim_phase_result *phase = unit->sums;
    pim_time period = node->array->configuration.memory_period;
    phase->dram_row += (now->row_cycles - seen->row_cycles) * period;
    phase->dram_refresh += (now->refresh_cycles - seen->refresh_cycles) * period;
    phase->dram_turnaround += (now->turnaround_cycles - seen->turnaround_cycles) * period;
    PIM_ADD_ACTION(node, dram_bits,
                   8 * (now->bytes_read - seen->bytes_read + now->bytes_written - seen->bytes_written));
    /* A command opens a row in each of the banks that work in lock-step. */
    PIM_ADD_ACTION(node, dram_activates,
                   (now->activates - seen->activates) * node->array->configuration.bank.organization.banks);
    *seen = *now;
}
