/* Pixels and blocks in local memories while the low-latency schedule goes on. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LATENCY_BLOCKS_H
#define PIMSIM_MAPPERS_PIMCOMP_LATENCY_BLOCKS_H

#include "mappers/pimcomp/latency/state.h"

/* --- memory --- */
/* Takes `bytes` on a core for the window of `layer` that is about to run; false: there is no room, and all
 * that the window had reserved is given back. */
bool pim_ll_reserve(struct pim_ll *ll, uint32_t layer, uint32_t core, uint32_t bytes);
/* The pixel of a key is in its core, and an instruction of `layer` may read it. */
bool pim_ll_is_here(const struct pim_ll *ll, uint32_t layer, uint64_t key);
/* Slots that a core reads of a window, and what it found: an entry for each slot of the layer. */
struct pim_ll_reader {
    uint32_t layer, task, core;
    const uint32_t *need; /* NULL: the first `needed` */
    uint32_t needed;
    uint32_t *found;
};
/* Reserves room for the pixels of input maps that the core lacks for a window. */
bool pim_ll_reserve_loads(struct pim_ll *ll, const struct pim_ll_reader *reader);
/* Emits the loads that are reserved, and enters their pixels. */
void pim_ll_perform_loads(struct pim_ll *ll);
/* Completes `found` after the loads. */
void pim_ll_find_loaded(struct pim_ll *ll, const struct pim_ll_reader *reader);
/* All inputs of the window are there, or can be loaded: fills `found`. False: *waited is the key of one that
 * is not. */
bool pim_ll_find_inputs(struct pim_ll *ll, const struct pim_ll_reader *reader, uint64_t *waited);
/* The window has read its inputs: one use less of each. */
void pim_ll_use_inputs(struct pim_ll *ll, const struct pim_ll_reader *reader);
/* Reserves the output pixel at `home` and at all its destinations; reservation[first] is that of home.
 * `held` is the address when home has it already, else PIM_PIXEL_NONE. */
bool pim_ll_reserve_output(struct pim_ll *ll, uint32_t layer, uint32_t window, uint32_t home, uint32_t held,
                           size_t *first);
/* The pixel is made (its instructions are emitted): stores it, enters records and requests. */
void pim_ll_deliver(struct pim_ll *ll, uint32_t layer, uint32_t window, uint32_t home, size_t first);
/* One use less; the last one gives the place back. */
void pim_ll_use(struct pim_ll *ll, uint32_t record);

#endif
