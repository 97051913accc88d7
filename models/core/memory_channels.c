/*
 * The global memory on channels of a DRAM standard, with their controllers (models/dram/channel), in place of
 * a server for each chip:
 *
 *  1. All chips share one memory, addressed as the programs do. Requests of a chip wait in one line: those of
 *     a cycle of the logic clock by core number, at the first edge of the memory clock from then on.
 *  2. The first of the line becomes column accesses in rising order, each column once. A chip hands over one
 *     access in a cycle, a channel accepts one in a cycle, behind the commands of that cycle; chips have
 *     their turns round robin: whoever had an access accepted goes behind the others. An access whose queue
 *     is full waits, and with it the line. The next request follows in the cycle behind the last access.
 *  3. A request ends with the data of its last access, in whatever order they were served, at the next edge
 *     of the logic clock, a cycle at least after it was asked for.
 *
 * A channel is worked on only while an access waits in it.
 */
#include "models/core/memory_channels.h"

#include "models/dram/memory.h"

#include <assert.h>
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
    struct pim_event event;
    struct pim_pool transfers;
    struct line *lines; /* by chip */
    uint32_t turn;      /* chip that is asked first */
    bool closed;        /* the run is over: nothing is told any more */
    struct pim_bank_counters counted;
    struct shared_channel {
        struct pim_core_memory *memory;
        struct pim_dram_channel *channel;
        uint64_t wake;     /* cycle of its next command; UINT64_MAX while nothing waits */
        uint64_t accepted; /* cycle of the last access, and 1 */
        uint32_t waiting;  /* accesses whose column command has not issued */
    } channel[];
};

static const struct pim_dram_specification *specification_of(const struct pim_core_memory *memory)
{
    return &memory->cores->configuration.dram.specification;
}

static pim_time period_of(const struct pim_core_memory *memory)
{
    return memory->cores->configuration.memory_period;
}

/* The cycle of the memory clock, rounded up to the next edge. */
static uint64_t cycle_now(const struct pim_core_memory *memory)
{
    const pim_time now = pim_kernel_now(memory->cores->units.kernel), period = period_of(memory);
    return now / period + (now % period != 0);
}

/* Can this cycle of the memory clock be counted in ticks? Else the run has failed. */
static bool in_time(struct pim_core_memory *memory, uint64_t cycle)
{
    return pim_unit_in_time(pim_units_at(&memory->cores->units, 0), cycle, period_of(memory));
}

/* An event in `cycle`, unless one comes earlier. */
static void wake(struct pim_core_memory *memory, uint64_t cycle)
{
    struct pim_kernel *kernel = memory->cores->units.kernel;
    const pim_time period = period_of(memory);
    if (!in_time(memory, cycle) || pim_event_time(&memory->event) <= cycle * period)
        return;
    (void)pim_event_cancel(kernel, &memory->event);
    pim_event_schedule_at(kernel, &memory->event, cycle * period, PIM_PHASE_UNIT);
}

/* One access less under way; at the end of all the core is told. */
static void end_access(struct transfer *transfer)
{
    struct pim_core_memory *memory = transfer->memory;
    struct pim_cores *cores = memory->cores;
    if (--transfer->open > 0)
        return;
    const pim_time logic = cores->configuration.logic_period;
    if (in_time(memory, transfer->completed)) {
        const pim_time data = transfer->completed * period_of(memory);
        const uint64_t end = data / logic + (data % logic != 0);
        pim_core_memory_served(cores, &transfer->request, end, pim_later(end, pim_core_now(cores) + 1));
    }
    pim_pool_give(&memory->transfers, transfer);
}

static void served(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    struct shared_channel *channel = context;
    struct transfer *transfer = (struct transfer *)(uintptr_t)request;
    (void)first_command;
    if (channel->memory->closed)
        return;
    assert(channel->waiting > 0);
    channel->waiting--;
    transfer->completed = pim_later(transfer->completed, completed);
    end_access(transfer);
}

static void count_access(struct pim_core_memory *memory, bool write)
{
    struct pim_bank_counters *counters = &memory->counted;
    const uint32_t bytes = specification_of(memory)->organization.access_bytes;
    *(write ? &counters->writes : &counters->reads) += 1;
    *(write ? &counters->bytes_written : &counters->bytes_read) += bytes;
}

/* Takes requests that have no further column from the front of a line. */
static struct transfer *front_of(struct pim_core_memory *memory, struct line *line)
{
    const uint32_t bytes = specification_of(memory)->organization.access_bytes;
    while (line->first && !pim_burst_find_column(&line->first->burst, &line->first->cursor, bytes)) {
        struct transfer *done = line->first;
        line->first = done->next;
        end_access(done);
    }
    return line->first;
}

/* Hands over the next access of a chip, if its channel takes it; in `again` whether to ask in the next cycle.
 */
static bool hand_over(struct pim_core_memory *memory, struct line *line, uint64_t cycle, bool *again)
{
    const struct pim_dram_configuration *dram = &memory->cores->configuration.dram;
    struct transfer *transfer = front_of(memory, line);
    if (!transfer)
        return false;
    const uint32_t bytes = dram->specification.organization.access_bytes;
    const struct pim_dram_location location =
        pim_dram_locate(&dram->mapping, transfer->cursor.column * bytes);
    struct shared_channel *channel = &memory->channel[location.channel];
    if (line->handed == cycle + 1 || channel->accepted == cycle + 1) {
        *again = true;
        return false;
    }
    const bool write = transfer->burst.write;
    /* Counted before, because an access that a waiting write answers is served at once. */
    transfer->open++;
    channel->waiting++;
    if (!pim_dram_channel_offer(channel->channel, cycle, &location, write, (uint64_t)(uintptr_t)transfer)) {
        transfer->open--;
        channel->waiting--;
        return false;
    }
    channel->accepted = line->handed = cycle + 1;
    count_access(memory, write);
    pim_burst_next_column(&transfer->cursor);
    *again |= front_of(memory, line) != NULL;
    return true;
}

/* The commands of this cycle, then one access of each chip. */
static void work(struct pim_kernel *kernel, void *context)
{
    struct pim_core_memory *memory = context;
    const uint32_t channels = specification_of(memory)->organization.channels;
    const uint32_t chips = memory->cores->chip_count;
    const uint64_t cycle = cycle_now(memory);
    (void)kernel;
    for (uint32_t i = 0; i < channels; i++)
        if (memory->channel[i].wake <= cycle)
            pim_dram_channel_advance(memory->channel[i].channel, cycle);
    bool again = false;
    const uint32_t turn = memory->turn;
    for (uint32_t i = 0; i < chips; i++) {
        const uint32_t chip = (turn + i) % chips;
        if (hand_over(memory, &memory->lines[chip], cycle, &again))
            memory->turn = (chip + 1) % chips;
    }
    uint64_t next = again ? cycle + 1 : UINT64_MAX;
    for (uint32_t i = 0; i < channels; i++) {
        struct shared_channel *channel = &memory->channel[i];
        channel->wake = channel->waiting > 0 ? pim_dram_channel_next(channel->channel) : UINT64_MAX;
        next = channel->wake < next ? channel->wake : next;
    }
    if (next < UINT64_MAX)
        wake(memory, next);
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
    wake(memory, cycle_now(memory));
}

/* --- life cycle --- */

void pim_core_memory_destroy(struct pim_cores *cores)
{
    struct pim_core_memory *memory = cores->memory;
    if (!memory)
        return;
    for (uint32_t i = 0; i < specification_of(memory)->organization.channels; i++)
        pim_dram_channel_destroy(memory->channel[i].channel);
    pim_dram_rules_destroy(memory->rules);
    pim_pool_terminate(&memory->transfers);
    free(memory->lines);
    free(memory);
    cores->memory = NULL;
}

enum pim_status pim_core_memory_create(struct pim_cores *cores, struct pim_error *error)
{
    const struct pim_dram_configuration *dram = &cores->configuration.dram;
    const uint32_t channels = dram->specification.organization.channels;
    struct pim_core_memory *memory = calloc(1, sizeof *memory + channels * sizeof memory->channel[0]);
    if (!memory)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the channels of the global memory");
    cores->memory = memory;
    memory->cores = cores;
    memory->lines = calloc(cores->chip_count, sizeof *memory->lines);
    memory->rules = pim_dram_rules_create(&dram->specification, &dram->policy);
    pim_event_initialize(&memory->event, work, memory);
    bool good = memory->lines && memory->rules;
    for (uint32_t i = 0; good && i < channels; i++) {
        const struct pim_dram_sink sink = {&memory->channel[i], served, NULL};
        memory->channel[i].memory = memory;
        memory->channel[i].wake = UINT64_MAX;
        memory->channel[i].channel = pim_dram_channel_create(memory->rules, i, &sink);
        good = memory->channel[i].channel != NULL;
    }
    return good ? PIM_OK
                : pim_fail(error, PIM_NO_MEMORY, "out of memory for the channels of the global memory");
}

void pim_core_memory_rows(const struct pim_units *units, struct pim_dram_counters *sum)
{
    const struct pim_core_memory *memory = ((const struct pim_cores *)units)->memory;
    if (!memory)
        return;
    for (uint32_t i = 0; i < specification_of(memory)->organization.channels; i++) {
        struct pim_dram_counters one;
        pim_dram_channel_counters(memory->channel[i].channel, cycle_now(memory), &one);
        pim_dram_counters_add(sum, &one);
    }
}

void pim_core_memory_close(struct pim_cores *cores, pim_time end, struct pim_bank_counters *counters,
                           struct pim_dram_counters *all)
{
    struct pim_core_memory *memory = cores->memory;
    const struct pim_dram_specification *specification = specification_of(memory);
    const uint32_t *parameter = specification->parameter;
    const uint32_t step = parameter[PIM_DRAM_T_B] > parameter[PIM_DRAM_T_CCD_S] ? parameter[PIM_DRAM_T_B]
                                                                                : parameter[PIM_DRAM_T_CCD_S];
    const uint64_t cycle = end / period_of(memory);
    *counters = memory->counted;
    *all = (struct pim_dram_counters){0};
    counters->data_cycles = (counters->reads + counters->writes) * step;
    memory->closed = true;
    for (uint32_t i = 0; i < specification->organization.channels; i++) {
        struct pim_dram_counters one;
        pim_dram_channel_advance(memory->channel[i].channel, cycle);
        pim_dram_channel_counters(memory->channel[i].channel, cycle, &one);
        pim_dram_counters_add(all, &one);
    }
    pim_dram_counters_to_bank(all, counters);
}
