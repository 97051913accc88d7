/*
 * The nearest of several names, for messages that refuse an unknown one.
 */
#ifndef PIMSIM_SIM_NEAREST_H
#define PIMSIM_SIM_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Edits that turn `a` into `b`: a letter inserted, left out, replaced, or two neighbours swapped (optimal
 * string alignment). Upper and lower case are the same letter. Only the first 255 bytes of either name count.
 */
size_t pim_edit_distance(const char *a, const char *b);

/* The one of several names that may be meant by `wanted`: start with {wanted}, and offer each. `name` is NULL
 * while none is near enough: no more edits than a third of the letters of the longer one. Of equals the first
 * is kept. */
struct pim_nearest {
    const char *wanted, *name;
    size_t edits;
};
void pim_nearest_offer(struct pim_nearest *nearest, const char *name);

#endif
