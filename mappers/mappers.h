/* All mappers. */
#ifndef PIMSIM_MAPPERS_MAPPERS_H
#define PIMSIM_MAPPERS_MAPPERS_H

#include "mappers/mapper.h"

#define MAPPER(name, library) extern const struct pim_mapper pim_##name##_mapper;
#include "mappers/mappers.def"

/* Mapper `index` in the order of the table; NULL behind the last one. */
const struct pim_mapper *pim_mapper_at(size_t index);

/* The mapper of that name. PIM_USAGE names the nearest one. */
enum pim_status pim_mapper_find(const char *name, const struct pim_mapper **mapper, struct pim_error *error);

#endif
