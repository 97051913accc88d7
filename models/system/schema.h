/*
 * The hardware configuration: every key a hardware file may hold, in one table. `pimsim config schema` prints
 * it, and the reference page docs/reference/configuration.md is generated from it.
 */
#ifndef PIMSIM_MODELS_SYSTEM_SCHEMA_H
#define PIMSIM_MODELS_SYSTEM_SCHEMA_H

#include "sim/configuration/configuration.h"

extern const struct pim_schema pim_hardware_schema;

#endif
