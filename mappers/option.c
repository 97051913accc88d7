#include "mappers/option.h"

#include "sim/nearest.h"
#include "sim/parse.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static enum pim_status refuse(const struct pim_option_table *table, const char *mapper, const char *name,
                              struct pim_error *error)
{
    struct pim_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < table->count; i++)
        (void)pim_nearest_offer(&nearest, table->rows[i].name);
    if (table->count == 0)
        return pim_fail(error, PIM_USAGE, "--%.60s: mapper %s has no options", name, mapper);
    return pim_fail(error, PIM_USAGE, "--%.60s: mapper %s has no such option%s%s", name, mapper,
                    PIM_NEAREST(nearest, "; the nearest is --"));
}

enum pim_status pim_option_find(const struct pim_option_table *table, const char *mapper, const char *name,
                                const struct pim_option **row, struct pim_error *error)
{
    size_t length = strlen(name), begun = 0;
    *row = NULL;
    for (size_t i = 0; i < table->count; i++) {
        if (strncmp(table->rows[i].name, name, length) != 0)
            continue;
        *row = &table->rows[i];
        begun++;
        if (table->rows[i].name[length] == '\0')
            return PIM_OK;
    }
    return begun == 1 && length > 0 ? PIM_OK : refuse(table, mapper, name, error);
}

static enum pim_status take(const struct pim_option *row, const char *text, void *options,
                            struct pim_error *error)
{
    char name[64], *target = (char *)options + row->offset;
    (void)snprintf(name, sizeof name, "--%s", row->name);
    if (row->kind == PIM_OPTION_FLAG && text)
        return pim_fail(error, PIM_USAGE, "%s: takes no value, found %.60s", name, text);
    if (row->kind != PIM_OPTION_FLAG && !text)
        return pim_fail(error, PIM_USAGE, "%s: needs a value: %s", name, row->argument);
    switch (row->kind) {
    case PIM_OPTION_FLAG:
        *(bool *)(void *)target = true;
        return PIM_OK;
    case PIM_OPTION_TEXT:
        *(const char **)(void *)target = text;
        return PIM_OK;
    case PIM_OPTION_CHOICE:
        return pim_parse_choice(name, text, row->choices, (unsigned *)(void *)target, error);
    case PIM_OPTION_COUNT:
        return pim_parse_unsigned(name, text, row->minimum, row->maximum, (uint64_t *)(void *)target, error);
    case PIM_OPTION_REAL:
        return pim_parse_real(name, text, row->real_minimum, row->real_maximum, (double *)(void *)target,
                              error);
    }
    return pim_fail(error, PIM_INTERNAL, "%s: unknown kind of option", name);
}

void pim_option_mark(const struct pim_option_table *table, const struct pim_option *row, void *options)
{
    assert(row >= table->rows && row < table->rows + table->count && table->count <= PIM_OPTIONS_MOST);
    *(uint64_t *)options |= (uint64_t)1 << (row - table->rows);
}

enum pim_status pim_option_set(const struct pim_option_table *table, const struct pim_option *row,
                               const char *text, void *options, struct pim_error *error)
{
    enum pim_status status = take(row, text, options, error);
    if (status == PIM_OK)
        pim_option_mark(table, row, options);
    return status;
}

static enum pim_status refuse_given(const struct pim_option_table *table, uint64_t given, const char *names,
                                    const char *why, struct pim_error *error)
{
    for (size_t length; *names; names += length + (names[length] == ' ')) {
        length = strcspn(names, " ");
        size_t i = 0;
        while (i < table->count &&
               (strncmp(table->rows[i].name, names, length) != 0 || table->rows[i].name[length] != '\0'))
            i++;
        assert(i < table->count); /* names are rows */
        if (i < table->count && given >> i & 1)
            return pim_fail(error, PIM_USAGE, "--%s %s", table->rows[i].name, why);
    }
    return PIM_OK;
}

enum pim_status pim_option_refuse(const struct pim_option_table *table, const void *options,
                                  const struct pim_option_refusal *refusals, size_t count,
                                  struct pim_error *error)
{
    const uint64_t given = *(const uint64_t *)options;
    for (size_t i = 0; i < count; i++)
        if (refusals[i].refused &&
            refuse_given(table, given, refusals[i].names, refusals[i].why, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

enum pim_status pim_option_assign(const struct pim_option_table *table, const char *mapper, const char *text,
                                  void *options, struct pim_error *error)
{
    const struct pim_option *row;
    char name[64];
    size_t length = strcspn(text, "=");
    if (length >= sizeof name)
        return pim_fail(error, PIM_USAGE, "%.60s: mapper %s has no option of such a length", text, mapper);
    memcpy(name, text, length);
    name[length] = '\0';
    if (pim_option_find(table, mapper, name, &row, error) != PIM_OK)
        return error->status;
    return pim_option_set(table, row, text[length] ? text + length + 1 : NULL, options, error);
}
