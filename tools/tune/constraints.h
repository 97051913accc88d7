/*
 * The file of constraints of `pimsim tune`: the hardware that architectures are made of, what they may take,
 * and between which bounds they lie. libconfig with the checks of configurations; docs/tune.md has the keys.
 */
#ifndef PIMSIM_TOOLS_TUNE_CONSTRAINTS_H
#define PIMSIM_TOOLS_TUNE_CONSTRAINTS_H

#include "tools/tune/space.h"

struct pim_tune_constraints {
    char *hardware; /* path; owned */
    double budget;  /* mm2 of PE arrays and buffers */
    enum pim_area_reading reading;
    struct pim_tune_bounds bounds;
};

extern const struct pim_schema pim_tune_schema;

/* PIM_BAD_INPUT names file, line and key; PIM_IO. `constraints` is terminated in any case. */
enum pim_status pim_tune_constraints_read(const char *path, struct pim_tune_constraints *constraints,
                                          struct pim_error *error);
void pim_tune_constraints_terminate(struct pim_tune_constraints *constraints);

/* PIM_BAD_INPUT when no architecture of the space keeps to the budget: by how much the smallest exceeds it.
 */
enum pim_status pim_tune_constraints_check(const struct pim_tune_constraints *constraints,
                                           const struct pim_tune_space *space, struct pim_error *error);

#endif
