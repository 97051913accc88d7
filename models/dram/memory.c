#include "models/dram/memory.h"

#include <stdlib.h>

struct port {
    struct pim_dram_channel *channel;
    uint64_t free_at; /* earliest arrival of the next request */
};

struct pim_dram_memory {
    struct pim_dram_rules *rules;
    struct pim_dram_mapping mapping;
    uint32_t channels;
    uint32_t run; /* column accesses with consecutive addresses lie in one row for so long, from a multiple */
    struct port port[];
};

struct pim_dram_memory *pim_dram_memory_create(const struct pim_dram_specification *specification,
                                               const struct pim_dram_policy *policy,
                                               const struct pim_dram_mapping *mapping,
                                               const struct pim_dram_sink *sink)
{
    uint32_t channels = specification->organization.channels;
    struct pim_dram_memory *memory = calloc(1, sizeof *memory + channels * sizeof memory->port[0]);
    if (!memory)
        return NULL;
    memory->mapping = *mapping;
    memory->channels = channels;
    memory->run = pim_dram_mapping_run(mapping);
    memory->rules = pim_dram_rules_create(specification, policy);
    bool good = memory->rules != NULL;
    for (uint32_t i = 0; good && i < channels; i++) {
        memory->port[i].channel = pim_dram_channel_create(memory->rules, i, sink);
        good = memory->port[i].channel != NULL;
    }
    if (!good) {
        pim_dram_memory_destroy(memory);
        return NULL;
    }
    return memory;
}

void pim_dram_memory_destroy(struct pim_dram_memory *memory)
{
    if (!memory)
        return;
    for (uint32_t i = 0; i < memory->channels; i++)
        pim_dram_channel_destroy(memory->port[i].channel);
    pim_dram_rules_destroy(memory->rules);
    free(memory);
}

uint64_t pim_dram_memory_request(struct pim_dram_memory *memory, uint64_t cycle, uint64_t address, bool write,
                                 uint64_t request)
{
    struct pim_dram_location location = pim_dram_locate(&memory->mapping, address);
    struct port *port = &memory->port[location.channel];
    if (cycle < port->free_at)
        cycle = port->free_at;
    while (!pim_dram_channel_offer(port->channel, cycle, &location, write, request))
        cycle = pim_dram_channel_wait(port->channel, write);
    port->free_at = cycle + 1;
    return cycle;
}

/* Hands over the first access of a run when its channel takes it. */
static uint64_t serve_access(struct pim_dram_channel *channel, const struct pim_dram_run *run, uint64_t cycle)
{
    while (!pim_dram_channel_offer(channel, cycle, &run->location, run->write, run->request))
        cycle = pim_dram_channel_wait(channel, run->write);
    if (run->arrived)
        *run->arrived = cycle;
    return cycle;
}

/* Hands over the accesses of a run, none before `cycle`, one in a cycle. */
static void serve_run(struct pim_dram_memory *memory, uint64_t cycle, struct pim_dram_run run)
{
    struct port *port = &memory->port[run.location.channel];
    while (run.count > 0) {
        uint64_t at = cycle > port->free_at ? cycle : port->free_at;
        uint32_t done = run.count > 1 ? pim_dram_channel_stream(port->channel, &run, &at) : 0;
        if (done == 0) {
            at = serve_access(port->channel, &run, at);
            done = 1;
        }
        port->free_at = at + 1;
        run.arrived = run.stride && run.arrived ? run.arrived + done : NULL;
        run.request += (uint64_t)run.stride * done;
        run.location.column += done;
        run.count -= done;
    }
}

enum { RUN_LEAST = 8 };

/* Is the first request a single access with no run behind it that is worth the trouble? Looks at one place
 * only; nothing but speed depends on it. */
static bool stands_alone(const struct pim_dram_memory *memory, const struct pim_dram_request *requests,
                         size_t count)
{
    const unsigned shift = memory->mapping.access_shift;
    const uint64_t first = requests[0].address >> shift;
    return (requests[0].address + requests[0].bytes - 1) >> shift == first &&
           (count < RUN_LEAST || requests[RUN_LEAST - 1].address >> shift != first + RUN_LEAST - 1);
}

/*
 * How many of the requests from the first on form a run of single accesses: consecutive places of a row, one
 * direction, and none handed over later than the channel could take it anyway, which is one in a cycle.
 */
static uint32_t merge(const struct pim_dram_memory *memory, const struct pim_dram_request *requests,
                      size_t count)
{
    const unsigned shift = memory->mapping.access_shift;
    const uint64_t first = requests[0].address >> shift;
    const uint64_t room = memory->run - (first & (memory->run - 1));
    uint32_t merged = 0;
    while (merged < count && merged < room) {
        const struct pim_dram_request *next = &requests[merged];
        if (next->address >> shift != first + merged ||
            (next->address + next->bytes - 1) >> shift != first + merged ||
            next->write != requests[0].write || next->cycle > requests[0].cycle + merged)
            break;
        merged++;
    }
    return merged;
}

/* One request of several accesses, row by row; returns how many. It arrives with the first that is accepted:
 * channels do not wait for one another. */
static uint64_t serve_pieces(struct pim_dram_memory *memory, const struct pim_dram_request *request,
                             struct pim_dram_run run)
{
    uint64_t *const arrived = run.arrived, piece = UINT64_MAX;
    const unsigned shift = memory->mapping.access_shift;
    const uint64_t first = request->address >> shift;
    const uint64_t end = ((request->address + request->bytes - 1) >> shift) + 1;
    for (uint64_t at = first; at < end; at += run.count) {
        uint64_t room = memory->run - (at & (memory->run - 1));
        run.count = (uint32_t)(end - at < room ? end - at : room);
        run.location = pim_dram_locate(&memory->mapping, at << shift);
        run.arrived = &piece;
        serve_run(memory, request->cycle, run);
        *arrived = at == first || piece < *arrived ? piece : *arrived;
    }
    return end - first;
}

/* Looks some requests ahead: of so many channels the state of the next one is not in the cache. */
static void prefetch(const struct pim_dram_memory *memory, const struct pim_dram_request *requests,
                     size_t count)
{
    enum { CHANNELS_LEAST = 512, AHEAD = 12 };
    if (memory->channels < CHANNELS_LEAST || count <= AHEAD)
        return;
    const struct pim_dram_location next = pim_dram_locate(&memory->mapping, requests[AHEAD].address);
    pim_dram_channel_prefetch(memory->port[next.channel].channel, next.bank);
}

uint64_t pim_dram_memory_serve(struct pim_dram_memory *memory, const struct pim_dram_request *requests,
                               size_t count, uint64_t first, uint64_t *arrived)
{
    uint64_t accesses = 0;
    for (size_t i = 0; i < count;) {
        prefetch(memory, &requests[i], count - i);
        if (stands_alone(memory, &requests[i], count - i)) {
            arrived[i] = pim_dram_memory_request(memory, requests[i].cycle, requests[i].address,
                                                 requests[i].write, first + i);
            accesses++;
            i++;
            continue;
        }
        struct pim_dram_run run = {.count = merge(memory, &requests[i], count - i),
                                   .write = requests[i].write,
                                   .request = first + i,
                                   .stride = 1,
                                   .arrived = &arrived[i]};
        if (run.count > 0) {
            run.location = pim_dram_locate(&memory->mapping, requests[i].address);
            serve_run(memory, requests[i].cycle, run);
            accesses += run.count;
            i += run.count;
            continue;
        }
        run.stride = 0;
        accesses += serve_pieces(memory, &requests[i], run);
        i++;
    }
    return accesses;
}

uint64_t pim_dram_memory_finish(struct pim_dram_memory *memory)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < memory->channels; i++) {
        uint64_t completed = pim_dram_channel_drain(memory->port[i].channel);
        end = completed > end ? completed : end;
    }
    for (uint32_t i = 0; i < memory->channels; i++)
        pim_dram_channel_stop(memory->port[i].channel, end);
    return end;
}

void pim_dram_memory_counters(const struct pim_dram_memory *memory, uint64_t cycle,
                              struct pim_dram_counters *counters)
{
    *counters = (struct pim_dram_counters){0};
    for (uint32_t i = 0; i < memory->channels; i++) {
        struct pim_dram_counters one;
        pim_dram_channel_counters(memory->port[i].channel, cycle, &one);
        pim_dram_counters_add(counters, &one);
    }
}

void pim_dram_counters_to_bank(const struct pim_dram_counters *channels, struct pim_bank_counters *bank)
{
    bank->row_hits += channels->row_hits;
    bank->row_misses += channels->row_misses;
    bank->row_conflicts += channels->row_conflicts;
    bank->activates += channels->commands[PIM_DRAM_ACT];
    bank->precharges += channels->precharged_banks;
    bank->refreshes += channels->commands[PIM_DRAM_REF] + channels->commands[PIM_DRAM_REFPB] +
                       channels->commands[PIM_DRAM_REFSB];
}
