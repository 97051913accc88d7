#include "tests/unit/allspark/machine.h"

#include "tests/unit/allspark/algebra.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Result of an instruction of the current phase; values is NULL when it has none. */
struct result {
    uint64_t *values;
    uint64_t count;
    bool shared; /* an output tile: freed with the instruction that opened it */
};

/* An access to memory since the last join. */
struct access {
    uint64_t begin, end, sequence;
    enum pim_engine engine;
    bool write;
};

struct posted {
    uint32_t peer, tag;
    uint64_t address, bytes, sequence;
    bool done;
};

struct queue { /* input tiles, or weights in one row */
    struct result *tiles;
    uint32_t head, count, capacity;
};

struct unit {
    struct pim_instruction *program;
    uint64_t length, at;
    uint64_t *memory;
    bool *known;
    uint32_t phase;
    uint64_t phase_start, join; /* sequence of the first instruction of the phase; of the last join */
    struct result *results;     /* from phase_start on */
    uint64_t results_capacity;
    struct queue inputs;
    uint64_t *weights; /* byte stream */
    uint64_t weights_head, weights_count, weights_capacity, weights_last; /* last: sequence of the newest load */
    uint32_t tile;      /* which input tile the next MATRIX reads */
    struct result output;
    uint64_t output_last; /* sequence of the MATRIX that accumulated last */
    bool output_open;
    struct posted *posted;
    uint32_t posted_count, posted_capacity;
    struct access *accesses;
    uint32_t access_count, access_capacity;
};

struct machine {
    const struct scenario *scenario;
    uint64_t memory_bytes;
    uint32_t count;
    struct unit *units;
};

PIM_PRINTF(3, 4) static void broken(const struct machine *machine, uint32_t number, const char *format, ...)
{
    const struct unit *unit = &machine->units[number];
    const char *phase = unit->phase == UINT32_MAX ? "none" : pim_trace_phase(machine->scenario->trace, unit->phase)->name;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *opcode = unit->at < unit->length ? pim_opcode_name(unit->program[unit->at].opcode) : "end";
    ck_abort_msg("%s: unit %" PRIu32 ", instruction %" PRIu64 " (%s), phase %s: %s", machine->scenario->name, number, unit->at, opcode, phase,
                 text);
}

static void *grown(void *items, uint64_t capacity, size_t size)
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
    unit->program = grown(NULL, unit->length + 1, sizeof *unit->program);
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
    struct machine *machine = grown(NULL, 1, sizeof *machine);
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
        broken(machine, number, "byte %" PRIu64 " cannot be placed: it is %s", address,
             address >= machine->memory_bytes ? "beyond the memory of the plan" : "taken");
    unit->memory[address] = value;
    unit->known[address] = true;
}

uint64_t machine_read(const struct machine *machine, uint32_t number, uint64_t address)
{
    if (address >= machine->memory_bytes || !machine->units[number].known[address])
        broken(machine, number, "byte %" PRIu64 " is read and holds nothing", address);
    return machine->units[number].memory[address];
}

void machine_forget(struct machine *machine, uint64_t address)
{
    for (uint32_t i = 0; i < machine->count; i++)
        memset(machine->units[i].known + address, 0, machine->memory_bytes - address);
}

/* --- results and order --- */

static struct result *result_at(struct machine *machine, uint32_t number, uint64_t sequence)
{
    struct unit *unit = &machine->units[number];
    if (sequence < unit->phase_start || sequence >= unit->at)
        broken(machine, number, "depends on instruction %" PRIu64 ", which is not of this phase", sequence);
    return &unit->results[sequence - unit->phase_start];
}

/* The operand that dependency `slot` names; values NULL when it names none. */
static struct result operand(struct machine *machine, uint32_t number, unsigned slot)
{
    const struct unit *unit = &machine->units[number];
    uint64_t distance = unit->program[unit->at].dependency[slot];
    return distance ? *result_at(machine, number, unit->at - distance) : (struct result){0};
}

/* Whether `later` cannot start before `earlier` is complete: through dependencies and engines that work one instruction at a time. */
static bool ordered(const struct unit *unit, uint64_t earlier, uint64_t later)
{
    if (later <= earlier)
        return later == earlier;
    const struct pim_instruction *instruction = &unit->program[later];
    for (unsigned i = 0; i < PIM_DEPENDENCIES; i++)
        if (instruction->dependency[i] && ordered(unit, earlier, later - instruction->dependency[i]))
            return true;
    enum pim_engine engine = pim_opcode_engine(instruction->opcode);
    for (uint64_t before = later; engine != PIM_ENGINE_RECEIVE && before-- > earlier;)
        if (pim_opcode_engine(unit->program[before].opcode) == engine)
            return ordered(unit, earlier, before);
    return false;
}

static void note_access(struct machine *machine, uint32_t number, uint64_t begin, uint64_t end, bool write)
{
    struct unit *unit = &machine->units[number];
    enum pim_engine engine = pim_opcode_engine(unit->program[unit->at].opcode);
    if (end > machine->memory_bytes)
        broken(machine, number, "bytes up to %" PRIu64 " are beyond the memory of the plan, %" PRIu64, end, machine->memory_bytes);
    for (uint32_t i = 0; i < unit->access_count; i++) {
        const struct access *other = &unit->accesses[i];
        bool meet = other->begin < end && begin < other->end && (other->write || write);
        if (meet && (other->engine != engine || engine == PIM_ENGINE_RECEIVE) && !ordered(unit, other->sequence, unit->at))
            broken(machine, number, "bytes %" PRIu64 " to %" PRIu64 " are also accessed by instruction %" PRIu64 " in no certain order", begin,
                 end, other->sequence);
    }
    if (unit->access_count == unit->access_capacity)
        unit->accesses = grown(unit->accesses, unit->access_capacity = 2 * unit->access_capacity + 16, sizeof *unit->accesses);
    unit->accesses[unit->access_count++] = (struct access){begin, end, unit->at, engine, write};
}

/* --- memory --- */

static uint64_t *values_of(uint64_t count)
{
    return grown(NULL, count + 1, sizeof(uint64_t));
}

static struct result load(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    uint64_t bytes = instruction->u.memory.bytes, count = instruction->u.memory.count, stride = instruction->u.memory.stride;
    struct result result = {.values = values_of(bytes * count), .count = bytes * count};
    note_access(machine, number, instruction->u.memory.address, instruction->u.memory.address + (count - 1) * stride + bytes, false);
    for (uint64_t i = 0; i < result.count; i++)
        result.values[i] = machine_read(machine, number, instruction->u.memory.address + i / bytes * stride + i % bytes);
    if (instruction->detail == PIM_BUFFER_INPUT) {
        struct queue *queue = &unit->inputs;
        if (queue->count == queue->capacity)
            queue->tiles = grown(queue->tiles, queue->capacity = 2 * queue->capacity + 16, sizeof *queue->tiles);
        queue->tiles[queue->count++] = result;
    }
    if (instruction->detail == PIM_BUFFER_WEIGHT) {
        uint64_t needed = unit->weights_count + result.count;
        if (needed > unit->weights_capacity)
            unit->weights = grown(unit->weights, unit->weights_capacity = 2 * needed, sizeof *unit->weights);
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
    uint64_t bytes = instruction->u.memory.bytes, count = instruction->u.memory.count, stride = instruction->u.memory.stride;
    struct result data = operand(machine, number, 0);
    if (!data.values || data.count != bytes * count)
        broken(machine, number, "stores %" PRIu64 " bytes of a result of %" PRIu64, bytes * count, data.count);
    note_access(machine, number, instruction->u.memory.address, instruction->u.memory.address + (count - 1) * stride + bytes, true);
    for (uint64_t i = 0; i < data.count; i++) {
        uint64_t address = instruction->u.memory.address + i / bytes * stride + i % bytes;
        unit->memory[address] = data.values[i];
        unit->known[address] = true;
    }
}

/* --- matrix --- */

/* `weights` is k x n, or n x k in the scores, whose right-hand operand is loaded transposed. */
static void accumulate(const uint64_t *input, const uint64_t *weights, bool transposed, uint64_t *output, uint64_t m, uint64_t n, uint64_t k)
{
    for (uint64_t i = 0; i < m; i++)
        for (uint64_t c = 0; c < k; c++)
            for (uint64_t j = 0; j < n; j++)
                output[i * n + j] += input[i * k + c] * (transposed ? weights[j * k + c] : weights[c * n + j]);
}

static bool phase_is(const struct machine *machine, const struct unit *unit, const char *end)
{
    const char *name = pim_trace_phase(machine->scenario->trace, unit->phase)->name;
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

static const uint64_t *input_tile(struct machine *machine, uint32_t number, uint64_t size)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    if (instruction->detail & PIM_MATRIX_OPEN_OUTPUT)
        unit->tile = unit->inputs.head;
    if (unit->tile >= unit->inputs.count || unit->inputs.tiles[unit->tile].count != size)
        broken(machine, number, "no input tile of %" PRIu64 " elements is in the buffer", size);
    const uint64_t *values = unit->inputs.tiles[unit->tile++].values;
    uint64_t distance = instruction->dependency[0];
    if (distance && result_at(machine, number, unit->at - distance)->values != values)
        broken(machine, number, "waits for another load than that of its input");
    if (instruction->detail & PIM_MATRIX_RELEASE_INPUT) {
        if (unit->tile != ++unit->inputs.head)
            broken(machine, number, "gives back another input tile than the oldest");
    }
    return values;
}

static struct result multiply(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    uint64_t m = instruction->u.matrix.m, n = instruction->u.matrix.n, k = instruction->u.matrix.k;
    const uint64_t *input = input_tile(machine, number, m * k);
    if (unit->weights_count - unit->weights_head < k * n || !(instruction->detail & PIM_MATRIX_RELEASE_WEIGHT))
        broken(machine, number, "no %" PRIu64 " weights are in the buffer", k * n);
    if (unit->weights_count - unit->weights_head == k * n && !ordered(unit, unit->weights_last, unit->at))
        broken(machine, number, "does not wait for its weights");
    if (instruction->detail & PIM_MATRIX_OPEN_OUTPUT) {
        if (unit->output_open)
            broken(machine, number, "opens an output tile before the last one is taken");
        unit->output = (struct result){.values = calloc(m * n, sizeof(uint64_t)), .count = m * n};
        unit->output_open = true;
    }
    if (!unit->output_open || unit->output.count != m * n)
        broken(machine, number, "accumulates to a tile that is not open");
    accumulate(input, unit->weights + unit->weights_head, phase_is(machine, unit, "/scores"), unit->output.values, m, n, k);
    unit->weights_head += k * n;
    if (unit->weights_head == unit->weights_count)
        unit->weights_head = unit->weights_count = 0;
    unit->output_last = unit->at;
    return (struct result){.values = unit->output.values, .count = m * n, .shared = !(instruction->detail & PIM_MATRIX_OPEN_OUTPUT)};
}

/* --- vector --- */

static void softmax(const uint64_t *x, uint64_t *y, uint64_t rows, uint64_t elements)
{
    for (uint64_t i = 0; i < rows; i++, x += elements, y += elements) {
        uint64_t sum = 0;
        for (uint64_t j = 0; j < elements; j++)
            sum += exponential_of(x[j]);
        for (uint64_t j = 0; j < elements; j++)
            y[j] = softmax_of(x[j], sum);
    }
}

/* Two sums of 16 bits in four bytes: the second byte of each must go wherever the first goes. */
static void put_sums(uint64_t *bytes, uint64_t sum, uint64_t squares)
{
    bytes[0] = sum;
    bytes[1] = mixed(sum);
    bytes[2] = squares;
    bytes[3] = mixed(squares);
}

static void normalise(struct machine *machine, uint32_t number, struct result x, struct result statistics, uint64_t *y)
{
    struct unit *unit = &machine->units[number];
    uint64_t rows = unit->program[unit->at].u.vector.rows, elements = unit->program[unit->at].u.vector.elements;
    uint64_t pieces = statistics.count / (4 * rows);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t sum = 0, squares = 0;
        for (uint64_t j = 0; j < elements && !statistics.values; j++) {
            sum += x.values[i * elements + j];
            squares += x.values[i * elements + j] * x.values[i * elements + j];
        }
        for (uint64_t piece = 0; piece < pieces; piece++) {
            const uint64_t *bytes = statistics.values + 4 * (piece * rows + i);
            if (bytes[1] != mixed(bytes[0]) || bytes[3] != mixed(bytes[2]))
                broken(machine, number, "statistics of piece %" PRIu64 " are damaged", piece);
            sum += bytes[0];
            squares += bytes[2];
        }
        for (uint64_t j = 0; j < elements; j++)
            y[i * elements + j] = normal_of(x.values[i * elements + j], sum, squares);
    }
}

/* Of a part of the channels, before a layer normalisation; of tokens, for the classifier; of such averages. */
static struct result average(struct machine *machine, uint32_t number, struct result x)
{
    struct unit *unit = &machine->units[number];
    uint64_t rows = unit->program[unit->at].u.vector.rows, elements = unit->program[unit->at].u.vector.elements;
    bool second = x.count == 2 * rows * elements;
    if (!phase_is(machine, unit, "pool")) {
        struct result result = {.values = values_of(4 * rows), .count = 4 * rows};
        for (uint64_t i = 0; i < rows; i++) {
            uint64_t sum = 0, squares = 0;
            for (uint64_t j = 0; j < elements; j++) {
                sum += x.values[i * elements + j];
                squares += x.values[i * elements + j] * x.values[i * elements + j];
            }
            put_sums(result.values + 4 * i, sum, squares);
        }
        return result;
    }
    struct result result = {.values = values_of(2 * rows), .count = second ? rows : 2 * rows};
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t sum = 0;
        for (uint64_t j = 0; j < elements; j++)
            sum += x.values[second ? 2 * (j * rows + i) : j * rows + i];
        result.values[second ? i : 2 * i] = sum;
        if (!second)
            result.values[2 * i + 1] = mixed(sum);
    }
    return result;
}

static struct result vector(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    uint64_t count = (uint64_t)instruction->u.vector.rows * instruction->u.vector.elements;
    struct result x = operand(machine, number, 0), y = operand(machine, number, 1);
    bool averages = instruction->detail == PIM_VECTOR_AVERAGE;
    if (!x.values || (x.count != count && !averages))
        broken(machine, number, "works on %" PRIu64 " elements of a result of %" PRIu64, count, x.count);
    if (unit->output_open && x.values == unit->output.values) {
        if (unit->at - instruction->dependency[0] != unit->output_last ||
            instruction->u.vector.release != count * machine->scenario->plan.hardware.accumulator_bytes)
            broken(machine, number, "does not take the whole output tile");
        unit->output_open = false;
    }
    if (averages)
        return average(machine, number, x);
    struct result result = {.values = values_of(count), .count = count};
    memcpy(result.values, x.values, count * sizeof *x.values);
    switch ((enum pim_vector)instruction->detail) {
    case PIM_VECTOR_SOFTMAX:
        softmax(x.values, result.values, instruction->u.vector.rows, instruction->u.vector.elements);
        break;
    case PIM_VECTOR_LAYERNORM:
        normalise(machine, number, x, y, result.values);
        break;
    case PIM_VECTOR_ADD:
        if (y.count != count)
            broken(machine, number, "adds %" PRIu64 " elements to %" PRIu64, y.count, count);
        for (uint64_t i = 0; i < count; i++)
            result.values[i] += y.values[i];
        break;
    case PIM_VECTOR_GELU:
        for (uint64_t i = 0; i < count; i++)
            result.values[i] = gelu_of(result.values[i]);
        break;
    case PIM_VECTOR_COPY:
        break;
    case PIM_VECTOR_AVERAGE:
    case PIM_VECTOR_RELU:
    case PIM_VECTOR_MULTIPLY:
    case PIM_VECTOR_MAXIMUM:
    case PIM_VECTOR_SIGMOID:
    case PIM_VECTOR_TANH:
    case PIM_VECTORS:
        broken(machine, number, "operation %u is not expected", instruction->detail);
    }
    return result;
}

/* --- network --- */

static void post(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *instruction = &unit->program[unit->at];
    if (unit->posted_count == unit->posted_capacity)
        unit->posted = grown(unit->posted, unit->posted_capacity = 2 * unit->posted_capacity + 16, sizeof *unit->posted);
    note_access(machine, number, instruction->u.network.address, instruction->u.network.address + instruction->u.network.bytes, true);
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
            broken(machine, number, "sends %" PRIu64 " bytes, the receive has %" PRIu64, bytes, receive->bytes);
        note_access(machine, number, instruction->u.network.address, instruction->u.network.address + bytes, false);
        for (uint64_t j = 0; j < bytes; j++) {
            peer->memory[receive->address + j] = machine_read(machine, number, instruction->u.network.address + j);
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
        broken(machine, number, "something is left in a buffer");
    unit->inputs.head = unit->inputs.count = 0;
    join(unit);
    forget_results(unit, unit->at - unit->phase_start);
    unit->phase = UINT32_MAX;
}

static void keep(struct unit *unit, struct result result)
{
    uint64_t index = unit->at - unit->phase_start;
    if (index >= unit->results_capacity)
        unit->results = grown(unit->results, unit->results_capacity = 2 * index + 64, sizeof *unit->results);
    unit->results[index] = result;
}

static uint32_t stage_of(const struct machine *machine, uint32_t phase)
{
    unsigned stage;
    return sscanf(pim_trace_phase(machine->scenario->trace, phase)->name, "stage%u/", &stage) == 1 ? stage - 1 : UINT32_MAX;
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
        result = multiply(machine, number);
    else if (opcode == PIM_OP_VECTOR)
        result = vector(machine, number);
    else if (opcode == PIM_OP_RECEIVE)
        post(machine, number);
    else if (opcode != PIM_OP_SEND)
        broken(machine, number, "is not expected");
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
        if (machine->units[i].phase != UINT32_MAX || (stage == UINT32_MAX && machine->units[i].at != machine->units[i].length))
            broken(machine, i, "never goes on");
}

bool machine_weight_order(const struct machine *machine, uint32_t number, const char *name, uint32_t k, uint32_t n, uint64_t *order)
{
    const struct unit *unit = &machine->units[number];
    uint64_t at = 0, count = 0, k0 = 0, n0 = 0, width = 0;
    bool inside = false;
    for (; at < unit->length && count < (uint64_t)k * n; at++) {
        const struct pim_instruction *instruction = &unit->program[at];
        if (instruction->opcode == PIM_OP_PHASE_BEGIN)
            inside = strcmp(pim_trace_phase(machine->scenario->trace, instruction->u.control.phase)->name, name) == 0;
        if (!inside || instruction->opcode != PIM_OP_MATRIX)
            continue;
        if (instruction->detail & PIM_MATRIX_OPEN_OUTPUT) {
            n0 += width;
            k0 = 0;
        }
        width = instruction->u.matrix.n;
        for (uint64_t i = 0; i < instruction->u.matrix.k; i++)
            for (uint64_t j = 0; j < width; j++)
                order[count++] = ((k0 + i) << 32) + n0 + j;
        k0 += instruction->u.matrix.k;
    }
    return count == (uint64_t)k * n;
}
