#include "tools/sweep/specification/axis.h"

#include "mappers/network/descriptor/descriptor.h"
#include "models/system/schema.h"
#include "sim/arena.h"
#include "sim/output/output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_BYTES = 8192, ASSIGNMENT_BYTES = ITEM_BYTES + 256 };

const struct pim_schema *pim_sweep_schema(const char *name)
{
    return strncmp(name, "network.", strlen("network.")) == 0 ? &pim_network_schema : &pim_hardware_schema;
}

void pim_sweep_strip_origin(struct pim_error *error)
{
    static const char origin[] = "command line: ";
    size_t length = sizeof origin - 1;
    if (strncmp(error->text, origin, length) == 0)
        memmove(error->text, error->text + length, strlen(error->text + length) + 1);
}

void pim_sweep_format_real(char *buffer, size_t size, double real)
{
    char text[PIM_REAL_CHARACTERS] = "";
    for (int digits = 15; digits <= 17; digits++) {
        pim_format_real(text, real, digits);
        if (strtod(text, NULL) == real)
            break;
    }
    (void)snprintf(buffer, size, "%s", text);
}

static const struct pim_key *find_key(const struct pim_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->keys[i].path, name) == 0)
            return &schema->keys[i];
    return NULL;
}

enum pim_status pim_sweep_key_begin(struct pim_sweep_key *key, const char *name, struct pim_error *error)
{
    const struct pim_schema *schema = pim_sweep_schema(name);
    *key = (struct pim_sweep_key){.of_network = schema == &pim_network_schema, .name = strdup(name)};
    if (!key->name)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for an axis");
    if (pim_configuration_create(schema, &key->scratch, error) != PIM_OK)
        return error->status;
    key->key = find_key(schema, name);
    if (key->key)
        return PIM_OK;
    char assignment[ASSIGNMENT_BYTES]; /* the configuration itself refuses it, with the nearest key */
    (void)snprintf(assignment, sizeof assignment, "%s=0", name);
    if (name[strcspn(name, "= \t\n")] != '\0' ||
        pim_configuration_set(key->scratch, assignment, error) == PIM_OK)
        return pim_fail(error, PIM_BAD_INPUT, "%.200s: no key of the %s configuration", name, schema->name);
    pim_sweep_strip_origin(error);
    return error->status;
}

/* The value of the scratch configuration, in its one spelling. */
static enum pim_status take_value(const struct pim_sweep_key *key, struct pim_sweep_value *value,
                                  struct pim_error *error)
{
    char text[ITEM_BYTES] = "";
    const char *result = text;
    const char *path = key->name;
    *value = (struct pim_sweep_value){.kind = PIM_SWEEP_TEXT};
    switch (key->key->type) {
    case PIM_KEY_INTEGER:
        value->kind = PIM_SWEEP_INTEGER;
        value->integer = pim_configuration_integer(key->scratch, path);
        (void)snprintf(text, sizeof text, "%lld", (long long)value->integer);
        break;
    case PIM_KEY_REAL:
        value->kind = PIM_SWEEP_REAL;
        value->real = pim_configuration_real(key->scratch, path);
        pim_sweep_format_real(text, sizeof text, value->real);
        break;
    case PIM_KEY_BOOLEAN:
        result = pim_configuration_boolean(key->scratch, path) ? "true" : "false";
        break;
    case PIM_KEY_CHOICE:
        (void)pim_key_choice(key->key, pim_configuration_choice(key->scratch, path), text, sizeof text);
        break;
    case PIM_KEY_TEXT:
        result = pim_configuration_text(key->scratch, path);
        break;
    case PIM_KEY_INTEGER_LIST: {
        const int64_t *items;
        size_t count = pim_configuration_list(key->scratch, path, &items), used = 0;
        used += (size_t)snprintf(text, sizeof text, "[");
        for (size_t i = 0; i < count && used < sizeof text; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", i ? ", " : "",
                                     (long long)items[i]);
        if (used + 2 > sizeof text)
            return pim_fail(error, PIM_BAD_INPUT, "%s: a list of %zu numbers is too long for an axis", path,
                            count);
        memcpy(text + used, "]", 2);
        break;
    }
    }
    value->text = strdup(result);
    return value->text ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for an axis");
}

static enum pim_status add_literal(struct pim_sweep_key *key, const char *item, struct pim_error *error)
{
    char assignment[ASSIGNMENT_BYTES];
    (void)snprintf(assignment, sizeof assignment, "%s=%s", key->name, item);
    if (pim_configuration_set(key->scratch, assignment, error) != PIM_OK) {
        pim_sweep_strip_origin(error);
        return error->status;
    }
    if (key->count >= PIM_SWEEP_VALUES_MOST)
        return pim_fail(error, PIM_BAD_INPUT, "%s: more than %d values", key->name, PIM_SWEEP_VALUES_MOST);
    struct pim_sweep_value *grown =
        pim_array_grow(key->values, &key->capacity, key->count + 1, sizeof *key->values);
    if (!grown)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for an axis");
    key->values = grown;
    if (take_value(key, &grown[key->count], error) != PIM_OK)
        return error->status;
    key->count++;
    return PIM_OK;
}

/* A point of a range, rounded; an integer key gets an integer. */
static enum pim_status add_number(struct pim_sweep_key *key, double number, int digits,
                                  struct pim_error *error)
{
    char text[PIM_REAL_CHARACTERS];
    if (key->key->type == PIM_KEY_INTEGER) {
        (void)snprintf(text, sizeof text, "%.0f", round(number));
        if (key->count > 0 && strcmp(key->values[key->count - 1].text, text) == 0)
            return PIM_OK;
    } else {
        pim_format_real(text, number, digits);
    }
    return add_literal(key, text, error);
}

/* A number up to `end`, which is a colon or the end of the text. */
static bool read_number(const char *text, const char *end, double *number)
{
    char *stop = NULL;
    if (text == end || strchr("0123456789.-", *text) == NULL)
        return false;
    *number = strtod(text, &stop);
    return stop == end && isfinite(*number);
}

static enum pim_status refuse_range(const struct pim_sweep_key *key, const char *item, const char *reason,
                                    struct pim_error *error)
{
    return pim_fail(
        error, PIM_BAD_INPUT,
        "%s: range %.60s: %s; FROM:TO:STEP as 10:20:5, or FROM:TO:logCOUNT as 1:30:log8, is expected",
        key->name, item, reason);
}

static enum pim_status add_logarithmic(struct pim_sweep_key *key, const char *item, double from, double to,
                                       const char *digits, struct pim_error *error)
{
    char *stop = NULL;
    errno = 0;
    unsigned long count = *digits >= '0' && *digits <= '9' ? strtoul(digits, &stop, 10) : 0;
    if (!stop || *stop != '\0' || errno != 0 || count < 2 || count > PIM_SWEEP_VALUES_MOST)
        return refuse_range(key, item, "the number behind log is not one from 2 to 100000", error);
    if (from <= 0 || to <= 0)
        return refuse_range(key, item, "the ends of a logarithmic range are greater than 0", error);
    for (unsigned long i = 0; i < count; i++) {
        double share = (double)i / (double)(count - 1);
        double number = i == 0 ? from : i == count - 1 ? to : from * pow(to / from, share);
        if (add_number(key, number, i == 0 || i == count - 1 ? 17 : 6, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

static enum pim_status add_range(struct pim_sweep_key *key, const char *item, struct pim_error *error)
{
    double from, to, step;
    const char *first = strchr(item, ':');
    const char *second = strchr(first + 1, ':');
    if (!second || !read_number(item, first, &from) || !read_number(first + 1, second, &to))
        return refuse_range(key, item, "not two numbers and a step", error);
    if (strncmp(second + 1, "log", 3) == 0)
        return add_logarithmic(key, item, from, to, second + 4, error);
    if (!read_number(second + 1, item + strlen(item), &step) || step == 0)
        return refuse_range(key, item, "the step is not a number other than 0", error);
    double steps = (to - from) / step * (1 + 1e-12) + 1e-9;
    if (steps < 0)
        return refuse_range(key, item, "it is empty: the step leads away from its end", error);
    if (steps >= PIM_SWEEP_VALUES_MOST)
        return refuse_range(key, item, "it has more than 100000 values", error);
    if (key->key->type == PIM_KEY_INTEGER && (from != floor(from) || step != floor(step)))
        return refuse_range(key, item, "the key takes integers only", error);
    for (size_t i = 0; i <= (size_t)steps; i++)
        if (add_number(key, from + (double)i * step, 12, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

enum pim_status pim_sweep_key_add(struct pim_sweep_key *key, const char *item, struct pim_error *error)
{
    bool number = key->key->type == PIM_KEY_INTEGER || key->key->type == PIM_KEY_REAL;
    if (strlen(item) >= ITEM_BYTES)
        return pim_fail(error, PIM_BAD_INPUT, "%s: a value of %zu characters: allowed are %d", key->name,
                        strlen(item), ITEM_BYTES - 1);
    if (item[strspn(item, " \t")] == '\0')
        return pim_fail(error, PIM_BAD_INPUT, "%s: a value is missing", key->name);
    return number && strchr(item, ':') ? add_range(key, item, error) : add_literal(key, item, error);
}

enum pim_status pim_sweep_key_add_list(struct pim_sweep_key *key, const char *items, struct pim_error *error)
{
    char item[ITEM_BYTES];
    for (const char *begin = items;;) {
        int depth = 0;
        const char *end = begin;
        for (; *end && (*end != ',' || depth > 0); end++)
            depth += (*end == '[') - (*end == ']');
        if ((size_t)(end - begin) >= sizeof item)
            return pim_fail(error, PIM_BAD_INPUT, "%s: a value of more than %d characters", key->name,
                            ITEM_BYTES - 1);
        memcpy(item, begin, (size_t)(end - begin));
        item[end - begin] = '\0';
        if (pim_sweep_key_add(key, item, error) != PIM_OK)
            return error->status;
        if (*end == '\0')
            return PIM_OK;
        begin = end + 1;
    }
}

/* Value i of all keys of an axis. */
struct combination {
    const struct pim_sweep_axis *axis;
    size_t i;
};

static int compare_combinations(const void *left, const void *right)
{
    const struct combination *one = left, *two = right;
    int order = 0;
    for (size_t k = 0; k < one->axis->key_count && order == 0; k++)
        order = strcmp(one->axis->keys[k].values[one->i].text, two->axis->keys[k].values[two->i].text);
    return order;
}

enum pim_status pim_sweep_axis_check(const struct pim_sweep_axis *axis, struct pim_error *error)
{
    struct combination *sorted = malloc((axis->count + 1) * sizeof *sorted);
    if (!sorted)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for an axis");
    for (size_t i = 0; i < axis->count; i++)
        sorted[i] = (struct combination){axis, i};
    qsort(sorted, axis->count, sizeof *sorted, compare_combinations);
    enum pim_status status = PIM_OK;
    for (size_t i = 1; i < axis->count && status == PIM_OK; i++)
        if (compare_combinations(&sorted[i - 1], &sorted[i]) == 0)
            status = pim_fail(error, PIM_BAD_INPUT, "%s: the value %.60s stands twice%s", axis->keys[0].name,
                              axis->keys[0].values[sorted[i].i].text,
                              axis->key_count > 1 ? ", with the same values of the keys zipped with it" : "");
    free(sorted);
    return status;
}

enum pim_status pim_sweep_key_end(struct pim_sweep_key *key, struct pim_error *error)
{
    pim_configuration_destroy(key->scratch);
    key->scratch = NULL;
    if (key->count == 0)
        return pim_fail(error, PIM_BAD_INPUT, "%s: an axis without values", key->name);
    const struct pim_sweep_axis alone = {.keys = key, .key_count = 1, .count = key->count};
    return key->zipped ? PIM_OK : pim_sweep_axis_check(&alone, error);
}

void pim_sweep_key_terminate(struct pim_sweep_key *key)
{
    for (size_t i = 0; i < key->count; i++)
        free(key->values[i].text);
    free(key->values);
    free(key->name);
    pim_configuration_destroy(key->scratch);
    *key = (struct pim_sweep_key){.name = NULL};
}

void pim_sweep_axis_terminate(struct pim_sweep_axis *axis)
{
    for (size_t i = 0; i < axis->key_count; i++)
        pim_sweep_key_terminate(&axis->keys[i]);
    free(axis->keys);
    *axis = (struct pim_sweep_axis){.keys = NULL};
}
