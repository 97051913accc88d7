/* A product on the nodes of its region, as it is written: who shares what, tiles, partial sums. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_PRODUCT_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_PRODUCT_H

#include "mappers/nicepim/map/program/homes.h"

/* Weights of a node: one run, but that its own share of a copy may lie elsewhere. */
struct weights {
    uint64_t address;
    uint64_t own, own_from, own_to; /* bytes [own_from, own_to) of the run lie at `own` */
};

struct product {
    uint32_t layer, nodes; /* nodes of the region */
    const struct nice_decision *decision;
    const struct flow_operation *operation;
    struct pim_part *part;
    struct pim_span (*box)[4];       /* of the input */
    struct pim_span (*right_box)[4]; /* of the second input, where there is one */
    uint32_t *set;
    struct operand *input, *right, *output; /* of each node */
    struct weights *weights;
    uint32_t *copy; /* of each node: the first of those that hold its weights together; UINT32_MAX: alone */
    uint32_t (*order)[2]; /* of each such first node: channels of the tiles of all of them; 0: not known */
    uint32_t cuts_of_c;
};

static inline uint32_t product_node(const struct emitter *emitter, const struct product *product, uint32_t i)
{
    const struct nice_region *region = &product->decision->region;
    return (region->y + i / region->width) * emitter->plan->hardware->width + region->x + i % region->width;
}

static inline bool product_works(const struct product *product, uint32_t i)
{
    return pim_part_macs(&product->operation->conv, &product->part[i]) > 0;
}

void product_output_box(const struct pim_part *part, struct pim_span box[4]);

/* The product of a layer on its nodes, with nothing brought yet; NULL when memory is out. */
struct product *product_create(struct emitter *emitter, uint32_t layer);
void product_destroy(struct product *product);

/* Inputs come to the nodes that need them: gathered where their pieces begin and, `pass`, passed round the
 * sharing sets. Adds the estimate of the part of transfers. */
void product_share_inputs(struct emitter *emitter, struct product *product, bool pass,
                          uint64_t parts[PIM_ESTIMATE_PARTS]);
uint64_t product_share_weights(struct emitter *emitter, struct product *product);
/* Memory for results, or for partial sums. */
void product_place_results(struct emitter *emitter, struct product *product);
void product_compute(struct emitter *emitter, struct product *product, uint64_t parts[PIM_ESTIMATE_PARTS]);
uint64_t product_reduce_sums(struct emitter *emitter, struct product *product);

#endif
