/* Networks as commands read them. */
#ifndef PIMSIM_TOOLS_COMMAND_MAPPING_NETWORK_H
#define PIMSIM_TOOLS_COMMAND_MAPPING_NETWORK_H

#include "mappers/network/onnx/onnx.h"
#include "tools/command/options.h"

/* A descriptor with `sets`, or a network in ONNX (*.onnx) with `onnx`; options of the other kind are refused
 * (PIM_USAGE), lest they do nothing. On success *network belongs to the caller (pim_network_destroy). */
enum pim_status command_network_read(const char *path, const struct text_list *sets,
                                     const struct pim_onnx_options *onnx, struct pim_network **network,
                                     struct pim_error *error);

#endif
