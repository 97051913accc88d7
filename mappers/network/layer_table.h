/*
 * Networks from layer tables of SCALE-Sim: comma-separated, a layer a line, in one of two forms.
 *
 *     Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
 *     Conv1, 224, 224, 7, 7, 3, 64, 2,
 *
 *     Layer, M, N, K,
 *     QKV, 197, 2304, 768,
 *
 * Rules, those of SCALE-Sim 3 where it has them:
 *  1. The first line is a heading. Its second to fourth columns M, N, K make a table of matrix products; a
 *     second column that begins with "IFMAP" one of convolutions. Empty lines, and lines of nothing but
 *     commas, are passed over; commas at the end of a line are allowed; blanks around a field, and the case
 *     of letters in the heading, do not count.
 *  2. IFMAP includes all padding. An output has ceil((IFMAP - filter + stride) / stride) rows and columns:
 *     what the last window reaches beyond the map is padding.
 *  3. A layer whose name contains "DP" is depthwise: as many groups as channels, Num Filter filters in each.
 *  4. A field behind the stride may be the stride along the width, if it is the same; a ratio N:M of
 *     sparsity, if it is 1:1; and NPU. Anything else is refused: it would be ignored.
 *  5. A product of M x K and K x N is a convolution of one position: a map of M x 1 with K channels, N
 *     filters.
 *  6. The table does not say which layer reads what: each reads an input of its own from memory, as there.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_LAYER_TABLE_H
#define PIMSIM_MAPPERS_NETWORK_LAYER_TABLE_H

#include "mappers/network/descriptor/descriptor.h"

/* On success *network belongs to the caller (pim_network_destroy); its name is that of the file without
 * folder and ending. PIM_BAD_INPUT names file, line, what was found and what would be right; PIM_IO,
 * PIM_NO_MEMORY. */
enum pim_status pim_layer_table_read(const char *path, struct pim_network **network, struct pim_error *error);

/* The same from memory; `path` is for messages and the name. */
enum pim_status pim_layer_table_parse(const char *path, const char *text, size_t size,
                                      struct pim_network **network, struct pim_error *error);

#endif
