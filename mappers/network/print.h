/*
 * A network for people and programs: text, JSON, CSV and Graphviz's DOT.
 *
 * Stages and blocks are numbered from 1, as in the names of the layers ("stage3.block1.query").
 */
#ifndef PIMSIM_MAPPERS_NETWORK_PRINT_H
#define PIMSIM_MAPPERS_NETWORK_PRINT_H

#include "mappers/network/descriptor/descriptor.h"

#include <stdio.h>

/* Totals, layers and, for a transformer, its stages and blocks with their branches. Writes that fail are seen
 * at the file's close. */
void pim_network_print_text(const struct pim_network *network, FILE *file);

/*
 * `name`, `macs`, `padding_macs`, `parameters`,
 * `layers[].{name,operator,role,stage,block,inputs,output_shape,macs,padding_macs, parameters}`, and
 * `transformer` (null for other networks) with `stages[]` and `blocks[].attentions[]`. PIM_IO, PIM_NO_MEMORY.
 */
enum pim_status pim_network_print_json(const struct pim_network *network, FILE *file,
                                       struct pim_error *error);

/* A row for each layer. */
void pim_network_print_csv(const struct pim_network *network, FILE *file);

/* A directed graph: a node for each layer, an edge for each tensor. */
void pim_network_print_dot(const struct pim_network *network, FILE *file);

#endif
