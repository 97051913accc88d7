/*
 * Channels of a router: changes that become visible, and changes that are written. Invariants 2 to 5 of
 * internal.h.
 */
#include "models/noc/evaluation.h"

#include <string.h>

static unsigned with_bit(unsigned set, unsigned bit, bool member)
{
    return (set & ~(1U << bit)) | (unsigned)member << bit;
}

/* Takes the changes of the ports in `changed`. Returns the set of ports that carry something. */
static uint8_t read_changes(uint32_t changed, const uint64_t *changes, uint64_t *values, uint8_t *patterns,
                            unsigned busy)
{
    for (; changed; changed &= changed - 1) {
        unsigned port = pim_lowest_bit(changed);
        bool pattern = changes[port] & NOC_PATTERN;
        *patterns = (uint8_t)with_bit(*patterns, port, pattern);
        if (pattern)
            continue;
        values[port] = changes[port];
        busy = with_bit(busy, port, values[port] != 0);
    }
    return (uint8_t)busy;
}

void pim_noc_read_changes(struct evaluation *e)
{
    struct noc_mesh *mesh = e->mesh;
    struct noc_router *router = e->router;
    size_t slot = (size_t)e->node * mesh->ring + (e->cycle & (mesh->ring - 1));
    uint8_t flits = mesh->flit_ports[slot], credits = mesh->credit_ports[slot];
    e->read_change = flits | credits;
    router->flit_in_ports = read_changes(flits, &mesh->flit_changes[slot * NOC_PORTS], router->flit_in,
                                         &router->flit_in_patterns, router->flit_in_ports);
    router->credit_in_ports =
        read_changes(credits, &mesh->credit_changes[slot * NOC_PORTS], router->credit_in,
                     &router->credit_in_patterns, router->credit_in_ports);
    mesh->flit_ports[slot] = mesh->credit_ports[slot] = 0;
}

/* Takes what the patterns of the ports in `patterns` carry; the rest as above. */
static uint8_t read_patterns(uint64_t cycle, uint32_t ports, const struct noc_pattern *patterns,
                             const uint32_t *latencies, uint64_t *values, unsigned busy)
{
    for (; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        values[port] = pim_noc_pattern_entry(&patterns[port], cycle - latencies[port]);
        busy = with_bit(busy, port, values[port] != 0);
    }
    return (uint8_t)busy;
}

void pim_noc_read_patterns(struct evaluation *e)
{
    const struct noc_mesh *mesh = e->mesh;
    struct noc_router *router = e->router;
    if (!(router->flit_in_patterns | router->credit_in_patterns))
        return;
    size_t own = (size_t)e->node * NOC_PORTS;
    router->flit_in_ports = read_patterns(e->cycle, router->flit_in_patterns, &mesh->flit_patterns[own],
                                          mesh->timing.flit_latency, router->flit_in, router->flit_in_ports);
    router->credit_in_ports =
        read_patterns(e->cycle, router->credit_in_patterns, &mesh->credit_patterns[own],
                      mesh->timing.credit_latency, router->credit_in, router->credit_in_ports);
}

/* The reader's end of an output: flits to a neighbour, credits to a neighbour (or to this router, by way of
 * the terminal). */
struct reader {
    bool terminal, credits;
    uint32_t node;
    unsigned port;
};

static inline struct reader flit_reader(const struct evaluation *e, unsigned port)
{
    if (port == NOC_TERMINAL)
        return (struct reader){.credits = true, .node = e->node, .port = NOC_TERMINAL};
    return (struct reader){.node = e->router->neighbour[port], .port = port ^ 1};
}

static inline struct reader credit_reader(const struct evaluation *e, unsigned port)
{
    if (port == NOC_TERMINAL)
        return (struct reader){.terminal = true, .node = e->node};
    return (struct reader){.credits = true, .node = e->router->neighbour[port], .port = port ^ 1};
}

static struct noc_pattern *pattern_of(struct noc_mesh *mesh, struct reader reader)
{
    if (reader.terminal)
        return &mesh->terminal_patterns[reader.node];
    return (reader.credits ? mesh->credit_patterns : mesh->flit_patterns) +
           ((size_t)reader.node * NOC_PORTS + reader.port);
}

static uint32_t latency_of(const struct noc_mesh *mesh, struct reader reader)
{
    if (reader.terminal)
        return NOC_INJECTION_CREDIT;
    return (reader.credits ? mesh->timing.credit_latency : mesh->timing.flit_latency)[reader.port];
}

/* Records a change of what is sent from `sent` on. */
static inline void post(const struct evaluation *e, struct reader reader, uint64_t sent, uint64_t value)
{
    struct noc_mesh *mesh = e->mesh;
    uint64_t time = sent + latency_of(mesh, reader);
    size_t slot = (size_t)reader.node * mesh->ring + (time & (mesh->ring - 1));
    if (reader.terminal) {
        mesh->terminal_changes[slot] = value | NOC_CHANGED;
        pim_noc_wake(&mesh->terminal_wheel, reader.node, time, e->cycle);
        return;
    }
    if (reader.credits) {
        mesh->credit_changes[slot * NOC_PORTS + reader.port] = value;
        mesh->credit_ports[slot] |= (uint8_t)(1U << reader.port);
    } else {
        mesh->flit_changes[slot * NOC_PORTS + reader.port] = value;
        mesh->flit_ports[slot] |= (uint8_t)(1U << reader.port);
    }
    pim_noc_wake(&mesh->router_wheel, reader.node, time, e->cycle);
}

/* Writes `value` to a channel that would carry out[port] by itself; it repeats a pattern when `patterns` has
 * the port. */
static inline void write_port(struct evaluation *e, struct reader reader, unsigned port, uint64_t value,
                              uint64_t *out, uint8_t *patterns)
{
    if (PIM_UNLIKELY(*patterns >> port & 1)) {
        struct noc_pattern *pattern = pattern_of(e->mesh, reader);
        if (value == pim_noc_pattern_entry(pattern, e->cycle))
            return;
        *patterns &= (uint8_t) ~(1U << port);
        pattern->writable = e->cycle + latency_of(e->mesh, reader) + 1;
    } else if (value == out[port]) {
        return;
    }
    out[port] =
        reader.credits || reader.terminal ? pim_noc_credit_successor(value) : pim_noc_flit_successor(value);
    e->wrote_change = true;
    post(e, reader, e->cycle, value);
}

void pim_noc_write_channels(struct evaluation *e)
{
    struct noc_router *router = e->router;
    uint32_t ports = router->flit_out_ports | e->flit_out_ports | router->flit_out_patterns;
    for (; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        uint64_t value = e->flit_out[port];
        if (port == NOC_TERMINAL && (value & ~NOC_ONCE) == router->flit_out[port])
            value &= ~NOC_ONCE;
        write_port(e, flit_reader(e, port), port, value, router->flit_out, &router->flit_out_patterns);
    }
    ports = router->credit_out_ports | e->credit_out_ports | router->credit_out_patterns;
    for (uint32_t once = e->tail_ports & ~e->body_ports; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        uint64_t value = e->credit_out[port];
        if (once >> port & 1 && value != router->credit_out[port])
            value |= NOC_ONCE; /* the credit for a tail, that does not go with the stream */
        write_port(e, credit_reader(e, port), port, value, router->credit_out, &router->credit_out_patterns);
    }
    router->flit_out_ports = e->flit_out_ports;
    router->credit_out_ports = e->credit_out_ports;
}

/* Declares the pattern of one channel from the next cycle on, when it is not constant. */
static void declare(struct evaluation *e, struct reader reader, const uint64_t *entries, unsigned period,
                    unsigned port, uint8_t *patterned)
{
    bool constant = true;
    for (unsigned i = 1; i < period; i++)
        constant = constant && entries[i] == entries[0];
    struct noc_pattern *pattern = pattern_of(e->mesh, reader);
    if (constant || *patterned >> port & 1 || e->cycle < pattern->writable)
        return;
    *patterned |= (uint8_t)(1U << port);
    pattern->period = period;
    for (unsigned i = 0; i < period; i++)
        pattern->entries[(e->cycle + 1 + i) % period] = entries[i];
    post(e, reader, e->cycle + 1, NOC_PATTERN | period);
}

void pim_noc_declare_patterns(struct evaluation *e, const struct noc_rhythm *rhythm, unsigned period)
{
    struct noc_router *router = e->router;
    uint64_t flits[NOC_PORTS][NOC_PERIOD_LIMIT], credits[NOC_PORTS][NOC_PERIOD_LIMIT];
    memset(flits, 0, sizeof flits);
    memset(credits, 0, sizeof credits);
    for (unsigned i = 0; i < period; i++) {
        uint64_t slot = (e->cycle + 1 + i - period) % NOC_PERIOD_LIMIT;
        for (unsigned j = 0; j < rhythm->grant_counts[slot]; j++) {
            struct noc_grant grant = rhythm->grants[slot][j];
            flits[grant.output][i] = grant.output == NOC_TERMINAL
                                         ? UINT64_C(1) << grant.output_vc
                                         : pim_noc_entry(0, grant.output_vc, NOC_FLIT);
            credits[grant.port][i] |= UINT64_C(1) << grant.vc;
        }
    }
    for (unsigned port = 0; port < NOC_PORTS; port++) {
        declare(e, flit_reader(e, port), flits[port], period, port, &router->flit_out_patterns);
        declare(e, credit_reader(e, port), credits[port], period, port, &router->credit_out_patterns);
    }
}
