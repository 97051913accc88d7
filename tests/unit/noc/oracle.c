#include "tests/unit/noc/oracle.h"

#include "tests/unit/test_main.h"

#include <stdlib.h>
#include <string.h>

enum { PORTS = 5, LOCAL = 4, CHANNELS = PIM_NOC_VC_LIMIT, ROWS = PORTS * CHANNELS, NONE = -1 };
enum { HORIZON = 512 }; /* cycles that a flit or credit is under way at most: three stages and a link of 64 */

struct flit {
    uint32_t packet;
    bool head, tail, there;
    uint32_t channel;
};

enum state { IDLE, WAITS_FOR_CHANNEL, ACTIVE };

/* A virtual channel of an input. */
struct input {
    struct flit *buffer; /* a ring of buffer_flits */
    uint32_t first, count;
    enum state state;
    uint64_t ready;    /* first cycle in which it may ask: for a channel, or for the switch */
    int port, channel; /* of the output */
};

/* A virtual channel of an output, or of a terminal that injects. */
struct output {
    bool owned, tail_sent;
    uint32_t occupancy;
};

struct router {
    struct input input[PORTS][CHANNELS];
    struct output output[PORTS][CHANNELS];
    int channel_pointer[PORTS * PIM_NOC_SPEEDUP_LIMIT]; /* of a crossbar input */
    int held[PORTS * PIM_NOC_SPEEDUP_LIMIT];            /* row -> the virtual channel that holds it */
    int vc_rows[ROWS], vc_columns[ROWS], switch_rows[PORTS * PIM_NOC_SPEEDUP_LIMIT], switch_columns[PORTS];
    struct flit arriving[PORTS][HORIZON]; /* by input port and cycle */
    uint32_t credits[PORTS][HORIZON];     /* by output port and cycle: a set of virtual channels */
    uint64_t flits[PORTS], blocked[PORTS];
};

struct terminal {
    struct output output[CHANNELS];
    uint32_t credits[HORIZON];
    struct flit arriving[HORIZON];
    size_t *queue, first, count; /* packets of this source */
    uint64_t sent;               /* flits of the packet in front */
    int channel, last;           /* the one in use, the one used last */
    uint64_t flits, blocked;
};

/* What asks for what; priority 0 is no request. */
struct matching {
    int rows, columns, requests;
    unsigned char request[ROWS][ROWS];
    bool row_asks[ROWS], column_asked[ROWS]; /* those without can be passed over */
    int partner[ROWS];                       /* of a row */
};

struct oracle {
    struct matching matching; /* the one at hand */
    const struct pim_noc_configuration *is;
    struct list *list;
    struct router *routers;
    struct terminal *terminals;
    struct flit *buffers;
    uint64_t cycle;
    size_t arrived;
};

/* --- allocation --- */

static void matching_clear(struct matching *matching, int rows, int columns)
{
    matching->rows = rows;
    matching->columns = columns;
    matching->requests = 0;
    memset(matching->column_asked, 0, sizeof matching->column_asked);
    for (int row = 0; row < rows; row++) {
        matching->partner[row] = NONE;
        if (matching->row_asks[row])
            memset(matching->request[row], 0, sizeof matching->request[row]);
        matching->row_asks[row] = false;
    }
}

static void ask(struct matching *matching, int row, int column, int priority)
{
    matching->request[row][column] = (unsigned char)priority;
    matching->row_asks[row] = matching->column_asked[column] = true;
    matching->requests++;
}

static void islip(struct matching *matching, uint32_t iterations, int *row_pointer, int *column_pointer)
{
    int rows = matching->rows, columns = matching->columns;
    bool column_taken[ROWS] = {false};
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        int offer[ROWS];
        for (int column = 0; column < columns; column++) {
            offer[column] = NONE;
            for (int i = 0;
                 i < rows && matching->column_asked[column] && !column_taken[column] && offer[column] == NONE;
                 i++) {
                int row = (column_pointer[column] + i) % rows;
                if (matching->request[row][column] && matching->partner[row] == NONE)
                    offer[column] = row;
            }
        }
        for (int row = 0; row < rows; row++)
            for (int i = 0; i < columns && matching->row_asks[row] && matching->partner[row] == NONE; i++) {
                int column = (row_pointer[row] + i) % columns;
                if (offer[column] != row)
                    continue;
                matching->partner[row] = column;
                column_taken[column] = true;
                if (iteration == 0) {
                    row_pointer[row] = (column + 1) % columns;
                    column_pointer[column] = (row + 1) % rows;
                }
                break;
            }
    }
}

static void separable_input_first(struct matching *matching, int *row_pointer, int *column_pointer)
{
    int rows = matching->rows, columns = matching->columns, choice[ROWS];
    for (int row = 0; row < rows; row++) {
        choice[row] = NONE;
        for (int i = 0; i < columns && matching->row_asks[row]; i++) {
            int column = (row_pointer[row] + i) % columns;
            int best = choice[row] == NONE ? 0 : matching->request[row][choice[row]];
            if (matching->request[row][column] > best)
                choice[row] = column;
        }
    }
    for (int column = 0; column < columns; column++) {
        int winner = NONE;
        for (int i = 0; i < rows && matching->column_asked[column]; i++) {
            int row = (column_pointer[column] + i) % rows;
            int best = winner == NONE ? 0 : matching->request[winner][column];
            if (choice[row] == column && matching->request[row][column] > best)
                winner = row;
        }
        if (winner == NONE)
            continue;
        matching->partner[winner] = column;
        row_pointer[winner] = (column + 1) % columns;
        column_pointer[column] = (winner + 1) % rows;
    }
}

static void allocate(struct oracle *oracle, enum pim_noc_allocator allocator, int *rows, int *columns)
{
    if (oracle->matching.requests == 0)
        return;
    if (allocator == PIM_NOC_ISLIP)
        islip(&oracle->matching, oracle->is->allocator_iterations, rows, columns);
    else
        separable_input_first(&oracle->matching, rows, columns);
}

/* --- a router's cycle --- */

static int channels_of(const struct oracle *oracle)
{
    return oracle->is->virtual_channels > 1 ? (int)oracle->is->virtual_channels : 1;
}

static int speedup_of(const struct oracle *oracle)
{
    return oracle->is->input_speedup > 1 ? (int)oracle->is->input_speedup : 1;
}

static int route(const struct oracle *oracle, uint32_t node, uint32_t packet)
{
    uint32_t width = oracle->is->width, to = oracle->list->packets[packet].destination;
    uint32_t x = node % width, y = node / width;
    if (to % width != x)
        return to % width > x ? 0 : 1;
    if (to / width != y)
        return to / width > y ? 2 : 3;
    return LOCAL;
}

/* The flit in front, when it is the head of a packet that has no route yet, starts in cycle `from`. */
static void start(const struct oracle *oracle, uint32_t node, struct input *input, uint64_t from)
{
    if (input->state != IDLE || input->count == 0)
        return;
    const struct flit *front = &input->buffer[input->first];
    if (!front->head)
        ck_abort_msg("a packet begins without its head");
    input->state = WAITS_FOR_CHANNEL;
    input->ready = from + oracle->is->routing_delay;
    input->port = route(oracle, node, front->packet);
}

static void take_arrivals(const struct oracle *oracle, uint32_t node)
{
    struct router *router = &oracle->routers[node];
    uint64_t slot = oracle->cycle % HORIZON;
    for (int port = 0; port < PORTS; port++) {
        struct flit *flit = &router->arriving[port][slot];
        if (flit->there) {
            struct input *input = &router->input[port][flit->channel];
            uint32_t size = oracle->is->buffer_flits;
            if (input->count == size)
                ck_abort_msg("a buffer overflows");
            input->buffer[(input->first + input->count++) % size] = *flit;
            start(oracle, node, input, oracle->cycle);
            flit->there = false;
        }
        for (int v = 0; v < channels_of(oracle); v++) {
            struct output *output = &router->output[port][v];
            if (!(router->credits[port][slot] >> v & 1))
                continue;
            output->occupancy--;
            if (oracle->is->wait_for_tail_credit && output->tail_sent && output->occupancy == 0)
                output->owned = false;
        }
        router->credits[port][slot] = 0;
    }
}

static bool asks_for_channel(const struct oracle *oracle, const struct input *input)
{
    return input->state == WAITS_FOR_CHANNEL && input->ready <= oracle->cycle;
}

static bool has_credit(const struct oracle *oracle, const struct output *output)
{
    return output->occupancy < oracle->is->buffer_flits;
}

/* Which output channel each input channel gets: [port x channels + v], or NONE. */
static void allocate_channels(struct oracle *oracle, struct router *router, int *granted)
{
    int channels = channels_of(oracle);
    struct matching *matching = &oracle->matching;
    matching_clear(matching, PORTS * channels, PORTS * channels);
    for (int row = 0; row < PORTS * channels; row++) {
        const struct input *input = &router->input[row / channels][row % channels];
        if (!asks_for_channel(oracle, input))
            continue;
        for (int v = 0; v < channels; v++)
            if (!router->output[input->port][v].owned)
                ask(matching, row, input->port * channels + v, 1);
    }
    allocate(oracle, oracle->is->vc_allocator, router->vc_rows, router->vc_columns);
    for (int row = 0; row < PORTS * channels; row++)
        granted[row] = matching->partner[row] == NONE ? NONE : matching->partner[row] % channels;
}

/* 2: asks with a channel, 1: speculates, 0: does not ask. */
static int switch_priority(const struct oracle *oracle, const struct router *router,
                           const struct input *input)
{
    if (input->state == ACTIVE)
        return input->count > 0 && input->ready <= oracle->cycle &&
                       has_credit(oracle, &router->output[input->port][input->channel])
                   ? 2
                   : 0;
    if (!oracle->is->speculative || !asks_for_channel(oracle, input))
        return 0;
    for (int v = 0; v < channels_of(oracle); v++) {
        const struct output *output = &router->output[input->port][v];
        if (!output->owned && has_credit(oracle, output))
            return 1;
    }
    return 0;
}

/* Which channel each crossbar input sends from; held ones first. */
static void allocate_switch(struct oracle *oracle, struct router *router, int *winner)
{
    int channels = channels_of(oracle), speedup = speedup_of(oracle);
    int rows = PORTS * speedup, asking[PORTS * PIM_NOC_SPEEDUP_LIMIT][PORTS] = {{0}};
    struct matching *matching = &oracle->matching;
    bool column_held[PORTS] = {false};
    for (int row = 0; row < rows; row++) {
        winner[row] = NONE;
        if (router->held[row] == NONE)
            continue;
        struct input *input = &router->input[row / speedup][router->held[row]];
        column_held[input->port] = true;
        if (has_credit(oracle, &router->output[input->port][input->channel]))
            winner[row] = router->held[row];
    }
    matching_clear(matching, rows, PORTS);
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < channels && router->held[row] == NONE; i++) {
            int v = (router->channel_pointer[row] + i) % channels;
            const struct input *input = &router->input[row / speedup][v];
            if (v % speedup != row % speedup || input->state == IDLE || column_held[input->port])
                continue;
            int priority = switch_priority(oracle, router, input);
            if (priority > matching->request[row][input->port]) {
                ask(matching, row, input->port, priority);
                asking[row][input->port] = v;
            }
        }
    allocate(oracle, oracle->is->switch_allocator, router->switch_rows, router->switch_columns);
    for (int row = 0; row < rows; row++) {
        if (matching->partner[row] == NONE)
            continue;
        winner[row] = asking[row][matching->partner[row]];
        router->channel_pointer[row] = (winner[row] + speedup) % channels;
    }
}

static uint32_t neighbour(const struct oracle *oracle, uint32_t node, int port)
{
    uint32_t width = oracle->is->width;
    return port == 0 ? node + 1 : port == 1 ? node - 1 : port == 2 ? node + width : node - width;
}

/* The flit in front of an input leaves its buffer: crossbar, channel, and a credit upstream. */
static void send(struct oracle *oracle, uint32_t node, int port, int v)
{
    const struct pim_noc_configuration *is = oracle->is;
    struct router *router = &oracle->routers[node];
    struct input *input = &router->input[port][v];
    struct output *output = &router->output[input->port][input->channel];
    struct flit flit = input->buffer[input->first];
    uint64_t leaves = oracle->cycle + is->switch_allocation_delay + is->switch_traversal_delay;
    input->first = (input->first + 1) % is->buffer_flits;
    input->count--;
    flit.channel = (uint32_t)input->channel;
    router->flits[input->port]++;
    output->occupancy++;
    if (!output->owned || output->occupancy > is->buffer_flits)
        ck_abort_msg("a flit is sent without a channel or a credit");
    if (flit.tail) {
        output->tail_sent = true;
        output->owned = is->wait_for_tail_credit;
    }
    if (input->port == LOCAL)
        oracle->terminals[node].arriving[(leaves + 1) % HORIZON] = flit;
    else
        oracle->routers[neighbour(oracle, node, input->port)]
            .arriving[input->port ^ 1][(leaves + is->link_latency) % HORIZON] = flit;
    if (port == LOCAL)
        oracle->terminals[node].credits[(oracle->cycle + 2) % HORIZON] |= 1u << v;
    else
        oracle->routers[neighbour(oracle, node, port)]
            .credits[port ^ 1][(oracle->cycle + is->link_latency + 1 + is->credit_delay) % HORIZON] |= 1u
                                                                                                       << v;
    if (flit.tail) {
        input->state = IDLE;
        start(oracle, node, input, oracle->cycle + 1);
    }
}

/* Links that passed nothing although somebody asked in vain. */
static void count_blocked(const struct oracle *oracle, struct router *router, const int *granted,
                          const int *winner)
{
    int channels = channels_of(oracle), speedup = speedup_of(oracle);
    bool used[PORTS] = {false}, wanted[PORTS] = {false};
    for (int row = 0; row < PORTS * channels; row++) {
        const struct input *input = &router->input[row / channels][row % channels];
        int v = row % channels, crossbar = row / channels * speedup + v % speedup;
        bool won = winner[crossbar] == v;
        if (asks_for_channel(oracle, input) && granted[row] == NONE)
            wanted[input->port] = true;
        if (input->state == ACTIVE && input->count > 0 && input->ready <= oracle->cycle && !won)
            wanted[input->port] = true;
        bool speculated = input->state == WAITS_FOR_CHANNEL && won;
        if (won && (!speculated ||
                    (granted[row] != NONE && has_credit(oracle, &router->output[input->port][granted[row]]))))
            used[input->port] = true;
    }
    for (int port = 0; port < PORTS; port++)
        router->blocked[port] += wanted[port] && !used[port];
}

static void do_router(struct oracle *oracle, uint32_t node)
{
    struct router *router = &oracle->routers[node];
    int channels = channels_of(oracle), speedup = speedup_of(oracle);
    int granted[ROWS], winner[PORTS * PIM_NOC_SPEEDUP_LIMIT] = {0};
    take_arrivals(oracle, node);
    allocate_channels(oracle, router, granted);
    allocate_switch(oracle, router, winner);
    count_blocked(oracle, router, granted, winner);
    for (int row = 0; row < PORTS * channels; row++) {
        struct input *input = &router->input[row / channels][row % channels];
        if (granted[row] == NONE)
            continue;
        input->state = ACTIVE;
        input->channel = granted[row];
        input->ready = oracle->cycle + oracle->is->vc_allocation_delay;
        router->output[input->port][granted[row]].owned = true;
        router->output[input->port][granted[row]].tail_sent = false;
    }
    for (int row = 0; row < PORTS * speedup; row++) {
        int v = winner[row];
        router->held[row] = NONE;
        if (v == NONE)
            continue;
        struct input *input = &router->input[row / speedup][v];
        /* a speculation that failed: no channel, or one without a credit */
        if (input->state != ACTIVE || !has_credit(oracle, &router->output[input->port][input->channel]))
            continue;
        input->ready = oracle->cycle; /* a speculation that held: the flits behind follow without a gap */
        bool tail = input->buffer[input->first].tail;
        send(oracle, node, row / speedup, v);
        if (oracle->is->hold_switch_for_packet && !tail && input->count > 0)
            router->held[row] = v;
    }
}

/* --- terminals --- */

static void eject(struct oracle *oracle, uint32_t node)
{
    struct flit *flit = &oracle->terminals[node].arriving[oracle->cycle % HORIZON];
    if (!flit->there)
        return;
    struct list_packet *packet = &oracle->list->packets[flit->packet];
    if (packet->destination != node)
        ck_abort_msg("a packet arrives at another node");
    if (flit->head)
        packet->head_arrived = oracle->cycle;
    if (flit->tail) {
        packet->tail_arrived = oracle->cycle;
        packet->hops = pim_noc_hops(oracle->is, packet->source, node);
        packet->delivered = true;
        oracle->arrived++;
    }
    uint64_t back = oracle->cycle + 2 + oracle->is->credit_delay;
    oracle->routers[node].credits[LOCAL][back % HORIZON] |= 1u << flit->channel;
    flit->there = false;
}

static bool choose_channel(const struct oracle *oracle, struct terminal *terminal)
{
    int channels = channels_of(oracle);
    for (int i = 1; i <= channels; i++) {
        int v = (terminal->last + i) % channels;
        struct output *output = &terminal->output[v];
        if (output->owned || !has_credit(oracle, output))
            continue;
        *output = (struct output){.owned = true, .occupancy = output->occupancy};
        terminal->channel = terminal->last = v;
        return true;
    }
    return false;
}

static void inject(struct oracle *oracle, uint32_t node)
{
    struct terminal *terminal = &oracle->terminals[node];
    uint32_t *credits = &terminal->credits[oracle->cycle % HORIZON];
    for (int v = 0; v < channels_of(oracle); v++) {
        struct output *output = &terminal->output[v];
        if (!(*credits >> v & 1))
            continue;
        output->occupancy--;
        if (oracle->is->wait_for_tail_credit && output->tail_sent && output->occupancy == 0)
            output->owned = false;
    }
    *credits = 0;
    if (terminal->first == terminal->count)
        return;
    size_t index = terminal->queue[terminal->first];
    struct list_packet *packet = &oracle->list->packets[index];
    if (packet->created > oracle->cycle)
        return;
    if ((terminal->sent == 0 && !choose_channel(oracle, terminal)) ||
        !has_credit(oracle, &terminal->output[terminal->channel])) {
        terminal->blocked++;
        return;
    }
    struct output *output = &terminal->output[terminal->channel];
    struct flit flit = {(uint32_t)index, terminal->sent == 0, terminal->sent + 1 == packet->flits, true,
                        (uint32_t)terminal->channel};
    output->occupancy++;
    terminal->flits++;
    if (flit.head)
        packet->head_injected = oracle->cycle;
    if (flit.tail) {
        packet->tail_injected = oracle->cycle;
        output->tail_sent = true;
        output->owned = oracle->is->wait_for_tail_credit;
        terminal->first++;
    }
    terminal->sent = flit.tail ? 0 : terminal->sent + 1;
    oracle->routers[node].arriving[LOCAL][(oracle->cycle + 2) % HORIZON] = flit;
}

/* --- the whole --- */

static void *zeros(size_t count, size_t size)
{
    void *items = calloc(count + 1, size);
    if (!items)
        ck_abort_msg("out of memory");
    return items;
}

static void create(struct oracle *oracle, uint32_t nodes)
{
    const struct pim_noc_configuration *is = oracle->is;
    oracle->routers = zeros(nodes, sizeof *oracle->routers);
    oracle->terminals = zeros(nodes, sizeof *oracle->terminals);
    oracle->buffers =
        zeros((size_t)nodes * PORTS * is->virtual_channels * is->buffer_flits, sizeof *oracle->buffers);
    struct flit *buffer = oracle->buffers;
    for (uint32_t node = 0; node < nodes; node++) {
        struct router *router = &oracle->routers[node];
        for (uint32_t i = 0; i < PORTS * is->virtual_channels; i++, buffer += is->buffer_flits)
            router->input[i / is->virtual_channels][i % is->virtual_channels].buffer = buffer;
        for (uint32_t row = 0; row < PORTS * is->input_speedup; row++) {
            router->channel_pointer[row] = (int)(row % is->input_speedup);
            router->held[row] = NONE;
        }
        oracle->terminals[node].last =
            (int)is->virtual_channels - 1; /* the first packet begins at channel 0 */
        oracle->terminals[node].queue = zeros(oracle->list->count, sizeof *oracle->terminals[node].queue);
    }
    for (size_t i = 0; i < oracle->list->count; i++) {
        struct terminal *terminal = &oracle->terminals[oracle->list->packets[i].source];
        terminal->queue[terminal->count++] = i;
    }
}

static uint64_t *take_links(const struct oracle *oracle, uint32_t nodes)
{
    uint64_t *links = zeros((size_t)nodes * 12, sizeof *links);
    for (uint32_t node = 0; node < nodes; node++) {
        const struct router *router = &oracle->routers[node];
        for (int port = 0; port < PORTS; port++) {
            links[6 * node + (uint32_t)port] = router->flits[port];
            links[6 * (nodes + node) + (uint32_t)port] = router->blocked[port];
        }
        links[6 * node + PIM_NOC_INJECT] = oracle->terminals[node].flits;
        links[6 * (nodes + node) + PIM_NOC_INJECT] = oracle->terminals[node].blocked;
    }
    return links;
}

void oracle_run(const struct pim_noc_configuration *configuration, struct list *list, uint64_t cycles,
                uint64_t **links)
{
    struct oracle *oracle = zeros(1, sizeof *oracle);
    uint32_t nodes = configuration->width * configuration->height;
    oracle->is = configuration;
    oracle->list = list;
    create(oracle, nodes);
    for (; oracle->arrived < list->count; oracle->cycle++) {
        if (oracle->cycle == cycles)
            ck_abort_msg("the oracle has not delivered all packets in time");
        for (uint32_t node = 0; node < nodes; node++)
            eject(oracle, node);
        for (uint32_t node = 0; node < nodes; node++)
            inject(oracle, node);
        for (uint32_t node = 0; node < nodes; node++)
            do_router(oracle, node);
    }
    if (links)
        *links = take_links(oracle, nodes);
    for (uint32_t node = 0; node < nodes; node++)
        free(oracle->terminals[node].queue);
    free(oracle->routers);
    free(oracle->terminals);
    free(oracle->buffers);
    free(oracle);
}
