#include "mappers/overlapim/emit/real_program.h"

#include "mappers/overlapim/emit/emission.h"

static void put_operation(const struct pim_real_program *program, unsigned operation, const uint64_t rows[3],
                          uint64_t bits, uint64_t size, uint64_t banks)
{
    struct pim_instruction instruction = {.opcode = PIM_OP_ROW_COMPUTE, .detail = (uint8_t)operation};
    instruction.u.row_compute.source = (uint32_t)rows[0];
    instruction.u.row_compute.second = (uint32_t)rows[1];
    instruction.u.row_compute.result = (uint32_t)rows[2];
    instruction.u.row_compute.bits = (uint8_t)bits;
    instruction.u.row_compute.size = (uint8_t)size;
    instruction.u.row_compute.count = 1;
    instruction.u.row_compute.banks = (uint16_t)banks;
    instruction.u.row_compute.bank_stride = 1;
    program->put(program->context, &instruction);
}

/* total += what stands in `from`, for every output. */
static void add_to(const struct pim_real_program *program, uint64_t total, uint64_t from, uint64_t banks)
{
    const struct pim_real *real = program->real;
    for (uint64_t o = 0; o < real->outputs; o++) {
        const uint64_t rows[3] = {total + o * real->pitch, from + o * real->pitch, total + o * real->pitch};
        put_operation(program, PIM_ROW_ADD, rows, 2 * real->word, 0, banks);
    }
}

/* Rows from `source` on to `result`: within banks, or from `first` on to bank 0 and those behind it. */
static void put_move(const struct pim_real_program *program, uint64_t source, uint64_t result, uint64_t rows,
                     uint64_t first, uint64_t banks)
{
    for (uint64_t most = PIM_ROWS_OF_A_MOVE / banks, part; rows > 0; rows -= part) {
        struct pim_instruction instruction = {.opcode = PIM_OP_ROW_MOVE,
                                              .detail = first > 0 ? PIM_REACH_BANK : PIM_REACH_COLUMN};
        part = rows < most ? rows : most;
        instruction.u.row_move.source = (uint32_t)source;
        instruction.u.row_move.result = (uint32_t)result;
        instruction.u.row_move.rows = (uint32_t)part;
        instruction.u.row_move.first_bank = (uint16_t)first;
        instruction.u.row_move.banks = (uint16_t)banks;
        instruction.u.row_move.bank_stride = 1;
        program->put(program->context, &instruction);
        source += part;
        result += part;
    }
}

/* The sums of a step, in every column by itself; they go to the totals at once when nothing is added to
 * them. */
static void put_products(const struct pim_real_program *program, const struct pim_real_step *step,
                         uint64_t total)
{
    const struct pim_real *real = program->real;
    const bool direct = real->levels == 0 && step->first;
    const uint64_t weights = real->weight + step->weight_tile * real->weights * real->word;
    for (uint64_t i = 0; i < real->count[PIM_REAL_INSIDE]; i++) {
        const struct pim_real_product product = pim_real_product(real, i);
        const uint64_t sum =
            direct ? total + product.output * real->pitch : real->local + product.output * 2 * real->word;
        const uint64_t operands[3] = {real->input + product.input * real->word,
                                      weights + product.weight * real->word,
                                      product.first ? sum : real->product};
        const uint64_t addition[3] = {sum, real->product, sum};
        put_operation(program, PIM_ROW_MULTIPLY, operands, real->word, 2 * real->word, program->banks);
        if (!product.first)
            put_operation(program, PIM_ROW_ADD, addition, 2 * real->word, 0, program->banks);
    }
}

/* Sums over columns, and onto the totals of the steps before. */
static void put_sums(const struct pim_real_program *program, const struct pim_real_step *step, uint64_t total)
{
    const struct pim_real *real = program->real;
    const uint64_t word = real->word;
    for (uint64_t o = 0; o < real->outputs; o++) {
        const uint64_t mine = total + o * real->pitch, local = real->local + o * 2 * word;
        const uint64_t result = step->first ? mine : real->sum;
        const uint64_t reduction[3] = {local, real->sum + real->pitch, result};
        const uint64_t addition[3] = {mine, real->levels > 0 ? result : local, mine};
        if (real->levels > 0)
            put_operation(program, PIM_ROW_REDUCE, reduction, 2 * word, real->levels, program->banks);
        if (!step->first)
            put_operation(program, PIM_ROW_ADD, addition, 2 * word, 0, program->banks);
    }
}

/* Totals of banks that hold parts of the same outputs: a tree, the upper half of the lanes to the lower. */
static void put_banks(const struct pim_real_program *program, uint64_t total)
{
    const struct pim_real *real = program->real;
    const uint64_t others = real->count[PIM_REAL_BANK];
    for (uint64_t left = real->count[PIM_REAL_BANK_LANE], half; left > 1; left = half) {
        half = (left + 1) / 2;
        const uint64_t banks = (left - half) * others;
        put_move(program, total, real->moved, real->outputs * real->pitch, half * others, banks);
        add_to(program, total, real->moved, banks);
    }
}

/* Totals to another channel of the layer, or from it. */
static void put_totals(const struct pim_real_program *program, bool send, uint64_t channel, uint64_t row)
{
    const struct pim_real *real = program->real;
    const uint64_t banks = real->count[PIM_REAL_BANK], most = PIM_ROWS_OF_A_MOVE / banks;
    for (uint64_t rows = real->outputs * real->pitch, part; rows > 0; rows -= part) {
        struct pim_instruction instruction = {.opcode = send ? PIM_OP_ROW_SEND : PIM_OP_ROW_RECEIVE};
        part = rows < most ? rows : most;
        instruction.u.row_message.peer = (uint32_t)channel;
        instruction.u.row_message.row = (uint32_t)row;
        instruction.u.row_message.rows = (uint32_t)part;
        instruction.u.row_message.banks = (uint16_t)banks;
        instruction.u.row_message.bank_stride = 1;
        program->put(program->context, &instruction);
        row += part;
    }
}

/* Totals of channels, in the same way; those that have sent theirs are done: false. */
static bool put_channels(const struct pim_real_program *program, uint64_t total)
{
    const struct pim_real *real = program->real;
    const uint64_t others = real->count[PIM_REAL_CHANNEL], lane = program->channel / others;
    const uint64_t other = program->channel % others;
    for (uint64_t left = real->count[PIM_REAL_CHANNEL_LANE], half; left > 1 && lane < left; left = half) {
        half = (left + 1) / 2;
        if (lane >= half) {
            put_totals(program, true, (lane - half) * others + other, total);
            return false;
        }
        if (lane < left - half) {
            put_totals(program, false, (lane + half) * others + other, real->moved);
            add_to(program, total, real->moved, real->count[PIM_REAL_BANK]);
        }
    }
    return true;
}

static void put_outputs(const struct pim_real_program *program, const struct pim_real_step *step,
                        uint64_t total)
{
    const struct pim_real *real = program->real;
    for (uint64_t o = 0; o < real->outputs; o++) {
        struct pim_instruction instruction = {.opcode = PIM_OP_ROW_TRANSPOSE};
        instruction.u.row_compute.source = (uint32_t)(total + o * real->pitch);
        instruction.u.row_compute.result =
            (uint32_t)(real->out + (step->store * real->outputs + o) * real->word);
        instruction.u.row_compute.bits = (uint8_t)real->word;
        instruction.u.row_compute.count = 1;
        instruction.u.row_compute.banks = (uint16_t)real->count[PIM_REAL_BANK];
        instruction.u.row_compute.bank_stride = 1;
        program->put(program->context, &instruction);
    }
}

/* Activations and biases are counted, on rows that stand for others: memories have no such operations. */
static void put_post(const struct pim_real_program *program)
{
    const struct pim_real *real = program->real;
    const uint64_t products = real->outputs * program->layer->post.multiplications,
                   sums = real->outputs * program->layer->post.additions;
    struct pim_instruction multiply = pim_emission_operation(PIM_ROW_MULTIPLY, products, real->word,
                                                             2 * real->word, real->word, real->end),
                           add = pim_emission_operation(PIM_ROW_ADD, sums, 2 * real->word, 0, real->word,
                                                        real->end);
    multiply.u.row_compute.banks = add.u.row_compute.banks = (uint16_t)program->banks;
    if (products > 0)
        program->put(program->context, &multiply);
    if (sums > 0)
        program->put(program->context, &add);
}

void pim_real_program_step(const struct pim_real_program *program, uint64_t number)
{
    const struct pim_real *real = program->real;
    const struct pim_real_step step = pim_real_step(real, number);
    const uint64_t total = real->total + step.tile * real->outputs * real->pitch;
    const uint64_t inputs = real->inputs * real->word, weights = real->weights * real->word;
    if (step.loads_inputs)
        put_move(program, real->input_landing + step.input_load * inputs, real->input, inputs, 0,
                 program->banks);
    if (step.loads_weights)
        put_move(program, real->weight_landing + step.weight_load * weights, real->weight, weights, 0,
                 program->banks);
    put_products(program, &step, total);
    put_sums(program, &step, total);
    if (!step.last)
        return;
    put_banks(program, total);
    const bool holds = put_channels(program, total);
    put_post(program);
    if (holds)
        put_outputs(program, &step, total);
}
