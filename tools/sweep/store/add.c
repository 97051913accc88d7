/* Adding points to a store. */
#include "tools/sweep/store/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *status_name(enum pim_status status)
{
    return status == PIM_OK ? "done" : pim_status_text(status);
}

enum pim_status pim_store_has(struct pim_store *store, uint64_t point, bool failed, bool *there,
                              struct pim_error *error)
{
    if (!store->has && /* opened to read */
        pim_store_prepare(store, "SELECT status FROM point WHERE id = ?1", &store->has, error) != PIM_OK)
        return error->status;
    (void)sqlite3_bind_int64(store->has, 1, (int64_t)point);
    int code = sqlite3_step(store->has);
    const char *found = code == SQLITE_ROW ? (const char *)sqlite3_column_text(store->has, 0) : NULL;
    *there = code == SQLITE_ROW && (failed || (found && strcmp(found, status_name(PIM_OK)) == 0));
    enum pim_status status =
        code == SQLITE_ROW || code == SQLITE_DONE ? PIM_OK : pim_store_fail(store, error);
    (void)sqlite3_reset(store->has);
    return status;
}

/* Runs an insertion whose values are bound, and makes it ready for the next. */
static enum pim_status insert(struct pim_store *store, sqlite3_stmt *statement, struct pim_error *error)
{
    enum pim_status status = sqlite3_step(statement) == SQLITE_DONE ? PIM_OK : pim_store_fail(store, error);
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return status;
}

static void bind_text(sqlite3_stmt *statement, int column, const char *text)
{
    if (text)
        (void)sqlite3_bind_text(statement, column, text, -1, SQLITE_STATIC);
}

static void bind_hash(sqlite3_stmt *statement, int column, bool there, uint64_t hash)
{
    char text[20];
    (void)snprintf(text, sizeof text, "%016" PRIx64, hash);
    if (there)
        (void)sqlite3_bind_text(statement, column, text, -1, SQLITE_TRANSIENT);
}

static void bind_statistic(sqlite3_stmt *statement, int column, const struct pim_sweep_statistic *statistic)
{
    if (statistic && statistic->kind == PIM_SWEEP_INTEGER)
        (void)sqlite3_bind_int64(statement, column, statistic->integer);
    else if (statistic && statistic->kind == PIM_SWEEP_REAL)
        (void)sqlite3_bind_double(statement, column, statistic->real);
}

static const struct pim_sweep_statistic *find(const struct pim_sweep_result *result, const char *name)
{
    for (size_t i = 0; i < result->count; i++)
        if (strcmp(result->statistics[i].name, name) == 0)
            return &result->statistics[i];
    return NULL;
}

static enum pim_status add_point(struct pim_store *store, const struct pim_sweep_result *result,
                                 const struct pim_store_host *host, struct pim_error *error)
{
    static const char *const headlines[] = {"cycles", "time_ns", "energy_pj.total", "estimate_cycles",
                                            "estimate_error_percent"};
    sqlite3_stmt *row = store->add_point;
    (void)sqlite3_bind_int64(row, 1, (int64_t)result->point);
    bind_text(row, 2, result->trace);
    bind_text(row, 3, result->network);
    bind_text(row, 4, result->mapper);
    (void)sqlite3_bind_int64(row, 5, (int64_t)result->repeat);
    (void)sqlite3_bind_int64(row, 6, (int64_t)result->seed);
    bind_text(row, 7, status_name(result->status));
    bind_text(row, 8, result->error);
    bind_hash(row, 9, result->has_trace, result->trace_hash);
    bind_hash(row, 10, result->has_configuration, result->config_hash);
    for (int i = 0; i < 5; i++)
        bind_statistic(row, 11 + i, find(result, headlines[i]));
    (void)sqlite3_bind_double(row, 16, result->cpu_seconds);
    (void)sqlite3_bind_double(row, 17, result->wall_seconds);
    bind_text(row, 18, host->name);
    (void)sqlite3_bind_int64(row, 19, host->finished);
    if (result->has_configuration) {
        bind_hash(store->add_configuration, 1, true, result->config_hash);
        bind_text(store->add_configuration, 2, result->configuration);
        if (insert(store, store->add_configuration, error) != PIM_OK)
            return error->status;
    }
    return insert(store, row, error);
}

static enum pim_status add_settings(struct pim_store *store, const struct pim_sweep_result *result,
                                    struct pim_error *error)
{
    for (size_t i = 0; i < result->setting_count; i++) {
        const struct pim_sweep_value *value = &result->settings[i];
        sqlite3_stmt *row = store->add_setting;
        (void)sqlite3_bind_int64(row, 1, (int64_t)result->point);
        (void)sqlite3_bind_int64(row, 2, (int64_t)i);
        if (value->kind == PIM_SWEEP_INTEGER)
            (void)sqlite3_bind_int64(row, 3, value->integer);
        else if (value->kind == PIM_SWEEP_REAL)
            (void)sqlite3_bind_double(row, 3, value->real);
        else
            bind_text(row, 3, value->text);
        if (insert(store, row, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

static enum pim_status add_values(struct pim_store *store, const struct pim_sweep_result *result,
                                  struct pim_error *error)
{
    for (size_t i = 0; i < result->count; i++) {
        const struct pim_sweep_statistic *statistic = &result->statistics[i];
        bind_text(store->add_statistic, 1, statistic->name);
        bind_text(store->find_statistic, 1, statistic->name);
        if (insert(store, store->add_statistic, error) != PIM_OK)
            return error->status;
        bool found = sqlite3_step(store->find_statistic) == SQLITE_ROW;
        int64_t id = found ? sqlite3_column_int64(store->find_statistic, 0) : 0;
        (void)sqlite3_reset(store->find_statistic);
        if (!found)
            return pim_store_fail(store, error);
        (void)sqlite3_bind_int64(store->add_value, 1, (int64_t)result->point);
        (void)sqlite3_bind_int64(store->add_value, 2, (int64_t)i);
        (void)sqlite3_bind_int64(store->add_value, 3, id);
        bind_statistic(store->add_value, 4, statistic);
        if (insert(store, store->add_value, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

enum pim_status pim_store_begin(struct pim_store *store, struct pim_error *error)
{
    return pim_store_execute(store, "BEGIN IMMEDIATE", error);
}

enum pim_status pim_store_end(struct pim_store *store, bool keep, struct pim_error *error)
{
    return pim_store_execute(store, keep ? "COMMIT" : "ROLLBACK", error);
}

/* A point that is there: it stays when it is done, and goes when it failed. */
static enum pim_status meet_earlier(struct pim_store *store, const struct pim_sweep_result *result,
                                    bool *stays, struct pim_error *error)
{
    bool there = false;
    char sql[160];
    int64_t cycles = 0;
    const struct pim_sweep_statistic *found = find(result, "cycles");
    if (pim_store_has(store, result->point, false, stays, error) != PIM_OK ||
        pim_store_has(store, result->point, true, &there, error) != PIM_OK)
        return error->status;
    if (there && !*stays) {
        if (pim_store_unseal(store, (int64_t)result->point, error) != PIM_OK)
            return error->status;
        (void)snprintf(sql, sizeof sql, "DELETE FROM point WHERE id = %" PRIu64, result->point);
        return pim_store_execute(store, sql, error);
    }
    if (!there || result->status != PIM_OK)
        return PIM_OK;
    (void)snprintf(sql, sizeof sql, "SELECT cycles FROM point WHERE id = %" PRIu64, result->point);
    if (pim_store_integer(store, sql, &cycles, error) != PIM_OK)
        return error->status;
    if (!found || found->integer != cycles)
        return pim_fail(error, PIM_INTERNAL,
                        "%s: point %" PRIu64 " has %" PRId64 " cycles, and %" PRId64
                        " in another result: was pimsim or an "
                        "input changed between them?",
                        store->path, result->point, cycles, found ? found->integer : 0);
    return PIM_OK;
}

enum pim_status pim_store_add(struct pim_store *store, const struct pim_sweep_result *result,
                              const struct pim_store_host *host, struct pim_error *error)
{
    struct pim_error ignored;
    bool stays = false, single = sqlite3_get_autocommit(store->database) != 0;
    if (single && pim_store_begin(store, error) != PIM_OK)
        return error->status;
    enum pim_status status = meet_earlier(store, result, &stays, error);
    if (status == PIM_OK && !stays) {
        status = add_point(store, result, host, error);
        if (status == PIM_OK)
            status = add_settings(store, result, error);
        if (status == PIM_OK)
            status = add_values(store, result, error);
        if (status == PIM_OK)
            status = pim_store_seal(store, (int64_t)result->point, error);
    }
    if (single && status == PIM_OK)
        return pim_store_end(store, true, error);
    if (single)
        (void)pim_store_end(store, false, &ignored);
    return status;
}

enum pim_status pim_store_start_session(struct pim_store *store, uint64_t threads, struct pim_error *error)
{
    int64_t there = 0;
    if (pim_store_integer(store, "SELECT count(*) FROM point", &there, error) != PIM_OK ||
        pim_store_put(store, "session_begin", (int64_t)time(NULL), NULL, error) != PIM_OK ||
        pim_store_put(store, "session_points", there, NULL, error) != PIM_OK)
        return error->status;
    return pim_store_put(store, "session_threads", (int64_t)threads, NULL, error);
}
