#include "mappers/emit/program.h"

#include "sim/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum pim_status pim_program_initialize(struct pim_program *program, struct pim_trace_writer *writer,
                                       uint32_t units, uint32_t element_bits, struct pim_arena *arena,
                                       struct pim_error *error)
{
    pim_check(element_bits >= 1 && element_bits <= 64, "elements of 1 to 64 bits");
    *program = (struct pim_program){.writer = writer,
                                    .error = error,
                                    .status = PIM_OK,
                                    .units = units,
                                    .element_bits = element_bits,
                                    .instructions = PIM_ARENA_ARRAY(arena, uint64_t, units),
                                    .entered = PIM_ARENA_ARRAY(arena, uint32_t, units),
                                    .open = PIM_NO_PHASE};
    if (!program->instructions || !program->entered)
        return program->status = pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " units", units);
    for (uint32_t unit = 0; unit < units; unit++)
        program->entered[unit] = PIM_NO_PHASE;
    return PIM_OK;
}

uint32_t pim_program_element_bytes(const struct pim_program *program)
{
    return (program->element_bits + 7) / 8;
}

void pim_program_fail(struct pim_program *program, uint32_t unit, const char *format, ...)
{
    char text[256];
    va_list arguments;
    if (program->status != PIM_OK)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    program->status = pim_fail(program->error, PIM_BAD_INPUT, "unit %" PRIu32 ": %s", unit, text);
}

uint32_t pim_program_narrow(struct pim_program *program, uint32_t unit, uint64_t value, const char *what)
{
    if (value <= UINT32_MAX)
        return (uint32_t)value;
    pim_program_fail(program, unit,
                     "%s is %" PRIu64 ": an instruction has room for %" PRIu32 ", use smaller pieces", what,
                     value, UINT32_MAX);
    return 0;
}

/* --- instructions --- */

uint64_t pim_program_next(const struct pim_program *program, uint32_t unit)
{
    return program->writer ? pim_trace_writer_fetches(program->writer, unit) : program->instructions[unit];
}

static void put(struct pim_program *program, uint32_t unit, const struct pim_instruction *instruction)
{
    if (program->status != PIM_OK)
        return;
    program->instructions[unit]++;
    program->all_instructions++;
    if (program->writer)
        program->status = pim_trace_writer_append(program->writer, unit, instruction, program->error);
    if (program->observe && program->status == PIM_OK)
        program->observe(program->observer, unit, instruction);
}

static void mark(struct pim_program *program, uint32_t unit, enum pim_opcode opcode, uint32_t phase)
{
    const struct pim_instruction instruction = {.opcode = (uint8_t)opcode, .u.control.phase = phase};
    put(program, unit, &instruction);
}

static uint16_t distance(uint64_t next, uint64_t after)
{
    if (after == PIM_NOTHING)
        return 0;
    pim_check(after < next, "an instruction waits for a later one");
    uint64_t reach = next - after;
    return reach > PIM_DEPENDENCY_REACH ? 0 : (uint16_t)reach;
}

uint64_t pim_program_append(struct pim_program *program, uint32_t unit, struct pim_instruction instruction,
                            uint64_t after, uint64_t after2, uint64_t after3)
{
    pim_check(unit < program->units, "a unit that the trace does not have");
    if (program->status != PIM_OK)
        return 0;
    if (program->entered[unit] == PIM_NO_PHASE) {
        pim_check(program->open != PIM_NO_PHASE, "an instruction outside of all phases");
        pim_program_enter(program, unit, program->open);
    }
    uint64_t number = pim_program_next(program, unit);
    instruction.dependency[0] = distance(number, after);
    instruction.dependency[1] = distance(number, after2);
    instruction.dependency[2] = distance(number, after3);
    put(program, unit, &instruction);
    return number;
}

uint64_t pim_program_join(struct pim_program *program, uint32_t unit)
{
    return pim_program_append(program, unit, (struct pim_instruction){.opcode = PIM_OP_JOIN}, PIM_NOTHING,
                              PIM_NOTHING, PIM_NOTHING);
}

uint64_t pim_program_memory(struct pim_program *program, uint32_t unit, enum pim_opcode opcode,
                            enum pim_buffer buffer, const struct pim_program_pieces *pieces, uint64_t after)
{
    struct pim_program_pieces p = *pieces;
    if (p.count > 1 && p.stride == p.bytes) {
        if (p.bytes > UINT32_MAX / p.count) /* larger than any operand, and maybe than 64 bits */
            pim_program_fail(program, unit,
                             "%" PRIu64 " pieces of %" PRIu64 " bytes in a row: use smaller ones", p.count,
                             p.bytes);
        p.bytes *= p.count;
        p.count = 1;
    }
    struct pim_instruction instruction = {.opcode = (uint8_t)opcode, .detail = (uint8_t)buffer};
    instruction.u.memory.address = p.address;
    instruction.u.memory.bytes = pim_program_narrow(program, unit, p.bytes, "bytes of a piece");
    instruction.u.memory.stride =
        p.count > 1 ? pim_program_narrow(program, unit, p.stride, "stride of pieces") : 0;
    instruction.u.memory.count = pim_program_narrow(program, unit, p.count, "number of pieces");
    return pim_program_append(program, unit, instruction, after, PIM_NOTHING, PIM_NOTHING);
}

uint64_t pim_program_vector(struct pim_program *program, uint32_t unit, enum pim_vector operation,
                            uint64_t rows, uint64_t elements, uint64_t release, uint64_t after,
                            uint64_t after2)
{
    struct pim_instruction instruction = {.opcode = PIM_OP_VECTOR, .detail = (uint8_t)operation};
    instruction.u.vector.rows = pim_program_narrow(program, unit, rows, "number of vectors");
    instruction.u.vector.elements = pim_program_narrow(program, unit, elements, "elements of a vector");
    instruction.u.vector.release = pim_program_narrow(program, unit, release, "bytes given back");
    instruction.u.vector.bits = program->element_bits;
    return pim_program_append(program, unit, instruction, after, after2, PIM_NOTHING);
}

uint64_t pim_program_message(struct pim_program *program, uint32_t unit, enum pim_opcode opcode,
                             const struct pim_program_message *message, uint64_t after)
{
    struct pim_instruction instruction = {.opcode = (uint8_t)opcode, .detail = (uint8_t)message->kind};
    instruction.u.network.peer = message->peer;
    instruction.u.network.tag = message->tag;
    instruction.u.network.address = message->address;
    instruction.u.network.bytes = message->bytes;
    return pim_program_append(program, unit, instruction, after, PIM_NOTHING, PIM_NOTHING);
}

uint32_t pim_program_tags(struct pim_program *program, uint64_t count)
{
    uint32_t first = program->next_tag;
    if (count > UINT32_MAX - first) {
        pim_program_fail(program, 0, "more than %" PRIu32 " tags of messages", UINT32_MAX);
        return 0;
    }
    program->next_tag = first + (uint32_t)count;
    return first;
}

void pim_program_barrier(struct pim_program *program, const uint32_t *unit, uint32_t count,
                         void (*prepare)(void *context, uint32_t unit),
                         void (*tell)(void *context, uint32_t from, uint32_t to), void *context)
{
    /* The parent of member i is (i - 1) / 2: members from the last on tell their parents, which have heard
     * all of their children by then; the way down is the reverse. */
    for (uint32_t i = count; i-- > 0;) {
        (void)pim_program_join(program, unit[i]);
        if (count > 1 && prepare)
            prepare(context, unit[i]);
        if (i)
            tell(context, unit[i], unit[(i - 1) / 2]);
    }
    for (uint32_t i = 1; i < count; i++) {
        tell(context, unit[(i - 1) / 2], unit[i]);
        (void)pim_program_join(program, unit[i]);
    }
}

/* --- phases --- */

uint32_t pim_program_phase_begin(struct pim_program *program, const char *name)
{
    if (program->status != PIM_OK)
        return 0;
    pim_check(program->open == PIM_NO_PHASE, "a phase within a phase");
    program->open = program->phases;
    if (program->writer) {
        uint32_t phase = pim_trace_writer_phase(program->writer, &(struct pim_trace_phase){.name = name});
        program->open = phase == UINT32_MAX ? 0 : phase; /* the next append reports what was wrong */
    }
    program->phases++;
    return program->open;
}

void pim_program_phase_end(struct pim_program *program)
{
    for (uint32_t unit = 0; unit < program->units; unit++)
        if (program->entered[unit] != PIM_NO_PHASE)
            pim_program_leave(program, unit);
    program->open = PIM_NO_PHASE;
}

void pim_program_enter(struct pim_program *program, uint32_t unit, uint32_t phase)
{
    pim_check(unit < program->units && program->entered[unit] == PIM_NO_PHASE, "a phase within a phase");
    program->entered[unit] = phase;
    mark(program, unit, PIM_OP_PHASE_BEGIN, phase);
}

void pim_program_leave(struct pim_program *program, uint32_t unit)
{
    pim_check(unit < program->units && program->entered[unit] != PIM_NO_PHASE, "no phase to end");
    mark(program, unit, PIM_OP_PHASE_END, program->entered[unit]);
    program->entered[unit] = PIM_NO_PHASE;
}
