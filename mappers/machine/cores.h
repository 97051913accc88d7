/* Cores with crossbar arrays as mappers see them, read from a hardware configuration
 * (docs/reference/configuration.md). */
#ifndef PIMSIM_MAPPERS_MACHINE_CORES_H
#define PIMSIM_MAPPERS_MACHINE_CORES_H

#include "mappers/machine/network.h"
#include "sim/configuration/configuration.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

enum pim_core_connection { PIM_CORE_MESH, PIM_CORE_BUS, PIM_CORE_SHARED_MEMORY };

struct pim_core_architecture {
    uint32_t width, height;           /* cores in x and y, all chips together */
    uint32_t cores;                   /* width * height */
    uint32_t chip_width, chip_height; /* cores of one chip in x and y */
    enum pim_core_connection connection;
    bool in_order;          /* core.issue */
    bool synchronous;       /* core.communication */
    uint32_t window;        /* core.window: instructions in flight */
    uint32_t element_bytes; /* 2 */
    /* crossbars, in logical arrays: an array of array_rows x array_columns weights */
    uint32_t arrays; /* of a core */
    uint32_t array_rows, array_columns;
    uint32_t arrays_per_group_step; /* management granularity: a group occupies a multiple of this */
    uint64_t mvm_cycles;            /* of one MVM */
    uint32_t write_row_cycles;      /* of a row of cells; 0: programs cannot write weights */
    /* the rest in cycles of the core's clock, and bytes per cycle */
    uint64_t local_memory_bytes;
    uint32_t local_bytes_per_cycle, local_read_cycles, local_write_cycles;
    uint32_t vector_lanes; /* elements per cycle, all VFUs together */
    uint32_t vector_cycles;
    uint64_t global_memory_bytes;
    uint32_t global_bytes_per_cycle, global_read_cycles, global_write_cycles;
    uint32_t link_bytes_per_cycle;    /* of a bus or a shared memory */
    uint32_t flit_bits, buffer_flits; /* of a mesh, and of a virtual channel of its routers */
    uint32_t packet_bytes;            /* the most of a packet */
    uint32_t hop_cycles;              /* latency of a hop */
    /* the way of a flit through the empty mesh, in cycles of its own clock (core_times.h) */
    struct pim_machine_network network;
    uint64_t logic_khz, network_khz;
    uint32_t chip_link_bytes_per_cycle, chip_link_cycles;
    /* true: a latency counts once for a transfer or an instruction; false: for each of its beats */
    bool local_pipelined, global_pipelined, vector_pipelined;
};

static inline uint32_t pim_core_chips(const struct pim_core_architecture *architecture)
{
    return architecture->width / architecture->chip_width *
           (architecture->height / architecture->chip_height);
}

/* Reads and checks the keys of cores. PIM_BAD_INPUT when the hardware has no cores (array.kind). */
enum pim_status pim_core_architecture_read(const struct pim_configuration *configuration,
                                           const struct pim_machine_network *network,
                                           struct pim_core_architecture *architecture,
                                           struct pim_error *error);

#endif
