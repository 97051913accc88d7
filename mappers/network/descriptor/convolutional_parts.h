/* Layers that the families of convolutional networks share (convolutional.c). Internal to this folder. */
#ifndef PIMSIM_MAPPERS_NETWORK_DESCRIPTOR_CONVOLUTIONAL_PARTS_H
#define PIMSIM_MAPPERS_NETWORK_DESCRIPTOR_CONVOLUTIONAL_PARTS_H

#include "mappers/network/descriptor/convolutional.h"

enum { PIM_NETWORK_NAME = 96 };

uint32_t pim_network_image(struct pim_builder *b, const struct pim_convolutional_specification *s);
/* Its name is `name`, a point and that of the activation. */
uint32_t pim_network_activate(struct pim_builder *b, const char *name, enum pim_activation kind,
                              uint32_t input);
uint32_t pim_network_pool(struct pim_builder *b, const char *name, enum pim_pooling kind, uint32_t input,
                          struct pim_sliding sliding);
uint32_t pim_network_average_all(struct pim_builder *b, const char *name, uint32_t input);
/* Fully connected layers: hidden ones with activation, then the classes (0 leaves them out). */
void pim_network_classify(struct pim_builder *b, const struct pim_convolutional_specification *s,
                          uint32_t input);

void pim_build_mobilenet(struct pim_builder *b, const struct pim_convolutional_specification *s);
void pim_build_efficientnet(struct pim_builder *b, const struct pim_convolutional_specification *s);
void pim_build_shufflenet(struct pim_builder *b, const struct pim_convolutional_specification *s);

#endif
