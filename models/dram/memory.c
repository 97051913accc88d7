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
        counters->row_hits += one.row_hits;
        counters->row_misses += one.row_misses;
        counters->row_conflicts += one.row_conflicts;
        counters->forwarded_reads += one.forwarded_reads;
        counters->absorbed_writes += one.absorbed_writes;
        counters->precharged_banks += one.precharged_banks;
        counters->active_cycles += one.active_cycles;
        counters->skipped_refreshes += one.skipped_refreshes;
        for (unsigned j = 0; j < PIM_DRAM_COMMANDS; j++)
            counters->commands[j] += one.commands[j];
    }
}
