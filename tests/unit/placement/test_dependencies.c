/* The dependency graphs against tokens that are counted one by one on the map. */
#include "tests/unit/placement/suites.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t image;
} networks[] = {{"swin-b", 224},  {"swin-b", 640},      {"swin-t", 960},      {"focal-t", 224},
                {"focal-b", 640}, {"twins-svt-s", 224}, {"twins-svt-l", 640}, {"cswin-t", 224},
                {"cswin-b", 640}, {"pvt-small", 640},   {"vit-b", 224},       {"swin-s", 256},
                {"focal-s", 448}, {"swin-l", 448}};
enum { NETWORKS = sizeof networks / sizeof networks[0] };

/* Tokens that `to` needs of `from`; 0: no edge. */
static uint32_t tokens_between(const struct pim_dependency_graph *graph, uint32_t from, uint32_t to)
{
    for (uint32_t e = graph->first[from]; e < graph->first[from + 1]; e++)
        if (graph->neighbours[e].branch == to)
            return graph->neighbours[e].tokens;
    return 0;
}

START_TEST(graphs_are_symmetric)
{
    struct pim_network *network = shipped(networks[_i].name, networks[_i].image);
    const struct pim_transformer *transformer = network->transformer;
    for (uint32_t s = 0; s < transformer->stages; s++) {
        struct pim_dependency_graph graph;
        struct pim_error error = {0};
        const struct pim_transformer_block *block = &transformer->block[transformer->stage[s].first_block];
        ck_assert(pim_dependency_graph_make(transformer, s, &graph, &error) == PIM_OK);
        uint32_t branches = 0;
        for (uint32_t i = 0; i < block->attentions; i++)
            branches += block->attention[i].branches;
        ck_assert_uint_eq(graph.branches, branches);
        uint32_t *seen = calloc((size_t)branches + 1, sizeof *seen);
        ck_assert_ptr_nonnull(seen);
        for (uint32_t b = 0; b < branches; b++)
            for (uint32_t e = graph.first[b]; e < graph.first[b + 1]; e++) {
                uint32_t other = graph.neighbours[e].branch;
                ck_assert_uint_lt(other, branches);
                ck_assert_uint_ne(other, b);
                ck_assert_uint_ne(seen[other], b + 1);
                seen[other] = b + 1;
                ck_assert_uint_gt(graph.neighbours[e].tokens, 0);
                ck_assert_uint_eq(tokens_between(&graph, other, b), graph.neighbours[e].tokens);
            }
        bool edges = graph.first[branches] > 0;
        bool none = transformer->family == PIM_FAMILY_VIT || transformer->family == PIM_FAMILY_PVT;
        ck_assert(edges == (branches > 1 && !none));
        free(seen);
        pim_dependency_graph_terminate(&graph);
    }
    pim_network_destroy(network);
}
END_TEST

/* Counts for every window where its tokens were before the shift. */
START_TEST(shifted_windows)
{
    static const struct {
        const char *name;
        uint32_t image;
    } cases[] = {{"swin-b", 224}, {"swin-b", 640}, {"swin-l", 448}};
    struct pim_network *network = shipped(cases[_i].name, cases[_i].image);
    for (uint32_t s = 0; s < network->transformer->stages; s++) {
        const struct pim_transformer_stage *stage = &network->transformer->stage[s];
        const struct pim_attention *attention = &network->transformer->block[stage->first_block].attention[0];
        uint32_t w = stage->window, rows = attention->branches_y, columns = attention->branches_x;
        struct pim_dependency_graph graph;
        struct pim_error error = {0};
        ck_assert(pim_dependency_graph_make(network->transformer, s, &graph, &error) == PIM_OK);
        for (uint32_t b = 0; b < graph.branches; b++) {
            uint32_t *from = calloc(graph.branches, sizeof *from), others = 0;
            ck_assert_ptr_nonnull(from);
            for (uint32_t t = 0; t < w * w; t++) { /* tokens of the shifted window */
                uint32_t y = (b / columns * w + t / w + w / 2) % (rows * w);
                uint32_t x = (b % columns * w + t % w + w / 2) % (columns * w);
                from[y / w * columns + x / w]++;
            }
            /* they come from there and go back; so do those that other windows take from this one */
            for (uint32_t o = 0; o < graph.branches; o++)
                if (o != b && from[o] > 0) {
                    ck_assert_uint_ge(tokens_between(&graph, b, o), from[o]);
                    others += from[o];
                }
            ck_assert_uint_eq(graph.branches > 1 ? others + from[b] : w * w, w * w);
            free(from);
        }
        if (rows > 2 && columns > 2)
            for (uint32_t b = 0; b < graph.branches; b++)
                ck_assert_uint_eq(graph.first[b + 1] - graph.first[b], 6);
        pim_dependency_graph_terminate(&graph);
    }
    pim_network_destroy(network);
}
END_TEST

/* Swin-B at 224, stage 2: 4 x 4 windows of 7 x 7, shifted by 3. */
START_TEST(shifted_windows_by_hand)
{
    static const struct pim_dependency expected[] = {{6, 12}, {9, 12}, {10, 9}, {4, 12}, {1, 12}, {0, 9}};
    struct pim_network *network = shipped("swin-b", 224);
    struct pim_dependency_graph graph;
    struct pim_error error = {0};
    ck_assert(pim_dependency_graph_make(network->transformer, 1, &graph, &error) == PIM_OK);
    ck_assert_uint_eq(graph.first[6] - graph.first[5], 6);
    for (size_t i = 0; i < 6; i++)
        ck_assert_uint_eq(tokens_between(&graph, 5, expected[i].branch), expected[i].tokens);
    /* 2 x 2 windows in stage 3: the left and the right neighbour are the same one */
    pim_dependency_graph_terminate(&graph);
    ck_assert(pim_dependency_graph_make(network->transformer, 2, &graph, &error) == PIM_OK);
    ck_assert_uint_eq(tokens_between(&graph, 0, 1), 24);
    ck_assert_uint_eq(tokens_between(&graph, 0, 2), 24);
    ck_assert_uint_eq(tokens_between(&graph, 0, 3), 18);
    pim_dependency_graph_terminate(&graph);
    pim_network_destroy(network);
}
END_TEST

/* Which windows the region of a window and its pooled windows lie in, token by token. */
START_TEST(focal_regions)
{
    struct pim_network *network = shipped("focal-t", _i == 0 ? 224 : 640);
    for (uint32_t s = 0; s < network->transformer->stages; s++) {
        const struct pim_transformer_stage *stage = &network->transformer->stage[s];
        const struct pim_attention *attention = &network->transformer->block[stage->first_block].attention[0];
        int64_t w = stage->window, rows = attention->branches_y, columns = attention->branches_x;
        int64_t side = 1, pooled = 1;
        while (side * side < attention->granularity_keys[0])
            side++;
        while (pooled * pooled < attention->granularity_keys[1])
            pooled++;
        int64_t e = (side - w) / 2;
        struct pim_dependency_graph graph;
        struct pim_error error = {0};
        ck_assert(pim_dependency_graph_make(network->transformer, s, &graph, &error) == PIM_OK);
        for (int64_t b = 0; b < rows * columns; b++) {
            uint32_t *from = calloc((size_t)(rows * columns), sizeof *from);
            ck_assert_ptr_nonnull(from);
            for (int64_t y = -e; y < w + e; y++)
                for (int64_t x = -e; x < w + e; x++) {
                    int64_t row = (b / columns * w + y + rows * w) % (rows * w);
                    int64_t column = (b % columns * w + x + columns * w) % (columns * w);
                    from[row / w * columns + column / w]++;
                }
            for (int64_t i = b / columns - pooled / 2; i <= b / columns + pooled / 2; i++)
                for (int64_t j = b % columns - pooled / 2; j <= b % columns + pooled / 2; j++)
                    if (i >= 0 && i < rows && j >= 0 && j < columns)
                        from[i * columns + j]++;
            for (int64_t o = 0; o < rows * columns; o++)
                if (o != b)
                    ck_assert_uint_eq(tokens_between(&graph, (uint32_t)b, (uint32_t)o), from[o]);
            free(from);
        }
        pim_dependency_graph_terminate(&graph);
    }
    pim_network_destroy(network);
}
END_TEST

/* Twins and CSWin: one cycle through all branches; a round has a branch's part of the keys, or a stripe. */
START_TEST(cycles)
{
    struct pim_network *network = shipped(_i == 0 ? "twins-svt-s" : "cswin-s", 224);
    for (uint32_t s = 0; s < network->transformer->stages; s++) {
        const struct pim_transformer_stage *stage = &network->transformer->stage[s];
        struct pim_dependency_graph graph;
        struct pim_error error = {0};
        ck_assert(pim_dependency_graph_make(network->transformer, s, &graph, &error) == PIM_OK);
        ck_assert(graph.all == (graph.branches > 1));
        uint32_t at = 0, before = UINT32_MAX, steps = 0;
        while (graph.branches > 2) {
            ck_assert_uint_eq(graph.first[at + 1] - graph.first[at], 2);
            const struct pim_dependency *next = &graph.neighbours[graph.first[at]];
            next += next->branch == before;
            before = at;
            at = next->branch;
            steps++;
            if (at == 0)
                break;
        }
        ck_assert_uint_eq(steps, graph.branches > 2 ? graph.branches : 0);
        uint32_t keys = stage->height / stage->reduction * (stage->width / stage->reduction);
        if (graph.all)
            ck_assert_uint_eq(graph.neighbours[0].tokens, _i == 0
                                                              ? (keys + graph.branches - 1) / graph.branches
                                                              : stage->height * stage->window);
        pim_dependency_graph_terminate(&graph);
    }
    pim_network_destroy(network);
}
END_TEST

Suite *dependencies_suite(void)
{
    Suite *suite = suite_create("dependencies");
    TCase *tests = tcase_create("dependencies");
    tcase_add_loop_test(tests, graphs_are_symmetric, 0, NETWORKS);
    tcase_add_loop_test(tests, shifted_windows, 0, 3);
    tcase_add_test(tests, shifted_windows_by_hand);
    tcase_add_loop_test(tests, focal_regions, 0, 2);
    tcase_add_loop_test(tests, cycles, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
