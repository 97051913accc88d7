/* Runs what is missing of a sweep into a file of results: what the command and libpimsim share. */
#ifndef PIMSIM_TOOLS_SWEEP_SPECIFICATION_FILL_H
#define PIMSIM_TOOLS_SWEEP_SPECIFICATION_FILL_H

#include "tools/sweep/store/store.h"
#include "tools/sweep/trace_pool.h"
#include "tools/sweep/workers.h"

struct pim_sweep_fill {
    unsigned threads; /* 0: one for each processor */
    bool retry;       /* points that failed run again */
    bool quiet;       /* no progress bar */
    uint64_t seconds; /* after which no further point begins; 0: without limit */
    /* The caller's own progress and end, for libraries: then SIGINT is left alone. NULL: nobody asks. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    bool (*stop)(void *context);
    void *context;
};

/* One for each processor. */
unsigned pim_sweep_processors(void);

/* The traces of a sweep, in `cache`; NULL: in the folder beside `results` that has the ending .traces. */
enum pim_status pim_sweep_open_pool(const struct pim_sweep *sweep, const char *results, const char *cache,
                                    struct pim_trace_pool **pool, struct pim_error *error);

/* Runs the points that `store` lacks of a prepared sweep, of whose numbers the constraints admit `points`. */
enum pim_status pim_sweep_fill(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                               struct pim_store *store, uint64_t points, const struct pim_sweep_fill *how,
                               struct pim_sweep_outcome *outcome, struct pim_error *error);

#endif
