/* Routing tables: what is taken, what is refused and how that is said. */
#include "tests/unit/noc_routing/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Routers 0 1 in a row, 2 3 below them: all rows of xy routing. */
static const char *const square_rows = "0,1,1\n0,2,2\n0,3,1\n1,0,0\n1,2,0\n1,3,3\n"
                                       "2,0,0\n2,1,3\n2,3,3\n3,0,2\n3,1,1\n3,2,2\n";

/* Reads a table of a 2 x 2 mesh and makes a routing of it; the message of whatever refuses it. */
static enum pim_status read_table(const char *text, struct pim_error *error)
{
    char path[64];
    (void)snprintf(path, sizeof path, "noc_table_%d.csv", (int)getpid());
    struct pim_noc_topology *topology = make_topology(PIM_NOC_MESH, 2, 2);
    struct pim_noc_route_table table;
    *error = (struct pim_error){.status = PIM_OK};
    enum pim_status status = pim_noc_route_table_read(write_file(path, text), 4, &table, error);
    if (status == PIM_OK) {
        struct pim_noc_routing_configuration configuration = {
            .kind = PIM_NOC_TABLE, .virtual_channels = 1, .table = &table};
        struct pim_noc_routing *routing;
        status = pim_noc_routing_create(&configuration, topology, &routing, error);
        if (status == PIM_OK)
            status = pim_noc_dependency_check(routing, error);
        pim_noc_routing_destroy(routing);
        pim_noc_route_table_terminate(&table);
    }
    pim_noc_topology_destroy(topology);
    (void)remove(path);
    return status;
}

START_TEST(bad_tables_are_refused_with_row_and_reason)
{
    const struct {
        const char *head, *tail,
            *message; /* tail: cut from the rows of xy where it is found, then head added */
    } bad[] = {
        {"0,3,3\n", "0,3,1\n", ":13: router 0, destination 3, next 3: no link leads there"},
        {"", "2,1,3\n", "router 2 has no row for destination 1: a packet there never arrives"},
        {"0,3,1\n", NULL, ":14: column 3 (next) is '1': line 4 has the next router for this pair already"},
        {"4,0,1\n", NULL, ":14: column 1 (router) is '4'"},
        {"0,4,1\n", NULL, ":14: column 2 (destination) is '4'"},
        {"0,1,4\n", "0,1,1\n", ":13: column 3 (next) is '4'"},
        {"0,1,0\n", "0,1,1\n", ":13: column 3 (next) is '0'"},
        {"0,0,1\n", NULL, ":14: column 3 (next) is '1': the row's router is the destination"},
        {"1,3,0\n", "1,3,3\n", "destination 3, next 1: the rows lead in a loop from here"},
        {"0,1\n", "0,1,1\n", ":13"},
        {"0,1,x\n", "0,1,1\n", ":13: column 3 (next) is 'x'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[512];
        const char *cut = bad[i].tail ? strstr(square_rows, bad[i].tail) : square_rows;
        ck_assert_ptr_nonnull(cut);
        (void)snprintf(text, sizeof text, "router,destination,next\n%.*s%s%s", (int)(cut - square_rows),
                       square_rows, cut + (bad[i].tail ? strlen(bad[i].tail) : 0), bad[i].head);
        struct pim_error error;
        ck_assert_int_eq(read_table(text, &error), PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, bad[i].message) != NULL, "case %zu: %s", i, error.text);
    }
    struct pim_error error;
    ck_assert_int_eq(read_table("router,next,destination\n", &error), PIM_BAD_INPUT);
    struct pim_noc_route_table table;
    ck_assert_int_eq(pim_noc_route_table_read("x.csv", 1025, &table, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(pim_noc_route_table_read("no such file.csv", 4, &table, &error), PIM_IO);
}
END_TEST

START_TEST(a_good_table_is_taken)
{
    char text[512];
    struct pim_error error;
    (void)snprintf(text, sizeof text, "router,destination,next\n%s3,3,3\n", square_rows);
    ck_assert_msg(read_table(text, &error) == PIM_OK, "%s", error.text);
}
END_TEST

/* All packets go clockwise: a ring of waiting links. */
START_TEST(a_table_with_a_cycle_of_links_is_refused)
{
    struct pim_error error;
    const char *clockwise = "router,destination,next\n0,1,1\n0,2,1\n0,3,1\n1,0,3\n1,2,3\n1,3,3\n"
                            "3,0,2\n3,1,2\n3,2,2\n2,0,0\n2,1,0\n2,3,0\n";
    ck_assert_int_eq(read_table(clockwise, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "link 0->1 vc 0 waits for link 1->3 vc 0 waits for link 3->2 vc 0 waits "
                                     "for link 2->0 vc 0 waits for link 0->1 vc 0") != NULL,
                  "%s", error.text);
}
END_TEST

START_TEST(packets_follow_random_tables)
{
    struct pim_random random;
    pim_random_initialize(&random, 21);
    for (unsigned round = 0; round < 60; round++) {
        struct pim_noc_topology *topology = make_topology(round & 1 ? PIM_NOC_TORUS : PIM_NOC_MESH,
                                                          1 + (uint32_t)pim_random_below(&random, 5),
                                                          1 + (uint32_t)pim_random_below(&random, 5));
        struct pim_noc_route_table table;
        make_random_table(topology, &random, &table);
        struct pim_noc_routing_configuration configuration = {
            .kind = PIM_NOC_TABLE, .virtual_channels = 2, .table = &table};
        struct pim_noc_routing *routing;
        struct pim_error error = {0};
        ck_assert_msg(pim_noc_routing_create(&configuration, topology, &routing, &error) == PIM_OK, "%s",
                      error.text);
        for (uint32_t pair = 0; pair < topology->routers * topology->routers; pair++) {
            uint32_t r = pair / topology->routers, d = pair % topology->routers, hops = 0;
            struct pim_noc_packet_state state;
            pim_noc_packet_start(routing, pair, r, d, 0, &state);
            for (; r != d; hops++) {
                struct pim_noc_candidate candidate[PIM_NOC_CANDIDATE_LIMIT];
                ck_assert_uint_eq(pim_noc_route(routing, &state, r, 4, candidate), 1);
                uint32_t to = topology->link[pim_noc_output_link(topology, r, candidate[0].port)].to;
                ck_assert_uint_eq(to, table.next[(size_t)r * topology->routers + d]);
                pim_noc_packet_advance(routing, &state, r, candidate[0].port);
                r = to;
                ck_assert_uint_lt(hops, topology->routers);
            }
        }
        pim_noc_routing_destroy(routing);
        pim_noc_route_table_terminate(&table);
        pim_noc_topology_destroy(topology);
    }
}
END_TEST

/* A random change of one row of a good table is found out, or leaves a table by which all packets arrive. */
START_TEST(changed_rows_are_found_out)
{
    struct pim_random random;
    pim_random_initialize(&random, 22);
    unsigned loops = 0, strangers = 0, good = 0;
    for (unsigned round = 0; round < 300; round++) {
        struct pim_noc_topology *topology = make_topology(PIM_NOC_MESH, 3, 3);
        struct pim_noc_route_table table;
        make_random_table(topology, &random, &table);
        uint32_t r = (uint32_t)pim_random_below(&random, 9), d = (uint32_t)pim_random_below(&random, 9);
        uint32_t next = (uint32_t)pim_random_below(&random, 9), hops = 0;
        if (r == d || r == next)
            next = table.next[r * 9 + d];
        table.next[r * 9 + d] = next;
        bool link = r == d || pim_noc_find_link(topology, r, next) != PIM_NOC_NONE;
        for (uint32_t at = r; link && at != d && hops < 10; hops++)
            at = table.next[at * 9 + d];
        struct pim_noc_routing_configuration configuration = {
            .kind = PIM_NOC_TABLE, .virtual_channels = 1, .table = &table};
        struct pim_noc_routing *routing;
        struct pim_error error = {0};
        enum pim_status status = pim_noc_routing_create(&configuration, topology, &routing, &error);
        ck_assert_int_eq(status, link && hops < 10 ? PIM_OK : PIM_BAD_INPUT);
        if (status != PIM_OK)
            ck_assert_ptr_nonnull(strstr(error.text, link ? "loop" : "no link"));
        good += status == PIM_OK;
        loops += link && status != PIM_OK;
        strangers += !link;
        pim_noc_routing_destroy(routing);
        pim_noc_route_table_terminate(&table);
        pim_noc_topology_destroy(topology);
    }
    ck_assert(good > 20 && loops > 20 && strangers > 20);
}
END_TEST

Suite *table_suite(void)
{
    Suite *suite = suite_create("noc_routing_table");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_good_table_is_taken);
    tcase_add_test(all, bad_tables_are_refused_with_row_and_reason);
    tcase_add_test(all, a_table_with_a_cycle_of_links_is_refused);
    tcase_add_test(all, packets_follow_random_tables);
    tcase_add_test(all, changed_rows_are_found_out);
    suite_add_tcase(suite, all);
    return suite;
}
