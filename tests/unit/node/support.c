#include "tests/unit/node/support.h"

#include "models/system/read.h"
#include "models/system/report/report.h"
#include "models/system/schema.h"
#include "traces/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every test program that is shorter than a refresh interval does not want one. */
static const char *const base[] = {"dram.refresh=false"};

#define OK(call)                                                                                             \
    do {                                                                                                     \
        enum pim_status ok_status = (call);                                                                  \
        ck_assert_msg(ok_status == PIM_OK, "%s: %s", #call, error.text);                                     \
    } while (0)

static void read_hardware(const struct run *run, struct pim_hardware *hardware)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration;
    char side[64];
    OK(pim_configuration_create(&pim_hardware_schema, &configuration, &error));
    (void)snprintf(side, sizeof side, "array.width=%u", run->width);
    OK(pim_configuration_set(configuration, side, &error));
    (void)snprintf(side, sizeof side, "array.height=%u", run->height);
    OK(pim_configuration_set(configuration, side, &error));
    for (size_t i = 0; i < sizeof base / sizeof base[0]; i++)
        OK(pim_configuration_set(configuration, base[i], &error));
    for (size_t i = 0; i < sizeof run->settings / sizeof run->settings[0] && run->settings[i]; i++)
        OK(pim_configuration_set(configuration, run->settings[i], &error));
    OK(pim_hardware_read(configuration, hardware, &error));
    pim_configuration_destroy(configuration);
}

static void observe(void *context, uint32_t unit, const struct pim_instruction *instruction, uint32_t phase,
                    pim_time start, pim_time end)
{
    (void)phase;
    struct run *run = context;
    if (!instruction)
        return;
    const struct pim_slot *slot = (const struct pim_slot *)(const void *)instruction; /* its first member */
    if (unit >= RUN_UNITS || slot->sequence >= RUN_INSTRUCTIONS)
        return;
    ck_assert_uint_le(start, end);
    run->seen[unit][slot->sequence].start = start;
    run->seen[unit][slot->sequence].end = end;
}

struct pim_trace *trace_from(enum pim_status (*write)(const char *path, const void *context,
                                                      struct pim_error *error),
                             const void *context)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace;
    const char *place = getenv("TMPDIR");
    char folder[256], path[300];
    (void)snprintf(folder, sizeof folder, "%s/pimsim-node-XXXXXX", place ? place : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/trace.bin", folder);
    enum pim_status status = write(path, context, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    OK(pim_trace_open(path, &trace, &error));
    (void)unlink(path); /* the open file lives on */
    (void)rmdir(folder);
    return trace;
}

static enum pim_status assemble(const char *path, const void *context, struct pim_error *error)
{
    const struct run *run = ((const void *const *)context)[0];
    const char *program = ((const void *const *)context)[1];
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    fprintf(file, ".version 1\n.family \"test\"\n.array width=%u height=%u units=%u\n%s", run->width,
            run->height, run->width * run->height, program);
    rewind(file);
    enum pim_status status = pim_trace_assemble("program", file, path, error);
    (void)fclose(file);
    return status;
}

void make_from(struct run *run, struct pim_trace *trace)
{
    struct pim_hardware hardware;
    struct pim_system_options options = {.until_cycle = run->until ? run->until : PIM_UNTIL_END,
                                         .quiet = true};
    run->error = (struct pim_error){PIM_OK, ""};
    run->result = (struct pim_run_result){.units = NULL};
    run->system = NULL;
    read_hardware(run, &hardware);
    run->status = pim_system_create(&hardware, trace, &options, &run->system, &run->error);
    if (run->status != PIM_OK)
        return;
    pim_system_observe(run->system, observe, run);
}

void make(struct run *run, const char *program)
{
    const void *const context[] = {run, program};
    run->trace = trace_from(assemble, context);
    make_from(run, run->trace);
}

void finish_run(struct run *run)
{
    if (run->status == PIM_OK)
        run->status = pim_system_run(run->system, &run->error);
    if (run->status == PIM_OK)
        run->status = pim_system_collect(run->system, &run->result, &run->error);
}

void replay(struct run *run, const char *program)
{
    make(run, program);
    finish_run(run);
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
    pim_trace_close(run->trace);
    run->system = NULL;
    run->trace = NULL;
}

char *json_of(struct run *run)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    const struct pim_report_inputs inputs = {.trace_name = "test", .reproducible = true};
    struct pim_run_result result = run->result;
    result.events = 0; /* the slow path of the network has more of them */
    ck_assert_int_eq(pim_report_json(run->system, &result, &inputs, file, &run->error), PIM_OK);
    (void)fclose(file);
    return text;
}

static void check_phases(const struct run *run)
{
    const struct pim_units *array = run->system->units;
    struct pim_actions sum = {0};
    pim_time share[PIM_SHARES] = {0};
    uint64_t loaded = 0, stored = 0, sent = 0, received = 0, activates = 0, bytes = 0;
    pim_time in_phases = 0;
    for (uint32_t i = 0; i < array->phase_count; i++) {
        const struct pim_phase_result *phase = &array->phases[i];
        ck_assert_uint_le(phase->start, phase->end);
        ck_assert_uint_le(phase->time_maximum, phase->end - phase->start);
        pim_time tiles = 0, last = 0;
        for (unsigned j = 0; j < PIM_SHARES; j++) {
            tiles += phase->share[j];
            share[j] += phase->share[j];
            last += phase->last_share[j];
        }
        ck_assert_uint_eq(tiles, phase->time_sum);
        ck_assert_uint_eq(last, phase->last_time);
        in_phases += phase->time_sum;
        loaded += phase->bytes_loaded;
        stored += phase->bytes_stored;
        sent += phase->bytes_sent;
        received += phase->bytes_received;
        sum.macs += phase->actions.macs;
        sum.sram_bits += phase->actions.sram_bits;
        sum.acu_operations += phase->actions.acu_operations;
        sum.dram_bits += phase->actions.dram_bits;
        sum.dram_activates += phase->actions.dram_activates;
        sum.noc_bit_hops += phase->actions.noc_bit_hops;
    }
    const struct pim_run_result *result = &run->result;
    ck_assert_uint_eq(loaded, result->bytes_loaded);
    ck_assert_uint_eq(stored, result->bytes_stored);
    ck_assert_uint_eq(sent, result->bytes_sent);
    ck_assert_uint_eq(received, result->bytes_received);
    ck_assert_int_eq(memcmp(&sum, &result->actions, sizeof sum), 0);
    /* Each unit is in a phase from its first mark to its last, and a program begins with one: what is outside
     * is after its end. */
    pim_time outside = 0;
    for (uint32_t i = 0; i < result->unit_count; i++) {
        const struct pim_unit_result *unit = &result->units[i];
        outside += pim_units_at(array, i)->finished ? result->end - unit->finished_at : 0;
        activates += unit->bank.activates;
        bytes += unit->bank.bytes_read + unit->bank.bytes_written;
    }
    ck_assert_uint_eq(in_phases + outside, result->end * result->unit_count);
    ck_assert_uint_eq(activates * run->system->hardware.node.bank.organization.banks,
                      result->actions.dram_activates);
    ck_assert_uint_eq(8 * bytes, result->actions.dram_bits);
}

static void check_unit(const struct run *run, const struct pim_unit_result *unit)
{
    pim_time end = run->result.end, shares = 0;
    for (unsigned share = 0; share < PIM_SHARES; share++)
        shares += unit->share[share];
    ck_assert_uint_eq(shares, end);
    for (unsigned class = 0; class < PIM_CLASSES; class ++)
        ck_assert_uint_eq(unit->busy[class] + unit->stall[class] + unit->idle[class], end);
    ck_assert_uint_eq(unit->share[PIM_SHARE_MATRIX], unit->busy[PIM_CLASS_PE]);
    /* A class of one engine is stalled for one cause at a time. */
    static const enum pim_engine engines[] = {PIM_ENGINE_MATRIX, PIM_ENGINE_VECTOR, PIM_ENGINE_MEMORY};
    for (unsigned class = 0; class < 3; class ++) {
        pim_time waits = 0;
        for (unsigned cause = 0; cause < PIM_WAITS; cause++)
            waits += unit->wait[engines[class]][cause];
        ck_assert_uint_eq(waits, unit->stall[class]);
    }
    for (unsigned buffer = PIM_BUFFER_INPUT; buffer < PIM_BUFFERS; buffer++)
        ck_assert_uint_le(unit->buffer_high_water[buffer], run->system->hardware.node.buffer_bytes[buffer]);
}

static void check_network(const struct run *run)
{
    const struct pim_run_result *result = &run->result;
    struct pim_error error = {PIM_OK, ""};
    OK(pim_noc_check(run->system->noc, &error));
    if (!result->complete)
        return;
    ck_assert_uint_eq(result->bytes_sent, result->bytes_received);
    ck_assert_uint_eq(result->noc.packets_sent, result->noc.packets_delivered);
    ck_assert_uint_eq(result->noc.flits_sent, result->noc.flits_delivered);
    ck_assert_uint_eq(result->actions.noc_bit_hops, (result->noc.flit_hops - result->noc.flits_delivered) *
                                                        run->system->hardware.noc.flit_bits);
    uint64_t on_links = 0; /* a packet passes one link less than routers */
    for (uint32_t i = 0; i < result->link_count; i++)
        on_links += result->links[i].flits;
    ck_assert_uint_eq(on_links + result->noc.flits_delivered, result->noc.flit_hops);
    ck_assert_uint_eq(run->system->packet_latency.count, run->system->packets);
}

void check_invariants(const struct run *run)
{
    const struct pim_run_result *result = &run->result;
    ck_assert(result->complete == (run->system->units->running == 0));
    for (uint32_t unit = 0; unit < result->unit_count; unit++)
        check_unit(run, &result->units[unit]);
    check_phases(run);
    check_network(run);
    if (!result->complete)
        return;
    for (uint32_t unit = 0; unit < result->unit_count; unit++) {
        const struct pim_node *node = (const struct pim_node *)pim_units_at(run->system->units, unit);
        ck_assert_uint_eq(node->unit.oldest, node->unit.fetched);
        ck_assert_uint_eq(node->interface.posted_count, 0);
        ck_assert_uint_eq(node->interface.packets_held, 0);
        ck_assert_uint_eq(node->interface.packets_in, 0);
        ck_assert_uint_eq(node->interface.announcement_count, 0);
        for (unsigned buffer = PIM_BUFFER_INPUT; buffer < PIM_BUFFERS; buffer++)
            ck_assert_uint_eq(node->promised[buffer], 0);
    }
}
