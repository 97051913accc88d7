/*
 * Requests with replies, and batches: packets measured on BookSim 2, every column of every packet, and what
 * no run may break.
 */
#include "tests/unit/booksim/suites.h"
#include "tests/unit/noc/lists.h"

#include "models/booksim/booksim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text;
} cases[] = {
    {"m8_u_rw_v16_r030",
     "topology=mesh; k=8; n=2; routing_function=dim_order; vc_buf_size=8; traffic=uniform; use_read_write=1; "
     "read_request_size=1; read_reply_size=5; write_request_size=4; write_reply_size=2; "
     "injection_rate_uses_flits=1; num_vcs=16; injection_rate=0.3;"},
    {"m8_u_mix15_batch100_o4",
     "topology=mesh; k=8; n=2; routing_function=dim_order; vc_buf_size=8; traffic=uniform; num_vcs=8; "
     "sim_type=batch; batch_size=100; max_outstanding_requests=4; packet_size={{1,5}};"},
    {"m8_u_rw_batch60_o4",
     "topology=mesh; k=8; n=2; routing_function=dim_order; vc_buf_size=8; traffic=uniform; "
     "read_request_size=1; read_reply_size=5; write_request_size=4; write_reply_size=2; use_read_write=1; "
     "num_vcs=16; sim_type=batch; batch_size=60; max_outstanding_requests=4;"},
};
enum { CASES = sizeof cases / sizeof *cases };

static struct pim_booksim parse(const char *text)
{
    struct pim_booksim booksim;
    struct pim_error error = {.status = PIM_OK};
    if (pim_booksim_parse(text, strlen(text), "file", &booksim, &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
    booksim.requests.check = true;
    return booksim;
}

/* What the measured program was given: the requests. */
static struct pim_packet_list stimulus_of(const struct list *expected)
{
    struct pim_packet_list list = {.packets = calloc(expected->count, sizeof *list.packets)};
    for (size_t i = 0; i < expected->count; i++) {
        const struct list_packet *packet = &expected->packets[i];
        if (packet->message % 2 == 0)
            list.packets[list.count++] =
                (struct pim_listed_packet){.cycle = packet->created,
                                           .source = packet->source,
                                           .destination = packet->destination,
                                           .flits = packet->flits,
                                           .tag = {.task = PIM_NOC_NO_TASK, .class = packet->message}};
    }
    return list;
}

START_TEST(measured)
{
    struct list expected = list_read(cases[_i].name);
    struct pim_packet_list list = stimulus_of(&expected);
    struct pim_booksim booksim = parse(cases[_i].text);
    struct pim_requests_result result;
    struct pim_error error = {.status = PIM_OK};
    ck_assert(booksim.waits);
    if (pim_requests_run(&booksim.noc, &booksim.requests, &list, &result, &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
    for (size_t i = 0; i < expected.count && i < result.count; i++)
        list_expect_packet(&expected.packets[i], &result.packets[i], i, cases[_i].name);
    ck_assert_uint_eq(result.count, expected.count);
    pim_requests_result_terminate(&result);
    pim_packet_list_terminate(&list);
    list_free(&expected);
}
END_TEST

/* Drawn traffic: every request has its reply, of its size, and no terminal has more out than it may. */
static void expect_answers(const struct pim_booksim *booksim, const struct pim_requests_result *result)
{
    uint64_t requests = 0, replies = 0;
    for (uint64_t i = 0; i < result->count; i++) {
        const struct pim_requests_packet *packet = &result->packets[i];
        ck_assert_uint_eq(packet->delivery.flits, booksim->requests.flits[packet->message]);
        ck_assert_uint_le(packet->delivery.created, packet->delivery.head_injected);
        *(packet->message % 2 ? &replies : &requests) += 1;
    }
    ck_assert_uint_eq(requests, replies);
    ck_assert_uint_gt(requests, 0);
}

/* Most requests of `node` that are out at the same time: made, their replies not back. */
static uint64_t most_out(const struct pim_requests_result *result, uint32_t node)
{
    uint64_t most = 0;
    for (uint64_t i = 0; i < result->count; i++) {
        const struct pim_noc_delivery *made = &result->packets[i].delivery;
        if (made->source != node || result->packets[i].message % 2 == 1)
            continue;
        uint64_t out = 0;
        for (uint64_t j = 0; j < result->count; j++) {
            const struct pim_noc_delivery *other = &result->packets[j].delivery;
            if (result->packets[j].message % 2 == 0)
                out += other->source == node && other->head_injected <= made->head_injected;
            else
                out -= other->destination == node && other->tail_arrived < made->head_injected;
        }
        most = out > most ? out : most;
    }
    return most;
}

START_TEST(drawn)
{
    struct pim_booksim booksim =
        parse("topology=torus; k=3; n=2; routing_function=dim_order; num_vcs=8; "
              "use_read_write=1; write_request_size=3; read_reply_size=4; "
              "read_request_begin_vc=-1; read_request_end_vc=-1; write_request_begin_vc=0; "
              "write_request_end_vc=3; read_reply_begin_vc=-1; read_reply_end_vc=-1; "
              "write_reply_begin_vc=4; write_reply_end_vc=7; injection_rate=0.1; "
              "sample_period=100;");
    booksim.requests.batch = _i > 0 ? 20 : 0;
    booksim.requests.outstanding = (uint32_t)_i;
    struct pim_packet_list list;
    struct pim_requests_result result;
    struct pim_error error = {.status = PIM_OK};
    ck_assert_uint_eq(booksim.noc.class_first[PIM_READ_REPLY], 4);
    ck_assert_uint_eq(booksim.noc.class_channels[PIM_READ_REQUEST], 4);
    if (pim_requests_draw(&booksim.noc, &booksim.requests, &booksim.traffic, booksim.writes, 1000, 7, &list,
                          &error) != PIM_OK ||
        pim_requests_run(&booksim.noc, &booksim.requests, &list, &result, &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
    expect_answers(&booksim, &result);
    if (_i > 0)
        for (uint32_t node = 0; node < 9; node++)
            ck_assert_uint_eq(most_out(&result, node), (uint64_t)_i);
    else
        ck_assert_uint_eq(result.count, 2 * list.count);
    pim_requests_result_terminate(&result);
    pim_packet_list_terminate(&list);
}
END_TEST

/* Priority by age counts from creation: for a reply from the arrival of its request, which may be long before
 * its terminal has time for it. Cycles of a model of BookSim's rules that shares nothing with this one. */
START_TEST(age_counts_from_creation)
{
    struct pim_listed_packet requests[] = {
        {.cycle = 1, .source = 0, .destination = 2, .flits = 1, .tag = {.task = PIM_NOC_NO_TASK}},
        {.cycle = 1, .source = 3, .flits = 5, .tag = {.task = PIM_NOC_NO_TASK, .class = PIM_WRITE_REQUEST}},
        {.cycle = 13, .flits = 5, .tag = {.task = PIM_NOC_NO_TASK, .class = PIM_WRITE_REQUEST}}};
    static const uint64_t expected[][3] = {/* created, source, arrival of the tail */
                                           {1, 0, 13},  {1, 3, 23},  {13, 0, 29},
                                           {13, 2, 32}, {23, 0, 41}, {29, 0, 37}};
    const struct pim_packet_list list = {requests, 3};
    struct pim_booksim booksim =
        parse("topology=mesh; k=2; routing_function=dor; num_vcs=4; vc_buf_size=4; priority=age; "
              "vc_allocator=separable_input_first; sw_allocator=separable_input_first; use_read_write=1; "
              "read_request_begin_vc=0; read_request_end_vc=1; write_request_begin_vc=0; "
              "write_request_end_vc=1; read_reply_begin_vc=2; read_reply_end_vc=3; write_reply_begin_vc=2; "
              "write_reply_end_vc=3; read_reply_size=5; write_request_size=5;");
    struct pim_requests_result result;
    struct pim_error error = {.status = PIM_OK};
    if (pim_requests_run(&booksim.noc, &booksim.requests, &list, &result, &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
    ck_assert_uint_eq(result.count, 6);
    for (size_t i = 0; i < 6; i++) {
        const struct pim_noc_delivery *packet = &result.packets[i].delivery;
        ck_assert_uint_eq(packet->created, expected[i][0]);
        ck_assert_uint_eq(packet->source, expected[i][1]);
        ck_assert_uint_eq(packet->tail_arrived, expected[i][2]);
    }
    pim_requests_result_terminate(&result);
}
END_TEST

/* What a node makes in each of several batches, and that nothing is under way between them. */
static void expect_batches(const struct pim_booksim *booksim, const struct pim_requests_result *result)
{
    uint64_t begin = 0;
    ck_assert_uint_eq(result->traffic.batch_count, booksim->requests.batches);
    for (uint32_t batch = 0; batch < result->traffic.batch_count; batch++) {
        uint64_t end = begin + result->traffic.batch_cycles[batch], made[16] = {0}, last = 0;
        for (uint64_t i = 0; i < result->count; i++) {
            const struct pim_noc_delivery *packet = &result->packets[i].delivery;
            if (packet->head_injected < begin || packet->head_injected >= end)
                continue;
            made[packet->source]++;
            last = packet->tail_arrived > last ? packet->tail_arrived : last;
        }
        for (unsigned node = 0; node < 16; node++)
            if (booksim->requests.replies)
                ck_assert_uint_ge(made[node], booksim->requests.batch);
            else
                ck_assert_uint_eq(made[node], booksim->requests.batch);
        if (!booksim->requests.replies || batch + 1 < result->traffic.batch_count)
            ck_assert_uint_eq(last + 1, end);
        begin = end;
    }
}

/* As an ordinary list with its cycles of creation a batch's packets meet each other in the same cycles. */
static void expect_same_as_list(const struct pim_booksim *booksim, const struct pim_requests_result *result)
{
    struct pim_packet_list list = {.packets = calloc(result->count, sizeof *list.packets),
                                   .count = result->count};
    struct pim_noc_delivery *deliveries = calloc(result->count, sizeof *deliveries);
    struct pim_traffic_result replayed;
    struct pim_error error = {.status = PIM_OK};
    for (uint64_t i = 0; i < result->count; i++) {
        const struct pim_noc_delivery *packet = &result->packets[i].delivery;
        list.packets[i] = (struct pim_listed_packet){.cycle = packet->created,
                                                     .source = packet->source,
                                                     .destination = packet->destination,
                                                     .flits = packet->flits,
                                                     .tag = {.task = PIM_NOC_NO_TASK}};
    }
    if (pim_traffic_replay(&booksim->noc, &list, true, NULL, deliveries, &replayed, &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
    for (uint64_t i = 0; i < result->count; i++) {
        ck_assert_uint_eq(deliveries[i].head_injected, result->packets[i].delivery.head_injected);
        ck_assert_uint_eq(deliveries[i].tail_arrived, result->packets[i].delivery.tail_arrived);
    }
    pim_traffic_result_terminate(&replayed);
    pim_packet_list_terminate(&list);
    free(deliveries);
}

static const char *const batches[] = {
    "max_outstanding_requests=2; packet_size={{1,5}};", "max_outstanding_requests=1;",
    "max_outstanding_requests=0; packet_size=7;",
    "max_outstanding_requests=3; use_read_write=1; num_vcs=16; read_reply_size=5; write_request_size=4;"};

START_TEST(batches_follow_one_another)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "topology=mesh; k=4; n=2; routing_function=dim_order; num_vcs=4; vc_buf_size=4; "
                   "sim_type=batch; batch_size=30; batch_count=3; %s",
                   batches[_i]);
    struct pim_booksim booksim = parse(text);
    struct pim_packet_list list;
    struct pim_requests_result result;
    struct pim_error error = {.status = PIM_OK};
    if (pim_requests_draw(&booksim.noc, &booksim.requests, &booksim.traffic, booksim.writes, 0, 5, &list,
                          &error) != PIM_OK ||
        pim_requests_run(&booksim.noc, &booksim.requests, &list, &result, &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
    expect_batches(&booksim, &result);
    if (!booksim.requests.replies) {
        ck_assert_uint_eq(result.count, 3 * 30 * 16);
        expect_same_as_list(&booksim, &result);
    }
    pim_requests_result_terminate(&result);
    list.count -=
        booksim.requests.replies ? list.count / 2 : 1; /* of the last node one is missing; of some */
    ck_assert_int_eq(pim_requests_run(&booksim.noc, &booksim.requests, &list, &result, &error),
                     PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "node ") && strstr(error.text, " has no more requests in batch "), "%s",
                  error.text);
    pim_packet_list_terminate(&list);
}
END_TEST

START_TEST(refused)
{
    struct pim_booksim booksim = parse(cases[0].text);
    struct pim_listed_packet packet = {
        .flits = 1, .destination = 1, .tag = {.task = PIM_NOC_NO_TASK, .class = PIM_READ_REPLY}};
    struct pim_packet_list list = {&packet, 1};
    struct pim_requests_result result;
    struct pim_error error = {.status = PIM_OK};
    ck_assert_int_eq(pim_requests_run(&booksim.noc, &booksim.requests, &list, &result, &error),
                     PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "row 1: class 1 is no request") != NULL, "%s", error.text);
    booksim.noc.classes = 2;
    ck_assert_int_eq(pim_requests_run(&booksim.noc, &booksim.requests, &list, &result, &error),
                     PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "with 4 classes") != NULL, "%s", error.text);
}
END_TEST

Suite *requests_suite(void)
{
    Suite *suite = suite_create("booksim_requests");
    TCase *tests = tcase_create("requests");
    tcase_add_loop_test(tests, measured, 0, CASES);
    tcase_add_loop_test(tests, drawn, 0, 4);
    tcase_add_loop_test(tests, batches_follow_one_another, 0, sizeof batches / sizeof *batches);
    tcase_add_test(tests, age_counts_from_creation);
    tcase_add_test(tests, refused);
    suite_add_tcase(suite, tests);
    return suite;
}
