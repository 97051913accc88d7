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

/* Whether one of them may be meant by the other: no more edits than a third of the longer one. */
bool pim_is_near(const char *a, const char *b);

#endif
