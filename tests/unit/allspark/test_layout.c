/* Algorithm 1 of the paper. */
#include "tests/unit/allspark/scenario.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 20 };

/* The algorithm as the paper prints it, counting only. */
static uint32_t printed_function(uint32_t A, uint32_t B, uint32_t a, uint32_t b)
{
    uint32_t x1 = A / a, y1 = B / b, n1 = x1 * y1, x2, y2;
    if (a > b) {
        A = A - x1 * a;
        x2 = A / b;
        y2 = B / a;
    } else {
        B = B - y1 * b;
        x2 = B / a;
        y2 = A / b;
    }
    return n1 + x2 * y2;
}

static uint32_t printed_algorithm(uint32_t height, uint32_t width, uint32_t u, uint32_t v)
{
    uint32_t x = printed_function(height, width, u, v), y = printed_function(height, width, v, u);
    return x >= y ? x : y;
}

/* All tiles inside, none on another, and as many as were promised. */
static void check_layout(uint32_t height, uint32_t width, uint32_t u, uint32_t v)
{
    struct pim_allspark_layout layout;
    bool taken[SIDE][SIDE] = {{false}};
    ck_assert(pim_allspark_layout(height, width, u, v, &layout));
    ck_assert_uint_eq(layout.count, pim_allspark_layout_count(height, width, u, v));
    ck_assert_uint_le(layout.count * u * v, height * width);
    for (uint32_t i = 0; i < layout.count; i++) {
        const struct pim_allspark_tile *tile = &layout.tiles[i];
        uint32_t rows = tile->turned ? v : u, columns = tile->turned ? u : v;
        ck_assert_uint_le(tile->y + rows, height);
        ck_assert_uint_le(tile->x + columns, width);
        for (uint32_t y = tile->y; y < tile->y + rows; y++)
            for (uint32_t x = tile->x; x < tile->x + columns; x++) {
                ck_assert_msg(!taken[y][x],
                              "%" PRIu32 " x %" PRIu32 " on %" PRIu32 " x %" PRIu32 ": node (%" PRIu32
                              ", %" PRIu32 ") twice",
                              u, v, height, width, x, y);
                taken[y][x] = true;
            }
    }
    free(layout.tiles);
}

START_TEST(the_example_of_the_paper)
{
    ck_assert_uint_eq(pim_allspark_layout_count(3, 4, 2, 1), 6);
}
END_TEST

START_TEST(sub_arrays_lie_inside_and_apart)
{
    static const uint32_t arrays[][2] = {{16, 16}, {8, 16}, {16, 8}, {5, 7}, {20, 3}, {1, 20}, {1, 1}};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        for (uint32_t u = 1; u <= SIDE; u++)
            for (uint32_t v = 1; v <= SIDE; v++)
                check_layout(arrays[i][0], arrays[i][1], u, v);
}
END_TEST

START_TEST(counts_are_those_of_algorithm_1)
{
    for (uint32_t height = 1; height <= SIDE; height++)
        for (uint32_t width = 1; width <= SIDE; width++)
            for (uint32_t u = 1; u <= SIDE; u++)
                for (uint32_t v = 1; v <= SIDE; v++) {
                    uint32_t count = pim_allspark_layout_count(height, width, u, v);
                    bool fits = (u <= height && v <= width) || (v <= height && u <= width);
                    ck_assert(fits == (count > 0));
                    /* Where the main grid of an orientation is empty the printed algorithm still fills
                       "the strip", with the other one. */
                    ck_assert_uint_eq(count, printed_algorithm(height, width, u, v));
                    ck_assert_uint_eq(count, pim_allspark_layout_count(height, width, v, u));
                    ck_assert_uint_eq(count, pim_allspark_layout_count(width, height, u, v));
                }
}
END_TEST

/* --- the best packing there is, by trying --- */

struct packing {
    uint32_t height, width, u, v, best, full;
    bool taken[SIDE][SIDE];
};

static bool put(struct packing *packing, uint32_t y, uint32_t x, uint32_t rows, uint32_t columns, bool to)
{
    if (y + rows > packing->height || x + columns > packing->width)
        return false;
    for (uint32_t i = y; i < y + rows && to; i++)
        for (uint32_t j = x; j < x + columns; j++)
            if (packing->taken[i][j])
                return false;
    for (uint32_t i = y; i < y + rows; i++)
        for (uint32_t j = x; j < x + columns; j++)
            packing->taken[i][j] = to;
    return true;
}

static void pack(struct packing *packing, uint32_t at, uint32_t count)
{
    uint32_t y = at / packing->width, x = at % packing->width, left = packing->height * packing->width - at;
    if (count > packing->best)
        packing->best = count;
    if (y == packing->height || count + left / (packing->u * packing->v) + 1 <= packing->best ||
        packing->best == packing->full)
        return;
    for (unsigned turn = 0; turn < 2; turn++) {
        uint32_t rows = turn ? packing->v : packing->u, columns = turn ? packing->u : packing->v;
        if (put(packing, y, x, rows, columns, true)) {
            pack(packing, at + 1, count + 1);
            (void)put(packing, y, x, rows, columns, false);
        }
    }
    pack(packing, at + 1, count);
}

/* The heuristic is never above the optimum, and on small arrays at most two sub-arrays below it (2 x 3 on
   5 x 5: 3, four fit). */
START_TEST(counts_against_the_best_packing)
{
    uint32_t worst = 0, cases = 0, optimal = 0;
    for (uint32_t height = 1; height <= 5; height++)
        for (uint32_t width = height; width <= 6; width++)
            for (uint32_t u = 1; u <= height; u++)
                for (uint32_t v = u; v <= width; v++) {
                    struct packing packing = {
                        .height = height, .width = width, .u = u, .v = v, .full = height * width / (u * v)};
                    pack(&packing, 0, 0);
                    uint32_t count = pim_allspark_layout_count(height, width, u, v);
                    ck_assert_uint_le(count, packing.best);
                    worst = packing.best - count > worst ? packing.best - count : worst;
                    optimal += count == packing.best;
                    cases++;
                }
    ck_assert_msg(worst <= 2 && 10 * optimal >= 8 * cases,
                  "%" PRIu32 " of %" PRIu32 " optimal, worst %" PRIu32 " below", optimal, cases, worst);
}
END_TEST

Suite *layout_suite(void)
{
    Suite *suite = suite_create("layout");
    TCase *tests = tcase_create("layout");
    tcase_add_test(tests, the_example_of_the_paper);
    tcase_add_test(tests, sub_arrays_lie_inside_and_apart);
    tcase_add_test(tests, counts_are_those_of_algorithm_1);
    tcase_add_test(tests, counts_against_the_best_packing);
    suite_add_tcase(suite, tests);
    return suite;
}
