#include "tests/unit/placement/suites.h"

#include <inttypes.h>
#include <stdio.h>

struct pim_network *shipped(const char *name, uint32_t image)
{
    char relative[128], path[1024], override[64];
    const char *overrides[1] = {override};
    struct pim_error error = {0};
    struct pim_network *network = NULL;
    (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", name);
    (void)snprintf(override, sizeof override, "network.image=%" PRIu32, image);
    enum pim_status status =
        pim_network_read(pimsim_source_path(path, sizeof path, relative), overrides, 1, &network, &error);
    ck_assert_msg(status == PIM_OK, "%s: %s", name, error.text);
    return network;
}

uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, dependencies_suite());
    srunner_add_suite(runner, binding_suite());
    srunner_add_suite(runner, stage_suite());
}
