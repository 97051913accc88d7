/* Results of tasks: a line of JSON holds a result exactly; tasks lease units once; what is damaged is
 * refused. */
#include "tests/unit/api/support.h"
#include "tests/unit/sweep/suites.h"
#include "tests/unit/sweep/support.h"
#include "tools/sweep/run.h"
#include "tools/sweep/slurm.h"
#include "tools/sweep/specification/task.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void begin(struct pim_sweep *sweep)
{
    struct pim_error error = {PIM_OK, ""};
    char good[PATH_SIZE], stuck[PATH_SIZE];
    pim_sweep_initialize(sweep);
    trace_of(good, "good.bin", (struct shape){.unanswered = false});
    trace_of(stuck, "stuck.bin", (struct shape){.unanswered = true});
    ck_assert_int_eq(pim_sweep_add_trace(sweep, good, &error), PIM_OK);
    ck_assert_int_eq(pim_sweep_add_trace(sweep, stuck, &error), PIM_OK);
    vary(sweep, "noc.flit_bits", "8,16,32");
    vary(sweep, "dram.trcd_ns", "14.1,18");
    vary(sweep, "noc.fidelity", "flit,ideal");
    prepare(sweep);
}

/* Removes a folder and what is in it. */
static void remove_folder(const char *path)
{
    DIR *directory = opendir(path);
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char inner[2 * PATH_SIZE];
        struct stat state;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        (void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        ck_assert_int_eq(lstat(inner, &state), 0);
        if (S_ISDIR(state.st_mode))
            remove_folder(inner);
        else
            ck_assert_int_eq(unlink(inner), 0);
    }
    ck_assert_int_eq(closedir(directory), 0);
    ck_assert_int_eq(rmdir(path), 0);
}

static char *line_of(const struct pim_sweep_result *result, const struct pim_store_host *host)
{
    struct pim_error error = {PIM_OK, ""};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(pim_task_write_line(file, result, host, &error), PIM_OK);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_uint_gt(size, 1);
    ck_assert_ptr_eq(strchr(text, '\n'), text + size - 1);
    text[size - 1] = '\0';
    return text;
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

/* Written, read and written again: the same bytes; of a success and of a failure. */
START_TEST(test_line)
{
    struct pim_sweep sweep;
    struct pim_sweep_result result, read;
    struct pim_store_host host = {"here", 123}, other;
    struct pim_error error = {PIM_OK, ""};
    begin(&sweep);
    run_one(&sweep, _i == 0 ? 1 : 13, &result);
    ck_assert_int_eq(result.status, _i == 0 ? PIM_OK : PIM_DEADLOCK);
    char *text = line_of(&result, &host);
    ck_assert_msg(pim_task_read_line("x", 1, text, strlen(text), &read, &other, &error) == PIM_OK, "%s",
                  error.text);
    char *again = line_of(&read, &other);
    ck_assert_str_eq(text, again);
    ck_assert_uint_eq(read.count, result.count);
    for (size_t i = 0; i < read.count; i++) {
        ck_assert_int_eq(read.statistics[i].kind, result.statistics[i].kind);
        ck_assert(read.statistics[i].kind != PIM_SWEEP_REAL ||
                  read.statistics[i].real == result.statistics[i].real);
    }
    free(text);
    free(again);
    pim_sweep_result_terminate(&result);
    pim_sweep_result_terminate(&read);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* A line without one of its keys, or with one of another type, is refused by the name of the key. */
START_TEST(test_damaged)
{
    struct pim_sweep sweep;
    struct pim_sweep_result result;
    const struct pim_store_host host = {"here", 123};
    const char *key;
    json_t *value;
    int keys = 0;
    begin(&sweep);
    run_one(&sweep, 1, &result);
    char *text = line_of(&result, &host);
    json_t *line = json_loads(text, 0, NULL);
    json_object_foreach(line, key, value)
    {
        for (int damage = 0; damage < 2; damage++) {
            struct pim_error error = {PIM_OK, ""};
            struct pim_sweep_result read;
            struct pim_store_host other;
            json_t *copy = json_copy(line);
            if (damage == 0)
                ck_assert_int_eq(json_object_del(copy, key), 0);
            else
                ck_assert_int_eq(json_object_set_new(copy, key, json_true()), 0);
            char *bad = json_dumps(copy, JSON_COMPACT);
            ck_assert_int_eq(pim_task_read_line("file", 7, bad, strlen(bad), &read, &other, &error),
                             PIM_BAD_INPUT);
            expect_error(&error, PIM_BAD_INPUT, "file:7: ");
            expect_error(&error, PIM_BAD_INPUT, key);
            pim_sweep_result_terminate(&read);
            free(bad);
            json_decref(copy);
        }
        keys++;
    }
    ck_assert_int_eq(keys, 17);
    for (size_t length = 0; length < strlen(text); length += 13) { /* cut short */
        struct pim_error error = {PIM_OK, ""};
        struct pim_sweep_result read;
        struct pim_store_host other;
        ck_assert_int_eq(pim_task_read_line("file", 7, text, length, &read, &other, &error), PIM_BAD_INPUT);
        pim_sweep_result_terminate(&read);
    }
    json_decref(line);
    free(text);
    pim_sweep_result_terminate(&result);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* Tasks one after the other, each begun twice: every point runs once, and the merge equals a plain sweep. */
START_TEST(test_tasks)
{
    enum { TASKS = 3 };
    struct pim_sweep sweep;
    struct pim_error error = {PIM_OK, ""};
    struct pim_store *store;
    struct pim_trace_pool *pool;
    char plain[PATH_SIZE], path[PATH_SIZE], tasks[PATH_SIZE + 8], *folder;
    uint64_t units, points, sum = 0, lines;
    begin(&sweep);
    (void)run_missing(&sweep, temporary(plain, "plain"), PIM_STORE_NEW, 1);
    temporary(path, "r");
    ck_assert_int_eq(pim_store_create(path, PIM_STORE_NEW, &sweep, sweep.numbers, &store, &error), PIM_OK);
    ck_assert_msg(pim_task_submit(path, &sweep, store, false, TASKS, &folder, &units, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_uint_ge(units, TASKS);
    ck_assert_int_eq(pim_trace_pool_create(&sweep, "/nonexistent", &pool, &error), PIM_OK);
    for (uint64_t i = 0; i < 2 * TASKS; i++) {
        ck_assert_msg(pim_task_run(folder, &sweep, pool, i % TASKS, TASKS, 2, &points, &error) == PIM_OK,
                      "%s", error.text);
        ck_assert_msg(i < TASKS || points == 0, "task %d ran %d points again", (int)(i % TASKS), (int)points);
        sum += points;
    }
    ck_assert_uint_eq(sum, sweep.numbers);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(pim_task_merge(path, store, &lines, &error) == PIM_OK, "%s", error.text);
        ck_assert_uint_eq(lines, sweep.numbers);
    }
    char *again = folder;
    ck_assert_int_eq(pim_task_submit(path, &sweep, store, false, TASKS, &folder, &units, &error), PIM_OK);
    ck_assert_uint_eq(units, 0);
    ck_assert_ptr_null(folder);
    pim_store_close(store);
    char *one = exported(plain, PIM_STORE_CSV), *two = exported(path, PIM_STORE_CSV);
    ck_assert_str_eq(one, two);
    free(one);
    free(two);
    free(again);
    pim_trace_pool_destroy(pool);
    pim_sweep_terminate(&sweep);
    (void)snprintf(tasks, sizeof tasks, "%s.tasks", path);
    remove_folder(tasks);
}
END_TEST

/* Words reach the command as they are, whatever a shell makes of them. */
START_TEST(test_quoted)
{
    static const char *const words[] = {"printf", "%s|", "a b", "it's", "$HOME", "`x`", "\"", "*", "\\", ""};
    const struct pim_slurm_job job = {
        .folder = "/tmp", .working_folder = "/", .words = words, .word_count = 10, .tasks = 3, .threads = 2};
    char script[PATH_SIZE], command[PATH_SIZE + 64], output[256] = "";
    FILE *file = fopen(temporary(script, "job.sh"), "w");
    ck_assert_ptr_nonnull(file);
    pim_slurm_write(&job, file);
    ck_assert_int_eq(fclose(file), 0);
    (void)snprintf(command, sizeof command, "SLURM_ARRAY_TASK_ID=2 bash %s", script);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    ck_assert_uint_gt(fread(output, 1, sizeof output - 1, pipe), 0);
    ck_assert_int_eq(pclose(pipe), 0);
    ck_assert_str_eq(output, "--task=2|a b|it's|$HOME|`x`|\"|*|\\||");
}
END_TEST

Suite *sweep_task_suite(void)
{
    Suite *suite = suite_create("sweep_task");
    TCase *cases = tcase_create("tasks");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_loop_test(cases, test_line, 0, 2);
    tcase_add_test(cases, test_damaged);
    tcase_add_test(cases, test_tasks);
    tcase_add_test(cases, test_quoted);
    suite_add_tcase(suite, cases);
    return suite;
}
