/*
 * Training: mean squared error of the standardised logarithm of the latency, Adam, batches in an order drawn
 * anew for every epoch. Each estimator is one sequence of operations, so that threads (an estimator each) do
 * not change a bit.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_TRAIN_H
#define PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_TRAIN_H

#include "mappers/conflict/estimators/estimator.h"
#include "mappers/conflict/estimators/samples.h"

struct pim_tile_training {
    uint64_t seed;
    uint32_t epochs, batch; /* at least 1 */
    unsigned threads;
    bool (*stop)(void *context); /* asked after every epoch, by several threads; or NULL */
    void *stop_context;
};

/*
 * Trains all estimators on all samples. `estimators` are made for the graph of the setting. PIM_BAD_INPUT for
 * fewer than two samples, or when it was stopped; PIM_NO_MEMORY.
 */
enum pim_status pim_tile_train(struct pim_tile_estimator estimators[PIM_TILE_ESTIMATORS],
                               const struct pim_tile_setting *setting, const struct pim_tile_samples *samples,
                               const struct pim_tile_training *training, struct pim_error *error);

#endif
