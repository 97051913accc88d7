#include "tools/command/dram/run.h"

#include "tools/command/dram/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct running {
    struct dram_run *run;
    const struct pim_dram_configuration *configuration;
    const struct dram_run_outputs *outputs;
    struct dram_blocks blocks;
    struct dram_latencies reads, writes;
    struct dram_log log; /* of several channels; the commands of one are used as they come */
    struct dram_log_use use;
    enum pim_status status; /* of commands that are used as they come */
    struct pim_error *error;
};

static void served(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    struct running *running = context;
    dram_blocks_served(&running->blocks, request, first_command, completed);
}

static void use_command(void *context, const struct pim_dram_record *record)
{
    struct running *running = context;
    running->run->checked_commands++;
    if (running->status == PIM_OK)
        running->status = dram_log_use_take(&running->use, record, running->error);
}

static void keep_command(void *context, const struct pim_dram_record *record)
{
    struct running *running = context;
    running->run->checked_commands++;
    dram_log_add(&running->log, record);
}

/* A block that is done with: into the log of requests and the latencies. */
static enum pim_status take_block(void *context, const struct dram_block *block,
                                  const struct dram_payload *payload, struct pim_error *error)
{
    struct running *running = context;
    const struct dram_run_outputs *outputs = running->outputs;
    for (size_t i = 0; i < block->count; i++) {
        const struct dram_result *result = &payload->results[i];
        const struct dram_served one = {block->first + i, &payload->requests[i], payload->arrived[i],
                                        result->first_command, result->completed};
        if (!dram_latencies_add(one.request->write ? &running->writes : &running->reads,
                                one.completed - one.arrived))
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for latencies");
        if (outputs->served)
            outputs->served(outputs->context, &one);
    }
    return PIM_OK;
}

static enum pim_status retire(struct running *running, struct pim_error *error)
{
    return dram_blocks_retire(&running->blocks, running, take_block, error);
}

static double cpu_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* All requests of a source, block by block. */
static enum pim_status serve(struct running *running, struct pim_dram_memory *memory,
                             struct dram_source *source, struct pim_error *error)
{
    struct dram_run *run = running->run;
    for (;;) {
        struct dram_block *block = dram_blocks_add(&running->blocks, run->requests, error);
        if (!block)
            return error->status;
        struct dram_payload *payload = block->payload;
        if (dram_source_next(source, payload->requests, DRAM_BLOCK, &block->count, error) != PIM_OK)
            return error->status;
        for (size_t i = 0; i < block->count; i++)
            block->accesses +=
                pim_dram_request_accesses(&payload->requests[i], &running->configuration->mapping);
        if (block->count == 0)
            return PIM_OK;
        const double start = cpu_seconds();
        (void)pim_dram_memory_serve(memory, payload->requests, block->count, block->first, payload->arrived);
        run->cpu_seconds += cpu_seconds() - start;
        run->bytes += block->accesses * running->configuration->specification.organization.access_bytes;
        run->requests += block->count;
        if (running->outputs->progress)
            pim_progress_update(running->outputs->progress, run->requests);
        if (running->status != PIM_OK)
            return running->status;
        if (retire(running, error) != PIM_OK)
            return error->status;
    }
}

/* What the checker has found, and the energy of the commands that it saw. */
static enum pim_status judge(struct running *running, struct pim_error *error)
{
    struct dram_run *run = running->run;
    const struct pim_dram_configuration *configuration = running->configuration;
    struct pim_dram_check *check = running->use.check;
    struct pim_dram_counters counters;
    struct pim_dram_energy energy;
    if (pim_dram_check_end(check, error) != PIM_OK)
        return error->status;
    pim_dram_check_counters(check, run->cycles, &counters);
    pim_dram_energy_compute(&configuration->specification, &configuration->energy, &counters, run->cycles,
                            &energy);
    run->checked = true;
    run->violations = pim_dram_check_violations(check);
    run->energy_difference =
        run->energy.modelled > 0 ? fabs(energy.modelled / run->energy.modelled - 1) : (double)NAN;
    return PIM_OK;
}

static enum pim_status finish(struct running *running, struct pim_dram_memory *memory,
                              struct pim_error *error)
{
    struct dram_run *run = running->run;
    const double start = cpu_seconds();
    run->cycles = pim_dram_memory_finish(memory);
    run->cpu_seconds += cpu_seconds() - start;
    pim_dram_memory_counters(memory, run->cycles, &run->counters);
    if (running->status != PIM_OK || retire(running, error) != PIM_OK)
        return error->status;
    pim_dram_energy_compute(&running->configuration->specification, &running->configuration->energy,
                            &run->counters, run->cycles, &run->energy);
    dram_latencies_summarize(&running->reads, &run->reads);
    dram_latencies_summarize(&running->writes, &run->writes);
    const struct dram_log_taker taker = {&running->use, dram_log_use_take};
    if (dram_log_each(&running->log, &taker, error) != PIM_OK)
        return error->status;
    dram_log_use_end(&running->use, run->cycles);
    if (running->use.check && judge(running, error) != PIM_OK)
        return error->status;
    return pim_dram_counters_judge(&run->counters, error);
}

enum pim_status dram_run_execute(struct dram_run *run, const struct pim_dram_configuration *configuration,
                                 struct dram_source *source, const struct dram_run_outputs *outputs,
                                 struct pim_error *error)
{
    struct running running = {.run = run,
                              .configuration = configuration,
                              .outputs = outputs,
                              .blocks.ordered = outputs->served != NULL,
                              .error = error};
    const bool commands = outputs->commands || outputs->check;
    const bool several = configuration->specification.organization.channels > 1;
    const struct pim_dram_sink sink = {&running, served,
                                       !commands ? NULL
                                       : several ? keep_command
                                                 : use_command};
    enum pim_status status = dram_log_use_start(&running.use, configuration, outputs->commands,
                                                outputs->format, outputs->check, error);
    struct pim_dram_memory *memory =
        status == PIM_OK ? pim_dram_memory_create(&configuration->specification, &configuration->policy,
                                                  &configuration->mapping, &sink)
                         : NULL;
    if (status == PIM_OK && !memory)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for %u channels",
                          configuration->specification.organization.channels);
    if (status == PIM_OK)
        status = serve(&running, memory, source, error);
    if (status == PIM_OK)
        status = finish(&running, memory, error);
    pim_dram_memory_destroy(memory);
    dram_blocks_terminate(&running.blocks);
    dram_latencies_terminate(&running.reads);
    dram_latencies_terminate(&running.writes);
    dram_log_terminate(&running.log);
    dram_log_use_terminate(&running.use);
    return status;
}
