/* What lowering gives. The functions it leaves to vector units are numbered in mappers/verify/value.h. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LOWERING_LOWER_H
#define PIMSIM_MAPPERS_PIMCOMP_LOWERING_LOWER_H

#include "mappers/pimcomp/representation/pimcomp.h"
#include "mappers/verify/value.h"

/* "matrix", ..; NULL outside. */
const char *pim_core_layer_kind_name(unsigned kind);

#endif
