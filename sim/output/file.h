/* Small files of text, whole. */
#ifndef PIMSIM_SIM_OUTPUT_FILE_H
#define PIMSIM_SIM_OUTPUT_FILE_H

#include "sim/status.h"

#include <stddef.h>

/*
 * Reads all of `path` into *text, which the caller frees; a NUL follows its *size bytes. `what` ("a
 * specification") is for the message when it has more than `limit` bytes. PIM_IO, PIM_BAD_INPUT,
 * PIM_NO_MEMORY; *text is NULL then.
 */
enum pim_status pim_file_read(const char *path, size_t limit, const char *what, char **text, size_t *size,
                              struct pim_error *error);

#endif
