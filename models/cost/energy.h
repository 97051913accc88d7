/* Energy of an action of each kind, as a hardware configuration gives it; 0: not modelled. */
#ifndef PIMSIM_MODELS_COST_ENERGY_H
#define PIMSIM_MODELS_COST_ENERGY_H

struct pim_energy_configuration {
    double mac_pj, sram_pj_per_bit, acu_pj_per_operation, dram_pj_per_bit, dram_activate_pj,
        noc_pj_per_bit_hop;
    double static_mw_per_node; /* cores: with each one's share of its chip */
    /* of cores with crossbars; 0 for nodes */
    double crossbar_pj_per_mvm; /* of one physical array */
    double crossbar_write_pj;   /* of a cell */
    double crossbar_step_pj;    /* of a bank that computes with NORs */
    double vector_pj_per_operation, local_pj_per_bit, global_pj_per_bit;
    double interconnect_pj_per_bit, interconnect_pj_per_flit, chip_link_pj_per_bit;
    double clocked_pj_per_tick; /* of a core while it works */
};

#endif
