/*
 * What of an input a box of an output needs, in transformers: every element that the operation reads lies in
 * the box, by a definition of each operation for single elements; where the operation allows it the box has
 * no more.
 */
#include "mappers/nicepim/map/flow.h"
#include "sim/random.h"
#include "tests/unit/nicepim/suites.h"

#include <string.h>

struct shape {
    uint32_t input[4]; /* batches, channels, rows, columns */
    struct flow_operation operation;
};

/* Of a region around a window, where it lies on the map; false: beyond the border. */
static bool region_source(const struct shape *shape, const uint32_t at[4], uint32_t from[4])
{
    const struct flow_operation *o = &shape->operation;
    int64_t stride = o->window[0], side = o->window[1], before = side > stride ? (side - stride) / 2 : 0;
    uint32_t across = shape->input[3] / o->window[0], windows = shape->input[2] / o->window[0] * across;
    int64_t position[2] = {at[0] % windows / across * stride - before + at[2] / side,
                           at[0] % windows % across * stride - before + at[2] % side};
    from[0] = at[0] / windows;
    for (int d = 0; d < 2; d++) {
        int64_t size = shape->input[d + 2];
        if (!o->cyclic && (position[d] < 0 || position[d] >= size))
            return false;
        while (position[d] < 0)
            position[d] += size;
        from[d + 2] = (uint32_t)(position[d] % size);
    }
    return true;
}

/* The element of the input that output element `at` copies (of a square of positions: the n-th); false: 0. */
static bool source_of(const struct shape *shape, const uint32_t at[4], uint32_t from[4])
{
    const struct flow_operation *o = &shape->operation;
    const uint32_t *in = shape->input, *out = o->dimension;
    uint32_t high = o->window[0], wide = o->window[1], across, windows, token;
    memcpy(from, at, 4 * sizeof *from);
    switch ((int)o->reach) {
    case FLOW_SLICE:
        from[o->axis] += o->begin;
        return true;
    case FLOW_MERGE:
        from[2] = at[2] / in[3];
        from[3] = at[2] % in[3];
        return true;
    case FLOW_SPLIT:
        from[2] = at[2] * out[3] + at[3];
        from[3] = 0;
        return true;
    case FLOW_SHIFT:
        from[2] = (uint32_t)(((int64_t)at[2] + o->shift[0] + in[2]) % in[2]);
        from[3] = (uint32_t)(((int64_t)at[3] + o->shift[1] + in[3]) % in[3]);
        return true;
    case FLOW_WINDOWS:
        across = in[3] / wide;
        windows = in[2] / high * across;
        from[0] = at[0] / windows;
        from[2] = at[0] % windows / across * high + at[2] / wide;
        from[3] = at[0] % windows % across * wide + at[2] % wide;
        return true;
    case FLOW_REVERSE:
        across = out[3] / wide;
        windows = out[2] / high * across;
        token = at[2] % high * wide + at[3] % wide;
        from[0] = at[0] * windows + at[2] / high * across + at[3] / wide;
        from[2] = token;
        from[3] = 0;
        return true;
    case FLOW_SHUFFLE:
        from[1] = at[1] % o->window[0] * o->window[1] + at[1] / o->window[0];
        return true;
    case FLOW_PAD:
        from[2] = at[2] + (uint32_t)o->shift[0];
        from[3] = at[3] + (uint32_t)o->shift[1];
        return from[2] < in[2] && from[3] < in[3];
    case FLOW_SWAP:
        from[1] = at[2];
        from[2] = at[1];
        return true;
    case FLOW_POOLED:
        from[0] = (at[0] * out[2] + at[2]) * out[3] + at[3];
        from[1] = from[3] = 0;
        from[2] = at[1];
        return true;
    case FLOW_AROUND:
        return region_source(shape, at, from);
    default: /* FLOW_GATHER: channel c of the output is one of the square */
        from[1] = at[1] % in[1];
        from[2] = at[2] * high + at[1] / in[1] / wide;
        from[3] = at[3] * wide + at[1] / in[1] % wide;
        return true;
    }
}

static void draw_shape(struct pim_random *random, enum flow_reach reach, struct shape *shape)
{
    uint32_t high = 1 + (uint32_t)pim_random_below(random, 3),
             wide = 1 + (uint32_t)pim_random_below(random, 3);
    uint32_t rows = high * (1 + (uint32_t)pim_random_below(random, 4)),
             columns = wide * (1 + (uint32_t)pim_random_below(random, 4)),
             batches = 1 + (uint32_t)pim_random_below(random, 2),
             channels = 2 + (uint32_t)pim_random_below(random, 4), tokens = high * wide;
    uint32_t windows = batches * (rows / high) * (columns / wide);
    const uint32_t map[] = {batches, channels, rows, columns},
                   line[] = {batches, channels, rows * columns, 1},
                   windowed[] = {windows, channels, tokens, 1};
    *shape = (struct shape){.operation = {.kind = FLOW_VECTOR, .reach = reach, .window = {high, wide}}};
    uint32_t *out = shape->operation.dimension;
    memcpy(shape->input, reach == FLOW_SPLIT ? line : reach == FLOW_REVERSE ? windowed : map, sizeof map);
    memcpy(out, reach == FLOW_MERGE ? line : reach == FLOW_WINDOWS ? windowed : map, sizeof map);
    if (reach == FLOW_SHIFT) {
        shape->operation.shift[0] = (int32_t)pim_random_below(random, rows) - (int32_t)(rows / 2);
        shape->operation.shift[1] = (int32_t)pim_random_below(random, columns) - (int32_t)(columns / 2);
    } else if (reach == FLOW_SLICE) {
        shape->operation.axis = 1;
        shape->operation.begin = (uint32_t)pim_random_below(random, channels);
        out[1] = channels - shape->operation.begin;
    } else if (reach == FLOW_GATHER) {
        out[1] = channels * tokens;
        out[2] = rows / high;
        out[3] = columns / wide;
        shape->operation.window[1] = wide;
    }
}

/* What a Focal transformer, padding and a shuffle of channels have: shapes of their own. */
static void draw_other(struct pim_random *random, enum flow_reach reach, struct shape *shape)
{
    struct flow_operation *o = &shape->operation;
    uint32_t *in = shape->input, *out = o->dimension;
    uint32_t rows = 1 + (uint32_t)pim_random_below(random, 4),
             columns = 1 + (uint32_t)pim_random_below(random, 4),
             batches = 1 + (uint32_t)pim_random_below(random, 2),
             channels = 1 + (uint32_t)pim_random_below(random, 5),
             stride = 1 + (uint32_t)pim_random_below(random, 3),
             side = 1 + (uint32_t)pim_random_below(random, 7);
    const uint32_t map[] = {batches, channels, rows, columns}, swapped[] = {batches, rows, channels, columns},
                   pooled[] = {batches * rows * columns, 1, channels, 1},
                   wide[] = {batches, channels, rows * stride, columns * stride},
                   around[] = {batches * rows * columns, channels, side * side, 1},
                   shuffled[] = {batches, channels * stride, rows, columns};
    *shape = (struct shape){.operation = {.kind = FLOW_VECTOR, .reach = reach}};
    memcpy(in, reach == FLOW_AROUND ? wide : reach == FLOW_POOLED ? pooled : map, sizeof map);
    memcpy(out, reach == FLOW_AROUND ? around : reach == FLOW_SWAP ? swapped : map, sizeof map);
    if (reach == FLOW_AROUND) {
        o->window[0] = stride;
        o->window[1] = side;
        o->cyclic = pim_random_below(random, 2) == 1;
    } else if (reach == FLOW_SHUFFLE) {
        memcpy(in, shuffled, sizeof map);
        memcpy(out, shuffled, sizeof map);
        o->window[0] = stride;
        o->window[1] = channels;
    } else if (reach == FLOW_PAD) {
        for (int d = 0; d < 2; d++) {
            o->shift[d] = -(int32_t)pim_random_below(random, 4);
            out[d + 2] += (uint32_t)-o->shift[d] + (uint32_t)pim_random_below(random, 4);
        }
    }
}

/* Checks all elements of a box. */
static void check_box(const struct shape *shape, const struct pim_span box[4],
                      const struct pim_span needed[4])
{
    uint32_t at[4], from[4];
    for (at[0] = box[0].from; at[0] < box[0].to; at[0]++)
        for (at[1] = box[1].from; at[1] < box[1].to; at[1]++)
            for (at[2] = box[2].from; at[2] < box[2].to; at[2]++)
                for (at[3] = box[3].from; at[3] < box[3].to; at[3]++) {
                    if (!source_of(shape, at, from))
                        continue;
                    for (size_t d = 0; d < 4; d++)
                        ck_assert_msg(from[d] >= needed[d].from && from[d] < needed[d].to &&
                                          needed[d].to <= shape->input[d],
                                      "reach %d: dimension %zu, %u is not in [%u, %u)",
                                      (int)shape->operation.reach, d, from[d], needed[d].from, needed[d].to);
                }
}

START_TEST(boxes_hold_all_that_is_read)
{
    static const enum flow_reach reaches[] = {FLOW_SLICE,   FLOW_MERGE,   FLOW_SPLIT,  FLOW_SHIFT,
                                              FLOW_WINDOWS, FLOW_REVERSE, FLOW_GATHER, FLOW_SHUFFLE,
                                              FLOW_PAD,     FLOW_SWAP,    FLOW_POOLED, FLOW_AROUND};
    const int kinds = sizeof reaches / sizeof *reaches;
    struct pim_random random;
    pim_random_initialize(&random, 0x746f6b656e73);
    for (int draw = 0; draw < 1000 * kinds; draw++) {
        struct shape shape;
        struct pim_span box[4], needed[4];
        uint64_t elements = 1;
        (draw % kinds < 7 ? draw_shape : draw_other)(&random, reaches[draw % kinds], &shape);
        /* A square takes factors of both sides alike. */
        if (shape.operation.reach == FLOW_GATHER && shape.operation.window[0] != shape.operation.window[1])
            continue;
        for (size_t d = 0; d < 4; d++) {
            uint32_t length = shape.operation.dimension[d], a = (uint32_t)pim_random_below(&random, length),
                     b = (uint32_t)pim_random_below(&random, length);
            box[d] = (struct pim_span){a < b ? a : b, (a < b ? b : a) + 1};
            elements *= box[d].to - box[d].from;
            /* As flow_needs begins. */
            needed[d] = shape.input[d] == 1 ? (struct pim_span){0, 1} : box[d];
        }
        tokens_needs(&shape.operation, shape.input, box, needed);
        check_box(&shape, box, needed);
        enum flow_reach reach = shape.operation.reach;
        if (reach == FLOW_SLICE || reach == FLOW_SWAP)
            ck_assert_uint_eq(flow_box_elements(needed), elements);
        if (elements == 1 && !shape.operation.cyclic &&
            (reach == FLOW_AROUND || reach == FLOW_SHUFFLE || reach == FLOW_POOLED))
            ck_assert_uint_le(flow_box_elements(needed), 1);
    }
}
END_TEST

/* Output channel k = head x keys + key needs channels of its head in row `key`; values need column k. */
START_TEST(keys_and_values_are_those_of_the_heads)
{
    struct pim_random random;
    pim_random_initialize(&random, 0x6865616473);
    for (int draw = 0; draw < 4000; draw++) {
        uint32_t heads = 1 + (uint32_t)pim_random_below(&random, 4),
                 own = 1 + (uint32_t)pim_random_below(&random, 6),
                 inputs = 1 + (uint32_t)pim_random_below(&random, 5);
        struct flow_operation operation = {.groups = heads,
                                           .dimension = {2, heads * own, 3, 1},
                                           .conv = {.length = {2, 3, 1, heads * own, inputs}}};
        struct pim_part part = {.loop = {{1, 2}, {0, 3}, {0, 1}, {0, 0}, {0, inputs}}};
        /* Within a head, or whole ones. */
        uint32_t first = (uint32_t)pim_random_below(&random, heads),
                 k = (uint32_t)pim_random_below(&random, own);
        part.loop[PIM_LOOP_K] = draw % 2 ? (struct pim_span){first * own + k, (first + 1) * own}
                                         : (struct pim_span){first * own, heads * own};
        struct pim_span k_span = part.loop[PIM_LOOP_K], box[4];
        for (int right = FLOW_KEYS; right <= FLOW_VALUES; right++) {
            operation.right = (enum flow_right)right;
            flow_right_box(&operation, &part, box);
            uint64_t needed = (uint64_t)(k_span.to - k_span.from) * inputs;
            ck_assert_uint_eq(flow_box_elements(box), needed);
            ck_assert(box[0].from == 1 && box[0].to == 2 && box[3].from == 0 && box[3].to == 1);
            for (uint32_t n = k_span.from; n < k_span.to; n++) {
                uint32_t channel = right == FLOW_KEYS ? n / own * inputs : n,
                         row = right == FLOW_KEYS ? n % own : 0;
                ck_assert_uint_ge(channel, box[1].from);
                ck_assert_uint_lt(channel, box[1].to);
                ck_assert_uint_ge(row, box[2].from);
                ck_assert_uint_lt(row, box[2].to);
            }
        }
    }
}
END_TEST

Suite *nicepim_tokens_suite(void)
{
    Suite *suite = suite_create("tokens");
    TCase *tests = tcase_create("tokens");
    tcase_add_test(tests, boxes_hold_all_that_is_read);
    tcase_add_test(tests, keys_and_values_are_those_of_the_heads);
    suite_add_tcase(suite, tests);
    return suite;
}
