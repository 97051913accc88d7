#include "sim/output/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 16384 };

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
