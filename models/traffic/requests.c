#include "models/traffic/requests.h"

#include "models/noc/watchdog.h"
#include "sim/arena.h"
#include "sim/bits.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { CHECK_PERIOD = 1024 /* steps */ };

#define NONE UINT32_MAX

struct packet {
    struct pim_requests_packet all;
    uint32_t next; /* of the packets that wait at the same terminal */
    bool arrived;
};

struct waiting {
    uint32_t first, last; /* NONE: none */
};

struct terminal {
    struct waiting requests, replies;
    uint64_t clock, made; /* batches: rules 4 and 5; packets of the present batch */
    uint32_t outstanding;
    bool busy; /* a flit is left to inject */
    bool held; /* since it last had time, it may make no request */
};

struct exchange {
    const struct pim_requests *rules;
    const struct pim_packet_list *list;
    struct pim_noc *network;
    struct terminal *terminals;
    uint64_t *awake; /* the set of those that are looked at in the next cycle */
    bool any_awake;
    struct packet *packets;
    size_t capacity;
    uint32_t count;
    uint64_t listed; /* packets of the list that are at their terminals */
    uint64_t sent, arrived, stepped;
    uint32_t nodes, complete;         /* terminals; those that have made the packets of the batch */
    struct pim_traffic_result *ended; /* the batches that have */
    uint64_t begun;                   /* first cycle of the present batch */
    bool no_memory;
};

const char *pim_request_kind_name(unsigned message)
{
    static const char *const names[PIM_REQUEST_KINDS] = {"read_request", "read_reply", "write_request",
                                                         "write_reply"};
    return message < PIM_REQUEST_KINDS ? names[message] : NULL;
}

/* --- terminals --- */

static uint32_t set_words(const struct exchange *exchange)
{
    return (exchange->nodes + 63) / 64;
}

static void wake(struct exchange *exchange, uint32_t node)
{
    exchange->awake[node / 64] |= UINT64_C(1) << node % 64;
    exchange->any_awake = true;
}

static uint32_t new_packet(struct exchange *exchange, const struct pim_requests_packet *packet)
{
    struct packet *grown = exchange->count == NONE - 1
                               ? NULL
                               : pim_array_grow(exchange->packets, &exchange->capacity,
                                                (size_t)exchange->count + 1, sizeof *grown);
    if (!grown) {
        exchange->no_memory = true;
        return NONE;
    }
    exchange->packets = grown;
    exchange->packets[exchange->count] = (struct packet){.all = *packet, .next = NONE};
    return exchange->count++;
}

static void append(struct exchange *exchange, struct waiting *waiting, uint32_t packet)
{
    if (packet == NONE)
        return;
    if (waiting->first == NONE)
        waiting->first = packet;
    else
        exchange->packets[waiting->last].next = packet;
    waiting->last = packet;
}

static void send_first(struct exchange *exchange, uint32_t node, struct waiting *waiting, uint64_t cycle)
{
    uint32_t index = waiting->first;
    const struct pim_requests_packet *packet = &exchange->packets[index].all;
    waiting->first = exchange->packets[index].next;
    exchange->terminals[node].busy = true;
    exchange->complete += ++exchange->terminals[node].made == exchange->rules->batch;
    exchange->sent++;
    struct pim_noc_tag tag = {.task = PIM_NOC_NO_TASK,
                              .class = exchange->rules->replies ? (uint32_t)packet->message : 0,
                              .waited = cycle - packet->delivery.created};
    pim_noc_send_tagged_at(exchange->network, cycle, node, packet->delivery.destination,
                           packet->delivery.flits, index, tag);
}

/* Rules 1, 4 and 5 for a terminal that has time. */
static void make_packet(struct exchange *exchange, uint32_t node, uint64_t cycle)
{
    const struct pim_requests *rules = exchange->rules;
    struct terminal *terminal = &exchange->terminals[node];
    if (terminal->held) {
        terminal->clock = cycle;
        terminal->held = false;
    }
    if (terminal->replies.first != NONE) {
        send_first(exchange, node, &terminal->replies, cycle);
        return;
    }
    bool allowed =
        rules->batch == 0 || (terminal->made < rules->batch &&
                              (rules->outstanding == 0 || terminal->outstanding < rules->outstanding));
    if (!allowed || terminal->requests.first == NONE) {
        terminal->held = rules->batch > 0;
        return;
    }
    if (rules->batch > 0)
        exchange->packets[terminal->requests.first].all.delivery.created = terminal->clock++;
    terminal->outstanding++;
    send_first(exchange, node, &terminal->requests, cycle);
}

/* --- the network's callbacks --- */

static void injected(void *context, uint64_t packet, uint32_t source)
{
    struct exchange *exchange = context;
    (void)packet;
    exchange->terminals[source].busy = false;
    wake(exchange, source);
}

static void answer(struct exchange *exchange, const struct pim_requests_packet *request)
{
    enum pim_request_kind message = (enum pim_request_kind)(request->message + 1);
    const struct pim_requests_packet reply = {.delivery = {.source = request->delivery.destination,
                                                           .destination = request->delivery.source,
                                                           .flits = exchange->rules->flits[message],
                                                           .created = request->delivery.tail_arrived},
                                              .message = message};
    uint32_t node = request->delivery.destination;
    append(exchange, &exchange->terminals[node].replies, new_packet(exchange, &reply));
    wake(exchange, node);
}

static void delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct exchange *exchange = context;
    struct packet *packet = &exchange->packets[delivery->packet];
    packet->all.delivery = *delivery;
    packet->arrived = true;
    exchange->arrived++;
    bool reply = exchange->rules->replies && packet->all.message % 2 == 1;
    if (exchange->rules->replies && !reply) {
        answer(exchange, &(struct pim_requests_packet){packet->all.delivery, packet->all.message});
        return;
    }
    uint32_t requester = reply ? delivery->destination : delivery->source;
    assert(exchange->terminals[requester].outstanding > 0);
    exchange->terminals[requester].outstanding--;
    wake(exchange, requester);
}

/* --- the run --- */

/* The packets of the list that are due come to their terminals. */
static void take_listed(struct exchange *exchange, uint64_t cycle)
{
    const struct pim_packet_list *list = exchange->list;
    for (; exchange->listed < list->count; exchange->listed++) {
        const struct pim_listed_packet *listed = &list->packets[exchange->listed];
        if (exchange->rules->batch == 0 && listed->cycle > cycle)
            break;
        const struct pim_requests_packet packet = {.delivery = {.source = listed->source,
                                                                .destination = listed->destination,
                                                                .flits = listed->flits,
                                                                .created = listed->cycle},
                                                   .message = (enum pim_request_kind)listed->tag.class};
        append(exchange, &exchange->terminals[listed->source].requests, new_packet(exchange, &packet));
        wake(exchange, listed->source);
    }
}

/* Those that were woken in the cycle before, or now by the list, by their nodes: what a packet draws, and the
 * arbiter `age`, go by the order. */
static void make_packets(struct exchange *exchange, uint64_t cycle)
{
    for (uint32_t word = 0; exchange->any_awake && word < set_words(exchange); word++) {
        for (uint64_t set = exchange->awake[word]; set; set &= set - 1) {
            uint32_t node = word * 64 + pim_lowest_bit(set);
            if (!exchange->terminals[node].busy)
                make_packet(exchange, node, cycle);
        }
        exchange->awake[word] = 0;
    }
    exchange->any_awake = false;
}

static uint64_t next_cycle(const struct exchange *exchange)
{
    if (exchange->any_awake)
        return exchange->stepped;
    uint64_t cycle = pim_noc_next_cycle(exchange->network);
    if (exchange->listed == exchange->list->count)
        return cycle;
    uint64_t listed = exchange->rules->batch > 0 ? 0 : exchange->list->packets[exchange->listed].cycle;
    return listed < cycle ? listed : cycle;
}

/* Rule 6, after a cycle of the network. */
static void end_batch(struct exchange *exchange)
{
    struct pim_traffic_result *ended = exchange->ended;
    if (exchange->complete < exchange->nodes || exchange->arrived < exchange->sent ||
        ended->batch_count == exchange->rules->batches)
        return;
    ended->batch_cycles[ended->batch_count++] = exchange->stepped - exchange->begun;
    if (ended->batch_count == exchange->rules->batches)
        return;
    exchange->begun = exchange->stepped;
    exchange->complete = 0;
    for (uint32_t node = 0; node < exchange->nodes; node++) {
        exchange->terminals[node].made = 0;
        wake(exchange, node);
    }
}

/* Everything has arrived, and nobody makes packets any more: whether all of several batches have ended. */
static enum pim_status check_ended(const struct exchange *exchange, struct pim_error *error)
{
    uint32_t node = 0;
    if (exchange->ended->batch_count == exchange->rules->batches)
        return PIM_OK;
    while (exchange->terminals[node].made >= exchange->rules->batch)
        node++;
    return pim_fail(error, PIM_BAD_INPUT,
                    "node %" PRIu32 " has no more requests in batch %" PRIu32 " of %" PRIu32
                    ", where it has made %" PRIu64 " of %" PRIu64 " packets: %" PRIu64
                    " requests of each node are enough for all batches",
                    node, exchange->ended->batch_count + 1, exchange->rules->batches,
                    exchange->terminals[node].made, exchange->rules->batch,
                    pim_requests_of_batches(exchange->rules));
}

static enum pim_status run(struct exchange *exchange, struct pim_error *error)
{
    struct pim_noc_watchdog watchdog = {0};
    for (uint64_t steps = 1;; steps++) {
        uint64_t cycle = next_cycle(exchange);
        if (cycle == UINT64_MAX)
            break;
        take_listed(exchange, cycle);
        make_packets(exchange, cycle);
        pim_noc_step(exchange->network, cycle);
        exchange->stepped = cycle + 1;
        if (exchange->rules->batches > 1)
            end_batch(exchange);
        if (exchange->no_memory)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " packets", exchange->count);
        if (exchange->rules->check && steps % CHECK_PERIOD == 0 &&
            pim_noc_check(exchange->network, error) != PIM_OK)
            return error->status;
        if (pim_noc_configuration(exchange->network)->step_every_cycle &&
            pim_noc_watch(&watchdog, exchange->network, cycle, error) != PIM_OK)
            return error->status;
    }
    if (exchange->arrived < exchange->sent)
        return pim_noc_report_stuck(exchange->network, error);
    if (exchange->rules->batches > 1 && check_ended(exchange, error) != PIM_OK)
        return error->status;
    return exchange->rules->check ? pim_noc_check(exchange->network, error) : PIM_OK;
}

/* --- results --- */

static int by_creation(const void *first, const void *second)
{
    const struct pim_requests_packet *a = first, *b = second;
    const uint64_t keys[][2] = {{a->delivery.created, b->delivery.created},
                                {a->delivery.source, b->delivery.source},
                                {a->message % 2, b->message % 2},
                                {a->delivery.packet, b->delivery.packet}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static void count_packet(struct pim_traffic_result *traffic, const struct pim_requests *rules,
                         const struct pim_requests_packet *packet)
{
    const struct pim_noc_delivery *delivery = &packet->delivery;
    struct pim_traffic_share *share = &traffic->shares[rules->replies ? packet->message : 0];
    uint64_t latency = delivery->tail_arrived - delivery->created, to = rules->to ? rules->to : UINT64_MAX;
    if (delivery->tail_arrived >= traffic->cycles)
        traffic->cycles = delivery->tail_arrived + 1;
    if (delivery->tail_arrived >= rules->from && delivery->tail_arrived < to) {
        traffic->accepted_flits += delivery->flits;
        share->accepted_flits += delivery->flits;
    }
    if (delivery->created < rules->from || delivery->created >= to)
        return;
    traffic->packets++;
    share->packets++;
    traffic->hops += delivery->hops;
    traffic->offered_flits += delivery->flits;
    share->offered_flits += delivery->flits;
    pim_histogram_add(&traffic->latency, latency);
    pim_histogram_add(&share->latency, latency);
    pim_sum_add(&traffic->network_latency, delivery->tail_arrived - delivery->head_injected);
}

static enum pim_status collect(struct exchange *exchange, struct pim_requests_result *result,
                               struct pim_error *error)
{
    struct pim_traffic_result *traffic = &result->traffic;
    bool replies = exchange->rules->replies;
    uint32_t shares = replies ? PIM_REQUEST_KINDS : 1;
    traffic->shares = calloc(shares, sizeof *traffic->shares);
    result->packets = malloc((exchange->sent + 1) * sizeof *result->packets);
    if (!traffic->shares || !result->packets)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " packets", exchange->sent);
    for (uint32_t i = 0; i < shares; i++) {
        traffic->shares[i].network_class = i;
        pim_histogram_initialize(&traffic->shares[i].latency, 12, UINT64_C(1) << 40);
    }
    traffic->share_count = shares;
    for (uint32_t i = 0; i < exchange->count; i++)
        if (exchange->packets[i].arrived)
            result->packets[result->count++] = exchange->packets[i].all;
    qsort(result->packets, result->count, sizeof *result->packets, by_creation);
    for (uint64_t i = 0; i < result->count; i++)
        count_packet(traffic, exchange->rules, &result->packets[i]);
    traffic->measured_cycles =
        exchange->rules->to ? exchange->rules->to - exchange->rules->from : traffic->cycles;
    pim_noc_get_statistics(exchange->network, &traffic->noc);
    return pim_traffic_links(exchange->network, traffic, error);
}

void pim_requests_result_terminate(struct pim_requests_result *result)
{
    pim_traffic_result_terminate(&result->traffic);
    free(result->packets);
    result->packets = NULL;
    result->count = 0;
}

static enum pim_status check_exchange(const struct pim_noc_configuration *noc,
                                      const struct pim_requests *exchange, const struct pim_packet_list *list,
                                      struct pim_error *error)
{
    if (exchange->replies && noc->classes != PIM_REQUEST_KINDS)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "requests that are answered need noc.classes with %u classes (read requests, read replies, "
            "write requests, write replies): there are %" PRIu32,
            (unsigned)PIM_REQUEST_KINDS, noc->classes);
    if (exchange->batches > 1 && exchange->batch == 0)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " batches of 0 packets: a batch has at least one",
                        exchange->batches);
    for (unsigned i = 0; exchange->replies && i < PIM_REQUEST_KINDS; i++)
        if (exchange->flits[i] == 0 || exchange->flits[i] > UINT32_MAX)
            return pim_fail(error, PIM_BAD_INPUT,
                            "a message of %" PRIu64 " flits: 1 to %" PRIu32 " are possible",
                            exchange->flits[i], UINT32_MAX);
    for (uint64_t i = 0; i < list->count; i++) {
        uint32_t class = list->packets[i].tag.class;
        if (exchange->replies ? class % 2 == 1 : class > 0)
            return pim_fail(error, PIM_BAD_INPUT, "row %" PRIu64 ": class %" PRIu32 " is no request: %s",
                            i + 1, class, exchange->replies ? "0 (read) and 2 (write) are" : "only 0 is");
    }
    return PIM_OK;
}

static bool allocate(struct exchange *exchange)
{
    uint32_t nodes = exchange->nodes;
    exchange->terminals = calloc(nodes, sizeof *exchange->terminals);
    exchange->awake = calloc(set_words(exchange), sizeof *exchange->awake);
    if (exchange->rules->batches > 1)
        exchange->ended->batch_cycles =
            calloc(exchange->rules->batches, sizeof *exchange->ended->batch_cycles);
    if (!exchange->terminals || !exchange->awake ||
        (exchange->rules->batches > 1 && !exchange->ended->batch_cycles))
        return false;
    for (uint32_t node = 0; node < nodes; node++)
        exchange->terminals[node].requests.first = exchange->terminals[node].replies.first = NONE;
    return true;
}

enum pim_status pim_requests_run(const struct pim_noc_configuration *noc, const struct pim_requests *rules,
                                 const struct pim_packet_list *list, struct pim_requests_result *result,
                                 struct pim_error *error)
{
    *result = (struct pim_requests_result){.traffic = {.confidence = (double)NAN}};
    if (check_exchange(noc, rules, list, error) != PIM_OK)
        return error->status;
    struct exchange exchange = {
        .rules = rules, .list = list, .nodes = pim_noc_nodes(noc), .ended = &result->traffic};
    struct pim_noc_callbacks callbacks = {.context = &exchange, .injected = injected, .delivered = delivered};
    if (pim_noc_create(noc, NULL, 1, &callbacks, &exchange.network, error) != PIM_OK)
        return error->status;
    pim_histogram_initialize(&result->traffic.latency, 12, UINT64_C(1) << 40);
    enum pim_status status = allocate(&exchange)
                                 ? run(&exchange, error)
                                 : pim_fail(error, PIM_NO_MEMORY, "out of memory for terminals");
    if (status == PIM_OK)
        status = collect(&exchange, result, error);
    pim_noc_destroy(exchange.network);
    free(exchange.terminals);
    free(exchange.awake);
    free(exchange.packets);
    if (status != PIM_OK)
        pim_requests_result_terminate(result);
    return status;
}
