/*
 * The counters of a timeline: figures of the hardware and of the chosen units over time.
 *
 * Of the whole hardware: the use of its links, in the mean and of the busiest, and packets on their way. Of a
 * unit: what its family measures (struct pim_gauge), and how many of its memory instructions and messages are
 * under way, which follow from the slices and are exact in every family.
 *
 * Figures of an interval stand from its beginning to its end. Nothing is scheduled for them: they are read
 * between the slices of time in which the simulation runs (models/system/system.c), so that a run with a
 * timeline is the same as without.
 */
#ifndef PIMSIM_MODELS_SYSTEM_REPORT_COUNTERS_H
#define PIMSIM_MODELS_SYSTEM_REPORT_COUNTERS_H

#include "models/system/system.h"

struct pim_counters;

/* `begin` to `end`: the ticks that the timeline covers. NULL: out of memory. */
struct pim_counters *pim_counters_create(struct pim_system *system, struct pim_timeline *timeline,
                                         pim_time begin, pim_time end);

/* A unit whose counters stand under the track `parent`. */
void pim_counters_add_unit(struct pim_counters *counters, uint32_t unit, uint32_t parent);

/* An instruction of a unit that was added: under way from `start` to `end`. */
void pim_counters_observe(struct pim_counters *counters, uint32_t unit,
                          const struct pim_instruction *instruction, pim_time start, pim_time end);

/* Reads the figures of the interval that ends now. */
enum pim_status pim_counters_sample(struct pim_counters *counters, pim_time now, struct pim_error *error);

/* Ticks between two samples. */
pim_time pim_counters_period(const struct pim_counters *counters);

/* Writes what is under way over time; after the last slice. */
void pim_counters_finish(struct pim_counters *counters);
void pim_counters_destroy(struct pim_counters *counters); /* NULL is allowed */

#endif
