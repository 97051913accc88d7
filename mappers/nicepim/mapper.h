/* NicePIM (Wang et al., arXiv 2305.19041): convolutional networks on DRAM-PIM nodes, 16-bit data. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAPPER_H
#define PIMSIM_MAPPERS_NICEPIM_MAPPER_H

#include "mappers/mapper.h"

extern const struct pim_mapper pim_nicepim_mapper;

#endif
