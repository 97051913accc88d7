/* The program of a product layer with real rows: real.h. */
#include "mappers/overlapim/emit/emission.h"

static enum pim_status put_operation(struct pim_emission_program *program, unsigned operation,
                                     const uint64_t rows[3], uint64_t bits, uint64_t size, uint64_t banks)
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
    return pim_emission_ordered(program, &instruction);
}

/* total += what stands in `from`, for every output. */
static enum pim_status add_to(struct pim_emission_program *program, uint64_t total, uint64_t from,
                              uint64_t banks)
{
    const struct pim_real *real = &program->emission->real[program->layer];
    for (uint64_t o = 0; o < real->outputs; o++) {
        const uint64_t rows[3] = {total + o * real->pitch, from + o * real->pitch, total + o * real->pitch};
        if (put_operation(program, PIM_ROW_ADD, rows, 2 * real->word, 0, banks) != PIM_OK)
            return program->emission->error->status;
    }
    return PIM_OK;
}

/* Rows from `source` on to `result`: within banks, or from `first` on to bank 0 and those behind it. */
static enum pim_status put_move(struct pim_emission_program *program, uint64_t source, uint64_t result,
                                uint64_t rows, uint64_t first, uint64_t banks)
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
        if (pim_emission_ordered(program, &instruction) != PIM_OK)
            return program->emission->error->status;
        source += part;
        result += part;
    }
    return PIM_OK;
}

/* The sums of a step, in every column by itself; they go to the totals at once when nothing is added to
 * them. */
static enum pim_status put_products(struct pim_emission_program *program, const struct pim_real_step *step,
                                    uint64_t total)
{
    const struct pim_real *real = &program->emission->real[program->layer];
    const uint64_t banks = pim_emission_banks(program->emission, program->layer);
    bool direct = real->levels == 0 && step->first;
    uint64_t weights = real->weight + step->weight_tile * real->weights * real->word;
    for (uint64_t i = 0; i < real->count[PIM_REAL_INSIDE]; i++) {
        struct pim_real_product product = pim_real_product(real, i);
        uint64_t sum =
            direct ? total + product.output * real->pitch : real->local + product.output * 2 * real->word;
        const uint64_t operands[3] = {real->input + product.input * real->word,
                                      weights + product.weight * real->word,
                                      product.first ? sum : real->product};
        const uint64_t addition[3] = {sum, real->product, sum};
        if (put_operation(program, PIM_ROW_MULTIPLY, operands, real->word, 2 * real->word, banks) != PIM_OK ||
            (!product.first &&
             put_operation(program, PIM_ROW_ADD, addition, 2 * real->word, 0, banks) != PIM_OK))
            return program->emission->error->status;
    }
    return PIM_OK;
}

/* Sums over columns, and onto the totals of the steps before. */
static enum pim_status put_sums(struct pim_emission_program *program, const struct pim_real_step *step,
                                uint64_t total)
{
    const struct pim_real *real = &program->emission->real[program->layer];
    const uint64_t banks = pim_emission_banks(program->emission, program->layer), word = real->word;
    for (uint64_t o = 0; o < real->outputs; o++) {
        uint64_t mine = total + o * real->pitch, local = real->local + o * 2 * word;
        uint64_t result = step->first ? mine : real->sum;
        const uint64_t reduction[3] = {local, real->sum + real->pitch, result};
        const uint64_t addition[3] = {mine, real->levels > 0 ? result : local, mine};
        if (real->levels > 0 &&
            put_operation(program, PIM_ROW_REDUCE, reduction, 2 * word, real->levels, banks) != PIM_OK)
            return program->emission->error->status;
        if (!step->first && put_operation(program, PIM_ROW_ADD, addition, 2 * word, 0, banks) != PIM_OK)
            return program->emission->error->status;
    }
    return PIM_OK;
}

/* Totals of banks that hold parts of the same outputs: a tree, the upper half of the lanes to the lower. */
static enum pim_status put_banks(struct pim_emission_program *program, uint64_t total)
{
    const struct pim_real *real = &program->emission->real[program->layer];
    const uint64_t others = real->count[PIM_REAL_BANK];
    for (uint64_t left = real->count[PIM_REAL_BANK_LANE], half; left > 1; left = half) {
        half = (left + 1) / 2;
        uint64_t banks = (left - half) * others;
        if (put_move(program, total, real->moved, real->outputs * real->pitch, half * others, banks) !=
                PIM_OK ||
            add_to(program, total, real->moved, banks) != PIM_OK)
            return program->emission->error->status;
    }
    return PIM_OK;
}

/* Totals to another channel of the layer, or from it. */
static enum pim_status put_totals(struct pim_emission_program *program, bool send, uint64_t channel,
                                  uint64_t row)
{
    const struct pim_emission *emission = program->emission;
    const struct pim_real *real = &emission->real[program->layer];
    const uint64_t banks = real->count[PIM_REAL_BANK], most = PIM_ROWS_OF_A_MOVE / banks;
    const uint32_t width = emission->plan->machine.channels;
    const uint32_t peer = pim_emission_unit(emission, program->layer, (uint32_t)channel);
    for (uint64_t rows = real->outputs * real->pitch, part; rows > 0; rows -= part) {
        struct pim_instruction instruction = {
            .opcode = send ? PIM_OP_ROW_SEND : PIM_OP_ROW_RECEIVE,
            .detail = peer / width == program->unit / width ? PIM_REACH_CHANNEL : PIM_REACH_STACK};
        part = rows < most ? rows : most;
        instruction.u.row_message.peer = peer;
        instruction.u.row_message.tag = emission->messages->flows + program->layer;
        instruction.u.row_message.row = (uint32_t)row;
        instruction.u.row_message.rows = (uint32_t)part;
        instruction.u.row_message.banks = (uint16_t)banks;
        instruction.u.row_message.bank_stride = 1;
        if (pim_emission_ordered(program, &instruction) != PIM_OK)
            return emission->error->status;
        row += part;
    }
    return PIM_OK;
}

/* Totals of channels, in the same way; those that have sent theirs are done. */
static enum pim_status put_channels(struct pim_emission_program *program, uint64_t total, bool *holds)
{
    const struct pim_real *real = &program->emission->real[program->layer];
    const uint64_t others = real->count[PIM_REAL_CHANNEL], lane = program->channel / others;
    const uint64_t other = program->channel % others;
    for (uint64_t left = real->count[PIM_REAL_CHANNEL_LANE], half; left > 1 && lane < left; left = half) {
        half = (left + 1) / 2;
        if (lane >= half) {
            *holds = false;
            return put_totals(program, true, (lane - half) * others + other, total);
        }
        if (lane < left - half &&
            (put_totals(program, false, (lane + half) * others + other, real->moved) != PIM_OK ||
             add_to(program, total, real->moved, real->count[PIM_REAL_BANK]) != PIM_OK))
            return program->emission->error->status;
    }
    *holds = true;
    return PIM_OK;
}

static enum pim_status put_outputs(struct pim_emission_program *program, const struct pim_real_step *step,
                                   uint64_t total)
{
    const struct pim_real *real = &program->emission->real[program->layer];
    for (uint64_t o = 0; o < real->outputs; o++) {
        struct pim_instruction instruction = {.opcode = PIM_OP_ROW_TRANSPOSE};
        instruction.u.row_compute.source = (uint32_t)(total + o * real->pitch);
        instruction.u.row_compute.result =
            (uint32_t)(real->out + (step->store * real->outputs + o) * real->word);
        instruction.u.row_compute.bits = (uint8_t)real->word;
        instruction.u.row_compute.count = 1;
        instruction.u.row_compute.banks = (uint16_t)real->count[PIM_REAL_BANK];
        instruction.u.row_compute.bank_stride = 1;
        if (pim_emission_ordered(program, &instruction) != PIM_OK)
            return program->emission->error->status;
    }
    return PIM_OK;
}

/* Activations and biases are counted, on rows that stand for others: memories have no such operations. */
static enum pim_status put_post(struct pim_emission_program *program)
{
    const struct pim_real *real = &program->emission->real[program->layer];
    const struct pim_mapped_layer *layer = &program->emission->plan->layers.layer[program->layer];
    if (pim_emission_compute(program, PIM_ROW_MULTIPLY, real->outputs * layer->post.multiplications,
                             real->word, 2 * real->word) != PIM_OK)
        return program->emission->error->status;
    return pim_emission_compute(program, PIM_ROW_ADD, real->outputs * layer->post.additions, 2 * real->word,
                                0);
}

enum pim_status pim_emission_real_step(struct pim_emission_program *program, uint64_t number)
{
    const struct pim_real *real = &program->emission->real[program->layer];
    const struct pim_real_step step = pim_real_step(real, number);
    const uint64_t banks = pim_emission_banks(program->emission, program->layer);
    const uint64_t total = real->total + step.tile * real->outputs * real->pitch;
    const uint64_t inputs = real->inputs * real->word, weights = real->weights * real->word;
    struct pim_error *error = program->emission->error;
    bool holds = false;
    if (step.loads_inputs && put_move(program, real->input_landing + step.input_load * inputs, real->input,
                                      inputs, 0, banks) != PIM_OK)
        return error->status;
    if (step.loads_weights && put_move(program, real->weight_landing + step.weight_load * weights,
                                       real->weight, weights, 0, banks) != PIM_OK)
        return error->status;
    if (put_products(program, &step, total) != PIM_OK || put_sums(program, &step, total) != PIM_OK)
        return error->status;
    if (!step.last)
        return PIM_OK;
    if (put_banks(program, total) != PIM_OK || put_channels(program, total, &holds) != PIM_OK ||
        put_post(program) != PIM_OK)
        return error->status;
    return holds ? put_outputs(program, &step, total) : PIM_OK;
}
