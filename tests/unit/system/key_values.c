#include "tests/unit/system/key_values.h"

#include "models/system/schema.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(char values[KEY_VALUES][KEY_VALUE], size_t *count, const struct pim_key *key,
                const char *value)
{
    ck_assert_uint_lt(*count, KEY_VALUES);
    int length = snprintf(values[(*count)++], KEY_VALUE, "%s=%s", key->path, value);
    ck_assert_int_lt(length, KEY_VALUE);
}

/* The default; of a key without one that of its twin in ns; where it is 0 something to begin with. */
static double base_of(const struct pim_key *key)
{
    char twin[KEY_VALUE];
    double base = key->fallback ? strtod(key->fallback, NULL) : key->minimum;
    (void)snprintf(twin, sizeof twin, "%s_ns", key->path);
    for (size_t i = 0; i < pim_hardware_schema.count; i++)
        if (strcmp(pim_hardware_schema.keys[i].path, twin) == 0)
            base = strtod(pim_hardware_schema.keys[i].fallback, NULL);
    return base > 0 || key->type == PIM_KEY_INTEGER ? base : 1000;
}

/* Numbers around the default, below and above. */
static void add_numbers(char values[KEY_VALUES][KEY_VALUE], size_t *count, const struct pim_key *key)
{
    const bool whole = key->type == PIM_KEY_INTEGER;
    const double base = base_of(key);
    const double tries[] = {2 * base, base / 2, key->minimum, base + 1, 16 * base, 3};
    char value[KEY_VALUE];
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        if (tries[i] < key->minimum || tries[i] > key->maximum)
            continue;
        (void)snprintf(value, sizeof value, whole ? "%.0f" : "%.6g", tries[i]);
        add(values, count, key, value);
    }
}

/* Texts, of which each key wants its own. */
static const struct {
    const char *key, *value;
} texts[] = {
    {"name", "other"},
    {"core.vector_functions", "relu"},
    {"dram.standard", "ddr3_1600k"},
    {"dram.standard_values", "dram = { tcl = 30; };"},
    {"global_memory.standard", "ddr3_1600k"},
    {"global_memory.standard_values", "dram = { tcl = 30; };"},
    {"levels.memory", "fast_overlapim"},
    {"levels.memory_values", "dram = { tras = 40; };"},
};

size_t key_values_of(const struct pim_key *key, char values[KEY_VALUES][KEY_VALUE])
{
    size_t count = 0;
    char value[KEY_VALUE];
    if (key->type == PIM_KEY_INTEGER || key->type == PIM_KEY_REAL)
        add_numbers(values, &count, key);
    for (unsigned i = 0; key->type == PIM_KEY_BOOLEAN && i < 2; i++)
        add(values, &count, key, i == 0 ? "false" : "true");
    for (unsigned i = 0; key->type == PIM_KEY_CHOICE && pim_key_choice(key, i, value, sizeof value); i++)
        add(values, &count, key, value);
    if (key->type == PIM_KEY_INTEGER_LIST) {
        add(values, &count, key, "[2, 2]");
        add(values, &count, key, "[15, 1]");
    }
    for (size_t i = 0; key->type == PIM_KEY_TEXT && i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(texts[i].key, key->path) == 0)
            add(values, &count, key, texts[i].value);
    if (count == 0)
        add(values, &count, key, "no-such-file");
    return count;
}

bool key_is_of(const char *key, const char *row)
{
    const size_t length = strlen(row);
    const bool group = row[length - 1] == '.' || row[length - 1] == '_';
    return group ? strncmp(key, row, length) == 0 : strcmp(key, row) == 0;
}

bool key_results_are_same(const char *results, const char *others)
{
    static const char none[] = "null", zero[] = "0.0";
    while (*results && *others) {
        const size_t empty = strncmp(results, none, 4) == 0 ? 4 : strncmp(results, zero, 3) == 0 ? 3 : 0;
        const size_t other = strncmp(others, none, 4) == 0 ? 4 : strncmp(others, zero, 3) == 0 ? 3 : 0;
        if ((empty == 0) != (other == 0) || (empty == 0 && *results != *others))
            return false;
        results += empty > 0 ? empty : 1;
        others += other > 0 ? other : 1;
    }
    return *results == *others;
}

bool key_results_are_near(const char *results, const char *others)
{
    while (*results && *others) {
        char *end, *other_end;
        const double value = strtod(results, &end), other = strtod(others, &other_end);
        if ((end == results) != (other_end == others) || (end == results && *results != *others) ||
            fabs(value - other) > fmax(1, 1e-9 * fabs(value)))
            return false;
        results = end == results ? results + 1 : end;
        others = other_end == others ? others + 1 : other_end;
    }
    return *results == *others;
}
