/* The front-end of the communication-conflict system (docs/mappers/conflict.md). */
#ifndef PIMSIM_MAPPERS_CONFLICT_MAPPER_H
#define PIMSIM_MAPPERS_CONFLICT_MAPPER_H

#include "mappers/mapper.h"

extern const struct pim_mapper pim_conflict_mapper;

#endif
