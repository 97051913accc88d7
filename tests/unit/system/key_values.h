/* Values of each key of the hardware schema, for tests that walk through it; and how they compare results. */
#ifndef PIMSIM_TESTS_UNIT_SYSTEM_KEY_VALUES_H
#define PIMSIM_TESTS_UNIT_SYSTEM_KEY_VALUES_H

#include "sim/configuration/configuration.h"

#include <stdbool.h>
#include <stddef.h>

enum { KEY_VALUES = 24, KEY_VALUE = 96 };

/* "key=value": numbers around the default, all choices, texts that the key wants; at least one. */
size_t key_values_of(const struct pim_key *key, char values[KEY_VALUES][KEY_VALUE]);

/* Whether the key is that of the row, or one of those below "group." and "group.part_". */
bool key_is_of(const char *key, const char *row);

/* Whether two results in JSON say the same: an energy of a part that there is not is 0, or not modelled. */
bool key_results_are_same(const char *results, const char *others);

/* The same but for the last digit: means of ticks are rounded by the common tick, which every clock is in. */
bool key_results_are_near(const char *results, const char *others);

#endif
