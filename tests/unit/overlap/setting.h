#ifndef PIMSIM_TESTS_UNIT_OVERLAP_SETTING_H
#define PIMSIM_TESTS_UNIT_OVERLAP_SETTING_H
/* What tests of the search begin with: networks, the hardware, options. */

#include "mappers/nest/nest.h"
#include "mappers/overlapim/plan.h"

struct setting {
    struct pim_configuration *configuration;
    char *text;
    struct pim_network *network;
    struct pim_mapper_inputs inputs;
};

/* configs/networks/NAME.cfg on configs/hardware/fast-overlapim-hbm2.cfg; set: KEY=VALUE or NULL. */
void set_up(struct setting *setting, const char *name, const char *set);
void tear_down(struct setting *setting);

struct pim_network *network(const char *name);

/* The defaults with 40 candidates. */
struct pim_overlapim_options options_of(unsigned order, uint64_t threads);

/* Channels, banks or columns that a nest works on. */
uint64_t used(const struct pim_nest *nest, unsigned level);

#endif
