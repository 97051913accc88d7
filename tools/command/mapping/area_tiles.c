#include "tools/command/mapping/area_tiles.h"

#include "sim/output/json.h"
#include "tools/systems/area.h"

#include <inttypes.h>

/* X(member, key of JSON, text) */
#define AREA_MAP(X)                                                                                          \
    X(input, "input_buffer_mm2", "input buffers")                                                            \
    X(output, "output_buffer_mm2", "output buffers")                                                         \
    X(routers, "routers_mm2", "routers")

enum pim_status area_tiles_write_text(FILE *file, const struct pim_configuration *configuration,
                                      struct pim_error *error)
{
    struct pim_area_tile_system system;
    struct pim_area_tiles areas[PIM_AREA_READINGS];
    if (pim_area_read_tiles(configuration, &system, areas, error) != PIM_OK)
        return error->status;
    fprintf(file,
            "tiles                %" PRIu32 ", each with a router of %" PRIu32 " ports, %" PRIu32
            " x %" PRIu32 " flits of %" PRIu32 " bits a port\n\nmm2 at 28 nm        ",
            system.tiles, system.router_ports, system.virtual_channels, system.buffer_flits,
            system.flit_bits);
    for (int reading = 0; reading < PIM_AREA_READINGS; reading++)
        fprintf(file, " %9s", pim_area_reading_text((enum pim_area_reading)reading));
#define X(member, key, text)                                                                                 \
    fprintf(file, "\n%-20s", text);                                                                          \
    for (int reading = 0; reading < PIM_AREA_READINGS; reading++)                                            \
        fprintf(file, " %9.3f", areas[reading].member);
    AREA_MAP(X)
#undef X
    fprintf(file, "\n\nrouters of ISAAC     %.3f mm2 at 32 nm: %g mm2 for %d tiles, as published\n",
            areas[PIM_AREA_MID].isaac_routers, PIM_AREA_ISAAC_ROUTER, PIM_AREA_ISAAC_TILES);
    fprintf(file, "crossbars            no figure: their converters are not published with the system\n");
    return PIM_OK;
}

enum pim_status area_tiles_write_json(FILE *file, const struct pim_configuration *configuration,
                                      struct pim_error *error)
{
    struct pim_area_tile_system system;
    struct pim_area_tiles areas[PIM_AREA_READINGS];
    if (pim_area_read_tiles(configuration, &system, areas, error) != PIM_OK)
        return error->status;
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the result");
    pim_json_put_count(json, "tiles", system.tiles);
    pim_json_put_count(json, "router_ports", system.router_ports);
    pim_json_put_count(json, "technology_nm", 28);
    for (int reading = 0; reading < PIM_AREA_READINGS; reading++) {
        pim_json_begin_object(json, pim_area_reading_text((enum pim_area_reading)reading));
#define X(member, key, text) pim_json_put_real(json, key, areas[reading].member);
        AREA_MAP(X)
#undef X
        pim_json_end(json);
    }
    pim_json_put_real(json, "isaac_routers_mm2_at_32_nm", areas[PIM_AREA_MID].isaac_routers);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}
