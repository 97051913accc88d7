/*
 * The sizes of a vision transformer, read off its graph. Internal to this folder.
 *
 * What is read here is a guess: the network that is built from it shows whether it is right.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_RECOGNITION_SIZES_H
#define PIMSIM_MAPPERS_NETWORK_RECOGNITION_SIZES_H

#include "mappers/network/graph.h"
#include "mappers/network/transformer.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

/* An attention: products of `rows` x `inner` x `columns`. */
struct pim_sized_attention {
    uint64_t rows, inner, columns;
};

/* A block: from behind the last feed-forward network to the end of its own. */
struct pim_sized_block {
    uint64_t tokens, channels, hidden;
    uint32_t attentions; /* all that were found; the first PIM_ATTENTIONS are kept */
    struct pim_sized_attention attention[PIM_ATTENTIONS];
    uint32_t reduction; /* side of the last convolution that strides by its own side; 1: none */
};

struct pim_sized_stage {
    uint32_t first_block, blocks;
};

struct pim_sizes {
    uint32_t image, input_channels, patch, classes;
    uint32_t blocks, stages;
    struct pim_sized_block *block;
    struct pim_sized_stage stage[PIM_STAGES];
};

/*
 * PIM_BAD_INPUT says what a vision transformer has and the graph has not; PIM_NO_MEMORY. On failure
 * sizes->block is NULL.
 */
enum pim_status pim_sizes_read(const struct pim_graph *graph, struct pim_sizes *sizes,
                               struct pim_error *error);
void pim_sizes_terminate(struct pim_sizes *sizes);

/*
 * Values of the keys of a descriptor (network.blocks and so on) that makes `family` of these sizes; `choice`
 * counts the ways to read them from 0. `set` is called for each, with text such as "network.image=224"; it
 * returns false to end. False: there is no such choice.
 */
bool pim_sizes_describe(const struct pim_sizes *sizes, enum pim_family family, uint32_t choice,
                        bool (*set)(void *context, const char *assignment), void *context);

#endif
