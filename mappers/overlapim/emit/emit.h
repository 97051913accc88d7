/*
 * The trace of a plan: a program for every channel, row by row of every layer's schedule.
 *
 * A row (a step in lock step; transformed, a row of the sorted data spaces) receives what it needs and does
 * not have yet, distributes it to the operands' rows, multiplies, adds, sums between columns and banks,
 * transposes its outputs and sends what consumers wait for. What works on rows stands behind each other,
 * because the banks either compute or are read and written; sends do not hold up the next row, and
 * receives are posted as far ahead as the unit's window reaches. An instruction can name two of them: what
 * comes from more senders is moved in parts, each behind two, so that no sender waits for another (up to 16
 * of them, and two for each row that is moved: further ones wait for the first).
 *
 * A producer sends its consumers only at the rows they wait for. A layer with several producers whose program
 * is longer than the window takes only from the one that ends last row by row, from the others when they have
 * ended. Where units wait for each other even so - layers take over the channels of others in turn, and two
 * layers may read from the same two - the trace is written once more, and layers hand over at their ends
 * there (ends.h).
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_EMIT_EMIT_H
#define PIMSIM_MAPPERS_OVERLAPIM_EMIT_EMIT_H

#include "mappers/overlapim/plan.h"
#include "traces/file/writer.h"

enum pim_status pim_overlapim_emit(const struct pim_overlapim_plan *plan, struct pim_trace_writer *writer,
                                   struct pim_error *error);

/* PIM_BAD_INPUT names a layer whose words the rows of a bank do not hold, where they are real. */
enum pim_status pim_overlapim_rows_fit(const struct pim_overlapim_plan *plan, struct pim_error *error);

#endif
