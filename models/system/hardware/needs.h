/*
 * Which keys of the hardware count only beside certain values of others: the detour of a path only where
 * paths make detours. One table, from which a key that is set and would do nothing is refused.
 */
#ifndef PIMSIM_MODELS_SYSTEM_HARDWARE_NEEDS_H
#define PIMSIM_MODELS_SYSTEM_HARDWARE_NEEDS_H

#include "sim/configuration/configuration.h"

#include <stdbool.h>
#include <stddef.h>

/* Kinds of units, in the order of array.kind. */
enum { PIM_NODE_KEY = 1, PIM_CORE_KEY = 2, PIM_CHANNEL_KEY = 4, PIM_TILE_KEY = 8, PIM_UNIT_KINDS = 4 };

/* What a configuration is for: a trace that is there, a network that is mapped and replayed, the area of the
 * hardware; or for any of these, so that a key counts that counts for one. */
enum pim_key_purpose { PIM_TO_REPLAY = 1, PIM_TO_MAP = 2, PIM_TO_MEASURE = 4, PIM_TO_ANY = 7 };

enum { PIM_NEED_TEXT = 512 };

struct pim_hardware_need;

/* The first need of the key that the complete `configuration` does not meet, or NULL. `kinds`: the units that
 * it describes; 0: a network alone. */
const struct pim_hardware_need *pim_need_unmet(const struct pim_configuration *configuration, unsigned kinds,
                                               enum pim_key_purpose purpose, const char *path);

/* Whether the value of `key` decides if `path` counts, for one of the `purposes`. */
bool pim_need_names(const char *key, const char *path, unsigned purposes);

/* "counts with tile.routing "adaptive" alone, which is "xy" here", for a message. */
void pim_need_describe(const struct pim_hardware_need *need, const struct pim_configuration *configuration,
                       enum pim_key_purpose purpose, char text[PIM_NEED_TEXT]);

#endif
