/*
 * The walk through the hardware schema for networks that are mapped. A key that is refused by name where a
 * network is mapped does nothing in a file: estimates, cycles and energy of the program are the same. One
 * that is taken here and not for a replay changes some of these. What a replay takes, test_keys.c looks at.
 */
#include "include/pimsim/pimsim.h"
#include "models/system/schema.h"
#include "models/system/used.h"
#include "tests/unit/system/key_walk.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETS = 8, OPTIONS = 4, NAMES = 16384, PATH = 256 };

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
    bool again; /* keys of other units were tried with the machine before */
} machines[] = {
    {"nodes, allspark", "allspark", TRANSFORMER, NULL, {NULL}, {"array.width=2", "array.height=2"}, false},
    {"nodes, nicepim", "nicepim", CONVOLUTIONS, NULL, {NULL}, {"array.width=2", "array.height=2"}, false},
    {"cores",
     "pimcomp",
     CONVOLUTIONS,
     "pimcomp-arch-a.cfg",
     {"mode=ht", "layout=balance"},
     {"array.width=4", "array.height=2"},
     false},
    {"cores, bus",
     "pimcomp",
     CONVOLUTIONS,
     "pimcomp-arch-a.cfg",
     {"mode=ll", "layout=balance"},
     {"array.width=4", "array.height=2", "interconnect.kind=bus"},
     true},
    {"channels", "overlapim", SMALL, "fast-overlapim-hbm2.cfg", {"budget=10"}, {NULL}, false},
    {"tiles", "conflict", WIDE, "noc-conflict-16x16.cfg", {"mapping=snake"}, {"array.width=4"}, false},
    {"tiles, wormhole",
     "conflict",
     WIDE,
     "noc-conflict-16x16.cfg",
     {"mapping=snake"},
     {"array.width=4", "tile.switching=wormhole"},
     true},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

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
static char *replay(uint64_t estimate, char message[KEY_MESSAGE])
{
    struct pimsim_options options = {.size = sizeof options};
    struct pimsim_simulation *simulation = NULL;
    char *results = NULL;
    if (pimsim_create(&simulation, trace_path, &options, message, KEY_MESSAGE) == PIMSIM_OK &&
        pimsim_run(simulation, message, KEY_MESSAGE) == PIMSIM_OK)
        results = key_results_of(simulation, &estimate);
    pimsim_destroy(simulation);
    return results;
}

/* Maps the network for the machine with one more value, as in a file, and replays it. */
static struct key_outcome map(const void *context, const char *set)
{
    const struct machine *machine = context;
    struct key_outcome outcome = {.results = NULL};
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

/* What no value of is taken in a file of a machine that has no use for it. */
static const struct key_exception never[] = {
    {"noc.network_file", "", "names a file"},
    {"noc.links", "", "names a file"},
    {"noc.express_links", "", "names a file"},
    {"noc.class_first", "", "goes with noc.classes"},
    {"dram.standard", "", "of nodes alone"},
    {"dram.standard_values", "", "goes with dram.standard"},
    {"global_memory.standard_values", "", "goes with global_memory.standard"},
};

/* The key refused by name; `other`: because it is of units of another kind. */
static bool is_refused(const struct pim_configuration *configuration, const struct pim_key *key, bool *other)
{
    char values[KEY_VALUES][KEY_VALUE];
    struct pim_error error = {PIM_OK, ""};
    (void)key_values_of(key, values);
    const char *set = values[0];
    const bool refused = pim_hardware_accept_sets(configuration, PIM_TO_MAP, &set, 1, &error) != PIM_OK;
    ck_assert_int_eq(refused, !pim_hardware_uses(configuration, PIM_TO_MAP, key->path));
    *other = refused && strstr(error.text, "array.kind") != NULL;
    return refused;
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
    const struct machine *machine = &machines[PIM_CASE(_i)];
    struct pim_error error = {PIM_OK, ""};
    write_file(network_path, machine->network);
    struct key_outcome base = map(machine, NULL);
    ck_assert_msg(base.results != NULL, "%s: %s", machine->name, base.message);
    struct pim_configuration *configuration = configure(machine, NULL, &error);
    ck_assert_ptr_nonnull(configuration);
    const struct key_trial trial = {.name = machine->name,
                                    .machine = machine,
                                    .given = map,
                                    .in_file = map,
                                    .never = never,
                                    .never_count = sizeof never / sizeof never[0],
                                    .clocks_are_read = true,
                                    .base = base.results};
    char names[NAMES] = "";
    size_t at = 0, refused = 0;
    for (size_t i = 0; i < pim_hardware_schema.count && at < sizeof names; i++) {
        const struct pim_key *key = &pim_hardware_schema.keys[i];
        if (pim_hardware_uses(configuration, PIM_TO_REPLAY, key->path))
            continue;
        bool other;
        const bool refuses = is_refused(configuration, key, &other);
        refused += refuses;
        if (other && machine->again)
            continue;
        const char *fault =
            key_verdict_fault(refuses ? key_check_refused(&trial, key) : key_check_taken(&trial, key));
        if (fault)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s (%s) ", key->path, fault);
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
