/*
 * Allocators and arbiters of the general network: which requests of a router are granted.
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_MATCH_H
#define PIMSIM_MODELS_NOC_GENERAL_MATCH_H

#include "models/noc/general/state.h"

struct general_matching {
    const struct pim_noc *noc;
    struct general_request *requests;
    unsigned count;
    enum pim_noc_allocator allocator;
    struct general_arbiter arbiter;
    unsigned iterations;      /* islip */
    unsigned inputs, outputs; /* of the router's matrix */
    bool urgency_ignored;     /* of speculation, and priorities: islip */
    uint16_t *diagonal;       /* wavefront */
    /* Pointers of input i: accept[i * accept_stride], and so on. */
    uint16_t *accept, *grant;
    size_t accept_stride, grant_stride;     /* in units of uint16_t */
    uint64_t *input_stamps, *output_stamps; /* [input][output], [output][input]; see general_stamps */
    uint64_t now;                           /* cycle + 1: never 0 */
};
static inline bool pim_noc_general_is_wavefront(enum pim_noc_allocator allocator)
{
    return allocator == PIM_NOC_WAVEFRONT || allocator == PIM_NOC_ROUND_ROBIN_WAVEFRONT;
}
/* Sets `granted` of the requests of a matching, and moves pointers. Requests differ in input or output. */
void pim_noc_general_match(struct general_matching *matching);
/* Which of two requests an arbiter prefers; `first` and `second` are their indices at the arbiter. */
bool pim_noc_general_prefers(const struct pim_noc *noc, struct general_arbiter arbiter,
                             const struct general_request *a, unsigned first, const struct general_request *b,
                             unsigned second, unsigned pointer, unsigned size, const uint64_t *stamps);

#endif
