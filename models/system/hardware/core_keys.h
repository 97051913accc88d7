/*
 * The keys of cores with crossbars (array.kind = "core"): chips, cores, crossbars, global memory,
 * interconnect and their energies. One list, which schema.c takes in. Defaults are parameters, not facts
 * about a machine: the presets in configs/hardware/ give the source of each value.
 */
#ifndef PIMSIM_MODELS_SYSTEM_HARDWARE_CORE_KEYS_H
#define PIMSIM_MODELS_SYSTEM_HARDWARE_CORE_KEYS_H

#include "sim/configuration/configuration.h"

/* clang-format off: tables */
#define PIM_CHIP_KEYS                                                                                        \
    PIM_KEY_OF_INTEGER("chips.width", "1", 1, 256, "chips", "Chips in a row; must divide array.width."),     \
        PIM_KEY_OF_INTEGER("chips.height", "1", 1, 256, "chips",                                             \
                           "Rows of chips; must divide array.height."),                                      \
        PIM_KEY_OF_INTEGER("chips.link_bytes_per_cycle", "8", 1, 65536, "bytes/cycle",                       \
                           "Width of a chip's port (switch), or of a link (grid), each way: first come "     \
                           "first served. Cycles of clock.logic_khz."),                                      \
        PIM_KEY_OF_INTEGER("chips.link_cycles", "100", 0, 1000000, "cycles",                                 \
                           "Latency from chip to chip (grid: for each link on the way), beside the bytes."), \
        PIM_KEY_OF_CHOICE("chips.connection", "switch", "switch|grid",                                       \
                          "switch: a port out and a port in for each chip, joined by one switch. grid: a "   \
                          "link each way between neighbours in x and y; packets go in x first, then in y.")

#define PIM_CORE_KEYS                                                                                        \
    PIM_KEY_OF_CHOICE("core.issue", "out_of_order", "in_order|out_of_order",                                 \
                      "in_order: an instruction starts when all earlier ones of other engines are "          \
                      "complete. out_of_order: instructions in the window start as soon as their operands "  \
                      "and their engine allow."),                                                            \
        PIM_KEY_OF_INTEGER("core.window", "16", 1, 4096, "instructions",                                     \
                           "Instructions of a core in flight: fetched and not yet complete."),               \
        PIM_KEY_OF_CHOICE(                                                                                   \
            "core.communication", "synchronous", "synchronous|asynchronous",                                 \
            "synchronous: a send waits for its receive. asynchronous: a send is complete when "              \
            "its bytes have left and the receiver has room for them."),                                      \
        PIM_KEY_OF_INTEGER(                                                                                  \
            "core.receive_bytes", "65536", 1, 1073741824, "bytes",                                           \
            "Asynchronous: bytes that a core holds for receives it has not reached; a larger "               \
            "message passes when nothing else is held."),                                                    \
        PIM_KEY_OF_INTEGER("core.local_memory_bytes", "65536", 1, 4294967295, "bytes",                       \
                           "Local memory of a core."),                                                       \
        PIM_KEY_OF_INTEGER("core.local_bytes_per_cycle", "64", 1, 65536, "bytes/cycle",                      \
                           "Bytes of a beat of the local memory's port."),                                   \
        PIM_KEY_OF_INTEGER("core.local_read_cycles", "1", 0, 65536, "cycles",                                \
                           "Cycles of a read beat; pipelined: latency of a read."),                          \
        PIM_KEY_OF_INTEGER("core.local_write_cycles", "1", 0, 65536, "cycles",                               \
                           "Cycles of a write beat; pipelined: latency of a write."),                        \
        PIM_KEY_OF_BOOLEAN("core.local_pipelined", "true",                                                   \
                           "The port takes a beat every cycle and the latency counts once; false: a beat "   \
                           "holds the port for all its cycles."),                                            \
        PIM_KEY_OF_INTEGER("core.vector_units", "1", 1, 65536, "units",                                      \
                           "Vector function units of a core; they work together on one instruction."),       \
        PIM_KEY_OF_INTEGER("core.vector_lanes", "32", 1, 65536, "elements/cycle",                            \
                           "Elements that one vector function unit takes in a cycle."),                      \
        PIM_KEY_OF_INTEGER("core.vector_cycles", "4", 0, 65536, "cycles",                                    \
                           "Latency of a vector function unit."),                                            \
        PIM_KEY_OF_BOOLEAN("core.vector_pipelined", "true",                                                  \
                           "The latency counts once for an instruction; false: for every beat of "           \
                           "vector_units x vector_lanes elements."),                                         \
        PIM_KEY_OF_TEXT("core.vector_functions", "\"all\"",                                                  \
                        "Operations of the vector function units: all, or names of local_vector operations " \
                        "separated by commas. Another one is refused."),                                     \
        PIM_KEY_OF_CHOICE("core.timing", "pimsim", "pimsim|pimsim_nn",                                       \
                          "pimsim: the rules of docs/models/core.md. pimsim_nn: those of the simulator "     \
                          "pimsim-nn, its quirks included (section pimsim_nn there); for comparison.")

#define PIM_QUIRK_KEYS                                                                                       \
    PIM_KEY_OF_INTEGER("quirks.flit_cycles", "2", 0, 65536, "cycles/flit",                                   \
                       "core.timing pimsim_nn: time of a flit between cores, beside its hops; flits of a "   \
                       "message follow each other without overlap."),                                        \
        PIM_KEY_OF_INTEGER("quirks.hop_cycles", "2", 0, 65536, "cycles/flit",                                \
                           "core.timing pimsim_nn: time of a flit for a hop."),                              \
        PIM_KEY_OF_INTEGER("quirks.memory_cycles", "15", 0, 65536, "cycles/flit",                            \
                           "core.timing pimsim_nn: time of a flit between a core and the global memory.")

#define PIM_CROSSBAR_KEYS                                                                                    \
    PIM_KEY_OF_INTEGER("crossbar.count_x", "8", 1, 65536, "arrays", "Crossbar arrays of a core in x."),      \
        PIM_KEY_OF_INTEGER("crossbar.count_y", "8", 1, 65536, "arrays", "Crossbar arrays of a core in y."),  \
        PIM_KEY_OF_INTEGER("crossbar.rows", "128", 1, 65536, "cells", "Rows of a crossbar array."),          \
        PIM_KEY_OF_INTEGER("crossbar.columns", "128", 1, 65536, "cells", "Columns of a crossbar array."),    \
        PIM_KEY_OF_INTEGER("crossbar.cell_bits", "2", 1, 64, "bits", "Bits of a weight in a cell."),         \
        PIM_KEY_OF_INTEGER("crossbar.weight_bits", "16", 1, 64, "bits", "Bits of a weight."),                \
        PIM_KEY_OF_INTEGER("crossbar.input_bits", "16", 1, 64, "bits",                                       \
                           "Bits of an input element, applied dac_bits at a time."),                         \
        PIM_KEY_OF_CHOICE("crossbar.weight_slicing", "columns", "columns|arrays",                            \
                          "Where the ceil(weight_bits / cell_bits) slices of a weight sit: in neighbouring " \
                          "columns of one array, or each in an array of its own."),                          \
        PIM_KEY_OF_CHOICE("crossbar.sign", "offset", "offset|differential",                                  \
                          "How a cell holds a signed weight: with an offset, or as the difference of two "   \
                          "cells, which doubles the slices."),                                               \
        PIM_KEY_OF_INTEGER("crossbar.management_arrays", "1", 1, 65536, "arrays",                            \
                           "Logical arrays are given to groups in multiples of this."),                      \
        PIM_KEY_OF_BOOLEAN("crossbar.pipelined", "true",                                                     \
                           "The next input bits are applied while the outputs of those before are "          \
                           "converted."),                                                                    \
        PIM_KEY_OF_INTEGER("crossbar.dac_bits", "1", 1, 64, "bits",                                          \
                           "Input bits that a DAC applies at once."),                                        \
        PIM_KEY_OF_INTEGER("crossbar.dac_count", "128", 1, 65536, "DACs",                                    \
                           "DACs of an array: rows driven at once."),                                        \
        PIM_KEY_OF_INTEGER("crossbar.dac_cycles", "1", 0, 65536, "cycles", "Latency of a DAC."),             \
        PIM_KEY_OF_REAL("crossbar.read_ns", "100", 0, 1000000, "ns",                                         \
                        "Time of an analog read, rounded up to cycles of clock.logic_khz."),                 \
        PIM_KEY_OF_REAL("crossbar.write_row_ns", "0", 0, 100000000, "ns",                                    \
                        "Time to write a row of cells, rounded up to cycles of clock.logic_khz; the rows "   \
                        "of an array follow each other, arrays work beside each other. 0: programs cannot "  \
                        "write weights."),                                                                   \
        PIM_KEY_OF_INTEGER("crossbar.sample_hold_cycles", "1", 0, 65536, "cycles", "Sample and hold."),      \
        PIM_KEY_OF_INTEGER("crossbar.adc_count", "1", 1, 65536, "ADCs",                                      \
                           "ADCs of an array: columns converted at once."),                                  \
        PIM_KEY_OF_INTEGER("crossbar.adc_cycles", "1", 0, 65536, "cycles", "Cycles of a conversion."),       \
        PIM_KEY_OF_INTEGER("crossbar.shift_add_cycles", "1", 0, 65536, "cycles", "Shift and add."),          \
        PIM_KEY_OF_INTEGER("crossbar.input_buffer_cycles", "0", 0, 65536, "cycles",                          \
                           "Input buffer, for each application of input bits."),                             \
        PIM_KEY_OF_INTEGER("crossbar.output_buffer_cycles", "1", 0, 65536, "cycles",                         \
                           "Output buffer, for each conversion."),                                           \
        PIM_KEY_OF_BOOLEAN("crossbar.floor_division", "false",                                               \
                           "Counts of input and column steps are rounded down, as the simulator pimsim-nn "  \
                           "does; false: rounded up.")

#define PIM_GLOBAL_MEMORY_KEYS                                                                               \
    PIM_KEY_OF_INTEGER("global_memory.bytes", "1073741824", 1, 1099511627776, "bytes",                       \
                       "Global memory, all chips together."),                                                \
        PIM_KEY_OF_TEXT(                                                                                     \
            "global_memory.standard", "\"\"",                                                                \
            "empty: a port for each chip, which the next keys describe. Else the global memory is on "       \
            "channels with controllers: a preset of `pimsim dram --list-presets`; the next keys and "        \
            "energy.global_pj_per_bit do not hold then."),                                                   \
        PIM_KEY_OF_TEXT("global_memory.standard_values", "\"\"",                                             \
                        "Values on top of global_memory.standard, in the format of `pimsim dram "            \
                        "--configuration`: dram = { channels = 4; };"),                                      \
        PIM_KEY_OF_INTEGER(                                                                                  \
            "global_memory.bytes_per_cycle", "64", 1, 65536, "bytes/cycle",                                  \
            "Bytes of a beat of a chip's port to the global memory: one server a chip, first "               \
            "come first served."),                                                                           \
        PIM_KEY_OF_INTEGER("global_memory.read_cycles", "50", 0, 65536, "cycles",                            \
                           "Cycles of a read beat; pipelined: latency of a read."),                          \
        PIM_KEY_OF_INTEGER("global_memory.write_cycles", "50", 0, 65536, "cycles",                           \
                           "Cycles of a write beat; pipelined: latency of a write."),                        \
        PIM_KEY_OF_BOOLEAN("global_memory.pipelined", "true",                                                \
                           "The port takes a beat every cycle and the latency counts once; false: a beat "   \
                           "holds the port for all its cycles."),                                            \
        PIM_KEY_OF_CHOICE("interconnect.kind", "mesh", "mesh|bus|shared_memory",                             \
                          "What connects the cores of a chip. mesh: the network of noc.*. bus: one server "  \
                          "that a message passes. shared_memory: one server that a message is written to "   \
                          "and read from."),                                                                 \
        PIM_KEY_OF_INTEGER("interconnect.bytes_per_cycle", "32", 1, 65536, "bytes/cycle",                    \
                           "Width of the bus or of the shared memory."),                                     \
        PIM_KEY_OF_INTEGER("interconnect.packet_bytes", "4096", 1, 16777216, "bytes",                        \
                           "Mesh: most payload bytes of a packet; a message is cut into packets of this "    \
                           "size.")

#define PIM_CORE_ENERGY_KEYS                                                                                 \
    PIM_KEY_OF_REAL("energy.crossbar_dac_mw", "0", 0, 1000000, "mW",                                         \
                    "Power of one DAC during crossbar.dac_cycles. 0: not modelled."),                        \
        PIM_KEY_OF_REAL("energy.crossbar_read_mw", "0", 0, 1000000, "mW",                                    \
                        "Power of one physical array during crossbar.read_ns. 0: not modelled."),            \
        PIM_KEY_OF_REAL("energy.crossbar_write_pj", "0", 0, 1000000, "pJ/cell",                              \
                        "To write a cell of an array, with crossbar.write_row_ns. 0: not modelled."),        \
        PIM_KEY_OF_REAL("energy.crossbar_sample_hold_mw", "0", 0, 1000000, "mW",                             \
                        "Power of the sample-and-hold circuits of an array. 0: not modelled."),              \
        PIM_KEY_OF_REAL("energy.crossbar_adc_mw", "0", 0, 1000000, "mW",                                     \
                        "Power of one ADC during a conversion. 0: not modelled."),                           \
        PIM_KEY_OF_REAL("energy.crossbar_shift_add_mw", "0", 0, 1000000, "mW",                               \
                        "Power of the shift-and-add of an array. 0: not modelled."),                         \
        PIM_KEY_OF_REAL("energy.crossbar_input_buffer_mw", "0", 0, 1000000, "mW",                            \
                        "Power of the input buffer of an array. 0: not modelled."),                          \
        PIM_KEY_OF_REAL("energy.crossbar_output_buffer_mw", "0", 0, 1000000, "mW",                           \
                        "Power of the output buffer of an array. 0: not modelled."),                         \
        PIM_KEY_OF_REAL("energy.vector_pj_per_operation", "0", 0, 1000000, "pJ/operation",                   \
                        "Energy of an element operation of a vector function unit. 0: not modelled."),       \
        PIM_KEY_OF_REAL("energy.local_pj_per_bit", "0", 0, 1000000, "pJ/bit",                                \
                        "Energy of reading or writing a bit of a local memory. 0: not modelled."),           \
        PIM_KEY_OF_REAL("energy.global_pj_per_bit", "0", 0, 1000000, "pJ/bit",                               \
                        "Energy of reading or writing a bit of the global memory. 0: not modelled."),        \
        PIM_KEY_OF_REAL("energy.interconnect_pj_per_bit", "0", 0, 1000000, "pJ/bit",                         \
                        "Energy of a bit through the bus or the shared memory (a mesh has "                  \
                        "noc_pj_per_bit_hop); array.kind channel: between banks and controller. 0: not "     \
                        "modelled."),                                                                        \
        PIM_KEY_OF_REAL("energy.chip_link_pj_per_bit", "0", 0, 1000000, "pJ/bit",                            \
                        "Energy of a bit from chip to chip. 0: not modelled."),                              \
        PIM_KEY_OF_REAL("energy.interconnect_pj_per_flit", "0", 0, 1000000, "pJ/flit",                       \
                        "core.timing pimsim_nn: energy of a flit, whatever its way. 0: not modelled."),      \
        PIM_KEY_OF_REAL("energy.clocked_mw_per_core", "0", 0, 1000000, "mW",                                 \
                        "Power of a core while any of its engines works, beside what actions take: clocks, " \
                        "buses, buffers. 0: not modelled."),                                                 \
        PIM_KEY_OF_REAL("energy.static_mw_per_core", "0", 0, 1000000, "mW",                                  \
                        "Static power of a core, for the whole run. 0: not modelled."),                      \
        PIM_KEY_OF_REAL("energy.static_mw_per_chip", "0", 0, 1000000, "mW",                                  \
                        "Static power of a chip beside its cores and links: global memory. 0: not "          \
                        "modelled."),                                                                        \
        PIM_KEY_OF_REAL("energy.link_mw_per_chip", "0", 0, 1000000, "mW",                                    \
                        "Static power of the links of a chip to others; of a single chip nothing, it has "   \
                        "none. 0: not modelled.")
/* clang-format on */

#endif
