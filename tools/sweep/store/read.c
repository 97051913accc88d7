/* Progress, status and export. */
#include "tools/sweep/store/internal.h"

#include "sim/output/csv.h"
#include "sim/output/output.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FAILURES_SHOWN = 10, STATISTICS_MOST = 1000000 };

/* --- progress --- */

static enum pim_status number_of(const struct pim_store *store, const char *name, int64_t *value,
                                 struct pim_error *error)
{
    char *text;
    if (pim_store_get(store, name, &text, error) != PIM_OK)
        return error->status;
    *value = text ? strtoll(text, NULL, 10) : 0;
    free(text);
    return PIM_OK;
}

enum pim_status pim_store_progress(struct pim_store *store, struct pim_store_progress *progress,
                                   struct pim_error *error)
{
    int64_t points = 0, there = 0, done = 0, stopped = 0, begin = 0, earlier = 0, threads = 0, last = 0;
    if (number_of(store, "points", &points, error) != PIM_OK ||
        number_of(store, "session_begin", &begin, error) != PIM_OK ||
        number_of(store, "session_points", &earlier, error) != PIM_OK ||
        number_of(store, "session_threads", &threads, error) != PIM_OK ||
        pim_store_integer(store, "SELECT count(*) FROM point", &there, error) != PIM_OK ||
        pim_store_integer(store, "SELECT count(*) FROM point WHERE status = 'done'", &done, error) !=
            PIM_OK ||
        pim_store_integer(store,
                          "SELECT count(*) FROM value JOIN statistic ON statistic.id = value.statistic "
                          "WHERE statistic.name = 'complete' AND value.value = 0",
                          &stopped, error) != PIM_OK ||
        pim_store_integer(store, "SELECT max(finished) FROM point", &last, error) != PIM_OK)
        return error->status;
    int64_t now = store->running ? (int64_t)time(NULL) : last;
    *progress =
        (struct pim_store_progress){.points = (uint64_t)points,
                                    .done = (uint64_t)done,
                                    .stopped = (uint64_t)stopped,
                                    .failed = (uint64_t)(there - done),
                                    .session_points = there > earlier ? (uint64_t)(there - earlier) : 0,
                                    .session_seconds = begin > 0 && now > begin ? now - begin : 0,
                                    .threads = (uint64_t)threads,
                                    .running = store->running};
    return PIM_OK;
}

static void print_time(FILE *file, double seconds)
{
    uint64_t whole = (uint64_t)(seconds + 0.5);
    if (whole >= 3600)
        (void)fprintf(file, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, whole / 3600, whole / 60 % 60,
                      whole % 60);
    else
        (void)fprintf(file, "%" PRIu64 ":%02" PRIu64, whole / 60, whole % 60);
}

static void print_progress(const struct pim_store_progress *progress, FILE *file)
{
    uint64_t there = progress->done + progress->failed;
    uint64_t missing = progress->points > there ? progress->points - there : 0;
    (void)fprintf(file, "points     %" PRIu64 "\n", progress->points);
    (void)fprintf(file, "done       %" PRIu64 "\n", progress->done);
    if (progress->stopped > 0)
        (void)fprintf(file, "stopped    %" PRIu64 " of these, before their end (--until)\n",
                      progress->stopped);
    (void)fprintf(file, "failed     %" PRIu64 "\n", progress->failed);
    (void)fprintf(file, "missing    %" PRIu64 "\n", missing);
    (void)fprintf(file, "state      %s\n",
                  progress->running ? "running"
                  : missing         ? "not running: --resume does the rest"
                                    : "finished");
    if (progress->session_points > 0 && progress->session_seconds > 0) {
        double each = (double)progress->session_seconds / (double)progress->session_points;
        (void)fprintf(file, "speed      %.3g s a point with %" PRIu64 " thread%s\n", each, progress->threads,
                      progress->threads == 1 ? "" : "s");
        if (progress->running && missing > 0) {
            (void)fprintf(file, "time left  about ");
            print_time(file, each * (double)missing);
            (void)fprintf(file, "\n");
        }
    }
}

static enum pim_status print_axes(const struct pim_store *store, FILE *file, struct pim_error *error)
{
    sqlite3_stmt *statement;
    if (pim_store_prepare(store, "SELECT name FROM axis ORDER BY position", &statement, error) != PIM_OK)
        return error->status;
    (void)fprintf(file, "axes      ");
    while (sqlite3_step(statement) == SQLITE_ROW)
        (void)fprintf(file, " %s",
                      sqlite3_column_text(statement, 0) ? (const char *)sqlite3_column_text(statement, 0)
                                                        : "?");
    (void)fprintf(file, "\n");
    (void)sqlite3_finalize(statement);
    return PIM_OK;
}

static enum pim_status print_failures(const struct pim_store *store, FILE *file, struct pim_error *error)
{
    sqlite3_stmt *statement;
    int shown = 0;
    if (pim_store_prepare(store, "SELECT id, status, error FROM point WHERE status <> 'done' ORDER BY id",
                          &statement, error) != PIM_OK)
        return error->status;
    for (; shown < FAILURES_SHOWN && sqlite3_step(statement) == SQLITE_ROW; shown++)
        (void)fprintf(
            file, "%spoint %lld: %s: %.300s\n", shown == 0 ? "failures:\n" : "",
            (long long)sqlite3_column_int64(statement, 0), (const char *)sqlite3_column_text(statement, 1),
            sqlite3_column_text(statement, 2) ? (const char *)sqlite3_column_text(statement, 2) : "");
    if (shown == FAILURES_SHOWN && sqlite3_step(statement) == SQLITE_ROW)
        (void)fprintf(file, "... and more: SELECT id, error FROM point WHERE status <> 'done'\n");
    (void)sqlite3_finalize(statement);
    return PIM_OK;
}

enum pim_status pim_store_print_status(struct pim_store *store, FILE *file, struct pim_error *error)
{
    struct pim_store_progress progress = {.points = 0};
    char *name;
    if (pim_store_progress(store, &progress, error) != PIM_OK ||
        pim_store_get(store, "name", &name, error) != PIM_OK)
        return error->status;
    (void)fprintf(file, "sweep      %s\n", name && *name ? name : store->path);
    free(name);
    if (print_axes(store, file, error) != PIM_OK)
        return error->status;
    print_progress(&progress, file);
    return print_failures(store, file, error);
}

/* --- export --- */

/* Columns of the table `point` in an export; those from COSTS on differ from run to run. */
static const char *const fixed[] = {"trace",        "network", "mapper",     "repeat",      "seed",
                                    "status",       "error",   "trace_hash", "config_hash", "cpu_seconds",
                                    "wall_seconds", "host",    "finished"};
enum { FIXED = sizeof fixed / sizeof fixed[0], FIXED_SOURCE = 3, COSTS = 9 };

struct export
{
    struct pim_store *store;
    enum pim_store_format format;
    bool costs;
    FILE *file;
    struct pim_error *error;
    sqlite3_stmt *points, *settings, *values;
    char **axes, **statistics; /* names */
    size_t axis_count, statistic_count;
    size_t *columns; /* of statistics, by their ids below id_limit */
    size_t id_limit, id_capacity;
    struct pim_sweep_statistic *row; /* of one point, by column */
    bool shown[FIXED];               /* whether the column stands in the export */
    struct pim_csv_writer csv;
};

static enum pim_status out_of_memory(const struct export *export)
{
    return pim_fail(export->error, PIM_NO_MEMORY, "out of memory for an export");
}

static enum pim_status damaged(const struct export *export)
{
    return pim_fail(export->error, PIM_BAD_INPUT, "%s is damaged: its tables do not fit together",
                    export->store->path);
}

/* The place of an id of a statistic among the columns; SIZE_MAX when it has none. */
static size_t column_of(const struct export *export, int64_t id)
{
    return id >= 0 && (uint64_t)id < export->id_limit ? export->columns[id] : SIZE_MAX;
}

/* Notes that the statistic `id` is column `column`. */
static enum pim_status note_column(struct export *export, int64_t id, size_t column)
{
    if (id < 0 || id >= STATISTICS_MOST)
        return damaged(export);
    size_t *grown = pim_array_grow(export->columns, &export->id_capacity, (size_t)id + 1, sizeof *grown);
    if (!grown)
        return out_of_memory(export);
    export->columns = grown;
    for (; export->id_limit <= (size_t)id; export->id_limit++)
        grown[export->id_limit] = SIZE_MAX;
    grown[id] = column;
    return PIM_OK;
}

/* The names that a query gives in its first column; with `columns` its second is the id of a statistic. */
static enum pim_status read_names(struct export *export, const char *sql, bool columns, char ***names,
                                  size_t *count)
{
    sqlite3_stmt *statement;
    size_t room = 0;
    if (pim_store_prepare(export->store, sql, &statement, export->error) != PIM_OK)
        return export->error->status;
    enum pim_status status = PIM_OK;
    int code = SQLITE_DONE;
    while (status == PIM_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        char **grown = pim_array_grow(*names, &room, *count + 1, sizeof *grown);
        if (grown)
            *names = grown;
        char *name = grown ? strdup(text ? text : "") : NULL;
        if (!name) {
            status = out_of_memory(export);
            break;
        }
        grown[(*count)++] = name;
        if (columns)
            status = note_column(export, sqlite3_column_int64(statement, 1), *count - 1);
    }
    if (status == PIM_OK && code != SQLITE_DONE)
        status = pim_store_fail(export->store, export->error);
    (void)sqlite3_finalize(statement);
    return status;
}

static enum pim_status prepare_export(struct export *export)
{
    const struct pim_store *store = export->store;
    int64_t there[FIXED_SOURCE];
    static const char *const counts[] = {"SELECT count(trace) FROM point", "SELECT count(network) FROM point",
                                         "SELECT count(mapper) FROM point"};
    if (read_names(export, "SELECT name FROM axis ORDER BY position", false, &export->axes,
                   &export->axis_count) != PIM_OK ||
        read_names(export,
                   "SELECT name, id FROM (SELECT statistic AS one, min(point) AS first, position AS place"
                   " FROM value GROUP BY statistic) JOIN statistic ON id = one ORDER BY first, place",
                   true, &export->statistics, &export->statistic_count) != PIM_OK)
        return export->error->status;
    for (size_t i = 0; i < FIXED_SOURCE; i++)
        if (pim_store_integer(store, counts[i], &there[i], export->error) != PIM_OK)
            return export->error->status;
    for (size_t i = 0; i < FIXED; i++)
        export->shown[i] = i < FIXED_SOURCE ? there[i] > 0 : i < COSTS || export->costs;
    export->row = calloc(export->statistic_count + 1, sizeof *export->row);
    if (!export->row)
        return out_of_memory(export);
    if (pim_store_prepare(
            store,
            "SELECT id, trace, network, mapper, repeat, seed, status, error, trace_hash, config_hash,"
            " cpu_seconds, wall_seconds, host, finished FROM point ORDER BY id",
            &export->points, export->error) != PIM_OK ||
        pim_store_prepare(store, "SELECT axis, value FROM setting WHERE point = ?1 ORDER BY axis",
                          &export->settings, export->error) != PIM_OK)
        return export->error->status;
    return pim_store_prepare(store, "SELECT statistic, value FROM value WHERE point = ?1 ORDER BY position",
                             &export->values, export->error);
}

static void terminate_export(struct export *export)
{
    for (size_t i = 0; i < export->axis_count; i++)
        free(export->axes[i]);
    for (size_t i = 0; i < export->statistic_count; i++)
        free(export->statistics[i]);
    free(export->axes);
    free(export->statistics);
    free(export->columns);
    free(export->row);
    (void)sqlite3_finalize(export->points);
    (void)sqlite3_finalize(export->settings);
    (void)sqlite3_finalize(export->values);
}

static void csv_text(struct pim_csv_writer *csv, const char *text)
{
    char line[4096]; /* a message of several lines becomes one: readers of CSV go by lines */
    size_t length = 0;
    for (; text[length] && length + 1 < sizeof line; length++)
        line[length] = text[length] == '\n' ? ' ' : text[length];
    line[length] = '\0';
    pim_csv_put_text(csv, line);
}

static void csv_value(struct pim_csv_writer *csv, sqlite3_stmt *row, int column)
{
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        pim_csv_put_integer(csv, sqlite3_column_int64(row, column));
        break;
    case SQLITE_FLOAT:
        pim_csv_put_real(csv, sqlite3_column_double(row, column));
        break;
    case SQLITE_NULL:
        pim_csv_put_text(csv, "");
        break;
    default:
        csv_text(csv, (const char *)sqlite3_column_text(row, column));
    }
}

static void csv_header(struct export *export)
{
    size_t columns = 1 + export->axis_count + export->statistic_count;
    for (size_t i = 0; i < FIXED; i++)
        columns += export->shown[i];
    export->csv = (struct pim_csv_writer){.file = export->file, .columns = columns};
    pim_csv_put_text(&export->csv, "point");
    for (size_t i = 0; i < FIXED_SOURCE; i++)
        if (export->shown[i])
            pim_csv_put_text(&export->csv, fixed[i]);
    for (size_t i = 0; i < export->axis_count; i++)
        pim_csv_put_text(&export->csv, export->axes[i]);
    for (size_t i = FIXED_SOURCE; i < FIXED; i++)
        if (export->shown[i])
            pim_csv_put_text(&export->csv, fixed[i]);
    for (size_t i = 0; i < export->statistic_count; i++)
        pim_csv_put_text(&export->csv, export->statistics[i]);
    pim_csv_end_row(&export->csv);
}

/* A point's statistics in the order of the columns; it may have them in another one, and lack some. */
static enum pim_status csv_statistics(struct export *export)
{
    for (size_t i = 0; i < export->statistic_count; i++)
        export->row[i] = (struct pim_sweep_statistic){.kind = PIM_SWEEP_NOTHING};
    while (sqlite3_step(export->values) == SQLITE_ROW) {
        size_t column = column_of(export, sqlite3_column_int64(export->values, 0));
        if (column == SIZE_MAX)
            return damaged(export);
        int type = sqlite3_column_type(export->values, 1);
        export->row[column] = (struct pim_sweep_statistic){.kind = type == SQLITE_INTEGER ? PIM_SWEEP_INTEGER
                                                                   : type == SQLITE_FLOAT ? PIM_SWEEP_REAL
                                                                                          : PIM_SWEEP_NOTHING,
                                                           .integer = sqlite3_column_int64(export->values, 1),
                                                           .real = sqlite3_column_double(export->values, 1)};
    }
    for (size_t i = 0; i < export->statistic_count; i++) {
        if (export->row[i].kind == PIM_SWEEP_INTEGER)
            pim_csv_put_integer(&export->csv, export->row[i].integer);
        else if (export->row[i].kind == PIM_SWEEP_REAL)
            pim_csv_put_real(&export->csv, export->row[i].real);
        else
            pim_csv_put_text(&export->csv, "");
    }
    return PIM_OK;
}

static enum pim_status csv_point(struct export *export)
{
    csv_value(&export->csv, export->points, 0);
    for (int i = 0; i < FIXED_SOURCE; i++)
        if (export->shown[i])
            csv_value(&export->csv, export->points, 1 + i);
    for (size_t i = 0; i < export->axis_count; i++) {
        if (sqlite3_step(export->settings) == SQLITE_ROW)
            csv_value(&export->csv, export->settings, 1);
        else
            pim_csv_put_text(&export->csv, "");
    }
    for (int i = FIXED_SOURCE; i < FIXED; i++)
        if (export->shown[i])
            csv_value(&export->csv, export->points, 1 + i);
    if (csv_statistics(export) != PIM_OK)
        return export->error->status;
    pim_csv_end_row(&export->csv);
    return PIM_OK;
}

static json_t *json_of(sqlite3_stmt *row, int column)
{
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(row, column));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(row, column));
    case SQLITE_NULL:
        return json_null();
    default:
        return json_string((const char *)sqlite3_column_text(row, column));
    }
}

static enum pim_status json_point(struct export *export)
{
    json_t *point = json_object(), *settings = json_object(), *statistics = json_object();
    bool good = point && settings && statistics &&
                json_object_set_new(point, "point", json_of(export->points, 0)) == 0;
    for (int i = 0; i < FIXED; i++)
        if (export->shown[i])
            good = good && json_object_set_new(point, fixed[i], json_of(export->points, 1 + i)) == 0;
    bool whole = true;
    while (sqlite3_step(export->settings) == SQLITE_ROW) {
        int64_t axis = sqlite3_column_int64(export->settings, 0);
        whole = whole && axis >= 0 && (uint64_t)axis < export->axis_count;
        good = good && whole &&
               json_object_set_new(settings, export->axes[axis], json_of(export->settings, 1)) == 0;
    }
    while (sqlite3_step(export->values) == SQLITE_ROW) {
        size_t column = column_of(export, sqlite3_column_int64(export->values, 0));
        whole = whole && column != SIZE_MAX;
        good = good && whole &&
               json_object_set_new(statistics, export->statistics[column], json_of(export->values, 1)) == 0;
    }
    good = good && json_object_set(point, "settings", settings) == 0 &&
           json_object_set(point, "statistics", statistics) == 0 &&
           json_dumpf(point, export->file, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0;
    json_decref(settings);
    json_decref(statistics);
    json_decref(point);
    return !whole ? damaged(export) : good ? PIM_OK : out_of_memory(export);
}

static enum pim_status write_rows(struct export *export)
{
    enum pim_status status = PIM_OK;
    bool first = true;
    int code = SQLITE_DONE;
    uint64_t total = 0;
    while (status == PIM_OK && (code = sqlite3_step(export->points)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(export->points, 0);
        (void)sqlite3_bind_int64(export->settings, 1, id);
        (void)sqlite3_bind_int64(export->values, 1, id);
        status = pim_store_check_point(export->store, id, &total, export->error);
        if (status != PIM_OK) {
            break;
        } else if (export->format == PIM_STORE_CSV) {
            status = csv_point(export);
        } else {
            (void)fputs(first ? "\n" : ",\n", export->file);
            status = json_point(export);
        }
        first = false;
        (void)sqlite3_reset(export->settings);
        (void)sqlite3_reset(export->values);
    }
    if (status == PIM_OK && code != SQLITE_DONE)
        status = pim_store_fail(export->store, export->error);
    return status == PIM_OK ? pim_store_check_sweep(export->store, total, export->error) : status;
}

enum pim_status pim_store_export(struct pim_store *store, enum pim_store_format format, bool costs,
                                 FILE *file, struct pim_error *error)
{
    struct export export = {.store = store, .format = format, .costs = costs, .file = file, .error = error};
    /* One transaction: a sweep that runs meanwhile does not change what is read. */
    enum pim_status status = pim_store_execute(store, "BEGIN", error);
    if (status == PIM_OK)
        status = pim_store_check_file(store, error);
    if (status == PIM_OK)
        status = prepare_export(&export);
    if (status == PIM_OK && format == PIM_STORE_CSV) {
        csv_header(&export);
        status = write_rows(&export);
    } else if (status == PIM_OK) {
        (void)fprintf(file, "{\"sweep\": %s, \"points\": [", store->identity ? store->identity : "null");
        status = write_rows(&export);
        (void)fputs("\n]}\n", file);
    }
    terminate_export(&export);
    struct pim_error ignored;
    (void)pim_store_execute(store, "ROLLBACK", &ignored);
    return status;
}
