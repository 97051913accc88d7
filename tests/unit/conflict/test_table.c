/* Behaviour tables: made by a run, stored in a trace, executed; and the ones that are refused. */
#include "sim/output/output.h"
#include "tests/unit/conflict/suites.h"
#include "tests/unit/conflict/support.h"
#include "traces/file/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct made {
    struct golden_net net;
    struct pim_conflict_options options;
    struct pim_behaviour table;
    struct pim_conflict_result result;
};

static void make(struct made *made, const char *schedule)
{
    struct golden_row row = {.images = 2};
    struct pim_error error = {0};
    memset(made, 0, sizeof *made);
    (void)snprintf(row.schedule, sizeof row.schedule, "%s", schedule);
    made->options = golden_options(&row);
    load_net(&made->net, "cifar_alexnet", "snake", &made->options.mesh);
    ck_assert_int_eq(pim_behaviour_initialize(&made->table, &made->options.mesh, &error), PIM_OK);
    made->options.make_table = &made->table;
    ck_assert_msg(pim_conflict_run(made->net.graph, made->net.placement, &made->options, &made->result,
                                   &error) == PIM_OK,
                  "%s", error.text);
    made->options.make_table = NULL;
}

static void unmake(struct made *made)
{
    pim_conflict_result_terminate(&made->result);
    pim_behaviour_terminate(&made->table);
    unload_net(&made->net);
}

static enum pim_status execute(const struct made *made, const struct pim_behaviour *table,
                               enum pim_switching switching, struct pim_conflict_result *result,
                               struct pim_error *error)
{
    struct pim_conflict_options options = made->options;
    options.routing = PIM_CONFLICT_TABLE;
    options.table = table;
    options.switching = switching;
    return pim_conflict_run(made->net.graph, made->net.placement, &options, result, error);
}

/* Executed by path_hold, tables repeat the run that made them, transfer for transfer. */
START_TEST(execution_repeats_the_run)
{
    static const char *const schedules[] = {"xy_fixed", "xy_balance", "table_fixed", "table_balance"};
    struct made made;
    struct pim_conflict_result result;
    struct pim_error error = {0};
    make(&made, schedules[_i]);
    uint64_t hops = 0;
    for (uint32_t e = 0; e < made.net.graph->edges; e++)
        hops += made.result.task[e].hops;
    ck_assert_uint_eq(pim_behaviour_operations(&made.table), hops + made.result.packets);
    ck_assert_msg(execute(&made, &made.table, PIM_SWITCHING_PATH_HOLD, &result, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(result.end, made.result.end);
    for (uint32_t e = 0; e < made.net.graph->edges; e++) {
        ck_assert_uint_eq(result.task[e].hops, made.result.task[e].hops);
        ck_assert_uint_eq(result.task[e].last_end, made.result.task[e].last_end);
    }
    for (uint32_t i = 0; i < result.links; i++)
        ck_assert_uint_eq(result.link[i].held_bits, made.result.link[i].held_bits);
    pim_conflict_result_terminate(&result);
    unmake(&made);
}
END_TEST

/* Routers that store and forward get everything there too, in whatever time strict order takes them. */
START_TEST(routers_execute_tables)
{
    struct made made;
    struct pim_conflict_result result;
    struct pim_error error = {0};
    make(&made, "table_balance");
    ck_assert_msg(execute(&made, &made.table, PIM_SWITCHING_SAF, &result, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(result.packets, made.result.packets);
    ck_assert_uint_eq(result.bit_hops, made.result.bit_hops);
    uint64_t held = 0;
    for (uint32_t i = 0; i < result.links; i++)
        held += result.link[i].held_bits;
    ck_assert_uint_eq(held, result.bit_hops);
    pim_conflict_result_terminate(&result);
    unmake(&made);
}
END_TEST

/* Other step times than those the tables were made for change the end, not the order. */
START_TEST(perturbed_steps_keep_the_order)
{
    struct made made;
    struct pim_conflict_result result;
    struct pim_error error = {0};
    make(&made, "table_balance");
    made.options.perturb_milli = 50;
    ck_assert_msg(execute(&made, &made.table, PIM_SWITCHING_PATH_HOLD, &result, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(result.packets, made.result.packets);
    ck_assert_uint_ne(result.end, made.result.end);
    pim_time first = result.end;
    pim_conflict_result_terminate(&result);
    ck_assert_int_eq(execute(&made, &made.table, PIM_SWITCHING_PATH_HOLD, &result, &error), PIM_OK);
    ck_assert_uint_eq(result.end, first); /* the same seed */
    pim_conflict_result_terminate(&result);
    made.options.seed = 2;
    ck_assert_int_eq(execute(&made, &made.table, PIM_SWITCHING_PATH_HOLD, &result, &error), PIM_OK);
    ck_assert_uint_ne(result.end, first);
    pim_conflict_result_terminate(&result);
    unmake(&made);
}
END_TEST

static void temporary(char *path)
{
    (void)strcpy(path, "/tmp/pimsim-table-XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(close(file), 0);
}

START_TEST(a_trace_keeps_the_tables)
{
    char path[64];
    struct made made;
    struct pim_behaviour read;
    struct pim_conflict_result result;
    struct pim_error error = {0};
    make(&made, "table_balance");
    temporary(path);
    ck_assert(isnan(made.table.made_end_ns));
    made.table.made_end_ns = _i ? 1663505.3267482731 : (double)NAN;
    ck_assert_msg(pim_behaviour_write(&made.table, path, "alexnet", "snake", &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_msg(pim_behaviour_read(&read, path, &error) == PIM_OK, "%s", error.text);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert(_i ? read.made_end_ns == made.table.made_end_ns : isnan(read.made_end_ns));
    ck_assert_uint_eq(pim_behaviour_longest(&read), pim_behaviour_longest(&made.table));
    for (uint32_t r = 0; r < 256; r++) {
        ck_assert_uint_eq(read.router[r].count, made.table.router[r].count);
        for (size_t i = 0; i < read.router[r].count; i++) {
            ck_assert_uint_eq(read.router[r].operation[i].task, made.table.router[r].operation[i].task);
            ck_assert_uint_eq(read.router[r].operation[i].from, made.table.router[r].operation[i].from);
            ck_assert_uint_eq(read.router[r].operation[i].to, made.table.router[r].operation[i].to);
        }
    }
    ck_assert_int_eq(execute(&made, &read, PIM_SWITCHING_PATH_HOLD, &result, &error), PIM_OK);
    ck_assert_uint_eq(result.end, made.result.end);
    pim_conflict_result_terminate(&result);
    pim_behaviour_terminate(&read);
    unmake(&made);
}
END_TEST

static void write_configured(const char *path, const char *family, const char *configuration,
                             const struct pim_trace_behaviour *entry)
{
    struct pim_error error = {0};
    const struct pim_trace_description description = {.family = family,
                                                      .network = "",
                                                      .mapping = "",
                                                      .configuration = configuration,
                                                      .width = 2,
                                                      .height = 2,
                                                      .units = 4};
    struct pim_trace_writer *writer;
    ck_assert_int_eq(pim_trace_writer_create(path, &description, &writer, &error), PIM_OK);
    if (entry)
        ck_assert_int_eq(pim_trace_writer_behaviour(writer, 1, entry, 1, &error), PIM_OK);
    ck_assert_msg(pim_trace_writer_finish(writer, &error) == PIM_OK, "%s", error.text);
}

static void write_trace(const char *path, const char *family, const struct pim_trace_behaviour *entry)
{
    write_configured(path, family, "", entry);
}

START_TEST(an_end_that_is_no_number_is_refused)
{
    static const char *const refused[] = {"made_end_ns = ;", "made_end_ns = -1;", "made_end_ns = nan;",
                                          "made_end_ns = 5"};
    static const struct pim_trace_behaviour good = {.task = 0, .start = PIM_PORT_PE, .end = PIM_PORT_WEST};
    char path[64];
    struct pim_behaviour table;
    struct pim_error error = {0};
    temporary(path);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        write_configured(path, "conflict", refused[i], &good);
        ck_assert_int_eq(pim_behaviour_read(&table, path, &error), PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, "a time of 0 ns or later is expected"), "%s", error.text);
    }
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(traces_without_operations_are_refused)
{
    static const struct pim_trace_behaviour cycles = {.task = 0, .start = 100, .end = 200},
                                            beyond = {.task = 0, .start = 0, .end = 13};
    static const struct pim_trace_behaviour good = {.task = 0, .start = PIM_PORT_PE, .end = PIM_PORT_WEST};
    char path[64];
    struct pim_behaviour table;
    struct pim_error error = {0};
    temporary(path);
    write_trace(path, "conflict", &good);
    ck_assert_msg(pim_behaviour_read(&table, path, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(table.router[1].operation[0].to, PIM_PORT_WEST);
    pim_behaviour_terminate(&table);
    write_trace(path, "conflict", NULL);
    ck_assert_int_eq(pim_behaviour_read(&table, path, &error), PIM_BAD_INPUT);
    write_trace(path, "allspark", &good);
    ck_assert_int_eq(pim_behaviour_read(&table, path, &error), PIM_BAD_INPUT);
    write_trace(path, "conflict", &cycles);
    ck_assert_int_eq(pim_behaviour_read(&table, path, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "router 1 entry 0: start 100, end 200 are no orientations") != NULL,
                  "%s", error.text);
    write_trace(path, "conflict", &beyond);
    ck_assert_int_eq(pim_behaviour_read(&table, path, &error), PIM_BAD_INPUT);
    ck_assert_ptr_null(table.router);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* --- hostile tables, on a row of four routers: node 0 at x = 0 sends one packet to node 1 at x = 2 --- */

struct entry {
    uint32_t router;
    struct pim_operation operation;
};

static const struct {
    struct entry entry[8];
    size_t count;
    enum pim_status status;
    const char *part;
} tables[] = {
    {{{0, {0, PIM_PORT_PE, PIM_PORT_EAST}},
      {1, {0, PIM_PORT_WEST, PIM_PORT_EAST}},
      {2, {0, PIM_PORT_WEST, PIM_PORT_PE}}},
     3,
     PIM_OK,
     ""},
    {{{0, {0, PIM_PORT_PE, PIM_PORT_EAST}}, {1, {0, PIM_PORT_WEST, PIM_PORT_EAST}}},
     2,
     PIM_BAD_INPUT,
     "router 2: no operation takes it on"},
    {{{0, {0, PIM_PORT_PE, PIM_PORT_EAST}}, {1, {0, PIM_PORT_WEST, PIM_PORT_PE}}},
     2,
     PIM_BAD_INPUT,
     "router 1: it is delivered there"},
    {{{0, {0, PIM_PORT_PE, PIM_PORT_WEST}}}, 1, PIM_BAD_INPUT, "names no two links"},
    {{{0, {0, PIM_PORT_PE, PIM_PORT_NORTH}}}, 1, PIM_BAD_INPUT, "names no two links"},
    {{{0, {0, PIM_PORT_PE, PIM_PORT_PE}}}, 1, PIM_BAD_INPUT, "names no two links"},
    {{{0, {0, 77, PIM_PORT_EAST}}}, 1, PIM_BAD_INPUT, "names no two links"},
    {{{0, {9, PIM_PORT_PE, PIM_PORT_EAST}}}, 1, PIM_BAD_INPUT, "there is no edge 9"},
    {{{0, {0, PIM_PORT_PE, PIM_PORT_EAST}}, {1, {0, PIM_PORT_WEST, PIM_PORT_WEST}}},
     2,
     PIM_BAD_INPUT,
     "names no two links"},
    {{{0, {0, PIM_PORT_PE, PIM_PORT_EAST}},
      {1, {0, PIM_PORT_WEST, PIM_PORT_EAST}},
      {2, {0, PIM_PORT_WEST, PIM_PORT_PE}},
      {3, {0, PIM_PORT_PE, PIM_PORT_WEST}}},
     4,
     PIM_BAD_INPUT,
     "1 of 4 operations belong to no packet"},
};

static enum pim_status run_small(const struct pim_task_graph *graph, const struct pim_behaviour *table,
                                 struct pim_conflict_mesh mesh, enum pim_switching switching,
                                 uint32_t router_packets, struct pim_conflict_result *result,
                                 struct pim_error *error)
{
    static const uint32_t placed[] = {0, 2, 3};
    struct pim_conflict_options options = PIM_CONFLICT_DEFAULTS;
    options.mesh = mesh;
    options.routing = PIM_CONFLICT_TABLE;
    options.switching = switching;
    options.router_packets = router_packets;
    options.table = table;
    return pim_conflict_run(graph, placed, &options, result, error);
}

static const double one[] = {1};
static const double *const ones[] = {one, one, one};
static const uint32_t single[] = {1, 1, 1};

START_TEST(hostile_tables_are_refused)
{
    static const struct small_edge edges[] = {{0, 1, 8, NULL, NULL}};
    const struct pim_conflict_mesh mesh = {4, 1};
    struct pim_task_graph *graph = small_graph(2, single, ones, 1, edges);
    struct pim_behaviour table;
    struct pim_conflict_result result;
    struct pim_error error = {0};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        ck_assert_int_eq(pim_behaviour_initialize(&table, &mesh, &error), PIM_OK);
        for (size_t k = 0; k < tables[i].count; k++) {
            struct pim_operation_list *list = &table.router[tables[i].entry[k].router];
            list->operation = calloc(1, sizeof *list->operation);
            ck_assert_ptr_nonnull(list->operation);
            list->operation[list->count++] = tables[i].entry[k].operation;
        }
        for (int saf = 0; saf < 2; saf++) {
            ck_assert_msg(run_small(graph, &table, mesh, saf ? PIM_SWITCHING_SAF : PIM_SWITCHING_PATH_HOLD, 0,
                                    &result, &error) == tables[i].status,
                          "case %zu: %s", i, error.text);
            ck_assert_msg(tables[i].status == PIM_OK || strstr(error.text, tables[i].part), "case %zu: %s", i,
                          error.text);
            pim_conflict_result_terminate(&result);
        }
        pim_behaviour_terminate(&table);
    }
    ck_assert_int_eq(pim_behaviour_initialize(&table, &mesh, &error), PIM_OK);
    ck_assert_int_eq(
        run_small(graph, &table, (struct pim_conflict_mesh){2, 2}, PIM_SWITCHING_SAF, 0, &result, &error),
        PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "1 rows x 4 columns, not of 2 x 2") != NULL, "%s", error.text);
    pim_conflict_result_terminate(&result);
    pim_behaviour_terminate(&table);
    pim_task_graph_destroy(graph);
}
END_TEST

/* A loop over four routers of a square, and two routers that each wait for the other's packet. */
/* 100 packets over one link: a router with 100 equal operations, and one that hands them to its element. With
   counts of 7 bits each is one entry of 12 bits; a packet the other way adds an entry at either end. */
START_TEST(sizes_of_tables)
{
    const struct pim_conflict_mesh mesh = {2, 1};
    const uint32_t east = 0 * PIM_DIRECTIONS + PIM_PORT_EAST, west = 1 * PIM_DIRECTIONS + PIM_PORT_WEST;
    struct pim_behaviour behaviour;
    struct pim_error error = {0};
    ck_assert(pim_behaviour_initialize(&behaviour, &mesh, &error) == PIM_OK);
    for (int i = 0; i < 100; i++)
        ck_assert(pim_behaviour_append(&behaviour, 0, &east, 1, &error) == PIM_OK);
    struct pim_behaviour_size size = pim_behaviour_measure(&behaviour);
    ck_assert_uint_eq(size.operations, 200);
    ck_assert_uint_eq(size.longest_list, 100);
    ck_assert_uint_eq(size.longest_row, 100);
    ck_assert_uint_eq(size.count_bits, 7);
    ck_assert_uint_eq(size.bits, 1000);
    ck_assert_uint_eq(size.coded_bits, 2 * 12);
    ck_assert(pim_behaviour_append(&behaviour, 1, &west, 1, &error) == PIM_OK);
    ck_assert_uint_eq(pim_behaviour_measure(&behaviour).coded_bits, 4 * 12);
    pim_behaviour_terminate(&behaviour);
    ck_assert(pim_behaviour_initialize(&behaviour, &mesh, &error) == PIM_OK);
    ck_assert(pim_behaviour_append(&behaviour, 0, &east, 1, &error) == PIM_OK);
    size = pim_behaviour_measure(&behaviour); /* coding gains nothing */
    ck_assert(size.coded_bits == 10 && size.count_bits == 0);
    pim_behaviour_terminate(&behaviour);
}
END_TEST

START_TEST(loops_and_crossed_orders)
{
    static const struct small_edge edges[] = {{0, 1, 8, NULL, NULL}};
    static const uint32_t circle[] = {0 * 4 + PIM_PORT_EAST, 1 * 4 + PIM_PORT_SOUTH, 3 * 4 + PIM_PORT_WEST,
                                      2 * 4 + PIM_PORT_NORTH, 0 * 4 + PIM_PORT_EAST};
    const struct pim_conflict_mesh square = {2, 2};
    struct pim_task_graph *graph = small_graph(2, single, ones, 1, edges);
    struct pim_behaviour table;
    struct pim_conflict_result result;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_behaviour_initialize(&table, &square, &error), PIM_OK);
    ck_assert_int_eq(pim_behaviour_append(&table, 0, circle, 5, &error), PIM_OK);
    ck_assert_int_eq(run_small(graph, &table, square, PIM_SWITCHING_SAF, 0, &result, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "router 0: the tables lead it in a loop") != NULL, "%s", error.text);
    pim_conflict_result_terminate(&result);
    pim_behaviour_terminate(&table);
    pim_task_graph_destroy(graph);

    /* Nodes 0 and 1, in routers 0 and 2, both send to node 2 in router 3 by way of router 2. Router 2 serves
     * edge 0 first, router 3 wants edge 1 first. A path that is held needs both lists at once, which never
     * happens; a router that stores packets sorts them out, if it has room for two. */
    static const struct small_edge pair[] = {{0, 2, 8, NULL, NULL}, {1, 2, 8, NULL, NULL}};
    graph = small_graph(3, single, ones, 2, pair);
    ck_assert_int_eq(pim_behaviour_initialize(&table, &square, &error), PIM_OK);
    static const uint32_t first[] = {0 * 4 + PIM_PORT_SOUTH, 2 * 4 + PIM_PORT_EAST},
                          second[] = {2 * 4 + PIM_PORT_EAST};
    ck_assert_int_eq(pim_behaviour_append(&table, 0, first, 2, &error), PIM_OK);
    ck_assert_int_eq(pim_behaviour_append(&table, 1, second, 1, &error), PIM_OK);
    struct pim_operation *last = table.router[3].operation,
                         swap = last[0]; /* router 3 wants the second packet first */
    last[0] = last[1];
    last[1] = swap;
    static const struct {
        enum pim_switching switching;
        uint32_t router_packets;
        enum pim_status status;
    } cases[] = {{PIM_SWITCHING_PATH_HOLD, 0, PIM_DEADLOCK},
                 {PIM_SWITCHING_SAF, 0, PIM_OK},
                 {PIM_SWITCHING_SAF, 1, PIM_DEADLOCK}};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(
            run_small(graph, &table, square, cases[i].switching, cases[i].router_packets, &result, &error),
            cases[i].status);
        ck_assert_msg(cases[i].status == PIM_OK ||
                          strstr(error.text, "node 2 image 0 step 0: waits for packet 1 of 1"),
                      "%s", error.text);
        pim_conflict_result_terminate(&result);
    }
    pim_behaviour_terminate(&table);
    pim_task_graph_destroy(graph);
}
END_TEST

Suite *conflict_table_suite(void)
{
    Suite *suite = suite_create("table");
    TCase *cases = tcase_create("tables");
    tcase_add_loop_test(cases, execution_repeats_the_run, 0, 4);
    tcase_add_test(cases, routers_execute_tables);
    tcase_add_test(cases, perturbed_steps_keep_the_order);
    tcase_add_loop_test(cases, a_trace_keeps_the_tables, 0, 2);
    tcase_add_test(cases, an_end_that_is_no_number_is_refused);
    tcase_add_test(cases, traces_without_operations_are_refused);
    tcase_add_test(cases, hostile_tables_are_refused);
    tcase_add_test(cases, loops_and_crossed_orders);
    tcase_add_test(cases, sizes_of_tables);
    suite_add_tcase(suite, cases);
    return suite;
}
