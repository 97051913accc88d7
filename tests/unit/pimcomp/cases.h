/* Networks, accelerators and mappings for the tests of the PIMCOMP front-end. */
#ifndef PIMSIM_TESTS_UNIT_PIMCOMP_CASES_H
#define PIMSIM_TESTS_UNIT_PIMCOMP_CASES_H

#include "mappers/network/descriptor/descriptor.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/partition/partition.h"
#include "mappers/pimcomp/representation/pimcomp.h"
#include "mappers/verify/value.h"
#include "tests/unit/test_main.h"

struct core_case {
    struct pim_arena arena;
    struct pim_network *source; /* NULL: the graph was made by the test */
    struct pim_graph graph;     /* for tests that build one */
    struct pim_core_architecture architecture;
    struct pim_core_network network;
    struct pim_core_partition partition;
    struct pim_core_layout layout;
    struct pim_core_mapping mapping; /* of the four above */
};

/* Cores of `arrays` arrays of `rows` x `columns` weights on one mesh; the rest as a small ISAAC. */
struct pim_core_architecture core_architecture(uint32_t width, uint32_t height, uint32_t arrays,
                                               uint32_t rows, uint32_t columns);

/* An empty case with 4 x 4 cores of 8 arrays of 32 x 32. */
void core_case_begin(struct core_case *c);
void core_case_end(struct core_case *c);

/* Lowers configs/networks/NAME.cfg, with at most one override ("network.image=64", NULL: none). */
void core_case_network(struct core_case *c, const char *name, const char *override);

/* Adds a layer to c->graph; fails the test when it is refused. */
uint32_t core_case_layer(struct core_case *c, const char *name, enum pim_operator operation,
                         const union pim_attributes *attributes, uint32_t inputs, const uint32_t *input);
uint32_t core_case_image(struct core_case *c, uint32_t channels, uint32_t height, uint32_t width);
uint32_t core_case_convolution(struct core_case *c, const char *name, uint32_t input, uint32_t outputs,
                               uint32_t kernel, uint32_t stride, uint32_t pad);
/* Without padding, in steps of one. */
uint32_t core_case_grouped(struct core_case *c, const char *name, uint32_t input, uint32_t outputs,
                           uint32_t groups, uint32_t kernel);
uint32_t core_case_activation(struct core_case *c, const char *name, uint32_t input,
                              enum pim_activation kind);

/* Lowers c->graph, which must succeed. */
void core_case_lower(struct core_case *c);

/* Partitions, all layers by `unfolding` (PIM_UNFOLDINGS: greedy), and lays out by `lay` (NULL: not). */
void core_case_map(struct core_case *c, enum pim_core_mode mode, enum pim_unfolding unfolding,
                   pim_core_layout_rule *lay);

/* MVMs of one inference. */
uint64_t core_case_mvms(const struct core_case *c);

/* The lowered layer of that name. */
const struct pim_core_layer *core_case_named(const struct core_case *c, const char *name);

Suite *architecture_suite(void);
Suite *lower_suite(void);
Suite *partition_suite(void);
Suite *layout_suite(void);
Suite *search_suite(void);
Suite *refinement_suite(void);
Suite *timing_suite(void);

/* Weights of the matrix layers, without zeros between groups of a convolution, and MACs with them. */
uint64_t core_case_weights(const struct core_case *c);
uint64_t core_case_macs(const struct core_case *c);

/* A small network of branches, and an accelerator with room for some replicas. */
void core_case_small(struct core_case *c);

#endif
