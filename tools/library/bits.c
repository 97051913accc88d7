#include "tools/library/bits.h"

#include "models/channel/channel.h"
#include "models/system/family.h"
#include "models/system/system.h"
#include "traces/file/reader.h"

#include <inttypes.h>

static enum pim_status find(struct pim_channel_values *values, const struct pim_hardware *hardware,
                            uint32_t units, const struct pim_mapper_number *number,
                            struct pim_bitserial_bits **bits, struct pim_error *error)
{
    const struct pim_channel_memory *memory = &hardware->channels.memory;
    uint64_t last = number->bits > 0 ? number->bits - 1 : 0;
    if (number->unit >= units || number->bank >= memory->banks || number->bits > 64 ||
        number->row + last * number->row_step >= memory->rows ||
        number->column + last * number->column_step >= memory->columns)
        return pim_fail(error, PIM_INTERNAL,
                        "a number of channel %" PRIu32 ", bank %" PRIu32 ", row %" PRIu32 ", column %" PRIu32
                        " is not in the memory",
                        number->unit, number->bank, number->row, number->column);
    *bits = pim_channel_values_bank(values, number->unit, number->bank);
    return *bits ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the bits of a bank");
}

static enum pim_status put_all(struct pim_channel_values *values, const struct pim_hardware *hardware,
                               uint32_t units, const struct pim_mapper_number *before, uint64_t count,
                               struct pim_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        struct pim_bitserial_bits *bits;
        if (find(values, hardware, units, &before[i], &bits, error) != PIM_OK)
            return error->status;
        for (uint32_t j = 0; j < before[i].bits; j++)
            pim_bitserial_set_bit(bits, before[i].row + j * before[i].row_step,
                                  before[i].column + j * before[i].column_step, before[i].value >> j & 1);
    }
    return PIM_OK;
}

static enum pim_status take_all(struct pim_channel_values *values, const struct pim_hardware *hardware,
                                uint32_t units, struct pim_mapper_number *after, uint64_t count,
                                struct pim_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        struct pim_bitserial_bits *bits;
        if (find(values, hardware, units, &after[i], &bits, error) != PIM_OK)
            return error->status;
        after[i].value = 0;
        for (uint32_t j = 0; j < after[i].bits; j++)
            after[i].value |= (uint64_t)pim_bitserial_bit(bits, after[i].row + j * after[i].row_step,
                                                          after[i].column + j * after[i].column_step)
                              << j;
    }
    return PIM_OK;
}

enum pim_status pim_bits_execute(void *context, const char *path, const struct pim_mapper_number *before,
                                 uint64_t before_count, struct pim_mapper_number *after, uint64_t after_count,
                                 struct pim_error *error)
{
    const struct pim_hardware *hardware = context;
    const struct pim_channel_memory *memory = &hardware->channels.memory;
    const struct pim_system_options options = {.until_cycle = PIM_UNTIL_END, .quiet = true};
    struct pim_channel_values *values = NULL;
    struct pim_trace *trace = NULL;
    struct pim_system *system = NULL;
    if (hardware->family->units != &pim_channel_family)
        return pim_fail(error, PIM_BAD_INPUT, "array.kind: real bits are in channels alone");
    if (memory->columns % 64 != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "levels.columns is %" PRIu32 ": to execute on real bits it must be a multiple of 64",
                        memory->columns);
    enum pim_status status = pim_trace_open(path, &trace, error);
    if (status == PIM_OK)
        status = pim_system_create(hardware, trace, &options, &system, error);
    uint32_t units = status == PIM_OK ? system->units->count : 0;
    if (status == PIM_OK)
        status = pim_channel_values_create(memory, units, memory->rows, &values, error);
    if (status == PIM_OK)
        status = put_all(values, hardware, units, before, before_count, error);
    if (status == PIM_OK) {
        ((struct pim_channels *)system->units)->values = values;
        status = pim_system_run(system, error);
    }
    if (status == PIM_OK)
        status = take_all(values, hardware, units, after, after_count, error);
    pim_system_destroy(system);
    pim_channel_values_destroy(values);
    pim_trace_close(trace);
    return status;
}
