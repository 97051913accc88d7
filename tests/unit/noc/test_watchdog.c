/* Stuck networks: who waits for whom, and that a network which moves is never called stuck. */
#include "models/noc/general/state.h"
#include "models/noc/mesh/mesh.h"
#include "models/noc/routing/internal.h"
#include "models/noc/watchdog.h"
#include "tests/unit/noc/suites.h"

#include <stdlib.h>
#include <string.h>

/* Four routers in a square: packet i is at the front of virtual channel 0 of the input `i` and wants to go on
 * to input i + 1. */
static void square(struct pim_noc_waiting *items)
{
    for (uint32_t i = 0; i < 4; i++)
        items[i] = (struct pim_noc_waiting){.node = i,
                                            .input = (enum pim_noc_direction)i,
                                            .packet = 100 + i,
                                            .output = (enum pim_noc_direction)i,
                                            .reason = "no credit: the buffer downstream is full",
                                            .lack = PIM_NOC_LACKS_CREDIT,
                                            .place = i,
                                            .ahead = (i + 1) % 4};
}

START_TEST(circle_of_credits)
{
    struct pim_noc_waiting items[4];
    size_t circle[4];
    square(items);
    ck_assert_uint_eq(pim_noc_find_circle(items, 4, circle), 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(circle[(i + 1) % 4], (circle[i] + 1) % 4);
    items[2].lack = PIM_NOC_LACKS_NOTHING; /* packet 102 goes on */
    ck_assert_uint_eq(pim_noc_find_circle(items, 4, circle), 0);
    ck_assert_int_eq(pim_noc_waits_for(items, 4, 2), PIM_NOC_WAITS_FOR_NOBODY);
    items[2].lack = PIM_NOC_LACKS_CREDIT;
    items[2].ahead = UINT32_MAX;
    ck_assert_uint_eq(pim_noc_find_circle(items, 4, circle), 0);
    ck_assert_int_eq(pim_noc_waits_for(items, 4, 2), PIM_NOC_WAITS_FOR_TERMINAL);
}
END_TEST

/* Item 4 waits for the circle without being part of it: behind packet 101 at the output of router 1. Item
 * 3 has sent what it had and waits for the rest of packet 103, item 5, which waits in a full buffer
 * behind packet 100. */
START_TEST(all_kinds_of_waiting)
{
    struct pim_noc_waiting items[6];
    size_t circle[6];
    square(items);
    items[1].lack = PIM_NOC_LACKS_CHANNEL; /* of input 2: packet 102 has it */
    items[1].ahead_channel = UINT32_MAX;
    items[3].lack = PIM_NOC_LACKS_FLIT;
    items[4] = items[1];
    items[4].packet = 104;
    items[4].virtual_channel = 1;
    items[5] = items[3];
    items[5] = (struct pim_noc_waiting){
        .node = 9, .packet = 103, .lack = PIM_NOC_LACKS_CREDIT, .place = 9, .ahead = 3, .ahead_channel = 0};
    ck_assert_int_eq(pim_noc_waits_for(items, 6, 0), 1);
    ck_assert_int_eq(pim_noc_waits_for(items, 6, 1), 2);
    ck_assert_int_eq(pim_noc_waits_for(items, 6, 2), 3);
    ck_assert_int_eq(pim_noc_waits_for(items, 6, 3), 5);
    ck_assert_int_eq(pim_noc_waits_for(items, 6, 4), 2);
    ck_assert_int_eq(pim_noc_waits_for(items, 6, 5), 3);
    ck_assert_uint_eq(pim_noc_find_circle(items, 6, circle), 2);
    ck_assert(circle[0] + circle[1] == 8);
    items[5].ahead = 0; /* behind packet 100 instead */
    items[3].packet = 105;
    items[3].lack = PIM_NOC_LACKS_CREDIT;
    ck_assert_uint_eq(pim_noc_find_circle(items, 6, circle), 4);
    items[4].node = 1;
    items[1].ahead_channel = 3; /* packet 101 has a virtual channel where packet 104 has none */
    ck_assert_int_eq(pim_noc_waits_for(items, 6, 4), 1);
}
END_TEST

/* Far more packets than the mesh can take, buffers of one flit: always somebody moves. What waits is told
 * with its place, and the places fit each other. */
START_TEST(moving_network)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.width = configuration.height = 4;
    configuration.virtual_channels = configuration.buffer_flits = 1;
    configuration.step_every_cycle = _i;
    struct pim_noc *noc;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_noc_create(&configuration, NULL, 1, NULL, &noc, &error), PIM_OK);
    for (uint32_t i = 0; i < 16 * 64; i++)
        pim_noc_send_at(noc, 0, i % 16, i * 7 % 16, 1 + i % 12, i);
    struct pim_noc_watchdog watchdog = {0};
    struct pim_noc_waiting items[128];
    for (uint64_t cycle; (cycle = pim_noc_next_cycle(noc)) != UINT64_MAX;) {
        pim_noc_step(noc, cycle);
        if (pim_noc_watch(&watchdog, noc, cycle * 1000, &error) != PIM_OK) /* looks every 100 cycles */
            ck_abort_msg("%s", error.text);
        if (cycle % 64 != 63)
            continue;
        size_t count = pim_noc_get_waiting(noc, items, 128);
        ck_assert_uint_le(count, 16 * 6);
        for (size_t i = 0; i < count; i++) {
            int other = pim_noc_waits_for(items, count, i);
            if (items[i].lack == PIM_NOC_LACKS_CREDIT && other >= 0)
                ck_assert_uint_eq(items[other].node, items[i].ahead / 5);
            if (items[i].lack == PIM_NOC_LACKS_FLIT && other >= 0)
                ck_assert_uint_eq(items[other].packet, items[i].packet);
        }
    }
    ck_assert(pim_noc_idle(noc));
    pim_noc_destroy(noc);
}
END_TEST

/*
 * A network that is really stuck. No configuration leads to one, so a ring of seven routers with two
 * virtual channels loses its dateline here, behind the check. Every node sends three routers on: its packet
 * gets a channel of the first two links, and of the third both are taken by those of the next two nodes.
 */
START_TEST(stuck_ring)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.topology = PIM_NOC_TORUS;
    configuration.width = 7;
    configuration.height = 1;
    configuration.virtual_channels = configuration.buffer_flits = 2;
    configuration.step_every_cycle = _i % 2;
    configuration.general = _i >= 2;
    struct pim_noc *noc;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_noc_create(&configuration, NULL, 1, NULL, &noc, &error), PIM_OK);
    struct pim_noc_routing *routing = noc->general ? noc->general->routing : noc->mesh->routing;
    for (unsigned dateline = 0; dateline <= NOC_DATELINES; dateline++)
        routing->part[0][0][dateline] = routing->all[0];
    for (uint32_t i = 0; i < 14; i++)
        pim_noc_send_at(noc, 0, i % 7, (i + 3) % 7, 20, i);
    struct pim_noc_watchdog watchdog = {0};
    enum pim_status status = PIM_OK;
    for (uint64_t cycle = 0; status == PIM_OK && cycle < 500000 && !pim_noc_idle(noc);) {
        pim_noc_step(noc, cycle);
        status = pim_noc_watch(&watchdog, noc, cycle, &error);
        cycle = pim_noc_next_cycle(noc);
    }
    ck_assert_int_eq(status, PIM_DEADLOCK);
    ck_assert_msg(strncmp(error.text, "14 packets are left that nothing can move; a circle of ", 55) == 0,
                  "%s", error.text);
    ck_assert_ptr_nonnull(strstr(error.text, " of them, each waiting for the next:\n  router "));
    ck_assert_int_eq(pim_noc_check(noc, &error), PIM_OK); /* all flits and credits are still there */
    pim_noc_destroy(noc);
}
END_TEST

START_TEST(report)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    struct pim_noc *noc;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_noc_create(&configuration, NULL, 1, NULL, &noc, &error), PIM_OK);
    pim_noc_send_at(noc, 0, 0, 5, 40, 77);
    for (uint64_t cycle = 0; cycle < 12; cycle++)
        pim_noc_step(noc, cycle);
    ck_assert_int_eq(pim_noc_report_stuck(noc, &error), PIM_DEADLOCK);
    ck_assert_ptr_nonnull(strstr(error.text, "1 packets are left that nothing can move"));
    ck_assert_ptr_nonnull(strstr(error.text, "packet 77 from 0 to 5 wants east"));
    pim_noc_destroy(noc);
}
END_TEST

Suite *watchdog_suite(void)
{
    Suite *suite = suite_create("noc_watchdog");
    TCase *tests = tcase_create("who waits for whom");
    tcase_add_test(tests, circle_of_credits);
    tcase_add_test(tests, all_kinds_of_waiting);
    tcase_add_loop_test(tests, moving_network, 0, 2);
    tcase_add_loop_test(tests, stuck_ring, 0, 4);
    tcase_add_test(tests, report);
    suite_add_tcase(suite, tests);
    return suite;
}
