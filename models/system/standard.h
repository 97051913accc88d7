/* DRAM standards in the configuration of hardware: a preset of `pimsim dram` and values on top of it. */
#ifndef PIMSIM_MODELS_SYSTEM_STANDARD_H
#define PIMSIM_MODELS_SYSTEM_STANDARD_H

#include "models/core/cores.h"
#include "models/dram/standard/schema.h"
#include "models/node/node.h"
#include "sim/configuration/configuration.h"

/* The preset that the key `preset` names, with the text of the key `values` on top. PIM_BAD_INPUT names the
 * key. */
enum pim_status pim_standard_read(const struct pim_configuration *configuration, const char *preset,
                                  const char *values, struct pim_dram_configuration *dram,
                                  struct pim_error *error);

/* Channels of nodes and a node's share of them, if dram.standard is given; else channels.nodes is 0. */
enum pim_status pim_standard_read_nodes(const struct pim_configuration *configuration,
                                        struct pim_node_configuration *node, struct pim_error *error);

/* The channels of the global memory of cores, if global_memory.standard is given; else on_channels is
 * false. */
enum pim_status pim_standard_read_cores(const struct pim_configuration *configuration,
                                        struct pim_cores_configuration *cores, struct pim_error *error);

#endif
