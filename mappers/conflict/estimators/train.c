/* Training of estimators; see train.h. */
#include "mappers/conflict/estimators/train.h"

#include "mappers/learn/adam.h"
#include "mappers/learn/correlation.h"
#include "mappers/learn/elementary.h"
#include "mappers/search/workers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of one estimator. */
struct school {
    struct pim_tile_estimator *estimator;
    const struct pim_tile_samples *samples;
    const struct pim_tile_training *training;
    const double *target;
    struct pim_tile_estimation *estimation;
    struct pim_adam adam;
    struct pim_random random;
    double *gradient;
    uint32_t *order;
    unsigned char *bytes; /* of all masks */
    unsigned char *mask[PIM_TILE_ESTIMATOR_LAYERS];
    bool drops;
};

/* All pieces of a training: an estimator each. */
struct lessons {
    struct pim_tile_estimator *estimators;
    const struct pim_tile_setting *setting;
    const struct pim_tile_samples *samples;
    const struct pim_tile_training *training;
    const double *target;
    enum pim_status status[PIM_TILE_ESTIMATORS];
    struct pim_error error[PIM_TILE_ESTIMATORS];
};

static bool make_masks(struct school *school, size_t rows)
{
    const struct pim_tile_estimator *estimator = school->estimator;
    size_t bytes = 0;
    for (size_t l = 0; l < estimator->layers; l++)
        bytes += estimator->layer[l].dropout > 0 ? rows * estimator->layer[l].outputs : 0;
    school->bytes = calloc(bytes + 1, 1);
    if (!school->bytes)
        return false;
    unsigned char *at = school->bytes;
    for (size_t l = 0; l < estimator->layers; l++)
        if (estimator->layer[l].dropout > 0) {
            school->mask[l] = at;
            at += rows * estimator->layer[l].outputs;
            school->drops = true;
        }
    return true;
}

static void draw_masks(struct school *school, size_t rows)
{
    const struct pim_tile_estimator *estimator = school->estimator;
    for (size_t l = 0; l < estimator->layers; l++) {
        uint64_t drop = pim_random_threshold(estimator->layer[l].dropout);
        for (size_t i = 0; school->mask[l] && i < rows * estimator->layer[l].outputs; i++)
            school->mask[l][i] = !pim_random_chance(&school->random, drop);
    }
}

static void leave_school(struct school *school)
{
    pim_tile_estimation_destroy(school->estimation);
    pim_adam_terminate(&school->adam);
    free(school->gradient);
    free(school->order);
    free(school->bytes);
}

static bool enter_school(struct school *school, const struct pim_tile_setting *setting)
{
    const struct pim_tile_estimator *estimator = school->estimator;
    bool graph = estimator->kind == PIM_TILE_GCN;
    const struct pim_adam_options options = {
        .rate = graph ? 0.005 : 0.001, .first = 0.9, .second = 0.999, .epsilon = 1e-8};
    uint64_t state = school->training->seed;
    uint64_t seed = pim_splitmix64(&state) ^ (estimator->kind + 1);
    pim_random_initialize(&school->random, seed);
    pim_layers_initialize(estimator->layer, estimator->layers, &school->random, estimator->parameter);
    school->estimation = pim_tile_estimation_create(setting, estimator);
    school->gradient = calloc(estimator->parameters, sizeof *school->gradient);
    school->order = calloc(school->samples->count, sizeof *school->order);
    for (uint32_t i = 0; school->order && i < school->samples->count; i++)
        school->order[i] = i;
    return pim_adam_initialize(&school->adam, &options, estimator->parameters) && school->estimation &&
           school->gradient && school->order && make_masks(school, graph ? setting->graph->edges : 1);
}

static void learn_batch(struct school *school, size_t rows, uint32_t first, uint32_t last)
{
    const struct pim_tile_samples *samples = school->samples;
    memset(school->gradient, 0, school->estimator->parameters * sizeof *school->gradient);
    for (uint32_t i = first; i < last; i++) {
        uint32_t sample = school->order[i];
        const uint32_t *place = samples->place + (size_t)sample * samples->nodes;
        if (school->drops)
            draw_masks(school, rows);
        double output = pim_tile_estimation_output(
            school->estimation, place, school->drops ? (const unsigned char *const *)school->mask : NULL);
        double slope = 2 * (output - school->target[sample]) / (last - first);
        pim_tile_estimation_gradient(school->estimation, slope, school->gradient);
    }
    pim_adam_step(&school->adam, school->gradient, school->estimator->parameter);
}

static enum pim_status learn(struct school *school, size_t rows, struct pim_error *error)
{
    const struct pim_tile_training *training = school->training;
    uint32_t count = school->samples->count;
    for (uint32_t epoch = 0; epoch < training->epochs; epoch++) {
        if (training->stop && training->stop(training->stop_context))
            return pim_fail(error, PIM_BAD_INPUT,
                            "it was stopped: estimators are trained whole or not at all");
        for (uint32_t i = count - 1; i > 0; i--) {
            uint32_t j = (uint32_t)pim_random_below(&school->random, (uint64_t)i + 1);
            uint32_t other = school->order[j];
            school->order[j] = school->order[i];
            school->order[i] = other;
        }
        for (uint32_t first = 0; first < count; first += training->batch)
            learn_batch(school, rows, first,
                        training->batch < count - first ? first + training->batch : count);
    }
    return PIM_OK;
}

static void teach(void *context, unsigned worker, uint64_t index)
{
    struct lessons *lessons = context;
    struct pim_error *error = &lessons->error[index];
    struct school school = {.estimator = &lessons->estimators[index],
                            .samples = lessons->samples,
                            .training = lessons->training,
                            .target = lessons->target};
    (void)worker;
    lessons->status[index] =
        enter_school(&school, lessons->setting)
            ? learn(&school, school.estimator->kind == PIM_TILE_GCN ? lessons->setting->graph->edges : 1,
                    error)
            : pim_fail(error, PIM_NO_MEMORY, "no memory for the training");
    leave_school(&school);
}

/* Standardised logarithms. */
static double *targets(struct pim_tile_estimator *estimators, const struct pim_tile_samples *samples)
{
    double mean, deviation;
    double *target = calloc(samples->count, sizeof *target);
    for (uint32_t i = 0; target && i < samples->count; i++)
        target[i] = pim_logarithm(samples->latency_ns[i]);
    if (!target)
        return NULL;
    pim_standardise(samples->count, target, &mean, &deviation, target);
    for (unsigned kind = 0; kind < PIM_TILE_ESTIMATORS; kind++) {
        estimators[kind].mean = mean;
        estimators[kind].deviation = deviation;
    }
    return target;
}

enum pim_status pim_tile_train(struct pim_tile_estimator estimators[PIM_TILE_ESTIMATORS],
                               const struct pim_tile_setting *setting, const struct pim_tile_samples *samples,
                               const struct pim_tile_training *training, struct pim_error *error)
{
    struct pim_workers *workers;
    struct lessons lessons = {
        .estimators = estimators, .setting = setting, .samples = samples, .training = training};
    if (samples->count < 2 || training->batch == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "training on %" PRIu32 " mappings in batches of %" PRIu32
                        ": two mappings at least, batches of one at least",
                        samples->count, training->batch);
    double *target = targets(estimators, samples);
    if (!target)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " mappings", samples->count);
    lessons.target = target;
    enum pim_status status = pim_workers_create(&workers, training->threads, error);
    if (status == PIM_OK)
        pim_workers_run(workers, teach, &lessons, 0, PIM_TILE_ESTIMATORS);
    pim_workers_destroy(status == PIM_OK ? workers : NULL);
    for (unsigned kind = 0; status == PIM_OK && kind < PIM_TILE_ESTIMATORS; kind++)
        if (lessons.status[kind] != PIM_OK) {
            *error = lessons.error[kind];
            status = error->status;
        }
    free(target);
    return status;
}
