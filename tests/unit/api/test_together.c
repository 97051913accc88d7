/* Simulations that live in one process do not know of each other. */
#include "tests/unit/api/support.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 8 };

/* Creates two before either runs, and runs the later one first. */
START_TEST(test_interleaved)
{
    char path[PATH_SIZE], message[2048] = "";
    const char *overrides[] = {"noc.flit_bits=16"};
    struct pimsim_options options = no_options();
    options.overrides = overrides;
    options.override_count = 1;
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    char *alone = replay(path, NULL), *narrow_alone = replay(path, &options);
    struct pimsim_simulation *first = NULL, *second = NULL, *narrow = NULL;
    EXPECT_STATUS(pimsim_create(&first, path, NULL, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_create(&narrow, path, &options, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_create(&second, path, NULL, message, sizeof message), PIMSIM_OK);
    overrides[0] = "gone"; /* whatever is kept of the options was copied */
    EXPECT_STATUS(pimsim_run(second, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_run(narrow, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_run(first, message, sizeof message), PIMSIM_OK);
    struct pimsim_simulation *all[] = {first, narrow, second};
    for (int i = 0; i < 3; i++) {
        json_t *results = results_of(all[i]);
        char *text = comparable(results);
        ck_assert_str_eq(text, i == 1 ? narrow_alone : alone);
        free(text);
        json_decref(results);
        pimsim_destroy(all[i]);
    }
    free(alone);
    free(narrow_alone);
}
END_TEST

/* A thread's own simulations, one after another. It reports through its struct, because a check may fail only
 * in the thread of the test. */
struct worker {
    pthread_t thread;
    const char *path;
    struct pimsim_options options;
    int status;
    char *texts[ROUNDS];
    char message[512];
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (int round = 0; round < ROUNDS && worker->status == PIMSIM_OK; round++) {
        struct pimsim_simulation *simulation = NULL;
        const char *json = NULL;
        worker->status = pimsim_create(&simulation, worker->path, &worker->options, worker->message,
                                       sizeof worker->message);
        if (worker->status == PIMSIM_OK)
            worker->status = pimsim_run(simulation, worker->message, sizeof worker->message);
        if (worker->status == PIMSIM_OK)
            worker->status = pimsim_results(simulation, &json, worker->message, sizeof worker->message);
        json_t *document = json ? json_loads(json, 0, NULL) : NULL;
        worker->texts[round] = document ? json_dumps(document, JSON_REAL_PRECISION(17)) : NULL;
        json_decref(document);
        pimsim_destroy(simulation);
    }
    return NULL;
}

/* What comparable() makes of a text. */
static char *without_cost(const char *text)
{
    json_t *document = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(document);
    char *result = comparable(document);
    json_decref(document);
    return result;
}

START_TEST(test_threads)
{
    char path[PATH_SIZE];
    static const char *const narrow[] = {"noc.flit_bits=16"};
    static struct worker workers[THREADS];
    struct pimsim_options options = no_options();
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    options.overrides = narrow;
    options.override_count = 1;
    char *expected[2] = {replay(path, NULL), replay(path, &options)};
    for (int i = 0; i < THREADS; i++) {
        workers[i].path = path;
        workers[i].options = i % 2 ? options : no_options();
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_msg(workers[i].status == PIMSIM_OK, "thread %d: %s", i, workers[i].message);
        for (int round = 0; round < ROUNDS; round++) {
            ck_assert_ptr_nonnull(workers[i].texts[round]);
            char *text = without_cost(workers[i].texts[round]);
            ck_assert_str_eq(text, expected[i % 2]);
            free(text);
            free(workers[i].texts[round]);
        }
    }
    free(expected[0]);
    free(expected[1]);
}
END_TEST

Suite *together_suite(void)
{
    Suite *suite = suite_create("api_together");
    TCase *tests = tcase_create("api_together");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_interleaved);
    tcase_add_test(tests, test_threads);
    suite_add_tcase(suite, tests);
    return suite;
}
