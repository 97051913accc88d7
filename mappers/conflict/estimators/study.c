/* Estimators of a plan; see study.h. */
#include "mappers/conflict/estimators/study.h"

#include "mappers/conflict/estimators/train.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 32 };

/* All populations, of which the estimators were trained on the first `seen`. */
static enum pim_status judge(struct pim_tile_study *study, uint32_t seen, struct pim_error *error)
{
    study->verdicts = study->samples.populations;
    study->seen = seen;
    study->verdict = calloc((size_t)study->verdicts + 1, sizeof *study->verdict);
    if (!study->verdict)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " verdicts", study->verdicts);
    return pim_tile_judge(&study->setting, study->weights.estimator, &study->samples, 0, study->verdicts,
                          study->verdict, error);
}

static enum pim_status keep_provenance(struct pim_tile_study *study,
                                       const struct pim_tile_study_options *options,
                                       const struct pim_tile_mapping_options *mapping, uint32_t held,
                                       struct pim_error *error)
{
    struct pim_tile_weights *weights = &study->weights;
    uint32_t count = study->samples.populations;
    if (pim_tile_weights_make(weights, &options->identity, error) != PIM_OK)
        return error->status;
    weights->seed = mapping->seed;
    weights->size = mapping->population;
    weights->epochs = options->epochs;
    weights->batch = BATCH;
    weights->held_out = held;
    weights->population = calloc((size_t)count + 1, sizeof *weights->population);
    if (!weights->population)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " populations", count);
    memcpy(weights->population, study->samples.population, count * sizeof *weights->population);
    weights->populations = count;
    return PIM_OK;
}

static enum pim_status train(struct pim_tile_study *study, const struct pim_tile_study_options *options,
                             const struct pim_tile_mapping_options *mapping, struct pim_error *error)
{
    uint32_t held = options->populations / 5 > 1 ? options->populations / 5 : 1;
    const struct pim_tile_training training = {.seed = mapping->seed,
                                               .epochs = options->epochs,
                                               .batch = BATCH,
                                               .threads = mapping->threads,
                                               .stop = mapping->stop,
                                               .stop_context = mapping->stop_context};
    if (options->populations < 2)
        return pim_fail(error, PIM_USAGE, "--train needs --populations 2 at least: one of them is held out");
    if (pim_tile_samples_draw(&study->samples, options->identity.graph, mapping, 0, options->populations,
                              error) != PIM_OK ||
        keep_provenance(study, options, mapping, held * PIM_TILE_SORTS, error) != PIM_OK)
        return error->status;
    uint32_t first = study->samples.populations - study->weights.held_out;
    struct pim_tile_samples seen = study->samples;
    seen.populations = first;
    seen.count = study->samples.population[first].first;
    if (pim_tile_train(study->weights.estimator, &study->setting, &seen, &training, error) != PIM_OK ||
        judge(study, first, error) != PIM_OK)
        return error->status;
    return pim_tile_weights_write(&study->weights, options->train, error);
}

static enum pim_status take(struct pim_tile_study *study, const struct pim_tile_study_options *options,
                            const struct pim_tile_mapping_options *mapping, struct pim_error *error)
{
    if (pim_tile_weights_read(&study->weights, options->weights, error) != PIM_OK)
        return error->status;
    if (pim_tile_weights_fit(&study->weights, &options->identity, error) != PIM_OK)
        return pim_fail_in(error, "%s", options->weights);
    if (!options->judge)
        return PIM_OK;
    if (study->weights.seed == mapping->seed)
        return pim_fail(error, PIM_USAGE,
                        "--judge: with --seed %" PRIu64
                        " the populations are those that %s was trained on: give another seed",
                        mapping->seed, options->weights);
    if (pim_tile_samples_draw(&study->samples, options->identity.graph, mapping, 0, options->populations,
                              error) != PIM_OK)
        return error->status;
    return judge(study, 0, error);
}

enum pim_status pim_tile_study_make(struct pim_tile_study *study,
                                    const struct pim_tile_study_options *options,
                                    const struct pim_tile_mapping_options *mapping, struct pim_error *error)
{
    *study = (struct pim_tile_study){0};
    if (pim_tile_setting_make(&study->setting, options->identity.graph, &mapping->grid, options->directed,
                              error) != PIM_OK)
        return error->status;
    return options->train ? train(study, options, mapping, error) : take(study, options, mapping, error);
}

void pim_tile_study_terminate(struct pim_tile_study *study)
{
    pim_tile_weights_terminate(&study->weights);
    pim_tile_samples_terminate(&study->samples);
    pim_tile_setting_terminate(&study->setting);
    free(study->verdict);
    *study = (struct pim_tile_study){0};
}
