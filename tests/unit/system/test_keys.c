/*
 * The walk through the hardware schema, with some values of each key. A key that is refused by name with
 * --set does nothing: a file may have it, and with such values there the results are the same. One that is
 * taken changes a result of a replay. What is taken and shows nothing stands in a table, with the reason.
 */
#include "include/pimsim/pimsim.h"
#include "models/system/configure.h"
#include "models/system/schema.h"
#include "models/system/used.h"
#include "sim/output/json.h"
#include "tests/unit/system/key_values.h"
#include "tests/unit/system/keys.h"
#include "tests/unit/test_main.h"
#include "traces/text/text.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUES = KEY_VALUES, VALUE = KEY_VALUE, MESSAGE = 2048, NAMES = 16384 };

static char path[256], file_path[256 + 4];

/* What one replay gave: its results without what is said of the inputs; or what was wrong. */
struct outcome {
    char *results; /* NULL: refused */
    char message[MESSAGE];
};

static char *results_of(struct pimsim_simulation *simulation)
{
    const char *text = NULL;
    char message[MESSAGE];
    json_t *document = NULL;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pimsim_results(simulation, &text, message, sizeof message), PIMSIM_OK);
    ck_assert_int_eq(pim_json_parse("results", text, strlen(text), &document, &error), PIM_OK);
    ck_assert_int_eq(json_object_del(document, "inputs"), 0);
    ck_assert_int_eq(json_object_del(document, "simulator"), 0);
    char *results = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(document);
    ck_assert_ptr_nonnull(results);
    return results;
}

static size_t sets_of(const struct key_machine *machine)
{
    size_t count = 0;
    while (count < KEY_SETS && machine->sets[count])
        count++;
    return count;
}

static struct outcome replay_with(const struct pimsim_options *options)
{
    struct outcome outcome = {.results = NULL};
    struct pimsim_simulation *simulation = NULL;
    if (pimsim_create(&simulation, path, options, outcome.message, sizeof outcome.message) == PIMSIM_OK &&
        pimsim_run(simulation, outcome.message, sizeof outcome.message) == PIMSIM_OK)
        outcome.results = results_of(simulation);
    pimsim_destroy(simulation);
    return outcome;
}

/* Replays with the sets of the machine and one more. */
static struct outcome replay(const struct key_machine *machine, const char *set)
{
    const char *sets[KEY_SETS + 1];
    size_t count = sets_of(machine);
    memcpy(sets, machine->sets, sizeof machine->sets);
    if (set)
        sets[count++] = set;
    struct pimsim_options options = {.size = sizeof options, .overrides = sets, .override_count = count};
    return replay_with(&options);
}

/* What is taken and shows nothing, or is refused for all values but one, in machines whose names begin so. */
static const struct {
    const char *key, *machines, *reason;
} silent[] = {
    {"name", "", "for people"},
    {"array.", "", "the program is for this array and these units"},
    {"buffers.", "nodes", "must hold the program's tiles, and more does not help"},
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
    {"unit.window", "tiles", "must hold what the program depends on, and more does not help"},
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
static const struct {
    const char *key, *machines, *reason;
} never[] = {
    {"noc.network_file", "", "names a file"},
    {"noc.links", "", "names a file"},
    {"noc.express_links", "", "names a file"},
    {"noc.class_first", "", "goes with noc.classes"},
    {"noc.classes", "nodes", "ideal and analytic refuse it"},
    {"dram.standard", "", "of nodes alone"},
    {"dram.standard_values", "", "goes with dram.standard"},
    {"global_memory.standard_values", "", "goes with global_memory.standard"},
};

static bool is_never_taken(const char *key, const char *machine)
{
    bool found = false;
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        found = found || (key_is_of(key, never[i].key) &&
                          strncmp(machine, never[i].machines, strlen(never[i].machines)) == 0);
    return found;
}

static bool is_silent(const char *key, const char *machine)
{
    bool found = false;
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++)
        found = found || (key_is_of(key, silent[i].key) &&
                          strncmp(machine, silent[i].machines, strlen(silent[i].machines)) == 0);
    return found;
}

enum verdict { REFUSED, WRONGLY_REFUSED, NEVER_TAKEN, CHANGES, LIMITED, NOTHING };

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
static struct outcome replay_file(const struct key_machine *machine, const char *set)
{
    struct outcome outcome = {.results = NULL};
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

enum { IN_FILES = 2 };

/*
 * Whether a key that is refused does nothing in a file. What is refused there too, by the name of its group,
 * does not look as if it had been tried; but a clock without a use has no wrong value. All values of clocks,
 * a few of others.
 */
static enum verdict check_refused(const struct key_machine *machine, const struct outcome *base,
                                  const struct pim_key *key, char values[VALUES][VALUE], size_t count)
{
    const bool clock = key_is_of(key->path, "clock.");
    char group[VALUE];
    (void)snprintf(group, sizeof group, "%.*s", (int)strcspn(key->path, "."), key->path);
    enum verdict verdict = REFUSED;
    size_t same = 0;
    for (size_t i = 0; i < count && verdict == REFUSED && (clock || same < IN_FILES); i++) {
        struct outcome outcome = replay_file(machine, values[i]);
        if (outcome.results
                ? !(clock ? key_results_are_near : key_results_are_same)(outcome.results, base->results)
                : clock || !strstr(outcome.message, group))
            verdict = WRONGLY_REFUSED;
        same += outcome.results ? 1 : 0;
        free(outcome.results);
    }
    return verdict == REFUSED && same == 0 && !is_never_taken(key->path, machine->name) ? NEVER_TAKEN
                                                                                        : verdict;
}

/* Every value of the key, until one shows that it counts. */
static enum verdict try_key(const struct key_machine *machine, const struct pim_configuration *configuration,
                            const struct outcome *base, const struct pim_key *key)
{
    char values[VALUES][VALUE];
    const size_t count = key_values_of(key, values);
    bool other;
    if (is_refused(configuration, values[0], &other)) /* other units: once for each kind of units */
        return other && machine->sets[0] ? REFUSED : check_refused(machine, base, key, values, count);
    if (is_silent(key->path, machine->name))
        return REFUSED;
    enum verdict verdict = NOTHING;
    for (size_t i = 0; i < count && verdict != CHANGES; i++) {
        struct outcome outcome = replay(machine, values[i]);
        if (!outcome.results)
            verdict = LIMITED;
        else if (strcmp(outcome.results, base->results) != 0)
            verdict = CHANGES;
        free(outcome.results);
    }
    return verdict;
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
    static const char *const wrong[] = {[WRONGLY_REFUSED] =
                                            "refused by name, and in a file it is not the same",
                                        [NEVER_TAKEN] = "refused by name, and in a file with every value",
                                        [LIMITED] = "refused, but not by name",
                                        [NOTHING] = "taken, and nothing changes"};
    const struct key_machine *machine = &key_machines[PIM_CASE(_i)];
    assemble(machine->program);
    struct outcome base = replay(machine, NULL);
    ck_assert_msg(base.results != NULL, "%s: %s", machine->name, base.message);
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration = configuration_of(machine, NULL, &error);
    ck_assert_msg(configuration != NULL, "%s: %s", machine->name, error.text);
    char names[NAMES] = "";
    size_t at = 0, taken = 0;
    for (size_t i = 0; i < pim_hardware_schema.count; i++) {
        const struct pim_key *key = &pim_hardware_schema.keys[i];
        const enum verdict verdict = try_key(machine, configuration, &base, key);
        taken += verdict == CHANGES ? 1 : 0;
        if (wrong[verdict])
            at += (size_t)snprintf(names + at, sizeof names - at, "%s (%s) ", key->path, wrong[verdict]);
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
