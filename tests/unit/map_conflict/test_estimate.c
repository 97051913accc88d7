/* The estimate held against the replay, layer by layer: an error of one that another makes good is seen. */
#include "mappers/conflict/contention.h"
#include "mappers/conflict/estimate.h"
#include "mappers/network/descriptor/descriptor.h"
#include "tests/unit/map_conflict/suites.h"
#include "tools/library/tiles.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 24, SWITCHINGS = 3 };

static const struct {
    const char *name;
    enum pim_switching switching;
    enum pim_conflict_routing routing;
    enum pim_conflict_arbiter arbiter;
} machines[SWITCHINGS] = {
    {"held, XY", PIM_SWITCHING_PATH_HOLD, PIM_CONFLICT_XY, PIM_CONFLICT_FIXED},
    {"held, adaptive", PIM_SWITCHING_PATH_HOLD, PIM_CONFLICT_ADAPTIVE, PIM_CONFLICT_BALANCE},
    {"stored", PIM_SWITCHING_SAF, PIM_CONFLICT_XY, PIM_CONFLICT_FIXED},
};

/* Ends of all layers as they are replayed. */
static void replay(const struct pim_tile_graph *tiles, const uint32_t *place, size_t machine, double *end)
{
    struct pim_conflict_options options = PIM_CONFLICT_DEFAULTS;
    struct pim_conflict_result result;
    struct pim_task_graph *graph;
    struct pim_error error = {0};
    options.mesh.width = options.mesh.height = SIDE;
    options.switching = machines[machine].switching;
    options.routing = machines[machine].routing;
    options.arbiter = machines[machine].arbiter;
    options.input_bits = options.output_bits = UINT64_C(1) << 30;
    ck_assert_msg(pim_tiles_task_graph(tiles, &graph, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_conflict_run(graph, place, &options, &result, &error) == PIM_OK, "%s", error.text);
    for (uint32_t l = 0; l < tiles->layers; l++)
        end[l] = 0;
    for (uint32_t n = 0; n < tiles->nodes; n++) {
        double ns = pim_conflict_ns(options.arithmetic, result.node[n].last_end);
        double *of = &end[tiles->node[n].layer];
        *of = ns > *of ? ns : *of;
    }
    pim_conflict_result_terminate(&result);
    pim_task_graph_destroy(graph);
}

/* The error of every layer's end, in shares of the whole run: the farthest below and above. */
static void hold_parts(const struct pim_tile_graph *tiles, enum pim_tile_mapping mapping, size_t machine,
                       double least, double most)
{
    const struct pim_grid grid = {SIDE, SIDE};
    const struct pim_machine_tiles tile = {.width = SIDE,
                                           .height = SIDE,
                                           .link_gbps = 8,
                                           .stores = machines[machine].switching == PIM_SWITCHING_SAF,
                                           .adaptive = machines[machine].routing == PIM_CONFLICT_ADAPTIVE,
                                           .logic_khz = 1000000};
    struct pim_tile_estimate estimate;
    struct pim_error error = {0};
    uint32_t place[SIDE * SIDE];
    double end[256], low = 0, high = 0, last = 0;
    ck_assert_uint_le(tiles->layers, 256);
    pim_tile_pattern(mapping, &grid, tiles->nodes, place);
    replay(tiles, place, machine, end);
    ck_assert(pim_tile_estimate_make(&estimate, tiles, place, &tile, &error) == PIM_OK);
    for (uint32_t l = 0; l < tiles->layers; l++)
        last = end[l] > last ? end[l] : last;
    for (uint32_t l = 0; l < tiles->layers; l++) {
        double off = (estimate.layer[l].last_end - end[l]) / last;
        low = off < low ? off : low;
        high = off > high ? off : high;
    }
    pim_tile_estimate_terminate(&estimate);
    ck_assert_msg(low >= least && high <= most,
                  "%s, %s, %s: estimates of layers' ends are %.3f to %.3f of the run off, not %.3f to %.3f",
                  tiles->name, pim_tile_mapping_name(mapping), machines[machine].name, low, high, least,
                  most);
}

static void named(const char *name, struct pim_arena *arena, struct pim_tile_graph *tiles)
{
    static const char *const smaller[] = {"network.image=64"};
    char relative[128], path[4096];
    const struct pim_tile_hardware hardware = PIM_TILE_DEFAULTS;
    struct pim_tile_layer *layers;
    struct pim_network *network;
    struct pim_error error = {0};
    uint32_t count;
    (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", name);
    ck_assert_msg(pim_network_read(pimsim_source_path(path, sizeof path, relative), smaller, 1, &network,
                                   &error) == PIM_OK,
                  "%s", error.text);
    ck_assert(pim_tile_layers_of(&network->graph, arena, &layers, &count, &error) == PIM_OK);
    ck_assert(pim_tile_graph_make(tiles, name, layers, count, &hardware, arena, &error) == PIM_OK);
    for (uint32_t l = 0; l < count; l++)
        layers[l].name = "";
    pim_network_destroy(network);
}

/* Convolutions one behind the other, in so many groups. */
static void grouped(const char *name, const uint32_t *groups, uint32_t of_group, uint32_t count,
                    bool shuffled, struct pim_arena *arena, struct pim_tile_graph *tiles)
{
    const struct pim_tile_hardware hardware = PIM_TILE_DEFAULTS;
    struct pim_tile_layer *layers = PIM_ARENA_ARRAY(arena, struct pim_tile_layer, count);
    struct pim_error error = {0};
    uint32_t channels = groups[0] * of_group;
    for (uint32_t l = 0; l < count; l++)
        layers[l] = (struct pim_tile_layer){.name = "grouped",
                                            .kind = PIM_TILE_CONVOLUTION,
                                            .inputs = 1,
                                            .input = {l ? l - 1 : PIM_TILE_IMAGE},
                                            .round = {l && shuffled ? 121 : 0},
                                            .in_channels = channels,
                                            .out_channels = channels,
                                            .groups = groups[l],
                                            .window = {{11, 11}, {11, 11}, {3, 3}, {1, 1}, {1, 1}},
                                            .rows = 9};
    ck_assert_msg(pim_tile_graph_make(tiles, name, layers, count, &hardware, arena, &error) == PIM_OK, "%s",
                  error.text);
}

/* Measured, with a little room: what changes an estimate for the worse is to be seen. */
static const struct {
    double least, most;
} bounds[][SWITCHINGS] = {
    {{-0.26, 0.17}, {-0.02, 0.42}, {-0.05, 0.01}}, /* shufflenet */
    {{-0.28, 0.14}, {-0.10, 0.54}, {-0.27, 0.01}}, /* mobilenet-v2 */
    {{-0.03, 0.06}, {-0.06, 0.89}, {-0.07, 0.01}}, /* efficientnet-b0 */
    {{-0.08, 0.15}, {-0.46, 0.82}, {-0.08, 0.01}}, /* 7 groups of 64 channels, channels shuffled between */
    {{-0.13, 0.30}, {-0.08, 0.25}, {-0.01, 0.01}}, /* depthwise, 131 channels */
    {{-0.37, 0.38}, {-0.46, 0.58}, {-0.51, 0.01}}, /* 13 groups of 29 channels */
};

START_TEST(parts)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles[6];
    static const uint32_t seven[] = {7, 7, 7}, deep[] = {131, 1, 131, 131}, wide[] = {13, 13, 1};
    pim_arena_initialize(&arena, 0);
    named("shufflenet", &arena, &tiles[0]);
    named("mobilenet-v2", &arena, &tiles[1]);
    named("efficientnet-b0", &arena, &tiles[2]);
    grouped("7 groups, shuffled", seven, 64, 3, true, &arena, &tiles[3]);
    grouped("131 groups", deep, 1, 4, false, &arena, &tiles[4]);
    grouped("13 groups", wide, 29, 3, false, &arena, &tiles[5]);
    for (size_t i = 0; i < 6; i++)
        for (int mapping = PIM_TILE_ROW_MAJOR; mapping <= PIM_TILE_BOUSTROPHEDON; mapping++)
            for (size_t machine = 0; machine < SWITCHINGS; machine++)
                hold_parts(&tiles[i], (enum pim_tile_mapping)mapping, machine, bounds[i][machine].least,
                           bounds[i][machine].most);
    pim_arena_terminate(&arena);
}
END_TEST

/* A step, a packet, a step: nothing is in its way, and the estimate is the run. */
START_TEST(one_packet)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_tile_layer layer = {.name = "one",
                                   .kind = PIM_TILE_CONVOLUTION,
                                   .inputs = 1,
                                   .input = {PIM_TILE_IMAGE},
                                   .in_channels = 8,
                                   .out_channels = 8,
                                   .window = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
                                   .rows = 1};
    const struct pim_tile_hardware hardware = PIM_TILE_DEFAULTS;
    struct pim_error error = {0};
    pim_arena_initialize(&arena, 0);
    ck_assert(pim_tile_graph_make(&tiles, "one", &layer, 1, &hardware, &arena, &error) == PIM_OK);
    for (size_t machine = 0; machine < SWITCHINGS; machine++)
        hold_parts(&tiles, PIM_TILE_ROW_MAJOR, machine, -1e-9, 1e-9);
    pim_arena_terminate(&arena);
}
END_TEST

/* On a mesh of one row or column no routing has another way. */
START_TEST(one_row)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_error error = {0};
    uint32_t place[256];
    double end = 0;
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-vgg8", PIM_TILE_CODE, &arena, &tiles);
    for (uint32_t n = 0; n < tiles.nodes; n++)
        place[n] = n;
    for (unsigned i = 0; i < 6; i++) {
        struct pim_tile_estimate estimate;
        const struct pim_machine_tiles tile = {.width = i % 2 ? 61 : 1,
                                               .height = i % 2 ? 1 : 61,
                                               .columns_first = i / 2 == 1,
                                               .adaptive = i / 2 == 2,
                                               .link_gbps = 8,
                                               .logic_khz = 1000000};
        ck_assert(pim_tile_estimate_make(&estimate, &tiles, place, &tile, &error) == PIM_OK);
        end = i == 0 ? estimate.end : end;
        ck_assert_double_eq(estimate.end, end);
        pim_tile_estimate_terminate(&estimate);
    }
    pim_arena_terminate(&arena);
}
END_TEST

/* Rows and columns changed about, the mesh is the same one with the other routing. */
START_TEST(columns_first)
{
    struct pim_arena arena;
    struct pim_tile_graph tiles;
    struct pim_tile_estimate estimate[3];
    struct pim_error error = {0};
    uint32_t place[SIDE * SIDE], turned[SIDE * SIDE];
    struct pim_machine_tiles tile = {.width = 9, .height = 7, .link_gbps = 8, .logic_khz = 1000000};
    const struct pim_grid grid = {9, 7};
    pim_arena_initialize(&arena, 0);
    make_recorded("cifar-vgg8", PIM_TILE_CODE, &arena, &tiles);
    pim_tile_pattern(PIM_TILE_BOUSTROPHEDON, &grid, tiles.nodes, place);
    for (uint32_t n = 0; n < tiles.nodes; n++)
        turned[n] = place[n] % 9 * 7 + place[n] / 9;
    ck_assert(pim_tile_estimate_make(&estimate[0], &tiles, place, &tile, &error) == PIM_OK);
    tile.columns_first = true;
    ck_assert(pim_tile_estimate_make(&estimate[1], &tiles, place, &tile, &error) == PIM_OK);
    tile.width = 7;
    tile.height = 9;
    ck_assert(pim_tile_estimate_make(&estimate[2], &tiles, turned, &tile, &error) == PIM_OK);
    ck_assert_double_eq_tol(estimate[0].end, estimate[2].end, 1e-6);
    ck_assert_double_eq_tol(estimate[0].interval, estimate[2].interval, 1e-6);
    ck_assert(fabs(estimate[0].end - estimate[1].end) > 1000);
    for (size_t i = 0; i < 3; i++)
        pim_tile_estimate_terminate(&estimate[i]);
    pim_arena_terminate(&arena);
}
END_TEST

/*
 * Two edges over one link, alone and together. An edge of one packet has a window without length: it is in
 * the way of all that travel at that time, also of those that end with it.
 */
START_TEST(windows)
{
    static const struct {
        struct pim_tile_window one; /* of the second edge; the first travels from 0 to 10 */
        double held[2], stored[2];  /* what the two edges need */
    } cases[] = {
        {{5, 5}, {9, 1}, {5, 1}},       /* within */
        {{10, 10}, {9, 1}, {5, 1}},     /* at its end */
        {{0, 0}, {9, 1}, {5, 1}},       /* at its begin */
        {{11, 11}, {8, 1}, {4, 1}},     /* behind it */
        {{10, 14}, {8, 1}, {4, 1}},     /* several packets that begin when it ends */
        {{5, 15}, {8.5, 5}, {4.5, 3}},  /* half of the one, half of the other */
        {{-5, 15}, {8.5, 9}, {4.5, 5}}, /* half of the one, all of the other */
        {{8, 10}, {9, 2.6}, {5, 1.8}},  /* all of the one, a fifth of the other */
    };
    struct pim_tile_edge edges[] = {{0, 2, 4, 8}, {1, 2, 1, 8}};
    const struct pim_tile_graph graph = {.nodes = 3, .edges = 2, .edge = edges};
    const uint32_t place[] = {0, 1, 2};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pim_tile_window window[] = {{0, 10}, cases[i].one};
        for (int stores = 0; stores < 2; stores++) {
            const struct pim_machine_tiles machine = {
                .width = 3, .height = 1, .link_gbps = 8, .stores = stores == 1};
            struct pim_tile_contention *made = pim_tile_contention_create(&graph, place, &machine);
            ck_assert_ptr_nonnull(made);
            for (uint32_t e = 0; e < 2; e++) {
                double wanted = stores ? cases[i].stored[e] : cases[i].held[e];
                double time = pim_tile_contention_time(made, e, window);
                ck_assert_msg(fabs(time - wanted) < 1e-9, "case %zu, %s, edge %" PRIu32 ": %g ns, not %g", i,
                              stores ? "stored" : "held", e, time, wanted);
            }
            pim_tile_contention_destroy(made);
        }
    }
}
END_TEST

Suite *conflict_estimate_suite(void)
{
    Suite *suite = suite_create("conflict_estimate");
    TCase *tests = tcase_create("parts");
    tcase_add_test(tests, parts);
    tcase_add_test(tests, one_packet);
    tcase_add_test(tests, one_row);
    tcase_add_test(tests, columns_first);
    tcase_add_test(tests, windows);
    suite_add_tcase(suite, tests);
    return suite;
}
