/* What a search of the tuner is asked for. */
#ifndef PIMSIM_TOOLS_TUNE_REQUEST_H
#define PIMSIM_TOOLS_TUNE_REQUEST_H

#include "tools/sweep/store/store.h"
#include "tools/tune/record.h"
#include "tools/tune/strategy/strategy.h"

#include <stdbool.h>
#include <stdint.h>

enum { PIM_TUNE_ITERATIONS_MOST = 100000 };

struct pim_tune_request {
    const char *const *networks; /* paths */
    size_t network_count;
    const char *constraints; /* path */
    const char *goal;
    const char *mapper; /* words: "nicepim --batch 4" */
    enum pim_tune_method method;
    enum pim_tune_fidelity fidelity;
    bool ladder; /* all fidelities are taken, `fidelity` counts */
    uint64_t iterations, seed, candidates;
    unsigned threads;
    uint64_t seconds; /* 0: no limit */
    const char *output;
    enum pim_store_mode mode;
    bool quiet;
    bool (*asked)(void *context); /* whether to stop at once; NULL: never */
    void *asked_context;
};

#endif
