/* Programs as lists of steps; operations: their checks, their places, their closed forms. */
#include "models/bitserial/program.h"
#include "sim/arena.h"

#include <assert.h>
#include <stdlib.h>

const char *pim_bitserial_operation_text(enum pim_bitserial_kind kind)
{
    static const char *const texts[] = {
#define X(name, text) text,
        PIM_BITSERIAL_OPERATION_MAP(X)
#undef X
    };
    assert(kind < PIM_BITSERIAL_OPERATIONS);
    return texts[kind];
}

void pim_bitserial_append(struct pim_bitserial_program *program, const struct pim_bitserial_step *step)
{
    if (program->count == program->capacity) {
        struct pim_bitserial_step *grown =
            pim_array_grow(program->steps, &program->capacity, program->count + 1, sizeof *program->steps);
        if (!grown) {
            program->out_of_memory = true;
            return;
        }
        program->steps = grown;
    }
    program->steps[program->count++] = *step;
}

void pim_bitserial_program_terminate(struct pim_bitserial_program *program)
{
    free(program->steps);
    *program = (struct pim_bitserial_program){0};
}

static uint32_t levels(uint32_t width)
{
    uint32_t count = 0;
    while (UINT32_C(1) << count < width)
        count++;
    return count;
}

uint32_t pim_bitserial_word_bits(uint32_t bits)
{
    return UINT32_C(1) << levels(bits);
}

uint32_t pim_bitserial_result_rows(const struct pim_bitserial_operation *operation)
{
    switch (operation->kind) {
    case PIM_BITSERIAL_OPERATION_ADD:
        return operation->bits + operation->carry_out;
    case PIM_BITSERIAL_OPERATION_MULTIPLY:
        return operation->result_bits;
    case PIM_BITSERIAL_OPERATION_REDUCE:
        return operation->bits + levels(operation->width);
    case PIM_BITSERIAL_OPERATION_SUBTRACT:
    case PIM_BITSERIAL_OPERATION_COPY:
    case PIM_BITSERIAL_OPERATION_TRANSPOSE:
    case PIM_BITSERIAL_OPERATIONS:
    default:
        return operation->bits;
    }
}

static bool has_second(enum pim_bitserial_kind kind)
{
    return kind == PIM_BITSERIAL_OPERATION_ADD || kind == PIM_BITSERIAL_OPERATION_SUBTRACT ||
           kind == PIM_BITSERIAL_OPERATION_MULTIPLY;
}

static uint32_t operand_rows(const struct pim_bitserial_operation *operation)
{
    return operation->kind == PIM_BITSERIAL_OPERATION_TRANSPOSE ? pim_bitserial_word_bits(operation->bits)
                                                                : operation->bits;
}

void pim_bitserial_place(struct pim_bitserial_operation *operation)
{
    operation->a = 0;
    operation->b = operand_rows(operation);
    operation->result = operation->b + (has_second(operation->kind) ? operation->bits : 0);
    operation->scratch = operation->result + pim_bitserial_result_rows(operation);
}

static bool overlap(uint32_t first, uint32_t first_rows, uint32_t second, uint32_t second_rows)
{
    return first < second + second_rows && second < first + first_rows;
}

static enum pim_status check_rows(const struct pim_bitserial_operation *operation, uint32_t data_rows,
                                  struct pim_error *error)
{
    uint32_t result_rows = pim_bitserial_result_rows(operation);
    bool reduce = operation->kind == PIM_BITSERIAL_OPERATION_REDUCE;
    const struct {
        const char *name;
        uint32_t first, rows;
    } ranges[] = {
        {"a", operation->a, operand_rows(operation)},
        {"result", operation->result, result_rows},
        {"b", operation->b, has_second(operation->kind) ? operation->bits : 0},
        {"scratch", operation->scratch, reduce ? result_rows : 0},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (ranges[i].rows > data_rows || ranges[i].first > data_rows - ranges[i].rows)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: rows %u to %llu do not fit: the bank has %u data rows, the other %d row "
                            "addresses are compute rows",
                            ranges[i].name, ranges[i].first,
                            (unsigned long long)ranges[i].first + ranges[i].rows - 1, data_rows,
                            PIM_BITSERIAL_RESERVED_ROWS);
        for (size_t j = 0; j < i; j++) {
            /* Bit by bit, so a result may stand in the place of an operand that is not needed again. */
            bool in_place = ranges[i].first == ranges[j].first && (i == 1 || j == 1) &&
                            operation->kind != PIM_BITSERIAL_OPERATION_MULTIPLY && i < 3;
            bool same_operand = ranges[i].first == ranges[j].first && i == 2 && j == 0;
            if (!in_place && !same_operand &&
                overlap(ranges[i].first, ranges[i].rows, ranges[j].first, ranges[j].rows))
                return pim_fail(error, PIM_BAD_INPUT, "rows of %s and %s overlap", ranges[j].name,
                                ranges[i].name);
        }
    }
    return PIM_OK;
}

enum pim_status pim_bitserial_check_operation(const struct pim_bitserial_operation *operation,
                                              const struct pim_bitserial_bank_shape *shape,
                                              struct pim_error *error)
{
    if (operation->bits == 0 || operation->bits > PIM_BITSERIAL_BITS_MAX)
        return pim_fail(error, PIM_BAD_INPUT, "bits is %u: allowed are 1 to %d", operation->bits,
                        PIM_BITSERIAL_BITS_MAX);
    if (operation->kind == PIM_BITSERIAL_OPERATION_MULTIPLY &&
        (operation->result_bits < operation->bits || operation->result_bits > 2 * operation->bits))
        return pim_fail(error, PIM_BAD_INPUT, "the product has %u bits: allowed are %u to %u",
                        operation->result_bits, operation->bits, 2 * operation->bits);
    uint64_t columns = (uint64_t)shape->accesses * shape->access_bytes * 8;
    if (operation->kind == PIM_BITSERIAL_OPERATION_REDUCE &&
        (operation->width < 2 || operation->width > columns ||
         (operation->width & (operation->width - 1)) != 0))
        return pim_fail(
            error, PIM_BAD_INPUT,
            "a reduction over %u columns: allowed is a power of two from 2 to the %llu columns of "
            "a row",
            operation->width, (unsigned long long)columns);
    if (shape->rows <= PIM_BITSERIAL_RESERVED_ROWS)
        return pim_fail(error, PIM_BAD_INPUT, "a bank has %u rows: more than the %d compute rows are needed",
                        shape->rows, PIM_BITSERIAL_RESERVED_ROWS);
    return check_rows(operation, shape->rows - PIM_BITSERIAL_RESERVED_ROWS, error);
}

uint64_t pim_bitserial_count_steps(const struct pim_bitserial_program *program,
                                   enum pim_bitserial_step_kind kind)
{
    uint64_t count = 0;
    for (size_t i = 0; i < program->count; i++)
        count += program->steps[i].kind == (uint32_t)kind;
    return count;
}

bool pim_bitserial_sign_counts(const struct pim_bitserial_operation *operation)
{
    return operation->is_signed && operation->bits > 1 && operation->result_bits > operation->bits;
}

static uint64_t multiply_aaps(const struct pim_bitserial_operation *operation)
{
    const uint64_t n = operation->bits, w = operation->result_bits;
    uint64_t aaps = 4 * n + (n == 1 && w == 2), negated = 1; /* of row 0 */
    for (uint64_t i = 1; i < n; i++) {
        const uint64_t width = n < w - i ? n : w - i;
        aaps += 7 * width + 1 + (i + n < w);
        if (i < n - 1)
            negated += width == n;
        else
            negated += width < n - 1 ? width : n - 1;
    }
    return pim_bitserial_sign_counts(operation) ? aaps + 2 * negated + (w == 2 * n) : aaps;
}

uint64_t pim_bitserial_aaps(const struct pim_bitserial_operation *operation)
{
    uint64_t n = operation->bits, aaps = 0;
    switch (operation->kind) {
    case PIM_BITSERIAL_OPERATION_ADD:
        return 4 * n + 1 + operation->carry_out;
    case PIM_BITSERIAL_OPERATION_SUBTRACT:
        return 5 * n + 1;
    case PIM_BITSERIAL_OPERATION_MULTIPLY:
        return multiply_aaps(operation);
    case PIM_BITSERIAL_OPERATION_COPY:
        return n;
    case PIM_BITSERIAL_OPERATION_REDUCE:
        for (uint32_t l = 0; l < levels(operation->width); l++)
            aaps += 4 * (n + l) + 2;
        return aaps;
    case PIM_BITSERIAL_OPERATION_TRANSPOSE:
    case PIM_BITSERIAL_OPERATIONS:
    default:
        return 0;
    }
}

uint64_t pim_bitserial_paper_aaps(const struct pim_bitserial_operation *operation)
{
    uint64_t n = operation->bits, addition = 4 * n + 1;
    switch (operation->kind) {
    case PIM_BITSERIAL_OPERATION_ADD:
    case PIM_BITSERIAL_OPERATION_SUBTRACT:
        return addition;
    case PIM_BITSERIAL_OPERATION_MULTIPLY:
        return n * addition;
    case PIM_BITSERIAL_OPERATION_REDUCE:
        return levels(operation->width) * addition;
    case PIM_BITSERIAL_OPERATION_COPY:
        return n;
    case PIM_BITSERIAL_OPERATION_TRANSPOSE:
    case PIM_BITSERIAL_OPERATIONS:
    default:
        return 0;
    }
}
