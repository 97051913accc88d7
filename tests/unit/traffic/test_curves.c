/*
 * Points of latency-throughput curves measured on BookSim 2, commit 28f43299: means over 1 to 5 seeds, each
 * of tens of thousands of cycles. The traffic here has other random numbers, so latencies agree within 0.5
 * % and saturation within 0.005 flits per node and cycle. (With the same packets every cycle is the same:
 * test_noc.)
 */
#include "models/traffic/traffic.h"
#include "tests/unit/test_main.h"

struct point {
    const char *name;
    uint32_t side, channels, buffer;
    enum pim_noc_allocator allocator;
    enum pim_pattern pattern;
    uint64_t flits;
    double rate; /* flits per node and cycle */
    double expected;
};

/* Mean packet latency, below 90 % of saturation. */
static const struct point latencies[] = {
    {"8x8 uniform", 8, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_UNIFORM, 1, 0.2, 34.75},
    {"8x8 uniform", 8, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_UNIFORM, 1, 0.35, 39.32},
    {"8x8 uniform, worms", 8, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_UNIFORM, 5, 0.2, 41.86},
    {"8x8 uniform, separable", 8, 8, 8, PIM_NOC_SEPARABLE_INPUT_FIRST, PIM_PATTERN_UNIFORM, 1, 0.3, 37.06},
    {"8x8 transpose", 8, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_TRANSPOSE, 1, 0.1, 34.36},
    {"8x8 tornado", 8, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_TORNADO, 1, 0.2, 47.83},
    {"8x8 neighbor", 8, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_NEIGHBOR, 1, 0.5, 24.84},
    {"4x4 uniform", 4, 2, 4, PIM_NOC_ISLIP, PIM_PATTERN_UNIFORM, 1, 0.4, 22.39},
    {"16x16 uniform", 16, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_UNIFORM, 1, 0.1, 62.00},
    {"16x16 uniform, worms", 16, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_UNIFORM, 4, 0.13, 68.51},
};

/* Flits per node and cycle that are accepted when more are offered. */
static const struct point plateaus[] = {
    {"8x8 uniform", 8, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_UNIFORM, 1, 0.46, 0.4255},
    {"8x8 uniform, worms", 8, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_UNIFORM, 5, 0.45, 0.4151},
    {"8x8 uniform, separable", 8, 8, 8, PIM_NOC_SEPARABLE_INPUT_FIRST, PIM_PATTERN_UNIFORM, 1, 0.46, 0.4260},
    {"8x8 transpose", 8, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_TRANSPOSE, 1, 0.2, 0.1813},
    {"4x4 uniform", 4, 2, 4, PIM_NOC_ISLIP, PIM_PATTERN_UNIFORM, 1, 0.7, 0.5361},
    {"16x16 uniform", 16, 8, 8, PIM_NOC_ISLIP, PIM_PATTERN_UNIFORM, 1, 0.25, 0.2257},
};

enum { LATENCIES = sizeof latencies / sizeof *latencies, PLATEAUS = sizeof plateaus / sizeof *plateaus };

static void measure(const struct point *point, const struct pim_traffic_configuration *how,
                    struct pim_traffic_result *result)
{
    struct pim_noc_configuration noc;
    pim_noc_configuration_initialize(&noc);
    noc.width = noc.height = point->side;
    noc.virtual_channels = point->channels;
    noc.buffer_flits = point->buffer;
    noc.vc_allocator = noc.switch_allocator = point->allocator;
    struct pim_traffic_class class = {
        .pattern = point->pattern, .rate = point->rate, .sizes = 1, .size = {point->flits}, .weight = {1}};
    struct pim_traffic_configuration traffic = *how;
    traffic.classes = &class;
    traffic.class_count = 1;
    traffic.seed = 1;
    struct pim_error error = {0};
    ck_assert_msg(pim_traffic_measure(&noc, &traffic, result, &error) == PIM_OK, "%s", error.text);
}

START_TEST(latency)
{
    const struct point *point = &latencies[_i];
    const struct pim_traffic_configuration how = {.warm_up = 3000,
                                                  .sample = 2000,
                                                  .least_samples = 5,
                                                  .most_samples = 200,
                                                  .precision = 0.0015,
                                                  .latency_limit = 500};
    struct pim_traffic_result result;
    measure(point, &how, &result);
    double mean = pim_histogram_mean(&result.latency);
    ck_assert(!result.saturated);
    ck_assert_msg(mean > 0.995 * point->expected && mean < 1.005 * point->expected,
                  "%s at %g: latency %.3f, BookSim has %.2f", point->name, point->rate, mean,
                  point->expected);
    pim_traffic_result_terminate(&result);
}
END_TEST

START_TEST(saturation)
{
    const struct point *point = &plateaus[_i];
    const struct pim_traffic_configuration how = {.warm_up = 6000,
                                                  .sample = 6000,
                                                  .least_samples = 1,
                                                  .most_samples = 1,
                                                  .precision = 1,
                                                  .latency_limit = 1};
    struct pim_traffic_result result;
    measure(point, &how, &result);
    double accepted =
        (double)result.accepted_flits / (double)result.measured_cycles / point->side / point->side;
    ck_assert(result.saturated);
    ck_assert_msg(accepted > point->expected - 0.005 && accepted < point->expected + 0.005,
                  "%s: %.4f flits per node and cycle are accepted, %.4f by BookSim", point->name, accepted,
                  point->expected);
    pim_traffic_result_terminate(&result);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("traffic_curves");
    TCase *tests = tcase_create("curves");
    tcase_add_loop_test(tests, latency, 0, LATENCIES);
    tcase_add_loop_test(tests, saturation, 0, PLATEAUS);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
