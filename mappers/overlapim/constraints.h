/*
 * Constraints of a user, a text file of lines:
 *
 *     layer conv1              what follows is for this layer; * (and before the first line): for all
 *     columns C=64 K=32        factors of a slot: outer, channels, banks, steps, columns, inside
 *     order steps P Q K        order of the temporal loops of outer or steps, outermost first; dimensions
 *                              that are not named come behind
 *     drop weights             weights are not kept in the rows of a bank, but written when they are needed
 *     keep weights             the default
 *
 * # begins a comment.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_CONSTRAINTS_H
#define PIMSIM_MAPPERS_OVERLAPIM_CONSTRAINTS_H

#include "mappers/nest/space.h"
#include "mappers/overlapim/layers.h"

#include <stddef.h>

/* Applies a file to the spaces of all layers. PIM_BAD_INPUT names file and line, and the layer when its
 * factors cannot be. */
enum pim_status pim_constraints_read(const char *path, const struct pim_mapped_layers *layers,
                                     struct pim_mapping_space *spaces, struct pim_error *error);

/* The same for `length` characters in memory, any bytes; `name` stands for the file. */
enum pim_status pim_constraints_parse(const char *name, const char *text, size_t length,
                                      const struct pim_mapped_layers *layers,
                                      struct pim_mapping_space *spaces, struct pim_error *error);

#endif
