/* The invariants of the general network, counted out between two cycles, and who waits for what. */
#include "models/noc/bits.h"
#include "models/noc/general/general.h"
#include "models/noc/general/links.h"

#include <inttypes.h>
#include <string.h>

/* Flits for a virtual channel that are on the way to it, of one queue of events; or credits for it. */
static uint64_t under_way(const struct noc_general *general, const struct general_queue *queue, unsigned vc,
                          bool credits)
{
    uint64_t count = 0;
    for (uint32_t i = queue->first; i != GENERAL_NONE; i = general->events[i].next) {
        uint32_t value = general->events[i].value;
        count += credits ? value >> vc & 1 : value >> 2 == vc;
    }
    return count;
}

/* Every virtual channel of an input has as many places as its buffer, wherever they are. */
static enum pim_status check_credits(const struct noc_general *general, uint32_t port, unsigned vc,
                                     struct pim_error *error)
{
    const struct general_input *input = &general->inputs[port];
    if (input->feeder == GENERAL_NONE)
        return PIM_OK;
    size_t row = (size_t)port * general->vcs + vc, feeder = (size_t)input->feeder * general->vcs + vc;
    uint64_t credits =
        input->from_terminal ? general->terminal_credits[feeder] : general->columns[feeder].credits;
    const struct general_queue *queue = input->from_terminal ? &general->terminals[input->feeder].credits
                                                             : &general->outputs[input->feeder].credits;
    uint64_t flits = under_way(general, &input->arriving, vc, false);
    uint64_t returning = under_way(general, queue, vc, true), held = general->rows[row].count;
    if (credits + flits + held + returning == general->buffer_flits)
        return PIM_OK;
    uint32_t router = general->router_of[port];
    return pim_fail(error, PIM_INTERNAL,
                    "network cycle %" PRIu64 ": router %u, input %u, virtual channel %u: %" PRIu64
                    " credits upstream, %" PRIu64 " flits on the link, %" PRIu64 " in the buffer, %" PRIu64
                    " credits under way do not make %u",
                    general->origin, router, port - general->routers[router].first, vc, credits, flits, held,
                    returning, general->buffer_flits);
}

/* The credits of a terminal that consumes: those not there are under way. */
static enum pim_status check_ejection(const struct noc_general *general, uint32_t node, unsigned vc,
                                      struct pim_error *error)
{
    uint32_t port = general->terminals[node].output;
    uint64_t credits = general->columns[(size_t)port * general->vcs + vc].credits;
    uint64_t returning = under_way(general, &general->outputs[port].credits, vc, true);
    if (credits + returning == general->buffer_flits)
        return PIM_OK;
    return pim_fail(error, PIM_INTERNAL,
                    "network cycle %" PRIu64 ": ejection to node %u, virtual channel %u: %" PRIu64
                    " credits, %" PRIu64 " under way do not make %u",
                    general->origin, node, vc, credits, returning, general->buffer_flits);
}

/* Every virtual channel that is not free has exactly one owner. */
static enum pim_status check_owners(const struct pim_noc *noc, uint32_t node, struct pim_error *error)
{
    const struct noc_general *general = noc->general;
    const struct general_router *router = &general->routers[node];
    uint32_t owned[PIM_NOC_PORT_LIMIT] = {0};
    for (unsigned row = 0; row < router->ports * general->vcs; row++) {
        const struct general_input *input = &general->inputs[router->first + row / general->vcs];
        if (!((input->active | input->allocated) >> row % general->vcs & 1))
            continue;
        const struct general_row *state = &general->rows[(size_t)router->first * general->vcs + row];
        if (owned[state->output] >> state->vc & 1)
            return pim_fail(error, PIM_INTERNAL,
                            "network cycle %" PRIu64 ": router %u, output %u: virtual channel %u has two "
                            "owners",
                            general->origin, node, state->output, state->vc);
        owned[state->output] |= UINT32_C(1) << state->vc;
    }
    for (unsigned port = 0; port < router->ports; port++) {
        const struct general_output *output = &general->outputs[router->first + port];
        bool exists = output->free | output->tail_sent | owned[port] | output->nonfull;
        uint32_t taken = exists ? general->all & ~output->free : 0;
        if (pim_noc_check_owned(noc, node, port, owned[port], output->tail_sent, taken, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

/* Flits that have left a source and not yet won the switch to their destination's terminal. */
static enum pim_status check_flits(const struct pim_noc *noc, struct pim_error *error)
{
    const struct noc_general *general = noc->general;
    uint64_t injected = 0, ejected = 0, held = 0;
    for (uint32_t node = 0; node < general->topology->nodes; node++) {
        injected += general->terminals[node].flits;
        ejected += general->outputs[general->terminals[node].output].flits;
    }
    size_t ports = general->topology->first_port[general->topology->routers];
    for (size_t port = 0; port < ports; port++)
        for (unsigned vc = 0; vc < general->vcs; vc++)
            held += general->rows[port * general->vcs + vc].count +
                    under_way(general, &general->inputs[port].arriving, vc, false);
    return pim_noc_check_sums(noc, injected, ejected, held, error);
}

enum pim_status pim_noc_general_check(struct pim_noc *noc, struct pim_error *error)
{
    const struct noc_general *general = noc->general;
    if (general->sets)
        pim_noc_sets_show(noc->general);
    enum pim_status status = check_flits(noc, error);
    for (uint32_t node = 0; node < general->topology->routers && status == PIM_OK; node++)
        status = check_owners(noc, node, error);
    uint32_t ports = general->topology->first_port[general->topology->routers];
    for (uint32_t port = 0; port < ports && status == PIM_OK; port++)
        for (unsigned vc = 0; vc < general->vcs && status == PIM_OK; vc++)
            status = check_credits(general, port, vc, error);
    for (uint32_t node = 0; node < general->topology->nodes && status == PIM_OK; node++)
        for (unsigned vc = 0; vc < general->vcs && status == PIM_OK; vc++)
            status = check_ejection(general, node, vc, error);
    return status;
}

/* `terminals`: the nodes at the inputs, or outputs. */
static enum pim_noc_direction direction_of(const struct noc_general *general, uint32_t router, unsigned port,
                                           const uint32_t *terminals, enum pim_noc_direction terminal)
{
    if (terminals[general->topology->first_port[router] + port] != PIM_NOC_NONE)
        return terminal;
    bool named = port < general->topology->grid_ports && port < PIM_NOC_GRID_PORTS;
    return named ? (enum pim_noc_direction)port : PIM_NOC_EXPRESS;
}

static const char *waiting_reason(const struct noc_general *general, const struct general_router *router,
                                  unsigned row, enum pim_noc_lack *lack)
{
    *lack = PIM_NOC_LACKS_NOTHING;
    const struct general_input *input = &general->inputs[router->first + row / general->vcs];
    const struct general_row *state = &general->rows[(size_t)router->first * general->vcs + row];
    const struct general_output *output = &general->outputs[router->first + state->output];
    unsigned vc = row % general->vcs;
    if (input->routing >> vc & 1)
        return "its route is being computed";
    if (input->bidding >> vc & 1) {
        bool free = (output->free & state->vcs) != 0;
        *lack = free ? PIM_NOC_LACKS_NOTHING : PIM_NOC_LACKS_CHANNEL;
        return free ? "it lost virtual-channel allocation" : "no virtual channel that it may use is free";
    }
    if (input->allocated >> vc & 1)
        return "its virtual channel is being allocated";
    if (!(input->filled >> vc & 1)) {
        *lack = PIM_NOC_LACKS_FLIT;
        return "its next flit has not arrived";
    }
    if (!(input->credited >> vc & 1)) {
        *lack = PIM_NOC_LACKS_CREDIT;
        return "no credit: the buffer downstream is full";
    }
    return pim_noc_general_open(&output->busy, general->origin) ? "it competes for the switch"
                                                                : "the link passes another flit";
}

/* Whether the packet at the front of a row has a virtual channel downstream. */
static bool has_channel(const struct noc_general *general, const struct general_router *router, unsigned row)
{
    const struct general_input *input = &general->inputs[router->first + row / general->vcs];
    return (input->active | input->allocated) >> row % general->vcs & 1;
}

/* Packets of a terminal that wait to be injected: the first of every class. */
static size_t waiting_sources(const struct pim_noc *noc, uint32_t node, struct pim_noc_waiting *items,
                              size_t count, size_t capacity)
{
    const struct noc_general *general = noc->general;
    for (uint32_t class = 0; class < general->queues; class ++) {
        const struct general_source *source = &general->sources[(size_t)node * general->queues + class];
        bool begun = source->current != NOC_NO_PACKET;
        uint32_t index = begun ? source->current : source->queue_front;
        if (index == NOC_NO_PACKET || count++ >= capacity)
            continue;
        const struct pim_noc_packet *packet = &noc->packets[index];
        items[count - 1] = (struct pim_noc_waiting){
            .node = pim_noc_node_source(general->topology, node),
            .input = PIM_NOC_INJECT,
            .virtual_channel = begun ? source->vc : UINT32_MAX,
            .packet = packet->user,
            .source = packet->source,
            .destination = packet->destination,
            .output = PIM_NOC_INJECT,
            .reason = begun ? "its terminal has flits left to inject"
                            : "no virtual channel is free at its terminal",
            .lack = begun ? PIM_NOC_LACKS_CREDIT : PIM_NOC_LACKS_CHANNEL,
            .place = UINT32_MAX,
            .ahead = general->terminals[node].input,
            .ahead_channel = begun ? source->vc : UINT32_MAX,
        };
    }
    return count;
}

size_t pim_noc_general_waiting(const struct pim_noc *noc, struct pim_noc_waiting *items, size_t capacity)
{
    const struct noc_general *general = noc->general;
    const struct pim_noc_topology *topology = general->topology;
    size_t count = 0;
    if (general->sets)
        pim_noc_sets_show(noc->general);
    for (uint32_t node = 0; node < topology->routers; node++) {
        const struct general_router *router = &general->routers[node];
        for (unsigned row = 0; row < router->ports * general->vcs; row++) {
            const struct general_row *state = &general->rows[(size_t)router->first * general->vcs + row];
            if (state->front == NOC_NO_PACKET || count++ >= capacity)
                continue;
            const struct pim_noc_packet *packet = &noc->packets[state->front];
            items[count - 1] = (struct pim_noc_waiting){
                .node = node,
                .input =
                    direction_of(general, node, row / general->vcs, topology->input_node, PIM_NOC_INJECT),
                .virtual_channel = row % general->vcs,
                .packet = packet->user,
                .source = packet->source,
                .destination = packet->destination,
                .output = direction_of(general, node, state->output, topology->output_node, PIM_NOC_EJECT),
                .place = router->first + row / general->vcs,
                .ahead = general->outputs[router->first + state->output].reader,
                .ahead_channel = has_channel(general, router, row) ? state->vc : UINT32_MAX,
            };
            items[count - 1].reason = waiting_reason(general, router, row, &items[count - 1].lack);
        }
        for (uint32_t i = topology->first_port[node]; i < topology->first_port[node + 1]; i++)
            if (topology->input_node[i] != PIM_NOC_NONE)
                count = waiting_sources(noc, topology->input_node[i], items, count, capacity);
    }
    return count;
}
