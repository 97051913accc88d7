/* Reading and checking task graphs: what is refused, with which row, and dependences from geometry. */
#include "sim/output/csv.h"
#include "tests/unit/conflict/suites.h"
#include "tests/unit/conflict/support.h"
#include "tests/unit/test_main.h"

#include <stdlib.h>
#include <string.h>

#define NODES "node,layer,kind,steps,latency_ns_per_step,bits_per_output_packet,sources,targets\n"
#define EDGES "edge,src,dst,packets,bits_per_packet,total_bits\n"
#define DEPS "node,step,source_node,need_packets,drop_packets\n"
#define TWO NODES "0,0,pe,2,1.5,8,-1,1\n1,0,merge,2,1.0,8,0,-1\n"
#define ONE_EDGE EDGES "0,0,1,2,8,16\n"
#define ONE_DEPS DEPS "1,0,0,1,1\n1,1,0,2,1\n"

START_TEST(small_graph_is_read)
{
    struct pim_task_graph *graph;
    struct pim_error error = {0};
    ck_assert_msg(graph_from_text(TWO, ONE_EDGE, ONE_DEPS, NULL, &graph, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(graph->nodes, 2);
    ck_assert_uint_eq(graph->edges, 1);
    ck_assert_double_eq(graph->latency_ns[0], 1.5);
    ck_assert_uint_eq(graph->need[1], 2);
    ck_assert_uint_eq(graph->drop[1], 1);
    ck_assert_uint_eq(pim_task_graph_edge(graph, 0, 1), 0);
    ck_assert_uint_eq(pim_task_graph_edge(graph, 1, 0), UINT32_MAX);
    pim_task_graph_destroy(graph);
}
END_TEST

/* Two nodes send to a third, one of them to both others. */
#define THREE(targets, sources)                                                                              \
    NODES "0,0,pe,1,1.5,8,-1," targets "\n1,0,pe,1,1.0,8,0,2\n2,0,pe,1,1.0,8," sources ",-1\n"
#define THREE_EDGES EDGES "0,0,1,1,8,8\n1,0,2,1,8,8\n2,1,2,1,8,8\n"
#define THREE_DEPS DEPS "1,0,0,1,1\n2,0,0,1,0\n2,0,1,0,0\n"

static void check_same_graph(const struct pim_task_graph *graph, const struct pim_task_graph *other)
{
    ck_assert_uint_eq(graph->nodes, other->nodes);
    ck_assert_uint_eq(graph->edges, other->edges);
    ck_assert_mem_eq(graph->node, other->node, graph->nodes * sizeof *graph->node);
    ck_assert_mem_eq(graph->in, other->in, graph->edges * sizeof *graph->in);
    ck_assert_mem_eq(graph->out, other->out, graph->edges * sizeof *graph->out);
    for (uint32_t e = 0; e < graph->edges; e++) {
        const struct pim_task_edge *edge = &graph->edge[e], *twin = &other->edge[e];
        ck_assert_uint_eq(edge->source, twin->source);
        ck_assert_uint_eq(edge->destination, twin->destination);
        for (uint32_t s = 0; s < graph->node[edge->destination].steps; s++) {
            ck_assert_uint_eq(graph->need[edge->first + s], other->need[twin->first + s]);
            ck_assert_uint_eq(graph->drop[edge->first + s], other->drop[twin->first + s]);
        }
    }
}

START_TEST(lists_and_dependences_have_no_order)
{
    struct pim_task_graph *graph, *other;
    struct pim_error error = {0};
    ck_assert_msg(graph_from_text(THREE("1;2", "0;1"), THREE_EDGES, THREE_DEPS, NULL, &graph, &error) ==
                      PIM_OK,
                  "%s", error.text);
    ck_assert_msg(graph_from_text(THREE("2;1", "1;0"), THREE_EDGES, DEPS "2,0,1,0,0\n2,0,0,1,0\n1,0,0,1,1\n",
                                  NULL, &other, &error) == PIM_OK,
                  "%s", error.text);
    check_same_graph(graph, other);
    pim_task_graph_destroy(graph);
    pim_task_graph_destroy(other);
}
END_TEST

static const struct {
    const char *nodes, *edges, *deps, *part; /* the message has `part` */
} bad[] = {
    {THREE("1;2", "1;1"), THREE_EDGES, THREE_DEPS,
     "net.nodes.csv:4: column 7 (sources) is '1;1': place 2 names a node without such an edge, or one named"},
    {THREE("1;2", "2;0"), THREE_EDGES, THREE_DEPS, "place 1 names a node without such an edge"},
    {THREE("1;2", "0;9"), THREE_EDGES, THREE_DEPS, "place 2 names a node without such an edge"},
    {THREE("1;2", "0;18446744073709551617"), THREE_EDGES, THREE_DEPS, "place 2 names a node without"},
    {THREE("2", "0;1"), THREE_EDGES, THREE_DEPS,
     "column 8 (targets) is '2': the edges name 2 nodes, the list 1"},
    {THREE("1;2", "0;1;"), THREE_EDGES, THREE_DEPS, "allowed are node numbers with ; between them"},
    {THREE("1;2", ";0;1"), THREE_EDGES, THREE_DEPS, "allowed are node numbers with ; between them"},
    {THREE("1;2", "0 1"), THREE_EDGES, THREE_DEPS, "allowed are node numbers with ; between them"},
    {THREE("1;2", "-1"), THREE_EDGES, THREE_DEPS, "allowed are node numbers with ; between them"},
    {NODES, ONE_EDGE, ONE_DEPS, "net.nodes.csv: has no row"},
    {"node,layer\n", ONE_EDGE, ONE_DEPS, "net.nodes.csv:1"},
    {NODES "1,0,pe,2,1.5,8,-1,1\n", ONE_EDGE, ONE_DEPS, "net.nodes.csv:2: column 1 (node) is '1'"},
    {NODES "0,0,core,2,1.5,8,-1,1\n", ONE_EDGE, ONE_DEPS, "column 3 (kind) is 'core'"},
    {NODES "0,0,pe,0,1.5,8,-1,1\n", ONE_EDGE, ONE_DEPS, "column 4 (steps) is '0'"},
    {NODES "0,0,pe,99999999,1.5,8,-1,1\n", ONE_EDGE, ONE_DEPS, "column 4 (steps) is '99999999'"},
    {NODES "0,0,pe,2,0,8,-1,1\n", ONE_EDGE, ONE_DEPS, "column 5 (latency_ns_per_step) is '0'"},
    {NODES "0,0,pe,2,-1,8,-1,1\n", ONE_EDGE, ONE_DEPS, "column 5 (latency_ns_per_step) is '-1'"},
    {NODES "0,0,pe,2,inf,8,-1,1\n", ONE_EDGE, ONE_DEPS, "column 5 (latency_ns_per_step) is 'inf'"},
    {NODES "0,0,pe,2,1e13,8,-1,1\n", ONE_EDGE, ONE_DEPS, "column 5 (latency_ns_per_step) is '1e13'"},
    {NODES "0,0,pe,2,1.5x,8,-1,1\n", ONE_EDGE, ONE_DEPS, "column 5"},
    {NODES "0,0,pe,2,1.5,-8,-1,1\n", ONE_EDGE, ONE_DEPS, "column 6 (bits_per_output_packet) is '-8'"},
    {NODES "0,0,pe,2,1.5,99999999999999999999,-1,1\n", ONE_EDGE, ONE_DEPS, "column 6"},
    {NODES "0,0,pe,2,1.5,8,-1,1\n1,0,merge,2,1,8,0;0,-1\n", ONE_EDGE, ONE_DEPS,
     "net.nodes.csv:3: column 7 (sources)"},
    {NODES "0,0,pe,2,1.5,8,-1,-1\n1,0,merge,2,1,8,0,-1\n", ONE_EDGE, ONE_DEPS,
     "net.nodes.csv:2: column 8 (targets) is '-1'"},
    {NODES "0,0,pe,2,1.5,8,1,1\n1,0,merge,2,1,8,0,-1\n", ONE_EDGE, ONE_DEPS,
     "net.nodes.csv:2: column 7 (sources) is '1'"},
    {TWO, EDGES "1,0,1,2,8,16\n", ONE_DEPS, "net.edges.csv:2: column 1 (edge) is '1'"},
    {TWO, EDGES "0,0,2,2,8,16\n", ONE_DEPS, "net.edges.csv:2: column 3 (dst) is '2'"},
    {TWO, EDGES "0,-1,1,2,8,16\n", ONE_DEPS, "column 2 (src) is '-1'"},
    {TWO, EDGES "0,0,0,2,8,16\n", ONE_DEPS, "does not send to itself"},
    {TWO, EDGES "0,0,1,3,8,24\n", ONE_DEPS, "column 4 (packets) is '3'"},
    {TWO, EDGES "0,0,1,2,9,18\n", ONE_DEPS, "column 5 (bits_per_packet) is '9'"},
    {TWO, EDGES "0,0,1,2,8,17\n", ONE_DEPS, "column 6 (total_bits) is '17'"},
    {TWO, ONE_EDGE "1,0,1,2,8,16\n", ONE_DEPS, "two edges from node 0 to node 1"},
    {TWO, ONE_EDGE, DEPS "1,0,0,1,1\n", "no row for node 1, step 1, source 0"},
    {TWO, ONE_EDGE, ONE_DEPS "1,1,0,2,0\n", "net.deps.csv:4: column 2 (step)"},
    {TWO, ONE_EDGE, DEPS "1,2,0,1,1\n", "column 2 (step) is '2'"},
    {TWO, ONE_EDGE, DEPS "0,0,1,1,1\n", "no edge leads from there"},
    {TWO, ONE_EDGE, DEPS "1,0,0,3,1\n", "column 4 (need_packets) is '3'"},
    {TWO, ONE_EDGE, DEPS "1,0,0,1,-1\n", "column 5 (drop_packets) is '-1'"},
    {TWO, ONE_EDGE, DEPS "1,0,0,1,2\n1,1,0,2,0\n", "has freed 2 packets of node 0 after step 0"},
    {NODES "0,0,pe,1,1,8,2,1\n1,0,pe,1,1,8,0,2\n2,0,pe,1,1,8,1,0;3\n3,0,pe,1,1,8,2,-1\n",
     EDGES "0,0,1,1,8,8\n1,1,2,1,8,8\n2,2,0,1,8,8\n3,2,3,1,8,8\n",
     DEPS "1,0,0,1,1\n2,0,1,1,1\n0,0,2,1,1\n3,0,2,1,1\n", "in a cycle: 0 -> 1 -> 2 -> 0"},
};

START_TEST(bad_graphs_are_refused_with_the_row)
{
    struct pim_task_graph *graph;
    struct pim_error error = {0};
    enum pim_status status =
        graph_from_text(bad[_i].nodes, bad[_i].edges, bad[_i].deps, NULL, &graph, &error);
    ck_assert_int_eq(status, PIM_BAD_INPUT);
    ck_assert_ptr_null(graph);
    ck_assert_msg(strstr(error.text, bad[_i].part) != NULL, "case %d: %s", _i, error.text);
}
END_TEST

START_TEST(files_that_are_missing_are_named)
{
    struct pim_task_graph *graph;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_task_graph_read("/nowhere/net", &graph, &error), PIM_IO);
    ck_assert_ptr_nonnull(strstr(error.text, "/nowhere/net.nodes.csv"));
    ck_assert_int_eq(pim_task_graph_read("/nowhere/net.json", &graph, &error), PIM_IO);
}
END_TEST

/* --- dependences from geometry --- */

/* Every need and drop of a deps file against the closed form of the layers file beside it. */
static void compare_dependences(const char *prefix, size_t entries)
{
    char path[4200];
    struct pim_error error = {0};
    FILE *files[4];
    static const char *const suffixes[] = {"nodes", "edges", "deps", "layers"};
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(path, sizeof path, "%s.%s.csv", prefix, suffixes[i]);
        files[i] = fopen(path, "rb");
        ck_assert_ptr_nonnull(files[i]);
    }
    struct pim_task_graph *listed, *derived;
    ck_assert_msg(pim_task_graph_read_csv(prefix, files[0], files[1], files[2], NULL, &listed, &error) ==
                      PIM_OK,
                  "%s", error.text);
    rewind(files[0]);
    rewind(files[1]);
    ck_assert_msg(pim_task_graph_read_csv(prefix, files[0], files[1], NULL, files[3], &derived, &error) ==
                      PIM_OK,
                  "%s", error.text);
    size_t compared = 0;
    for (uint32_t e = 0; e < listed->edges; e++) {
        for (uint32_t s = 0; s < listed->node[listed->edge[e].destination].steps; s++, compared++) {
            ck_assert_uint_eq(listed->need[listed->edge[e].first + s],
                              derived->need[derived->edge[e].first + s]);
            ck_assert_uint_eq(listed->drop[listed->edge[e].first + s],
                              derived->drop[derived->edge[e].first + s]);
        }
    }
    ck_assert_uint_eq(compared, entries);
    pim_task_graph_destroy(listed);
    pim_task_graph_destroy(derived);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(fclose(files[i]), 0);
}

START_TEST(geometry_gives_the_dependences_of_alexnet)
{
    char path[4096];
    compare_dependences(pimsim_source_path(path, sizeof path, "tests/data/conflict/cifar_alexnet"), 1114);
}
END_TEST

START_TEST(geometry_gives_the_dependences_of_vgg8)
{
    const char *folder = getenv("PIMSIM_SHARED_DATA");
    char path[4096];
    if (!folder) {
        printf("skipped: PIMSIM_SHARED_DATA does not name the folder with mnsim_noc/cifar_vgg8.deps.csv\n");
        return;
    }
    (void)snprintf(path, sizeof path, "%s/mnsim_noc/cifar_vgg8", folder);
    compare_dependences(path, 13685);
}
END_TEST

#define LAYERS "layer,type,in_h,in_w,out_h,out_w,kernel,stride,pad\n"

START_TEST(geometry_that_does_not_fit_is_refused)
{
    struct pim_task_graph *graph;
    struct pim_error error = {0};
    ck_assert_int_eq(graph_from_text(NODES "0,0,pe,2,1.5,8,-1,1\n1,1,pe,2,1.0,8,0,-1\n", ONE_EDGE, NULL,
                                     LAYERS "0,conv,1,2,1,2,1,1,0\n1,conv,1,3,1,2,1,1,0\n", &graph, &error),
                     PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "1 x 3") != NULL, "%s", error.text);
    ck_assert_int_eq(graph_from_text(TWO, ONE_EDGE, NULL, LAYERS "0,gelu,1,2,1,2,1,1,0\n", &graph, &error),
                     PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "layers.csv:2: column 2 (type) is 'gelu'") != NULL, "%s", error.text);
    ck_assert_int_eq(graph_from_text(NODES "0,0,pe,2,1.5,8,-1,1\n1,7,pe,2,1.0,8,0,-1\n", ONE_EDGE, NULL,
                                     LAYERS "0,conv,1,2,1,2,1,1,0\n", &graph, &error),
                     PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "node 1 is of layer 7") != NULL, "%s", error.text);
}
END_TEST

/* --- the authors' list --- */

#define PACKET(row, tile) "[" #row ",0,0,3,9,3,null,0,-1," #tile "]"
#define TILE0(more)                                                                                          \
    "{\"tile_id\":0,\"source_tile_id\":[-1],\"target_tile_id\":[1],\"dependence\":["                         \
    "{\"wait\":[],\"drop\":[],\"latency\":4,\"output\":[" PACKET(0, 0) "]}" more "]}"
#define TILE1(wait, drop)                                                                                    \
    "{\"tile_id\":1,\"source_tile_id\":[0],\"target_tile_id\":[-1],\"dependence\":["                         \
    "{\"wait\":[" wait "],\"drop\":[" drop "],\"latency\":2.5,\"output\":[" PACKET(0, 1) "]}]}"
#define SECOND ",{\"wait\":[],\"drop\":[],\"latency\":3,\"output\":[" PACKET(1, 0) "]}"

static enum pim_status parse(const char *text, struct pim_task_graph **graph, struct pim_error *error)
{
    return pim_task_graph_parse_json("list.json", text, strlen(text), graph, error);
}

START_TEST(task_list_is_read)
{
    struct pim_task_graph *graph;
    struct pim_error error = {0};
    ck_assert_msg(parse("[" TILE0(SECOND) "," TILE1(PACKET(1, 0), PACKET(0, 0) "," PACKET(1, 0)) "]", &graph,
                        &error) == PIM_OK,
                  "%s", error.text);
    ck_assert_uint_eq(graph->edges, 1);
    ck_assert_uint_eq(graph->edge[0].packets, 2);
    ck_assert_uint_eq(graph->edge[0].bits, 27);
    ck_assert_uint_eq(graph->need[0], 2); /* the later of the two */
    ck_assert_uint_eq(graph->drop[0], 2);
    ck_assert_double_eq(graph->latency_ns[graph->node[1].first_latency], 2.5);
    pim_task_graph_destroy(graph);
}
END_TEST

#define STEPS(tile)                                                                                          \
    "\"dependence\":[{\"wait\":[],\"drop\":[],\"latency\":1,\"output\":[" PACKET(0, tile) "]}]}"
#define LIST_OF_THREE(targets, sources)                                                                      \
    "[{\"tile_id\":0,\"source_tile_id\":[-1],\"target_tile_id\":" targets                                    \
    "," STEPS(0) ",{\"tile_id\":1,\"source_tile_id\":[0],\"target_tile_id\":[2]," STEPS(                     \
        1) ",{\"tile_id\":2,"                                                                                \
           "\"source_tile_id\":" sources ",\"target_tile_id\":[-1]," STEPS(2) "]"

START_TEST(task_lists_name_tiles_in_any_order)
{
    struct pim_task_graph *graph, *other;
    struct pim_error error = {0};
    ck_assert_msg(parse(LIST_OF_THREE("[1,2]", "[0,1]"), &graph, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(parse(LIST_OF_THREE("[2,-1,1]", "[1,0]"), &other, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(graph->edges, 3);
    check_same_graph(graph, other);
    pim_task_graph_destroy(graph);
    pim_task_graph_destroy(other);
}
END_TEST

static const struct {
    const char *text, *part;
} bad_list[] = {
    {"{}", "array of 1 to"},
    {LIST_OF_THREE("[1,2]", "[1,1]"),
     "tile 2: source_tile_id names a tile that does not send to it, or one twice"},
    {LIST_OF_THREE("[1,2]", "[1]"), "tile 2: source_tile_id lacks a tile"},
    {LIST_OF_THREE("[1,2]", "[1,2]"), "tile 2: source_tile_id names a tile that does not"},
    {LIST_OF_THREE("[1,1]", "[1,0]"), "two edges from node 0 to node 1"},
    {"[", "list.json:1"},
    {"[" TILE1("", "") "]", "tile_id must be its place"},
    {"[" TILE0("") "," TILE1(PACKET(5, 0), "") "]",
     "tile 1 step 0: it waits for or drops a packet that its tile does not make"},
    {"[" TILE0("") "," TILE1(PACKET(0, 7), "") "]", "a tile that does not send to it"},
    {"[" TILE0("") "," TILE1("[1,2]", "") "]", "array of ten"},
    {"[" TILE0(",{\"wait\":[],\"drop\":[],\"latency\":3,\"output\":[" PACKET(0, 0) "]}") "," TILE1("",
                                                                                                   "") "]",
     "also that of another step"},
    {"[" TILE0(",{\"wait\":[],\"drop\":[],\"latency\":3,\"output\":[[1,0,0,4,9,3,null,0,-1,0]]}") "," TILE1(
         "", "") "]",
     "the same bits"},
    {"[" TILE0(",{\"wait\":[],\"drop\":[],\"latency\":0,\"output\":[" PACKET(1, 0) "]}") "," TILE1("",
                                                                                                   "") "]",
     "takes 0 ns"},
    {"[" TILE0("") "," TILE1("", PACKET(0, 0)) "]", "has freed 1 packets"},
};

START_TEST(bad_task_lists_are_refused)
{
    struct pim_task_graph *graph;
    struct pim_error error = {0};
    ck_assert_int_eq(parse(bad_list[_i].text, &graph, &error), PIM_BAD_INPUT);
    ck_assert_ptr_null(graph);
    ck_assert_msg(strstr(error.text, bad_list[_i].part) != NULL, "case %d: %s", _i, error.text);
}
END_TEST

Suite *conflict_graph_suite(void)
{
    Suite *suite = suite_create("graph");
    TCase *cases = tcase_create("graph");
    tcase_add_test(cases, small_graph_is_read);
    tcase_add_test(cases, lists_and_dependences_have_no_order);
    tcase_add_test(cases, task_lists_name_tiles_in_any_order);
    tcase_add_loop_test(cases, bad_graphs_are_refused_with_the_row, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(cases, files_that_are_missing_are_named);
    tcase_add_test(cases, geometry_gives_the_dependences_of_alexnet);
    tcase_add_test(cases, geometry_gives_the_dependences_of_vgg8);
    tcase_add_test(cases, geometry_that_does_not_fit_is_refused);
    tcase_add_test(cases, task_list_is_read);
    tcase_add_loop_test(cases, bad_task_lists_are_refused, 0, sizeof bad_list / sizeof bad_list[0]);
    suite_add_tcase(suite, cases);
    return suite;
}
