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

/*
 * Whether `name` may be meant by `wanted`. Near: no more edits than a third of the letters of the longer one,
 * which has more than three, or none. Near alone, which counts where it holds for one name and none is near:
 * `name` begins with `wanted`, or one edit is between names of two or three letters.
 */
enum pim_nearness { PIM_FAR, PIM_NEAR_ALONE, PIM_NEAR };
enum pim_nearness pim_nearness_of(const char *wanted, const char *name, size_t *edits);

/* The one of several names that may be meant by `wanted`: start with {wanted}, and offer each. `name` is NULL
 * while none is. Of those that are equally near the first is kept, of those near alone none; true: the one
 * that is offered is kept. */
struct pim_nearest {
    const char *wanted, *name;
    size_t edits; /* of one that is near */
    bool near, several;
};
bool pim_nearest_offer(struct pim_nearest *nearest, const char *name);

/* The same for a name in a buffer that changes: it is kept as a copy in `kept`, cut to its size. */
bool pim_nearest_offer_copy(struct pim_nearest *nearest, const char *name, char *kept, size_t size);

/* Two arguments for "%s%s" of a message: words and the name, or nothing while there is none. */
#define PIM_NEAREST(nearest, words) (nearest).name ? (words) : "", (nearest).name ? (nearest).name : ""

#endif
