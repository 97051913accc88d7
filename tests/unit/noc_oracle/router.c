/* A router of the oracle: arrivals, decisions on the state before, and what they change. */
#include "tests/unit/noc_oracle/parts.h"

#include "tests/unit/test_main.h"

/* --- arrivals --- */

static const struct flit *front(const struct input *input)
{
    return &input->buffer[input->first];
}

/* The head in front is routed from cycle `from` on. */
static void start(struct oracle *oracle, int number, int index, uint64_t from)
{
    struct router *router = &oracle->routers[number];
    struct input *input = &router->input[index];
    if (!front(input)->head)
        ck_abort_msg("a packet begins without its head");
    journey_arrive(&oracle->net, &oracle->journeys[front(input)->packet], number);
    struct way ways[PIM_NOC_CANDIDATE_LIMIT];
    (void)journey_ways(&oracle->net, &oracle->journeys[front(input)->packet], number, ways);
    input->wants = ways[0].port;
    input->ready = from + oracle->is->routing_delay;
    input->state = oracle->is->routing_delay ? ROUTED : WAITS;
    if (input->state == WAITS && oracle->is->speculative)
        append(&router->asking, index);
    append(input->state == WAITS ? &router->waiting : &router->routing, index);
}

static void take_flit(struct oracle *oracle, int number, int port, struct flit flit)
{
    struct router *router = &oracle->routers[number];
    int index = port * oracle->vcs + flit.channel;
    struct input *input = &router->input[index];
    if (input->count == oracle->is->buffer_flits)
        ck_abort_msg("a buffer overflows");
    flit.written = oracle->cycle;
    input->buffer[(input->first + input->count++) % oracle->is->buffer_flits] = flit;
    router->flits++;
    if (input->state == IDLE)
        start(oracle, number, index, oracle->cycle);
    else if (input->state == ACTIVE && input->count == 1)
        append(&router->asking, index);
}

static struct pipe *pipe_into(struct oracle *oracle, int number, int port)
{
    const struct end *from = &oracle->net.in[number * PORTS + port];
    if (from->node != NONE)
        return &oracle->terminals[from->node].wire.flits;
    return from->router != NONE ? &oracle->routers[from->router].wire[from->port].flits : NULL;
}

static void take_arrivals(struct oracle *oracle, int number)
{
    struct router *router = &oracle->routers[number];
    for (int port = 0; port < router->ports; port++) {
        struct pipe *pipe = pipe_into(oracle, number, port);
        if (pipe && pipe_due(pipe, oracle->cycle))
            take_flit(oracle, number, port, pipe_take(pipe));
        while (pipe_due(&router->credits[port], oracle->cycle))
            take_credit(oracle,
                        &router->output[port * oracle->vcs + pipe_take(&router->credits[port]).channel]);
    }
}

/* --- decisions --- */

/* A priority for a request of the flit in front (match.h). */
static int64_t priority_of(const struct oracle *oracle, const struct input *input, bool speculates)
{
    const struct flit *flit = front(input);
    const struct list_packet *packet = &oracle->list->packets[flit->packet];
    int64_t value = 0,
            urgency = oracle->is->urgent_classes ? PIM_NOC_CLASS_LIMIT - (int)packet->message - 1 : 0;
    switch (oracle->is->priority) {
    case PIM_NOC_PACKET_AGE:
        value = -(int64_t)packet->created;
        break;
    case PIM_NOC_NETWORK_AGE:
        value = -(int64_t)flit->injected;
        break;
    case PIM_NOC_LOCAL_AGE:
        value = -(int64_t)flit->written;
        break;
    case PIM_NOC_HOP_COUNT:
        value = flit->hops;
        break;
    case PIM_NOC_QUEUE_LENGTH:
        value = input->count;
        break;
    case PIM_NOC_SEQUENCE:
        value = -(int64_t)oracle->of_source[flit->packet];
        break;
    case PIM_NOC_NO_PRIORITY:
    case PIM_NOC_PRIORITIES:
        break;
    }
    return (urgency << URGENCY_BITS) + ((int64_t)!speculates << SPECULATION_BITS) + (INT64_C(1) << 56) +
           value;
}

static bool is_free(const struct output *output, bool empty)
{
    return !output->owned && (!empty || output->occupancy == 0);
}

/* Which way a head asks for in this cycle. */
static void choose_way(const struct oracle *oracle, int number, struct input *input)
{
    struct way ways[PIM_NOC_CANDIDATE_LIMIT];
    int count = journey_ways(&oracle->net, &oracle->journeys[front(input)->packet], number, ways);
    const struct router *router = &oracle->routers[number];
    uint32_t most = 0;
    input->port = NONE;
    for (int i = 0; i < count; i++) {
        uint32_t credits = 1;
        bool some = false;
        for (int v = 0; v < oracle->vcs; v++) {
            const struct output *output = &router->output[ways[i].port * oracle->vcs + v];
            if (!(ways[i].channels >> v & 1))
                continue;
            some = some || is_free(output, ways[i].empty);
            credits += oracle->is->buffer_flits - output->occupancy;
        }
        if (count > 1 && (!some || (ways[i].escape ? input->port != NONE : credits <= most)))
            continue;
        most = credits;
        input->port = input->wants = ways[i].port;
        input->allowed = ways[i].channels;
        input->empty = ways[i].empty;
    }
}

static void decide_channels(struct oracle *oracle, int number)
{
    struct router *router = &oracle->routers[number];
    struct matching *matching = &router->channels;
    matching_clear(matching);
    for (int i = 0; i < router->waiting.count; i++) {
        int index = router->waiting.item[i];
        struct input *input = &router->input[index];
        choose_way(oracle, number, input); /* a class is urgent at the switch alone */
        int64_t priority = priority_of(oracle, input, false) & ((INT64_C(1) << URGENCY_BITS) - 1);
        for (int v = 0; v < oracle->vcs && input->port != NONE; v++)
            if (input->allowed >> v & 1 &&
                is_free(&router->output[input->port * oracle->vcs + v], input->empty))
                matching_ask(matching, index, input->port * oracle->vcs + v, priority, front(input)->packet);
    }
    matching_make(matching);
    for (int i = 0; i < router->waiting.count; i++) {
        int index = router->waiting.item[i], column = matching->partner[index];
        router->input[index].granted = column == NONE ? NONE : column % oracle->vcs;
    }
}

/* Whether an output takes another flit. */
static bool takes(const struct oracle *oracle, int number, int port)
{
    const struct wire *wire = &oracle->routers[number].wire[port];
    if (oracle->columns > 1)
        return oracle->is->output_buffer_flits == 0 || wire->waiting.count < oracle->is->output_buffer_flits;
    return wire_free(oracle, wire, oracle->net.out[number * PORTS + port].bits);
}

static bool may_send(const struct oracle *oracle, int number, const struct input *input)
{
    const struct output *output = oracle->routers[number].output;
    return takes(oracle, number, input->port) &&
           has_credit(oracle, &output[input->port * oracle->vcs + input->channel]);
}

/* Asks for the switch; *speculates: without a virtual channel. */
static bool asks(const struct oracle *oracle, int number, const struct input *input, bool *speculates)
{
    *speculates = input->state == WAITS;
    if (input->state == ACTIVE)
        return input->ready <= oracle->cycle && may_send(oracle, number, input);
    if (input->ready > oracle->cycle || input->port == NONE || !takes(oracle, number, input->port))
        return false;
    for (int v = 0; v < oracle->vcs; v++) {
        const struct output *output = &oracle->routers[number].output[input->port * oracle->vcs + v];
        if (input->allowed >> v & 1 && is_free(output, input->empty) && has_credit(oracle, output))
            return true;
    }
    return false;
}

static int row_of(const struct oracle *oracle, int index)
{
    return index / oracle->vcs * oracle->rows + index % oracle->vcs % oracle->rows;
}

static int column_of(const struct oracle *oracle, int index, int port)
{
    return port * oracle->columns + index / oracle->vcs % oracle->columns;
}

static void decide_switch(struct oracle *oracle, int number)
{
    struct router *router = &oracle->routers[number];
    struct matching *matching = &router->crossing;
    int columns = matching->columns, *asker = zeros((size_t)matching->rows * (size_t)columns, sizeof *asker);
    bool *row_held = zeros((size_t)matching->rows, 1), *column_held = zeros((size_t)columns, 1);
    for (int i = 0; i < router->holding.count; i++) {
        int index = router->holding.item[i];
        row_held[row_of(oracle, index)] = true;
        column_held[column_of(oracle, index, router->input[index].port)] = true;
    }
    matching_clear(matching);
    for (int i = 0; i < router->asking.count; i++) {
        int index = router->asking.item[i], row = row_of(oracle, index);
        struct input *input = &router->input[index];
        bool speculates;
        input->won = false;
        if (row_held[row] || !asks(oracle, number, input, &speculates))
            continue;
        int column = column_of(oracle, index, input->port), cell = row * columns + column;
        int64_t priority = priority_of(oracle, input, speculates), other = matching->priority[cell];
        if (column_held[column] || priority < other)
            continue;
        int v = index % oracle->vcs / oracle->rows, before = asker[cell] % oracle->vcs / oracle->rows;
        if (priority == other && !arbiter_prefers(&router->crossbar_input[row], v, front(input)->packet,
                                                  before, matching->packet[cell]))
            continue;
        matching_ask(matching, row, column, priority, front(input)->packet);
        asker[cell] = index;
    }
    matching_make(matching);
    for (int row = 0; row < matching->rows; row++) {
        if (matching->partner[row] == NONE)
            continue;
        int index = asker[row * columns + matching->partner[row]];
        router->input[index].won = true;
        arbiter_serve(&router->crossbar_input[row], index % oracle->vcs / oracle->rows);
    }
    free(asker);
    free(row_held);
    free(column_held);
}

/* --- updates --- */

static void put_on_link(struct oracle *oracle, int number, int port, struct flit flit, uint64_t later)
{
    const struct end *end = &oracle->net.out[number * PORTS + port];
    struct wire *wire = &oracle->routers[number].wire[port];
    uint64_t last = wire_pass(oracle, wire, end->bits);
    pipe_put(&wire->flits, last + later + end->latency, flit);
}

static void give_credit_back(struct oracle *oracle, int number, int port, int channel)
{
    const struct end *from = &oracle->net.in[number * PORTS + port];
    struct flit credit = {.channel = channel};
    if (from->node != NONE)
        pipe_put(&oracle->terminals[from->node].credits, oracle->cycle + 2, credit);
    else
        pipe_put(&oracle->routers[from->router].credits[from->port],
                 oracle->cycle + from->latency + 1 + oracle->is->credit_delay, credit);
}

/* The flit in front leaves; what comes behind it asks in `then`. */
static void send(struct oracle *oracle, int number, int index, struct list_of *then)
{
    const struct pim_noc_configuration *is = oracle->is;
    struct router *router = &oracle->routers[number];
    struct input *input = &router->input[index];
    struct output *output = &router->output[input->port * oracle->vcs + input->channel];
    struct flit flit = *front(input);
    uint64_t across = is->switch_allocation_delay + is->switch_traversal_delay;
    input->first = (input->first + 1) % is->buffer_flits;
    input->count--;
    router->flits--;
    give_credit_back(oracle, number, index / oracle->vcs, index % oracle->vcs);
    flit.channel = input->channel;
    flit.hops++;
    output->occupancy++;
    if (!output->owned || output->occupancy > is->buffer_flits)
        ck_abort_msg("a flit is sent without a virtual channel or a credit");
    output->tail_sent = flit.tail;
    output->owned = !flit.tail || is->wait_for_tail_credit;
    router->wire[input->port].passed++;
    oracle->moved = oracle->cycle;
    if (flit.head)
        journey_leave(&oracle->net, &oracle->journeys[flit.packet], number, input->port);
    if (oracle->columns > 1) {
        flit.written = (uint64_t)input->port; /* on the way through the crossbar */
        pipe_put(&router->crossbar, oracle->cycle + 1, flit);
    } else {
        put_on_link(oracle, number, input->port, flit, across);
    }
    input->ready = oracle->cycle; /* those behind a speculation that held follow without a gap */
    if (flit.tail)
        input->state = IDLE;
    if (input->count && flit.tail) {
        start(oracle, number, index, oracle->cycle + 1);
    } else if (input->count) {
        append(is->hold_switch_for_packet ? &router->holding : then, index);
    }
}

/* Who waits is decided as with stages of a cycle; longer ones make everything later. */
static void leave_crossbar(struct oracle *oracle, int number)
{
    struct router *router = &oracle->routers[number];
    uint64_t across = oracle->is->switch_allocation_delay + oracle->is->switch_traversal_delay;
    while (pipe_due(&router->crossbar, oracle->cycle)) {
        struct flit flit = pipe_take(&router->crossbar);
        pipe_put(&router->wire[flit.written].waiting, 0, flit);
    }
    for (int port = 0; port < router->ports; port++) {
        struct wire *wire = &router->wire[port];
        if (wire->waiting.count && wire_free(oracle, wire, oracle->net.out[number * PORTS + port].bits))
            put_on_link(oracle, number, port, pipe_take(&wire->waiting), across - 1);
    }
}

static void count_wanted(struct oracle *oracle, struct router *router)
{
    for (int i = 0; i < router->waiting.count; i++) {
        const struct input *input = &router->input[router->waiting.item[i]];
        if (input->granted == NONE)
            router->wire[input->wants].wanted = true;
    }
    for (int i = 0; i < router->asking.count + router->holding.count; i++) {
        int held = i - router->asking.count;
        const struct input *input =
            &router->input[held < 0 ? router->asking.item[i] : router->holding.item[held]];
        if (input->state == ACTIVE && input->ready <= oracle->cycle && (held >= 0 || !input->won))
            router->wire[input->port].wanted = true;
    }
}

/* Takes a list's items away, to be walked through. */
static int take_list(struct list_of *list, int *items)
{
    int count = list->count;
    if (count)
        memcpy(items, list->item, (size_t)count * sizeof *items);
    list->count = 0;
    return count;
}

static void update(struct oracle *oracle, int number)
{
    struct router *router = &oracle->routers[number];
    int all = router->ports * oracle->vcs, *items = zeros(5 * (size_t)all, sizeof *items);
    int *waited = items + all, *held = waited + all, *asked = held + all, *given = asked + all;
    int routed_count = take_list(&router->routing, items), waited_count = take_list(&router->waiting, waited);
    int given_count = take_list(&router->given, given);
    int held_count = take_list(&router->holding, held), asked_count = take_list(&router->asking, asked);
    for (int i = 0; i < routed_count; i++) {
        struct input *input = &router->input[items[i]];
        if (input->ready > oracle->cycle + 1) {
            append(&router->routing, items[i]);
            continue;
        }
        input->state = WAITS;
        append(&router->waiting, items[i]);
        if (oracle->is->speculative)
            append(&router->asking, items[i]);
    }
    for (int i = 0; i < given_count; i++) /* the end of the stage */
        append(router->input[given[i]].ready > oracle->cycle + 1 ? &router->given : &router->asking,
               given[i]);
    for (int i = 0; i < waited_count; i++) {
        struct input *input = &router->input[waited[i]];
        if (input->granted == NONE) {
            append(&router->waiting, waited[i]);
            continue;
        }
        input->state = ACTIVE;
        input->channel = input->granted;
        input->ready = oracle->cycle + oracle->is->vc_allocation_delay;
        router->output[input->port * oracle->vcs + input->channel].owned = true;
        router->output[input->port * oracle->vcs + input->channel].tail_sent = false;
        if (!oracle->is->speculative)
            append(input->ready > oracle->cycle + 1 ? &router->given : &router->asking, waited[i]);
    }
    for (int i = 0; i < held_count; i++) {
        struct input *input = &router->input[held[i]];
        bool full = oracle->columns > 1 && !takes(oracle, number, input->port);
        if (full || !has_credit(oracle, &router->output[input->port * oracle->vcs + input->channel]))
            append(&router->asking, held[i]); /* given up */
        else if (takes(oracle, number, input->port))
            send(oracle, number, held[i], &router->asking);
        else
            append(&router->holding, held[i]); /* while the link passes a flit */
    }
    for (int i = 0; i < asked_count; i++) {
        struct input *input = &router->input[asked[i]];
        /* a speculation fails without a virtual channel, or with one that has no credit */
        if (input->won && input->state == ACTIVE &&
            has_credit(oracle, &router->output[input->port * oracle->vcs + input->channel]))
            send(oracle, number, asked[i], &router->asking);
        else
            append(&router->asking, asked[i]);
    }
    free(items);
}

void oracle_step_router(struct oracle *oracle, int number)
{
    struct router *router = &oracle->routers[number];
    bool before[PORTS];
    take_arrivals(oracle, number);
    for (int port = 0; port < router->ports; port++) {
        before[port] = router->wire[port].wanted;
        router->wire[port].wanted = false;
    }
    if (router->flits) {
        decide_channels(oracle, number);
        decide_switch(oracle, number);
        count_wanted(oracle, router);
        update(oracle, number);
    }
    bool later = oracle->columns > 1; /* what wins the switch passes the link in the next cycle */
    if (later)
        leave_crossbar(oracle, number);
    for (int port = 0; port < router->ports; port++) {
        struct wire *wire = &router->wire[port];
        wire->blocked += (later ? before[port] : wire->wanted) &&
                         !wire_passes(oracle, wire, oracle->net.out[number * PORTS + port].bits);
    }
}
