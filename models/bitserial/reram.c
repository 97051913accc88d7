/* NOR programs of integers, and the counts of floating point. */
#include "models/bitserial/reram.h"

#include "sim/arena.h"

#include <stdlib.h>

/* Where the scratch cells of an adder are: carries at both ends, so that one SET reaches one of them. */
enum { CARRY_EVEN, X1, X2, X3, X4, X5, X6, X7, CARRY_ODD, ADDER_CELLS };

static void append(struct pim_reram_program *program, uint32_t kind, uint32_t output, uint32_t a, uint32_t b)
{
    if (program->count == program->capacity) {
        struct pim_reram_step *grown =
            pim_array_grow(program->steps, &program->capacity, program->count + 1, sizeof *program->steps);
        if (!grown) {
            program->out_of_memory = true;
            return;
        }
        program->steps = grown;
    }
    program->steps[program->count++] = (struct pim_reram_step){kind, output, a, b};
}

static void set(struct pim_reram_program *program, uint32_t first, uint32_t count)
{
    append(program, PIM_RERAM_SET, first, count, 0);
}

static void nor(struct pim_reram_program *program, uint32_t output, uint32_t a, uint32_t b)
{
    append(program, PIM_RERAM_NOR, output, a, b);
}

/* Carry in of bit j, and its carry out. */
static uint32_t carry_cell(uint32_t adder, uint32_t j)
{
    return adder + (j % 2 == 0 ? CARRY_EVEN : CARRY_ODD);
}

/* Bit j: sum (which was set) and the next carry from a, b and the carry. One SET, nine NORs. */
static void full_adder(struct pim_reram_program *program, uint32_t adder, uint32_t j, uint32_t a, uint32_t b,
                       uint32_t sum)
{
    uint32_t in = carry_cell(adder, j), out = carry_cell(adder, j + 1);
    set(program, j % 2 == 0 ? adder + X1 : adder + CARRY_EVEN, CARRY_ODD - X1 + 1);
    nor(program, adder + X1, a, b);
    nor(program, adder + X2, a, adder + X1);
    nor(program, adder + X3, b, adder + X1);
    nor(program, adder + X4, adder + X2, adder + X3); /* a equals b */
    nor(program, adder + X5, adder + X4, in);
    nor(program, adder + X6, adder + X4, adder + X5);
    nor(program, adder + X7, in, adder + X5);
    nor(program, sum, adder + X6, adder + X7);
    nor(program, out, adder + X1, adder + X5);
}

static enum pim_status finish(const struct pim_reram_program *program, struct pim_error *error)
{
    return program->out_of_memory ? pim_fail(error, PIM_NO_MEMORY, "out of memory for a ReRAM program")
                                  : PIM_OK;
}

static enum pim_status check_bits(uint32_t bits, struct pim_error *error)
{
    return bits > 0 && bits <= PIM_RERAM_BITS_MAX
               ? PIM_OK
               : pim_fail(error, PIM_BAD_INPUT, "bits is %u: allowed are 1 to %d", bits, PIM_RERAM_BITS_MAX);
}

enum pim_status pim_reram_add(struct pim_reram_program *program, uint32_t bits, struct pim_error *error)
{
    if (check_bits(bits, error) != PIM_OK)
        return error->status;
    uint32_t adder = 3 * bits;
    program->a = 0;
    program->b = bits;
    program->result = 2 * bits;
    program->result_bits = bits;
    program->cells = adder + ADDER_CELLS;
    set(program, program->result, bits);
    append(program, PIM_RERAM_RESET, carry_cell(adder, 0), 1, 0);
    for (uint32_t j = 0; j < bits; j++)
        full_adder(program, adder, j, program->a + j, program->b + j, program->result + j);
    return finish(program, error);
}

enum pim_status pim_reram_subtract(struct pim_reram_program *program, uint32_t bits, struct pim_error *error)
{
    if (check_bits(bits, error) != PIM_OK)
        return error->status;
    uint32_t not_a = 3 * bits, sum = 4 * bits, adder = 5 * bits;
    program->a = 0;
    program->b = bits;
    program->result = 2 * bits;
    program->result_bits = bits;
    program->cells = adder + ADDER_CELLS;
    set(program, not_a, 2 * bits);
    for (uint32_t j = 0; j < bits; j++)
        nor(program, not_a + j, program->a + j, program->a + j);
    append(program, PIM_RERAM_RESET, carry_cell(adder, 0), 1, 0);
    for (uint32_t j = 0; j < bits; j++)
        full_adder(program, adder, j, not_a + j, program->b + j, sum + j);
    set(program, program->result, bits);
    for (uint32_t j = 0; j < bits; j++)
        nor(program, program->result + j, sum + j, sum + j);
    return finish(program, error);
}

enum pim_status pim_reram_copy(struct pim_reram_program *program, uint32_t bits, struct pim_error *error)
{
    if (check_bits(bits, error) != PIM_OK)
        return error->status;
    uint32_t not_a = 3 * bits;
    program->a = 0;
    program->b = bits;
    program->result = 2 * bits;
    program->result_bits = bits;
    program->cells = 4 * bits;
    set(program, program->result, 2 * bits);
    for (uint32_t j = 0; j < bits; j++)
        nor(program, not_a + j, program->a + j, program->a + j);
    for (uint32_t j = 0; j < bits; j++)
        nor(program, program->result + j, not_a + j, not_a + j);
    return finish(program, error);
}

uint64_t pim_reram_add_steps(uint64_t bits)
{
    return 10 * bits + 2;
}

uint64_t pim_reram_multiply_steps(uint64_t bits)
{
    return bits == 1 ? 9 : 12 * bits * bits - bits - 1;
}

uint64_t pim_reram_subtract_steps(uint64_t bits)
{
    return 12 * bits + 3;
}

uint64_t pim_reram_copy_steps(uint64_t bits)
{
    return 2 * bits + 1;
}

/* Two accumulators take turns: the sum of a round is written to the one that the next round reads. Bits that
 * a round does not touch stay where they are: round i changes bits i to i + n, its result bit i is final. */
enum pim_status pim_reram_multiply(struct pim_reram_program *program, uint32_t bits, struct pim_error *error)
{
    if (check_bits(bits, error) != PIM_OK)
        return error->status;
    uint32_t n = bits, not_a = 2 * n, not_b = 3 * n, product = 4 * n, result = 5 * n;
    uint32_t partial[2] = {7 * n, 8 * n}; /* bits i + 1 to i + n of the sum so far */
    uint32_t adder = 9 * n;
    *program = (struct pim_reram_program){.steps = program->steps,
                                          .capacity = program->capacity,
                                          .a = 0,
                                          .b = n,
                                          .result = result,
                                          .result_bits = 2 * n,
                                          .cells = adder + ADDER_CELLS};
    set(program, not_a, 2 * n);
    for (uint32_t j = 0; j < 2 * n; j++)
        nor(program, not_a + j, j, j);
    /* Round 0: a AND b_0 is NOR of the complements. */
    set(program, result, 2 * n);
    nor(program, result, not_a, not_b);
    if (n > 1)
        set(program, partial[0], n - 1);
    for (uint32_t j = 1; j < n; j++)
        nor(program, partial[0] + j - 1, not_a + j, not_b);
    append(program, PIM_RERAM_RESET, partial[0] + n - 1, 1, 0);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t from = partial[(i + 1) % 2], to = partial[i % 2];
        set(program, to, n);
        append(program, PIM_RERAM_RESET, carry_cell(adder, 0), 1, 0);
        for (uint32_t j = 0; j < n; j++) {
            set(program, product, 1);
            nor(program, product, not_a + j, not_b + i);
            full_adder(program, adder, j, from + j, product, j == 0 ? result + i : to + j - 1);
        }
        /* The carry becomes the highest bit: twice NOT. */
        set(program, product, 1);
        nor(program, product, carry_cell(adder, n), carry_cell(adder, n));
        nor(program, to + n - 1, product, product);
    }
    /* The high half: copied by two NOTs a bit. */
    uint32_t last = partial[(n + 1) % 2];
    for (uint32_t j = 0; j < n; j++) {
        set(program, product, 1);
        nor(program, product, last + j, last + j);
        nor(program, result + n + j, product, product);
    }
    return finish(program, error);
}

void pim_reram_program_terminate(struct pim_reram_program *program)
{
    free(program->steps);
    *program = (struct pim_reram_program){0};
}

bool pim_reram_execute(const struct pim_reram_program *program, uint64_t *cells, size_t rows)
{
    bool ready = true;
    for (size_t i = 0; i < program->count; i++) {
        const struct pim_reram_step *step = &program->steps[i];
        uint64_t *output = &cells[step->output * rows];
        if (step->kind == PIM_RERAM_NOR)
            for (size_t r = 0; r < rows; r++) {
                ready &= output[r] == UINT64_MAX;
                output[r] &= ~(cells[step->a * rows + r] | cells[step->b * rows + r]);
            }
        else
            for (size_t r = 0; r < step->a * rows; r++)
                output[r] = step->kind == PIM_RERAM_SET ? UINT64_MAX : 0;
    }
    return ready;
}

uint64_t pim_reram_float_multiply_nors(uint32_t exponent, uint32_t mantissa)
{
    uint64_t e = exponent, m = mantissa; /* 6.5m^2 - 7.5m = m(13m - 15) / 2 */
    int64_t twice = (int64_t)(m * 13 * m) - (int64_t)(15 * m);
    return (uint64_t)((int64_t)(12 * e) + twice / 2 - 2);
}

uint64_t pim_reram_float_add_nors(uint32_t exponent, uint32_t mantissa)
{
    uint64_t e = exponent, m = mantissa;
    return 3 + 16 * e + 19 * m + m * m;
}

uint64_t pim_reram_float_add_searches(uint32_t mantissa)
{
    return 2 * (uint64_t)mantissa + 1;
}
