/* What `pimsim dram` writes: results, the log of requests, the log of commands, violations. */
#include "tools/command/dram_run.h"

#include "models/dram/command_check.h"
#include "sim/csv.h"
#include "sim/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const command_columns[] = {"cycle",      "command", "channel", "rank",
                                              "bank_group", "bank",    "row",     "column"};
enum { COMMAND_COLUMNS = sizeof command_columns / sizeof command_columns[0] };

void dram_log_write(const struct dram_run *run, const struct dram_list *list, FILE *file)
{
    static const char *const columns[] = {"request",       "op",       "address", "arrived",
                                          "first_command", "completed"};
    struct pim_csv_writer writer;
    pim_csv_start(&writer, file, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < list->count; i++) {
        const struct dram_result *result = &run->results[i];
        char address[32];
        (void)snprintf(address, sizeof address, "0x%" PRIx64, list->items[i].address);
        pim_csv_put_count(&writer, i);
        pim_csv_put_text(&writer, list->items[i].write ? "W" : "R");
        pim_csv_put_text(&writer, address);
        pim_csv_put_count(&writer, run->arrived[i]);
        if (result->first_command == UINT64_MAX)
            pim_csv_put_text(&writer, "");
        else
            pim_csv_put_count(&writer, result->first_command);
        pim_csv_put_count(&writer, result->completed);
        pim_csv_end_row(&writer);
    }
}

void dram_commands_write(const struct dram_run *run, const struct pim_dram_configuration *configuration,
                         FILE *file)
{
    struct pim_csv_writer writer;
    pim_csv_start(&writer, file, command_columns, COMMAND_COLUMNS);
    for (size_t i = 0; i < run->record_count; i++) {
        struct pim_dram_logged logged =
            pim_dram_logged_record(&configuration->specification, &run->records[i]);
        pim_csv_put_count(&writer, logged.cycle);
        pim_csv_put_text(&writer, pim_dram_command_text(logged.command));
        const int64_t places[] = {logged.channel, logged.rank, logged.bank_group,
                                  logged.bank,    logged.row,  logged.column};
        for (size_t j = 0; j < sizeof places / sizeof places[0]; j++)
            pim_csv_put_integer(&writer, places[j]);
        pim_csv_end_row(&writer);
    }
}

struct summary {
    double seconds, bandwidth, peak, data_bus_use;
};

static struct summary summarize(const struct dram_run *run,
                                const struct pim_dram_configuration *configuration)
{
    const struct pim_dram_specification *specification = &configuration->specification;
    const struct pim_dram_organization *organization = &specification->organization;
    const uint32_t *parameter = specification->parameter;
    uint32_t step = parameter[PIM_DRAM_T_B] > parameter[PIM_DRAM_T_CCD_S] ? parameter[PIM_DRAM_T_B]
                                                                          : parameter[PIM_DRAM_T_CCD_S];
    double buses = (double)organization->channels * organization->pseudo_channels;
    double clock = specification->clock_ps * 1e-12;
    struct summary summary = {.seconds = (double)run->cycles * clock,
                              .peak = buses * organization->access_bytes / (step * clock)};
    summary.bandwidth = run->cycles > 0 ? (double)run->bytes / summary.seconds : 0;
    summary.data_bus_use = summary.bandwidth / summary.peak;
    return summary;
}

static void put_latency(struct pim_json *json, const char *key, const struct dram_latency *latency)
{
    pim_json_begin_object(json, key);
    pim_json_put_count(json, "count", latency->count);
    pim_json_put_real(json, "average_latency_cycles", latency->average);
    pim_json_put_count(json, "p50", latency->median);
    pim_json_put_count(json, "p95", latency->p95);
    pim_json_put_count(json, "p99", latency->p99);
    pim_json_put_count(json, "maximum", latency->most);
    pim_json_end(json);
}

static void put_energy(struct pim_json *json, const struct pim_dram_energy *energy)
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

static void put_window(struct pim_json *json, const struct pim_layout_cost *window)
{
    pim_json_begin_object(json, "window");
    pim_json_put_count(json, "bytes", window->bytes);
    pim_json_put_count(json, "bursts", window->bursts);
    pim_json_put_count(json, "pieces", window->pieces);
    pim_json_put_count(json, "accesses", window->accesses);
    pim_json_put_count(json, "rows", window->rows);
    pim_json_end(json);
}

static void put_check(struct pim_json *json, const struct dram_run *run)
{
    pim_json_begin_object(json, "check");
    pim_json_put_count(json, "commands", run->record_count);
    pim_json_put_count(json, "violations", run->violations);
    pim_json_put_real(json, "energy_difference", run->energy_difference);
    pim_json_end(json);
}

static enum pim_status write_json(const struct dram_run *run,
                                  const struct pim_dram_configuration *configuration, const char *name,
                                  const struct dram_list *list, bool host, FILE *file,
                                  struct pim_error *error)
{
    const struct summary summary = summarize(run, configuration);
    const struct pim_dram_counters *counters = &run->counters;
    /* Of reads, as memory latency is quoted; of writes when there are no reads. */
    const struct dram_latency *latency = run->reads.count > 0 ? &run->reads : &run->writes;
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory");
    pim_json_put_text(json, "memory", name);
    pim_json_put_count(json, "requests", list->count);
    if (run->window.bytes > 0)
        put_window(json, &run->window);
    pim_json_put_count(json, "cycles", run->cycles);
    pim_json_put_real(json, "seconds", summary.seconds);
    pim_json_put_real(json, "average_latency_cycles", latency->average);
    pim_json_put_count(json, "p99", latency->p99);
    put_latency(json, "reads", &run->reads);
    put_latency(json, "writes", &run->writes);
    pim_json_put_count(json, "row_hits", counters->row_hits);
    pim_json_put_count(json, "row_misses", counters->row_misses);
    pim_json_put_count(json, "row_conflicts", counters->row_conflicts);
    pim_json_put_count(json, "forwarded_reads", counters->forwarded_reads);
    pim_json_put_count(json, "absorbed_writes", counters->absorbed_writes);
    pim_json_begin_object(json, "commands");
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        pim_json_put_count(json, pim_dram_command_text((enum pim_dram_command)i), counters->commands[i]);
    pim_json_end(json);
    pim_json_put_count(json, "bytes", run->bytes);
    pim_json_put_real(json, "bandwidth_bytes_per_second", summary.bandwidth);
    pim_json_put_real(json, "peak_bandwidth_bytes_per_second", summary.peak);
    pim_json_put_real(json, "bandwidth_share_of_peak", summary.data_bus_use);
    put_energy(json, &run->energy);
    if (run->checked)
        put_check(json, run);
    if (host)
        pim_json_put_real(json, "cpu_seconds", run->cpu_seconds);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

/* A figure, or n/a for what is not modelled. */
static void print_part(FILE *file, const char *name, double picojoules)
{
    if (isnan(picojoules))
        fprintf(file, "%s n/a", name);
    else
        fprintf(file, "%s %.4g", name, picojoules);
}

static void print_energy(const struct pim_dram_energy *energy, FILE *file)
{
    if (isnan(energy->total)) {
        fprintf(file, "energy: not modelled\n");
        return;
    }
    const struct {
        const char *name;
        double value;
    } parts[] = {{"activate", energy->activate},    {"precharge", energy->precharge}, {"read", energy->read},
                 {"write", energy->write},          {"refresh", energy->refresh},     {"i/o", energy->io},
                 {"background", energy->background}};
    fprintf(file, "energy: %.6g pJ (", energy->total);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        fprintf(file, "%s", i > 0 ? ", " : "");
        print_part(file, parts[i].name, parts[i].value);
    }
    fprintf(file, ")\n");
}

static void print_window(const struct pim_layout_cost *window, FILE *file)
{
    fprintf(file,
            "window: %" PRIu64 " bytes in %" PRIu64 " pieces (%" PRIu64 " bursts), %" PRIu64
            " column accesses in %" PRIu64 " rows\n",
            window->bytes, window->pieces, window->bursts, window->accesses, window->rows);
}

static void write_text(const struct dram_run *run, const struct pim_dram_configuration *configuration,
                       const char *name, const struct dram_list *list, bool host, FILE *file)
{
    const struct summary summary = summarize(run, configuration);
    const struct pim_dram_counters *counters = &run->counters;
    const struct dram_latency *latency = run->reads.count > 0 ? &run->reads : &run->writes;
    fprintf(file, "%s: %zu requests in %" PRIu64 " cycles (%.6g s)\n", name, list->count, run->cycles,
            summary.seconds);
    if (run->window.bytes > 0)
        print_window(&run->window, file);
    if (latency->count > 0)
        fprintf(file,
                "latency of %s: average %.2f, median %" PRIu64 ", 95 %% %" PRIu64 ", 99 %% %" PRIu64
                ", most %" PRIu64 " cycles\n",
                run->reads.count > 0 ? "reads" : "writes", latency->average, latency->median, latency->p95,
                latency->p99, latency->most);
    fprintf(file, "rows: %" PRIu64 " hits, %" PRIu64 " misses, %" PRIu64 " conflicts\ncommands:",
            counters->row_hits, counters->row_misses, counters->row_conflicts);
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        if (counters->commands[i] > 0)
            fprintf(file, " %s %" PRIu64, pim_dram_command_text((enum pim_dram_command)i),
                    counters->commands[i]);
    fprintf(file, "\nbandwidth: %.6g of %.6g bytes/s (%.1f %%)\n", summary.bandwidth, summary.peak,
            100 * summary.data_bus_use);
    print_energy(&run->energy, file);
    if (run->checked)
        fprintf(file, "check: %zu commands, %" PRIu64 " violations\n", run->record_count, run->violations);
    if (host)
        fprintf(file, "simulated in %.3f CPU seconds\n", run->cpu_seconds);
}

enum pim_status dram_report_write(const struct dram_run *run,
                                  const struct pim_dram_configuration *configuration, const char *name,
                                  const struct dram_list *list, unsigned format, bool host, FILE *file,
                                  struct pim_error *error)
{
    if (format == 1)
        return write_json(run, configuration, name, list, host, file, error);
    write_text(run, configuration, name, list, host, file);
    return PIM_OK;
}

struct violations {
    FILE *out; /* NULL: collect for JSON */
    struct pim_json *json;
    uint64_t shown, most;
};

static void describe(const struct pim_dram_violation *violation, char *text, size_t size)
{
    const struct pim_dram_constraint *constraint = violation->constraint;
    if (!constraint) {
        (void)snprintf(text, size, "%s", violation->rule);
        return;
    }
    uint64_t distance = violation->command.cycle - violation->previous;
    (void)snprintf(text, size,
                   "%s (%s): %" PRIu64 " cycles after the command of cycle %" PRIu64 ", at least %" PRIu32
                   " are required",
                   constraint->text, pim_dram_scope_text(constraint->scope), distance, violation->previous,
                   constraint->cycles);
}

static void report(void *context, const struct pim_dram_violation *violation)
{
    struct violations *violations = context;
    char text[256];
    if (violations->shown++ >= violations->most)
        return;
    describe(violation, text, sizeof text);
    const struct pim_dram_logged *command = &violation->command;
    if (!violations->json) {
        fprintf(violations->out,
                "line %" PRIu64 ": %s in cycle %" PRIu64 ", channel %" PRId64 ", rank %" PRId64
                ", bank group %" PRId64 ", bank %" PRId64 ": %s\n",
                violation->number + 2, pim_dram_command_text(command->command), command->cycle,
                command->channel, command->rank, command->bank_group, command->bank, text);
        return;
    }
    pim_json_begin_object(violations->json, NULL);
    pim_json_put_count(violations->json, "line", violation->number + 2);
    pim_json_put_count(violations->json, "cycle", command->cycle);
    pim_json_put_text(violations->json, "command", pim_dram_command_text(command->command));
    pim_json_put_text(violations->json, "rule", violation->constraint ? violation->constraint->text : text);
    pim_json_put_text(violations->json, "text", text);
    pim_json_end(violations->json);
}

static enum pim_status read_command(const struct pim_csv_reader *reader, struct pim_dram_logged *command,
                                    struct pim_error *error)
{
    *command = (struct pim_dram_logged){.command = pim_dram_command_parse(pim_csv_text(reader, 1))};
    if (command->command == PIM_DRAM_COMMANDS)
        return pim_csv_refuse(reader, 1, "allowed are ACT, PRE, PREA, RD, WR, RDA, WRA, REF, REFpb, ACT2",
                              error);
    if (pim_csv_count(reader, 0, 0, UINT64_C(1) << 62, &command->cycle, error) != PIM_OK)
        return error->status;
    int64_t *const places[] = {&command->channel, &command->rank, &command->bank_group,
                               &command->bank,    &command->row,  &command->column};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (pim_csv_integer(reader, i + 2, -1, INT64_C(1) << 40, places[i], error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

static enum pim_status check_rows(struct pim_dram_check *check, struct pim_csv_reader *reader,
                                  struct pim_error *error)
{
    bool more = true;
    enum pim_status status;
    while ((status = pim_csv_next(reader, &more, error)) == PIM_OK && more) {
        struct pim_dram_logged command;
        status = read_command(reader, &command, error);
        if (status == PIM_OK)
            status = pim_dram_check_command(check, &command, error);
        if (status != PIM_OK)
            break;
    }
    return status;
}

enum pim_status dram_check_file(const struct pim_dram_configuration *configuration, const char *path,
                                uint64_t shown, unsigned format, FILE *out, uint64_t *violations,
                                struct pim_error *error)
{
    struct violations list = {.out = out, .json = format == 1 ? pim_json_create() : NULL, .most = shown};
    struct pim_csv_reader *reader = NULL;
    struct pim_dram_check *check =
        pim_dram_check_create(&configuration->specification, &configuration->policy, report, &list);
    if (list.json)
        pim_json_begin_array(list.json, "violation_list");
    enum pim_status status = check && (list.json || format != 1)
                                 ? pim_csv_open(&reader, path, command_columns, COMMAND_COLUMNS, error)
                                 : pim_fail(error, PIM_NO_MEMORY, "out of memory for the command check");
    if (status == PIM_OK)
        status = check_rows(check, reader, error);
    if (status == PIM_OK && list.json) {
        pim_json_end(list.json);
        pim_json_put_count(list.json, "commands", pim_dram_check_commands(check));
        pim_json_put_count(list.json, "violations", pim_dram_check_violations(check));
        status = pim_json_write(list.json, out, error);
    } else if (status == PIM_OK) {
        fprintf(out, "%" PRIu64 " commands, %" PRIu64 " violations\n", pim_dram_check_commands(check),
                pim_dram_check_violations(check));
    }
    *violations = check ? pim_dram_check_violations(check) : 0;
    if (reader)
        pim_csv_close(reader);
    pim_dram_check_destroy(check);
    pim_json_destroy(list.json);
    return status;
}
