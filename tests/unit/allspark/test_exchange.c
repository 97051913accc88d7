/* The orders of tokens between which features go, alone; test_dataflow.c proves the programs. */
#include "mappers/allspark/redistribution/exchange.h"
#include "tests/unit/allspark/scenario.h"

#include <stdlib.h>

/* Every token is taken once; there and back is where it was; what stays in its window keeps its place, and
   comes from where the shift says. */
START_TEST(shifted_windows_are_a_permutation)
{
    static const struct {
        uint32_t rows, columns, window, shift;
    } cases[] = {{4, 4, 7, 3}, {2, 2, 7, 3}, {3, 5, 4, 2}, {1, 3, 5, 2}, {9, 2, 3, 1}, {2, 2, 2, 1}};
    uint32_t rows = cases[_i].rows, columns = cases[_i].columns, w = cases[_i].window, s = cases[_i].shift;
    uint32_t tokens = w * w, count = rows * columns * tokens;
    uint32_t *there = pim_shifted_windows(rows, columns, w, s, false),
             *back = pim_shifted_windows(rows, columns, w, s, true);
    bool *taken = calloc(count, sizeof *taken);
    ck_assert(there && back && taken);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_uint_lt(there[i], count);
        ck_assert(!taken[there[i]]);
        taken[there[i]] = true;
        ck_assert_uint_eq(back[there[i]], i);
        uint32_t branch = i / tokens, from = there[i];
        if (i % tokens / w >= s && i % tokens % w >= s)
            ck_assert_uint_eq(from, i);
        /* somewhere inside of the shifted window */
        uint32_t y = from / tokens / columns * w + from % tokens / w,
                 x = from / tokens % columns * w + from % tokens % w;
        ck_assert_uint_lt((y + rows * w - branch / columns * w - s) % (rows * w), w);
        ck_assert_uint_lt((x + columns * w - branch % columns * w - s) % (columns * w), w);
    }
    free(there);
    free(back);
    free(taken);
}
END_TEST

/* Tokens of a key follow each other; windows that reach beyond the map take what is at its other end. */
START_TEST(windows_and_the_map)
{
    static const struct {
        uint32_t height, width, window, reduction;
    } cases[] = {{14, 14, 7, 2}, {13, 13, 3, 4}, {8, 6, 4, 3}, {5, 5, 5, 1}};
    uint32_t height = cases[_i].height, width = cases[_i].width, w = cases[_i].window,
             r = cases[_i].reduction;
    uint32_t columns = (width + w - 1) / w, padded = (height + w - 1) / w * columns * w * w;
    uint32_t *map = pim_windows_to_map(height, width, w, r, false),
             *windows = pim_windows_to_map(height, width, w, r, true), real = 0;
    ck_assert(map && windows);
    for (uint32_t i = 0; i < height * width; i++)
        ck_assert_uint_eq(windows[map[i]], i);
    for (uint32_t i = 0; i < padded; i++) {
        ck_assert_uint_lt(windows[i], height * width);
        uint32_t y = i / (w * w) / columns * w + i % (w * w) / w, x = i / (w * w) % columns * w + i % w;
        uint32_t other = map[windows[i]];
        ck_assert_uint_eq(other / (w * w) / columns * w + other % (w * w) / w, y % height);
        ck_assert_uint_eq(other / (w * w) % columns * w + other % w, x % width);
        real += y < height && x < width;
    }
    ck_assert_uint_eq(real, height * width);
    for (uint32_t key = 0; key < height / r * (width / r); key++)
        for (uint32_t i = 0; i < r * r; i++) {
            uint32_t at = map[key * r * r + i];
            uint32_t y = at / (w * w) / columns * w + at % (w * w) / w,
                     x = at / (w * w) % columns * w + at % w;
            ck_assert_uint_eq(y / r * (width / r) + x / r, key);
        }
    free(map);
    free(windows);
}
END_TEST

Suite *exchange_suite(void)
{
    Suite *suite = suite_create("exchange");
    TCase *tests = tcase_create("exchange");
    tcase_add_loop_test(tests, shifted_windows_are_a_permutation, 0, 6);
    tcase_add_loop_test(tests, windows_and_the_map, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
