/* The tables: the steps that make version n + 1 out of version n, and small helpers. docs/sweeps.md lists
 * them. */
#include "tools/sweep/store/internal.h"

#include <stdlib.h>
#include <string.h>

static const char *const steps[PIM_STORE_VERSION] = {
    /* 1: the tables */
    "CREATE TABLE sweep(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE axis(position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE configuration(hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE point("
    " id INTEGER PRIMARY KEY,"
    " trace TEXT, network TEXT, mapper TEXT,"
    " repeat INTEGER NOT NULL, seed INTEGER NOT NULL,"
    " status TEXT NOT NULL, error TEXT,"
    " trace_hash TEXT, config_hash TEXT REFERENCES configuration(hash),"
    " cycles INTEGER, time_ns REAL, energy_pj REAL,"
    " estimate_cycles INTEGER, estimate_error_percent REAL,"
    " cpu_seconds REAL, wall_seconds REAL, host TEXT, finished INTEGER);"
    "CREATE TABLE setting("
    " point INTEGER NOT NULL REFERENCES point(id) ON DELETE CASCADE,"
    " axis INTEGER NOT NULL REFERENCES axis(position), value,"
    " PRIMARY KEY(point, axis)) WITHOUT ROWID;"
    "CREATE TABLE statistic(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE value("
    " point INTEGER NOT NULL REFERENCES point(id) ON DELETE CASCADE,"
    " position INTEGER NOT NULL, statistic INTEGER NOT NULL REFERENCES statistic(id), value,"
    " PRIMARY KEY(point, position)) WITHOUT ROWID;",
    /* 2: views for people */
    "CREATE VIEW settings AS SELECT setting.point AS point, axis.name AS name, setting.value AS value"
    " FROM setting JOIN axis ON axis.position = setting.axis;"
    "CREATE VIEW results AS SELECT value.point AS point, statistic.name AS name, value.value AS value"
    " FROM value JOIN statistic ON statistic.id = value.statistic;",
    /* 3: checksums (check.c) */
    "ALTER TABLE point ADD COLUMN checksum INTEGER;",
};

enum pim_status pim_store_fail(const struct pim_store *store, struct pim_error *error)
{
    int code = sqlite3_errcode(store->database);
    return pim_fail(error, code == SQLITE_NOMEM ? PIM_NO_MEMORY : PIM_IO, "%s: %s", store->path,
                    sqlite3_errmsg(store->database));
}

enum pim_status pim_store_execute(const struct pim_store *store, const char *sql, struct pim_error *error)
{
    if (sqlite3_exec(store->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        return pim_store_fail(store, error);
    return PIM_OK;
}

enum pim_status pim_store_prepare(const struct pim_store *store, const char *sql, sqlite3_stmt **statement,
                                  struct pim_error *error)
{
    if (sqlite3_prepare_v2(store->database, sql, -1, statement, NULL) != SQLITE_OK)
        return pim_store_fail(store, error);
    return PIM_OK;
}

enum pim_status pim_store_integer(const struct pim_store *store, const char *sql, int64_t *value,
                                  struct pim_error *error)
{
    sqlite3_stmt *statement;
    if (pim_store_prepare(store, sql, &statement, error) != PIM_OK)
        return error->status;
    enum pim_status status = PIM_OK;
    *value = 0;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    else if (code != SQLITE_DONE)
        status = pim_store_fail(store, error);
    (void)sqlite3_finalize(statement);
    return status;
}

enum pim_status pim_store_put(const struct pim_store *store, const char *name, int64_t value,
                              const char *text, struct pim_error *error)
{
    sqlite3_stmt *statement;
    if (pim_store_prepare(store, "INSERT OR REPLACE INTO sweep VALUES(?1, ?2)", &statement, error) != PIM_OK)
        return error->status;
    (void)sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    if (text)
        (void)sqlite3_bind_text(statement, 2, text, -1, SQLITE_STATIC);
    else
        (void)sqlite3_bind_int64(statement, 2, value);
    enum pim_status status = sqlite3_step(statement) == SQLITE_DONE ? PIM_OK : pim_store_fail(store, error);
    (void)sqlite3_finalize(statement);
    return status;
}

enum pim_status pim_store_get(const struct pim_store *store, const char *name, char **text,
                              struct pim_error *error)
{
    sqlite3_stmt *statement;
    *text = NULL;
    if (pim_store_prepare(store, "SELECT value FROM sweep WHERE name = ?1", &statement, error) != PIM_OK)
        return error->status;
    (void)sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    enum pim_status status = PIM_OK;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW && sqlite3_column_text(statement, 0)) {
        *text = strdup((const char *)sqlite3_column_text(statement, 0));
        if (!*text)
            status = pim_fail(error, PIM_NO_MEMORY, "out of memory for results");
    } else if (code != SQLITE_DONE && code != SQLITE_ROW) {
        status = pim_store_fail(store, error);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

enum pim_status pim_store_migrate(const struct pim_store *store, int64_t from, struct pim_error *error)
{
    for (int64_t version = from; version < PIM_STORE_VERSION; version++) {
        char stamp[96];
        (void)sqlite3_snprintf(sizeof stamp, stamp, "PRAGMA application_id = %d; PRAGMA user_version = %lld;",
                               (int)PIM_STORE_APPLICATION, (long long)version + 1);
        if (pim_store_execute(store, steps[version], error) != PIM_OK ||
            pim_store_execute(store, stamp, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}
