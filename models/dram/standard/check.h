/* Parts of the check of a standard (pim_dram_check_specification), and what rows of one's own do. */
#ifndef PIMSIM_MODELS_DRAM_STANDARD_CHECK_H
#define PIMSIM_MODELS_DRAM_STANDARD_CHECK_H

#include "models/dram/standard/specification.h"

/* Refuses rows of the configuration's own that the controller would not honour, or cannot count. */
enum pim_status pim_dram_own_rows_check(const struct pim_dram_specification *specification,
                                        struct pim_error *error);

/* What rows and commands of the configuration's own may add to a refresh of a rank. */
uint64_t pim_dram_own_delay(const struct pim_dram_specification *specification);

/*
 * May rows of the configuration's own make a refresh, a closing or the request that one of them waits for
 * wait behind commands that other banks go on to issue? With independent maintenance that could be for ever:
 * the controller then looks at no waiting request while maintenance waits.
 */
bool pim_dram_own_rows_hold(const struct pim_dram_specification *specification);

/* Refuses refreshes that are due before those before them are done for certain. */
enum pim_status pim_dram_refresh_check(const struct pim_dram_specification *specification,
                                       enum pim_dram_refreshing refreshing, bool independent,
                                       struct pim_error *error);

#endif
