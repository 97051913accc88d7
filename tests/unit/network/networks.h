/* What the tests of networks share. */
#ifndef PIMSIM_TESTS_UNIT_NETWORK_NETWORKS_H
#define PIMSIM_TESTS_UNIT_NETWORK_NETWORKS_H

#include "mappers/network/descriptor/descriptor.h"

#include <check.h>

/* Every descriptor in configs/networks, without folder and ".cfg". */
enum { NETWORKS = 23 };
extern const char *const network_names[NETWORKS];

/* Reads configs/networks/<name>.cfg with one override (NULL: none); fails the test when it cannot. */
struct pim_network *read_network(const char *name, const char *override);

/* Builds a network from the text of a descriptor; the error is in *error. NULL when it is refused. */
struct pim_network *read_text(const char *text, struct pim_error *error);

/* The layer of that name; fails the test when there is none. */
const struct pim_layer *find_layer(const struct pim_network *network, const char *name);

/* Checks the graph and the invariants of transformer.h. */
void check_network(const struct pim_network *network);

Suite *operators_suite(void);
Suite *graph_suite(void);
Suite *published_suite(void);
Suite *view_suite(void);
Suite *padding_suite(void);
Suite *descriptor_suite(void);
Suite *print_suite(void);
Suite *convolutional_suite(void);
Suite *sliding_suite(void);
Suite *layer_table_suite(void);

/* An operator with attributes and inputs, and what shape inference must make of it. */
struct example {
    enum pim_operator operation;
    union pim_attributes attributes;
    uint32_t count;
    struct pim_shape input[2];
    struct pim_shape output; /* of an example that is refused: rank 0, and `message` */
    uint64_t macs, parameters;
    const char *message;
};

void check_examples(const struct example *examples, size_t count);

#endif
