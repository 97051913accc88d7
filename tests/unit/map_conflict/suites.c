#include "tests/unit/map_conflict/suites.h"

#include <math.h>

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, conflict_graph_suite());
    srunner_add_suite(runner, conflict_mapping_suite());
    srunner_add_suite(runner, conflict_estimators_suite());
}

const struct pim_tile_limits no_limits = {HUGE_VAL, NULL, NULL};

void make_recorded(const char *name, enum pim_tile_preset preset, struct pim_arena *arena,
                   struct pim_tile_graph *graph)
{
    struct pim_tile_hardware hardware = PIM_TILE_DEFAULTS;
    struct pim_tile_layer *layers;
    struct pim_error error = {0};
    uint32_t count;
    hardware.preset = preset;
    ck_assert(pim_tile_layers_named(name, arena, &layers, &count));
    ck_assert_msg(pim_tile_graph_make(graph, name, layers, count, &hardware, arena, &error) == PIM_OK, "%s",
                  error.text);
}
