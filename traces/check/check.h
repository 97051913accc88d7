/*
 * Proves, without timing, that a trace can complete: every unit is executed with instructions that take no
 * time.
 *
 * What is held
 *  - A unit fetches in order; fetch i waits until everything up to fetch i - window is complete. Control
 *    instructions wait until everything is.
 *  - Each engine starts its instructions in order; matrix, vector, memory and send engine have one under
 *    way at a time, the receive engine up to `posted_receives`. With in_order, an instruction starts only
 *    after everything fetched before it has started.
 *  - An instruction starts when its dependencies are complete, and when there is the buffer space that it
 *    takes.
 *  - A send starts when the receive it meets is open (rendezvous); then both complete. The i-th send of a
 *    (source, destination, tag) meets the i-th receive.
 *
 * Why one execution is enough. Whatever can start stays able to start until it does: a queue has one head;
 * the window is used by the fetch alone; space of a buffer is taken by one engine between two joins
 * (invariant 7 of traces/instruction.h, checked here); an open receive meets one certain send, the first of
 * its triple. So two steps that are possible at once never disable each other, and all orders, hence all
 * timings, execute the same set of instructions. Hardware that is less strict (a second instruction of an
 * engine under way, messages that are buffered) starts things earlier and completes too.
 *
 * Giving back more space than is held is excluded for every order, not just for this one: an instruction that
 * gives back space must, through its dependencies, the order of the queues and the window, come after takers
 * of at least as much as all instructions up to it in the program give back.
 *
 * Cores with crossbars (docs/trace-format.md, "Local memory") have no buffer space. Instead
 *  - an instruction starts when every earlier one that touches the same bytes of the local memory (bounding
 *    ranges, one of the two writes) is complete;
 *  - with in_order, it starts when everything fetched before it is complete: engines of cores overlap only
 *    what cannot block;
 *  - messages meet as above with one open receive. Hardware that holds messages for receives it has not
 *    reached completes too, provided that a message whose receive is open passes those that are held.
 * These are waits for certain earlier instructions, as dependencies are, so one execution is enough here too.
 * What programs do to the local memories is checked before, unit by unit in program order
 * (traces/check/local.h). Beside the execution goes a check of races over the global memory
 * (traces/check/race.h).
 */
#ifndef PIMSIM_TRACES_CHECK_CHECK_H
#define PIMSIM_TRACES_CHECK_CHECK_H

#include "traces/check/limits.h"

/*
 * PIM_OK: the trace completes on hardware with these limits. PIM_DEADLOCK: it does not; the message has the
 * circle of instructions that wait for each other, or the one that waits for something that never comes.
 * PIM_BAD_INPUT: damage, messages of different size, addresses beyond memory, a tile larger than its buffer,
 * space given back that was not taken, two engines that take space of one buffer, instructions of nodes and
 * of cores in one trace, for cores what traces/check/local.h and traces/check/race.h list, and
 * for tiles what traces/check/tile.h does.
 *
 * Time is proportional to the instructions executed (for cores also to their pieces, and to 1/64 of their
 * bytes), memory to units * (a chunk + window + PIM_DEPENDENCY_REACH), and 1/8 of one local memory.
 */
enum pim_status pim_trace_check(const struct pim_trace *trace, const struct pim_check_limits *limits,
                                struct pim_check_result *result, struct pim_error *error);

#endif
