/*
 * One evaluation of a router: what router.c (the stages), buffers.h, switch.h,
 * channels.h and sleep.c hand to each other.
 *
 * The functions of the hot loop are inlined into one function per `noc_kind`: a
 * constant, so that what a configuration does not need is left out. They share
 * a site and an outcome that stay in registers: functions that are not inlined
 * make a site of their own (site_of()), or get a copy where they are seldom called.
 */
#ifndef PIMSIM_MODELS_NOC_MESH_EVALUATION_H
#define PIMSIM_MODELS_NOC_MESH_EVALUATION_H

#include "models/noc/internal.h"
#include "models/noc/mesh/mesh.h"

struct noc_kind {
    bool plain;    /* routing_delay = vc_allocation_delay = input_speedup = 1, no
                     speculation, no held switches,     the switch allocator is islip
                     with one iteration */
    uint8_t words; /* of a set of rows */
    bool early;    /* credits may be added in advance (channels.h), and a tail frees
                 its virtual channel at once */
    bool routed;   /* the mesh's routing says where packets go, and on which virtual channels */
    bool brief;    /* as in struct noc_mesh */
};

/* Whether virtual channels are allocated a cycle in advance (heads.h). */
static PIM_ALWAYS_INLINE bool in_advance(struct noc_kind kind)
{
    return kind.plain && kind.early;
}

/* Which router, in which cycle; constant. */
struct noc_site {
    struct pim_noc *noc;
    struct noc_mesh *mesh;
    struct noc_router *router;
    const struct noc_slot *slot; /* the changes that become visible */
    uint64_t cycle;
    uint32_t node;
};

/* One of the sets of rows, on its own. */
struct noc_rows {
    uint64_t words[NOC_WORDS_LIMIT];
};

/* What happened in the cycle so far. */
struct noc_outcome {
    uint64_t grants;         /* as in struct noc_router */
    unsigned asked;          /* outputs that heads ask for, when in advance */
    unsigned flit_ports;     /* outputs that send a flit */
    unsigned credit_ports;   /* inputs that return credits */
    unsigned flit_streams;   /* those that carry the same by themselves in the next
                            cycle */
    unsigned credit_streams; /* the same for credits */
    bool noisy;              /* a packet began or ended somewhere, or got a virtual channel:
                 not calm */
    struct noc_rows ended;   /* rows that a tail has left */
    bool wrote_change;
    bool read_change;
};

static PIM_ALWAYS_INLINE unsigned shift_of(const struct noc_site *site, struct noc_kind kind)
{
    return kind.words == 1 ? NOC_SINGLE_SHIFT : site->mesh->shift;
}

/* As pim_noc_router(). */
static PIM_ALWAYS_INLINE struct noc_router *router_of(const struct noc_mesh *mesh, struct noc_kind kind,
                                                      uint32_t node)
{
    size_t bytes = kind.words == 1 ? pim_noc_router_bytes(NOC_SINGLE_SHIFT) : mesh->router_size;
    return (void *)(mesh->routers + node * bytes);
}

static PIM_ALWAYS_INLINE struct noc_input *input_of(const struct noc_site *site, struct noc_kind kind,
                                                    unsigned row)
{
    struct noc_input *inputs = (void *)((char *)site->router + pim_noc_inputs_offset(shift_of(site, kind)));
    return inputs + row;
}

static PIM_ALWAYS_INLINE unsigned port_of(const struct noc_site *site, struct noc_kind kind, unsigned row)
{
    return row >> shift_of(site, kind);
}

static PIM_ALWAYS_INLINE unsigned vc_of(const struct noc_site *site, struct noc_kind kind, unsigned row)
{
    return row & ((1U << shift_of(site, kind)) - 1);
}

static PIM_ALWAYS_INLINE unsigned row_of(const struct noc_site *site, struct noc_kind kind, unsigned port,
                                         unsigned vc)
{
    return (port << shift_of(site, kind)) + vc;
}

static PIM_ALWAYS_INLINE struct noc_site site_of(struct pim_noc *noc, struct noc_kind kind, uint32_t node,
                                                 uint64_t cycle)
{
    struct noc_mesh *mesh = noc->mesh;
    return (struct noc_site){.noc = noc,
                             .mesh = mesh,
                             .router = router_of(mesh, kind, node),
                             .slot = &mesh->now[node],
                             .cycle = cycle,
                             .node = node};
}

/* No channel of the router carries anything by itself. */
static PIM_ALWAYS_INLINE bool is_quiet(const struct noc_router *router, struct noc_kind kind)
{
    return kind.brief || pim_noc_carried(&router->carries) == 0;
}

/* The word of all sets that has the row. */
static PIM_ALWAYS_INLINE struct noc_sets *sets_of(const struct noc_site *site, struct noc_kind kind,
                                                  unsigned row)
{
    return &site->router->sets[kind.words == 1 ? 0 : row / 64];
}

static PIM_ALWAYS_INLINE uint64_t bit_of(unsigned row)
{
    return UINT64_C(1) << row % 64;
}

/* The virtual channels of the port that begins with row `first`, from the word
 * of a set of rows. */
static PIM_ALWAYS_INLINE uint32_t port_part(const struct noc_site *site, uint64_t word, unsigned first)
{
    return (uint32_t)(word >> first % 64) & site->mesh->all;
}

static PIM_ALWAYS_INLINE bool any_row(struct noc_kind kind, const struct noc_rows *rows)
{
    uint64_t any = 0;
    for (unsigned word = 0; word < kind.words; word++)
        any |= rows->words[word];
    return any != 0;
}

/* First member at or after `pointer`, else the lowest; the set is not empty. */
static PIM_ALWAYS_INLINE unsigned first_row_from(struct noc_kind kind, const struct noc_rows *rows,
                                                 unsigned pointer)
{
    if (kind.words == 1)
        return pim_noc_first_from(rows->words[0], pointer);
    unsigned word = pointer / 64;
    uint64_t set = rows->words[word] >> pointer % 64 << pointer % 64;
    while (!set) {
        word = word + 1 == kind.words ? 0 : word + 1;
        set = rows->words[word];
    }
    return word * 64 + pim_lowest_bit(set);
}

/* The rows whose heads ask for a virtual channel. */
static PIM_ALWAYS_INLINE struct noc_rows bidding_rows(const struct noc_site *site, struct noc_kind kind)
{
    struct noc_rows rows = {{0}};
    for (unsigned word = 0; word < kind.words; word++)
        rows.words[word] = site->router->sets[word].bidding;
    return rows;
}

/* The outputs by which the packets at the front of `rows` leave. */
static PIM_ALWAYS_INLINE unsigned outputs_of(const struct noc_site *site, struct noc_kind kind,
                                             const struct noc_rows *rows)
{
    unsigned outputs = 0;
    for (unsigned output = 0; output < NOC_PORTS; output++) {
        uint64_t any = 0;
        for (unsigned word = 0; word < kind.words; word++)
            any |= rows->words[word] & site->router->sets[word].to[output];
        outputs |= (unsigned)(any != 0) << output;
    }
    return outputs;
}

/* Those of `rows` whose packets leave by `output`. */
static PIM_ALWAYS_INLINE void rows_to(const struct noc_site *site, struct noc_kind kind,
                                      const struct noc_rows *rows, unsigned output, struct noc_rows *members)
{
    for (unsigned word = 0; word < kind.words; word++)
        members->words[word] = rows->words[word] & site->router->sets[word].to[output];
}

/* Index in struct noc_mesh's `ready` and `allowed`. */
static inline size_t ready_of(const struct noc_site *site, unsigned row)
{
    return site->node * pim_noc_rows(site->mesh) + row;
}

/* Those of the virtual channels `set` that the packet at the front of a row may take. */
static PIM_ALWAYS_INLINE uint32_t allowed_of(const struct noc_site *site, struct noc_kind kind, unsigned row,
                                             uint32_t set)
{
    return kind.routed ? set & site->mesh->allowed[ready_of(site, row)] : set;
}

/* The packet's head leaves the router by `output`. */
static PIM_ALWAYS_INLINE void count_hop(const struct noc_site *site, struct noc_kind kind, uint32_t packet,
                                        unsigned output)
{
    if (!kind.routed)
        return;
    struct noc_routed *routed = &site->mesh->packets[packet];
    routed->hops++;
    if (site->mesh->two_phases && output != PIM_NOC_EJECT)
        pim_noc_packet_advance(site->mesh->routing, &routed->state, site->node, output);
}

/* channels.c: declares that all output channels repeat what they carried in the
 * last `period` cycles (in the router's rhythm). */
void pim_noc_declare_patterns(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, unsigned period);

/* sleep.c: enters the router in the agenda for the cycle it planned. */
void pim_noc_enter(struct noc_mesh *mesh, uint32_t node, uint64_t cycle);

/* sleep.c: so many cycles like the last one (period 1). */
void pim_noc_router_account(struct noc_mesh *mesh, uint32_t node, uint64_t cycles);

/* sleep.c: the router was entered in the agenda but has nothing to do. */
void pim_noc_sleep_on(struct noc_mesh *mesh, uint32_t node, uint64_t cycle);

/* sleep.c: the same for a router that sleeps with period 1, after `cycle`, when
 * a stream of credits has begun. */
void pim_noc_replan(const struct noc_mesh *mesh, uint32_t node, uint64_t cycle);

/* A calm step: whether it read and wrote changes of channels, and whether no set and no pointer of the router
 * changed. */
struct noc_calm {
    bool read_change, wrote_change, same;
};

/* sleep.c: plans the next evaluation after a calm step. Returns whether that is in the next cycle; else it is
 * in the agenda. */
bool pim_noc_plan_calm(struct pim_noc *noc, uint32_t node, uint64_t cycle, struct noc_calm step);

#endif
