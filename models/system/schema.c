/*
 * The table behind `pim_hardware_schema`; models/system/read.c turns the values into the models' own
 * structs.
 */
#include "models/system/schema.h"

#include "models/cost/bank_keys.h"
#include "models/cost/read.h"
#include "models/dram/standard/schema.h"
#include "models/system/hardware/core_keys.h"
#include "models/system/hardware/level_keys.h"
#include "models/system/hardware/noc_keys.h"
#include "models/system/hardware/tile_keys.h"

#define TIME_IN_NS(name, fallback, most_ns, most_cycles, text)                                               \
    PIM_KEY_OF_REAL("dram." #name "_ns", fallback, 0, most_ns, "ns", text),
#define TIME_IN_CYCLES(name, fallback, most_ns, most_cycles, text)                                           \
    PIM_KEY_OF_INTEGER("dram." #name, "", 0, most_cycles, "cycles",                                          \
                       "In place of dram." #name "_ns, in cycles of clock.memory_khz. " text),

static const struct pim_key keys[] = {
    PIM_KEY_OF_TEXT("name", "\"unnamed\"", "Name of the hardware, for people."),

    PIM_KEY_OF_CHOICE("array.kind", "node", "node|core|channel|tile",
                      "node: units with PE array, ACU and a DRAM bank. core: cores with crossbars, a local "
                      "memory that programs address, and a global memory; keys chips.*, core.*, crossbar.*, "
                      "global_memory.*, interconnect.*, noc.* and energy.* describe them. "
                      "channel: channels of a memory whose banks compute; keys levels.* describe them, and a "
                      "row of the array is a stack. tile: tiles of crossbars on a network whose transfers "
                      "conflict; keys tile.* describe both."),
    PIM_KEY_OF_INTEGER("array.width", NULL, 1, 256, "nodes", "Nodes in a row of the node array."),
    PIM_KEY_OF_INTEGER("array.height", NULL, 1, 256, "nodes", "Rows of the node array."),
    PIM_CHIP_KEYS,

    PIM_LEVEL_KEYS,
    PIM_TILE_KEYS,

    PIM_KEY_OF_INTEGER("clock.logic_khz", "400000", 1, 100000000, "kHz",
                       "Clock of units, PE array and ACU. Reported cycles are cycles of this clock."),
    PIM_KEY_OF_INTEGER("clock.network_khz", "400000", 1, 100000000, "kHz",
                       "Clock of routers, links and network interfaces."),
    PIM_KEY_OF_INTEGER("clock.memory_khz", "400000", 1, 10000000, "kHz",
                       "Clock of the DRAM bank and its port."),

    PIM_KEY_OF_INTEGER(
        "unit.window", "64", 4, 4096, "instructions",
        "Instructions of a unit in flight: fetched and not yet complete. A power of two. Not of "
        "tiles, which fetch up to their next step."),
    PIM_KEY_OF_CHOICE("unit.issue", "out_of_order", "in_order|out_of_order",
                      "in_order: an instruction starts only after all earlier ones have started. "
                      "out_of_order: each engine works its own queue."),

    PIM_KEY_OF_CHOICE(
        "pe.style", "vector_mac", "vector_mac|output_stationary|weight_stationary|input_stationary",
        "vector_mac is the NVDLA-style array of rows x columns multipliers; the others are systolic."),
    PIM_KEY_OF_INTEGER("pe.rows", "8", 1, 1024, "PEs",
                       "Rows of the array; for vector_mac the input channels worked in a cycle (atomic C)."),
    PIM_KEY_OF_INTEGER(
        "pe.columns", "8", 1, 1024, "PEs",
        "Columns of the array; for vector_mac the output channels worked in a cycle (atomic K)."),
    PIM_KEY_OF_INTEGER("pe.pipeline_depth", "8", 0, 1024, "cycles",
                       "Cycles added once to each matrix instruction, beside the skew of systolic styles."),
    PIM_KEY_OF_BOOLEAN("pe.double_buffered", "true",
                       "The next stationary operands are loaded into shadow registers while the array works "
                       "(not for output_stationary)."),
    PIM_KEY_OF_CHOICE("pe.fold", "trimmed", "padded|trimmed",
                      "Systolic: a partial fold costs as much as a full one (padded), or only its own rows "
                      "and columns (trimmed)."),
    PIM_KEY_OF_CHOICE(
        "pe.weight_load", "hidden", "hidden|kernel_per_cycle",
        "vector_mac: weights are swapped without cost, or one kernel slice a cycle into shadow registers."),
    PIM_KEY_OF_INTEGER("pe.input_port_bytes", "8", 0, 65536, "bytes/cycle",
                       "Width of the input buffer's port to the array; 0 is unlimited."),
    PIM_KEY_OF_INTEGER("pe.weight_port_bytes", "64", 0, 65536, "bytes/cycle",
                       "Width of the weight buffer's port to the array; 0 is unlimited."),
    PIM_KEY_OF_INTEGER("pe.output_port_bytes", "64", 0, 65536, "bytes/cycle",
                       "Width of the output buffer's port (partial sums in and out); 0 is unlimited."),
    PIM_KEY_OF_INTEGER("pe.accumulator_bits", "32", 8, 64, "bits", "Width of a partial sum."),

    PIM_KEY_OF_INTEGER("buffers.input_bytes", "16384", 1, 1073741824, "bytes",
                       "Capacity of the input SRAM buffer of a node."),
    PIM_KEY_OF_INTEGER("buffers.weight_bytes", "16384", 1, 1073741824, "bytes",
                       "Capacity of the weight SRAM buffer of a node."),
    PIM_KEY_OF_INTEGER("buffers.output_bytes", "16384", 1, 1073741824, "bytes",
                       "Capacity of the output SRAM buffer of a node (partial sums)."),

    PIM_KEY_OF_INTEGER("acu.elements_per_cycle", "8", 1, 65536, "elements/cycle",
                       "Elements that the auxiliary compute unit takes in a cycle and pass."),
    PIM_KEY_OF_INTEGER(
        "acu.pipeline_depth", "16", 0, 65536, "cycles",
        "Latency of the auxiliary compute unit from the last element in to the last result out."),

    PIM_KEY_OF_TEXT("dram.standard", "\"\"",
                    "empty: each node has a private bank, which the keys below describe. Else nodes sit on "
                    "channels with controllers: a preset of `pimsim dram --list-presets`; of the keys below "
                    "dram.arbitration_bytes alone holds then, and energy.dram_* do not; but where it or "
                    "network_interface.packet_bytes is 0, dram.row_bytes x dram.banks decide as ever."),
    PIM_KEY_OF_TEXT("dram.standard_values", "\"\"",
                    "Values on top of dram.standard, in the format of `pimsim dram --configuration`: "
                    "dram = { ranks = 2; };"),
    PIM_KEY_OF_INTEGER("dram.nodes", "1", 1, 65536, "nodes",
                       "Nodes that share the channels of one dram.standard; each has an equal part of it."),
    PIM_KEY_OF_INTEGER("dram.accesses", "0", 0, 4096, "accesses",
                       "dram.standard: column accesses of a node under way in the controllers; 0: as many as "
                       "their queues take."),
    PIM_KEY_OF_INTEGER("dram.banks", "1", 1, 64, "banks",
                       "Banks of a node; they work in lock-step behind a port of banks x column_bytes."),
    PIM_KEY_OF_INTEGER("dram.interleaved_banks", "1", 1, 4, "banks",
                       "1, 2 or 4 banks (or groups of dram.banks in lock-step) that take turns row by row "
                       "behind the same port: one opens a row while columns of another pass."),
    PIM_KEY_OF_INTEGER("dram.rows", "8192", 1, 16777216, "rows", "Rows of a bank."),
    PIM_KEY_OF_INTEGER("dram.row_bytes", "1024", 1, 1048576, "bytes", "Bytes of a row of one bank."),
    PIM_KEY_OF_INTEGER("dram.column_bytes", "16", 1, 4096, "bytes",
                       "Bytes of one bank's column access: its port width times the burst length."),
    PIM_KEY_OF_INTEGER("dram.burst_cycles", "1", 1, 64, "cycles",
                       "Cycles that a column access holds the data bus (BL/2 on a double-data-rate bus)."),
    PIM_BANK_TIME_MAP(TIME_IN_NS) PIM_BANK_TIME_MAP(TIME_IN_CYCLES)
        PIM_KEY_OF_BOOLEAN("dram.refresh", "true", "false: no refresh at all (for studies only)."),
    PIM_KEY_OF_CHOICE("dram.page", "open", "open|closed",
                      "open leaves a row open until another is needed; closed precharges after every run."),
    PIM_KEY_OF_INTEGER(
        "dram.arbitration_bytes", "0", 0, PIM_TURN_BYTES_MAX, "bytes",
        "Most bytes that one client of the memory port moves before the next client may go (round robin); "
        "0: a row of all banks in lock-step, dram.row_bytes x dram.banks, and no more than 1048576."),

    PIM_KEY_OF_INTEGER("network_interface.packet_bytes", "0", 0, PIM_PACKET_BYTES_MAX, "bytes",
                       "Most payload bytes of a packet; a message is cut into packets of this size; 0: two "
                       "rows of all banks in lock-step, and no more than 16777216."),
    PIM_KEY_OF_INTEGER("network_interface.send_packets", "2", 1, 64, "packets",
                       "Packets that the sending side holds between memory and network."),
    PIM_KEY_OF_INTEGER("network_interface.posted_receives", "4", 1, 64, "messages",
                       "Receives that are announced to their senders at a time."),
    PIM_KEY_OF_INTEGER("network_interface.receive_packets", "4", 1, 4096, "packets",
                       "Packets of a message that may be under way and not yet written to the receiver's "
                       "memory; each one written grants the next."),
    PIM_KEY_OF_CHOICE("network_interface.forward", "dram", "dram|cut_through",
                      "Where a message that is passed on is read: from the memory of the node, or from the "
                      "interface, which still holds it."),

    PIM_KEY_OF_INTEGER("noc.width", "0", 0, 256, "routers",
                       "Routers in a row; 0: as the node array needs (array.width / noc.concentration). Any "
                       "other value must be that one."),
    PIM_KEY_OF_INTEGER("noc.height", "0", 0, 256, "routers",
                       "Rows of routers; 0: as the node array has. Any other value must be that one."),
    PIM_NOC_KEYS,

    PIM_CORE_KEYS,
    PIM_CROSSBAR_KEYS,
    PIM_GLOBAL_MEMORY_KEYS,
    PIM_QUIRK_KEYS,

    PIM_KEY_OF_REAL("energy.mac_pj", "0", 0, 1000000, "pJ/MAC",
                    "Energy of a multiply-accumulate. 0: not modelled."),
    PIM_KEY_OF_REAL("energy.sram_pj_per_bit", "0", 0, 1000000, "pJ/bit",
                    "Energy of reading or writing a bit of an SRAM buffer. 0: not modelled."),
    PIM_KEY_OF_REAL("energy.acu_pj_per_operation", "0", 0, 1000000, "pJ/operation",
                    "Energy of an element operation of the ACU. 0: not modelled."),
    PIM_KEY_OF_REAL("energy.dram_pj_per_bit", "0", 0, 1000000, "pJ/bit",
                    "Energy of reading or writing a bit of DRAM, I/O included. 0: not modelled."),
    PIM_KEY_OF_REAL(
        "energy.crossbar_step_pj", "0", 0, 1000000000, "pJ/step",
        "array.kind channel without levels.memory: of a NOR, SET or RESET in all columns of a bank; "
        "0: not modelled."),
    PIM_KEY_OF_REAL("energy.dram_activate_pj", "0", 0, 1000000000, "pJ/activate",
                    "Energy of activating and precharging a row, where dram_pj_per_bit does not hold it; "
                    "array.kind channel: with levels.memory. 0: not modelled."),
    PIM_KEY_OF_REAL("energy.noc_pj_per_bit_hop", "0", 0, 1000000, "pJ/bit/hop",
                    "Energy of moving a bit through a router and its link. 0: not modelled."),
    PIM_KEY_OF_REAL("energy.static_mw_per_node", "0", 0, 1000000, "mW",
                    "Static power of a node. 0: not modelled."),
    PIM_CORE_ENERGY_KEYS,
};

const struct pim_schema pim_hardware_schema = {
    .name = "hardware",
    .text = "Hardware of the simulated accelerator.",
    .keys = keys,
    .count = sizeof keys / sizeof keys[0],
    .inner = &pim_dram_schema,
    .place =
        "dram.standard_values (of cores global_memory.standard_values, of channels levels.memory_values)",
};
