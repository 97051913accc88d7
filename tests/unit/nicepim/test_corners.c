/*
 * Small networks on corners of the array: what the search finds is held against plans on every corner. For
 * these networks they can all be made; the search halves, and tries rules of thumb on all shapes.
 */
#include "mappers/nicepim/map/attempts.h"
#include "tests/unit/estimate/machine.h"
#include "tests/unit/nicepim/plans.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdbool.h>

/* Slower by so many hundredths at most than a plan on a corner that no halving leads to, as one row of nodes:
 * there the search has rules of thumb alone. */
enum { PERCENT = 1 };

static const struct job {
    const char *network, *image, *hardware;
    uint32_t width, height; /* 0: as in the file */
} jobs[] = {
    {"docs/examples/small-vgg.cfg", "network.image=8", "nicepim-4x4", 0, 0},
    {"docs/examples/small-vgg.cfg", "network.image=8", "nicepim-8x8", 0, 0},
    {"docs/examples/small-vgg.cfg", "network.image=8", "nicepim-4x4", 7, 1},
    {"docs/examples/small-vgg.cfg", "network.image=16", "nicepim-4x4", 3, 5},
    {"docs/examples/small-vgg.cfg", "network.image=24", "nicepim-8x8", 0, 0},
    {"docs/examples/small-vgg.cfg", "network.image=32", "nicepim-4x4", 0, 0},
    {"docs/examples/small-vgg.cfg", "network.image=64", "nicepim-4x4", 0, 0},
    {"configs/networks/shufflenet.cfg", "network.image=64", "nicepim-4x4", 0, 0},
    {"configs/networks/squeezenet.cfg", "network.image=64", "nicepim-4x4", 0, 0},
    {"configs/networks/vgg8.cfg", "network.image=8", "nicepim-4x4", 0, 0},
};

static void read_job(const struct job *job, struct pim_network **network, struct pim_estimate_hardware *nodes)
{
    static struct machine machine;
    machine_read(&machine, job->hardware, NULL, 0);
    *nodes = machine.estimate;
    nodes->width = job->width ? job->width : nodes->width;
    nodes->height = job->height ? job->height : nodes->height;
    *network = nicepim_network(job->network, job->image);
}

static uint64_t cycles_of_search(const struct pim_network *network, const struct pim_estimate_hardware *nodes)
{
    struct nice_search search = {
        .network = network, .hardware = nodes, .batch = 1, .objective = NICE_LATENCY, .threads = 1};
    struct nice_best best = {0};
    struct pim_error error = {0};
    search.asked[NICE_SERIAL] = true;
    check(nice_search(&search, &best, &error), &error);
    const uint64_t cycles = best.result.cycles;
    nice_best_terminate(&best);
    return cycles;
}

static uint64_t cycles_of_corner(const struct pim_network *network, const struct pim_estimate_hardware *nodes,
                                 uint32_t width, uint32_t height)
{
    struct nice_request request = nicepim_request(network, nodes, NICE_SERIAL);
    request.width = width;
    request.height = height;
    struct nice_plan plan;
    struct nice_result result;
    struct pim_error error = {0};
    check(nice_plan_make(&request, &plan, &error), &error);
    check(nice_emit(&plan, NULL, &result, &error), &error);
    nice_plan_terminate(&plan);
    return result.cycles;
}

/* Whether halving the longer side, again and again, leads there. */
static bool is_half(const struct pim_estimate_hardware *nodes, uint32_t width, uint32_t height)
{
    uint32_t w = nodes->width, h = nodes->height;
    while (w * h > width * height) {
        if (w > h)
            w = (w + 1) / 2;
        else
            h = (h + 1) / 2;
    }
    return w == width && h == height;
}

START_TEST(no_half_is_faster)
{
    const struct job *job = &jobs[PIM_CASE(_i)];
    struct pim_estimate_hardware nodes;
    struct pim_network *network;
    read_job(job, &network, &nodes);
    const uint64_t found = cycles_of_search(network, &nodes);
    for (uint32_t height = 1; height <= nodes.height; height++) {
        for (uint32_t width = 1; width <= nodes.width; width++) {
            const uint64_t cycles = cycles_of_corner(network, &nodes, width, height),
                           slack = is_half(&nodes, width, height) ? 0 : cycles * PERCENT / 100;
            ck_assert_msg(found <= cycles + slack,
                          "%s, %s, %" PRIu32 " x %" PRIu32 " nodes: %" PRIu64 " cycles were found, %" PRIu32
                          " x %" PRIu32 " of them take %" PRIu64,
                          job->network, job->image, nodes.height, nodes.width, found, height, width, cycles);
        }
    }
    pim_network_destroy(network);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("corners");
    TCase *tests = tcase_create("corners");
    tcase_add_loop_test(tests, no_half_is_faster, 0, PIM_CASES(sizeof jobs / sizeof jobs[0]));
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
