#include "models/dram/energy.h"

#include <math.h>

/* Without a parameter that says what it costs, energy is not modelled: NaN, not 0. */
static double modelled(double parameter, double energy)
{
    return parameter > 0 ? energy : (double)NAN;
}

static void from_bits(const struct pim_dram_specification *specification,
                      const struct pim_dram_energy_parameters *p, const uint64_t *commands, double rank_ns,
                      double bits_read, double bits_written, struct pim_dram_energy *energy)
{
    double banks = pim_dram_banks_per_rank(&specification->organization);
    energy->activate =
        modelled(p->activate_pj, p->activate_pj * (double)(commands[PIM_DRAM_ACT] + commands[PIM_DRAM_ACT2]));
    energy->precharge = (double)NAN; /* part of activate_pj */
    energy->read = modelled(p->read_pj_per_bit, p->read_pj_per_bit * bits_read);
    energy->write = modelled(p->write_pj_per_bit, p->write_pj_per_bit * bits_written);
    energy->refresh =
        modelled(p->refresh_pj,
                 p->refresh_pj * ((double)commands[PIM_DRAM_REF] + (double)commands[PIM_DRAM_REFPB] / banks +
                                  (double)commands[PIM_DRAM_REFSB] / specification->organization.banks));
    energy->background = modelled(p->background_mw, p->background_mw * rank_ns); /* mW x ns = pJ */
    energy->background_active = energy->background_precharged = (double)NAN;     /* one power for both */
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
    energy->activate = modelled(p->idd0, volts * (p->idd0 - p->idd3n) * parameter[PIM_DRAM_T_RAS] * ns *
                                             (double)commands[PIM_DRAM_ACT]);
    energy->precharge = modelled(p->idd0, volts * (p->idd0 - p->idd2n) * parameter[PIM_DRAM_T_RP] * ns *
                                              (double)counters->precharged_banks);
    energy->read = modelled(p->idd4r, volts * (p->idd4r - p->idd3n) * burst *
                                          (double)(commands[PIM_DRAM_RD] + commands[PIM_DRAM_RDA]));
    energy->write = modelled(p->idd4w, volts * (p->idd4w - p->idd3n) * burst *
                                           (double)(commands[PIM_DRAM_WR] + commands[PIM_DRAM_WRA]));
    energy->refresh =
        modelled(p->idd5b + p->idd5pb, volts * (p->idd5b - p->idd3n) * parameter[PIM_DRAM_T_RFC] * ns *
                                               (double)commands[PIM_DRAM_REF] +
                                           volts * (p->idd5pb - p->idd3n) * parameter[PIM_DRAM_T_RFCPB] * ns *
                                               (double)(commands[PIM_DRAM_REFPB] + commands[PIM_DRAM_REFSB]));
    energy->background_active = modelled(p->idd3n, volts * p->idd3n * active_ns);
    energy->background_precharged = modelled(p->idd2n, volts * p->idd2n * (rank_ns - active_ns));
    energy->background = modelled(p->idd3n, energy->background_active + energy->background_precharged);
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
    energy->io = modelled(parameters->io_pj_per_bit, parameters->io_pj_per_bit * (bits_read + bits_written));
    const double parts[] = {energy->activate, energy->precharge, energy->read,      energy->write,
                            energy->refresh,  energy->io,        energy->background};
    energy->total = (double)NAN;
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!isnan(parts[i]))
            energy->total = isnan(energy->total) ? parts[i] : energy->total + parts[i];
}
