/* Results: the same for any number of threads and any order, kept, never overwritten by mistake. */
#include "tests/unit/api/support.h"
#include "tests/unit/sweep/suites.h"
#include "tests/unit/sweep/support.h"
#include "tests/unit/test_main.h"
#include "tools/sweep/run.h"

#include <jansson.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POINTS = 12 };

/* 3 x 2 points on a trace that completes, then the same on one that never does. */
static void begin_with(struct pim_sweep *sweep, const char *extra)
{
    struct pim_error error = {PIM_OK, ""};
    char good[PATH_SIZE], stuck[PATH_SIZE];
    pim_sweep_initialize(sweep);
    trace_of(good, "good.bin", (struct shape){.unanswered = false});
    trace_of(stuck, "stuck.bin", (struct shape){.unanswered = true});
    ck_assert_int_eq(pim_sweep_add_trace(sweep, good, &error), PIM_OK);
    ck_assert_int_eq(pim_sweep_add_trace(sweep, stuck, &error), PIM_OK);
    vary(sweep, "noc.flit_bits", "8,16,32");
    vary(sweep, "dram.trcd_ns", "14.25,18");
    if (extra)
        vary(sweep, extra, "1,2");
    prepare(sweep);
}

static void begin(struct pim_sweep *sweep)
{
    begin_with(sweep, NULL);
}

static int64_t ask(const char *path, const char *sql)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(database));
    int64_t value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    (void)sqlite3_finalize(statement);
    ck_assert_int_eq(sqlite3_close(database), SQLITE_OK);
    return value;
}

static void tell(const char *path, const char *sql)
{
    sqlite3 *database;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(database));
    ck_assert_int_eq(sqlite3_close(database), SQLITE_OK);
}

static struct pim_store *open_store(const char *path, enum pim_store_mode mode, const struct pim_sweep *sweep)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_store *store;
    ck_assert_msg(pim_store_create(path, mode, sweep, POINTS, &store, &error) == PIM_OK, "%s", error.text);
    return store;
}

static void run_one(const struct pim_sweep *sweep, uint64_t number, struct pim_sweep_result *result)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace_pool *pool;
    struct pim_sweep_point point;
    ck_assert_int_eq(pim_trace_pool_create(sweep, "/nonexistent", &pool, &error), PIM_OK);
    pim_sweep_locate(sweep, number, &point);
    pim_sweep_run(sweep, pool, &point, result);
    pim_trace_pool_destroy(pool);
}

/* One thread, four threads, backwards, in two parts: the same bytes. Points that fail are results too. */
START_TEST(test_same_bytes)
{
    struct pim_sweep sweep;
    struct pim_error error = {PIM_OK, ""};
    const struct pim_store_host host = {"elsewhere", 99};
    char path[4][PATH_SIZE];
    begin(&sweep);
    for (int i = 0; i < 4; i++)
        temporary(path[i], (const char *[]){"one", "four", "back", "parts"}[i]);
    ck_assert_uint_eq(run_missing(&sweep, path[0], PIM_STORE_NEW, 1), POINTS);
    ck_assert_uint_eq(run_missing(&sweep, path[1], PIM_STORE_NEW, 4), POINTS);
    struct pim_store *back = open_store(path[2], PIM_STORE_NEW, &sweep),
                     *parts = open_store(path[3], PIM_STORE_RESUME, &sweep);
    for (uint64_t number = POINTS; number-- > 0;) {
        struct pim_sweep_result result;
        run_one(&sweep, number, &result);
        ck_assert_msg(pim_store_add(back, &result, &host, &error) == PIM_OK, "%s", error.text);
        if (number % 3 == 1)
            ck_assert_msg(pim_store_add(parts, &result, &host, &error) == PIM_OK, "%s", error.text);
        pim_sweep_result_terminate(&result);
    }
    pim_store_close(back);
    pim_store_close(parts);
    ck_assert_uint_eq(run_missing(&sweep, path[3], PIM_STORE_RESUME, 2), POINTS - POINTS / 3);
    ck_assert_uint_eq(run_missing(&sweep, path[3], PIM_STORE_RESUME, 2), 0);
    for (int format = 0; format < 2; format++) {
        char *first = exported(path[0], (enum pim_store_format)format);
        for (int i = 1; i < 4; i++) {
            char *other = exported(path[i], (enum pim_store_format)format);
            ck_assert_str_eq(first, other);
            free(other);
        }
        free(first);
    }
    ck_assert_int_eq(ask(path[0], "SELECT count(*) FROM point WHERE status = 'done' AND trace = 'good.bin'"),
                     POINTS / 2);
    ck_assert_int_eq(
        ask(path[0], "SELECT count(*) FROM point WHERE status = 'deadlock' AND error LIKE '%waits%'"),
        POINTS / 2);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* A point has the figures of `pimsim run` with the same settings. */
START_TEST(test_figures)
{
    static const char *const names[] = {"cycles", "dram.row_hits", "noc.flits", "work.macs",
                                        "simulator.events"};
    const char *overrides[] = {"noc.flit_bits=16", "dram.trcd_ns=14.25"};
    struct pimsim_options options = no_options();
    struct pim_sweep sweep;
    struct pim_sweep_result result;
    char path[PATH_SIZE];
    begin(&sweep);
    run_one(&sweep, 2, &result);
    ck_assert_int_eq(result.status, PIM_OK);
    options.overrides = overrides;
    options.override_count = 2;
    char *text = replay(temporary(path, "good.bin"), &options);
    json_t *run = json_loads(text, 0, NULL);
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        size_t i = 0;
        while (i < result.count && strcmp(result.statistics[i].name, names[n]) != 0)
            i++;
        ck_assert_msg(i < result.count, "%s", names[n]);
        ck_assert_int_eq(result.statistics[i].integer, integer_at(run, names[n]));
    }
    for (size_t i = 0; i < result.count; i++) {
        if (strcmp(result.statistics[i].name, "energy_pj.total") == 0)
            ck_assert_double_eq(result.statistics[i].real, real_at(run, "energy_pj.total"));
        if (strcmp(result.statistics[i].name, "estimate_cycles") == 0) /* of the hardware of the trace */
            ck_assert_int_eq(result.statistics[i].kind, PIM_SWEEP_NOTHING);
        ck_assert_str_ne(result.statistics[i].name, "simulator.cpu_seconds");
    }
    json_decref(run);
    free(text);
    pim_sweep_result_terminate(&result);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* Estimates stand beside the cycles of the hardware that they were made for, and of whole runs; 700 + 90 is
 * of trace_of(). */
START_TEST(test_estimates)
{
    static const struct {
        const char *key, *value;
        uint64_t until;
        bool estimated;
    } cases[] = {{"noc.flit_bits", "64", 0, true},
                 {"noc.flit_bits", "32", 0, false},
                 {"energy.mac_pj", "0.25", 0, true},
                 {"noc.fidelity", "ideal", 0, true},
                 {"noc.flit_bits", "64", 10, false}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct pim_sweep sweep;
        struct pim_sweep_result result;
        char path[PATH_SIZE];
        struct pim_error error = {PIM_OK, ""};
        size_t found = 0;
        trace_of(path, "good.bin", (struct shape){.unanswered = false});
        pim_sweep_initialize(&sweep);
        ck_assert_int_eq(pim_sweep_add_trace(&sweep, path, &error), PIM_OK);
        vary(&sweep, cases[c].key, cases[c].value);
        sweep.until_cycle = cases[c].until;
        prepare(&sweep);
        run_one(&sweep, 0, &result);
        ck_assert_int_eq(result.status, PIM_OK);
        for (size_t i = 0; i < result.count; i++)
            if (strcmp(result.statistics[i].name, "estimate_cycles") == 0) {
                found++;
                ck_assert_int_eq(result.statistics[i].kind,
                                 cases[c].estimated ? PIM_SWEEP_INTEGER : PIM_SWEEP_NOTHING);
                if (cases[c].estimated)
                    ck_assert_int_eq(result.statistics[i].integer, 700 + 90);
            }
        ck_assert_uint_eq(found, 1);
        pim_sweep_result_terminate(&result);
        pim_sweep_terminate(&sweep);
    }
}
END_TEST

START_TEST(test_twice)
{
    struct pim_sweep sweep;
    struct pim_error error = {PIM_OK, ""};
    const struct pim_store_host host = {"one", 1};
    struct pim_sweep_result result;
    char path[PATH_SIZE];
    begin(&sweep);
    struct pim_store *store = open_store(temporary(path, "r"), PIM_STORE_NEW, &sweep);
    run_one(&sweep, 1, &result);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(pim_store_add(store, &result, &host, &error) == PIM_OK, "%s", error.text);
    for (size_t i = 0; i < result.count; i++)
        if (strcmp(result.statistics[i].name, "cycles") == 0)
            result.statistics[i].integer++;
    ck_assert_int_eq(pim_store_add(store, &result, &host, &error), PIM_INTERNAL);
    expect_error(&error, PIM_INTERNAL, "point 1 has");
    pim_store_close(store);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM point"), 1);
    pim_sweep_result_terminate(&result);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* A failure is replaced by a later success; a success stays when something fails later. */
START_TEST(test_retried)
{
    struct pim_sweep sweep;
    struct pim_error error = {PIM_OK, ""};
    const struct pim_store_host host = {"one", 1};
    struct pim_sweep_result failed, done;
    char path[PATH_SIZE];
    begin(&sweep);
    struct pim_store *store = open_store(temporary(path, "r"), PIM_STORE_NEW, &sweep);
    run_one(&sweep, 7, &failed);
    run_one(&sweep, 1, &done);
    failed.point = 1;
    const struct pim_sweep_result *order[] = {&failed, &done, &failed};
    static const int64_t successes[] = {0, 1, 1};
    for (int i = 0; i < 3; i++) {
        bool there;
        ck_assert_msg(pim_store_add(store, order[i], &host, &error) == PIM_OK, "%s", error.text);
        ck_assert_int_eq(pim_store_has(store, 1, false, &there, &error), PIM_OK);
        ck_assert_int_eq(there, successes[i]);
    }
    pim_store_close(store);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM setting"), 2);
    pim_sweep_result_terminate(&failed);
    pim_sweep_result_terminate(&done);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* Each way in which a file is refused: the message, and the bytes stay. */
enum { TEXT_FILE, OTHER_DATABASE, NEWER, RESULTS, OTHER_SWEEP, REFUSALS };

START_TEST(test_refused)
{
    static const char *const messages[REFUSALS] = {
        "is no results file of pimsim", "is an SQLite file, but no results file", "has format 99 of results",
        "--resume does what is missing",
        "another sweep (axes differ), from which this one has not grown (it varies noc.link_latency)"};
    struct pim_sweep sweep, other;
    char path[PATH_SIZE];
    begin(&sweep);
    begin_with(&other, "noc.link_latency");
    if (_i == TEXT_FILE)
        file_of(path, "r", "precious\n", 9);
    else if (_i == OTHER_DATABASE)
        tell(temporary(path, "r"), "CREATE TABLE precious(x)");
    else
        (void)run_missing(_i == OTHER_SWEEP ? &other : &sweep, temporary(path, "r"), PIM_STORE_NEW, 1);
    if (_i == NEWER)
        tell(path, "PRAGMA user_version = 99");
    size_t size, after;
    char *before = content(path, &size);
    for (int mode = PIM_STORE_NEW; mode <= PIM_STORE_FORCE; mode++) {
        struct pim_error error = {PIM_OK, ""};
        struct pim_store *store;
        if ((_i == RESULTS && mode != PIM_STORE_NEW) || (_i == OTHER_SWEEP && mode != PIM_STORE_RESUME))
            continue;
        (void)pim_store_create(path, (enum pim_store_mode)mode, _i == OTHER_SWEEP ? &sweep : &other, POINTS,
                               &store, &error);
        ck_assert_ptr_null(store);
        expect_error(&error, PIM_BAD_INPUT, messages[_i]);
        char *now = content(path, &after);
        ck_assert_uint_eq(size, after);
        ck_assert_int_eq(memcmp(before, now, size), 0);
        free(now);
    }
    if (_i < RESULTS) {
        struct pim_error error = {PIM_OK, ""};
        struct pim_store *store;
        (void)pim_store_open(path, &store, &error);
        expect_error(&error, PIM_BAD_INPUT, messages[_i]);
    }
    free(before);
    pim_sweep_terminate(&sweep);
    pim_sweep_terminate(&other);
}
END_TEST

START_TEST(test_places)
{
    struct pim_sweep sweep;
    char path[PATH_SIZE];
    struct pim_error error = {PIM_OK, ""};
    struct pim_store *store, *second;
    begin(&sweep);
    (void)pim_store_create(temporary(path, "no/such/folder"), PIM_STORE_NEW, &sweep, POINTS, &store, &error);
    expect_error(&error, PIM_IO, "No such file or directory");
    error = (struct pim_error){PIM_OK, ""};
    (void)pim_store_create("/", PIM_STORE_NEW, &sweep, POINTS, &store, &error);
    expect_error(&error, PIM_IO, "Is a directory");
    error = (struct pim_error){PIM_OK, ""};
    (void)pim_store_create("/dev/null", PIM_STORE_FORCE, &sweep, POINTS, &store, &error);
    expect_error(&error, PIM_BAD_INPUT, "is no file");
    error = (struct pim_error){PIM_OK, ""};
    store = open_store(temporary(path, "r"), PIM_STORE_NEW, &sweep);
    (void)pim_store_create(path, PIM_STORE_RESUME, &sweep, POINTS, &second, &error);
    expect_error(&error, PIM_IO, "another process writes");
    pim_store_close(store);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* What a kill at the very beginning leaves: an empty file, or a database without tables. */
START_TEST(test_hardly_begun)
{
    struct pim_sweep sweep;
    char path[PATH_SIZE];
    begin(&sweep);
    if (_i == 0)
        file_of(path, "r", "", 0);
    else
        tell(temporary(path, "r"), "PRAGMA journal_mode = WAL");
    ck_assert_uint_eq(run_missing(&sweep, path, PIM_STORE_RESUME, 2), POINTS);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM point"), POINTS);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* A file of the first version gets what it lacks, and keeps what it has. */
START_TEST(test_migrated)
{
    struct pim_sweep sweep;
    char path[PATH_SIZE];
    begin(&sweep);
    (void)run_missing(&sweep, temporary(path, "r"), PIM_STORE_NEW, 1);
    tell(path,
         "PRAGMA foreign_keys = ON; DELETE FROM point WHERE id = 5; DROP VIEW settings; DROP VIEW "
         "results; ALTER TABLE point DROP COLUMN checksum; DELETE FROM sweep WHERE name LIKE 'checksum%'; "
         "PRAGMA user_version = 1");
    ck_assert_uint_eq(run_missing(&sweep, path, PIM_STORE_RESUME, 1), 1);
    ck_assert_int_eq(ask(path, "PRAGMA user_version"), 3);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM point"), POINTS);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM settings WHERE name = 'noc.flit_bits'"), POINTS);
    ck_assert_int_eq(ask(path, "SELECT value = (SELECT cycles FROM point WHERE id = 2) FROM results "
                               "WHERE point = 2 AND name = 'cycles'"),
                     1);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* Values, axes, a trace and repeats are added, and the order changes: what is missing runs, and the
 * results are those of the large sweep run at once. */
START_TEST(test_grown)
{
    struct pim_sweep small, large;
    struct pim_error error = {PIM_OK, ""};
    char good[PATH_SIZE], other[PATH_SIZE], path[PATH_SIZE], fresh[PATH_SIZE];
    trace_of(good, "good.bin", (struct shape){.unanswered = false});
    trace_of(other, "stuck.bin", (struct shape){.unanswered = true});
    pim_sweep_initialize(&small);
    pim_sweep_initialize(&large);
    ck_assert_int_eq(pim_sweep_add_trace(&small, good, &error), PIM_OK);
    vary(&small, "noc.flit_bits", "32,8");
    vary(&small, "dram.trcd_ns", "14.25,18");
    prepare(&small);
    ck_assert_int_eq(pim_sweep_add_trace(&large, other, &error), PIM_OK);
    ck_assert_int_eq(pim_sweep_add_trace(&large, good, &error), PIM_OK);
    vary(&large, "noc.link_latency", "1,2,3"); /* 1 is the default, which the points have */
    vary(&large, "dram.trcd_ns", "10,14.25,18");
    vary(&large, "noc.flit_bits", "8,16,32");
    large.repeats = 2;
    prepare(&large);
    ck_assert_uint_eq(run_missing(&small, temporary(path, "r"), PIM_STORE_NEW, 1), 4);
    ck_assert_uint_eq(run_missing(&large, path, PIM_STORE_RESUME, 1), 2 * 3 * 3 * 3 * 2 - 4);
    ck_assert_uint_eq(run_missing(&large, temporary(fresh, "fresh"), PIM_STORE_NEW, 1), 2 * 3 * 3 * 3 * 2);
    for (int format = 0; format < 2; format++) {
        char *one = exported(path, (enum pim_store_format)format);
        char *two = exported(fresh, (enum pim_store_format)format);
        ck_assert_str_eq(one, two);
        free(one);
        free(two);
    }
    ck_assert_uint_eq(run_missing(&large, path, PIM_STORE_RESUME, 1), 0);
    pim_sweep_terminate(&small);
    pim_sweep_terminate(&large);
}
END_TEST

/* What has not grown is refused, with the reason, and the file stays as it was. */
START_TEST(test_not_grown)
{
    static const struct {
        const char *name, *values, *second, *others, *why;
    } cases[] = {{"noc.flit_bits", "8,16", "dram.trcd_ns", "14.25,18", "lacks a value of noc.flit_bits"},
                 {"noc.flit_bits", "8,32,64", "noc.link_latency", "1,2", "it varies dram.trcd_ns"},
                 {"noc.flit_bits", "8,32,64", "dram.trcd_ns", "14.25,18", NULL}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct pim_sweep small, other;
        struct pim_error error = {PIM_OK, ""};
        struct pim_store *store;
        char good[PATH_SIZE], path[PATH_SIZE];
        size_t size, again;
        trace_of(good, "good.bin", (struct shape){.unanswered = false});
        pim_sweep_initialize(&small);
        pim_sweep_initialize(&other);
        ck_assert_int_eq(pim_sweep_add_trace(&small, good, &error), PIM_OK);
        ck_assert_int_eq(pim_sweep_add_trace(&other, good, &error), PIM_OK);
        vary(&small, "noc.flit_bits", "8,32");
        vary(&small, "dram.trcd_ns", "14.25,18");
        vary(&other, cases[c].name, cases[c].values);
        vary(&other, cases[c].second, cases[c].others);
        if (!cases[c].why)
            vary(&other, "noc.link_latency", "2,3"); /* without the value that the points have */
        prepare(&small);
        prepare(&other);
        (void)run_missing(&small, temporary(path, "r"), PIM_STORE_FORCE, 1);
        char *before = content(path, &size);
        ck_assert_int_eq(pim_store_create(path, PIM_STORE_RESUME, &other, 6, &store, &error), PIM_BAD_INPUT);
        expect_error(&error, PIM_BAD_INPUT,
                     cases[c].why ? cases[c].why : "among those of the new axis noc.link_latency");
        char *after = content(path, &again);
        ck_assert_uint_eq(size, again);
        ck_assert_int_eq(memcmp(before, after, size), 0);
        free(before);
        free(after);
        pim_sweep_terminate(&small);
        pim_sweep_terminate(&other);
    }
}
END_TEST

START_TEST(test_forced)
{
    struct pim_sweep sweep;
    char path[PATH_SIZE];
    begin(&sweep);
    (void)run_missing(&sweep, temporary(path, "r"), PIM_STORE_NEW, 1);
    tell(path, "UPDATE point SET cycles = 1");
    ck_assert_uint_eq(run_missing(&sweep, path, PIM_STORE_FORCE, 1), POINTS);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM point WHERE cycles = 1"), 0);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* A clean end leaves one plain file, whose header asks for no log (bytes 18 and 19 are 1). */
START_TEST(test_one_file)
{
    struct pim_sweep sweep;
    char path[PATH_SIZE], beside[PATH_SIZE];
    size_t size;
    begin(&sweep);
    (void)run_missing(&sweep, temporary(path, "r"), PIM_STORE_NEW, 2);
    char *bytes = content(path, &size);
    ck_assert_int_eq(bytes[18], 1);
    ck_assert_int_eq(bytes[19], 1);
    free(bytes);
    ck_assert_int_ne(access(temporary(beside, "r-wal"), F_OK), 0);
    ck_assert_int_ne(access(temporary(beside, "r-shm"), F_OK), 0);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* Exports `path`, or says why not; the caller frees the text, NULL when it was refused. */
static char *try_export(const char *path)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_store *store = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    enum pim_status status = pim_store_open(path, &store, &error);
    if (status == PIM_OK)
        status = pim_store_export(store, PIM_STORE_CSV, true, file, &error);
    pim_store_close(store);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_msg(status == PIM_OK || error.text[0] != '\0', "no message");
    if (status != PIM_OK) {
        free(text);
        return NULL;
    }
    return text;
}

/* Bytes of the file that are changed somewhere: the export is the same, or is refused. */
START_TEST(test_damaged)
{
    enum { FILES = PIM_CASES(400) };
    struct pim_sweep sweep;
    char path[PATH_SIZE], copy[PATH_SIZE];
    size_t size, refused = 0;
    uint64_t state = 20241122;
    begin(&sweep);
    (void)run_missing(&sweep, temporary(path, "r"), PIM_STORE_NEW, 1);
    char *bytes = content(path, &size), *whole = try_export(path);
    ck_assert_ptr_nonnull(whole);
    (void)temporary(copy, "copy");
    for (unsigned file = 0; file < FILES; file++) {
        uint64_t place[3];
        for (unsigned i = 0; i < 3; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            place[i] = (state >> 24) % size;
            bytes[place[i]] = (char)(bytes[place[i]] ^ (char)(1u << (state >> 61)));
        }
        FILE *out = fopen(copy, "wb");
        ck_assert_ptr_nonnull(out);
        ck_assert_uint_eq(fwrite(bytes, 1, size, out), size);
        ck_assert_int_eq(fclose(out), 0);
        char *found = try_export(copy);
        ck_assert_msg(
            !found || strcmp(found, whole) == 0, "file %u, bytes %llu %llu %llu: exported wrong rows", file,
            (unsigned long long)place[0], (unsigned long long)place[1], (unsigned long long)place[2]);
        refused += found == NULL;
        free(found);
        free(bytes);
        bytes = content(path, &size);
    }
    ck_assert_uint_gt(refused, FILES / 10); /* else the changes hit nothing */
    free(bytes);
    free(whole);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* A file that a stranger changed: a message, or an export of what is there; never more. */
START_TEST(test_hostile)
{
    static const char *const changes[] = {
        "UPDATE value SET statistic = 99999",
        "UPDATE value SET statistic = -1",
        "UPDATE value SET statistic = 'x'",
        "UPDATE statistic SET id = id + 9000000; UPDATE value SET statistic = statistic + 9000000",
        "UPDATE setting SET axis = 77 WHERE axis = 1",
        "UPDATE setting SET axis = -1 WHERE axis = 1",
        "DELETE FROM setting",
        "DELETE FROM axis",
        "DELETE FROM statistic",
        "DELETE FROM sweep",
        "DROP TABLE value",
        "DROP TABLE sweep",
        "UPDATE sweep SET value = x'00ff' WHERE name = 'identity'",
        "UPDATE point SET status = x'fffe', error = 3, cycles = 'many'",
        "UPDATE point SET id = -id - 1",
    };
    struct pim_sweep sweep;
    char path[PATH_SIZE];
    begin(&sweep);
    (void)run_missing(&sweep, temporary(path, "r"), PIM_STORE_NEW, 1);
    tell(path, changes[_i]);
    for (int format = 0; format < 3; format++) {
        struct pim_error error = {PIM_OK, ""};
        struct pim_store *store = NULL;
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        ck_assert_ptr_nonnull(file);
        enum pim_status status = pim_store_open(path, &store, &error);
        if (status == PIM_OK && format < 2)
            status = pim_store_export(store, (enum pim_store_format)format, true, file, &error);
        else if (status == PIM_OK)
            status = pim_store_print_status(store, file, &error);
        ck_assert_msg(status == PIM_OK || error.text[0] != '\0', "no message");
        if (format < 2)
            ck_assert_int_ne(status, PIM_OK);
        ck_assert_int_eq(fclose(file), 0);
        free(text);
        pim_store_close(store);
    }
    struct pim_error error = {PIM_OK, ""};
    struct pim_store *store = NULL;
    (void)pim_store_create(path, PIM_STORE_RESUME, &sweep, POINTS, &store, &error);
    pim_store_close(store);
    pim_sweep_terminate(&sweep);
}
END_TEST

Suite *sweep_store_suite(void)
{
    Suite *suite = suite_create("sweep_store");
    TCase *cases = tcase_create("results");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, test_same_bytes);
    tcase_add_test(cases, test_figures);
    tcase_add_test(cases, test_estimates);
    tcase_add_test(cases, test_twice);
    tcase_add_test(cases, test_retried);
    tcase_add_loop_test(cases, test_refused, 0, REFUSALS);
    tcase_add_test(cases, test_places);
    tcase_add_loop_test(cases, test_hardly_begun, 0, 2);
    tcase_add_test(cases, test_migrated);
    tcase_add_test(cases, test_grown);
    tcase_add_test(cases, test_not_grown);
    tcase_add_test(cases, test_forced);
    tcase_add_test(cases, test_one_file);
    tcase_add_test(cases, test_damaged);
    tcase_add_loop_test(cases, test_hostile, 0, 15);
    suite_add_tcase(suite, cases);
    return suite;
}
