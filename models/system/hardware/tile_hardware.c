#include "models/system/hardware/tile_hardware.h"

#include "models/system/used.h"

#include <inttypes.h>
#include <math.h>

/* Of a clock in ticks: keeps cycles times period within 64 bits. */
#define LONGEST_PERIOD (UINT64_C(1) << 32)

/* Ticks are femtoseconds, as step times are in no clock's cycles: clocks have to fit them. */
static enum pim_status read_clocks(const struct pim_configuration *configuration,
                                   struct pim_hardware *hardware, struct pim_error *error)
{
    static const char *const keys[3] = {"clock.logic_khz", "clock.network_khz", "clock.memory_khz"};
    pim_time periods[3];
    for (unsigned i = 0; i < 3; i++) {
        const char *key = pim_hardware_clock(configuration, keys[i]);
        uint64_t hertz = (uint64_t)pim_configuration_integer(configuration, key) * 1000;
        periods[i] = PIM_TILE_TICKS_PER_SECOND / hertz;
        if (periods[i] * hertz != PIM_TILE_TICKS_PER_SECOND)
            return pim_configuration_fail(configuration, error, keys[i],
                                          "array.kind is \"tile\": a cycle of %" PRIu64
                                          " kHz is no whole number of femtoseconds",
                                          hertz / 1000);
        if (periods[i] > LONGEST_PERIOD)
            return pim_configuration_fail(configuration, error, keys[i],
                                          "array.kind is \"tile\": allowed are 233 kHz and more");
    }
    hardware->ticks_per_second = PIM_TILE_TICKS_PER_SECOND;
    hardware->node.logic_period = periods[0];
    hardware->node.network_period = hardware->node.zero_load.period = periods[1];
    hardware->node.memory_period = periods[2];
    return PIM_OK;
}

static enum pim_status check(const struct pim_configuration *configuration,
                             const struct pim_conflict_options *options, struct pim_error *error)
{
    bool straight = options->routing == PIM_CONFLICT_XY || options->routing == PIM_CONFLICT_YX;
    if (options->routing == PIM_CONFLICT_ADAPTIVE && options->switching != PIM_SWITCHING_PATH_HOLD)
        return pim_configuration_fail(configuration, error, "tile.routing",
                                      "adaptive plans whole paths over idle links: tile.switching "
                                      "\"path_hold\" alone has it");
    if (options->switching == PIM_SWITCHING_WORMHOLE && !straight)
        return pim_configuration_fail(configuration, error, "tile.routing",
                                      "worms go as noc.routing says: leave it out");
    if (options->switching == PIM_SWITCHING_WORMHOLE && options->arbiter != PIM_CONFLICT_FIXED &&
        options->arbiter != PIM_CONFLICT_BALANCE)
        return pim_configuration_fail(configuration, error, "tile.arbiter",
                                      "with wormhole, fixed and balance are allowed");
    if (options->ideal && (options->switching == PIM_SWITCHING_WORMHOLE || !straight))
        return pim_configuration_fail(configuration, error, "tile.ideal",
                                      "path_hold and saf on straight routes have an ideal run (wormhole: "
                                      "noc.fidelity = \"ideal\")");
    return PIM_OK;
}

enum pim_status pim_tile_hardware_read(const struct pim_configuration *configuration,
                                       struct pim_hardware *hardware, struct pim_error *error)
{
    struct pim_conflict_options *options = &hardware->tiles.options;
    if (read_clocks(configuration, hardware, error) != PIM_OK)
        return error->status;
    *options = (struct pim_conflict_options){
        .mesh = {hardware->width, hardware->height},
        .switching = (enum pim_switching)pim_configuration_choice(configuration, "tile.switching"),
        .routing = (enum pim_conflict_routing)pim_configuration_choice(configuration, "tile.routing"),
        .arbiter = (enum pim_conflict_arbiter)pim_configuration_choice(configuration, "tile.arbiter"),
        .ideal = pim_configuration_boolean(configuration, "tile.ideal"),
        .half_duplex = pim_configuration_boolean(configuration, "tile.half_duplex"),
        .images = 1,
        .bandwidth_gbps = pim_configuration_real(configuration, "tile.link_gbps"),
        .input_bits = (uint64_t)pim_configuration_integer(configuration, "tile.input_buffer_bits"),
        .output_bits = (uint64_t)pim_configuration_integer(configuration, "tile.output_buffer_bits"),
        .router_packets = pim_configuration_count(configuration, "tile.router_packets"),
        .router_delay_ns = pim_configuration_real(configuration, "tile.router_delay_ns"),
        .detour = {.detour_milli =
                       (uint32_t)lrint(1000 * pim_configuration_real(configuration, "tile.detour")),
                   .slack = pim_configuration_count(configuration, "tile.detour_slack"),
                   .count_routers = pim_configuration_choice(configuration, "tile.detour_count") == 1,
                   .tie_break =
                       (enum pim_tie_break)pim_configuration_choice(configuration, "tile.tie_break")},
        .arithmetic = PIM_CONFLICT_EXACT};
    hardware->energy =
        (struct pim_energy_configuration){.mac_pj = hardware->energy.mac_pj,
                                          .noc_pj_per_bit_hop = hardware->energy.noc_pj_per_bit_hop,
                                          .static_mw_per_node = hardware->energy.static_mw_per_node};
    hardware->tiles.window = hardware->node.window;
    hardware->tiles.zero_load = hardware->node.zero_load;
    return check(configuration, options, error);
}
