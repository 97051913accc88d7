/* Patterns on the channels of a router. Invariants 2 to 4 of mesh.h. */
#include "models/noc/mesh/channels.h"

static struct noc_pattern *flit_pattern(const struct noc_mesh *mesh, uint32_t node, unsigned output)
{
    uint32_t reader = pim_noc_router(mesh, node)->neighbour[output];
    return &mesh->flit_patterns[(size_t)reader * NOC_PORTS + (output ^ 1)];
}

static struct noc_pattern *credit_pattern(const struct noc_mesh *mesh, uint32_t node, unsigned port)
{
    if (port == NOC_TERMINAL)
        return &mesh->terminal_patterns[node];
    if (port == NOC_EJECTED)
        return &mesh->credit_patterns[(size_t)node * NOC_PORTS + NOC_TERMINAL];
    uint32_t reader = pim_noc_router(mesh, node)->neighbour[port];
    return &mesh->credit_patterns[(size_t)reader * NOC_PORTS + (port ^ 1)];
}

static uint32_t credit_latency(const struct noc_mesh *mesh, unsigned port)
{
    if (port == NOC_TERMINAL)
        return NOC_INJECTION_CREDIT;
    return mesh->timing.credit_latency[port == NOC_EJECTED ? NOC_TERMINAL : port ^ 1];
}

bool pim_noc_flit_follows(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, unsigned output,
                          uint32_t value)
{
    struct noc_pattern *pattern = flit_pattern(mesh, node, output);
    if (value == pim_noc_pattern_entry(pattern, cycle))
        return true;
    pim_noc_router(mesh, node)->carries.flit_out_repeats &= (uint8_t) ~(1U << output);
    pattern->writable = cycle + mesh->timing.flit_latency[output ^ 1] + 1;
    return false;
}

bool pim_noc_credits_follow(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, unsigned port, uint32_t set)
{
    struct noc_pattern *pattern = credit_pattern(mesh, node, port);
    if (set == pim_noc_pattern_entry(pattern, cycle))
        return true;
    pim_noc_router(mesh, node)->carries.credit_out_repeats &= (uint8_t) ~(1U << port);
    pattern->writable = cycle + credit_latency(mesh, port) + 1;
    return false;
}

/* Fills the pattern of a channel from the next cycle on, when it may: it is not
 * constant, and no pattern is in use. */
static bool fill_pattern(struct noc_pattern *pattern, uint64_t cycle, const uint32_t *entries,
                         unsigned period)
{
    bool constant = true;
    for (unsigned i = 1; i < period; i++)
        constant = constant && entries[i] == entries[0];
    if (constant || cycle < pattern->writable)
        return false;
    pattern->period = period;
    for (unsigned i = 0; i < period; i++)
        pattern->entries[(cycle + 1 + i) % period] = entries[i];
    return true;
}

/* The change that announces a pattern becomes visible a cycle after what is
 * sent now. */
static void declare_flits(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, unsigned output,
                          const uint32_t *entries, unsigned period)
{
    struct noc_router *router = pim_noc_router(mesh, node);
    if (!fill_pattern(flit_pattern(mesh, node, output), cycle, entries, period))
        return;
    router->carries.flit_out_repeats |= (uint8_t)(1U << output);
    router->carries.flit_out_streams &= (uint8_t) ~(1U << output);
    uint64_t time = cycle + 1 + mesh->timing.flit_latency[output ^ 1];
    struct noc_outbox outbox = {pim_noc_slots(mesh, time), pim_noc_spoke_at(&mesh->router_wheel, time)};
    pim_noc_post_flit(&outbox, router->neighbour[output], output ^ 1, NOC_REPEATS);
}

static void declare_credits(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, unsigned port,
                            const uint32_t *entries, unsigned period)
{
    struct noc_router *router = pim_noc_router(mesh, node);
    if (!fill_pattern(credit_pattern(mesh, node, port), cycle, entries, period))
        return;
    router->credits_changed[port] = (uint32_t)cycle + 2;
    router->carries.credit_out_repeats |= (uint8_t)(1U << port);
    router->carries.credit_out_streams &= (uint8_t) ~(1U << port);
    uint64_t time = cycle + 1 + credit_latency(mesh, port);
    if (port == NOC_TERMINAL) {
        *pim_noc_terminal_slot(mesh, node, time) = (struct noc_terminal_slot){.changed = 1, .repeats = 1};
        pim_noc_wake(&mesh->terminal_wheel, node, time, cycle);
        return;
    }
    uint32_t reader = port == NOC_EJECTED ? node : router->neighbour[port];
    unsigned reader_port = port == NOC_EJECTED ? NOC_TERMINAL : port ^ 1;
    struct noc_outbox outbox = {pim_noc_slots(mesh, time), pim_noc_spoke_at(&mesh->router_wheel, time)};
    pim_noc_post_credits(&outbox, reader, reader_port, 0, true);
}

/* What a grant carries: a credit for its input `port`, and a flit by `output`, or a credit of the terminal
 * that consumes. */
struct carried {
    unsigned port, output;
    uint32_t credit, flit, ejected; /* as entries of a pattern */
};

/* Of the first of `grants`; there is one. */
static struct carried carried_by(const struct noc_mesh *mesh, const struct noc_router *router,
                                 uint64_t grants)
{
    unsigned row = (unsigned)(grants & 0xFF) - 1, to = pim_noc_inputs(mesh, router)[row].output;
    unsigned port = row >> mesh->shift, output = to >> mesh->shift, vc = to - (output << mesh->shift);
    return (struct carried){.port = port,
                            .output = output,
                            .credit = UINT32_C(1) << (row - (port << mesh->shift)),
                            .flit = vc << 8 | NOC_FLIT,
                            .ejected = UINT32_C(1) << vc};
}

/* (Called often, when most channels are constant or repeat a pattern already: only what is left is looked at
 * cycle by cycle.) */
void pim_noc_declare_patterns(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, unsigned period)
{
    const struct noc_router *router = pim_noc_router(mesh, node);
    const struct noc_rhythm *rhythm = &mesh->rhythms[node];
    unsigned outputs = 0, ports = 0; /* channels that carry something and repeat no pattern */
    for (unsigned i = 0; i < period; i++)
        for (uint64_t grants = rhythm->grants[(cycle - i) % NOC_HISTORY]; grants; grants >>= 8) {
            struct carried carried = carried_by(mesh, router, grants);
            outputs |= 1U << carried.output;
            ports |= 1U << carried.port;
        }
    ports |= (outputs >> NOC_TERMINAL & 1) << NOC_EJECTED;
    outputs &= ~(1U << NOC_TERMINAL | (unsigned)router->carries.flit_out_repeats);
    ports &= ~(unsigned)router->carries.credit_out_repeats;
    if (!(outputs | ports))
        return;
    uint32_t flits[NOC_TERMINAL][NOC_PERIOD_LIMIT] = {{0}},
             credits[NOC_EJECTED + 1][NOC_PERIOD_LIMIT] = {{0}};
    for (unsigned i = 0; i < period; i++)
        for (uint64_t grants = rhythm->grants[(cycle + 1 + i - period) % NOC_HISTORY]; grants; grants >>= 8) {
            struct carried carried = carried_by(mesh, router, grants);
            credits[carried.port][i] |= carried.credit;
            if (carried.output == NOC_TERMINAL)
                credits[NOC_EJECTED][i] = carried.ejected;
            else
                flits[carried.output][i] = carried.flit;
        }
    for (; outputs; outputs &= outputs - 1)
        declare_flits(mesh, node, cycle, pim_lowest_bit(outputs), flits[pim_lowest_bit(outputs)], period);
    for (; ports; ports &= ports - 1)
        declare_credits(mesh, node, cycle, pim_lowest_bit(ports), credits[pim_lowest_bit(ports)], period);
}
