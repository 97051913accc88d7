#include "tests/unit/noc_routing/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, topology_suite());
    srunner_add_suite(runner, routing_suite());
    srunner_add_suite(runner, table_suite());
    srunner_add_suite(runner, dependency_suite());
    srunner_add_suite(runner, delivery_suite());
}

struct pim_noc_topology *make_topology(enum pim_noc_topology_kind kind, uint32_t width, uint32_t height)
{
    struct pim_noc_topology_configuration configuration;
    pim_noc_topology_configuration_initialize(&configuration);
    configuration.kind = kind;
    configuration.width = width;
    configuration.height = height;
    struct pim_noc_topology *topology;
    struct pim_error error = {0};
    ck_assert_msg(pim_noc_topology_create(&configuration, &topology, &error) == PIM_OK, "%s", error.text);
    return topology;
}

struct pim_noc_routing *make_routing(enum pim_noc_routing_kind kind, const struct pim_noc_topology *topology,
                                     uint32_t virtual_channels, struct pim_error *error)
{
    struct pim_noc_routing_configuration configuration = {
        .kind = kind, .virtual_channels = virtual_channels, .seed = 5};
    struct pim_noc_routing *routing;
    *error = (struct pim_error){.status = PIM_OK};
    enum pim_status status = pim_noc_routing_create(&configuration, topology, &routing, error);
    ck_assert_int_eq(status == PIM_OK, routing != NULL);
    return routing;
}

void make_random_table(const struct pim_noc_topology *topology, struct pim_random *random,
                       struct pim_noc_route_table *table)
{
    uint32_t routers = topology->routers;
    *table = (struct pim_noc_route_table){.routers = routers,
                                          .next = malloc((size_t)routers * routers * sizeof *table->next)};
    uint32_t *order = malloc(routers * sizeof *order);
    bool *reached = malloc(routers * sizeof *reached);
    ck_assert(table->next && order && reached);
    for (uint32_t d = 0; d < routers; d++) { /* a random tree towards d */
        uint32_t count = 1;
        memset(reached, 0, routers * sizeof *reached);
        reached[d] = true;
        order[0] = d;
        while (count < routers) {
            uint32_t to = order[pim_random_below(random, count)];
            uint32_t l = (uint32_t)pim_random_below(random, topology->links);
            uint32_t from = topology->link[l].from;
            if (topology->link[l].to != to || reached[from])
                continue;
            table->next[(size_t)from * routers + d] = to;
            reached[from] = true;
            order[count++] = from;
        }
        table->next[(size_t)d * routers + d] = PIM_NOC_NONE;
    }
    free(order);
    free(reached);
}

bool accepted(enum pim_noc_topology_kind kind, uint32_t width, uint32_t height,
              enum pim_noc_routing_kind routing_kind, uint32_t virtual_channels, struct pim_error *error)
{
    struct pim_noc_topology *topology = make_topology(kind, width, height);
    struct pim_noc_routing *routing = make_routing(routing_kind, topology, virtual_channels, error);
    bool good = routing && pim_noc_dependency_check(routing, error) == PIM_OK;
    pim_noc_routing_destroy(routing);
    pim_noc_topology_destroy(topology);
    return good;
}

const char *write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}
