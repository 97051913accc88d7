#include "models/system/read.h"

#include "models/cost/read.h"
#include "models/system/family.h"
#include "models/system/hardware/noc_schema.h"
#include "models/system/standard.h"
#include "models/system/used.h"

#include "sim/kernel/clock.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Of a clock in ticks: keeps cycles times period within 64 bits for everything that a packet or a burst can
 * last. */
#define LONGEST_PERIOD (UINT64_C(1) << 32)

/* The common tick of all clocks, or of those that count. */
static enum pim_status read_periods(const struct pim_configuration *configuration, bool used_alone,
                                    struct pim_hardware *hardware, struct pim_error *error)
{
    static const char *const keys[3] = {"clock.logic_khz", "clock.network_khz", "clock.memory_khz"};
    uint64_t khz[3];
    pim_time periods[3];
    const char *counts[3];
    for (unsigned i = 0; i < 3; i++) {
        counts[i] = pim_hardware_clock(configuration, keys[i]);
        khz[i] = (uint64_t)pim_configuration_integer(configuration, used_alone ? counts[i] : keys[i]);
    }
    if (pim_clock_ticks_per_second(khz, 3, keys, &hardware->ticks_per_second, periods, error) != PIM_OK)
        return error->status;
    for (unsigned i = 0; i < 3; i++) {
        if (periods[i] > LONGEST_PERIOD)
            return pim_configuration_fail(configuration, error, keys[i],
                                          "a cycle of %" PRIu64 " kHz is %" PRIu64
                                          " ticks of the common clock: allowed are %" PRIu64
                                          ", choose frequencies with a larger common divisor",
                                          khz[i], periods[i], LONGEST_PERIOD);
        if (counts[i] != keys[i])
            periods[i] = periods[0];
    }
    hardware->node.logic_period = periods[0];
    hardware->node.network_period = periods[1];
    hardware->node.memory_period = periods[2];
    return PIM_OK;
}

/* A clock without a use is no obstacle to others. */
static enum pim_status read_clocks(const struct pim_configuration *configuration,
                                   struct pim_hardware *hardware, struct pim_error *error)
{
    struct pim_error with_all = {0};
    if (read_periods(configuration, false, hardware, &with_all) == PIM_OK)
        return PIM_OK;
    return read_periods(configuration, true, hardware, error);
}

/* The routers that the node array needs; noc.width and noc.height may say so too. */
static enum pim_status read_routers(const struct pim_configuration *configuration,
                                    const struct pim_hardware *hardware, uint32_t *width,
                                    struct pim_error *error)
{
    uint32_t concentration = pim_configuration_count(configuration, "noc.concentration");
    *width = hardware->width / concentration;
    if (*width * concentration != hardware->width)
        return pim_configuration_fail(configuration, error, "noc.concentration",
                                      "%u does not divide array.width, which is %u", concentration,
                                      hardware->width);
    uint32_t given_width = pim_configuration_count(configuration, "noc.width");
    uint32_t given_height = pim_configuration_count(configuration, "noc.height");
    if (given_width != 0 && given_width != *width)
        return pim_configuration_fail(
            configuration, error, "noc.width",
            "%u, but a node array of %u x %u with noc.concentration %u has rows of %u "
            "routers: leave it out, or set array.width",
            given_width, hardware->width, hardware->height, concentration, *width);
    if (given_height != 0 && given_height != hardware->height)
        return pim_configuration_fail(
            configuration, error, "noc.height",
            "%u, but a node array of %u x %u has %u rows of routers: leave it out, or "
            "set array.height",
            given_height, hardware->width, hardware->height, hardware->height);
    return PIM_OK;
}

static enum pim_status read_noc(const struct pim_configuration *configuration, struct pim_hardware *hardware,
                                struct pim_error *error)
{
    struct pim_noc_configuration *noc = &hardware->noc;
    uint32_t width;
    if (read_routers(configuration, hardware, &width, error) != PIM_OK ||
        pim_noc_configuration_read(configuration, width, hardware->height, noc, error) != PIM_OK)
        return error->status;
    /* The zero-load latency is linear in routers and flits: one router and two give both terms. */
    struct pim_noc_configuration pair = *noc;
    pair.width = 2;
    pair.height = pair.concentration = pair.depth = 1;
    pair.topology = PIM_NOC_MESH;
    uint64_t one = pim_noc_zero_load_latency(&pair, 0, 0, 1);
    uint64_t two = pim_noc_zero_load_latency(&pair, 0, 1, 1);
    /* Below zero, modulo 2^64, where a link takes longer than everything else; with a router it is right. */
    hardware->node.zero_load = (struct pim_zero_load){.fixed = one - (two - one),
                                                      .per_router = two - one,
                                                      .flit_bits = noc->flit_bits,
                                                      .period = hardware->node.network_period};
    return PIM_OK;
}

enum pim_status pim_hardware_read(const struct pim_configuration *configuration,
                                  struct pim_hardware *hardware, struct pim_error *error)
{
    memset(hardware, 0, sizeof *hardware);
    struct pim_node_configuration *node = &hardware->node;
    hardware->width = pim_configuration_count(configuration, "array.width");
    hardware->height = pim_configuration_count(configuration, "array.height");
    if (read_clocks(configuration, hardware, error) != PIM_OK)
        return error->status;
    node->window = pim_configuration_count(configuration, "unit.window");
    if ((node->window & (node->window - 1)) != 0)
        return pim_configuration_fail(configuration, error, "unit.window", "%u is not a power of two",
                                      node->window);
    node->in_order = pim_configuration_choice(configuration, "unit.issue") == 0;
    if (pim_cost_read_pe(configuration, &node->pe, error) != PIM_OK ||
        pim_cost_read_acu(configuration, &node->acu, error) != PIM_OK ||
        pim_standard_read_nodes(configuration, node, error) != PIM_OK)
        return error->status;
    /* only nodes have such banks: what is wrong with those of others is no obstacle */
    if (pim_configuration_choice(configuration, "array.kind") == 0 && node->channels.nodes == 0 &&
        pim_cost_read_bank(configuration, &node->bank, error) != PIM_OK)
        return error->status;
    node->buffer_bytes[PIM_BUFFER_INPUT] = pim_configuration_count(configuration, "buffers.input_bytes");
    node->buffer_bytes[PIM_BUFFER_WEIGHT] = pim_configuration_count(configuration, "buffers.weight_bytes");
    node->buffer_bytes[PIM_BUFFER_OUTPUT] = pim_configuration_count(configuration, "buffers.output_bytes");
    const struct pim_transfer_sizes sizes = pim_cost_read_sizes(configuration);
    node->arbitration_bytes = sizes.turn_bytes;
    node->packet_bytes = sizes.packet_bytes;
    node->send_packets = pim_configuration_count(configuration, "network_interface.send_packets");
    node->posted_receives = pim_configuration_count(configuration, "network_interface.posted_receives");
    node->receive_packets = pim_configuration_count(configuration, "network_interface.receive_packets");
    node->cut_through = pim_configuration_choice(configuration, "network_interface.forward") == 1;
    if (read_noc(configuration, hardware, error) != PIM_OK)
        return error->status;
    hardware->energy = pim_cost_read_energy(configuration);
    if (node->channels.nodes > 0) /* these two are of banks: a standard has figures of its own */
        hardware->energy.dram_pj_per_bit = hardware->energy.dram_activate_pj = 0;
    hardware->family = pim_hardware_families[pim_configuration_choice(configuration, "array.kind")];
    if (node->channels.nodes > 0 && hardware->family != &pim_hardware_nodes)
        return pim_configuration_fail(configuration, error, "dram.standard",
                                      "is for nodes: array.kind is another");
    return hardware->family->read ? hardware->family->read(configuration, hardware, error) : PIM_OK;
}
