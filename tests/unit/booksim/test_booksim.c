#include "tests/unit/booksim/suites.h"

#include "models/booksim/booksim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum pim_status parse(const char *text, struct pim_booksim *booksim, struct pim_error *error)
{
    *error = (struct pim_error){.status = PIM_OK};
    return pim_booksim_parse(text, strlen(text), "file", booksim, error);
}

/* Every part of a file that becomes part of the configuration, with values that are no defaults. */
START_TEST(values)
{
    struct pim_booksim booksim;
    struct pim_error error;
    const char *text = "// a comment; it ends with the line\n"
                       "topology = torus; k = 6;\n"
                       "routing_function = dim_order_bal; // behind a statement\n"
                       "num_vcs=6;vc_buf_size =\n  12 ;\n"
                       "routing_delay = 0; credit_delay = 3; speculative = 1; hold_switch_for_packet = 1;\n"
                       "wait_for_tail_credit = 1; input_speedup = 2; output_speedup = 3; "
                       "output_buffer_size = 4;\n"
                       "vc_allocator = separable_input_first(tree(5,round_robin)); sw_allocator = islip(3);\n"
                       "priority = network_age; traffic = tornado; injection_rate = 0.25;\n"
                       "injection_rate_uses_flits = 1; packet_size = {{1, 5}}; seed = 42;\n"
                       "warmup_periods = 2; sample_period = 500; max_samples = 12; latency_thres = 250.0;\n"
                       "internal_speedup = 2.0; internal_speedup = 1;\n"
                       "alloc_iters = 7; sim_power = 0; k = 5;\n";
    ck_assert_msg(parse(text, &booksim, &error) == PIM_OK, "%s", error.text);
    const struct pim_noc_configuration *noc = &booksim.noc;
    ck_assert_int_eq(noc->topology, PIM_NOC_TORUS);
    ck_assert_uint_eq(noc->width, 5); /* the last statement for a key holds */
    ck_assert_uint_eq(noc->height, 5);
    ck_assert_int_eq(noc->partition, PIM_NOC_BALANCED);
    ck_assert_uint_eq(noc->link_latency, 2);
    ck_assert_uint_eq(noc->virtual_channels, 6);
    ck_assert_uint_eq(noc->buffer_flits, 12);
    ck_assert_uint_eq(noc->routing_delay, 0);
    ck_assert_uint_eq(noc->credit_delay, 3);
    ck_assert(noc->speculative && noc->hold_switch_for_packet && noc->wait_for_tail_credit);
    ck_assert_uint_eq(noc->input_speedup, 2);
    ck_assert_uint_eq(noc->output_speedup, 3);
    ck_assert_uint_eq(noc->output_buffer_flits, 4);
    ck_assert_int_eq(noc->vc_allocator, PIM_NOC_SEPARABLE_INPUT_FIRST);
    ck_assert_int_eq(noc->vc_arbiter, PIM_NOC_TREE);
    ck_assert_uint_eq(noc->vc_groups, 5);
    ck_assert_int_eq(noc->switch_allocator, PIM_NOC_ISLIP);
    ck_assert_uint_eq(noc->switch_iterations, 3);
    ck_assert_uint_eq(noc->vc_iterations, 1);
    ck_assert_int_eq(noc->priority, PIM_NOC_NETWORK_AGE);
    ck_assert_uint_eq(noc->seed, 42);
    ck_assert_int_eq(booksim.traffic.pattern, PIM_PATTERN_TORNADO);
    ck_assert(booksim.traffic.rate == 0.25 && !booksim.traffic.rate_in_packets);
    ck_assert_uint_eq(booksim.traffic.sizes, 2);
    ck_assert_uint_eq(booksim.traffic.size[1], 5);
    ck_assert_uint_eq(booksim.warm_up, 1000);
    ck_assert_uint_eq(booksim.sample, 500);
    ck_assert_uint_eq(booksim.most_samples, 10);
    ck_assert(booksim.latency_limit == 250);
}
END_TEST

START_TEST(defaults)
{
    struct pim_booksim booksim;
    struct pim_error error;
    struct pim_noc_configuration expected;
    ck_assert_int_eq(parse("topology=mesh;routing_function=dor;", &booksim, &error), PIM_OK);
    pim_noc_configuration_initialize(&expected);
    ck_assert_uint_eq(booksim.noc.width, expected.width);
    ck_assert_uint_eq(booksim.noc.virtual_channels, expected.virtual_channels);
    ck_assert_uint_eq(booksim.noc.buffer_flits, expected.buffer_flits);
    ck_assert_uint_eq(booksim.noc.link_latency, 1);
    ck_assert(!pim_noc_configuration_is_general(&booksim.noc));
    ck_assert(booksim.traffic.rate == 0.1 && booksim.traffic.rate_in_packets);
    ck_assert_uint_eq(booksim.warm_up, 3000);
    ck_assert_uint_eq(booksim.most_samples, 7);
}
END_TEST

#define MESH "topology = mesh; routing_function = dim_order;\n"

START_TEST(traffic)
{
    struct pim_booksim booksim;
    struct pim_error error;
    ck_assert_int_eq(parse("\xef\xbb\xbf" MESH "traffic = hotspot({{3, 60}});\r\n injection_process = on_off;"
                           "burst_alpha = 0.2; packet_size = {{1,5,9}}; packet_size_rate = {{4,0,1}};",
                           &booksim, &error),
                     PIM_OK);
    const struct pim_traffic_class *class = &booksim.traffic;
    ck_assert_int_eq(class->pattern, PIM_PATTERN_HOTSPOT);
    ck_assert_uint_eq(class->hotspots, 2);
    ck_assert(class->hotspot[0] == 3 && class->hotspot[1] == 60);
    ck_assert(class->on == 0.2 && class->off == 0.5);
    ck_assert(class->weight[0] == 4 && class->weight[1] == 0 && class->weight[2] == 1);
    ck_assert_int_eq(parse(MESH "injection_process = on_off({0.25,1}); packet_size_rate = 3;"
                                "packet_size = {{2,7}};",
                           &booksim, &error),
                     PIM_OK);
    ck_assert(class->on == 0.25 && class->off == 1);
    ck_assert(class->weight[0] == 3 && class->weight[1] == 3 && class->size[1] == 7);
    ck_assert_int_eq(parse(MESH "traffic = {hotspot({{3,60}})}; injection_rate = { 0.25 };"
                                "injection_process = {on_off({0.25,1})};",
                           &booksim, &error),
                     PIM_OK);
    ck_assert(class->pattern == PIM_PATTERN_HOTSPOT && class->hotspot[1] == 60);
    ck_assert(class->rate == 0.25 && class->on == 0.25 && class->off == 1);
}
END_TEST

/* What BookSim runs without asking, though it could stand still. The default topology is a torus. */
START_TEST(deadlocks)
{
    struct pim_booksim booksim;
    struct pim_error error;
    ck_assert_int_eq(parse("routing_function = dim_order;", &booksim, &error), PIM_OK);
    ck_assert_int_eq(booksim.noc.topology, PIM_NOC_TORUS);
    ck_assert(!booksim.noc.may_deadlock);
    ck_assert_int_eq(parse("routing_function = dim_order; num_vcs = 1;", &booksim, &error), PIM_OK);
    ck_assert(booksim.noc.may_deadlock && error.text[0] == '\0');
    ck_assert_int_eq(parse("routing_function = dim_order_bal; num_vcs = 3;", &booksim, &error), PIM_OK);
    ck_assert(booksim.noc.may_deadlock);
}
END_TEST

static const struct {
    const char *text, *message;
} wrong[] = {
    {"topology = mesh;", "file: routing_function is not given"},
    {MESH "num_vc = 8;", "file:2: BookSim 2 has no key num_vc: the nearest is num_vcs"},
    {MESH "num_vcs = 8", "file:2: the semicolon behind a value is missing"},
    {MESH "num_vcs = 8\nvc_buf_size = 4;", "file:2: the semicolon behind the value of num_vcs is missing"},
    {MESH "sim_power = 0 // nothing\nnum_vcs = 1;",
     "file:2: the semicolon behind the value of sim_power is missing: '0 num_vcs = 1' has another ="},
    {MESH "num_vcs 8;", "file:2: \"key = value;\" is expected"},
    {MESH "num_vcs = 8.5;", "file:2: num_vcs is 8.5: allowed are whole numbers from 1 to 32"},
    {MESH "num_vcs = ;", "num_vcs is : allowed are"},
    {MESH "num_vcs = 99999999999999999999;", "allowed are whole numbers from 1 to 32"},
    {MESH "subnets = 1;\nsubnets = 2;", "file:3: subnets is 2, which is not honoured here: only 1 is"},
    {MESH "\nrouter = chaos;", "file:3: router is chaos, which is not honoured here: only iq is"},
    {MESH "vc_busy_when_full = 1;", "vc_busy_when_full is 1, which is not honoured here: only 0 is"},
    {MESH "internal_speedup = 2.0;", "internal_speedup is 2.0, which is not honoured here: only 1.0 is"},
    {MESH "vc_alloc_delay = 2;", "only 1 is"},
    {MESH "routing_delay = 2;", "allowed are whole numbers from 0 to 1"},
    {MESH "vc_allocator = pim;", "vc_allocator is pim: honoured are islip"},
    {MESH "vc_allocator = islip(0);", "honoured are islip"},
    {MESH "vc_allocator = islip(2;", "honoured are islip"},
    {MESH "sw_allocator = separable_input_first(tree(5,matrix));", "honoured are islip"},
    {MESH "sw_allocator = wavefront(2);", "honoured are islip"},
    {MESH "sw_allocator = separable_input_first(tree(3,round_robin));", "must divide the 5 candidates"},
    {MESH "priority = oldest;", "allowed are none, class, age"},
    {MESH "output_speedup = 2; output_buffer_size = 0;", "with it nothing is ever sent"},
    {MESH "packet_size = {1,5};", "honoured is a size, or up to"},
    {MESH "packet_size = {{1,5};", "honoured is a size, or up to"},
    {MESH "packet_size = {{}};", "honoured is a size, or up to"},
    {MESH "packet_size = {{1,5}}; packet_size_rate = {{3,1,1}};", "one for each of the 2 sizes"},
    {MESH "packet_size = {{1,5}}; packet_size_rate = {{0,0}};", "honoured is one above 0"},
    {MESH "packet_size = 5; packet_size_rate = {{1,2}};", "one for each of the 1 sizes"},
    {MESH "injection_rate = {0.1,0.2};", "allowed are numbers from 0"},
    {MESH "injection_rate = {};", "allowed are numbers from 0"},
    {MESH "injection_rate = { };", "allowed are numbers from 0"},
    {MESH "injection_rate = {0.1}};", "allowed are numbers from 0"},
    {MESH "injection_rate = {0.1}{0.2};", "allowed are numbers from 0"},
    {MESH "traffic = {uniform,tornado};", "honoured are uniform, transpose"},
    {MESH "num_vcs = {8};", "num_vcs is {8}: allowed are whole numbers"},
    {MESH "traffic = randperm;", "honoured are uniform, transpose"},
    {MESH "traffic = hotspot;", "hotspot({{NODE,...}}), all equally hot"},
    {MESH "traffic = hotspot({3,60});", "hotspot({{NODE,...}}), all equally hot"},
    {MESH "traffic = hotspot({{0,1},{2,1}});", "hotspot({{NODE,...}}), all equally hot"},
    {MESH "traffic = hotspot({});", "hotspot({{NODE,...}}), all equally hot"},
    {MESH "injection_process = on_off({0.1,0.2,0.3});", "honoured are bernoulli, on_off"},
    {MESH "injection_process = on_off({0.1,0.0});", "with probabilities above 0"},
    {MESH "injection_process = on_off; burst_beta = 0.0;", "burst_beta is 0.0: allowed are numbers from"},
    {MESH "injection_process = on_off; use_read_write = 1;", "bernoulli is honoured alone"},
    {MESH "burst_r1 = 0.5;", "burst_r1 is 0.5, which is not honoured here: only -1.0 is"},
    {MESH "read_reply_subnet = 1;", "read_reply_subnet is 1, which is not honoured here: only 0 is"},
    {MESH "watch_transfer = 1;", "BookSim 2 has no key watch_transfer"},
    {MESH "max_samples = 3;", "more than warmup_periods, 3, are needed"},
    {MESH "injection_rate = much;", "injection_rate is much: allowed are numbers"},
    {"topology = mesh; routing_function = valiant;", "routing_function is valiant: honoured is dim_order"},
    {"topology = ring; routing_function = dor;", "topology is ring: honoured are"},
    {"topology = mesh; routing_function = dor; n = 4;", "n is 4: honoured are 2 and 3"},
    {"topology = fattree; routing_function = anca;", "routing_function is anca: honoured is nca"},
    {"topology = fattree; routing_function = nca; k = 20; n = 2;", "noc.radix is 20: allowed are 2 to 16"},
    {"topology = qtree; routing_function = nca; k = 4; n = 2;", "it has k = 4 and n = 3"},
    {"topology = cmesh; routing_function = dor; k = 4; x = 4; y = 4; c = 4; xr = 4; yr = 1;", "c = xr yr"},
    {"topology = flatfly; routing_function = ran_min; k = 2; x = 2; y = 2; c = 16; xr = 4; yr = 4;",
     "xr is 4: honoured are 1 to 3"},
    {"topology = dragonflynew; routing_function = ugal; k = 2; n = 1;", "honoured is min"},
    {"topology = anynet; routing_function = min;", "network_file is"},
    {"topology = mesh; routing_function = dor; include_queuing = 0;",
     "include_queuing is 0, which is not honoured here: only 1 is"},
    {"topology = fattree; routing_function = nca; k = 4; n = 3; traffic = tornado;",
     "traffic is tornado: it is honoured with mesh, torus, flatfly and cmesh"},
    {"topology = dragonflynew; routing_function = min; k = 2; n = 1; traffic = neighbor;",
     "traffic is neighbor: it is honoured with"},
    {"topology = mesh; routing_function = dor; k = 5; n = 2; traffic = transpose;",
     "an even power of two of nodes (16, 64, ..), not 25"},
    {"topology = anynet; routing_function = min; network_file = /nonexistent/net;", "cannot open"},
};

/* The farthest of 3 x 3 terminals is a step from the middle on each axis, which BookSim makes one cycle. */
START_TEST(nine_terminals)
{
    struct pim_booksim booksim;
    struct pim_error error;
    const char *text =
        "topology = flatfly; routing_function = ran_min; k = 3; n = 2; x = 3; y = 3; c = 9; xr = 3; yr = 3;";
    ck_assert_msg(parse(text, &booksim, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(booksim.noc.radix, 3);
    ck_assert_uint_eq(booksim.noc.width, 9);
    ck_assert(booksim.noc.latency_by_length);
}
END_TEST

START_TEST(refused)
{
    struct pim_booksim booksim;
    struct pim_error error;
    enum pim_status expected = strstr(wrong[_i].text, "/nonexistent") ? PIM_IO : PIM_BAD_INPUT;
    ck_assert_int_eq(parse(wrong[_i].text, &booksim, &error), expected);
    ck_assert_msg(strstr(error.text, wrong[_i].message) != NULL, "%s", error.text);
}
END_TEST

/* Cutting a file anywhere is refused with a message or gives a network; so is a value of any length. */
START_TEST(cut)
{
    static const char text[] = MESH "vc_allocator = separable_input_first(tree(5,round_robin));"
                                    "packet_size = {{1,5}}; // the end\nsw_allocator=islip(2);";
    for (size_t length = 0; length < sizeof text; length++) {
        struct pim_booksim booksim;
        struct pim_error error = {.status = PIM_OK};
        enum pim_status status = pim_booksim_parse(text, length, "file", &booksim, &error);
        if ((status == PIM_OK) != (error.text[0] == '\0'))
            ck_abort_msg("%zu bytes: %s", length, error.text);
    }
    char large[2048];
    memset(large, 'a', sizeof large);
    struct pim_booksim booksim;
    struct pim_error error = {.status = PIM_OK};
    ck_assert_int_eq(pim_booksim_parse(large, sizeof large, "file", &booksim, &error), PIM_BAD_INPUT);
    memcpy(large, "traffic =", 9);
    ck_assert_int_eq(pim_booksim_parse(large, sizeof large, "file", &booksim, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "longer than 511 bytes"));
}
END_TEST

START_TEST(from_a_file)
{
    struct pim_booksim booksim;
    struct pim_error error = {.status = PIM_OK};
    ck_assert_int_eq(pim_booksim_read("/nonexistent/mesh", &booksim, &error), PIM_IO);
    char path[] = "/tmp/pimsim-booksim-XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_eq(write(file, MESH, strlen(MESH)), (ssize_t)strlen(MESH));
    close(file);
    ck_assert_int_eq(pim_booksim_read(path, &booksim, &error), PIM_OK);
    unlink(path);
}
END_TEST

Suite *text_suite(void)
{
    Suite *suite = suite_create("booksim_text");
    TCase *tests = tcase_create("text");
    tcase_add_test(tests, values);
    tcase_add_test(tests, defaults);
    tcase_add_test(tests, traffic);
    tcase_add_test(tests, deadlocks);
    tcase_add_test(tests, nine_terminals);
    tcase_add_loop_test(tests, refused, 0, (int)(sizeof wrong / sizeof *wrong));
    tcase_add_test(tests, cut);
    tcase_add_test(tests, from_a_file);
    suite_add_tcase(suite, tests);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, text_suite());
    srunner_add_suite(runner, lists_suite());
    srunner_add_suite(runner, requests_suite());
}
