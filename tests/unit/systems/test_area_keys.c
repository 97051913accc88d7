/*
 * Every key of the hardware as `pimsim area` takes it: one that is refused changes no area; one that is taken
 * changes an area, or is refused by the closed forms.
 */
#include "models/system/schema.h"
#include "models/system/used.h"
#include "tests/unit/system/key_values.h"
#include "tests/unit/systems/suites.h"
#include "tests/unit/test_main.h"
#include "tools/systems/area.h"

#include <stdio.h>
#include <string.h>

enum { SETS = 3, NAMES = 8192, OPERAND_BITS = 16 };

static const struct machine {
    const char *name, *sets[SETS];
    unsigned taken; /* keys that change something */
} machines[] = {
    {"nodes", {"array.kind=node"}, 20},
    {"tiles", {"array.kind=tile"}, 7},
    {"tiles, wormhole", {"array.kind=tile", "tile.switching=wormhole"}, 13},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

/* What is looked at and changes no area of these machines. */
static const char *const deciding[] = {"array.kind"}; /* the test is of one kind */

static struct pim_configuration *configure(const struct machine *machine, const char *set)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration;
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &configuration, &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_set(configuration, "array.width=4", &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_set(configuration, "array.height=4", &error), PIM_OK);
    for (size_t i = 0; i < SETS && machine->sets[i]; i++)
        ck_assert_int_eq(pim_configuration_set(configuration, machine->sets[i], &error), PIM_OK);
    if (set)
        ck_assert_msg(pim_configuration_set(configuration, set, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_configuration_complete(configuration, &error) == PIM_OK, "%s", error.text);
    return configuration;
}

enum { FIGURES = PIM_AREA_READINGS * 16 };

/* All areas, one after another; how many, 0: there are none. */
static size_t areas_of(const struct pim_configuration *configuration, double figures[FIGURES])
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_area_system system;
    struct pim_area areas[PIM_AREA_READINGS];
    struct pim_area_tile_system tile_system;
    struct pim_area_tiles tiles[PIM_AREA_READINGS];
    const bool of_tiles = pim_area_is_of_tiles(configuration);
    const enum pim_status status = of_tiles
                                       ? pim_area_read_tiles(configuration, &tile_system, tiles, &error)
                                       : pim_area_read(configuration, OPERAND_BITS, &system, areas, &error);
    if (status != PIM_OK)
        return 0;
    const size_t bytes = of_tiles ? sizeof tiles : sizeof areas;
    memcpy(figures, of_tiles ? (const void *)tiles : (const void *)areas, bytes);
    return bytes / sizeof figures[0];
}

static bool are_same(const double a[FIGURES], const double b[FIGURES], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(a[i] <= b[i] && a[i] >= b[i]))
            return false;
    return true;
}

/* Whether one of the values changes the areas, or has none. */
static bool counts(const struct machine *machine, const struct pim_key *key)
{
    char values[KEY_VALUES][KEY_VALUE];
    double base[FIGURES] = {0}, other[FIGURES] = {0};
    struct pim_configuration *configuration = configure(machine, NULL);
    const size_t count = areas_of(configuration, base), tries = key_values_of(key, values);
    bool found = false;
    pim_configuration_destroy(configuration);
    ck_assert_uint_gt(count, 0);
    for (size_t i = 0; i < tries && !found; i++) {
        configuration = configure(machine, values[i]);
        found = areas_of(configuration, other) != count || !are_same(base, other, count);
        pim_configuration_destroy(configuration);
    }
    return found;
}

START_TEST(every_key_counts_or_is_refused)
{
    const struct machine *machine = &machines[_i];
    char names[NAMES] = "";
    size_t at = 0;
    unsigned taken = 0;
    struct pim_configuration *configuration = configure(machine, NULL);
    for (size_t i = 0; i < pim_hardware_schema.count && at < sizeof names; i++) {
        const struct pim_key *key = &pim_hardware_schema.keys[i];
        bool decides = false;
        for (size_t k = 0; k < sizeof deciding / sizeof deciding[0]; k++)
            decides = decides || strcmp(deciding[k], key->path) == 0;
        if (decides)
            continue;
        const bool used = pim_hardware_uses(configuration, PIM_TO_MEASURE, key->path);
        if (used != counts(machine, key))
            at += (size_t)snprintf(names + at, sizeof names - at, "%s (%s) ", key->path,
                                   used ? "taken, changes nothing" : "refused, changes areas");
        taken += used;
    }
    pim_configuration_destroy(configuration);
    ck_assert_msg(at == 0, "%s: %s", machine->name, names);
    ck_assert_uint_eq(taken, machine->taken);
}
END_TEST

Suite *area_keys_suite(void)
{
    Suite *suite = suite_create("systems_area_keys");
    TCase *tests = tcase_create("every key");
    tcase_add_loop_test(tests, every_key_counts_or_is_refused, 0, MACHINES);
    suite_add_tcase(suite, tests);
    return suite;
}
