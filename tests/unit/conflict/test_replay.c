/* Replays worked out by hand: conflicts, arbiters, buffers, deadlocks, what is refused. Times in ns at 1
 * Gb/s. */
#include "tests/unit/conflict/suites.h"
#include "tests/unit/conflict/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct recorded {
    struct {
        int kind;
        uint32_t task, index;
        double start, end;
    } list[256];
    size_t count;
};

static void record(void *context, const struct pim_conflict_interval *interval)
{
    struct recorded *recorded = context;
    ck_assert_uint_lt(recorded->count, 256);
    recorded->list[recorded->count].kind = (int)interval->kind;
    recorded->list[recorded->count].task = interval->task;
    recorded->list[recorded->count].index = interval->index;
    recorded->list[recorded->count].start = pim_conflict_ns(PIM_CONFLICT_ROUNDED, interval->start);
    recorded->list[recorded->count++].end = pim_conflict_ns(PIM_CONFLICT_ROUNDED, interval->end);
}

static struct pim_conflict_options row_options(uint32_t width, struct recorded *recorded)
{
    struct pim_conflict_options options = PIM_CONFLICT_DEFAULTS;
    options.mesh = (struct pim_conflict_mesh){width, 1};
    options.bandwidth_gbps = 1;
    recorded->count = 0;
    options.record = record;
    options.record_context = recorded;
    return options;
}

/* Start of the k-th transfer or hop of a task. */
static double start_of(const struct recorded *recorded, uint32_t task, uint32_t k)
{
    for (size_t i = 0; i < recorded->count; i++) {
        if (recorded->list[i].kind != PIM_INTERVAL_STEP && recorded->list[i].task == task && k-- == 0)
            return recorded->list[i].start;
    }
    return -1;
}

/* Two senders in a row: node 0 at x = 0 and node 1 at x = 1 both send to node 2 at x = 2 and node 3 at x = 3.
 */
static const uint32_t placed[] = {0, 1, 2, 3};
static const double ones[] = {1, 1, 1, 1};
static const double *const one_each[] = {ones, ones, ones, ones};

START_TEST(a_path_is_held_as_a_whole)
{
    static const uint32_t steps[] = {1, 1, 1, 1};
    static const struct small_edge edges[] = {{0, 3, 10, NULL, NULL}, {1, 2, 5, NULL, NULL}};
    struct pim_task_graph *graph = small_graph(4, steps, one_each, 2, edges);
    struct recorded recorded;
    struct pim_conflict_options options = row_options(4, &recorded);
    struct pim_conflict_result result;
    struct pim_error error = {0};
    ck_assert_msg(pim_conflict_run(graph, placed, &options, &result, &error) == PIM_OK, "%s", error.text);
    /* both ready at 1; edge 0 holds three links for 30 ns, edge 1 goes then, for 5 */
    ck_assert_double_eq(start_of(&recorded, 0, 0), 1);
    ck_assert_double_eq(start_of(&recorded, 1, 0), 31);
    ck_assert_double_eq(result.end_ns, 37);
    ck_assert_uint_eq(result.link[1].from, 1);
    ck_assert_uint_eq(result.link[1].transfers, 2);
    ck_assert_uint_eq(result.link[1].held_bits, 35);
    ck_assert_uint_eq(result.link[1].waits, 1);
    ck_assert_uint_eq(result.link[1].wait_fixed, UINT64_C(30) << 20);
    ck_assert_uint_eq(result.link[0].waits, 0);
    ck_assert_uint_eq(result.task[1].wait_fixed, UINT64_C(30) << 20);
    ck_assert_uint_eq(result.bit_hops, 35);
    pim_conflict_result_terminate(&result);
    pim_task_graph_destroy(graph);
}
END_TEST

/* What ends just at the limit is whole; what would go on behind it is given up. */
START_TEST(a_limit_is_part_of_the_run)
{
    static const uint32_t steps[] = {1, 1, 1, 1};
    static const struct small_edge edges[] = {{0, 3, 10, NULL, NULL}, {1, 2, 5, NULL, NULL}};
    struct pim_task_graph *graph = small_graph(4, steps, one_each, 2, edges);
    for (unsigned i = 0; i < 2; i++) {
        struct recorded recorded;
        struct pim_conflict_options options = row_options(4, &recorded);
        struct pim_conflict_result result;
        struct pim_error error = {0};
        options.limit_ns = i ? 36.5 : 37;
        ck_assert_msg(pim_conflict_run(graph, placed, &options, &result, &error) == PIM_OK, "%s", error.text);
        ck_assert(result.given_up == (i == 1));
        if (i == 0)
            ck_assert_double_eq(result.end_ns, 37);
        pim_conflict_result_terminate(&result);
    }
    pim_task_graph_destroy(graph);
}
END_TEST

START_TEST(opposite_directions_exclude_each_other_only_in_path_hold)
{
    static const uint32_t steps[] = {1, 1, 1, 1};
    static const struct small_edge edges[] = {{0, 2, 10, NULL, NULL}, {3, 1, 10, NULL, NULL}};
    struct pim_task_graph *graph = small_graph(4, steps, one_each, 2, edges);
    struct recorded recorded;
    struct pim_conflict_options options = row_options(4, &recorded);
    struct pim_conflict_result result;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_OK);
    ck_assert_double_eq(start_of(&recorded, 1, 0), 21);
    pim_conflict_result_terminate(&result);
    options.switching = PIM_SWITCHING_SAF;
    recorded.count = 0;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_OK);
    ck_assert_double_eq(start_of(&recorded, 1, 0), 1); /* 3 -> 2 -> 1, nobody in the way */
    ck_assert_double_eq(start_of(&recorded, 1, 1), 11);
    pim_conflict_result_terminate(&result);
    options.half_duplex = true; /* both want the link between 1 and 2 at 11: the lower edge goes first */
    recorded.count = 0;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_OK);
    ck_assert_double_eq(start_of(&recorded, 0, 1), 11);
    ck_assert_double_eq(start_of(&recorded, 1, 1), 21);
    pim_conflict_result_terminate(&result);
    pim_task_graph_destroy(graph);
}
END_TEST

/* Four packets on edge 0 and on edge 1, all over the link from 1 to 2, ready at 1, 2, 3, 4. Who gets it,
 * packet by packet? */
static void order_of(enum pim_conflict_arbiter arbiter, enum pim_switching switching, char *order)
{
    static const uint32_t steps[] = {4, 4, 1, 1}, all[] = {4};
    static const struct small_edge edges[] = {{0, 2, 10, all, all}, {1, 3, 10, all, all}};
    static const uint32_t stacked[] = {0, 1, 4, 5};
    struct pim_task_graph *graph = small_graph(4, steps, one_each, 2, edges);
    struct recorded recorded;
    struct pim_conflict_options options = row_options(6, &recorded);
    struct pim_conflict_result result;
    struct pim_error error = {0};
    options.arbiter = arbiter;
    options.switching = switching;
    ck_assert_msg(pim_conflict_run(graph, stacked, &options, &result, &error) == PIM_OK, "%s", error.text);
    size_t length = 0;
    for (size_t i = 0; i < recorded.count; i++) {
        if (recorded.list[i].kind == PIM_INTERVAL_TRANSFER)
            order[length++] = (char)('0' + recorded.list[i].task);
    }
    order[length] = '\0';
    pim_conflict_result_terminate(&result);
    pim_task_graph_destroy(graph);
}

START_TEST(arbiters_order_a_held_path)
{
    char order[257];
    order_of(PIM_CONFLICT_FIXED, PIM_SWITCHING_PATH_HOLD, order);
    ck_assert_str_eq(order, "00001111");
    order_of(PIM_CONFLICT_BALANCE, PIM_SWITCHING_PATH_HOLD, order);
    ck_assert_str_eq(order, "01010101"); /* the share that has arrived, lowest first */
    order_of(PIM_CONFLICT_ROUND_ROBIN, PIM_SWITCHING_PATH_HOLD, order);
    ck_assert_str_eq(order, "01010101");
    order_of(PIM_CONFLICT_FIFO, PIM_SWITCHING_PATH_HOLD, order);
    ck_assert_str_eq(order, "01010101"); /* edge 0 is ready again only when its packet has arrived */
}
END_TEST

/* Workload balance compares shares, not counts: 6 of 12 packets are as urgent as 1 of 2. */
START_TEST(balance_compares_shares)
{
    static const uint32_t steps[] = {6, 2, 1, 1}, six[] = {6}, two[] = {2};
    static const double fast[] = {1, 1, 1, 1, 1, 1};
    static const double *const latency[] = {fast, fast, ones, ones};
    static const struct small_edge edges[] = {{0, 2, 10, six, six}, {1, 3, 10, two, two}};
    static const uint32_t stacked[] = {0, 1, 4, 5};
    struct pim_task_graph *graph = small_graph(4, steps, latency, 2, edges);
    struct recorded recorded;
    struct pim_conflict_options options = row_options(6, &recorded);
    struct pim_conflict_result result;
    struct pim_error error = {0};
    char order[16] = "";
    size_t length = 0;
    options.arbiter = PIM_CONFLICT_BALANCE;
    ck_assert_int_eq(pim_conflict_run(graph, stacked, &options, &result, &error), PIM_OK);
    for (size_t i = 0; i < recorded.count && length < 15; i++) {
        if (recorded.list[i].kind == PIM_INTERVAL_TRANSFER)
            order[length++] = (char)('0' + recorded.list[i].task);
    }
    /* after 0, 1: shares 1/6 and 1/2; edge 0 until 3/6, a tie that the lower edge wins, then 4/6 > 1/2 */
    ck_assert_str_eq(order, "01000100");
    pim_conflict_result_terminate(&result);
    pim_task_graph_destroy(graph);
}
END_TEST

/* saf: a router's link serves the older request under fifo, the lower edge under fixed. */
START_TEST(fifo_and_fixed_differ_at_a_link)
{
    static const uint32_t steps[] = {3, 3, 1, 1}, all[] = {3};
    static const struct small_edge edges[] = {{0, 2, 10, all, all}, {1, 3, 10, all, all}};
    struct pim_task_graph *graph = small_graph(4, steps, one_each, 2, edges);
    struct recorded recorded;
    struct pim_conflict_options options = row_options(4, &recorded);
    struct pim_conflict_result result;
    struct pim_error error = {0};
    options.switching = PIM_SWITCHING_SAF;
    /* edge 1 asks for 1 -> 2 at 1, 11, 21 ...; edge 0 comes there at 11, 21, 31 */
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_OK);
    ck_assert_double_eq(start_of(&recorded, 1, 0), 1);
    ck_assert_double_eq(start_of(&recorded, 0, 1), 11); /* fixed: edge 0 whenever it is there */
    ck_assert_double_eq(start_of(&recorded, 0, 3), 21);
    ck_assert_double_eq(start_of(&recorded, 0, 5), 31);
    pim_conflict_result_terminate(&result);
    options.arbiter = PIM_CONFLICT_FIFO;
    recorded.count = 0;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_OK);
    ck_assert_double_eq(start_of(&recorded, 0, 1), 11); /* both ask at 11: packets that come in ask first */
    size_t hops = 0;
    for (size_t i = 0; i < recorded.count; i++)
        hops += recorded.list[i].kind == PIM_INTERVAL_HOP;
    ck_assert_uint_eq(hops, 3 * 2 + 3 * 2);
    ck_assert_double_eq(start_of(&recorded, 1, 2),
                        21); /* its second packet asked at 11, before edge 0's at 21 */
    pim_conflict_result_terminate(&result);
    pim_task_graph_destroy(graph);
}
END_TEST

/* A router that stores one packet of a direction: the next one starts when that has left. */
START_TEST(bounded_router_buffers_hold_packets_back)
{
    static const uint32_t steps[] = {3, 1, 1, 1}, all[] = {3};
    static const struct small_edge edges[] = {{0, 3, 10, all, all}};
    struct pim_task_graph *graph = small_graph(4, steps, one_each, 1, edges);
    struct recorded recorded;
    struct pim_conflict_options options = row_options(4, &recorded);
    struct pim_conflict_result result;
    struct pim_error error = {0};
    options.switching = PIM_SWITCHING_SAF;
    options.router_delay_ns = 2;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_OK);
    ck_assert_double_eq(result.end_ns,
                        1 + 5 * 12 + 1); /* pipeline: two more packets behind three hops of 12 */
    pim_conflict_result_terminate(&result);
    options.router_packets = 1;
    recorded.count = 0;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_OK);
    /* packet 1 may cross 0 -> 1 when packet 0 has crossed 1 -> 2: every 24 ns */
    ck_assert_double_eq(start_of(&recorded, 0, 0), 1);
    ck_assert_double_eq(result.end_ns, 1 + 2 * 24 + 3 * 12 + 1);
    pim_conflict_result_terminate(&result);
    pim_task_graph_destroy(graph);
}
END_TEST

START_TEST(starved_buffers_are_reported)
{
    static const uint32_t steps[] = {4, 1, 1, 1}, all[] = {4};
    static const struct small_edge edges[] = {{0, 1, 10, all, all}};
    struct pim_task_graph *graph = small_graph(4, steps, one_each, 1, edges);
    struct recorded recorded;
    struct pim_conflict_options options = row_options(4, &recorded);
    struct pim_conflict_result result;
    struct pim_error error = {0};
    options.input_bits = 40;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_OK);
    pim_conflict_result_terminate(&result);
    options.input_bits = 39;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_DEADLOCK);
    ck_assert_msg(strstr(error.text, "node 1 step 0 needs 4 packets of node 0 at once") != NULL, "%s",
                  error.text);
    pim_conflict_result_terminate(&result);
    options.input_bits = 40;
    options.output_bits = 9;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_DEADLOCK);
    ck_assert_msg(strstr(error.text, "does not fit its output buffer of 9 bits") != NULL, "%s", error.text);
    pim_conflict_result_terminate(&result);
    pim_task_graph_destroy(graph);
}
END_TEST

/* Node 2 takes packets of node 0 one by one, but only when node 1 has sent its one, for which it needs all
 * four of node 0; and node 0 is stuck behind the two that wait for node 2. */
START_TEST(deadlocks_say_who_waits_for_what)
{
    static const uint32_t steps[] = {4, 1, 4, 1}, all[] = {4}, once[] = {1, 1, 1, 1},
                          at_last[] = {0, 0, 0, 1};
    static const struct small_edge edges[] = {
        {0, 1, 1, all, all}, {0, 2, 10, NULL, NULL}, {1, 2, 10, once, at_last}};
    struct pim_task_graph *graph = small_graph(4, steps, one_each, 3, edges);
    struct recorded recorded;
    struct pim_conflict_options options = row_options(4, &recorded);
    struct pim_conflict_result result;
    struct pim_error error = {0};
    options.input_bits = 40;
    options.output_bits = 20;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_OK);
    pim_conflict_result_terminate(&result);
    options.input_bits = 20;
    options.output_bits = 10;
    for (int saf = 0; saf < 2; saf++) {
        options.switching = saf ? PIM_SWITCHING_SAF : PIM_SWITCHING_PATH_HOLD;
        recorded.count = 0;
        ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_DEADLOCK);
        ck_assert_msg(
            strstr(error.text, "node 0 image 0 step 2: its output buffer for node 2 is full (1 packets)") !=
                NULL,
            "%s", error.text);
        ck_assert_msg(strstr(error.text, "node 1 image 0 step 0: waits for packet 4 of 4 of node 0, has 2") !=
                          NULL,
                      "%s", error.text);
        ck_assert_msg(strstr(error.text, "edge 1 (node 0 to 2): 1 packets wait to be sent: its part of") !=
                          NULL,
                      "%s", error.text);
        pim_conflict_result_terminate(&result);
    }
    pim_task_graph_destroy(graph);
}
END_TEST

/* What is never freed is in the way of the next image. */
START_TEST(packets_that_are_kept_count_in_every_image)
{
    static const uint32_t steps[] = {4, 1, 1, 1}, all[] = {4}, none[] = {0};
    static const struct small_edge edges[] = {{0, 1, 10, all, none}};
    struct pim_task_graph *graph = small_graph(4, steps, one_each, 1, edges);
    struct recorded recorded;
    struct pim_conflict_options options = row_options(4, &recorded);
    struct pim_conflict_result result;
    struct pim_error error = {0};
    options.images = 2;
    options.input_bits = 80;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_OK);
    pim_conflict_result_terminate(&result);
    options.input_bits = 79;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_DEADLOCK);
    ck_assert_msg(strstr(error.text, "node 1 step 0 needs 8 packets of node 0 at once") != NULL, "%s",
                  error.text);
    pim_conflict_result_terminate(&result);
    pim_task_graph_destroy(graph);
}
END_TEST

START_TEST(options_are_checked)
{
    static const uint32_t steps[] = {1, 1, 1, 1};
    static const struct small_edge edges[] = {{0, 1, 10, NULL, NULL}};
    static const uint32_t twice[] = {0, 1, 1, 2}, outside[] = {0, 1, 2, 4};
    struct pim_task_graph *graph = small_graph(4, steps, one_each, 1, edges);
    struct recorded recorded;
    const struct pim_conflict_options good = row_options(4, &recorded);
    struct pim_conflict_options options[9];
    struct pim_conflict_result result;
    struct pim_error error = {0};
    for (size_t i = 0; i < 9; i++)
        options[i] = good;
    options[0].images = 0;
    options[1].bandwidth_gbps = 0;
    options[2].bandwidth_gbps = (double)NAN;
    options[3].mesh.height = 0;
    options[4].mesh = (struct pim_conflict_mesh){UINT32_MAX, UINT32_MAX};
    options[5].switching = PIM_SWITCHING_SAF;
    options[5].routing = PIM_CONFLICT_ADAPTIVE;
    options[6].routing = PIM_CONFLICT_TABLE;
    options[7].detour.detour_milli = 999;
    options[8].perturb_milli = 1000;
    for (size_t i = 0; i < 9; i++) {
        ck_assert_msg(pim_conflict_run(graph, placed, &options[i], &result, &error) == PIM_BAD_INPUT,
                      "case %zu", i);
        pim_conflict_result_terminate(&result);
    }
    ck_assert_int_eq(pim_conflict_run(graph, twice, &good, &result, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "nodes 1 and 2 are both placed") != NULL, "%s", error.text);
    ck_assert_int_eq(pim_conflict_run(graph, outside, &good, &result, &error), PIM_BAD_INPUT);
    pim_task_graph_destroy(graph);
}
END_TEST

START_TEST(a_run_beyond_exact_time_fails)
{
    static const uint32_t steps[] = {10, 1, 1, 1};
    static const double long_steps[] = {1e12, 1e12, 1e12, 1e12, 1e12, 1e12, 1e12, 1e12, 1e12, 1e12};
    static const double *const latency[] = {long_steps, ones, ones, ones};
    struct pim_task_graph *graph = small_graph(4, steps, latency, 0, NULL);
    struct recorded recorded;
    struct pim_conflict_options options = row_options(4, &recorded);
    struct pim_conflict_result result;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_OK);
    ck_assert_double_eq(result.end_ns, 1e13);
    pim_conflict_result_terminate(&result);
    options.arithmetic = PIM_CONFLICT_EXACT;
    ck_assert_int_eq(pim_conflict_run(graph, placed, &options, &result, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "9223 s") != NULL, "%s", error.text);
    pim_conflict_result_terminate(&result);
    pim_task_graph_destroy(graph);
}
END_TEST

Suite *conflict_replay_suite(void)
{
    Suite *suite = suite_create("replay");
    TCase *cases = tcase_create("by hand");
    tcase_add_test(cases, a_path_is_held_as_a_whole);
    tcase_add_test(cases, a_limit_is_part_of_the_run);
    tcase_add_test(cases, opposite_directions_exclude_each_other_only_in_path_hold);
    tcase_add_test(cases, arbiters_order_a_held_path);
    tcase_add_test(cases, balance_compares_shares);
    tcase_add_test(cases, fifo_and_fixed_differ_at_a_link);
    tcase_add_test(cases, bounded_router_buffers_hold_packets_back);
    tcase_add_test(cases, starved_buffers_are_reported);
    tcase_add_test(cases, deadlocks_say_who_waits_for_what);
    tcase_add_test(cases, packets_that_are_kept_count_in_every_image);
    tcase_add_test(cases, options_are_checked);
    tcase_add_test(cases, a_run_beyond_exact_time_fails);
    suite_add_tcase(suite, cases);
    return suite;
}
