/* Defaults, checks, and what follows from a configuration alone: distances and zero-load latencies. */
#include "models/noc/internal.h"

#include <assert.h>

void pim_noc_configuration_initialize(struct pim_noc_configuration *configuration)
{
    *configuration = (struct pim_noc_configuration){
        .width = 8,
        .height = 8,
        .virtual_channels = 16,
        .buffer_flits = 8,
        .routing_delay = 1,
        .vc_allocation_delay = 1,
        .switch_allocation_delay = 1,
        .switch_traversal_delay = 1,
        .link_latency = 1,
        .vc_allocator = PIM_NOC_ISLIP,
        .switch_allocator = PIM_NOC_ISLIP,
        .allocator_iterations = 1,
        .input_speedup = 1,
        .flit_bits = 64,
        .fidelity = PIM_NOC_FLIT,
    };
}

enum pim_status pim_noc_configuration_check(const struct pim_noc_configuration *configuration,
                                            struct pim_error *error)
{
    const struct {
        const char *name;
        uint32_t value, minimum, maximum;
    } ranges[] = {
        {"width", configuration->width, 1, PIM_NOC_SIDE_LIMIT},
        {"height", configuration->height, 1, PIM_NOC_SIDE_LIMIT},
        {"virtual_channels", configuration->virtual_channels, 1, PIM_NOC_VC_LIMIT},
        {"buffer_flits", configuration->buffer_flits, 1, PIM_NOC_BUFFER_LIMIT},
        {"routing_delay", configuration->routing_delay, 0, PIM_NOC_DELAY_LIMIT},
        {"vc_allocation_delay", configuration->vc_allocation_delay, 1, PIM_NOC_DELAY_LIMIT},
        {"switch_allocation_delay", configuration->switch_allocation_delay, 1, PIM_NOC_DELAY_LIMIT},
        {"switch_traversal_delay", configuration->switch_traversal_delay, 1, PIM_NOC_DELAY_LIMIT},
        {"link_latency", configuration->link_latency, 1, PIM_NOC_DELAY_LIMIT},
        {"credit_delay", configuration->credit_delay, 0, PIM_NOC_DELAY_LIMIT},
        {"allocator_iterations", configuration->allocator_iterations, 1, PIM_NOC_ITERATION_LIMIT},
        {"input_speedup", configuration->input_speedup, 1, PIM_NOC_SPEEDUP_LIMIT},
        {"flit_bits", configuration->flit_bits, 1, 65536},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].value < ranges[i].minimum || ranges[i].value > ranges[i].maximum)
            return pim_fail(error, PIM_BAD_INPUT, "noc.%s is %u: allowed are %u to %u", ranges[i].name,
                            ranges[i].value, ranges[i].minimum, ranges[i].maximum);
    if ((unsigned)configuration->vc_allocator >= PIM_NOC_ALLOCATORS ||
        (unsigned)configuration->switch_allocator >= PIM_NOC_ALLOCATORS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.%s is unknown: allowed are islip and separable_input_first",
                        (unsigned)configuration->vc_allocator >= PIM_NOC_ALLOCATORS ? "vc_allocator"
                                                                                    : "switch_allocator");
    if ((unsigned)configuration->fidelity >= PIM_NOC_FIDELITIES)
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.fidelity is unknown: allowed are ideal, analytic and flit");
    if (configuration->virtual_channels % configuration->input_speedup != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.input_speedup is %u: it must divide noc.virtual_channels, which is %u",
                        configuration->input_speedup, configuration->virtual_channels);
    if (configuration->speculative &&
        configuration->vc_allocation_delay > configuration->switch_allocation_delay)
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.vc_allocation_delay is %u: with noc.speculative it must not exceed "
                        "noc.switch_allocation_delay, which "
                        "is %u",
                        configuration->vc_allocation_delay, configuration->switch_allocation_delay);
    return PIM_OK;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

uint32_t pim_noc_hops(const struct pim_noc_configuration *configuration, uint32_t source,
                      uint32_t destination)
{
    uint32_t width = configuration->width;
    return 1 + distance(source % width, destination % width) + distance(source / width, destination / width);
}

uint32_t pim_noc_router_delay(const struct pim_noc_configuration *configuration)
{
    uint32_t vc = configuration->vc_allocation_delay, grant = configuration->switch_allocation_delay;
    uint32_t allocation = !configuration->speculative ? vc + grant : vc > grant ? vc : grant;
    return configuration->routing_delay + allocation + configuration->switch_traversal_delay;
}

uint64_t pim_noc_zero_load_latency(const struct pim_noc_configuration *configuration, uint32_t source,
                                   uint32_t destination, uint64_t flits)
{
    uint64_t hops = pim_noc_hops(configuration, source, destination);
    uint64_t delay = pim_noc_router_delay(configuration);
    return NOC_INJECTION + (hops - 1) * (delay + configuration->link_latency) + delay + 1 + (flits - 1);
}

uint32_t pim_noc_neighbour(const struct pim_noc_configuration *configuration, uint32_t node,
                           enum pim_noc_direction direction)
{
    uint32_t width = configuration->width, x = node % width, y = node / width;
    switch (direction) {
    case PIM_NOC_EAST:
        return x + 1 < width ? node + 1 : UINT32_MAX;
    case PIM_NOC_WEST:
        return x > 0 ? node - 1 : UINT32_MAX;
    case PIM_NOC_SOUTH:
        return y + 1 < configuration->height ? node + width : UINT32_MAX;
    case PIM_NOC_NORTH:
        return y > 0 ? node - width : UINT32_MAX;
    case PIM_NOC_EJECT:
    case PIM_NOC_INJECT:
        return node;
    }
    return UINT32_MAX;
}
