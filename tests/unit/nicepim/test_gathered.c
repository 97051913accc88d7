/*
 * Plans are estimated to end when they do in the simulation: what is packed, sent, passed round and unpacked
 * goes on beside each other, and messages may wait for more than each other - issue in order, turns at the
 * memory port that are shorter than a row, what is passed on from the interface, links narrower than a flit.
 */
#include "mappers/nicepim/map/program/emit.h"
#include "mappers/nicepim/map/results.h"
#include "tests/unit/estimate/machine.h"
#include "tests/unit/nicepim/plans.h"
#include "tests/unit/test_main.h"
#include "traces/file/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define IN_ORDER "unit.issue=\"in_order\""
#define SHORT_TURNS "dram.arbitration_bytes=64"
#define CUT_THROUGH "network_interface.forward=\"cut_through\""
#define NARROW_LINKS "noc.link_bits_per_cycle=8" /* a flit of 1024 bits holds a link for 128 cycles */

/* How many per cent the estimate may be off. Before programs were timed together it was +2.4, -10.2, -5.6,
 * 0.0, +1.6, +3.4, -6.4 and -9.8 with these keys. */
static const struct job {
    const char *network, *image;
    enum nice_method method;
    uint32_t batch;
    const char *key, *other; /* NULL: as the file has it */
    double most;
} jobs[] = {
    {"configs/networks/squeezenet.cfg", "network.image=48", NICE_SERIAL, 1, NULL, NULL, 1.0},
    {"configs/networks/vgg8.cfg", "network.image=16", NICE_SERIAL, 1, IN_ORDER, NULL, 1.0},
    {"configs/networks/vgg8.cfg", "network.image=16", NICE_SERIAL, 1, SHORT_TURNS, NULL, 1.0},
    {"configs/networks/squeezenet.cfg", "network.image=48", NICE_SERIAL, 1, SHORT_TURNS, NULL, 2.0},
    {"configs/networks/squeezenet.cfg", "network.image=48", NICE_PARALLEL, 1, SHORT_TURNS, IN_ORDER, 2.0},
    {"configs/networks/squeezenet.cfg", "network.image=48", NICE_PIPELINE, 2, IN_ORDER, NULL, 1.0},
    {"configs/networks/vgg8.cfg", "network.image=16", NICE_SERIAL, 1, CUT_THROUGH, NULL, 1.0},
    {"configs/networks/vgg8.cfg", "network.image=16", NICE_SERIAL, 1, NARROW_LINKS, NULL, 2.0},
    {"configs/networks/squeezenet.cfg", "network.image=48", NICE_SEQUENTIAL, 1, NARROW_LINKS, NULL, 5.0},
};

START_TEST(plans_end_when_they_are_estimated_to)
{
    static struct machine machine;
    const struct job *job = &jobs[PIM_CASE(_i)];
    const char *const keys[] = {job->key, job->other};
    struct nice_plan plan;
    struct nice_result result;
    struct pim_trace_writer *writer;
    struct pim_error error = {0};
    char path[64];
    machine_read(&machine, "nicepim-4x4", keys, !job->key ? 0 : job->other ? 2 : 1);
    struct pim_machine_network *way = &machine.estimate.network;
    if (job->key && strcmp(job->key, NARROW_LINKS) == 0) {
        way->flit_cycles = way->link_cycles = 128;
        way->flit_cycles_by = way->link_cycles_by = 1;
    }
    struct pim_network *network = nicepim_network(job->network, job->image);
    struct nice_request request = nicepim_request(network, &machine.estimate, job->method);
    request.batch = job->batch;
    check(nice_plan_make(&request, &plan, &error), &error);
    (void)snprintf(path, sizeof path, "test_nicepim_gathered_%ld.bin", (long)getpid());
    const uint32_t width = machine.estimate.width, height = machine.estimate.height;
    const struct pim_trace_description description = {
        .family = "nicepim", .width = width, .height = height, .units = width * height};
    check(pim_trace_writer_create(path, &description, &writer, &error), &error);
    check(nice_emit(&plan, writer, &result, &error), &error);
    check(pim_trace_writer_finish(writer, &error), &error);
    const double cycles = (double)machine_simulate(&machine, path), estimate = (double)result.cycles;
    ck_assert_msg(fabs(estimate - cycles) <= job->most / 100 * cycles,
                  "%s, %s: estimated %.0f, simulated %.0f", job->network, job->key ? job->key : "as it is",
                  estimate, cycles);
    uint64_t parts = 0;
    for (size_t i = 0; i < PIM_ESTIMATE_PARTS; i++)
        parts += result.parts[i];
    ck_assert_uint_ge(parts, result.cycles); /* regions go on beside each other */
    (void)unlink(path);
    nice_plan_terminate(&plan);
    pim_network_destroy(network);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("gathered");
    TCase *tests = tcase_create("gathered");
    tcase_add_loop_test(tests, plans_end_when_they_are_estimated_to, 0,
                        PIM_CASES(sizeof jobs / sizeof jobs[0]));
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
