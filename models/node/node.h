/*
 * Nodes: units with their engines, and what they share.
 *
 * A node is a unit (it fetches a program), its engines (matrix, vector, memory, send, receive), three SRAM
 * buffers, one memory port with a private bank, and a network interface. All nodes of an array share the
 * kernel, the network and the table of phases.
 *
 * The timing rules are in docs/models/node.md.
 *
 * Accounting invariants (checked in debug builds): for each class of engine busy + stalled + idle = total
 * time; the exclusive breakdown of a unit's time sums to its total; phases of a unit tile its time from its
 * first mark to its last. Space of a buffer is given back once: what instructions under way will give back is
 * held against what later ones want to.
 */
#ifndef PIMSIM_MODELS_NODE_NODE_H
#define PIMSIM_MODELS_NODE_NODE_H

#include "models/cost/acu.h"
#include "models/cost/bank.h"
#include "models/cost/pe.h"
#include "models/dram/standard/schema.h"
#include "models/noc/noc.h"
#include "models/pe/buffer.h"
#include "models/unit/unit.h"

/* Channels of a DRAM standard in place of private banks (shared_memory.c). */
struct pim_node_channels {
    uint32_t nodes;    /* that share a memory; 0: private banks */
    uint32_t accesses; /* of a node under way in the controllers; 0: as many as the queues take */
    struct pim_dram_configuration dram;
};

struct pim_node_configuration {
    uint32_t window; /* power of two */
    bool in_order;
    struct pim_pe_configuration pe;
    struct pim_acu_configuration acu;
    /* On channels: port_bytes, columns_per_row, capacity_bytes and column_step of a node's share. */
    struct pim_bank_rules bank;
    struct pim_node_channels channels;
    uint64_t buffer_bytes[PIM_BUFFERS]; /* entry PIM_BUFFER_NONE is unused */
    uint32_t arbitration_bytes;
    uint32_t packet_bytes;
    uint32_t send_packets;
    uint32_t posted_receives;
    uint32_t receive_packets;
    bool cut_through; /* messages that are passed on leave from the interface, not from the bank */
    struct pim_zero_load zero_load;
    pim_time logic_period, network_period, memory_period; /* ticks */
};

/* Messages of one kind (enum pim_message) whose last byte has left their node. */
struct pim_message_sum {
    uint64_t messages, bytes;
    pim_time time; /* from the start of each send to its end, ticks */
};

/* What all nodes share. */
struct pim_node_array {
    struct pim_units units; /* first */
    struct pim_node_configuration configuration;
    struct pim_message_sum sent[PIM_MESSAGES]; /* of all nodes */
    struct pim_slot *slots;                    /* of all nodes, `window` each */
    struct pim_pool packets;
    struct pim_dram_rules *channel_rules; /* of shared memories */
    struct pim_pool transfers;
    struct pim_dram_counters channel_counters; /* of all of them, at the end of a run */
    uint32_t
        receive_queue_high_water; /* most packets a node held between their arrival and their memory write */
};

/*
 * Makes a node for each unit of `trace` and schedules their first fetch at tick 0. PIM_BAD_INPUT when the
 * trace has array groups, which only cores have. The network is created with the callbacks of
 * pim_node_family and set in units.noc before the kernel runs. The trace must outlive the array; `error`
 * keeps the first error of a run. pim_node_family.terminate gives back what there is, also after a failure.
 */
enum pim_status pim_node_array_initialize(struct pim_node_array *array, struct pim_kernel *kernel,
                                          const struct pim_node_configuration *configuration,
                                          const struct pim_trace *trace, struct pim_error *error);

extern const struct pim_unit_family pim_node_family;

#endif
