#include "sim/arena.h"
#include "tests/unit/services/services.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Blocks are aligned, do not overlap and keep what was written to them, over many chunks. */
START_TEST(blocks_are_disjoint)
{
    enum { BLOCKS = 500 };
    struct pim_arena arena;
    unsigned char *blocks[BLOCKS];
    size_t sizes[BLOCKS], sum = 0;
    pim_arena_initialize(&arena, 1000);
    for (unsigned i = 0; i < BLOCKS; i++) {
        size_t alignment = (size_t)1 << i % 13;
        sizes[i] = i * 7 % 300 + (i % 50 == 0 ? 5000 : 0);
        sum += sizes[i];
        blocks[i] = pim_arena_allocate(&arena, sizes[i], alignment);
        ck_assert_ptr_nonnull(blocks[i]);
        ck_assert_uint_eq((uintptr_t)blocks[i] % alignment, 0);
        memset(blocks[i], (int)(i % 251), sizes[i]);
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        for (size_t j = 0; j < sizes[i]; j++)
            ck_assert_uint_eq(blocks[i][j], i % 251);
    }
    ck_assert_uint_eq(arena.used_bytes, sum);
    pim_arena_terminate(&arena);
}
END_TEST

/* The same demands after a reset meet the same memory: nothing was allocated for them. */
START_TEST(reset_reuses_chunks)
{
    enum { BLOCKS = 200 };
    struct pim_arena arena;
    void *first[BLOCKS];
    pim_arena_initialize(&arena, 512);
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < BLOCKS; i++) {
            void *block = pim_arena_allocate(&arena, i * 11 % 700, 16);
            if (round == 0)
                first[i] = block;
            ck_assert_ptr_eq(block, first[i]);
        }
        pim_arena_reset(&arena);
        ck_assert_uint_eq(arena.used_bytes, 0);
    }
    pim_arena_terminate(&arena);
}
END_TEST

START_TEST(sizes_that_cannot_be)
{
    struct pim_arena arena;
    pim_arena_initialize(&arena, 0);
    ck_assert_ptr_null(pim_arena_allocate(&arena, SIZE_MAX, 1));
    ck_assert_ptr_null(pim_arena_allocate(&arena, SIZE_MAX - 100, 4096));
    ck_assert_ptr_null(pim_arena_allocate_array(&arena, SIZE_MAX / 2, 3, 8));
    ck_assert_ptr_null(pim_arena_allocate_items(&arena, SIZE_MAX / 2, 3, 8));
    ck_assert_ptr_null(PIM_ARENA_ARRAY(&arena, uint64_t, SIZE_MAX / 8 + 1));
    ck_assert_ptr_nonnull(pim_arena_allocate(&arena, 0, 1));
    uint64_t *zeros = PIM_ARENA_ARRAY(&arena, uint64_t, 100);
    for (int i = 0; i < 100; i++)
        ck_assert_uint_eq(zeros[i], 0);
    ck_assert_str_eq(pim_arena_copy_text(&arena, "noc"), "noc");
    pim_arena_terminate(&arena);
}
END_TEST

START_TEST(require_aborts)
{
    struct pim_arena arena;
    pim_arena_initialize(&arena, 0);
    (void)pim_arena_require_array(&arena, SIZE_MAX / 2, 3, 8);
}
END_TEST

START_TEST(array_grows)
{
    size_t capacity = 0;
    uint32_t *items = NULL;
    unsigned moves = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        size_t before = capacity;
        items = pim_array_grow(items, &capacity, i + 1, sizeof *items);
        ck_assert_ptr_nonnull(items);
        ck_assert_uint_ge(capacity, i + 1);
        moves += capacity != before;
        items[i] = i * 3;
    }
    for (uint32_t i = 0; i < 10000; i++)
        ck_assert_uint_eq(items[i], i * 3);
    ck_assert_uint_le(moves, 12); /* it doubles from 8 on */
    size_t kept = capacity;
    ck_assert_ptr_null(pim_array_grow(items, &capacity, SIZE_MAX / 2, sizeof *items));
    ck_assert_uint_eq(capacity, kept);
    ck_assert_uint_eq(items[9999], 29997);
    free(items);
}
END_TEST

START_TEST(integers)
{
    uint64_t low,
        edges[] = {
            0, 1, 2, 3, 0xffffffff, 0x100000000, 0x100000001, UINT64_MAX - 1, UINT64_MAX, 0x123456789abcdef0};
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        for (size_t j = 0; j < sizeof edges / sizeof edges[0]; j++) {
            /* By hand: shift and add over 128 bits. */
            uint64_t high = 0, sum = 0;
            for (unsigned bit = 0; bit < 64; bit++) {
                if (!(edges[j] >> bit & 1))
                    continue;
                uint64_t part = edges[i] << bit;
                sum += part;
                high += (bit ? edges[i] >> (64 - bit) : 0) + (sum < part);
            }
            ck_assert_uint_eq(pim_multiply_full(edges[i], edges[j], &low), high);
            ck_assert_uint_eq(low, sum);
        }
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        ck_assert_uint_eq(pim_log2_floor(UINT64_C(1) << bit), bit);
        ck_assert_uint_eq(pim_log2_floor(UINT64_MAX >> (63 - bit)), bit);
    }
    for (uint64_t a = 0; a < 30; a++)
        for (uint64_t b = a == 0; b < 30; b++) {
            uint64_t divisor = a > b ? a : b;
            while (a % divisor != 0 || b % divisor != 0)
                divisor--;
            ck_assert_uint_eq(pim_greatest_divisor(a, b), divisor);
        }
    ck_assert_uint_eq(pim_greatest_divisor(UINT64_MAX, UINT64_C(3) << 62), 3);
    size_t product = 7;
    ck_assert(!pim_multiply_size(SIZE_MAX, 2, &product) && product == 7);
    ck_assert(pim_multiply_size(SIZE_MAX, 1, &product) && product == SIZE_MAX);
    ck_assert(pim_multiply_size(0, SIZE_MAX, &product) && product == 0);
}
END_TEST

Suite *arena_suite(void)
{
    Suite *suite = suite_create("arena");
    TCase *arena = tcase_create("arena");
    tcase_add_test(arena, blocks_are_disjoint);
    tcase_add_test(arena, reset_reuses_chunks);
    tcase_add_test(arena, sizes_that_cannot_be);
    tcase_add_exit_test(arena, require_aborts, 1); /* a line and exit code 1, no crash */
    tcase_add_test(arena, array_grows);
    tcase_add_test(arena, integers);
    suite_add_tcase(suite, arena);
    return suite;
}
