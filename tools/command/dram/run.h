/*
 * A run of `pimsim dram`: requests served by a memory, with what came of it. Requests, their log and the
 * commands pass through block by block: memory does not grow with their number.
 */
#ifndef PIMSIM_TOOLS_COMMAND_DRAM_RUN_H
#define PIMSIM_TOOLS_COMMAND_DRAM_RUN_H

#include "models/dram/memory.h"
#include "sim/output/progress.h"
#include "tools/command/dram/latency.h"
#include "tools/command/dram/list.h"
#include "tools/command/dram/log.h"
#include "traces/layout.h"

#include <stdio.h>

/* A request that is complete. */
struct dram_served {
    uint64_t number;
    const struct pim_dram_request *request;
    uint64_t arrived, first_command, completed; /* first_command: UINT64_MAX without a command */
};

/* What a run hands on while it goes; every member may be NULL or false. */
struct dram_run_outputs {
    void *context;
    void (*served)(void *context, const struct dram_served *served); /* in the order of the requests */
    FILE *commands;
    enum dram_log_format format;   /* of the commands */
    bool check;                    /* the checker reads the commands */
    struct pim_progress *progress; /* of the requests that were handed over */
};

struct dram_run {
    uint64_t requests;
    uint64_t cycles; /* the last request is complete */
    uint64_t bytes;  /* whole column accesses */
    double cpu_seconds;
    struct pim_dram_counters counters;
    struct pim_dram_energy energy;
    struct dram_latency reads, writes;
    struct pim_layout_cost window; /* set before the run when the list is a tensor's window; else 0 */
    /* With a check of the commands: */
    bool checked;
    uint64_t checked_commands, violations;
    double energy_difference; /* of the total, re-added from the commands, relative */
};

/* `run` is zero but for `window`. */
enum pim_status dram_run_execute(struct dram_run *run, const struct pim_dram_configuration *configuration,
                                 struct dram_source *source, const struct dram_run_outputs *outputs,
                                 struct pim_error *error);

/* Results: `format` 0 text, 1 JSON. `host`: with the seconds of this run. */
enum pim_status dram_report_write(const struct dram_run *run,
                                  const struct pim_dram_configuration *configuration, const char *name,
                                  unsigned format, bool host, FILE *file, struct pim_error *error);

/* The log of requests: a header, and then a row for each (`context` is the writer). */
struct pim_csv_writer;
void dram_requests_start(struct pim_csv_writer *writer, FILE *file);
void dram_requests_put(void *context, const struct dram_served *served);
#endif
