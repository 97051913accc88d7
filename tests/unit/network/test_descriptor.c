/* Descriptors: what is refused, where and with which advice; overrides; random descriptors never crash or
 * lie. */
#include "sim/random.h"
#include "tests/unit/network/networks.h"
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

enum { SEED = 815, ROUNDS = 4000 };

/* A good Swin descriptor of nine lines, one of which is replaced. */
static const char *const good[] = {"network = {",
                                   "family = \"swin\";",
                                   "image = 224;",
                                   "blocks = [2, 2, 6, 2];",
                                   "channels = [96, 192, 384, 768];",
                                   "heads = [3, 6, 12, 24];",
                                   "patch = 4;",
                                   "window = 7;",
                                   "};"};
enum { LINES = sizeof good / sizeof good[0] };

static const struct {
    uint32_t line; /* from 1 */
    const char *text;
    const char *message;
} refusals[] = {
    {8, "window = 8;",
     "test.cfg:8: network.window: windows of 8x8 tokens are larger than the map of stage 4, 7x7 for "
     "network.image 224: allowed are "
     "windows up to 7"},
    /* 42, 21, 11 and 6 tokens: an odd map is padded */
    {3, "image = 168;",
     "test.cfg:8: network.window: windows of 7x7 tokens are larger than the map of stage 4, 6x6 for "
     "network.image 168: allowed are windows up to 6"},
    {6, "heads = [3, 6, 12, 23];",
     "test.cfg:6: network.heads: the 23 heads of stage 4 do not divide its 768 channels"},
    {6, "heads = [3, 6, 12];",
     "test.cfg:6: network.heads: has 3 values, but network.blocks has 4: one value for each of the 4 stages "
     "is needed"},
    {6, "heads = [3, 6, 12, 24]; mlp_ratio = [4, 4];",
     "network.mlp_ratio: has 2 values, but network.blocks has 4: one value for each of the 4 "
     "stages is needed, or one for all"},
    {3, "image = 225;",
     "test.cfg:3: network.image: 225 pixels are not a multiple of network.patch, 4: the nearest are 224 and "
     "228"},
    {3, "image = 3;",
     "test.cfg:3: network.image: 3 pixels are not a multiple of network.patch, 4: the nearest are 4 and 4"},
    {3, "image = 16388;", "test.cfg:3: network.image"},
    {3, "image = -224;", "test.cfg:3: network.image"},
    {3, "image = 4294967520;", "test.cfg:3: network.image"},
    {3, "image = 224.0;", "test.cfg:3: network.image"},
    {4, "blocks = [];",
     "test.cfg:4: network.blocks: has 0 values, one for each stage: family swin has 1 to 8 stages"},
    {4, "blocks = [1, 1, 1, 1, 1, 1, 1, 1, 1];", "has 9 values"},
    {4, "blocks = [2, 2, 0, 2];", "test.cfg:4: network.blocks"},
    {4, "depths = [2, 2, 6, 2];", "test.cfg:4: network.depths"},
    {4, "", "network.blocks"},
    {2, "", "network.family"},
    {2, "family = \"swim\";", "swin"},
    {2, "family = \"vit\";",
     "network.blocks: has 4 values, one for each stage: family vit has 1 to 1 stages"},
    {8, "reduction = [8, 4, 2, 1];",
     "test.cfg:8: network.reduction: family swin does not use this key: leave it out"},
    {2, "family = \"focal\";",
     "network.focal_window: family focal needs this key: a list with one value for each stage"},
    {2, "family = \"cswin\";", "test.cfg:8: network.window: family cswin does not use this key"},
};

START_TEST(refused_with_place_and_advice)
{
    char text[2048] = "";
    for (uint32_t i = 0; i < LINES; i++) {
        strcat(text, i + 1 == refusals[_i].line ? refusals[_i].text : good[i]);
        strcat(text, "\n");
    }
    struct pim_error error = {0};
    ck_assert_ptr_null(read_text(text, &error));
    ck_assert_int_eq(error.status, PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, refusals[_i].message) != NULL, "%s\n%s", error.text, text);
}
END_TEST

static const struct {
    const char *text, *message;
} family_refusals[] = {
    {"family = \"cswin\"; blocks = [1, 1]; channels = [9, 8]; heads = [3, 2]; stripe = [1, 1];",
     "the 3 heads of stage 1 cannot be halved between vertical and horizontal stripes: an even number is "
     "needed"},
    {"family = \"cswin\"; blocks = [1, 1]; channels = [8, 8]; heads = [2, 2]; stripe = [57, 1];",
     "stripes of 57 tokens are wider than the map of stage 1, 56x56 for network.image 224: allowed are "
     "stripes up to 56"},
    {"family = \"cswin\"; blocks = [1, 1]; channels = [8, 8]; heads = [2, 2]; stripe = [1];",
     "network.stripe: has 1 values"},
    {"family = \"pvt\"; blocks = [1, 1]; channels = [8, 8]; heads = [2, 2]; reduction = [8, 2];",
     "is 2 in the last stage, whose class token is no part of a map: it must be 1 there"},
    {"family = \"pvt\"; blocks = [1, 1]; channels = [8, 8]; heads = [2, 2]; reduction = [57, 1];",
     "allowed are reductions up to 56"},
    {"family = \"pvt\"; blocks = [1, 1]; channels = [8, 8]; heads = [2, 2];", "family pvt needs this key"},
    {"family = \"focal\"; blocks = [1]; channels = [8]; heads = [2]; focal_window = [4];",
     "is 4 in stage 1: the region around a window has an odd side, e.g. 5"},
    {"family = \"focal\"; blocks = [1]; channels = [8]; heads = [2]; focal_window = [3]; expand = 8;",
     "allowed are 0 to network.window, 7"},
    {"family = \"pvt\"; image = 8; blocks = [1, 1, 1]; channels = [8, 8, 8]; heads = [2, 2, 2]; reduction = "
     "[1, 1, 1];",
     "8 pixels leave no tokens for stage 3: at least 16 are needed"},
    /* every size is legal alone: a global attention over 268 million tokens has 2^56 scores */
    {"family = \"vit\"; image = 16384; patch = 1; blocks = [1]; channels = [8]; heads = [2];",
     "network.image: the network is too large: layer stage1.block1.scores: the output "
     "1x2x268435457x268435457 has more than"},
    {"family = \"vit\"; image = 16384; patch = 1; blocks = [256]; channels = [65536]; heads = [2];",
     "the network is too large: layer"},
};

START_TEST(refused_by_a_family)
{
    char text[1024];
    struct pim_error error = {0};
    (void)snprintf(text, sizeof text, "network = { %s };", family_refusals[_i].text);
    ck_assert_ptr_null(read_text(text, &error));
    ck_assert_int_eq(error.status, PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, family_refusals[_i].message) != NULL, "%s", error.text);
}
END_TEST

START_TEST(files_and_overrides)
{
    char path[1024];
    struct pim_network *network = NULL;
    struct pim_error error = {0};
    pimsim_source_path(path, sizeof path, "configs/networks/swin-t.cfg");
    const char *const overrides[] = {"network.image=448", "network.name=bigger",
                                     "network.image=640"}; /* the last one wins */
    ck_assert_int_eq(pim_network_read(path, overrides, 3, &network, &error), PIM_OK);
    ck_assert_uint_eq(network->transformer->image, 640);
    ck_assert_str_eq(network->name, "bigger");
    pim_network_destroy(network);
    const char *const wrong[] = {"network.window=80"};
    ck_assert_int_eq(pim_network_read(path, wrong, 1, &network, &error), PIM_BAD_INPUT);
    ck_assert_msg(strncmp(error.text, "command line: network.window: windows of 80x80", 46) == 0, "%s",
                  error.text);
    ck_assert_ptr_null(network);
    ck_assert_int_eq(pim_network_read("no/such/file.cfg", NULL, 0, &network, &error), PIM_IO);
    ck_assert_ptr_null(network);
    pim_network_destroy(NULL);
}
END_TEST

/* Sizes that are likely to fit together, and now and then one that is not. */
static uint32_t value(struct pim_random *random, uint32_t usual)
{
    static const uint32_t odd[] = {1, 2, 3, 7, 16, 64, 255, 256, 1023, 1024, 16384, 65536};
    return pim_random_below(random, 8) == 0 ? odd[pim_random_below(random, sizeof odd / sizeof odd[0])]
                                            : usual;
}

static uint32_t between(struct pim_random *random, uint32_t first, uint32_t last)
{
    return value(random, (uint32_t)pim_random_between(random, first, last));
}

/* Appends "<name> = [a, b]; " with `count` values of the two; returns the new end. */
static char *append_list(char *end, const char *name, uint32_t count, uint32_t first, uint32_t second)
{
    if (count == 1)
        return end + sprintf(end, "%s = [%u]; ", name, first);
    return end + sprintf(end, "%s = [%u, %u]; ", name, first, second);
}

/* A descriptor of a random family with one or two stages, well below 1024 characters. Every draw is a
   statement of its own: the order in which a compiler evaluates arguments is open. */
static void write_descriptor(struct pim_random *random, char *text)
{
    enum pim_family family = (enum pim_family)pim_random_below(random, PIM_FAMILIES);
    uint32_t stages = family == PIM_FAMILY_VIT ? 1 : 2;
    uint32_t patch = between(random, 1, 4), heads = value(random, 2);
    uint32_t window = between(random, 1, 8), factor = between(random, 1, 4);
    uint32_t one = value(random, 1), two = value(random, 2), three = value(random, 3),
             heads2 = value(random, heads);
    uint32_t side = between(random, 8, 31), image = value(random, patch * side), classes = value(random, 10);
    uint32_t channels = value(random, heads * 8), channels2 = value(random, heads * 4);
    char *end = text;
    end += sprintf(end, "network = { family = \"%s\"; patch = %u; image = %u; classes = %u; ",
                   pim_family_name(family), patch, image, classes);
    if (family == PIM_FAMILY_SWIN || family == PIM_FAMILY_TWINS || family == PIM_FAMILY_FOCAL)
        end += sprintf(end, "window = %u; ", window);
    if (family == PIM_FAMILY_FOCAL)
        end += sprintf(end, "expand = %u; ", one);
    if (family == PIM_FAMILY_PVT || family == PIM_FAMILY_TWINS)
        end = append_list(end, "reduction", stages, factor, one);
    if (family == PIM_FAMILY_FOCAL)
        end = append_list(end, "focal_window", stages, factor, three);
    if (family == PIM_FAMILY_CSWIN)
        end = append_list(end, "stripe", stages, factor, one);
    end = append_list(end, "blocks", stages, two, one);
    end = append_list(end, "channels", stages, channels, channels2);
    end = append_list(end, "heads", stages, heads, heads2);
    (void)strcpy(end, "};");
}

/* Random descriptors are refused with a reason, or give a network that keeps every invariant. */
START_TEST(random_descriptors)
{
    unsigned built = 0;
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    for (int round = 0; round < ROUNDS; round++) {
        char text[1024];
        struct pim_error error = {0};
        write_descriptor(&random, text);
        struct pim_network *network = read_text(text, &error);
        if (network && network->graph.count < 2000)
            check_network(network);
        built += network != NULL;
        ck_assert_msg(network != NULL || (error.status == PIM_BAD_INPUT && strlen(error.text) > 20), "%s",
                      text);
        pim_network_destroy(network);
    }
    printf("descriptor: seed %d, %u of %d random descriptors were networks\n", SEED, built, ROUNDS);
    ck_assert_uint_gt(built, ROUNDS / 10); /* else the property says nothing */
    ck_assert_uint_lt(built, ROUNDS * 9 / 10);
}
END_TEST

Suite *descriptor_suite(void)
{
    Suite *suite = suite_create("descriptor");
    TCase *group = tcase_create("descriptor");
    tcase_add_loop_test(group, refused_with_place_and_advice, 0, sizeof refusals / sizeof refusals[0]);
    tcase_add_loop_test(group, refused_by_a_family, 0, sizeof family_refusals / sizeof family_refusals[0]);
    tcase_add_test(group, files_and_overrides);
    tcase_add_test(group, random_descriptors);
    suite_add_tcase(suite, group);
    return suite;
}
