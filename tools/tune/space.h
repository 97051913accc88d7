/*
 * The space of architectures that the tuner chooses from: NicePIM's 256 banks in 16 x 16, bound together into
 * nodes, each with a PE array and three buffers (arXiv 2305.19041, section III-A and Table II).
 *
 * An architecture is seven coordinates, each an index into the values of its dimension: nodes in a column and
 * in a row (powers of two), PE rows and columns (powers of two), KiB of the input, weight and output buffer
 * (1, 2, 4 and the multiples of 8). What else a node has follows: the port, flits, packets and vector lanes
 * grow with its banks, the ports of the PE array with its rows and columns.
 */
#ifndef PIMSIM_TOOLS_TUNE_SPACE_H
#define PIMSIM_TOOLS_TUNE_SPACE_H

#include "models/area/area.h"
#include "sim/configuration/configuration.h"
#include "sim/random.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PIM_TUNE_BANK_SIDE = 16, /* banks along a side of the DRAM */
    PIM_TUNE_BANKS = PIM_TUNE_BANK_SIDE * PIM_TUNE_BANK_SIDE,
    PIM_TUNE_NODE_BANKS_MOST = 64, /* of one node */
    PIM_TUNE_VALUES_MOST = 264,    /* of a dimension */
    PIM_TUNE_OPERAND_BITS = 16
};

/* X(name, key of the hardware, bytes of a unit: 0 where it is a count) */
#define PIM_TUNE_DIMENSION_MAP(X)                                                                            \
    X(PIM_TUNE_HEIGHT, "array.height", 0)                                                                    \
    X(PIM_TUNE_WIDTH, "array.width", 0)                                                                      \
    X(PIM_TUNE_ROWS, "pe.rows", 0)                                                                           \
    X(PIM_TUNE_COLUMNS, "pe.columns", 0)                                                                     \
    X(PIM_TUNE_INPUT, "buffers.input_bytes", 1024)                                                           \
    X(PIM_TUNE_WEIGHT, "buffers.weight_bytes", 1024)                                                         \
    X(PIM_TUNE_OUTPUT, "buffers.output_bytes", 1024)

enum pim_tune_dimension {
#define X(name, key, unit) name,
    PIM_TUNE_DIMENSION_MAP(X)
#undef X
        PIM_TUNE_DIMENSIONS
};

/* Inclusive bounds of the values: nodes along a side, PEs along a side, KiB of a buffer. */
struct pim_tune_bounds {
    uint32_t node_least, node_most, pe_least, pe_most, buffer_least, buffer_most;
};

struct pim_tune_architecture {
    uint16_t at[PIM_TUNE_DIMENSIONS];
};

struct pim_tune_space {
    struct pim_configuration *base; /* what architectures do not say; owned */
    char *base_text;                /* the same, canonical; owned */
    uint32_t base_banks;            /* of one node of the base */
    struct pim_area_system area;    /* of the base */
    enum pim_area_reading reading;
    uint32_t value[PIM_TUNE_DIMENSIONS][PIM_TUNE_VALUES_MOST]; /* ascending */
    uint16_t count[PIM_TUNE_DIMENSIONS];
    double feature[PIM_TUNE_DIMENSIONS][PIM_TUNE_VALUES_MOST]; /* log2 of the values, scaled to 0..1 */
};

/*
 * Takes `base` over (also on failure), a complete hardware configuration: an array of nodes that share
 * PIM_TUNE_BANKS banks. PIM_BAD_INPUT: it is none; bounds that no value lies within.
 */
enum pim_status pim_tune_space_initialize(struct pim_tune_space *space, struct pim_configuration *base,
                                          const struct pim_tune_bounds *bounds, enum pim_area_reading reading,
                                          struct pim_error *error);
void pim_tune_space_terminate(struct pim_tune_space *space);

/* The value of a dimension: a count, or KiB. */
uint32_t pim_tune_value(const struct pim_tune_space *space, const struct pim_tune_architecture *architecture,
                        enum pim_tune_dimension dimension);
/* The key of a dimension in configurations, and the value that it has there. */
const char *pim_tune_key(enum pim_tune_dimension dimension);
uint64_t pim_tune_setting(const struct pim_tune_space *space,
                          const struct pim_tune_architecture *architecture,
                          enum pim_tune_dimension dimension);
/* The index of `value` in a dimension; false when it is none. */
bool pim_tune_index(const struct pim_tune_space *space, enum pim_tune_dimension dimension, uint32_t value,
                    uint16_t *index);

/* Banks of a node. */
uint32_t pim_tune_banks(const struct pim_tune_space *space, const struct pim_tune_architecture *architecture);

/* Uniform among those whose nodes have no more than PIM_TUNE_NODE_BANKS_MOST banks. */
void pim_tune_random(const struct pim_tune_space *space, struct pim_random *random,
                     struct pim_tune_architecture *architecture);

/* One coordinate one or two values up or down, within the space. */
void pim_tune_step(const struct pim_tune_space *space, struct pim_random *random,
                   struct pim_tune_architecture *architecture);

/* PIM_TUNE_DIMENSIONS numbers from 0 to 1. */
void pim_tune_features(const struct pim_tune_space *space, const struct pim_tune_architecture *architecture,
                       double *features);

/* mm2 in the reading of the space. */
void pim_tune_area(const struct pim_tune_space *space, const struct pim_tune_architecture *architecture,
                   struct pim_area *area);

/* The hardware of an architecture, complete. The caller destroys it. */
enum pim_status pim_tune_configure(const struct pim_tune_space *space,
                                   const struct pim_tune_architecture *architecture,
                                   struct pim_configuration **configuration, struct pim_error *error);

/* The smallest value of each dimension: the least area, and the fewest nodes, which have the most memory. */
void pim_tune_smallest(const struct pim_tune_space *space, struct pim_tune_architecture *architecture);

/* "4 x 8 nodes of 128 x 8 PEs with 16, 144, 32 KiB". */
void pim_tune_describe(const struct pim_tune_space *space, const struct pim_tune_architecture *architecture,
                       char *text, size_t size);

#endif
