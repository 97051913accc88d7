/*
 * The estimate ranks layouts as the simulation does: Spearman's rank correlation over random layouts, from
 * one replica each to full cores, half of them random walks, half climbs. The form of the estimate was chosen
 * with those of resnet18 on Arch-A, seed 42; the others had no part in it.
 */
#include "mappers/learn/correlation.h"
#include "mappers/pimcomp/cost/timing.h"
#include "mappers/pimcomp/layout/chromosome.h"
#include "mappers/pimcomp/schedule/schedule.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "models/system/system.h"
#include "tests/unit/pimcomp/cases.h"
#include "traces/file/reader.h"
#include "traces/file/writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LAYOUTS_MOST = 200, BEST = 50 };

static const struct set {
    const char *network, *sets, *hardware;
    enum pim_core_mode mode;
    unsigned layouts, seed;
} sets[] = {
    {"resnet18", "network.image=32", "arch-a", PIM_CORE_HIGH_THROUGHPUT, 200, 42},
    {"resnet18", "network.image=32", "arch-a", PIM_CORE_HIGH_THROUGHPUT, 60, 301},
    {"squeezenet", "network.image=64", "arch-b", PIM_CORE_HIGH_THROUGHPUT, 60, 302},
    {"vgg8", "network.image=32", "arch-c", PIM_CORE_HIGH_THROUGHPUT, 60, 303},
    {"resnet18", "network.image=32", "arch-a", PIM_CORE_LOW_LATENCY, 200, 42},
    {"vgg8", "network.image=32", "arch-c", PIM_CORE_LOW_LATENCY, 60, 304},
};

enum { SETS = sizeof sets / sizeof sets[0] };

struct ranking {
    struct core_case c;
    struct pim_hardware hardware;
    struct pim_gene_space space;
    struct pim_gene_workshop workshop;
    struct pim_chromosome x, y;
    char path[64];
};

static void check(enum pim_status status, const struct pim_error *error)
{
    ck_assert_msg(status == PIM_OK, "%s", error->text);
}

static void begin(struct ranking *r, const struct set *set)
{
    enum pim_core_mode mode = set->mode;
    struct pim_configuration *configuration;
    struct pim_error error;
    char path[512], name[96];
    core_case_begin(&r->c);
    check(pim_configuration_create(&pim_hardware_schema, &configuration, &error), &error);
    (void)snprintf(name, sizeof name, "configs/hardware/pimcomp-%s.cfg", set->hardware);
    pimsim_source_path(path, sizeof path, name);
    check(pim_configuration_read_file(configuration, path, &error), &error);
    check(pim_hardware_read(configuration, &r->hardware, &error), &error);
    const struct pim_machine_network way = {.fixed = (int64_t)r->hardware.node.zero_load.fixed,
                                            .per_router = r->hardware.node.zero_load.per_router,
                                            .order = PIM_MACHINE_X_FIRST};
    check(pim_core_architecture_read(configuration, &way, &r->c.architecture, &error), &error);
    pim_configuration_destroy(configuration);
    core_case_network(&r->c, set->network, set->sets);
    core_case_map(&r->c, mode, PIM_UNFOLDINGS, NULL);
    struct pim_arena *arena = &r->c.arena;
    check(pim_gene_space_make(&r->c.mapping, 32, arena, &r->space, &error), &error);
    check(pim_gene_workshop_make(&r->space, arena, &r->workshop, &error), &error);
    check(pim_chromosome_make(&r->space, arena, &r->x, &error), &error);
    check(pim_chromosome_make(&r->space, arena, &r->y, &error), &error);
    (void)snprintf(r->path, sizeof r->path, "test_rank_%ld.bin", (long)getpid());
}

/* A layout after 1 to 4095 mutations of the first one, all of them or only those that gain. */
static void make_layout(struct ranking *r, struct pim_random *random, bool climb)
{
    uint64_t mutations = UINT64_C(1) << pim_random_below(random, 12);
    mutations += pim_random_below(random, mutations);
    ck_assert(pim_chromosome_first(&r->space, &r->x));
    pim_chromosome_weigh(&r->space, &r->workshop, &r->x);
    for (uint64_t i = 0; i < mutations; i++) {
        pim_chromosome_copy(&r->space, &r->y, &r->x);
        (void)pim_chromosome_mutate(&r->space, &r->workshop, &r->y, random);
        pim_chromosome_weigh(&r->space, &r->workshop, &r->y);
        if (!climb || r->y.cycles < r->x.cycles ||
            (r->y.cycles == r->x.cycles && r->y.spread < r->x.spread)) {
            struct pim_chromosome other = r->x;
            r->x = r->y;
            r->y = other;
        }
    }
}

/* Cycles of the simulated program of r->x, and what its timing estimates. */
static void simulate(struct ranking *r, double *simulated, double *timed)
{
    struct pim_error error;
    struct pim_arena arena;
    struct pim_trace_writer *writer;
    struct pim_trace *trace;
    struct pim_core_memory_map map;
    struct pim_system *system;
    struct pim_run_result result;
    struct pim_core_timing *timing;
    uint64_t estimate, parts[PIM_ESTIMATE_PARTS];
    const struct pim_system_options run = {.until_cycle = PIM_UNTIL_END, .quiet = true};
    const struct pim_core_architecture *a = &r->c.architecture;
    const struct pim_trace_description description = {
        .family = "pimcomp", .width = a->width, .height = a->height, .units = a->cores};
    pim_arena_initialize(&arena, 0);
    check(pim_chromosome_layout(&r->space, &r->x, NULL, &arena, &r->c.layout, &error), &error);
    check(pim_trace_writer_create(r->path, &description, &writer, &error), &error);
    timing = pim_core_timing_create(&r->c.mapping);
    ck_assert_ptr_nonnull(timing);
    const struct pim_core_schedule_options options = {.observe = pim_core_timing_observe, .observer = timing};
    check(pim_core_schedule(&r->c.mapping, writer, &options, &arena, &map, &error), &error);
    check(pim_core_timing_report(timing, writer, &estimate, parts, &error), &error);
    pim_core_timing_destroy(timing);
    check(pim_trace_writer_finish(writer, &error), &error);
    check(pim_trace_open(r->path, &trace, &error), &error);
    check(pim_system_create(&r->hardware, trace, &run, &system, &error), &error);
    check(pim_system_run(system, &error), &error);
    check(pim_system_collect(system, &result, &error), &error);
    *simulated = (double)result.cycles;
    *timed = (double)estimate;
    pim_run_result_terminate(&result);
    pim_system_destroy(system);
    pim_trace_close(trace);
    pim_arena_terminate(&arena);
}

/* Spearman's. */
static double correlate(const double *a, const double *b, unsigned count)
{
    struct pim_error error;
    double correlation;
    check(pim_rank_correlation(count, a, b, &correlation, &error), &error);
    return correlation;
}

/* The rank correlation of those with the fewest simulated cycles. */
static double correlate_best(const double *a, const double *b, unsigned count)
{
    double x[BEST], y[BEST];
    unsigned kept = 0;
    for (unsigned i = 0; i < count && kept < BEST; i++) {
        unsigned before = 0;
        for (unsigned j = 0; j < count; j++)
            before += b[j] < b[i] || (b[j] == b[i] && j < i);
        if (before < BEST) {
            x[kept] = a[i];
            y[kept++] = b[i];
        }
    }
    return correlate(x, y, kept);
}

START_TEST(rank)
{
    const struct set *set = &sets[_i];
    static double estimated[LAYOUTS_MOST], simulated[LAYOUTS_MOST], timed[LAYOUTS_MOST];
    struct ranking *r = calloc(1, sizeof *r);
    struct pim_random random;
    ck_assert_ptr_nonnull(r);
    pim_random_initialize(&random, set->seed);
    begin(r, set);
    for (unsigned i = 0; i < set->layouts; i++) {
        make_layout(r, &random, i % 2);
        estimated[i] = (double)r->x.cycles;
        simulate(r, &simulated[i], &timed[i]);
        ck_assert_msg(fabs(timed[i] - simulated[i]) <= 0.03 * simulated[i],
                      "%s on %s, layout %u: %.0f cycles estimated, %.0f simulated", set->network,
                      set->hardware, i, timed[i], simulated[i]);
    }
    double correlation = correlate(estimated, simulated, set->layouts);
    const char *mode = set->mode == PIM_CORE_LOW_LATENCY ? "low latency" : "high throughput";
    printf("%s on %s, %s, seed %u: rank correlation %.4f over %u layouts\n", set->network, set->hardware,
           mode, set->seed, correlation, set->layouts);
    ck_assert_msg(correlation >= 0.9, "%s on %s, %s, seed %u: rank correlation %.4f", set->network,
                  set->hardware, mode, set->seed, correlation);
    double near = correlate_best(timed, simulated, set->layouts);
    printf("timing: rank correlation %.4f over all, %.4f over the best %d\n",
           correlate(timed, simulated, set->layouts), near, BEST);
    ck_assert_msg(near >= 0.95, "%s on %s, %s, seed %u: rank correlation %.4f of the timing of the best %d",
                  set->network, set->hardware, mode, set->seed, near, BEST);
    (void)remove(r->path);
    core_case_end(&r->c);
    free(r);
}
END_TEST

/* Those of a mode. */
static Suite *suite_of(const char *name, enum pim_core_mode mode)
{
    Suite *suite = suite_create(name);
    TCase *t = tcase_create(name);
    for (int i = 0; i < SETS; i++)
        if (sets[i].mode == mode)
            tcase_add_loop_test(t, rank, i, i + 1);
    suite_add_tcase(suite, t);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, suite_of("rank_high_throughput", PIM_CORE_HIGH_THROUGHPUT));
    srunner_add_suite(runner, suite_of("rank_low_latency", PIM_CORE_LOW_LATENCY));
}
