/*
 * Cores with crossbars: units that run programs over a local memory of their own, a global memory for each
 * chip, and an interconnect between cores (the architecture template of PIMCOMP, section III).
 *
 * Times inside are cycles of the logic clock. The timing rules, in the order in which hardware applies them,
 * are in docs/models/core.md; files name them by their numbers there. With `nn` set they are those of the
 * simulator pimsim-nn: quirks.c.
 *
 * Accounting invariants (checked in debug builds): for each class of engine busy + stalled + idle = total
 * time; shares of a unit sum to its total.
 */
#ifndef PIMSIM_MODELS_CORE_CORES_H
#define PIMSIM_MODELS_CORE_CORES_H

#include "models/cost/bank.h"
#include "models/cost/crossbar.h"
#include "models/dram/standard/schema.h"
#include "models/unit/unit.h"

enum pim_interconnect { PIM_INTERCONNECT_MESH, PIM_INTERCONNECT_BUS, PIM_INTERCONNECT_SHARED_MEMORY };

/* A port or server that moves beats: rules 4 and 8. */
struct pim_beats {
    uint32_t width; /* bytes of a beat, at least 1 */
    uint32_t read_cycles, write_cycles;
    bool pipelined;
};

struct pim_cores_configuration {
    uint32_t width, height;           /* cores, all chips together */
    uint32_t chip_width, chip_height; /* cores of a chip; they divide the above */
    uint32_t window;
    bool in_order, synchronous;
    bool nn; /* timing of pimsim-nn, with the cycles of a flit: between cores, for each hop, to the memory */
    uint32_t nn_flit_cycles, nn_hop_cycles, nn_memory_cycles;
    uint64_t receive_bytes;
    uint64_t local_bytes, global_bytes; /* capacities */
    struct pim_beats local, global;
    uint32_t vector_elements; /* of all units, in a cycle */
    uint32_t vector_cycles;
    bool vector_pipelined;
    uint32_t vector_operations; /* a bit for each enum pim_local */
    struct pim_crossbar_configuration crossbar;
    enum pim_interconnect interconnect;
    uint32_t interconnect_bytes; /* of a cycle: bus, shared memory */
    uint32_t packet_bytes;
    bool chip_grid;                   /* links between neighbouring chips; otherwise a switch joins them */
    uint32_t link_bytes, link_cycles; /* between chips */
    bool on_channels;                 /* the global memory is on channels of `dram`: memory_channels.c */
    struct pim_dram_configuration dram;
    struct pim_zero_load zero_load;
    pim_time logic_period, memory_period; /* ticks */
};

struct pim_cores {
    struct pim_units units; /* first */
    struct pim_cores_configuration configuration;
    struct pim_crossbar_cost cost;
    struct pim_core_chip *chips;
    uint32_t chip_count, chips_across;
    struct pim_core_memory *memory; /* on channels; or NULL: a server for each chip */
    struct pim_pool messages, packets;
    uint64_t cycle_last; /* a run that goes on after this cycle is refused */
    uint64_t horizon;    /* no core runs ahead of the kernel beyond this cycle; see unit.c */
};

/*
 * Makes a core for each unit of `trace` and schedules their first fetch at tick 0. PIM_BAD_INPUT when
 * pim_cores_check() finds that arrays are missing. With a mesh the owner creates a network with the callbacks
 * of pim_core_family and sets units.noc before the kernel runs. The trace must outlive the cores; `error`
 * keeps the first error of a run. pim_core_family.terminate gives back what there is, also after a failure.
 */
enum pim_status pim_cores_initialize(struct pim_cores *cores, struct pim_kernel *kernel,
                                     const struct pim_cores_configuration *configuration,
                                     const struct pim_trace *trace, struct pim_error *error);

/* The array groups of a trace, without running it: PIM_BAD_INPUT when a core holds more arrays than it has,
 * or a group more rows or columns of weights than its arrays. */
enum pim_status pim_cores_check(const struct pim_crossbar_configuration *crossbar,
                                const struct pim_trace *trace, struct pim_error *error);

/* Ends the channels of the global memory at tick `end`, once; what they counted. */
void pim_core_memory_close(struct pim_cores *cores, pim_time end, struct pim_bank_counters *counters,
                           struct pim_dram_counters *all);

extern const struct pim_unit_family pim_core_family;

#endif
