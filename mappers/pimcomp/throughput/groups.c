/* Groups of layers and their starts, of this schedule: chains.h (paper, section VII-A). The round does
 * not get longer by them, and the first sample is through after as many rounds as there are groups. */
#include "mappers/pimcomp/throughput/round.h"

enum pim_status pim_round_group_layers(struct pim_round_schedule *schedule)
{
    const struct pim_core_architecture *a = schedule->architecture;
    const struct pim_core_network *network = schedule->network;
    for (uint32_t i = 0; i < network->count; i++) {
        const struct pim_round_layer *round = &schedule->layer[i];
        const struct pim_chain_form form =
            pim_chain_form_of(a, &network->layer[i], schedule->mapping->partition->layer[i].groups);
        uint64_t work = network->layer[i].kind == PIM_CORE_MATRIX ? 0 : form.sums;
        for (uint32_t j = 0; j < round->jobs; j++) {
            const struct pim_round_job *job = &round->job[j];
            uint64_t cycles = pim_chain_job_cycles(a, &form, job->replicas, job->workers, job->steps);
            work = cycles > work ? cycles : work;
        }
        schedule->chain[i].scheduled = network->layer[i].kind != PIM_CORE_INPUT;
        schedule->chain[i].cycles = schedule->chain[i].scheduled ? pim_chain_cycles(a, &form, work) : 0;
    }
    schedule->groups = pim_chain_groups(network, schedule->options->no_grouping, schedule->chain);
    if (!schedule->groups)
        return pim_fail(schedule->error, PIM_BAD_INPUT, "%s has no layer that cores execute", network->name);
    return PIM_OK;
}

void pim_round_time_layers(struct pim_round_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        const struct pim_round_layer *layer = &schedule->layer[i];
        uint64_t passes = layer->tiles ? pim_round_vector_passes(schedule, i) : 0;
        for (uint32_t j = 0; j < layer->jobs; j++)
            passes = layer->job[j].steps > passes ? layer->job[j].steps : passes;
        schedule->chain[i].passes = passes;
    }
    schedule->passes = pim_chain_passes(schedule->network, schedule->chain);
}
