/* Schedules as rows, without time: which rows of its producers each row of a layer waits for. */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_EMIT_ROWS_H
#define PIMSIM_MAPPERS_OVERLAPIM_EMIT_ROWS_H

#include "mappers/overlapim/chain/chain.h"

struct pim_layer_rows {
    uint64_t rows;
    uint32_t links;
    uint64_t **need; /* [link][row]: rows of the producer that must have ended, not falling */
};

/* Of all layers, in lock step or transformed, as `chain` has them; pim_rows_free() frees them. */
enum pim_status pim_rows_make(const struct pim_search_inputs *inputs,
                              const struct pim_layer_mapping *mappings, bool transformed,
                              const struct pim_chain *chain, struct pim_layer_rows **rows,
                              struct pim_error *error);
void pim_rows_free(struct pim_layer_rows *rows, uint32_t layers);

#endif
