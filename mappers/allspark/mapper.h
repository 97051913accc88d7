/* Allspark as a mapper (mappers/mapper.h). */
#ifndef PIMSIM_MAPPERS_ALLSPARK_MAPPER_H
#define PIMSIM_MAPPERS_ALLSPARK_MAPPER_H

#include "mappers/mapper.h"

extern const struct pim_mapper pim_allspark_mapper;

#endif
