#include "models/channel/costs.h"

#include "models/bitserial/reram.h"
#include "models/bitserial/steps.h"
#include "models/unit/unit.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST (UINT64_C(1) << 56) /* cycles of an instruction */
#define PICOSECONDS_PER_MILLISECOND UINT64_C(1000000000)

/* What the cost of an instruction depends on: rows change nothing. */
struct key {
    uint32_t kind, detail, bits, size, count, rows, shift;
    uint32_t first_bank, banks, bank_stride, to_bank;
};

struct entry {
    bool used;
    struct key key;
    struct pim_channel_cost cost;
};

struct pim_channel_costs {
    struct pim_channel_memory memory;
    struct entry *entries; /* open addressing; capacity is a power of two */
    size_t count, capacity;
};

static uint64_t row_bytes(const struct pim_channel_memory *memory)
{
    return memory->columns / 8;
}

/* --- checks --- */

static enum pim_status check_banks(const struct pim_channel_memory *memory, uint32_t first, uint32_t banks,
                                   uint32_t stride, struct pim_error *error)
{
    uint64_t last = first + (uint64_t)(banks - 1) * stride;
    if (last < memory->banks)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "bank %" PRIu64 " does not exist: a channel has %" PRIu32 " (levels.banks)", last,
                    memory->banks);
}

static enum pim_status check_rows(const struct pim_channel_memory *memory, uint64_t first, uint64_t rows,
                                  const char *what, struct pim_error *error)
{
    if (first + rows <= memory->rows)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "%s: rows %" PRIu64 " to %" PRIu64 ", and a bank has %" PRIu32 " for data: %" PRIu64
                    " are missing (levels.rows)",
                    what, first, first + rows - 1, memory->rows, first + rows - memory->rows);
}

static enum pim_status check_move(const struct pim_channel_memory *memory,
                                  const struct pim_instruction *instruction, struct pim_error *error)
{
    uint32_t rows = instruction->u.row_move.rows, banks = instruction->u.row_move.banks;
    uint32_t first = instruction->u.row_move.first_bank, stride = instruction->u.row_move.bank_stride;
    uint32_t to = instruction->u.row_move.to_bank;
    if (check_banks(memory, first, banks, stride, error) != PIM_OK ||
        check_rows(memory, instruction->u.row_move.source, rows, "source", error) != PIM_OK ||
        check_rows(memory, instruction->u.row_move.result, rows, "result", error) != PIM_OK)
        return error->status;
    if ((uint64_t)rows * banks > PIM_ROWS_OF_A_MOVE)
        return pim_fail(error, PIM_BAD_INPUT, "moves %" PRIu64 " rows: allowed are %d, split it",
                        (uint64_t)rows * banks, (int)PIM_ROWS_OF_A_MOVE);
    if (instruction->detail == PIM_REACH_COLUMN) {
        if (instruction->u.row_move.shift < memory->columns)
            return PIM_OK;
        return pim_fail(error, PIM_BAD_INPUT, "shift is %" PRIu32 ": a row has %" PRIu32 " columns",
                        instruction->u.row_move.shift, memory->columns);
    }
    if (check_banks(memory, to, banks, stride, error) != PIM_OK)
        return error->status;
    uint32_t later = first > to ? first : to, apart = later - (first > to ? to : first);
    if (apart % stride == 0 && apart / stride < banks)
        return pim_fail(error, PIM_BAD_INPUT, "bank %" PRIu32 " is both read and written", later);
    return PIM_OK;
}

/* Rows of operands, result and scratch of an operation. */
static enum pim_status check_operation(const struct pim_channel_memory *memory,
                                       const struct pim_instruction *instruction, struct pim_error *error)
{
    uint32_t bits = instruction->u.row_compute.bits, size = instruction->u.row_compute.size;
    uint32_t first = bits, second = bits, result = bits;
    bool transpose = instruction->opcode == PIM_OP_ROW_TRANSPOSE;
    unsigned operation = transpose ? PIM_ROW_OPERATIONS : instruction->detail;
    if (transpose)
        first = pim_bitserial_word_bits(bits);
    if (transpose || operation == PIM_ROW_COPY)
        second = 0;
    if (operation == PIM_ROW_MULTIPLY)
        result = size;
    if (operation == PIM_ROW_REDUCE) {
        second = bits + size - 1;
        result = bits + size;
    }
    if (operation == PIM_ROW_REDUCE && UINT32_C(1) << size > memory->columns)
        return pim_fail(error, PIM_BAD_INPUT, "reduces 2^%" PRIu32 " columns: a row has %" PRIu32, size,
                        memory->columns);
    if (check_banks(memory, instruction->u.row_compute.first_bank, instruction->u.row_compute.banks,
                    instruction->u.row_compute.bank_stride, error) != PIM_OK ||
        check_rows(memory, instruction->u.row_compute.source, first, "source", error) != PIM_OK ||
        (second > 0 &&
         check_rows(memory, instruction->u.row_compute.second, second, "second", error) != PIM_OK))
        return error->status;
    return check_rows(memory, instruction->u.row_compute.result, result, "result", error);
}

enum pim_status pim_channel_check(const struct pim_channel_memory *memory,
                                  const struct pim_instruction *instruction, struct pim_error *error)
{
    uint64_t rows = instruction->u.row_message.rows;
    switch (instruction->opcode) {
    case PIM_OP_ROW_COMPUTE:
    case PIM_OP_ROW_TRANSPOSE:
        return check_operation(memory, instruction, error);
    case PIM_OP_ROW_MOVE:
        return check_move(memory, instruction, error);
    case PIM_OP_ROW_SEND:
    case PIM_OP_ROW_RECEIVE:
        if (check_banks(memory, instruction->u.row_message.first_bank, instruction->u.row_message.banks,
                        instruction->u.row_message.bank_stride, error) != PIM_OK)
            return error->status;
        if (rows * instruction->u.row_message.banks > PIM_ROWS_OF_A_MOVE)
            return pim_fail(error, PIM_BAD_INPUT, "moves %" PRIu64 " rows: allowed are %d, split it",
                            rows * instruction->u.row_message.banks, (int)PIM_ROWS_OF_A_MOVE);
        return check_rows(memory, instruction->u.row_message.row, rows, "row", error);
    default:
        return pim_unit_refuse_opcode(instruction->opcode, error);
    }
}

/* --- programs --- */

static struct pim_bitserial_bank_shape shape_of(const struct pim_channel_memory *memory)
{
    if (memory->has_banks)
        return pim_bitserial_shape(&memory->specification);
    /* Nothing is known of column accesses: one a row. */
    return (struct pim_bitserial_bank_shape){memory->rows + PIM_BITSERIAL_RESERVED_ROWS, 1,
                                             (uint32_t)row_bytes(memory)};
}

struct pim_bitserial_operation pim_channel_operation(unsigned opcode, unsigned detail, uint32_t bits,
                                                     uint32_t size)
{
    static const enum pim_bitserial_kind kinds[PIM_ROW_OPERATIONS] = {
        [PIM_ROW_ADD] = PIM_BITSERIAL_OPERATION_ADD,
        [PIM_ROW_SUBTRACT] = PIM_BITSERIAL_OPERATION_SUBTRACT,
        [PIM_ROW_MULTIPLY] = PIM_BITSERIAL_OPERATION_MULTIPLY,
        [PIM_ROW_COPY] = PIM_BITSERIAL_OPERATION_COPY,
        [PIM_ROW_REDUCE] = PIM_BITSERIAL_OPERATION_REDUCE};
    struct pim_bitserial_operation operation = {
        .kind = opcode == PIM_OP_ROW_TRANSPOSE ? PIM_BITSERIAL_OPERATION_TRANSPOSE : kinds[detail],
        .bits = bits};
    if (operation.kind == PIM_BITSERIAL_OPERATION_MULTIPLY)
        operation.result_bits = size;
    if (operation.kind == PIM_BITSERIAL_OPERATION_REDUCE)
        operation.width = UINT32_C(1) << size;
    return operation;
}

/* The operation of a key on rows that do not matter, one behind the other. */
static struct pim_bitserial_operation operation_of(const struct key *key)
{
    struct pim_bitserial_operation operation =
        pim_channel_operation(key->kind, key->detail, key->bits, key->size);
    pim_bitserial_place(&operation);
    return operation;
}

/* `rows` rows, read and, or, written. */
static void write_rows(struct pim_bitserial_program *program, const struct key *key, uint32_t rows,
                       uint32_t accesses, bool read, bool write)
{
    struct pim_bitserial_step step = {.access_step = 1, .accesses = accesses, .shift = key->shift};
    for (uint32_t i = 0; i < rows; i++) {
        step.second = step.row = i;
        step.kind = PIM_BITSERIAL_STEP_READ;
        if (read)
            pim_bitserial_append(program, &step);
        step.kind = PIM_BITSERIAL_STEP_WRITE;
        if (write)
            pim_bitserial_append(program, &step);
    }
    program->slots = rows;
}

/* The programs of the banks that read, or compute, and of those that are written. */
struct programs {
    struct pim_bitserial_program program[2];
    uint32_t banks[2]; /* 0: none */
    uint64_t repeat;
};

static enum pim_status compile(const struct pim_channel_memory *memory, const struct key *key,
                               struct programs *programs, struct pim_error *error)
{
    const struct pim_bitserial_bank_shape shape = shape_of(memory);
    *programs = (struct programs){.banks = {key->banks, 0}, .repeat = key->count};
    struct pim_bitserial_program *program = programs->program;
    if (key->kind == PIM_OP_ROW_COMPUTE || key->kind == PIM_OP_ROW_TRANSPOSE) {
        const struct pim_bitserial_operation operation = operation_of(key);
        return pim_bitserial_compile(program, &operation, &shape, error);
    }
    bool move = key->kind == PIM_OP_ROW_MOVE, between = move && key->detail == PIM_REACH_BANK;
    bool inside = move && !between; /* each row is read and written before the next: one row, repeated */
    if (inside)
        programs->repeat = key->rows;
    write_rows(&program[0], key, inside ? 1 : key->rows, shape.accesses, key->kind != PIM_CHANNEL_WRITE,
               key->kind == PIM_CHANNEL_WRITE || inside);
    if (between) {
        write_rows(&program[1], key, key->rows, shape.accesses, false, true);
        programs->banks[1] = key->banks;
    }
    return program[0].out_of_memory || program[1].out_of_memory
               ? pim_fail(error, PIM_NO_MEMORY, "out of memory for a move of rows")
               : PIM_OK;
}

static void terminate(struct programs *programs)
{
    pim_bitserial_program_terminate(&programs->program[0]);
    pim_bitserial_program_terminate(&programs->program[1]);
}

/* Steps of a crossbar for one repetition. */
static uint64_t steps_of(const struct key *key)
{
    uint64_t steps = 0;
    if (key->kind != PIM_OP_ROW_COMPUTE)
        return 0;
    switch ((enum pim_row_operation)key->detail) {
    case PIM_ROW_ADD:
        return pim_reram_add_steps(key->bits);
    case PIM_ROW_SUBTRACT:
        return pim_reram_subtract_steps(key->bits);
    case PIM_ROW_MULTIPLY:
        return pim_reram_multiply_steps(key->bits);
    case PIM_ROW_COPY:
        return pim_reram_copy_steps(key->bits);
    case PIM_ROW_REDUCE:
        for (uint32_t level = 0; level < key->size; level++)
            steps += pim_reram_add_steps((uint64_t)key->bits + level + 1);
        return steps;
    case PIM_ROW_OPERATIONS:
        break;
    }
    return 0;
}

/* Commands of all banks, all repetitions: from the programs, whatever the table is. */
static void count(const struct pim_channel_memory *memory, const struct key *key,
                  const struct programs *programs, struct pim_channel_cost *cost)
{
    const struct pim_bitserial_bank_shape shape = shape_of(memory);
    uint64_t aaps = 0, rows = 0, accesses = 0;
    for (unsigned side = 0; side < 2; side++)
        for (size_t i = 0; i < programs->program[side].count; i++) {
            const struct pim_bitserial_step *step = &programs->program[side].steps[i];
            bool aap = step->kind == PIM_BITSERIAL_STEP_AAP;
            aaps += aap ? programs->banks[side] : 0;
            rows += aap ? 0 : programs->banks[side];
            accesses += aap ? 0 : (uint64_t)step->accesses * programs->banks[side];
        }
    cost->activates = memory->has_banks ? (2 * aaps + rows) * programs->repeat : 0;
    cost->bits = accesses * shape.access_bytes * 8 * programs->repeat;
    cost->steps = memory->has_banks ? 0 : steps_of(key) * key->banks * programs->repeat;
    if (key->kind == PIM_OP_ROW_COMPUTE && key->detail == PIM_ROW_MULTIPLY)
        cost->products = (uint64_t)memory->columns * key->banks * programs->repeat;
    if (!memory->commands)
        return;
    const uint32_t *p = memory->specification.parameter;
    /* Four activations in tFAW, one in tRRD; ACT holds the row bus for some cycles, PRE for one. */
    uint64_t activates = cost->activates, row_commands = (aaps + rows) * programs->repeat;
    uint64_t bus = activates * p[PIM_DRAM_T_ACT_CYCLES] + row_commands;
    uint64_t window = pim_channel_ceiling(activates * p[PIM_DRAM_T_FAW], 4);
    uint64_t apart = activates * p[PIM_DRAM_T_RRD_S];
    cost->row_cycles = bus > window ? bus : window;
    cost->row_cycles = cost->row_cycles > apart ? cost->row_cycles : apart;
    uint32_t pace = p[PIM_DRAM_T_B] > p[PIM_DRAM_T_CCD_S] ? p[PIM_DRAM_T_B] : p[PIM_DRAM_T_CCD_S];
    cost->data_cycles = accesses * programs->repeat * pace;
}

/* --- commands --- */

/* Work of each bank, in the order in which banks take turns: neighbours are in different groups. */
static uint32_t share_out(const struct pim_channel_memory *memory, const struct key *key,
                          const struct programs *programs, struct pim_bitserial_work *work)
{
    uint32_t count = 0;
    for (unsigned side = 0; side < 2; side++) {
        uint32_t first = side == 0 ? key->first_bank : key->to_bank;
        for (uint32_t turn = 0; turn < memory->banks && programs->banks[side] > 0; turn++) {
            uint32_t bank = pim_bitserial_bank_in_turn(&memory->specification.organization, turn);
            if (bank < first || (bank - first) % key->bank_stride != 0)
                continue;
            uint32_t place = (bank - first) / key->bank_stride;
            if (place < key->banks)
                work[count++] =
                    (struct pim_bitserial_work){.bank = bank,
                                                .program = &programs->program[side],
                                                .repeat = programs->repeat,
                                                .first_slot = place * programs->program[side].slots};
        }
    }
    return count;
}

static enum pim_status sequence(const struct pim_channel_memory *memory, const struct key *key,
                                const struct programs *programs, struct pim_channel_cost *cost,
                                struct pim_error *error)
{
    size_t slots = (size_t)programs->program[0].slots * key->banks;
    struct pim_bitserial_work *work = calloc((size_t)2 * memory->banks, sizeof *work);
    uint64_t *ready = calloc(slots + 1, sizeof *ready);
    enum pim_status status = PIM_OK;
    bool reads = key->kind == PIM_CHANNEL_READ, writes = key->kind == PIM_CHANNEL_WRITE;
    for (size_t i = 0; ready && reads && i < slots; i++)
        ready[i] = UINT64_MAX;
    if (!work || !ready) {
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " banks", memory->banks);
    } else {
        const struct pim_bitserial_schedule schedule = {.specification = &memory->specification,
                                                        .work = work,
                                                        .work_count = share_out(memory, key, programs, work),
                                                        .slots = (uint32_t)slots,
                                                        .slot_ready = reads || writes ? ready : NULL};
        struct pim_bitserial_timing timing;
        status = pim_bitserial_sequence(&schedule, &timing, error);
        if (status == PIM_OK)
            cost->cycles = timing.cycles;
    }
    if (status == PIM_OK && reads) {
        cost->first = UINT64_MAX;
        for (size_t i = 0; i < slots; i++)
            cost->first = ready[i] < cost->first ? ready[i] : cost->first;
    } else if (status == PIM_OK && writes && key->rows * key->banks > 1) {
        struct key one = *key;
        struct pim_channel_cost last = {0};
        struct programs single;
        one.rows = one.banks = 1;
        status = compile(memory, &one, &single, error);
        if (status == PIM_OK)
            status = sequence(memory, &one, &single, &last, error);
        terminate(&single);
        cost->first = last.cycles;
    } else if (writes) {
        cost->first = cost->cycles;
    }
    free(work);
    free(ready);
    return status;
}

/* --- the figure's constants --- */

static void take_figure(const struct pim_channel_memory *memory, const struct key *key,
                        const struct programs *programs, struct pim_channel_cost *cost)
{
    uint64_t row = pim_channel_ceiling(row_bytes(memory), memory->link_bytes), moved = 0, levels = 0;
    const uint64_t compute[PIM_ROW_OPERATIONS] = {[PIM_ROW_ADD] = memory->add_cycles,
                                                  [PIM_ROW_SUBTRACT] = memory->add_cycles,
                                                  [PIM_ROW_MULTIPLY] = memory->multiply_cycles,
                                                  [PIM_ROW_COPY] = (uint64_t)memory->aap_cycles * key->bits,
                                                  [PIM_ROW_REDUCE] = memory->add_cycles};
    switch (key->kind) {
    case PIM_OP_ROW_COMPUTE:
        for (; key->detail == PIM_ROW_REDUCE && levels < key->size; levels++)
            moved += 2 * (key->bits + levels);
        cost->cycles = compute[key->detail] * (key->detail == PIM_ROW_REDUCE ? levels : 1);
        if (memory->steps) /* 2^14 steps at most, of 2^20 ps, at less than 2^27 kHz */
            cost->cycles = pim_channel_ceiling(steps_of(key) * memory->step_ps * memory->logic_khz,
                                               PICOSECONDS_PER_MILLISECOND);
        break;
    default:
        moved = programs->program[0].count + programs->program[1].count;
        cost->cycles = 0;
        break;
    }
    cost->data_cycles = moved * key->banks * row * programs->repeat;
    cost->cycles = cost->cycles * programs->repeat + cost->data_cycles;
    cost->first = row;
}

/* --- memory of answers --- */

static size_t place_of(const struct pim_channel_costs *costs, const struct key *key)
{
    const uint32_t *word = (const uint32_t *)(const void *)key;
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof *key / sizeof *word; i++) {
        hash = (hash ^ word[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    size_t place = (size_t)hash & (costs->capacity - 1);
    while (costs->entries[place].used && memcmp(&costs->entries[place].key, key, sizeof *key) != 0)
        place = (place + 1) & (costs->capacity - 1);
    return place;
}

static bool grow(struct pim_channel_costs *costs)
{
    struct pim_channel_costs grown = {.capacity = costs->capacity ? 2 * costs->capacity : 64};
    grown.entries = calloc(grown.capacity, sizeof *grown.entries);
    if (!grown.entries)
        return false;
    for (size_t i = 0; i < costs->capacity; i++)
        if (costs->entries[i].used)
            grown.entries[place_of(&grown, &costs->entries[i].key)] = costs->entries[i];
    free(costs->entries);
    costs->entries = grown.entries;
    costs->capacity = grown.capacity;
    return true;
}

enum pim_status pim_channel_costs_create(const struct pim_channel_memory *memory,
                                         struct pim_channel_costs **out, struct pim_error *error)
{
    struct pim_channel_costs *costs = calloc(1, sizeof *costs);
    *out = costs;
    if (!costs || !grow(costs))
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the costs of channels");
    costs->memory = *memory;
    return PIM_OK;
}

void pim_channel_costs_destroy(struct pim_channel_costs *costs)
{
    if (costs)
        free(costs->entries);
    free(costs);
}

static struct key key_of(unsigned kind, const struct pim_instruction *instruction)
{
    struct key key = {.kind = kind, .count = 1};
    if (kind == PIM_OP_ROW_COMPUTE || kind == PIM_OP_ROW_TRANSPOSE) {
        key.detail = instruction->detail;
        key.bits = instruction->u.row_compute.bits;
        key.size = instruction->u.row_compute.size;
        key.count = instruction->u.row_compute.count;
        key.first_bank = instruction->u.row_compute.first_bank;
        key.banks = instruction->u.row_compute.banks;
        key.bank_stride = instruction->u.row_compute.bank_stride;
    } else if (kind == PIM_OP_ROW_MOVE) {
        key.detail = instruction->detail;
        key.rows = instruction->u.row_move.rows;
        key.first_bank = instruction->u.row_move.first_bank;
        key.banks = instruction->u.row_move.banks;
        key.bank_stride = instruction->u.row_move.bank_stride;
        key.to_bank = instruction->u.row_move.to_bank;
    } else {
        key.rows = instruction->u.row_message.rows;
        key.first_bank = instruction->u.row_message.first_bank;
        key.banks = instruction->u.row_message.banks;
        key.bank_stride = instruction->u.row_message.bank_stride;
    }
    return key;
}

static enum pim_status find(const struct pim_channel_memory *memory, const struct key *key,
                            struct pim_channel_cost *cost, struct pim_error *error)
{
    struct programs programs;
    *cost = (struct pim_channel_cost){0};
    enum pim_status status = compile(memory, key, &programs, error);
    if (status == PIM_OK) {
        count(memory, key, &programs, cost);
        if (memory->commands)
            status = sequence(memory, key, &programs, cost, error);
        else
            take_figure(memory, key, &programs, cost);
    }
    terminate(&programs);
    if (status == PIM_OK && cost->cycles > LONGEST)
        return pim_fail(error, PIM_BAD_INPUT, "lasts longer than times can be counted");
    return status;
}

enum pim_status pim_channel_cost_of(struct pim_channel_costs *costs, unsigned kind,
                                    const struct pim_instruction *instruction, struct pim_channel_cost *cost,
                                    struct pim_error *error)
{
    const struct key key = key_of(kind, instruction);
    struct entry *entry = &costs->entries[place_of(costs, &key)];
    if (entry->used) {
        *cost = entry->cost;
        return PIM_OK;
    }
    if (find(&costs->memory, &key, cost, error) != PIM_OK)
        return error->status;
    *entry = (struct entry){.used = true, .key = key, .cost = *cost};
    if (++costs->count > costs->capacity / 2 && !grow(costs))
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the costs of channels");
    return PIM_OK;
}

/* --- refresh --- */

uint64_t pim_channel_refreshed(const struct pim_channel_memory *memory, uint64_t start, uint64_t work)
{
    if (!memory->commands || !memory->refresh)
        return start + work;
    const uint32_t *p = memory->specification.parameter;
    const uint64_t interval = p[PIM_DRAM_T_REFI], refresh = p[PIM_DRAM_T_RFC];
    /* A step that has begun goes on; then the banks are closed and refreshed, and all begin again. */
    const uint64_t lost = refresh + pim_dram_aap_cycles(&memory->specification);
    uint64_t since = start % interval;
    if (start >= interval && since < refresh) { /* the refresh before is still going on */
        start += refresh - since;
        since = refresh;
    }
    if (work <= interval - since)
        return start + work;
    work -= interval - since;
    start += interval - since;
    assert(lost < interval); /* pim_bitserial_check_refresh() */
    uint64_t whole = (work - 1) / (interval - lost);
    return start + whole * interval + lost + (work - whole * (interval - lost));
}
