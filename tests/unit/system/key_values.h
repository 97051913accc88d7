/* Values of each key of the hardware schema, for tests that walk through it. */
#ifndef PIMSIM_TESTS_SYSTEM_KEY_VALUES_H
#define PIMSIM_TESTS_SYSTEM_KEY_VALUES_H

#include "sim/configuration/configuration.h"

#include <stdbool.h>
#include <stddef.h>

enum { KEY_VALUES = 24, KEY_VALUE = 96 };

/* "key=value": numbers around the default, all choices, texts that the key wants; at least one. */
size_t key_values_of(const struct pim_key *key, char values[KEY_VALUES][KEY_VALUE]);

/* Whether the key is that of the row, or one of those below "group." and "group.part_". */
bool key_is_of(const char *key, const char *row);

#endif
