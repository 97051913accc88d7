/*
 * Topology and routing of a configuration, for the general network and for the fast mesh.
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_SETUP_H
#define PIMSIM_MODELS_NOC_GENERAL_SETUP_H

#include "models/noc/noc.h"
#include "models/noc/routing/routing.h"

/* Checked for deadlock. */
enum pim_status pim_noc_general_plan(const struct pim_noc_configuration *configuration,
                                     struct pim_noc_topology **topology, struct pim_noc_routing **routing,
                                     struct pim_error *error);

#endif
