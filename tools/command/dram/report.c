/* What `pimsim dram` writes: results and the log of requests. */
#include "tools/command/dram/run.h"

#include "sim/output/csv.h"
#include "sim/output/json.h"
#include "sim/output/output.h"

#include <inttypes.h>
#include <math.h>

void dram_requests_start(struct pim_csv_writer *writer, FILE *file)
{
    static const char *const columns[] = {"request",       "op",       "address", "arrived",
                                          "first_command", "completed"};
    pim_csv_start(writer, file, columns, sizeof columns / sizeof columns[0]);
}

void dram_requests_put(void *context, const struct dram_served *served)
{
    struct pim_csv_writer *writer = context;
    char address[32];
    (void)snprintf(address, sizeof address, "0x%" PRIx64, served->request->address);
    pim_csv_put_count(writer, served->number);
    pim_csv_put_text(writer, served->request->write ? "W" : "R");
    pim_csv_put_text(writer, address);
    pim_csv_put_count(writer, served->arrived);
    if (served->first_command == UINT64_MAX)
        pim_csv_put_text(writer, "");
    else
        pim_csv_put_count(writer, served->first_command);
    pim_csv_put_count(writer, served->completed);
    pim_csv_end_row(writer);
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
    summary.bandwidth = run->cycles > 0 ? (double)run->bytes / summary.seconds : (double)NAN;
    summary.data_bus_use = summary.bandwidth / summary.peak;
    return summary;
}

/* Without requests there is no percentile. */
static void put_percentile(struct pim_json *json, const char *key, const struct dram_latency *latency,
                           uint64_t cycles)
{
    if (latency->count > 0)
        pim_json_put_count(json, key, cycles);
    else
        pim_json_put_null(json, key);
}

static void put_latency(struct pim_json *json, const char *key, const struct dram_latency *latency)
{
    pim_json_begin_object(json, key);
    pim_json_put_count(json, "count", latency->count);
    pim_json_put_real(json, "average_latency_cycles", latency->average);
    put_percentile(json, "p50", latency, latency->median);
    put_percentile(json, "p95", latency, latency->p95);
    put_percentile(json, "p99", latency, latency->p99);
    put_percentile(json, "maximum", latency, latency->most);
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
    pim_json_put_count(json, "commands", run->checked_commands);
    pim_json_put_count(json, "violations", run->violations);
    pim_json_put_real(json, "energy_difference", run->energy_difference);
    pim_json_end(json);
}

static enum pim_status write_json(const struct dram_run *run,
                                  const struct pim_dram_configuration *configuration, const char *name,
                                  bool host, FILE *file, struct pim_error *error)
{
    const struct summary summary = summarize(run, configuration);
    const struct pim_dram_counters *counters = &run->counters;
    /* Of reads, as memory latency is quoted; of writes when there are no reads. */
    const struct dram_latency *latency = run->reads.count > 0 ? &run->reads : &run->writes;
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory");
    pim_json_put_text(json, "memory", name);
    pim_json_put_count(json, "requests", run->requests);
    if (run->window.bytes > 0)
        put_window(json, &run->window);
    pim_json_put_count(json, "cycles", run->cycles);
    pim_json_put_real(json, "seconds", summary.seconds);
    pim_json_put_real(json, "average_latency_cycles", latency->average);
    put_percentile(json, "p99", latency, latency->p99);
    put_latency(json, "reads", &run->reads);
    put_latency(json, "writes", &run->writes);
    pim_json_put_count(json, "row_hits", counters->row_hits);
    pim_json_put_count(json, "row_misses", counters->row_misses);
    pim_json_put_count(json, "row_conflicts", counters->row_conflicts);
    pim_json_put_count(json, "forwarded_reads", counters->forwarded_reads);
    pim_json_put_count(json, "absorbed_writes", counters->absorbed_writes);
    dram_put_commands(json, &configuration->specification, counters->commands);
    pim_json_put_count(json, "bytes", run->bytes);
    pim_json_put_real(json, "bandwidth_bytes_per_second", summary.bandwidth);
    pim_json_put_real(json, "peak_bandwidth_bytes_per_second", summary.peak);
    pim_json_put_real(json, "bandwidth_share_of_peak", summary.data_bus_use);
    dram_put_energy(json, &run->energy);
    if (run->checked)
        put_check(json, run);
    if (host)
        pim_json_put_real(json, "cpu_seconds", run->cpu_seconds);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

static void print_window(const struct pim_layout_cost *window, FILE *file)
{
    fprintf(file,
            "window: %" PRIu64 " bytes in %" PRIu64 " pieces (%" PRIu64 " bursts), %" PRIu64
            " column accesses in %" PRIu64 " rows\n",
            window->bytes, window->pieces, window->bursts, window->accesses, window->rows);
}

static void write_text(const struct dram_run *run, const struct pim_dram_configuration *configuration,
                       const char *name, bool host, FILE *file)
{
    const struct summary summary = summarize(run, configuration);
    const struct pim_dram_counters *counters = &run->counters;
    const struct dram_latency *latency = run->reads.count > 0 ? &run->reads : &run->writes;
    fprintf(file, "%s: %" PRIu64 " requests in %" PRIu64 " cycles (%.6g s)\n", name, run->requests,
            run->cycles, summary.seconds);
    if (run->window.bytes > 0)
        print_window(&run->window, file);
    if (latency->count > 0)
        fprintf(file,
                "latency of %s: average %.2f, median %" PRIu64 ", 95 %% %" PRIu64 ", 99 %% %" PRIu64
                ", most %" PRIu64 " cycles\n",
                run->reads.count > 0 ? "reads" : "writes", latency->average, latency->median, latency->p95,
                latency->p99, latency->most);
    fprintf(file, "rows: %" PRIu64 " hits, %" PRIu64 " misses, %" PRIu64 " conflicts\n", counters->row_hits,
            counters->row_misses, counters->row_conflicts);
    dram_print_commands(&configuration->specification, counters->commands, file);
    if (run->cycles > 0)
        fprintf(file, "bandwidth: %.6g of %.6g bytes/s (%.1f %%)\n", summary.bandwidth, summary.peak,
                100 * summary.data_bus_use);
    dram_print_energy(&run->energy, file);
    if (run->checked)
        fprintf(file, "check: %" PRIu64 " commands, %" PRIu64 " violations\n", run->checked_commands,
                run->violations);
    if (host) {
        char seconds[PIM_REAL_CHARACTERS];
        pim_format_cpu_seconds(seconds, run->cpu_seconds);
        fprintf(file, "simulated in %s\n", seconds);
    }
}

enum pim_status dram_report_write(const struct dram_run *run,
                                  const struct pim_dram_configuration *configuration, const char *name,
                                  unsigned format, bool host, FILE *file, struct pim_error *error)
{
    if (format == 1)
        return write_json(run, configuration, name, host, file, error);
    write_text(run, configuration, name, host, file);
    return PIM_OK;
}
