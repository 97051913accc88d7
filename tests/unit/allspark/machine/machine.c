/* Life, memory, messages and order of the machine; machine_compute.c has its arithmetic. */
#include "tests/unit/allspark/machine/machine_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void machine_broken(const struct machine *machine, uint32_t number, const char *format, ...)
{
    const struct unit *unit = &machine->units[number];
    const char *phase =
        unit->phase == UINT32_MAX ? "none" : pim_trace_phase(machine->scenario->trace, unit->phase)->name;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *opcode = unit->at < unit->length ? pim_opcode_name(unit->program[unit->at].opcode) : "end";
    ck_abort_msg("%s: unit %" PRIu32 ", instruction %" PRIu64 " (%s), phase %s: %s", machine->scenario->name,
                 number, unit->at, opcode, phase, text);
}

void *machine_grown(void *items, uint64_t capacity, size_t size)
{
    void *larger = realloc(items, capacity * size);
    if (!larger)
        abort();
    return larger;
}

/* --- life --- */

static void read_program(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    struct pim_error error = {0};
    struct pim_trace_cursor *cursor;
    unit->length = pim_trace_instructions(machine->scenario->trace, number);
    unit->program = machine_grown(NULL, unit->length + 1, sizeof *unit->program);
    ck_assert(pim_trace_cursor_create(machine->scenario->trace, number, &cursor, &error) == PIM_OK);
    for (uint64_t i = 0; i < unit->length; i++) {
        const struct pim_instruction *instruction;
        ck_assert(pim_trace_cursor_next(cursor, &instruction, &error) == PIM_OK && instruction != NULL);
        unit->program[i] = *instruction;
    }
    pim_trace_cursor_destroy(cursor);
}

struct machine *machine_create(const struct scenario *scenario)
{
    const struct pim_allspark_plan *plan = &scenario->plan;
    struct machine *machine = machine_grown(NULL, 1, sizeof *machine);
    *machine = (struct machine){.scenario = scenario,
                                .memory_bytes = plan->weight_bytes + plan->workspace_bytes,
                                .count = plan->hardware.width * plan->hardware.height};
    ck_assert_uint_le(machine->memory_bytes, plan->hardware.memory_bytes);
    machine->units = calloc(machine->count, sizeof *machine->units);
    ck_assert_ptr_nonnull(machine->units);
    for (uint32_t i = 0; i < machine->count; i++) {
        read_program(machine, i);
        machine->units[i].phase = UINT32_MAX;
        machine->units[i].memory = calloc(machine->memory_bytes, sizeof *machine->units[i].memory);
        machine->units[i].known = calloc(machine->memory_bytes, sizeof *machine->units[i].known);
        ck_assert(machine->units[i].memory && machine->units[i].known);
    }
    return machine;
}

static void forget_results(struct unit *unit, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!unit->results[i].shared)
            free(unit->results[i].values);
}

void machine_destroy(struct machine *machine)
{
    for (uint32_t i = 0; i < machine->count; i++) {
        struct unit *unit = &machine->units[i];
        free(unit->program);
        free(unit->memory);
        free(unit->known);
        free(unit->results);
        free(unit->inputs.tiles);
        free(unit->weights);
        free(unit->posted);
        free(unit->accesses);
    }
    free(machine->units);
    free(machine);
}

void machine_place(struct machine *machine, uint32_t number, uint64_t address, uint64_t value)
{
    struct unit *unit = &machine->units[number];
    if (address >= machine->memory_bytes || unit->known[address])
        machine_broken(machine, number, "byte %" PRIu64 " cannot be placed: it is %s", address,
                       address >= machine->memory_bytes ? "beyond the memory of the plan" : "taken");
    unit->memory[address] = value;
    unit->known[address] = true;
}

uint64_t machine_read(const struct machine *machine, uint32_t number, uint64_t address)
{
    if (address >= machine->memory_bytes || !machine->units[number].known[address])
        machine_broken(machine, number, "byte %" PRIu64 " is read and holds nothing", address);
    return machine->units[number].memory[address];
}

void machine_forget(struct machine *machine, uint64_t address)
{
    for (uint32_t i = 0; i < machine->count; i++)
        memset(machine->units[i].known + address, 0, machine->memory_bytes - address);
}

/* --- results and order --- */

struct result *machine_result(struct machine *machine, uint32_t number, uint64_t sequence)
{
    struct unit *unit = &machine->units[number];
    if (sequence < unit->phase_start || sequence >= unit->at)
        machine_broken(machine, number, "depends on instruction %" PRIu64 ", which is not of this phase",
                       sequence);
    return &unit->results[sequence - unit->phase_start];
}

/* The operand that dependency `slot` names; values NULL when it names none. */
struct result machine_operand(struct machine *machine, uint32_t number, unsigned slot)
{
    const struct unit *unit = &machine->units[number];
    uint64_t distance = unit->program[unit->at].dependency[slot];
    return distance ? *machine_result(machine, number, unit->at - distance) : (struct result){0};
}

/* Whether `later` cannot start before `earlier` is complete: through dependencies and engines that work
   one instruction at a time. */
bool machine_ordered(const struct unit *unit, uint64_t earlier, uint64_t later)
{
    if (later <= earlier)
        return later == earlier;
    const struct pim_instruction *instruction = &unit->program[later];
    for (unsigned i = 0; i < PIM_DEPENDENCIES; i++)
        if (instruction->dependency[i] && machine_ordered(unit, earlier, later - instruction->dependency[i]))
            return true;
    enum pim_engine engine = pim_opcode_engine(instruction->opcode);
    for (uint64_t before = later; engine != PIM_ENGINE_RECEIVE && before-- > earlier;)
        if (pim_opcode_engine(unit->program[before].opcode) == engine)
            return machine_ordered(unit, earlier, before);
    return false;
}

static uint64_t end_of(const struct access *access)
{
    return access->begin + (access->count - 1) * access->stride + access->bytes;
}

static bool meet(const struct access *a, const struct access *b)
{
    if (a->begin >= end_of(b) || b->begin >= end_of(a))
        return false;
    for (uint64_t i = 0; i < a->count; i++)
        for (uint64_t j = 0; j < b->count; j++)
            if (a->begin + i * a->stride < b->begin + j * b->stride + b->bytes &&
                b->begin + j * b->stride < a->begin + i * a->stride + a->bytes)
                return true;
    return false;
}

/* The pieces and whether they are written; the rest is that of the instruction. */
static void note_access(struct machine *machine, uint32_t number, struct access access)
{
    struct unit *unit = &machine->units[number];
    access.engine = pim_opcode_engine(unit->program[unit->at].opcode);
    access.sequence = unit->at;
    if (end_of(&access) > machine->memory_bytes)
        machine_broken(machine, number, "bytes up to %" PRIu64 " are beyond the memory of the plan, %" PRIu64,
                       end_of(&access), machine->memory_bytes);
    for (uint32_t i = 0; i < unit->access_count; i++) {
        const struct access *other = &unit->accesses[i];
        if ((other->write || access.write) &&
            (other->engine != access.engine || access.engine == PIM_ENGINE_RECEIVE) && meet(other, &access) &&
            !machine_ordered(unit, other->sequence, unit->at))
            machine_broken(machine, number,
                           "bytes %" PRIu64 " to %" PRIu64 " are also accessed by instruction %" PRIu64
                           " in no certain order",
                           access.begin, end_of(&access), other->sequence);
    }
    if (unit->access_count == unit->access_capacity)
        unit->accesses = machine_grown(unit->accesses, unit->access_capacity = 2 * unit->access_capacity + 16,
                                       sizeof *unit->accesses);
    unit->accesses[unit->access_count++] = access;
}

/* --- memory --- */

uint64_t *machine_values(uint64_t count)
{
    return machine_grown(NULL, count + 1, sizeof(uint64_t));
}

static struct result load(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    uint64_t bytes = instruction->u.memory.bytes, count = instruction->u.memory.count,
             stride = instruction->u.memory.stride;
    struct result result = {.values = machine_values(bytes * count), .count = bytes * count};
    note_access(machine, number,
                (struct access){.begin = instruction->u.memory.address,
                                .bytes = bytes,
                                .stride = stride,
                                .count = count,
                                .write = false});
    for (uint64_t i = 0; i < result.count; i++)
        result.values[i] =
            machine_read(machine, number, instruction->u.memory.address + i / bytes * stride + i % bytes);
    if (instruction->detail == PIM_BUFFER_INPUT) {
        struct queue *queue = &unit->inputs;
        if (queue->count == queue->capacity)
            queue->tiles =
                machine_grown(queue->tiles, queue->capacity = 2 * queue->capacity + 16, sizeof *queue->tiles);
        queue->tiles[queue->count++] = result;
        unit->weights_tile = unit->at;
    }
    if (instruction->detail == PIM_BUFFER_WEIGHT) {
        uint64_t needed = unit->weights_count + result.count;
        if (needed > unit->weights_capacity)
            unit->weights =
                machine_grown(unit->weights, unit->weights_capacity = 2 * needed, sizeof *unit->weights);
        memcpy(unit->weights + unit->weights_count, result.values, result.count * sizeof *unit->weights);
        unit->weights_count = needed;
        unit->weights_last = unit->at;
    }
    return result;
}

static void store(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    uint64_t bytes = instruction->u.memory.bytes, count = instruction->u.memory.count,
             stride = instruction->u.memory.stride;
    struct result data = machine_operand(machine, number, 0);
    if (!data.values || data.count != bytes * count)
        machine_broken(machine, number, "stores %" PRIu64 " bytes of a result of %" PRIu64, bytes * count,
                       data.count);
    note_access(machine, number,
                (struct access){.begin = instruction->u.memory.address,
                                .bytes = bytes,
                                .stride = stride,
                                .count = count,
                                .write = true});
    for (uint64_t i = 0; i < data.count; i++) {
        uint64_t address = instruction->u.memory.address + i / bytes * stride + i % bytes;
        unit->memory[address] = data.values[i];
        unit->known[address] = true;
    }
}

/* --- network --- */

static void post(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    if (unit->posted_count == unit->posted_capacity)
        unit->posted = machine_grown(unit->posted, unit->posted_capacity = 2 * unit->posted_capacity + 16,
                                     sizeof *unit->posted);
    note_access(machine, number,
                (struct access){.begin = instruction->u.network.address,
                                .bytes = instruction->u.network.bytes,
                                .count = 1,
                                .write = true});
    unit->posted[unit->posted_count++] = (struct posted){.peer = instruction->u.network.peer,
                                                         .tag = instruction->u.network.tag,
                                                         .address = instruction->u.network.address,
                                                         .bytes = instruction->u.network.bytes,
                                                         .sequence = unit->at};
}

/* False when the receive is not open yet. */
static bool send(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    struct unit *peer = &machine->units[instruction->u.network.peer];
    uint64_t bytes = instruction->u.network.bytes;
    for (uint32_t i = 0; i < peer->posted_count; i++) {
        struct posted *receive = &peer->posted[i];
        if (receive->done || receive->peer != number || receive->tag != instruction->u.network.tag)
            continue;
        if (receive->bytes != bytes)
            machine_broken(machine, number, "sends %" PRIu64 " bytes, the receive has %" PRIu64, bytes,
                           receive->bytes);
        note_access(machine, number,
                    (struct access){.begin = instruction->u.network.address, .bytes = bytes, .count = 1});
        for (uint64_t j = 0; j < bytes; j++) {
            peer->memory[receive->address + j] =
                machine_read(machine, number, instruction->u.network.address + j);
            peer->known[receive->address + j] = true;
        }
        receive->done = true;
        return true;
    }
    return false;
}

/* Whether a receive that the instruction depends on, or (join) any receive, has not come. */
static bool waits(const struct unit *unit, bool join)
{
    for (uint32_t i = 0; i < unit->posted_count; i++) {
        if (unit->posted[i].done)
            continue;
        if (join)
            return true;
        for (unsigned j = 0; j < PIM_DEPENDENCIES; j++)
            if (unit->at - unit->posted[i].sequence == unit->program[unit->at].dependency[j])
                return true;
    }
    return false;
}

/* --- control --- */

static void join(struct unit *unit)
{
    unit->posted_count = 0;
    unit->access_count = 0;
    unit->join = unit->at;
}

static void begin_phase(struct unit *unit)
{
    unit->phase = unit->program[unit->at].u.control.phase;
    unit->phase_start = unit->at;
    join(unit);
}

static void end_phase(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    if (unit->inputs.head != unit->inputs.count || unit->weights_count != 0 || unit->output_open)
        machine_broken(machine, number, "something is left in a buffer");
    unit->inputs.head = unit->inputs.count = 0;
    join(unit);
    forget_results(unit, unit->at - unit->phase_start);
    unit->phase = UINT32_MAX;
}

static void keep(struct unit *unit, struct result result)
{
    uint64_t index = unit->at - unit->phase_start;
    if (index >= unit->results_capacity)
        unit->results =
            machine_grown(unit->results, unit->results_capacity = 2 * index + 64, sizeof *unit->results);
    unit->results[index] = result;
}

static uint32_t stage_of(const struct machine *machine, uint32_t phase)
{
    unsigned stage;
    return sscanf(pim_trace_phase(machine->scenario->trace, phase)->name, "stage%u/", &stage) == 1
               ? stage - 1
               : UINT32_MAX;
}

/* Executes the next instruction of a unit; false when it has to wait. */
static bool step(struct machine *machine, uint32_t number, uint32_t stage)
{
    struct unit *unit = &machine->units[number];
    if (unit->at == unit->length)
        return false;
    const struct pim_instruction *instruction = &unit->program[unit->at];
    enum pim_opcode opcode = (enum pim_opcode)instruction->opcode;
    bool joins = opcode == PIM_OP_JOIN || opcode == PIM_OP_PHASE_END || opcode == PIM_OP_PHASE_BEGIN;
    if (opcode == PIM_OP_PHASE_BEGIN && stage != UINT32_MAX) {
        uint32_t next = stage_of(machine, instruction->u.control.phase);
        if (next > stage)
            return false;
    }
    if (waits(unit, joins))
        return false;
    if (unit->phase == UINT32_MAX && opcode != PIM_OP_PHASE_BEGIN)
        machine_broken(machine, number, "stands outside of a phase");
    struct result result = {0};
    if (opcode == PIM_OP_PHASE_BEGIN)
        begin_phase(unit);
    else if (opcode == PIM_OP_PHASE_END)
        end_phase(machine, number);
    else if (opcode == PIM_OP_JOIN)
        join(unit);
    else if (opcode == PIM_OP_LOAD)
        result = load(machine, number);
    else if (opcode == PIM_OP_STORE)
        store(machine, number);
    else if (opcode == PIM_OP_MATRIX)
        result = machine_multiply(machine, number);
    else if (opcode == PIM_OP_VECTOR)
        result = machine_vector(machine, number);
    else if (opcode == PIM_OP_RECEIVE)
        post(machine, number);
    else if (opcode != PIM_OP_SEND)
        machine_broken(machine, number, "is not expected");
    else if (!send(machine, number))
        return false;
    if (unit->phase != UINT32_MAX)
        keep(unit, result);
    unit->at++;
    return true;
}

void machine_run(struct machine *machine, uint32_t stage)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < machine->count; i++)
            while (step(machine, i, stage))
                moved = true;
    }
    for (uint32_t i = 0; i < machine->count; i++)
        if (machine->units[i].phase != UINT32_MAX ||
            (stage == UINT32_MAX && machine->units[i].at != machine->units[i].length))
            machine_broken(machine, i, "never goes on");
}

/* Where a walk through the MATRIX instructions of a phase stands. */
struct order_walk {
    uint64_t first, columns; /* of the piece that is multiplied */
    uint64_t rows;           /* of it that are done */
    uint64_t n0, width, k0;  /* of the output tile */
    uint64_t count;          /* elements so far */
};

static void take_matrix(struct order_walk *walk, const struct pim_instruction *instruction,
                        const struct weight_order *wanted, uint64_t *order)
{
    if (instruction->detail & PIM_MATRIX_OPEN_OUTPUT) {
        walk->n0 += walk->width;
        walk->k0 = 0;
        if (walk->n0 == walk->columns) /* the next rows */
            walk->n0 = 0;
    }
    walk->width = instruction->u.matrix.n;
    for (uint64_t i = 0; walk->rows == 0 && i < instruction->u.matrix.k; i++)
        for (uint64_t j = 0; j < walk->width; j++)
            order[walk->count++] = ((walk->k0 + i) << 32) + walk->first + walk->n0 + j;
    walk->k0 += instruction->u.matrix.k;
    if (walk->n0 + walk->width < walk->columns || walk->k0 < wanted->k)
        return;
    walk->rows += instruction->u.matrix.m;
    if (walk->rows < wanted->rows)
        return;
    uint64_t first = walk->first + walk->columns, left = wanted->n - first;
    *walk = (struct order_walk){
        .first = first, .columns = left < wanted->width ? left : wanted->width, .count = walk->count};
}

bool machine_weight_order(const struct machine *machine, uint32_t number, const struct weight_order *wanted,
                          uint64_t *order)
{
    const struct unit *unit = &machine->units[number];
    struct order_walk walk = {.columns = wanted->n < wanted->width ? wanted->n : wanted->width};
    bool inside = false;
    for (uint64_t at = 0; at < unit->length && walk.first < wanted->n; at++) {
        const struct pim_instruction *instruction = &unit->program[at];
        if (instruction->opcode == PIM_OP_PHASE_BEGIN)
            inside = strcmp(pim_trace_phase(machine->scenario->trace, instruction->u.control.phase)->name,
                            wanted->name) == 0;
        if (inside && instruction->opcode == PIM_OP_MATRIX)
            take_matrix(&walk, instruction, wanted, order);
    }
    return walk.count == (uint64_t)wanted->k * wanted->n;
}
