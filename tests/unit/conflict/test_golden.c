/* Golden replays: mini5 interval by interval, rows of the matrices. The long suite has every row. */
#include "sim/output/json.h"
#include "tests/unit/conflict/suites.h"
#include "tests/unit/conflict/support.h"
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- mini5 --- */

/* The graph of five nodes of the golden file, stated from its figures: 27-bit packets, 0 -> 1 -> {2, 3}, 2 ->
 * 3 -> 4. */
static struct pim_task_graph *mini5(void)
{
    static const uint32_t steps[] = {4, 1, 1, 1, 1}, all[] = {4};
    static const double first[] = {4, 2, 3, 7}, nine[] = {9}, seven[] = {7}, six[] = {6}, five[] = {5};
    static const double *const latency[] = {first, nine, seven, six, five};
    static const struct small_edge edges[] = {{0, 1, 27, all, all},
                                              {1, 2, 27, NULL, NULL},
                                              {1, 3, 27, NULL, NULL},
                                              {2, 3, 27, NULL, NULL},
                                              {3, 4, 27, NULL, NULL}};
    return small_graph(5, steps, latency, 5, edges);
}

struct interval {
    bool transfer;
    uint32_t task;
    double start, end;
    uint32_t hops, links[16];
};

struct intervals {
    struct interval list[64];
    size_t count;
};

static void record(void *context, const struct pim_conflict_interval *interval)
{
    struct intervals *all = context;
    ck_assert_uint_lt(all->count, 64);
    struct interval *kept = &all->list[all->count++];
    *kept = (struct interval){.transfer = interval->kind == PIM_INTERVAL_TRANSFER,
                              .task = interval->task,
                              .hops = interval->hops,
                              .start = pim_conflict_ns(PIM_CONFLICT_ROUNDED, interval->start),
                              .end = pim_conflict_ns(PIM_CONFLICT_ROUNDED, interval->end)};
    if (interval->hops > 0)
        memcpy(kept->links, interval->links, interval->hops * sizeof(uint32_t));
}

/* All recorded intervals of a task must be those of the golden list, in its order. */
static void check_intervals(const struct intervals *all, bool transfer, uint32_t task, const json_t *wanted)
{
    size_t found = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct interval *interval = &all->list[i];
        if (interval->transfer != transfer || interval->task != task)
            continue;
        const json_t *range = json_array_get(wanted, found++);
        ck_assert_ptr_nonnull(range);
        ck_assert_double_eq(interval->start, json_number_value(json_array_get(range, 0)));
        ck_assert_double_eq(interval->end, json_number_value(json_array_get(range, 1)));
    }
    ck_assert_uint_eq(found, json_array_size(wanted));
}

static uint32_t router_of(const json_t *position)
{
    return (uint32_t)(json_integer_value(json_array_get(position, 0)) * 3 +
                      json_integer_value(json_array_get(position, 1)));
}

static void check_path(const struct intervals *all, uint32_t task, const json_t *path)
{
    const struct pim_conflict_mesh mesh = {3, 3};
    for (size_t i = 0; i < all->count; i++) {
        const struct interval *interval = &all->list[i];
        if (!interval->transfer || interval->task != task)
            continue;
        ck_assert_uint_eq(interval->hops, json_array_size(path));
        for (uint32_t k = 0; k < interval->hops; k++) {
            uint32_t from = interval->links[k] / PIM_DIRECTIONS;
            const json_t *link = json_array_get(path, k);
            ck_assert_uint_eq(from, router_of(json_array_get(link, 0)));
            ck_assert_uint_eq(pim_conflict_neighbour(&mesh, from, interval->links[k] % PIM_DIRECTIONS),
                              router_of(json_array_get(link, 1)));
        }
    }
}

static void check_mini5(const struct pim_task_graph *graph, const char *run, const char *mapping, bool ideal)
{
    char path[4096], key[32];
    struct pim_error error = {0};
    struct intervals all = {.count = 0};
    uint32_t *placement;
    struct pim_conflict_result result;
    struct pim_conflict_options options = PIM_CONFLICT_DEFAULTS;
    options.mesh = (struct pim_conflict_mesh){3, 3};
    options.images = 2;
    options.bandwidth_gbps = 1;
    options.input_bits = options.output_bits = 32768;
    options.ideal = ideal;
    options.record = record;
    options.record_context = &all;
    json_t *root;
    ck_assert_msg(
        pim_json_read(pimsim_source_path(path, sizeof path, "tests/data/conflict/mini5.golden.json"), 1 << 20,
                      &root, &error) == PIM_OK,
        "%s", error.text);
    ck_assert_msg(pim_conflict_place_named(NULL, mapping, graph, &options.mesh, &placement, &error) == PIM_OK,
                  "%s", error.text);
    ck_assert_msg(pim_conflict_run(graph, placement, &options, &result, &error) == PIM_OK, "%s", error.text);
    const json_t *golden = json_object_get(root, run);
    ck_assert_ptr_nonnull(golden);
    for (uint32_t n = 0; n < graph->nodes; n++) {
        (void)snprintf(key, sizeof key, "%u", n);
        const json_t *tile = json_object_get(json_object_get(golden, "tiles"), key);
        ck_assert_uint_eq(placement[n], router_of(json_object_get(tile, "pos")));
        check_intervals(&all, false, n, json_object_get(tile, "compute_ranges"));
    }
    for (uint32_t e = 0; e < graph->edges; e++) {
        uint32_t from = graph->edge[e].source,
                 to = graph->edge[e].destination; /* the file writes node n as "0,n" */
        (void)snprintf(key, sizeof key, "0,%u->0,%u", from, to);
        const json_t *comm = json_object_get(json_object_get(golden, "comms"), key);
        check_intervals(&all, true, e, json_object_get(comm, "ranges"));
        check_path(&all, e, json_object_get(comm, "path"));
    }
    pim_conflict_result_terminate(&result);
    free(placement);
    json_decref(root);
}

START_TEST(mini5_interval_by_interval)
{
    struct pim_task_graph *graph = mini5();
    check_mini5(graph, "naive", "row-major", false);
    check_mini5(graph, "snake", "snake", false);
    check_mini5(graph, "naive_ideal", "row-major", true);
    pim_task_graph_destroy(graph);
}
END_TEST

/* The authors' own file of that graph, when it is at hand. */
START_TEST(mini5_from_the_authors_file)
{
    const char *folder = getenv("PIMSIM_SHARED_DATA");
    char path[4096];
    if (!folder) {
        printf("skipped: PIMSIM_SHARED_DATA does not name the folder with mnsim_noc/mini5.graph.json\n");
        return;
    }
    (void)snprintf(path, sizeof path, "%s/mnsim_noc/mini5.graph.json", folder);
    struct pim_error error = {0};
    struct pim_task_graph *graph;
    ck_assert_msg(pim_task_graph_read(path, &graph, &error) == PIM_OK, "%s", error.text);
    check_mini5(graph, "naive", "row-major", false);
    check_mini5(graph, "snake", "snake", false);
    check_mini5(graph, "naive_ideal", "row-major", true);
    pim_task_graph_destroy(graph);
}
END_TEST

/* --- matrices --- */

START_TEST(path_hold_rows)
{
    size_t count, checked = 0;
    struct golden_row *rows = read_golden("results_replay_matrix.csv", &count);
    ck_assert_uint_eq(count, 120);
    for (size_t i = 0; i < count; i++) {
        bool alexnet = strcmp(rows[i].net, "cifar_alexnet") == 0,
             best = strcmp(rows[i].mapping, "heuristic_ga") == 0;
        if (rows[i].images == 1 ? !alexnet && !best : !alexnet || !best)
            continue; /* the long suite has the others */
        check_golden_row(&rows[i]);
        checked++;
    }
    ck_assert_uint_eq(checked, 30 + 5 + 5);
    free(rows);
}
END_TEST

START_TEST(saf_rows)
{
    size_t count;
    struct golden_row *rows = read_golden("saf_hop_by_hop.csv", &count);
    ck_assert_uint_eq(count, 60);
    for (size_t i = 0; i < count; i++)
        check_golden_row(&rows[i]);
    free(rows);
}
END_TEST

/* The paper-time version of the authors' code counts hops and releases the links of a path from its
 * destination on. */
START_TEST(paper_time_tie_break)
{
    char path[4096], net[32], mapping[32], schedule[32], line[256];
    FILE *file =
        fopen(pimsim_source_path(path, sizeof path, "tests/data/conflict/tiebreak_sensitivity.csv"), "r");
    ck_assert_ptr_nonnull(file);
    int checked = 0;
    while (fgets(line, sizeof line, file)) {
        double later, wanted;
        if (sscanf(line, "%31[^,],%31[^,],%31[^,],%lf,%lf", net, mapping, schedule, &later, &wanted) != 5)
            continue;
        struct golden_row row = {.images = 1};
        (void)snprintf(row.net, sizeof row.net, "cifar_%.20s", net);
        (void)snprintf(row.mapping, sizeof row.mapping, "%s",
                       strcmp(mapping, "naive") == 0 ? "naive_rowmajor" : mapping);
        (void)snprintf(row.schedule, sizeof row.schedule, "table_%s",
                       strstr(schedule, "prio") ? "balance" : "fixed");
        struct pim_conflict_options options = golden_options(&row);
        options.detour.count_routers = false;
        options.detour.tie_break = PIM_TIE_RELEASE_BACKWARD;
        struct golden_net loaded;
        struct pim_conflict_result result;
        struct pim_error error = {0};
        load_net(&loaded, row.net, row.mapping, &options.mesh);
        ck_assert_msg(pim_conflict_run(loaded.graph, loaded.placement, &options, &result, &error) == PIM_OK,
                      "%s", error.text);
        ck_assert_double_eq(result.end_ns, wanted);
        pim_conflict_result_terminate(&result);
        unload_net(&loaded);
        checked++;
    }
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(checked, 12);
}
END_TEST

/* Exact sums differ from rounded ones where two ends meet: most rows agree to 1e-9, none is far off. */
START_TEST(exact_arithmetic_agrees_without_ties)
{
    struct golden_row row = {
        .net = "cifar_vgg8", .mapping = "snake", .schedule = "xy_fixed", .images = 1, .end_ns = 3897084.4};
    struct pim_conflict_options options = golden_options(&row);
    struct golden_net net;
    struct pim_conflict_result first, second;
    struct pim_error error = {0};
    load_net(&net, row.net, row.mapping, &options.mesh);
    ck_assert_int_eq(pim_conflict_run(net.graph, net.placement, &options, &first, &error), PIM_OK);
    options.arithmetic = PIM_CONFLICT_EXACT;
    ck_assert_int_eq(pim_conflict_run(net.graph, net.placement, &options, &second, &error), PIM_OK);
    ck_assert_msg(fabs(second.end_ns - first.end_ns) < 1e-9 * first.end_ns, "%.17g and %.17g", first.end_ns,
                  second.end_ns);
    pim_conflict_result_terminate(&first);
    pim_conflict_result_terminate(&second);
    unload_net(&net);
}
END_TEST

Suite *conflict_golden_suite(void)
{
    Suite *suite = suite_create("golden");
    TCase *cases = tcase_create("golden");
    tcase_add_test(cases, mini5_interval_by_interval);
    tcase_add_test(cases, mini5_from_the_authors_file);
    tcase_add_test(cases, path_hold_rows);
    tcase_add_test(cases, saf_rows);
    tcase_add_test(cases, paper_time_tie_break);
    tcase_add_test(cases, exact_arithmetic_agrees_without_ties);
    suite_add_tcase(suite, cases);
    return suite;
}
