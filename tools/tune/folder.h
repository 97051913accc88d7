/*
 * A folder for the traces of a search, in TMPDIR. It is held by a lock while its process lives: a folder
 * whose process was killed is removed by the next search that makes one there.
 */
#ifndef PIMSIM_TOOLS_TUNE_FOLDER_H
#define PIMSIM_TOOLS_TUNE_FOLDER_H

#include "sim/status.h"

enum { PIM_TUNE_FOLDER_BYTES = 4096 };

struct pim_tune_folder {
    char path[PIM_TUNE_FOLDER_BYTES]; /* "": there is none */
    int lock;
};

enum pim_status pim_tune_folder_initialize(struct pim_tune_folder *folder, struct pim_error *error);
/* Removes it; one that is zero, or was not made, is left alone. */
void pim_tune_folder_terminate(struct pim_tune_folder *folder);

#endif
