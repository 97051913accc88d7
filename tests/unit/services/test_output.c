#define _GNU_SOURCE 1 /* O_TMPFILE, flock; NOLINT(bugprone-reserved-identifier) */

#include "sim/output/file.h"
#include "sim/output/output.h"
#include "tests/unit/services/services.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct scratch scratch;

static void set_up(void)
{
    scratch_make(&scratch);
}

static void tear_down(void)
{
    scratch_remove(&scratch);
}

static struct pim_output *opened(const char *path)
{
    struct pim_error error = {0};
    struct pim_output *output;
    ck_assert_msg(pim_output_open(&output, path, &error) == PIM_OK, "%s", error.text);
    return output;
}

static void committed(struct pim_output *output)
{
    struct pim_error error = {0};
    ck_assert_msg(pim_output_commit(output, &error) == PIM_OK, "%s", error.text);
}

static void expect_content(const char *path, const char *expected)
{
    char *text = read_file(path, NULL);
    ck_assert_str_eq(text, expected);
    free(text);
}

/* By another way to the same folder, whether it is there or not; links; never what only has the same name. */
START_TEST(names_of_one_file)
{
    char path[512], way[512], other[512], folder[512];
    (void)scratch_path(&scratch, "file", path);
    (void)scratch_path(&scratch, "./file", way);
    (void)scratch_path(&scratch, "other", other);
    (void)scratch_path(&scratch, "folder", folder);
    ck_assert(pim_file_is_same(path, way));
    ck_assert(!pim_file_is_same(path, other));
    committed(opened(path));
    ck_assert(pim_file_is_same(path, way));
    ck_assert(!pim_file_is_same(path, other));
    ck_assert_int_eq(symlink("file", other), 0);
    ck_assert(pim_file_is_same(path, other));
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    (void)scratch_path(&scratch, "folder/file", other);
    ck_assert(!pim_file_is_same(path, other));
    ck_assert(!pim_file_is_same("/nowhere/file", path));
    ck_assert(pim_file_is_same("/nowhere/file", "/nowhere/file"));
    ck_assert(!pim_file_is_same("/dev/null", "/dev/null"));
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(appears_at_commit)
{
    char path[512];
    (void)scratch_path(&scratch, "result.json", path);
    struct pim_output *output = opened(path);
    ck_assert_str_eq(pim_output_name(output), path);
    ck_assert_int_ge(fputs("new", pim_output_file(output)), 0);
    ck_assert_int_eq(fflush(pim_output_file(output)), 0);
    ck_assert_int_ne(access(path, F_OK), 0);
    committed(output);
    expect_content(path, "new");
    ck_assert_int_eq(scratch_count(&scratch), 1);
}
END_TEST

START_TEST(abandon_leaves_the_old)
{
    char path[512];
    write_file(scratch_path(&scratch, "result", path), "old", 3);
    struct pim_output *output = opened(path);
    ck_assert_int_ge(fputs("half a resu", pim_output_file(output)), 0);
    expect_content(path, "old");
    pim_output_abandon(output);
    pim_output_abandon(NULL);
    expect_content(path, "old");
    ck_assert_int_eq(scratch_count(&scratch), 1);
}
END_TEST

/* Does the folder have files without a name? */
static bool has_nameless_files(void)
{
    bool has = false;
#ifdef O_TMPFILE
    int file = open(scratch.folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    has = file >= 0 && access("/proc/self/fd", X_OK) == 0;
    if (file >= 0)
        close(file);
#endif
    return has;
}

/* A process that is killed in the middle leaves the old file whole, and no other. */
START_TEST(death_leaves_the_old)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL};
    char path[512];
    write_file(scratch_path(&scratch, "result", path), "old", 3);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct pim_error error = {0};
        struct pim_output *output;
        if (pim_output_open(&output, path, &error) != PIM_OK)
            _exit(1);
        (void)fputs("half", pim_output_file(output));
        (void)fflush(pim_output_file(output));
        (void)signal(signals[_i], SIG_DFL);
        (void)raise(signals[_i]);
        _exit(1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    expect_content(path, "old");
    if (has_nameless_files())
        ck_assert_int_eq(scratch_count(&scratch), 1);
}
END_TEST

/* Makes a file older than any that is just being made. */
static void age(const char *path)
{
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* What a killed process left behind goes with the next write; what a living one writes stays. */
START_TEST(remains_are_swept)
{
    char path[512], left[512], other[512], strange[512];
    write_file(scratch_path(&scratch, ".pimsim-99999-0.tmp", left), "half", 4);
    write_file(scratch_path(&scratch, ".pimsim-99999-1.tmp", other), "new", 3);
    write_file(scratch_path(&scratch, ".pimsim-notes", strange), "mine", 4);
    age(left);
    age(strange);
    char living[512];
    write_file(scratch_path(&scratch, ".pimsim-99999-2.tmp", living), "half", 4);
    int writer = open(living, O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(flock(writer, LOCK_EX), 0); /* as who writes without files that have no name */
    age(living);
    struct pim_output *output = opened(scratch_path(&scratch, "one", path));
    ck_assert_int_ne(access(left, F_OK), 0);
    ck_assert_int_eq(access(other, F_OK), 0);
    ck_assert_int_eq(access(strange, F_OK), 0);
    ck_assert_int_eq(access(living, F_OK), 0);
    committed(output);
    expect_content(path, "");
    close(writer);
}
END_TEST

/* Two writers of the same file do not mix; the last to commit wins. */
START_TEST(writers_do_not_mix)
{
    char path[512];
    (void)scratch_path(&scratch, "result", path);
    struct pim_output *first = opened(path), *second = opened(path);
    ck_assert_int_ge(fputs("first, and longer", pim_output_file(first)), 0);
    ck_assert_int_ge(fputs("second", pim_output_file(second)), 0);
    committed(first);
    expect_content(path, "first, and longer");
    committed(second);
    expect_content(path, "second");
    ck_assert_int_eq(scratch_count(&scratch), 1);
}
END_TEST

START_TEST(permissions)
{
    char path[512];
    struct stat found;
    mode_t mask = umask(027);
    committed(opened(scratch_path(&scratch, "fresh", path)));
    (void)umask(mask);
    ck_assert_int_eq(stat(path, &found), 0);
    ck_assert_uint_eq(found.st_mode & 0777, 0640);
    ck_assert_int_eq(chmod(path, 0604), 0);
    committed(opened(path));
    ck_assert_int_eq(stat(path, &found), 0);
    ck_assert_uint_eq(found.st_mode & 0777, 0604);
    if (geteuid() == 0)
        return; /* root may write everywhere */
    struct pim_error error = {0};
    struct pim_output *output;
    ck_assert_int_eq(chmod(path, 0444), 0);
    expect_failure(pim_output_open(&output, path, &error), PIM_IO, &error, "Permission denied");
}
END_TEST

START_TEST(links_are_followed)
{
    struct pim_error error = {0};
    struct pim_output *output;
    struct stat found;
    char target[512], link_path[512];
    write_file(scratch_path(&scratch, "target", target), "old", 3);
    ck_assert_int_eq(symlink("target", scratch_path(&scratch, "link", link_path)), 0);
    output = opened(link_path);
    ck_assert_int_ge(fputs("new", pim_output_file(output)), 0);
    committed(output);
    expect_content(target, "new");
    ck_assert_int_eq(lstat(link_path, &found), 0);
    ck_assert(S_ISLNK(found.st_mode));
    ck_assert_int_eq(remove(target), 0);
    expect_failure(pim_output_open(&output, link_path, &error), PIM_IO, &error, "leads nowhere");
}
END_TEST

START_TEST(places_are_refused)
{
    struct pim_error error = {0};
    struct pim_output *output;
    char path[512];
    expect_failure(pim_output_open(&output, scratch.folder, &error), PIM_IO, &error, "is a folder");
    ck_assert_ptr_null(output);
    expect_failure(pim_output_open(&output, scratch_path(&scratch, "none/a", path), &error), PIM_IO, &error,
                   "No such file");
    ck_assert_ptr_nonnull(strstr(error.text, path));
    expect_failure(pim_output_open(&output, scratch_path(&scratch, "none/", path), &error), PIM_IO, &error,
                   "name of a file");
    expect_failure(pim_output_open(&output, "", &error), PIM_IO, &error, "name of a file");
    write_file(scratch_path(&scratch, "file", path), "", 0);
    expect_failure(pim_output_open(&output, scratch_path(&scratch, "file/a", path), &error), PIM_IO, &error,
                   "Not a directory");
}
END_TEST

/* The folder disappears in between: commit reports it. */
START_TEST(rename_fails)
{
    struct pim_error error = {0};
    char path[512], folder[512];
    ck_assert_int_eq(mkdir(scratch_path(&scratch, "folder", folder), 0777), 0);
    struct pim_output *output = opened(scratch_path(&scratch, "folder/a", path));
    char moved[512];
    ck_assert_int_eq(rename(folder, scratch_path(&scratch, "moved", moved)), 0);
    expect_failure(pim_output_commit(output, &error), PIM_IO, &error,
                   "cannot be put in its place: No such file");
    struct scratch inner;
    (void)snprintf(inner.folder, sizeof inner.folder, "%.200s/moved", scratch.folder);
    scratch_remove(&inner);
}
END_TEST

START_TEST(full_device)
{
    if (access("/dev/full", W_OK) != 0)
        return;
    struct pim_error error = {0};
    struct pim_output *output = opened("/dev/full");
    ck_assert_int_ge(fputs("lost", pim_output_file(output)), 0);
    expect_failure(pim_output_commit(output, &error), PIM_IO, &error,
                   "/dev/full: writing failed: No space left on device");
    /* Also when the failing write was an earlier one, whose reason the C library forgets. */
    output = opened("/dev/full");
    ck_assert_int_ge(fputs("lost", pim_output_file(output)), 0);
    ck_assert_int_ne(fflush(pim_output_file(output)), 0);
    expect_failure(pim_output_commit(output, &error), PIM_IO, &error, "/dev/full: writing failed");
    /* a writer that looked itself did not know where it writes; of another failure nothing is said */
    output = opened("/dev/full");
    error = (struct pim_error){PIM_OK, ""};
    (void)pim_fail(&error, PIM_IO, "no trace");
    pim_output_blame(output, &error);
    ck_assert_str_eq(error.text, "no trace");
    for (int i = 0; i < 100000; i++)
        (void)fputs("more than a buffer holds", pim_output_file(output));
    error = (struct pim_error){PIM_OK, ""};
    (void)pim_fail(&error, PIM_IO, "JSON could not be written");
    pim_output_blame(output, &error);
    ck_assert_str_eq(error.text, "/dev/full: JSON could not be written");
    pim_output_abandon(output);
}
END_TEST

START_TEST(standard_output)
{
    struct pim_error error = {0};
    char path[512];
    (void)scratch_path(&scratch, "stdout", path);
    (void)fflush(stdout);
    ck_assert_ptr_nonnull(freopen(path, "wb", stdout)); /* the test's process is its own */
    struct pim_output *output = opened("-");
    ck_assert_str_eq(pim_output_name(output), "standard output");
    ck_assert_int_ge(fputs("text", pim_output_file(output)), 0);
    committed(output);
    expect_content(path, "text");
    if (access("/dev/full", W_OK) != 0)
        return;
    ck_assert_ptr_nonnull(freopen("/dev/full", "wb", stdout));
    output = opened("-");
    ck_assert_int_ge(fputs("text", pim_output_file(output)), 0);
    expect_failure(pim_output_commit(output, &error), PIM_IO, &error,
                   "standard output: writing failed: No space");
}
END_TEST

START_TEST(reals_as_text)
{
    char buffer[PIM_REAL_CHARACTERS];
    pim_format_real(buffer, 0.1, 17);
    ck_assert_str_eq(buffer, "0.10000000000000001");
    pim_format_real(buffer, 0.1, 12);
    ck_assert_str_eq(buffer, "0.1");
    pim_format_real(buffer, -0x1.fffffffffffffp1023, 17);
    ck_assert_str_eq(buffer, "-1.7976931348623157e+308");
}
END_TEST

START_TEST(energies_as_text)
{
    static const struct {
        double picojoules;
        const char *text;
    } cases[] = {{0, "0 pJ"},
                 {0.0625, "0.0625 pJ"},
                 {1, "1.000 pJ"},
                 {9.9996, "10.00 pJ"},
                 {999.94, "999.9 pJ"},
                 {999.96, "1.000 nJ"},
                 {43296, "43.30 nJ"},
                 {3719996.4, "3.720 uJ"},
                 {850355455.7, "850.4 uJ"},
                 {999999999, "1.000 mJ"},
                 {3.03e11, "303.0 mJ"},
                 {1.234e15, "1234 J"}};
    char buffer[PIM_REAL_CHARACTERS];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pim_format_energy(buffer, cases[i].picojoules);
        ck_assert_str_eq(buffer, cases[i].text);
    }
}
END_TEST

START_TEST(seconds_as_text)
{
    char buffer[PIM_REAL_CHARACTERS];
    pim_format_cpu_seconds(buffer, 0);
    ck_assert_str_eq(buffer, "less than 0.01 CPU s");
    pim_format_cpu_seconds(buffer, 0.00499);
    ck_assert_str_eq(buffer, "less than 0.01 CPU s");
    pim_format_cpu_seconds(buffer, 0.00501);
    ck_assert_str_eq(buffer, "0.01 CPU s");
    pim_format_cpu_seconds(buffer, 12.344);
    ck_assert_str_eq(buffer, "12.34 CPU s");
}
END_TEST

Suite *output_suite(void)
{
    Suite *suite = suite_create("output");
    TCase *output = tcase_create("output");
    tcase_add_checked_fixture(output, set_up, tear_down);
    tcase_add_test(output, names_of_one_file);
    tcase_add_test(output, appears_at_commit);
    tcase_add_test(output, abandon_leaves_the_old);
    tcase_add_loop_test(output, death_leaves_the_old, 0, 4);
    tcase_add_test(output, remains_are_swept);
    tcase_add_test(output, writers_do_not_mix);
    tcase_add_test(output, permissions);
    tcase_add_test(output, links_are_followed);
    tcase_add_test(output, places_are_refused);
    tcase_add_test(output, rename_fails);
    tcase_add_test(output, energies_as_text);
    tcase_add_test(output, seconds_as_text);
    tcase_add_test(output, full_device);
    tcase_add_test(output, standard_output);
    tcase_add_test(output, reals_as_text);
    suite_add_tcase(suite, output);
    return suite;
}
