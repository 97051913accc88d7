/* Boxes in memory: every element where the layout says, every burst what it should reach, pieces of boxes. */
#include "mappers/nicepim/map/place.h"
#include "sim/random.h"
#include "tests/unit/nicepim/suites.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 400, MOST = 1 << 17 };
static const uint64_t seed = 0x706c616365;

static uint32_t below(struct pim_random *random, uint32_t bound)
{
    return (uint32_t)pim_random_below(random, bound);
}

static struct place draw_place(struct pim_random *random)
{
    static const uint32_t most[] = {3, 20, 9, 11};
    struct place place = {.width = below(random, 2) ? 2 : 4, .address = 64 * (uint64_t)below(random, 5)};
    place.layout.order = below(random, 2) ? PIM_LAYOUT_BHWC : PIM_LAYOUT_BCHW;
    place.layout.group = place.layout.order == PIM_LAYOUT_BCHW ? 1u << below(random, 4) : 1;
    for (size_t d = 0; d < 4; d++) {
        place.box[d].from = below(random, 6);
        place.box[d].to = place.box[d].from + 1 + below(random, most[d]);
    }
    return place;
}

/* The formulas of the layouts, from the corner of the place. */
static uint64_t address_of(const struct place *place, const uint32_t at[4])
{
    uint64_t x[4], size[4], g = place->layout.group, groups;
    for (size_t d = 0; d < 4; d++) {
        x[d] = at[d] - place->box[d].from;
        size[d] = place->box[d].to - place->box[d].from;
    }
    groups = (size[1] + g - 1) / g;
    uint64_t element = place->layout.order == PIM_LAYOUT_BHWC
                           ? ((x[0] * size[2] + x[2]) * size[3] + x[3]) * size[1] + x[1]
                           : (((x[0] * groups + x[1] / g) * size[2] + x[2]) * size[3] + x[3]) * g + x[1] % g;
    return place->address + element * place->width;
}

struct seen {
    unsigned char *bytes;
    uint64_t count;
};

static void see(void *context, const struct place_burst *burst)
{
    struct seen *seen = context;
    ck_assert(burst->bytes > 0 && burst->count > 0);
    ck_assert(burst->count == 1 || burst->stride > burst->bytes);
    for (uint64_t i = 0; i < burst->count; i++) {
        for (uint64_t b = 0; b < burst->bytes; b++) {
            uint64_t at = burst->address + i * burst->stride + b;
            ck_assert_uint_lt(at, MOST);
            ck_assert_msg(seen->bytes[at]++ == 0, "byte %llu is touched twice", (unsigned long long)at);
            seen->count++;
        }
    }
}

static void draw_part(struct pim_random *random, const struct place *place, struct grid part[4])
{
    for (size_t d = 0; d < 4; d++) {
        uint32_t length = place->box[d].to - place->box[d].from, from = below(random, length);
        uint32_t step = d >= 2 ? 1 + below(random, 3) : 1, most = (length - from - 1) / step + 1;
        part[d] = (struct grid){place->box[d].from + from, 1 + below(random, most), step};
    }
}

START_TEST(bursts_touch_the_elements_of_a_part_and_nothing_else)
{
    struct pim_random random;
    unsigned char *bytes = malloc(MOST);
    ck_assert(bytes != NULL);
    pim_random_initialize(&random, seed);
    for (int i = 0; i < CASES; i++) {
        struct place place = draw_place(&random);
        struct grid part[4];
        struct seen seen = {.bytes = bytes};
        uint64_t elements = 0, address, run;
        draw_part(&random, &place, part);
        memset(bytes, 0, MOST);
        place_visit_bursts(&place, part, see, &seen);
        for (uint32_t b = 0; b < part[0].count; b++)
            for (uint32_t c = 0; c < part[1].count; c++)
                for (uint32_t h = 0; h < part[2].count; h++)
                    for (uint32_t w = 0; w < part[3].count; w++, elements++) {
                        const uint32_t at[] = {part[0].from + b, part[1].from + c,
                                               part[2].from + h * part[2].step,
                                               part[3].from + w * part[3].step};
                        for (uint32_t k = 0; k < place.width; k++)
                            ck_assert_uint_eq(bytes[address_of(&place, at) + k], 1);
                    }
        ck_assert_uint_eq(seen.count, elements * place.width);
        if (place_is_run(&place, part, &address, &run)) {
            ck_assert_uint_eq(run, seen.count);
            ck_assert(bytes[address] == 1 && bytes[address + run - 1] == 1);
        }
    }
    free(bytes);
}
END_TEST

START_TEST(a_place_meets_what_of_a_grid_lies_in_it)
{
    struct pim_random random;
    pim_random_initialize(&random, seed + 1);
    for (int i = 0; i < CASES; i++) {
        struct place place = draw_place(&random);
        struct grid part[4], met[4];
        bool some = true;
        for (size_t d = 0; d < 4; d++)
            part[d] = (struct grid){below(&random, 12), below(&random, 9), 1 + below(&random, 3)};
        bool meets = place_meets(&place, part, met);
        for (size_t d = 0; d < 4; d++) {
            uint32_t inside = 0, first = UINT32_MAX;
            for (uint32_t k = 0; k < part[d].count; k++) {
                uint32_t at = part[d].from + k * part[d].step;
                if (at < place.box[d].from || at >= place.box[d].to)
                    continue;
                first = first == UINT32_MAX ? at : first;
                inside++;
            }
            some &= inside > 0;
            if (meets) {
                ck_assert_uint_eq(met[d].count, inside);
                ck_assert_uint_eq(met[d].from, first);
            }
        }
        ck_assert(meets == some);
    }
}
END_TEST

/* Pieces cover the box, and where they are said to follow each other they are runs of it. */
START_TEST(pieces_make_up_their_box)
{
    struct pim_random random;
    pim_random_initialize(&random, seed + 2);
    for (int i = 0; i < CASES; i++) {
        struct place place = draw_place(&random);
        uint32_t parts = 1 + below(&random, 9);
        uint64_t elements = 0, whole = 1, at = place.address;
        for (size_t d = 0; d < 4; d++)
            whole *= place.box[d].to - place.box[d].from;
        for (uint32_t p = 0; p < parts; p++) {
            struct place piece = place;
            struct grid part[4];
            uint64_t address, run;
            bool runs;
            split_box(place.box, place.layout, parts, p, piece.box, &runs);
            grid_of_box(piece.box, part);
            uint64_t own = 1;
            for (size_t d = 0; d < 4; d++)
                own *= part[d].count;
            elements += own;
            if (runs && own > 0 && place.box[1].to % place.layout.group == 0 &&
                place.box[1].from % place.layout.group == 0) {
                ck_assert(place_is_run(&place, part, &address, &run));
                ck_assert_uint_eq(address, at);
                ck_assert_uint_eq(run, place_bytes(&piece));
                at += run;
            }
        }
        ck_assert_uint_eq(elements, whole);
    }
}
END_TEST

Suite *nicepim_place_suite(void)
{
    Suite *suite = suite_create("place");
    TCase *tests = tcase_create("place");
    tcase_add_test(tests, bursts_touch_the_elements_of_a_part_and_nothing_else);
    tcase_add_test(tests, a_place_meets_what_of_a_grid_lies_in_it);
    tcase_add_test(tests, pieces_make_up_their_box);
    suite_add_tcase(suite, tests);
    return suite;
}
