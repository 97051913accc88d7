/*
 * The estimate ranks mappings as the simulation does: Spearman's rank correlation over random cuts of all
 * products, numbers of nodes of a copy, and layouts. Nothing of the estimate was chosen with these mappings.
 */
#include "mappers/nicepim/map/make_plan.h"
#include "mappers/nicepim/map/program/emit.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "models/system/system.h"
#include "sim/random.h"
#include "tests/unit/nicepim/suites.h"
#include "traces/file/reader.h"
#include "traces/file/writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DRAWS = 200 };

static const struct set {
    const char *network, *hardware;
    uint64_t seed;
} sets[] = {{"vgg8", "nicepim-4x4", 0x72616e6b31}, {"vgg8", "nicepim-4x8", 0x72616e6b32}};

struct ranking {
    struct pim_hardware hardware;
    struct pim_estimate_hardware nodes;
    struct pim_network *network;
    struct nice_plan plan;
    char path[64];
};

static void check(enum pim_status status, const struct pim_error *error)
{
    ck_assert_msg(status == PIM_OK, "%s", error->text);
}

static void begin(struct ranking *r, const struct set *set)
{
    struct pim_configuration *configuration;
    struct pim_error error = {0};
    char path[512], name[96];
    check(pim_configuration_create(&pim_hardware_schema, &configuration, &error), &error);
    (void)snprintf(name, sizeof name, "configs/hardware/%s.cfg", set->hardware);
    pimsim_source_path(path, sizeof path, name);
    check(pim_configuration_read_file(configuration, path, &error), &error);
    check(pim_hardware_read(configuration, &r->hardware, &error), &error);
    const struct pim_machine_network network = {.fixed = (int64_t)r->hardware.node.zero_load.fixed,
                                                .per_router = r->hardware.node.zero_load.per_router};
    check(pim_machine_nodes_read(configuration, &network, &r->nodes, &error), &error);
    pim_configuration_destroy(configuration);
    (void)snprintf(name, sizeof name, "configs/networks/%s.cfg", set->network);
    pimsim_source_path(path, sizeof path, name);
    check(pim_network_read(path, NULL, 0, &r->network, &error), &error);
    const struct nice_request request = {.network = r->network,
                                         .hardware = &r->nodes,
                                         .batch = 1,
                                         .capacity = r->nodes.memory_bytes,
                                         .copy_limit = UINT64_MAX,
                                         .method = NICE_SERIAL,
                                         .weights = {.cycles = 1}};
    check(nice_plan_make(&request, &r->plan, &error), &error);
    (void)snprintf(r->path, sizeof r->path, "test_nicepim_rank_%ld.bin", (long)getpid());
}

/* One cut of many, each as likely. */
struct draw {
    struct pim_random *random;
    uint32_t seen;
    struct pim_cut cut;
};

static bool see_cut(void *context, const struct pim_cut *cut)
{
    struct draw *draw = context;
    if (pim_random_below(draw->random, ++draw->seen) == 0)
        draw->cut = *cut;
    return true;
}

static bool has_tiles(const struct ranking *r, uint32_t layer, const struct pim_cut *cut)
{
    struct pim_part part;
    struct tile_product product;
    struct tiling tiling;
    pim_cut_part(&r->plan.flow.operation[layer].conv, cut, 0, 0, &part);
    return nice_tile_product(&r->plan, layer, cut, &part, &product) &&
           tile_choose(&r->nodes, &product, &r->plan.weights, &tiling);
}

static void draw_mapping(struct ranking *r, struct pim_random *random)
{
    struct nice_plan *plan = &r->plan;
    uint32_t g = 1u << pim_random_below(random, 6);
    struct pim_map_layout layout = {pim_random_below(random, 2) ? PIM_LAYOUT_BHWC : PIM_LAYOUT_BCHW, g};
    layout.group = layout.order == PIM_LAYOUT_BHWC ? 1 : g;
    for (uint32_t i = 0; i < plan->flow.count; i++)
        plan->layout[i] = layout;
    for (uint32_t i = 0; i < plan->flow.count; i++) {
        const struct flow_operation *operation = &plan->flow.operation[i];
        struct nice_decision *decision = &plan->decision[i];
        struct draw draw = {.random = random};
        if (operation->kind != FLOW_PRODUCT)
            continue;
        pim_cuts_walk(r->nodes.height, r->nodes.width, operation->conv.length, see_cut, &draw);
        ck_assert(draw.seen > 0 && has_tiles(r, i, &draw.cut));
        uint32_t needing = 1;
        for (size_t loop = PIM_LOOP_B; loop <= PIM_LOOP_Q; loop++)
            needing *= draw.cut.high[loop] * draw.cut.wide[loop];
        decision->cut = draw.cut;
        decision->region = (struct nice_region){0, 0, r->nodes.width, r->nodes.height};
        do
            decision->sharing = 1 + (uint32_t)pim_random_below(random, needing);
        while (needing % decision->sharing != 0);
    }
}

static uint64_t simulate(struct ranking *r, uint64_t *estimate)
{
    struct pim_error error = {0};
    struct pim_trace_writer *writer;
    struct pim_trace *trace;
    struct pim_system *system;
    struct pim_run_result result;
    struct nice_result made;
    const struct pim_system_options run = {.until_cycle = PIM_UNTIL_END, .quiet = true};
    const struct pim_trace_description description = {.family = "nicepim",
                                                      .width = r->nodes.width,
                                                      .height = r->nodes.height,
                                                      .units = r->nodes.width * r->nodes.height};
    check(pim_trace_writer_create(r->path, &description, &writer, &error), &error);
    check(nice_emit(&r->plan, writer, &made, &error), &error);
    check(pim_trace_writer_finish(writer, &error), &error);
    check(pim_trace_open(r->path, &trace, &error), &error);
    check(pim_system_create(&r->hardware, trace, &run, &system, &error), &error);
    check(pim_system_run(system, &error), &error);
    check(pim_system_collect(system, &result, &error), &error);
    uint64_t cycles = result.cycles;
    *estimate = made.cycles;
    pim_run_result_terminate(&result);
    pim_system_destroy(system);
    pim_trace_close(trace);
    return cycles;
}

/* Ranks from 0, twice: equal values share the mean of theirs. */
static double rank_of(const uint64_t *value, unsigned index)
{
    unsigned below = 0, equal = 0;
    for (unsigned i = 0; i < DRAWS; i++) {
        below += value[i] < value[index];
        equal += value[i] == value[index];
    }
    return 2.0 * below + equal - 1 - (DRAWS - 1);
}

static double correlate(const uint64_t *a, const uint64_t *b)
{
    double both = 0, first = 0, second = 0;
    for (unsigned i = 0; i < DRAWS; i++) {
        double x = rank_of(a, i), y = rank_of(b, i);
        both += x * y;
        first += x * x;
        second += y * y;
    }
    return both / sqrt(first * second);
}

START_TEST(estimates_rank_random_mappings_as_cycles_do)
{
    static struct ranking r;
    struct pim_random random;
    uint64_t estimates[DRAWS], cycles[DRAWS];
    double least = 1e9, most = 0;
    memset(&r, 0, sizeof r);
    begin(&r, &sets[_i]);
    pim_random_initialize(&random, sets[_i].seed);
    for (unsigned i = 0; i < DRAWS; i++) {
        draw_mapping(&r, &random);
        cycles[i] = simulate(&r, &estimates[i]);
        double ratio = (double)estimates[i] / (double)cycles[i];
        least = ratio < least ? ratio : least;
        most = ratio > most ? ratio : most;
    }
    double correlation = correlate(estimates, cycles);
    printf("%s on %s: rank correlation %.3f, estimate %.2f to %.2f of the cycles\n", sets[_i].network,
           sets[_i].hardware, correlation, least, most);
    ck_assert_double_ge(correlation, 0.9);
    (void)unlink(r.path);
    nice_plan_terminate(&r.plan);
    pim_network_destroy(r.network);
}
END_TEST

static Suite *rank_suite(void)
{
    Suite *suite = suite_create("rank");
    TCase *tests = tcase_create("rank");
    tcase_add_loop_test(tests, estimates_rank_random_mappings_as_cycles_do, 0,
                        (int)(sizeof sets / sizeof sets[0]));
    suite_add_tcase(suite, tests);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, rank_suite());
}
