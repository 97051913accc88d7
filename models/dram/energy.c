#include "models/dram/energy.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* What can be missing: keys, and behind them what has a sentence of its own. */
#define KEYS(X)                                                                                              \
    X(IO, io_pj_per_bit, "energy.io_pj_per_bit")                                                             \
    X(READ, read_pj_per_bit, "energy.read_pj_per_bit")                                                       \
    X(WRITE, write_pj_per_bit, "energy.write_pj_per_bit")                                                    \
    X(ACTIVATE, activate_pj, "energy.activate_pj")                                                           \
    X(REFRESH, refresh_pj, "energy.refresh_pj")                                                              \
    X(BACKGROUND, background_mw, "energy.background_mw")                                                     \
    X(VDD, vdd, "energy.vdd_v")                                                                              \
    X(IDD0, idd0, "energy.idd0_ma")                                                                          \
    X(IDD2N, idd2n, "energy.idd2n_ma")                                                                       \
    X(IDD3N, idd3n, "energy.idd3n_ma")                                                                       \
    X(IDD4R, idd4r, "energy.idd4r_ma")                                                                       \
    X(IDD4W, idd4w, "energy.idd4w_ma")                                                                       \
    X(IDD5B, idd5b, "energy.idd5b_ma")                                                                       \
    X(IDD5PB, idd5pb, "energy.idd5pb_ma")

enum key {
#define X(name, member, path) name,
    KEYS(X)
#undef X
        KEY_COUNT,
    NO_MODEL = KEY_COUNT,
    NO_CURRENTS,
    IN_ACTIVATE,
    ONE_POWER
};

#define SET(key) (UINT32_C(1) << (key))

static const char *const paths[KEY_COUNT] = {
#define X(name, member, path) path,
    KEYS(X)
#undef X
};

static const struct {
    const char *text, *what;
    size_t offset;
} parts[] = {
#define X(part, text, what) {text, what, offsetof(struct pim_dram_energy, part)},
    PIM_DRAM_ENERGY_PARTS(X)
#undef X
};

static const char *const names[] = {
#define X(part, text, what) #part,
    PIM_DRAM_ENERGY_PARTS(X)
#undef X
};

/* Those of the keys that are not given. */
static uint32_t absent(const struct pim_dram_energy_parameters *parameters, uint32_t keys)
{
    uint32_t given = 0;
#define X(name, member, path) given |= parameters->member > 0 ? SET(name) : 0;
    KEYS(X)
#undef X
    return keys & ~given;
}

/* A part of this value that needs these keys. */
static void set(const struct pim_dram_energy_parameters *parameters, struct pim_dram_energy *energy,
                enum pim_dram_energy_part part, uint32_t keys, double value)
{
    energy->missing[part] = absent(parameters, keys);
    *(double *)(void *)((char *)energy + parts[part].offset) = energy->missing[part] ? (double)NAN : value;
}

static void from_bits(const struct pim_dram_specification *specification,
                      const struct pim_dram_energy_parameters *p, const uint64_t *commands, double rank_ns,
                      double bits_read, double bits_written, struct pim_dram_energy *energy)
{
    double banks = pim_dram_banks_per_rank(&specification->organization);
    set(p, energy, PIM_DRAM_ENERGY_activate, SET(ACTIVATE),
        p->activate_pj * (double)(commands[PIM_DRAM_ACT] + commands[PIM_DRAM_ACT2]));
    set(p, energy, PIM_DRAM_ENERGY_precharge, SET(IN_ACTIVATE), 0);
    set(p, energy, PIM_DRAM_ENERGY_read, SET(READ), p->read_pj_per_bit * bits_read);
    set(p, energy, PIM_DRAM_ENERGY_write, SET(WRITE), p->write_pj_per_bit * bits_written);
    set(p, energy, PIM_DRAM_ENERGY_refresh, SET(REFRESH),
        p->refresh_pj * ((double)commands[PIM_DRAM_REF] + (double)commands[PIM_DRAM_REFPB] / banks +
                         (double)commands[PIM_DRAM_REFSB] / specification->organization.banks));
    set(p, energy, PIM_DRAM_ENERGY_background, SET(BACKGROUND), p->background_mw * rank_ns); /* mW ns = pJ */
    set(p, energy, PIM_DRAM_ENERGY_background_active, SET(ONE_POWER), 0);
    set(p, energy, PIM_DRAM_ENERGY_background_precharged, SET(ONE_POWER), 0);
}

static void refresh_from_currents(const struct pim_dram_specification *specification,
                                  const struct pim_dram_energy_parameters *p, const uint64_t *commands,
                                  struct pim_dram_energy *energy)
{
    const uint32_t *parameter = specification->parameter;
    const uint64_t singles = commands[PIM_DRAM_REFPB] + commands[PIM_DRAM_REFSB];
    double volts = p->vdd * p->devices, ns = specification->clock_ps * 1e-3;
    double all = 0, single = 0;
    uint32_t keys = SET(VDD) | SET(IDD3N);
    if (commands[PIM_DRAM_REF] > 0 || singles == 0) {
        keys |= SET(IDD5B);
        all = volts * (p->idd5b - p->idd3n) * parameter[PIM_DRAM_T_RFC] * ns * (double)commands[PIM_DRAM_REF];
    }
    if (singles > 0) {
        keys |= SET(IDD5PB);
        single = volts * (p->idd5pb - p->idd3n) * parameter[PIM_DRAM_T_RFCPB] * ns * (double)singles;
    }
    set(p, energy, PIM_DRAM_ENERGY_refresh, keys, all + single);
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
    double active = volts * p->idd3n * active_ns, precharged = volts * p->idd2n * (rank_ns - active_ns);
    set(p, energy, PIM_DRAM_ENERGY_activate, SET(VDD) | SET(IDD0) | SET(IDD3N),
        volts * (p->idd0 - p->idd3n) * parameter[PIM_DRAM_T_RAS] * ns * (double)commands[PIM_DRAM_ACT]);
    set(p, energy, PIM_DRAM_ENERGY_precharge, SET(VDD) | SET(IDD0) | SET(IDD2N),
        volts * (p->idd0 - p->idd2n) * parameter[PIM_DRAM_T_RP] * ns * (double)counters->precharged_banks);
    set(p, energy, PIM_DRAM_ENERGY_read, SET(VDD) | SET(IDD4R) | SET(IDD3N),
        volts * (p->idd4r - p->idd3n) * burst * (double)(commands[PIM_DRAM_RD] + commands[PIM_DRAM_RDA]));
    set(p, energy, PIM_DRAM_ENERGY_write, SET(VDD) | SET(IDD4W) | SET(IDD3N),
        volts * (p->idd4w - p->idd3n) * burst * (double)(commands[PIM_DRAM_WR] + commands[PIM_DRAM_WRA]));
    refresh_from_currents(specification, p, commands, energy);
    set(p, energy, PIM_DRAM_ENERGY_background_active, SET(VDD) | SET(IDD3N), active);
    set(p, energy, PIM_DRAM_ENERGY_background_precharged, SET(VDD) | SET(IDD2N), precharged);
    set(p, energy, PIM_DRAM_ENERGY_background, SET(VDD) | SET(IDD2N) | SET(IDD3N), active + precharged);
}

/* The total of all parts, and the sum of those that are there. What a part has elsewhere is not missing. */
static void add_up(const struct pim_dram_energy_parameters *parameters, struct pim_dram_energy *energy)
{
    uint32_t missing = 0;
    energy->modelled = (double)NAN;
    for (unsigned part = 0; part < PIM_DRAM_ENERGY_background_active; part++) {
        const double value = pim_dram_energy_of_part(energy, part);
        missing |= energy->missing[part] & ~SET(IN_ACTIVATE);
        if (!isnan(value))
            energy->modelled = isnan(energy->modelled) ? value : energy->modelled + value;
    }
    set(parameters, energy, PIM_DRAM_ENERGY_total, missing, energy->modelled);
}

static void compute_nothing(unsigned why, struct pim_dram_energy *energy)
{
    const struct pim_dram_energy_parameters none = {.model = PIM_DRAM_ENERGY_NONE};
    for (unsigned part = 0; part < PIM_DRAM_ENERGY_PART_COUNT; part++)
        set(&none, energy, part, SET(why), 0);
    energy->modelled = (double)NAN;
}

void pim_dram_energy_of_no_currents(struct pim_dram_energy *energy)
{
    compute_nothing(NO_CURRENTS, energy);
}

void pim_dram_energy_compute(const struct pim_dram_specification *specification,
                             const struct pim_dram_energy_parameters *parameters,
                             const struct pim_dram_counters *counters, uint64_t cycles,
                             struct pim_dram_energy *energy)
{
    if (parameters->model == PIM_DRAM_ENERGY_NONE) {
        compute_nothing(NO_MODEL, energy);
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
    set(parameters, energy, PIM_DRAM_ENERGY_io, SET(IO),
        parameters->io_pj_per_bit * (bits_read + bits_written));
    add_up(parameters, energy);
}

double pim_dram_energy_of_part(const struct pim_dram_energy *energy, unsigned part)
{
    return *(const double *)(const void *)((const char *)energy + parts[part].offset);
}

const char *pim_dram_energy_part_text(unsigned part)
{
    return parts[part].text;
}

void pim_dram_energy_reason(const struct pim_dram_energy *energy, unsigned part,
                            char reason[PIM_DRAM_ENERGY_REASON])
{
    const uint32_t missing = energy->missing[part];
    const char *what = parts[part].what;
    size_t length = 0;
    reason[0] = '\0';
    if (missing & SET(NO_MODEL))
        (void)snprintf(reason, PIM_DRAM_ENERGY_REASON,
                       "energy.model is none: give per_bit or currents, and their figures, to have %s", what);
    else if (missing & SET(NO_CURRENTS))
        (void)snprintf(reason, PIM_DRAM_ENERGY_REASON,
                       "energy.model is currents, which say nothing of banks that compute: give per_bit, and "
                       "its figures, to have %s",
                       what);
    else if (missing & SET(IN_ACTIVATE))
        (void)snprintf(reason, PIM_DRAM_ENERGY_REASON, "energy.model is per_bit: it is part of activate");
    else if (missing & SET(ONE_POWER))
        (void)snprintf(reason, PIM_DRAM_ENERGY_REASON,
                       "energy.model is per_bit: background is one power for all states");
    if (missing == 0 || reason[0] != '\0')
        return;
    for (unsigned key = 0; key < KEY_COUNT; key++)
        if (missing & SET(key))
            length += (size_t)snprintf(reason + length, PIM_DRAM_ENERGY_REASON - length, "%s%s",
                                       length ? ", " : "no ", paths[key]);
    (void)snprintf(reason + length, PIM_DRAM_ENERGY_REASON - length,
                   " in this configuration: give %s to have %s",
                   (missing & (missing - 1)) == 0 ? "it" : "them", what);
}

void pim_dram_energy_put(struct pim_json *json, const struct pim_dram_energy *energy)
{
    for (unsigned part = 0; part < PIM_DRAM_ENERGY_PART_COUNT; part++)
        pim_json_put_real(json, names[part], pim_dram_energy_of_part(energy, part));
    pim_json_put_real(json, "modelled", energy->modelled);
}

void pim_dram_energy_put_reasons(struct pim_json *json, const struct pim_dram_energy *energy)
{
    char reason[PIM_DRAM_ENERGY_REASON];
    for (unsigned part = 0; part < PIM_DRAM_ENERGY_PART_COUNT; part++) {
        pim_dram_energy_reason(energy, part, reason);
        if (reason[0] != '\0')
            pim_json_put_text(json, names[part], reason);
    }
}
