/* The greedy binding against its definition, on random graphs; and its cost. */
#include "tests/unit/placement/suites.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* A symmetric graph with about `degree` neighbours for each branch. */
static struct pim_dependency_graph random_graph(uint32_t branches, uint32_t degree, uint64_t *state)
{
    struct pim_dependency_graph graph = {.branches = branches, .values = 1};
    bool *edge = calloc((size_t)branches * branches, sizeof *edge);
    graph.first = calloc((size_t)branches + 1, sizeof *graph.first);
    graph.neighbours = calloc((size_t)branches * branches + 1, sizeof *graph.neighbours);
    ck_assert(edge && graph.first && graph.neighbours);
    for (uint32_t a = 0; a < branches; a++)
        for (uint32_t b = a + 1; b < branches; b++)
            edge[a * branches + b] = edge[b * branches + a] = next_random(state) % branches < degree;
    for (uint32_t a = 0; a < branches; a++) {
        graph.first[a + 1] = graph.first[a];
        for (uint32_t b = 0; b < branches; b++)
            if (edge[a * branches + b])
                graph.neighbours[graph.first[a + 1]++] =
                    (struct pim_dependency){b, 1 + (a < b ? a * branches + b : b * branches + a) % 7};
    }
    free(edge);
    return graph;
}

static struct pim_placement_slot *random_slots(uint32_t count, uint32_t width, uint32_t height,
                                               uint64_t *state)
{
    struct pim_placement_slot *slots = calloc(count, sizeof *slots);
    ck_assert_ptr_nonnull(slots);
    for (uint32_t i = 0; i < count; i++)
        slots[i] = (struct pim_placement_slot){.layer = i / 8,
                                               .x = (uint32_t)(next_random(state) % width),
                                               .y = (uint32_t)(next_random(state) % height)};
    return slots;
}

static uint32_t hops_between(const struct pim_placement_slot *a, const struct pim_placement_slot *b)
{
    return (uint32_t)(abs((int)a->x - (int)b->x) + abs((int)a->y - (int)b->y));
}

/* Section VII-B2 word for word. */
static void bind_literally(const struct pim_dependency_graph *graph, const struct pim_placement_slot *slots,
                           uint32_t count, uint32_t *slot_of)
{
    bool *taken = calloc(count, sizeof *taken), *done = calloc(graph->branches, sizeof *done);
    ck_assert(taken && done);
    for (uint32_t step = 0; step < graph->branches; step++) {
        uint32_t branch = 0, slot = 0, most = 0;
        uint64_t least = UINT64_MAX;
        bool found = false;
        for (uint32_t b = 0; b < graph->branches; b++) {
            uint32_t placed = 0;
            for (uint32_t e = graph->first[b]; e < graph->first[b + 1]; e++)
                placed += done[graph->neighbours[e].branch];
            if (!done[b] && (!found || placed > most)) {
                branch = b;
                most = placed;
                found = true;
            }
        }
        for (uint32_t s = 0; s < count; s++) {
            uint64_t distance = 0;
            for (uint32_t e = graph->first[branch]; e < graph->first[branch + 1]; e++)
                if (done[graph->neighbours[e].branch])
                    distance += hops_between(&slots[s], &slots[slot_of[graph->neighbours[e].branch]]);
            if (!taken[s] && distance < least) {
                slot = s;
                least = distance;
            }
        }
        slot_of[branch] = slot;
        taken[slot] = done[branch] = true;
    }
    free(taken);
    free(done);
}

static void check_seed(uint64_t seed)
{
    uint64_t state = seed;
    uint32_t branches = 1 + (uint32_t)(next_random(&state) % 40),
             width = 1 + (uint32_t)(next_random(&state) % 9),
             height = 1 + (uint32_t)(next_random(&state) % 9);
    uint32_t count = branches + (uint32_t)(next_random(&state) % 10), slot_of[64], expected[64];
    struct pim_dependency_graph graph = random_graph(branches, (uint32_t)(next_random(&state) % 9), &state);
    struct pim_placement_slot *slots = random_slots(count, width, height, &state);
    struct pim_error error = {0};
    ck_assert(pim_placement_bind(&graph, slots, count, width, height, slot_of, &error) == PIM_OK);
    bind_literally(&graph, slots, count, expected);
    uint64_t sum = 0, weighted = 0, tokens = 0, ends = 0;
    for (uint32_t b = 0; b < branches; b++) {
        ck_assert_msg(slot_of[b] == expected[b],
                      "seed %" PRIu64 ": branch %" PRIu32 " is on slot %" PRIu32 ", not %" PRIu32, seed, b,
                      slot_of[b], expected[b]);
        for (uint32_t e = graph.first[b]; e < graph.first[b + 1]; e++) {
            uint32_t hops = hops_between(&slots[slot_of[b]], &slots[slot_of[graph.neighbours[e].branch]]);
            sum += hops;
            weighted += (uint64_t)hops * graph.neighbours[e].tokens;
            tokens += graph.neighbours[e].tokens;
            ends++;
        }
    }
    struct pim_placement_hops hops = pim_placement_hops(&graph, slots, slot_of);
    ck_assert_uint_eq(hops.edges, ends / 2);
    if (ends > 0) {
        ck_assert(fabs(hops.average * (double)ends - (double)sum) < 1e-6 * (double)(1 + sum));
        ck_assert(fabs(hops.weighted * (double)tokens - (double)weighted) < 1e-6 * (double)(1 + weighted));
    }
    free(slots);
    pim_dependency_graph_terminate(&graph);
}

START_TEST(greedy_as_defined)
{
    for (uint64_t i = 0; i < 25; i++)
        check_seed((uint64_t)_i * 25 + i);
}
END_TEST

START_TEST(random_binding_is_the_mean_over_pairs)
{
    for (uint64_t seed = 1000; seed < 1020; seed++) {
        uint64_t state = seed, sum = 0;
        uint32_t count = 2 + (uint32_t)(next_random(&state) % 50),
                 width = 1 + (uint32_t)(next_random(&state) % 20);
        struct pim_placement_slot *slots = random_slots(count, width, 7, &state);
        for (uint32_t a = 0; a < count; a++)
            for (uint32_t b = 0; b < count; b++)
                sum += hops_between(&slots[a], &slots[b]);
        double mean = (double)sum / ((double)count * (count - 1));
        ck_assert_msg(fabs(pim_placement_random_hops(slots, count, width, 7) - mean) < 1e-9, "seed %" PRIu64,
                      seed);
        ck_assert(pim_placement_random_hops(slots, 1, width, 7) == 0);
        free(slots);
    }
}
END_TEST

/* Processor seconds of one binding of side x side windows of Swin on nodes of 16 x 16; the least of three. */
static double seconds(uint32_t side)
{
    struct pim_network *network = shipped("swin-t", 4 * 7 * side);
    struct pim_dependency_graph graph;
    struct pim_error error = {0};
    ck_assert(pim_dependency_graph_make(network->transformer, 0, &graph, &error) == PIM_OK);
    ck_assert_uint_eq(graph.branches, side * side);
    struct pim_placement_slot *slots = calloc(graph.branches, sizeof *slots);
    uint32_t *slot_of = calloc(graph.branches, sizeof *slot_of);
    ck_assert(slots && slot_of);
    for (uint32_t i = 0; i < graph.branches; i++)
        slots[i] = (struct pim_placement_slot){.layer = i / 256, .x = i % 16, .y = i / 16 % 16};
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        clock_t start = clock();
        ck_assert(pim_placement_bind(&graph, slots, graph.branches, 16, 16, slot_of, &error) == PIM_OK);
        double took = (double)(clock() - start) / CLOCKS_PER_SEC;
        best = took < best ? took : best;
    }
    free(slots);
    free(slot_of);
    pim_dependency_graph_terminate(&graph);
    pim_network_destroy(network);
    return best;
}

/* 1 225 branches (960 x 960) in under 0.1 s, and no more than 16 times as long for four times as many, with
   room for what a cache makes of it. */
START_TEST(quadratic)
{
    double few = seconds(35), many = seconds(70);
    ck_assert_msg(few < 0.1, "%g s for 1225 branches", few);
    ck_assert_msg(many < 30 * few, "%g s for 1225 branches, %g s for 4900", few, many);
}
END_TEST

Suite *binding_suite(void)
{
    Suite *suite = suite_create("binding");
    TCase *tests = tcase_create("binding");
    tcase_add_loop_test(tests, greedy_as_defined, 0, 8);
    tcase_add_test(tests, random_binding_is_the_mean_over_pairs);
    tcase_add_test(tests, quadratic);
    suite_add_tcase(suite, tests);
    return suite;
}
