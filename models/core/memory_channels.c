/*
 * The global memory on channels of a DRAM standard, with their controllers (models/dram/channel), in place of
 * a server for each chip: docs/models/shared-memory.md. The requests of a chip are a line.
 */
#include "models/core/cores_internal.h"

#include "models/unit/shared_channels.h"

#include <stdlib.h>

/* A load or store from its request to its last data. */
struct transfer {
    struct transfer *next; /* in the line of its chip */
    struct pim_core_request request;
    struct pim_core_memory *memory;
    struct pim_burst burst;
    struct pim_burst_cursor cursor;
    uint64_t open;      /* accesses under way, and one until the last was handed over */
    uint64_t completed; /* memory cycle of the latest data so far */
};

struct line {
    struct transfer *first, *last;
    uint64_t handed; /* memory cycle of the last access that was handed over, and 1 */
};

struct pim_core_memory {
    struct pim_cores *cores;
    struct pim_dram_rules *rules;
    struct pim_shared_channels *channels;
    struct pim_pool transfers;
    struct line *lines; /* by chip */
    struct pim_bank_counters counted;
};

static pim_time period_of(const struct pim_core_memory *memory)
{
    return memory->cores->configuration.memory_period;
}

static uint32_t access_bytes(const struct pim_core_memory *memory)
{
    return memory->cores->configuration.dram.specification.organization.access_bytes;
}

/* One access less under way; at the end of all the core is told. */
static void end_access(struct transfer *transfer)
{
    struct pim_core_memory *memory = transfer->memory;
    struct pim_cores *cores = memory->cores;
    if (--transfer->open > 0)
        return;
    const pim_time logic = cores->configuration.logic_period;
    if (pim_unit_in_time(pim_units_at(&cores->units, 0), 0, transfer->completed, period_of(memory))) {
        const pim_time data = transfer->completed * period_of(memory);
        const uint64_t end = pim_divide_up(data, logic);
        pim_core_memory_served(cores, &transfer->request, end, pim_larger(end, pim_core_now(cores) + 1));
    }
    pim_pool_give(&memory->transfers, transfer);
}

static void served(void *context, uint64_t request, uint64_t completed)
{
    struct transfer *transfer = (struct transfer *)(uintptr_t)request;
    (void)context;
    transfer->completed = pim_larger(transfer->completed, completed);
    end_access(transfer);
}

/* Takes requests that have no further column from the front of a line. */
static struct transfer *front_of(struct pim_core_memory *memory, struct line *line)
{
    const uint32_t bytes = access_bytes(memory);
    while (line->first && !pim_burst_find_column(&line->first->burst, &line->first->cursor, bytes)) {
        struct transfer *done = line->first;
        line->first = done->next;
        end_access(done);
    }
    return line->first;
}

static PIM_ALWAYS_INLINE enum pim_handed hand_over(void *context, uint32_t chip, uint64_t cycle)
{
    struct pim_core_memory *memory = context;
    struct line *line = &memory->lines[chip];
    struct transfer *transfer = front_of(memory, line);
    if (!transfer)
        return PIM_HANDED_NOTHING;
    const uint32_t bytes = access_bytes(memory);
    const bool write = transfer->burst.write;
    transfer->open++;
    const enum pim_handed handed =
        pim_shared_channels_offer(memory->channels, cycle, &line->handed, transfer->cursor.column * bytes,
                                  write, (uint64_t)(uintptr_t)transfer);
    if (handed != PIM_HANDED_ONE) {
        transfer->open--;
        return handed;
    }
    pim_bank_count_access(&memory->counted, write, bytes);
    pim_burst_next_column(&transfer->cursor);
    return front_of(memory, line) ? PIM_HANDED_ONE : PIM_HANDED_LAST;
}

static void work(struct pim_kernel *kernel, void *channels)
{
    (void)kernel;
    pim_shared_channels_work(channels, hand_over);
}

void pim_core_memory_ask(struct pim_cores *cores, const struct pim_core_request *request)
{
    struct pim_core_memory *memory = cores->memory;
    const struct pim_instruction *instruction = &request->slot->instruction;
    struct transfer *transfer = pim_pool_take(&memory->transfers, sizeof *transfer);
    if (!transfer) {
        pim_units_exhausted(&cores->units, "requests to the global memory");
        return;
    }
    *transfer = (struct transfer){
        .request = *request,
        .memory = memory,
        .burst = {.address = instruction->u.transfer.address,
                  .stride = instruction->u.transfer.stride,
                  .bytes = instruction->u.transfer.bytes,
                  .count = instruction->u.transfer.bytes > 0 ? instruction->u.transfer.count : 0,
                  .write = request->kind == PIM_REQUEST_WRITE},
        .open = 1};
    struct line *line = &memory->lines[pim_core_at(cores, request->core)->chip - cores->chips];
    if (line->first)
        line->last->next = transfer;
    else
        line->first = transfer;
    line->last = transfer;
    pim_shared_channels_wake(memory->channels, pim_shared_channels_cycle(memory->channels));
}

/* --- life cycle --- */

void pim_core_memory_destroy(struct pim_cores *cores)
{
    struct pim_core_memory *memory = cores->memory;
    if (!memory)
        return;
    pim_shared_channels_destroy(memory->channels);
    pim_dram_rules_destroy(memory->rules);
    pim_pool_terminate(&memory->transfers);
    free(memory->lines);
    free(memory);
    cores->memory = NULL;
}

enum pim_status pim_core_memory_create(struct pim_cores *cores, struct pim_error *error)
{
    const struct pim_dram_configuration *dram = &cores->configuration.dram;
    struct pim_core_memory *memory = calloc(1, sizeof *memory);
    cores->memory = memory;
    if (memory) {
        const struct pim_shared_channels_owner owner = {.unit = pim_units_at(&cores->units, 0),
                                                        .dram = dram,
                                                        .period = cores->configuration.memory_period,
                                                        .clients = cores->chip_count,
                                                        .context = memory,
                                                        .work = work,
                                                        .served = served};
        memory->cores = cores;
        memory->lines = calloc(cores->chip_count, sizeof *memory->lines);
        memory->rules = pim_dram_rules_create(&dram->specification, &dram->policy);
        memory->channels = memory->rules ? pim_shared_channels_create(&owner, memory->rules) : NULL;
    }
    return memory && memory->lines && memory->channels
               ? PIM_OK
               : pim_fail(error, PIM_NO_MEMORY, "out of memory for the channels of the global memory");
}

void pim_core_memory_rows(const struct pim_units *units, struct pim_dram_counters *sum)
{
    const struct pim_core_memory *memory = ((const struct pim_cores *)units)->memory;
    if (memory)
        pim_shared_channels_count(memory->channels, pim_shared_channels_cycle(memory->channels), sum);
}

void pim_core_memory_close(struct pim_cores *cores, pim_time end, struct pim_bank_counters *counters,
                           struct pim_dram_counters *all)
{
    const struct pim_core_memory *memory = cores->memory;
    const uint32_t *parameter = cores->configuration.dram.specification.parameter;
    const uint32_t step = parameter[PIM_DRAM_T_B] > parameter[PIM_DRAM_T_CCD_S] ? parameter[PIM_DRAM_T_B]
                                                                                : parameter[PIM_DRAM_T_CCD_S];
    *counters = memory->counted;
    *all = (struct pim_dram_counters){0};
    counters->data_cycles = (counters->reads + counters->writes) * step;
    pim_shared_channels_close(memory->channels, end / period_of(memory), all);
    pim_dram_counters_to_bank(all, counters);
}
