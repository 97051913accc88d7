/* The hardware that a configuration describes, as the plain structs of the models. */
#ifndef PIMSIM_MODELS_SYSTEM_HARDWARE_H
#define PIMSIM_MODELS_SYSTEM_HARDWARE_H

#include "models/channel/channel.h"
#include "models/core/cores.h"
#include "models/energy/energy.h"
#include "models/noc/noc.h"
#include "models/node/node.h"
#include "models/tile/tile.h"

struct pim_hardware_family;

struct pim_hardware {
    uint32_t width, height;
    uint64_t ticks_per_second;
    const struct pim_hardware_family *family;   /* array.kind: models/system/family.h */
    struct pim_node_configuration node;         /* its periods are those of all families */
    struct pim_cores_configuration cores;       /* of cores alone */
    struct pim_channels_configuration channels; /* of channels alone */
    struct pim_tiles_configuration tiles;       /* of tiles alone */
    struct pim_noc_configuration noc;
    struct pim_energy_configuration energy;
};

#endif
