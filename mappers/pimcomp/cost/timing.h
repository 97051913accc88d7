/*
 * Estimated cycles of a schedule, by list scheduling: each instruction is put to the earliest cycle at which
 * what it waits for is complete. Of the instructions that come next in their cores, and of those that have
 * started and ask for what ends them, the first in time is taken first. The rules are those of
 * docs/models/core.md; what is simpler:
 *  1. All packets of a message but the last are written at once.
 *  2. A message passes the mesh as one worm. Each link of its way gives it a share of its cycles, as if all
 *     flits waited there; the slowest link sets when it is there. (Asynchronous messages are timed when their
 *     receive is the next one, links are told of them late, and serve whole messages, first come, first
 *     served.) What routers have no room for stays at the sender; virtual channels are never short. Routings
 *     with a choice among shortest ways go along x first; with detours every packet is a worm of its own, by
 *     the router that it draws. On other topologies than meshes and tori, and in an ideal network, nobody
 *     waits.
 *     Between chips every link is that of a switch.
 *  3. The room that asynchronous messages find at the receiver is never short, and its receives follow each
 *     other.
 *  4. Of programs with more instructions than are kept (timing.c) some are timed before all others are known:
 *     servers that cores share give them what is left then.
 *
 * All results are integers, equal on every machine.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_COST_TIMING_H
#define PIMSIM_MAPPERS_PIMCOMP_COST_TIMING_H

#include "mappers/pimcomp/representation/pimcomp.h"
#include "traces/file/writer.h"
#include "traces/instruction.h"

struct pim_core_timing;

/* For the programs of a mapping, which it needs no longer afterwards. NULL: no memory. */
struct pim_core_timing *pim_core_timing_create(const struct pim_core_mapping *mapping);
void pim_core_timing_destroy(struct pim_core_timing *timing);

/* The next instruction of a core: pim_program_observer of a struct pim_core_timing. */
void pim_core_timing_observe(void *timing, uint32_t core, const struct pim_instruction *instruction);

/* How many there were. */
uint64_t pim_core_timing_instructions(const struct pim_core_timing *timing);

/* Writes the estimate of every phase into the trace (NULL: into none) and adds up cycles and parts.
 * Phases tile the program: one lasts from the end of all before it to its own. PIM_NO_MEMORY. */
enum pim_status pim_core_timing_report(struct pim_core_timing *timing, struct pim_trace_writer *writer,
                                       uint64_t *cycles, uint64_t parts[PIM_ESTIMATE_PARTS],
                                       struct pim_error *error);

#endif
