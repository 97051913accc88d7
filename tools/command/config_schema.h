/* The schemas of pimsim and their reference in three forms. */
#ifndef PIMSIM_TOOLS_COMMAND_CONFIG_SCHEMA_H
#define PIMSIM_TOOLS_COMMAND_CONFIG_SCHEMA_H

#include "sim/configuration/configuration.h"

#include <stdio.h>

/* In the order of config_schema(). */
#define CONFIG_SCHEMA_NAMES "hardware|network|dram"
#define CONFIG_SCHEMA_COUNT 3u

const struct pim_schema *config_schema(unsigned index);

/* Print the schemas first .. end-1. The markdown form is the page docs/reference/configuration.md. */
void config_schema_text(unsigned first, unsigned end, FILE *out);
void config_schema_markdown(unsigned first, unsigned end, FILE *out);
enum pim_status config_schema_json(unsigned first, unsigned end, FILE *out, struct pim_error *error);

#endif
