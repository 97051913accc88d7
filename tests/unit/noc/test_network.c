/* What surrounds the routers: refusals, the kernel adapter, callbacks, statistics, reports. */
#include "tests/unit/noc/suites.h"

#include <stdlib.h>
#include <string.h>

START_TEST(configurations_are_refused)
{
    struct pim_noc_configuration good, bad;
    struct pim_error error = {0};
    pim_noc_configuration_initialize(&good);
    ck_assert_int_eq(pim_noc_configuration_check(&good, &error), PIM_OK);
    static const struct {
        size_t offset;
        uint32_t value;
        const char *text;
    } cases[] = {
#define CASE(field, value, text) {offsetof(struct pim_noc_configuration, field), value, text}
        CASE(width, 0, "noc.width is 0: allowed are 1 to 256"),
        CASE(height, 257, "noc.height is 257"),
        CASE(virtual_channels, 33, "noc.virtual_channels is 33: allowed are 1 to 32"),
        CASE(buffer_flits, 0, "noc.buffer_flits is 0"),
        CASE(routing_delay, 65, "noc.routing_delay is 65: allowed are 0 to 64"),
        CASE(vc_allocation_delay, 0, "noc.vc_allocation_delay is 0"),
        CASE(switch_allocation_delay, 0, "noc.switch_allocation_delay is 0"),
        CASE(switch_traversal_delay, 99, "noc.switch_traversal_delay is 99"),
        CASE(link_latency, 0, "noc.link_latency is 0"),
        CASE(credit_delay, 65, "noc.credit_delay is 65"),
        CASE(allocator_iterations, 0, "noc.allocator_iterations is 0"),
        CASE(input_speedup, 3, "noc.input_speedup is 3: it must divide"),
        CASE(flit_bits, 0, "noc.flit_bits is 0"),
        CASE(vc_allocator, 7, "noc.vc_allocator is unknown: allowed are islip"),
        CASE(switch_allocator, 7, "noc.switch_allocator is unknown"),
        CASE(fidelity, 7, "noc.fidelity is unknown: allowed are ideal"),
#undef CASE
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bad = good;
        memcpy((char *)&bad + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        struct pim_noc *noc = NULL;
        ck_assert_int_eq(pim_noc_create(&bad, NULL, 1, NULL, &noc, &error), PIM_BAD_INPUT);
        ck_assert_ptr_null(noc);
        ck_assert_msg(strstr(error.text, cases[i].text) != NULL, "'%s' instead of '%s'", error.text,
                      cases[i].text);
    }
    bad = good;
    bad.speculative = true;
    bad.vc_allocation_delay = 2;
    ck_assert_int_eq(pim_noc_configuration_check(&bad, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "must not exceed noc.switch_allocation_delay"));
    struct pim_noc *noc;
    ck_assert_int_eq(pim_noc_create(&good, NULL, 0, NULL, &noc, &error), PIM_BAD_INPUT);
}
END_TEST

enum { LOG = 64, PERIOD = 3 };

/* Sends on request and logs what is called back, with the tick. */
struct client {
    struct pim_kernel *kernel;
    struct pim_noc *noc;
    unsigned injected, delivered, echoes;
    pim_time injected_at[LOG], delivered_at[LOG];
    struct pim_noc_delivery deliveries[LOG];
};

static void log_injected(void *context, uint64_t packet, uint32_t source)
{
    struct client *client = context;
    (void)packet;
    (void)source;
    ck_assert_int_eq(pim_kernel_phase(client->kernel), PIM_PHASE_NETWORK);
    client->injected_at[client->injected++] = pim_kernel_now(client->kernel);
}

static void log_delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct client *client = context;
    ck_assert_int_eq(pim_kernel_phase(client->kernel), PIM_PHASE_NETWORK);
    client->delivered_at[client->delivered] = pim_kernel_now(client->kernel);
    client->deliveries[client->delivered++] = *delivery;
    if (client->echoes-- > 0)
        pim_noc_send(client->noc, delivery->destination, delivery->source, delivery->flits,
                     delivery->packet + 1);
    else
        client->echoes = 0;
}

static struct client make_client(unsigned echoes, enum pim_noc_fidelity fidelity)
{
    struct client client = {.kernel = pim_kernel_create(), .echoes = echoes};
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.fidelity = fidelity;
    configuration.width = 5;
    configuration.height = 2;
    struct pim_error error = {0};
    ck_assert_msg(pim_noc_create(&configuration, client.kernel, PERIOD, NULL, &client.noc, &error) == PIM_OK,
                  "%s", error.text);
    pim_noc_destroy(client.noc); /* a network that was never used goes without a trace */
    return client;
}

static void start_client(struct client *client, enum pim_noc_fidelity fidelity)
{
    struct pim_noc_callbacks callbacks = {
        .context = client, .injected = log_injected, .delivered = log_delivered};
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.fidelity = fidelity;
    configuration.width = 5;
    configuration.height = 2;
    struct pim_error error = {0};
    ck_assert_msg(pim_noc_create(&configuration, client->kernel, PERIOD, &callbacks, &client->noc, &error) ==
                      PIM_OK,
                  "%s", error.text);
}

static void stop_client(struct client *client)
{
    pim_noc_destroy(client->noc);
    pim_kernel_destroy(client->kernel);
}

static void send_three(struct pim_kernel *kernel, void *context)
{
    struct client *client = context;
    (void)kernel;
    pim_noc_send(client->noc, 0, 1, 3, 100);
}

/* A packet belongs to the first cycle that is still to be done: phases and ticks between two edges decide. */
START_TEST(packets_enter_at_edges)
{
    static const struct {
        pim_time time;
        enum pim_phase phase;
        uint64_t created;
    } cases[] = {{0, PIM_PHASE_NETWORK, 0}, {0, PIM_PHASE_ENGINE, 1},  {1, PIM_PHASE_NETWORK, 1},
                 {2, PIM_PHASE_UNIT, 1},    {3, PIM_PHASE_NETWORK, 1}, {3, PIM_PHASE_MEMORY, 2},
                 {300, PIM_PHASE_UNIT, 101}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int fidelity = 0; fidelity < PIM_NOC_FIDELITIES; fidelity++) {
            struct client client = make_client(0, (enum pim_noc_fidelity)fidelity);
            start_client(&client, (enum pim_noc_fidelity)fidelity);
            pim_kernel_schedule(client.kernel, cases[i].time, cases[i].phase, send_three, &client);
            ck_assert_int_eq(pim_kernel_run(client.kernel, PIM_TIME_NEVER), PIM_RUN_EMPTY);
            uint64_t created = cases[i].created;
            ck_assert_uint_eq(client.delivered, 1);
            ck_assert_uint_eq(client.injected, 1);
            ck_assert_uint_eq(client.deliveries[0].created, created);
            ck_assert_uint_eq(client.deliveries[0].packet, 100);
            ck_assert_uint_eq(client.deliveries[0].head_injected, created);
            ck_assert_uint_eq(client.injected_at[0], (created + 2) * PERIOD);
            ck_assert_uint_eq(client.deliveries[0].head_arrived, created + 12);
            ck_assert_uint_eq(client.deliveries[0].tail_arrived, created + 14);
            ck_assert_uint_eq(client.delivered_at[0], (created + 14) * PERIOD);
            ck_assert(pim_noc_idle(client.noc));
            stop_client(&client);
        }
}
END_TEST

/* A packet sent when another one is delivered is created in the next cycle. */
START_TEST(callbacks_may_send)
{
    for (int fidelity = 0; fidelity < PIM_NOC_FIDELITIES; fidelity++) {
        struct client client = make_client(5, (enum pim_noc_fidelity)fidelity);
        start_client(&client, (enum pim_noc_fidelity)fidelity);
        pim_noc_send(client.noc, 0, 4, 7, 0);
        (void)pim_kernel_run(client.kernel, PIM_TIME_NEVER);
        ck_assert_uint_eq(client.delivered, 6);
        uint64_t latency = pim_noc_zero_load_latency(pim_noc_configuration(client.noc), 0, 4, 7);
        for (unsigned i = 0; i < 6; i++) {
            ck_assert_uint_eq(client.deliveries[i].packet, i);
            ck_assert_uint_eq(client.deliveries[i].source, i % 2 * 4);
            ck_assert_uint_eq(client.deliveries[i].created, i * (latency + 1));
            ck_assert_uint_eq(client.deliveries[i].tail_arrived, i * (latency + 1) + latency);
        }
        struct pim_noc_statistics statistics;
        pim_noc_get_statistics(client.noc, &statistics);
        ck_assert_uint_eq(statistics.packets_sent, 6);
        ck_assert_uint_eq(statistics.packets_injected, 6);
        ck_assert_uint_eq(statistics.packets_delivered, 6);
        ck_assert_uint_eq(statistics.flits_delivered, 42);
        ck_assert_uint_eq(statistics.hops, 30);
        ck_assert_uint_eq(statistics.flit_hops, 210);
        ck_assert_uint_eq(statistics.packet_latency, 6 * latency);
        ck_assert_uint_eq(statistics.network_latency, 6 * latency);
        ck_assert_uint_eq(pim_noc_link_flits(client.noc, 2, PIM_NOC_EAST), 21);
        ck_assert_uint_eq(pim_noc_link_flits(client.noc, 2, PIM_NOC_WEST), 21);
        ck_assert_uint_eq(pim_noc_link_flits(client.noc, 4, PIM_NOC_EJECT), 21);
        ck_assert_uint_eq(pim_noc_link_flits(client.noc, 4, PIM_NOC_INJECT), 21);
        ck_assert_uint_eq(pim_noc_link_flits(client.noc, 4, PIM_NOC_EAST), 0);
        ck_assert_uint_eq(pim_noc_link_flits(client.noc, 2, PIM_NOC_SOUTH), 0);
        stop_client(&client);
    }
}
END_TEST

/* The flits of a link are up to date in the middle of a worm, although its routers sleep. */
START_TEST(links_count_while_routers_sleep)
{
    struct client client = make_client(0, PIM_NOC_FLIT);
    start_client(&client, PIM_NOC_FLIT);
    pim_noc_send(client.noc, 0, 4, 1000, 0);
    (void)pim_kernel_run(client.kernel, 500 * PERIOD);
    ck_assert_uint_eq(pim_noc_link_flits(client.noc, 0, PIM_NOC_INJECT), 501);
    ck_assert_uint_eq(pim_noc_link_flits(client.noc, 0, PIM_NOC_EAST),
                      497); /* wins the switch from cycle 4 on */
    ck_assert_uint_eq(pim_noc_link_flits(client.noc, 3, PIM_NOC_EAST), 482);  /* from cycle 19 on */
    ck_assert_uint_eq(pim_noc_link_flits(client.noc, 4, PIM_NOC_EJECT), 477); /* from cycle 24 on */
    uint64_t events = pim_kernel_events(client.kernel);
    ck_assert_uint_le(events, 40);
    (void)pim_kernel_run(client.kernel, PIM_TIME_NEVER);
    ck_assert_uint_eq(pim_noc_link_flits(client.noc, 3, PIM_NOC_EAST), 1000);
    ck_assert_uint_eq(client.deliveries[0].tail_arrived, 5 * 5 + 2 + 999);
    stop_client(&client);
}
END_TEST

static const struct pim_noc_waiting *find(const struct pim_noc_waiting *items, size_t count, uint32_t node,
                                          const char *reason)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].node == node && strstr(items[i].reason, reason))
            return &items[i];
    return NULL;
}

START_TEST(waiting_packets_are_named)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.width = 4;
    configuration.height = 1;
    configuration.virtual_channels = 1;
    configuration.buffer_flits = 2;
    struct pim_noc *noc;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_noc_create(&configuration, NULL, 1, NULL, &noc, &error), PIM_OK);
    pim_noc_send_at(noc, 0, 1, 3, 100, 7);
    pim_noc_send_at(noc, 0, 0, 3, 50, 8);
    pim_noc_send_at(noc, 0, 0, 2, 50, 9);
    for (uint64_t cycle = 0; cycle < 60; cycle++)
        if (pim_noc_next_cycle(noc) == cycle)
            pim_noc_step(noc, cycle);
    struct pim_noc_waiting items[16];
    size_t count = pim_noc_get_waiting(noc, items, 16);
    ck_assert_uint_le(count, 16);
    const struct pim_noc_waiting *blocked = find(items, count, 1, "no virtual channel is free");
    ck_assert_ptr_nonnull(blocked);
    ck_assert_uint_eq(blocked->packet, 8);
    ck_assert_int_eq(blocked->input, PIM_NOC_WEST);
    ck_assert_int_eq(blocked->output, PIM_NOC_EAST);
    ck_assert_uint_eq(blocked->source, 0);
    ck_assert_uint_eq(blocked->destination, 3);
    const struct pim_noc_waiting *behind = find(items, count, 0, "no credit");
    ck_assert_ptr_nonnull(behind);
    ck_assert_uint_eq(behind->packet, 8);
    ck_assert_ptr_nonnull(find(items, count, 0, "flits left to inject"));
    ck_assert(!pim_noc_idle(noc));
    ck_assert_int_eq(pim_noc_check(noc, &error), PIM_OK);
    pim_noc_destroy(noc);
}
END_TEST

/* Through the kernel, a golden list gives what it gives stepped by hand. */
START_TEST(kernel_runs_the_same_cycles)
{
    struct list expected = list_read("m8_u_p5_r020");
    struct client client = {.kernel = pim_kernel_create()};
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.virtual_channels = 8;
    struct pim_error error = {0};
    struct pim_noc_callbacks callbacks = {0};
    ck_assert_int_eq(pim_noc_create(&configuration, client.kernel, PERIOD, &callbacks, &client.noc, &error),
                     PIM_OK);
    uint64_t latency = 0;
    for (size_t i = 0; i < expected.count; i++) {
        const struct list_packet *packet = &expected.packets[i];
        if (packet->created > 0)
            (void)pim_kernel_run(client.kernel, (packet->created - 1) * PERIOD + 1);
        pim_noc_send(client.noc, packet->source, packet->destination, packet->flits, i);
        latency += packet->tail_arrived - packet->created;
    }
    (void)pim_kernel_run(client.kernel, PIM_TIME_NEVER);
    struct pim_noc_statistics statistics;
    pim_noc_get_statistics(client.noc, &statistics);
    ck_assert_uint_eq(statistics.packets_delivered, expected.count);
    ck_assert_uint_eq(statistics.packet_latency, latency);
    ck_assert_int_eq(pim_kernel_check_idle(client.kernel, &error), PIM_OK);
    list_free(&expected);
    stop_client(&client);
}
END_TEST

Suite *network_suite(void)
{
    Suite *suite = suite_create("noc_network");
    TCase *tests = tcase_create("network");
    tcase_add_test(tests, configurations_are_refused);
    tcase_add_test(tests, packets_enter_at_edges);
    tcase_add_test(tests, callbacks_may_send);
    tcase_add_test(tests, links_count_while_routers_sleep);
    tcase_add_test(tests, waiting_packets_are_named);
    tcase_add_test(tests, kernel_runs_the_same_cycles);
    suite_add_tcase(suite, tests);
    return suite;
}
