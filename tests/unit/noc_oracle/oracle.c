#include "tests/unit/noc_oracle/oracle.h"

#include "tests/unit/noc_oracle/parts.h"
#include "tests/unit/test_main.h"

enum { STUCK = 20000 }; /* cycles in which nothing moves */

/* --- terminals --- */

static void eject(struct oracle *oracle, int node)
{
    const struct end *leave = &oracle->net.leave[node];
    struct router *router = &oracle->routers[leave->router];
    struct pipe *pipe = &router->wire[leave->port].flits;
    if (!pipe_due(pipe, oracle->cycle))
        return;
    struct flit flit = pipe_take(pipe);
    struct list_packet *packet = &oracle->list->packets[flit.packet];
    if (packet->destination != (uint32_t)node)
        ck_abort_msg("a packet arrives at another node");
    if (flit.head)
        packet->head_arrived = oracle->cycle;
    if (flit.tail) {
        packet->tail_arrived = oracle->cycle;
        packet->hops = flit.hops;
        packet->delivered = true;
        oracle->arrived++;
        append(&oracle->arrivals, (int)flit.packet);
    }
    pipe_put(&router->credits[leave->port], oracle->cycle + 2 + oracle->is->credit_delay,
             (struct flit){.channel = flit.channel});
}

static bool choose_channel(const struct oracle *oracle, struct terminal *terminal, int class, size_t index)
{
    uint32_t allowed = oracle->journeys[index].injection;
    uint32_t range = net_class(&oracle->net, (int)oracle->list->packets[index].message);
    int *last = &terminal->queue[class].last;
    bool outside = oracle->is->message_classes && !(range >> *last & 1);
    for (int i = 1; i <= oracle->vcs; i++) {
        int v = outside ? i - 1 : (*last + i) % oracle->vcs;
        struct output *output = &terminal->output[v];
        if (!(allowed >> v & 1))
            continue;
        if (!output->owned && has_credit(oracle, output)) {
            output->owned = true;
            output->tail_sent = false;
            terminal->queue[class].channel = *last = v;
            return true;
        }
        if (outside)
            return false; /* only the first one is tried */
    }
    return false;
}

/* A flit of a class, if one can go. */
static bool inject_class(struct oracle *oracle, int node, int class)
{
    struct terminal *terminal = &oracle->terminals[node];
    if (terminal->queue[class].first == terminal->queue[class].count)
        return false;
    size_t index = terminal->queue[class].packet[terminal->queue[class].first];
    uint64_t sent = terminal->queue[class].sent;
    struct list_packet *packet = &oracle->list->packets[index];
    if (packet->created > oracle->cycle || (sent == 0 && !choose_channel(oracle, terminal, class, index)) ||
        !has_credit(oracle, &terminal->output[terminal->queue[class].channel]))
        return false;
    struct flit flit = {.packet = (uint32_t)index,
                        .head = sent == 0,
                        .tail = sent + 1 == packet->flits,
                        .channel = terminal->queue[class].channel,
                        .injected = oracle->cycle};
    struct output *output = &terminal->output[flit.channel];
    output->occupancy++;
    output->tail_sent = flit.tail;
    output->owned = !flit.tail || oracle->is->wait_for_tail_credit;
    terminal->queue[class].first += flit.tail;
    terminal->queue[class].sent = flit.tail ? 0 : sent + 1;
    if (flit.head)
        packet->head_injected = oracle->cycle;
    if (flit.tail)
        packet->tail_injected = oracle->cycle;
    oracle->moved = oracle->cycle;
    terminal->wire.passed++;
    pipe_put(&terminal->wire.flits, wire_pass(oracle, &terminal->wire, oracle->net.enter[node].bits) + 2,
             flit);
    return true;
}

/* Whether a terminal has a packet to inject. */
static bool has_packet(const struct oracle *oracle, const struct terminal *terminal)
{
    for (int class = 0; class < PIM_NOC_CLASS_LIMIT; class ++) {
        size_t first = terminal->queue[class].first;
        if (first < terminal->queue[class].count &&
            oracle->list->packets[terminal->queue[class].packet[first]].created <= oracle->cycle)
            return true;
    }
    return false;
}

static void inject(struct oracle *oracle, int node)
{
    struct terminal *terminal = &oracle->terminals[node];
    bool wanted = has_packet(oracle, terminal);
    while (pipe_due(&terminal->credits, oracle->cycle))
        take_credit(oracle, &terminal->output[pipe_take(&terminal->credits).channel]);
    if (!wire_free(oracle, &terminal->wire, oracle->net.enter[node].bits))
        return;
    int classes = oracle->is->classes && !oracle->is->message_classes ? (int)oracle->is->classes : 1;
    for (int i = 1; i <= classes; i++) {
        int class = oracle->is->urgent_classes ? i - 1 : (terminal->turn + i) % classes;
        if (!inject_class(oracle, node, class))
            continue;
        terminal->turn = class;
        return;
    }
    terminal->wire.blocked += wanted;
}

/* --- the whole --- */

static void create_router(struct oracle *oracle, int number)
{
    const struct pim_noc_configuration *is = oracle->is;
    struct router *router = &oracle->routers[number];
    router->ports = oracle->net.ports[number];
    int rows = router->ports * oracle->rows, columns = router->ports * oracle->columns;
    int all = router->ports * oracle->vcs;
    router->input = zeros((size_t)all, sizeof *router->input);
    router->output = zeros((size_t)all, sizeof *router->output);
    router->wire = zeros((size_t)router->ports, sizeof *router->wire);
    router->credits = zeros((size_t)router->ports, sizeof *router->credits);
    router->crossbar_input = zeros((size_t)rows, sizeof *router->crossbar_input);
    struct list_of *lists[] = {&router->routing, &router->waiting, &router->given, &router->asking,
                               &router->holding};
    for (int i = 0; i < 5; i++)
        lists[i]->item = zeros((size_t)all, sizeof *lists[i]->item);
    for (int i = 0; i < all; i++)
        router->input[i].buffer = zeros(is->buffer_flits, sizeof *router->input[i].buffer);
    for (int row = 0; row < rows; row++)
        arbiter_create(&router->crossbar_input[row],
                       is->arbiter == PIM_NOC_MATRIX ? PIM_NOC_ROUND_ROBIN : is->arbiter,
                       oracle->vcs / oracle->rows, 1);
    enum pim_noc_arbiter vc = is->vc_arbiter == PIM_NOC_SAME_ARBITER ? is->arbiter : is->vc_arbiter;
    enum pim_noc_arbiter sw = is->switch_arbiter == PIM_NOC_SAME_ARBITER ? is->arbiter : is->switch_arbiter;
    matching_create(&router->channels, is->vc_allocator,
                    is->vc_iterations ? is->vc_iterations : is->allocator_iterations, all, all, vc,
                    (int)is->vc_groups);
    matching_create(&router->crossing, is->switch_allocator,
                    is->switch_iterations ? is->switch_iterations : is->allocator_iterations, rows, columns,
                    sw, (int)is->switch_groups);
    bool islip = is->vc_allocator == PIM_NOC_ISLIP;
    router->channels.row_ignores = IGNORED;
    router->channels.column_ignores = islip ? IGNORED : 0;
    if (is->switch_allocator == PIM_NOC_ISLIP)
        router->crossing.row_ignores = router->crossing.column_ignores = URGENCY_BITS;
}

void oracle_create(struct oracle *oracle, const struct pim_noc_configuration *is, struct list *list)
{
    struct net *net = &oracle->net;
    *oracle = (struct oracle){.is = is,
                              .list = list,
                              .vcs = (int)is->virtual_channels,
                              .rows = is->input_speedup > 1 ? (int)is->input_speedup : 1,
                              .columns = is->output_speedup > 1 ? (int)is->output_speedup : 1};
    net_create(net, is);
    oracle->routers = zeros((size_t)net->routers, sizeof *oracle->routers);
    oracle->terminals = zeros((size_t)net->nodes, sizeof *oracle->terminals);
    oracle->arrivals.item = zeros((size_t)net->nodes, sizeof *oracle->arrivals.item);
    for (int number = 0; number < net->routers; number++)
        create_router(oracle, number);
    for (int node = 0; node < net->nodes; node++) {
        struct terminal *terminal = &oracle->terminals[node];
        terminal->output = zeros(is->virtual_channels, sizeof *terminal->output);
        terminal->turn = PIM_NOC_CLASS_LIMIT * 1000 - 1;
        for (int class = 0; class < PIM_NOC_CLASS_LIMIT; class ++)
            terminal->queue[class].last = oracle->vcs - 1;
    }
}

static void *grown(void *items, size_t capacity, size_t size)
{
    items = realloc(items, capacity * size);
    if (!items)
        ck_abort_msg("out of memory");
    return items;
}

void oracle_add(struct oracle *oracle)
{
    size_t index = oracle->added++;
    const struct list_packet *packet = &oracle->list->packets[index];
    struct terminal *terminal = &oracle->terminals[packet->source];
    int class = oracle->is->message_classes ? 0 : (int)packet->message;
    if (index == oracle->capacity) {
        oracle->capacity = 2 * index + 64;
        oracle->journeys = grown(oracle->journeys, oracle->capacity, sizeof *oracle->journeys);
        oracle->of_source = grown(oracle->of_source, oracle->capacity, sizeof *oracle->of_source);
    }
    if (terminal->queue[class].count == terminal->queue[class].capacity) {
        terminal->queue[class].capacity = 2 * terminal->queue[class].count + 16;
        terminal->queue[class].packet =
            grown(terminal->queue[class].packet, terminal->queue[class].capacity, sizeof(size_t));
    }
    terminal->queue[class].packet[terminal->queue[class].count++] = index;
    oracle->of_source[index] = terminal->made++;
    journey_start(&oracle->net, &oracle->journeys[index], (int)index, (int)packet->source,
                  (int)packet->destination, (int)packet->message);
}

static void wire_destroy(struct wire *wire)
{
    free(wire->flits.events);
    free(wire->waiting.events);
}

void oracle_destroy(struct oracle *oracle)
{
    for (int number = 0; number < oracle->net.routers; number++) {
        struct router *router = &oracle->routers[number];
        for (int i = 0; i < router->ports * oracle->vcs; i++)
            free(router->input[i].buffer);
        for (int port = 0; port < router->ports; port++) {
            wire_destroy(&router->wire[port]);
            free(router->credits[port].events);
        }
        for (int row = 0; row < router->ports * oracle->rows; row++)
            arbiter_destroy(&router->crossbar_input[row]);
        matching_destroy(&router->channels);
        matching_destroy(&router->crossing);
        free(router->crossbar.events);
        free(router->routing.item);
        free(router->waiting.item);
        free(router->given.item);
        free(router->asking.item);
        free(router->holding.item);
        free(router->crossbar_input);
        free(router->input);
        free(router->output);
        free(router->wire);
        free(router->credits);
    }
    for (int node = 0; node < oracle->net.nodes; node++) {
        struct terminal *terminal = &oracle->terminals[node];
        for (int class = 0; class < PIM_NOC_CLASS_LIMIT; class ++)
            free(terminal->queue[class].packet);
        wire_destroy(&terminal->wire);
        free(terminal->credits.events);
        free(terminal->output);
    }
    free(oracle->routers);
    free(oracle->terminals);
    free(oracle->journeys);
    free(oracle->of_source);
    free(oracle->arrivals.item);
    net_destroy(&oracle->net);
}

void oracle_take_links(const struct oracle *oracle, struct links *links)
{
    *links = (struct links){.link = zeros((size_t)oracle->net.routers * PORTS, sizeof *links->link)};
    for (int number = 0; number < oracle->net.routers; number++)
        for (int port = 0; port < oracle->net.ports[number]; port++) {
            const struct wire *wire = &oracle->routers[number].wire[port];
            const struct end *out = &oracle->net.out[number * PORTS + port];
            if (out->router == NONE)
                continue;
            links->link[links->count++] = (struct pim_noc_link_use){
                .from = (uint32_t)number,
                .to = (uint32_t)out->router,
                .from_port = (uint32_t)port,
                .flits = wire->passed,
                .busy_cycles = wire->passed * parts_of_flit(oracle, out->bits) / parts_of(out->bits),
                .blocked_cycles = wire->blocked};
        }
}

static void take_ends(const struct oracle *oracle, struct links *ends)
{
    *ends = (struct links){.link = zeros((size_t)oracle->net.nodes * 2, sizeof *ends->link)};
    for (int node = 0; node < oracle->net.nodes; node++) {
        const struct end *leave = &oracle->net.leave[node];
        const struct wire *wires[] = {&oracle->terminals[node].wire,
                                      &oracle->routers[leave->router].wire[leave->port]};
        for (unsigned i = 0; i < 2; i++)
            ends->link[ends->count++] =
                (struct pim_noc_link_use){.from = (uint32_t)node,
                                          .to = (uint32_t)node,
                                          .from_port = i ? PIM_NOC_EJECT : PIM_NOC_INJECT,
                                          .flits = wires[i]->passed,
                                          .blocked_cycles = wires[i]->blocked};
    }
}

bool oracle_step(struct oracle *oracle)
{
    oracle->arrivals.count = 0;
    for (int node = 0; node < oracle->net.nodes; node++)
        eject(oracle, node);
    for (int node = 0; node < oracle->net.nodes; node++)
        inject(oracle, node);
    for (int number = 0; number < oracle->net.routers; number++)
        oracle_step_router(oracle, number);
    return oracle->cycle++ < oracle->moved + STUCK;
}

bool oracle_run(const struct pim_noc_configuration *configuration, struct list *list, struct links *links,
                struct links *ends)
{
    struct oracle oracle;
    bool moves = true;
    oracle_create(&oracle, configuration, list);
    while (oracle.arrived < list->count && moves) {
        while (oracle.added < list->count && list->packets[oracle.added].created <= oracle.cycle)
            oracle_add(&oracle);
        moves = oracle_step(&oracle) || oracle.added < list->count;
    }
    if (links)
        oracle_take_links(&oracle, links);
    if (ends)
        take_ends(&oracle, ends);
    oracle_destroy(&oracle);
    return moves;
}
