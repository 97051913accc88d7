/* What the suites of the DRAM channel share: presets, request lists, runs with all that came of them. */
#ifndef PIMSIM_TESTS_UNIT_DRAM_CHANNEL_SUPPORT_H
#define PIMSIM_TESTS_UNIT_DRAM_CHANNEL_SUPPORT_H

#include "models/dram/check/command_check.h"
#include "models/dram/memory.h"
#include "models/dram/standard/schema.h"
#include "sim/random.h"

struct access {
    uint64_t cycle, address;
    bool write;
};

struct outcome {
    uint64_t *arrived, *first_command, *completed;
    struct pim_dram_record *records;
    size_t count, record_count, record_room;
    uint64_t cycles;
    struct pim_dram_counters counters;
};

/* The preset with up to 8 settings behind it, the last one NULL; ends the test when one is refused. */
void configure(struct pim_dram_configuration *configuration, const char *preset, const char *const *settings);
/* The same; returns the status and the message. */
enum pim_status try_configure(struct pim_dram_configuration *configuration, const char *preset,
                              const char *const *settings, struct pim_error *error);

/* Serves a list; the caller calls outcome_free. `log`: with all commands. */
void serve(struct outcome *outcome, const struct pim_dram_configuration *configuration,
           const struct access *list, size_t count, bool log);
void outcome_free(struct outcome *outcome);

/* The checker, which has rules of its own, finds nothing in the commands of a run that was logged. */
void outcome_check(const struct outcome *outcome, const struct pim_dram_configuration *configuration,
                   const char *what);

/* Random settings of the controller for a preset, as texts that stay valid until the next call. */
struct settings {
    char text[10][48];
    const char *list[11];
};
void random_settings(struct settings *settings, struct pim_random *random);

/* A list with locality, bursts and pauses. The caller frees it. */
struct access *random_list(struct pim_random *random, const struct pim_dram_configuration *configuration,
                           size_t count, double rate);

/* Path of a file below tests/data/dram. */
void data_path(char *buffer, size_t size, const char *name);

#endif
