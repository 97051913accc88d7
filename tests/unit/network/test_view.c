/* The structured view: branches, heads, tokens and keys of every family at several image sizes. */
#include "tests/unit/network/networks.h"

#include <stdio.h>
#include <string.h>

START_TEST(view_agrees_with_graph)
{
    static const uint32_t sizes[] = {
        224, 336, 644, 952}; /* multiples of 14, too, for ViT-H; nearest below 640 and 960 else */
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bool h = strcmp(network_names[_i], "vit-h") == 0;
        char override[32];
        (void)snprintf(override, sizeof override, "network.image=%u", h ? sizes[i] : sizes[i] / 16 * 16);
        struct pim_network *network = read_network(network_names[_i], override);
        check_network(network);
        pim_network_destroy(network);
    }
}
END_TEST

/* Allspark, section III: 1 225, 324, 81 and 25 branches at 960 x 960; the same rule at 640 x 640 and 224 x
 * 224. */
START_TEST(branches_of_swin)
{
    static const struct {
        const char *override;
        uint32_t branches[4];
    } sizes[] = {{"network.image=960", {1225, 324, 81, 25}},
                 {"network.image=640", {529, 144, 36, 9}},
                 {"network.image=224", {64, 16, 4, 1}}};
    static const char *const names[] = {"swin-t", "swin-s", "swin-b", "swin-l"};
    for (size_t i = 0; i < 12; i++) {
        struct pim_network *network = read_network(names[i % 4], sizes[i / 4].override);
        const struct pim_transformer *t = network->transformer;
        for (uint32_t j = 0; j < t->blocks; j++) {
            const struct pim_attention *a = &t->block[j].attention[0];
            ck_assert_uint_eq(a->branches, sizes[i / 4].branches[t->block[j].stage]);
            ck_assert_uint_eq(a->query_tokens, 49);
            ck_assert_uint_eq(a->key_tokens, 49);
            ck_assert_uint_eq(a->head_channels, 32);
            bool shifted = t->block[j].index % 2 == 1 && a->branches > 1;
            ck_assert_int_eq(t->block[j].shifted, shifted);
            ck_assert_uint_eq(t->block[j].shift, shifted ? 3 : 0);
        }
        ck_assert_uint_eq(t->stage[1].merge_inputs, 4 * t->stage[0].channels);
        ck_assert_uint_eq(t->stage[0].merge_inputs, 48);
        pim_network_destroy(network);
    }
}
END_TEST

/* One row: network, override, block, attention, and what it must have. */
static const struct {
    const char *name, *override;
    uint32_t block, attention, heads, branches_x, branches_y, width, height, queries, keys;
    bool global;
} attentions[] = {
    {"vit-b", NULL, 11, 0, 12, 1, 1, 14, 14, 197, 197, true},
    {"vit-l", "network.image=640", 0, 0, 16, 1, 1, 40, 40, 1601, 1601, true},
    {"vit-s", "network.class_token=false", 0, 0, 6, 1, 1, 14, 14, 196, 196, true},
    {"pvt-small", NULL, 0, 0, 1, 1, 1, 56, 56, 3136, 49, true},
    {"pvt-small", NULL, 15, 0, 8, 1, 1, 7, 7, 50, 50, true},
    {"pvt-small", "network.image=640", 0, 0, 1, 1, 1, 160, 160, 25600, 400, true},
    {"twins-svt-s", NULL, 0, 0, 2, 8, 8, 7, 7, 49, 49, false},
    {"twins-svt-s", NULL, 1, 0, 2, 1, 1, 56, 56, 3136, 49, true},
    {"twins-svt-s", "network.image=640", 4, 0, 8, 6, 6, 7, 7, 49, 49, false},
    {"focal-t", NULL, 0, 0, 3, 8, 8, 7, 7, 49, 169 + 49, false},
    {"focal-t", NULL, 11, 0, 24, 1, 1, 7, 7, 49, 49 + 1, false},
    {"focal-b", "network.image=640", 23, 0, 32, 3, 3, 7, 7, 49, 169 + 1, false},
    {"cswin-t", NULL, 0, 0, 1, 56, 1, 1, 56, 56, 56, false},
    {"cswin-t", NULL, 0, 1, 1, 1, 56, 56, 1, 56, 56, false},
    {"cswin-t", NULL, 3, 1, 4, 1, 2, 14, 7, 98, 98, false},
    {"cswin-t", NULL, 24, 0, 16, 1, 1, 7, 7, 49, 49, true},
    {"cswin-t", "network.image=640", 3, 0, 4, 6, 1, 7, 40, 280, 280, false}, /* 40 tokens in 6 stripes of 7 */
};

START_TEST(attentions_of_the_families)
{
    struct pim_network *network = read_network(attentions[_i].name, attentions[_i].override);
    const struct pim_transformer_block *block = &network->transformer->block[attentions[_i].block];
    ck_assert_uint_lt(attentions[_i].attention, block->attentions);
    const struct pim_attention *a = &block->attention[attentions[_i].attention];
    ck_assert_uint_eq(a->heads, attentions[_i].heads);
    ck_assert_uint_eq(a->branches_x, attentions[_i].branches_x);
    ck_assert_uint_eq(a->branches_y, attentions[_i].branches_y);
    ck_assert_uint_eq(a->region_width, attentions[_i].width);
    ck_assert_uint_eq(a->region_height, attentions[_i].height);
    ck_assert_uint_eq(a->query_tokens, attentions[_i].queries);
    ck_assert_uint_eq(a->key_tokens, attentions[_i].keys);
    ck_assert_int_eq(a->global, attentions[_i].global);
    pim_network_destroy(network);
}
END_TEST

START_TEST(odd_maps)
{
    /* 232 / 4 = 58, 29: Swin and CSWin pad to 15 and 8, the others drop to 14 and 7 */
    static const struct {
        const char *name;
        uint32_t side[4];
    } maps[] = {{"swin-t", {58, 29, 15, 8}},
                {"cswin-t", {58, 29, 15, 8}},
                {"pvt-tiny", {58, 29, 14, 7}},
                {"twins-svt-s", {58, 29, 14, 7}},
                {"focal-t", {58, 29, 14, 7}}};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        struct pim_network *network = read_network(maps[i].name, "network.image=232");
        check_network(network);
        for (uint32_t j = 0; j < 4; j++) {
            ck_assert_uint_eq(network->transformer->stage[j].height, maps[i].side[j]);
            ck_assert_uint_eq(network->transformer->stage[j].width, maps[i].side[j]);
        }
        pim_network_destroy(network);
    }
    /* The merged map of 15 x 15 has 30 x 30 inputs, 29 x 29 of them real: 59 * 192 * 384 MACs on padding. */
    struct pim_network *network = read_network("swin-t", "network.image=232");
    ck_assert_uint_eq(find_layer(network, "stage3.merging.linear")->padding_macs, 59 * 192 * 384);
    ck_assert_uint_eq(find_layer(network, "stage3.merging.linear")->macs, 225 * 768 * 384);
    pim_network_destroy(network);
}
END_TEST

/* The positional encoding generator stands behind the first block of every stage and feeds the second one. */
START_TEST(position_encoding_of_twins)
{
    struct pim_network *network = read_network("twins-svt-b", NULL);
    const struct pim_transformer *t = network->transformer;
    for (uint32_t i = 0; i < t->stages; i++) {
        const struct pim_transformer_block *block = &t->block[t->stage[i].first_block];
        char name[64];
        (void)snprintf(name, sizeof name, "stage%u.position.add", i + 1);
        uint32_t add = pim_graph_find(&network->graph, name);
        ck_assert_uint_eq(network->graph.layers[add].input[0], block[0].last_layer);
        ck_assert_uint_eq(network->graph.layers[block[1].first_layer].input[0], add);
        (void)snprintf(name, sizeof name, "stage%u.position", i + 1);
        ck_assert_uint_eq(find_layer(network, name)->parameters, 10 * block->channels); /* 3 x 3 and a bias */
    }
    pim_network_destroy(network);
}
END_TEST

START_TEST(no_head)
{
    struct pim_network *network = read_network("swin-t", "network.classes=0");
    ck_assert_uint_eq(network->transformer->head_layer, PIM_NONE);
    ck_assert_uint_eq(network->graph.parameters, 28288354 - 769000);
    pim_network_destroy(network);
}
END_TEST

Suite *view_suite(void)
{
    Suite *suite = suite_create("view");
    TCase *group = tcase_create("view");
    tcase_add_loop_test(group, view_agrees_with_graph, 0, NETWORKS);
    tcase_add_test(group, branches_of_swin);
    tcase_add_loop_test(group, attentions_of_the_families, 0, sizeof attentions / sizeof attentions[0]);
    tcase_add_test(group, odd_maps);
    tcase_add_test(group, position_encoding_of_twins);
    tcase_add_test(group, no_head);
    suite_add_tcase(suite, group);
    return suite;
}
