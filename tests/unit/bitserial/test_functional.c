/* The operations on real bits, against integer arithmetic, for 1 to 64 bits (ReRAM: 32). */
#include "models/bitserial/execute.h"
#include "models/bitserial/reram.h"
#include "sim/random.h"
#include "tests/unit/bitserial/suites.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SEED = 20240611, COLUMNS = 512, ACCESSES = 8, ACCESS_BYTES = 8, ROWS = 512 };

static const struct pim_bitserial_bank_shape shape = {ROWS, ACCESSES, ACCESS_BYTES};

static uint64_t mask(uint32_t bits)
{
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Corner values first, then random ones. */
static uint64_t operand(struct pim_random *random, uint32_t bits, uint32_t column, bool second)
{
    const uint64_t corners[] = {0, 1, mask(bits), mask(bits) >> 1, (mask(bits) >> 1) + 1, mask(bits) / 3};
    enum { CORNERS = sizeof corners / sizeof corners[0] };
    if (column < CORNERS * CORNERS)
        return corners[second ? column / CORNERS : column % CORNERS] & mask(bits);
    return pim_random_next(random) & mask(bits);
}

struct bench {
    struct pim_bitserial_bits *bits;
    struct pim_bitserial_program program;
    uint64_t a[COLUMNS], b[COLUMNS];
};

/* Compiles, fills operands, runs. */
static void run(struct bench *bench, struct pim_bitserial_operation *o, uint64_t seed)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_random random;
    pim_random_initialize(&random, seed);
    *bench = (struct bench){.bits = pim_bitserial_bits_create(ROWS - PIM_BITSERIAL_RESERVED_ROWS, COLUMNS)};
    ck_assert_ptr_nonnull(bench->bits);
    pim_bitserial_place(o);
    ck_assert_msg(pim_bitserial_check_operation(o, &shape, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_bitserial_compile(&bench->program, o, &shape, &error) == PIM_OK, "%s", error.text);
    /* Data rows start with what the last user left there. */
    for (uint32_t row = 0; row < ROWS - PIM_BITSERIAL_RESERVED_ROWS; row++)
        for (uint32_t column = 0; column < COLUMNS; column++)
            pim_bitserial_set_bit(bench->bits, row, column, pim_random_next(&random) & 1);
    for (uint32_t column = 0; column < COLUMNS; column++) {
        bench->a[column] = operand(&random, o->bits, column, false);
        bench->b[column] = operand(&random, o->bits, column, true);
        pim_bitserial_set_number(bench->bits, o->a, o->bits, column, bench->a[column]);
        if (o->b != o->result)
            pim_bitserial_set_number(bench->bits, o->b, o->bits, column, bench->b[column]);
    }
    pim_bitserial_execute(bench->bits, &bench->program, ACCESS_BYTES * 8);
    ck_assert_uint_eq(pim_bitserial_count_steps(&bench->program, PIM_BITSERIAL_STEP_AAP),
                      pim_bitserial_aaps(o));
}

static void end(struct bench *bench)
{
    pim_bitserial_program_terminate(&bench->program);
    pim_bitserial_bits_destroy(bench->bits);
}

/* A number of up to 128 bits. */
struct wide {
    uint64_t low, high;
};

/* What is above its `bits` bits taken out. */
static struct wide cut(struct wide value, uint32_t bits)
{
    if (bits <= 64)
        return (struct wide){value.low & mask(bits), 0};
    return (struct wide){value.low, value.high & mask(bits - 64)};
}

/* By four products of halves; signs as in a book: the high half less the other factor for each. */
static struct wide product(uint64_t a, uint64_t b, uint32_t bits, bool is_signed)
{
    if (is_signed) { /* to 64 bits */
        a = a >> (bits - 1) & 1 ? a | ~mask(bits) : a;
        b = b >> (bits - 1) & 1 ? b | ~mask(bits) : b;
    }
    const uint64_t half = UINT32_MAX, low = (a & half) * (b & half), high = (a >> 32) * (b >> 32);
    const uint64_t left = (a >> 32) * (b & half), right = (a & half) * (b >> 32);
    const uint64_t middle = (low >> 32) + (left & half) + (right & half);
    struct wide value = {(low & half) | middle << 32, high + (left >> 32) + (right >> 32) + (middle >> 32)};
    if (is_signed)
        value.high -= (a >> 63 ? b : 0) + (b >> 63 ? a : 0);
    return value;
}

static struct wide expected(const struct pim_bitserial_operation *o, uint64_t a, uint64_t b)
{
    const uint32_t rows = pim_bitserial_result_rows(o);
    switch (o->kind) {
    case PIM_BITSERIAL_OPERATION_ADD:
        return cut((struct wide){a + b, a + b < a}, rows);
    case PIM_BITSERIAL_OPERATION_SUBTRACT:
        return cut((struct wide){a - b, 0}, rows);
    case PIM_BITSERIAL_OPERATION_MULTIPLY:
        return cut(product(a, b, o->bits, o->is_signed), rows);
    case PIM_BITSERIAL_OPERATION_COPY:
    case PIM_BITSERIAL_OPERATION_TRANSPOSE:
    case PIM_BITSERIAL_OPERATION_REDUCE:
    case PIM_BITSERIAL_OPERATIONS:
    default:
        return (struct wide){a, 0};
    }
}

static struct wide wide_number(const struct pim_bitserial_bits *bits, uint32_t first, uint32_t rows,
                               uint32_t column)
{
    const uint32_t low = rows < 64 ? rows : 64;
    return (struct wide){pim_bitserial_number(bits, first, low, column),
                         pim_bitserial_number(bits, first + low, rows - low, column)};
}

static void hold(struct pim_bitserial_operation o)
{
    struct bench bench;
    run(&bench, &o, SEED + o.bits);
    uint32_t rows = pim_bitserial_result_rows(&o);
    for (uint32_t column = 0; column < COLUMNS; column++) {
        const struct wide got = wide_number(bench.bits, o.result, rows, column),
                          right = expected(&o, bench.a[column], bench.b[column]);
        ck_assert_msg(got.low == right.low && got.high == right.high,
                      "seed %d, %s of %u bits to %u, signed %d: %" PRIx64 " and %" PRIx64 " gave %" PRIx64
                      " %" PRIx64,
                      SEED, pim_bitserial_operation_text(o.kind), o.bits, rows, o.is_signed, bench.a[column],
                      bench.b[column], got.high, got.low);
        /* Operands are as they were. */
        ck_assert_uint_eq(pim_bitserial_number(bench.bits, o.a, o.bits, column), bench.a[column]);
    }
    end(&bench);
}

START_TEST(arithmetic)
{
    const uint32_t bits = PIM_BITSERIAL_BITS_MAX - (uint32_t)PIM_CASE(_i);
    hold((struct pim_bitserial_operation){.kind = PIM_BITSERIAL_OPERATION_ADD, .bits = bits});
    hold((struct pim_bitserial_operation){
        .kind = PIM_BITSERIAL_OPERATION_ADD, .bits = bits, .carry_out = true});
    hold((struct pim_bitserial_operation){.kind = PIM_BITSERIAL_OPERATION_SUBTRACT, .bits = bits});
    hold((struct pim_bitserial_operation){.kind = PIM_BITSERIAL_OPERATION_COPY, .bits = bits});
    const uint32_t products[] = {bits, bits + bits / 2, 2 * bits - 1, 2 * bits};
    for (size_t i = 0; i < 2 * (sizeof products / sizeof products[0]); i++)
        hold((struct pim_bitserial_operation){.kind = PIM_BITSERIAL_OPERATION_MULTIPLY,
                                              .bits = bits,
                                              .is_signed = i % 2 > 0,
                                              .result_bits = products[i / 2]});
}
END_TEST

/* a + b into the rows of a; and a - a. */
START_TEST(results_in_place)
{
    struct pim_error error = {PIM_OK, ""};
    for (uint32_t bits = 1; bits <= 32; bits++) {
        struct bench bench = {.bits = pim_bitserial_bits_create(64, COLUMNS)};
        ck_assert_ptr_nonnull(bench.bits);
        struct pim_bitserial_operation o = {.kind = PIM_BITSERIAL_OPERATION_ADD, .bits = bits, .b = bits};
        ck_assert(pim_bitserial_check_operation(&o, &shape, &error) == PIM_OK);
        ck_assert(pim_bitserial_compile(&bench.program, &o, &shape, &error) == PIM_OK);
        pim_bitserial_set_number(bench.bits, 0, bits, 7, mask(bits) / 5 + 1);
        pim_bitserial_set_number(bench.bits, bits, bits, 7, mask(bits) / 2);
        pim_bitserial_execute(bench.bits, &bench.program, 64);
        uint64_t sum = (mask(bits) / 5 + 1 + mask(bits) / 2) & mask(bits);
        ck_assert_uint_eq(pim_bitserial_number(bench.bits, 0, bits, 7), sum);
        bench.program.count = 0;
        o = (struct pim_bitserial_operation){
            .kind = PIM_BITSERIAL_OPERATION_SUBTRACT, .bits = bits, .result = bits};
        ck_assert(pim_bitserial_check_operation(&o, &shape, &error) == PIM_OK);
        ck_assert(pim_bitserial_compile(&bench.program, &o, &shape, &error) == PIM_OK);
        pim_bitserial_execute(bench.bits, &bench.program, 64);
        ck_assert_uint_eq(pim_bitserial_number(bench.bits, bits, bits, 7), 0);
        end(&bench);
    }
}
END_TEST

START_TEST(reductions)
{
    const uint32_t bits = PIM_BITSERIAL_BITS_MAX - (uint32_t)PIM_CASE(_i);
    for (uint32_t width = 2; width <= COLUMNS; width *= 2) {
        struct pim_bitserial_operation o = {
            .kind = PIM_BITSERIAL_OPERATION_REDUCE, .bits = bits, .width = width};
        struct bench bench;
        run(&bench, &o, SEED + width);
        for (uint32_t first = 0; first < COLUMNS; first += width) {
            struct wide sum = {0, 0};
            for (uint32_t i = 0; i < width; i++) {
                sum.low += bench.a[first + i];
                sum.high += sum.low < bench.a[first + i];
            }
            const struct wide got = wide_number(bench.bits, o.result, pim_bitserial_result_rows(&o), first);
            ck_assert_msg(got.low == sum.low && got.high == sum.high,
                          "seed %d: %u columns of %u bits from column %u", SEED, width, bits, first);
        }
        end(&bench);
    }
}
END_TEST

/* Words, one after another in their rows, become bit rows. */
START_TEST(transpositions)
{
    struct pim_error error = {PIM_OK, ""};
    for (uint32_t bits = 1; bits <= 64; bits++) {
        struct pim_random random;
        pim_random_initialize(&random, SEED + bits);
        struct pim_bitserial_operation o = {.kind = PIM_BITSERIAL_OPERATION_TRANSPOSE, .bits = bits};
        struct bench bench = {.bits = pim_bitserial_bits_create(192, COLUMNS)};
        pim_bitserial_place(&o);
        ck_assert_ptr_nonnull(bench.bits);
        ck_assert(pim_bitserial_check_operation(&o, &shape, &error) == PIM_OK);
        ck_assert(pim_bitserial_compile(&bench.program, &o, &shape, &error) == PIM_OK);
        uint32_t word = pim_bitserial_word_bits(bits);
        ck_assert_uint_ge(word, bits);
        for (uint32_t i = 0; i < COLUMNS; i++) {
            bench.a[i] = operand(&random, bits, i, false);
            for (uint32_t j = 0; j < bits; j++)
                pim_bitserial_set_bit(bench.bits, (i * word + j) / COLUMNS, (i * word + j) % COLUMNS,
                                      bench.a[i] >> j & 1);
        }
        pim_bitserial_execute(bench.bits, &bench.program, 64);
        for (uint32_t i = 0; i < COLUMNS; i++)
            ck_assert_uint_eq(pim_bitserial_number(bench.bits, o.result, bits, i), bench.a[i]);
        end(&bench);
    }
}
END_TEST

/* Every first activation has a majority, and the addition of the text: 4n + 1. */
START_TEST(addresses)
{
    for (unsigned i = 0; i < PIM_BITSERIAL_ADDRESSES; i++) {
        struct pim_bitserial_opened set = pim_bitserial_opens((enum pim_bitserial_address)i);
        ck_assert_uint_eq(set.rows & set.negated, 0);
        ck_assert_uint_ne(set.rows | set.negated, 0);
        ck_assert_uint_lt(pim_bitserial_row_address(PIM_BITSERIAL_RESERVED | i, 64), 64);
        ck_assert_uint_ge(pim_bitserial_row_address(PIM_BITSERIAL_RESERVED | i, 64), 32);
    }
    for (uint32_t bits = 1; bits <= 64; bits++) {
        struct pim_bitserial_operation o = {.kind = PIM_BITSERIAL_OPERATION_ADD, .bits = bits};
        ck_assert_uint_eq(pim_bitserial_aaps(&o), 4 * bits + 1);
        o = (struct pim_bitserial_operation){
            .kind = PIM_BITSERIAL_OPERATION_MULTIPLY, .bits = bits, .result_bits = 2 * bits};
        ck_assert_uint_eq(pim_bitserial_aaps(&o), bits == 1 ? 5 : 7 * (uint64_t)bits * bits - bits - 2);
        ck_assert_uint_eq(pim_bitserial_paper_aaps(&o), (uint64_t)bits * (4 * bits + 1));
        o.is_signed = true;
        ck_assert_uint_eq(pim_bitserial_aaps(&o), bits == 1 ? 5 : 7 * (uint64_t)bits * bits + 3 * bits - 5);
    }
}
END_TEST

/* The NOR programs, 64 x 8 rows at once. */
START_TEST(reram)
{
    enum { WORDS = 8 };
    const uint32_t bits = PIM_RERAM_BITS_MAX - (uint32_t)PIM_CASE(_i);
    struct pim_error error = {PIM_OK, ""};
    struct pim_random random;
    pim_random_initialize(&random, SEED + bits);
    static const struct {
        enum pim_status (*write)(struct pim_reram_program *program, uint32_t bits, struct pim_error *error);
        uint64_t (*steps)(uint64_t bits);
    } programs[] = {{pim_reram_add, pim_reram_add_steps},
                    {pim_reram_multiply, pim_reram_multiply_steps},
                    {pim_reram_subtract, pim_reram_subtract_steps},
                    {pim_reram_copy, pim_reram_copy_steps}};
    for (unsigned operation = 0; operation < 4; operation++) {
        struct pim_reram_program program = {0};
        ck_assert(programs[operation].write(&program, bits, &error) == PIM_OK);
        ck_assert_uint_eq(program.count, programs[operation].steps(bits));
        uint64_t *cells = malloc((size_t)program.cells * WORDS * sizeof *cells);
        ck_assert_ptr_nonnull(cells);
        for (size_t i = 0; i < (size_t)program.cells * WORDS; i++)
            cells[i] = pim_random_next(&random);
        uint64_t a[WORDS * 64] = {0}, b[WORDS * 64] = {0};
        for (uint32_t row = 0; row < WORDS * 64; row++)
            for (uint32_t j = 0; j < bits; j++) {
                a[row] |= (cells[(program.a + j) * WORDS + row / 64] >> row % 64 & 1) << j;
                b[row] |= (cells[(program.b + j) * WORDS + row / 64] >> row % 64 & 1) << j;
            }
        ck_assert_msg(pim_reram_execute(&program, cells, WORDS), "a NOR into a cell that was not set");
        for (uint32_t row = 0; row < WORDS * 64; row++) {
            uint64_t result = 0;
            for (uint32_t j = 0; j < program.result_bits; j++)
                result |= (cells[(program.result + j) * WORDS + row / 64] >> row % 64 & 1) << j;
            const uint64_t right[] = {a[row] + b[row], a[row] * b[row], a[row] - b[row], a[row]};
            ck_assert_uint_eq(result, right[operation] & mask(program.result_bits));
        }
        free(cells);
        pim_reram_program_terminate(&program);
    }
}
END_TEST

/* Fast-OverlaPIM's Fig. 7 in ns: 442 and 696, half precision at 1.1 ns a NOR and 1.5 ns a search. */
START_TEST(figure_seven)
{
    uint64_t add = pim_reram_float_add_nors(5, 10) * 1100 + pim_reram_float_add_searches(10) * 1500;
    uint64_t multiply = pim_reram_float_multiply_nors(5, 10) * 1100;
    ck_assert_uint_eq((add + 500) / 1000, 442);
    ck_assert_uint_eq((multiply + 500) / 1000, 696);
    ck_assert_uint_eq(pim_reram_float_multiply_nors(8, 23), 3360);
}
END_TEST

Suite *suite_bitserial_functional(void)
{
    Suite *suite = suite_create("bitserial_functional");
    TCase *cases = tcase_create("bits");
    tcase_add_loop_test(cases, arithmetic, 0, PIM_CASES(PIM_BITSERIAL_BITS_MAX));
    tcase_add_loop_test(cases, reductions, 0, PIM_CASES(PIM_BITSERIAL_BITS_MAX));
    tcase_add_loop_test(cases, reram, 0, PIM_CASES(PIM_RERAM_BITS_MAX));
    tcase_add_test(cases, results_in_place);
    tcase_add_test(cases, transpositions);
    tcase_add_test(cases, addresses);
    tcase_add_test(cases, figure_seven);
    suite_add_tcase(suite, cases);
    return suite;
}
