/*
 * A memory: the channels of a specification behind one address space.
 *
 * Requests are handed over in the order of a list. A channel accepts one request a cycle, in the order of the
 * list, when its queue has room; channels do not wait for one another. Only the channel that a request goes
 * to is worked on, so that the cost of a request does not depend on the number of channels.
 */
#ifndef PIMSIM_MODELS_DRAM_MEMORY_H
#define PIMSIM_MODELS_DRAM_MEMORY_H

#include "models/dram/channel.h"

struct pim_dram_memory;

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

/* Serves what waits, and brings all channels to the same end: the cycle in which the last request was
 * complete, which is returned. */
uint64_t pim_dram_memory_finish(struct pim_dram_memory *memory);

/* Sums over all channels; active_cycles up to `cycle`. */
void pim_dram_memory_counters(const struct pim_dram_memory *memory, uint64_t cycle,
                              struct pim_dram_counters *counters);

#endif
