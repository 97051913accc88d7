/*
 * A memory: the channels of a specification behind one address space.
 *
 * Requests are handed over in the order of a list. A channel accepts one request a cycle, in the order of the
 * list, when its queue has room; channels do not wait for one another. Only the channel that a request goes
 * to is worked on, so that the cost of a request does not depend on the number of channels.
 *
 * pim_dram_memory_serve takes the fast path of a stream (pim_dram_channel_stream) where it holds, with the
 * cycles of pim_dram_memory_request.
 */
#ifndef PIMSIM_MODELS_DRAM_MEMORY_H
#define PIMSIM_MODELS_DRAM_MEMORY_H

#include "models/cost/bank.h"
#include "models/dram/channel/channel.h"

struct pim_dram_memory;

struct pim_dram_request {
    uint64_t cycle;   /* the earliest in which it is handed over, at most 2^62; never below the one before */
    uint64_t address; /* first byte; the request ends below the capacity */
    uint32_t bytes;   /* at least 1: every column access that they touch is made */
    bool write;
};

/* Specification and policy must be checked, the mapping parsed for them; all are copied. The sink is told of
 * every channel's commands, in rising order of cycles within one channel only. NULL: memory is out. */
struct pim_dram_memory *pim_dram_memory_create(const struct pim_dram_specification *specification,
                                               const struct pim_dram_policy *policy,
                                               const struct pim_dram_mapping *mapping,
                                               const struct pim_dram_sink *sink);
void pim_dram_memory_destroy(struct pim_dram_memory *memory);

/* Hands over a request for the column access that holds `address` (below the capacity); it comes in `cycle`
 * at the earliest (at most 2^62). Returns the cycle in which its channel accepted it. */
uint64_t pim_dram_memory_request(struct pim_dram_memory *memory, uint64_t cycle, uint64_t address, bool write,
                                 uint64_t request);

/* Hands over a list, or the next part of one; request i is known to the sink as `first` + i, which hears of
 * each of its column accesses (of the first with `first_command`). arrived[i] is the cycle in which the
 * first of its accesses was accepted. Returns the number of column accesses. */
uint64_t pim_dram_memory_serve(struct pim_dram_memory *memory, const struct pim_dram_request *requests,
                               size_t count, uint64_t first, uint64_t *arrived);

/* Column accesses that a request touches. */
static inline uint64_t pim_dram_request_accesses(const struct pim_dram_request *request,
                                                 const struct pim_dram_mapping *mapping)
{
    return ((request->address + request->bytes - 1) >> mapping->access_shift) -
           (request->address >> mapping->access_shift) + 1;
}

/* Serves what waits, and brings all channels to the same end: the cycle in which the last request was
 * complete, which is returned. */
uint64_t pim_dram_memory_finish(struct pim_dram_memory *memory);

/* Sums over all channels; active_cycles up to `cycle`. */
void pim_dram_memory_counters(const struct pim_dram_memory *memory, uint64_t cycle,
                              struct pim_dram_counters *counters);

/* Adds what channels count to the counters of a bank, as far as the latter has them: reads, writes and bytes
 * are whoever's that hands accesses over. */
void pim_dram_counters_to_bank(const struct pim_dram_counters *channels, struct pim_bank_counters *bank);

#endif
