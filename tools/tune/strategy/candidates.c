#include "tools/tune/strategy/candidates.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 128, BLOCKS = 16, DRAWN_FOR_EACH = 256, INPUTS = PIM_TUNE_DIMENSIONS };

bool pim_tune_candidates_initialize(struct pim_tune_candidates *candidates, size_t capacity)
{
    *candidates = (struct pim_tune_candidates){.capacity = capacity};
    candidates->items = calloc(capacity, sizeof *candidates->items);
    candidates->features = calloc(capacity * INPUTS, sizeof *candidates->features);
    return candidates->items && candidates->features;
}

void pim_tune_candidates_terminate(struct pim_tune_candidates *candidates)
{
    free(candidates->items);
    free(candidates->features);
    *candidates = (struct pim_tune_candidates){.count = 0};
}

/* BLOCKS blocks that are drawn and filtered side by side. */
struct drawing {
    const struct pim_tune_space *space;
    const struct pim_tune_filter *filter;
    struct pim_pass **passes; /* of each worker */
    double budget;
    uint64_t seed;
    struct pim_tune_architecture items[BLOCKS][BLOCK];
    double features[BLOCKS][BLOCK * INPUTS];
    bool accepted[BLOCKS][BLOCK], legal[BLOCKS][BLOCK];
};

static void draw_block(void *context, unsigned worker, uint64_t index)
{
    struct drawing *drawing = context;
    size_t block = (size_t)(index % BLOCKS);
    struct pim_random random;
    uint64_t state = drawing->seed + index;
    pim_random_initialize(&random, pim_splitmix64(&state));
    for (size_t i = 0; i < BLOCK; i++) {
        struct pim_tune_architecture *one = &drawing->items[block][i];
        struct pim_area area;
        pim_tune_random(drawing->space, &random, one);
        pim_tune_features(drawing->space, one, &drawing->features[block][i * INPUTS]);
        pim_tune_area(drawing->space, one, &area);
        drawing->legal[block][i] = area.engines <= drawing->budget;
    }
    const double *predicted =
        pim_tune_filter_predict(drawing->filter, drawing->passes[worker], BLOCK, drawing->features[block]);
    for (size_t i = 0; i < BLOCK; i++)
        drawing->accepted[block][i] = predicted[i] <= 0;
}

static void take_block(const struct drawing *drawing, size_t block, struct pim_tune_candidates *candidates)
{
    for (size_t i = 0; i < BLOCK && candidates->count < candidates->capacity; i++) {
        bool accepted = drawing->accepted[block][i], legal = drawing->legal[block][i];
        candidates->drawn++;
        candidates->false_accepts += accepted && !legal;
        candidates->false_rejects += !accepted && legal;
        if (!accepted)
            continue;
        candidates->items[candidates->count] = drawing->items[block][i];
        memcpy(candidates->features + candidates->count++ * INPUTS, &drawing->features[block][i * INPUTS],
               INPUTS * sizeof(double));
    }
}

enum pim_status pim_tune_candidates_draw(struct pim_tune_candidates *candidates,
                                         const struct pim_tune_space *space, double budget,
                                         const struct pim_tune_filter *filter, struct pim_workers *workers,
                                         uint64_t seed, struct pim_error *error)
{
    struct drawing *drawing = calloc(1, sizeof *drawing);
    unsigned threads = pim_workers_count(workers);
    struct pim_pass **passes = calloc(threads, sizeof *passes);
    bool good = drawing && passes;
    for (unsigned i = 0; good && i < threads; i++) {
        passes[i] = pim_tune_filter_pass(filter, BLOCK);
        good = passes[i] != NULL;
    }
    candidates->count = 0;
    candidates->drawn = candidates->false_accepts = candidates->false_rejects = 0;
    if (good)
        *drawing = (struct drawing){
            .space = space, .filter = filter, .passes = passes, .budget = budget, .seed = seed};
    for (uint64_t block = 0; good && candidates->count < candidates->capacity &&
                             block * BLOCK < (uint64_t)DRAWN_FOR_EACH * candidates->capacity;
         block += BLOCKS) {
        pim_workers_run(workers, draw_block, drawing, block, block + BLOCKS);
        for (size_t i = 0; i < BLOCKS; i++)
            take_block(drawing, i, candidates);
    }
    for (unsigned i = 0; passes && i < threads; i++)
        pim_pass_destroy(passes[i]);
    free(passes);
    free(drawing);
    return good ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for candidates");
}

/* --- ranking --- */

struct ranked {
    double value;
    size_t place;
};

static int compare(const void *a, const void *b)
{
    const struct ranked *one = a, *two = b;
    if (one->value < two->value || one->value > two->value)
        return one->value < two->value ? -1 : 1;
    return one->place < two->place ? -1 : one->place > two->place;
}

enum pim_status pim_tune_candidates_rank(const struct pim_tune_candidates *candidates, const double *value,
                                         size_t *order, struct pim_error *error)
{
    struct ranked *ranked = calloc(candidates->count + 1, sizeof *ranked);
    if (!ranked)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for candidates");
    for (size_t i = 0; i < candidates->count; i++)
        ranked[i] = (struct ranked){value[i], i};
    qsort(ranked, candidates->count, sizeof *ranked, compare);
    for (size_t i = 0; i < candidates->count; i++)
        order[i] = ranked[i].place;
    free(ranked);
    return PIM_OK;
}
