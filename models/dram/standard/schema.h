/*
 * A DRAM configuration: every key of `pim_dram_schema`, and its values turned into the models' own structs.
 * Presets (presets.h) are texts in the configuration format, read before files and --set.
 */
#ifndef PIMSIM_MODELS_DRAM_STANDARD_SCHEMA_H
#define PIMSIM_MODELS_DRAM_STANDARD_SCHEMA_H

#include "models/dram/channel/channel.h"
#include "models/dram/energy.h"
#include "models/dram/mapping.h"
#include "models/dram/standard/presets.h"
#include "sim/configuration/configuration.h"

extern const struct pim_schema pim_dram_schema;

struct pim_dram_configuration {
    struct pim_dram_specification specification;
    struct pim_dram_policy policy;
    struct pim_dram_mapping mapping;
    struct pim_dram_energy_parameters energy;
};

/* Takes the values over and checks them together; PIM_BAD_INPUT names the key. */
enum pim_status pim_dram_configure(const struct pim_configuration *values,
                                   struct pim_dram_configuration *configuration, struct pim_error *error);

#endif
