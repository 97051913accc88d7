/*
 * A DRAM configuration: every key of `pim_dram_schema`, and its values turned into the models' own structs.
 * Presets are texts in the configuration format, read before files and --set.
 */
#ifndef PIMSIM_MODELS_DRAM_STANDARD_SCHEMA_H
#define PIMSIM_MODELS_DRAM_STANDARD_SCHEMA_H

#include "models/dram/channel/channel.h"
#include "models/dram/energy.h"
#include "models/dram/mapping.h"
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

struct pim_dram_preset {
    const char *name;
    const char *about; /* what it is and where its figures are from */
    const char *text;  /* libconfig */
};

size_t pim_dram_preset_count(void);
const struct pim_dram_preset *pim_dram_preset(size_t index);

/* Reads the preset of that name into a configuration of pim_dram_schema; PIM_USAGE names the nearest. */
enum pim_status pim_dram_preset_read(struct pim_configuration *values, const char *name,
                                     struct pim_error *error);

#endif
