#ifndef PIMSIM_TESTS_UNIT_MAP_CONFLICT_SUITES_H
#define PIMSIM_TESTS_UNIT_MAP_CONFLICT_SUITES_H

#include "mappers/conflict/mapping.h"
#include "tests/unit/test_main.h"

Suite *conflict_graph_suite(void);
Suite *conflict_mapping_suite(void);
Suite *conflict_estimators_suite(void);

extern const struct pim_tile_limits no_limits;

/* The graph of one of the authors' networks; the arena holds it. */
void make_recorded(const char *name, enum pim_tile_preset preset, struct pim_arena *arena,
                   struct pim_tile_graph *graph);

#endif
