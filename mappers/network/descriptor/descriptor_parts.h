/*
 * What the reading of descriptors shares between the families of transformers (descriptor.c) and of
 * convolutional networks (descriptor_convolutional.c). Internal to this folder. `family` counts both: enum
 * pim_family, then enum pim_convolutional.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_DESCRIPTOR_DESCRIPTOR_PARTS_H
#define PIMSIM_MAPPERS_NETWORK_DESCRIPTOR_DESCRIPTOR_PARTS_H

#include "mappers/network/descriptor/convolutional.h"
#include "sim/configuration/configuration.h"

const char *pim_network_family_name(unsigned family);

/* Refuses keys that the family does not use, and asks for lists that it needs. */
enum pim_status pim_network_check_keys(const struct pim_configuration *configuration, unsigned family,
                                       struct pim_error *error);

/* Reads a list that must have one value for each stage, or one for all where `one` allows it. */
enum pim_status pim_network_read_list(const struct pim_configuration *configuration, const char *path,
                                      uint32_t stages, bool one, uint32_t *target, struct pim_error *error);

/* Reads and checks the keys of a convolutional family. */
enum pim_status pim_network_read_convolutional(const struct pim_configuration *configuration,
                                               struct pim_convolutional_specification *s,
                                               struct pim_error *error);

#endif
