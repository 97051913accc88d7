#include "tests/unit/core/support.h"

#include "models/core/cores_internal.h"

static const char *const base[] = {
    "array.kind=core",
    "core.local_bytes_per_cycle=16",
    "core.local_read_cycles=2",
    "core.local_write_cycles=3",
    "core.local_pipelined=false",
    "core.vector_lanes=8",
    "core.vector_cycles=4",
    "crossbar.count_x=8",
    "crossbar.count_y=1",
    "crossbar.rows=4",
    "crossbar.columns=4",
    "crossbar.cell_bits=16",
    "crossbar.weight_slicing=arrays",
    "crossbar.input_bits=2",
    "crossbar.pipelined=false",
    "crossbar.dac_cycles=2",
    "crossbar.read_ns=2.5",
    "crossbar.sample_hold_cycles=1",
    "crossbar.adc_count=2",
    "crossbar.adc_cycles=1",
    "crossbar.shift_add_cycles=1",
    "crossbar.output_buffer_cycles=0",
    "global_memory.bytes_per_cycle=16",
    "global_memory.read_cycles=10",
    "global_memory.write_cycles=5",
    NULL,
};

static uint64_t sequence(const struct pim_instruction *instruction)
{
    const char *bytes = (const char *)instruction - offsetof(struct pim_core_slot, instruction);
    return ((const struct pim_core_slot *)(const void *)bytes)->sequence;
}

const struct run_family run_family = {.base = base, .sequence = sequence};
