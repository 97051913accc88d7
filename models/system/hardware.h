/*
 * The hardware that a configuration describes: the values of its keys as the plain structs of the models,
 * checked.
 */
#ifndef PIMSIM_MODELS_SYSTEM_HARDWARE_H
#define PIMSIM_MODELS_SYSTEM_HARDWARE_H

#include "models/core/cores.h"
#include "models/energy/energy.h"
#include "models/noc/noc.h"
#include "models/node/node.h"
#include "sim/configuration.h"

struct pim_hardware {
    uint32_t width, height;
    uint64_t ticks_per_second;
    bool has_cores;                       /* array.kind: units are cores, else nodes */
    struct pim_node_configuration node;   /* its periods are those of cores too */
    struct pim_cores_configuration cores; /* with has_cores alone */
    struct pim_noc_configuration noc;
    struct pim_energy_configuration energy;
};

/*
 * Fills `hardware` from a complete configuration of pim_hardware_schema. PIM_BAD_INPUT names the key and its
 * place.
 */
enum pim_status pim_hardware_read(const struct pim_configuration *configuration,
                                  struct pim_hardware *hardware, struct pim_error *error);

#endif
