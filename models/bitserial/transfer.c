/* Moves: who reads, when the data are there, who writes. */
#include "models/bitserial/transfer.h"

#include "models/bitserial/steps.h"

#include <assert.h>
#include <stdlib.h>

const char *pim_bitserial_reach_text(enum pim_bitserial_reach reach)
{
    static const char *const texts[] = {
#define X(name, text) text,
        PIM_BITSERIAL_REACH_MAP(X)
#undef X
    };
    assert(reach < PIM_BITSERIAL_REACHES);
    return texts[reach];
}

enum { ROWS_MAX = 1 << 20 };

static enum pim_status check(const struct pim_dram_specification *specification,
                             const struct pim_bitserial_transfer *t, struct pim_error *error)
{
    const struct pim_dram_organization *o = &specification->organization;
    uint32_t banks = pim_dram_ranks(o) * pim_dram_banks_per_rank(o);
    uint32_t most = t->reach == PIM_BITSERIAL_REACH_COLUMN ? banks
                    : t->reach == PIM_BITSERIAL_REACH_BANK ? banks / 2
                                                           : o->channels;
    if (o->rows <= PIM_BITSERIAL_RESERVED_ROWS)
        return pim_fail(error, PIM_BAD_INPUT, "a bank has %u rows: more than the %d compute rows are needed",
                        o->rows, PIM_BITSERIAL_RESERVED_ROWS);
    uint32_t data_rows = o->rows - PIM_BITSERIAL_RESERVED_ROWS;
    uint32_t rows = t->reach == PIM_BITSERIAL_REACH_COLUMN ? data_rows / 2 : data_rows;
    if (rows > ROWS_MAX)
        rows = ROWS_MAX;
    if (t->rows == 0 || t->rows > rows)
        return pim_fail(error, PIM_BAD_INPUT, "a move of %u rows: allowed are 1 to %u", t->rows, rows);
    if (t->pairs == 0 || t->pairs > most)
        return pim_fail(error, PIM_BAD_INPUT, "%u moves at once: allowed are 1 to %u", t->pairs, most);
    uint64_t columns = (uint64_t)o->columns * o->access_bytes * 8;
    if (t->shift >= columns)
        return pim_fail(error, PIM_BAD_INPUT, "a move by %u columns: a row has %llu", t->shift,
                        (unsigned long long)columns);
    if (t->refresh && pim_bitserial_check_refresh(specification, error) != PIM_OK)
        return error->status;
    if (t->link_bytes == 0 || t->bus_bytes == 0)
        return pim_fail(error, PIM_BAD_INPUT, "a link and the bus must move at least 1 byte a cycle");
    return PIM_OK;
}

/* The readers' or the writers' program, or both in one. */
static enum pim_status write_program(struct pim_bitserial_program *program,
                                     const struct pim_dram_specification *specification,
                                     const struct pim_bitserial_transfer *t, bool read, bool write,
                                     struct pim_error *error)
{
    struct pim_bitserial_step step = {.access_step = 1, .accesses = specification->organization.columns};
    for (uint32_t i = 0; i < t->rows; i++) {
        step.second = i;
        step.row = i;
        step.shift = 0;
        step.kind = PIM_BITSERIAL_STEP_READ;
        if (read)
            pim_bitserial_append(program, &step);
        step.row = read ? t->rows + i : i;
        step.shift = t->shift;
        step.kind = PIM_BITSERIAL_STEP_WRITE;
        if (write)
            pim_bitserial_append(program, &step);
    }
    program->slots = t->rows;
    return program->out_of_memory ? pim_fail(error, PIM_NO_MEMORY, "out of memory for a move") : PIM_OK;
}

struct side {
    const struct pim_bitserial_program *program;
    uint32_t banks; /* workers of this program; 0: none */
};

/* Sequences a channel in which pair p uses bank p of each side, the second side behind the first. */
static enum pim_status sequence(const struct pim_dram_specification *specification,
                                const struct pim_bitserial_transfer *t, const struct side side[2],
                                uint16_t channel, uint64_t *slot_ready, struct pim_bitserial_timing *timing,
                                struct pim_error *error)
{
    uint32_t banks = side[0].banks + side[1].banks;
    struct pim_bitserial_work *work = calloc(banks, sizeof *work);
    if (!work)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %u banks", banks);
    for (uint32_t i = 0; i < banks; i++) {
        bool second = i >= side[0].banks;
        uint32_t pair = second ? i - side[0].banks : i;
        work[i] =
            (struct pim_bitserial_work){.bank = pim_bitserial_bank_in_turn(&specification->organization, i),
                                        .program = side[second].program,
                                        .repeat = 1,
                                        .first_slot = pair * t->rows};
    }
    const struct pim_bitserial_schedule schedule = {
        .specification = specification,
        .refresh = t->refresh,
        .stepped = t->stepped,
        .work = work,
        .work_count = banks,
        .slots = t->rows * (side[0].banks > 0 ? side[0].banks : side[1].banks),
        .channel = channel,
        .slot_ready = slot_ready,
        .log = t->log,
        .context = t->context};
    enum pim_status status = pim_bitserial_sequence(&schedule, timing, error);
    free(work);
    return status;
}

static uint64_t ceiling(uint64_t value, uint64_t divisor)
{
    return value / divisor + (value % divisor != 0);
}

/* Rule 3: from the cycles in which rows are read to those in which they have arrived. Of pairs that share a
 * bus the last one is followed: every row waits for those of all pairs before it. */
static void cross(const struct pim_bitserial_transfer *t, uint64_t row_bytes, uint64_t *ready)
{
    bool bus = t->reach == PIM_BITSERIAL_REACH_STACK;
    uint64_t pace = bus ? ceiling(row_bytes * t->pairs, t->bus_bytes) : ceiling(row_bytes, t->link_bytes);
    uint64_t before = 0;
    for (uint32_t i = 0; i < t->rows; i++) {
        if (ready[i] < before + pace)
            ready[i] = before + pace;
        before = ready[i];
    }
}

static void add_commands(struct pim_bitserial_transfer_cost *cost, const struct pim_bitserial_timing *timing,
                         uint64_t times)
{
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        cost->commands[i] += timing->commands[i] * times;
    if (cost->cycles < timing->cycles)
        cost->cycles = timing->cycles;
}

/* Inside a channel. */
static enum pim_status move_inside(const struct pim_dram_specification *specification,
                                   const struct pim_bitserial_transfer *t,
                                   const struct pim_bitserial_program *readers,
                                   const struct pim_bitserial_program *writers,
                                   struct pim_bitserial_transfer_cost *cost, struct pim_error *error)
{
    bool columns = t->reach == PIM_BITSERIAL_REACH_COLUMN;
    const struct side side[2] = {{readers, t->pairs}, {writers, columns ? 0 : t->pairs}};
    struct pim_bitserial_timing timing;
    enum pim_status status = sequence(specification, t, side, 0, NULL, &timing, error);
    if (status == PIM_OK)
        add_commands(cost, &timing, 1);
    return status;
}

/* Between two channels: what is read tells when it may be written. */
static enum pim_status move_across(const struct pim_dram_specification *specification,
                                   const struct pim_bitserial_transfer *t,
                                   const struct pim_bitserial_program *readers,
                                   const struct pim_bitserial_program *writers,
                                   struct pim_bitserial_transfer_cost *cost, struct pim_error *error)
{
    uint64_t *ready = malloc(t->rows * sizeof *ready);
    if (!ready)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a move");
    for (uint32_t i = 0; i < t->rows; i++)
        ready[i] = UINT64_MAX;
    const struct side from[2] = {{readers, 1}, {NULL, 0}}, to[2] = {{writers, 1}, {NULL, 0}};
    struct pim_bitserial_timing timing;
    enum pim_status status = sequence(specification, t, from, 0, ready, &timing, error);
    if (status == PIM_OK) {
        add_commands(cost, &timing, t->pairs);
        cross(t, (uint64_t)specification->organization.columns * specification->organization.access_bytes,
              ready);
        status = sequence(specification, t, to, 1, ready, &timing, error);
    }
    if (status == PIM_OK)
        add_commands(cost, &timing, t->pairs);
    free(ready);
    return status;
}

enum pim_status pim_bitserial_move(const struct pim_dram_specification *specification,
                                   const struct pim_dram_energy_parameters *energy,
                                   const struct pim_bitserial_transfer *transfer,
                                   struct pim_bitserial_transfer_cost *cost, struct pim_error *error)
{
    const struct pim_bitserial_transfer *t = transfer;
    struct pim_bitserial_program readers = {0}, writers = {0};
    *cost = (struct pim_bitserial_transfer_cost){0};
    if (check(specification, t, error) != PIM_OK)
        return error->status;
    bool columns = t->reach == PIM_BITSERIAL_REACH_COLUMN;
    bool across = t->reach == PIM_BITSERIAL_REACH_CHANNEL || t->reach == PIM_BITSERIAL_REACH_STACK;
    enum pim_status status = write_program(&readers, specification, t, true, columns, error);
    if (status == PIM_OK && !columns)
        status = write_program(&writers, specification, t, false, true, error);
    if (status == PIM_OK)
        status = across ? move_across(specification, t, &readers, &writers, cost, error)
                        : move_inside(specification, t, &readers, &writers, cost, error);
    pim_bitserial_program_terminate(&readers);
    pim_bitserial_program_terminate(&writers);
    if (status != PIM_OK)
        return status;
    uint64_t row_bytes =
        (uint64_t)specification->organization.columns * specification->organization.access_bytes;
    uint64_t one = row_bytes * t->rows;
    cost->bytes = one * t->pairs;
    cost->paper_cycles = ceiling(across ? one : 2 * cost->bytes, t->link_bytes);
    uint64_t bus = ceiling(cost->bytes, t->bus_bytes);
    if (t->reach == PIM_BITSERIAL_REACH_STACK && cost->paper_cycles < bus)
        cost->paper_cycles = bus;
    pim_bitserial_energy(specification, energy, cost->commands, cost->cycles, &cost->energy);
    return PIM_OK;
}
