/* The presets as presets.cmake makes them from the files in configs/dram; schema.h has the functions. */
#ifndef PIMSIM_MODELS_DRAM_STANDARD_PRESETS_H
#define PIMSIM_MODELS_DRAM_STANDARD_PRESETS_H

#include "models/dram/standard/schema.h"

extern const struct pim_dram_preset pim_dram_presets[];
extern const size_t pim_dram_presets_count;

#endif
