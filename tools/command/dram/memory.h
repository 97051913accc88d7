/* The options that say which memory is meant, and what comes of them. */
#ifndef PIMSIM_TOOLS_COMMAND_DRAM_MEMORY_H
#define PIMSIM_TOOLS_COMMAND_DRAM_MEMORY_H

#include "models/dram/standard/schema.h"
#include "tools/command/options.h"

struct dram_memory_options {
    const char *preset;
    struct text_list files, sets;
};

/* Their rules; then a text that tells where presets are listed, and what else the rule of presets has. */
#define OPTIONS_DRAM_MEMORY(memory, ...)                                                                     \
    RULE_TEXT("preset", (memory).preset, "NAME", "A memory that is built in " __VA_ARGS__),                  \
        {.name = "configuration",                                                                            \
         .kind = OPTION_LIST,                                                                                \
         .target = &(memory).files,                                                                          \
         .argument = "FILE",                                                                                 \
         .help = "A memory described in a file (libconfig); of several, or after a preset, the later wins"}, \
    {                                                                                                        \
        .name = "set", .kind = OPTION_LIST, .target = &(memory).sets, .argument = "KEY=VALUE",               \
        .help = "Changes one value after the preset and the files are read"                                  \
    }

/* The preset, if there is one, then the files, then --set. The caller destroys `values`, whatever is
 * returned. */
enum pim_status dram_memory_values(const struct dram_memory_options *options,
                                   struct pim_configuration **values, struct pim_error *error);

/* As a memory that works. The preset (`fallback` when neither preset nor file is given, unless it is
 * NULL), then the files, then --set. The caller destroys `values`, whatever is returned. */
enum pim_status dram_memory_configure(const struct dram_memory_options *options, const char *fallback,
                                      struct pim_configuration **values,
                                      struct pim_dram_configuration *configuration, struct pim_error *error);
void dram_memory_options_terminate(struct dram_memory_options *options);

#endif
