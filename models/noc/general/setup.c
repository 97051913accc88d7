/* From a configuration to a topology and a routing that cannot deadlock; the files that it names. */
#include "models/noc/general/setup.h"
#include "models/noc/dependency/dependency.h"
#include "models/noc/internal.h"

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
    shape.depth = configuration->depth;
    shape.radix = configuration->radix;
    shape.levels = configuration->levels;
    shape.global_latency = configuration->global_latency;
    shape.latency_by_length = configuration->latency_by_length;
    shape.network_file = configuration->network_file;
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
        .partition = configuration->partition,
        .numbered_draws = configuration->numbered_draws,
    };
    uint32_t first = 0;
    for (uint32_t i = 0; i < configuration->classes; i++) {
        if (configuration->message_classes)
            first = configuration->class_first[i];
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

static enum pim_status check_tree(const char *which, uint32_t groups, uint32_t candidates,
                                  struct pim_error *error)
{
    if (groups == 0 || candidates % groups == 0)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "noc.%s_arbiter_groups is %u: it must divide the %u candidates of an arbiter", which,
                    groups, candidates);
}

/* Groups of arbiter trees divide the candidates of every router: ports x channels, and crossbar inputs and
 * outputs. */
static enum pim_status check_trees(const struct pim_noc_configuration *configuration,
                                   const struct pim_noc_topology *topology, struct pim_error *error)
{
    for (uint32_t router = 0; router < topology->routers; router++) {
        uint32_t ports = pim_noc_ports(topology, router);
        if (check_tree("vc", configuration->vc_groups, ports * configuration->virtual_channels, error) !=
                PIM_OK ||
            check_tree("switch", configuration->switch_groups, ports * configuration->input_speedup, error) !=
                PIM_OK ||
            check_tree("switch", configuration->switch_groups, ports * configuration->output_speedup,
                       error) != PIM_OK)
            return pim_fail_in(error, "router %u", router);
    }
    return PIM_OK;
}

/* Of single links in files; the others are checked before. */
static enum pim_status check_output_buffers(const struct pim_noc_configuration *configuration,
                                            const struct pim_noc_topology *topology, struct pim_error *error)
{
    for (uint32_t i = 0; i < topology->links && configuration->output_buffer_flits; i++)
        if (pim_noc_slower_than_flits(topology->link[i].bits, configuration->flit_bits))
            return pim_fail(error, PIM_BAD_INPUT,
                            "noc.output_buffer_flits is %u: it needs links of a flit per cycle, %u bits, "
                            "which %u->%u is not",
                            configuration->output_buffer_flits, configuration->flit_bits,
                            topology->link[i].from, topology->link[i].to);
    return PIM_OK;
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
        status = check_trees(configuration, *topology, error);
    if (status == PIM_OK)
        status = check_output_buffers(configuration, *topology, error);
    if (status == PIM_OK && !configuration->may_deadlock)
        status = pim_noc_dependency_check(*routing, error);
    if (status == PIM_OK)
        return PIM_OK;
    pim_noc_routing_destroy(*routing);
    pim_noc_topology_destroy(*topology);
    *routing = NULL;
    *topology = NULL;
    return status;
}
