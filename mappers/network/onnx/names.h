/*
 * A set of names with a number each, in memory of an arena: open addressing, never shrinks.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_ONNX_NAMES_H
#define PIMSIM_MAPPERS_NETWORK_ONNX_NAMES_H

#include "sim/arena.h"

#include <stdint.h>

struct pim_onnx_names {
    struct pim_arena *arena;
    const char **name; /* NULL: free */
    uint32_t *number;
    uint32_t slots, used; /* slots: a power of two, at least 4/3 of used */
};

/* The number of `name`, UINT32_MAX where it is not there. */
uint32_t pim_onnx_names_find(const struct pim_onnx_names *names, const char *name);

/* Sets the number of `name`, which must stay where it is. Aborts with a message when memory is out. */
void pim_onnx_names_put(struct pim_onnx_names *names, const char *name, uint32_t number);

#endif
