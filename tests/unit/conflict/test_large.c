/* What a time point costs does not depend on how large the graph is. */
#include "tests/unit/conflict/suites.h"
#include "tests/unit/conflict/support.h"

#include <stdlib.h>
#include <time.h>

enum { WIDTH = 256, STEPS = 2, FEW = 1024, MANY = 32768 };

/* `pairs` senders, each with a receiver beside it, all of which end at instants of their own. */
static struct pim_task_graph *pairs_graph(uint32_t pairs)
{
    uint32_t *steps = calloc((size_t)2 * pairs, sizeof *steps);
    double *times = calloc((size_t)2 * pairs * STEPS, sizeof *times);
    const double **latency = calloc((size_t)2 * pairs, sizeof *latency);
    struct small_edge *edges = calloc(pairs, sizeof *edges);
    ck_assert(steps && times && latency && edges);
    for (uint32_t n = 0; n < 2 * pairs; n++) {
        steps[n] = STEPS;
        latency[n] = &times[(size_t)n * STEPS];
        for (uint32_t s = 0; s < STEPS; s++)
            times[(size_t)n * STEPS + s] = 100 + n / 1024.0;
    }
    for (uint32_t e = 0; e < pairs; e++)
        edges[e] = (struct small_edge){2 * e, 2 * e + 1, 10, NULL, NULL};
    struct pim_task_graph *graph = small_graph(2 * pairs, steps, latency, pairs, edges);
    free(steps);
    free(times);
    free(latency);
    free(edges);
    return graph;
}

/* Processor seconds for one packet; the least of three runs. */
static double seconds(uint32_t pairs, enum pim_switching switching, enum pim_conflict_arbiter arbiter)
{
    struct pim_task_graph *graph = pairs_graph(pairs);
    struct pim_conflict_options options = PIM_CONFLICT_DEFAULTS;
    uint32_t *placement = calloc((size_t)2 * pairs, sizeof *placement);
    double best = 1e9;
    ck_assert(placement);
    options.mesh = (struct pim_conflict_mesh){WIDTH, 2 * pairs / WIDTH};
    options.switching = switching;
    options.arbiter = arbiter;
    for (uint32_t n = 0; n < 2 * pairs; n++)
        placement[n] = n;
    for (int i = 0; i < 3; i++) {
        struct pim_conflict_result result;
        struct pim_error error = {0};
        clock_t start = clock();
        ck_assert_msg(pim_conflict_run(graph, placement, &options, &result, &error) == PIM_OK, "%s",
                      error.text);
        double took = (double)(clock() - start) / CLOCKS_PER_SEC / pairs / STEPS;
        ck_assert_uint_eq(result.packets, (uint64_t)pairs * STEPS);
        best = took < best ? took : best;
        pim_conflict_result_terminate(&result);
    }
    free(placement);
    pim_task_graph_destroy(graph);
    return best;
}

/* A packet among 32 768 edges takes as long as one among 1024, with room for what a cache makes of it. */
START_TEST(a_packet_costs_the_same_in_a_larger_graph)
{
    static const struct {
        enum pim_switching switching;
        enum pim_conflict_arbiter arbiter;
    } runs[] = {{PIM_SWITCHING_SAF, PIM_CONFLICT_FIXED},
                {PIM_SWITCHING_PATH_HOLD, PIM_CONFLICT_BALANCE},
                {PIM_SWITCHING_PATH_HOLD, PIM_CONFLICT_FIFO},
                {PIM_SWITCHING_PATH_HOLD, PIM_CONFLICT_ROUND_ROBIN}};
    double few = seconds(FEW, runs[_i].switching, runs[_i].arbiter),
           many = seconds(MANY, runs[_i].switching, runs[_i].arbiter);
    ck_assert_msg(many < 6 * few, "%g s for a packet of %d edges, %g s of %d", few, FEW, many, MANY);
}
END_TEST

Suite *conflict_large_suite(void)
{
    Suite *suite = suite_create("large");
    TCase *cases = tcase_create("cost");
    tcase_add_loop_test(cases, a_packet_costs_the_same_in_a_larger_graph, 0, 4);
    suite_add_tcase(suite, cases);
    return suite;
}
