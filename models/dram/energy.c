#include "models/dram/energy.h"

#include <math.h>

static void from_bits(const struct pim_dram_specification *specification,
                      const struct pim_dram_energy_parameters *p, const uint64_t *commands, double rank_ns,
                      double bits_read, double bits_written, struct pim_dram_energy *energy)
{
    double banks = pim_dram_banks_per_rank(&specification->organization);
    energy->activate = p->activate_pj * (double)commands[PIM_DRAM_ACT];
    energy->precharge = 0; /* part of activate_pj */
    energy->read = p->read_pj_per_bit * bits_read;
    energy->write = p->write_pj_per_bit * bits_written;
    energy->refresh =
        p->refresh_pj * ((double)commands[PIM_DRAM_REF] + (double)commands[PIM_DRAM_REFPB] / banks);
    energy->background_active = 0;
    energy->background_precharged = p->background_mw * rank_ns; /* mW x ns = pJ */
}

static void from_currents(const struct pim_dram_specification *specification,
                          const struct pim_dram_energy_parameters *p,
                          const struct pim_dram_counters *counters, double rank_ns,
                          struct pim_dram_energy *energy)
{
    const uint64_t *commands = counters->commands;
    const uint32_t *parameter = specification->parameter;
    double ns = specification->clock_ps * 1e-3;
    double volts = p->vdd * p->devices;
    double burst = parameter[PIM_DRAM_T_B] * ns;
    double active_ns = (double)counters->active_cycles * ns;
    energy->activate =
        volts * (p->idd0 - p->idd3n) * parameter[PIM_DRAM_T_RAS] * ns * (double)commands[PIM_DRAM_ACT];
    energy->precharge =
        volts * (p->idd0 - p->idd2n) * parameter[PIM_DRAM_T_RP] * ns * (double)counters->precharged_banks;
    energy->read =
        volts * (p->idd4r - p->idd3n) * burst * (double)(commands[PIM_DRAM_RD] + commands[PIM_DRAM_RDA]);
    energy->write =
        volts * (p->idd4w - p->idd3n) * burst * (double)(commands[PIM_DRAM_WR] + commands[PIM_DRAM_WRA]);
    energy->refresh =
        volts * (p->idd5b - p->idd3n) * parameter[PIM_DRAM_T_RFC] * ns * (double)commands[PIM_DRAM_REF] +
        volts * (p->idd5pb - p->idd3n) * parameter[PIM_DRAM_T_RFCPB] * ns * (double)commands[PIM_DRAM_REFPB];
    energy->background_active = volts * p->idd3n * active_ns;
    energy->background_precharged = volts * p->idd2n * (rank_ns - active_ns);
}

void pim_dram_energy_compute(const struct pim_dram_specification *specification,
                             const struct pim_dram_energy_parameters *parameters,
                             const struct pim_dram_counters *counters, uint64_t cycles,
                             struct pim_dram_energy *energy)
{
    if (parameters->model == PIM_DRAM_ENERGY_NONE) {
        *energy = (struct pim_dram_energy){(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN,
                                           (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};
        return;
    }
    const struct pim_dram_organization *organization = &specification->organization;
    const uint64_t *commands = counters->commands;
    double bits = 8.0 * organization->access_bytes;
    double bits_read = bits * (double)(commands[PIM_DRAM_RD] + commands[PIM_DRAM_RDA]);
    double bits_written = bits * (double)(commands[PIM_DRAM_WR] + commands[PIM_DRAM_WRA]);
    double rank_ns = (double)cycles * specification->clock_ps * 1e-3 * organization->channels *
                     pim_dram_ranks(organization);
    if (parameters->model == PIM_DRAM_ENERGY_PER_BIT)
        from_bits(specification, parameters, commands, rank_ns, bits_read, bits_written, energy);
    else
        from_currents(specification, parameters, counters, rank_ns, energy);
    energy->io = parameters->io_pj_per_bit * (bits_read + bits_written);
    energy->background = energy->background_active + energy->background_precharged;
    energy->total = energy->activate + energy->precharge + energy->read + energy->write + energy->refresh +
                    energy->io + energy->background;
}
