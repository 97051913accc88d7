/*
 * Which keys of the hardware schema say anything about which kind of units. A configuration has all keys, so
 * that one that was printed whole can be read again; but a value that is set on its own, for units that have
 * no such part, would do nothing and look as if it had been tried.
 */
#ifndef PIMSIM_MODELS_SYSTEM_USED_H
#define PIMSIM_MODELS_SYSTEM_USED_H

#include "models/system/hardware/needs.h"
#include "sim/configuration/configuration.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the units of a complete `configuration` have what the key describes, and look at it: one of
 * pim_hardware_schema, or of the schema of a network alone. */
bool pim_hardware_uses(const struct pim_configuration *configuration, enum pim_key_purpose purpose,
                       const char *path);

/* Whether the value of `key` decides if units have what `path` describes. */
bool pim_hardware_decides(const char *key, const char *path);

/* Whose value counts where a replay asks for the clock of this key: its own, or the key of the logic's clock,
 * as which one counts that nothing runs at. */
const char *pim_hardware_clock(const struct pim_configuration *configuration, const char *path);

/* The key of "key=value", which may have blanks around it, into `path` of `size` bytes. */
void pim_hardware_key_of_set(const char *set, char *path, size_t size);

/* PIM_BAD_INPUT for the first of "key=value" that they have no use for. */
enum pim_status pim_hardware_accept_sets(const struct pim_configuration *configuration,
                                         enum pim_key_purpose purpose, const char *const *sets, size_t count,
                                         struct pim_error *error);

/* The refusal of a key that they have no use for. */
enum pim_status pim_hardware_refuse_key(const struct pim_configuration *configuration,
                                        enum pim_key_purpose purpose, const char *path,
                                        struct pim_error *error);

#endif
