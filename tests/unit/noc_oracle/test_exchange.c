/*
 * Requests with replies, and batches, against the oracle (oracle.h): random networks, kinds of messages,
 * limits of what is out, several batches; every column of every packet, what each batch took, and the
 * links.
 */
#include "tests/unit/noc_oracle/oracle.h"
#include "tests/unit/noc_oracle/random_network.h"
#include "tests/unit/noc_oracle/suites.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 4 };

static struct pim_requests random_exchange(struct pim_random *random, bool replies)
{
    struct pim_requests exchange = {.replies = replies, .check = true};
    for (unsigned kind = 0; kind < PIM_REQUEST_KINDS && replies; kind++)
        exchange.flits[kind] = pick(random, 1, 9);
    if (chance(random, 3))
        return exchange;
    exchange.batch = pick(random, 1, 12);
    exchange.batches = pick(random, 0, BATCHES);
    exchange.outstanding = pick(random, 0, 4);
    return exchange;
}

static void add_request(struct pim_random *random, struct pim_packet_list *list, uint64_t cycle,
                        uint32_t node, uint32_t nodes, const struct pim_requests *exchange)
{
    uint32_t class = exchange->replies && chance(random, 2) ? PIM_WRITE_REQUEST : PIM_READ_REQUEST;
    list->packets[list->count++] = (struct pim_listed_packet){
        .cycle = cycle,
        .source = node,
        .destination = pick(random, 0, nodes - 1),
        .flits = chance(random, 2) ? 1 : pick(random, 1, 9),
        .tag = {.task = PIM_NOC_NO_TASK, .class = class},
    };
}

static struct pim_packet_list random_requests(struct pim_random *random,
                                              const struct pim_noc_configuration *is,
                                              struct pim_requests *exchange)
{
    enum { PACKETS = 300 };
    uint32_t nodes = pim_noc_nodes(is), one_in = pick(random, 1, 60);
    while (exchange->batch > 1 && pim_requests_of_batches(exchange) * nodes > PACKETS)
        exchange->batch--;
    uint64_t count = pim_requests_of_batches(exchange) * nodes;
    struct pim_packet_list list = {.packets = calloc(count + PACKETS, sizeof *list.packets)};
    for (uint64_t i = 0; i < count; i++)
        add_request(random, &list, i / nodes, (uint32_t)(i % nodes), nodes, exchange);
    count = exchange->batch ? 0 : pick(random, 20, PACKETS);
    for (uint64_t cycle = 0; list.count < count; cycle++)
        for (uint32_t node = 0; node < nodes && list.count < count; node++)
            if (chance(random, one_in))
                add_request(random, &list, cycle, node, nodes, exchange);
    return list;
}

/* By cycle of creation, source, requests before replies. */
static int by_creation(const void *a, const void *b)
{
    const struct list_packet *const *one = a, *const *other = b;
    const struct list_packet *x = *one, *y = *other;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->message % 2 != y->message % 2)
        return x->message % 2 < y->message % 2 ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* What the oracle answers. */
struct exchanged {
    struct list_packet **packet;
    size_t count;
    uint64_t batch_cycles[BATCHES];
    struct links links;
};

static void compare(const struct pim_noc_configuration *is, const struct pim_requests *exchange,
                    const struct pim_packet_list *requests, const struct exchanged *expected,
                    const char *what)
{
    struct pim_requests_result result;
    struct pim_error error = {.status = PIM_OK};
    if (pim_requests_run(is, exchange, requests, &result, &error) != PIM_OK)
        ck_abort_msg("%s: %s", what, error.text);
    for (size_t i = 0; i < expected->count && i < result.count; i++) {
        struct list_packet row = *expected->packet[i];
        row.message = exchange->replies ? row.message : 0; /* batches have no kinds */
        list_expect_packet(&row, &result.packets[i], i, what);
    }
    if (result.count != expected->count)
        ck_abort_msg("%s: %zu packets are expected, found %" PRIu64, what, expected->count, result.count);
    for (uint32_t i = 0; i < result.traffic.batch_count; i++)
        if (result.traffic.batch_cycles[i] != expected->batch_cycles[i])
            ck_abort_msg("%s: batch %u takes %" PRIu64 " cycles, expected %" PRIu64, what, i,
                         result.traffic.batch_cycles[i], expected->batch_cycles[i]);
    if (exchange->batches > 1 && result.traffic.batch_count != exchange->batches)
        ck_abort_msg("%s: %u batches", what, result.traffic.batch_count);
    expect_same_links(&expected->links, &(struct links){result.traffic.links, result.traffic.link_count},
                      what);
    pim_requests_result_terminate(&result);
}

START_TEST(exchange_case)
{
    struct pim_random random;
    uint64_t seed = oracle_seed(_i);
    struct exchanged expected = {0};
    char what[900];
    pim_random_initialize(&random, seed);
    bool replies = chance(&random, 2);
    struct pim_noc_configuration is = random_network(&random, replies ? MESSAGES : ORDINARY);
    struct pim_requests exchange = random_exchange(&random, replies);
    struct pim_packet_list requests = random_requests(&random, &is, &exchange);
    struct list made = {0};
    describe_network(&is, seed, what, sizeof what);
    ck_assert_msg(oracle_exchange(&is, &exchange, &requests, &made, expected.batch_cycles, &expected.links),
                  "stuck: %s", what);
    expected.packet = calloc(made.count + 1, sizeof *expected.packet);
    for (; expected.count < made.count; expected.count++)
        expected.packet[expected.count] = &made.packets[expected.count];
    qsort(expected.packet, made.count, sizeof *expected.packet, by_creation);
    compare(&is, &exchange, &requests, &expected, what);
    is.step_every_cycle = true;
    compare(&is, &exchange, &requests, &expected, what);
    is.step_every_cycle = false;
    is.general = true;
    compare(&is, &exchange, &requests, &expected, what);
    remove_files(&is);
    free(expected.packet);
    free(expected.links.link);
    list_free(&made);
    pim_packet_list_terminate(&requests);
}
END_TEST

TCase *exchange_tests(void)
{
    TCase *tests = tcase_create("exchanges");
    tcase_add_loop_test(tests, exchange_case, 0, oracle_cases(PIM_DRAWS(EXCHANGES)));
    return tests;
}
