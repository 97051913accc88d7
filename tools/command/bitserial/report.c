/* What `pimsim bitserial` writes: the results. */
#include "sim/output/json.h"
#include "tools/command/bitserial/run.h"
#include "tools/command/dram/log.h"

#include <inttypes.h>

static const char *operation_text(const struct bitserial_task *task)
{
    return task->operation == BITSERIAL_MOVE
               ? "move"
               : pim_bitserial_operation_text((enum pim_bitserial_kind)task->operation);
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
    if (o->kind == PIM_BITSERIAL_OPERATION_MULTIPLY)
        pim_json_put_boolean(json, "signed", o->is_signed);
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
    dram_put_commands(json, NULL, cost->commands);
    dram_put_energy(json, &cost->energy);
}

static void put_move(struct pim_json *json, const struct bitserial_task *task,
                     const struct bitserial_outcome *outcome)
{
    const struct pim_bitserial_transfer_cost *cost = &outcome->transfer;
    pim_json_put_text(json, "reach", pim_bitserial_reach_text(task->transfer.reach));
    pim_json_put_count(json, "rows", task->transfer.rows);
    pim_json_put_count(json, "pairs", task->transfer.pairs);
    if (task->transfer.reach == PIM_BITSERIAL_REACH_COLUMN)
        pim_json_put_count(json, "shift", task->transfer.shift);
    pim_json_put_count(json, "bytes", cost->bytes);
    pim_json_put_count(json, "cycles", cost->cycles);
    pim_json_put_real(json, "nanoseconds", outcome->nanoseconds);
    pim_json_put_count(json, "paper_cycles", cost->paper_cycles);
    dram_put_commands(json, NULL, cost->commands);
    dram_put_energy(json, &cost->energy);
}

static const char no_reram_energy[] =
    "crossbars have times of their steps and no energy: multiply the steps with that of your cells";

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
    pim_json_begin_object(json, "energy_reasons");
    pim_json_put_text(json, "total", no_reram_energy);
    pim_json_end(json);
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
    dram_print_commands(NULL, cost->commands, file);
    dram_print_energy(&cost->energy, file);
}

static void print_move(FILE *file, const struct bitserial_task *task, const struct bitserial_outcome *outcome)
{
    const struct pim_bitserial_transfer_cost *cost = &outcome->transfer;
    fprintf(file,
            "%s: %" PRIu32 " rows moved to another %s, %" PRIu32 " such moves at once: %" PRIu64
            " cycles (%.6g ns), %" PRIu64 " bytes\n",
            task->memory, task->transfer.rows, pim_bitserial_reach_text(task->transfer.reach),
            task->transfer.pairs, cost->cycles, outcome->nanoseconds, cost->bytes);
    if (task->transfer.shift > 0)
        fprintf(file, "by %" PRIu32 " columns, which costs what any distance does\n", task->transfer.shift);
    fprintf(file, "at the bandwidths alone: %" PRIu64 " cycles\n", cost->paper_cycles);
    dram_print_commands(NULL, cost->commands, file);
    dram_print_energy(&cost->energy, file);
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
    fprintf(file, "energy: n/a\n  total n/a: %s\n", no_reram_energy);
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
