/* The memory manager of a core against a map that knows of each byte whose it is; the table of pixels
 * against a list. */
#include "mappers/emit/local_heap.h"
#include "mappers/pimcomp/latency/pixels.h"
#include "sim/random.h"
#include "tests/unit/pimcomp/low_latency.h"

#include <stdio.h>
#include <string.h>

enum { CAPACITY = 1000, BLOCKS = 64, STEPS = 20000 };

/* The lowest address at which `bytes` free bytes begin, CAPACITY if there is none. */
static uint32_t first_fit(const unsigned char *owner, uint32_t capacity, uint32_t bytes)
{
    uint32_t run = 0;
    for (uint32_t i = 0; i < capacity; i++) {
        run = owner[i] ? 0 : run + 1;
        if (run == bytes)
            return i + 1 - bytes;
    }
    return CAPACITY;
}

static uint32_t largest_free(const unsigned char *owner, uint32_t capacity)
{
    uint32_t run = 0, largest = 0;
    for (uint32_t i = 0; i < capacity; i++) {
        run = owner[i] ? 0 : run + 1;
        largest = run > largest ? run : largest;
    }
    return largest;
}

static void heap_against_map(uint32_t granule, uint64_t seed)
{
    unsigned char owner[CAPACITY] = {0};
    struct {
        uint32_t address, bytes;
    } block[BLOCKS] = {{0, 0}};
    struct pim_random random;
    struct pim_local_heap heap;
    pim_random_initialize(&random, seed);
    pim_local_heap_initialize(&heap, CAPACITY, granule);
    uint32_t capacity = CAPACITY / granule * granule, used = 0, high_water = 0;
    for (int step = 0; step < STEPS; step++) {
        uint32_t i = (uint32_t)pim_random_below(&random, BLOCKS);
        if (block[i].bytes) {
            uint32_t size = (block[i].bytes + granule - 1) / granule * granule;
            pim_local_heap_release(&heap, block[i].address, block[i].bytes);
            memset(owner + block[i].address, 0, size);
            used -= size;
            block[i].bytes = 0;
        } else {
            uint32_t bytes = 1 + (uint32_t)pim_random_below(&random, 60), address = CAPACITY;
            uint32_t size = (bytes + granule - 1) / granule * granule;
            uint32_t expected = first_fit(owner, capacity, size);
            bool there = pim_local_heap_allocate(&heap, bytes, &address);
            ck_assert_int_eq(there, expected < CAPACITY);
            if (there) {
                ck_assert_uint_eq(address, expected);
                memset(owner + address, 1, size);
                block[i].address = address;
                block[i].bytes = bytes;
                used += size;
                high_water = address + size > high_water ? address + size : high_water;
            }
        }
        ck_assert_uint_eq(heap.used, used);
        ck_assert_uint_eq(pim_local_heap_largest(&heap), largest_free(owner, capacity));
    }
    ck_assert_uint_eq(heap.high_water, high_water);
    for (uint32_t i = 0; i < BLOCKS; i++)
        if (block[i].bytes)
            pim_local_heap_release(&heap, block[i].address, block[i].bytes);
    ck_assert_uint_eq(heap.used, 0);
    ck_assert_uint_eq(heap.extents, 1); /* all coalesced */
    ck_assert_uint_eq(pim_local_heap_largest(&heap), capacity);
    pim_local_heap_terminate(&heap);
}

START_TEST(heap_is_first_fit)
{
    printf("local heap: seeds 1 to 6\n");
    for (uint64_t seed = 1; seed <= 6; seed++)
        heap_against_map(seed % 3 == 0 ? 8 : (uint32_t)(seed % 3), seed);
}
END_TEST

START_TEST(heap_without_room)
{
    struct pim_local_heap heap;
    uint32_t address;
    pim_local_heap_initialize(&heap, 0, 2);
    ck_assert(!pim_local_heap_allocate(&heap, 1, &address));
    ck_assert_uint_eq(pim_local_heap_largest(&heap), 0);
    pim_local_heap_terminate(&heap);
    pim_local_heap_initialize(&heap, UINT32_MAX, 4);
    ck_assert(!pim_local_heap_allocate(&heap, UINT32_MAX, &address)); /* rounded up it is beyond 2^32 */
    ck_assert(pim_local_heap_allocate(&heap, UINT32_MAX - 3, &address));
    ck_assert_uint_eq(address, 0);
    pim_local_heap_terminate(&heap);
}
END_TEST

START_TEST(pixel_table)
{
    enum { KEYS = 4000 };
    static uint32_t number[KEYS];
    struct pim_pixel_table table;
    struct pim_random random;
    pim_random_initialize(&random, 11);
    pim_pixel_table_initialize(&table);
    size_t used = 0;
    for (uint32_t i = 0; i < KEYS; i++)
        number[i] = PIM_PIXEL_NONE;
    for (int step = 0; step < 200000; step++) {
        uint32_t i = (uint32_t)pim_random_below(&random, KEYS);
        uint64_t key = pim_pixel_key(i % 7, i / 7, i % 5);
        ck_assert_uint_eq(pim_pixel_core(key), i % 5);
        ck_assert_uint_eq(pim_pixel_find(&table, key), number[i]);
        if (number[i] == PIM_PIXEL_NONE) {
            number[i] = pim_pixel_add(&table, key);
            ck_assert_uint_ne(number[i], PIM_PIXEL_NONE);
            table.record[number[i]].uses = i;
            used++;
        } else {
            ck_assert_uint_eq(table.record[number[i]].uses, i);
            pim_pixel_drop(&table, number[i]);
            number[i] = PIM_PIXEL_NONE;
            used--;
        }
        ck_assert_uint_eq(table.used, used);
    }
    pim_pixel_table_terminate(&table);
}
END_TEST

Suite *local_heap_suite(void)
{
    Suite *suite = suite_create("local_heap");
    TCase *tests = tcase_create("local_heap");
    tcase_add_test(tests, heap_is_first_fit);
    tcase_add_test(tests, heap_without_room);
    tcase_add_test(tests, pixel_table);
    suite_add_tcase(suite, tests);
    return suite;
}
