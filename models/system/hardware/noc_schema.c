#include "models/system/hardware/noc_schema.h"

#include "models/system/hardware/noc_keys.h"
#include "sim/integer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const struct pim_key keys[] = {
    PIM_KEY_OF_INTEGER("noc.width", "8", 1, 256, "routers", "Routers in a row of the mesh."),
    PIM_KEY_OF_INTEGER("noc.height", "8", 1, 256, "routers", "Rows of the mesh."),
    PIM_KEY_OF_INTEGER("clock.network_khz", "400000", 1, 100000000, "kHz",
                       "Clock of the network, for bandwidths in Gb/s; all else is in its cycles."),
    PIM_NOC_KEYS,
};

const struct pim_schema pim_noc_schema = {.name = "noc",
                                          .text = "The network on chip alone, for pimsim noc.",
                                          .keys = keys,
                                          .count = sizeof keys / sizeof keys[0]};

/*
 * The width of links in bits per cycle as a quotient, from one of two keys that count thousandths: bits per
 * cycle, or gigabits per second. A thousandth of the latter is a megabit per second; n of them are 1000 n / f
 * bits per cycle of a clock of f kHz.
 */
static enum pim_status read_bits(const struct pim_configuration *configuration, const char *per_cycle,
                                 const char *per_second, struct pim_noc_bits *bits, struct pim_error *error)
{
    bool timed = pim_configuration_real(configuration, per_second) > 0;
    if (timed && pim_configuration_real(configuration, per_cycle) > 0)
        return pim_configuration_fail(configuration, error, per_second,
                                      "%s is given too: leave one of the two at 0", per_cycle);
    const char *path = timed ? per_second : per_cycle;
    double thousandths = pim_configuration_real(configuration, path) * 1000.0, whole = nearbyint(thousandths);
    if (fabs(thousandths - whole) > 1e-6 * (whole + 1))
        return pim_configuration_fail(configuration, error, path, "has more than three decimals");
    uint64_t numerator = (uint64_t)whole, denominator = 1000;
    if (numerator == 0) {
        *bits = (struct pim_noc_bits){0, 1};
        return PIM_OK;
    }
    if (timed) {
        numerator *= 1000;
        denominator = (uint64_t)pim_configuration_integer(configuration, "clock.network_khz");
    }
    uint64_t divisor = pim_greatest_divisor(numerator, denominator);
    assert(divisor > 0);
    numerator /= divisor;
    denominator /= divisor;
    if (numerator > PIM_NOC_LINK_BITS_LIMIT || denominator > PIM_NOC_LINK_BITS_LIMIT)
        return pim_configuration_fail(
            configuration, error, path, "is %llu/%llu bits per cycle: both numbers must be %u at most; %s",
            (unsigned long long)numerator, (unsigned long long)denominator, (unsigned)PIM_NOC_LINK_BITS_LIMIT,
            timed ? "choose a bandwidth in a simpler ratio to clock.network_khz" : "use fewer decimals");
    *bits = (struct pim_noc_bits){(uint32_t)numerator, (uint32_t)denominator};
    return PIM_OK;
}

static enum pim_status read_path(const struct pim_configuration *configuration, const char *path,
                                 char target[PIM_NOC_PATH_LIMIT], struct pim_error *error)
{
    const char *text = pim_configuration_text(configuration, path);
    size_t length = strlen(text);
    if (length >= PIM_NOC_PATH_LIMIT)
        return pim_configuration_fail(configuration, error, path, "is longer than %u bytes",
                                      (unsigned)PIM_NOC_PATH_LIMIT - 1);
    memcpy(target, text, length + 1);
    return PIM_OK;
}

static enum pim_status read_classes(const struct pim_configuration *configuration,
                                    struct pim_noc_configuration *noc, struct pim_error *error)
{
    const int64_t *channels;
    size_t count = pim_configuration_list(configuration, "noc.classes", &channels);
    if (count > PIM_NOC_CLASS_LIMIT)
        return pim_configuration_fail(configuration, error, "noc.classes", "%zu classes: allowed are %u",
                                      count, (unsigned)PIM_NOC_CLASS_LIMIT);
    noc->classes = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        noc->class_channels[i] = (uint32_t)channels[i];
    count = pim_configuration_list(configuration, "noc.class_first", &channels);
    if (count > 0 && count != noc->classes)
        return pim_configuration_fail(configuration, error, "noc.class_first",
                                      "%zu classes have a first virtual channel, noc.classes has %u", count,
                                      noc->classes);
    noc->message_classes = count > 0;
    for (size_t i = 0; i < count; i++)
        noc->class_first[i] = (uint32_t)channels[i];
    return PIM_OK;
}

/* The keys that the fast mesh does not know. */
static enum pim_status read_general(const struct pim_configuration *configuration,
                                    struct pim_noc_configuration *noc, struct pim_error *error)
{
    noc->output_speedup = pim_configuration_count(configuration, "noc.output_speedup");
    noc->output_buffer_flits = pim_configuration_count(configuration, "noc.output_buffer_flits");
    noc->arbiter = (enum pim_noc_arbiter)pim_configuration_choice(configuration, "noc.arbiter");
    noc->vc_arbiter = (enum pim_noc_arbiter)pim_configuration_choice(configuration, "noc.vc_arbiter");
    noc->switch_arbiter = (enum pim_noc_arbiter)pim_configuration_choice(configuration, "noc.switch_arbiter");
    noc->vc_groups = pim_configuration_count(configuration, "noc.vc_arbiter_groups");
    noc->switch_groups = pim_configuration_count(configuration, "noc.switch_arbiter_groups");
    noc->vc_iterations = pim_configuration_count(configuration, "noc.vc_allocator_iterations");
    noc->switch_iterations = pim_configuration_count(configuration, "noc.switch_allocator_iterations");
    noc->priority = (enum pim_noc_priority)pim_configuration_choice(configuration, "noc.priority");
    noc->partition = (enum pim_noc_partition)pim_configuration_choice(configuration, "noc.torus_partition");
    noc->numbered_draws = pim_configuration_choice(configuration, "noc.routing_draws") == 1;
    noc->topology = (enum pim_noc_topology_kind)pim_configuration_choice(configuration, "noc.topology");
    noc->concentration = pim_configuration_count(configuration, "noc.concentration");
    noc->depth = pim_configuration_count(configuration, "noc.depth");
    noc->radix = pim_configuration_count(configuration, "noc.radix");
    noc->levels = pim_configuration_count(configuration, "noc.levels");
    noc->global_latency = pim_configuration_count(configuration, "noc.global_link_latency");
    noc->latency_by_length = pim_configuration_boolean(configuration, "noc.latency_by_length");
    noc->may_deadlock = pim_configuration_boolean(configuration, "noc.may_deadlock");
    noc->routing = (enum pim_noc_routing_kind)pim_configuration_choice(configuration, "noc.routing");
    noc->seed = (uint64_t)pim_configuration_integer(configuration, "noc.routing_seed");
    noc->urgent_classes = pim_configuration_boolean(configuration, "noc.urgent_classes");
    noc->general = pim_configuration_boolean(configuration, "noc.general");
    if (read_bits(configuration, "noc.link_bits_per_cycle", "noc.link_gigabits_per_second", &noc->link_bits,
                  error) != PIM_OK ||
        read_bits(configuration, "noc.terminal_bits_per_cycle", "noc.terminal_gigabits_per_second",
                  &noc->terminal_bits, error) != PIM_OK ||
        read_path(configuration, "noc.links", noc->link_list, error) != PIM_OK ||
        read_path(configuration, "noc.express_links", noc->express_list, error) != PIM_OK ||
        read_path(configuration, "noc.route_table", noc->route_table, error) != PIM_OK ||
        read_path(configuration, "noc.network_file", noc->network_file, error) != PIM_OK ||
        read_classes(configuration, noc, error) != PIM_OK)
        return error->status;
    return PIM_OK;
}

enum pim_status pim_noc_configuration_read(const struct pim_configuration *configuration, uint32_t width,
                                           uint32_t height, struct pim_noc_configuration *noc,
                                           struct pim_error *error)
{
    pim_noc_configuration_initialize(noc);
    noc->width = width;
    noc->height = height;
    noc->fidelity = (enum pim_noc_fidelity)pim_configuration_choice(configuration, "noc.fidelity");
    noc->flit_bits = pim_configuration_count(configuration, "noc.flit_bits");
    noc->virtual_channels = pim_configuration_count(configuration, "noc.virtual_channels");
    noc->buffer_flits = pim_configuration_count(configuration, "noc.buffer_flits");
    noc->routing_delay = pim_configuration_count(configuration, "noc.routing_delay");
    noc->vc_allocation_delay = pim_configuration_count(configuration, "noc.vc_allocation_delay");
    noc->switch_allocation_delay = pim_configuration_count(configuration, "noc.switch_allocation_delay");
    noc->switch_traversal_delay = pim_configuration_count(configuration, "noc.switch_traversal_delay");
    noc->credit_delay = pim_configuration_count(configuration, "noc.credit_delay");
    noc->link_latency = pim_configuration_count(configuration, "noc.link_latency");
    noc->speculative = pim_configuration_boolean(configuration, "noc.speculative");
    noc->hold_switch_for_packet = pim_configuration_boolean(configuration, "noc.hold_switch_for_packet");
    noc->wait_for_tail_credit = pim_configuration_boolean(configuration, "noc.wait_for_tail_credit");
    noc->vc_allocator = (enum pim_noc_allocator)pim_configuration_choice(configuration, "noc.vc_allocator");
    noc->switch_allocator =
        (enum pim_noc_allocator)pim_configuration_choice(configuration, "noc.switch_allocator");
    noc->allocator_iterations = pim_configuration_count(configuration, "noc.allocator_iterations");
    noc->input_speedup = pim_configuration_count(configuration, "noc.input_speedup");
    noc->step_every_cycle = pim_configuration_boolean(configuration, "noc.step_every_cycle");
    if (read_general(configuration, noc, error) != PIM_OK)
        return error->status;
    if (pim_noc_configuration_check(noc, error) != PIM_OK)
        return pim_fail_in(error, "noc");
    return PIM_OK;
}
