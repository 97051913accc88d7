#include "mappers/overlapim/machine.h"

static uint32_t key(const struct pim_configuration *configuration, const char *path)
{
    return (uint32_t)pim_configuration_integer(configuration, path);
}

enum pim_status pim_machine_read(const struct pim_configuration *configuration, struct pim_machine *machine,
                                 struct pim_error *error)
{
    *machine = (struct pim_machine){
        .stacks = key(configuration, "array.height"),
        .channels = key(configuration, "array.width"),
        .banks = key(configuration, "levels.banks"),
        .columns = key(configuration, "levels.columns"),
        .rows = key(configuration, "levels.rows"),
        .word_bits = key(configuration, "levels.word_bits"),
        .channel_bytes = key(configuration, "levels.channel_bytes"),
        .bus_bytes = key(configuration, "levels.bus_bytes"),
        .costs = (enum pim_machine_costs)pim_configuration_choice(configuration, "levels.costs"),
        .add_cycles = key(configuration, "levels.add_cycles"),
        .multiply_cycles = key(configuration, "levels.multiply_cycles"),
        .aap_cycles = key(configuration, "levels.aap_cycles"),
        .aap_bank_cycles = key(configuration, "levels.aap_bank_cycles"),
        .refresh_cycles = key(configuration, "levels.refresh_cycles"),
        .refresh_interval_cycles = key(configuration, "levels.refresh_interval_cycles"),
        .row_overhead_cycles = key(configuration, "levels.row_overhead_cycles"),
    };
    if (machine->banks == 0)
        return pim_configuration_fail(configuration, error, "levels.banks",
                                      "this hardware has no banks that compute");
    if (machine->columns % 8 != 0 || (machine->columns & (machine->columns - 1)) != 0)
        return pim_configuration_fail(configuration, error, "levels.columns",
                                      "must be a power of two, at least 8: rows are moved as bytes and "
                                      "columns are summed in a tree");
    if (machine->refresh_cycles >= machine->refresh_interval_cycles)
        return pim_configuration_fail(configuration, error, "levels.refresh_cycles",
                                      "must be below levels.refresh_interval_cycles: no time is left");
    if (machine->rows < 8 * machine->word_bits)
        return pim_configuration_fail(configuration, error, "levels.rows",
                                      "a column must hold two operands, a product and its sums: at least "
                                      "%u rows for words of %u bits",
                                      8 * machine->word_bits, machine->word_bits);
    return PIM_OK;
}

/* An activate-activate-precharge of so many banks: a bank alone needs its own time, many share the
 * activations that the channel allows. */
static uint64_t aap(const struct pim_machine *machine, uint64_t banks)
{
    uint64_t shared = (machine->aap_cycles * banks + machine->banks - 1) / machine->banks;
    return shared > machine->aap_bank_cycles ? shared : machine->aap_bank_cycles;
}

uint64_t pim_machine_multiply(const struct pim_machine *machine, uint64_t banks)
{
    uint64_t n = machine->word_bits;
    if (machine->costs == PIM_MACHINE_FIGURE)
        return machine->multiply_cycles;
    return (n == 1 ? 5 : 7 * n * n - n - 2) * aap(machine, banks);
}

uint64_t pim_machine_add(const struct pim_machine *machine, uint64_t banks)
{
    return machine->costs == PIM_MACHINE_FIGURE ? machine->add_cycles
                                                : (8 * machine->word_bits + 1) * aap(machine, banks);
}

uint64_t pim_machine_rows(const struct pim_machine *machine, uint64_t rows, uint64_t banks)
{
    enum { GROUP = 2, SLOWER = 2 }; /* banks of a bank group; its rate against the channel's */
    uint64_t bytes = machine->columns / 8;
    uint64_t cycles = (bytes + machine->channel_bytes - 1) / machine->channel_bytes;
    if (machine->costs == PIM_MACHINE_COMMANDS && banks <= GROUP)
        cycles = cycles * SLOWER + (banks == 1 ? machine->row_overhead_cycles : 0);
    return rows * banks * cycles;
}

struct pim_reduction_cycles pim_machine_reduce(const struct pim_machine *machine, uint64_t width,
                                               uint64_t banks)
{
    struct pim_reduction_cycles cycles = {0, 0};
    uint64_t bits = 2 * machine->word_bits;
    for (uint64_t level = 0; UINT64_C(1) << level < width; level++) {
        uint64_t rows = bits + level;
        cycles.move += pim_machine_rows(machine, 2 * rows, banks); /* out and back */
        cycles.add +=
            machine->costs == PIM_MACHINE_FIGURE ? machine->add_cycles : (4 * rows + 2) * aap(machine, banks);
    }
    return cycles;
}

uint64_t pim_machine_refresh(const struct pim_machine *machine, uint64_t cycles)
{
    uint64_t work = machine->refresh_interval_cycles - machine->refresh_cycles;
    if (machine->costs == PIM_MACHINE_FIGURE)
        return 0;
    return cycles / work * machine->refresh_cycles + cycles % work * machine->refresh_cycles / work;
}
