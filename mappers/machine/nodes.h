/* Nodes of DRAM-PIM as mappers see them, read from a hardware configuration. */
#ifndef PIMSIM_MAPPERS_MACHINE_NODES_H
#define PIMSIM_MAPPERS_MACHINE_NODES_H

#include "mappers/machine/network.h"
#include "models/cost/acu.h"
#include "models/cost/bank_rules.h"
#include "models/cost/energy.h"
#include "models/cost/pe.h"
#include "sim/configuration/configuration.h"

#include <stdbool.h>
#include <stdint.h>

/* The hardware as closed forms see it. */
struct pim_estimate_hardware {
    uint32_t width, height; /* nodes */
    uint64_t logic_khz, network_khz, memory_khz;
    bool systolic;                /* else vector-MAC */
    bool weights_wait;            /* vector-MAC: weights of a fold can take longer than its vectors */
    uint32_t pe_rows, pe_columns; /* vector-MAC: input and output channels worked in a cycle */
    uint32_t pe_pace_cycles,
        pe_pace_rows;  /* buffer ports: cycles for so many rows of a fold; 0, 0: no limit */
    uint32_t pe_depth; /* cycles added to a matrix instruction */
    struct pim_pe_configuration pe;
    struct pim_acu_configuration acu;
    uint64_t input_bytes, weight_bytes, output_bytes; /* SRAM buffers */
    uint32_t accumulator_bytes;
    uint32_t acu_elements, acu_depth;
    uint64_t memory_bytes;  /* of a node */
    uint32_t port_bytes;    /* of a column access of all banks */
    uint32_t column_cycles; /* memory cycles of a column access in an open row */
    uint64_t row_bytes;     /* of all banks in lock-step */
    uint64_t turn_bytes;    /* of one client at the port before the next has its turn; 0: a row */
    /* Memory cycles lost between the last read (write) of a row and the first access of the next. */
    uint32_t read_row_cycles, write_row_cycles;
    uint32_t access_cycles;  /* memory cycles from a request to its first data, row closed */
    uint32_t latency_cycles; /* the same, row open */
    uint32_t turn_cycles;    /* memory cycles lost when the port turns from reading to writing and back */
    uint32_t refresh_cycles, refresh_interval; /* memory cycles; interval 0: no refresh */
    uint32_t flit_bytes;
    struct pim_machine_network network; /* in its cycles */
    uint32_t window;                    /* instructions of a unit in flight, at most */
    bool in_order;                      /* none starts before those before it */
    uint32_t packet_bytes, send_packets, receive_packets, posted_receives;
    bool cut_through;      /* what came in is passed on from the network interface, not from the bank */
    uint32_t buffer_flits; /* of a virtual channel of a router */
    uint32_t banks;        /* in lock-step: a row is opened in each */
    /* Banks that take turns row by row (0 is 1); memory cycles that columns of one must take for the row of
       the next to open behind them, and from opening a row to opening the next of the same bank. */
    uint32_t interleaved, row_ahead_cycles, bank_cycles;
    struct pim_bank_rules bank; /* all of the memory port, where closed forms are not enough */
    struct pim_energy_configuration energy;
};

/* Reads the keys of nodes from a complete configuration; those of banks of their own (pim_cost_check_mapped).
   Only nodes have banks: of other hardware what they say is 0, and no key of theirs is in the way.
   PIM_BAD_INPUT names the key and its place. */
enum pim_status pim_machine_nodes_read(const struct pim_configuration *configuration,
                                       const struct pim_machine_network *network,
                                       struct pim_estimate_hardware *nodes, struct pim_error *error);

/* For mappers onto nodes. PIM_BAD_INPUT when the hardware is of another kind: its keys of nodes are defaults.
   NULL is right: nodes that a program describes without a configuration. */
enum pim_status pim_machine_nodes_check(const struct pim_configuration *configuration,
                                        struct pim_error *error);

#endif
