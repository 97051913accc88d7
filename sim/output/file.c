#include "sim/output/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_BYTES = 16384, PATH_BYTES = 4096 };

/* Reads until the file ends or holds more than `limit` bytes. */
static enum pim_status read_all(FILE *file, const char *path, size_t limit, char **text, size_t *size,
                                struct pim_error *error)
{
    size_t capacity = 0;
    while (*size <= limit) {
        if (capacity - *size < 2) {
            capacity = capacity > 0 ? 2 * capacity : FIRST_BYTES;
            char *grown = realloc(*text, capacity);
            if (!grown)
                return pim_fail(error, PIM_NO_MEMORY, "out of memory for %s", path);
            *text = grown;
        }
        size_t got = fread(*text + *size, 1, capacity - *size - 1, file);
        *size += got;
        (*text)[*size] = '\0';
        if (got == 0)
            break;
    }
    return ferror(file) ? pim_fail(error, PIM_IO, "%s: cannot read: %s", path, strerror(errno)) : PIM_OK;
}

enum pim_status pim_file_read(const char *path, size_t limit, const char *what, char **text, size_t *size,
                              struct pim_error *error)
{
    *text = NULL;
    *size = 0;
    FILE *file = fopen(path, "rb");
    if (!file)
        return pim_fail(error, PIM_IO, "%s: cannot open: %s", path, strerror(errno));
    enum pim_status status = read_all(file, path, limit, text, size, error);
    (void)fclose(file);
    if (status == PIM_OK && *size > limit)
        status = pim_fail(error, PIM_BAD_INPUT, "%s: too large: %s has at most %zu bytes", path, what, limit);
    if (status != PIM_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

enum pim_status pim_file_head(const char *path, size_t size, void *bytes, size_t *got,
                              struct pim_error *error)
{
    *got = 0;
    FILE *file = fopen(path, "rb");
    if (!file)
        return pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
    *got = fread(bytes, 1, size, file);
    const int reason = ferror(file) ? errno : 0;
    (void)fclose(file);
    return reason ? pim_fail(error, PIM_IO, "%s: %s", path, strerror(reason)) : PIM_OK;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The folder of a path; `*name` is what stands behind it. */
static bool find_folder(const char *path, struct stat *folder, const char **name)
{
    char text[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    const int length = slash ? snprintf(text, sizeof text, "%.*s", (int)(*name - path), path)
                             : snprintf(text, sizeof text, ".");
    return length < (int)sizeof text && stat(text, folder) == 0;
}

bool pim_file_is_same(const char *one, const char *other)
{
    struct stat a, b;
    const char *name_a, *name_b;
    if (strcmp(one, "/dev/null") == 0)
        return false;
    if (stat(one, &a) == 0 && S_ISREG(a.st_mode) && stat(other, &b) == 0 && S_ISREG(b.st_mode))
        return is_same(&a, &b);
    if (!find_folder(one, &a, &name_a) || !find_folder(other, &b, &name_b))
        return strcmp(one, other) == 0;
    return strcmp(name_a, name_b) == 0 && is_same(&a, &b);
}
