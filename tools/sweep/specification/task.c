#include "tools/sweep/specification/task.h"

#include "sim/arena.h"
#include "sim/output/output.h"
#include "tools/sweep/specification/identity.h"
#include "tools/sweep/workers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, UNITS_PER_TASK = 8, SUBMISSIONS_MOST = 9999, LINE_BYTES = 64 };

/* Points of a unit: [first, last]. */
struct unit {
    uint64_t first, last;
};

static enum pim_status fail_at(struct pim_error *error, const char *path)
{
    return pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
}

/* "<folder>/<name>"; PIM_BAD_INPUT when it is too long. */
static enum pim_status join(char path[PATH_BYTES], const char *folder, const char *name,
                            struct pim_error *error)
{
    int length = snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    if (length < 0 || length >= PATH_BYTES)
        return pim_fail(error, PIM_BAD_INPUT, "%.200s...: the path is too long", folder);
    return PIM_OK;
}

/* The whole file; the caller frees *text, which ends with a 0 behind its *size bytes. */
static enum pim_status read_whole(const char *path, char **text, size_t *size, struct pim_error *error)
{
    size_t capacity = 0, got;
    FILE *file = fopen(path, "rb");
    *text = NULL;
    *size = 0;
    if (!file)
        return fail_at(error, path);
    do {
        char *grown = pim_array_grow(*text, &capacity, *size + 65537, 1);
        if (!grown) {
            (void)fclose(file);
            return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory", path);
        }
        *text = grown;
        got = fread(*text + *size, 1, 65536, file);
        *size += got;
    } while (got > 0);
    bool failed = ferror(file) != 0;
    if (failed)
        (void)fail_at(error, path);
    (void)fclose(file);
    (*text)[*size] = '\0';
    return failed ? error->status : PIM_OK;
}

/* --- submitting --- */

/* The next number that no submission has, as a folder of its own. */
static enum pim_status make_folder(const char *results, char **folder, struct pim_error *error)
{
    char tasks[PATH_BYTES], name[16], path[PATH_BYTES];
    int length = snprintf(tasks, sizeof tasks, "%s.tasks", results);
    if (length < 0 || (size_t)length >= sizeof tasks)
        return pim_fail(error, PIM_BAD_INPUT, "%.200s...: the path is too long", results);
    if (mkdir(tasks, 0777) != 0 && errno != EEXIST)
        return fail_at(error, tasks);
    for (int number = 1; number <= SUBMISSIONS_MOST; number++) {
        (void)snprintf(name, sizeof name, "%04d", number);
        if (join(path, tasks, name, error) != PIM_OK)
            return error->status;
        if (mkdir(path, 0777) == 0) {
            *folder = strdup(path);
            return *folder ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for a submission");
        }
        if (errno != EEXIST)
            return fail_at(error, path);
    }
    return pim_fail(error, PIM_BAD_INPUT, "%s holds %d submissions: remove old ones after a merge", tasks,
                    SUBMISSIONS_MOST);
}

/* Writes the units: missing points that stand together, at most `most` in a unit. */
static enum pim_status write_units(const struct pim_sweep *sweep, struct pim_store *store, bool retry,
                                   uint64_t most, FILE *file, uint64_t *units, struct pim_error *error)
{
    uint64_t first = 0, count = 0;
    *units = 0;
    for (uint64_t number = 0; number < sweep->numbers; number++) {
        struct pim_sweep_point point;
        bool admitted = false, there = false;
        pim_sweep_locate(sweep, number, &point);
        if (pim_sweep_admits(sweep, &point, &admitted, error) != PIM_OK ||
            (admitted && pim_store_has(store, number, !retry, &there, error) != PIM_OK))
            return error->status;
        if (!admitted)
            continue;
        if (count > 0 && (there || count == most)) {
            (void)fprintf(file, "%" PRIu64 " %" PRIu64 "\n", first, number - 1);
            (*units)++;
            count = 0;
        }
        if (!there && count++ == 0)
            first = number;
    }
    if (count > 0) {
        (void)fprintf(file, "%" PRIu64 " %" PRIu64 "\n", first, sweep->numbers - 1);
        (*units)++;
    }
    return PIM_OK;
}

static enum pim_status write_file(const char *folder, const char *name, const char *text,
                                  struct pim_error *error)
{
    char path[PATH_BYTES];
    struct pim_output *output;
    if (join(path, folder, name, error) != PIM_OK || pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    (void)fputs(text, pim_output_file(output));
    return pim_output_commit(output, error);
}

enum pim_status pim_task_submit(const char *results, const struct pim_sweep *sweep, struct pim_store *store,
                                bool retry, uint64_t tasks, char **folder, uint64_t *units,
                                struct pim_error *error)
{
    struct pim_store_progress progress;
    char *text = NULL;
    size_t size = 0;
    *folder = NULL;
    if (pim_store_progress(store, &progress, error) != PIM_OK)
        return error->status;
    uint64_t there = progress.done + (retry ? 0 : progress.failed);
    uint64_t missing = progress.points > there ? progress.points - there : 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a submission");
    enum pim_status status =
        write_units(sweep, store, retry, missing / (tasks * UNITS_PER_TASK) + 1, file, units, error);
    if (fclose(file) != 0 && status == PIM_OK)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for a submission");
    if (status == PIM_OK && *units > 0)
        status = make_folder(results, folder, error);
    if (status == PIM_OK && *units > 0)
        status = write_file(*folder, "identity", sweep->identity, error);
    if (status == PIM_OK && *units > 0)
        status = write_file(*folder, "units", text, error);
    free(text);
    return status;
}

/* --- working --- */

struct task {
    const char *folder;
    uint64_t number;
    uint64_t *done; /* points of earlier attempts, sorted */
    size_t done_count, done_capacity;
    FILE *file; /* results of this attempt */
    char host[256];
};

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *one = left, *two = right;
    return (*one > *two) - (*one < *two);
}

/* Takes unit `index`: true when it is this task's, now or since an earlier attempt. */
static enum pim_status lease(const struct task *task, uint64_t index, bool *ours, struct pim_error *error)
{
    char name[LINE_BYTES], path[PATH_BYTES], temporary[PATH_BYTES], owner[LINE_BYTES] = "", self[LINE_BYTES];
    (void)snprintf(self, sizeof self, "%" PRIu64 "\n", task->number);
    (void)snprintf(name, sizeof name, "lease-%" PRIu64, index);
    if (join(path, task->folder, name, error) != PIM_OK)
        return error->status;
    /* Looked at first: most units are taken most of the time. */
    FILE *file = fopen(path, "r");
    if (!file && errno == ENOENT) {
        char mine[sizeof task->host + LINE_BYTES];
        (void)snprintf(mine, sizeof mine, ".lease-%" PRIu64 ".%.200s.%ld", task->number, task->host,
                       (long)getpid());
        if (write_file(task->folder, mine, self, error) != PIM_OK ||
            join(temporary, task->folder, mine, error) != PIM_OK)
            return error->status;
        bool linked = link(temporary, path) == 0;
        int reason = errno;
        (void)unlink(temporary);
        if (!linked && reason != EEXIST)
            return pim_fail(error, PIM_IO, "%s: %s", path, strerror(reason));
        file = fopen(path, "r"); /* who it belongs to, whatever link() said: on NFS its answer may be lost */
    }
    if (!file)
        return fail_at(error, path);
    *ours = fgets(owner, sizeof owner, file) && strcmp(owner, self) == 0;
    (void)fclose(file);
    return PIM_OK;
}

static enum pim_status is_wanted(void *context, uint64_t point, bool *wanted, struct pim_error *error)
{
    const struct task *task = context;
    (void)error;
    *wanted = task->done_count == 0 ||
              !bsearch(&point, task->done, task->done_count, sizeof *task->done, compare_numbers);
    return PIM_OK;
}

static enum pim_status add_line(void *context, const struct pim_sweep_result *result, struct pim_error *error)
{
    struct task *task = context;
    const struct pim_store_host host = {task->host, (int64_t)time(NULL)};
    if (pim_task_write_line(task->file, result, &host, error) != PIM_OK)
        return error->status;
    errno = 0;
    if (fflush(task->file) != 0 || ferror(task->file))
        return pim_fail(error, PIM_IO, "%s: results could not be written: %s", task->folder, strerror(errno));
    return PIM_OK;
}

/* Calls `each` for every whole line of a file of results. */
typedef enum pim_status each_line(void *context, const struct pim_sweep_result *result,
                                  const struct pim_store_host *host, struct pim_error *error);

static enum pim_status read_lines(const char *path, each_line *each, void *context, struct pim_error *error)
{
    char *text;
    size_t size;
    enum pim_status status = read_whole(path, &text, &size, error);
    uint64_t number = 1;
    for (char *line = text, *end; status == PIM_OK && line; line = end + 1, number++) {
        struct pim_sweep_result result;
        struct pim_store_host host;
        end = memchr(line, '\n', size - (size_t)(line - text));
        if (!end)
            break;
        status = pim_task_read_line(path, number, line, (size_t)(end - line), &result, &host, error);
        if (status == PIM_OK)
            status = each(context, &result, &host, error);
        pim_sweep_result_terminate(&result);
    }
    free(text);
    return status;
}

/* Whether the name is that of a file of results; of task `*task` only when that is not NULL. */
static bool is_results(const char *name, const uint64_t *task)
{
    char prefix[LINE_BYTES] = "task-";
    size_t length = strlen(name);
    if (task)
        (void)snprintf(prefix, sizeof prefix, "task-%" PRIu64 ".", *task);
    return strncmp(name, prefix, strlen(prefix)) == 0 && length > 6 &&
           strcmp(name + length - 6, ".jsonl") == 0;
}

static enum pim_status read_folder(const char *folder, const uint64_t *task, each_line *each, void *context,
                                   struct pim_error *error)
{
    DIR *directory = opendir(folder);
    enum pim_status status = directory ? PIM_OK : fail_at(error, folder);
    for (struct dirent *entry; status == PIM_OK && (entry = readdir(directory)) != NULL;) {
        char path[PATH_BYTES];
        if (!is_results(entry->d_name, task))
            continue;
        status = join(path, folder, entry->d_name, error);
        if (status == PIM_OK)
            status = read_lines(path, each, context, error);
    }
    if (directory)
        (void)closedir(directory);
    return status;
}

static enum pim_status note_done(void *context, const struct pim_sweep_result *result,
                                 const struct pim_store_host *host, struct pim_error *error)
{
    struct task *task = context;
    (void)host;
    uint64_t *grown = pim_array_grow(task->done, &task->done_capacity, task->done_count + 1, sizeof *grown);
    if (!grown)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a task");
    task->done = grown;
    grown[task->done_count++] = result->point;
    return PIM_OK;
}

static enum pim_status read_units(const char *folder, const struct pim_sweep *sweep, struct unit **units,
                                  size_t *count, struct pim_error *error)
{
    char path[PATH_BYTES], *text = NULL;
    size_t size, capacity = 0;
    if (join(path, folder, "units", error) != PIM_OK)
        return error->status;
    enum pim_status status = read_whole(path, &text, &size, error);
    for (char *line = text; status == PIM_OK && *line; line = strchr(line, '\n') + 1) {
        struct unit unit = {0, 0};
        if (sscanf(line, "%" SCNu64 " %" SCNu64, &unit.first, &unit.last) != 2 || unit.first > unit.last ||
            unit.last >= sweep->numbers || !strchr(line, '\n')) {
            status = pim_fail(error, PIM_BAD_INPUT, "%s:%zu: first and last point of a unit are expected",
                              path, *count + 1);
            break;
        }
        struct unit *grown = pim_array_grow(*units, &capacity, *count + 1, sizeof *grown);
        if (!grown) {
            status = pim_fail(error, PIM_NO_MEMORY, "out of memory for a task");
            break;
        }
        *units = grown;
        grown[(*count)++] = unit;
    }
    free(text);
    return status;
}

static enum pim_status check_identity(const char *folder, const struct pim_sweep *sweep,
                                      struct pim_error *error)
{
    char path[PATH_BYTES], differences[256], *text;
    size_t size;
    if (join(path, folder, "identity", error) != PIM_OK)
        return error->status;
    enum pim_status status = read_whole(path, &text, &size, error);
    if (status == PIM_OK && !pim_sweep_same(text, sweep->identity, differences, sizeof differences))
        status = pim_fail(error, PIM_BAD_INPUT, "%s: another sweep was submitted (%s differ): submit again",
                          folder, differences);
    free(text);
    return status;
}

static enum pim_status work_on_units(struct task *task, const struct pim_sweep *sweep,
                                     struct pim_trace_pool *pool, uint64_t tasks, unsigned threads,
                                     uint64_t *points, struct pim_error *error)
{
    const struct pim_sweep_sink sink = {.context = task, .wanted = is_wanted, .add = add_line};
    struct unit *units = NULL;
    size_t count = 0;
    enum pim_status status = read_units(task->folder, sweep, &units, &count, error);
    size_t start =
        count > 0 ? (size_t)(task->number % tasks * count / tasks) : 0; /* tasks begin at different places */
    for (size_t i = 0; status == PIM_OK && i < count; i++) {
        size_t index = (start + i) % count;
        bool ours = false;
        struct pim_sweep_outcome outcome = {.done = 0};
        status = lease(task, index, &ours, error);
        if (status == PIM_OK && ours)
            status = pim_sweep_work(sweep, pool, &sink, units[index].first, units[index].last + 1, threads, 0,
                                    true, &outcome, error);
        *points += outcome.done + outcome.failed;
    }
    free(units);
    return status;
}

/* A file for the results of this attempt, under a name that no other attempt has. */
static enum pim_status open_results(struct task *task, char path[PATH_BYTES], struct pim_error *error)
{
    char name[sizeof task->host + 2 * LINE_BYTES];
    int descriptor = -1;
    for (int attempt = 0; descriptor < 0; attempt++) {
        (void)snprintf(name, sizeof name, "task-%" PRIu64 ".%.200s.%ld.%lld.%d.jsonl", task->number,
                       task->host, (long)getpid(), (long long)time(NULL), attempt);
        if (join(path, task->folder, name, error) != PIM_OK)
            return error->status;
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            return fail_at(error, path);
    }
    task->file = fdopen(descriptor, "w");
    if (task->file)
        return PIM_OK;
    (void)close(descriptor);
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for results");
}

enum pim_status pim_task_run(const char *folder, const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                             uint64_t task_number, uint64_t tasks, unsigned threads, uint64_t *points,
                             struct pim_error *error)
{
    struct task task = {.folder = folder, .number = task_number};
    char path[PATH_BYTES];
    *points = 0;
    (void)gethostname(task.host, sizeof task.host - 1);
    enum pim_status status = check_identity(folder, sweep, error);
    if (status == PIM_OK)
        status = read_folder(folder, &task_number, note_done, &task, error);
    if (task.done_count > 0)
        qsort(task.done, task.done_count, sizeof *task.done, compare_numbers);
    if (status == PIM_OK)
        status = open_results(&task, path, error);
    if (status == PIM_OK)
        status = work_on_units(&task, sweep, pool, tasks, threads, points, error);
    if (task.file && fclose(task.file) != 0 && status == PIM_OK)
        status = fail_at(error, path);
    free(task.done);
    return status;
}

/* --- merging --- */

/* Calls `each` for the lines of all submissions of the sweep whose results `store` holds. */
static enum pim_status read_submission(const char *folder, const struct pim_store *store, each_line *each,
                                       void *context, struct pim_error *error)
{
    char path[PATH_BYTES], *text;
    size_t size;
    if (join(path, folder, "identity", error) != PIM_OK)
        return error->status;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return PIM_OK; /* a submission that was cut short, or something else's folder */
    enum pim_status status = read_whole(path, &text, &size, error);
    bool same = status == PIM_OK && pim_store_identity(store) && strcmp(text, pim_store_identity(store)) == 0;
    free(text);
    if (status != PIM_OK)
        return status;
    /* Of an earlier sweep of that name, before --force: none of its points belong here. */
    return same ? read_folder(folder, NULL, each, context, error) : PIM_OK;
}

static enum pim_status read_submissions(const char *results, const struct pim_store *store, each_line *each,
                                        void *context, struct pim_error *error)
{
    char tasks[PATH_BYTES], path[PATH_BYTES];
    if (snprintf(tasks, sizeof tasks, "%s.tasks", results) >= PATH_BYTES)
        return pim_fail(error, PIM_BAD_INPUT, "%.200s...: the path is too long", results);
    DIR *directory = opendir(tasks);
    if (!directory)
        return errno == ENOENT ? PIM_OK : fail_at(error, tasks);
    enum pim_status status = PIM_OK;
    for (struct dirent *entry; status == PIM_OK && (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        status = join(path, tasks, entry->d_name, error);
        if (status == PIM_OK)
            status = read_submission(path, store, each, context, error);
    }
    (void)closedir(directory);
    return status;
}

struct merging {
    struct pim_store *store;
    uint64_t points;
};

static enum pim_status merge_line(void *context, const struct pim_sweep_result *result,
                                  const struct pim_store_host *host, struct pim_error *error)
{
    struct merging *merging = context;
    merging->points++;
    return pim_store_add(merging->store, result, host, error);
}

enum pim_status pim_task_merge(const char *results, struct pim_store *store, uint64_t *points,
                               struct pim_error *error)
{
    struct merging merging = {.store = store};
    struct pim_error ignored;
    *points = 0;
    if (pim_store_begin(store, error) != PIM_OK)
        return error->status;
    enum pim_status status = read_submissions(results, store, merge_line, &merging, error);
    *points = merging.points;
    if (status == PIM_OK)
        return pim_store_end(store, true, error);
    (void)pim_store_end(store, false, &ignored);
    return status;
}

/* --- looking --- */

struct looking {
    struct pim_store *store;
    struct task found; /* its list of points; those that failed are noted as such below */
    struct task failed;
};

static enum pim_status look_at_line(void *context, const struct pim_sweep_result *result,
                                    const struct pim_store_host *host, struct pim_error *error)
{
    struct looking *looking = context;
    bool there = false;
    if (pim_store_has(looking->store, result->point, true, &there, error) != PIM_OK)
        return error->status;
    if (there)
        return PIM_OK;
    return note_done(result->status == PIM_OK ? &looking->found : &looking->failed, result, host, error);
}

/* Sorts the list; how many different numbers it holds. */
static uint64_t count_different(struct task *list)
{
    uint64_t different = 0;
    if (list->done_count > 0)
        qsort(list->done, list->done_count, sizeof *list->done, compare_numbers);
    for (size_t i = 0; i < list->done_count; i++)
        different += i == 0 || list->done[i] != list->done[i - 1];
    return different;
}

enum pim_status pim_task_look(const char *results, struct pim_store *store,
                              struct pim_task_progress *progress, struct pim_error *error)
{
    struct looking looking = {.store = store};
    enum pim_status status = read_submissions(results, store, look_at_line, &looking, error);
    progress->failed = count_different(&looking.failed);
    progress->points = count_different(&looking.found) + progress->failed;
    free(looking.found.done);
    free(looking.failed.done);
    return status;
}
