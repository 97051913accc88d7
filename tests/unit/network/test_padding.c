/*
 * Property: the MACs on padding that the builders state are those of a plain count over maps of flags, which
 * are padded, rolled and cut up position by position. Random sizes, fixed seed.
 */
#include "sim/random.h"
#include "tests/unit/network/networks.h"

#include <stdio.h>
#include <string.h>

enum { SEED = 4711, ROUNDS = 60 };

/* A padded map: 1 where a token is real, 0 where it is padding. */
struct map {
    uint32_t height, width;
    unsigned char real[128][128];
};

/* Pads side x side tokens up to multiples of the window, `centred` or behind, then rolls the map by -shift.
 */
static void make_map(struct map *map, uint32_t side, uint32_t window_height, uint32_t window_width,
                     uint32_t shift, bool centred)
{
    struct map plain;
    map->height = plain.height = (side + window_height - 1) / window_height * window_height;
    map->width = plain.width = (side + window_width - 1) / window_width * window_width;
    ck_assert_uint_le(map->height, 128);
    ck_assert_uint_le(map->width, 128);
    memset(plain.real, 0, sizeof plain.real);
    memset(map->real, 0, sizeof map->real);
    uint32_t top = centred ? (map->height - side) / 2 : 0, left = centred ? (map->width - side) / 2 : 0;
    for (uint32_t y = 0; y < side; y++)
        memset(&plain.real[top + y][left], 1, side);
    for (uint32_t y = 0; y < map->height; y++) {
        for (uint32_t x = 0; x < map->width; x++)
            map->real[y][x] = plain.real[(y + shift) % map->height][(x + shift) % map->width];
    }
}

/* Pairs of real tokens: queries of each window, keys of its region widened by `expand`, cyclically. */
static uint64_t count_pairs(const struct map *map, uint32_t window_height, uint32_t window_width,
                            uint32_t expand)
{
    uint64_t pairs = 0;
    for (uint32_t top = 0; top < map->height; top += window_height) {
        for (uint32_t left = 0; left < map->width; left += window_width) {
            uint64_t queries = 0, keys = 0;
            for (uint32_t y = 0; y < window_height; y++) {
                for (uint32_t x = 0; x < window_width; x++)
                    queries += map->real[top + y][left + x];
            }
            for (uint32_t y = 0; y < window_height + 2 * expand; y++) {
                for (uint32_t x = 0; x < window_width + 2 * expand; x++)
                    keys += map->real[(top + y + 4 * map->height - expand) % map->height]
                                     [(left + x + 4 * map->width - expand) % map->width];
            }
            pairs += queries * keys;
        }
    }
    return pairs;
}

/* Pairs of real queries and pooled keys inside the grid of windows. */
static uint64_t count_coarse_pairs(const struct map *map, uint32_t window, uint32_t side)
{
    uint64_t pairs = 0;
    int32_t rows = (int32_t)(map->height / window), columns = (int32_t)(map->width / window),
            reach = (int32_t)(side / 2);
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < columns; j++) {
            uint64_t queries = 0, keys = 0;
            for (uint32_t y = 0; y < window; y++) {
                for (uint32_t x = 0; x < window; x++)
                    queries += map->real[(uint32_t)i * window + y][(uint32_t)j * window + x];
            }
            for (int32_t y = -reach; y <= reach; y++) {
                for (int32_t x = -reach; x <= reach; x++)
                    keys += i + y >= 0 && i + y < rows && j + x >= 0 && j + x < columns;
            }
            pairs += queries * keys;
        }
    }
    return pairs;
}

static uint32_t pick(struct pim_random *random, uint32_t low, uint32_t high)
{
    return (uint32_t)pim_random_between(random, low, high);
}

static struct pim_network *build(const char *text)
{
    struct pim_error error = {0};
    struct pim_network *network = read_text(text, &error);
    ck_assert_msg(network != NULL, "%s\n%s", error.text, text);
    check_network(network);
    return network;
}

/* Real MACs of a layer. */
static uint64_t real_macs(const struct pim_network *network, const char *name)
{
    const struct pim_layer *layer = find_layer(network, name);
    return layer->macs - layer->padding_macs;
}

START_TEST(windows_of_swin)
{
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    for (int round = 0; round < ROUNDS; round++) {
        struct map map;
        char text[512];
        uint32_t side = pick(&random, 2, 60), window = pick(&random, 1, side);
        (void)snprintf(text, sizeof text,
                       "network = { family = \"swin\"; image = %u; patch = 1; blocks = [2]; channels = [8]; "
                       "heads = [2]; window = %u; };",
                       side, window);
        struct pim_network *network = build(text);
        make_map(&map, side, window, window, 0, false);
        ck_assert_uint_eq(real_macs(network, "stage1.block1.query"), (uint64_t)side * side * 64);
        ck_assert_uint_eq(real_macs(network, "stage1.block1.projection"), (uint64_t)side * side * 64);
        ck_assert_uint_eq(real_macs(network, "stage1.block1.scores"),
                          count_pairs(&map, window, window, 0) * 8);
        make_map(&map, side, window, window, network->transformer->block[1].shift, false);
        ck_assert_uint_eq(real_macs(network, "stage1.block2.scores"),
                          count_pairs(&map, window, window, 0) * 8);
        ck_assert_uint_eq(real_macs(network, "stage1.block2.context"),
                          count_pairs(&map, window, window, 0) * 8);
        ck_assert_uint_eq(network->transformer->block[1].key_inputs, (uint64_t)map.height * map.width);
        pim_network_destroy(network);
    }
}
END_TEST

START_TEST(keys_of_focal)
{
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    for (int round = 0; round < ROUNDS; round++) {
        struct map map;
        char text[512];
        uint32_t side = pick(&random, 2, 60), window = pick(&random, 1, side),
                 expand = pick(&random, 0, window), focal = pick(&random, 0, 4) * 2 + 1;
        (void)snprintf(text, sizeof text,
                       "network = { family = \"focal\"; image = %u; patch = 1; blocks = [1]; channels = [8]; "
                       "heads = [2]; window = %u; "
                       "expand = %u; focal_window = [%u]; };",
                       side, window, expand, focal);
        struct pim_network *network = build(text);
        if (window == side)
            expand = 0;
        make_map(&map, side, window, window, 0, false);
        uint64_t pairs = count_pairs(&map, window, window, expand) + count_coarse_pairs(&map, window, focal);
        ck_assert_uint_eq(real_macs(network, "stage1.block1.scores"), pairs * 8);
        ck_assert_uint_eq(real_macs(network, "stage1.block1.context"), pairs * 8);
        ck_assert_uint_eq(real_macs(network, "stage1.block1.pool"), (uint64_t)side * side * 8);
        ck_assert_uint_eq(real_macs(network, "stage1.block1.key"), (uint64_t)side * side * 64);
        pim_network_destroy(network);
    }
}
END_TEST

START_TEST(stripes_of_cswin_and_windows_of_twins)
{
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    for (int round = 0; round < ROUNDS; round++) {
        struct map map;
        char text[512];
        uint32_t side = pick(&random, 4, 60), stripe = pick(&random, 1, side - 1);
        (void)snprintf(text, sizeof text,
                       "network = { family = \"cswin\"; image = %u; patch = 4; blocks = [1, 1]; channels = "
                       "[8, 8]; heads = [2, 2]; "
                       "stripe = [%u, 1]; };",
                       side * 4, stripe);
        struct pim_network *network = build(text);
        make_map(&map, side, side, stripe, 0, true);
        uint64_t pairs = count_pairs(&map, side, stripe, 0);
        ck_assert_uint_eq(real_macs(network, "stage1.block1.scores.vertical"), pairs * 4);
        ck_assert_uint_eq(real_macs(network, "stage1.block1.scores.horizontal"), pairs * 4);
        ck_assert_uint_eq(real_macs(network, "stage1.block1.local_position.vertical"),
                          (uint64_t)side * side * 9 * 4);
        ck_assert_uint_eq(find_layer(network, "stage1.block1.query")->padding_macs, 0);
        pim_network_destroy(network);
        (void)snprintf(text, sizeof text,
                       "network = { family = \"twins\"; image = %u; patch = 1; blocks = [1]; channels = [8]; "
                       "heads = [2]; window = %u; "
                       "reduction = [1]; };",
                       side, stripe);
        network = build(text);
        make_map(&map, side, stripe, stripe, 0, false);
        ck_assert_uint_eq(real_macs(network, "stage1.block1.scores"),
                          count_pairs(&map, stripe, stripe, 0) * 8);
        ck_assert_uint_eq(find_layer(network, "stage1.block1.projection")->padding_macs, 0);
        pim_network_destroy(network);
    }
}
END_TEST

Suite *padding_suite(void)
{
    Suite *suite = suite_create("padding");
    TCase *group = tcase_create("property");
    printf("padding: seed %d, %d rounds\n", SEED, ROUNDS);
    tcase_add_test(group, windows_of_swin);
    tcase_add_test(group, keys_of_focal);
    tcase_add_test(group, stripes_of_cswin_and_windows_of_twins);
    suite_add_tcase(suite, group);
    return suite;
}
