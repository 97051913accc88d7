/*
 * The data flow, proven: the trace of every small network, partition and option, executed on numbers, leaves
 * on every node after every stage what the network computed without nodes has (check/check_values.h).
 */
#include "tests/unit/allspark/scenario.h"

#include <string.h>

/* Maps and proves; a scheme that the front-end refuses for this network must be refused for its size
   alone. */
static bool attempt(enum small_network which, const struct pim_estimate_hardware *hardware,
                    const struct pim_allspark_options *options)
{
    struct scenario scenario;
    struct pim_error error = {0};
    if (!scenario_make(&scenario, small_network(which), hardware, options, &error)) {
        ck_assert_msg(strstr(error.text, "does not fit") != NULL, "%s: %s", small_network_names[which],
                      error.text);
        return false;
    }
    scenario_prove(&scenario);
    scenario_end(&scenario);
    return true;
}

START_TEST(fixed_schemes_compute_the_network)
{
    const int which = PIM_CASE(_i);
    static const enum pim_allspark_scheme schemes[] = {PIM_ALLSPARK_AUTOMATIC, PIM_ALLSPARK_BRANCH,
                                                       PIM_ALLSPARK_PATCH, PIM_ALLSPARK_HEAD};
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        for (uint32_t ring = 0; ring <= 4; ring += 4) {
            const struct pim_allspark_options options = fixed(schemes[i], ring);
            ck_assert(attempt((enum small_network)which, &hardware, &options));
        }
}
END_TEST

START_TEST(all_partitions_compute_the_network)
{
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    uint32_t proven = 0;
    for (uint32_t u = 1; u <= 4; u++)
        for (uint32_t v = 1; v <= 4; v++) {
            const struct pim_allspark_options options = partition(u, v, u == 2 ? 4 : 0);
            proven += attempt((enum small_network)_i, &hardware, &options);
        }
    ck_assert_uint_ge(proven, 4);
}
END_TEST

/* A branch with several copies of its weights, in one piece and in two, one image and two. */
START_TEST(copies_compute_the_network)
{
    static const uint32_t rings[][2] = {{2, 1}, {3, 1}, {4, 1}, {4, 2}}; /* u, ring */
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    uint32_t proven = 0;
    for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++)
        for (uint32_t v = 1; v <= 4; v++)
            for (uint32_t chunks = 1; chunks <= rings[i][1]; chunks++) {
                struct pim_allspark_options options = copied(rings[i][0], v, rings[i][1]);
                options.chunks = chunks;
                options.batch = v == 2 ? 2 : 1;
                proven += attempt((enum small_network)_i, &hardware, &options);
            }
    ck_assert_uint_ge(proven, 4);
}
END_TEST

/* Sub-arrays that are turned, strips, arrays that are no square, more nodes than a branch has tokens. */
START_TEST(other_arrays_compute_the_network)
{
    static const struct {
        uint32_t width, height, u, v, ring;
    } cases[] = {{5, 3, 2, 1, 0}, {3, 5, 2, 3, 0},   {5, 3, 3, 1, 0}, {7, 2, 5, 1, 0},
                 {2, 7, 2, 1, 6}, {17, 1, 16, 1, 0}, {6, 6, 5, 2, 0}};
    uint32_t proven = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pim_estimate_hardware hardware = small_hardware(cases[i].width, cases[i].height);
        const struct pim_allspark_options options = partition(cases[i].u, cases[i].v, cases[i].ring);
        proven += attempt((enum small_network)_i, &hardware, &options);
    }
    ck_assert_uint_ge(proven, 2);
}
END_TEST

/* Every token of the ViT on a node of its own: the row of the class token has no patch to embed. */
START_TEST(a_class_token_alone)
{
    const struct pim_estimate_hardware hardware = small_hardware(3, 17);
    const struct pim_allspark_options options = partition(17, 3, 0);
    ck_assert(attempt(SMALL_VIT, &hardware, &options));
}
END_TEST

/* Stages with schemes of their own; and twelve columns of which most have no piece of the merging's input. */
START_TEST(stages_differ)
{
    const struct pim_estimate_hardware hardware = small_hardware(12, 4);
    struct pim_allspark_options options = partitions(2, (uint32_t[][2]){{3, 1}, {1, 12}}, 0);
    ck_assert(attempt(SMALL_NARROW, &hardware, &options));
    options = partitions(2, (uint32_t[][2]){{3, 1}, {4, 5}}, 0);
    ck_assert(attempt(SMALL_ODD, &hardware, &options));
    options = partitions(2, (uint32_t[][2]){{2, 3}, {3, 4}}, 0);
    ck_assert(attempt(SMALL_SWIN, &hardware, &options));
}
END_TEST

static const struct {
    enum small_network network;
    uint32_t width, height, ring, chunks;
    struct pim_allspark_layers first[3], second[3];
} mixtures[] = {
    /* two layers of one, two of another; four branches in the last stage: pooled from three partitions */
    {SMALL_PADDED,
     3,
     2,
     0,
     1,
     {{.u = 2, .v = 2, .layers = 8}, {.u = 3, .v = 1}},
     {{.u = 2, .v = 3, .layers = 2}, {.u = 1, .v = 2, .layers = 1}}},
    {SMALL_PADDED,
     4,
     4,
     0,
     1,
     {{.u = 2, .v = 2, .layers = 2}, {.u = 4, .v = 1}},
     {{.u = 4, .v = 4, .layers = 1}, {.u = 2, .v = 3, .layers = 1}, {.u = 1, .v = 2}}},
    /* the whole copy, and others that reuse it */
    {SMALL_PADDED,
     2,
     2,
     0,
     1,
     {{.u = 1, .v = 1, .layers = 2}, {.u = 2, .v = 2}},
     {{.u = 1, .v = 2, .layers = 1}, {.u = 1, .v = 1}}},
    {SMALL_SHIFTED,
     3,
     2,
     0,
     1,
     {{.u = 1, .v = 1, .layers = 1}, {.u = 2, .v = 2, .layers = 2}, {.u = 3, .v = 1}},
     {{0}}},
    {SMALL_ODD, 3, 1, 0, 1, {{.u = 1, .v = 1, .layers = 1}, {.u = 2, .v = 1}}, {{.u = 1, .v = 3}}},
    {SMALL_FOCAL,
     3,
     2,
     0,
     1,
     {{.u = 1, .v = 1, .layers = 1}, {.u = 2, .v = 2, .layers = 2}, {.u = 3, .v = 1}},
     {{.u = 2, .v = 3, .layers = 2}, {.u = 3, .v = 1}}},
    {SMALL_FOCAL,
     4,
     4,
     4,
     2,
     {{.u = 2, .v = 2, .layers = 2}, {.u = 4, .v = 1}},
     {{.u = 4, .v = 3, .layers = 1}, {.u = 2, .v = 2}}},
    /* rings of several branches, and weights in pieces */
    {SMALL_PADDED,
     4,
     4,
     4,
     2,
     {{.u = 2, .v = 2, .layers = 2}, {.u = 4, .v = 1}},
     {{.u = 1, .v = 4, .layers = 1}}},
    {SMALL_PADDED,
     4,
     4,
     0,
     4,
     {{.u = 3, .v = 2, .layers = 2}, {.u = 2, .v = 1}},
     {{.u = 4, .v = 3, .layers = 2}, {.u = 2, .v = 2}}},
};

/* Layers of one stage with partitions of their own, with weights of their own or those of the whole copy; the
   classifier behind several partitions. */
START_TEST(mixed_partitions_compute_the_network)
{
    const int which = PIM_CASE(_i);
    struct pim_allspark_options options = {.scheme = PIM_ALLSPARK_EXPLICIT};
    const struct pim_estimate_hardware hardware =
        small_hardware(mixtures[which % 9].width, mixtures[which % 9].height);
    options.ring = mixtures[which % 9].ring;
    options.chunks = mixtures[which % 9].chunks;
    options.batch = which < 9 ? 1 : 2;
    for (uint32_t i = 0; i < 3; i++) {
        options.list[0][i] = mixtures[which % 9].first[i];
        options.list[1][i] = mixtures[which % 9].second[i];
        options.lists[0] += mixtures[which % 9].first[i].u > 0;
        options.lists[1] += mixtures[which % 9].second[i].u > 0;
    }
    options.explicit_count = options.lists[1] > 0 ? 2 : 1;
    struct scenario scenario;
    struct pim_error error = {0};
    bool made =
        scenario_make(&scenario, small_network(mixtures[which % 9].network), &hardware, &options, &error);
    ck_assert_msg(made, "%s", error.text);
    ck_assert_uint_gt(scenario.plan.stage[0].partitions + scenario.plan.stage[1].partitions, 2);
    scenario_prove(&scenario);
    scenario_end(&scenario);
}
END_TEST

/* Images that are worked together: shared weights, rings and pieces, exchanges between branches and kinds of
   blocks, several partitions in a stage. */
START_TEST(batches_compute_the_network)
{
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    uint32_t proven = 0;
    for (uint32_t u = 1; u <= 3; u++) {
        struct pim_allspark_options options = partition(u, 1 + u % 3, u == 2 ? 4 : 0);
        options.batch = 2 + u % 3;
        options.chunks = u == 1 ? 2 : 1;
        proven += attempt((enum small_network)_i, &hardware, &options);
    }
    struct pim_allspark_options options = fixed(PIM_ALLSPARK_AUTOMATIC, 0);
    options.batch = 2;
    proven += attempt((enum small_network)_i, &hardware, &options);
    ck_assert_uint_ge(proven, 2);
}
END_TEST

/* Weights that go round behind the products before: in one piece and in several, on rings of one branch, of
   several and of half of one, one image and two. */
START_TEST(prefetch_computes_the_network)
{
    static const struct {
        uint32_t u, v, ring, chunks, batch;
    } cases[] = {{2, 1, 2, 1, 1}, {1, 2, 4, 3, 1}, {3, 2, 3, 2, 2}, {4, 1, 2, 1, 2}, {2, 3, 4, 4, 1}};
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    uint32_t proven = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_allspark_options options = copied(cases[i].u, cases[i].v, cases[i].ring);
        options.chunks = cases[i].chunks;
        options.batch = cases[i].batch;
        options.prefetch = PIM_PREFETCH_ON;
        proven += attempt((enum small_network)_i, &hardware, &options);
    }
    struct pim_allspark_options options = fixed(PIM_ALLSPARK_AUTOMATIC, 4);
    options.prefetch = PIM_PREFETCH_ON;
    proven += attempt((enum small_network)_i, &hardware, &options);
    ck_assert_uint_ge(proven, 3);
}
END_TEST

/* Global attention in branches: one of 36 and 36 of one key, in one layer or in several, with a batch. */
START_TEST(branches_of_global_attention_compute_the_network)
{
    static const struct {
        uint32_t width, height, first, second, batch;
        struct pim_allspark_layers list[2][2];
    } cases[] = {{4, 4, 1, 1, 1, {{{.u = 3, .v = 2}}, {{.u = 4, .v = 3}}}},
                 {4, 4, 2, 4, 1, {{{.u = 4, .v = 2}}, {{.u = 2, .v = 2}}}},
                 {5, 3, 3, 3, 2, {{{.u = 5, .v = 1}}, {{.u = 3, .v = 2, .layers = 1}, {.u = 1, .v = 3}}}},
                 {2, 2, 9, 6, 1, {{{.u = 2, .v = 1, .layers = 2}, {.u = 1, .v = 1}}, {{.u = 2, .v = 2}}}},
                 {2, 2, 4, 9, 3, {{{.u = 1, .v = 2}}, {{.u = 1, .v = 1, .layers = 2}, {.u = 2, .v = 1}}}},
                 {4, 4, 36, 36, 1, {{{.u = 4, .v = 2, .layers = 17}, {.u = 1, .v = 2}}, {{.u = 1, .v = 4}}}}};
    const struct pim_estimate_hardware hardware = small_hardware(cases[_i].width, cases[_i].height);
    struct pim_allspark_options options = {.scheme = PIM_ALLSPARK_EXPLICIT,
                                           .explicit_count = 4,
                                           .chunks = 1,
                                           .batch = cases[_i].batch,
                                           .branches = {0, cases[_i].first, 0, cases[_i].second}};
    for (uint32_t s = 0; s < 4; s++)
        for (uint32_t i = 0; i < 2 && (s % 2 == 0 ? i == 0 : cases[_i].list[s / 2][i].u > 0); i++)
            options.list[s][options.lists[s]++] =
                s % 2 == 0 ? (struct pim_allspark_layers){.u = 2, .v = 2} : cases[_i].list[s / 2][i];
    ck_assert(attempt(SMALL_CUT_TWINS, &hardware, &options));
}
END_TEST

/* Windows of Twins in several temporal layers, whose convolution over the map takes from all of them, with
   partitions and weights of their own or those of a whole copy; windows that reach beyond the map. */
START_TEST(layers_of_windows_compute_the_network)
{
    static const struct {
        uint32_t width, height, ring, chunks, batch;
        struct pim_allspark_layers list[3];
    } cases[] = {
        {2, 2, 0, 1, 1, {{.u = 1, .v = 1, .layers = 3}, {.u = 2, .v = 2, .layers = 2}, {.u = 1, .v = 2}}},
        {3, 2, 0, 1, 2, {{.u = 1, .v = 1, .layers = 1}, {.u = 2, .v = 1, .layers = 4}, {.u = 3, .v = 2}}},
        {4, 4, 4, 2, 1, {{.u = 4, .v = 1, .layers = 1}, {.u = 2, .v = 2, .layers = 3}, {.u = 3, .v = 1}}},
        {5, 3, 0, 1, 3, {{.u = 3, .v = 2, .layers = 9}, {.u = 5, .v = 1}, {0}}}};
    const struct pim_estimate_hardware hardware = small_hardware(cases[_i].width, cases[_i].height);
    struct pim_allspark_options options = {.scheme = PIM_ALLSPARK_EXPLICIT,
                                           .explicit_count = 3,
                                           .ring = cases[_i].ring,
                                           .chunks = cases[_i].chunks,
                                           .batch = cases[_i].batch};
    /* Odd numbers of blocks: the global ones come first, and windows last; then a stage of one block. */
    options.lists[0] = options.lists[2] = 1;
    options.list[0][0] = options.list[2][0] = (struct pim_allspark_layers){.u = 2, .v = 1};
    for (uint32_t i = 0; i < 3 && cases[_i].list[i].u > 0; i++)
        options.list[1][options.lists[1]++] = cases[_i].list[i];
    ck_assert(attempt(SMALL_ODD_TWINS, &hardware, &options));
}
END_TEST

/* Rows and stripes in several temporal layers with partitions of their own: what goes between them is kept
   for all of them. */
START_TEST(layers_of_stripes_compute_the_network)
{
    static const struct {
        uint32_t width, height;
        struct pim_allspark_layers list[3][3];
    } cases[] = {{4,
                  4,
                  {{{.u = 2, .v = 2, .layers = 1}, {.u = 4, .v = 1}},
                   {{.u = 4, .v = 2, .layers = 2}, {.u = 2, .v = 1}},
                   {{.u = 3, .v = 2}}}},
                 {2,
                  2,
                  {{{.u = 1, .v = 1, .layers = 1}, {.u = 2, .v = 2}},
                   {{.u = 2, .v = 2, .layers = 3}, {.u = 1, .v = 1, .layers = 1}, {.u = 1, .v = 2}},
                   {{.u = 1, .v = 1}}}},
                 {5, 3, {{{.u = 3, .v = 3}}, {{.u = 5, .v = 2}}, {{.u = 2, .v = 3}}}}};
    const struct pim_estimate_hardware hardware = small_hardware(cases[_i % 3].width, cases[_i % 3].height);
    struct pim_allspark_options options = {
        .scheme = PIM_ALLSPARK_EXPLICIT, .explicit_count = 3, .chunks = 1, .batch = _i < 3 ? 1 : 3};
    for (uint32_t s = 0; s < 3; s++)
        for (uint32_t i = 0; i < 3 && cases[_i % 3].list[s][i].u > 0; i++)
            options.list[s][options.lists[s]++] = cases[_i % 3].list[s][i];
    ck_assert(attempt(SMALL_CSWIN, &hardware, &options));
}
END_TEST

/* Weights that go round in pieces. */
START_TEST(chunks_compute_the_network)
{
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    uint32_t proven = 0;
    for (uint32_t chunks = 2; chunks <= 8; chunks *= 4)
        for (uint32_t u = 1; u <= 3; u++) {
            struct pim_allspark_options options = partition(u, _i == SMALL_NARROW ? 1 : 2, u == 1 ? 4 : 0);
            options.chunks = chunks;
            proven += attempt((enum small_network)_i, &hardware, &options);
        }
    ck_assert_uint_ge(proven, 2);
}
END_TEST

/* Scores and context of one block of rows after another; rows with fewer tokens have blocks of fewer, or
 * none. */
START_TEST(blocks_of_rows_compute_the_network)
{
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    uint32_t proven = 0;
    for (uint32_t blocks = 2; blocks <= 3; blocks++)
        for (uint32_t u = 1; u <= (blocks == 2 ? 3 : 1); u++) {
            struct pim_allspark_options options = partition(u, _i == SMALL_NARROW ? 1 : 2, 0);
            for (uint32_t i = 0; i < options.explicit_count; i++)
                options.list[i][0].row_blocks = blocks;
            options.batch = u == 2 ? 2 : 1;
            proven += attempt((enum small_network)_i, &hardware, &options);
        }
    ck_assert_uint_ge(proven, 2);
}
END_TEST

/* Buffers in which whole products fit, so that tiles are large and inputs stay. */
START_TEST(large_buffers_compute_the_network)
{
    struct pim_estimate_hardware hardware = small_hardware(4, 4);
    hardware.input_bytes = hardware.weight_bytes = hardware.output_bytes = 16384;
    for (uint32_t u = 1; u <= 4; u += 3) {
        const struct pim_allspark_options options = partition(u, 2, 0);
        if (attempt((enum small_network)_i, &hardware, &options))
            continue;
        const struct pim_allspark_options single = partition(u, 1, 0);
        ck_assert(attempt((enum small_network)_i, &hardware, &single));
    }
}
END_TEST

/* Regions of 3 x 3 whole windows, and most of the map pooled; too many keys for the smallest buffers. */
START_TEST(far_regions_compute_the_network)
{
    static const struct {
        uint32_t u, v, ring;
    } cases[] = {{1, 1, 0}, {2, 3, 0}, {4, 2, 0}, {3, 1, 3}, {2, 1, 4}};
    struct pim_estimate_hardware hardware = small_hardware(5, 4);
    const struct pim_allspark_options options = partition(cases[_i].u, cases[_i].v, cases[_i].ring);
    hardware.weight_bytes = hardware.output_bytes = 2048;
    ck_assert(attempt(SMALL_FAR_FOCAL, &hardware, &options));
}
END_TEST

/* Loops over the small networks, of which the first `networks` are tried. */
static TCase *loops(const char *name, int networks)
{
    TCase *tests = tcase_create(name);
    tcase_add_loop_test(tests, all_partitions_compute_the_network, 0, networks);
    tcase_add_loop_test(tests, other_arrays_compute_the_network, 0, networks);
    tcase_add_loop_test(tests, large_buffers_compute_the_network, 0, networks);
    tcase_add_loop_test(tests, copies_compute_the_network, 0, networks);
    tcase_add_loop_test(tests, chunks_compute_the_network, 0, networks);
    tcase_add_loop_test(tests, batches_compute_the_network, 0, networks);
    tcase_add_loop_test(tests, blocks_of_rows_compute_the_network, 0, networks);
    tcase_add_loop_test(tests, prefetch_computes_the_network, 0, networks);
    return tests;
}

Suite *dataflow_suite(void)
{
    Suite *suite = suite_create("dataflow");
    TCase *tests = tcase_create("dataflow");
    tcase_add_loop_test(tests, fixed_schemes_compute_the_network, 0, PIM_CASES(SMALL_NETWORKS));
    tcase_add_test(tests, a_class_token_alone);
    tcase_add_test(tests, stages_differ);
    tcase_add_loop_test(tests, branches_of_global_attention_compute_the_network, 0, 6);
    tcase_add_loop_test(tests, far_regions_compute_the_network, 0, 5);
    tcase_add_loop_test(tests, mixed_partitions_compute_the_network, 0, PIM_CASES(2 * 9)); /* 9: batches */
    tcase_add_loop_test(tests, layers_of_windows_compute_the_network, 0, 4);
    tcase_add_loop_test(tests, layers_of_stripes_compute_the_network, 0, 2 * 3);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, loops("two_networks", PIM_CASES(2)));
    return suite;
}

Suite *dataflow_long_suite(void)
{
    Suite *suite = suite_create("dataflow_long");
    suite_add_tcase(suite, loops("all_networks", SMALL_NETWORKS));
    return suite;
}
