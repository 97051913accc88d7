/* One point of the results, read back. */
#include "tools/sweep/store/internal.h"

#include <inttypes.h>
#include <string.h>

static const char *copy_column(struct pim_sweep_result *result, sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? pim_arena_copy_text(&result->texts, text) : NULL;
}

static enum pim_sweep_kind kind_of(sqlite3_stmt *row, int column)
{
    int type = sqlite3_column_type(row, column);
    return type == SQLITE_INTEGER ? PIM_SWEEP_INTEGER
           : type == SQLITE_FLOAT ? PIM_SWEEP_REAL
           : type == SQLITE_TEXT  ? PIM_SWEEP_TEXT
                                  : PIM_SWEEP_NOTHING;
}

static void take_state(struct pim_sweep_result *result, sqlite3_stmt *row)
{
    const char *state = (const char *)sqlite3_column_text(row, 0);
    result->status = state && strcmp(state, "done") == 0 ? PIM_OK : PIM_BAD_INPUT;
    result->error = copy_column(result, row, 1);
}

static void take_setting(struct pim_sweep_result *result, sqlite3_stmt *row)
{
    if (!result->settings)
        result->settings = pim_arena_require_array(
            &result->texts, PIM_SWEEP_KEYS_MOST, sizeof *result->settings, _Alignof(struct pim_sweep_value));
    if (result->setting_count >= PIM_SWEEP_KEYS_MOST)
        return;
    struct pim_sweep_value *value = &result->settings[result->setting_count++];
    *value = (struct pim_sweep_value){.kind = kind_of(row, 0),
                                      .integer = sqlite3_column_int64(row, 0),
                                      .real = sqlite3_column_double(row, 0)};
    if (value->kind == PIM_SWEEP_TEXT) {
        const char *text = (const char *)sqlite3_column_text(row, 0);
        value->text = pim_arena_copy_text(&result->texts, text ? text : "");
    }
}

static void take_statistic(struct pim_sweep_result *result, sqlite3_stmt *row)
{
    const char *name = (const char *)sqlite3_column_text(row, 0);
    pim_sweep_result_add(result, name ? name : "",
                         (struct pim_sweep_statistic){.kind = kind_of(row, 1),
                                                      .integer = sqlite3_column_int64(row, 1),
                                                      .real = sqlite3_column_double(row, 1)});
}

/* Calls `take` for every row; how many there were. */
static enum pim_status each_row(const struct pim_store *store, const char *sql,
                                struct pim_sweep_result *result,
                                void (*take)(struct pim_sweep_result *result, sqlite3_stmt *row),
                                uint64_t *count, struct pim_error *error)
{
    sqlite3_stmt *statement;
    int code;
    *count = 0;
    if (pim_store_prepare(store, sql, &statement, error) != PIM_OK)
        return error->status;
    (void)sqlite3_bind_int64(statement, 1, (int64_t)result->point);
    for (; (code = sqlite3_step(statement)) == SQLITE_ROW; (*count)++)
        take(result, statement);
    enum pim_status status = code == SQLITE_DONE ? PIM_OK : pim_store_fail(store, error);
    (void)sqlite3_finalize(statement);
    return status;
}

enum pim_status pim_store_read(struct pim_store *store, uint64_t point, struct pim_sweep_result *result,
                               struct pim_error *error)
{
    uint64_t points = 0, rows = 0, total = 0;
    pim_sweep_result_initialize(result, point);
    if (each_row(store, "SELECT status, error FROM point WHERE id = ?1", result, take_state, &points,
                 error) != PIM_OK ||
        each_row(store, "SELECT value FROM setting WHERE point = ?1 ORDER BY axis", result, take_setting,
                 &rows, error) != PIM_OK)
        return error->status;
    enum pim_status state = result->status;
    if (points == 0)
        return pim_fail(error, PIM_BAD_INPUT, "%s: there is no point %" PRIu64, store->path, point);
    if (pim_store_check_point(store, (int64_t)point, &total, error) != PIM_OK)
        return error->status;
    if (each_row(store,
                 "SELECT statistic.name, value.value FROM value JOIN statistic ON id = value.statistic"
                 " WHERE point = ?1 ORDER BY position",
                 result, take_statistic, &rows, error) != PIM_OK)
        return error->status;
    if (result->status == PIM_NO_MEMORY && state != PIM_NO_MEMORY)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for results");
    return PIM_OK;
}
