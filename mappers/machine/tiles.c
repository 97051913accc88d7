#include "mappers/machine/tiles.h"

/* Of a link that worms pass: a flit in every cycle, or fewer bits where the link is narrower. */
static double worm_gbps(const struct pim_configuration *configuration)
{
    const double gigahertz = (double)pim_configuration_integer(configuration, "clock.network_khz") * 1e-6;
    const double flit = (double)pim_configuration_integer(configuration, "noc.flit_bits") * gigahertz;
    const double cycle = pim_configuration_real(configuration, "noc.link_bits_per_cycle") * gigahertz;
    const double second = pim_configuration_real(configuration, "noc.link_gigabits_per_second");
    const double link = second > 0 ? second : cycle;
    return link > 0 && link < flit ? link : flit;
}

enum pim_status pim_machine_tiles_read(const struct pim_configuration *configuration,
                                       struct pim_machine_tiles *tiles, struct pim_error *error)
{
    if (pim_configuration_choice(configuration, "array.kind") != 3) /* "node|core|channel|tile" */
        return pim_configuration_fail(configuration, error, "array.kind",
                                      "this mapper needs hardware with tiles of crossbars: "
                                      "array.kind = \"tile\", as configs/hardware/noc-conflict-16x16.cfg");
    *tiles = (struct pim_machine_tiles){
        .width = pim_configuration_count(configuration, "array.width"),
        .height = pim_configuration_count(configuration, "array.height"),
        .crossbar_rows = pim_configuration_count(configuration, "tile.crossbar_rows"),
        .crossbar_columns = pim_configuration_count(configuration, "tile.crossbar_columns"),
        .rows_of_crossbars = pim_configuration_count(configuration, "tile.rows_of_crossbars"),
        .columns_of_crossbars = pim_configuration_count(configuration, "tile.columns_of_crossbars"),
        .bits = pim_configuration_count(configuration, "tile.activation_bits"),
        .link_gbps = pim_configuration_real(configuration, "tile.link_gbps"),
        .stores = pim_configuration_choice(configuration, "tile.switching") != 0,
        .tables = pim_configuration_choice(configuration, "tile.routing") == 3, /* "xy|yx|adaptive|table" */
        .logic_khz = (uint64_t)pim_configuration_integer(configuration, "clock.logic_khz"),
    };
    tiles->worms =
        pim_configuration_choice(configuration, "tile.switching") == 2; /* "path_hold|saf|wormhole" */
    if (tiles->worms)
        tiles->link_gbps = worm_gbps(configuration);
    return PIM_OK;
}
