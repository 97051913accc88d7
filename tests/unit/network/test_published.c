/*
 * Parameters and MACs at 224 x 224 against published figures, and against closed forms of the papers.
 *
 * Sources (parameters in M, GMACs; "FLOPs" of these papers are MACs):
 *  - ViT: torchvision's figures of vit_b_16, vit_l_16 and vit_h_14 at 224: exact parameters; 17.56, 61.55,
 *    167.29 GMACs. ViT-T and ViT-S are DeiT-Tiny and DeiT-Small: 5.7 and 22.1 M, 1.3 and 4.6 GMACs as PVT's
 *    table of results quotes them; exact parameters (class token, no distillation token): 5 717 416 and 22
 *    050 664.
 *  - Swin: Liu et al., ICCV 2021, table 1: 4.5, 8.7, 15.4 GMACs; the authors' model hub for Swin-L: 197 M,
 *    34.5 GMACs; exact parameters: torchvision's swin_t, swin_s, swin_b.
 *  - PVT: Wang et al., ICCV 2021, table of ImageNet results: 13.2, 24.5, 44.2, 61.4 M; 1.9, 3.8, 6.7, 9.8
 *    GMACs.
 *  - Twins-SVT: Chu et al., NeurIPS 2021, table of ImageNet results: 24.0, 56.0, 99.2 M; 2.9, 8.6, 15.1
 *    GMACs.
 *  - Focal: the authors' repository (microsoft/Focal-Transformer), models without convolutional embedding:
 *    28.9, 51.1, 89.8 M; 4.9, 9.4, 16.4 GMACs. (The paper prints 29.1/4.9, 51.1/9.1, 89.8/16.0.)
 *  - CSWin: Dong et al., CVPR 2022, and the authors' repository: 23, 35, 78, 173 M; 4.3, 6.9, 15.0, 31.5
 *    GMACs. The 23 M are 22.3 M in the released code, and 31.5 GMACs contradict the 15.0 of CSWin-B: see the
 *    two tests on CSWin below.
 */
#include "tests/unit/network/networks.h"

#include <math.h>
#include <string.h>

struct published {
    const char *name;
    double parameters; /* M */
    double macs;       /* G; 0: the figure is not used */
    uint64_t exact;    /* parameters; 0 unknown */
    double tolerance_parameters;
};

static const struct published published[] = {
    {"vit-t", 5.7, 1.3, 5717416, 0.02},
    {"vit-s", 22.1, 4.6, 22050664, 0.02},
    {"vit-b", 86.6, 17.56, 86567656, 0.02},
    {"vit-l", 304.3, 61.55, 304326632, 0.02},
    {"vit-h", 632.0, 167.29, 632045800, 0.02},
    {"swin-t", 28.3, 4.5, 28288354, 0.02},
    {"swin-s", 49.6, 8.7, 49606258, 0.02},
    {"swin-b", 87.8, 15.4, 87768224, 0.02},
    {"swin-l", 197, 34.5, 0, 0.02},
    {"pvt-tiny", 13.2, 1.9, 0, 0.02},
    {"pvt-small", 24.5, 3.8, 0, 0.02},
    {"pvt-medium", 44.2, 6.7, 0, 0.02},
    {"pvt-large", 61.4, 9.8, 0, 0.02},
    {"twins-svt-s", 24.0, 2.9, 0, 0.02},
    {"twins-svt-b", 56.0, 8.6, 0, 0.02},
    {"twins-svt-l", 99.2, 15.1, 0, 0.02},
    {"focal-t", 28.9, 4.9, 0, 0.02},
    {"focal-s", 51.1, 9.4, 0, 0.02},
    {"focal-b", 89.8, 16.4, 0, 0.02},
    {"cswin-t", 23, 4.3, 0, 0.03},
    {"cswin-s", 35, 6.9, 0, 0.02},
    {"cswin-b", 78, 15.0, 0, 0.02},
    {"cswin-l", 173, 0, 0, 0.02},
};
_Static_assert(sizeof published / sizeof published[0] == NETWORKS, "every descriptor has a published figure");

START_TEST(parameters_and_macs)
{
    const struct published *p = &published[_i];
    ck_assert_str_eq(p->name, network_names[_i]);
    struct pim_network *network = read_network(p->name, NULL);
    double parameters = (double)network->graph.parameters / 1e6, macs = (double)network->graph.macs / 1e9;
    ck_assert_str_eq(network->name, p->name);
    ck_assert_msg(fabs(parameters / p->parameters - 1) <= p->tolerance_parameters,
                  "%s: %.3f M parameters, published %.3f", p->name, parameters, p->parameters);
    /* ViT-T: 1.254 GMACs, published rounded to 1.3: half a unit of the last printed digit is within what
     * "1.3" says. */
    double slack = p->macs * 0.02 > 0.05 ? p->macs * 0.02 : 0.05;
    ck_assert_msg(p->macs == 0 || fabs(macs - p->macs) <= slack, "%s: %.3f GMACs, published %.3f", p->name,
                  macs, p->macs);
    if (p->exact)
        ck_assert_uint_eq(network->graph.parameters, p->exact);
    pim_network_destroy(network);
}
END_TEST

/* The parameters of the released code of CSWin, summed up by hand: stem, blocks of 12 C^2 + 23 C (norms 4 C;
 * query, key, value 3 C^2 + 3 C; LePE 10 C; projection C^2 + C; feed-forward 8 C^2 + 5 C), merges, final
 * norm, head. */
START_TEST(cswin_parameters)
{
    static const struct {
        const char *name;
        uint64_t channels, blocks[4];
    } sizes[] = {{"cswin-t", 64, {1, 2, 21, 1}},
                 {"cswin-s", 64, {2, 4, 32, 2}},
                 {"cswin-b", 96, {2, 4, 32, 2}},
                 {"cswin-l", 144, {2, 4, 32, 2}}};
    for (size_t i = 0; i < 4; i++) {
        uint64_t c = sizes[i].channels, sum = 147 * c + c + 2 * c;
        for (int stage = 0; stage < 4; stage++, c *= 2) {
            sum += sizes[i].blocks[stage] * (12 * c * c + 23 * c);
            sum += stage < 3 ? 9 * c * 2 * c + 2 * c + 4 * c : 2 * c + c * 1000 + 1000;
        }
        struct pim_network *network = read_network(sizes[i].name, NULL);
        ck_assert_uint_eq(network->graph.parameters, sum);
        pim_network_destroy(network);
    }
}
END_TEST

/*
 * CSWin-L is CSWin-B with 1.5 times the channels: each product of channels grows by 2.25, attention,
 * depthwise convolutions, stem and head by 1.5. With B's published 15.0 GMACs (ours: 14.96) L has 33.1, not
 * the published 31.5.
 */
START_TEST(cswin_l_follows_from_cswin_b)
{
    struct pim_network *b = read_network("cswin-b", NULL), *l = read_network("cswin-l", NULL);
    ck_assert_uint_eq(b->graph.count, l->graph.count);
    uint64_t expected = 0;
    for (uint32_t i = 0; i < b->graph.count; i++) {
        const struct pim_layer *layer = &b->graph.layers[i];
        bool both = (layer->operation == PIM_OPERATOR_LINEAR && layer->role != PIM_ROLE_HEAD) ||
                    layer->role == PIM_ROLE_PATCH_MERGING;
        expected += layer->macs * (both ? 9 : 6) / 4;
    }
    ck_assert_uint_eq(l->graph.macs, expected);
    ck_assert_msg(fabs((double)expected / 1e9 - 33.13) < 0.01, "%.3f", (double)expected / 1e9);
    pim_network_destroy(b);
    pim_network_destroy(l);
}
END_TEST

/* Swin, eq. 2 and section 3.2: 4 hw C^2 + 2 M^2 hw C of attention and 8 hw C^2 of the feed-forward network.
 */
START_TEST(swin_blocks_follow_the_paper)
{
    static const char *const names[] = {"swin-t", "swin-s", "swin-b", "swin-l"};
    for (size_t i = 0; i < 4; i++) {
        struct pim_network *network = read_network(names[i], "network.image=448");
        for (uint32_t j = 0; j < network->transformer->blocks; j++) {
            const struct pim_transformer_block *block = &network->transformer->block[j];
            uint64_t hw = block->tokens, c = block->channels;
            ck_assert_uint_eq(block->macs, 12 * hw * c * c + 2 * 49 * hw * c);
            ck_assert_uint_eq(block->padding_macs, 0);
        }
        pim_network_destroy(network);
    }
}
END_TEST

/* PVT, section 3.3 (spatial reduction attention), and Twins' global blocks, which are the same. */
START_TEST(reduced_attention_follows_the_paper)
{
    static const char *const names[] = {"pvt-tiny", "pvt-large", "twins-svt-s", "twins-svt-l"};
    for (size_t i = 0; i < 4; i++) {
        struct pim_network *network = read_network(names[i], "network.image=320");
        for (uint32_t j = 0; j < network->transformer->blocks; j++) {
            const struct pim_transformer_block *block = &network->transformer->block[j];
            const struct pim_transformer_stage *stage = &network->transformer->stage[block->stage];
            if (!block->attention[0].global)
                continue;
            uint64_t r = stage->reduction, n = block->tokens, c = block->channels;
            uint64_t keys = r == 1 ? n : (stage->height / r) * (stage->width / r);
            uint64_t reduction = r == 1 ? 0 : keys * r * r * c * c;
            ck_assert_uint_eq(block->attention[0].key_tokens, keys);
            ck_assert_uint_eq(block->macs, 2 * n * c * c + 2 * keys * c * c + 2 * n * keys * c + reduction +
                                               2 * stage->mlp_ratio * n * c * c);
        }
        pim_network_destroy(network);
    }
}
END_TEST

/* CSWin, eq. 4: hw C (4 C + sw H + sw W) of attention, 9 hw C of LePE, 8 hw C^2 of the feed-forward network.
 */
START_TEST(cswin_blocks_follow_the_paper)
{
    struct pim_network *network = read_network("cswin-s", "network.image=448");
    for (uint32_t j = 0; j < network->transformer->blocks; j++) {
        const struct pim_transformer_block *block = &network->transformer->block[j];
        const struct pim_transformer_stage *stage = &network->transformer->stage[block->stage];
        uint64_t hw = block->tokens, c = block->channels, sw = stage->window;
        uint64_t pairs = sw ? sw * stage->height + sw * stage->width : 2 * hw;
        ck_assert_uint_eq(block->macs, hw * c * (4 * c + pairs) + 9 * hw * c + 8 * hw * c * c);
    }
    pim_network_destroy(network);
}
END_TEST

/* Focal: the operations that the released code counts for a block, without its norms and the unused query of
 * pooled tokens. */
START_TEST(focal_blocks_follow_the_released_count)
{
    struct pim_network *network = read_network("focal-s", NULL);
    static const uint64_t focal_window[] = {7, 5, 3, 1};
    for (uint32_t j = 0; j < network->transformer->blocks; j++) {
        const struct pim_transformer_block *block = &network->transformer->block[j];
        uint64_t hw = block->tokens, c = block->channels, windows = hw / 49, f = focal_window[block->stage];
        uint64_t keys = (windows == 1 ? 49 : 13 * 13) + f * f;
        ck_assert_uint_eq(block->attention[0].key_tokens, keys);
        ck_assert_uint_eq(block->macs, hw * 4 * c * c + 2 * hw * keys * c + windows * (49 * c + 2 * c * c) +
                                           8 * hw * c * c);
    }
    pim_network_destroy(network);
}
END_TEST

/* ViT, and the 12 n C^2 + 2 n^2 C of Allspark, section IV. */
START_TEST(vit_blocks_follow_the_paper)
{
    struct pim_network *network = read_network("vit-h", "network.image=644");
    uint64_t n = 46 * 46 + 1, c = 1280;
    for (uint32_t j = 0; j < network->transformer->blocks; j++)
        ck_assert_uint_eq(network->transformer->block[j].macs, 12 * n * c * c + 2 * n * n * c);
    pim_network_destroy(network);
}
END_TEST

Suite *published_suite(void)
{
    Suite *suite = suite_create("published");
    TCase *group = tcase_create("figures");
    tcase_add_loop_test(group, parameters_and_macs, 0, NETWORKS);
    tcase_add_test(group, cswin_parameters);
    tcase_add_test(group, cswin_l_follows_from_cswin_b);
    tcase_add_test(group, swin_blocks_follow_the_paper);
    tcase_add_test(group, reduced_attention_follows_the_paper);
    tcase_add_test(group, cswin_blocks_follow_the_paper);
    tcase_add_test(group, focal_blocks_follow_the_released_count);
    tcase_add_test(group, vit_blocks_follow_the_paper);
    suite_add_tcase(suite, group);
    return suite;
}
