#include "tools/command/dram_log.h"

#include "sim/arena.h"
#include "sim/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const char *const dram_log_columns[DRAM_LOG_COLUMNS] = {"cycle",      "command", "channel", "rank",
                                                        "bank_group", "bank",    "row",     "column"};

void dram_log_add(void *context, const struct pim_dram_record *record)
{
    struct dram_log *log = context;
    if (log->count == log->capacity) {
        struct pim_dram_record *grown =
            pim_array_grow(log->records, &log->capacity, log->count + 1, sizeof *log->records);
        if (!grown) {
            log->out_of_memory = true;
            return;
        }
        log->records = grown;
    }
    log->records[log->count++] = *record;
}

/* In a cycle a channel has at most one column and one row command. */
static int compare(const void *left, const void *right)
{
    const struct pim_dram_record *a = left, *b = right;
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle ? -1 : 1;
    if (a->channel != b->channel)
        return a->channel < b->channel ? -1 : 1;
    return (int)pim_dram_is_column((enum pim_dram_command)b->command) -
           (int)pim_dram_is_column((enum pim_dram_command)a->command);
}

void dram_log_sort(struct dram_log *log)
{
    if (log->count > 1)
        qsort(log->records, log->count, sizeof *log->records, compare);
}

void dram_log_write(const struct dram_log *log, const struct pim_dram_specification *specification,
                    FILE *file)
{
    struct pim_csv_writer writer;
    pim_csv_start(&writer, file, dram_log_columns, DRAM_LOG_COLUMNS);
    for (size_t i = 0; i < log->count; i++) {
        struct pim_dram_logged logged = pim_dram_logged_record(specification, &log->records[i]);
        pim_csv_put_count(&writer, logged.cycle);
        pim_csv_put_text(&writer, pim_dram_command_text(logged.command));
        const int64_t places[] = {logged.channel, logged.rank, logged.bank_group,
                                  logged.bank,    logged.row,  logged.column};
        for (size_t j = 0; j < sizeof places / sizeof places[0]; j++)
            pim_csv_put_integer(&writer, places[j]);
        pim_csv_end_row(&writer);
    }
}

enum pim_status dram_log_check(const struct dram_log *log, const struct pim_dram_configuration *configuration,
                               struct pim_dram_check **check, struct pim_error *error)
{
    *check = pim_dram_check_create(&configuration->specification, &configuration->policy, NULL, NULL);
    if (!*check)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the command check");
    for (size_t i = 0; i < log->count; i++) {
        struct pim_dram_logged logged =
            pim_dram_logged_record(&configuration->specification, &log->records[i]);
        if (pim_dram_check_command(*check, &logged, error) != PIM_OK) {
            pim_dram_check_destroy(*check);
            *check = NULL;
            return error->status;
        }
    }
    return PIM_OK;
}

void dram_log_terminate(struct dram_log *log)
{
    free(log->records);
    *log = (struct dram_log){NULL, 0, 0, false};
}

enum pim_status dram_log_judge(uint64_t violations, struct pim_error *error)
{
    if (violations == 0)
        return PIM_OK;
    return pim_fail(error, PIM_INTERNAL, "the command check found %" PRIu64 " violations in this run",
                    violations);
}

void dram_put_commands(struct pim_json *json, const uint64_t *commands)
{
    pim_json_begin_object(json, "commands");
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        pim_json_put_count(json, pim_dram_command_text((enum pim_dram_command)i), commands[i]);
    pim_json_end(json);
}

void dram_print_commands(const uint64_t *commands, FILE *file)
{
    fputs("commands:", file);
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        if (commands[i] > 0)
            fprintf(file, " %s %" PRIu64, pim_dram_command_text((enum pim_dram_command)i), commands[i]);
    fputs("\n", file);
}

void dram_put_energy(struct pim_json *json, const struct pim_dram_energy *energy)
{
    pim_json_begin_object(json, "energy_pj");
    pim_json_put_real(json, "activate", energy->activate);
    pim_json_put_real(json, "precharge", energy->precharge);
    pim_json_put_real(json, "read", energy->read);
    pim_json_put_real(json, "write", energy->write);
    pim_json_put_real(json, "refresh", energy->refresh);
    pim_json_put_real(json, "io", energy->io);
    pim_json_put_real(json, "background", energy->background);
    pim_json_put_real(json, "background_active", energy->background_active);
    pim_json_put_real(json, "background_precharged", energy->background_precharged);
    pim_json_put_real(json, "total", energy->total);
    pim_json_end(json);
}

void dram_print_energy(const struct pim_dram_energy *energy, FILE *file)
{
    const struct {
        const char *name;
        double picojoules;
    } parts[] = {{"activate", energy->activate},    {"precharge", energy->precharge}, {"read", energy->read},
                 {"write", energy->write},          {"refresh", energy->refresh},     {"i/o", energy->io},
                 {"background", energy->background}};
    if (isnan(energy->total)) {
        fputs("energy: not modelled: the configuration gives no figures for it\n", file);
        return;
    }
    fprintf(file, "energy: %.6g pJ (", energy->total);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        fprintf(file, "%s%s ", i > 0 ? ", " : "", parts[i].name);
        if (isnan(parts[i].picojoules))
            fputs("n/a", file);
        else
            fprintf(file, "%.4g", parts[i].picojoules);
    }
    fputs(")\n", file);
}
