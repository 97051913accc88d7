/*
 * Room for the allocations of further threads.
 */
#ifndef PIMSIM_SIM_HEAP_H
#define PIMSIM_SIM_HEAP_H

#include <stdbool.h>

/*
 * Has the allocator make what thread `thread` (1: the first beside the calling one) will allocate
 * from, before that thread begins. jemalloc makes an arena in the first allocation of a thread,
 * and crashes when the system gives no memory for it. false: there is no memory, so the thread
 * must not be started. With another allocator nothing is done. Costs nothing that the thread would
 * not: it takes the arena that is there.
 */
bool pim_heap_reserve(unsigned thread);

#endif
