/* What a sweep is, as a JSON text: the key under which results may stand in one table. */
#ifndef PIMSIM_TOOLS_SWEEP_SPECIFICATION_IDENTITY_H
#define PIMSIM_TOOLS_SWEEP_SPECIFICATION_IDENTITY_H

#include "tools/sweep/sweep.h"

/* Writes the identity of a prepared sweep; the caller frees *text. */
enum pim_status pim_sweep_identify(const struct pim_sweep *sweep, char **text, struct pim_error *error);

/* "axes, pimsim": the parts in which two identities differ, for a message; "" when they are equal. Returns
 * whether they are. */
bool pim_sweep_same(const char *one, const char *two, char *differences, size_t size);

#endif
