/* Numbers and choices in the texts of options. */
#ifndef PIMSIM_SIM_PARSE_H
#define PIMSIM_SIM_PARSE_H

#include "sim/status.h"

#include <stdint.h>

/* A whole number in [minimum, maximum], decimal or 0x; PIM_USAGE: "<name>: found x, allowed is ...". Signs
 * and blanks are refused. */
enum pim_status pim_parse_unsigned(const char *name, const char *text, uint64_t minimum, uint64_t maximum,
                                   uint64_t *value, struct pim_error *error);

/* A finite number in [minimum, maximum]. */
enum pim_status pim_parse_real(const char *name, const char *text, double minimum, double maximum,
                               double *value, struct pim_error *error);

/* The index of `text` in `choices` ("json|csv|text"); the message names the nearest one. */
enum pim_status pim_parse_choice(const char *name, const char *text, const char *choices, unsigned *index,
                                 struct pim_error *error);

#endif
