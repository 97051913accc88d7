/*
 * What the files of this folder share: packets, the network, and the functions between the files.
 *
 * 1. A packet has one `next`: it is in a source's queue, or its tail is in at most one buffer, or it is free.
 */
#ifndef PIMSIM_MODELS_NOC_INTERNAL_H
#define PIMSIM_MODELS_NOC_INTERNAL_H

#include "models/noc/noc.h"
#include "models/noc/wheel.h"

#define NOC_NO_PACKET UINT32_MAX
enum { NOC_INJECTION = 2, NOC_INJECTION_CREDIT = 2 }; /* terminal to router; router to terminal */

struct pim_noc_packet {
    uint64_t flits;
    uint32_t next; /* behind it in a queue, a buffer or the pool */
    uint32_t last; /* while at the front of a buffer with packets behind it: the last of them */
    uint16_t source, destination; /* nodes */
    uint8_t x, y;                 /* of the destination */
    bool by_flit; /* fast mesh: each of its flits is a change of its own (mesh.h, struct noc_crowd) */
    uint64_t user;
    uint64_t created, head_injected, tail_injected, head_arrived;
};

struct noc_estimate;
struct noc_general;
struct noc_mesh;

struct noc_injected {
    uint64_t packet;
    uint32_t source;
};

struct pim_noc {
    struct pim_noc_configuration configuration;
    struct pim_noc_callbacks callbacks;
    struct pim_kernel *kernel;
    pim_time period;
    struct pim_event event;
    struct pim_pending_work work;
    bool stepping;
    struct pim_noc_statistics statistics;

    struct pim_noc_packet *packets; /* pool */
    uint32_t packet_capacity, packet_free;

    struct noc_injected *injected; /* in this cycle */
    size_t injected_count, injected_capacity;
    uint32_t *arrived; /* packets delivered in this cycle */
    size_t arrived_count, arrived_capacity;

    struct noc_mesh *mesh;         /* PIM_NOC_FLIT */
    struct noc_general *general;   /* PIM_NOC_FLIT, pim_noc_configuration_is_general() */
    struct noc_estimate *estimate; /* the other fidelities */
};

/* network.c. Memory that runs out in them aborts with a message. */
uint32_t pim_noc_packet_new(struct pim_noc *noc);
void pim_noc_note_injected(struct pim_noc *noc, uint32_t packet);
void pim_noc_note_arrived(struct pim_noc *noc, uint32_t packet);
void *pim_noc_grow(void *items, size_t *capacity, size_t item_size);
/* First cycle that has not been done. */
uint64_t pim_noc_origin(const struct pim_noc *noc);

/* configuration.c: what pim_noc_configuration_check() checks without reading files. */
enum pim_status pim_noc_configuration_check_fields(const struct pim_noc_configuration *configuration,
                                                   struct pim_error *error);

/* configuration.c: cycles that `flits` in a row take on a link, rounded up; `flits` when it is as wide as a
 * flit. */
uint64_t pim_noc_passage(const struct pim_noc_configuration *configuration, struct pim_noc_bits bits,
                         uint64_t flits);

/* The virtual channels that a terminal may give a packet that may use `allowed`; `last`: the one used last.
 * Kinds of messages: when that is not the packet's, only the packet's first one is tried. */
static inline uint32_t pim_noc_injectable(const struct pim_noc_configuration *configuration, uint32_t allowed,
                                          unsigned last)
{
    return configuration->message_classes && !(allowed >> last & 1) ? allowed & (0U - allowed) : allowed;
}

/* configuration.c: cycles a head spends in a router at least, from usable to on the link. */
uint32_t pim_noc_router_delay(const struct pim_noc_configuration *configuration);

/* check.c: invariants of all routers. Flits that have been injected, ejected and are held between; virtual
 * channels of an output that have owners, those whose tails have left, and those that are not free. */
enum pim_status pim_noc_check_sums(const struct pim_noc *noc, uint64_t injected, uint64_t ejected,
                                   uint64_t held, struct pim_error *error);
enum pim_status pim_noc_check_owned(const struct pim_noc *noc, uint32_t router, unsigned port,
                                    uint32_t owners, uint32_t after, uint32_t taken, struct pim_error *error);

/* check.c: the fast mesh's part of pim_noc_check() and pim_noc_get_waiting(). */
enum pim_status pim_noc_mesh_check(struct pim_noc *noc, struct pim_error *error);
size_t pim_noc_mesh_waiting(const struct pim_noc *noc, struct pim_noc_waiting *items, size_t capacity);

/* mesh.c */
enum pim_status pim_noc_mesh_create(struct pim_noc *noc, struct pim_error *error);
void pim_noc_mesh_destroy(struct noc_mesh *mesh);
void pim_noc_mesh_send(struct pim_noc *noc, uint64_t cycle, uint32_t packet, uint32_t class);
uint64_t pim_noc_mesh_next(const struct noc_mesh *mesh);
void pim_noc_mesh_step(struct pim_noc *noc, uint64_t cycle);
/* Flits of all cycles before `end`, which must not be after the next cycle. */
uint64_t pim_noc_mesh_link_flits(const struct pim_noc *noc, uint32_t node, enum pim_noc_direction direction,
                                 uint64_t end);
/* The same for pim_noc_link_blocked_cycles(). */
uint64_t pim_noc_mesh_link_blocked(const struct pim_noc *noc, uint32_t node, enum pim_noc_direction direction,
                                   uint64_t end);

/* configuration.c: whether a link is narrower than a flit per cycle. */
bool pim_noc_slower_than_flits(struct pim_noc_bits bits, uint32_t flit_bits);

/* estimate.c */
enum pim_status pim_noc_estimate_create(struct pim_noc *noc, struct pim_error *error);
void pim_noc_estimate_destroy(struct noc_estimate *estimate);
void pim_noc_estimate_send(struct pim_noc *noc, uint64_t cycle, uint32_t packet);
uint64_t pim_noc_estimate_next(const struct noc_estimate *estimate);
void pim_noc_estimate_step(struct pim_noc *noc, uint64_t cycle);
uint64_t pim_noc_estimate_link_flits(const struct noc_estimate *estimate, uint32_t node,
                                     enum pim_noc_direction direction);
uint64_t pim_noc_estimate_origin(const struct noc_estimate *estimate);

#endif
