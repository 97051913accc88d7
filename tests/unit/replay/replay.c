#include "tests/unit/replay/replay.h"

#include "models/channel/channel_internal.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "tests/unit/test_main.h"
#include "traces/file/writer.h"
#include "traces/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call)                                                                                             \
    do {                                                                                                     \
        enum pim_status ok_status = (call);                                                                  \
        ck_assert_msg(ok_status == PIM_OK, "%s: %s", #call, error.text);                                     \
    } while (0)

static enum pim_status read_hardware(struct run *run, struct pim_hardware *hardware)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration;
    char side[64], path[512];
    const char *file = run->file ? run->file : run_family.file;
    OK(pim_configuration_create(&pim_hardware_schema, &configuration, &error));
    if (file)
        OK(pim_configuration_read_file(configuration, pimsim_source_path(path, sizeof path, file), &error));
    for (size_t i = 0; !file && run_family.base[i]; i++)
        OK(pim_configuration_set(configuration, run_family.base[i], &error));
    (void)snprintf(side, sizeof side, "array.width=%u", run->width);
    OK(pim_configuration_set(configuration, side, &error));
    (void)snprintf(side, sizeof side, "array.height=%u", run->height);
    OK(pim_configuration_set(configuration, side, &error));
    for (size_t i = 0; i < RUN_SETTINGS && run->settings[i]; i++)
        OK(pim_configuration_set(configuration, run->settings[i], &error));
    enum pim_status status = pim_hardware_read(configuration, hardware, &run->error);
    pim_configuration_destroy(configuration);
    return status;
}

static void observe(void *context, uint32_t unit, const struct pim_instruction *instruction, uint32_t phase,
                    pim_time start, pim_time end)
{
    (void)phase;
    struct run *run = context;
    if (!instruction)
        return;
    uint64_t sequence = run_family.sequence(instruction);
    if (unit >= RUN_UNITS || sequence >= RUN_INSTRUCTIONS)
        return;
    ck_assert_uint_lt(start, end);
    pim_time period = run->system->units->period;
    run->seen[unit][sequence - run->wrapped].start = start / period;
    run->seen[unit][sequence - run->wrapped].end = end / period;
}

static void begin_run(struct run *run, const char *path)
{
    struct pim_hardware hardware;
    struct pim_error error = {PIM_OK, ""};
    struct pim_system_options options = {.until_cycle = run->until ? run->until : PIM_UNTIL_END,
                                         .quiet = true};
    OK(pim_trace_open(path, &run->trace, &error));
    (void)unlink(path); /* the open file lives on */
    run->error = (struct pim_error){PIM_OK, ""};
    run->result = (struct pim_run_result){.units = NULL};
    run->system = NULL;
    run->status = read_hardware(run, &hardware);
    if (run->status == PIM_OK)
        run->status = pim_system_create(&hardware, run->trace, &options, &run->system, &run->error);
    if (run->status != PIM_OK)
        return;
    pim_system_observe(run->system, observe, run);
    if (run->values_rows > 0)
        OK(pim_channel_values_create(&hardware.channels.memory, run->width * run->height, run->values_rows,
                                     &run->values, &error));
    if (run->values)
        ((struct pim_channels *)run->system->units)->values = run->values;
}

void finish(struct run *run)
{
    if (run->status == PIM_OK)
        run->status = pim_system_run(run->system, &run->error);
    if (run->status == PIM_OK)
        run->status = pim_system_collect(run->system, &run->result, &run->error);
}

static void make_path(char *path)
{
    strcpy(path, "/tmp/pimsim-unit-XXXXXX");
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    (void)close(descriptor);
}

/* The program with phase 0 around what each unit does. */
static void write_wrapped(FILE *file, const char *program)
{
    bool inside = false;
    fprintf(file, ".phase 0 \"all\"\n");
    if (*program != '.')
        fprintf(file, ".unit 0\n");
    for (const char *line = program; *line;) {
        int length = (int)strcspn(line, "\n");
        bool unit = strncmp(line, ".unit", 5) == 0, group = strncmp(line, ".array_group", 12) == 0;
        if (unit && inside)
            fprintf(file, "phase_end 0\n");
        if (!unit && !group && !inside)
            fprintf(file, "phase_begin 0\n");
        inside = !unit && !group;
        fprintf(file, "%.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
    if (inside)
        fprintf(file, "phase_end 0\n");
}

void begin(struct run *run, const char *program)
{
    struct pim_error error = {PIM_OK, ""};
    char path[32];
    make_path(path);
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    fprintf(file, ".version 1\n.family \"test\"\n.array width=%u height=%u units=%u\n", run->width,
            run->height, run->width * run->height);
    run->wrapped = strstr(program, ".phase") == NULL;
    if (run->wrapped)
        write_wrapped(file, program);
    else
        fprintf(file, "%s", program);
    rewind(file);
    OK(pim_trace_assemble("program", file, path, &error));
    (void)fclose(file);
    begin_run(run, path);
}

void replay(struct run *run, const char *program)
{
    begin(run, program);
    finish(run);
}

void replay_programs(struct run *run, const struct program *programs, uint32_t groups)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace_writer *writer;
    char path[32];
    make_path(path);
    const struct pim_trace_description description = {.family = "test",
                                                      .network = "",
                                                      .mapping = "",
                                                      .configuration = "",
                                                      .width = run->width,
                                                      .height = run->height,
                                                      .units = run->width * run->height};
    const struct pim_trace_array_group group = {.arrays = 1, .rows = 4, .columns = 4, .folds = 1};
    run->wrapped = true;
    OK(pim_trace_writer_create(path, &description, &writer, &error));
    ck_assert_uint_eq(pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = "all"}), 0);
    for (uint32_t unit = 0; unit < description.units; unit++) {
        for (uint32_t i = 0; i < groups; i++)
            OK(pim_trace_writer_array_group(writer, unit, &group, &error));
        struct pim_instruction mark = {.opcode = PIM_OP_PHASE_BEGIN};
        OK(pim_trace_writer_append(writer, unit, &mark, &error));
        for (uint32_t i = 0; i < programs[unit].count; i++)
            OK(pim_trace_writer_append(writer, unit, &programs[unit].instruction[i], &error));
        mark.opcode = PIM_OP_PHASE_END;
        OK(pim_trace_writer_append(writer, unit, &mark, &error));
    }
    OK(pim_trace_writer_finish(writer, &error));
    begin_run(run, path);
    finish(run);
}

void check_invariants(const struct run *run)
{
    const struct pim_run_result *result = &run->result;
    ck_assert(result->complete || run->until);
    ck_assert_uint_eq(result->bytes_sent,
                      result->bytes_received +
                          (result->complete ? 0 : result->bytes_sent - result->bytes_received));
    for (uint32_t i = 0; i < result->unit_count; i++) {
        const struct pim_unit_result *unit = &result->units[i];
        pim_time shares = 0;
        for (unsigned share = 0; share < PIM_SHARES; share++)
            shares += unit->share[share];
        ck_assert_uint_eq(shares, result->end);
        for (unsigned class = 0; class < PIM_CLASSES; class ++)
            ck_assert_uint_eq(unit->busy[class] + unit->stall[class] + unit->idle[class], result->end);
    }
    for (uint32_t i = 0; i < run->system->phase_count; i++) {
        const struct pim_phase_result *phase = &run->system->phases[i];
        pim_time tiles = 0, last = 0;
        for (unsigned share = 0; share < PIM_SHARES; share++) {
            tiles += phase->share[share];
            last += phase->last_share[share];
        }
        ck_assert_uint_eq(tiles, phase->time_sum);
        ck_assert_uint_eq(last, phase->last_time);
    }
}

void replay_well(struct run *run, const char *program)
{
    replay(run, program);
    ck_assert_msg(run->status == PIM_OK, "%s", run->error.text);
    check_invariants(run);
}

void replay_badly(struct run *run, const char *program, enum pim_status status, const char *part)
{
    replay(run, program);
    ck_assert_msg(run->status == status, "status %d: %s", (int)run->status, run->error.text);
    ck_assert_msg(strstr(run->error.text, part) != NULL, "'%s' is not in '%s'", part, run->error.text);
    clean(run);
}

void clean(struct run *run)
{
    pim_run_result_terminate(&run->result);
    pim_system_destroy(run->system);
    pim_channel_values_destroy(run->values);
    pim_trace_close(run->trace);
    run->system = NULL;
    run->trace = NULL;
}
