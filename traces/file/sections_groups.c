/* The section of array groups as bytes; see sections.h. */
#include "traces/file/sections.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#define LARGEST_SPAN ((uint64_t)UINT32_MAX)

static enum pim_status check_most(uint64_t value, uint64_t most, const char *what, struct pim_error *error)
{
    if (value <= most)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT, "%s is %" PRIu64 ": at most %" PRIu64 " is allowed", what, value,
                    most);
}

enum pim_status pim_array_group_check(const struct pim_trace_array_group *group, struct pim_error *error)
{
    const uint64_t rows = group->rows, columns = group->columns, folds = group->folds;
    if (group->arrays == 0 || rows == 0 || columns == 0 || folds == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "arrays is %" PRIu32 ", rows %" PRIu64 ", columns %" PRIu64 ", folds %" PRIu64
                        ": each is at least 1",
                        group->arrays, rows, columns, folds);
    if ((group->fold_stride == 0) != (folds == 1))
        return pim_fail(error, PIM_BAD_INPUT,
                        "fold_stride is %" PRIu32 " for %" PRIu64
                        " folds: it is 0 for one fold, and at least 1 for several",
                        group->fold_stride, folds);
    if (group->blocks != 0 &&
        (group->blocks == 1 || folds != 1 || rows % group->blocks != 0 || columns % group->blocks != 0))
        return pim_fail(error, PIM_BAD_INPUT,
                        "blocks is %" PRIu32 " for %" PRIu64 " rows, %" PRIu64 " columns and %" PRIu64
                        " folds: it is 0, or at least 2 with one fold and divides rows and columns",
                        group->blocks, rows, columns, folds);
    /* the bytes of an input and an output vector are 32-bit fields of mvm */
    enum pim_status status = check_most(rows * 2, LARGEST_SPAN, "2 * rows", error);
    if (status == PIM_OK)
        status = check_most(folds * columns, LARGEST_SPAN / 2, "folds * columns", error);
    if (status == PIM_OK)
        status = check_most(folds * group->fold_stride, LARGEST_SPAN, "folds * fold_stride", error);
    if (status == PIM_OK)
        status = check_most(group->row + (folds - 1) * group->fold_stride + rows, LARGEST_SPAN,
                            "row + (folds - 1) * fold_stride + rows", error);
    if (status == PIM_OK)
        status = check_most(group->column + columns, LARGEST_SPAN, "column + columns", error);
    return status;
}

enum pim_status pim_array_group_follows(const struct pim_trace_array_group *before,
                                        const struct pim_trace_array_group *group, struct pim_error *error)
{
    if (!before || before->set <= group->set)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "set is %" PRIu32 " behind a group of set %" PRIu32 ": the sets of a unit ascend",
                    group->set, before->set);
}

/* The form of the section: with the word `blocks` in every group when one of them has blocks, and `set`
 * behind it when one has a set. */
enum { FORM_PLAIN, FORM_BLOCKS, FORM_SETS };

static size_t group_size(uint32_t form)
{
    return PIM_ARRAY_GROUP_SIZE + (size_t)4 * form;
}

static void put_group(uint8_t *place, const struct pim_trace_array_group *group, uint32_t form)
{
    const uint32_t words[] = {group->layer,  group->arrays,  group->row,   group->rows,
                              group->column, group->columns, group->folds, group->fold_stride};
    _Static_assert(sizeof words == PIM_ARRAY_GROUP_SIZE, "a word for each field");
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        pim_put_u32(place + (size_t)4 * i, words[i]);
    if (form >= FORM_BLOCKS)
        pim_put_u32(place + PIM_ARRAY_GROUP_SIZE, group->blocks);
    if (form == FORM_SETS)
        pim_put_u32(place + PIM_ARRAY_GROUP_SIZE + 4, group->set);
}

static struct pim_trace_array_group get_group(const uint8_t *place, uint32_t form)
{
    return (struct pim_trace_array_group){.layer = pim_get_u32(place),
                                          .arrays = pim_get_u32(place + 4),
                                          .row = pim_get_u32(place + 8),
                                          .rows = pim_get_u32(place + 12),
                                          .column = pim_get_u32(place + 16),
                                          .columns = pim_get_u32(place + 20),
                                          .folds = pim_get_u32(place + 24),
                                          .fold_stride = pim_get_u32(place + 28),
                                          .blocks = form >= FORM_BLOCKS ? pim_get_u32(place + 32) : 0,
                                          .set = form == FORM_SETS ? pim_get_u32(place + 36) : 0};
}

uint8_t *pim_array_groups_encode(const struct pim_array_group_list *list, uint32_t units, uint64_t *bytes)
{
    size_t size = PIM_ARRAY_GROUPS_SIZE;
    uint32_t tables = 0, form = FORM_PLAIN;
    for (uint32_t unit = 0; unit < units; unit++)
        for (uint32_t i = 0; i < list[unit].count; i++)
            form = list[unit].group[i].set                           ? FORM_SETS
                   : list[unit].group[i].blocks && form != FORM_SETS ? FORM_BLOCKS
                                                                     : form;
    for (uint32_t unit = 0; unit < units; unit++)
        if (list[unit].count > 0) {
            size += PIM_ARRAY_GROUP_TABLE_SIZE + (size_t)list[unit].count * group_size(form);
            tables++;
        }
    uint8_t *data = malloc(size);
    if (!data)
        return NULL;
    pim_put_u32(data, tables);
    pim_put_u32(data + 4, form);
    uint8_t *place = data + PIM_ARRAY_GROUPS_SIZE;
    for (uint32_t unit = 0; unit < units; unit++) {
        if (list[unit].count == 0)
            continue;
        pim_put_u32(place, unit);
        pim_put_u32(place + 4, list[unit].count);
        place += PIM_ARRAY_GROUP_TABLE_SIZE;
        for (uint32_t i = 0; i < list[unit].count; i++, place += group_size(form))
            put_group(place, &list[unit].group[i], form);
    }
    *bytes = size;
    return data;
}

/* What is left of the section while it is decoded. */
struct reader {
    const uint8_t *data;
    size_t bytes, place;
    uint32_t units, next_unit; /* of the trace; the least that may come next */
    uint32_t used;             /* groups so far */
    uint32_t form;
    bool blocks, sets; /* a group has some */
};

/* The groups of one unit. */
static enum pim_status decode_unit(struct reader *reader, struct pim_array_groups *groups,
                                   struct pim_error *error)
{
    if (reader->bytes - reader->place < PIM_ARRAY_GROUP_TABLE_SIZE)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte %zu of the section: a unit needs %d bytes, %zu are left", reader->place,
                        PIM_ARRAY_GROUP_TABLE_SIZE, reader->bytes - reader->place);
    const uint32_t unit = pim_get_u32(reader->data + reader->place);
    const uint32_t count = pim_get_u32(reader->data + reader->place + 4);
    if (unit < reader->next_unit || unit >= reader->units)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte %zu of the section: unit %" PRIu32 ": units must ascend, below %" PRIu32,
                        reader->place, unit, reader->units);
    reader->place += PIM_ARRAY_GROUP_TABLE_SIZE;
    if (count == 0 || count > (reader->bytes - reader->place) / group_size(reader->form) ||
        count > PIM_TRACE_ARRAY_GROUPS - reader->used)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte %zu of the section: %" PRIu32
                        " groups: allowed are at least 1, as many as fit, and %d in all",
                        reader->place - 4, count, PIM_TRACE_ARRAY_GROUPS);
    while (reader->next_unit <= unit)
        groups->first[reader->next_unit++] = reader->used;
    for (uint32_t i = 0; i < count; i++, reader->place += group_size(reader->form)) {
        struct pim_trace_array_group *group = &groups->group[reader->used++];
        *group = get_group(reader->data + reader->place, reader->form);
        reader->blocks |= group->blocks != 0;
        reader->sets |= group->set != 0;
        if (pim_array_group_check(group, error) != PIM_OK ||
            pim_array_group_follows(i > 0 ? group - 1 : NULL, group, error) != PIM_OK)
            return pim_fail_in(error, "at byte %zu of the section: unit %" PRIu32 " group %" PRIu32,
                               reader->place, unit, i);
    }
    return PIM_OK;
}

static enum pim_status decode_all(struct reader *reader, uint32_t tables, struct pim_array_groups *groups,
                                  struct pim_error *error)
{
    for (uint32_t i = 0; i < tables; i++) {
        enum pim_status status = decode_unit(reader, groups, error);
        if (status != PIM_OK)
            return status;
    }
    while (reader->next_unit <= reader->units)
        groups->first[reader->next_unit++] = reader->used;
    if (reader->form == FORM_BLOCKS && !reader->blocks)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 4 of the section: groups with blocks are announced, and none has any");
    if (reader->form == FORM_SETS && !reader->sets)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 4 of the section: groups in sets are announced, and none is in one");
    if (reader->place != reader->bytes)
        return pim_fail(error, PIM_BAD_INPUT, "at byte %zu of the section: %zu bytes too many", reader->place,
                        reader->bytes - reader->place);
    return PIM_OK;
}

enum pim_status pim_array_groups_decode(const uint8_t *data, size_t bytes, uint32_t units,
                                        struct pim_array_groups *groups, struct pim_error *error)
{
    if (bytes < PIM_ARRAY_GROUPS_SIZE)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 0 of the section: the number of units needs %d bytes, %zu are left",
                        PIM_ARRAY_GROUPS_SIZE, bytes);
    const uint32_t tables = pim_get_u32(data), form = pim_get_u32(data + 4);
    if (form > FORM_SETS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 4 of the section: the form of groups is %" PRIu32 ", not 0, 1 or 2", form);
    if (tables == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 0 of the section: no groups: the section must be left out then");
    struct reader reader = {
        .data = data, .bytes = bytes, .place = PIM_ARRAY_GROUPS_SIZE, .units = units, .form = form};
    enum pim_status status = PIM_OK;
    groups->first = calloc((size_t)units + 1, sizeof *groups->first);
    groups->group = malloc(bytes / group_size(form) * sizeof *groups->group + 1);
    if (!groups->first || !groups->group)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for array groups of %zu bytes", bytes);
    if (status == PIM_OK)
        status = decode_all(&reader, tables, groups, error);
    if (status != PIM_OK)
        pim_array_groups_free(groups);
    return status;
}

void pim_array_groups_free(struct pim_array_groups *groups)
{
    free(groups->first);
    free(groups->group);
    *groups = (struct pim_array_groups){.first = NULL};
}
