#include "models/system/family.h"

const struct pim_hardware_family *const pim_hardware_families[] = {
    &pim_hardware_nodes, &pim_hardware_cores, &pim_hardware_channels, &pim_hardware_tiles};
