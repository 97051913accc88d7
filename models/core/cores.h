/*
 * Cores with crossbars: units that run programs over a local memory of their own, a global memory for each
 * chip, and an interconnect between cores (the architecture template of PIMCOMP, section III).
 *
 * Times inside are cycles of the logic clock. Rules in the order in which hardware applies them; the page is
 * docs/models/core.md:
 *  1. Fetch: in program order and without cost, while fewer than `window` instructions are in flight (fetched
 *     since the oldest that is not complete). A phase mark or join is executed when everything before it is
 *     complete; it takes no time.
 *  2. Start: the first instruction of an engine's queue starts when no earlier instruction in flight
 *     conflicts with it in the local memory (byte ranges: read after write, write after read, write after
 *     write; a list of pieces counts as its bounding range), the instructions that it names as dependencies
 *     are complete, and its engine can take it. With in-order issue also every earlier instruction of other
 *     engines must be complete. An instruction takes a cycle at least.
 *  3. Local memory: one port; a request of b bytes is ceil(b / width) beats and is served in the order of
 *     requests (of one cycle: of instructions under way in program order, then of those that start, matrix,
 *     vector, memory, send, receive). Pipelined, it holds the port a cycle a beat and ends
 *     `cycles` - 1 after its last one; else it holds the port beats x cycles and ends with that.
 *  4. Matrix: an MVM asks for its input when it starts, works models/crossbar's cycles, then asks for the
 *     write of its output. Its array group takes the next one when that is done; other groups work beside it.
 *  5. Vector: operands are read one after the other, then the latency and a cycle for every `vector_elements`
 *     elements (not pipelined: the latency for each of these beats), then the result is written. One
 *     instruction at a time.
 *  6. Memory: a load asks the global memory when it starts and writes what comes back; the engine takes the
 *     next instruction a cycle later. A store reads, then asks; the engine takes the next one when the read
 *     is done. Copies and writes use the port alone and keep the engine to their end; the write of a copy is
 *     reserved together with its read.
 *  7. Global memory: one server a chip, in the order of requests, of one cycle by core number; a piece is
 *     ceil(bytes / width) beats, pipelined or not as in rule 3, a cycle at least.
 *  8. Messages: messages.c; between chips: chips.c. Phases and accounts: as for nodes (models/unit/result.h).
 *
 * Accounting invariants (checked in debug builds): for each class of engine busy + stalled + idle = total
 * time; shares of a unit sum to its total.
 *
 * With `nn` set the rules are those of the simulator pimsim-nn: quirks.c.
 */
#ifndef PIMSIM_MODELS_CORE_CORES_H
#define PIMSIM_MODELS_CORE_CORES_H

#include "models/crossbar/crossbar.h"
#include "models/noc/noc.h"
#include "models/unit/result.h"
#include "sim/kernel.h"
#include "sim/status.h"
#include "traces/reader.h"

enum pim_interconnect { PIM_INTERCONNECT_MESH, PIM_INTERCONNECT_BUS, PIM_INTERCONNECT_SHARED_MEMORY };

/* A port or server that moves beats: rule 3. */
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
    uint32_t packet_bytes, flit_bits;
    bool chip_grid;                   /* links between neighbouring chips; otherwise a switch joins them */
    uint32_t link_bytes, link_cycles; /* between chips */
    /* Network cycles: zero-load latency = fixed + routers * per_router + flits - 1. */
    uint64_t zero_load_fixed, zero_load_per_router;
    pim_time logic_period, network_period; /* ticks */
};

struct pim_core;
struct pim_core_chip;
struct pim_core_pool;

struct pim_cores {
    struct pim_kernel *kernel;
    struct pim_noc *noc; /* set by the owner after creating it; unused without a mesh */
    struct pim_cores_configuration configuration;
    struct pim_crossbar_cost cost;
    const struct pim_trace *trace;
    struct pim_core *cores;
    uint32_t count;
    uint32_t running; /* cores that have not finished their program */
    struct pim_core_chip *chips;
    uint32_t chip_count, chips_across;
    struct pim_phase_result *phases;
    uint32_t phase_count;
    struct pim_phase_result outside; /* takes what is done outside of any phase */
    struct pim_core_pool *pool;      /* records of messages and packets */
    pim_observer *observer;
    void *observer_context;
    struct pim_error *error; /* set by a handler that met bad input; the kernel is stopped then */
    uint64_t finished_at;    /* cycle of the end of the last phase of the last core */
    uint64_t cycle_last;     /* a run that goes on after this cycle is refused */
    uint64_t horizon;        /* no core runs ahead of the kernel beyond this cycle; see unit.c */
    struct pim_pending_work pending_work;
};

/*
 * Makes a core for each unit of `trace` and schedules their first fetch at tick 0. PIM_BAD_INPUT when a core
 * holds more arrays than it has. With a mesh the owner creates a network with pim_cores_callbacks() and sets
 * `noc` before the kernel runs. The trace must outlive the cores; `error` keeps the first error of a run.
 */
enum pim_status pim_cores_initialize(struct pim_cores *cores, struct pim_kernel *kernel,
                                     const struct pim_cores_configuration *configuration,
                                     const struct pim_trace *trace, struct pim_error *error);
/* Before the run: it is refused when it goes on after tick `last`, if that is earlier than what the cores
 * allow by themselves; and it may be stopped at cycle `until`. */
void pim_cores_limit(struct pim_cores *cores, pim_time last, uint64_t until);

void pim_cores_terminate(struct pim_cores *cores); /* also one that is all zero */

/* Callbacks for pim_noc_create; `context` is the cores. */
struct pim_noc_callbacks pim_cores_callbacks(struct pim_cores *cores);

/* Instructions fetched so far by all cores. */
uint64_t pim_cores_instructions(const struct pim_cores *cores);

/* Tick up to which results account: the end of the last core, or now while cores still run. */
pim_time pim_cores_end(const struct pim_cores *cores);

/* Closes the phases that are open, as if they ended now; the cores must not run on after that. */
void pim_cores_close(struct pim_cores *cores);

/* Writes the result of a core; after a run. */
void pim_cores_result(struct pim_cores *cores, uint32_t core, struct pim_unit_result *result);

#endif
