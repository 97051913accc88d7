/* Data layouts: every window against an enumeration of its elements, byte by byte. */
#include "sim/random.h"
#include "tests/unit/test_main.h"
#include "traces/layout.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3000, BYTES_MAX = 1 << 16 };

static uint32_t some(struct pim_random *random, uint32_t most)
{
    return 1 + (uint32_t)pim_random_below(random, most);
}

static struct pim_layout_range range(struct pim_random *random, uint32_t extent)
{
    uint32_t count = pim_random_below(random, 3) == 0 ? extent : some(random, extent);
    return (struct pim_layout_range){(uint32_t)pim_random_below(random, extent - count + 1), count};
}

static bool holds(struct pim_layout_range range, uint32_t index)
{
    return index >= range.first && index - range.first < range.count;
}

/* Marks the bytes of the window by walking through memory in the order of the layout, padding included, and
 * checks pim_layout_locate on the way. Returns the bytes walked over. */
static uint64_t mark(const struct pim_layout *l, const struct pim_layout_window *w, uint8_t *marks)
{
    const bool planes = l->order == PIM_LAYOUT_BCHW;
    const uint32_t groups = (l->channels + l->group - 1) / l->group;
    uint64_t at = 0;
    for (uint32_t b = 0; b < l->batches; b++)
        for (uint32_t outer = 0; outer < (planes ? groups : 1); outer++)
            for (uint32_t h = 0; h < l->rows; h++)
                for (uint32_t x = 0; x < l->columns; x++)
                    for (uint32_t i = 0; i < (planes ? 1 : groups) * l->group; i++) {
                        uint32_t c = outer * l->group + i;
                        if (c < l->channels)
                            ck_assert_uint_eq(pim_layout_locate(l, b, c, h, x), l->address + at);
                        if (c < l->channels && holds(w->batches, b) && holds(w->channels, c) &&
                            holds(w->rows, h) && holds(w->columns, x))
                            memset(&marks[at], 1, l->element_bytes);
                        at += l->element_bytes;
                    }
    return at;
}

static void compare_costs(const struct pim_layout *l, const struct pim_layout_window *w, const uint8_t *marks,
                          uint64_t bytes, uint32_t access, uint32_t row)
{
    struct pim_layout_cost cost, expected = {0};
    pim_layout_count(l, w, access, row, &cost);
    uint64_t before_access = UINT64_MAX, before_row = UINT64_MAX;
    for (uint64_t i = 0; i < bytes; i++) {
        if (!marks[i])
            continue;
        expected.bytes++;
        expected.pieces += i == 0 || !marks[i - 1];
        expected.accesses += (l->address + i) / access != before_access;
        expected.rows += (l->address + i) / row != before_row;
        before_access = (l->address + i) / access;
        before_row = (l->address + i) / row;
    }
    ck_assert_uint_eq(cost.bytes, expected.bytes);
    ck_assert_uint_eq(cost.accesses, expected.accesses);
    ck_assert_uint_eq(cost.rows, expected.rows);
    /* Pieces that touch across the border of a batch or a box are not merged. */
    ck_assert_uint_ge(cost.pieces, expected.pieces);
    ck_assert_uint_le(cost.bursts, cost.pieces);
}

START_TEST(bursts_are_the_window)
{
    struct pim_random random;
    struct pim_error error = {PIM_OK, ""};
    uint8_t *marks = malloc(BYTES_MAX), *read = malloc(BYTES_MAX);
    ck_assert(marks && read);
    pim_random_initialize(&random, 31 + (uint64_t)_i);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct pim_layout l = {.order = _i ? PIM_LAYOUT_BHWC : PIM_LAYOUT_BCHW,
                                     .batches = some(&random, 3),
                                     .channels = some(&random, 9),
                                     .rows = some(&random, 6),
                                     .columns = some(&random, 6),
                                     .group = some(&random, 5),
                                     .element_bytes = some(&random, 4),
                                     .address = pim_random_below(&random, 300)};
        const struct pim_layout_window w = {range(&random, l.batches), range(&random, l.channels),
                                            range(&random, l.rows), range(&random, l.columns)};
        ck_assert(pim_layout_check(&l, &error) == PIM_OK);
        ck_assert(pim_layout_check_window(&l, &w, &error) == PIM_OK);
        memset(marks, 0, BYTES_MAX);
        memset(read, 0, BYTES_MAX);
        const uint64_t bytes = mark(&l, &w, marks);
        ck_assert_uint_eq(bytes, pim_layout_bytes(&l));
        struct pim_layout_cursor cursor;
        struct pim_layout_burst burst;
        uint64_t end = 0; /* of the piece before */
        pim_layout_first(&cursor, &l, &w);
        while (pim_layout_next(&cursor, &burst)) {
            ck_assert(burst.bytes > 0 && burst.count > 0);
            ck_assert(burst.count == 1 ? burst.stride == 0 : burst.stride > burst.bytes);
            for (uint64_t i = 0; i < burst.count; i++) {
                uint64_t first = burst.address + i * burst.stride;
                ck_assert_uint_ge(first, end);
                end = first + burst.bytes;
                ck_assert_uint_le(end - l.address, bytes);
                memset(&read[first - l.address], 1, (size_t)burst.bytes);
            }
        }
        ck_assert_mem_eq(marks, read, (size_t)bytes);
        uint32_t access = UINT32_C(1) << pim_random_below(&random, 6);
        compare_costs(&l, &w, marks, bytes, access, access << pim_random_below(&random, 4));
    }
    free(marks);
    free(read);
}
END_TEST

/* NicePIM's Fig. 6: four 5 x 5 maps, four numbers in an access, a 3 x 3 window of the first two channels. */
START_TEST(figure_6)
{
    static const struct {
        enum pim_layout_order order;
        uint32_t group;
        uint64_t accesses;
    } cases[] = {{PIM_LAYOUT_BCHW, 1, 8}, {PIM_LAYOUT_BHWC, 1, 9}, {PIM_LAYOUT_BCHW, 2, 6}};
    for (unsigned i = 0; i < 3; i++)
        for (uint32_t row = 0; row < 3; row++)
            for (uint32_t column = 0; column < 3; column++) {
                const struct pim_layout l = {cases[i].order, 1, 4, 5, 5, cases[i].group, 2, 0};
                const struct pim_layout_window w = {{0, 1}, {0, 2}, {row, 3}, {column, 3}};
                struct pim_layout_cost cost;
                pim_layout_count(&l, &w, 8, 1024, &cost);
                ck_assert_uint_eq(cost.accesses, cases[i].accesses);
                ck_assert_uint_eq(cost.rows, 1);
                ck_assert_uint_eq(cost.bytes, 36);
            }
}
END_TEST

/* What is contiguous is one piece; what has one stride is one burst. */
START_TEST(neighbours_are_merged)
{
    static const struct {
        struct pim_layout layout;
        struct pim_layout_window window;
        struct pim_layout_burst burst;
    } cases[] = {
        {{PIM_LAYOUT_BCHW, 2, 8, 6, 5, 1, 2, 64},
         {{0, 2}, {0, 8}, {0, 6}, {0, 5}},
         {64, UINT64_C(2) * 8 * 6 * 5 * 2, 0, 1}},
        {{PIM_LAYOUT_BHWC, 2, 8, 6, 5, 1, 2, 0}, {{0, 2}, {0, 8}, {0, 6}, {0, 5}}, {0, 960, 0, 1}},
        {{PIM_LAYOUT_BCHW, 1, 8, 6, 5, 4, 2, 0}, {{0, 1}, {0, 8}, {0, 6}, {0, 5}}, {0, 480, 0, 1}},
        {{PIM_LAYOUT_BCHW, 1, 8, 6, 5, 1, 2, 0}, {{0, 1}, {2, 1}, {1, 3}, {1, 3}}, {132, 6, 10, 3}},
        {{PIM_LAYOUT_BCHW, 1, 8, 6, 5, 1, 2, 0}, {{0, 1}, {0, 8}, {1, 2}, {0, 5}}, {10, 20, 60, 8}},
        {{PIM_LAYOUT_BHWC, 1, 8, 6, 5, 1, 2, 0}, {{0, 1}, {2, 4}, {0, 6}, {0, 5}}, {4, 8, 16, 30}},
        {{PIM_LAYOUT_BHWC, 3, 8, 1, 1, 1, 2, 0}, {{0, 3}, {2, 4}, {0, 1}, {0, 1}}, {4, 8, 16, 3}},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_layout_cursor cursor;
        struct pim_layout_burst burst, more;
        pim_layout_first(&cursor, &cases[i].layout, &cases[i].window);
        ck_assert(pim_layout_next(&cursor, &burst));
        ck_assert_mem_eq(&burst, &cases[i].burst, sizeof burst);
        ck_assert(!pim_layout_next(&cursor, &more));
        ck_assert(!pim_layout_next(&cursor, &more));
    }
}
END_TEST

static const struct {
    struct pim_layout layout;
    struct pim_layout_window window;
    const char *message; /* NULL: good */
} refused[] = {
    {{PIM_LAYOUT_BCHW, 1, 4, 5, 5, 1, 2, 0}, {{0, 1}, {3, 1}, {4, 1}, {0, 5}}, NULL},
    {{PIM_LAYOUT_BCHW, 1, 4, 5, 5, 16777216, 2, 0}, {{0, 1}, {3, 1}, {4, 1}, {0, 5}}, NULL},
    {{PIM_LAYOUT_BCHW, 0, 4, 5, 5, 1, 2, 0}, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}, "0 batches"},
    {{PIM_LAYOUT_BCHW, 1, 0, 5, 5, 1, 2, 0}, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}, "0 channels"},
    {{PIM_LAYOUT_BCHW, 1, 4, 5, 16777217, 1, 2, 0}, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}, "16777217 columns"},
    {{PIM_LAYOUT_BCHW, 1, 4, 5, 5, 0, 2, 0}, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}, "of a group"},
    {{PIM_LAYOUT_BCHW, 1, 4, 5, 5, 1, 65, 0}, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}, "of an element"},
    {{PIM_LAYOUT_BCHW, 1, 16777216, 16777216, 16777216, 1, 2, 0}, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}, "2^60"},
    {{PIM_LAYOUT_BHWC, 16777216, 16777216, 16777216, 16777216, 1, 64, 0},
     {{0, 1}, {0, 1}, {0, 1}, {0, 1}},
     "2^60"},
    {{PIM_LAYOUT_BCHW, 1, 4, 5, 5, 1, 2, UINT64_MAX}, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}, "2^60"},
    {{PIM_LAYOUT_BCHW, 1, 4, 5, 5, 1, 2, 0}, {{1, 1}, {0, 1}, {0, 1}, {0, 1}}, "batches from 1"},
    {{PIM_LAYOUT_BCHW, 1, 4, 5, 5, 1, 2, 0}, {{0, 1}, {0, 0}, {0, 1}, {0, 1}}, "0 channels"},
    {{PIM_LAYOUT_BCHW, 1, 4, 5, 5, 1, 2, 0}, {{0, 1}, {2, 3}, {0, 1}, {0, 1}}, "3 channels from 2"},
    {{PIM_LAYOUT_BCHW, 1, 4, 5, 5, 1, 2, 0},
     {{0, 1}, {0, 1}, {4, 4294967295}, {0, 1}},
     "4294967295 rows from 4"},
};

START_TEST(impossible_sizes)
{
    struct pim_error error = {PIM_OK, ""};
    enum pim_status status = pim_layout_check(&refused[_i].layout, &error);
    if (status == PIM_OK)
        status = pim_layout_check_window(&refused[_i].layout, &refused[_i].window, &error);
    if (!refused[_i].message) {
        ck_assert_msg(status == PIM_OK, "%s", error.text);
        return;
    }
    ck_assert(status == PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, refused[_i].message) != NULL, "%s", error.text);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("layout");
    TCase *cases = tcase_create("windows");
    tcase_add_loop_test(cases, bursts_are_the_window, 0, 2);
    tcase_add_test(cases, figure_6);
    tcase_add_test(cases, neighbours_are_merged);
    tcase_add_loop_test(cases, impossible_sizes, 0, sizeof refused / sizeof refused[0]);
    suite_add_tcase(suite, cases);
    srunner_add_suite(runner, suite);
}
