#include "models/system/report/results.h"

#include "models/system/family.h"

#include <assert.h>
#include <math.h>
#include <string.h>

uint32_t pim_energy_components(const struct pim_system *system, const struct pim_energy *energy,
                               struct pim_energy_component components[PIM_ENERGY_COMPONENTS_MOST])
{
    uint32_t count = 0;
    for (const struct pim_energy_row *row = system->hardware.family->shown; row->key; row++) {
        assert(count < PIM_ENERGY_COMPONENTS_MOST - 1);
        const bool of_memory = strcmp(row->key, "dram") == 0 || strcmp(row->key, "global") == 0;
        components[count++] =
            (struct pim_energy_component){row->text, pim_energy_of_row(energy, row), of_memory};
    }
    components[count++] = (struct pim_energy_component){"static", energy->standing, false};
    return count;
}

struct pim_energy pim_work_energy(const struct pim_system *system, const struct pim_actions *actions,
                                  pim_time time)
{
    struct pim_energy energy;
    pim_energy_of(&system->hardware.energy, actions, 1, pim_system_nanoseconds(system, time), &energy);
    return energy;
}

/* Without a part of it, what the run takes is not known either. */
void pim_result_add_memory(struct pim_run_result *result, double *component)
{
    struct pim_energy *energy = &result->energy;
    const double total = result->memory_energy.total;
    result->on_channels = true;
    *component = total;
    energy->total = isnan(total) || isnan(energy->total) ? total : energy->total + total;
}
