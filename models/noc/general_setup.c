/* From a configuration to a topology and a routing that cannot deadlock; the files that it names. */
#include "models/noc/dependency.h"
#include "models/noc/general.h"

#include <stdlib.h>

static enum pim_status create_topology(const struct pim_noc_configuration *configuration,
                                       struct pim_noc_topology **topology, struct pim_error *error)
{
    struct pim_noc_topology_configuration shape;
    pim_noc_topology_configuration_initialize(&shape);
    shape.kind = configuration->topology;
    shape.width = configuration->width;
    shape.height = configuration->height;
    shape.concentration = configuration->concentration;
    shape.link_latency = configuration->link_latency;
    shape.link_bits = configuration->link_bits;
    if (shape.link_bits.numerator == 0)
        shape.link_bits.denominator = 1;
    struct pim_noc_link_entry *express = NULL, *links = NULL;
    enum pim_status status = PIM_OK;
    if (configuration->express_list[0] != '\0')
        status = pim_noc_link_list_read(configuration->express_list, &express, &shape.express_count, error);
    if (status == PIM_OK && configuration->link_list[0] != '\0')
        status = pim_noc_link_list_read(configuration->link_list, &links, &shape.override_count, error);
    shape.express = express;
    shape.overrides = links;
    if (status == PIM_OK) {
        status = pim_noc_topology_create(&shape, topology, error);
        const char *first = configuration->express_list, *second = configuration->link_list;
        if (status == PIM_BAD_INPUT && shape.express_count + shape.override_count > 0)
            status = pim_fail_in(error, "%s%s%s, links counted from 0", first,
                                 *first && *second ? " and " : "", second);
    }
    free(express);
    free(links);
    return status;
}

static enum pim_status create_routing(const struct pim_noc_configuration *configuration,
                                      const struct pim_noc_topology *topology,
                                      struct pim_noc_routing **routing, struct pim_error *error)
{
    struct pim_noc_routing_configuration rules = {
        .kind = configuration->routing,
        .virtual_channels = configuration->virtual_channels,
        .classes = configuration->classes,
        .seed = configuration->seed,
    };
    uint32_t first = 0;
    for (uint32_t i = 0; i < configuration->classes; i++) {
        rules.class[i] = (struct pim_noc_vc_range){first, configuration->class_channels[i]};
        first += configuration->class_channels[i];
    }
    if (configuration->routing != PIM_NOC_TABLE)
        return pim_noc_routing_create(&rules, topology, routing, error);
    struct pim_noc_route_table table;
    if (pim_noc_route_table_read(configuration->route_table, topology->routers, &table, error) != PIM_OK)
        return error->status;
    rules.table = &table;
    enum pim_status status = pim_noc_routing_create(&rules, topology, routing, error);
    pim_noc_route_table_terminate(&table);
    return status;
}

enum pim_status pim_noc_general_plan(const struct pim_noc_configuration *configuration,
                                     struct pim_noc_topology **topology, struct pim_noc_routing **routing,
                                     struct pim_error *error)
{
    *topology = NULL;
    *routing = NULL;
    enum pim_status status = create_topology(configuration, topology, error);
    if (status == PIM_OK)
        status = create_routing(configuration, *topology, routing, error);
    if (status == PIM_OK)
        status = pim_noc_dependency_check(*routing, error);
    if (status == PIM_OK)
        return PIM_OK;
    pim_noc_routing_destroy(*routing);
    pim_noc_topology_destroy(*topology);
    *routing = NULL;
    *topology = NULL;
    return status;
}
