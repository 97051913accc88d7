#include "tests/unit/tune/suites.h"

#include "models/system/schema.h"

#include <stdio.h>

void make_space(struct pim_tune_space *space, const char *hardware)
{
    static const struct pim_tune_bounds bounds = {2, 16, 1, 256, 1, 2048};
    char relative[256], path[1024];
    struct pim_configuration *base;
    struct pim_error error = {0};
    (void)snprintf(relative, sizeof relative, "configs/hardware/%s.cfg", hardware);
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &base, &error), PIM_OK);
    ck_assert_msg(pim_configuration_read_file(base, pimsim_source_path(path, sizeof path, relative),
                                              &error) == PIM_OK &&
                      pim_configuration_complete(base, &error) == PIM_OK,
                  "%s", error.text);
    ck_assert_msg(pim_tune_space_initialize(space, base, &bounds, PIM_AREA_MID, &error) == PIM_OK, "%s",
                  error.text);
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, best_suite());
    srunner_add_suite(runner, goal_suite());
    srunner_add_suite(runner, space_suite());
    srunner_add_suite(runner, strategy_suite());
    srunner_add_suite(runner, strategy_learning_suite());
}
