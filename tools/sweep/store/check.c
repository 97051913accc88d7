/*
 * Checksums of results: a file that was damaged is found, never read as if it were whole.
 *
 * Each point has one (XXH64) over all that the file holds of it: its row, names and values of its
 * settings and of its statistics. The table `sweep` has one over what it says of the sweep, and the
 * exclusive or of those of all points, so that a point which vanishes is missed.
 */
#include "tools/sweep/store/internal.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Parts of a point. The checksum itself stands in none of them. */
static const char *const parts[PIM_STORE_PARTS] = {
    "SELECT id, trace, network, mapper, repeat, seed, status, error, trace_hash, config_hash, cycles, "
    "time_ns,"
    " energy_pj, estimate_cycles, estimate_error_percent, cpu_seconds, wall_seconds, host, finished"
    " FROM point WHERE id = ?1",
    "SELECT axis.position, axis.name, setting.value FROM setting JOIN axis ON axis.position = setting.axis"
    " WHERE point = ?1 ORDER BY setting.axis",
    "SELECT value.position, statistic.name, value.value FROM value JOIN statistic ON statistic.id = "
    "value.statistic"
    " WHERE point = ?1 ORDER BY value.position",
};

static const char of_sweep[] =
    "SELECT name, value FROM sweep WHERE name IN ('identity', 'name', 'pimsim', 'points')"
    " UNION ALL SELECT * FROM (SELECT position, name FROM axis ORDER BY position)";

/* A value with its type and length, so that different rows are different bytes. */
static void feed(XXH64_state_t *state, sqlite3_stmt *row, int column)
{
    int type = sqlite3_column_type(row, column);
    unsigned char head = (unsigned char)type;
    uint64_t bits = 0;
    (void)XXH64_update(state, &head, 1);
    if (type == SQLITE_INTEGER) {
        bits = (uint64_t)sqlite3_column_int64(row, column);
    } else if (type == SQLITE_FLOAT) {
        double real = sqlite3_column_double(row, column);
        memcpy(&bits, &real, sizeof bits);
    } else if (type != SQLITE_NULL) {
        const void *bytes = sqlite3_column_blob(row, column);
        bits = (uint64_t)sqlite3_column_bytes(row, column);
        if (bits > 0 && bytes)
            (void)XXH64_update(state, bytes, bits);
    }
    for (unsigned i = 0; i < sizeof bits; i++) { /* the same bytes on any machine */
        unsigned char byte = (unsigned char)(bits >> (8 * i));
        (void)XXH64_update(state, &byte, 1);
    }
}

/* Feeds all rows of a query, and how many there are. */
static enum pim_status feed_rows(const struct pim_store *store, XXH64_state_t *state, sqlite3_stmt *statement,
                                 struct pim_error *error)
{
    unsigned char rows = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        rows++;
        for (int column = 0; column < sqlite3_column_count(statement); column++)
            feed(state, statement, column);
    }
    (void)XXH64_update(state, &rows, 1);
    return code == SQLITE_DONE ? PIM_OK : pim_store_fail(store, error);
}

enum pim_status pim_store_checksum(struct pim_store *store, int64_t point, int64_t *sum,
                                   struct pim_error *error)
{
    XXH64_state_t *state = XXH64_createState();
    if (!state)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for results");
    (void)XXH64_reset(state, 0);
    enum pim_status status = PIM_OK;
    for (size_t i = 0; i < PIM_STORE_PARTS && status == PIM_OK; i++) {
        if (!store->parts[i])
            status = pim_store_prepare(store, parts[i], &store->parts[i], error);
        if (status != PIM_OK)
            break;
        (void)sqlite3_bind_int64(store->parts[i], 1, point);
        status = feed_rows(store, state, store->parts[i], error);
        (void)sqlite3_reset(store->parts[i]);
    }
    *sum = (int64_t)XXH64_digest(state);
    (void)XXH64_freeState(state);
    return status;
}

static enum pim_status sweep_checksum(const struct pim_store *store, int64_t *sum, struct pim_error *error)
{
    XXH64_state_t *state = XXH64_createState();
    sqlite3_stmt *statement;
    if (!state)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for results");
    (void)XXH64_reset(state, 0);
    enum pim_status status = pim_store_prepare(store, of_sweep, &statement, error);
    if (status == PIM_OK) {
        status = feed_rows(store, state, statement, error);
        (void)sqlite3_finalize(statement);
    }
    *sum = (int64_t)XXH64_digest(state);
    (void)XXH64_freeState(state);
    return status;
}

enum pim_status pim_store_seal_sweep(const struct pim_store *store, struct pim_error *error)
{
    int64_t sum = 0;
    if (sweep_checksum(store, &sum, error) != PIM_OK)
        return error->status;
    return pim_store_put(store, "checksum_sweep", sum, NULL, error);
}

/* Changes the exclusive or of all points by `sum`. */
static enum pim_status change_total(const struct pim_store *store, int64_t sum, struct pim_error *error)
{
    int64_t total = 0;
    if (pim_store_integer(store, "SELECT value FROM sweep WHERE name = 'checksum_points'", &total, error) !=
        PIM_OK)
        return error->status;
    return pim_store_put(store, "checksum_points", (int64_t)((uint64_t)total ^ (uint64_t)sum), NULL, error);
}

static enum pim_status stored(struct pim_store *store, int64_t point, int64_t *sum, bool *there,
                              struct pim_error *error)
{
    if (!store->stored &&
        pim_store_prepare(store, "SELECT checksum FROM point WHERE id = ?1", &store->stored, error) != PIM_OK)
        return error->status;
    (void)sqlite3_bind_int64(store->stored, 1, point);
    int code = sqlite3_step(store->stored);
    *there = code == SQLITE_ROW && sqlite3_column_type(store->stored, 0) == SQLITE_INTEGER;
    *sum = *there ? sqlite3_column_int64(store->stored, 0) : 0;
    enum pim_status status =
        code == SQLITE_ROW || code == SQLITE_DONE ? PIM_OK : pim_store_fail(store, error);
    (void)sqlite3_reset(store->stored);
    return status;
}

enum pim_status pim_store_seal(struct pim_store *store, int64_t point, struct pim_error *error)
{
    int64_t sum;
    if (!store->set_checksum && pim_store_prepare(store, "UPDATE point SET checksum = ?2 WHERE id = ?1",
                                                  &store->set_checksum, error) != PIM_OK)
        return error->status;
    if (pim_store_checksum(store, point, &sum, error) != PIM_OK)
        return error->status;
    (void)sqlite3_bind_int64(store->set_checksum, 1, point);
    (void)sqlite3_bind_int64(store->set_checksum, 2, sum);
    enum pim_status status =
        sqlite3_step(store->set_checksum) == SQLITE_DONE ? PIM_OK : pim_store_fail(store, error);
    (void)sqlite3_reset(store->set_checksum);
    return status == PIM_OK ? change_total(store, sum, error) : status;
}

enum pim_status pim_store_unseal(struct pim_store *store, int64_t point, struct pim_error *error)
{
    int64_t sum = 0;
    bool there = false;
    if (stored(store, point, &sum, &there, error) != PIM_OK)
        return error->status;
    return there ? change_total(store, sum, error) : PIM_OK;
}

static enum pim_status damaged(const struct pim_store *store, const char *what, struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT,
                    "%s is damaged (%s): restore it from a copy, or run the sweep again with --force",
                    store->path, what);
}

enum pim_status pim_store_check_point(struct pim_store *store, int64_t point, uint64_t *total,
                                      struct pim_error *error)
{
    int64_t written = 0, found = 0;
    bool there = false;
    char what[64];
    if (store->version < PIM_STORE_SEALED)
        return PIM_OK;
    if (stored(store, point, &written, &there, error) != PIM_OK ||
        pim_store_checksum(store, point, &found, error) != PIM_OK)
        return error->status;
    (void)snprintf(what, sizeof what, "the checksum of point %lld is wrong", (long long)point);
    if (!there || written != found)
        return damaged(store, what, error);
    *total ^= (uint64_t)found;
    return PIM_OK;
}

enum pim_status pim_store_check_sweep(struct pim_store *store, uint64_t total, struct pim_error *error)
{
    int64_t written = 0, found = 0, points = 0;
    if (store->version < PIM_STORE_SEALED)
        return PIM_OK;
    if (pim_store_integer(store, "SELECT value FROM sweep WHERE name = 'checksum_sweep'", &written, error) !=
            PIM_OK ||
        pim_store_integer(store, "SELECT value FROM sweep WHERE name = 'checksum_points'", &points, error) !=
            PIM_OK ||
        sweep_checksum(store, &found, error) != PIM_OK)
        return error->status;
    if (written != found)
        return damaged(store, "what it says of the sweep is not what was written", error);
    return (uint64_t)points == total ? PIM_OK : damaged(store, "points are missing", error);
}

enum pim_status pim_store_check_file(const struct pim_store *store, struct pim_error *error)
{
    sqlite3_stmt *statement;
    char what[160] = "";
    if (pim_store_prepare(store, "PRAGMA integrity_check(1)", &statement, error) != PIM_OK)
        return error->status;
    int code = sqlite3_step(statement);
    const char *said = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    (void)snprintf(what, sizeof what, "%.120s", said ? said : "it cannot be checked");
    (void)sqlite3_finalize(statement);
    what[strcspn(what, "\n")] = '\0';
    return strcmp(what, "ok") == 0 ? PIM_OK : damaged(store, what, error);
}

enum pim_status pim_store_seal_all(struct pim_store *store, struct pim_error *error)
{
    sqlite3_stmt *statement;
    if (pim_store_put(store, "checksum_points", 0, NULL, error) != PIM_OK ||
        pim_store_prepare(store, "SELECT id FROM point", &statement, error) != PIM_OK)
        return error->status;
    enum pim_status status = PIM_OK;
    int code = SQLITE_DONE;
    while (status == PIM_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        status = pim_store_seal(store, sqlite3_column_int64(statement, 0), error);
    if (status == PIM_OK && code != SQLITE_DONE)
        status = pim_store_fail(store, error);
    (void)sqlite3_finalize(statement);
    return status == PIM_OK ? pim_store_seal_sweep(store, error) : status;
}
