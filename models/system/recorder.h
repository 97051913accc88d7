/* Records a timeline: one track for each engine of the chosen units, and one for their phases. */
#ifndef PIMSIM_MODELS_SYSTEM_RECORDER_H
#define PIMSIM_MODELS_SYSTEM_RECORDER_H

#include "models/system/system.h"

struct pim_recorder;

/* Opens the timeline that `system->options` asks for and observes the array. PIM_BAD_INPUT for a wrong list
 * of units. */
enum pim_status pim_recorder_create(struct pim_system *system, struct pim_recorder **recorder,
                                    struct pim_error *error);

/* Writes the file; `left_out` is the number of slices beyond the size limit. */
enum pim_status pim_recorder_close(struct pim_recorder *recorder, uint64_t *left_out,
                                   struct pim_error *error);
void pim_recorder_abandon(struct pim_recorder *recorder); /* NULL is allowed */

#endif
