/* Plans: schemes, rings, memory, refusals, counts. */
#include "mappers/allspark/memory.h"
#include "mappers/allspark/shapes.h"
#include "mappers/mappers.h"
#include "tests/unit/allspark/scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Plans for the real hardware; the caller terminates. */
static enum pim_status plan_real(const struct pim_network *network,
                                 const struct pim_allspark_options *options, struct pim_allspark_plan *plan,
                                 struct pim_error *error)
{
    const struct pim_estimate_hardware hardware = real_hardware(16, 16);
    *error = (struct pim_error){0};
    return pim_allspark_plan(network, &hardware, options, plan, error);
}

static void expect_refusal(const struct pim_network *network, const struct pim_estimate_hardware *hardware,
                           const struct pim_allspark_options *options, const char *part)
{
    struct pim_allspark_plan plan;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_allspark_plan(network, hardware, options, &plan, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, part) != NULL, "\"%s\" is not in: %s", part, error.text);
}

/* --- schemes --- */

START_TEST(branches_of_swin)
{
    static const struct {
        const char *image;
        uint32_t branches[4];
    } cases[] = {{"network.image=224", {64, 16, 4, 1}},
                 {"network.image=256", {100, 25, 9, 4}},
                 {"network.image=384", {196, 49, 16, 4}},
                 {"network.image=640", {529, 144, 36, 9}},
                 {"network.image=960", {1225, 324, 81, 25}}};
    struct pim_error error;
    struct pim_allspark_plan plan;
    struct pim_network *network = real_network("swin-t", cases[_i].image);
    const struct pim_allspark_options options = fixed(PIM_ALLSPARK_HEAD, 0);
    ck_assert_msg(plan_real(network, &options, &plan, &error) == PIM_OK, "%s", error.text);
    for (unsigned i = 0; i < 4; i++) {
        const struct pim_allspark_partition *stage = &plan.stage[i].partition[0];
        ck_assert_uint_eq(stage->branches, cases[_i].branches[i]);
        ck_assert_uint_eq(stage->tokens, 49);
        ck_assert_uint_ge((uint64_t)stage->layers * stage->layout.count * stage->slots, stage->branches);
        ck_assert_uint_lt((uint64_t)(stage->layers - 1) * stage->layout.count * stage->slots,
                          stage->branches);
        uint32_t counted = 0;
        for (uint32_t layer = 0; layer < stage->layers; layer++)
            counted += pim_branches_of_layer(stage, layer);
        ck_assert_uint_eq(counted, stage->branches);
    }
    pim_allspark_plan_terminate(&plan);
    pim_network_destroy(network);
}
END_TEST

START_TEST(fixed_schemes)
{
    static const struct {
        enum pim_allspark_scheme scheme;
        uint32_t u[4], v[4];
    } cases[] = {
        {PIM_ALLSPARK_BRANCH, {1, 1, 1, 1}, {1, 1, 1, 1}},
        /* 49 tokens on 7 nodes: no node has fewer than the 8 of the PE array, but by the remainder */
        {PIM_ALLSPARK_PATCH, {7, 7, 7, 7}, {1, 1, 1, 1}},
        /* 24 heads on 12 nodes: 2 at most, as on 16 */
        {PIM_ALLSPARK_HEAD, {1, 1, 1, 1}, {3, 6, 12, 12}}};
    struct pim_network *network = real_network("swin-t", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pim_allspark_options options = fixed(cases[i].scheme, 0);
        struct pim_allspark_plan plan;
        struct pim_error error;
        ck_assert_msg(plan_real(network, &options, &plan, &error) == PIM_OK, "%s", error.text);
        for (unsigned stage = 0; stage < 4; stage++) {
            ck_assert_uint_eq(plan.stage[stage].partition[0].u, cases[i].u[stage]);
            ck_assert_uint_eq(plan.stage[stage].partition[0].v, cases[i].v[stage]);
            ck_assert_uint_eq(plan.stage[stage].partition[0].ring % plan.stage[stage].partition[0].u, 0);
        }
        pim_allspark_plan_terminate(&plan);
    }
    pim_network_destroy(network);
}
END_TEST

START_TEST(a_partition_for_each_stage)
{
    struct pim_network *network = real_network("swin-t", NULL);
    uint32_t uv[4][2] = {{1, 3}, {2, 6}, {4, 12}, {16, 16}};
    struct pim_allspark_options options = partitions(4, uv, 0);
    struct pim_allspark_plan plan;
    struct pim_error error;
    ck_assert_msg(plan_real(network, &options, &plan, &error) == PIM_OK, "%s", error.text);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(plan.stage[i].partition[0].u, uv[i][0]);
        ck_assert_uint_eq(plan.stage[i].partition[0].v, uv[i][1]);
    }
    pim_allspark_plan_terminate(&plan);
    options.explicit_count = 3;
    const struct pim_estimate_hardware hardware = real_hardware(16, 16);
    expect_refusal(network, &hardware, &options, "3 partitions for 4 stages");
    pim_network_destroy(network);
}
END_TEST

START_TEST(partitions_out_of_range)
{
    static const struct {
        uint32_t u, v, ring;
        const char *part;
    } cases[] = {{0, 1, 0, "partition 0,1 does not fit a branch of 49 tokens and 3 heads"},
                 {1, 0, 0, "partition 1,0 does not fit"},
                 {50, 1, 0, "u from 1 to 49"},
                 {1, 4, 0, "v from 1 to 3"},
                 {UINT32_MAX, UINT32_MAX, 0, "does not fit"},
                 {17, 1, 0, "a sub-array of 17 x 1 nodes does not fit the array of 16 x 16"},
                 {1, 1, 17, "weight ring of 17 nodes does not fit"},
                 {4, 3, UINT32_MAX, "does not fit"}};
    struct pim_network *network = real_network("swin-t", NULL);
    const struct pim_estimate_hardware hardware = real_hardware(16, 16);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pim_allspark_options options = partition(cases[i].u, cases[i].v, cases[i].ring);
        expect_refusal(network, &hardware, &options, cases[i].part);
    }
    pim_network_destroy(network);
}
END_TEST

START_TEST(a_given_ring_is_a_multiple_of_u)
{
    static const struct {
        uint32_t u, given, ring;
    } cases[] = {{1, 7, 7}, {3, 7, 6}, {4, 15, 12}, {4, 2, 4}, {13, 16, 13}, {16, 16, 16}};
    struct pim_network *network = real_network("vit-t", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pim_allspark_options options = partition(cases[i].u, 3, cases[i].given);
        struct pim_allspark_plan plan;
        struct pim_error error;
        ck_assert_msg(plan_real(network, &options, &plan, &error) == PIM_OK, "%s", error.text);
        ck_assert_uint_eq(plan.stage[0].partition[0].ring, cases[i].ring);
        ck_assert_uint_eq(plan.stage[0].partition[0].slots, cases[i].ring / cases[i].u);
        pim_allspark_plan_terminate(&plan);
    }
    pim_network_destroy(network);
}
END_TEST

/* --- memory --- */

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Weights that a node of a stage keeps, from the paper: 12 C^2 / (u v) with u the ring, uneven shares and
   alignment added. */
static uint64_t weights_of(const struct pim_allspark_partition *stage)
{
    uint64_t q = share_of(stage->heads, stage->v, 0) * stage->head_channels, C = stage->channels,
             ring = stage->ring;
    uint64_t ratio = stage->hidden / stage->channels;
    uint64_t square = aligned((C * q + ring - 1) / ring),
             forward = aligned((C * ratio * q + ring - 1) / ring);
    return stage->blocks * (4 * square + 2 * forward) + aligned((stage->merge_inputs * q + ring - 1) / ring);
}

START_TEST(memory_adds_up)
{
    static const struct {
        uint32_t u, v, ring;
    } cases[] = {{1, 1, 16}, {1, 3, 0}, {4, 3, 0}, {4, 3, 16}, {13, 1, 0}, {7, 2, 14}};
    struct pim_network *network = real_network("swin-t", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pim_allspark_options options = partition(cases[i].u, cases[i].v, cases[i].ring);
        struct pim_allspark_plan plan;
        struct pim_error error;
        ck_assert_msg(plan_real(network, &options, &plan, &error) == PIM_OK, "%s", error.text);
        uint64_t sum = 0, workspace = 0;
        for (uint32_t s = 0; s < plan.stages; s++) {
            const struct pim_allspark_partition *stage = &plan.stage[s].partition[0];
            struct pim_workspace space;
            pim_workspace_layout(&plan.stage[s], 0, 0, plan.workspace_base, &space);
            ck_assert_uint_eq(stage->weight_base, sum);
            ck_assert_uint_eq(stage->weight_bytes, weights_of(stage));
            ck_assert_uint_eq(space.end - plan.workspace_base, plan.stage[s].workspace_bytes);
            sum += stage->weight_bytes;
            workspace = plan.stage[s].workspace_bytes > workspace ? plan.stage[s].workspace_bytes : workspace;
        }
        ck_assert_uint_eq(plan.head_base, sum);
        ck_assert_uint_eq(plan.head_bytes, aligned(share_of(1000, plan.stage[3].partition[0].v, 0) * 768));
        ck_assert_uint_eq(plan.weight_bytes, sum + plan.head_bytes);
        ck_assert_uint_eq(plan.workspace_base, plan.weight_bytes);
        ck_assert_uint_eq(plan.workspace_bytes, workspace);
        ck_assert_uint_le(plan.weight_bytes + plan.workspace_bytes, plan.hardware.memory_bytes);
        pim_allspark_plan_terminate(&plan);
    }
    pim_network_destroy(network);
}
END_TEST

/* With one byte less than a plan takes, that plan is refused, and the message has what is needed and what
   is there. */
START_TEST(capacity_is_a_sharp_bound)
{
    struct pim_network *network = real_network("swin-t", NULL);
    const struct pim_allspark_options options = partition(4, 3, 4);
    struct pim_estimate_hardware hardware = real_hardware(16, 16);
    struct pim_allspark_plan plan;
    struct pim_error error = {0};
    ck_assert(pim_allspark_plan(network, &hardware, &options, &plan, &error) == PIM_OK);
    uint64_t needed = plan.weight_bytes + plan.workspace_bytes;
    pim_allspark_plan_terminate(&plan);
    hardware.memory_bytes = needed;
    ck_assert(pim_allspark_plan(network, &hardware, &options, &plan, &error) == PIM_OK);
    pim_allspark_plan_terminate(&plan);
    hardware.memory_bytes = needed - 1;
    char part[128];
    (void)snprintf(part, sizeof part, "needs at least %" PRIu64 " bytes", needed);
    expect_refusal(network, &hardware, &options, part);
    (void)snprintf(part, sizeof part, "and has %" PRIu64, needed - 1);
    expect_refusal(network, &hardware, &options, part);
    pim_network_destroy(network);
}
END_TEST

/* The message of a network that is too large names the least that any choice needs: with so much it fits. */
START_TEST(the_least_memory_is_enough)
{
    static const enum pim_allspark_scheme schemes[] = {PIM_ALLSPARK_AUTOMATIC, PIM_ALLSPARK_BRANCH,
                                                       PIM_ALLSPARK_PATCH, PIM_ALLSPARK_HEAD};
    struct pim_network *network = real_network(PIM_CASE(_i) < 4 ? "swin-b" : "cswin-t", NULL);
    struct pim_estimate_hardware hardware = real_hardware(8, 8);
    const struct pim_allspark_options options = fixed(schemes[PIM_CASE(_i) % 4], 0);
    struct pim_allspark_plan plan;
    struct pim_error error = {0};
    hardware.memory_bytes = UINT64_C(1) << 16;
    ck_assert(pim_allspark_plan(network, &hardware, &options, &plan, &error) == PIM_BAD_INPUT);
    const char *at = strstr(error.text, "needs at least ");
    ck_assert_msg(at != NULL, "%s", error.text);
    uint64_t least;
    ck_assert_int_eq(sscanf(at, "needs at least %" SCNu64, &least), 1);
    hardware.memory_bytes = least;
    ck_assert_msg(pim_allspark_plan(network, &hardware, &options, &plan, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(plan.weight_bytes + plan.workspace_bytes, least);
    pim_allspark_plan_terminate(&plan);
    hardware.memory_bytes = least - 1;
    ck_assert(pim_allspark_plan(network, &hardware, &options, &plan, &error) == PIM_BAD_INPUT);
    pim_network_destroy(network);
}
END_TEST

START_TEST(a_product_without_a_tile)
{
    struct pim_network *network = real_network("vit-t", NULL);
    struct pim_estimate_hardware hardware = real_hardware(16, 16);
    hardware.output_bytes = 197 - 1; /* one row of scores does not fit, not even as it is stored */
    for (unsigned scheme = PIM_ALLSPARK_AUTOMATIC; scheme <= PIM_ALLSPARK_HEAD; scheme++) {
        const struct pim_allspark_options options = fixed((enum pim_allspark_scheme)scheme, 0);
        expect_refusal(network, &hardware, &options, "has no tile that fits the buffers");
    }
    pim_network_destroy(network);
}
END_TEST

/* --- counts --- */

/* What windows that do not divide the map add: feed-forward and merging, in Twins the projection too, work on
   padded tokens, which the network does not count. */
static uint64_t stated_padding(const struct pim_allspark_plan *plan)
{
    uint64_t macs = 0;
    for (uint32_t i = 0; i < plan->stages; i++) {
        const struct pim_allspark_partition *stage = &plan->stage[i].partition[0];
        const struct pim_transformer_stage *map = &plan->network->transformer->stage[plan->stage[i].of];
        if (stage->work == PIM_ALLSPARK_STRIPES)
            continue; /* their padding is that of the network */
        uint64_t padded = (uint64_t)stage->branches * (stage->tokens - stage->class_tokens) -
                          (uint64_t)map->height * map->width;
        bool projects =
            plan->network->transformer->family == PIM_FAMILY_TWINS; /* in the network: real tokens */
        uint64_t block = 2 * (uint64_t)stage->channels * stage->hidden +
                         (projects ? (uint64_t)stage->channels * stage->channels : 0);
        macs += padded * (stage->blocks * block + (uint64_t)stage->merge_inputs * stage->channels);
    }
    return macs;
}

static const struct {
    const char *name, *override;
    bool padded;
} counted[] = {{"swin-t", NULL, false},
               {"swin-s", NULL, false},
               {"swin-b", NULL, false},
               {"swin-l", NULL, false},
               {"vit-t", NULL, false},
               {"vit-b", NULL, false},
               {"vit-h", NULL, false},
               {"vit-t", "network.image=384", false},
               {"vit-s", "network.class_token=false", false},
               {"swin-t", "network.image=256", true},
               {"swin-t", "network.image=384", true},
               {"swin-b", "network.image=640", true},
               {"swin-t", "network.image=960", true},
               {"pvt-tiny", NULL, false},
               {"pvt-medium", NULL, false},
               {"pvt-small", "network.image=384", false},
               {"pvt-large", "network.image=640", false},
               {"twins-svt-s", NULL, false},
               {"twins-svt-b", "network.image=448", false},
               {"twins-svt-l", "network.image=640", true},
               {"focal-t", NULL, false},
               {"focal-s", "network.image=448", false},
               {"focal-b", "network.image=640", true},
               {"cswin-t", NULL, false},
               {"cswin-b", NULL, false},
               {"cswin-s", "network.image=384", false},
               {"cswin-l", "network.image=640", false}};

START_TEST(macs_are_those_of_the_network)
{
    struct pim_network *network = real_network(counted[PIM_CASE(_i)].name, counted[PIM_CASE(_i)].override);
    const struct pim_allspark_options options = fixed(PIM_ALLSPARK_HEAD, 0);
    struct pim_estimate_hardware hardware = real_hardware(16, 16);
    hardware.memory_bytes = UINT64_C(1) << 40;
    struct pim_allspark_plan plan;
    struct pim_error error = {0};
    ck_assert_msg(pim_allspark_plan(network, &hardware, &options, &plan, &error) == PIM_OK, "%s", error.text);
    ck_assert((stated_padding(&plan) > 0) == counted[PIM_CASE(_i)].padded);
    ck_assert_uint_eq(pim_allspark_macs(&plan), network->graph.macs + stated_padding(&plan));
    uint64_t weights = 0;
    for (uint32_t i = 0; i < network->graph.count; i++) {
        const struct pim_layer *layer = &network->graph.layers[i];
        if (layer->operation == PIM_OPERATOR_LINEAR && layer->parameters > 0) /* not shared ones */
            weights +=
                layer->parameters - (layer->attributes.linear.bias ? layer->attributes.linear.outputs : 0);
        if (layer->operation == PIM_OPERATOR_CONVOLUTION)
            weights += layer->parameters -
                       (layer->attributes.convolution.bias ? layer->attributes.convolution.outputs : 0);
    }
    ck_assert_uint_eq(pim_allspark_weight_bytes(&plan), weights);
    pim_allspark_plan_terminate(&plan);
    pim_network_destroy(network);
}
END_TEST

/* --- Table V --- */

/* The paper's plan for Swin-B at 640 x 640 (u and v as in section V) fits 8 MiB, its blocks' weights are
   those of Table VI, 6.94 MiB, and the scheduler's plan in the paper's space is quicker. */
START_TEST(table_five)
{
    static const struct pim_allspark_layers lists[4][2] = {{{.u = 1, .v = 1, .layers = 2}, {.u = 2, .v = 4}},
                                                           {{.u = 1, .v = 2, .layers = 1}, {.u = 4, .v = 4}},
                                                           {{.u = 2, .v = 8, .layers = 2}, {.u = 4, .v = 16}},
                                                           {{.u = 4, .v = 4}}};
    struct pim_network *network = real_network("swin-b", "network.image=640");
    struct pim_allspark_options options = {
        .scheme = PIM_ALLSPARK_EXPLICIT, .explicit_count = 4, .ring = 1, .lists = {2, 2, 2, 1}};
    memcpy(options.list[0], lists[0], sizeof lists[0]);
    memcpy(options.list[1], lists[1], sizeof lists[1]);
    memcpy(options.list[2], lists[2], sizeof lists[2]);
    memcpy(options.list[3], lists[3], sizeof lists[3]);
    struct pim_allspark_plan paper;
    struct pim_error error;
    ck_assert_msg(plan_real(network, &options, &paper, &error) == PIM_OK, "%s", error.text);
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 0; j < paper.stage[i].partitions; j++)
            if (!paper.stage[i].partition[j].reuses)
                blocks += pim_allspark_block_bytes(&paper.stage[i].partition[j]);
    ck_assert_uint_eq(blocks, 7274496);
    ck_assert(paper.stage[0].partition[1].reuses && !paper.stage[1].partition[1].reuses);
    ck_assert_uint_eq(paper.stage[0].layers, 3);
    ck_assert_uint_eq(paper.stage[2].layers, 3);
    ck_assert_uint_eq(paper.cycles, cycles_of(&paper));
#ifndef PIMSIM_SANITIZED /* a long search, like those of smaller networks */
    struct pim_allspark_plan best;
    options = (struct pim_allspark_options){.scheme = PIM_ALLSPARK_AUTOMATIC, .ring = 1};
    ck_assert_msg(plan_real(network, &options, &best, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_le(best.cycles, paper.cycles);
    ck_assert_uint_eq(best.cycles, best.bound);
    ck_assert_uint_eq(best.cycles, cycles_of(&best));
    pim_allspark_plan_terminate(&best);
#endif
    pim_allspark_plan_terminate(&paper);
    pim_network_destroy(network);
}
END_TEST

/* Lists whose layers are too many or too few for the branches. */
START_TEST(layers_that_do_not_fit)
{
    struct pim_network *network = real_network("swin-t", NULL);
    const struct pim_estimate_hardware hardware = real_hardware(16, 16);
    struct pim_allspark_options options = partition(1, 1, 0);
    options.lists[0] = 2;
    options.list[0][1] = (struct pim_allspark_layers){.u = 2, .v = 2};
    expect_refusal(network, &hardware, &options, "no branch is left for a temporal layer of 2,2");
    options = partition(4, 3, 0);
    options.list[0][0].layers = 2;
    expect_refusal(network, &hardware, &options, "take 40 of 64 branches: add layers");
    pim_network_destroy(network);
}
END_TEST

/* --- searches that are stopped --- */

static bool when_told(void *context)
{
    const bool *told = context;
    return *told;
}

/* A search that is stopped has a plan, which says so in both forms; one that is not says nothing of it. */
START_TEST(a_stopped_search_says_so)
{
    const struct pim_mapper *mapper = &pim_allspark_mapper;
    const struct pim_estimate_hardware hardware = real_hardware(4, 4);
    struct pim_network *network = real_network("swin-t", NULL);
    const struct pim_mapper_inputs inputs = {
        .network = network, .nodes = &hardware, .configuration_text = ""};
    struct pim_mapper_search *search = calloc(1, mapper->options.size);
    struct pim_error error = {0};
    ck_assert_ptr_nonnull(search);
    memcpy(search, mapper->options.defaults, mapper->options.size);
    bool told = _i == 1;
    search->stop = when_told;
    search->context = &told;
    struct pim_mapping mapping;
    ck_assert_msg(pim_mapping_make(mapper, &inputs, search, &mapping, &error) == PIM_OK, "%s", error.text);
    for (int form = 0; form < 2; form++) {
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        ck_assert_ptr_nonnull(file);
        ck_assert((form ? mapper->write_json : mapper->print)(mapping.plan, file, &error) == PIM_OK);
        ck_assert_int_eq(fclose(file), 0);
        const char *expected = form ? "\"ended_early\": \"interrupt\"" : "ended early (interrupt)";
        ck_assert_msg((strstr(text, expected) != NULL) == told, "%s", text);
        ck_assert_msg((strstr(text, "early") != NULL) == told, "%s", text);
        free(text);
    }
    pim_mapping_terminate(&mapping);
    free(search);
    pim_network_destroy(network);
}
END_TEST

/* Chunks are of weights that go round: where each node has them whole, a product is in one piece. */
START_TEST(what_does_not_go_round_is_in_one_piece)
{
    struct pim_network *network = real_network("vit-t", "network.image=224");
    struct pim_error error;
    for (unsigned copies = 0; copies < 2; copies++) {
        const struct pim_allspark_options options = {.chunks = 4, .copies = copies != 0},
                                          whole = {.chunks = 1, .copies = copies != 0};
        struct pim_allspark_plan plan, other;
        ck_assert_msg(plan_real(network, &options, &plan, &error) == PIM_OK, "%s", error.text);
        ck_assert_msg(plan_real(network, &whole, &other, &error) == PIM_OK, "%s", error.text);
        const struct pim_allspark_partition *part = plan.stage[0].partition;
        ck_assert_uint_eq(part->ring == 1, copies);
        ck_assert_uint_eq(part->chunks, copies ? 1 : 4);
        ck_assert(copies ? plan.cycles == other.cycles : plan.cycles > other.cycles);
        pim_allspark_plan_terminate(&plan);
        pim_allspark_plan_terminate(&other);
    }
    pim_network_destroy(network);
}
END_TEST

static void add_loops(TCase *tests)
{
    tcase_add_loop_test(tests, branches_of_swin, 0, 5);
    tcase_add_loop_test(tests, a_stopped_search_says_so, 0, 2);
    tcase_add_loop_test(tests, the_least_memory_is_enough, 0, PIM_CASES(8));
    tcase_add_loop_test(tests, macs_are_those_of_the_network, 0,
                        PIM_CASES(sizeof counted / sizeof counted[0]));
}

Suite *plan_suite(void)
{
    Suite *suite = suite_create("plan");
    TCase *tests = tcase_create("plan");
    tcase_add_test(tests, fixed_schemes);
    tcase_add_test(tests, a_partition_for_each_stage);
    tcase_add_test(tests, partitions_out_of_range);
    tcase_add_test(tests, a_given_ring_is_a_multiple_of_u);
    tcase_add_test(tests, memory_adds_up);
    tcase_add_test(tests, capacity_is_a_sharp_bound);
    tcase_add_test(tests, a_product_without_a_tile);
    tcase_add_test(tests, what_does_not_go_round_is_in_one_piece);
    tcase_add_test(tests, table_five);
    tcase_add_test(tests, layers_that_do_not_fit);
    add_loops(tests);
    suite_add_tcase(suite, tests);
    return suite;
}
