/*
 * The functional mode of channels: real bits in the rows of their banks (models/bitserial/execute.h). With
 * pim_channels.values set, what an instruction does to the bits is done when it gives its banks back, row
 * command by row command, and messages carry their rows: so a program whose dependencies are wrong computes
 * wrong numbers.
 *
 * Banks come into being, all 0, when they are touched first. Only small layers are meant: a bank of 8192
 * columns takes 1 KiB for each of `data_rows` rows.
 */
#ifndef PIMSIM_MODELS_CHANNEL_VALUES_H
#define PIMSIM_MODELS_CHANNEL_VALUES_H

#include "models/bitserial/execute.h"
#include "models/channel/costs.h"

struct pim_channel_values;

/* `memory` gives banks, columns (a multiple of 64) and accesses; rows from `data_rows` on are refused. */
enum pim_status pim_channel_values_create(const struct pim_channel_memory *memory, uint32_t channels,
                                          uint32_t data_rows, struct pim_channel_values **values,
                                          struct pim_error *error);
void pim_channel_values_destroy(struct pim_channel_values *values);

/* A bank, to put numbers in and take them out; it belongs to `values`. NULL: out of memory. */
struct pim_bitserial_bits *pim_channel_values_bank(struct pim_channel_values *values, uint32_t channel,
                                                   uint32_t bank);

/* Does what an instruction of a channel does. A row_send leaves its rows for the row_receive that it
 * meets. */
enum pim_status pim_channel_values_execute(struct pim_channel_values *values, uint32_t channel,
                                           const struct pim_instruction *instruction,
                                           struct pim_error *error);

#endif
