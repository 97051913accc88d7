/*
 * The general network as the rest of this folder sees it. Its state is in state.h.
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_GENERAL_H
#define PIMSIM_MODELS_NOC_GENERAL_GENERAL_H

#include "models/noc/internal.h"

/* general.c, check.c */
enum pim_status pim_noc_general_create(struct pim_noc *noc, struct pim_error *error);
void pim_noc_general_destroy(struct noc_general *general);
void pim_noc_general_send(struct pim_noc *noc, uint64_t cycle, uint32_t packet, struct pim_noc_tag tag);
uint64_t pim_noc_general_next(const struct noc_general *general);
void pim_noc_general_step(struct pim_noc *noc, uint64_t cycle);
void pim_noc_general_declare(struct noc_general *general, uint32_t task, uint64_t flits);
enum pim_status pim_noc_general_check(struct pim_noc *noc, struct pim_error *error);
size_t pim_noc_general_waiting(const struct pim_noc *noc, struct pim_noc_waiting *items, size_t capacity);

#endif
