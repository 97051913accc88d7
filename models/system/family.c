#include "models/system/family.h"

#include "models/channel/channel.h"
#include "models/core/cores.h"
#include "models/node/node.h"
#include "models/system/hardware/channel_hardware.h"
#include "models/system/hardware/core_hardware.h"
#include "models/system/hardware/tile_hardware.h"
#include "models/system/report/tile_results.h"
#include "models/tile/tile.h"

#include <stddef.h>

#define X(member, text) {#member, text, offsetof(struct pim_energy, member)},
static const struct pim_energy_row nodes_shown[] = {PIM_ENERGY_MAP(X){NULL, NULL, 0}};
static const struct pim_energy_row cores_shown[] = {
    PIM_CORE_ENERGY_MAP(X){"noc", "NoC", offsetof(struct pim_energy, noc)}, {NULL, NULL, 0}};
static const struct pim_energy_row cores_beyond[] = {PIM_CORE_ENERGY_MAP(X){NULL, NULL, 0}};
#undef X
static const struct pim_energy_row channels_shown[] = {
    {"dram", "banks", offsetof(struct pim_energy, dram)},
    {"interconnect", "interface", offsetof(struct pim_energy, interconnect)},
    {NULL, NULL, 0}};
static const struct pim_energy_row channels_beyond[] = {
    {"interconnect", "interconnect", offsetof(struct pim_energy, interconnect)}, {NULL, NULL, 0}};
static const struct pim_energy_row tiles_shown[] = {{"pe", "crossbars", offsetof(struct pim_energy, pe)},
                                                    {"noc", "NoC", offsetof(struct pim_energy, noc)},
                                                    {NULL, NULL, 0}};
static const struct pim_energy_row none[] = {{NULL, NULL, 0}};

static enum pim_status initialize_nodes(struct pim_units *units, struct pim_kernel *kernel,
                                        const struct pim_hardware *hardware, const struct pim_trace *trace,
                                        struct pim_error *error)
{
    return pim_node_array_initialize((struct pim_node_array *)units, kernel, &hardware->node, trace, error);
}

static enum pim_status initialize_cores(struct pim_units *units, struct pim_kernel *kernel,
                                        const struct pim_hardware *hardware, const struct pim_trace *trace,
                                        struct pim_error *error)
{
    return pim_cores_initialize((struct pim_cores *)units, kernel, &hardware->cores, trace, error);
}

static enum pim_status initialize_channels(struct pim_units *units, struct pim_kernel *kernel,
                                           const struct pim_hardware *hardware, const struct pim_trace *trace,
                                           struct pim_error *error)
{
    return pim_channels_initialize((struct pim_channels *)units, kernel, &hardware->channels, trace, error);
}

static enum pim_status initialize_tiles(struct pim_units *units, struct pim_kernel *kernel,
                                        const struct pim_hardware *hardware, const struct pim_trace *trace,
                                        struct pim_error *error)
{
    return pim_tile_array_initialize((struct pim_tiles *)units, kernel, &hardware->tiles, trace, error);
}

/* Channels send over links and buses of their own. */
static bool channels_have_routers(const struct pim_hardware *hardware)
{
    (void)hardware;
    return false;
}

static bool cores_have_routers(const struct pim_hardware *hardware)
{
    return hardware->cores.interconnect == PIM_INTERCONNECT_MESH;
}

static const char *interconnect_of_tiles(const struct pim_hardware *hardware)
{
    static const char *const kinds[] = {[PIM_SWITCHING_PATH_HOLD] = "paths that are held whole",
                                        [PIM_SWITCHING_SAF] = "store and forward",
                                        [PIM_SWITCHING_WORMHOLE] = NULL};
    return kinds[hardware->tiles.options.switching];
}

static const char *interconnect_of_channels(const struct pim_hardware *hardware)
{
    return hardware->height > 1 ? "links and a bus between stacks" : "links";
}

static const char *interconnect_of_cores(const struct pim_hardware *hardware)
{
    static const char *const kinds[] = {[PIM_INTERCONNECT_MESH] = NULL,
                                        [PIM_INTERCONNECT_BUS] = "bus",
                                        [PIM_INTERCONNECT_SHARED_MEMORY] = "shared memory"};
    return kinds[hardware->cores.interconnect];
}

const struct pim_hardware_family pim_hardware_families[] = {
    {.plural = "nodes",
     .units = &pim_node_family,
     .size = sizeof(struct pim_node_array),
     .initialize = initialize_nodes,
     .slice_cycles = 4096,
     .engines = {"PE array", "ACU", "load/store", "network"},
     .shown = nodes_shown,
     .beyond = none},
    {.plural = "cores",
     .units = &pim_core_family,
     .size = sizeof(struct pim_cores),
     .initialize = initialize_cores,
     .read = pim_core_hardware_read,
     .slice_cycles = 65536, /* cores do less in a cycle */
     .engines = {"crossbars", "vector", "load/store", "network"},
     .shown = cores_shown,
     .beyond = cores_beyond,
     .interconnect = interconnect_of_cores,
     .routers = cores_have_routers},
    {.plural = "channels",
     .units = &pim_channel_family,
     .size = sizeof(struct pim_channels),
     .initialize = initialize_channels,
     .read = pim_channel_hardware_read,
     .slice_cycles = 1048576, /* and channels less still */
     .engines = {"banks", "transposer", "row moves", "messages"},
     .shown = channels_shown,
     .beyond = channels_beyond,
     .interconnect = interconnect_of_channels,
     .routers = channels_have_routers},
    {.plural = "tiles",
     .units = &pim_tile_family,
     .size = sizeof(struct pim_tiles),
     .initialize = initialize_tiles,
     .read = pim_tile_hardware_read,
     .slice_cycles = 65536,
     .engines = {"crossbars", "vector", "memory", "packets"},
     .shown = tiles_shown,
     .beyond = none,
     .interconnect = interconnect_of_tiles,
     .collect = pim_tiles_collect},
};
