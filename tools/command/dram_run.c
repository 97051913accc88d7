#include "tools/command/dram_run.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static void keep_command(void *context, const struct pim_dram_record *record)
{
    struct dram_run *run = context;
    dram_log_add(&run->log, record);
}

static void served(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    struct dram_run *run = context;
    struct dram_result *result = &run->results[request];
    if (first_command < result->first_command)
        result->first_command = first_command;
    if (completed > result->completed)
        result->completed = completed;
}

static int compare_counts(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Percentiles over the requests of one direction: p per cent of them are not above the value, at least. */
static enum pim_status measure(struct dram_latency *latency, const struct dram_run *run,
                               const struct dram_list *list, bool write, struct pim_error *error)
{
    uint64_t *values = malloc((list->count + 1) * sizeof *values);
    if (!values)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for latencies");
    uint64_t count = 0;
    double sum = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].write == write) {
            values[count] = run->results[i].completed - run->arrived[i];
            sum += (double)values[count++];
        }
    *latency = (struct dram_latency){.count = count, .average = (double)NAN};
    if (count > 0) {
        qsort(values, (size_t)count, sizeof *values, compare_counts);
        latency->average = sum / (double)count;
        latency->median = values[count / 2];
        latency->p95 = values[count * 95 / 100];
        latency->p99 = values[count * 99 / 100];
        latency->most = values[count - 1];
    }
    free(values);
    return PIM_OK;
}

static enum pim_status check_records(struct dram_run *run, const struct pim_dram_configuration *configuration,
                                     struct pim_error *error)
{
    struct pim_dram_check *check;
    if (dram_log_check(&run->log, configuration, &check, error) != PIM_OK)
        return error->status;
    if (pim_dram_check_end(check, error) != PIM_OK) {
        pim_dram_check_destroy(check);
        return error->status;
    }
    struct pim_dram_counters counters;
    struct pim_dram_energy energy;
    pim_dram_check_counters(check, run->cycles, &counters);
    pim_dram_energy_compute(&configuration->specification, &configuration->energy, &counters, run->cycles,
                            &energy);
    run->checked = true;
    run->violations = pim_dram_check_violations(check);
    run->energy_difference = run->energy.total > 0 ? fabs(energy.total / run->energy.total - 1) : (double)NAN;
    pim_dram_check_destroy(check);
    return PIM_OK;
}

static double cpu_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

enum pim_status dram_run_execute(struct dram_run *run, const struct pim_dram_configuration *configuration,
                                 const struct dram_list *list, bool keep_commands, bool check,
                                 struct pim_error *error)
{
    run->arrived = malloc((list->count + 1) * sizeof *run->arrived);
    run->results = malloc((list->count + 1) * sizeof *run->results);
    const struct pim_dram_sink sink = {run, served, keep_commands || check ? keep_command : NULL};
    struct pim_dram_memory *memory = pim_dram_memory_create(
        &configuration->specification, &configuration->policy, &configuration->mapping, &sink);
    if (!memory || !run->results || !run->arrived) {
        pim_dram_memory_destroy(memory);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %u channels and %zu requests",
                        configuration->specification.organization.channels, list->count);
    }
    for (size_t i = 0; i < list->count; i++)
        run->results[i] = (struct dram_result){UINT64_MAX, 0};
    double start = cpu_seconds();
    run->bytes = pim_dram_memory_serve(memory, list->items, list->count, run->arrived) *
                 configuration->specification.organization.access_bytes;
    run->cycles = pim_dram_memory_finish(memory);
    run->cpu_seconds = cpu_seconds() - start;
    pim_dram_memory_counters(memory, run->cycles, &run->counters);
    pim_dram_memory_destroy(memory);
    if (run->log.out_of_memory)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the command log");
    if (configuration->specification.organization.channels > 1)
        dram_log_sort(&run->log);
    pim_dram_energy_compute(&configuration->specification, &configuration->energy, &run->counters,
                            run->cycles, &run->energy);
    if (measure(&run->reads, run, list, false, error) != PIM_OK ||
        measure(&run->writes, run, list, true, error) != PIM_OK)
        return error->status;
    return check ? check_records(run, configuration, error) : PIM_OK;
}

void dram_run_terminate(struct dram_run *run)
{
    free(run->arrived);
    free(run->results);
    dram_log_terminate(&run->log);
    *run = (struct dram_run){0};
}
