/* Opening and locking; adding is add.c, reading read.c. */
#include "tools/sweep/store/internal.h"

#include "include/pimsim/pimsim.h"
#include "tools/sweep/specification/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUSY_MILLISECONDS = 20000, LOCK_TRIES = 20, LOCK_WAIT_NANOSECONDS = 20000000 };

static enum pim_status no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for results");
}

static struct pim_store *make(const char *path)
{
    struct pim_store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    store->lock = -1;
    store->path = strdup(path);
    if (!store->path) {
        free(store);
        return NULL;
    }
    return store;
}

void pim_store_close(struct pim_store *store)
{
    if (!store)
        return;
    sqlite3_stmt *const statements[] = {
        store->has,           store->add_point,      store->add_setting, store->add_configuration,
        store->add_statistic, store->find_statistic, store->add_value};
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
        (void)sqlite3_finalize(statements[i]);
    for (size_t i = 0; i < PIM_STORE_PARTS; i++)
        (void)sqlite3_finalize(store->parts[i]);
    (void)sqlite3_finalize(store->stored);
    (void)sqlite3_finalize(store->set_checksum);
    if (store
            ->logged) { /* one plain file is left, readable where nobody can write; a reader may prevent it */
        (void)sqlite3_busy_timeout(store->database, 0);
        (void)sqlite3_exec(store->database, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    }
    (void)sqlite3_close(store->database);
    if (store->lock >= 0)
        (void)close(store->lock); /* after SQLite: closing the file drops SQLite's own locks */
    free(store->identity);
    free(store->path);
    free(store);
}

/* --- opening --- */

/* Whether another process writes may be a reader that looks just whether somebody writes: it is asked
 * again. */
static bool take_lock(int file)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0)
            return true;
        (void)nanosleep(&(struct timespec){.tv_nsec = LOCK_WAIT_NANOSECONDS}, NULL);
    }
    return false;
}

/* Whether the file begins like an SQLite file, or is empty. */
static enum pim_status check_magic(int file, const char *path, bool *empty, struct pim_error *error)
{
    static const char magic[16] = "SQLite format 3";
    char found[sizeof magic];
    struct stat state;
    if (fstat(file, &state) != 0)
        return pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(state.st_mode))
        return pim_fail(error, PIM_BAD_INPUT, "%s is no file: results need one", path);
    *empty = state.st_size == 0;
    if (!*empty && (pread(file, found, sizeof found, 0) != (ssize_t)sizeof found ||
                    memcmp(found, magic, sizeof magic) != 0))
        return pim_fail(error, PIM_BAD_INPUT, "%s is no results file of pimsim", path);
    return PIM_OK;
}

static enum pim_status open_database(struct pim_store *store, int flags, struct pim_error *error)
{
    if (sqlite3_open_v2(store->path, &store->database, flags, NULL) != SQLITE_OK) {
        if (!store->database)
            return no_memory(error);
        return pim_store_fail(store, error);
    }
    (void)sqlite3_extended_result_codes(store->database, 0);
    (void)sqlite3_busy_timeout(store->database, BUSY_MILLISECONDS);
    return PIM_OK;
}

/* The version of a file of ours; 0: an empty database. */
static enum pim_status check_format(const struct pim_store *store, int64_t *version, struct pim_error *error)
{
    int64_t application = 0, objects = 0;
    if (pim_store_integer(store, "PRAGMA application_id", &application, error) != PIM_OK ||
        pim_store_integer(store, "PRAGMA user_version", version, error) != PIM_OK ||
        pim_store_integer(store, "SELECT count(*) FROM sqlite_master", &objects, error) != PIM_OK)
        return error->status;
    if (application == 0 && *version == 0 && objects == 0)
        return PIM_OK;
    if (application != PIM_STORE_APPLICATION)
        return pim_fail(error, PIM_BAD_INPUT, "%s is an SQLite file, but no results file of pimsim",
                        store->path);
    if (*version > PIM_STORE_VERSION || *version < 1)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s has format %" PRId64 " of results, this pimsim knows 1 to %d: use a newer one",
                        store->path, *version, PIM_STORE_VERSION);
    return PIM_OK;
}

static enum pim_status prepare_statements(struct pim_store *store, struct pim_error *error)
{
    const struct {
        const char *sql;
        sqlite3_stmt **statement;
    } all[] = {
        {"SELECT status FROM point WHERE id = ?1", &store->has},
        {"INSERT INTO point VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
         "?17, ?18, ?19, NULL)",
         &store->add_point},
        {"INSERT INTO setting VALUES(?1, ?2, ?3)", &store->add_setting},
        {"INSERT OR IGNORE INTO configuration VALUES(?1, ?2)", &store->add_configuration},
        {"INSERT OR IGNORE INTO statistic(name) VALUES(?1)", &store->add_statistic},
        {"SELECT id FROM statistic WHERE name = ?1", &store->find_statistic},
        {"INSERT INTO value VALUES(?1, ?2, ?3, ?4)", &store->add_value},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (pim_store_prepare(store, all[i].sql, all[i].statement, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

/* Positions of the table `axis`: what varies beside the axes comes first. */
static enum pim_status put_axes(const struct pim_store *store, const struct pim_sweep *sweep,
                                struct pim_error *error)
{
    sqlite3_stmt *statement;
    int position = 0;
    if (pim_store_prepare(store, "INSERT INTO axis VALUES(?1, ?2)", &statement, error) != PIM_OK)
        return error->status;
    enum pim_status status = PIM_OK;
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count && status == PIM_OK; i++) {
            (void)sqlite3_bind_int(statement, 1, position++);
            (void)sqlite3_bind_text(statement, 2, sweep->axes[a].keys[i].name, -1, SQLITE_STATIC);
            if (sqlite3_step(statement) != SQLITE_DONE)
                status = pim_store_fail(store, error);
            (void)sqlite3_reset(statement);
        }
    (void)sqlite3_finalize(statement);
    return status;
}

static enum pim_status define(struct pim_store *store, const struct pim_sweep *sweep, uint64_t points,
                              struct pim_error *error)
{
    if (pim_store_execute(store, "BEGIN IMMEDIATE", error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_store_migrate(store, 0, error);
    if (status == PIM_OK)
        status = pim_store_put(store, "identity", 0, sweep->identity, error);
    if (status == PIM_OK)
        status = pim_store_put(store, "pimsim", 0, pimsim_version(), error);
    if (status == PIM_OK)
        status = pim_store_put(store, "name", 0, sweep->name ? sweep->name : "", error);
    if (status == PIM_OK)
        status = pim_store_put(store, "points", (int64_t)points, NULL, error);
    if (status == PIM_OK)
        status = put_axes(store, sweep, error);
    if (status == PIM_OK)
        status = pim_store_seal_all(store, error);
    return status == PIM_OK ? pim_store_execute(store, "COMMIT", error) : status;
}

static enum pim_status migrate(struct pim_store *store, int64_t version, struct pim_error *error)
{
    if (version == PIM_STORE_VERSION)
        return PIM_OK;
    if (pim_store_execute(store, "BEGIN IMMEDIATE", error) != PIM_OK ||
        pim_store_migrate(store, version, error) != PIM_OK ||
        (version < PIM_STORE_SEALED && pim_store_seal_all(store, error) != PIM_OK))
        return error->status;
    return pim_store_execute(store, "COMMIT", error);
}

/* Results of a sweep that this one has grown from. */
static enum pim_status continue_grown(struct pim_store *store, const struct pim_sweep *sweep, uint64_t points,
                                      int64_t version, const char *differences, struct pim_error *error)
{
    struct pim_growth *growth = NULL;
    char why[192] = "";
    if (store->identity &&
        pim_growth_create(store->identity, sweep, &growth, why, sizeof why, error) != PIM_OK)
        return error->status;
    if (!growth)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s holds results of another sweep (%s differ), from which this one has not grown "
                        "(%s): results of both "
                        "cannot stand in one table; choose another file, or --force throws them away",
                        store->path, store->identity ? differences : "identities", why);
    enum pim_status status = migrate(store, version, error);
    store->version = PIM_STORE_VERSION;
    if (status == PIM_OK)
        status = pim_store_grow(store, growth, sweep, points, error);
    pim_growth_destroy(growth);
    free(store->identity);
    store->identity = NULL;
    return status;
}

/* How many points there will be: a tuning may go on for longer than it was begun for. */
static enum pim_status expect(const struct pim_store *store, uint64_t points, struct pim_error *error)
{
    int64_t expected = 0, there = 0;
    if (pim_store_integer(store, "SELECT value FROM sweep WHERE name = 'points'", &expected, error) !=
            PIM_OK ||
        pim_store_integer(store, "SELECT count(*) FROM point", &there, error) != PIM_OK)
        return error->status;
    points = (int64_t)points < there ? (uint64_t)there : points;
    if (expected == (int64_t)points)
        return PIM_OK;
    if (pim_store_execute(store, "BEGIN IMMEDIATE", error) != PIM_OK ||
        pim_store_put(store, "points", (int64_t)points, NULL, error) != PIM_OK ||
        pim_store_seal_sweep(store, error) != PIM_OK)
        return error->status;
    return pim_store_execute(store, "COMMIT", error);
}

/* What stands in the file, and whether the mode allows to go on with it; without a sweep: with any. */
static enum pim_status admit(struct pim_store *store, enum pim_store_mode mode, const struct pim_sweep *sweep,
                             uint64_t points, int64_t version, struct pim_error *error)
{
    char differences[256];
    int64_t results = 0;
    if (!sweep)
        return migrate(store, version, error);
    if (mode == PIM_STORE_NEW) {
        if (pim_store_integer(store, "SELECT count(*) FROM point", &results, error) != PIM_OK)
            return error->status;
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s holds %" PRId64
                        " results of a sweep: --resume does what is missing, --force throws them away",
                        store->path, results);
    }
    if (pim_store_get(store, "identity", &store->identity, error) != PIM_OK)
        return error->status;
    if (store->identity && pim_sweep_same(store->identity, sweep->identity, differences, sizeof differences))
        return migrate(store, version, error) == PIM_OK ? expect(store, points, error) : error->status;
    return continue_grown(store, sweep, points, version, differences, error);
}

/* --force: a file of ours becomes an empty one. */
static enum pim_status clear(struct pim_store *store, struct pim_error *error)
{
    static const char *const suffixes[] = {"-wal", "-shm"};
    (void)sqlite3_close(store->database);
    store->database = NULL;
    char name[4096];
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        (void)snprintf(name, sizeof name, "%s%s", store->path, suffixes[i]);
        (void)unlink(name);
    }
    if (ftruncate(store->lock, 0) != 0)
        return pim_fail(error, PIM_IO, "%s: %s", store->path, strerror(errno));
    return open_database(store, SQLITE_OPEN_READWRITE, error);
}

static enum pim_status open_to_write(struct pim_store *store, enum pim_store_mode mode,
                                     const struct pim_sweep *sweep, uint64_t points, struct pim_error *error)
{
    bool empty = false;
    int64_t version = 0, mode_is = 0;
    if (check_magic(store->lock, store->path, &empty, error) != PIM_OK)
        return pim_fail_in(error, "nothing is overwritten");
    if (!take_lock(store->lock))
        return pim_fail(error, PIM_IO, "%s: another process writes results to it", store->path);
    if (open_database(store, SQLITE_OPEN_READWRITE, error) != PIM_OK ||
        check_format(store, &version, error) != PIM_OK)
        return error->status;
    if (version > 0 && mode == PIM_STORE_FORCE) {
        if (clear(store, error) != PIM_OK)
            return error->status;
        version = 0;
    }
    if (version > 0 && admit(store, mode, sweep, points, version, error) != PIM_OK)
        return error->status;
    /* Where the file system has no shared memory (NFS), SQLite stays with its rollback journal: just as
     * safe. */
    (void)pim_store_integer(store, "PRAGMA journal_mode = WAL", &mode_is, error);
    if (pim_store_execute(store, "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON", error) != PIM_OK)
        return error->status;
    *error = (struct pim_error){.status = PIM_OK};
    store->logged = true;
    store->version = PIM_STORE_VERSION;
    if (version == 0 && !sweep)
        return pim_fail(error, PIM_BAD_INPUT, "%s is empty: it holds no results", store->path);
    if (version == 0 && define(store, sweep, points, error) != PIM_OK)
        return error->status;
    if (!store->identity && pim_store_get(store, "identity", &store->identity, error) != PIM_OK)
        return error->status;
    return prepare_statements(store, error);
}

enum pim_status pim_store_create(const char *path, enum pim_store_mode mode, const struct pim_sweep *sweep,
                                 uint64_t points, struct pim_store **store, struct pim_error *error)
{
    *store = NULL;
    struct pim_store *made = make(path);
    if (!made)
        return no_memory(error);
    bool fresh = true;
    made->lock = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made->lock < 0 && errno == EEXIST) {
        fresh = false;
        made->lock = open(path, O_RDWR | O_CLOEXEC);
    }
    if (made->lock < 0)
        (void)pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
    else
        (void)open_to_write(made, mode, sweep, points, error);
    if (error->status != PIM_OK) {
        if (fresh && made->lock >= 0)
            (void)unlink(path);
        pim_store_close(made);
        return error->status;
    }
    *store = made;
    return PIM_OK;
}

enum pim_status pim_store_open_to_add(const char *path, struct pim_store **store, struct pim_error *error)
{
    *store = NULL;
    struct pim_store *made = make(path);
    if (!made)
        return no_memory(error);
    made->lock = open(path, O_RDWR | O_CLOEXEC);
    bool empty = false;
    enum pim_status status = made->lock < 0 ? pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno))
                                            : check_magic(made->lock, path, &empty, error);
    if (status == PIM_OK && empty)
        status = pim_fail(error, PIM_BAD_INPUT, "%s is empty: it holds no results", path);
    if (status == PIM_OK)
        status = open_to_write(made, PIM_STORE_RESUME, NULL, 0, error);
    if (status != PIM_OK) {
        pim_store_close(made);
        return status;
    }
    *store = made;
    return PIM_OK;
}

/* Whether the file lies where this process can write: SQLite may need files beside it. */
static bool writable(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    bool good = folder && access(path, W_OK) == 0 && access(folder, W_OK) == 0;
    free(folder);
    return good;
}

/* Whether a write-ahead log holds what is not in the file yet: the sweep runs, or was killed. */
static bool has_log(const char *path)
{
    char name[4096];
    struct stat state;
    int length = snprintf(name, sizeof name, "%s-wal", path);
    return length < (int)sizeof name && stat(name, &state) == 0 && state.st_size > 0;
}

/* "file:" with what means something in a URI as %XX; the caller frees it. */
static char *immutable_uri(const char *path)
{
    static const char tail[] = "?immutable=1";
    char *uri = malloc(3 * strlen(path) + sizeof "file:" + sizeof tail), *at = uri;
    if (!uri)
        return NULL;
    at += sprintf(at, "file:");
    for (; *path; path++)
        if (strchr("%?#", *path))
            at += sprintf(at, "%%%02X", (unsigned)(unsigned char)*path);
        else
            *at++ = *path;
    memcpy(at, tail, sizeof tail);
    return uri;
}

/*
 * Where writing is allowed, read-write: the last one to close a file in WAL mode tidies up behind itself.
 * Elsewhere as it is, without locks or files beside it - unless a log is there, which SQLite then reads with
 * it if it can.
 */
static enum pim_status open_to_read(struct pim_store *store, struct pim_error *error)
{
    if (writable(store->path))
        return open_database(store, SQLITE_OPEN_READWRITE, error);
    if (store->running || has_log(store->path))
        return open_database(store, SQLITE_OPEN_READONLY, error);
    char *uri = immutable_uri(store->path), *path = store->path;
    if (!uri)
        return no_memory(error);
    store->path = uri;
    enum pim_status status = open_database(store, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, error);
    store->path = path;
    free(uri);
    return status;
}

enum pim_status pim_store_open(const char *path, struct pim_store **store, struct pim_error *error)
{
    bool empty = false, running = false;
    int64_t version = 0;
    *store = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
    if (check_magic(file, path, &empty, error) == PIM_OK && empty)
        (void)pim_fail(error, PIM_BAD_INPUT, "%s is empty: it holds no results", path);
    if (flock(file, LOCK_SH | LOCK_NB) != 0)
        running = errno == EWOULDBLOCK;
    (void)close(file); /* before SQLite opens it, whose locks this would drop */
    if (error->status != PIM_OK)
        return error->status;
    struct pim_store *made = make(path);
    if (!made)
        return no_memory(error);
    made->running = running;
    enum pim_status status = open_to_read(made, error);
    if (status == PIM_OK)
        status = pim_store_execute(made, "PRAGMA query_only = ON", error);
    if (status == PIM_OK)
        status = check_format(made, &version, error);
    made->version = version;
    if (status == PIM_OK && version == 0)
        status = pim_fail(error, PIM_BAD_INPUT, "%s is empty: it holds no results", path);
    if (status == PIM_OK)
        status = pim_store_get(made, "identity", &made->identity, error);
    if (status != PIM_OK) {
        pim_store_close(made);
        return status;
    }
    *store = made;
    return PIM_OK;
}

const char *pim_store_identity(const struct pim_store *store)
{
    return store->identity;
}

enum pim_status pim_store_name(const struct pim_store *store, char **name, struct pim_error *error)
{
    return pim_store_get(store, "name", name, error);
}
