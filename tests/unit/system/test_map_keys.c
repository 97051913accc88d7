/*
 * The walk through the hardware schema for networks that are mapped. A key that is refused by name where a
 * network is mapped does nothing in a file: estimates, cycles and energy of the program are the same. One
 * that is taken here and not for a replay changes some of these. What a replay takes, test_keys.c looks at.
 */
#include "include/pimsim/pimsim.h"
#include "models/system/schema.h"
#include "models/system/used.h"
#include "sim/output/json.h"
#include "tests/unit/system/key_values.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETS = 8, OPTIONS = 4, MESSAGE = 2048, NAMES = 16384, PATH = 256, IN_FILES = 2 };

static char folder[PATH - 64], hardware_path[PATH], network_path[PATH], trace_path[PATH];

#define TRANSFORMER                                                                                          \
    "network = { family = \"vit\"; image = 32; patch = 16; classes = 4; blocks = [1]; channels = [32]; "     \
    "heads = [2]; };"
#define CONVOLUTIONS                                                                                         \
    "network = { family = \"vgg\"; image = 6; classes = 5; blocks = [1, 1]; channels = [3, 7]; hidden = "    \
    "[11]; };"
/* Layers larger than a tile. */
#define WIDE                                                                                                 \
    "network = { family = \"vgg\"; image = 6; classes = 5; blocks = [1, 1]; channels = [3, 80]; hidden = "   \
    "[700]; };"
#define SMALL "network = { family = \"vgg\"; image = 4; classes = 2; blocks = [1]; channels = [2]; };"

static const struct machine {
    const char *name, *mapper, *network;
    const char *file; /* configs/hardware/, or NULL: the defaults */
    const char *options[OPTIONS], *sets[SETS];
} machines[] = {
    {"nodes, allspark", "allspark", TRANSFORMER, NULL, {NULL}, {"array.width=2", "array.height=2"}},
    {"nodes, nicepim", "nicepim", CONVOLUTIONS, NULL, {NULL}, {"array.width=2", "array.height=2"}},
    {"cores",
     "pimcomp",
     CONVOLUTIONS,
     "pimcomp-arch-a.cfg",
     {"mode=ht", "layout=balance"},
     {"array.width=4", "array.height=2"}},
    {"cores, bus",
     "pimcomp",
     CONVOLUTIONS,
     "pimcomp-arch-a.cfg",
     {"mode=ll", "layout=balance"},
     {"array.width=4", "array.height=2", "interconnect.kind=bus"}},
    {"channels", "overlapim", SMALL, "fast-overlapim-hbm2.cfg", {"budget=10"}, {NULL}},
    {"tiles", "conflict", WIDE, "noc-conflict-16x16.cfg", {"mapping=snake"}, {"array.width=4"}},
    {"tiles, wormhole",
     "conflict",
     WIDE,
     "noc-conflict-16x16.cfg",
     {"mapping=snake"},
     {"array.width=4", "tile.switching=wormhole"}},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

struct outcome {
    char *results; /* NULL: refused */
    char message[MESSAGE];
};

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static struct pim_configuration *configure(const struct machine *machine, const char *set,
                                           struct pim_error *error)
{
    struct pim_configuration *configuration;
    char file[2 * PATH], name[PATH];
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &configuration, error), PIM_OK);
    (void)snprintf(name, sizeof name, "configs/hardware/%s", machine->file ? machine->file : "");
    enum pim_status status = PIM_OK;
    if (machine->file)
        status =
            pim_configuration_read_file(configuration, pimsim_source_path(file, sizeof file, name), error);
    for (size_t i = 0; i < SETS && machine->sets[i] && status == PIM_OK; i++)
        status = pim_configuration_set(configuration, machine->sets[i], error);
    if (status == PIM_OK && set)
        status = pim_configuration_set(configuration, set, error);
    if (status == PIM_OK)
        status = pim_configuration_complete(configuration, error);
    if (status == PIM_OK)
        return configuration;
    pim_configuration_destroy(configuration);
    return NULL;
}

/* Cycles and where they went, estimates, work, energy: without what is said of the inputs. */
static char *replay(uint64_t estimate, char message[MESSAGE])
{
    struct pimsim_options options = {.size = sizeof options};
    struct pimsim_simulation *simulation = NULL;
    struct pim_error error = {PIM_OK, ""};
    const char *text = NULL;
    char *results = NULL;
    if (pimsim_create(&simulation, trace_path, &options, message, MESSAGE) == PIMSIM_OK &&
        pimsim_run(simulation, message, MESSAGE) == PIMSIM_OK &&
        pimsim_results(simulation, &text, message, MESSAGE) == PIMSIM_OK) {
        json_t *document = NULL;
        ck_assert_int_eq(pim_json_parse("results", text, strlen(text), &document, &error), PIM_OK);
        ck_assert_int_eq(json_object_del(document, "inputs"), 0);
        ck_assert_int_eq(json_object_del(document, "simulator"), 0);
        ck_assert_int_eq(json_object_set_new(document, "estimate", json_integer((json_int_t)estimate)), 0);
        results = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(12));
        json_decref(document);
        ck_assert_ptr_nonnull(results);
    }
    pimsim_destroy(simulation);
    return results;
}

/* Maps the network for the machine with one more value, as in a file, and replays it. */
static struct outcome map(const struct machine *machine, const char *set)
{
    struct outcome outcome = {.results = NULL};
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration = configure(machine, set, &error);
    if (!configuration) {
        (void)snprintf(outcome.message, sizeof outcome.message, "%s", error.text);
        return outcome;
    }
    char *text = pim_configuration_write(configuration, false);
    ck_assert_ptr_nonnull(text);
    write_file(hardware_path, text);
    free(text);
    pim_configuration_destroy(configuration);
    size_t count = 0;
    while (count < OPTIONS && machine->options[count])
        count++;
    const struct pimsim_map_options options = {.size = sizeof options,
                                               .mapper = machine->mapper,
                                               .network_path = network_path,
                                               .hardware_path = hardware_path,
                                               .options = machine->options,
                                               .option_count = count,
                                               .trace_path = trace_path};
    struct pimsim_mapping *mapping = NULL;
    if (pimsim_map(&mapping, &options, outcome.message, sizeof outcome.message) == PIMSIM_OK)
        outcome.results = replay(pimsim_mapping_cycles(mapping), outcome.message);
    pimsim_mapping_destroy(mapping);
    return outcome;
}

enum verdict { FINE, WRONGLY_REFUSED, NEVER_TAKEN, NOTHING };

/* What no value of is taken in a file of a machine that has no use for it. */
static const struct {
    const char *key, *reason;
} never[] = {
    {"noc.network_file", "names a file"},
    {"noc.links", "names a file"},
    {"noc.express_links", "names a file"},
    {"noc.class_first", "goes with noc.classes"},
    {"dram.standard", "of nodes alone"},
    {"dram.standard_values", "goes with dram.standard"},
    {"global_memory.standard_values", "goes with global_memory.standard"},
};

static bool is_never_taken(const char *key)
{
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        if (key_is_of(key, never[i].key))
            return true;
    return false;
}

/* A refused key does nothing in a file. */
static enum verdict check_refused(const struct machine *machine, const char *base, const struct pim_key *key,
                                  char values[KEY_VALUES][KEY_VALUE], size_t count)
{
    const bool clock = key_is_of(key->path, "clock.");
    size_t same = 0;
    enum verdict verdict = FINE;
    for (size_t i = 0; i < count && verdict == FINE && same < IN_FILES; i++) {
        struct outcome outcome = map(machine, values[i]);
        if (outcome.results && !(clock ? key_results_are_near : key_results_are_same)(outcome.results, base))
            verdict = WRONGLY_REFUSED;
        same += outcome.results ? 1 : 0;
        free(outcome.results);
    }
    return verdict == FINE && same == 0 && !is_never_taken(key->path) ? NEVER_TAKEN : verdict;
}

static enum verdict check_taken(const struct machine *machine, const char *base,
                                char values[KEY_VALUES][KEY_VALUE], size_t count)
{
    enum verdict verdict = NOTHING;
    for (size_t i = 0; i < count && verdict == NOTHING; i++) {
        struct outcome outcome = map(machine, values[i]);
        if (!outcome.results || strcmp(outcome.results, base) != 0)
            verdict = FINE;
        free(outcome.results);
    }
    return verdict;
}

static void setup(void)
{
    const char *place = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/pimsim-map-keys-XXXXXX", place ? place : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(hardware_path, sizeof hardware_path, "%s/hardware.cfg", folder);
    (void)snprintf(network_path, sizeof network_path, "%s/network.cfg", folder);
    (void)snprintf(trace_path, sizeof trace_path, "%s/trace.bin", folder);
}

static void teardown(void)
{
    (void)unlink(hardware_path);
    (void)unlink(network_path);
    (void)unlink(trace_path);
    ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(walk)
{
    static const char *const wrong[] = {[WRONGLY_REFUSED] = "refused by name, and in a file not the same",
                                        [NEVER_TAKEN] = "refused by name, and in a file with every value",
                                        [NOTHING] = "taken, and nothing changes"};
    const struct machine *machine = &machines[PIM_CASE(_i)];
    struct pim_error error = {PIM_OK, ""};
    write_file(network_path, machine->network);
    struct outcome base = map(machine, NULL);
    ck_assert_msg(base.results != NULL, "%s: %s", machine->name, base.message);
    struct pim_configuration *configuration = configure(machine, NULL, &error);
    ck_assert_ptr_nonnull(configuration);
    char names[NAMES] = "";
    size_t at = 0, refused = 0;
    for (size_t i = 0; i < pim_hardware_schema.count && at < sizeof names; i++) {
        const struct pim_key *key = &pim_hardware_schema.keys[i];
        char values[KEY_VALUES][KEY_VALUE];
        const size_t count = key_values_of(key, values);
        if (pim_hardware_uses(configuration, PIM_TO_REPLAY, key->path))
            continue;
        const bool used = pim_hardware_uses(configuration, PIM_TO_MAP, key->path);
        const enum verdict verdict = used ? check_taken(machine, base.results, values, count)
                                          : check_refused(machine, base.results, key, values, count);
        refused += !used;
        if (wrong[verdict])
            at += (size_t)snprintf(names + at, sizeof names - at, "%s (%s) ", key->path, wrong[verdict]);
    }
    ck_assert_msg(at == 0, "%s: %s", machine->name, names);
    ck_assert_uint_gt(refused, 20);
    free(base.results);
    pim_configuration_destroy(configuration);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("map_keys");
    TCase *tests = tcase_create("every key of every machine that is mapped for");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, walk, 0, PIM_CASES(MACHINES));
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
