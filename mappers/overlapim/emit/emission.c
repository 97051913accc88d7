#include "mappers/overlapim/emit/emission.h"

#include "sim/integer.h"

#include <string.h>

uint32_t pim_emission_unit(const struct pim_emission *emission, uint32_t layer, uint32_t channel)
{
    return pim_overlapim_unit(emission->plan, layer, channel);
}

uint32_t pim_emission_banks(const struct pim_emission *emission, uint32_t layer)
{
    const struct pim_column_use *use = &emission->use[layer];
    return (uint32_t)((use->banks + use->channels - 1) / use->channels);
}

uint32_t pim_emission_channels(const struct pim_emission *emission, uint32_t layer)
{
    return (uint32_t)emission->use[layer].channels;
}

enum pim_status pim_emission_put(const struct pim_emission *emission, uint32_t unit,
                                 const struct pim_instruction *instruction)
{
    return pim_trace_writer_append(emission->writer, unit, instruction, emission->error);
}

uint32_t pim_emission_row(const struct pim_emission *emission, uint32_t layer, uint32_t word)
{
    const struct pim_real *real = &emission->real[layer];
    return (real->used ? real->end : 0) + word * emission->plan->machine.word_bits;
}

uint64_t pim_emission_rows_at_once(const struct pim_emission *emission, uint32_t from, uint32_t to,
                                   uint32_t banks)
{
    const uint64_t rows = emission->plan->machine.rows;
    uint64_t most = PIM_ROWS_OF_A_MOVE / banks;
    uint64_t room = rows - pim_emission_row(emission, to, PIM_MACHINE_LANDING);
    uint64_t sent = emission->real[from].used ? rows - emission->real[from].out : rows;
    most = most < rows / 2 ? most : rows / 2;
    most = most < room ? most : room;
    return most < sent ? most : sent;
}

/* --- a layer on a channel --- */

uint16_t pim_emission_distance(const struct pim_emission_program *program, uint64_t number)
{
    uint64_t back = program->at - number + 1;
    return number == 0 || back > PIM_DEPENDENCY_REACH ? 0 : (uint16_t)back;
}

enum pim_status pim_emission_ordered(struct pim_emission_program *program,
                                     struct pim_instruction *instruction)
{
    const uint32_t count =
        program->awaits < PIM_EMISSION_AWAITED_AT_ONCE ? program->awaits : PIM_EMISSION_AWAITED_AT_ONCE;
    instruction->dependency[0] = pim_emission_distance(program, program->ordered);
    for (uint32_t i = 0; i < count; i++)
        instruction->dependency[1 + i] = pim_emission_distance(program, program->awaited[i]);
    if (pim_emission_put(program->emission, program->unit, instruction) != PIM_OK)
        return program->emission->error->status;
    program->awaits -= count;
    memmove(program->awaited, program->awaited + count, program->awaits * sizeof *program->awaited);
    program->ordered = ++program->at;
    return PIM_OK;
}

uint64_t pim_emission_rows_of_part(const struct pim_emission_program *program, uint64_t rows)
{
    const uint64_t parts = pim_divide_up(program->awaits, PIM_EMISSION_AWAITED_AT_ONCE);
    return parts > 1 ? pim_divide_up(rows, parts) : rows;
}

struct pim_instruction pim_emission_operation(unsigned operation, uint64_t count, uint64_t bits,
                                              uint64_t size, uint32_t word, uint32_t first)
{
    const bool multiply = operation == PIM_ROW_MULTIPLY;
    struct pim_instruction instruction = {.opcode = PIM_OP_ROW_COMPUTE, .detail = (uint8_t)operation};
    instruction.u.row_compute.source = first + (multiply ? PIM_MACHINE_FIRST : PIM_MACHINE_PRODUCT) * word;
    instruction.u.row_compute.second = first + (multiply ? PIM_MACHINE_SECOND : PIM_MACHINE_SCRATCH) * word;
    instruction.u.row_compute.result = first + (multiply ? PIM_MACHINE_PRODUCT : PIM_MACHINE_SUM) * word;
    instruction.u.row_compute.bits = (uint8_t)bits;
    instruction.u.row_compute.size = (uint8_t)size;
    instruction.u.row_compute.count = (uint32_t)count;
    instruction.u.row_compute.bank_stride = 1;
    return instruction;
}

enum pim_status pim_emission_compute(struct pim_emission_program *program, unsigned operation, uint64_t count,
                                     uint64_t bits, uint64_t size)
{
    const struct pim_emission *emission = program->emission;
    struct pim_instruction instruction =
        pim_emission_operation(operation, count, bits, size, emission->plan->machine.word_bits,
                               pim_emission_row(emission, program->layer, PIM_MACHINE_FIRST));
    instruction.u.row_compute.banks = (uint16_t)pim_emission_banks(emission, program->layer);
    return count > 0 ? pim_emission_ordered(program, &instruction) : PIM_OK;
}
