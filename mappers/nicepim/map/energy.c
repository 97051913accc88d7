#include "mappers/nicepim/map/energy.h"

/* 1 mW over 1 ns is 1 pJ. */
double nice_standing_pj(const struct pim_estimate_hardware *hardware)
{
    return hardware->energy.static_mw_per_node * (double)(hardware->width * hardware->height) * 1e6 /
           (double)hardware->logic_khz;
}

void nice_energy_of(const struct pim_estimate_hardware *hardware, const struct pim_estimate_actions *actions,
                    uint64_t cycles, struct nice_energy *energy)
{
    const struct pim_energy_configuration *unit = &hardware->energy;
    *energy = (struct nice_energy){
        .pe = (double)actions->macs * unit->mac_pj,
        .acu = (double)actions->acu_operations * unit->acu_pj_per_operation,
        .sram = (double)actions->sram_bits * unit->sram_pj_per_bit,
        .dram = (double)actions->dram_bits * unit->dram_pj_per_bit +
                (double)actions->dram_activates * unit->dram_activate_pj,
        .noc = (double)actions->noc_bit_hops * unit->noc_pj_per_bit_hop,
        .standing = nice_standing_pj(hardware) * (double)cycles,
    };
    energy->total = energy->pe + energy->acu + energy->sram + energy->dram + energy->noc + energy->standing;
}

double nice_actions_pj(const struct pim_estimate_hardware *hardware,
                       const struct pim_estimate_actions *actions)
{
    struct nice_energy energy;
    nice_energy_of(hardware, actions, 0, &energy);
    return energy.total;
}
