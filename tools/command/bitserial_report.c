/* What `pimsim bitserial` writes: results and the log of commands. */
#include "models/dram/command_check.h"
#include "sim/arena.h"
#include "sim/csv.h"
#include "sim/json.h"
#include "tools/command/bitserial_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void bitserial_log_add(void *context, const struct pim_dram_record *record)
{
    struct bitserial_log *log = context;
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

/* By cycle, then channel; in a cycle a channel has at most one column and one row command, in this order. */
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

enum pim_status bitserial_log_finish(struct bitserial_log *log, uint32_t channels, struct pim_error *error)
{
    size_t one = log->count;
    for (uint32_t channel = 1; channel < channels && !log->out_of_memory; channel++)
        for (size_t i = 0; i < one && !log->out_of_memory; i++) {
            struct pim_dram_record record = log->records[i];
            record.channel = (uint16_t)channel;
            bitserial_log_add(log, &record);
        }
    if (log->out_of_memory)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the log of commands");
    if (log->count > 0)
        qsort(log->records, log->count, sizeof *log->records, compare);
    return PIM_OK;
}

void bitserial_log_write(const struct bitserial_log *log, const struct pim_dram_specification *specification,
                         FILE *file)
{
    static const char *const columns[] = {"cycle",      "command", "channel", "rank",
                                          "bank_group", "bank",    "row",     "column"};
    struct pim_csv_writer writer;
    pim_csv_start(&writer, file, columns, sizeof columns / sizeof columns[0]);
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

void bitserial_log_terminate(struct bitserial_log *log)
{
    free(log->records);
    *log = (struct bitserial_log){NULL, 0, 0, false};
}

static const char *operation_text(const struct bitserial_task *task)
{
    return task->operation == BITSERIAL_MOVE
               ? "move"
               : pim_bitserial_operation_text((enum pim_bitserial_kind)task->operation);
}

static void put_commands(struct pim_json *json, const uint64_t *commands)
{
    pim_json_begin_object(json, "commands");
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        pim_json_put_count(json, pim_dram_command_text((enum pim_dram_command)i), commands[i]);
    pim_json_end(json);
}

static void put_energy(struct pim_json *json, const struct pim_dram_energy *energy)
{
    pim_json_begin_object(json, "energy_pj");
    pim_json_put_real(json, "activate", energy->activate);
    pim_json_put_real(json, "read", energy->read);
    pim_json_put_real(json, "write", energy->write);
    pim_json_put_real(json, "io", energy->io);
    pim_json_put_real(json, "refresh", energy->refresh);
    pim_json_put_real(json, "background", energy->background);
    pim_json_put_real(json, "total", energy->total);
    pim_json_end(json);
}

static void put_form(struct pim_json *json, const char *key, uint64_t value)
{
    if (value > 0)
        pim_json_put_count(json, key, value);
    else
        pim_json_put_null(json, key);
}

static void put_operation(struct pim_json *json, const struct bitserial_task *task,
                          const struct bitserial_outcome *outcome)
{
    const struct pim_bitserial_cost *cost = &outcome->cost;
    const struct pim_bitserial_operation *o = &task->request.operation;
    pim_json_put_count(json, "bits", o->bits);
    pim_json_put_count(json, "result_bits", pim_bitserial_result_rows(o));
    if (o->kind == PIM_BITSERIAL_OPERATION_REDUCE)
        pim_json_put_count(json, "width", o->width);
    pim_json_put_count(json, "banks", task->request.banks);
    pim_json_put_count(json, "channels", task->request.channels);
    pim_json_put_count(json, "count", task->request.repeat);
    pim_json_put_count(json, "columns", cost->columns);
    pim_json_put_count(json, "cycles", cost->timing.cycles);
    pim_json_put_real(json, "nanoseconds", outcome->nanoseconds);
    pim_json_put_count(json, "aaps", cost->aaps);
    put_form(json, "closed_form_aaps", cost->closed_form_aaps);
    put_form(json, "closed_form_cycles", cost->closed_form_cycles);
    put_form(json, "paper_aaps", cost->paper_aaps);
    put_form(json, "paper_cycles", cost->paper_cycles);
    pim_json_put_count(json, "commands_sequenced", cost->timing.issued);
    put_commands(json, cost->commands);
    put_energy(json, &cost->energy);
}

static void put_move(struct pim_json *json, const struct bitserial_task *task,
                     const struct bitserial_outcome *outcome)
{
    const struct pim_bitserial_transfer_cost *cost = &outcome->transfer;
    pim_json_put_text(json, "reach", pim_bitserial_reach_text(task->transfer.reach));
    pim_json_put_count(json, "rows", task->transfer.rows);
    pim_json_put_count(json, "pairs", task->transfer.pairs);
    pim_json_put_count(json, "bytes", cost->bytes);
    pim_json_put_count(json, "cycles", cost->cycles);
    pim_json_put_real(json, "nanoseconds", outcome->nanoseconds);
    pim_json_put_count(json, "paper_cycles", cost->paper_cycles);
    put_commands(json, cost->commands);
    put_energy(json, &cost->energy);
}

static void put_reram(struct pim_json *json, const struct bitserial_task *task,
                      const struct bitserial_outcome *outcome)
{
    if (task->mantissa > 0) {
        pim_json_put_count(json, "exponent_bits", task->exponent);
        pim_json_put_count(json, "mantissa_bits", task->mantissa);
    } else {
        pim_json_put_count(json, "bits", task->request.operation.bits);
    }
    pim_json_put_count(json, "cycles", outcome->sets + outcome->resets + outcome->nors + outcome->searches);
    pim_json_put_real(json, "nanoseconds", outcome->nanoseconds);
    pim_json_begin_object(json, "steps");
    pim_json_put_count(json, "set", outcome->sets);
    pim_json_put_count(json, "reset", outcome->resets);
    pim_json_put_count(json, "nor", outcome->nors);
    pim_json_put_count(json, "search", outcome->searches);
    pim_json_end(json);
    pim_json_put_null(json, "energy_pj");
}

static enum pim_status write_json(const struct bitserial_task *task, const struct bitserial_outcome *outcome,
                                  FILE *file, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory");
    bool reram = task->technology == BITSERIAL_RERAM;
    pim_json_put_text(json, "memory", reram ? "reram" : task->memory);
    pim_json_put_text(json, "technology", reram ? "reram" : "dram");
    pim_json_put_text(json, "operation", operation_text(task));
    if (reram) {
        put_reram(json, task, outcome);
    } else {
        pim_json_put_boolean(json, "ignore_activation_limits", task->ignore_limits);
        pim_json_put_boolean(json, "refresh", task->request.refresh);
        if (task->operation == BITSERIAL_MOVE)
            put_move(json, task, outcome);
        else
            put_operation(json, task, outcome);
    }
    if (outcome->checked) {
        pim_json_begin_object(json, "check");
        pim_json_put_count(json, "violations", outcome->violations);
        pim_json_end(json);
    }
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

static void print_part(FILE *file, const char *name, double value)
{
    if (isnan(value))
        fprintf(file, ", %s n/a", name);
    else
        fprintf(file, ", %s %.6g", name, value);
}

static void print_energy(FILE *file, const struct pim_dram_energy *energy)
{
    if (isnan(energy->total)) {
        fprintf(file, "energy: n/a (the configuration has no energies per bit and activation)\n");
        return;
    }
    fprintf(file, "energy: %.6g pJ", energy->total);
    print_part(file, "activate", energy->activate);
    print_part(file, "read", energy->read);
    print_part(file, "write", energy->write);
    print_part(file, "i/o", energy->io);
    print_part(file, "refresh", energy->refresh);
    print_part(file, "background", energy->background);
    fputs("\n", file);
}

static void print_commands(FILE *file, const uint64_t *commands)
{
    fputs("commands:", file);
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        if (commands[i] > 0)
            fprintf(file, " %s %" PRIu64, pim_dram_command_text((enum pim_dram_command)i), commands[i]);
    fputs("\n", file);
}

static void print_operation(FILE *file, const struct bitserial_task *task,
                            const struct bitserial_outcome *outcome)
{
    const struct pim_bitserial_cost *cost = &outcome->cost;
    fprintf(file,
            "%s: %s of %" PRIu32 " bits, %" PRIu64 " times, on %" PRIu32 " banks of %" PRIu32
            " channels: %" PRIu64 " cycles (%.6g ns), %" PRIu64 " columns at once\n",
            task->memory, operation_text(task), task->request.operation.bits, task->request.repeat,
            task->request.banks, task->request.channels, cost->timing.cycles, outcome->nanoseconds,
            cost->columns);
    fprintf(file, "AAPs of a bank: %" PRIu64, cost->aaps);
    if (cost->closed_form_cycles > 0)
        fprintf(file, "; a bank alone, without refresh: %" PRIu64 " cycles", cost->closed_form_cycles);
    if (cost->paper_aaps > 0)
        fprintf(file, "; as Fast-OverlaPIM counts: %" PRIu64 " AAPs, %" PRIu64 " cycles", cost->paper_aaps,
                cost->paper_cycles);
    fputs("\n", file);
    print_commands(file, cost->commands);
    print_energy(file, &cost->energy);
}

static void print_move(FILE *file, const struct bitserial_task *task, const struct bitserial_outcome *outcome)
{
    const struct pim_bitserial_transfer_cost *cost = &outcome->transfer;
    fprintf(file,
            "%s: %" PRIu32 " rows moved to another %s, %" PRIu32 " such moves at once: %" PRIu64
            " cycles (%.6g ns), %" PRIu64 " bytes\n",
            task->memory, task->transfer.rows, pim_bitserial_reach_text(task->transfer.reach),
            task->transfer.pairs, cost->cycles, outcome->nanoseconds, cost->bytes);
    fprintf(file, "at the bandwidths alone: %" PRIu64 " cycles\n", cost->paper_cycles);
    print_commands(file, cost->commands);
    print_energy(file, &cost->energy);
}

static void print_reram(FILE *file, const struct bitserial_task *task,
                        const struct bitserial_outcome *outcome)
{
    if (task->mantissa > 0)
        fprintf(file,
                "reram: %s of floating-point numbers, exponent %" PRIu32 ", mantissa %" PRIu32 " bits: ",
                operation_text(task), task->exponent, task->mantissa);
    else
        fprintf(file, "reram: %s of %" PRIu32 " bits: ", operation_text(task), task->request.operation.bits);
    fprintf(file, "%.6g ns\nsteps: NOR %" PRIu64 ", set %" PRIu64 ", reset %" PRIu64 ", search %" PRIu64 "\n",
            outcome->nanoseconds, outcome->nors, outcome->sets, outcome->resets, outcome->searches);
    fputs("energy: n/a\n", file);
}

enum pim_status bitserial_report_write(const struct bitserial_task *task,
                                       const struct bitserial_outcome *outcome, unsigned format, FILE *file,
                                       struct pim_error *error)
{
    if (format == 1)
        return write_json(task, outcome, file, error);
    if (task->technology == BITSERIAL_RERAM)
        print_reram(file, task, outcome);
    else if (task->operation == BITSERIAL_MOVE)
        print_move(file, task, outcome);
    else
        print_operation(file, task, outcome);
    if (outcome->checked)
        fprintf(file, "check: %" PRIu64 " violations\n", outcome->violations);
    return PIM_OK;
}
