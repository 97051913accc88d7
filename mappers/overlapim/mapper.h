/* The Fast-OverlaPIM mapper behind the interface of all mappers. */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_MAPPER_H
#define PIMSIM_MAPPERS_OVERLAPIM_MAPPER_H

#include "mappers/mapper.h"

extern const struct pim_mapper pim_overlapim_mapper;

#endif
