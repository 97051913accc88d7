/*
 * Sweeps that grow: results of a sweep are kept when values, axes, sources or repeats are added to it, and
 * only what is missing runs.
 *
 * A sweep has grown from another one when everything else is equal: each source, axis and value of the
 * old one is in the new one (keys that vary together still do), and repeats begin with the same seed.
 * An axis that the old one lacks has the value of the configuration before the axes among its values:
 * that is where the old points stand on it.
 */
#ifndef PIMSIM_TOOLS_SWEEP_SPECIFICATION_GROW_H
#define PIMSIM_TOOLS_SWEEP_SPECIFICATION_GROW_H

#include "tools/sweep/sweep.h"

struct pim_growth;

/*
 * Whether `sweep`, which is prepared, has grown from the sweep of `identity`. *growth is NULL when it
 * has not; then `why` says what stands against it. The caller destroys it. PIM_BAD_INPUT: the identity
 * is damaged.
 */
enum pim_status pim_growth_create(const char *identity, const struct pim_sweep *sweep,
                                  struct pim_growth **growth, char *why, size_t size,
                                  struct pim_error *error);
void pim_growth_destroy(struct pim_growth *growth); /* NULL is allowed */

/* Whether results of points hold on. They do not where the program of another point may run at each
 * (mapping = "each"), and there are other such points than before. */
bool pim_growth_keeps(const struct pim_growth *growth);

/* The number in the new sweep of point `number` of the old one; UINT64_MAX: the old one has no such point. */
uint64_t pim_growth_number(const struct pim_growth *growth, uint64_t number);

/* The axis of the old sweep that axis `axis` of the new one continues, SIZE_MAX: it is new, and *value
 * is where the old points stand on it. */
size_t pim_growth_axis(const struct pim_growth *growth, size_t axis, size_t *value);

#endif
