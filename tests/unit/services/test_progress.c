#include "sim/output/progress.h"
#include "tests/unit/services/services.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MILLISECOND UINT64_C(1000000)
#define SECOND (1000 * MILLISECOND)

/* A clock that the test moves, and that counts how often it is read. */
struct fake_clock {
    uint64_t now;
    unsigned reads;
};

static uint64_t read_fake(void *context)
{
    struct fake_clock *clock = context;
    clock->reads++;
    return clock->now;
}

static unsigned occurrences(const char *text, const char *part)
{
    unsigned count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

START_TEST(text_of_the_line)
{
    char line[200];
    (void)pim_progress_line(line, sizeof line, "run", 0, 1000, 0);
    ck_assert_str_eq(line, "run [........................]   0% 0:00, -:-- left");
    (void)pim_progress_line(line, sizeof line, "run", 250, 1000, 20 * SECOND);
    ck_assert_str_eq(line, "run [######..................]  25% 0:20, 1:00 left");
    (void)pim_progress_line(line, sizeof line, "run", 999, 1000, 3725 * SECOND);
    ck_assert_str_eq(line, "run [#######################.]  99% 1:02:05, 0:03 left");
    (void)pim_progress_line(line, sizeof line, "run", 1000, 1000, 60 * SECOND);
    ck_assert_str_eq(line, "run [########################] 100% 1:00, 0:00 left");
    (void)pim_progress_line(line, sizeof line, "run", 2000, 1000, 60 * SECOND);
    ck_assert_str_eq(line, "run [########################] 100% 1:00, 0:00 left");
    (void)pim_progress_line(line, sizeof line, "run", UINT64_MAX - 1, UINT64_MAX, SECOND);
    ck_assert_ptr_nonnull(strstr(line, " 99% ")); /* never 100 before the end */
    (void)pim_progress_line(line, sizeof line, "read", 42, 0, 61 * SECOND);
    ck_assert_str_eq(line, "read 42 done, 1:01");
    ck_assert_uint_eq(pim_progress_line(line, 10, "a label longer than that", 1, 2, 0), 9);
    ck_assert_uint_eq(strlen(line), 9);
}
END_TEST

/* Two minutes at a microsecond a piece, with a clock that has slow and fast stretches: about ten lines a
 * second at most, hardly a reading of the clock in a thousand updates, and the line is erased at the end. */
START_TEST(rate_is_limited)
{
    enum { PIECES = 3000000 };
    struct fake_clock clock = {0};
    struct pim_progress progress;
    FILE *stream = tmpfile();
    pim_progress_start_on(&progress, "run", PIECES, stream, read_fake, &clock);
    for (uint64_t done = 1; done <= PIECES; done++) {
        clock.now += done / 300000 % 2 ? 100 : 5000;
        pim_progress_update(&progress, done);
    }
    pim_progress_finish(&progress);
    char *text = stream_text(stream);
    unsigned lines = occurrences(text, "run [");
    uint64_t tenths = clock.now / (100 * MILLISECOND);
    ck_assert_uint_le(lines, tenths + 1);
    ck_assert_uint_ge(lines, tenths / 2);
    ck_assert_uint_lt(clock.reads, PIECES / 1000);
    ck_assert_str_eq(text + strlen(text) - 4, "\r\033[K");
    ck_assert_uint_eq(occurrences(text, "\n"), 0);
    free(text);
}
END_TEST

/* A stretch that suddenly takes a thousand times as long is noticed within a step that was sized for the fast
 * one. */
START_TEST(sudden_slowness)
{
    struct fake_clock clock = {0};
    struct pim_progress progress;
    FILE *stream = tmpfile();
    pim_progress_start_on(&progress, "run", 0, stream, read_fake, &clock);
    uint64_t done = 0;
    while (clock.now < SECOND) {
        clock.now += 1000;
        pim_progress_update(&progress, ++done);
    }
    ck_assert_uint_le(progress.next - done, 4 * 25000);
    for (int i = 0; i < 200000; i++) {
        clock.now += MILLISECOND;
        pim_progress_update(&progress, ++done);
    }
    ck_assert_uint_le(progress.next - done, 100);
    pim_progress_finish(&progress);
    ck_assert_int_eq(fclose(stream), 0);
}
END_TEST

/* Work that is over in no time shows nothing. */
START_TEST(short_work_is_silent)
{
    struct fake_clock clock = {0};
    struct pim_progress progress;
    FILE *stream = tmpfile();
    pim_progress_start_on(&progress, "run", 100, stream, read_fake, &clock);
    for (uint64_t done = 1; done <= 100; done++) {
        clock.now += 2 * MILLISECOND;
        pim_progress_update(&progress, done);
    }
    pim_progress_finish(&progress);
    char *text = stream_text(stream);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

/* Where standard error is no terminal nothing is printed and the clock is never looked at; so with quiet. */
START_TEST(pipes_are_silent)
{
    struct scratch scratch;
    char path[512];
    scratch_make(&scratch);
    (void)scratch_path(&scratch, "stderr", path);
    (void)fflush(stderr);
    int kept = dup(STDERR_FILENO);
    ck_assert_ptr_nonnull(freopen(path, "wb", stderr));
    for (int quiet = 0; quiet <= 1; quiet++) {
        struct pim_progress progress;
        pim_progress_start(&progress, "run", 1000, quiet);
        ck_assert_uint_eq(progress.next, UINT64_MAX);
        for (uint64_t done = 1; done <= 1000; done++)
            pim_progress_update(&progress, done);
        pim_progress_finish(&progress);
    }
    (void)fflush(stderr);
    (void)dup2(kept, STDERR_FILENO);
    (void)close(kept);
    char *text = read_file(path, NULL);
    ck_assert_str_eq(text, "");
    free(text);
    scratch_remove(&scratch);
}
END_TEST

Suite *progress_suite(void)
{
    Suite *suite = suite_create("progress");
    TCase *progress = tcase_create("progress");
    tcase_add_test(progress, text_of_the_line);
    tcase_add_test(progress, rate_is_limited);
    tcase_add_test(progress, sudden_slowness);
    tcase_add_test(progress, short_work_is_silent);
    tcase_add_test(progress, pipes_are_silent);
    suite_add_tcase(suite, progress);
    return suite;
}
