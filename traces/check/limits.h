/* What a trace is checked for, and what a check finds. */
#ifndef PIMSIM_TRACES_CHECK_LIMITS_H
#define PIMSIM_TRACES_CHECK_LIMITS_H

#include "sim/status.h"
#include "traces/counts.h"
#include "traces/file/reader.h"

#include <stdbool.h>
#include <stdint.h>

enum { PIM_CHECK_WINDOW_MOST = 4096, PIM_CHECK_RECEIVES_MOST = 64 };

/* What the units of a trace are; ANY: what its instructions say. */
enum pim_check_kind { PIM_CHECK_ANY, PIM_CHECK_NODES, PIM_CHECK_CORES, PIM_CHECK_CHANNELS, PIM_CHECK_TILES };

/* The hardware a trace is checked for. */
struct pim_check_limits {
    enum pim_check_kind kind;
    uint64_t buffer_bytes[PIM_BUFFERS]; /* capacity of each buffer, by enum pim_buffer; 0: unlimited; that of
                                           NONE is not used */
    uint64_t memory_bytes;              /* memory of a node: addresses lie below; 0: unlimited */
    uint64_t local_bytes;               /* local memory of a core; 0: unlimited */
    uint64_t global_bytes;              /* global memory of cores; 0: unlimited */
    uint32_t window;          /* fetches from the oldest that is not complete; 0: PIM_CHECK_WINDOW_MOST */
    uint32_t posted_receives; /* receives of a unit that may be open at a time; 0: 1; cores have 1 */
    uint32_t
        accumulator_bits; /* of an element of an output tile, 1 to 64; 0: output_bits of the instruction */
    uint64_t tile_input_bits, tile_output_bits; /* buffers of a tile; 0: unlimited */
    bool in_order;
};

/* Of channels: receives are open as far as the window reaches. */
static inline struct pim_check_limits pim_check_limits_of_channels(uint32_t window)
{
    return (struct pim_check_limits){.kind = PIM_CHECK_CHANNELS,
                                     .window = window,
                                     .posted_receives =
                                         window < PIM_CHECK_RECEIVES_MOST ? window : PIM_CHECK_RECEIVES_MOST};
}

struct pim_check_result {
    enum pim_check_kind kind;       /* what the trace is for */
    struct pim_trace_counts counts; /* of all units, executed */
    uint64_t messages;              /* that met */
    uint64_t
        left_bytes[PIM_BUFFERS]; /* never given back, over all units: not wrong, but capacity that is lost */
    uint64_t local_bytes;        /* cores: end of the highest byte of a local memory that is used, */
    uint32_t local_unit;         /* the (first) unit of it, */
    uint64_t global_bytes;       /* and of the global memory */
};

#endif
