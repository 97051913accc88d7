/*
 * Streams of credits that begin and end without a change in the slot of their
 * reader, so that a router which sleeps goes on sleeping. The invariant of all
 * three: until the cycle `time` in which the reader would have seen the change,
 * its counter is the true one or less (a stream that begins), or the true one
 * or more (one that ends), and in all that time greater than 0 in both; so none
 * of its decisions can tell.
 *
 * A stream adds a credit in every cycle from the reader's `since` on. When it
 * should only do so from `time` on, the counter is lowered by time - since
 * beforehand, and likewise raised for a stream that ends. Counters are modulo
 * 2^16.
 */
#include "models/noc/mesh/channels.h"

/* The reader of the credits of a port, when it is a router. */
struct reader {
    struct noc_router *router;
    struct noc_output *row;
    uint32_t node;
    unsigned output, latency, number; /* of the row */
};

static struct reader reader_of(const struct noc_site *site, unsigned port, unsigned vc)
{
    const struct noc_mesh *mesh = site->mesh;
    bool own = port == NOC_EJECTED;
    struct reader reader = {.node = own ? site->node : site->router->neighbour[port],
                            .output = own ? NOC_TERMINAL : port ^ 1};
    reader.router = pim_noc_router(mesh, reader.node);
    reader.latency = mesh->timing.credit_latency[reader.output];
    reader.number = (reader.output << mesh->shift) + vc;
    reader.row = &reader.router->outputs[reader.number];
    return reader;
}

/* Whether a change of the channel is under way to it (or will be: express.h). The cycles are modulo 2^32: a
 * change of long ago may be taken for one, and then nothing is done early. */
static bool changes(const struct noc_site *site, unsigned port, unsigned latency)
{
    return (uint32_t)site->cycle + NOC_EXPRESS - site->router->credits_changed[port] < latency + NOC_EXPRESS;
}

bool pim_noc_start_early(const struct noc_site *site, unsigned port, unsigned vc, unsigned ahead)
{
    if (port == NOC_TERMINAL)
        return false;
    struct reader reader = reader_of(site, port, vc);
    struct noc_router *router = reader.router;
    struct noc_activity *carries = &router->carries;
    uint64_t now = site->cycle + ahead, time = now + reader.latency;
    if (router->since > now + 1 || router->period != 1 ||
        (carries->credit_repeats | carries->credit_streams) >> reader.output & 1 ||
        reader.row->credits <= time - router->since || changes(site, port, reader.latency))
        return false;
    if (!(router->sets[reader.number / 64].nonfull >> reader.number % 64 & 1))
        return false;
    reader.row->credits = (uint16_t)(reader.row->credits - (time - router->since));
    carries->credit_streams |= (uint8_t)(1U << reader.output);
    router->credit_in[reader.output] = UINT32_C(1) << vc;
    router->clean_since = now + 2;
    if (router->planned > site->cycle + 1 && router->planned != UINT64_MAX)
        pim_noc_replan(site->mesh, reader.node, site->cycle);
    return true;
}

/* The number of credits that come from `since` up to `time`, this one included.
 */
static uint16_t rest(uint64_t since, uint64_t time)
{
    return (uint16_t)(time + 1 - since);
}

static bool stop_terminal(const struct noc_site *site, unsigned vc, uint64_t now)
{
    struct noc_mesh *mesh = site->mesh;
    struct noc_terminal *terminal = &mesh->terminals[site->node];
    uint64_t time = now + NOC_INJECTION_CREDIT;
    if (terminal->since > now + 1 || terminal->period != 1 || terminal->credit_repeats ||
        terminal->credit_in != UINT32_C(1) << vc || changes(site, NOC_TERMINAL, NOC_INJECTION_CREDIT) ||
        terminal->owned >> vc & 1 || !(terminal->nonfull >> vc & 1))
        return false;
    mesh->terminal_credits[(size_t)site->node * mesh->vcs + vc] += rest(terminal->since, time);
    terminal->credit_in = 0;
    terminal->clean_since = now + 2;
    return true;
}

bool pim_noc_stop_early(const struct noc_site *site, unsigned port, unsigned vc, unsigned ahead)
{
    uint64_t now = site->cycle + ahead;
    if (port == NOC_TERMINAL)
        return stop_terminal(site, vc, now);
    struct reader reader = reader_of(site, port, vc);
    struct noc_router *router = reader.router;
    struct noc_activity *carries = &router->carries;
    const struct noc_sets *sets = &router->sets[reader.number / 64];
    uint64_t bit = UINT64_C(1) << reader.number % 64, free = port == NOC_EJECTED ? bit : sets->free;
    if (router->since > now + 1 || router->period != 1 || !(carries->credit_streams >> reader.output & 1) ||
        router->credit_in[reader.output] != UINT32_C(1) << vc || !(free & sets->nonfull & bit) ||
        changes(site, port, reader.latency))
        return false;
    reader.row->credits = (uint16_t)(reader.row->credits + rest(router->since, now + reader.latency));
    carries->credit_streams &= (uint8_t) ~(1U << reader.output);
    router->clean_since = now + 2;
    return true;
}
