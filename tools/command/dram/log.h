/* Logs of commands that `pimsim dram` and `bitserial` keep, check and write; what their results share. */
#ifndef PIMSIM_TOOLS_COMMAND_DRAM_LOG_H
#define PIMSIM_TOOLS_COMMAND_DRAM_LOG_H

#include "models/dram/check/command_check.h"
#include "models/dram/standard/schema.h"
#include "sim/output/csv.h"
#include "sim/output/json.h"

#include <stdio.h>

/* How a log of commands is written: our CSV, or that of DRAMPower (timestamp,command,rank,bank group,bank,
 * row,column,data without a header; data, which are not modelled, are zeros). And read: our CSV, the text of
 * Ramulator's CmdTraceRecorder, or the trace of DRAMsim3. */
enum dram_log_format { DRAM_LOG_CSV, DRAM_LOG_DRAMPOWER, DRAM_LOG_RAMULATOR, DRAM_LOG_DRAMSIM3 };
#define DRAM_LOG_FORMAT_NAMES "csv|drampower|ramulator|dramsim3"

/*
 * Commands of a run, sorted by cycle, then channel, then column before row command. Channels go on one by
 * one, so that their commands come in an order of their own: what does not fit DRAM_LOG_KEPT goes to a
 * temporary file in sorted parts, which are merged at the end. All zero is an empty log.
 */
struct dram_log {
    struct pim_dram_record *records; /* owned: the newest part */
    size_t count, capacity;
    uint64_t total;
    uint32_t copies; /* every record stands for so many channels, from 0 on; 0: for its own alone */
    FILE *parts;     /* of DRAM_LOG_KEPT records each */
    size_t part_count;
    enum pim_status status; /* records are missing: the log must not be used */
    int cause;              /* errno where the status is PIM_IO */
};
enum { DRAM_LOG_KEPT = 1 << 20 };

/* For a sink; `context` is the log. */
void dram_log_add(void *context, const struct pim_dram_record *record);

/* Who takes records one after the other. */
struct dram_log_taker {
    void *context;
    enum pim_status (*take)(void *context, const struct pim_dram_record *record, struct pim_error *error);
};

/* Hands every record on, in order; once. */
enum pim_status dram_log_each(struct dram_log *log, const struct dram_log_taker *taker,
                              struct pim_error *error);
void dram_log_terminate(struct dram_log *log);

/* What is done with commands: written to a file, held against the constraints; either may be left out. */
struct dram_log_use {
    const struct pim_dram_configuration *configuration;
    FILE *file;
    enum dram_log_format format; /* CSV or DRAMPOWER */
    struct pim_csv_writer writer;
    struct pim_dram_check *check; /* owned */
};
enum pim_status dram_log_use_start(struct dram_log_use *use,
                                   const struct pim_dram_configuration *configuration, FILE *file,
                                   enum dram_log_format format, bool check, struct pim_error *error);
/* A taker: `context` is the use. */
enum pim_status dram_log_use_take(void *context, const struct pim_dram_record *record,
                                  struct pim_error *error);
/* The end of all commands, in `cycle`. */
void dram_log_use_end(struct dram_log_use *use, uint64_t cycle);
void dram_log_use_terminate(struct dram_log_use *use);

/* PIM_INTERNAL when a run of ours broke a constraint. */
enum pim_status dram_log_judge(uint64_t violations, struct pim_error *error);

/* The columns of a log of commands. */
enum { DRAM_LOG_COLUMNS = 8 };
extern const char *const dram_log_columns[DRAM_LOG_COLUMNS];

/* "commands" (by the names of a standard, NULL: jedec's; text: those that occurred), "energy_pj" (pJ;
 * null, n/a: not modelled) and "energy_reasons" (why). */
void dram_put_commands(struct pim_json *json, const struct pim_dram_specification *specification,
                       const uint64_t *commands);
void dram_put_energy(struct pim_json *json, const struct pim_dram_energy *energy);
void dram_print_commands(const struct pim_dram_specification *specification, const uint64_t *commands,
                         FILE *file);
void dram_print_energy(const struct pim_dram_energy *energy, FILE *file);

/* Checks a log of a file; prints up to `shown` violations on `out`, and how many there are. `format` 0 text,
 * 1 JSON. */
enum pim_status dram_check_file(const struct pim_dram_configuration *configuration, const char *path,
                                enum dram_log_format log_format, uint64_t shown, unsigned format, FILE *out,
                                uint64_t *violations, struct pim_error *error);

#endif
