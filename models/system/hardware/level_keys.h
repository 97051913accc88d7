/* Keys of memories whose banks compute, as mappers see them: levels and costs. A row of the hardware
 * schema. */
#ifndef PIMSIM_MODELS_SYSTEM_HARDWARE_LEVEL_KEYS_H
#define PIMSIM_MODELS_SYSTEM_HARDWARE_LEVEL_KEYS_H

#include "sim/configuration/configuration.h"

#define PIM_LEVEL_KEYS                                                                                       \
    PIM_KEY_OF_INTEGER("levels.banks", "0", 0, 256, "banks",                                                 \
                       "Banks of a channel that compute; 0: this hardware has none. Channels are units: "    \
                       "array.width of them in each of array.height stacks."),                               \
        PIM_KEY_OF_INTEGER("levels.columns", "8192", 8, 1048576, "columns",                                  \
                           "Columns of a bank that compute at once. A power of two."),                       \
        PIM_KEY_OF_INTEGER("levels.rows", "32736", 16, 16777216, "rows", "Rows of a bank that hold data."),  \
        PIM_KEY_OF_INTEGER("levels.word_bits", "16", 1, 32, "bits",                                          \
                           "Bits of an input and of a weight; sums have twice as many."),                    \
        PIM_KEY_OF_INTEGER("levels.channel_bytes", "16", 1, 65536, "bytes/cycle",                            \
                           "What a channel reads or writes."),                                               \
        PIM_KEY_OF_INTEGER("levels.bus_bytes", "256", 1, 65536, "bytes/cycle",                               \
                           "Bus between the stacks, shared by all channels."),                               \
        PIM_KEY_OF_CHOICE("levels.costs", "commands", "figure|commands|steps",                               \
                          "figure: levels.add_cycles and levels.multiply_cycles for a word, as a published " \
                          "figure has them. commands: activate-activate-precharge sequences. steps: NORs "   \
                          "of crossbars (ReRAM), levels.step_ps each."),                                     \
        PIM_KEY_OF_INTEGER("levels.step_ps", "1100", 1, 1000000, "ps",                                       \
                           "costs steps: of a NOR, SET or RESET in all columns of a bank."),                 \
        PIM_KEY_OF_INTEGER("levels.add_cycles", "196", 1, 1000000000, "cycles",                              \
                           "costs figure: an addition of words in all columns."),                            \
        PIM_KEY_OF_INTEGER("levels.multiply_cycles", "980", 1, 1000000000, "cycles",                         \
                           "costs figure: a multiplication of words in all columns."),                       \
        PIM_KEY_OF_INTEGER("levels.aap_cycles", "64", 1, 1000000, "cycles",                                  \
                           "costs figure: a row copied, for which the figure has no number."),               \
        PIM_KEY_OF_LIST("levels.aap_busy_cycles", "[49, 49, 50, 49, 49, 51, 56, 64]", 1, 1000000, "cycles",  \
                        "costs commands, as mappers estimate them: an activate-activate-precharge of each "  \
                        "bank while one, two, ... banks of the channel work; more banks than the list has "  \
                        "take the last value in proportion."),                                               \
        PIM_KEY_OF_INTEGER("levels.refresh_cycles", "310", 0, 1000000, "cycles",                             \
                           "costs commands: what a refresh takes, closing the banks included."),             \
        PIM_KEY_OF_INTEGER("levels.refresh_interval_cycles", "3900", 1, 100000000, "cycles",                 \
                           "costs commands: from refresh to refresh."),                                      \
        PIM_KEY_OF_INTEGER("levels.row_overhead_cycles", "60", 0, 1000000, "cycles",                         \
                           "costs commands: of reading or writing a row, beside its bytes."),                \
        PIM_KEY_OF_TEXT("levels.memory", "\"\"",                                                             \
                        "array.kind channel: the DRAM whose banks these are, a preset of `pimsim dram`. It " \
                        "gives the commands of costs commands, and what activations and bits are counted; "  \
                        "empty: not a DRAM."),                                                               \
        PIM_KEY_OF_TEXT("levels.memory_values", "\"\"",                                                      \
                        "Values on top of levels.memory, in the format of `pimsim dram --config`: "          \
                        "dram = { tfaw = 0; };")

#endif
