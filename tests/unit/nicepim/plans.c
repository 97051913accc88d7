#include "tests/unit/nicepim/plans.h"

#include "tests/unit/test_main.h"

void check(enum pim_status status, const struct pim_error *error)
{
    ck_assert_msg(status == PIM_OK, "%s", error->text);
}

struct pim_network *nicepim_network(const char *file, const char *setting)
{
    struct pim_network *network;
    struct pim_error error = {0};
    char path[512];
    pimsim_source_path(path, sizeof path, file);
    check(pim_network_read(path, &setting, 1, &network, &error), &error);
    return network;
}

struct nice_request nicepim_request(const struct pim_network *network,
                                    const struct pim_estimate_hardware *nodes, enum nice_method method)
{
    return (struct nice_request){.network = network,
                                 .hardware = nodes,
                                 .batch = 1,
                                 .capacity = nodes->memory_bytes,
                                 .copy_limit = UINT64_MAX,
                                 .method = method,
                                 .weights = {.cycles = 1}};
}
