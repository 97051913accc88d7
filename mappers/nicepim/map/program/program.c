#include "mappers/nicepim/map/program/program.h"

#include "mappers/estimate/estimate.h"
#include "sim/arena.h"
#include "sim/integer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool program_initialize(struct program *program, const struct nice_plan *plan,
                        struct pim_trace_writer *writer, struct pim_error *error)
{
    uint32_t nodes = plan->hardware->width * plan->hardware->height;
    *program = (struct program){.plan = plan, .writer = writer, .error = error, .nodes = nodes};
    program->open = calloc(nodes, sizeof *program->open);
    program->sequence = calloc(nodes, sizeof *program->sequence);
    program->top = calloc(nodes, sizeof *program->top);
    program->scratch = calloc(nodes, sizeof *program->scratch);
    program->most_scratch = calloc(nodes, sizeof *program->most_scratch);
    program->traffic = calloc((size_t)nodes * 4, sizeof *program->traffic);
    program->clock = calloc(nodes, sizeof *program->clock);
    program->pace = calloc(nodes, sizeof(struct pim_pace *));
    program->paced = calloc(nodes, sizeof *program->paced);
    program->gathered = calloc(nodes, sizeof *program->gathered);
    for (uint32_t node = 0; program->pace && node < nodes; node++) {
        program->pace[node] = pim_pace_create(plan->hardware);
        if (!program->pace[node])
            return false;
    }
    return program->clock && program->pace && program->paced && program->gathered && program->open &&
           program->sequence && program->top && program->scratch && program->most_scratch && program->traffic;
}

void program_terminate(struct program *program)
{
    free(program->open);
    free(program->sequence);
    free(program->top);
    free(program->scratch);
    free(program->most_scratch);
    free(program->clock);
    free(program->traffic);
    for (uint32_t node = 0; program->pace && node < program->nodes; node++)
        pim_pace_destroy(program->pace[node]);
    free(program->pace);
    free(program->paced);
    for (uint32_t node = 0; program->gathered && node < program->nodes; node++) {
        free(program->gathered[node].instructions);
        free(program->gathered[node].end);
    }
    free(program->gathered);
}

/* --- phases and instructions --- */

void program_begin(struct program *program, const char *name, const char *step)
{
    char text[200];
    (void)snprintf(text, sizeof text, "%.150s/%s", name, step);
    if (program->writer)
        program->phase = pim_trace_writer_phase(program->writer, &(struct pim_trace_phase){.name = text});
    memset(program->open, 0, program->nodes * sizeof *program->open);
    program->reached = 0;
}

/* A node that works, as all nodes of the array are counted. */
static uint32_t unit_of(const struct program *program, uint32_t node)
{
    const struct nice_plan *plan = program->plan;
    return node / plan->hardware->width * plan->array->width + node % plan->hardware->width;
}

static enum pim_status write_instruction(struct program *program, uint32_t node,
                                         const struct pim_instruction *instruction)
{
    struct pim_instruction written = *instruction;
    if (written.opcode == PIM_OP_SEND || written.opcode == PIM_OP_RECEIVE)
        written.u.network.peer = unit_of(program, written.u.network.peer);
    return pim_trace_writer_append(program->writer, unit_of(program, node), &written, program->error);
}

static void out_of_memory(struct program *program)
{
    if (program->status == PIM_OK)
        program->status = pim_fail(program->error, PIM_NO_MEMORY, "out of memory for programs");
}

/* Marks of phases are at both ends of what is gathered. */
static void gather(struct program *program, uint32_t node, const struct pim_instruction *instruction)
{
    struct program_gathered *gathered = &program->gathered[node];
    if (instruction->opcode == PIM_OP_PHASE_BEGIN || instruction->opcode == PIM_OP_PHASE_END)
        return;
    struct pim_instruction *grown =
        pim_array_grow(gathered->instructions, &gathered->room, gathered->count + 1, sizeof *grown);
    if (!grown) {
        out_of_memory(program);
        return;
    }
    gathered->instructions = grown;
    grown[gathered->count++] = *instruction;
}

static uint64_t put(struct program *program, uint32_t node, const struct pim_instruction *instruction)
{
    if (program->status == PIM_OK && !program->timed)
        pim_estimate_count_actions(program->plan->hardware, node, instruction, &program->actions);
    if (program->paced[node])
        pim_pace_put(program->pace[node], instruction);
    if (program->gathers)
        gather(program, node, instruction);
    if (program->writer && program->status == PIM_OK)
        program->status = write_instruction(program, node, instruction);
    return program->sequence[node]++;
}

uint64_t program_section(struct program *program)
{
    const uint64_t before = program->reached;
    for (uint32_t node = 0; node < program->nodes; node++)
        if (program->open[node])
            program->reached = pim_larger(program->reached, program->clock[node]);
    return program->reached - before;
}

void program_end(struct program *program, const uint64_t parts[PIM_ESTIMATE_PARTS])
{
    struct pim_trace_phase phase = {.name = ""};
    for (uint32_t node = 0; node < program->nodes; node++) {
        if (!program->open[node])
            continue;
        struct pim_instruction end = {.opcode = PIM_OP_PHASE_END};
        end.u.control.phase = program->phase;
        (void)put(program, node, &end);
    }
    for (size_t i = 0; i < PIM_ESTIMATE_PARTS; i++) {
        phase.estimate_parts[i] = parts[i];
        program->parts[i] += parts[i];
    }
    (void)program_section(program);
    phase.estimate_cycles = program->reached > program->cycles ? program->reached - program->cycles : 0;
    program->cycles = pim_larger(program->cycles, program->reached);
    if (program->writer)
        pim_trace_writer_set_estimate(program->writer, program->phase, &phase);
}

/* --- when nodes are done --- */

void program_pace(struct program *program, uint32_t node)
{
    if (program->gathers)
        return;
    program->paced[node] = true;
    pim_pace_begin(program->pace[node], program->clock[node]);
}

void program_paced(struct program *program, uint32_t node)
{
    if (program->gathers)
        return;
    program->paced[node] = false;
    program->clock[node] += pim_pace_cycles(program->pace[node]);
}

void program_pace_all(struct program *program)
{
    for (uint32_t node = 0; node < program->nodes; node++)
        program_pace(program, node);
}

void program_paced_all(struct program *program)
{
    for (uint32_t node = 0; node < program->nodes; node++)
        program_paced(program, node);
}

void program_gather(struct program *program, enum pim_estimate_part part)
{
    for (uint32_t node = 0; node < program->nodes; node++) {
        struct program_gathered *gathered = &program->gathered[node];
        gathered->count = program->gathers ? gathered->count : 0;
        gathered->first = program->gathers ? gathered->count : SIZE_MAX;
    }
    program->part[program->gathers] = (uint8_t)part;
    program->part[1] = program->gathers ? program->part[1] : PIM_ESTIMATE_PARTS;
    program->gathers = true;
}

/* All programs from the clocks of their nodes on, which go on with them. */
static bool time_gathered(struct program *program)
{
    struct pim_estimate_program *list = calloc((size_t)program->nodes + 1, sizeof *list);
    bool ready = list && program->status == PIM_OK;
    for (uint32_t node = 0; ready && node < program->nodes; node++) {
        struct program_gathered *gathered = &program->gathered[node];
        uint64_t *end = pim_array_grow(gathered->end, &gathered->end_room, gathered->count + 1, sizeof *end);
        ready = end != NULL;
        gathered->end = end ? end : gathered->end;
        list[node] = (struct pim_estimate_program){gathered->instructions, (uint32_t)gathered->count, end};
    }
    ready =
        ready && pim_estimate_programs(program->plan->hardware, list, (struct pim_pace *const *)program->pace,
                                       program->clock, program->clock);
    free(list);
    return ready;
}

/* When the last node is done with what is of the first part. */
static uint64_t first_part_end(const struct program *program)
{
    uint64_t last = program->reached;
    for (uint32_t node = 0; node < program->nodes; node++) {
        const struct program_gathered *gathered = &program->gathered[node];
        for (size_t i = 0; i < gathered->count && i < gathered->first; i++)
            last = pim_larger(last, gathered->end[i]);
    }
    return last;
}

void program_gathered(struct program *program, uint64_t parts[PIM_ESTIMATE_PARTS])
{
    if (!program->gathers)
        return;
    program->gathers = false;
    if (!time_gathered(program)) {
        out_of_memory(program);
        return;
    }
    const uint64_t first = first_part_end(program), before = program->reached;
    const uint64_t whole = program_section(program);
    parts[program->part[0]] += first - before;
    if (program->part[1] < PIM_ESTIMATE_PARTS)
        parts[program->part[1]] += whole - (first - before);
}

void program_rewind(struct program *program)
{
    program->reached = 0;
    memset(program->open, 0, program->nodes * sizeof *program->open);
    memset(program->clock, 0, program->nodes * sizeof *program->clock);
    for (uint32_t node = 0; node < program->nodes; node++)
        pim_pace_restart(program->pace[node]);
}

static void see(const struct program *program, uint32_t node, const struct nice_note *note, uint64_t after)
{
    struct nice_note seen = *note;
    seen.image = program->image;
    seen.after = after;
    program->observer->see(program->observer->context, unit_of(program, node), program->sequence[node],
                           &seen);
}

void program_note(struct program *program, uint32_t node, const struct nice_note *note)
{
    if (program->observer)
        see(program, node, note, PROGRAM_NOTHING);
}

uint64_t program_append(struct program *program, uint32_t node, struct pim_instruction instruction,
                        uint64_t after, uint64_t after2)
{
    if (!program->open[node]) {
        struct pim_instruction begin = {.opcode = PIM_OP_PHASE_BEGIN};
        begin.u.control.phase = program->phase;
        (void)put(program, node, &begin);
        program->open[node] = true;
        program->reached = pim_larger(program->reached, program->clock[node]);
    }
    uint64_t wait[] = {after, after2};
    size_t at = 0;
    for (size_t i = 0; i < 2; i++) {
        uint64_t reach = wait[i] == PROGRAM_NOTHING ? 0 : program->sequence[node] - wait[i];
        if (reach > PIM_DEPENDENCY_REACH) { /* too far back to be named: all that came before is waited for */
            (void)put(program, node, &(struct pim_instruction){.opcode = PIM_OP_JOIN});
            memset(instruction.dependency, 0, sizeof instruction.dependency);
            break;
        }
        if (reach > 0)
            instruction.dependency[at++] = (uint16_t)reach;
    }
    if (program->observer && program->note)
        see(program, node, program->note,
            after == PROGRAM_NOTHING || (after2 != PROGRAM_NOTHING && after2 > after) ? after2 : after);
    return put(program, node, &instruction);
}

static uint64_t append_burst(struct program *program, uint32_t node, const struct pim_instruction *kind,
                             const struct place_burst *burst, uint64_t after)
{
    struct pim_instruction instruction = *kind;
    if ((burst->bytes > UINT32_MAX || burst->count > UINT32_MAX ||
         (burst->count > 1 && burst->stride > UINT32_MAX)) &&
        program->status == PIM_OK)
        program->status = pim_fail(program->error, PIM_BAD_INPUT,
                                   "a map is too large: %llu pieces of %llu bytes, %llu bytes apart",
                                   (unsigned long long)burst->count, (unsigned long long)burst->bytes,
                                   (unsigned long long)burst->stride);
    instruction.u.memory.address = burst->address;
    instruction.u.memory.bytes = (uint32_t)burst->bytes;
    instruction.u.memory.count = (uint32_t)burst->count;
    instruction.u.memory.stride = burst->count > 1 ? (uint32_t)burst->stride : 0;
    return program_append(program, node, instruction, after, PROGRAM_NOTHING);
}

uint64_t program_memory(struct program *program, uint32_t node, enum pim_opcode opcode,
                        enum pim_buffer buffer, uint64_t address, uint64_t bytes, uint64_t after)
{
    const struct pim_instruction kind = {.opcode = (uint8_t)opcode, .detail = (uint8_t)buffer};
    return append_burst(program, node, &kind, &(struct place_burst){address, bytes, 0, 1}, after);
}

struct part_writer {
    struct program *program;
    uint32_t node;
    struct pim_instruction kind;
    uint64_t after, last;
};

static void write_burst(void *context, const struct place_burst *burst)
{
    struct part_writer *writer = context;
    writer->last = append_burst(writer->program, writer->node, &writer->kind, burst, writer->after);
    writer->after = PROGRAM_NOTHING; /* loads and stores start in order */
}

uint64_t program_part(struct program *program, uint32_t node, enum pim_opcode opcode, enum pim_buffer buffer,
                      uint32_t layer, const struct place *place, const struct grid part[PLACE_DIMENSIONS],
                      uint64_t after)
{
    struct part_writer writer = {
        program, node, {.opcode = (uint8_t)opcode, .detail = (uint8_t)buffer}, after, PROGRAM_NOTHING};
    const struct nice_note note = {.kind = NICE_NOTE_STORE, .layer = layer, .place = *place};
    program->note = opcode == PIM_OP_STORE ? &note : NULL;
    place_visit_bursts(place, part, write_burst, &writer);
    program->note = NULL;
    return writer.last;
}

uint64_t program_store_place(struct program *program, uint32_t node, uint32_t layer,
                             const struct place *place, uint64_t after)
{
    const struct nice_note note = {.kind = NICE_NOTE_STORE, .layer = layer, .place = *place};
    program->note = &note;
    uint64_t last = program_memory(program, node, PIM_OP_STORE, PIM_BUFFER_NONE, place->address,
                                   place_bytes(place), after);
    program->note = NULL;
    return last;
}

uint64_t program_vector(struct program *program, uint32_t node, enum pim_vector operation, uint64_t rows,
                        uint64_t elements, uint64_t release, uint32_t bits, uint64_t after, uint64_t after2)
{
    struct pim_instruction instruction = {.opcode = PIM_OP_VECTOR, .detail = (uint8_t)operation};
    instruction.u.vector.rows = (uint32_t)rows;
    instruction.u.vector.elements = (uint32_t)elements;
    instruction.u.vector.release = (uint32_t)release;
    instruction.u.vector.bits = bits;
    return program_append(program, node, instruction, after, after2);
}

void program_join(struct program *program, uint32_t node)
{
    (void)program_append(program, node, (struct pim_instruction){.opcode = PIM_OP_JOIN}, PROGRAM_NOTHING,
                         PROGRAM_NOTHING);
}

/* --- memory --- */

static uint64_t align(const struct program *program, uint64_t bytes)
{
    return pim_divide_up(bytes, program->plan->hardware->port_bytes) * program->plan->hardware->port_bytes;
}

uint64_t program_allocate(struct program *program, uint32_t node, uint64_t bytes)
{
    uint64_t address = program->top[node];
    program->top[node] += align(program, bytes);
    return address;
}

uint64_t program_borrow(struct program *program, uint32_t node, uint64_t bytes)
{
    program->scratch[node] += align(program, bytes);
    if (program->scratch[node] > program->most_scratch[node])
        program->most_scratch[node] = program->scratch[node];
    uint64_t memory = program->plan->hardware->memory_bytes;
    return program->scratch[node] <= memory ? memory - program->scratch[node] : 0;
}

void program_give_back(struct program *program)
{
    memset(program->scratch, 0, program->nodes * sizeof *program->scratch);
}
