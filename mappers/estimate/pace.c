#include "mappers/estimate/pace.h"

#include "models/cost/bank.h"
#include "sim/integer.h"
#include "traces/counts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* An instruction of the window. */
struct step {
    uint64_t end, retired; /* retired: all up to it have ended */
    struct pim_space given;
};

/* Times are in ticks, of which cycles of both clocks are whole numbers, from the beginning on. */
struct pim_pace {
    const struct pim_estimate_hardware *hardware;
    struct pim_bank_rules rules;
    struct pim_bank bank;
    uint64_t logic, memory; /* ticks of a cycle */
    uint64_t offset;        /* memory cycles of the bank at the beginning */
    uint64_t matrix_free, vector_free, port_free, barrier, last;
    uint64_t started;       /* last of those before, where they start in order */
    uint64_t count, window; /* instructions so far; of the window */
    struct step *steps;     /* instruction i at i % window */
    /* Space of each buffer, with what instructions before `seen` have given back. */
    uint64_t space[PIM_BUFFERS], seen[PIM_BUFFERS];
};

struct pim_pace *pim_pace_create(const struct pim_estimate_hardware *hardware)
{
    assert(hardware->window > 0);
    struct pim_pace *pace = calloc(1, sizeof *pace);
    if (!pace)
        return NULL;
    uint64_t common = pim_greatest_divisor(hardware->logic_khz, hardware->memory_khz);
    pace->hardware = hardware;
    pace->rules = hardware->bank;
    pace->logic = hardware->memory_khz / common;
    pace->memory = hardware->logic_khz / common;
    pace->window = hardware->window;
    pim_bank_initialize(&pace->bank, &pace->rules);
    pace->steps = calloc(pace->window, sizeof *pace->steps);
    if (!pace->steps) {
        free(pace);
        return NULL;
    }
    return pace;
}

void pim_pace_destroy(struct pim_pace *pace)
{
    if (pace)
        free(pace->steps);
    free(pace);
}

void pim_pace_restart(struct pim_pace *pace)
{
    pace->offset = pace->last = 0;
    pim_bank_initialize(&pace->bank, &pace->rules);
}

void pim_pace_begin(struct pim_pace *pace, uint64_t cycle)
{
    const struct pim_estimate_hardware *hardware = pace->hardware;
    const uint64_t asked =
        cycle / pace->memory * pace->logic + pim_divide_up(cycle % pace->memory * pace->logic, pace->memory);
    pace->offset = pim_larger(asked, pace->offset + pim_divide_up(pace->last, pace->memory));
    pace->matrix_free = pace->vector_free = pace->port_free = pace->barrier = pace->last = pace->count =
        pace->started = 0;
    const uint64_t space[PIM_BUFFERS] = {[PIM_BUFFER_INPUT] = hardware->input_bytes,
                                         [PIM_BUFFER_WEIGHT] = hardware->weight_bytes,
                                         [PIM_BUFFER_OUTPUT] = hardware->output_bytes};
    memcpy(pace->space, space, sizeof space);
    memset(pace->seen, 0, sizeof pace->seen);
}

static struct step *step_at(const struct pim_pace *pace, uint64_t index)
{
    return &pace->steps[index % pace->window];
}

/* The edge of a clock at or behind a time. */
static uint64_t edge(uint64_t time, uint64_t period)
{
    return pim_divide_up(time, period) * period;
}

/* What the next instruction gives back of a buffer is there; when that is. */
static uint64_t take_back(struct pim_pace *pace, unsigned buffer)
{
    const struct step *step = step_at(pace, pace->seen[buffer]++);
    pace->space[buffer] += step->given.bytes[buffer];
    return step->given.bytes[buffer] > 0 ? step->end : 0;
}

/* The window moves on; when the instruction may be fetched. */
static uint64_t fetch(struct pim_pace *pace)
{
    if (pace->count < pace->window)
        return pace->barrier;
    for (unsigned buffer = 0; buffer < PIM_BUFFERS; buffer++)
        while (pace->seen[buffer] <= pace->count - pace->window)
            (void)take_back(pace, buffer);
    return pim_larger(pace->barrier, step_at(pace, pace->count)->retired);
}

static uint64_t wait_for_dependencies(const struct pim_pace *pace, const struct pim_instruction *instruction,
                                      uint64_t start)
{
    for (unsigned i = 0; i < PIM_DEPENDENCIES; i++) {
        uint64_t distance = instruction->dependency[i];
        if (distance > 0 && distance <= pace->count && distance < pace->window)
            start = pim_larger(start, step_at(pace, pace->count - distance)->end);
    }
    return start;
}

static uint64_t wait_for_space(struct pim_pace *pace, const struct pim_instruction *instruction,
                               uint64_t start)
{
    enum pim_buffer buffer;
    uint64_t bytes = pim_space_taken(instruction, 8 * pace->hardware->accumulator_bytes, &buffer);
    if (buffer == PIM_BUFFER_NONE)
        return start;
    while (pace->space[buffer] < bytes && pace->seen[buffer] < pace->count)
        start = pim_larger(start, take_back(pace, buffer));
    pace->space[buffer] -= pim_smaller(pace->space[buffer], bytes);
    return start;
}

/* When its engine is free and the buffer has space for it; in order, not before those before it. */
static uint64_t begin(struct pim_pace *pace, const struct pim_instruction *instruction, uint64_t start,
                      uint64_t engine_free)
{
    start = wait_for_space(pace, instruction, pim_larger(start, engine_free));
    if (pace->hardware->in_order)
        start = pace->started = pim_larger(start, pace->started);
    return start;
}

static uint64_t work(uint64_t *free_at, uint64_t start, uint64_t cycles, uint64_t period)
{
    *free_at = edge(start, period) + cycles * period;
    return *free_at;
}

static uint64_t matrix(struct pim_pace *pace, const struct pim_instruction *instruction, uint64_t start)
{
    const struct pim_operands_matrix *o = &instruction->u.matrix;
    return work(&pace->matrix_free, begin(pace, instruction, start, pace->matrix_free),
                pim_pe_matrix_cycles(&pace->hardware->pe, o->m, o->n, o->k, o->input_bits, o->weight_bits),
                pace->logic);
}

static uint64_t vector(struct pim_pace *pace, const struct pim_instruction *instruction, uint64_t start)
{
    struct pim_acu_cost cost;
    pim_acu_vector(&pace->hardware->acu, instruction->detail, instruction->u.vector.rows,
                   instruction->u.vector.elements, &cost);
    return work(&pace->vector_free, begin(pace, instruction, start, pace->vector_free), cost.cycles,
                pace->logic);
}

/* False: it is empty, or longer than the memory. */
static bool put_inside(struct pim_burst *burst, uint64_t capacity)
{
    if (burst->bytes == 0 || burst->count == 0)
        return false;
    const uint64_t length = (uint64_t)(burst->count - 1) * burst->stride + burst->bytes;
    if (length > capacity)
        return false;
    if (burst->address > capacity - length)
        burst->address = 0;
    return true;
}

bool pim_pace_burst(const struct pim_pace *pace, const struct pim_instruction *instruction,
                    struct pim_burst *burst)
{
    *burst = (struct pim_burst){.address = instruction->u.memory.address,
                                .bytes = instruction->u.memory.bytes,
                                .stride = instruction->u.memory.stride,
                                .count = instruction->u.memory.count,
                                .write = instruction->opcode == PIM_OP_STORE};
    /* A plan that does not fit into the memory is timed before it is refused: somewhere inside is good. */
    if (!put_inside(burst, pace->rules.capacity_bytes))
        return false;
    pim_burst_join(burst);
    return true;
}

bool pim_pace_part(struct pim_pace *pace, const struct pim_burst *burst, struct pim_part_cursor *cursor,
                   uint64_t cycle, uint64_t *next, uint64_t *done)
{
    const uint64_t turn = pace->hardware->turn_bytes ? pace->hardware->turn_bytes : pace->hardware->row_bytes;
    struct pim_burst_times times;
    struct pim_burst part;
    const bool last = pim_burst_part(burst, cursor, (uint32_t)turn, pace->rules.port_bytes,
                                     pace->rules.columns_per_row, &part);
    pim_bank_access(&pace->bank, &part, cycle, &times);
    *next = times.next;
    *done = times.last_data;
    return last;
}

static uint64_t memory(struct pim_pace *pace, const struct pim_instruction *instruction, uint64_t start)
{
    struct pim_part_cursor cursor = {0};
    struct pim_burst burst;
    uint64_t next, done;
    bool last;
    start = edge(begin(pace, instruction, start, pace->port_free), pace->memory);
    if (!pim_pace_burst(pace, instruction, &burst))
        return start;
    do {
        last = pim_pace_part(pace, &burst, &cursor, pace->offset + start / pace->memory, &next, &done);
        pace->port_free = start = pim_larger(start, (next - pace->offset) * pace->memory);
    } while (!last);
    return (done - pace->offset) * pace->memory;
}

void pim_pace_put(struct pim_pace *pace, const struct pim_instruction *instruction)
{
    uint64_t start = wait_for_dependencies(pace, instruction, fetch(pace)), end = start;
    switch (instruction->opcode) {
    case PIM_OP_MATRIX:
        end = matrix(pace, instruction, start);
        break;
    case PIM_OP_VECTOR:
        end = vector(pace, instruction, start);
        break;
    case PIM_OP_LOAD:
    case PIM_OP_STORE:
        end = memory(pace, instruction, start);
        break;
    case PIM_OP_JOIN:
        end = pace->barrier = pace->last;
        break;
    default:
        break;
    }
    pace->last = pim_larger(pace->last, end);
    *step_at(pace, pace->count) =
        (struct step){.end = end, .retired = pace->last, .given = pim_space_given(instruction)};
    pace->count++;
}

uint64_t pim_pace_cycles(const struct pim_pace *pace)
{
    return pim_divide_up(pace->last, pace->logic);
}
