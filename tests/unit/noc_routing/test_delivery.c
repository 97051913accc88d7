/*
 * What the deadlock check accepts does not deadlock: bursts with the least virtual channels and small
 * buffers, in the routers that use the routing, are delivered to the last flit.
 */
#include "models/noc/noc.h"
#include "tests/unit/noc_routing/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PACKETS = 1200, BURST_CYCLES = 60, CYCLES_MOST = 200000 };

static void count(void *context, const struct pim_noc_delivery *delivery)
{
    unsigned *delivered = context;
    MUST(delivery->packet < PACKETS);
    ++*delivered;
}

/* Sends a burst of random packets; whether all of them arrive. */
static bool delivers(const struct pim_noc_configuration *noc, uint64_t seed)
{
    struct pim_random random;
    struct pim_error error = {0};
    struct pim_noc *network;
    unsigned delivered = 0, sent = 0;
    struct pim_noc_callbacks callbacks = {.context = &delivered, .delivered = count};
    pim_random_initialize(&random, seed);
    ck_assert_msg(pim_noc_create(noc, NULL, 1, &callbacks, &network, &error) == PIM_OK, "%s", error.text);
    uint32_t nodes = pim_noc_nodes(noc);
    for (uint64_t cycle = 0; cycle < CYCLES_MOST && delivered < PACKETS; cycle++) {
        for (; sent < PACKETS && sent * BURST_CYCLES / PACKETS <= cycle; sent++)
            pim_noc_send_at(network, cycle, (uint32_t)pim_random_below(&random, nodes),
                            (uint32_t)pim_random_below(&random, nodes), 1 + pim_random_below(&random, 9),
                            sent);
        if (pim_noc_next_cycle(network) == UINT64_MAX)
            break;
        pim_noc_step(network, cycle);
    }
    ck_assert_msg(pim_noc_check(network, &error) == PIM_OK, "%s", error.text);
    pim_noc_destroy(network);
    return delivered == PACKETS;
}

static struct pim_noc_configuration small_network(uint32_t width, uint32_t height, uint32_t channels)
{
    struct pim_noc_configuration noc;
    pim_noc_configuration_initialize(&noc);
    noc.width = width;
    noc.height = height;
    noc.virtual_channels = channels;
    noc.buffer_flits = 2;
    return noc;
}

static const struct {
    enum pim_noc_routing_kind kind;
    enum pim_noc_topology_kind topology;
    uint32_t channels, concentration;
} least[] = {
    {PIM_NOC_XY, PIM_NOC_MESH, 1, 1},       {PIM_NOC_YX, PIM_NOC_MESH, 1, 2},
    {PIM_NOC_O1TURN, PIM_NOC_MESH, 2, 1},   {PIM_NOC_WEST_FIRST, PIM_NOC_MESH, 1, 1},
    {PIM_NOC_ODD_EVEN, PIM_NOC_MESH, 1, 1}, {PIM_NOC_MINIMAL_ADAPTIVE, PIM_NOC_MESH, 2, 1},
    {PIM_NOC_VALIANT, PIM_NOC_MESH, 2, 1},  {PIM_NOC_ROMM, PIM_NOC_MESH, 2, 1},
    {PIM_NOC_XY, PIM_NOC_TORUS, 2, 1},      {PIM_NOC_MINIMAL_ADAPTIVE, PIM_NOC_TORUS, 3, 1},
    {PIM_NOC_VALIANT, PIM_NOC_TORUS, 4, 2}, {PIM_NOC_MINIMAL_ADAPTIVE, PIM_NOC_MESH, 4, 2},
};

START_TEST(least_channels_deliver_a_burst)
{
    struct pim_noc_configuration noc = small_network(5, 4, least[_i].channels);
    noc.topology = least[_i].topology;
    noc.routing = least[_i].kind;
    noc.concentration = least[_i].concentration;
    for (uint64_t seed = 41; seed < 43; seed++)
        ck_assert_msg(delivers(&noc, seed), "%s on %s, seed %u",
                      pim_noc_routing_name((unsigned)least[_i].kind),
                      pim_noc_topology_name((unsigned)least[_i].topology), (unsigned)seed);
}
END_TEST

static void write_table(const char *path, const struct pim_noc_route_table *table)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "router,destination,next\n");
    for (uint32_t i = 0; i < table->routers * table->routers; i++)
        if (table->next[i] != PIM_NOC_NONE)
            fprintf(file, "%u,%u,%u\n", i / table->routers, i % table->routers, table->next[i]);
    ck_assert_int_eq(fclose(file), 0);
}

/* Random tables, on a mesh with express links: those that pass the check deliver. */
START_TEST(accepted_tables_deliver_a_burst)
{
    static const struct pim_noc_link_entry express[] = {{0, 5, 0, {0, 0}}, {5, 0, 0, {0, 0}}};
    struct pim_noc_topology_configuration shape;
    pim_noc_topology_configuration_initialize(&shape);
    shape.width = 3;
    shape.height = 2;
    shape.express = express;
    shape.express_count = 2;
    struct pim_noc_topology *topology;
    struct pim_error error = {0};
    struct pim_random random;
    struct pim_noc_configuration noc = small_network(3, 2, 1);
    noc.routing = PIM_NOC_TABLE;
    (void)snprintf(noc.route_table, sizeof noc.route_table, "noc_delivery_table_%d.csv", (int)getpid());
    (void)snprintf(noc.express_list, sizeof noc.express_list, "noc_delivery_links_%d.csv", (int)getpid());
    write_file(noc.express_list, "from,to\n0,5\n5,0\n");
    pim_random_initialize(&random, 43);
    ck_assert_int_eq(pim_noc_topology_create(&shape, &topology, &error), PIM_OK);
    unsigned tried = 0, refused = 0;
    while (tried < 8 && refused < 1000) {
        struct pim_noc_route_table table;
        make_random_table(topology, &random, &table);
        write_table(noc.route_table, &table);
        pim_noc_route_table_terminate(&table);
        if (pim_noc_configuration_check(&noc, &error) != PIM_OK) {
            refused++;
            continue;
        }
        ck_assert_msg(delivers(&noc, 50 + tried), "table %u", tried);
        tried++;
    }
    ck_assert_uint_eq(tried, 8);
    ck_assert_uint_gt(refused, 0);
    pim_noc_topology_destroy(topology);
    (void)remove(noc.route_table);
    (void)remove(noc.express_list);
}
END_TEST

Suite *delivery_suite(void)
{
    Suite *suite = suite_create("noc_routing_delivery");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, least_channels_deliver_a_burst, 0, sizeof least / sizeof *least);
    tcase_add_test(all, accepted_tables_deliver_a_burst);
    suite_add_tcase(suite, all);
    return suite;
}
