#include "models/channel/values.h"

#include "models/bitserial/steps.h"

#include <inttypes.h>
#include <stdlib.h>

/* Rows on their way, bank by bank. */
struct parcel {
    struct parcel *next;
    uint32_t source, destination, tag;
    uint8_t bits[]; /* a byte for each cell */
};

struct pim_channel_values {
    struct pim_channel_memory memory;
    uint32_t channels, data_rows;
    struct pim_bitserial_bits **bank; /* of all channels */
    struct parcel *first;             /* oldest first */
};

enum pim_status pim_channel_values_create(const struct pim_channel_memory *memory, uint32_t channels,
                                          uint32_t data_rows, struct pim_channel_values **out,
                                          struct pim_error *error)
{
    struct pim_channel_values *values = calloc(1, sizeof *values);
    *out = values;
    if (values)
        values->bank = calloc((size_t)channels * memory->banks, sizeof(struct pim_bitserial_bits *));
    if (!values || !values->bank)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the values of channels");
    values->memory = *memory;
    values->channels = channels;
    values->data_rows = data_rows;
    return PIM_OK;
}

void pim_channel_values_destroy(struct pim_channel_values *values)
{
    if (!values)
        return;
    for (size_t i = 0; values->bank && i < (size_t)values->channels * values->memory.banks; i++)
        pim_bitserial_bits_destroy(values->bank[i]);
    for (struct parcel *parcel = values->first, *next; parcel; parcel = next) {
        next = parcel->next;
        free(parcel);
    }
    free(values->bank);
    free(values);
}

struct pim_bitserial_bits *pim_channel_values_bank(struct pim_channel_values *values, uint32_t channel,
                                                   uint32_t bank)
{
    struct pim_bitserial_bits **place = &values->bank[(size_t)channel * values->memory.banks + bank];
    if (!*place)
        *place = pim_bitserial_bits_create(values->data_rows, values->memory.columns);
    return *place;
}

static enum pim_status find_bank(struct pim_channel_values *values, uint32_t channel, uint32_t bank,
                                 struct pim_bitserial_bits **bits, struct pim_error *error)
{
    *bits = pim_channel_values_bank(values, channel, bank);
    return *bits ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the values of a bank");
}

static enum pim_status check_rows(const struct pim_channel_values *values, uint64_t end,
                                  struct pim_error *error)
{
    if (end <= values->data_rows)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT, "row %" PRIu64 " has no values: %" PRIu32 " rows have", end - 1,
                    values->data_rows);
}

/* Columns of a column access. */
static uint32_t access_bits(const struct pim_channel_values *values)
{
    return values->memory.has_banks ? values->memory.specification.organization.access_bytes * 8
                                    : values->memory.columns;
}

static enum pim_status run_program(struct pim_channel_values *values, uint32_t channel, uint32_t bank,
                                   uint32_t count, const struct pim_bitserial_program *program,
                                   struct pim_error *error)
{
    struct pim_bitserial_bits *bits;
    if (find_bank(values, channel, bank, &bits, error) != PIM_OK)
        return error->status;
    for (uint32_t i = 0; i < count; i++)
        pim_bitserial_execute(bits, program, access_bits(values));
    return PIM_OK;
}

static enum pim_status compute(struct pim_channel_values *values, uint32_t channel,
                               const struct pim_instruction *instruction, struct pim_error *error)
{
    struct pim_bitserial_operation operation =
        pim_channel_operation(instruction->opcode, instruction->detail, instruction->u.row_compute.bits,
                              instruction->u.row_compute.size);
    operation.a = instruction->u.row_compute.source;
    operation.b = operation.scratch = instruction->u.row_compute.second;
    operation.result = instruction->u.row_compute.result;
    uint32_t access = access_bits(values) / 8;
    const struct pim_bitserial_bank_shape shape = {values->data_rows + PIM_BITSERIAL_RESERVED_ROWS,
                                                   values->memory.columns / 8 / access, access};
    struct pim_bitserial_program program = {0};
    enum pim_status status = pim_bitserial_check_operation(&operation, &shape, error);
    if (status == PIM_OK)
        status = pim_bitserial_compile(&program, &operation, &shape, error);
    for (uint32_t i = 0; status == PIM_OK && i < instruction->u.row_compute.banks; i++)
        status =
            run_program(values, channel,
                        instruction->u.row_compute.first_bank + i * instruction->u.row_compute.bank_stride,
                        instruction->u.row_compute.count, &program, error);
    pim_bitserial_program_terminate(&program);
    return status;
}

/* Within banks through the controller's buffer, row by row. */
static enum pim_status move_columns(struct pim_channel_values *values, uint32_t channel,
                                    const struct pim_instruction *instruction, struct pim_error *error)
{
    struct pim_bitserial_program program = {.slots = 1};
    struct pim_bitserial_step step = {.access_step = 1,
                                      .accesses = values->memory.columns / access_bits(values)};
    for (uint32_t i = 0; i < instruction->u.row_move.rows; i++) {
        step.kind = PIM_BITSERIAL_STEP_READ;
        step.row = instruction->u.row_move.source + i;
        step.shift = 0;
        pim_bitserial_append(&program, &step);
        step.kind = PIM_BITSERIAL_STEP_WRITE;
        step.row = instruction->u.row_move.result + i;
        step.shift = instruction->u.row_move.shift;
        pim_bitserial_append(&program, &step);
    }
    enum pim_status status =
        program.out_of_memory ? pim_fail(error, PIM_NO_MEMORY, "out of memory for a move of rows") : PIM_OK;
    for (uint32_t i = 0; status == PIM_OK && i < instruction->u.row_move.banks; i++)
        status = run_program(values, channel,
                             instruction->u.row_move.first_bank + i * instruction->u.row_move.bank_stride, 1,
                             &program, error);
    pim_bitserial_program_terminate(&program);
    return status;
}

static enum pim_status move_banks(struct pim_channel_values *values, uint32_t channel,
                                  const struct pim_instruction *instruction, struct pim_error *error)
{
    const uint32_t stride = instruction->u.row_move.bank_stride;
    for (uint32_t i = 0; i < instruction->u.row_move.banks; i++) {
        struct pim_bitserial_bits *from, *to;
        if (find_bank(values, channel, instruction->u.row_move.first_bank + i * stride, &from, error) !=
                PIM_OK ||
            find_bank(values, channel, instruction->u.row_move.to_bank + i * stride, &to, error) != PIM_OK)
            return error->status;
        for (uint32_t row = 0; row < instruction->u.row_move.rows; row++)
            for (uint32_t column = 0; column < values->memory.columns; column++)
                pim_bitserial_set_bit(to, instruction->u.row_move.result + row, column,
                                      pim_bitserial_bit(from, instruction->u.row_move.source + row, column));
    }
    return PIM_OK;
}

/* Reads the rows of a message into `cells`, or writes them. */
static enum pim_status carry(struct pim_channel_values *values, uint32_t channel,
                             const struct pim_instruction *instruction, uint8_t *cells, bool write,
                             struct pim_error *error)
{
    for (uint32_t i = 0; i < instruction->u.row_message.banks; i++) {
        struct pim_bitserial_bits *bits;
        if (find_bank(values, channel,
                      instruction->u.row_message.first_bank + i * instruction->u.row_message.bank_stride,
                      &bits, error) != PIM_OK)
            return error->status;
        for (uint32_t row = 0; row < instruction->u.row_message.rows; row++)
            for (uint32_t column = 0; column < values->memory.columns; column++, cells++)
                if (write)
                    pim_bitserial_set_bit(bits, instruction->u.row_message.row + row, column, *cells);
                else
                    *cells = pim_bitserial_bit(bits, instruction->u.row_message.row + row, column);
    }
    return PIM_OK;
}

static enum pim_status send(struct pim_channel_values *values, uint32_t channel,
                            const struct pim_instruction *instruction, struct pim_error *error)
{
    size_t cells =
        (size_t)instruction->u.row_message.rows * instruction->u.row_message.banks * values->memory.columns;
    struct parcel *parcel = malloc(sizeof *parcel + cells);
    if (!parcel)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a message");
    parcel->next = NULL;
    parcel->source = channel;
    parcel->destination = instruction->u.row_message.peer;
    parcel->tag = instruction->u.row_message.tag;
    struct parcel **last = &values->first;
    while (*last)
        last = &(*last)->next;
    *last = parcel;
    return carry(values, channel, instruction, parcel->bits, false, error);
}

static enum pim_status receive(struct pim_channel_values *values, uint32_t channel,
                               const struct pim_instruction *instruction, struct pim_error *error)
{
    struct parcel **place = &values->first;
    while (*place &&
           ((*place)->destination != channel || (*place)->source != instruction->u.row_message.peer ||
            (*place)->tag != instruction->u.row_message.tag))
        place = &(*place)->next;
    struct parcel *parcel = *place;
    if (!parcel)
        return pim_fail(error, PIM_INTERNAL, "rows are written that nobody has sent");
    *place = parcel->next;
    enum pim_status status = carry(values, channel, instruction, parcel->bits, true, error);
    free(parcel);
    return status;
}

enum pim_status pim_channel_values_execute(struct pim_channel_values *values, uint32_t channel,
                                           const struct pim_instruction *instruction, struct pim_error *error)
{
    uint64_t rows;
    switch (instruction->opcode) {
    case PIM_OP_ROW_MOVE:
        rows = instruction->u.row_move.rows;
        if (check_rows(values, instruction->u.row_move.source + rows, error) != PIM_OK ||
            check_rows(values, instruction->u.row_move.result + rows, error) != PIM_OK)
            return error->status;
        return instruction->detail == PIM_REACH_COLUMN ? move_columns(values, channel, instruction, error)
                                                       : move_banks(values, channel, instruction, error);
    case PIM_OP_ROW_SEND:
    case PIM_OP_ROW_RECEIVE:
        rows = (uint64_t)instruction->u.row_message.row + instruction->u.row_message.rows;
        if (check_rows(values, rows, error) != PIM_OK)
            return error->status;
        return instruction->opcode == PIM_OP_ROW_SEND ? send(values, channel, instruction, error)
                                                      : receive(values, channel, instruction, error);
    default:
        return compute(values, channel, instruction, error);
    }
}
