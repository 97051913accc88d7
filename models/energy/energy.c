#include "models/energy/energy.h"

#include <math.h>

/* What the configuration gives an energy for; NaN: it is not modelled. */
static double modelled(double per_action, double energy)
{
    return per_action > 0 ? energy : (double)NAN;
}

void pim_energy_of(const struct pim_energy_configuration *configuration, const struct pim_actions *actions,
                   uint32_t nodes, double nanoseconds, struct pim_energy *energy)
{
    const struct pim_energy_configuration *unit = configuration;
    energy->pe = modelled(unit->mac_pj, (double)actions->macs * unit->mac_pj);
    energy->acu =
        modelled(unit->acu_pj_per_operation, (double)actions->acu_operations * unit->acu_pj_per_operation);
    energy->sram = modelled(unit->sram_pj_per_bit, (double)actions->sram_bits * unit->sram_pj_per_bit);
    energy->dram = modelled(unit->dram_pj_per_bit + unit->dram_activate_pj + unit->crossbar_step_pj,
                            (double)actions->dram_bits * unit->dram_pj_per_bit +
                                (double)actions->dram_activates * unit->dram_activate_pj +
                                (double)actions->crossbar_steps * unit->crossbar_step_pj);
    energy->noc =
        modelled(unit->noc_pj_per_bit_hop, (double)actions->noc_bit_hops * unit->noc_pj_per_bit_hop);
    energy->crossbar = modelled(unit->crossbar_pj_per_mvm + unit->crossbar_write_pj,
                                (double)actions->crossbar_mvms * unit->crossbar_pj_per_mvm +
                                    (double)actions->crossbar_cells * unit->crossbar_write_pj);
    energy->vector = modelled(unit->vector_pj_per_operation,
                              (double)actions->vector_operations * unit->vector_pj_per_operation);
    energy->local = modelled(unit->local_pj_per_bit, (double)actions->local_bits * unit->local_pj_per_bit);
    energy->global =
        modelled(unit->global_pj_per_bit, (double)actions->global_bits * unit->global_pj_per_bit);
    energy->interconnect = modelled(unit->interconnect_pj_per_bit + unit->interconnect_pj_per_flit,
                                    (double)actions->interconnect_bits * unit->interconnect_pj_per_bit +
                                        (double)actions->interconnect_flits * unit->interconnect_pj_per_flit);
    energy->chip_link =
        modelled(unit->chip_link_pj_per_bit, (double)actions->chip_link_bits * unit->chip_link_pj_per_bit);
    energy->clocked =
        modelled(unit->clocked_pj_per_tick, (double)actions->clocked_ticks * unit->clocked_pj_per_tick);
    /* 1 mW over 1 ns is 1 pJ. */
    energy->standing =
        modelled(unit->static_mw_per_node, unit->static_mw_per_node * (double)nodes * nanoseconds);
    const double parts[] = {
#define X(member, text) energy->member,
        PIM_ENERGY_MAP(X) PIM_CORE_ENERGY_MAP(X)
#undef X
            energy->standing};
    energy->total = (double)NAN;
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!isnan(parts[i]))
            energy->total = isnan(energy->total) ? parts[i] : energy->total + parts[i];
}
