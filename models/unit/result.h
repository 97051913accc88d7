/*
 * What a unit accounts, nodes and cores alike: classes of engines, causes of waiting, shares of time, actions
 * that energy follows from, and results of phases and units.
 *
 * Cores with crossbars fill the same classes: PIM_CLASS_PE is their matrix engine (crossbars), PIM_CLASS_ACU
 * the vector function units, PIM_CLASS_DRAM loads, stores, copies and writes, PIM_CLASS_NOC messages. Their
 * bank and buffer figures are 0, but for buffer_high_water[PIM_BUFFER_INPUT]: the local memory in bytes up to
 * the highest address used.
 */
#ifndef PIMSIM_MODELS_UNIT_RESULT_H
#define PIMSIM_MODELS_UNIT_RESULT_H

#include "models/cost/bank.h"
#include "sim/kernel/kernel.h"
#include "traces/instruction.h"

/* Classes of engines in results: the network class is send and receive together. */
enum pim_engine_class { PIM_CLASS_PE, PIM_CLASS_ACU, PIM_CLASS_DRAM, PIM_CLASS_NOC, PIM_CLASSES };

/* Why the instruction at the head of an engine's queue has not started. X(name, text) */
#define PIM_WAIT_MAP(X)                                                                                      \
    X(PIM_WAIT_MATRIX, "matrix")   /* depends on a matrix instruction that is not complete */                \
    X(PIM_WAIT_VECTOR, "vector")   /* ... on a vector instruction */                                         \
    X(PIM_WAIT_MEMORY, "memory")   /* ... on a load or store */                                              \
    X(PIM_WAIT_NETWORK, "network") /* ... on a send or receive */                                            \
    X(PIM_WAIT_BUFFER, "buffer")   /* no space in an SRAM buffer */                                          \
    X(PIM_WAIT_PEER, "peer")       /* the receiver has not announced its receive */                          \
    X(PIM_WAIT_ISSUE, "issue")     /* in-order issue: an earlier instruction has not started */

enum pim_wait {
#define X(name, text) name,
    PIM_WAIT_MAP(X)
#undef X
        PIM_WAITS
};

/*
 * Exclusive breakdown of a unit's time: each instant belongs to the first of these that holds. So the matrix
 * share is all the time the PE array works, the vector share the time the ACU works while the array does not,
 * and so on; waiting is what is left.
 */
enum pim_share {
    PIM_SHARE_MATRIX,
    PIM_SHARE_VECTOR,
    PIM_SHARE_MEMORY,
    PIM_SHARE_NETWORK,
    PIM_SHARE_WAITING,
    PIM_SHARES
};

/* What engines did; energy follows from it (models/energy). Bits and counts, never floating point. */
struct pim_actions {
    uint64_t macs;
    uint64_t sram_bits;
    uint64_t acu_operations;
    uint64_t dram_bits;
    uint64_t dram_activates; /* rows opened: of all banks that work in lock-step */
    uint64_t
        crossbar_steps;    /* NORs, SETs and RESETs of banks that are crossbars: in all their columns each */
    uint64_t noc_bit_hops; /* flits x bits of a flit x routers traversed, announcements included */
    /* of cores with crossbars */
    uint64_t crossbar_mvms;  /* MVMs times the physical arrays that they keep busy */
    uint64_t crossbar_cells; /* written with a weight, or a slice of one */
    uint64_t vector_operations;
    uint64_t local_bits, global_bits;           /* read or written */
    uint64_t interconnect_bits, chip_link_bits; /* through bus or shared memory; from chip to chip */
    uint64_t interconnect_flits;                /* core.timing pimsim_nn: requests included */
    uint64_t clocked_ticks;                     /* in which any engine of a core works */
};

#define PIM_NO_WORK UINT64_MAX

/* One phase, summed over the units that run it. Times in ticks. */
struct pim_phase_result {
    pim_time start, end; /* of the first unit to enter it and the last to leave it */
    pim_time work_start; /* when an engine first worked in it; PIM_NO_WORK: none did */
    uint32_t units;      /* that ran it (a unit that enters it twice counts twice) */
    pim_time time_sum, time_maximum;
    pim_time share[PIM_SHARES];
    pim_time last_time,
        last_share[PIM_SHARES]; /* of the unit that left the phase last: about the critical path */
    pim_time wait[PIM_WAITS];   /* engine time stalled, by cause, all engines */
    pim_time noc_contention;    /* sum over packets of latency since injection beyond the zero-load latency */
    pim_time dram_row, dram_refresh, dram_turnaround; /* port time lost to rows, refresh, bus turnaround */
    uint64_t bytes_loaded, bytes_stored, bytes_sent, bytes_received;
    struct pim_actions actions;
};

/* Called when the end of an instruction of an observed unit is known (`end` may be ahead of now), or a phase
 * ends (`instruction` NULL): for timelines. */
typedef void pim_observer(void *context, uint32_t unit, const struct pim_instruction *instruction,
                          uint32_t phase, pim_time start, pim_time end);

/* Results of one unit. Times in ticks. */
struct pim_unit_result {
    uint64_t instructions;
    pim_time share[PIM_SHARES];
    pim_time busy[PIM_CLASSES], stall[PIM_CLASSES], idle[PIM_CLASSES];
    pim_time wait[PIM_ENGINES][PIM_WAITS];
    uint64_t bytes_loaded, bytes_stored, bytes_sent, bytes_received;
    struct pim_actions actions;
    uint64_t buffer_high_water[PIM_BUFFERS]; /* bytes */
    struct pim_bank_counters bank; /* of the bursts handed to the bank so far, refreshes up to the end */
    pim_time finished_at;
};

/* Names for reports. */
const char *pim_wait_name(unsigned wait);
const char *pim_share_name(unsigned share);
const char *pim_class_name(unsigned class);

#endif
