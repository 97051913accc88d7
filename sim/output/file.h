/* Files by name: whole, their first bytes, and whether two names are one file. */
#ifndef PIMSIM_SIM_OUTPUT_FILE_H
#define PIMSIM_SIM_OUTPUT_FILE_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads all of `path` into *text, which the caller frees; a NUL follows its *size bytes. `what` ("a
 * specification") is for the message when it has more than `limit` bytes. PIM_IO, PIM_BAD_INPUT,
 * PIM_NO_MEMORY; *text is NULL then.
 */
enum pim_status pim_file_read(const char *path, size_t limit, const char *what, char **text, size_t *size,
                              struct pim_error *error);

/* The first bytes of a file, `size` of them or as many as it has: *got. PIM_IO. */
enum pim_status pim_file_head(const char *path, size_t size, void *bytes, size_t *got,
                              struct pim_error *error);

/* Whether what is written to one name is found under the other: regular files are the same when device and
 * inode are, others, and those that are not there yet, when the folder and the name in it are. What goes to
 * /dev/null is found nowhere. */
bool pim_file_is_same(const char *one, const char *other);

#endif
