#include "tools/systems/area.h"

#include "models/system/used.h"

#include <inttypes.h>

enum { ROUTER_PORTS_OF_LINKS = 4 };

/* The closed forms are of routers of a mesh or a torus in one layer, with a crossbar of one input and one
 * output for each port. What this hardware's differ in: a key, or NULL. Tiles without routers of flits are
 * given those that they could have. */
static const char *unknown_of_routers(const struct pim_configuration *configuration)
{
    enum { MESH, TORUS }; /* the first of noc.topology */
    const unsigned topology = pim_configuration_choice(configuration, "noc.topology");
    static const char *const one[] = {"noc.depth", "noc.input_speedup", "noc.output_speedup"};
    if (!pim_hardware_uses(configuration, PIM_TO_REPLAY, "noc.topology"))
        return NULL;
    if (topology != MESH && topology != TORUS)
        return "noc.topology";
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++)
        if (pim_configuration_count(configuration, one[i]) > 1)
            return one[i];
    return pim_configuration_text(configuration, "noc.express_links")[0] != '\0' ? "noc.express_links" : NULL;
}

/* And of a controller for each bank of a node's own. */
static bool has_known_controllers(const struct pim_configuration *configuration)
{
    return pim_configuration_text(configuration, "dram.standard")[0] == '\0';
}

bool pim_area_is_known(const struct pim_configuration *configuration)
{
    return !unknown_of_routers(configuration) && has_known_controllers(configuration);
}

static enum pim_status check_routers(const struct pim_configuration *configuration, struct pim_error *error)
{
    const char *key = unknown_of_routers(configuration);
    if (!key)
        return PIM_OK;
    return pim_configuration_fail(
        configuration, error, key,
        "areas are known of the routers of a mesh or a torus in one layer (noc.topology "
        "\"mesh\" or \"torus\", noc.depth 1), without noc.express_links, with "
        "noc.input_speedup and noc.output_speedup 1");
}

static enum pim_status read_system(const struct pim_configuration *configuration, unsigned bits,
                                   struct pim_area_system *system, struct pim_error *error)
{
    uint32_t concentration = pim_configuration_count(configuration, "noc.concentration");
    uint32_t nodes = pim_configuration_count(configuration, "array.width") *
                     pim_configuration_count(configuration, "array.height");
    if (pim_configuration_choice(configuration, "array.kind") != 0)
        return pim_configuration_fail(configuration, error, "array.kind",
                                      "areas are known of DRAM-PIM nodes and of crossbar tiles (array.kind "
                                      "\"node\" or \"tile\")");
    if (check_routers(configuration, error) != PIM_OK)
        return error->status;
    if (!has_known_controllers(configuration))
        return pim_configuration_fail(configuration, error, "dram.standard",
                                      "areas are known of the controllers of a node's own banks: leave "
                                      "dram.standard out");
    *system = (struct pim_area_system){
        .nodes = nodes,
        .pe_rows = pim_configuration_count(configuration, "pe.rows"),
        .pe_columns = pim_configuration_count(configuration, "pe.columns"),
        .operand_bits = bits,
        .sum_bits = pim_configuration_count(configuration, "pe.accumulator_bits"),
        .input_bytes = (uint64_t)pim_configuration_integer(configuration, "buffers.input_bytes"),
        .weight_bytes = (uint64_t)pim_configuration_integer(configuration, "buffers.weight_bytes"),
        .output_bytes = (uint64_t)pim_configuration_integer(configuration, "buffers.output_bytes"),
        .router_ports = ROUTER_PORTS_OF_LINKS + concentration,
        .virtual_channels = pim_configuration_count(configuration, "noc.virtual_channels"),
        .buffer_flits = pim_configuration_count(configuration, "noc.buffer_flits"),
        .flit_bits = pim_configuration_count(configuration, "noc.flit_bits"),
        .banks = pim_configuration_count(configuration, "dram.banks") *
                 pim_configuration_count(configuration, "dram.interleaved_banks")};
    if (concentration > 1 && nodes % concentration != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "noc.concentration %" PRIu32 " does not divide the %" PRIu32 " nodes", concentration,
                        nodes);
    return PIM_OK;
}

enum pim_status pim_area_read(const struct pim_configuration *configuration, unsigned bits,
                              struct pim_area_system *system, struct pim_area areas[PIM_AREA_READINGS],
                              struct pim_error *error)
{
    if (read_system(configuration, bits, system, error) != PIM_OK)
        return error->status;
    for (int reading = 0; reading < PIM_AREA_READINGS; reading++) {
        struct pim_area *area = &areas[reading];
        pim_area_of((enum pim_area_reading)reading, system, area);
        /* A router serves several nodes where the network is concentrated. */
        area->routers /= pim_configuration_count(configuration, "noc.concentration");
        area->total = area->engines + area->routers + area->controllers;
    }
    return PIM_OK;
}

/* --- tiles --- */

enum { FAMILY_OF_TILES = 3, TILE_ACCESS_BITS = 64 };

bool pim_area_is_of_tiles(const struct pim_configuration *configuration)
{
    return pim_configuration_choice(configuration, "array.kind") == FAMILY_OF_TILES;
}

enum pim_status pim_area_read_tiles(const struct pim_configuration *configuration,
                                    struct pim_area_tile_system *system,
                                    struct pim_area_tiles areas[PIM_AREA_READINGS], struct pim_error *error)
{
    if (check_routers(configuration, error) != PIM_OK)
        return error->status;
    if (pim_hardware_uses(configuration, PIM_TO_REPLAY, "noc.concentration") &&
        pim_configuration_count(configuration, "noc.concentration") != 1)
        return pim_configuration_fail(configuration, error, "noc.concentration",
                                      "1: each tile has a router of its own");
    *system = (struct pim_area_tile_system){
        .tiles = pim_configuration_count(configuration, "array.width") *
                 pim_configuration_count(configuration, "array.height"),
        .input_bits = (uint64_t)pim_configuration_integer(configuration, "tile.input_buffer_bits"),
        .output_bits = (uint64_t)pim_configuration_integer(configuration, "tile.output_buffer_bits"),
        .access_bits = TILE_ACCESS_BITS,
        .router_ports = ROUTER_PORTS_OF_LINKS + 1,
        .virtual_channels = pim_configuration_count(configuration, "noc.virtual_channels"),
        .buffer_flits = pim_configuration_count(configuration, "noc.buffer_flits"),
        .flit_bits = pim_configuration_count(configuration, "noc.flit_bits")};
    for (int reading = 0; reading < PIM_AREA_READINGS; reading++)
        pim_area_of_tiles((enum pim_area_reading)reading, system, &areas[reading]);
    return PIM_OK;
}
