/* The nodes between which packets go, as the network calls them: those of a task graph (replay/nodes.c), or
 * somebody else's (network.h). */
#ifndef PIMSIM_MODELS_CONFLICT_NODES_H
#define PIMSIM_MODELS_CONFLICT_NODES_H

#include "sim/status.h"

#include <stdint.h>

struct pim_conflict_nodes {
    const char *noun; /* of one in messages */
    void *context;
    /* Something has changed for a node: a packet has come or left, or pim_conflict_network_look() was called.
       It ends the work that ends now, frees, makes, and starts what it can. */
    void (*look)(void *context, uint32_t node);
    void (*left)(void *context, uint32_t edge);                   /* a packet has started; or NULL */
    void (*arrived)(void *context, uint32_t edge, uint32_t hops); /* it is there; or NULL */
    void (*send)(void *context, uint32_t edge); /* PIM_SWITCHING_WORMHOLE: carries a packet */
    void (*failed)(void *context, enum pim_status status, const char *text); /* the kernel is stopped then */
};

#endif
