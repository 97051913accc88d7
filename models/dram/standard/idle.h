/* Keys of a DRAM that another key of it rules out. */
#ifndef PIMSIM_MODELS_DRAM_STANDARD_IDLE_H
#define PIMSIM_MODELS_DRAM_STANDARD_IDLE_H

#include "sim/configuration/configuration.h"

/* Whether an interval of refreshes of banks is that of the mode: one that was there before REFsb was asked
 * for is that of a standard's REFpb. */
bool pim_dram_bank_interval_counts(const struct pim_configuration *values);

/* How many times as often as trefi says refreshes are due: dram.refresh_rate, but 2 in place of 1 for REFsb
 * of a memory that has the times of fine-granularity refreshes (`fine`: dram.trfc_fine is above 0): DDR5 has
 * REFsb in that mode alone. */
uint32_t pim_dram_refresh_rate(const struct pim_configuration *values, bool fine);

/* PIM_BAD_INPUT names the first key that was given in spite of the one that rules it out, and would do
 * nothing (`pim_configuration_in_spite`). What a preset or a file says is taken when a later value rules it
 * out. */
enum pim_status pim_dram_refuse_idle(const struct pim_configuration *values, bool fine,
                                     struct pim_error *error);
#endif
