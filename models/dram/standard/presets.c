/* Presets by name. Their figures stand in configs/dram, with what is assumed; sources in
 * docs/models/dram.md. */
#include "models/dram/standard/presets.h"

#include "sim/nearest.h"

#include <string.h>

size_t pim_dram_preset_count(void)
{
    return pim_dram_presets_count;
}

const struct pim_dram_preset *pim_dram_preset(size_t index)
{
    return &pim_dram_presets[index];
}

enum pim_status pim_dram_preset_read(struct pim_configuration *values, const char *name,
                                     struct pim_error *error)
{
    const char *nearest = "";
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < pim_dram_preset_count(); i++) {
        if (strcmp(pim_dram_presets[i].name, name) == 0)
            return pim_configuration_read_text(values, pim_dram_presets[i].name, pim_dram_presets[i].text,
                                               strlen(pim_dram_presets[i].text), error);
        size_t distance = pim_edit_distance(pim_dram_presets[i].name, name);
        if (distance < least) {
            least = distance;
            nearest = pim_dram_presets[i].name;
        }
    }
    return pim_fail(error, PIM_USAGE,
                    "no preset '%.60s'; the nearest is %s, `pimsim dram --list-presets` shows all", name,
                    nearest);
}
