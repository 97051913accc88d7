/*
 * The times of a private bank: each is a key in ns (`dram.trcd_ns`), which has the default, and a key in
 * cycles of clock.memory_khz (`dram.trcd`); sim/configuration says which of the two holds.
 * X(name, default in ns, most ns, most cycles, text); name is that of the member of struct pim_bank_timing.
 */
#ifndef PIMSIM_MODELS_COST_BANK_KEYS_H
#define PIMSIM_MODELS_COST_BANK_KEYS_H

#include "models/cost/bank_rules.h"

#define PIM_BANK_DISTANCE_MAP(X)                                                                             \
    X(trcd, "18", 10000, PIM_BANK_CYCLES_MAX, "ACT to RD or WR.")                                            \
    X(trp, "18", 10000, PIM_BANK_CYCLES_MAX, "PRE to ACT.")                                                  \
    X(tras, "40", 10000, PIM_BANK_CYCLES_MAX, "ACT to PRE.")                                                 \
    X(trc, "58", 10000, PIM_BANK_CYCLES_MAX, "ACT to ACT of the same bank.")                                 \
    X(trrd, "5", 10000, PIM_BANK_CYCLES_MAX, "ACT to ACT of another of dram.interleaved_banks.")             \
    X(tcl, "20", 10000, PIM_BANK_CYCLES_MAX, "RD to first data.")                                            \
    X(tcwl, "10", 10000, PIM_BANK_CYCLES_MAX, "WR to first data.")                                           \
    X(tccd, "2.5", 10000, PIM_BANK_CYCLES_MAX, "Column command to column command.")                          \
    X(twr, "15", 10000, PIM_BANK_CYCLES_MAX, "End of write data to PRE.")                                    \
    X(trtp, "7.5", 10000, PIM_BANK_CYCLES_MAX, "RD to PRE.")                                                 \
    X(twtr, "7.5", 10000, PIM_BANK_CYCLES_MAX, "End of write data to RD.")                                   \
    X(trtw, "5", 10000, PIM_BANK_CYCLES_MAX, "Gap on the data bus between read data and write data.")        \
    X(trfc, "180", 100000, PIM_BANK_CYCLES_MAX, "REF to ACT.")
#define PIM_BANK_TIME_MAP(X)                                                                                 \
    PIM_BANK_DISTANCE_MAP(X)                                                                                 \
    X(trefi, "3904", PIM_BANK_REFRESH_NS_MAX, PIM_BANK_REFRESH_INTERVAL_MAX,                                 \
      "Mean interval of REF; ns are counted in whole cycles rounded down, so that never too few refreshes "  \
      "are made.")

#endif
