/* Ports and links of meshes and tori of all shapes; express links; overrides; lists of links in files. */
#include "models/noc/noc.h"
#include "tests/unit/noc_routing/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What must be true of every topology. */
static void check_consistency(const struct pim_noc_topology *topology)
{
    uint32_t outputs = 0, inputs = 0;
    for (uint32_t r = 0; r < topology->routers; r++) {
        ck_assert_uint_le(pim_noc_ports(topology, r), topology->most_ports);
        for (uint32_t port = 0; port < pim_noc_ports(topology, r); port++) {
            uint32_t out = pim_noc_output_link(topology, r, port), in = pim_noc_input_link(topology, r, port);
            if (out != PIM_NOC_NONE) {
                outputs++;
                ck_assert_uint_eq(topology->link[out].from, r);
                ck_assert_uint_eq(topology->link[out].from_port, port);
            }
            if (in != PIM_NOC_NONE) {
                inputs++;
                ck_assert_uint_eq(topology->link[in].to, r);
                ck_assert_uint_eq(topology->link[in].to_port, port);
            }
            if (pim_noc_port_node(topology, r, port) != PIM_NOC_NONE) {
                uint32_t node = pim_noc_port_node(topology, r, port);
                ck_assert(out == PIM_NOC_NONE && in == PIM_NOC_NONE);
                ck_assert_uint_eq(pim_noc_node_router(topology, node), r);
                ck_assert_uint_eq(pim_noc_node_port(topology, node), port);
            }
        }
    }
    ck_assert_uint_eq(outputs, topology->links);
    ck_assert_uint_eq(inputs, topology->links);
    for (uint32_t l = 0; l < topology->links; l++) {
        const struct pim_noc_link *link = &topology->link[l];
        ck_assert_uint_ne(link->from, link->to);
        ck_assert_uint_eq(pim_noc_find_link(topology, link->from, link->to), l); /* at most one */
        if (l > 0)
            ck_assert(link->from > link[-1].from ||
                      (link->from == link[-1].from && link->from_port > link[-1].from_port));
        if (!link->express)
            ck_assert_uint_eq(link->to_port, link->from_port ^ 1U);
    }
}

/* Links of one row or column of a kind, both ways. */
static uint32_t side_links(enum pim_noc_topology_kind kind, uint32_t side)
{
    return kind == PIM_NOC_TORUS && side > 2 ? 2 * side : 2 * (side - 1);
}

START_TEST(every_rectangle_is_consistent)
{
    for (unsigned kind = 0; kind <= PIM_NOC_TORUS; kind++) {
        for (uint32_t width = 1; width <= 6; width++) {
            for (uint32_t height = 1; height <= 6; height++) {
                struct pim_noc_topology *topology =
                    make_topology((enum pim_noc_topology_kind)kind, width, height);
                check_consistency(topology);
                ck_assert_uint_eq(topology->links,
                                  height * side_links((enum pim_noc_topology_kind)kind, width) +
                                      width * side_links((enum pim_noc_topology_kind)kind, height));
                pim_noc_topology_destroy(topology);
            }
        }
    }
}
END_TEST

START_TEST(mesh_agrees_with_the_fast_mesh)
{
    struct pim_noc_configuration noc;
    pim_noc_configuration_initialize(&noc);
    noc.width = 5;
    noc.height = 3;
    struct pim_noc_topology *topology = make_topology(PIM_NOC_MESH, 5, 3);
    for (uint32_t r = 0; r < 15; r++) {
        for (unsigned port = 0; port < PIM_NOC_GRID_PORTS; port++) {
            uint32_t link = pim_noc_output_link(topology, r, port);
            ck_assert_uint_eq(link == PIM_NOC_NONE ? UINT32_MAX : topology->link[link].to,
                              pim_noc_neighbour(&noc, r, (enum pim_noc_direction)port));
        }
        ck_assert_uint_eq(pim_noc_node_port(topology, r), PIM_NOC_EJECT);
        for (uint32_t d = 0; d < 15; d++)
            ck_assert_uint_eq(pim_noc_distance(topology, r, d) + 1, pim_noc_hops(&noc, r, d));
    }
    pim_noc_topology_destroy(topology);
}
END_TEST

/* Shortest distances by a search over the links. */
START_TEST(torus_distance_is_the_shortest_way)
{
    const uint32_t sides[][2] = {{1, 5}, {2, 4}, {3, 3}, {5, 4}, {2, 2}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        struct pim_noc_topology *topology = make_topology(PIM_NOC_TORUS, sides[i][0], sides[i][1]);
        for (uint32_t from = 0; from < topology->routers; from++) {
            uint32_t distance[25];
            for (uint32_t r = 0; r < topology->routers; r++)
                distance[r] = r == from ? 0 : 1000;
            for (uint32_t round = 0; round < topology->routers; round++)
                for (uint32_t l = 0; l < topology->links; l++)
                    if (distance[topology->link[l].from] + 1 < distance[topology->link[l].to])
                        distance[topology->link[l].to] = distance[topology->link[l].from] + 1;
            for (uint32_t r = 0; r < topology->routers; r++)
                ck_assert_uint_eq(pim_noc_distance(topology, from, r), distance[r]);
        }
        pim_noc_topology_destroy(topology);
    }
}
END_TEST

START_TEST(wraps_are_where_coordinates_jump)
{
    struct pim_noc_topology *topology = make_topology(PIM_NOC_TORUS, 4, 3);
    uint32_t wraps = 0;
    for (uint32_t l = 0; l < topology->links; l++) {
        const struct pim_noc_link *link = &topology->link[l];
        int from = link->dimension ? topology->row[link->from] : topology->column[link->from];
        int to = link->dimension ? topology->row[link->to] : topology->column[link->to];
        ck_assert_int_eq(link->wraps, to - from != (link->direction ? -1 : 1));
        wraps += link->wraps;
    }
    ck_assert_uint_eq(wraps, 2 * (3 + 4));
    pim_noc_topology_destroy(topology);
}
END_TEST

/* --- express links, overrides, concentration --- */

START_TEST(express_links_get_ports_behind_the_terminals)
{
    const struct pim_noc_link_entry express[] = {
        {3, 0, 4, {25, 2}}, {0, 3, 0, {0, 0}}, {0, 10, 7, {0, 1}}, {0, 12, 0, {0, 0}}};
    const struct pim_noc_link_entry overrides[] = {{0, 1, 5, {0, 0}}, {3, 0, 0, {8, 3}}};
    struct pim_noc_topology_configuration configuration;
    pim_noc_topology_configuration_initialize(&configuration);
    configuration.width = configuration.height = 4;
    configuration.concentration = 3;
    configuration.link_latency = 2;
    configuration.link_bits = (struct pim_noc_bits){64, 1};
    configuration.express = express;
    configuration.express_count = 4;
    configuration.overrides = overrides;
    configuration.override_count = 2;
    struct pim_noc_topology *topology;
    struct pim_error error = {0};
    ck_assert_msg(pim_noc_topology_create(&configuration, &topology, &error) == PIM_OK, "%s", error.text);
    check_consistency(topology);
    ck_assert_uint_eq(topology->nodes, 48);
    ck_assert_uint_eq(topology->links, 48 + 4);
    ck_assert_uint_eq(pim_noc_ports(topology, 0), 4 + 3 + 3);
    ck_assert_uint_eq(pim_noc_ports(topology, 3), 4 + 3 + 1);
    ck_assert_uint_eq(pim_noc_ports(topology, 5), 4 + 3);
    const struct pim_noc_link *link = &topology->link[pim_noc_find_link(topology, 0, 3)];
    ck_assert(link->express && link->dimension == 0 && link->direction == 0 && link->from_port == 7);
    ck_assert(link->latency == 2 && link->bits.numerator == 64);
    link = &topology->link[pim_noc_find_link(topology, 0, 10)];
    ck_assert(link->express && link->dimension == 3 && link->latency == 7 && link->from_port == 8);
    ck_assert(link->bits.numerator == 0);
    link = &topology->link[pim_noc_find_link(topology, 0, 12)];
    ck_assert(link->dimension == 1 && link->from_port == 9);
    link = &topology->link[pim_noc_find_link(topology, 3, 0)];
    ck_assert(link->direction == 1 && link->latency == 4);
    ck_assert(link->bits.numerator == 8 && link->bits.denominator == 3);
    link = &topology->link[pim_noc_find_link(topology, 0, 1)];
    ck_assert(link->latency == 5 && !link->express && link->bits.numerator == 64);
    ck_assert_uint_eq(topology->link[pim_noc_find_link(topology, 1, 0)].latency, 2); /* one way only */
    pim_noc_topology_destroy(topology);
}
END_TEST

static void refuse(const struct pim_noc_topology_configuration *configuration, const char *message)
{
    struct pim_error error = {0};
    struct pim_noc_topology *topology;
    ck_assert_int_eq(pim_noc_topology_create(configuration, &topology, &error), PIM_BAD_INPUT);
    ck_assert_ptr_null(topology);
    ck_assert_msg(strstr(error.text, message) != NULL, "'%s' is not in: %s", message, error.text);
}

static void refuse_entries(const struct pim_noc_link_entry *entries, uint32_t count, bool express,
                           const char *message)
{
    struct pim_noc_topology_configuration configuration;
    pim_noc_topology_configuration_initialize(&configuration);
    configuration.kind = PIM_NOC_TORUS;
    configuration.width = configuration.height = 4;
    configuration.express = express ? entries : NULL;
    configuration.express_count = express ? count : 0;
    configuration.overrides = express ? NULL : entries;
    configuration.override_count = express ? 0 : count;
    refuse(&configuration, message);
}

START_TEST(bad_links_are_refused)
{
    refuse_entries(&(struct pim_noc_link_entry){0, 16, 1, {0, 0}}, 1, true, "16: allowed are 0 to 15");
    refuse_entries(&(struct pim_noc_link_entry){UINT32_MAX, 1, 1, {0, 0}}, 1, true, "allowed are 0 to 15");
    refuse_entries(&(struct pim_noc_link_entry){5, 5, 1, {0, 0}}, 1, true, "to itself");
    refuse_entries(&(struct pim_noc_link_entry){0, 3, 1, {0, 0}}, 1, true, "already"); /* the torus wraps */
    refuse_entries(&(struct pim_noc_link_entry){0, 2, 1025, {0, 0}}, 1, true, "1025: allowed are 0 to 1024");
    refuse_entries(&(struct pim_noc_link_entry){0, 2, 1, {1U << 21, 1}}, 1, true, "bits per cycle");
    refuse_entries(
        (const struct pim_noc_link_entry[]){{0, 2, 1, {0, 0}}, {2, 0, 1, {0, 0}}, {0, 2, 3, {0, 0}}}, 3, true,
        "two express links are given for 0->2");
    refuse_entries(&(struct pim_noc_link_entry){0, 2, 1, {0, 0}}, 1, false, "no link leads from router 0");
    refuse_entries((const struct pim_noc_link_entry[]){{0, 1, 1, {0, 0}}, {0, 1, 2, {0, 0}}}, 2, false,
                   "two link overrides are given for 0->1");
    struct pim_noc_link_entry many[PIM_NOC_EXPRESS_LIMIT + 1];
    for (uint32_t i = 0; i <= PIM_NOC_EXPRESS_LIMIT; i++)
        many[i] = (struct pim_noc_link_entry){0, 16 + 8 * i + 2, 1, {0, 0}};
    struct pim_noc_topology_configuration configuration;
    pim_noc_topology_configuration_initialize(&configuration);
    configuration.width = 256;
    configuration.express = many;
    configuration.express_count = PIM_NOC_EXPRESS_LIMIT + 1;
    refuse(&configuration, "at most 16");
}
END_TEST

START_TEST(bad_sides_are_refused)
{
    struct pim_noc_topology_configuration good, bad;
    pim_noc_topology_configuration_initialize(&good);
    bad = good;
    bad.width = 0;
    refuse(&bad, "width is 0: allowed are 1 to 256");
    bad = good;
    bad.height = 257;
    refuse(&bad, "height is 257: allowed are 1 to 256");
    bad = good;
    bad.concentration = 17;
    refuse(&bad, "concentration is 17: allowed are 1 to 16");
    bad = good;
    bad.link_latency = 0;
    refuse(&bad, "link latency is 0: allowed are 1 to 1024");
    bad = good;
    bad.link_bits.denominator = 0;
    refuse(&bad, "denominator");
    bad = good;
    bad.kind = PIM_NOC_TOPOLOGIES;
    refuse(&bad, "allowed are mesh, torus, fat_tree");
}
END_TEST

/* --- lists in files --- */

START_TEST(link_lists_are_read)
{
    char path[64];
    (void)snprintf(path, sizeof path, "noc_links_%d.csv", (int)getpid());
    struct pim_noc_link_entry *entries;
    uint32_t count;
    struct pim_error error = {0};
    write_file(path, "from,to,latency,bits_per_cycle\n0,1,3,12.5\n1,0,,100/30\n2,3,4,\n");
    ck_assert_msg(pim_noc_link_list_read(path, &entries, &count, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(count, 3);
    ck_assert(entries[0].latency == 3 && entries[0].bits.numerator == 25 && entries[0].bits.denominator == 2);
    ck_assert(entries[1].latency == 0 && entries[1].bits.numerator == 10 && entries[1].bits.denominator == 3);
    ck_assert(entries[2].from == 2 && entries[2].to == 3 && entries[2].bits.denominator == 0);
    free(entries);
    write_file(path, "from,to\n7,9\n");
    ck_assert_int_eq(pim_noc_link_list_read(path, &entries, &count, &error), PIM_OK);
    ck_assert(count == 1 && entries[0].to == 9 && entries[0].latency == 0);
    free(entries);
    const struct {
        const char *text, *message;
    } bad[] = {
        {"from,to,latency\n0,1,0\n", ":2: column 3 (latency) is '0'"},
        {"from,to,latency\n0,1,1\n0,1,2000\n", ":3: column 3 (latency) is '2000'"},
        {"from,to,latency,bits_per_cycle\n0,1,1,0\n", ":2: column 4 (bits_per_cycle) is '0'"},
        {"from,to,latency,bits_per_cycle\n0,1,1,1/0\n", "bits_per_cycle"},
        {"from,to,latency,bits_per_cycle\n0,1,1,-3\n", "bits_per_cycle"},
        {"from,to,latency,bits_per_cycle\n0,1,1,3.\n", "bits_per_cycle"},
        {"from,to,latency,bits_per_cycle\n0,1,1,99999999999999999999999\n", "bits_per_cycle"},
        {"from,to,bits_per_cycle,latency\n0,1,1,1\n", ":1: the header"},
        {"from\n0\n", ":1: the header"},
        {"from,to\n-1,1\n", ":2: column 1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error = (struct pim_error){.status = PIM_OK};
        write_file(path, bad[i].text);
        ck_assert_int_eq(pim_noc_link_list_read(path, &entries, &count, &error), PIM_BAD_INPUT);
        ck_assert(entries == NULL && count == 0);
        ck_assert_msg(strstr(error.text, bad[i].message) != NULL, "case %zu: %s", i, error.text);
    }
    (void)remove(path);
}
END_TEST

Suite *topology_suite(void)
{
    Suite *suite = suite_create("noc_topology");
    TCase *all = tcase_create("all");
    tcase_add_test(all, every_rectangle_is_consistent);
    tcase_add_test(all, mesh_agrees_with_the_fast_mesh);
    tcase_add_test(all, torus_distance_is_the_shortest_way);
    tcase_add_test(all, wraps_are_where_coordinates_jump);
    tcase_add_test(all, express_links_get_ports_behind_the_terminals);
    tcase_add_test(all, bad_links_are_refused);
    tcase_add_test(all, bad_sides_are_refused);
    tcase_add_test(all, link_lists_are_read);
    suite_add_tcase(suite, all);
    return suite;
}
