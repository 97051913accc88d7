/* One window of a layer of the low-latency schedule, and the parts that windows with matrices share. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LATENCY_WINDOWS_H
#define PIMSIM_MAPPERS_PIMCOMP_LATENCY_WINDOWS_H

#include "mappers/pimcomp/latency/blocks.h"
#include "mappers/pimcomp/latency/state.h"

/* --- windows: true when it has run --- */
bool pim_ll_run_matrix(struct pim_ll *ll, uint32_t layer, uint32_t replica);
bool pim_ll_run_vector(struct pim_ll *ll, uint32_t layer, uint32_t worker);
bool pim_ll_run_folds(struct pim_ll *ll, uint32_t layer, uint32_t replica);
/* An input vector has a fold for a window of the replica. */
bool pim_ll_vector_serves(const struct pim_ll_layer *layer, uint32_t replica, uint32_t vector);
/* The first input vector of the replica. */
uint32_t pim_ll_first_vector(const struct pim_ll_layer *layer, uint32_t replica);

/* --- parts of a window with a matrix, shared with folds --- */
/* All inputs of the replica's task are there, or can be loaded. */
bool pim_ll_find_task(struct pim_ll *ll, uint32_t layer, struct pim_ll_replica *replica);
/* Reserves the loads of the task; emits them, so that `found` of all members is complete; the task has read
 * its inputs. */
bool pim_ll_reserve_task(struct pim_ll *ll, uint32_t layer, const struct pim_ll_replica *replica);
void pim_ll_load_task(struct pim_ll *ll, uint32_t layer, const struct pim_ll_replica *replica);
void pim_ll_end_task(struct pim_ll *ll, uint32_t layer, struct pim_ll_replica *replica);
/* Emits gather and MVM of a group; its output goes to `output`. */
void pim_ll_emit_mvm(struct pim_ll *ll, uint32_t layer, const struct pim_ll_replica *replica, uint32_t member,
                     uint32_t group, uint32_t output);
/* Address of the output buffer of a group. */
uint32_t pim_ll_output_of(const struct pim_ll *ll, const struct pim_ll_layer *layer,
                          const struct pim_ll_replica *replica, uint32_t group);
/* Sums at base[member] of the other members to `pixel` at home; then bias and activations. */
void pim_ll_emit_sums(struct pim_ll *ll, uint32_t layer, struct pim_ll_replica *replica, const uint32_t *base,
                      uint32_t pixel);

#endif
