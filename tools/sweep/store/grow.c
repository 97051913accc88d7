/* Results of a sweep that has grown: every point gets its new number, or goes where it does not hold on, in
 * one transaction. */
#include "tools/sweep/store/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Nothing that is damaged gets a new checksum. */
static enum pim_status check_all(struct pim_store *store, struct pim_error *error)
{
    sqlite3_stmt *statement;
    uint64_t total = 0;
    if (pim_store_check_file(store, error) != PIM_OK ||
        pim_store_prepare(store, "SELECT id FROM point", &statement, error) != PIM_OK)
        return error->status;
    enum pim_status status = PIM_OK;
    int code = SQLITE_DONE;
    while (status == PIM_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        status = pim_store_check_point(store, sqlite3_column_int64(statement, 0), &total, error);
    if (status == PIM_OK && code != SQLITE_DONE)
        status = pim_store_fail(store, error);
    (void)sqlite3_finalize(statement);
    return status == PIM_OK ? pim_store_check_sweep(store, total, error) : status;
}

/* The numbers of the points, old and new, as a table. A point that the constraints do not admit any more
 * stands against it. */
static enum pim_status number_points(struct pim_store *store, const struct pim_growth *growth,
                                     const struct pim_sweep *sweep, struct pim_error *error)
{
    sqlite3_stmt *all, *put;
    if (pim_store_execute(store, "CREATE TEMP TABLE grown(old INTEGER PRIMARY KEY, new INTEGER UNIQUE)",
                          error) != PIM_OK ||
        pim_store_prepare(store, "SELECT id FROM point", &all, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_store_prepare(store, "INSERT INTO temp.grown VALUES(?1, ?2)", &put, error);
    int code = SQLITE_DONE;
    while (status == PIM_OK && (code = sqlite3_step(all)) == SQLITE_ROW) {
        int64_t old = sqlite3_column_int64(all, 0);
        uint64_t new = old < 0 ? UINT64_MAX : pim_growth_number(growth, (uint64_t)old);
        struct pim_sweep_point point;
        bool admitted = false;
        if (new < sweep->numbers) {
            pim_sweep_locate(sweep, new, &point);
            status = pim_sweep_admits(sweep, &point, &admitted, error);
        }
        if (status == PIM_OK && !admitted)
            status = pim_fail(error, PIM_BAD_INPUT,
                              "%s: point %" PRId64
                              " is there, and the constraints of the grown sweep leave it out",
                              store->path, old);
        (void)sqlite3_bind_int64(put, 1, old);
        (void)sqlite3_bind_int64(put, 2, (int64_t) new);
        if (status == PIM_OK && sqlite3_step(put) != SQLITE_DONE)
            status = pim_store_fail(store, error);
        (void)sqlite3_reset(put);
    }
    if (status == PIM_OK && code != SQLITE_DONE)
        status = pim_store_fail(store, error);
    (void)sqlite3_finalize(all);
    (void)sqlite3_finalize(put);
    return status;
}

/* Axes that go on move to their new places, through negative ones. */
static enum pim_status move_axes(struct pim_store *store, const struct pim_growth *growth,
                                 const struct pim_sweep *sweep, struct pim_error *error)
{
    char sql[512];
    size_t place = 0, value;
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count; i++, place++) {
            (void)sqlite3_snprintf(sizeof sql, sql,
                                   "UPDATE setting SET axis = -1 - %d WHERE axis ="
                                   " (SELECT position FROM axis WHERE name = %Q AND position >= 0);"
                                   "UPDATE axis SET position = -1 - %d WHERE name = %Q",
                                   (int)place, sweep->axes[a].keys[i].name, (int)place,
                                   sweep->axes[a].keys[i].name);
            if (pim_growth_axis(growth, a, &value) != SIZE_MAX &&
                pim_store_execute(store, sql, error) != PIM_OK)
                return error->status;
        }
    return pim_store_execute(
        store, "UPDATE setting SET axis = -1 - axis; UPDATE axis SET position = -1 - position", error);
}

/* New axes, and the value that the points have on them. */
static enum pim_status add_axes(struct pim_store *store, const struct pim_growth *growth,
                                const struct pim_sweep *sweep, struct pim_error *error)
{
    size_t place = 0, at;
    enum pim_status status = PIM_OK;
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count && status == PIM_OK; i++, place++) {
            sqlite3_stmt *statement;
            const struct pim_sweep_key *key = &sweep->axes[a].keys[i];
            char sql[512];
            if (pim_growth_axis(growth, a, &at) != SIZE_MAX)
                continue;
            const struct pim_sweep_value *value = &key->values[at];
            (void)sqlite3_snprintf(sizeof sql, sql, "INSERT INTO axis VALUES(%d, %Q)", (int)place, key->name);
            status = pim_store_execute(store, sql, error);
            (void)sqlite3_snprintf(sizeof sql, sql, "INSERT INTO setting SELECT id, %d, ?1 FROM point",
                                   (int)place);
            if (status != PIM_OK || pim_store_prepare(store, sql, &statement, error) != PIM_OK)
                return error->status;
            if (value->kind == PIM_SWEEP_INTEGER)
                (void)sqlite3_bind_int64(statement, 1, value->integer);
            else if (value->kind == PIM_SWEEP_REAL)
                (void)sqlite3_bind_double(statement, 1, value->real);
            else
                (void)sqlite3_bind_text(statement, 1, value->text, -1, SQLITE_STATIC);
            if (sqlite3_step(statement) != SQLITE_DONE)
                status = pim_store_fail(store, error);
            (void)sqlite3_finalize(statement);
        }
    return status;
}

static enum pim_status grow(struct pim_store *store, const struct pim_growth *growth,
                            const struct pim_sweep *sweep, uint64_t points, struct pim_error *error)
{
    static const char move[] =
        "UPDATE setting SET point = -1 - (SELECT new FROM temp.grown WHERE old = point);"
        "UPDATE value SET point = -1 - (SELECT new FROM temp.grown WHERE old = point);"
        "UPDATE point SET id = -1 - (SELECT new FROM temp.grown WHERE old = id);"
        "UPDATE setting SET point = -1 - point; UPDATE value SET point = -1 - point;"
        "UPDATE point SET id = -1 - id; DROP TABLE temp.grown";
    if (check_all(store, error) != PIM_OK || number_points(store, growth, sweep, error) != PIM_OK ||
        (!pim_growth_keeps(growth) && pim_store_execute(store, "DELETE FROM point", error) != PIM_OK) ||
        pim_store_execute(store, move, error) != PIM_OK || move_axes(store, growth, sweep, error) != PIM_OK ||
        add_axes(store, growth, sweep, error) != PIM_OK ||
        pim_store_put(store, "identity", 0, sweep->identity, error) != PIM_OK ||
        pim_store_put(store, "name", 0, sweep->name ? sweep->name : "", error) != PIM_OK ||
        pim_store_put(store, "points", (int64_t)points, NULL, error) != PIM_OK)
        return error->status;
    return pim_store_seal_all(store, error);
}

enum pim_status pim_store_grow(struct pim_store *store, const struct pim_growth *growth,
                               const struct pim_sweep *sweep, uint64_t points, struct pim_error *error)
{
    struct pim_error ignored;
    if (pim_store_execute(store, "PRAGMA foreign_keys = ON; BEGIN IMMEDIATE; PRAGMA defer_foreign_keys = ON",
                          error) != PIM_OK)
        return error->status;
    if (grow(store, growth, sweep, points, error) == PIM_OK &&
        pim_store_execute(store, "COMMIT", error) == PIM_OK)
        return PIM_OK;
    (void)pim_store_execute(store, "ROLLBACK", &ignored);
    return error->status;
}
