/*
 * Whether a routing can deadlock: its channel dependency graph.
 *
 * W. J. Dally and C. L. Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks",
 * IEEE Transactions on Computers C-36(5), 1987: a channel (a virtual channel of a link) depends on another
 * when a packet that holds the first may ask for the second; without a cycle of dependencies there is no
 * deadlock. J. Duato, "A New Theory of Deadlock-Free Adaptive Routing in Wormhole Networks", IEEE
 * Transactions on Parallel and Distributed Systems 4(12), 1993: it is enough that every packet can always ask
 * for an escape channel that leads to its destination, and that the escape channels, with the dependencies
 * that pass through other channels, have no cycle. docs/models/noc-routing.md says how the graph is built.
 */
#ifndef PIMSIM_MODELS_NOC_DEPENDENCY_DEPENDENCY_H
#define PIMSIM_MODELS_NOC_DEPENDENCY_DEPENDENCY_H

#include "models/noc/routing/routing.h"

/*
 * PIM_BAD_INPUT when the routing can deadlock on its topology with its virtual channels; the message shows a
 * cycle ("link 3->4 vc 0 waits for link 4->5 vc 0 waits for ...") and what would help. PIM_NO_MEMORY.
 * Networks of more than PIM_NOC_DEPENDENCY_ROUTERS routers are judged by a smaller one of the same kind where
 * that is the same question (docs/models/noc-routing.md).
 */
enum pim_status pim_noc_dependency_check(const struct pim_noc_routing *routing, struct pim_error *error);

/* A channel: virtual channel `vc` of link `link`. */
struct pim_noc_channel {
    uint32_t link, vc;
};

/*
 * The same, and the cycle itself: *count channels, each waiting for the next and the last for the first, at
 * most `capacity` of them are stored; 0: there is none. Never judges by a smaller network. PIM_OK whether
 * there is a cycle or not; PIM_NO_MEMORY.
 */
enum pim_status pim_noc_dependency_cycle(const struct pim_noc_routing *routing, struct pim_noc_channel *cycle,
                                         uint32_t capacity, uint32_t *count, struct pim_error *error);

enum { PIM_NOC_DEPENDENCY_ROUTERS = 400 };

#endif
