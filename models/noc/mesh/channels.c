/* Patterns on the channels of a router. Invariants 2 to 4 of mesh.h. */
#include "models/noc/mesh/channels.h"

static struct noc_pattern *flit_pattern(const struct noc_site *site, unsigned output)
{
    return &site->mesh->flit_patterns[(size_t)site->router->neighbour[output] * NOC_PORTS + (output ^ 1)];
}

static struct noc_pattern *credit_pattern(const struct noc_site *site, unsigned port)
{
    if (port == NOC_TERMINAL)
        return &site->mesh->terminal_patterns[site->node];
    if (port == NOC_EJECTED)
        return &site->mesh->credit_patterns[(size_t)site->node * NOC_PORTS + NOC_TERMINAL];
    return &site->mesh->credit_patterns[(size_t)site->router->neighbour[port] * NOC_PORTS + (port ^ 1)];
}

static uint32_t credit_latency(const struct noc_site *site, unsigned port)
{
    if (port == NOC_TERMINAL)
        return NOC_INJECTION_CREDIT;
    return site->mesh->timing.credit_latency[port == NOC_EJECTED ? NOC_TERMINAL : port ^ 1];
}

bool pim_noc_flit_follows(struct noc_site site, unsigned output, uint32_t value)
{
    struct noc_pattern *pattern = flit_pattern(&site, output);
    if (value == pim_noc_pattern_entry(pattern, site.cycle))
        return true;
    site.router->carries.flit_out_repeats &= (uint8_t) ~(1U << output);
    pattern->writable = site.cycle + site.mesh->timing.flit_latency[output ^ 1] + 1;
    return false;
}

bool pim_noc_credits_follow(struct noc_site site, unsigned port, uint32_t set)
{
    struct noc_pattern *pattern = credit_pattern(&site, port);
    if (set == pim_noc_pattern_entry(pattern, site.cycle))
        return true;
    site.router->carries.credit_out_repeats &= (uint8_t) ~(1U << port);
    pattern->writable = site.cycle + credit_latency(&site, port) + 1;
    return false;
}

/* Fills the pattern of a channel from the next cycle on, when it may: it is not
 * constant, and no pattern is in use. */
static bool fill_pattern(const struct noc_site *site, struct noc_pattern *pattern, const uint32_t *entries,
                         unsigned period)
{
    bool constant = true;
    for (unsigned i = 1; i < period; i++)
        constant = constant && entries[i] == entries[0];
    if (constant || site->cycle < pattern->writable)
        return false;
    pattern->period = period;
    for (unsigned i = 0; i < period; i++)
        pattern->entries[(site->cycle + 1 + i) % period] = entries[i];
    return true;
}

/* The change that announces a pattern becomes visible a cycle after what is
 * sent now. */
static void declare_flits(const struct noc_site *site, unsigned output, const uint32_t *entries,
                          unsigned period)
{
    struct noc_router *router = site->router;
    struct noc_mesh *mesh = site->mesh;
    if (router->carries.flit_out_repeats >> output & 1 || router->neighbour[output] == UINT32_MAX ||
        !fill_pattern(site, flit_pattern(site, output), entries, period))
        return;
    router->carries.flit_out_repeats |= (uint8_t)(1U << output);
    router->carries.flit_out_streams &= (uint8_t) ~(1U << output);
    uint64_t time = site->cycle + 1 + mesh->timing.flit_latency[output ^ 1];
    struct noc_outbox outbox = {pim_noc_slots(mesh, time), pim_noc_spoke_at(&mesh->router_wheel, time)};
    pim_noc_post_flit(&outbox, router->neighbour[output], output ^ 1, NOC_REPEATS);
}

static void declare_credits(const struct noc_site *site, unsigned port, const uint32_t *entries,
                            unsigned period)
{
    struct noc_router *router = site->router;
    struct noc_mesh *mesh = site->mesh;
    if (router->carries.credit_out_repeats >> port & 1 ||
        (port < NOC_TERMINAL && router->neighbour[port] == UINT32_MAX) ||
        !fill_pattern(site, credit_pattern(site, port), entries, period))
        return;
    router->credits_changed[port] = (uint32_t)site->cycle + 2;
    router->carries.credit_out_repeats |= (uint8_t)(1U << port);
    router->carries.credit_out_streams &= (uint8_t) ~(1U << port);
    uint64_t time = site->cycle + 1 + credit_latency(site, port);
    if (port == NOC_TERMINAL) {
        *pim_noc_terminal_slot(mesh, site->node, time) =
            (struct noc_terminal_slot){.changed = 1, .repeats = 1};
        pim_noc_wake(&mesh->terminal_wheel, site->node, time, site->cycle);
        return;
    }
    uint32_t reader = port == NOC_EJECTED ? site->node : router->neighbour[port];
    unsigned reader_port = port == NOC_EJECTED ? NOC_TERMINAL : port ^ 1;
    struct noc_outbox outbox = {pim_noc_slots(mesh, time), pim_noc_spoke_at(&mesh->router_wheel, time)};
    pim_noc_post_credits(&outbox, reader, reader_port, 0, true);
}

void pim_noc_declare_patterns(const struct noc_site *site, const struct noc_rhythm *rhythm, unsigned period)
{
    uint32_t flits[NOC_TERMINAL][NOC_PERIOD_LIMIT], credits[NOC_EJECTED + 1][NOC_PERIOD_LIMIT];
    for (unsigned i = 0; i < period; i++) {
        for (unsigned output = 0; output < NOC_TERMINAL; output++)
            flits[output][i] = 0;
        for (unsigned port = 0; port <= NOC_EJECTED; port++)
            credits[port][i] = 0;
        for (uint64_t grants = rhythm->grants[(site->cycle + 1 + i - period) % NOC_HISTORY]; grants;
             grants >>= 8) {
            unsigned row = (unsigned)(grants & 0xFF) - 1,
                     output_row = pim_noc_inputs(site->mesh, site->router)[row].output;
            unsigned output = output_row >> site->mesh->shift,
                     output_vc = output_row - (output << site->mesh->shift);
            if (output == NOC_TERMINAL)
                credits[NOC_EJECTED][i] = UINT32_C(1) << output_vc;
            else
                flits[output][i] = output_vc << 8 | NOC_FLIT;
            credits[row >> site->mesh->shift][i] |=
                UINT32_C(1) << (row - (row >> site->mesh->shift << site->mesh->shift));
        }
    }
    for (unsigned output = 0; output < NOC_TERMINAL; output++)
        declare_flits(site, output, flits[output], period);
    for (unsigned port = 0; port <= NOC_EJECTED; port++)
        declare_credits(site, port, credits[port], period);
}
