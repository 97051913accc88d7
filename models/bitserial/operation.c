/* Operations on banks: compiled, sequenced, counted. */
#include "models/bitserial/operation.h"

#include <stdlib.h>

#define REPEAT_MAX (UINT64_C(1) << 40)

struct pim_bitserial_bank_shape pim_bitserial_shape(const struct pim_dram_specification *specification)
{
    const struct pim_dram_organization *o = &specification->organization;
    return (struct pim_bitserial_bank_shape){o->rows, o->columns, o->access_bytes};
}

void pim_bitserial_ignore_activation_limits(struct pim_dram_specification *specification)
{
    specification->parameter[PIM_DRAM_T_RRD_S] = 0;
    specification->parameter[PIM_DRAM_T_RRD_L] = 0;
    specification->parameter[PIM_DRAM_T_FAW] = 0;
}

enum pim_status pim_bitserial_check_stacks(const struct pim_dram_specification *specification,
                                           struct pim_error *error)
{
    const uint32_t stacks = specification->organization.stack_ids;
    return stacks > 1
               ? pim_fail(error, PIM_BAD_INPUT, "dram.stack_ids is %u: banks that compute have one", stacks)
               : PIM_OK;
}

enum pim_status pim_bitserial_check_memory(const struct pim_dram_specification *specification, uint32_t banks,
                                           uint32_t channels, struct pim_error *error)
{
    const struct pim_dram_organization *o = &specification->organization;
    uint32_t most = pim_dram_ranks(o) * pim_dram_banks_per_rank(o);
    if (specification->parameter[PIM_DRAM_T_AA] == 0)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "dram.taa is 0: the banks of this memory have no second activations and cannot compute; "
            "4 cycles are usual for a bank with a second row decoder, dram.tras for one without");
    struct pim_dram_constraint_table own = {.count = 0};
    pim_dram_own_constraints(specification, &own);
    if (own.count > 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.constraints: %s: banks that compute keep the rows of jedec alone",
                        own.row[0].text);
    if (pim_bitserial_check_stacks(specification, error) != PIM_OK)
        return error->status;
    if (specification->taken > 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.constraints: without: banks that compute keep all rows of jedec");
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        if (specification->command[i].own || !specification->command[i].exists)
            return pim_fail(error, PIM_BAD_INPUT,
                            "dram.commands: banks that compute have the commands of jedec alone");
    if (banks == 0 || banks > most)
        return pim_fail(error, PIM_BAD_INPUT, "%u banks of a channel: allowed are 1 to %u", banks, most);
    if (channels == 0 || channels > o->channels)
        return pim_fail(error, PIM_BAD_INPUT, "%u channels: allowed are 1 to dram.channels, which is %u",
                        channels, o->channels);
    if (o->access_bytes % 8 != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.access_bytes is %u: for banks that compute it must be a multiple of 8",
                        o->access_bytes);
    return PIM_OK;
}

enum pim_status pim_bitserial_check_refresh(const struct pim_dram_specification *specification,
                                            struct pim_error *error)
{
    const uint32_t *p = specification->parameter;
    const uint64_t step = pim_dram_computing_step(specification);
    if (step + p[PIM_DRAM_T_RFC] <= p[PIM_DRAM_T_REFI])
        return PIM_OK;
    char enough[PIM_DRAM_INTERVAL_TEXT];
    pim_dram_interval_text(enough, specification, "trefi", step + p[PIM_DRAM_T_RFC],
                           p[PIM_DRAM_T_REFI] > step ? p[PIM_DRAM_T_REFI] - step : 0);
    return pim_fail(error, PIM_BAD_INPUT,
                    "dram.trefi is %u cycles of %u ps: a step takes up to %llu cycles and a refresh %u, "
                    "and refreshes could not keep up: give as much as both, %s, or "
                    "dram.refresh = false",
                    p[PIM_DRAM_T_REFI], specification->clock_ps, (unsigned long long)step, p[PIM_DRAM_T_RFC],
                    enough);
}

void pim_bitserial_energy(const struct pim_dram_specification *specification,
                          const struct pim_dram_energy_parameters *parameters,
                          const uint64_t commands[PIM_DRAM_COMMANDS], uint64_t cycles,
                          struct pim_dram_energy *energy)
{
    struct pim_dram_counters counters = {0};
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        counters.commands[i] = commands[i];
    if (parameters->model == PIM_DRAM_ENERGY_CURRENTS)
        pim_dram_energy_of_no_currents(energy); /* nor of second activations */
    else
        pim_dram_energy_compute(specification, parameters, &counters, cycles, energy);
}

/* The work of the banks of a channel, in turn. */
static struct pim_bitserial_work *share_out(const struct pim_dram_specification *specification,
                                            const struct pim_bitserial_request *request,
                                            const struct pim_bitserial_program *program)
{
    struct pim_bitserial_work *work = calloc(request->banks, sizeof *work);
    for (uint32_t i = 0; work && i < request->banks; i++)
        work[i] =
            (struct pim_bitserial_work){.bank = pim_bitserial_bank_in_turn(&specification->organization, i),
                                        .program = program,
                                        .repeat = request->repeat,
                                        .first_slot = i * program->slots};
    return work;
}

static enum pim_status sequence(const struct pim_dram_specification *specification,
                                const struct pim_bitserial_request *request,
                                const struct pim_bitserial_program *program,
                                struct pim_bitserial_timing *timing, struct pim_error *error)
{
    struct pim_bitserial_work *work = share_out(specification, request, program);
    if (!work)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %u banks", request->banks);
    const struct pim_bitserial_schedule schedule = {.specification = specification,
                                                    .refresh = request->refresh,
                                                    .stepped = request->stepped,
                                                    .work = work,
                                                    .work_count = request->banks,
                                                    .slots = request->banks * program->slots,
                                                    .log = request->log,
                                                    .context = request->context};
    enum pim_status status = pim_bitserial_sequence(&schedule, timing, error);
    free(work);
    return status;
}

static void count(const struct pim_dram_specification *specification,
                  const struct pim_dram_energy_parameters *energy,
                  const struct pim_bitserial_request *request, const struct pim_bitserial_program *program,
                  struct pim_bitserial_cost *cost)
{
    const struct pim_dram_organization *o = &specification->organization;
    uint64_t aap = pim_dram_aap_cycles(specification);
    cost->aaps = pim_bitserial_count_steps(program, PIM_BITSERIAL_STEP_AAP) * request->repeat;
    cost->columns = (uint64_t)o->columns * o->access_bytes * 8 * request->banks * request->channels;
    cost->closed_form_aaps = pim_bitserial_aaps(&request->operation) * request->repeat;
    cost->closed_form_cycles =
        cost->aaps == program->count * request->repeat ? cost->closed_form_aaps * aap : 0;
    cost->paper_aaps = pim_bitserial_paper_aaps(&request->operation) * request->repeat;
    cost->paper_cycles = cost->paper_aaps * aap;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        cost->commands[i] = cost->timing.commands[i] * request->channels;
    pim_bitserial_energy(specification, energy, cost->commands, cost->timing.cycles, &cost->energy);
}

enum pim_status pim_bitserial_run(const struct pim_dram_specification *specification,
                                  const struct pim_dram_energy_parameters *energy,
                                  const struct pim_bitserial_request *request,
                                  struct pim_bitserial_cost *cost, struct pim_error *error)
{
    struct pim_bitserial_bank_shape shape = pim_bitserial_shape(specification);
    struct pim_bitserial_program program = {0};
    *cost = (struct pim_bitserial_cost){0};
    if (pim_bitserial_check_memory(specification, request->banks, request->channels, error) != PIM_OK ||
        pim_bitserial_check_operation(&request->operation, &shape, error) != PIM_OK)
        return error->status;
    if (request->refresh && pim_bitserial_check_refresh(specification, error) != PIM_OK)
        return error->status;
    if (request->repeat == 0 || request->repeat > REPEAT_MAX)
        return pim_fail(error, PIM_BAD_INPUT, "%llu repetitions: allowed are 1 to 2^40",
                        (unsigned long long)request->repeat);
    enum pim_status status = pim_bitserial_compile(&program, &request->operation, &shape, error);
    if (status == PIM_OK)
        status = sequence(specification, request, &program, &cost->timing, error);
    if (status == PIM_OK)
        count(specification, energy, request, &program, cost);
    pim_bitserial_program_terminate(&program);
    return status;
}
