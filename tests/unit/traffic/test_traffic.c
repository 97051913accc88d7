/* Patterns, packet lists and measurements of the network alone. */
#include "models/traffic/traffic.h"
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pim_noc_configuration mesh(uint32_t width, uint32_t height)
{
    struct pim_noc_configuration noc;
    pim_noc_configuration_initialize(&noc);
    noc.width = width;
    noc.height = height;
    noc.virtual_channels = 8;
    return noc;
}

static uint32_t destination(const struct pim_noc_configuration *noc, enum pim_pattern pattern,
                            uint32_t source)
{
    struct pim_traffic_class class = {.pattern = pattern};
    struct pim_random random;
    pim_random_initialize(&random, 7);
    return pim_pattern_destination(noc, &class, source, &random);
}

/* --- patterns --- */

START_TEST(patterns_are_booksims)
{
    struct pim_noc_configuration noc = mesh(8, 8);
    ck_assert_uint_eq(destination(&noc, PIM_PATTERN_TRANSPOSE, 3 + 8 * 5), 5 + 8 * 3);
    ck_assert_uint_eq(destination(&noc, PIM_PATTERN_TRANSPOSE, 9), 9); /* the diagonal sends to itself */
    ck_assert_uint_eq(destination(&noc, PIM_PATTERN_BIT_COMPLEMENT, 5), 58);
    ck_assert_uint_eq(destination(&noc, PIM_PATTERN_BIT_REVERSE, 1), 32);
    ck_assert_uint_eq(destination(&noc, PIM_PATTERN_BIT_REVERSE, 6), 24);
    ck_assert_uint_eq(destination(&noc, PIM_PATTERN_SHUFFLE, 33), 3);
    ck_assert_uint_eq(destination(&noc, PIM_PATTERN_TORNADO, 0), 3 + 8 * 3); /* ceil(8 / 2) - 1 in both */
    ck_assert_uint_eq(destination(&noc, PIM_PATTERN_TORNADO, 7 + 8 * 6), 2 + 8 * 1);
    ck_assert_uint_eq(destination(&noc, PIM_PATTERN_NEIGHBOR, 63), 0);
    struct pim_noc_configuration odd = mesh(5, 3); /* each side has its own modulus */
    ck_assert_uint_eq(destination(&odd, PIM_PATTERN_TORNADO, 4 + 5 * 2), 1 + 5 * 0);
}
END_TEST

/* In three dimensions each coordinate moves for itself, as the digits of the number do in BookSim. */
START_TEST(patterns_in_three_dimensions)
{
    struct pim_noc_configuration noc = mesh(4, 16), flat = mesh(3, 12), cube = mesh(2, 4), slab = mesh(6, 6);
    noc.depth = flat.depth = 4;
    cube.depth = slab.depth = 2; /* 6 x 3 x 2 nodes are no square */
    for (uint32_t source = 0; source < 64; source++) {
        uint32_t x = source % 4, y = source / 4 % 4, z = source / 16;
        ck_assert_uint_eq(destination(&noc, PIM_PATTERN_TORNADO, source),
                          (x + 1) % 4 + 4 * ((y + 1) % 4) + 16 * ((z + 1) % 4));
        ck_assert_uint_eq(destination(&noc, PIM_PATTERN_NEIGHBOR, source),
                          (x + 1) % 4 + 4 * ((y + 1) % 4) + 16 * ((z + 1) % 4));
        ck_assert_uint_eq(destination(&noc, PIM_PATTERN_TRANSPOSE, source), source / 8 + source % 8 * 8);
    }
    ck_assert_uint_eq(destination(&flat, PIM_PATTERN_TORNADO, 2 + 3 * 2 + 9 * 3), 0 + 3 * 0 + 9 * 0);
    struct pim_traffic_class transpose = {.pattern = PIM_PATTERN_TRANSPOSE};
    struct pim_error error = {0};
    ck_assert_int_eq(pim_pattern_check(&noc, &transpose, &error), PIM_OK);
    ck_assert_int_eq(pim_pattern_check(&cube, &transpose, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "an even power of two of nodes (16, 64, ..), not 8"));
    ck_assert_int_eq(pim_pattern_check(&slab, &transpose, &error), PIM_BAD_INPUT);
}
END_TEST

START_TEST(patterns_refuse_networks_they_are_not_defined_on)
{
    struct pim_error error = {0};
    struct pim_noc_configuration noc = mesh(6, 4);
    const enum pim_pattern refused[] = {PIM_PATTERN_TRANSPOSE, PIM_PATTERN_BIT_COMPLEMENT,
                                        PIM_PATTERN_BIT_REVERSE, PIM_PATTERN_SHUFFLE, PIM_PATTERN_HOTSPOT};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct pim_traffic_class class = {.pattern = refused[i]};
        ck_assert_int_eq(pim_pattern_check(&noc, &class, &error), PIM_BAD_INPUT);
    }
    struct pim_traffic_class hotspot = {.pattern = PIM_PATTERN_HOTSPOT, .hotspots = 1, .hotspot = {24}};
    ck_assert_int_eq(pim_pattern_check(&noc, &hotspot, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "hotspot 24 does not exist: nodes are 0 to 23"));
    struct pim_noc_configuration nine = mesh(3, 3);
    struct pim_traffic_class asymmetric = {.pattern = PIM_PATTERN_ASYMMETRIC};
    ck_assert_int_eq(pim_pattern_check(&nine, &asymmetric, &error), PIM_BAD_INPUT);
}
END_TEST

/* --- lists --- */

static char list_path[64];

static void write_list(const char *text)
{
    (void)snprintf(list_path, sizeof list_path, "/tmp/pimsim-list-%ld.csv", (long)getpid());
    FILE *file = fopen(list_path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static enum pim_status read_list(const char *text, struct pim_packet_list *list, struct pim_error *error)
{
    struct pim_noc_configuration noc = mesh(8, 8);
    write_list(text);
    enum pim_status status = pim_packet_list_read(list_path, &noc, list, error);
    ck_assert_int_eq(unlink(list_path), 0);
    return status;
}

START_TEST(a_list_is_replayed_to_the_cycle)
{
    /*
     * Two packets meet at router 1 in cycle 7: the second loses one cycle in allocation (BookSim's case 4.2).
     */
    struct pim_packet_list list;
    struct pim_error error = {0};
    ck_assert_int_eq(read_list("cycle,source,destination,flits\n0,0,2,1\n5,1,2,1\n", &list, &error), PIM_OK);
    ck_assert_uint_eq(list.count, 2);
    struct pim_noc_configuration noc = mesh(8, 8);
    struct pim_noc_delivery deliveries[2];
    struct pim_traffic_result result;
    ck_assert_int_eq(pim_traffic_replay(&noc, &list, true, NULL, deliveries, &result, &error), PIM_OK);
    ck_assert_uint_eq(deliveries[0].tail_arrived, 17);
    ck_assert_uint_eq(deliveries[1].tail_arrived, 18);
    ck_assert_uint_eq(deliveries[1].created, 5);
    ck_assert_uint_eq(result.cycles, 19);
    ck_assert_uint_eq(result.packets, 2);
    ck_assert_uint_eq(result.hops, 3 + 2);
    uint64_t on_links = 0;
    for (uint32_t i = 0; i < result.link_count; i++)
        on_links += result.links[i].flits;
    ck_assert_uint_eq(on_links, 2 + 1);
    pim_traffic_result_terminate(&result);
    pim_packet_list_terminate(&list);
}
END_TEST

/* Without packets there are no cycles, and no flits on any link. */
START_TEST(an_empty_list_does_nothing)
{
    struct pim_packet_list list;
    struct pim_error error = {0};
    ck_assert_int_eq(read_list("cycle,source,destination,flits\n", &list, &error), PIM_OK);
    struct pim_noc_configuration noc = mesh(8, 8);
    noc.general = _i;
    struct pim_noc_delivery deliveries[1];
    struct pim_traffic_result result;
    ck_assert_int_eq(pim_traffic_replay(&noc, &list, true, NULL, deliveries, &result, &error), PIM_OK);
    ck_assert_uint_eq(result.cycles, 0);
    ck_assert_uint_eq(result.packets, 0);
    for (uint32_t i = 0; i < result.link_count; i++)
        ck_assert(result.links[i].flits == 0 && result.links[i].busy_cycles == 0 &&
                  result.links[i].blocked_cycles == 0);
    pim_traffic_result_terminate(&result);
    pim_packet_list_terminate(&list);
}
END_TEST

static const struct {
    const char *text, *message;
} bad_lists[] = {
    {"cycle,source,destination,flits\n0,64,0,1\n", "source"},
    {"cycle,source,destination,flits\n0,0,64,1\n", "destination"},
    {"cycle,source,destination,flits\n0,0,1,0\n", "flits"},
    {"cycle,source,destination,flits\n0,0,1,4294967297\n", "flits"},
    {"cycle,source,destination,flits\n7,0,1,1\n6,0,1,1\n",
     ":3: column 1 (cycle) is '6': cycles must not go back, the row before is at 7"},
    {"cycle,source,destination,flits\n18446744073709551615,0,1,1\n", "allowed are integers from 0 to"},
    {"cycle,source,destination,flits\n-1,0,1,1\n", "cycle"},
    {"cycle,source,destination,flits\n0,0,1\n", ":2"},
    {"cycle,source,destination\n0,0,1\n", "flits"},
    {"", ""},
};

START_TEST(bad_lists_are_refused_with_their_row)
{
    struct pim_packet_list list;
    struct pim_error error = {0};
    ck_assert_int_eq(read_list(bad_lists[_i].text, &list, &error), PIM_BAD_INPUT);
    ck_assert_ptr_null(list.packets);
    ck_assert_msg(strstr(error.text, bad_lists[_i].message) != NULL, "%s", error.text);
}
END_TEST

/* --- measurements --- */

static struct pim_traffic_configuration quick(const struct pim_traffic_class *class)
{
    return (struct pim_traffic_configuration){.classes = class,
                                              .class_count = 1,
                                              .seed = 1,
                                              .warm_up = 1000,
                                              .sample = 1000,
                                              .least_samples = 5,
                                              .most_samples = 10,
                                              .precision = 0.005,
                                              .latency_limit = 500,
                                              .check = true};
}

static double rate_of(uint64_t flits, const struct pim_traffic_result *result, double nodes)
{
    return (double)flits / (double)result->measured_cycles / nodes;
}

START_TEST(uniform_traffic_is_where_booksim_has_it)
{
    /*
     * BookSim 2, 8x8, uniform, 8 channels: mean latency 34.75 at 0.2 flits per node and cycle, 6.25 routers.
     */
    struct pim_noc_configuration noc = mesh(8, 8);
    struct pim_traffic_class class = {.pattern = PIM_PATTERN_UNIFORM, .rate = 0.2};
    struct pim_traffic_configuration traffic = quick(&class);
    struct pim_traffic_result result;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &result, &error), PIM_OK);
    ck_assert(!result.saturated);
    ck_assert_double_eq_tol(pim_histogram_mean(&result.latency), 34.75, 0.005 * 34.75);
    ck_assert_double_eq_tol((double)result.hops / (double)result.packets, 6.25, 0.05);
    ck_assert_double_eq_tol(rate_of(result.offered_flits, &result, 64), 0.2, 0.004);
    ck_assert_double_eq_tol(rate_of(result.accepted_flits, &result, 64), 0.2, 0.004);
    pim_traffic_result_terminate(&result);
}
END_TEST

START_TEST(beyond_saturation_is_said_so)
{
    struct pim_noc_configuration noc = mesh(4, 4);
    noc.virtual_channels = 2;
    noc.buffer_flits = 4;
    struct pim_traffic_class class = {.pattern = PIM_PATTERN_UNIFORM, .rate = 0.8};
    struct pim_traffic_configuration traffic = quick(&class);
    traffic.most_samples = 20;
    struct pim_traffic_result result;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &result, &error), PIM_OK);
    ck_assert(result.saturated);
    /* BookSim 2 accepts 0.535 flits per node and cycle there. */
    ck_assert_double_eq_tol(rate_of(result.accepted_flits, &result, 16), 0.535, 0.01);
    pim_traffic_result_terminate(&result);
}
END_TEST

/* One sample, or saturation before the third one, gives no interval: never an infinite one. */
START_TEST(few_samples_have_no_confidence)
{
    struct pim_noc_configuration noc = mesh(8, 8);
    struct pim_traffic_class class = {.pattern = PIM_PATTERN_UNIFORM, .rate = _i ? 0.9 : 0.1};
    struct pim_traffic_configuration traffic = quick(&class);
    traffic.least_samples = traffic.most_samples = 1;
    struct pim_traffic_result result;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &result, &error), PIM_OK);
    ck_assert_uint_eq(result.samples, 1);
    ck_assert(isnan(result.confidence));
    pim_traffic_result_terminate(&result);
}
END_TEST

START_TEST(bursts_and_size_mixes_keep_the_mean_rate)
{
    struct pim_noc_configuration noc = mesh(8, 8);
    struct pim_traffic_class class = {.pattern = PIM_PATTERN_TRANSPOSE,
                                      .rate = 0.1,
                                      .sizes = 2,
                                      .size = {1, 5},
                                      .weight = {3, 1},
                                      .on = 0.02,
                                      .off = 0.05};
    struct pim_traffic_configuration traffic = quick(&class);
    traffic.sample = 8000;
    struct pim_traffic_result result;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &result, &error), PIM_OK);
    ck_assert_double_eq_tol(rate_of(result.offered_flits, &result, 64), 0.1, 0.004);
    pim_traffic_result_terminate(&result);
}
END_TEST

START_TEST(the_seed_decides_everything)
{
    struct pim_noc_configuration noc = mesh(8, 8);
    struct pim_traffic_class class = {.pattern = PIM_PATTERN_UNIFORM, .rate = 0.3};
    struct pim_traffic_configuration traffic = quick(&class);
    struct pim_traffic_result first, second, other;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &first, &error), PIM_OK);
    noc.step_every_cycle = true; /* the same cycles */
    ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &second, &error), PIM_OK);
    traffic.seed = 2;
    ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &other, &error), PIM_OK);
    ck_assert_uint_eq(first.packets, second.packets);
    ck_assert_uint_eq(first.latency.sum.low, second.latency.sum.low);
    ck_assert_uint_eq(first.cycles, second.cycles);
    ck_assert_uint_ne(first.latency.sum.low, other.latency.sum.low);
    pim_traffic_result_terminate(&first);
    pim_traffic_result_terminate(&second);
    pim_traffic_result_terminate(&other);
}
END_TEST

START_TEST(a_matrix_sends_what_it_says)
{
    struct pim_noc_configuration noc = mesh(4, 4);
    const struct pim_traffic_flow flows[] = {{0, 5, 0.25}, {3, 12, 0.125}};
    struct pim_traffic_configuration traffic = quick(NULL);
    traffic.class_count = 0;
    traffic.flows = flows;
    traffic.flow_count = 2;
    traffic.sample = 20000;
    struct pim_traffic_result result;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &result, &error), PIM_OK);
    ck_assert_double_eq_tol(rate_of(result.offered_flits, &result, 1), 0.375, 0.01);
    double hops = (0.25 * 3 + 0.125 * 7) / 0.375; /* routers on the two ways */
    ck_assert_double_eq_tol((double)result.hops / (double)result.packets, hops, 0.05);
    pim_traffic_result_terminate(&result);
}
END_TEST

START_TEST(impossible_rates_are_refused)
{
    struct pim_noc_configuration noc = mesh(4, 4);
    struct pim_traffic_result result;
    struct pim_error error = {0};
    const double rates[] = {0, -1, 1.5, (double)NAN};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct pim_traffic_class class = {.pattern = PIM_PATTERN_UNIFORM, .rate = rates[i]};
        struct pim_traffic_configuration traffic = quick(&class);
        ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &result, &error), PIM_BAD_INPUT);
    }
    struct pim_traffic_class bursts = {.pattern = PIM_PATTERN_UNIFORM, .rate = 0.5, .on = 0.1, .off = 0.9};
    struct pim_traffic_configuration traffic = quick(&bursts);
    ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &result, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "at most 0.1"));
}
END_TEST

/* --- classes and tags --- */

START_TEST(lists_may_have_classes_and_tasks)
{
    struct pim_noc_configuration noc = mesh(4, 4);
    struct pim_packet_list list;
    struct pim_error error = {0};
    noc.classes = 2;
    noc.class_channels[0] = 3;
    noc.class_channels[1] = 5;
    write_list("cycle,source,destination,flits,task,class\n0,1,2,3,7,1\n1,2,1,1,,0\n");
    ck_assert_msg(pim_packet_list_read(list_path, &noc, &list, &error) == PIM_OK, "%s", error.text);
    ck_assert(list.packets[0].tag.class == 1 && list.packets[0].tag.task == 7);
    ck_assert(list.packets[1].tag.class == 0 && list.packets[1].tag.task == PIM_NOC_NO_TASK);
    struct pim_noc_delivery deliveries[2];
    struct pim_traffic_result result;
    ck_assert_int_eq(pim_traffic_replay(&noc, &list, true, NULL, deliveries, &result, &error), PIM_OK);
    ck_assert_uint_eq(result.packets, 2);
    pim_traffic_result_terminate(&result);
    pim_packet_list_terminate(&list);
    write_list("cycle,source,destination,flits,class\n0,1,2,3,2\n");
    ck_assert_int_eq(pim_packet_list_read(list_path, &noc, &list, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(
        strstr(error.text, ":2: column 5 (class) is '2': allowed are integers from 0 to 1"));
    write_list("cycle,source,destination,flits,colour\n0,1,2,3,2\n");
    ck_assert_int_eq(pim_packet_list_read(list_path, &noc, &list, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(unlink(list_path), 0);
}
END_TEST

/* Shares add up to the whole, and each class has its own rate, sizes and latency. */
START_TEST(classes_are_counted_apart)
{
    struct pim_noc_configuration noc = mesh(8, 8);
    noc.classes = 2;
    noc.class_channels[0] = 2;
    noc.class_channels[1] = 6;
    const struct pim_traffic_class classes[] = {
        {.pattern = PIM_PATTERN_NEIGHBOR, .rate = 0.05, .network_class = 0},
        {.pattern = PIM_PATTERN_UNIFORM,
         .rate = 0.1,
         .sizes = 1,
         .size = {5},
         .weight = {1},
         .network_class = 1},
    };
    struct pim_traffic_configuration traffic = quick(classes);
    traffic.class_count = 2;
    struct pim_traffic_result result;
    struct pim_error error = {0};
    ck_assert_msg(pim_traffic_measure(&noc, &traffic, &result, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(result.share_count, 2);
    ck_assert_uint_eq(result.shares[0].packets + result.shares[1].packets, result.packets);
    ck_assert_uint_eq(result.shares[0].network_class, 0);
    ck_assert_uint_eq(result.shares[1].network_class, 1);
    ck_assert_uint_eq(result.shares[0].offered_flits + result.shares[1].offered_flits, result.offered_flits);
    ck_assert_double_eq_tol(rate_of(result.shares[0].offered_flits, &result, 64), 0.05, 0.002);
    ck_assert_double_eq_tol(rate_of(result.shares[1].offered_flits, &result, 64), 0.1, 0.004);
    ck_assert_double_eq_tol(rate_of(result.shares[1].accepted_flits, &result, 64), 0.1, 0.004);
    ck_assert_double_eq_tol(pim_histogram_mean(&result.shares[0].latency), 24.5, 0.7); /* zero load: 24.5 */
    ck_assert_double_gt(pim_histogram_mean(&result.shares[1].latency), 37.25);         /* zero load */
    pim_traffic_result_terminate(&result);
    noc.classes = 0;
    ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &result, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "traffic of class 1"));
}
END_TEST

/* The flows of a matrix send packets of the sizes asked for, at the rates of the matrix. */
START_TEST(a_matrix_has_sizes_and_bursts)
{
    struct pim_noc_configuration noc = mesh(4, 4);
    const struct pim_traffic_flow flows[] = {{0, 5, 0.25}, {3, 12, 0.125}};
    const struct pim_traffic_class like = {.sizes = 1, .size = {4}, .weight = {1}, .on = 0.05, .off = 0.05};
    struct pim_traffic_configuration traffic = quick(NULL);
    traffic.class_count = 0;
    traffic.flows = flows;
    traffic.flow_count = 2;
    traffic.flow_class = &like;
    traffic.sample = 40000;
    struct pim_traffic_result result;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_traffic_measure(&noc, &traffic, &result, &error), PIM_OK);
    ck_assert_double_eq_tol(rate_of(result.offered_flits, &result, 1), 0.375, 0.02);
    ck_assert_uint_eq(result.noc.flits_sent, 4 * result.noc.packets_sent);
    ck_assert_uint_eq(result.shares[0].packets, result.packets);
    pim_traffic_result_terminate(&result);
}
END_TEST

static Suite *suite(const char *name, TCase *tests)
{
    Suite *made = suite_create(name);
    suite_add_tcase(made, tests);
    return made;
}

void pimsim_suites(SRunner *runner)
{
    TCase *patterns = tcase_create("patterns");
    tcase_add_test(patterns, patterns_are_booksims);
    tcase_add_test(patterns, patterns_in_three_dimensions);
    tcase_add_test(patterns, patterns_refuse_networks_they_are_not_defined_on);
    srunner_add_suite(runner, suite("traffic_patterns", patterns));
    TCase *lists = tcase_create("lists");
    tcase_add_test(lists, a_list_is_replayed_to_the_cycle);
    tcase_add_loop_test(lists, an_empty_list_does_nothing, 0, 2);
    tcase_add_loop_test(lists, bad_lists_are_refused_with_their_row, 0,
                        sizeof bad_lists / sizeof bad_lists[0]);
    tcase_add_test(lists, lists_may_have_classes_and_tasks);
    srunner_add_suite(runner, suite("traffic_lists", lists));
    TCase *measure = tcase_create("measure");
    tcase_add_test(measure, uniform_traffic_is_where_booksim_has_it);
    tcase_add_test(measure, beyond_saturation_is_said_so);
    tcase_add_loop_test(measure, few_samples_have_no_confidence, 0, 2);
    tcase_add_test(measure, bursts_and_size_mixes_keep_the_mean_rate);
    tcase_add_test(measure, the_seed_decides_everything);
    tcase_add_test(measure, a_matrix_sends_what_it_says);
    tcase_add_test(measure, impossible_rates_are_refused);
    tcase_add_test(measure, classes_are_counted_apart);
    tcase_add_test(measure, a_matrix_has_sizes_and_bursts);
    srunner_add_suite(runner, suite("traffic_measure", measure));
}
