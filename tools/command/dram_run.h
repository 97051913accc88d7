/* A run of `pimsim dram`: a request list served by a memory, with what came of it. */
#ifndef PIMSIM_TOOLS_COMMAND_DRAM_RUN_H
#define PIMSIM_TOOLS_COMMAND_DRAM_RUN_H

#include "models/dram/memory.h"
#include "tools/command/dram_list.h"
#include "tools/command/dram_log.h"
#include "traces/layout.h"

#include <stdio.h>

struct dram_result {
    uint64_t first_command, completed; /* first_command: UINT64_MAX without a command */
};

struct dram_latency {
    uint64_t count;
    double average; /* NaN without requests */
    uint64_t median, p95, p99, most;
};

struct dram_run {
    uint64_t *arrived;           /* one for each request, */
    struct dram_result *results; /* and another */
    struct dram_log log;         /* in rising order of cycles */
    uint64_t cycles;             /* the last request is complete */
    uint64_t bytes;              /* whole column accesses */
    double cpu_seconds;
    struct pim_dram_counters counters;
    struct pim_dram_energy energy;
    struct dram_latency reads, writes;
    struct pim_layout_cost window; /* set before the run when the list is a tensor's window; else 0 */
    /* With a check of the commands: */
    bool checked;
    uint64_t violations;
    double energy_difference; /* of the total, re-added from the commands, relative */
};

/* `run` is zero but for `window`. `keep_commands`: records are wanted; `check`: the checker reads them. */
enum pim_status dram_run_execute(struct dram_run *run, const struct pim_dram_configuration *configuration,
                                 const struct dram_list *list, bool keep_commands, bool check,
                                 struct pim_error *error);
void dram_run_terminate(struct dram_run *run);

/* Results: `format` 0 text, 1 JSON. `host`: with the seconds of this run. */
enum pim_status dram_report_write(const struct dram_run *run,
                                  const struct pim_dram_configuration *configuration, const char *name,
                                  const struct dram_list *list, unsigned format, bool host, FILE *file,
                                  struct pim_error *error);
void dram_requests_write(const struct dram_run *run, const struct dram_list *list, FILE *file);
#endif
