/* Layer normalisations of a node. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_LAYERS_NORMALISATION_H
#define PIMSIM_MAPPERS_ALLSPARK_LAYERS_NORMALISATION_H

#include "mappers/allspark/emitter.h"

/* What a layer normalisation reads and writes on a node: rows x q, and its own piece of a gathered input. */
struct pim_normalisation {
    uint64_t rows, source, output;
};

/* Its instructions; tag: that of the first round of the statistics. */
void pim_emit_normalisation(struct pim_emitter *emitter, struct pim_normalisation norm, uint32_t tag);
/* What that of `p` rows takes, added to the parts of the phase. */
void pim_estimate_normalisation(const struct pim_emitter *emitter, uint64_t p, struct pim_trace_phase *phase);

#endif
