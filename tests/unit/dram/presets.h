/* The configuration pimbank_400 of the golden data: the 3-D stacked bank of Allspark's Table IV at 400 MHz.
 * */
#ifndef PIMSIM_TESTS_UNIT_DRAM_PRESETS_H
#define PIMSIM_TESTS_UNIT_DRAM_PRESETS_H

#include "models/cost/bank.h"

static const struct pim_bank_timing pimbank_timing = {.trcd = 8,
                                                      .trp = 8,
                                                      .tras = 16,
                                                      .trc = 24,
                                                      .tcl = 8,
                                                      .tcwl = 4,
                                                      .tccd = 1,
                                                      .twr = 6,
                                                      .trtp = 3,
                                                      .twtr = 3,
                                                      .trtw = 2,
                                                      .trfc = 72,
                                                      .trefi = 1561,
                                                      .burst_cycles = 1};
static const struct pim_bank_organization pimbank_organization = {
    .banks = 1, .rows = 8192, .row_bytes = 1024, .column_bytes = 16, .closed_page = false};

static const struct pim_bank_timing ddr4_timing = {.trcd = 16,
                                                   .trp = 16,
                                                   .tras = 39,
                                                   .trc = 55,
                                                   .tcl = 16,
                                                   .tcwl = 12,
                                                   .tccd = 6,
                                                   .twr = 18,
                                                   .trtp = 9,
                                                   .twtr = 9,
                                                   .trtw = 2,
                                                   .trfc = 433,
                                                   .trefi = 9364,
                                                   .burst_cycles = 4};
static const struct pim_bank_organization ddr4_organization = {
    .banks = 1, .rows = 65536, .row_bytes = 8192, .column_bytes = 64, .closed_page = false};

static const struct pim_bank_timing hbm2_timing = {.trcd = 16,
                                                   .trp = 16,
                                                   .tras = 29,
                                                   .trc = 45,
                                                   .tcl = 16,
                                                   .tcwl = 4,
                                                   .tccd = 4,
                                                   .twr = 16,
                                                   .trtp = 5,
                                                   .twtr = 8,
                                                   .trtw = 2,
                                                   .trfc = 260,
                                                   .trefi = 3900,
                                                   .burst_cycles = 2};
static const struct pim_bank_organization hbm2_organization = {
    .banks = 1, .rows = 16384, .row_bytes = 1024, .column_bytes = 32, .closed_page = false};

#endif
