/*
 * A memory that several nodes share: channels of a DRAM standard with their controllers
 * (models/dram/channel/channel.h) in place of a private bank for each node.
 *
 *  1. Node i of the memory has the i-th part of its addresses. A part of a request (memory_port.c) becomes
 *     column accesses in rising order of addresses, each column once.
 *  2. Nodes are the clients of the channels (models/unit/channels.h), who are asked in turn.
 *  3. A node whose `accesses` are under way in the controllers (0: as many as the queues take) waits for the
 *     column command of one of them. Its port takes the next part in the cycle behind that in which the last
 *     access of the part was accepted, or when it may hand over the next one.
 *  4. A request ends when the data of all its accesses are complete, in whatever order they were served.
 *
 * With a channel of one bank and one access under way the cycles are those of a private bank.
 */
#ifndef PIMSIM_MODELS_NODE_SHARED_MEMORY_H
#define PIMSIM_MODELS_NODE_SHARED_MEMORY_H

#include "models/node/node_internal.h"

/* Makes the memories of an array whose configuration has channels, and gives each node its own. */
enum pim_status pim_shared_memories_create(struct pim_node_array *array, struct pim_error *error);
void pim_shared_memories_destroy(struct pim_node_array *array);

/* The port has taken a part of the request of a client; `last`: its last one. */
void pim_shared_memory_take(struct pim_node *node, const struct pim_burst *part,
                            struct pim_port_request *request, bool last);

/* Executes all channels up to the end of a run, and adds what they counted to the first of their nodes and to
 * the array. */
void pim_shared_memory_close(struct pim_node *node, pim_time end, struct pim_bank_counters *counters);

/* Adds what all channels have counted so far. */
void pim_shared_memories_rows(const struct pim_units *units, struct pim_dram_counters *sum);

#endif
