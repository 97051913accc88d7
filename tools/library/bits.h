/* Traces of channels executed with real bits, for mappers (struct pim_mapper_inputs.execute). */
#ifndef PIMSIM_TOOLS_LIBRARY_BITS_H
#define PIMSIM_TOOLS_LIBRARY_BITS_H

#include "mappers/mapper.h"

pim_mapper_execute pim_bits_execute; /* context: struct pim_hardware */

#endif
