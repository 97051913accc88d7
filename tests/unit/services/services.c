#define _XOPEN_SOURCE 700 /* mkdtemp */

#include "tests/unit/services/services.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void scratch_make(struct scratch *scratch)
{
    const char *root = getenv("TMPDIR");
    (void)snprintf(scratch->folder, sizeof scratch->folder, "%s/pimsim-test-XXXXXX", root ? root : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(scratch->folder));
}

const char *scratch_path(const struct scratch *scratch, const char *name, char buffer[512])
{
    (void)snprintf(buffer, 512, "%s/%s", scratch->folder, name);
    return buffer;
}

static int visit_files(const struct scratch *scratch, bool remove_them)
{
    DIR *folder = opendir(scratch->folder);
    ck_assert_ptr_nonnull(folder);
    int count = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char path[512];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        count++;
        if (remove_them)
            ck_assert_int_eq(remove(scratch_path(scratch, entry->d_name, path)), 0);
    }
    ck_assert_int_eq(closedir(folder), 0);
    return count;
}

int scratch_count(const struct scratch *scratch)
{
    return visit_files(scratch, false);
}

void scratch_remove(const struct scratch *scratch)
{
    (void)visit_files(scratch, true);
    ck_assert_int_eq(rmdir(scratch->folder), 0);
}

void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

static char *rest_of(FILE *stream, size_t *length)
{
    ck_assert_int_eq(fseek(stream, 0, SEEK_END), 0);
    long size = ftell(stream);
    ck_assert_int_ge(size, 0);
    rewind(stream);
    char *text = malloc((size_t)size + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, stream), (size_t)size);
    text[size] = '\0';
    if (length)
        *length = (size_t)size;
    ck_assert_int_eq(fclose(stream), 0);
    return text;
}

char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    return rest_of(file, length);
}

char *stream_text(FILE *stream)
{
    return rest_of(stream, NULL);
}

void expect_failure(enum pim_status status, enum pim_status expected, const struct pim_error *error,
                    const char *part)
{
    ck_assert_int_eq(status, expected);
    ck_assert_int_eq(error->status, expected);
    ck_assert_msg(strstr(error->text, part) != NULL, "'%s' is not in '%s'", part, error->text);
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, arena_suite());
    srunner_add_suite(runner, random_suite());
    srunner_add_suite(runner, histogram_suite());
    srunner_add_suite(runner, json_suite());
    srunner_add_suite(runner, csv_suite());
    srunner_add_suite(runner, output_suite());
    srunner_add_suite(runner, progress_suite());
    srunner_add_suite(runner, timeline_suite());
}
