/* Random graphs, placements and options: the model against the plain replay of oracle.c, bit for bit. */
#include "sim/random.h"
#include "tests/unit/conflict/oracle.h"
#include "tests/unit/conflict/suites.h"
#include "tests/unit/conflict/support.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 10, STEPS = 5 };

struct scene {
    struct pim_task_graph *graph;
    uint32_t placement[NODES];
    struct pim_conflict_options options;
};

static uint32_t below(struct pim_random *random, uint32_t bound)
{
    return (uint32_t)pim_random_below(random, bound);
}

/* Needs that do not fall and end with all packets; drops that free no more than has arrived. */
static void draw_dependences(struct pim_random *random, uint32_t steps, uint32_t packets, uint32_t *need,
                             uint32_t *drop)
{
    uint32_t arrived = 0, freed = 0;
    for (uint32_t s = 0; s < steps; s++) {
        arrived = s + 1 == steps ? packets : arrived + below(random, packets - arrived + 1);
        need[s] = arrived;
        drop[s] = s + 1 == steps && below(random, 4) ? arrived - freed : below(random, arrived - freed + 1);
        freed += drop[s];
    }
}

static struct pim_task_graph *draw_graph(struct pim_random *random)
{
    static const double times[] = {1, 3.7, 0.3, 10.1, 218.37534965454546, 2};
    static const uint64_t sizes[] = {8, 27, 576, 9, 40};
    uint32_t nodes = 2 + below(random, NODES - 1), steps[NODES], edges = 0;
    double latency[NODES][STEPS];
    const double *latencies[NODES];
    struct small_edge edge[NODES * NODES];
    uint32_t need[NODES * NODES][STEPS], drop[NODES * NODES][STEPS];
    for (uint32_t n = 0; n < nodes; n++) {
        steps[n] = 1 + below(random, STEPS);
        latencies[n] = latency[n];
        for (uint32_t s = 0; s < steps[n]; s++)
            latency[n][s] = times[below(random, 6)];
    }
    for (uint32_t from = 0; from < nodes; from++) {
        for (uint32_t to = from + 1; to < nodes; to++) {
            if (below(random, 3) > 0 && to != from + 1)
                continue;
            draw_dependences(random, steps[to], steps[from], need[edges], drop[edges]);
            edge[edges] = (struct small_edge){from, to, sizes[below(random, 5)], need[edges], drop[edges]};
            edges++;
        }
    }
    return small_graph(nodes, steps, latencies, edges, edge);
}

static void draw_scene(struct scene *scene, struct pim_random *random)
{
    static const double bandwidths[] = {1, 8, 3, 2.5, 0.7};
    scene->graph = draw_graph(random);
    scene->options = (struct pim_conflict_options)PIM_CONFLICT_DEFAULTS;
    scene->options.check = true;
    struct pim_conflict_options *options = &scene->options;
    options->mesh = (struct pim_conflict_mesh){3 + below(random, 3), 4};
    options->images = 1 + below(random, 3);
    options->bandwidth_gbps = bandwidths[below(random, 5)];
    options->switching = below(random, 2) ? PIM_SWITCHING_SAF : PIM_SWITCHING_PATH_HOLD;
    options->arbiter = below(random, 2) ? PIM_CONFLICT_BALANCE : PIM_CONFLICT_FIXED;
    options->routing =
        (enum pim_conflict_routing)below(random, options->switching == PIM_SWITCHING_SAF ? 2 : 3);
    options->half_duplex = below(random, 2) == 1;
    options->ideal = below(random, 5) == 0;
    options->detour =
        (struct pim_detour){1000 + 100 * below(random, 20), below(random, 4), below(random, 2) == 1,
                            (enum pim_tie_break)below(random, PIM_TIE_BREAKS)};
    if (below(random, 2)) { /* tight buffers: some of these runs stand still */
        options->input_bits = 100 + below(random, 6000);
        options->output_bits = 30 + below(random, 3000);
    }
    uint32_t routers = pim_conflict_routers(&options->mesh), free_router[32] = {0};
    for (uint32_t r = 0; r < routers; r++)
        free_router[r] = r;
    for (uint32_t n = 0; n < scene->graph->nodes; n++) {
        uint32_t pick = below(random, routers);
        scene->placement[n] = free_router[pick];
        free_router[pick] = free_router[--routers];
    }
}

static void check_conservation(const struct scene *scene, const struct pim_conflict_result *result)
{
    uint64_t held = 0, bit_hops = 0;
    for (uint32_t e = 0; e < scene->graph->edges; e++) {
        ck_assert_uint_eq(result->task[e].packets,
                          (uint64_t)scene->graph->edge[e].packets * scene->options.images);
        bit_hops += result->task[e].hops * scene->graph->edge[e].bits;
    }
    ck_assert_uint_eq(bit_hops, result->bit_hops);
    for (uint32_t i = 0; i < result->links; i++)
        held += result->link[i].held_bits;
    if (scene->options.switching == PIM_SWITCHING_SAF)
        ck_assert_uint_eq(held, result->bit_hops);
    for (uint32_t n = 0; n < scene->graph->nodes; n++)
        ck_assert_uint_eq(result->node[n].steps,
                          (uint64_t)scene->graph->node[n].steps * scene->options.images);
}

START_TEST(model_and_oracle_agree)
{
    const uint64_t seed = 20230116;
    struct pim_random random;
    pim_random_initialize(&random, seed);
    unsigned deadlocks = 0, completed = 0;
    for (int i = 0; i < 1500; i++) {
        struct scene scene;
        struct pim_conflict_result result;
        struct pim_error error = {0};
        draw_scene(&scene, &random);
        struct oracle_result wanted = oracle_run(scene.graph, scene.placement, &scene.options);
        enum pim_status status =
            pim_conflict_run(scene.graph, scene.placement, &scene.options, &result, &error);
        ck_assert_msg(status == (wanted.deadlock ? PIM_DEADLOCK : PIM_OK),
                      "seed %llu scene %d: status %d, oracle %s: %s", (unsigned long long)seed, i,
                      (int)status, wanted.deadlock ? "stands still" : "ends", error.text);
        if (status == PIM_OK) {
            completed++;
            ck_assert_msg(memcmp(&result.end_ns, &wanted.end_ns, sizeof wanted.end_ns) == 0,
                          "seed %llu scene %d: %.17g, oracle %.17g", (unsigned long long)seed, i,
                          result.end_ns, wanted.end_ns);
            ck_assert_uint_eq(result.packets, wanted.packets);
            ck_assert_uint_eq(result.time_points, wanted.time_points);
            check_conservation(&scene, &result);
        } else {
            deadlocks++;
        }
        pim_conflict_result_terminate(&result);
        pim_task_graph_destroy(scene.graph);
    }
    printf("seed %llu: %u runs ended, %u stood still\n", (unsigned long long)seed, completed, deadlocks);
    ck_assert_uint_gt(completed, 500);
    ck_assert_uint_gt(deadlocks, 50);
}
END_TEST

/* Tables of any path_hold run repeat it; routers deliver everything or say who waits. */
START_TEST(tables_repeat_random_runs)
{
    const uint64_t seed = 20230117;
    struct pim_random random;
    pim_random_initialize(&random, seed);
    unsigned repeated = 0, forwarded = 0;
    for (int i = 0; i < 600; i++) {
        struct scene scene;
        struct pim_conflict_result made, again;
        struct pim_behaviour table;
        struct pim_error error = {0};
        draw_scene(&scene, &random);
        scene.options.switching = PIM_SWITCHING_PATH_HOLD;
        scene.options.ideal = false;
        ck_assert_int_eq(pim_behaviour_initialize(&table, &scene.options.mesh, &error), PIM_OK);
        scene.options.make_table = &table;
        enum pim_status status =
            pim_conflict_run(scene.graph, scene.placement, &scene.options, &made, &error);
        scene.options.make_table = NULL;
        scene.options.routing = PIM_CONFLICT_TABLE;
        scene.options.table = &table;
        if (status == PIM_OK) {
            status = pim_conflict_run(scene.graph, scene.placement, &scene.options, &again, &error);
            ck_assert_msg(status == PIM_OK, "seed %llu scene %d: %s", (unsigned long long)seed, i,
                          error.text);
            ck_assert_uint_eq(again.end, made.end);
            ck_assert_uint_eq(again.time_points, made.time_points);
            pim_conflict_result_terminate(&again);
            repeated++;
            scene.options.switching = PIM_SWITCHING_SAF;
            status = pim_conflict_run(scene.graph, scene.placement, &scene.options, &again, &error);
            ck_assert_msg(status == PIM_OK || status == PIM_DEADLOCK, "seed %llu scene %d: %s",
                          (unsigned long long)seed, i, error.text);
            if (status == PIM_OK)
                check_conservation(&scene, &again);
            forwarded += status == PIM_OK;
            pim_conflict_result_terminate(&again);
        }
        pim_conflict_result_terminate(&made);
        pim_behaviour_terminate(&table);
        pim_task_graph_destroy(scene.graph);
    }
    printf("seed %llu: %u runs repeated, %u of them forwarded by routers\n", (unsigned long long)seed,
           repeated, forwarded);
    ck_assert_uint_gt(repeated, 200);
    ck_assert_uint_gt(forwarded, 200);
}
END_TEST

/* All arbiters deliver everything, and adding bandwidth to an uncontended network never slows it. */
START_TEST(every_arbiter_delivers)
{
    const uint64_t seed = 20230118;
    struct pim_random random;
    pim_random_initialize(&random, seed);
    for (int i = 0; i < 300; i++) {
        struct scene scene;
        struct pim_conflict_result result;
        struct pim_error error = {0};
        draw_scene(&scene, &random);
        scene.options.arbiter = (enum pim_conflict_arbiter)below(&random, PIM_CONFLICT_ARBITERS);
        scene.options.input_bits = scene.options.output_bits = 822400;
        scene.options.arithmetic = below(&random, 2) ? PIM_CONFLICT_EXACT : PIM_CONFLICT_ROUNDED;
        if (scene.options.switching == PIM_SWITCHING_SAF && !scene.options.ideal)
            scene.options.router_packets = below(&random, 3);
        ck_assert_msg(pim_conflict_run(scene.graph, scene.placement, &scene.options, &result, &error) ==
                          PIM_OK,
                      "seed %llu scene %d: %s", (unsigned long long)seed, i, error.text);
        check_conservation(&scene, &result);
        double end = result.end_ns;
        pim_conflict_result_terminate(&result);
        scene.options.ideal = true;
        ck_assert_int_eq(pim_conflict_run(scene.graph, scene.placement, &scene.options, &result, &error),
                         PIM_OK);
        ck_assert_msg(result.end_ns <= end * (1 + 1e-9),
                      "seed %llu scene %d: ideal takes %.17g, not at most %.17g", (unsigned long long)seed, i,
                      result.end_ns, end);
        pim_conflict_result_terminate(&result);
        pim_task_graph_destroy(scene.graph);
    }
}
END_TEST

Suite *conflict_property_suite(void)
{
    Suite *suite = suite_create("property");
    TCase *cases = tcase_create("random");
    tcase_add_test(cases, model_and_oracle_agree);
    tcase_add_test(cases, tables_repeat_random_runs);
    tcase_add_test(cases, every_arbiter_delivers);
    suite_add_tcase(suite, cases);
    return suite;
}
