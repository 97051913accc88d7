#include "mappers/overlapim/analysis/evaluate.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pim_evaluation_terminate(struct pim_overlap_evaluation *evaluation)
{
    free(evaluation->list);
    free(evaluation->sorted);
    free(evaluation->ends);
    free(evaluation->step_ready);
    free(evaluation->step_end);
    memset(evaluation, 0, sizeof *evaluation);
}

uint64_t pim_evaluation_sequential(const struct pim_case *kase)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < kase->layers; i++) {
        const struct pim_overlap_layer *layer = &kase->layer[i];
        uint64_t transfer = 0;
        for (uint32_t j = 0; j < layer->links; j++)
            transfer = layer->link[j].transfer > transfer ? layer->link[j].transfer : transfer;
        total += transfer + pim_overlap_sequential(layer);
    }
    return total;
}

static enum pim_status compare(const struct pim_case *kase, uint32_t index,
                               const struct pim_schedule *schedules, struct pim_overlap *overlap,
                               struct pim_error *error)
{
    struct pim_ready *list = NULL, *oracle = NULL;
    uint64_t count = overlap->data_spaces;
    enum pim_status status = pim_overlap_list(overlap, &list, error);
    if (status == PIM_OK) {
        oracle = malloc(count * sizeof *oracle);
        status = oracle ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64, count);
    }
    if (status == PIM_OK) {
        memcpy(oracle, list, count * sizeof *oracle);
        status = pim_overlap_exhaustive(kase->layer, index, schedules, oracle, count, error);
    }
    for (uint64_t i = 0; i < count && status == PIM_OK; i++) {
        if (list[i].ready != oracle[i].ready)
            status =
                pim_fail(error, PIM_INTERNAL,
                         "%s: bank %" PRIu64 " step %" PRIu64 " is ready at %" PRIu64
                         " by analysis and at %" PRIu64 " by comparison of all data spaces",
                         kase->layer[index].name, list[i].bank, list[i].step, list[i].ready, oracle[i].ready);
    }
    free(list);
    free(oracle);
    return status;
}

/* The end of every data space in the layer's own schedule. */
static void fill_ends(const struct pim_overlap *overlap, bool transformed,
                      const struct pim_overlap_evaluation *evaluation)
{
    uint64_t count = evaluation->data_spaces, banks = overlap->consumer->strides.banks;
    uint64_t now = 0;
    if (!transformed) {
        for (uint64_t i = 0; i < count; i++) {
            evaluation->ends[i] = evaluation->list[i];
            evaluation->ends[i].ready = evaluation->step_end[evaluation->list[i].step];
        }
        return;
    }
    /* place of (step, bank) in the list; absent ones are not looked up */
    for (uint64_t i = 0; i < count; i += banks) {
        uint64_t last = count - i < banks ? count : i + banks;
        now = pim_larger(evaluation->sorted[last - 1].ready, now) +
              pim_overlap_row_latency(overlap->consumer, i / banks, pim_divide_up(count, banks));
        for (uint64_t j = i; j < last; j++) {
            const struct pim_ready *space = &evaluation->sorted[j];
            uint64_t low = 0, high = count;
            while (high - low > 1) {
                uint64_t middle = low + (high - low) / 2;
                const struct pim_ready *probe = &evaluation->list[middle];
                bool before =
                    probe->step < space->step || (probe->step == space->step && probe->bank <= space->bank);
                *(before ? &low : &high) = middle;
            }
            evaluation->ends[low] = (struct pim_ready){now, space->step, space->bank};
        }
    }
}

static enum pim_status fill_lists(struct pim_overlap *overlap, bool transformed,
                                  struct pim_overlap_evaluation *evaluation, struct pim_error *error)
{
    uint64_t steps = overlap->consumer->strides.steps, count = overlap->data_spaces;
    if (pim_overlap_list(overlap, &evaluation->list, error) != PIM_OK)
        return error->status;
    evaluation->sorted = malloc(count * sizeof *evaluation->sorted);
    evaluation->ends = malloc(count * sizeof *evaluation->ends);
    evaluation->step_ready = malloc(steps * sizeof *evaluation->step_ready);
    evaluation->step_end = malloc(steps * sizeof *evaluation->step_end);
    bool *exists = malloc(steps * sizeof *exists);
    enum pim_status status = PIM_OK;
    if (!evaluation->sorted || !evaluation->ends || !evaluation->step_ready || !evaluation->step_end ||
        !exists)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " data spaces", count);
    if (status == PIM_OK)
        status = pim_overlap_step_ready(overlap, evaluation->step_ready, exists, error);
    uint64_t now = 0;
    for (uint64_t s = 0; s < steps && status == PIM_OK; s++) {
        const uint64_t latency = pim_overlap_row_latency(overlap->consumer, s, steps);
        now = exists[s] ? pim_larger(evaluation->step_ready[s], now) + latency : now;
        evaluation->step_end[s] = now;
    }
    if (status == PIM_OK) {
        memcpy(evaluation->sorted, evaluation->list, count * sizeof *evaluation->sorted);
        pim_overlap_sort(evaluation->sorted, count);
        fill_ends(overlap, transformed, evaluation);
        status = pim_overlap_moved(overlap, evaluation->sorted, &evaluation->moved, error);
    }
    free(exists);
    return status;
}

static enum pim_status per_bank(struct pim_overlap *overlap, struct pim_overlap_evaluation *evaluation,
                                struct pim_error *error)
{
    const struct pim_strides *strides = &overlap->consumer->strides;
    if (overlap->data_spaces == strides->steps * strides->banks) {
        /* all banks have all steps: the latest start + rest is that of the lock step */
        evaluation->per_bank = evaluation->lockstep;
        return PIM_OK;
    }
    struct pim_ready *list = NULL;
    uint64_t end = 0;
    enum pim_status status = pim_overlap_list(overlap, &list, error);
    if (status == PIM_OK)
        status = pim_overlap_per_bank(overlap, list, &end, error);
    evaluation->per_bank = pim_larger(end, overlap->inputs_end);
    free(list);
    return status;
}

static enum pim_status figures(struct pim_overlap *overlap, const struct pim_overlap_layer *layer,
                               const struct pim_evaluate_options *options, struct pim_schedule *schedule,
                               struct pim_overlap_evaluation *evaluation, struct pim_error *error)
{
    uint64_t lockstep = 0, transformed = 0;
    evaluation->data_spaces = overlap->data_spaces;
    if (pim_overlap_lockstep(overlap, &lockstep, error) != PIM_OK ||
        pim_overlap_transformed(overlap, &transformed, error) != PIM_OK)
        return error->status;
    evaluation->lockstep = pim_larger(lockstep, overlap->inputs_end);
    evaluation->transformed = pim_larger(transformed, overlap->inputs_end);
    if (per_bank(overlap, evaluation, error) != PIM_OK)
        return error->status;
    if (options->lists && fill_lists(overlap, layer->transformed, evaluation, error) != PIM_OK)
        return error->status;
    if (options->read_later)
        return pim_overlap_schedule(overlap, layer->transformed, schedule, error);
    schedule->latency = layer->latency;
    schedule->end = layer->transformed ? transformed : lockstep;
    return PIM_OK;
}

enum pim_status pim_evaluate(const struct pim_case *kase, uint32_t index, struct pim_schedule *schedules,
                             const struct pim_evaluate_options *options,
                             struct pim_overlap_evaluation *evaluation, struct pim_error *error)
{
    const struct pim_overlap_layer *layer = &kase->layer[index];
    struct pim_overlap overlap;
    enum pim_status status = pim_overlap_initialize(&overlap, kase->layer, index, schedules, error);
    if (status == PIM_OK && options->exhaustive)
        status = compare(kase, index, schedules, &overlap, error);
    if (status == PIM_OK)
        status = figures(&overlap, layer, options, &schedules[index], evaluation, error);
    pim_overlap_terminate(&overlap);
    uint64_t before = layer->links > 0 ? pim_overlap_sequential(&kase->layer[layer->link[0].producer]) +
                                             layer->link[0].transfer
                                       : 0;
    evaluation->sequential = before + pim_overlap_sequential(layer);
    return status;
}
