/*
 * The walk through the hardware schema, with some values of each key. A key that is refused by name with
 * --set does nothing: a file may have it, and with such values there the results are the same. One that is
 * taken changes a result of a replay. What is taken and shows nothing stands in a table, with the reason.
 */
#include "include/pimsim/pimsim.h"
#include "models/system/configure.h"
#include "models/system/schema.h"
#include "models/system/used.h"
#include "tests/unit/system/key_walk.h"
#include "tests/unit/system/keys.h"
#include "tests/unit/test_main.h"
#include "traces/text/text.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES = 16384 };

static char path[256], file_path[256 + 4];

static size_t sets_of(const struct key_machine *machine)
{
    size_t count = 0;
    while (count < KEY_SETS && machine->sets[count])
        count++;
    return count;
}

static struct key_outcome replay_with(const struct pimsim_options *options)
{
    struct key_outcome outcome = {.results = NULL};
    struct pimsim_simulation *simulation = NULL;
    if (pimsim_create(&simulation, path, options, outcome.message, sizeof outcome.message) == PIMSIM_OK &&
        pimsim_run(simulation, outcome.message, sizeof outcome.message) == PIMSIM_OK)
        outcome.results = key_results_of(simulation, NULL);
    pimsim_destroy(simulation);
    return outcome;
}

/* Replays with the sets of the machine and one more. */
static struct key_outcome replay(const void *context, const char *set)
{
    const struct key_machine *machine = context;
    const char *sets[KEY_SETS + 1];
    size_t count = sets_of(machine);
    memcpy(sets, machine->sets, sizeof machine->sets);
    if (set)
        sets[count++] = set;
    struct pimsim_options options = {.size = sizeof options, .overrides = sets, .override_count = count};
    return replay_with(&options);
}

/* What is taken and shows nothing, or is refused for all values but one, in machines whose names begin so. */
static const struct key_exception silent[] = {
    {"name", "", "for people"},
    {"array.", "", "the program is for this array and these units"},
    {"buffers.", "nodes", "must hold the program's tiles, and more does not help"},
    {"pe.accumulator_bits", "nodes", "must have the bytes that the program gives back"},
    {"dram.rows", "nodes", "must hold the program's bytes, and more does not help"},
    {"dram.standard", "nodes on channels", "goes with clock.memory_khz"},
    {"dram.standard", "nodes, no refresh", "goes with clock.memory_khz, without dram.interleaved_banks"},
    {"clock.memory_khz", "nodes on channels", "that of the standard"},
    {"clock.memory_khz", "cores on channels", "that of the standard"},
    {"clock.memory_khz", "channels, commands", "that of the memory"},
    {"noc.width", "", "that of the array alone"},
    {"noc.height", "", "that of the array alone"},
    {"noc.vc_arbiter", "", "goes with noc.vc_allocator"},
    {"noc.switch_arbiter", "", "goes with noc.switch_allocator"},
    {"noc.depth", "", "layers of these few rows are refused"},
    {"noc.links", "", "names a file"},
    {"noc.express_links", "", "names a file"},
    {"noc.may_deadlock", "", "allows, and does nothing"},
    {"noc.step_every_cycle", "", "the same cycles, slower"},
    {"noc.general", "", "the same cycles, slower; ideal and analytic refuse it"},
    {"noc.switch_allocator_iterations", "", "tests/unit/noc: more traffic than these programs have"},
    {"noc.classes", "tiles, wormhole", "all virtual channels together; packets are of one class"},
    {"noc.classes", "cores", "all virtual channels together; packets are of one class"},
    {"noc.output_speedup", "nodes", "ideal and analytic refuse it"},
    {"noc.arbiter", "nodes", "ideal and analytic refuse it"},
    {"noc.priority", "nodes", "ideal and analytic refuse it"},
    {"noc.topology", "nodes", "ideal and analytic refuse it"},
    {"noc.concentration", "nodes", "ideal and analytic refuse it"},
    {"noc.routing", "nodes", "ideal and analytic refuse it"},
    {"noc.topology", "cores, chips", "mesh alone"},
    {"noc.concentration", "cores, chips", "1 alone"},
    {"noc.routing", "cores, chips", "xy and yx alone, the same in one row"},
    {"noc.hold_switch_for_packet", "cores", "nodes show it: few packets of cores meet"},
    {"noc.wait_for_tail_credit", "cores", "nodes show it: few packets of cores meet"},
    {"noc.wait_for_tail_credit", "tiles, wormhole", "nodes show it: few packets of tiles meet"},
    {"noc.vc_allocator", "cores", "nodes show it: few packets of cores meet"},
    {"noc.vc_allocator_iterations", "cores", "nodes show it: few packets of cores meet"},
    {"noc.vc_allocator_iterations", "tiles", "nodes show it: few packets of tiles meet"},
    {"noc.switch_allocator", "cores", "nodes show it: few packets of cores meet"},
    {"noc.allocator_iterations", "cores", "nodes show it: few packets of cores meet"},
    {"noc.allocator_iterations", "tiles", "nodes show it: few packets of tiles meet"},
    {"noc.input_speedup", "cores", "nodes show it: few packets of cores meet"},
    {"noc.output_speedup", "cores", "nodes show it: few packets of cores meet"},
    {"noc.arbiter", "cores", "nodes show it: few packets of cores meet"},
    {"noc.priority", "cores", "nodes show it: few packets of cores meet"},
    {"chips.height", "cores", "must divide one row"},
    {"chips.connection", "cores, chips", "two chips are joined alike"},
    {"core.communication", "cores, asynchronous", "core.receive_bytes is set"},
    {"core.local_memory_bytes", "cores", "must hold what the program addresses"},
    {"core.vector_functions", "cores", "must have what the program asks for"},
    {"core.timing", "cores", "pimsim_nn writes no weights, has no channels"},
    {"crossbar.count_", "cores", "must hold the program's arrays, and more does not help"},
    {"crossbar.weight_slicing", "cores", "arrays would need more of them"},
    {"crossbar.cell_bits", "cores, pimsim_nn", "of weights that are written, and of mappers"},
    {"crossbar.weight_bits", "cores, pimsim_nn", "of weights that are written, and of mappers"},
    {"crossbar.sign", "cores, pimsim_nn", "of weights that are written, and of mappers"},
    {"crossbar.write_row_ns", "cores, pimsim_nn", "the program writes no weights"},
    {"global_memory.bytes", "cores", "must hold what the program addresses"},
    {"global_memory.standard", "cores", "goes with clock.memory_khz"},
    {"levels.banks", "channels", "must hold what the program addresses"},
    {"levels.rows", "channels", "must hold what the program addresses"},
    {"levels.columns", "channels", "those of the memory"},
    {"levels.memory", "channels", "goes with its banks, rows and columns; no other has them"},
    {"levels.memory_values", "channels, figure", "with a figure the sizes of the memory alone count"},
    {"unit.window", "channels", "must hold what the program depends on, and more does not help"},
    {"tile.input_buffer_bits", "tiles", "must hold what a step takes, and more does not help"},
    {"tile.output_buffer_bits", "tiles", "must hold what a step gives, and more does not help"},
    {"tile.switching", "tiles, adaptive", "path_hold alone is adaptive"},
    {"tile.ideal", "tiles, adaptive", "straight routes alone are ideal"},
    {"tile.switching", "tiles, detours", "path_hold alone is adaptive"},
    {"tile.ideal", "tiles, detours", "straight routes alone are ideal"},
    {"tile.routing", "tiles, detours", "tile.detour is set"},
    {"tile.detour", "tiles, adaptive", "tile.detour_slack allows as much"},
    {"tile.detour_count", "tiles, adaptive", "tile.detour_slack allows as much"},
    {"tile.detour_slack", "tiles, detours", "tile.detour allows as much"},
};

/* What no value of is taken in a file of a machine that has no use for it. */
static const struct key_exception never[] = {
    {"noc.network_file", "", "names a file"},
    {"noc.links", "", "names a file"},
    {"noc.express_links", "", "names a file"},
    {"noc.class_first", "", "goes with noc.classes"},
    {"noc.classes", "nodes", "ideal and analytic refuse it"},
    {"dram.standard", "", "of nodes alone"},
    {"dram.standard_values", "", "goes with dram.standard"},
    {"global_memory.standard_values", "", "goes with global_memory.standard"},
};

/* What the machine is configured as, with one more value that need not do anything: as in a file. */
static struct pim_configuration *configuration_of(const struct key_machine *machine, const char *set,
                                                  struct pim_error *error)
{
    const char *sets[KEY_SETS + 1];
    const size_t count = sets_of(machine);
    memcpy(sets, machine->sets, sizeof machine->sets);
    sets[count] = set;
    const struct pim_hardware_sources sources = {.sets = sets, .set_count = count + (set ? 1 : 0)};
    struct pim_configuration *configuration = NULL;
    struct pim_hardware hardware;
    struct pim_trace *trace = NULL;
    ck_assert_int_eq(pim_trace_open(path, &trace, error), PIM_OK);
    (void)pim_configure_replay(trace, path, &sources, &configuration, &hardware, error);
    pim_trace_close(trace);
    return configuration;
}

/* Replays with a hardware file of the machine that has one more value. */
static struct key_outcome replay_file(const void *context, const char *set)
{
    const struct key_machine *machine = context;
    struct key_outcome outcome = {.results = NULL};
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration = configuration_of(machine, set, &error);
    if (!configuration) {
        (void)snprintf(outcome.message, sizeof outcome.message, "%s", error.text);
        return outcome;
    }
    char *text = pim_configuration_write(configuration, false);
    FILE *file = fopen(file_path, "w");
    ck_assert(text && file && fputs(text, file) >= 0 && fclose(file) == 0);
    const struct pimsim_options options = {.size = sizeof options, .hardware_path = file_path};
    outcome = replay_with(&options);
    free(text);
    pim_configuration_destroy(configuration);
    return outcome;
}

/* `other`: because it is of units of another kind. */
static bool is_refused(const struct pim_configuration *configuration, const char *set, bool *other)
{
    struct pim_error error = {PIM_OK, ""};
    const enum pim_status status = pim_hardware_accept_sets(configuration, PIM_TO_REPLAY, &set, 1, &error);
    ck_assert(status == PIM_OK || (strncmp(error.text, set, strcspn(set, "=")) == 0 &&
                                   strstr(error.text, ": it would change nothing") != NULL));
    *other = status != PIM_OK && strstr(error.text, "array.kind") != NULL;
    return status != PIM_OK;
}

static enum key_verdict try_key(const struct key_machine *machine, const struct key_trial *trial,
                                const struct pim_configuration *configuration, const struct pim_key *key)
{
    char values[KEY_VALUES][KEY_VALUE];
    bool other;
    (void)key_values_of(key, values);
    if (!is_refused(configuration, values[0], &other))
        return key_check_taken(trial, key);
    /* other units: once for each kind of units */
    return other && machine->sets[0] ? KEY_REFUSED : key_check_refused(trial, key);
}

static void assemble(const char *text)
{
    struct pim_error error = {PIM_OK, ""};
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_msg(pim_trace_assemble("program", file, path, &error) == PIM_OK, "%s", error.text);
    ck_assert_int_eq(fclose(file), 0);
}

static void setup(void)
{
    const char *place = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/pimsim-keys-XXXXXX", place ? place : "/tmp");
    const int file = mkstemp(path);
    (void)snprintf(file_path, sizeof file_path, "%s.cfg", path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(close(file), 0);
}

static void teardown(void)
{
    ck_assert_int_eq(unlink(path), 0);
    (void)unlink(file_path);
}

START_TEST(walk)
{
    const struct key_machine *machine = &key_machines[PIM_CASE(_i)];
    assemble(machine->program);
    struct key_outcome base = replay(machine, NULL);
    ck_assert_msg(base.results != NULL, "%s: %s", machine->name, base.message);
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration = configuration_of(machine, NULL, &error);
    ck_assert_msg(configuration != NULL, "%s: %s", machine->name, error.text);
    const struct key_trial trial = {.name = machine->name,
                                    .machine = machine,
                                    .given = replay,
                                    .in_file = replay_file,
                                    .silent = silent,
                                    .silent_count = sizeof silent / sizeof silent[0],
                                    .never = never,
                                    .never_count = sizeof never / sizeof never[0],
                                    .base = base.results};
    char names[NAMES] = "";
    size_t at = 0, taken = 0;
    for (size_t i = 0; i < pim_hardware_schema.count && at < sizeof names; i++) {
        const struct pim_key *key = &pim_hardware_schema.keys[i];
        const enum key_verdict verdict = try_key(machine, &trial, configuration, key);
        const char *fault = key_verdict_fault(verdict);
        taken += verdict == KEY_CHANGES ? 1 : 0;
        if (fault)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s (%s) ", key->path, fault);
    }
    ck_assert_msg(at == 0, "%s: %s", machine->name, names);
    ck_assert_uint_gt(taken, 5);
    free(base.results);
    pim_configuration_destroy(configuration);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("keys");
    TCase *tests = tcase_create("every key of every machine");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, walk, 0, PIM_CASES(key_machine_count));
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
