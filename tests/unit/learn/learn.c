#include "tests/unit/learn/suites.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, learn_kernels_suite());
    srunner_add_suite(runner, learn_layers_suite());
    srunner_add_suite(runner, learn_gaussian_suite());
    srunner_add_suite(runner, learn_trees_suite());
}
