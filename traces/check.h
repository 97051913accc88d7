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
 */
#ifndef PIMSIM_TRACES_CHECK_H
#define PIMSIM_TRACES_CHECK_H

#include "sim/status.h"
#include "traces/counts.h"
#include "traces/reader.h"

#include <stdbool.h>
#include <stdint.h>

enum { PIM_CHECK_WINDOW_MOST = 4096, PIM_CHECK_RECEIVES_MOST = 64 };

/* The hardware a trace is checked for. */
struct pim_check_limits {
    uint64_t buffer_bytes[PIM_BUFFERS]; /* capacity of each buffer, by enum pim_buffer; 0: unlimited; that of
                                           NONE is not used */
    uint64_t memory_bytes;              /* memory of a node: addresses lie below; 0: unlimited */
    uint32_t window;          /* fetches from the oldest that is not complete; 0: PIM_CHECK_WINDOW_MOST */
    uint32_t posted_receives; /* receives of a unit that may be open at a time; 0: 1 */
    uint32_t
        accumulator_bits; /* of an element of an output tile, 1 to 64; 0: output_bits of the instruction */
    bool in_order;
};

struct pim_check_result {
    struct pim_trace_counts counts; /* of all units, executed */
    uint64_t messages;              /* that met */
    uint64_t
        left_bytes[PIM_BUFFERS]; /* never given back, over all units: not wrong, but capacity that is lost */
};

/*
 * PIM_OK: the trace completes on hardware with these limits. PIM_DEADLOCK: it does not; the message has the
 * circle of instructions that wait for each other, or the one that waits for something that never comes.
 * PIM_BAD_INPUT: damage, messages of different size, addresses beyond memory, a tile larger than its buffer,
 * space given back that was not taken, two engines that take space of one buffer.
 *
 * Time is proportional to the instructions executed, memory to units * (a chunk + window +
 * PIM_DEPENDENCY_REACH).
 */
enum pim_status pim_trace_check(const struct pim_trace *trace, const struct pim_check_limits *limits,
                                struct pim_check_result *result, struct pim_error *error);

#endif
