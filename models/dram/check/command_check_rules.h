/*
 * The checker's own constraints. They are not the scheduler's table (specification.c): each distance is
 * derived anew from what a command does to its bank, its rank and the buses, so that a mistake in one of the
 * two shows. The tests hold both against each other, for every preset and random parameters.
 */
#ifndef PIMSIM_MODELS_DRAM_CHECK_COMMAND_CHECK_RULES_H
#define PIMSIM_MODELS_DRAM_CHECK_COMMAND_CHECK_RULES_H

#include "models/dram/standard/specification.h"

/* Rows that constrain nothing are left out. */
void pim_dram_check_rules(const struct pim_dram_specification *specification,
                          struct pim_dram_constraint_table *table);

#endif
