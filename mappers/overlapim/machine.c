#include "mappers/overlapim/machine.h"
#include "sim/integer.h"

#include <inttypes.h>

/* Rows that a program of counted rows names: a sum over all columns has a bit more for each level, and
 * behind all of them a row comes from others. */
static uint64_t rows_needed(const struct pim_machine *machine)
{
    uint64_t levels = 0, word = machine->word_bits, landing = (uint64_t)PIM_MACHINE_LANDING * word + 1;
    while (UINT64_C(1) << levels < machine->columns)
        levels++;
    uint64_t sum = (PIM_MACHINE_SUM + 2) * word + levels;
    return sum > landing ? sum : landing;
}

/* What the costs of commands alone look at: what is wrong with it is no obstacle to others. */
static enum pim_status read_commands(const struct pim_configuration *configuration,
                                     struct pim_machine *machine, struct pim_error *error)
{
    const int64_t *busy;
    const size_t count = pim_configuration_list(configuration, "levels.aap_busy_cycles", &busy);
    if (count == 0 || count > PIM_MACHINE_BUSY)
        return pim_configuration_fail(configuration, error, "levels.aap_busy_cycles",
                                      "has %zu values: one for each number of busy banks, 1 to %d", count,
                                      (int)PIM_MACHINE_BUSY);
    machine->aap_busy_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        machine->aap_busy[i] = (uint32_t)busy[i];
    if (machine->logic_khz != (uint64_t)pim_configuration_integer(configuration, "clock.memory_khz"))
        return pim_configuration_fail(configuration, error, "clock.logic_khz",
                                      "levels.costs is \"commands\": estimates count cycles of the memory, "
                                      "so it must be clock.memory_khz, %" PRIi64,
                                      pim_configuration_integer(configuration, "clock.memory_khz"));
    if (machine->refresh_cycles >= machine->refresh_interval_cycles)
        return pim_configuration_fail(configuration, error, "levels.refresh_cycles",
                                      "must be below levels.refresh_interval_cycles: no time is left");
    return PIM_OK;
}

enum pim_status pim_machine_read(const struct pim_configuration *configuration, struct pim_machine *machine,
                                 struct pim_error *error)
{
    *machine = (struct pim_machine){
        .stacks = pim_configuration_count(configuration, "array.height"),
        .channels = pim_configuration_count(configuration, "array.width"),
        .banks = pim_configuration_count(configuration, "levels.banks"),
        .columns = pim_configuration_count(configuration, "levels.columns"),
        .rows = pim_configuration_count(configuration, "levels.rows"),
        .word_bits = pim_configuration_count(configuration, "levels.word_bits"),
        .channel_bytes = pim_configuration_count(configuration, "levels.channel_bytes"),
        .bus_bytes = pim_configuration_count(configuration, "levels.bus_bytes"),
        .costs = (enum pim_machine_costs)pim_configuration_choice(configuration, "levels.costs"),
        .add_cycles = pim_configuration_count(configuration, "levels.add_cycles"),
        .multiply_cycles = pim_configuration_count(configuration, "levels.multiply_cycles"),
        .step_ps = pim_configuration_count(configuration, "levels.step_ps"),
        .logic_khz = pim_configuration_count(configuration, "clock.logic_khz"),
        .refresh_cycles = pim_configuration_count(configuration, "levels.refresh_cycles"),
        .refresh_interval_cycles = pim_configuration_count(configuration, "levels.refresh_interval_cycles"),
        .window = pim_configuration_count(configuration, "unit.window"),
        .row_overhead_cycles = pim_configuration_count(configuration, "levels.row_overhead_cycles"),
    };
    if (pim_configuration_choice(configuration, "array.kind") != 2)
        return pim_configuration_fail(configuration, error, "array.kind",
                                      "is not \"channel\": banks that compute are those of channels");
    if (machine->banks == 0)
        return pim_configuration_fail(configuration, error, "levels.banks",
                                      "this hardware has no banks that compute");
    if (machine->costs == PIM_MACHINE_COMMANDS && read_commands(configuration, machine, error) != PIM_OK)
        return error->status;
    if (machine->columns % 8 != 0 || (machine->columns & (machine->columns - 1)) != 0)
        return pim_configuration_fail(configuration, error, "levels.columns",
                                      "must be a power of two, at least 8: rows are moved as bytes and "
                                      "columns are summed in a tree");
    uint64_t needed = rows_needed(machine);
    if (machine->rows < needed)
        return pim_configuration_fail(configuration, error, "levels.rows",
                                      "a column must hold two operands, a product, its sums and a row that "
                                      "comes: at least %" PRIu64 " rows for words of %" PRIu32
                                      " bits and %" PRIu32 " columns",
                                      needed, machine->word_bits, machine->columns);
    return PIM_OK;
}

/* An activate-activate-precharge of so many banks: a bank alone needs its own time, many share the
 * activations and the row commands that the channel allows. */
static uint64_t aap(const struct pim_machine *machine, uint64_t banks)
{
    uint64_t known = machine->aap_busy_count, last = machine->aap_busy[known - 1];
    return banks <= known ? machine->aap_busy[banks > 0 ? banks - 1 : 0] : (last * banks + known - 1) / known;
}

/* Steps of crossbars, rounded up to the clock. */
static uint64_t steps(const struct pim_machine *machine, uint64_t count)
{
    const uint64_t scale = UINT64_C(1000000000); /* ps of a cycle of 1 kHz */
    uint64_t time = count * machine->step_ps * machine->logic_khz;
    return time / scale + (time % scale != 0);
}

uint64_t pim_machine_multiply(const struct pim_machine *machine, uint64_t banks)
{
    uint64_t n = machine->word_bits;
    if (machine->costs == PIM_MACHINE_FIGURE)
        return machine->multiply_cycles;
    if (machine->costs == PIM_MACHINE_STEPS)
        return steps(machine, n == 1 ? 9 : 12 * n * n - n - 1);
    return (n == 1 ? 5 : 7 * n * n - n - 2) * aap(machine, banks);
}

/* An addition of numbers of so many bits, in every column. */
static uint64_t add_of(const struct pim_machine *machine, uint64_t bits, uint64_t aaps, uint64_t banks)
{
    if (machine->costs == PIM_MACHINE_FIGURE)
        return machine->add_cycles;
    return machine->costs == PIM_MACHINE_STEPS ? steps(machine, 10 * bits + 2) : aaps * aap(machine, banks);
}

uint64_t pim_machine_add(const struct pim_machine *machine, uint64_t banks)
{
    return add_of(machine, 2 * (uint64_t)machine->word_bits, 8 * (uint64_t)machine->word_bits + 1, banks);
}

/* Banks of a bank group; its rate against the channel's; cycles of the channel for an access; its bytes. */
enum { GROUP = 2, SLOWER = 2, ACCESS = 2, ACCESS_BYTES = 32 };

/* A row of each bank, of which the channel's data bus is needed for `cycles` cycles. */
static uint64_t pace(const struct pim_machine *machine, uint64_t cycles, uint64_t banks)
{
    uint64_t shared = cycles * banks, alone = SLOWER * cycles + machine->row_overhead_cycles;
    uint64_t group = banks > 1 ? GROUP * SLOWER * cycles : 0;
    if (machine->costs != PIM_MACHINE_COMMANDS)
        return shared;
    shared = group > shared ? group : shared;
    return alone > shared ? alone : shared;
}

/* Cycles of the channel for a whole row. Commands: in accesses, whatever the link out of it takes. */
static uint64_t row_of(const struct pim_machine *machine)
{
    uint64_t bytes = machine->columns / 8;
    if (machine->costs == PIM_MACHINE_COMMANDS)
        return ACCESS * pim_divide_up(bytes, ACCESS_BYTES);
    return pim_divide_up(bytes, machine->channel_bytes);
}

uint64_t pim_machine_link(const struct pim_machine *machine, uint64_t rows)
{
    return pim_divide_up(rows * (machine->columns / 8), machine->channel_bytes);
}

uint64_t pim_machine_rows(const struct pim_machine *machine, uint64_t rows, uint64_t banks)
{
    return rows * pace(machine, row_of(machine), banks);
}

uint64_t pim_machine_move(const struct pim_machine *machine, uint64_t rows, uint64_t banks)
{
    bool commands = machine->costs == PIM_MACHINE_COMMANDS;
    return 2 * rows * pace(machine, row_of(machine), commands && banks > 1 ? banks + banks % GROUP : banks);
}

struct pim_reduction_cycles pim_machine_reduce(const struct pim_machine *machine, uint64_t width,
                                               uint64_t banks)
{
    struct pim_reduction_cycles cycles = {0, 0};
    uint64_t bits = 2 * machine->word_bits;
    for (uint64_t level = 0; UINT64_C(1) << level < width; level++) {
        uint64_t rows = bits + level, row = row_of(machine);
        /* only accesses that hold a column which counts: one in 2^(level + 1) columns */
        uint64_t needed = ACCESS * (uint64_t)(machine->columns >> (level + 1));
        if (machine->costs == PIM_MACHINE_COMMANDS && needed < row)
            row = needed > 0 ? needed : ACCESS;
        cycles.move += 2 * rows * pace(machine, row, banks); /* out and back */
        cycles.add += add_of(machine, rows + 1, 4 * rows + 2, banks);
    }
    return cycles;
}

uint64_t pim_machine_refresh(const struct pim_machine *machine, uint64_t cycles)
{
    if (machine->costs != PIM_MACHINE_COMMANDS)
        return 0;
    const uint64_t work = machine->refresh_interval_cycles - machine->refresh_cycles;
    return cycles / work * machine->refresh_cycles + cycles % work * machine->refresh_cycles / work;
}
