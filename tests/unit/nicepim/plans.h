/* What tests of plans begin with; a failure fails the test. */
#ifndef PIMSIM_TESTS_UNIT_NICEPIM_PLANS_H
#define PIMSIM_TESTS_UNIT_NICEPIM_PLANS_H

#include "mappers/nicepim/map/make_plan.h"

void check(enum pim_status status, const struct pim_error *error);

/* The network of a file below the source folder, with one setting ("network.image=64"). The caller destroys
 * it. */
struct pim_network *nicepim_network(const char *file, const char *setting);

/* A plan of least cycles for one image on all nodes, where weights have all the memory there is. */
struct nice_request nicepim_request(const struct pim_network *network,
                                    const struct pim_estimate_hardware *nodes, enum nice_method method);

#endif
