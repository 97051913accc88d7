/* Terminals that wait for the network, for the oracle: the rules of docs/models/noc-requests.md. */
#include "tests/unit/noc_oracle/oracle.h"

#include "tests/unit/noc_oracle/parts.h"

struct node {
    size_t *request, next, count;            /* rows of the list */
    size_t *reply, first_reply, reply_count; /* requests that are to be answered, by the packets made */
    uint64_t made, out, clock;
};

struct exchange {
    struct oracle oracle;
    const struct pim_requests *is;
    const struct pim_packet_list *requests;
    struct node *nodes;
    uint64_t *batch_cycles, begin;
    uint32_t batch, batches; /* 0 batches: open traffic */
};

static bool is_request(const struct exchange *exchange, uint32_t message)
{
    return !exchange->is->replies || message == PIM_READ_REQUEST || message == PIM_WRITE_REQUEST;
}

/* Something of an earlier packet is left to inject. */
static bool is_busy(const struct terminal *terminal)
{
    for (int class = 0; class < PIM_NOC_CLASS_LIMIT; class ++)
        if (terminal->queue[class].first < terminal->queue[class].count)
            return true;
    return false;
}

static void make(struct exchange *exchange, int node, uint64_t created, uint32_t destination, uint64_t flits,
                 uint32_t message)
{
    struct list *list = exchange->oracle.list;
    list_add(list, created, (uint32_t)node, destination, flits);
    list->packets[list->count - 1].message = message;
    oracle_add(&exchange->oracle);
    exchange->nodes[node].made++;
}

static void make_request(struct exchange *exchange, int node, uint64_t created)
{
    struct node *at = &exchange->nodes[node];
    const struct pim_listed_packet *row = &exchange->requests->packets[at->request[at->next++]];
    make(exchange, node, created, row->destination, row->flits, row->tag.class);
    at->out++;
}

/* Rules 4 and 5. */
static void request_of_batch(struct exchange *exchange, int node)
{
    struct node *at = &exchange->nodes[node];
    bool may = exchange->batch < exchange->batches && at->made < exchange->is->batch &&
               at->next < at->count &&
               (exchange->is->outstanding == 0 || at->out < exchange->is->outstanding);
    if (may)
        make_request(exchange, node, at->clock++);
    else
        at->clock = exchange->oracle.cycle + 1;
}

static void have_time(struct exchange *exchange, int node)
{
    struct node *at = &exchange->nodes[node];
    if (at->first_reply < at->reply_count) {
        struct list_packet request = exchange->oracle.list->packets[at->reply[at->first_reply++]];
        make(exchange, node, request.tail_arrived, request.source, exchange->is->flits[request.message + 1],
             request.message + 1);
    } else if (exchange->batches) {
        request_of_batch(exchange, node);
    } else if (at->next < at->count) {
        uint64_t created = exchange->requests->packets[at->request[at->next]].cycle;
        if (created <= exchange->oracle.cycle)
            make_request(exchange, node, created);
    }
}

/* What has arrived in the cycle that is over. */
static void take_arrivals(struct exchange *exchange)
{
    for (int i = 0; i < exchange->oracle.arrivals.count; i++) {
        size_t index = (size_t)exchange->oracle.arrivals.item[i];
        const struct list_packet *packet = &exchange->oracle.list->packets[index];
        struct node *to = &exchange->nodes[packet->destination];
        if (!is_request(exchange, packet->message))
            to->out--;
        else if (exchange->is->replies)
            to->reply[to->reply_count++] = index;
        else
            exchange->nodes[packet->source].out--;
    }
}

/* Rule 6. */
static void end_batch(struct exchange *exchange)
{
    int nodes = exchange->oracle.net.nodes;
    if (exchange->batch == exchange->batches || exchange->oracle.arrived < exchange->oracle.list->count)
        return;
    for (int node = 0; node < nodes; node++)
        if (exchange->nodes[node].made < exchange->is->batch)
            return;
    exchange->batch_cycles[exchange->batch++] = exchange->oracle.cycle - exchange->begin;
    exchange->begin = exchange->oracle.cycle;
    for (int node = 0; node < nodes && exchange->batch < exchange->batches; node++)
        exchange->nodes[node].made = 0;
}

static bool is_over(const struct exchange *exchange)
{
    if (exchange->batch < exchange->batches || exchange->oracle.arrived < exchange->oracle.list->count)
        return false;
    for (int node = 0; node < exchange->oracle.net.nodes; node++) {
        const struct node *at = &exchange->nodes[node];
        if (at->first_reply < at->reply_count || (exchange->batches == 0 && at->next < at->count))
            return false;
    }
    return true;
}

static void create_nodes(struct exchange *exchange)
{
    size_t nodes = (size_t)exchange->oracle.net.nodes;
    exchange->nodes = zeros(nodes, sizeof *exchange->nodes);
    for (size_t node = 0; node < nodes; node++) {
        exchange->nodes[node].request = zeros(exchange->requests->count, sizeof(size_t));
        exchange->nodes[node].reply = zeros(exchange->requests->count, sizeof(size_t));
    }
    for (size_t i = 0; i < exchange->requests->count; i++) {
        struct node *at = &exchange->nodes[exchange->requests->packets[i].source];
        at->request[at->count++] = i;
    }
}

bool oracle_exchange(const struct pim_noc_configuration *configuration, const struct pim_requests *is,
                     const struct pim_packet_list *requests, struct list *made, uint64_t *batch_cycles,
                     struct links *links)
{
    struct exchange exchange = {.is = is, .requests = requests, .batch_cycles = batch_cycles};
    bool moves = true;
    oracle_create(&exchange.oracle, configuration, made);
    if (is->batch)
        exchange.batches = is->batches ? is->batches : 1;
    create_nodes(&exchange);
    while (moves && !is_over(&exchange)) {
        for (int node = 0; node < exchange.oracle.net.nodes; node++)
            if (!is_busy(&exchange.oracle.terminals[node]))
                have_time(&exchange, node);
        moves = oracle_step(&exchange.oracle);
        take_arrivals(&exchange);
        end_batch(&exchange);
    }
    for (int node = 0; node < exchange.oracle.net.nodes; node++) {
        free(exchange.nodes[node].request);
        free(exchange.nodes[node].reply);
    }
    free(exchange.nodes);
    oracle_take_links(&exchange.oracle, links);
    oracle_destroy(&exchange.oracle);
    return moves;
}
