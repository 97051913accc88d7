/*
 * Tiles of products: they fit what the buffers leave them, fill it where they can, and their costs are those
 * of a walk over all of them.
 */
#include "tests/unit/estimate/machine.h"
#include "tests/unit/estimate/suites.h"

#include "mappers/estimate/pace.h"
#include "sim/random.h"

#include <inttypes.h>
#include <stdio.h>

static const uint64_t seed = UINT64_C(0x74696c696e67);

enum { SHAPES = 600, ACCUMULATOR = 4 };

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The plain product of m x k and k x n, with tiles of the right operand back to back. */
static struct pim_matrix_shape product_of(uint32_t m, uint32_t n, uint32_t k)
{
    return (struct pim_matrix_shape){.m = m,
                                     .n = n,
                                     .k = k,
                                     .count = 1,
                                     .segment = k,
                                     .segments = 1,
                                     .vector_passes = 1,
                                     .input_pitch = k,
                                     .output_pitch = n};
}

static uint64_t narrower_width(const struct pim_matrix_shape *shape)
{
    return shape->narrower ? (shape->k - shape->segments * shape->segment) / shape->narrower : 0;
}

/* Cycles of the array, tile by tile; the last tiles of a row, column or segment are smaller. */
static uint64_t walk_array(const struct pim_estimate_hardware *hardware, const struct pim_matrix_shape *shape,
                           const struct pim_tiling *tiling)
{
    uint64_t cycles = 0;
    for (uint64_t m = 0; m < shape->m; m += tiling->m)
        for (uint64_t n = 0; n < shape->n; n += tiling->right)
            for (uint32_t segment = 0; segment < shape->segments + shape->narrower; segment++) {
                uint64_t span = segment < shape->segments ? shape->segment : narrower_width(shape);
                for (uint64_t k = 0; k < span; k += tiling->k)
                    cycles += pim_estimate_matrix(hardware, smaller(tiling->m, shape->m - m),
                                                  smaller(tiling->right, shape->n - n),
                                                  smaller(tiling->k, span - k));
            }
    return shape->count * cycles;
}

static void check_fits(const struct pim_estimate_hardware *hardware, const struct pim_matrix_shape *shape,
                       const struct pim_tiling *tiling)
{
    uint64_t m = tiling->m, n = tiling->n, k = tiling->k;
    bool one_block =
        m >= shape->m && (shape->count == 1 || tiling->pass_rows > 0); /* the next product waits */
    ck_assert_uint_ge(smaller(smaller(m, n), k), 1);
    ck_assert_uint_le(m, shape->m);
    ck_assert_uint_le(n, shape->n);
    ck_assert_uint_le(k, shape->segment);
    ck_assert_uint_ge(tiling->right, 1);
    ck_assert_uint_le(2 * (uint64_t)tiling->right * k, hardware->weight_bytes);
    if (tiling->resident)
        ck_assert_uint_le((one_block ? 1 : 2) * m * shape->k, hardware->input_bytes);
    else
        ck_assert_uint_le(2 * m * k, hardware->input_bytes);
    ck_assert_uint_le(m * n * hardware->accumulator_bytes, hardware->output_bytes);
    ck_assert(shape->full_rows && tiling->pass_rows == 0 ? n == shape->n && tiling->right <= n
                                                         : tiling->right == n);
    ck_assert(shape->full_rows || tiling->pass_rows == 0);
    ck_assert_uint_le((tiling->pass_rows > 1 ? 2 : 1) * (uint64_t)tiling->pass_rows * shape->n,
                      hardware->output_bytes);
    ck_assert(shape->right_block == 0 || n <= shape->right_block);
    ck_assert(shape->grain == 0 || n == shape->n || n % shape->grain == 0 || shape->grain % n == 0);
}

static struct pim_matrix_shape random_shape(struct pim_random *random)
{
    struct pim_matrix_shape shape =
        product_of((uint32_t)pim_random_between(random, 1, 300), (uint32_t)pim_random_between(random, 1, 300),
                   (uint32_t)pim_random_between(random, 1, 600));
    shape.count = (uint32_t)pim_random_between(random, 1, 3);
    shape.full_rows = pim_random_below(random, 4) == 0;
    shape.vector_passes = shape.full_rows ? 3 : 1;
    shape.residual = pim_random_below(random, 3) == 0;
    if (pim_random_below(random, 3) == 0) { /* in segments */
        shape.segment = (uint32_t)pim_random_between(random, 1, 100);
        shape.segments = (uint32_t)pim_random_between(random, 1, 6);
        shape.narrower = shape.segment > 1 ? (uint32_t)pim_random_below(random, 4) : 0;
        shape.k = shape.segments * shape.segment;
        if (shape.narrower > 0)
            shape.k += shape.narrower * (uint32_t)pim_random_between(random, 1, shape.segment - 1);
    } else
        shape.segment = shape.k;
    if (pim_random_below(random, 2) == 0)
        shape.right_pitch = shape.n;
    if (pim_random_below(random, 4) == 0 && !shape.full_rows)
        shape.right_block = (uint32_t)pim_random_between(random, 1, 64);
    else if (pim_random_below(random, 4) == 0 && !shape.full_rows)
        shape.grain = (uint32_t)pim_random_between(random, 1, 64);
    return shape;
}

/* Scores of one head: however long the rows, softmax on whole rows costs little beside the array. */
START_TEST(long_rows_cost_about_what_the_array_takes)
{
    static const uint32_t tokens[] = {197, 785, 1601, 3601, 10001};
    struct machine machine;
    machine_read(&machine, "allspark-16x16", NULL, 0);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        struct pim_matrix_shape shape = product_of(100, tokens[i], 64);
        struct pim_tiling tiling;
        struct pim_matrix_estimate estimate;
        shape.full_rows = true;
        shape.vector_passes = 3;
        shape.right_columns = true;
        shape.right_pitch = 64;
        ck_assert(pim_estimate_tiling(&machine.estimate, &shape, &tiling, &estimate));
        check_fits(&machine.estimate, &shape, &tiling);
        uint64_t whole_folds =
            100 * 8 * (uint64_t)(tokens[i] / 8 + 1); /* of k = 64 and n in an array of 8 x 8 */
        ck_assert_uint_le(estimate.total, 2 * whole_folds);
    }
}
END_TEST

START_TEST(tiles_fit_and_cost_what_a_walk_over_them_costs)
{
    const char *const small[] = {"buffers.input_bytes=2048", "buffers.weight_bytes=1024",
                                 "buffers.output_bytes=4096", "pe.weight_port_bytes=4"};
    struct machine machine;
    struct pim_random random;
    pim_random_initialize(&random, seed + (uint64_t)_i);
    machine_read(&machine, "allspark-16x16", small, _i % 2 ? 4 : 3); /* weights that wait, too */
    int found = 0;
    for (int i = 0; i < SHAPES; i++) {
        struct pim_matrix_shape shape = random_shape(&random);
        struct pim_tiling tiling;
        struct pim_matrix_estimate estimate;
        if (!pim_estimate_tiling(&machine.estimate, &shape, &tiling, &estimate)) {
            /* only whole rows that are longer than the output buffer do not fit */
            ck_assert(shape.full_rows);
            ck_assert_uint_gt((uint64_t)shape.n, machine.estimate.output_bytes);
            continue;
        }
        found++;
        check_fits(&machine.estimate, &shape, &tiling);
        ck_assert_uint_eq(estimate.compute, walk_array(&machine.estimate, &shape, &tiling));
        ck_assert_uint_ge(estimate.vector, shape.count * (pim_estimate_vector(&machine.estimate, shape.m,
                                                                              shape.n, shape.vector_passes)));
        ck_assert_uint_ge(estimate.total, larger(estimate.compute, larger(estimate.memory, estimate.vector)));
        uint64_t data = ((uint64_t)shape.k * shape.n + (uint64_t)shape.m * shape.k +
                         (uint64_t)shape.m * shape.n * (shape.residual ? 2 : 1)) *
                        shape.count / machine.estimate.port_bytes;
        ck_assert_uint_ge(estimate.memory, data * machine.estimate.column_cycles);
    }
    ck_assert_int_gt(found, SHAPES / 2);
}
END_TEST

static struct pim_tiling tile(const struct machine *machine, struct pim_matrix_shape shape)
{
    struct pim_tiling tiling;
    struct pim_matrix_estimate estimate;
    ck_assert(pim_estimate_tiling(&machine->estimate, &shape, &tiling, &estimate));
    return tiling;
}

/* What just fits half a buffer is one tile, and one fold more is two. */
START_TEST(tiles_fill_half_of_the_buffers)
{
    struct machine machine;
    machine_read(&machine, "allspark-16x16", NULL, 0);
    uint64_t weights = machine.estimate.weight_bytes / 2, inputs = machine.estimate.input_bytes / 2;
    uint32_t rows = machine.estimate.pe_rows, columns = machine.estimate.pe_columns;
    uint32_t deep = (uint32_t)(weights / columns);
    ck_assert_uint_eq(tile(&machine, product_of(1, columns, deep)).k, deep);
    ck_assert_uint_eq(tile(&machine, product_of(1, columns, deep + rows)).k, deep / 2 + rows);
    /* as wide as half of a small weight buffer */
    const char *const narrow[] = {"buffers.weight_bytes=16"};
    machine_read(&machine, "allspark-16x16", narrow, 1);
    ck_assert_uint_eq(tile(&machine, product_of(1, 8, 1)).n, 8);
    machine_read(&machine, "allspark-16x16", NULL, 0);
    /* two products in a row: a resident input keeps to half of its buffer */
    uint32_t tall = (uint32_t)(inputs / 64);
    struct pim_matrix_shape shape = product_of(tall, 64, 64);
    shape.count = 2;
    struct pim_tiling whole = tile(&machine, shape);
    ck_assert_uint_eq(whole.k, 64);
    ck_assert_uint_le((uint64_t)whole.m * whole.n * ACCUMULATOR, machine.estimate.output_bytes);
    /* a single one may take all of it */
    shape = product_of(8, 8, (uint32_t)(2 * inputs / 8));
    ck_assert_uint_le((uint64_t)tile(&machine, shape).k * 8, weights);
}
END_TEST

/* total = 2 a' + first + max(compute, memory - first - last, vector - last') + last' + last for one tile,
   whose input was stored last before it, as far as it fills no row, and whose own row nobody leaves. */
START_TEST(one_tile_takes_its_parts_one_after_another)
{
    struct machine machine;
    machine_read(&machine, "allspark-16x16", NULL, 0);
    const struct pim_estimate_hardware *hardware = &machine.estimate;
    unsigned whole = 0;
    for (uint32_t k = 8; k <= 512; k += 8) {
        struct pim_matrix_shape shape = product_of(1, 8, k);
        struct pim_tiling tiling;
        struct pim_matrix_estimate estimate;
        ck_assert(pim_estimate_tiling(hardware, &shape, &tiling, &estimate));
        if (tiling.n != 8 || tiling.k != k)
            continue;
        whole++;
        uint64_t first = pim_estimate_run(hardware, k, k, true) +
                         pim_estimate_pieces(hardware, 8 * (uint64_t)k, 0, 1, 1, false);
        uint64_t last = pim_estimate_pieces(hardware, 8, 8, 1, 1, false);
        uint64_t vector = pim_estimate_vector(hardware, 1, 8, 1);
        ck_assert_uint_eq(estimate.compute, pim_estimate_matrix(hardware, 1, 8, k));
        ck_assert_uint_eq(estimate.vector, vector);
        ck_assert_uint_eq(estimate.memory, first + last + hardware->turn_cycles);
        ck_assert_uint_eq(estimate.total, 2 * pim_estimate_latency(hardware) + first +
                                              larger(estimate.compute, hardware->turn_cycles) + vector +
                                              last);
    }
    ck_assert_uint_ge(whole, 32);
}
END_TEST

/* Operands and results in one row of the memory: it is opened for none of them. Adding to the results opens
   no row behind their store, wherever they lie. */
START_TEST(what_lies_in_an_open_row_opens_none)
{
    struct machine machine;
    machine_read(&machine, "allspark-16x16", NULL, 0);
    const struct pim_estimate_hardware *hardware = &machine.estimate;
    const uint64_t rows = hardware->read_row_cycles;
    struct pim_matrix_shape shape = product_of(4, 8, 8);
    struct pim_tiling tiling;
    struct pim_matrix_estimate anywhere, near, far, added;
    ck_assert(pim_estimate_tiling(hardware, &shape, &tiling, &anywhere));
    shape.among = shape.right_among = 1;
    ck_assert(pim_estimate_tiling(hardware, &shape, &tiling, &near));
    ck_assert_uint_ge(anywhere.total, near.total + 2 * rows - 2); /* of the right operand, of the results */
    ck_assert_uint_le(near.memory, pim_estimate_peak(hardware, 32 + 64 + 32) + hardware->turn_cycles + 8);
    shape.right_among = hardware->row_bytes;
    ck_assert(pim_estimate_tiling(hardware, &shape, &tiling, &far));
    ck_assert_uint_ge(far.total + 2, anywhere.total);
    shape.residual = true;
    ck_assert(pim_estimate_tiling(hardware, &shape, &tiling, &added));
    ck_assert_uint_lt(added.memory, far.memory + rows);
    ck_assert_uint_gt(added.memory, far.memory);
}
END_TEST

static void check_depthwise(const struct pim_estimate_hardware *hardware,
                            const struct pim_depthwise_shape *shape)
{
    struct pim_depthwise_tiling tiling;
    struct pim_matrix_estimate estimate;
    uint64_t least = shape->taps; /* bytes of one channel of one token */
    if (!pim_estimate_depthwise(hardware, shape, &tiling, &estimate)) {
        ck_assert(least > hardware->input_bytes || least > hardware->weight_bytes ||
                  ACCUMULATOR > hardware->output_bytes);
        return;
    }
    uint64_t t = tiling.tokens, c = tiling.channels, cycles = 0;
    bool half = 2 * least <= hardware->input_bytes && 2 * least <= hardware->weight_bytes;
    uint64_t parts = half ? 2 : 1;
    ck_assert_uint_ge(smaller(t, c), 1);
    ck_assert_uint_le(t, shape->tokens);
    ck_assert_uint_le(c, shape->channels);
    ck_assert_uint_le(parts * c * shape->taps, hardware->input_bytes);
    ck_assert_uint_le(parts * c * t * shape->taps, hardware->weight_bytes);
    ck_assert_uint_le(parts * c * t * ACCUMULATOR, hardware->output_bytes);
    for (uint64_t sequence = 0; sequence < shape->sequences; sequence++)
        for (uint64_t token = 0; token < shape->tokens; token += t)
            for (uint64_t channel = 0; channel < shape->channels; channel++)
                cycles += pim_estimate_matrix(hardware, 1, t, shape->taps);
    ck_assert_uint_eq(estimate.compute, cycles);
    ck_assert_uint_ge(estimate.total, larger(estimate.compute, larger(estimate.memory, estimate.vector)));
}

START_TEST(depthwise_tiles_fit_and_cost_what_a_walk_over_them_costs)
{
    const char *const small[] = {"buffers.input_bytes=1024", "buffers.weight_bytes=2048",
                                 "buffers.output_bytes=2048"};
    struct machine machine;
    struct pim_random random;
    pim_random_initialize(&random, seed + 5);
    machine_read(&machine, "allspark-16x16", small, 3);
    for (int i = 0; i < SHAPES; i++) {
        struct pim_depthwise_shape shape = {.channels = (uint32_t)pim_random_between(&random, 1, 200),
                                            .taps = i % 50 == 0 ? 1500
                                                    : i % 2     ? 9
                                                                : 25,
                                            .sequences = (uint32_t)pim_random_between(&random, 1, 4),
                                            .tokens = (uint32_t)pim_random_between(&random, 1, 200)};
        shape.pitch = shape.channels;
        shape.line = i % 3 ? 14 : 0;
        check_depthwise(&machine.estimate, &shape);
    }
    /* neighbours that just fit half of the weight buffer, and one token more */
    struct pim_depthwise_shape shape = {.channels = 1, .taps = 8, .sequences = 1, .pitch = 1};
    struct pim_depthwise_tiling tiling;
    struct pim_matrix_estimate estimate;
    shape.tokens = (uint32_t)(machine.estimate.weight_bytes / 2 / 8);
    ck_assert(pim_estimate_depthwise(&machine.estimate, &shape, &tiling, &estimate));
    ck_assert_uint_eq(tiling.tokens, shape.tokens);
    shape.tokens++;
    ck_assert(pim_estimate_depthwise(&machine.estimate, &shape, &tiling, &estimate));
    ck_assert_uint_eq(tiling.tokens, (shape.tokens + 1) / 2);
}
END_TEST

/* A program of one node, timed instruction by instruction. */
struct walk {
    struct pim_pace *pace;
    uint64_t count, address;
};

static uint64_t walk_put(struct walk *walk, struct pim_instruction instruction, uint64_t after,
                         uint64_t after2)
{
    const uint64_t wait[] = {after, after2};
    for (size_t i = 0; i < 2; i++)
        instruction.dependency[i] = (uint16_t)(wait[i] == UINT64_MAX ? 0 : walk->count - wait[i]);
    pim_pace_put(walk->pace, &instruction);
    return walk->count++;
}

static uint64_t walk_memory(struct walk *walk, uint8_t opcode, uint8_t buffer, uint64_t bytes, uint64_t after)
{
    struct pim_instruction instruction = {.opcode = opcode, .detail = buffer};
    instruction.u.memory.address = walk->address;
    instruction.u.memory.bytes = (uint32_t)bytes;
    instruction.u.memory.count = 1;
    walk->address += bytes;
    return walk_put(walk, instruction, after, UINT64_MAX);
}

/* One output tile: its parts, then the store of the tile before (`stored` bytes, behind `*worked`), then its
 * own way through the ACU. */
static void walk_tile(struct walk *walk, const struct pim_tiling *tiling, uint32_t m, uint32_t n,
                      uint32_t depth, bool loads_input, uint64_t stored, uint64_t *worked)
{
    uint64_t product = UINT64_MAX;
    for (uint32_t k = 0; k < depth; k += tiling->k) {
        const uint32_t part = (uint32_t)smaller(tiling->k, depth - k);
        const uint64_t input =
            loads_input ? walk_memory(walk, PIM_OP_LOAD, PIM_BUFFER_INPUT, (uint64_t)m * part, UINT64_MAX)
                        : UINT64_MAX;
        const uint64_t weight =
            walk_memory(walk, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, (uint64_t)part * n, UINT64_MAX);
        struct pim_instruction matrix = {.opcode = PIM_OP_MATRIX,
                                         .detail = (uint8_t)(PIM_MATRIX_RELEASE_WEIGHT |
                                                             (loads_input ? PIM_MATRIX_RELEASE_INPUT : 0) |
                                                             (k == 0 ? PIM_MATRIX_OPEN_OUTPUT : 0))};
        matrix.u.matrix.m = m;
        matrix.u.matrix.n = n;
        matrix.u.matrix.k = part;
        matrix.u.matrix.input_bits = matrix.u.matrix.weight_bits = matrix.u.matrix.output_bits = 8;
        product = walk_put(walk, matrix, weight, input);
    }
    if (stored > 0)
        (void)walk_memory(walk, PIM_OP_STORE, PIM_BUFFER_NONE, stored, *worked);
    struct pim_instruction vector = {.opcode = PIM_OP_VECTOR, .detail = PIM_VECTOR_COPY};
    vector.u.vector.rows = m;
    vector.u.vector.elements = n;
    vector.u.vector.release = 4 * m * n;
    vector.u.vector.bits = 8;
    *worked = walk_put(walk, vector, product, UINT64_MAX);
}

static uint64_t walk_product(const struct pim_estimate_hardware *hardware,
                             const struct pim_matrix_shape *shape, const struct pim_tiling *tiling)
{
    struct walk walk = {.pace = pim_pace_create(hardware)};
    uint64_t stored = 0, worked = 0;
    ck_assert_ptr_nonnull(walk.pace);
    pim_pace_begin(walk.pace, 0);
    for (uint32_t m = 0; m < shape->m; m += tiling->m)
        for (uint32_t n = 0; n < shape->n; n += tiling->n) {
            const uint32_t rows = (uint32_t)smaller(tiling->m, shape->m - m),
                           columns = (uint32_t)smaller(tiling->n, shape->n - n);
            walk_tile(&walk, tiling, rows, columns, shape->k, !tiling->resident, stored, &worked);
            stored = (uint64_t)rows * columns;
        }
    (void)walk_memory(&walk, PIM_OP_STORE, PIM_BUFFER_NONE, stored, worked);
    const uint64_t cycles = pim_pace_cycles(walk.pace);
    pim_pace_destroy(walk.pace);
    return cycles;
}

/* Products in tiles against their instructions: each starts when it can, or in order. */
START_TEST(products_take_what_their_instructions_take)
{
    static const char *const issue[] = {"unit.issue=\"out_of_order\"", "unit.issue=\"in_order\""};
    static const uint32_t sizes[][3] = {
        {8, 512, 512}, {16, 256, 1024}, {49, 96, 384}, {4, 2048, 512}, {98, 384, 96}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t walked[2];
        for (size_t order = 0; order < 2; order++) {
            const struct pim_matrix_shape shape = product_of(sizes[i][0], sizes[i][1], sizes[i][2]);
            struct machine machine;
            struct pim_tiling tiling;
            struct pim_matrix_estimate estimate;
            machine_read(&machine, "allspark-16x16", &issue[order], 1);
            ck_assert(pim_estimate_tiling(&machine.estimate, &shape, &tiling, &estimate));
            walked[order] = walk_product(&machine.estimate, &shape, &tiling);
            const double ratio = (double)estimate.total / (double)walked[order];
            ck_assert_double_ge(ratio, 0.98);
            ck_assert_double_le(ratio, 1.06);
        }
        ck_assert_uint_ge(walked[1], walked[0]);
    }
}
END_TEST

Suite *estimate_tiling_suite(void)
{
    Suite *suite = suite_create("tiling");
    TCase *cases = tcase_create("tiling");
    printf("estimate tiling: seed 0x%" PRIx64 "\n", seed);
    tcase_add_test(cases, products_take_what_their_instructions_take);
    tcase_add_loop_test(cases, tiles_fit_and_cost_what_a_walk_over_them_costs, 0, 3);
    tcase_add_test(cases, long_rows_cost_about_what_the_array_takes);
    tcase_add_test(cases, tiles_fill_half_of_the_buffers);
    tcase_add_test(cases, one_tile_takes_its_parts_one_after_another);
    tcase_add_test(cases, what_lies_in_an_open_row_opens_none);
    tcase_add_test(cases, depthwise_tiles_fit_and_cost_what_a_walk_over_them_costs);
    suite_add_tcase(suite, cases);
    return suite;
}
