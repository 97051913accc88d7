/* Graphs of networks against those that the authors' generator made, and end times replayed on them. */
#include "mappers/network/descriptor/descriptor.h"
#include "mappers/network/layer_table.h"
#include "tests/unit/map_conflict/suites.h"
#include "tools/library/tiles.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pim_task_graph *recorded_graph(const char *name)
{
    char relative[128], path[1024];
    struct pim_task_graph *graph;
    struct pim_error error = {0};
    (void)snprintf(relative, sizeof relative, "tests/data/conflict/%s", name);
    ck_assert_msg(pim_task_graph_read(pimsim_source_path(path, sizeof path, relative), &graph, &error) ==
                      PIM_OK,
                  "%s", error.text);
    return graph;
}

static struct pim_task_graph *task_graph_of(const struct pim_tile_graph *tiles)
{
    struct pim_task_graph *graph;
    struct pim_error error = {0};
    ck_assert_msg(pim_tiles_task_graph(tiles, &graph, &error) == PIM_OK, "%s", error.text);
    return graph;
}

/* Nodes, edges, packets, times to the last bit, and every dependence. */
static void hold_equal(const struct pim_task_graph *a, const struct pim_task_graph *b)
{
    ck_assert_uint_eq(a->nodes, b->nodes);
    ck_assert_uint_eq(a->edges, b->edges);
    for (uint32_t n = 0; n < a->nodes; n++) {
        ck_assert_uint_eq(a->node[n].steps, b->node[n].steps);
        double left = a->latency_ns[a->node[n].first_latency],
               right = b->latency_ns[b->node[n].first_latency];
        ck_assert_msg(left <= right && left >= right, "node %" PRIu32 ": %.17g ns, recorded %.17g", n, left,
                      right);
    }
    for (uint32_t e = 0; e < a->edges; e++) {
        const struct pim_task_edge *left = &a->edge[e], *right = &b->edge[e];
        ck_assert_uint_eq(left->source, right->source);
        ck_assert_uint_eq(left->destination, right->destination);
        ck_assert_uint_eq(left->packets, right->packets);
        ck_assert_uint_eq(left->bits, right->bits);
        for (uint32_t s = 0; s < a->node[left->destination].steps; s++) {
            ck_assert_uint_eq(a->need[left->first + s], b->need[right->first + s]);
            ck_assert_uint_eq(a->drop[left->first + s], b->drop[right->first + s]);
        }
    }
}

START_TEST(recorded_graphs)
{
    static const char *const names[][2] = {{"cifar-alexnet", "cifar_alexnet"}, {"cifar-vgg8", "cifar_vgg8"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pim_arena arena;
        struct pim_tile_graph tiles;
        pim_arena_initialize(&arena, 0);
        make_recorded(names[i][0], PIM_TILE_CODE, &arena, &tiles);
        struct pim_task_graph *made = task_graph_of(&tiles), *wanted = recorded_graph(names[i][1]);
        hold_equal(made, wanted);
        pim_task_graph_destroy(made);
        pim_task_graph_destroy(wanted);
        pim_arena_terminate(&arena);
    }
}
END_TEST

START_TEST(recorded_sizes)
{
    static const struct {
        const char *name;
        uint32_t nodes, edges;
        uint64_t packets; /* 0: not recorded */
    } sizes[] = {{"cifar-alexnet", 32, 46, 1372},     {"cifar-vgg8", 61, 101, 14936},
                 {"cifar-resnet18", 120, 193, 11362}, {"cifar-vgg16", 93, 157, 25240},
                 {"imagenet-alexnet", 33, 48, 66654}, {"imagenet-vgg8", 63, 105, 741756},
                 {"imagenet-resnet18", 121, 195, 0},  {"imagenet-vgg16", 95, 161, 1246652}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct pim_arena arena;
        struct pim_tile_graph tiles;
        uint64_t packets = 0;
        pim_arena_initialize(&arena, 0);
        make_recorded(sizes[i].name, PIM_TILE_CODE, &arena, &tiles);
        for (uint32_t e = 0; e < tiles.edges; e++)
            packets += tiles.edge[e].packets;
        ck_assert_msg(tiles.nodes == sizes[i].nodes && tiles.edges == sizes[i].edges,
                      "%s: %u nodes, %u edges", sizes[i].name, tiles.nodes, tiles.edges);
        if (sizes[i].packets)
            ck_assert_uint_eq(packets, sizes[i].packets);
        pim_arena_terminate(&arena);
    }
}
END_TEST

/* End times in ms, four decimals, that were measured with the authors' code on graphs of which only the sizes
   are recorded: they hang on every node, edge and time of the graph. */
START_TEST(recorded_end_times)
{
    static const struct {
        const char *name;
        enum pim_tile_mapping mapping;
        enum pim_conflict_routing routing;
        enum pim_conflict_arbiter arbiter;
        bool ideal;
        double ms;
    } runs[] = {
        {"cifar-resnet18", PIM_TILE_ROW_MAJOR, PIM_CONFLICT_XY, PIM_CONFLICT_FIXED, false, 2.6766},
        {"cifar-resnet18", PIM_TILE_SNAKE, PIM_CONFLICT_XY, PIM_CONFLICT_BALANCE, false, 1.6741},
        {"cifar-resnet18", PIM_TILE_SNAKE, PIM_CONFLICT_ADAPTIVE, PIM_CONFLICT_BALANCE, false, 0.8604},
        {"cifar-resnet18", PIM_TILE_BOUSTROPHEDON, PIM_CONFLICT_XY, PIM_CONFLICT_FIXED, true, 0.4306},
        {"cifar-vgg16", PIM_TILE_SNAKE, PIM_CONFLICT_XY, PIM_CONFLICT_FIXED, false, 7.2270},
        {"cifar-vgg16", PIM_TILE_BOUSTROPHEDON, PIM_CONFLICT_ADAPTIVE, PIM_CONFLICT_BALANCE, false, 3.1224},
        {"cifar-vgg8", PIM_TILE_ROW_MAJOR, PIM_CONFLICT_XY, PIM_CONFLICT_FIXED, false, 9.3162}};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct pim_arena arena;
        struct pim_tile_graph tiles;
        uint32_t place[256];
        struct pim_conflict_options options = PIM_CONFLICT_DEFAULTS;
        struct pim_conflict_result result;
        struct pim_error error = {0};
        const struct pim_grid grid = {16, 16};
        pim_arena_initialize(&arena, 0);
        make_recorded(runs[i].name, PIM_TILE_CODE, &arena, &tiles);
        struct pim_task_graph *graph = task_graph_of(&tiles);
        pim_tile_pattern(runs[i].mapping, &grid, tiles.nodes, place);
        options.routing = runs[i].routing;
        options.arbiter = runs[i].arbiter;
        options.ideal = runs[i].ideal;
        ck_assert_msg(pim_conflict_run(graph, place, &options, &result, &error) == PIM_OK, "%s", error.text);
        ck_assert_msg(fabs(result.end_ns / 1e6 - runs[i].ms) <= 5.001e-5,
                      "%s run %zu: %.6f ms, recorded %.4f", runs[i].name, i, result.end_ns / 1e6, runs[i].ms);
        pim_conflict_result_terminate(&result);
        pim_task_graph_destroy(graph);
        pim_arena_terminate(&arena);
    }
}
END_TEST

/* Without the authors' errors a fully connected tile takes its own time, a pooling counts its channels. */
START_TEST(fixed_times)
{
    struct pim_arena arena;
    struct pim_tile_graph code, fixed;
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-vgg8", PIM_TILE_CODE, &arena, &code);
    make_recorded("cifar-vgg8", PIM_TILE_FIXED, &arena, &fixed);
    for (uint32_t n = 0; n < code.nodes; n++) {
        const struct pim_tile_layer *layer = &code.layer[code.node[n].layer];
        double a = code.node[n].latency_ns, b = fixed.node[n].latency_ns;
        if (layer->kind == PIM_TILE_POOLING)
            /* 2 x 8 ceil(9 C / 64) + 100 + 72 + 8 ceil(9 C / 64) */
            ck_assert_double_eq(b, 172 + 24 * ceil(9.0 * layer->out_channels / 64));
        else if (layer->kind == PIM_TILE_LINEAR && !code.node[n].merge)
            /* 256 features a block: 2 x 288 + crossbar and digital part, one level of adders, 10 columns */
            ck_assert_double_eq_tol(b, 576 + 81.2545454545 + 33.1208042 + 2 + 8.0 * 10 / 20 + 16, 1e-9);
        else
            ck_assert_double_eq(a, b);
    }
    pim_arena_terminate(&arena);
}
END_TEST

static uint64_t network_graph(const char *relative, struct pim_tile_graph *tiles, struct pim_arena *arena)
{
    struct pim_error error = {0};
    char path[1024];
    struct pim_network *network;
    struct pim_tile_layer *layers;
    const struct pim_tile_hardware hardware = PIM_TILE_DEFAULTS;
    uint32_t count;
    ck_assert_msg(pim_network_read(pimsim_source_path(path, sizeof path, relative), NULL, 0, &network,
                                   &error) == PIM_OK,
                  "%s", error.text);
    ck_assert_msg(pim_tile_layers_of(&network->graph, arena, &layers, &count, &error) == PIM_OK, "%s: %s",
                  relative, error.text);
    ck_assert_msg(pim_tile_graph_make(tiles, "net", layers, count, &hardware, arena, &error) == PIM_OK,
                  "%s: %s", relative, error.text);
    uint64_t macs = network->graph.macs;
    pim_network_destroy(network);
    return macs;
}

/* 641 x 6700417 is 1 in 32 bits. */
START_TEST(kernels_of_more_than_32_bits_are_refused)
{
    static const char table[] = "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, "
                                "Channels, Num Filter, Strides,\na,641,6700417,641,6700417,1,1,1,\n";
    const struct pim_tile_hardware hardware = PIM_TILE_DEFAULTS;
    struct pim_error error = {0};
    struct pim_network *network;
    struct pim_tile_graph tiles;
    struct pim_tile_layer *layers;
    struct pim_arena arena;
    uint32_t count;
    pim_arena_initialize(&arena, 0);
    ck_assert(pim_layer_table_parse("table", table, sizeof table - 1, &network, &error) == PIM_OK);
    ck_assert(pim_tile_layers_of(&network->graph, &arena, &layers, &count, &error) == PIM_OK);
    ck_assert(pim_tile_graph_make(&tiles, "net", layers, count, &hardware, &arena, &error) == PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "takes 4294967295 rows of a crossbar"));
    pim_network_destroy(network);
    pim_arena_terminate(&arena);
}
END_TEST

/* A convolution whose images come together would wait for all of them: it is refused, as a pooling is. */
START_TEST(several_images_at_once_are_refused)
{
    struct pim_graph graph;
    struct pim_tile_layer *layers;
    struct pim_arena arena;
    uint32_t count, input = 0;
    pim_arena_initialize(&arena, 0);
    for (uint32_t images = 1; images <= 3; images++) {
        struct pim_error error = {0};
        const union pim_attributes shape = {.shape = {.rank = 4, .dimension = {images, 3, 5, 5}}};
        union pim_attributes window = {.convolution = {.outputs = 4, .groups = 1}};
        for (unsigned axis = 0; axis < 2; axis++) {
            window.convolution.sliding.kernel[axis] = 3;
            window.convolution.sliding.stride[axis] = window.convolution.sliding.dilation[axis] = 1;
        }
        const struct pim_layer_description described[] = {
            {.name = "images", .operation = PIM_OPERATOR_INPUT, .attributes = shape},
            {.name = "conv",
             .operation = PIM_OPERATOR_CONVOLUTION,
             .inputs = 1,
             .input = &input,
             .attributes = window},
        };
        pim_graph_initialize(&graph, &arena);
        for (uint32_t i = 0, index; i < 2; i++)
            ck_assert(pim_graph_add(&graph, &described[i], &index, &error) == PIM_OK);
        ck_assert(pim_tile_layers_of(&graph, &arena, &layers, &count, &error) ==
                  (images == 1 ? PIM_OK : PIM_BAD_INPUT));
        ck_assert(images == 1 || strstr(error.text, "export with a batch of 1, --batch repeats it"));
    }
    pim_arena_terminate(&arena);
}
END_TEST

/* Networks of all families: their graphs are such that the replay accepts them, and the multiplications
 * of all steps are those of the network: no layer is lost, no group or head counted twice. */
START_TEST(other_networks)
{
    static const char *const names[] = {"vgg8",    "resnet18",         "squeezenet", "googlenet",
                                        "vit-t",   "swin-t",           "pvt-tiny",   "twins-svt-s",
                                        "cswin-t", "bert-base-encoder"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pim_arena arena;
        struct pim_tile_graph tiles;
        char relative[128];
        uint64_t macs = 0;
        pim_arena_initialize(&arena, 0);
        (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", names[i]);
        uint64_t wanted = network_graph(relative, &tiles, &arena);
        for (uint32_t l = 0; l < tiles.layers; l++)
            ck_assert_uint_eq(tiles.node[tiles.layer[l].first_node].steps,
                              tiles.layer[l].window.out_size[0] * tiles.layer[l].window.out_size[1]);
        for (uint32_t n = 0; n < tiles.nodes; n++)
            macs += tiles.node[n].macs * tiles.node[n].steps;
        ck_assert_msg(macs == wanted, "%s: %" PRIu64 " multiplications, not %" PRIu64, names[i], macs,
                      wanted);
        pim_task_graph_destroy(task_graph_of(&tiles));
        pim_arena_terminate(&arena);
    }
}
END_TEST

/* The step that reads each pixel of a map last; 0 of a pixel that no window has. */
static uint32_t *last_reads(const struct pim_window *window)
{
    uint32_t *last = calloc((size_t)window->in_size[0] * window->in_size[1], sizeof *last);
    ck_assert_ptr_nonnull(last);
    for (uint32_t step = 0; step < window->out_size[0] * window->out_size[1]; step++) {
        int64_t top = (int64_t)(step / window->out_size[1]) * window->stride[0] - window->pad[0],
                left = (int64_t)(step % window->out_size[1]) * window->stride[1] - window->pad[1];
        for (int64_t y = top; y < top + window->kernel[0]; y++)
            for (int64_t x = left; x < left + window->kernel[1]; x++)
                if (y >= 0 && y < window->in_size[0] && x >= 0 && x < window->in_size[1])
                    last[y * window->in_size[1] + x] = step;
    }
    return last;
}

/* Every step waits for the last pixel of its window, and has not freed more than the pixels that no step from
   it on reads. */
static void hold_takes(const struct pim_tile_graph *tiles, uint32_t e)
{
    const struct pim_tile_layer *layer = &tiles->layer[tiles->node[tiles->edge[e].destination].layer];
    const struct pim_window *window = &layer->window;
    uint32_t pixels = window->in_size[0] * window->in_size[1], steps = tiles->node[layer->first_node].steps;
    uint32_t *last = last_reads(window), *dead = calloc((size_t)steps + 1, sizeof *dead);
    uint64_t freed = 0, over = 0;
    ck_assert_ptr_nonnull(dead);
    ck_assert_uint_eq(tiles->edge[e].packets, pixels);
    for (uint32_t i = 0; i < pixels; i++)
        dead[last[i]]++;
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t need, drop;
        int64_t y = (int64_t)(step / window->out_size[1]) * window->stride[0] - window->pad[0],
                x = (int64_t)(step % window->out_size[1]) * window->stride[1] - window->pad[1];
        y = y + window->kernel[0] > window->in_size[0] ? window->in_size[0] : y + window->kernel[0];
        x = x + window->kernel[1] > window->in_size[1] ? window->in_size[1] : x + window->kernel[1];
        pim_tile_dependence(tiles, e, step, &need, &drop);
        ck_assert_int_ge((int64_t)need, (y - 1) * window->in_size[1] + x);
        freed += drop;
        over += dead[step];
        ck_assert_uint_le(freed, over);
        ck_assert_uint_le(freed, need);
    }
    ck_assert_uint_eq(freed, pixels);
    free(last);
    free(dead);
}

/* Who sends what to whom: the node that has a layer's whole pixels sends each, with all of its channels, to
   every tile of every layer that reads it, once; and windows take what they read. */
START_TEST(flows_are_those_of_the_layers)
{
    static const char *const names[] = {"vgg8", "resnet18", "squeezenet", "googlenet"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pim_arena arena;
        struct pim_tile_graph tiles;
        char relative[128];
        uint32_t flows = 0;
        pim_arena_initialize(&arena, 0);
        (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", names[i]);
        (void)network_graph(relative, &tiles, &arena);
        for (uint32_t e = 0; e < tiles.edges; e++) {
            const struct pim_tile_edge *edge = &tiles.edge[e];
            const struct pim_tile_node *from = &tiles.node[edge->source],
                                       *to = &tiles.node[edge->destination];
            const struct pim_tile_layer *layer = &tiles.layer[to->layer];
            ck_assert_uint_eq(edge->packets, from->steps);
            if (from->layer == to->layer) { /* partial sums */
                ck_assert(to->merge && !from->merge);
                continue;
            }
            uint32_t input = 0;
            while (input < layer->inputs && layer->input[input] != from->layer)
                input++;
            ck_assert_uint_lt(input, layer->inputs);
            ck_assert(from->merge);
            ck_assert_uint_eq(edge->bits, 9 * tiles.layer[from->layer].out_channels);
            if ((layer->kind == PIM_TILE_CONVOLUTION || layer->kind == PIM_TILE_POOLING) &&
                layer->round[input] == 0)
                hold_takes(&tiles, e);
            flows++;
        }
        for (uint32_t l = 0; l < tiles.layers; l++)
            for (uint32_t k = 0; k < tiles.layer[l].inputs; k++)
                flows -= tiles.layer[l].input[k] != PIM_TILE_IMAGE ? tiles.layer[l].tiles : 0;
        ck_assert_uint_eq(flows, 0);
        pim_arena_terminate(&arena);
    }
}
END_TEST

/* Attention of two branches of three tokens: scores take a query a step, and all keys of its branch at
 * once. */
START_TEST(products_wait_for_rounds)
{
    struct pim_tile_layer layers[] = {{.name = "q",
                                       .kind = PIM_TILE_CONVOLUTION,
                                       .inputs = 1,
                                       .input = {PIM_TILE_IMAGE},
                                       .in_channels = 8,
                                       .out_channels = 8,
                                       .window = {{1, 6}, {1, 6}, {1, 1}, {1, 1}, {0, 0}},
                                       .rows = 1},
                                      {.name = "k",
                                       .kind = PIM_TILE_CONVOLUTION,
                                       .inputs = 1,
                                       .input = {PIM_TILE_IMAGE},
                                       .in_channels = 8,
                                       .out_channels = 8,
                                       .window = {{1, 6}, {1, 6}, {1, 1}, {1, 1}, {0, 0}},
                                       .rows = 1},
                                      {.name = "s",
                                       .kind = PIM_TILE_PRODUCT,
                                       .inputs = 2,
                                       .input = {0, 1},
                                       .round = {0, 3},
                                       .in_channels = 8,
                                       .out_channels = 3,
                                       .products = 24,
                                       .window = {{1, 6}, {1, 6}, {1, 1}, {1, 1}, {0, 0}},
                                       .rows = 1}};
    static const uint32_t needs[] = {3, 3, 3, 6, 6, 6}, drops[] = {0, 0, 3, 0, 0, 3};
    const struct pim_tile_hardware hardware = PIM_TILE_DEFAULTS;
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    pim_arena_initialize(&arena, 0);
    ck_assert(pim_tile_graph_make(&tiles, "net", layers, 3, &hardware, &arena, &error) == PIM_OK);
    ck_assert_uint_eq(tiles.edges, 4); /* tile to merge, twice; queries and keys to the scores */
    for (uint32_t e = 0; e < tiles.edges; e++)
        for (uint32_t s = 0; s < 6 && tiles.edge[e].destination == 4; s++) {
            uint32_t need, drop;
            bool keys = tiles.edge[e].source == 3;
            pim_tile_dependence(&tiles, e, s, &need, &drop);
            ck_assert_uint_eq(need, keys ? needs[s] : s + 1);
            ck_assert_uint_eq(drop, keys ? drops[s] : 1);
        }
    /* 8 + 24 elements of 9 bits in words of 64, 8 ns each; three out */
    ck_assert_double_eq(tiles.node[4].latency_ns, 8 * 5 + 8);
    pim_arena_terminate(&arena);
}
END_TEST

/* Depthwise: 28 channels of 3 x 3 in a crossbar. In two groups of 64: 28, 28 and 8 channels, each group
 * in a tile of two crossbars and one of a third. */
START_TEST(groups_have_crossbars_of_their_own)
{
    struct pim_tile_layer layers[] = {{.name = "depthwise",
                                       .kind = PIM_TILE_CONVOLUTION,
                                       .inputs = 1,
                                       .input = {PIM_TILE_IMAGE},
                                       .in_channels = 128,
                                       .out_channels = 128,
                                       .groups = 128,
                                       .window = {{4, 4}, {4, 4}, {3, 3}, {1, 1}, {1, 1}},
                                       .rows = 9},
                                      {.name = "grouped",
                                       .kind = PIM_TILE_CONVOLUTION,
                                       .inputs = 1,
                                       .input = {0},
                                       .in_channels = 128,
                                       .out_channels = 64,
                                       .groups = 2,
                                       .window = {{4, 4}, {4, 4}, {3, 3}, {1, 1}, {1, 1}},
                                       .rows = 9}};
    const struct pim_tile_hardware hardware = PIM_TILE_DEFAULTS;
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    pim_arena_initialize(&arena, 0);
    ck_assert_msg(pim_tile_graph_make(&tiles, "net", layers, 2, &hardware, &arena, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(tiles.layer[0].tiles, 2); /* four crossbars of 28 channels, then one of 16 */
    ck_assert_uint_eq(tiles.node[0].bits, 9 * 112);
    ck_assert_uint_eq(tiles.node[0].arrays, 4);
    ck_assert_uint_eq(tiles.node[1].bits, 9 * 16);
    ck_assert_uint_eq(tiles.node[0].macs + tiles.node[1].macs, 128 * 9);
    ck_assert_uint_eq(tiles.layer[1].tiles, 4);
    uint64_t macs = 0;
    for (uint32_t n = 3; n < 7; n++) {
        macs += tiles.node[n].macs;
        ck_assert_uint_eq(tiles.node[n].bits, 9 * 32);
        ck_assert_uint_eq(tiles.node[n].arrays, n % 2 == 1 ? 2 : 1);
    }
    ck_assert_uint_eq(macs, 64 * 64 * 9);
    pim_arena_terminate(&arena);
}
END_TEST

Suite *conflict_graph_suite(void)
{
    Suite *suite = suite_create("conflict_graph");
    TCase *tests = tcase_create("graph");
    tcase_add_test(tests, recorded_graphs);
    tcase_add_test(tests, recorded_sizes);
    tcase_add_test(tests, recorded_end_times);
    tcase_add_test(tests, fixed_times);
    tcase_add_test(tests, kernels_of_more_than_32_bits_are_refused);
    tcase_add_test(tests, several_images_at_once_are_refused);
    tcase_add_test(tests, other_networks);
    tcase_add_test(tests, flows_are_those_of_the_layers);
    tcase_add_test(tests, products_wait_for_rounds);
    tcase_add_test(tests, groups_have_crossbars_of_their_own);
    suite_add_tcase(suite, tests);
    return suite;
}
