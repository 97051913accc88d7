#include "models/system/noc_schema.h"

#include "models/system/noc_keys.h"

static const struct pim_key keys[] = {
    PIM_KEY_OF_INTEGER("noc.width", "8", 1, 256, "routers", "Routers in a row of the mesh."),
    PIM_KEY_OF_INTEGER("noc.height", "8", 1, 256, "routers", "Rows of the mesh."),
    PIM_NOC_KEYS,
};

const struct pim_schema pim_noc_schema = {"noc", "The network on chip alone, for pimsim noc.", keys,
                                          sizeof keys / sizeof keys[0]};

static uint32_t integer(const struct pim_configuration *configuration, const char *path)
{
    return (uint32_t)pim_configuration_integer(configuration,
                                               path); /* the schema bounds every key to 32 bits */
}

enum pim_status pim_noc_configuration_read(const struct pim_configuration *configuration, uint32_t width,
                                           uint32_t height, struct pim_noc_configuration *noc,
                                           struct pim_error *error)
{
    pim_noc_configuration_initialize(noc);
    noc->width = width;
    noc->height = height;
    noc->fidelity = (enum pim_noc_fidelity)pim_configuration_choice(configuration, "noc.fidelity");
    noc->flit_bits = integer(configuration, "noc.flit_bits");
    noc->virtual_channels = integer(configuration, "noc.virtual_channels");
    noc->buffer_flits = integer(configuration, "noc.buffer_flits");
    noc->routing_delay = integer(configuration, "noc.routing_delay");
    noc->vc_allocation_delay = integer(configuration, "noc.vc_allocation_delay");
    noc->switch_allocation_delay = integer(configuration, "noc.switch_allocation_delay");
    noc->switch_traversal_delay = integer(configuration, "noc.switch_traversal_delay");
    noc->credit_delay = integer(configuration, "noc.credit_delay");
    noc->link_latency = integer(configuration, "noc.link_latency");
    noc->speculative = pim_configuration_boolean(configuration, "noc.speculative");
    noc->hold_switch_for_packet = pim_configuration_boolean(configuration, "noc.hold_switch_for_packet");
    noc->wait_for_tail_credit = pim_configuration_boolean(configuration, "noc.wait_for_tail_credit");
    noc->vc_allocator = (enum pim_noc_allocator)pim_configuration_choice(configuration, "noc.vc_allocator");
    noc->switch_allocator =
        (enum pim_noc_allocator)pim_configuration_choice(configuration, "noc.switch_allocator");
    noc->allocator_iterations = integer(configuration, "noc.allocator_iterations");
    noc->input_speedup = integer(configuration, "noc.input_speedup");
    noc->step_every_cycle = pim_configuration_boolean(configuration, "noc.step_every_cycle");
    if (pim_noc_configuration_check(noc, error) != PIM_OK)
        return pim_fail_in(error, "noc");
    return PIM_OK;
}
