/*
 * Nodes: units with their engines, and what they share.
 *
 * A node is a unit (it fetches a program), its engines (matrix, vector, memory, send, receive), three SRAM
 * buffers, one memory port with a private bank, and a network interface. All nodes of an array share the
 * kernel, the network and the table of phases.
 *
 * Rules of a unit, in the order in which they apply (docs/models/node.md):
 *  1. Fetch: instructions are fetched in program order, without cost, while fewer than `window` are in flight
 *     (fetched since the oldest that is not complete). A phase mark or join is executed by the unit when
 *     everything before it is complete; it takes no time.
 *  2. Dispatch: a fetched instruction enters the queue of its engine at once.
 *  3. Start: the instruction at the head of a queue starts when the instructions it depends on are complete,
 *     its engine can take it, and what it needs is there: buffer space (load, matrix that opens an output),
 *     the announced receive (send). With in-order issue, also every earlier instruction must have started.
 *  4. An engine works from the first edge of its clock at or after that. Matrix and vector engines work one
 *     instruction at a time; the memory engine hands the next instruction to the port when the port has taken
 *     the whole of the one before; sends overlap by the packets that the interface can hold; up to
 *     `posted_receives` receives are open.
 *  5. Completion gives back buffer space and may start others in the same tick.
 *
 * Accounting invariants (checked in debug builds): for each class of engine busy + stalled + idle = total
 * time; the exclusive breakdown of a unit's time sums to its total; phases of a unit tile its time from its
 * first mark to its last. Space of a buffer is given back once: what instructions under way will give back is
 * held against what later ones want to.
 */
#ifndef PIMSIM_MODELS_NODE_NODE_H
#define PIMSIM_MODELS_NODE_NODE_H

#include "models/acu/acu.h"
#include "models/dram/bank.h"
#include "models/noc/noc.h"
#include "models/pe/buffer.h"
#include "models/pe/pe.h"
#include "models/unit/result.h"
#include "sim/kernel.h"
#include "sim/status.h"
#include "traces/instruction.h"
#include "traces/reader.h"

struct pim_node_configuration {
    uint32_t window; /* power of two */
    bool in_order;
    struct pim_pe_configuration pe;
    struct pim_acu_configuration acu;
    struct pim_bank_rules bank;
    uint64_t buffer_bytes[PIM_BUFFERS]; /* entry PIM_BUFFER_NONE is unused */
    uint32_t arbitration_bytes;
    uint32_t packet_bytes;
    uint32_t send_packets;
    uint32_t posted_receives;
    uint32_t receive_packets;
    uint32_t flit_bits;
    /* Network cycles: zero-load latency = fixed + routers * per_router + flits - 1. */
    uint64_t zero_load_fixed, zero_load_per_router;
    pim_time logic_period, network_period, memory_period; /* ticks */
};

struct pim_node;
struct pim_packet;

/* Messages of one kind (enum pim_message) whose last byte has left their node. */
struct pim_message_sum {
    uint64_t messages, bytes;
    pim_time time; /* from the start of each send to its end, ticks */
};

/* What all nodes share. */
struct pim_node_array {
    struct pim_kernel *kernel;
    struct pim_noc *noc;
    struct pim_node_configuration configuration;
    const struct pim_trace *trace;
    struct pim_node *nodes;
    uint32_t count;
    uint32_t running; /* units that have not finished their program */
    struct pim_phase_result *phases;
    uint32_t phase_count;
    struct pim_message_sum sent[PIM_MESSAGES]; /* of all nodes */
    struct pim_packet **packet_chunks;         /* records of packets, never moved */
    uint32_t packet_chunk_count;
    struct pim_packet *free_packets;
    uint32_t
        receive_queue_high_water; /* most packets a node held between their arrival and their memory write */
    pim_observer *observer;
    void *observer_context;
    struct pim_error *error; /* set by a handler that met bad input; the kernel is stopped then */
    pim_time finished_at;    /* end of the last phase of the last unit */
    pim_time time_last; /* a run that goes on after this tick is refused: sums over units would not fit */
    struct pim_pending_work pending_work;
};

/*
 * Makes `count` nodes that run the units of `trace` on `noc`, and schedules their first fetch at tick 0.
 * `noc` must have been created with the callbacks of pim_node_array_callbacks(). The trace must outlive the
 * array. `error` keeps the first error of a run.
 */
enum pim_status pim_node_array_initialize(struct pim_node_array *array, struct pim_kernel *kernel,
                                          const struct pim_node_configuration *configuration,
                                          const struct pim_trace *trace, struct pim_error *error);
void pim_node_array_terminate(struct pim_node_array *array);

/* The callbacks to give to pim_noc_create; `context` is the array. */
struct pim_noc_callbacks pim_node_array_callbacks(struct pim_node_array *array);

/* Whether a delivered packet carries payload (an announcement of a receive does not). */
bool pim_packet_is_payload(const struct pim_noc_delivery *delivery);

/* Instructions fetched so far by all units. */
uint64_t pim_node_array_instructions(const struct pim_node_array *array);

/* Tick up to which results account: the end of the last unit, or now while units still run. */
pim_time pim_node_array_end(const struct pim_node_array *array);

/*
 * Closes the phases that are open, as if they ended now: for results of a run that was stopped before its
 * end. The array must not run on after that. Without effect when every unit has finished.
 */
void pim_node_array_close(struct pim_node_array *array);

/* Brings the accounts of a unit up to pim_node_array_end() and writes its result. Debug builds check the
 * accounting invariants. */
void pim_node_result(struct pim_node_array *array, uint32_t unit, struct pim_unit_result *result);

#endif
