/* Logs of commands that `pimsim dram` and `bitserial` keep, check and write; what their results share. */
#ifndef PIMSIM_TOOLS_COMMAND_DRAM_LOG_H
#define PIMSIM_TOOLS_COMMAND_DRAM_LOG_H

#include "models/dram/command_check.h"
#include "models/dram/schema.h"
#include "sim/json.h"

#include <stdio.h>

/* All zero is an empty log. */
struct dram_log {
    struct pim_dram_record *records; /* owned */
    size_t count, capacity;
    bool out_of_memory; /* records are missing: the log must not be used */
};

/* For a sink; `context` is the log. */
void dram_log_add(void *context, const struct pim_dram_record *record);
/* By cycle, then channel, then column before row command. */
void dram_log_sort(struct dram_log *log);
/* CSV: cycle,command,channel,rank,bank_group,bank,row,column. */
void dram_log_write(const struct dram_log *log, const struct pim_dram_specification *specification,
                    FILE *file);
/* Hands every command of a sorted log to a new checker, which the caller destroys; NULL on failure. */
enum pim_status dram_log_check(const struct dram_log *log, const struct pim_dram_configuration *configuration,
                               struct pim_dram_check **check, struct pim_error *error);
void dram_log_terminate(struct dram_log *log);

/* PIM_INTERNAL when a run of ours broke a constraint. */
enum pim_status dram_log_judge(uint64_t violations, struct pim_error *error);

/* The columns of a log of commands. */
enum { DRAM_LOG_COLUMNS = 8 };
extern const char *const dram_log_columns[DRAM_LOG_COLUMNS];

/* "commands" (by kind; text: those that occurred) and "energy_pj" (pJ; null, n/a: not modelled). */
void dram_put_commands(struct pim_json *json, const uint64_t *commands);
void dram_put_energy(struct pim_json *json, const struct pim_dram_energy *energy);
void dram_print_commands(const uint64_t *commands, FILE *file);
void dram_print_energy(const struct pim_dram_energy *energy, FILE *file);

/* Checks a log of a file; prints up to `shown` violations on `out`, and how many there are. `format` 0 text,
 * 1 JSON. */
enum pim_status dram_check_file(const struct pim_dram_configuration *configuration, const char *path,
                                uint64_t shown, unsigned format, FILE *out, uint64_t *violations,
                                struct pim_error *error);

#endif
