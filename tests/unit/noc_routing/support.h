/* Topologies and routings for tests, and what is true of them by a second, slower way. */
#ifndef PIMSIM_TESTS_UNIT_NOC_ROUTING_SUPPORT_H
#define PIMSIM_TESTS_UNIT_NOC_ROUTING_SUPPORT_H

#include "models/noc/dependency/dependency.h"
#include "sim/random.h"
#include "tests/unit/test_main.h"

Suite *topology_suite(void);
Suite *routing_suite(void);
Suite *table_suite(void);
Suite *dependency_suite(void);
Suite *delivery_suite(void);

/* A plain mesh or torus. */
struct pim_noc_topology *make_topology(enum pim_noc_topology_kind kind, uint32_t width, uint32_t height);

/* A routing with one class that has all virtual channels; NULL and a message when it is refused. */
struct pim_noc_routing *make_routing(enum pim_noc_routing_kind kind, const struct pim_noc_topology *topology,
                                     uint32_t virtual_channels, struct pim_error *error);

/* A random table of which every packet arrives, not always by a shortest way. Terminate it. */
void make_random_table(const struct pim_noc_topology *topology, struct pim_random *random,
                       struct pim_noc_route_table *table);

/* Whether the routing exists with these virtual channels on this network, and passes the deadlock check. */
bool accepted(enum pim_noc_topology_kind topology, uint32_t width, uint32_t height,
              enum pim_noc_routing_kind kind, uint32_t virtual_channels, struct pim_error *error);

/* Writes a file of a test and returns its name, which is `path`. */
const char *write_file(const char *path, const char *text);

/* ck_assert for inner loops: writes nothing while it holds. */
#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            ck_abort_msg("%s", #condition);                                                                  \
    } while (0)

#endif
