/*
 * Any bytes as one of the lists of the network on chip: a network when they begin with "router ", a routing
 * table with "router", links with "from", a rate matrix with "source", else a packet list. What is refused
 * must have a message; what is accepted must make a network, or be refused there with a message, and its
 * packets arrive.
 */
#include "models/noc/dependency/dependency.h"
#include "models/traffic/traffic.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

static struct pim_noc_topology_configuration square(void)
{
    struct pim_noc_topology_configuration shape;
    pim_noc_topology_configuration_initialize(&shape);
    shape.width = shape.height = 3;
    return shape;
}

static void try_table(const char *path)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_noc_topology_configuration shape = square();
    struct pim_noc_topology *topology;
    struct pim_noc_route_table table;
    struct pim_noc_routing *routing;
    require(pim_noc_topology_create(&shape, &topology, &error) == PIM_OK, "topology", &error);
    enum pim_status status = pim_noc_route_table_read(path, 9, &table, &error);
    if (status == PIM_OK) {
        struct pim_noc_routing_configuration configuration = {
            .kind = PIM_NOC_TABLE, .virtual_channels = 1, .table = &table};
        status = pim_noc_routing_create(&configuration, topology, &routing, &error);
        if (status == PIM_OK)
            status = pim_noc_dependency_check(routing, &error);
        pim_noc_routing_destroy(routing);
        pim_noc_route_table_terminate(&table);
    }
    require(status == PIM_OK || error.text[0] != '\0', "a table refused without a message", &error);
    pim_noc_topology_destroy(topology);
}

static void try_links(const char *path)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_noc_link_entry *entries;
    uint32_t count;
    if (pim_noc_link_list_read(path, &entries, &count, &error) != PIM_OK) {
        require(error.text[0] != '\0' && entries == NULL, "links refused without a message", &error);
        return;
    }
    for (unsigned express = 0; express < 2; express++) {
        struct pim_noc_topology_configuration shape = square();
        struct pim_noc_topology *topology;
        shape.kind = PIM_NOC_TORUS;
        shape.width = 7;
        *(express ? &shape.express : &shape.overrides) = entries;
        *(express ? &shape.express_count : &shape.override_count) = count;
        if (pim_noc_topology_create(&shape, &topology, &error) == PIM_OK) {
            struct pim_noc_routing_configuration configuration = {.kind = PIM_NOC_XY, .virtual_channels = 2};
            struct pim_noc_routing *routing;
            require(pim_noc_routing_create(&configuration, topology, &routing, &error) == PIM_OK, "xy",
                    &error);
            require(pim_noc_dependency_check(routing, &error) == PIM_OK, "xy on a torus", &error);
            pim_noc_routing_destroy(routing);
        }
        require(topology || error.text[0] != '\0', "a topology refused without a message", &error);
        pim_noc_topology_destroy(topology);
    }
    free(entries);
}

static void try_network(const char *path)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_noc_configuration noc;
    uint32_t nodes;
    enum pim_status status = pim_noc_file_nodes(path, &nodes, &error);
    require((status == PIM_OK) == (error.text[0] == '\0'), "a network refused without a message", &error);
    if (status != PIM_OK || nodes > 256)
        return;
    pim_noc_configuration_initialize(&noc);
    noc.topology = PIM_NOC_FILE;
    noc.routing = PIM_NOC_MINIMAL;
    noc.width = nodes;
    noc.height = 1;
    noc.virtual_channels = 2;
    noc.may_deadlock = true;
    (void)snprintf(noc.network_file, sizeof noc.network_file, "%s", path);
    struct pim_noc *network;
    status = pim_noc_create(&noc, NULL, 1, NULL, &network, &error);
    require((status == PIM_OK) == (error.text[0] == '\0'), "a network refused without a message", &error);
    if (status != PIM_OK)
        return;
    for (uint32_t node = 0; node < nodes; node++)
        pim_noc_send_at(network, 0, node, nodes - 1 - node, 1, node);
    for (uint64_t cycle; (cycle = pim_noc_next_cycle(network)) != UINT64_MAX;)
        pim_noc_step(network, cycle);
    require(pim_noc_check(network, &error) == PIM_OK, "invariants", &error);
    pim_noc_destroy(network);
}

static void try_packets(const char *path, bool matrix)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_noc_configuration noc;
    pim_noc_configuration_initialize(&noc);
    noc.width = noc.height = 3;
    noc.virtual_channels = noc.classes = 2;
    noc.class_channels[0] = noc.class_channels[1] = 1;
    if (matrix) {
        struct pim_traffic_flow *flows;
        uint32_t count;
        enum pim_status status = pim_traffic_matrix_read(path, &noc, &flows, &count, &error);
        require(status == PIM_OK || error.text[0] != '\0', "a matrix refused without a message", &error);
        free(flows);
        return;
    }
    struct pim_packet_list list;
    if (pim_packet_list_read(path, &noc, &list, &error) != PIM_OK) {
        require(error.text[0] != '\0', "packets refused without a message", &error);
        return;
    }
    uint64_t flits = 0;
    for (uint64_t i = 0; i < list.count; i++)
        flits += list.packets[i].flits;
    struct pim_noc_delivery *deliveries = calloc(list.count + 1, sizeof *deliveries);
    if (!deliveries)
        abort();
    if (list.count < 1000 && flits < 10000) {
        struct pim_traffic_result result;
        require(pim_traffic_replay(&noc, &list, true, NULL, deliveries, &result, &error) == PIM_OK, "replay",
                &error);
        require(result.packets == list.count, "packets are lost", &error);
        pim_traffic_result_terminate(&result);
    }
    free(deliveries);
    pim_packet_list_terminate(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    FILE *file = tmpfile();
    if (!file || (size > 0 && fwrite(data, 1, size, file) != size) || fflush(file) != 0)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    const char *text = (const char *)data;
    if (size >= 7 && memcmp(text, "router ", 7) == 0)
        try_network(path);
    else if (size >= 6 && memcmp(text, "router", 6) == 0)
        try_table(path);
    else if (size >= 4 && memcmp(text, "from", 4) == 0)
        try_links(path);
    else
        try_packets(path, size >= 6 && memcmp(text, "source", 6) == 0);
    (void)fclose(file);
    return 0;
}
