#include "models/energy/energy.h"

void pim_energy_of(const struct pim_energy_configuration *configuration, const struct pim_actions *actions,
                   uint32_t nodes, double nanoseconds, struct pim_energy *energy)
{
    energy->pe = (double)actions->macs * configuration->mac_pj;
    energy->acu = (double)actions->acu_operations * configuration->acu_pj_per_operation;
    energy->sram = (double)actions->sram_bits * configuration->sram_pj_per_bit;
    energy->dram = (double)actions->dram_bits * configuration->dram_pj_per_bit +
                   (double)actions->dram_activates * configuration->dram_activate_pj;
    energy->noc = (double)actions->noc_bit_hops * configuration->noc_pj_per_bit_hop;
    /* 1 mW over 1 ns is 1 pJ. */
    energy->standing = configuration->static_mw_per_node * (double)nodes * nanoseconds;
    energy->total = energy->pe + energy->acu + energy->sram + energy->dram + energy->noc + energy->standing;
}
