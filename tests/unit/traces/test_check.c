/* The checker: traces that complete, and planted faults that it must find and explain. */
#include "tests/unit/traces/suites.h"
#include "tests/unit/traces/support.h"
#include "traces/check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 1\n.family \"t\"\n.array width=4 height=1\n.phase 0 \"a\"\n.phase 1 \"b\"\n"

static const struct pim_check_limits limits = {
    .buffer_bytes = {0, 1000, 1000, 1000}, .memory_bytes = 1 << 20, .window = 8, .accumulator_bits = 32};

static enum pim_status check_with(const char *text, const struct pim_check_limits *used,
                                  struct pim_check_result *result, struct pim_error *error)
{
    struct pim_trace *trace = trace_of(text);
    *error = (struct pim_error){PIM_OK, ""};
    enum pim_status status = pim_trace_check(trace, used, result, error);
    pim_trace_close(trace);
    return status;
}

START_TEST(a_right_trace_completes)
{
    struct pim_error error;
    struct pim_check_result result;
    static const char text[] = HEAD ".unit 0\n"
                                    "phase_begin 0\n"
                                    "load input address=0 bytes=128\n"
                                    "repeat 10 {\n"
                                    "load weight address=0 bytes=128 step=128\n"
                                    "matrix m=8 n=8 k=16 open_output release_weight after=1,2\n"
                                    "vector gelu rows=8 elements=8 release=256 after=1\n"
                                    "}\n"
                                    "store input address=0 bytes=128 after=2\n"
                                    "send peer=1 tag=1 address=0 bytes=64 after=1\n"
                                    "receive peer=1 tag=2 address=64 bytes=32\n"
                                    "phase_end 0\n"
                                    ".unit 1\n"
                                    "phase_begin 1\n"
                                    "receive peer=0 tag=1 address=0 bytes=64\n"
                                    "send peer=0 tag=2 address=0 bytes=32 after=1\n"
                                    "phase_end 1\n";
    EXPECT_OK(check_with(text, &limits, &result, &error));
    ck_assert_uint_eq(result.counts.macs, 10 * 8 * 8 * 16);
    ck_assert_uint_eq(result.counts.fetched, 6 + 30 + 4);
    ck_assert_uint_eq(result.counts.sent_bytes, 96);
    ck_assert_uint_eq(result.counts.received_bytes, 96);
    ck_assert_uint_eq(result.messages, 2);
    for (int buffer = 0; buffer < PIM_BUFFERS; buffer++)
        ck_assert_uint_eq(result.left_bytes[buffer], 0);
}
END_TEST

/* Each unit sends to the next and receives from the one before. Sends and receives are queues of their own,
 * so this goes; when the receive depends on the send, it is a circle. */
static char *ring(uint32_t units, const char *first, const char *second)
{
    char *text = malloc(4096 + units * 256u);
    int used = sprintf(text, ".version 1\n.family \"t\"\n.array width=%" PRIu32 " height=1\n.phase 0 \"a\"\n",
                       units);
    for (uint32_t i = 0; i < units; i++) {
        used += sprintf(text + used, ".unit %" PRIu32 "\nphase_begin 0\n", i);
        for (int half = 0; half < 2; half++) {
            const char *what = half == 0 ? first : second;
            uint32_t peer = (i + (what[0] == 's' ? 1 : units - 1)) % units;
            used += sprintf(text + used, "%s peer=%" PRIu32 " bytes=8%s\n", what, peer,
                            half == 1 ? " after=1" : "");
        }
        used += sprintf(text + used, "phase_end 0\n");
    }
    return text;
}

START_TEST(rings)
{
    struct pim_error error;
    struct pim_check_result result;
    char *text = ring(4, "receive", "send");
    EXPECT(check_with(text, &limits, &result, &error), PIM_DEADLOCK);
    EXPECT_TEXT("deadlock: a circle of 8 that wait for each other:");
    EXPECT_TEXT("waits for the send of unit");
    EXPECT_TEXT("depends on instruction 1");
    free(text);
    text = ring(4, "send", "receive");
    EXPECT(check_with(text, &limits, &result, &error), PIM_DEADLOCK);
    EXPECT_TEXT("circle of 8");
    free(text);
    text = ring(1000, "receive", "send");
    EXPECT(check_with(text, &limits, &result, &error), PIM_DEADLOCK);
    EXPECT_TEXT("circle of 2000");
    EXPECT_TEXT("more");
    free(text);
    text = ring(1000, "receive", "send");
    for (char *after = strstr(text, " after=1"); after; after = strstr(after, " after=1"))
        memset(after, ' ', 8);
    EXPECT_OK(check_with(text, &limits, &result, &error));
    ck_assert_uint_eq(result.messages, 1000);
    free(text);
}
END_TEST

/* Two sends that cross: fine with a window of two or more, a circle when the fetch must wait for the send. */
START_TEST(a_full_window_is_a_deadlock)
{
    struct pim_error error;
    struct pim_check_result result;
    struct pim_check_limits small = limits;
    char *text = ring(2, "send", "receive");
    for (char *after = strstr(text, " after=1"); after; after = strstr(after, " after=1"))
        memset(after, ' ', 8);
    small.window = 2;
    EXPECT_OK(check_with(text, &small, &result, &error));
    small.window = 1;
    EXPECT(check_with(text, &small, &result, &error), PIM_DEADLOCK);
    EXPECT_TEXT("the window of 1 instructions is full");
    EXPECT_TEXT("circle of 4");
    small.window = 8;
    small.in_order = true;
    EXPECT(check_with(text, &small, &result, &error), PIM_DEADLOCK);
    EXPECT_TEXT("may not start before instruction 1 (in-order issue)");
    free(text);
    text = ring(2, "receive", "send"); /* in order, a receive that is open has started */
    for (char *after = strstr(text, " after=1"); after; after = strstr(after, " after=1"))
        memset(after, ' ', 8);
    EXPECT_OK(check_with(text, &small, &result, &error));
    free(text);
}
END_TEST

/* Messages that come in another order than they are received: as many receives as are open may be passed. */
START_TEST(order_of_messages)
{
    struct pim_error error;
    struct pim_check_result result;
    struct pim_check_limits some = limits;
    static const char text[] =
        HEAD ".unit 0\nphase_begin 0\n"
             "send peer=1 tag=3 bytes=1\nsend peer=1 tag=2 bytes=1\nsend peer=1 tag=1 bytes=1\nphase_end 0\n"
             ".unit 1\nphase_begin 0\n"
             "receive peer=0 tag=1 bytes=1\nreceive peer=0 tag=2 bytes=1\nreceive peer=0 tag=3 "
             "bytes=1\nphase_end 0\n";
    some.posted_receives = 3;
    EXPECT_OK(check_with(text, &some, &result, &error));
    some.posted_receives = 2;
    EXPECT(check_with(text, &some, &result, &error), PIM_DEADLOCK);
    EXPECT_TEXT("waits because 2 receives are open");
    some.posted_receives = 0;
    EXPECT(check_with(text, &some, &result, &error), PIM_DEADLOCK);
    some.posted_receives = 65;
    EXPECT(check_with(text, &some, &result, &error), PIM_BAD_INPUT);
}
END_TEST

START_TEST(messages_that_do_not_match)
{
    struct pim_error error;
    struct pim_check_result result;
    EXPECT(check_with(HEAD ".unit 0\nphase_begin 0\nsend peer=1 tag=4 bytes=10\nphase_end 0\n"
                           ".unit 1\nphase_begin 0\nreceive peer=0 tag=4 bytes=11\nphase_end 0\n",
                      &limits, &result, &error),
           PIM_BAD_INPUT);
    EXPECT_TEXT("unit 0 instruction 1 (send peer=1 tag=4 bytes=10) meets unit 1 instruction 1");
    EXPECT_TEXT("same size");
    EXPECT(check_with(HEAD ".unit 0\nphase_begin 0\nsend gather peer=1 tag=4 bytes=10\nphase_end 0\n"
                           ".unit 1\nphase_begin 0\nreceive scatter peer=0 tag=4 bytes=10\nphase_end 0\n",
                      &limits, &result, &error),
           PIM_BAD_INPUT);
    EXPECT_TEXT("(send gather peer=1 tag=4 bytes=10) meets unit 1 instruction 1 (receive scatter peer=0");
    EXPECT_TEXT("same kind");
    EXPECT_OK(check_with(HEAD ".unit 0\nphase_begin 0\nsend transfer peer=1 bytes=10\nsend plain peer=1 "
                              "bytes=3\nphase_end 0\n.unit 1\nphase_begin 0\nreceive transfer peer=0 "
                              "bytes=10\nreceive peer=0 bytes=3\nphase_end 0\n",
                         &limits, &result, &error));
    ck_assert_uint_eq(result.counts.sends_by_kind[PIM_MESSAGE_TRANSFER], 1);
    ck_assert_uint_eq(result.counts.received_by_kind[PIM_MESSAGE_TRANSFER], 10);
    ck_assert_uint_eq(result.counts.sent_by_kind[PIM_MESSAGE_PLAIN], 3);
    EXPECT(check_with(HEAD ".unit 0\nphase_begin 0\nsend peer=1 tag=4 bytes=10\nphase_end 0\n", &limits,
                      &result, &error),
           PIM_DEADLOCK);
    EXPECT_TEXT("unit 0 instruction 1 (send peer=1 tag=4 bytes=10) waits for the receive of unit 1, whose "
                "program has ended");
    EXPECT(check_with(HEAD ".unit 3\nphase_begin 0\nreceive peer=1 tag=4 bytes=10\nphase_end 0\n"
                           ".unit 1\nphase_begin 0\nsend peer=3 tag=5 bytes=10\nphase_end 0\n",
                      &limits, &result, &error),
           PIM_DEADLOCK);
    EXPECT_TEXT("which has not been fetched");
}
END_TEST

START_TEST(space_that_is_not_there)
{
    struct pim_error error;
    struct pim_check_result result;
    EXPECT(check_with(HEAD ".unit 2\nphase_begin 0\nload weight address=0 bytes=1001\nphase_end 0\n", &limits,
                      &result, &error),
           PIM_BAD_INPUT);
    EXPECT_TEXT("unit 2 instruction 1");
    EXPECT_TEXT("takes 1001 bytes of the weight buffer, which has 1000");
    /* the second tile does not fit beside the first, which is never given back */
    EXPECT(check_with(HEAD ".unit 0\nphase_begin 0\nload input address=0 bytes=600\nload input address=0 "
                           "bytes=600\nphase_end 0\n",
                      &limits, &result, &error),
           PIM_DEADLOCK);
    EXPECT_TEXT("600 bytes of the input buffer, of which 600 of 1000 are taken");
    /* it would be given back by a store that stands behind in the same queue */
    EXPECT(check_with(
               HEAD ".unit 0\nphase_begin 0\nload input address=0 bytes=600\nload input address=0 bytes=600\n"
                    "store input address=0 bytes=600 after=2\nphase_end 0\n",
               &limits, &result, &error),
           PIM_DEADLOCK);
    EXPECT_TEXT("the next to give some back is instruction 3");
    EXPECT_TEXT("stands in the queue of the memory engine behind instruction 2");
    /* an accumulator has 32 bits: 8 * 32 * 4 bytes are too much, 8 * 31 * 4 are not */
    EXPECT(check_with(HEAD ".unit 0\nphase_begin 0\nmatrix m=8 n=32 k=1 open_output\nphase_end 0\n", &limits,
                      &result, &error),
           PIM_BAD_INPUT);
    EXPECT_OK(check_with(HEAD ".unit 0\nphase_begin 0\nmatrix m=8 n=31 k=1 open_output\nphase_end 0\n",
                         &limits, &result, &error));
    ck_assert_uint_eq(result.left_bytes[PIM_BUFFER_OUTPUT], 992);
    /* space waited for comes from the matrix engine */
    EXPECT_OK(check_with(
        HEAD ".unit 0\nphase_begin 0\nload weight address=0 bytes=600\nmatrix m=1 n=600 k=1 release_weight "
             "after=1\n"
             "load weight address=0 bytes=600\nmatrix m=1 n=600 k=1 release_weight after=1\nphase_end 0\n",
        &limits, &result, &error));
}
END_TEST

START_TEST(space_that_was_not_taken)
{
    struct pim_error error;
    struct pim_check_result result;
    static const char *const wrong[] = {
        "store output address=0 bytes=1\n",
        "load input address=0 bytes=10\nmatrix m=1 n=1 k=11 release_input after=1\n",
        /* the matrix does not depend on the load: it might come first */
        "load input address=0 bytes=10\nmatrix m=1 n=1 k=10 release_input\n",
        /* the second vector gives back what the first did already */
        ("matrix m=1 n=1 k=1 open_output\n"
         "vector add rows=1 elements=1 release=4 after=1\n"
         "vector add rows=1 elements=1 release=1\n"),
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[1024];
        (void)snprintf(text, sizeof text, HEAD ".unit 0\nphase_begin 0\n%sphase_end 0\n", wrong[i]);
        EXPECT(check_with(text, &limits, &result, &error), PIM_BAD_INPUT);
        EXPECT_TEXT("taken for sure");
    }
    /* after a join, and through a chain of dependencies, it is sure */
    EXPECT_OK(check_with(HEAD ".unit 0\nphase_begin 0\nload input address=0 bytes=10\njoin\nmatrix m=1 n=1 "
                              "k=10 release_input\nphase_end 0\n",
                         &limits, &result, &error));
    EXPECT_OK(check_with(
        HEAD ".unit 0\nphase_begin 0\nload input address=0 bytes=10\nvector add rows=1 elements=1 after=1\n"
             "matrix m=1 n=1 k=10 release_input after=1\nphase_end 0\n",
        &limits, &result, &error));
    /* and so is what is further back than the window */
    EXPECT_OK(check_with(
        HEAD
        ".unit 0\nphase_begin 0\nload input address=0 bytes=10\nrepeat 7 {\nvector add rows=1 elements=1\n}\n"
        "matrix m=1 n=1 k=10 release_input\nphase_end 0\n",
        &limits, &result, &error));
    EXPECT(check_with(HEAD ".unit 0\nphase_begin 0\nload input address=0 bytes=10\nrepeat 6 {\nvector add "
                           "rows=1 elements=1\n}\n"
                           "matrix m=1 n=1 k=10 release_input\nphase_end 0\n",
                      &limits, &result, &error),
           PIM_BAD_INPUT);
}
END_TEST

START_TEST(two_takers_of_a_buffer)
{
    struct pim_error error;
    struct pim_check_result result;
    EXPECT(check_with(HEAD ".unit 0\nphase_begin 0\nload output address=0 bytes=10\nmatrix m=1 n=1 k=1 "
                           "open_output\nphase_end 0\n",
                      &limits, &result, &error),
           PIM_BAD_INPUT);
    EXPECT_TEXT("who comes first would depend on timing");
    EXPECT_OK(check_with(HEAD ".unit 0\nphase_begin 0\nload output address=0 bytes=10\njoin\nmatrix m=1 n=1 "
                              "k=1 open_output\nphase_end 0\n",
                         &limits, &result, &error));
    ck_assert_uint_eq(result.left_bytes[PIM_BUFFER_OUTPUT], 14);
}
END_TEST

START_TEST(addresses_beyond_memory)
{
    struct pim_error error;
    struct pim_check_result result;
    EXPECT_OK(check_with(HEAD ".unit 0\nphase_begin 0\nload none address=0xffffe bytes=2\nphase_end 0\n",
                         &limits, &result, &error));
    EXPECT(check_with(HEAD ".unit 0\nphase_begin 0\nload none address=0xfffff bytes=2\nphase_end 0\n",
                      &limits, &result, &error),
           PIM_BAD_INPUT);
    EXPECT_TEXT("it ends at address 1048577: the memory of a node has 1048576 bytes");
    /* only the last iteration leaves the memory */
    EXPECT(
        check_with(
            HEAD
            ".unit 0\nphase_begin 0\nrepeat 3 {\nload none address=0xffff0 bytes=2 step=8\n}\nphase_end 0\n",
            &limits, &result, &error),
        PIM_BAD_INPUT);
    EXPECT_TEXT("fetch 3");
    EXPECT(check_with(HEAD ".unit 0\nphase_begin 0\nsend peer=1 address=0xfffff bytes=2\nphase_end 0\n",
                      &limits, &result, &error),
           PIM_BAD_INPUT);
}
END_TEST

/* A dependency as far back as they go, with a history that wraps, and a window of the greatest size. */
START_TEST(far_dependencies)
{
    struct pim_error error;
    struct pim_check_result result;
    struct pim_check_limits wide = {.window = 0};
    EXPECT_OK(check_with(
        HEAD ".unit 0\nphase_begin 0\nrepeat 5 {\nrepeat 1000 {\nvector add rows=1 elements=1\n}\n}\n"
             "repeat 5000 {\nload none address=0 bytes=1 after=4095,1,4094\n}\nphase_end 0\n",
        &wide, &result, &error));
    ck_assert_uint_eq(result.counts.fetched, 10002);
    /* 4096 in flight behind a receive that never completes: the next cannot be fetched */
    EXPECT(check_with(HEAD ".unit 0\nphase_begin 0\nreceive peer=1 bytes=1\nrepeat 5000 {\nvector add rows=1 "
                           "elements=1\n}\nphase_end 0\n",
                      &wide, &result, &error),
           PIM_DEADLOCK);
    EXPECT_TEXT("missing");
}
END_TEST

/* The verdict does not depend on the numbers of the units, that is on the order in which they are run: a
 * chain of dependent messages through all units, forwards and backwards. */
START_TEST(order_of_units_does_not_matter)
{
    struct pim_error error;
    struct pim_check_result result;
    for (int backwards = 0; backwards < 2; backwards++) {
        char *text = malloc(100000);
        int used = sprintf(text, ".version 1\n.family \"t\"\n.array width=200 height=1\n.phase 0 \"a\"\n");
        for (int i = 0; i < 200; i++) {
            int unit = backwards ? 199 - i : i, next = backwards ? unit - 1 : unit + 1,
                before = backwards ? unit + 1 : unit - 1;
            used += sprintf(text + used, ".unit %d\nphase_begin 0\n", unit);
            if (i > 0)
                used += sprintf(text + used, "receive peer=%d bytes=8\n", before);
            if (i < 199)
                used += sprintf(text + used, "send peer=%d bytes=8 after=1\n", next);
            used += sprintf(text + used, "phase_end 0\n");
        }
        EXPECT_OK(check_with(text, &limits, &result, &error));
        ck_assert_uint_eq(result.messages, 199);
        free(text);
    }
}
END_TEST

Suite *check_suite(void)
{
    Suite *suite = suite_create("check");
    TCase *tests = tcase_create("check");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_right_trace_completes);
    tcase_add_test(tests, rings);
    tcase_add_test(tests, a_full_window_is_a_deadlock);
    tcase_add_test(tests, order_of_messages);
    tcase_add_test(tests, messages_that_do_not_match);
    tcase_add_test(tests, space_that_is_not_there);
    tcase_add_test(tests, space_that_was_not_taken);
    tcase_add_test(tests, two_takers_of_a_buffer);
    tcase_add_test(tests, addresses_beyond_memory);
    tcase_add_test(tests, far_dependencies);
    tcase_add_test(tests, order_of_units_does_not_matter);
    suite_add_tcase(suite, tests);
    return suite;
}
