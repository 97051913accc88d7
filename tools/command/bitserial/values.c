/* The functional mode of `pimsim bitserial`: numbers in, numbers out; and the microprogram as text. */
#include "models/bitserial/execute.h"
#include "sim/arena.h"
#include "sim/output/csv.h"
#include "tools/command/bitserial/run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

static void put_row(FILE *file, uint32_t row)
{
    if (row & PIM_BITSERIAL_RESERVED)
        fprintf(file, "{%s}",
                pim_bitserial_address_text((enum pim_bitserial_address)(row & ~PIM_BITSERIAL_RESERVED)));
    else
        fprintf(file, "row %" PRIu32, row);
}

static void put_step(FILE *file, size_t index, const struct pim_bitserial_step *step)
{
    fprintf(file, "%6zu  ", index);
    if (step->kind == PIM_BITSERIAL_STEP_AAP) {
        fputs("AAP    ", file);
        put_row(file, step->row);
        fputs(" -> ", file);
        put_row(file, step->second);
        fputs("\n", file);
        return;
    }
    bool read = step->kind == PIM_BITSERIAL_STEP_READ;
    fputs(read ? "READ   " : "WRITE  ", file);
    put_row(file, step->row);
    fprintf(file, ", accesses %" PRIu32 " to %" PRIu32 " in steps of %" PRIu32, step->first_access,
            step->first_access + (step->accesses - 1) * step->access_step, step->access_step);
    if (step->kind == PIM_BITSERIAL_STEP_WRITE_BIT)
        fprintf(file, ", bit %" PRIu32 " of every word\n", step->shift);
    else if (read)
        fprintf(file, ", to slot %" PRIu32 "\n", step->second);
    else
        fprintf(file, ", from slot %" PRIu32 " moved by %" PRIu32 " columns\n", step->second, step->shift);
}

enum pim_status bitserial_program_write(const struct bitserial_task *task,
                                        const struct pim_dram_configuration *configuration, FILE *file,
                                        struct pim_error *error)
{
    struct pim_bitserial_bank_shape shape = pim_bitserial_shape(&configuration->specification);
    struct pim_bitserial_program program = {0};
    if (pim_bitserial_check_operation(&task->request.operation, &shape, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_bitserial_compile(&program, &task->request.operation, &shape, error);
    for (size_t i = 0; status == PIM_OK && i < program.count; i++)
        put_step(file, i, &program.steps[i]);
    pim_bitserial_program_terminate(&program);
    return status;
}

static bool has_second(const struct pim_bitserial_operation *o)
{
    return o->kind == PIM_BITSERIAL_OPERATION_ADD || o->kind == PIM_BITSERIAL_OPERATION_SUBTRACT ||
           o->kind == PIM_BITSERIAL_OPERATION_MULTIPLY;
}

/* A word of a transposition lies across the bits of a row of its own. */
static void put_word(struct pim_bitserial_bits *bits, const struct pim_bitserial_operation *o,
                     uint32_t columns, uint32_t index, uint64_t value)
{
    uint32_t word = pim_bitserial_word_bits(o->bits);
    for (uint32_t j = 0; j < o->bits; j++) {
        uint64_t place = (uint64_t)index * word + j;
        pim_bitserial_set_bit(bits, o->a + (uint32_t)(place / columns), (uint32_t)(place % columns),
                              value >> j & 1);
    }
}

static enum pim_status read_number(const struct pim_csv_reader *reader, size_t column,
                                   const struct pim_bitserial_operation *o, uint64_t *value,
                                   struct pim_error *error)
{
    assert(o->bits > 0 && o->bits <= 64);
    const uint64_t most = UINT64_MAX >> (64 - o->bits);
    if (!o->is_signed)
        return pim_csv_count(reader, column, 0, most, value, error);
    int64_t number = 0;
    const int64_t high = (int64_t)(most >> 1);
    enum pim_status status = pim_csv_integer(reader, column, -high - 1, high, &number, error);
    *value = (uint64_t)number & most;
    return status;
}

enum { LIMBS = 4, DIGITS = 40 };

/* The number in `rows` rows of a column, at most 128, as text. */
static void result_text(const struct pim_bitserial_bits *bits, const struct pim_bitserial_operation *o,
                        uint32_t column, char text[DIGITS + 2])
{
    const uint32_t rows = pim_bitserial_result_rows(o);
    const bool negative = o->is_signed && pim_bitserial_bit(bits, o->result + rows - 1, column);
    uint32_t limb[LIMBS] = {0},
             carry = negative; /* of 32 bits, the lowest first; a negative one is negated */
    for (uint32_t i = 0; i < LIMBS; i++) {
        const uint32_t left = rows > 32 * i ? rows - 32 * i : 0, count = left < 32 ? left : 32;
        uint64_t value = pim_bitserial_number(bits, o->result + 32 * i, count, column);
        if (negative) {
            value = (~value & (UINT64_MAX >> 32)) + carry;
            value = count < 32 ? value & ((UINT64_C(1) << count) - 1) : value;
        }
        limb[i] = (uint32_t)value;
        carry = (uint32_t)(value >> 32);
    }
    char digits[DIGITS];
    uint32_t count = 0, rest;
    do {
        uint64_t remainder = 0;
        rest = 0;
        for (uint32_t i = LIMBS; i-- > 0;) {
            remainder = remainder << 32 | limb[i];
            limb[i] = (uint32_t)(remainder / 10);
            remainder %= 10;
            rest |= limb[i];
        }
        digits[count++] = (char)('0' + remainder);
    } while (rest);
    if (negative)
        *text++ = '-';
    while (count > 0)
        *text++ = digits[--count];
    *text = '\0';
}

static enum pim_status read_values(struct pim_bitserial_bits *bits, const struct pim_bitserial_operation *o,
                                   uint32_t columns, const char *path, uint32_t *count,
                                   struct pim_error *error)
{
    static const char *const names[] = {"a", "b"};
    struct pim_csv_reader *reader;
    bool two = has_second(o), more = true;
    uint64_t value = 0;
    if (pim_csv_open(&reader, path, names, two ? 2 : 1, error) != PIM_OK)
        return error->status;
    enum pim_status status;
    *count = 0;
    while ((status = pim_csv_next(reader, &more, error)) == PIM_OK && more) {
        if (*count == columns) {
            status = pim_fail(error, PIM_BAD_INPUT, "%s: more numbers than the %" PRIu32 " columns of a row",
                              path, columns);
            break;
        }
        status = read_number(reader, 0, o, &value, error);
        if (status != PIM_OK)
            break;
        if (o->kind == PIM_BITSERIAL_OPERATION_TRANSPOSE)
            put_word(bits, o, columns, *count, value);
        else
            pim_bitserial_set_number(bits, o->a, o->bits, *count, value);
        if (two) {
            status = read_number(reader, 1, o, &value, error);
            if (status != PIM_OK)
                break;
            pim_bitserial_set_number(bits, o->b, o->bits, *count, value);
        }
        ++*count;
    }
    pim_csv_close(reader);
    return status;
}

static void write_results(const struct pim_bitserial_bits *bits, const struct pim_bitserial_operation *o,
                          uint32_t count, FILE *file)
{
    static const char *const names[] = {"column", "result"};
    struct pim_csv_writer writer;
    char text[DIGITS + 2];
    uint32_t step = o->kind == PIM_BITSERIAL_OPERATION_REDUCE ? o->width : 1;
    pim_csv_start(&writer, file, names, 2);
    for (uint32_t column = 0; column < count; column += step) {
        pim_csv_put_count(&writer, column);
        result_text(bits, o, column, text);
        pim_csv_put_text(&writer, text);
        pim_csv_end_row(&writer);
    }
}

enum pim_status bitserial_values_run(const struct bitserial_task *task,
                                     const struct pim_dram_configuration *configuration, const char *path,
                                     FILE *file, struct pim_error *error)
{
    const struct pim_bitserial_operation *o = &task->request.operation;
    struct pim_bitserial_bank_shape shape = pim_bitserial_shape(&configuration->specification);
    if (pim_bitserial_check_operation(o, &shape, error) != PIM_OK)
        return error->status;
    if (shape.access_bytes % 8 != 0)
        return pim_fail(error, PIM_BAD_INPUT, "dram.access_bytes is %" PRIu32 ": must be a multiple of 8",
                        shape.access_bytes);
    uint32_t columns = shape.accesses * shape.access_bytes * 8, count = 0;
    struct pim_bitserial_program program = {0};
    struct pim_bitserial_bits *bits =
        pim_bitserial_bits_create(o->scratch + pim_bitserial_result_rows(o), columns);
    if (!bits)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the rows of a bank");
    enum pim_status status = read_values(bits, o, columns, path, &count, error);
    if (status == PIM_OK)
        status = pim_bitserial_compile(&program, o, &shape, error);
    if (status == PIM_OK) {
        pim_bitserial_execute(bits, &program, shape.access_bytes * 8);
        write_results(bits, o, count, file);
    }
    pim_bitserial_program_terminate(&program);
    pim_bitserial_bits_destroy(bits);
    return status;
}
