/*
 * Presets and the parts that they are made of, as presets.cmake reads them from the files in configs/dram.
 *
 * A name is that of a preset, or of a speed bin and a density of one standard, `ddr4_2933y_16gb_x4`. Such a
 * memory is read from up to four files, each over those before: the standard (ddr4), the bin
 * (ddr4_2933y), the density (ddr4_16gb_x4), and what a page of that width changes at that rate
 * (ddr4_2933_x16), if there is such a file.
 */
#ifndef PIMSIM_MODELS_DRAM_STANDARD_PRESETS_H
#define PIMSIM_MODELS_DRAM_STANDARD_PRESETS_H

#include "sim/configuration/configuration.h"

struct pim_dram_preset {
    const char *name;
    const char *about; /* what it is and where its figures are from */
    const char *text;  /* libconfig */
};

/* The folders of configs/dram. */
enum pim_dram_preset_kind {
    PIM_DRAM_WHOLE, /* a memory: the files of configs/dram itself */
    PIM_DRAM_STANDARD,
    PIM_DRAM_BIN,
    PIM_DRAM_DENSITY,
    PIM_DRAM_PAGE,
    PIM_DRAM_PRESET_KINDS
};

struct pim_dram_preset_list {
    const struct pim_dram_preset *items;
    size_t count;
};

/* By name within each kind. */
extern const struct pim_dram_preset_list pim_dram_preset_lists[PIM_DRAM_PRESET_KINDS];

/* Whole memories. */
size_t pim_dram_preset_count(void);
const struct pim_dram_preset *pim_dram_preset(size_t index);

/* What follows the standard in the name of a part of that standard ("2933y" of ddr4_2933y), or NULL. */
const char *pim_dram_part_of(const struct pim_dram_preset *part, const char *standard);

/* Reads the memory of that name into a configuration of pim_dram_schema; PIM_USAGE says what there is. */
enum pim_status pim_dram_preset_read(struct pim_configuration *values, const char *name,
                                     struct pim_error *error);

#endif
