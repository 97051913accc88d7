/*
 * Chromosomes of the genetic algorithm (paper, section VI-A): for each core max_layers_in_core genes, each
 * layer * 10000 + array groups of that layer, or 0. Position p stands for core walk[p]: the cores chip by
 * chip, in each chip row by row, every second row backwards, so that neighbours in a chromosome are
 * neighbours on the accelerator.
 *
 * A chromosome says how many array groups of a layer a core holds, not which. They are given out along the
 * positions: a core takes as many whole replicas as it can, and what is left over on several cores is put
 * together to further replicas, the core with the first group being their home.
 *
 * Invariants (a legal chromosome):
 *  1. The array groups of a layer are a multiple of those of a replica, one replica at least, and no more
 *     replicas than it has windows.
 *  2. No core holds more arrays than it has; every group counts as large as the largest of its layer.
 *  3. A core has at most one gene of a layer.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LAYOUT_CHROMOSOME_H
#define PIMSIM_MAPPERS_PIMCOMP_LAYOUT_CHROMOSOME_H

#include "mappers/pimcomp/cost/estimate.h"
#include "sim/random.h"

enum { PIM_GENE_LAYER = 10000, PIM_GENES_MOST = 64 };

struct pim_chromosome {
    uint32_t *gene;          /* [position * slots + slot] */
    uint32_t *vacant;        /* arrays of each position that are free */
    uint32_t *groups;        /* of each layer, all replicas together */
    uint64_t cycles, spread; /* fitness: the smaller the better, in this order */
    uint64_t identity;       /* ties between equals: the order of their making */
};

/* What all chromosomes have in common. */
struct pim_gene_space {
    const struct pim_core_architecture *architecture;
    const struct pim_core_network *network;
    const struct pim_core_partition *partition;
    struct pim_core_costs costs;
    uint32_t slots;       /* max_layers_in_core */
    const uint32_t *walk; /* core at each position: costs.walk */
    uint32_t *size;       /* of each layer: arrays of its largest group */
    uint32_t matrices;
    uint32_t *matrix; /* layers with array groups */
};

/* What a thread works with. */
struct pim_gene_workshop {
    struct pim_core_evaluation evaluation;
    struct pim_core_portions portions;
    uint32_t *missing;       /* of each layer: groups that the replica under construction still lacks */
    uint32_t *home;          /* of each layer: its home's portion, */
    uint32_t *place_of_home; /* and its position */
    uint32_t *place;         /* positions and groups of a change, to undo it */
    uint32_t *amount;
};

/* PIM_NO_MEMORY; PIM_BAD_INPUT when a replica has more array groups than a gene can say. `slots` is at least
 * 1, at most PIM_GENES_MOST. */
enum pim_status pim_gene_space_make(const struct pim_core_mapping *mapping, uint32_t slots,
                                    struct pim_arena *arena, struct pim_gene_space *space,
                                    struct pim_error *error);
enum pim_status pim_gene_workshop_make(const struct pim_gene_space *space, struct pim_arena *arena,
                                       struct pim_gene_workshop *workshop, struct pim_error *error);
enum pim_status pim_chromosome_make(const struct pim_gene_space *space, struct pim_arena *arena,
                                    struct pim_chromosome *chromosome, struct pim_error *error);
void pim_chromosome_copy(const struct pim_gene_space *space, struct pim_chromosome *to,
                         const struct pim_chromosome *from);

/* One replica of each layer, first fit. False: there is no room for them like this. */
bool pim_chromosome_first(const struct pim_gene_space *space, struct pim_chromosome *chromosome);

/* The array groups of a layout, core by core; which of them make a replica is then the chromosome's own.
 * False: they find no room in its terms (invariants 2 and 3), or a group of other layers in a core. */
bool pim_chromosome_from_layout(const struct pim_gene_space *space, const struct pim_core_layout *layout,
                                struct pim_chromosome *chromosome);

/* Sets the fitness. */
void pim_chromosome_weigh(const struct pim_gene_space *space, struct pim_gene_workshop *workshop,
                          struct pim_chromosome *chromosome);

/* Mutation I or II, legal; false: this one changed nothing (mutation.c). */
bool pim_chromosome_mutate(const struct pim_gene_space *space, struct pim_gene_workshop *workshop,
                           struct pim_chromosome *chromosome, struct pim_random *random);

/* Puts up to `count` groups of a layer to a position; returns how many. */
uint32_t pim_chromosome_put(const struct pim_gene_space *space, struct pim_chromosome *chromosome,
                            uint32_t position, uint32_t layer, uint32_t count);
/* Takes `count` groups off, which the gene has. */
void pim_chromosome_take(const struct pim_gene_space *space, struct pim_chromosome *chromosome,
                         uint32_t position, uint32_t slot, uint32_t count);

/* The layout of a chromosome; PIM_NO_MEMORY. Replicas of a parent, unless it is NULL, stay what they are
 * where the chromosome still has all their groups on their cores; the rest is given out as said above. */
enum pim_status pim_chromosome_layout(const struct pim_gene_space *space,
                                      const struct pim_chromosome *chromosome,
                                      const struct pim_core_layout *parent, struct pim_arena *arena,
                                      struct pim_core_layout *layout, struct pim_error *error);

#endif
