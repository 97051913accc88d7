/* Records a timeline: one track for each engine of the chosen units, and one for their phases; arrows from a
 * send to its receive where both units are chosen; counters (models/system/report/counters.h). */
#ifndef PIMSIM_MODELS_SYSTEM_REPORT_RECORDER_H
#define PIMSIM_MODELS_SYSTEM_REPORT_RECORDER_H

#include "models/system/system.h"

struct pim_recorder;

/* Opens the timeline that `system->options` asks for and observes the array. PIM_BAD_INPUT for a wrong list
 * of units. */
enum pim_status pim_recorder_create(struct pim_system *system, struct pim_recorder **recorder,
                                    struct pim_error *error);

/* Reads the counters now; and how many ticks should pass between two such calls. */
enum pim_status pim_recorder_sample(struct pim_recorder *recorder, pim_time now, struct pim_error *error);
pim_time pim_recorder_period(const struct pim_recorder *recorder);

/* Writes the file; `left_out` is the number of slices beyond the size limit. */
enum pim_status pim_recorder_close(struct pim_recorder *recorder, uint64_t *left_out,
                                   struct pim_error *error);
void pim_recorder_abandon(struct pim_recorder *recorder); /* NULL is allowed */

#endif
