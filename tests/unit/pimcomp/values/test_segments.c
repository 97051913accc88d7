/* Networks larger than the chip: segments whose weights are written one after the other, executed with
 * numbers; and the cut, held against all cuts and against the rule of thumb. */
#include "mappers/pimcomp/check/check_values.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/segmented.h"
#include "mappers/pimcomp/segments/segments.h"
#include "mappers/search/workers.h"
#include "models/system/report/steps.h"
#include "tests/unit/pimcomp/values/forms.h"
#include "tests/unit/pimcomp/values/functional.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct setup {
    enum pim_core_mode mode;
    uint32_t cores, arrays, samples;
    uint64_t local_bytes;
    bool in_order;
};

struct segmented {
    struct pim_arena arena;
    struct pim_core_architecture architecture;
    struct pim_core_network lowered, network;
    struct pim_core_segment_problem problem;
    struct pim_core_segments segments;
    struct pim_error error;
};

static struct pim_core_architecture chip(const struct setup *s)
{
    struct pim_core_architecture a = net_architecture(s->cores, s->arrays, 16, 8, s->local_bytes);
    a.in_order = s->in_order;
    a.synchronous = true;
    a.window = 64;
    a.packet_bytes = 4096;
    a.write_row_cycles = 7;
    return a;
}

static enum pim_status cut_network(struct segmented *m, const struct net *net, const struct setup *s,
                                   bool greedy)
{
    m->architecture = chip(s);
    m->problem = (struct pim_core_segment_problem){.architecture = &m->architecture,
                                                   .network = &m->network,
                                                   .forced = PIM_UNFOLDINGS,
                                                   .mode = s->mode,
                                                   .samples = s->samples};
    if (pim_core_network_lower(&net->graph, "net", &m->arena, &m->lowered, &m->error) != PIM_OK ||
        pim_core_segments_split(&m->lowered, &m->problem, &m->arena, &m->network, &m->error) != PIM_OK)
        return m->error.status;
    return pim_core_segments_cut(&m->problem, greedy, &m->arena, &m->segments, &m->error);
}

static uint64_t cycles_of(const struct pim_core_segments *segments)
{
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < segments->count; i++)
        cycles += segments->segment[i].cycles;
    return cycles;
}

/* The groups of each set of a core fit into its arrays, and there are as many sets as segments. */
static void check_sets(const struct segmented *m, const struct pim_trace *trace)
{
    uint32_t sets = 0;
    for (uint32_t core = 0; core < m->architecture.cores; core++) {
        uint32_t groups, arrays = 0;
        const struct pim_trace_array_group *group = pim_trace_array_groups(trace, core, &groups);
        for (uint32_t i = 0; i < groups; i++) {
            arrays = i > 0 && group[i].set == group[i - 1].set ? arrays + group[i].arrays : group[i].arrays;
            ck_assert_uint_le(arrays, m->architecture.arrays);
            ck_assert_uint_gt(group[i].set, 0);
            sets = group[i].set > sets ? group[i].set : sets;
        }
    }
    ck_assert_uint_eq(sets, m->segments.count);
}

/* No two phases have the same name, and a step (the last part of a name) is of one segment: either its
 * writing or its rounds. */
static void check_phases(const struct segmented *m, const struct pim_trace *trace)
{
    const char *work = m->problem.mode == PIM_CORE_LOW_LATENCY ? "inference" : "rounds";
    const uint32_t phases = pim_trace_phases(trace);
    uint32_t segment = 0, works = 0;
    for (uint32_t i = 0; i < phases; i++) {
        const char *name = pim_trace_phase(trace, i)->name;
        char expected[64];
        for (uint32_t other = 0; other < i; other++)
            ck_assert_str_ne(name, pim_trace_phase(trace, other)->name);
        (void)snprintf(expected, sizeof expected, "weights of segment %" PRIu32, segment);
        if (strcmp(name, expected) == 0) {
            ck_assert_msg(segment == 0 || works > 0, "segment %" PRIu32 " does nothing", segment - 1);
            segment++;
            works = 0;
            continue;
        }
        ck_assert_uint_gt(segment, 0);
        (void)snprintf(expected, sizeof expected, "%s of segment %" PRIu32, work, segment - 1);
        ck_assert_str_eq(pim_step_name(name), expected);
        works++;
    }
    ck_assert_uint_gt(works, 0);
    ck_assert_uint_eq(segment, m->segments.count);
}

/* Schedules, executes and compares. */
static enum pim_status prove(struct segmented *m, const struct net *net, const struct setup *s, uint64_t seed,
                             struct pim_core_schedule_report *report)
{
    char path[64];
    struct pim_trace_writer *writer;
    struct pim_trace *trace;
    struct pim_core_memory_map map;
    struct pim_core_check_result result;
    struct pim_core_partition partition;
    struct pim_core_layout layout;
    const struct pim_trace_description description = {
        .family = "pimcomp", .configuration = "", .width = s->cores, .height = 1, .units = s->cores};
    const struct pim_core_schedule_options options = {
        .batch = s->mode == PIM_CORE_HIGH_THROUGHPUT ? s->samples : 0, .report = report};
    const struct pim_core_check_options check = {
        .samples = s->samples, .seed = seed, .window = s->in_order ? 1 : 12};
    const struct pim_core_mapping mapping = {.architecture = &m->architecture,
                                             .network = &m->network,
                                             .partition = &partition,
                                             .layout = &layout,
                                             .mode = s->mode};
    (void)snprintf(path, sizeof path, "segments-%ld.bin", (long)getpid());
    if (pim_core_segments_join(&m->problem, &m->segments, &m->arena, &partition, &layout, &m->error) !=
            PIM_OK ||
        pim_trace_writer_create(path, &description, &writer, &m->error) != PIM_OK)
        return m->error.status;
    if (pim_core_segments_schedule(&m->problem, &m->segments, writer, &options, &m->arena, &map, &m->error) !=
        PIM_OK) {
        pim_trace_writer_abandon(writer);
        return m->error.status;
    }
    if (pim_trace_writer_finish(writer, &m->error) != PIM_OK ||
        pim_trace_open(path, &trace, &m->error) != PIM_OK)
        return m->error.status;
    check_sets(m, trace);
    check_phases(m, trace);
    enum pim_status status =
        pim_core_check_values(&net->graph, &mapping, &map, trace, &check, &result, &m->error);
    pim_trace_close(trace);
    (void)unlink(path);
    if (status == PIM_OK && (result.layers == 0 || result.elements == 0))
        status = pim_fail(&m->error, PIM_INTERNAL, "nothing was compared");
    return status;
}

/* Small networks on chips that are too small for them, both modes: every number is right. */
START_TEST(values_of_random_networks)
{
    unsigned several = 0, right = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct net net;
        struct pim_random random;
        pim_random_initialize(&random, 6 * (uint64_t)_i + seed);
        net_initialize(&net);
        net_random(&net, &random);
        const struct setup setup = {
            .mode = (unsigned)_i % 2 ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT,
            .cores = 2 + (uint32_t)pim_random_below(&random, 3),
            .arrays = 2 + (uint32_t)pim_random_below(&random, 5),
            .samples = (unsigned)_i % 2 ? 1 : 1 + (uint32_t)pim_random_below(&random, 4),
            .local_bytes = 1 << 16,
            .in_order = pim_random_below(&random, 2)};
        struct segmented m = {.segments = {.count = 0}};
        struct pim_core_schedule_report report;
        pim_arena_initialize(&m.arena, 0);
        enum pim_status status = cut_network(&m, &net, &setup, false);
        if (status == PIM_OK)
            status = prove(&m, &net, &setup, seed, &report);
        bool small = status == PIM_BAD_INPUT && (strstr(m.error.text, "arrays") != NULL ||
                                                 strstr(m.error.text, "local_memory_bytes") != NULL ||
                                                 strstr(m.error.text, "no weights") != NULL);
        ck_assert_msg(status == PIM_OK || small, "net %d, seed %" PRIu64 ": %s", _i, seed, m.error.text);
        if (small)
            printf("net %d, seed %" PRIu64 ": %s\n", _i, seed, m.error.text);
        right += status == PIM_OK;
        several += status == PIM_OK && m.segments.count > 1;
        pim_arena_terminate(&m.arena);
        net_terminate(&net);
    }
    ck_assert_uint_ge(right, 3);
    ck_assert_uint_ge(several, 2);
}
END_TEST

/* A classifier whose first layer is several times the chip: in parts, each with its own bias and weights. */
static void classifier(struct net *net)
{
    uint32_t layer = net_convolution(net, net_input(net, 3, 4, 4), 9, 3, 1, 1, 1, true);
    layer = net_activation(net, layer, PIM_ACTIVATION_RELU);
    layer = net_convolution(net, layer, 58, 3, 1, 0, 1, true); /* wide, too */
    layer = net_convolution(net, layer, 36, 1, 1, 0, 1, true);
    layer = net_linear(net, net_flatten(net, layer), 61, true);
    layer = net_activation(net, layer, PIM_ACTIVATION_RELU);
    (void)net_linear(net, layer, 10, true);
}

START_TEST(wide_layers_in_parts)
{
    for (int low = 0; low < 2; low++) {
        const struct setup setup = {.mode = low ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT,
                                    .cores = 3,
                                    .arrays = 7,
                                    .samples = low ? 1 : 3,
                                    .local_bytes = 1 << 15};
        struct net net;
        struct segmented m = {.segments = {.count = 0}};
        struct pim_core_schedule_report report;
        pim_arena_initialize(&m.arena, 0);
        net_initialize(&net);
        classifier(&net);
        ck_assert_msg(cut_network(&m, &net, &setup, false) == PIM_OK, "%s", m.error.text);
        ck_assert_msg(prove(&m, &net, &setup, 5, &report) == PIM_OK, "%s", m.error.text);
        ck_assert_uint_gt(m.network.count, m.lowered.count + 2);
        ck_assert_uint_gt(m.segments.count, 4);
        uint64_t weights = 27 * 9 + 81 * 58 + 58 * 36 + 144 * 61 + 61 * 10; /* of one replica */
        ck_assert_uint_ge(report.counts.weight_bytes, 2 * weights);
        uint64_t written = 0;
        for (uint32_t i = 0; i < m.segments.count; i++)
            written += m.segments.segment[i].weight_bytes;
        ck_assert_uint_eq(report.counts.weight_bytes, written);
        pim_arena_terminate(&m.arena);
        net_terminate(&net);
    }
}
END_TEST

/* Grouped and depthwise convolutions larger than the chip: in parts of some groups each, which read the
 * channels of these alone, of maps that are in parts themselves. */
static void grouped(struct net *net)
{
    uint32_t layer = net_convolution(net, net_input(net, 6, 5, 5), 60, 1, 1, 0, 1, true);
    layer = net_convolution(net, layer, 90, 3, 1, 1, 5, true); /* 12 channels to 18, five times */
    layer = net_activation(net, layer, PIM_ACTIVATION_RELU);
    layer = net_convolution(net, layer, 90, 3, 2, 1, 90, false); /* depthwise */
    layer = net_convolution(net, layer, 14, 3, 1, 0, 2, true);
    (void)net_linear(net, net_flatten(net, layer), 9, true);
}

START_TEST(grouped_layers_in_parts)
{
    for (int low = 0; low < 2; low++) {
        const struct setup setup = {.mode = low ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT,
                                    .cores = 3,
                                    .arrays = 9,
                                    .samples = low ? 1 : 2,
                                    .local_bytes = 1 << 15};
        struct net net;
        struct segmented m = {.segments = {.count = 0}};
        struct pim_core_schedule_report report;
        uint32_t parts = 0, channels = 0;
        pim_arena_initialize(&m.arena, 0);
        net_initialize(&net);
        grouped(&net);
        ck_assert_msg(cut_network(&m, &net, &setup, false) == PIM_OK, "%s", m.error.text);
        for (uint32_t i = 0; i < m.network.count; i++)
            if (m.network.layer[i].matrix_layer == 2 && m.network.layer[i].kind == PIM_CORE_MATRIX) {
                const struct pim_core_layer *layer = &m.network.layer[i];
                ck_assert_uint_eq(layer->first_channel, channels);
                ck_assert_uint_eq(layer->channels, 18 * layer->blocks);
                ck_assert_uint_eq(layer->source[0].channels, 12 * layer->blocks);
                channels += layer->channels;
                parts++;
            }
        ck_assert_uint_eq(channels, 90);
        ck_assert_uint_gt(parts, 1);
        ck_assert_msg(prove(&m, &net, &setup, 11, &report) == PIM_OK, "%s", m.error.text);
        pim_arena_terminate(&m.arena);
        net_terminate(&net);
    }
}
END_TEST

/* Rows of weights whose length is no multiple of the steps in which local memory is given out. */
START_TEST(odd_rows_of_weights)
{
    static const uint64_t places[] = {26, 56, 81}; /* of one row, of two, of three and a little */
    const struct setup setup = {.cores = 2, .arrays = 4, .samples = 1, .local_bytes = 64 + 8 * places[_i]};
    struct net net;
    struct segmented m = {.segments = {.count = 0}};
    struct pim_core_schedule_report report;
    pim_arena_initialize(&m.arena, 0);
    net_initialize(&net);
    uint32_t layer = net_linear(&net, net_flatten(&net, net_input(&net, 4, 1, 1)), 13, true);
    for (unsigned i = 0; i < 4; i++)
        layer = net_linear(&net, layer, 13, true);
    ck_assert_msg(cut_network(&m, &net, &setup, false) == PIM_OK, "%s", m.error.text);
    ck_assert_msg(prove(&m, &net, &setup, 3, &report) == PIM_OK, "%s", m.error.text);
    ck_assert_uint_gt(m.segments.count, 1);
    pim_arena_terminate(&m.arena);
    net_terminate(&net);
}
END_TEST

/* What a segment costs, by hand: loads over all memories or the rows of the highest group; every sample, and
 * rounds that fill the pipeline. */
START_TEST(costs_by_hand)
{
    struct net net;
    struct pim_arena arena;
    struct pim_core_network network;
    struct pim_error error = {0};
    const struct setup setup = {.cores = 4, .arrays = 64};
    struct pim_core_architecture a = chip(&setup);
    pim_arena_initialize(&arena, 0);
    net_initialize(&net);
    uint32_t layer = net_convolution(&net, net_input(&net, 2, 3, 3), 5, 1, 1, 0, 1, true); /* 2 x 5 */
    layer = net_convolution(&net, layer, 7, 1, 1, 0, 1, true);                             /* 5 x 7 */
    (void)net_linear(&net, net_flatten(&net, layer), 3, true);                             /* 63 x 3 */
    ck_assert_int_eq(pim_core_network_lower(&net.graph, "net", &arena, &network, &error), PIM_OK);
    for (unsigned i = 0; i < 8; i++) {
        const struct pim_core_segment_problem problem = {.architecture = &a,
                                                         .network = &network,
                                                         .forced = PIM_UNFOLDINGS,
                                                         .mode = i & 1 ? PIM_CORE_LOW_LATENCY
                                                                       : PIM_CORE_HIGH_THROUGHPUT,
                                                         .samples = i & 1 ? 1 : 5};
        struct pim_core_segment segment, other;
        a.chip_width = i & 2 ? 2 : 4;
        a.write_row_cycles = i & 4 ? 1 : 20;
        ck_assert_int_eq(pim_core_segment_make(&problem, 0, network.count, &arena, &segment, &error), PIM_OK);
        uint64_t bytes = 0, memories = i & 2 ? 2 : 1;
        for (uint32_t l = 0; l < network.count; l++)
            bytes += 2u * network.layer[l].rows * network.layer[l].channels *
                     segment.layout.layer[l].replicas; /* of no layer without a matrix: no replicas */
        uint64_t loads = (bytes + 32 * memories - 1) / (32 * memories), writes = 16 * a.write_row_cycles;
        ck_assert_uint_eq(segment.weight_bytes, bytes);
        ck_assert_uint_eq(segment.write_cycles, loads > writes ? loads : writes);
        ck_assert_uint_eq(segment.cycles,
                          segment.write_cycles + (i & 1 ? 1 : 5 + 3 - 1) * segment.round_cycles);
        other = segment;
        const struct pim_core_mapping mapping = pim_core_segment_mapping(&problem, &segment);
        for (int rule = 0; rule < 2; rule++) {
            ck_assert_int_eq((rule ? pim_core_layout_first : pim_core_layout_balance)(&mapping, &arena,
                                                                                      &other.layout, &error),
                             PIM_OK);
            ck_assert_int_eq(pim_core_segment_weigh(&problem, &other, &error), PIM_OK);
            ck_assert_uint_le(segment.cycles, other.cycles);
        }
    }
    pim_arena_terminate(&arena);
    net_terminate(&net);
}
END_TEST

/* The least sum over all cuts from layer `begin` on. */
static uint64_t least(const struct pim_core_segment_problem *problem, uint32_t begin)
{
    const struct pim_core_network *network = problem->network;
    uint64_t best = UINT64_MAX;
    if (begin == network->count)
        return 0;
    for (uint32_t end = begin + 1; end <= network->count; end++) {
        struct pim_arena arena;
        struct pim_core_segment segment;
        struct pim_error error = {PIM_OK, ""};
        bool any = false, rest = end == network->count;
        for (uint32_t i = begin; i < end; i++)
            any = any || network->layer[i].kind == PIM_CORE_MATRIX;
        for (uint32_t i = end; i < network->count; i++)
            rest = rest || network->layer[i].kind == PIM_CORE_MATRIX;
        if (!any || !rest)
            continue;
        pim_arena_initialize(&arena, 0);
        if (pim_core_segment_make(problem, begin, end, &arena, &segment, &error) == PIM_OK) {
            uint64_t others = least(problem, end);
            if (others != UINT64_MAX && segment.cycles + others < best)
                best = segment.cycles + others;
        }
        pim_arena_terminate(&arena);
    }
    return best;
}

static void tower(struct net *net)
{
    uint32_t layer = net_input(net, 3, 8, 8);
    for (uint32_t i = 0; i < 6; i++) {
        layer = net_convolution(net, layer, 6 + 5 * (i % 3), 3, 1, 1, 1, true);
        if (i == 2)
            layer = net_pooling(net, layer, PIM_POOLING_MAXIMUM, 2, 2, 0, false);
    }
}

START_TEST(the_cut_is_the_best_of_all)
{
    for (uint32_t samples = 1; samples < 40; samples *= 6)
        for (int low = 0; low < 2; low++) {
            const struct setup setup = {.mode = low ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT,
                                        .cores = 4,
                                        .arrays = 9,
                                        .samples = low ? 1 : samples,
                                        .local_bytes = 1 << 16};
            struct net net;
            struct segmented cut = {.segments = {.count = 0}}, greedy = {.segments = {.count = 0}};
            pim_arena_initialize(&cut.arena, 0);
            pim_arena_initialize(&greedy.arena, 0);
            net_initialize(&net);
            tower(&net);
            ck_assert_msg(cut_network(&cut, &net, &setup, false) == PIM_OK, "%s", cut.error.text);
            ck_assert_msg(cut_network(&greedy, &net, &setup, true) == PIM_OK, "%s", greedy.error.text);
            ck_assert_uint_gt(cut.segments.count, 1);
            ck_assert_uint_eq(cycles_of(&cut.segments), least(&cut.problem, 0));
            ck_assert_uint_le(cycles_of(&cut.segments), cycles_of(&greedy.segments));
            pim_arena_terminate(&cut.arena);
            pim_arena_terminate(&greedy.arena);
            net_terminate(&net);
        }
}
END_TEST

enum { GENERATIONS = 5, ENDLESS = 1000000, TOO_LONG = 200000 };

static enum pim_status count_timed(void *observer, const struct pim_core_mapping *mapping,
                                   const struct pim_core_candidate *candidate, struct pim_error *error)
{
    (void)mapping, (void)candidate, (void)error;
    ++*(uint32_t *)observer;
    return PIM_OK;
}

/* Ends what goes on without end, in place of the limit that should have. */
static bool takes_too_long(void *context)
{
    return ++*(uint32_t *)context > TOO_LONG;
}

static const struct limit_case {
    double search, timing; /* seconds; 0: none. Those of the timing are over when it begins. */
    uint32_t generations;
    enum pim_core_mode mode;
} limit_cases[] = {
    {0, 0, GENERATIONS, PIM_CORE_LOW_LATENCY},      {0, 0, GENERATIONS, PIM_CORE_HIGH_THROUGHPUT},
    {1e-9, 0, ENDLESS, PIM_CORE_LOW_LATENCY},       {1e-9, 0, ENDLESS, PIM_CORE_HIGH_THROUGHPUT},
    {0, 1e-9, GENERATIONS, PIM_CORE_LOW_LATENCY},   {0, 1e-9, GENERATIONS, PIM_CORE_HIGH_THROUGHPUT},
    {1e-9, 1e-9, ENDLESS, PIM_CORE_HIGH_THROUGHPUT}};

/* A limit that is over ends the search of each segment, and one layout of each is timed; the numbers of what
 * was found by then are right. */
START_TEST(a_time_limit_ends_segments)
{
    const struct limit_case *limit = &limit_cases[_i];
    const bool low = limit->mode == PIM_CORE_LOW_LATENCY;
    const struct setup setup = {
        .mode = limit->mode, .cores = 4, .arrays = 9, .samples = low ? 1 : 2, .local_bytes = 1 << 16};
    struct net net;
    struct segmented m = {.segments = {.count = 0}};
    struct pim_core_schedule_report report;
    struct pim_core_search_result result;
    struct pim_workers *workers;
    uint32_t timed = 0, asked = 0;
    struct pim_core_search_options search = pim_core_search_preset(PIM_PRESET_PAPER);
    search.population = 10;
    search.generations = limit->generations;
    search.seconds = limit->search;
    search.stop = takes_too_long;
    search.context = &asked;
    pim_arena_initialize(&m.arena, 0);
    net_initialize(&net);
    tower(&net);
    ck_assert_msg(cut_network(&m, &net, &setup, false) == PIM_OK, "%s", m.error.text);
    ck_assert_uint_gt(m.segments.count, 1);
    ck_assert_int_eq(pim_workers_create(&workers, 1, &m.error), PIM_OK);
    struct pim_search_limit of_timing;
    pim_search_limit_begin(&of_timing, limit->timing, NULL, NULL);
    of_timing.begin--;
    const struct pim_core_profile_options profiling = {.schedule = {.batch = low ? 0 : setup.samples},
                                                       .workers = workers,
                                                       .limit = &of_timing,
                                                       .timed = count_timed,
                                                       .observer = &timed};
    ck_assert_msg(pim_core_segmented_search(&m.problem, &search, &profiling, 3, &m.arena, &m.segments,
                                            &result, &m.error) == PIM_OK,
                  "%s", m.error.text);
    pim_workers_destroy(workers);
    if (limit->search + limit->timing > 0)
        ck_assert_str_eq(pim_search_end_name(result.end), pim_search_end_name(PIM_SEARCH_TIME));
    else
        ck_assert(result.end != PIM_SEARCH_TIME && result.end != PIM_SEARCH_STOPPED);
    if (limit->search > 0)
        ck_assert_uint_lt(result.generations, TOO_LONG);
    else
        ck_assert_uint_eq(result.generations, GENERATIONS * m.segments.count);
    if (limit->timing > 0)
        ck_assert_uint_eq(timed, m.segments.count);
    else
        ck_assert_uint_ge(timed, 2 * m.segments.count); /* the rule of thumb and the best of the search */
    ck_assert_msg(prove(&m, &net, &setup, 17, &report) == PIM_OK, "%s", m.error.text);
    pim_arena_terminate(&m.arena);
    net_terminate(&net);
}
END_TEST

enum { PARTS_MOST = 64 };

struct part_ends {
    double begin;
    uint32_t count;
    double at[PARTS_MOST]; /* seconds of the clock; of each segment the one layout that is timed */
};

static enum pim_status note_end(void *observer, const struct pim_core_mapping *mapping,
                                const struct pim_core_candidate *candidate, struct pim_error *error)
{
    struct part_ends *ends = observer;
    (void)mapping, (void)candidate, (void)error;
    ck_assert_uint_lt(ends->count, PARTS_MOST);
    ends->at[ends->count++] = pim_search_seconds();
    return PIM_OK;
}

/* True when the last segment still had time when it began. The parts of the limit are the least that the
 * segments take, however busy the machine is. */
static bool last_segment_has_time(double limit)
{
    const struct setup setup = {
        .mode = PIM_CORE_LOW_LATENCY, .cores = 4, .arrays = 9, .samples = 1, .local_bytes = 1 << 16};
    struct net net;
    struct segmented m = {.segments = {.count = 0}};
    struct pim_core_search_result result;
    struct pim_workers *workers;
    struct part_ends ends = {.count = 0};
    struct pim_core_search_options search = pim_core_search_preset(PIM_PRESET_PAPER);
    search.population = 10;
    search.generations = 1000000000;
    search.seconds = limit;
    pim_arena_initialize(&m.arena, 0);
    net_initialize(&net);
    tower(&net);
    ck_assert_msg(cut_network(&m, &net, &setup, false) == PIM_OK, "%s", m.error.text);
    ck_assert_uint_gt(m.segments.count, 2);
    ck_assert_int_eq(pim_workers_create(&workers, 1, &m.error), PIM_OK);
    double before = pim_search_seconds();
    struct pim_search_limit over;
    pim_search_limit_begin(&over, 1e-9, NULL, NULL);
    over.begin--;
    const struct pim_core_profile_options profiling = {
        .workers = workers, .limit = &over, .timed = note_end, .observer = &ends};
    ends.begin = before;
    ck_assert_msg(pim_core_segmented_search(&m.problem, &search, &profiling, 1, &m.arena, &m.segments,
                                            &result, &m.error) == PIM_OK,
                  "%s", m.error.text);
    pim_workers_destroy(workers);
    ck_assert_uint_eq(ends.count, m.segments.count);
    double left = limit;
    for (uint32_t s = 0; s < ends.count; before = ends.at[s++]) {
        left = limit - (before - ends.begin);
        ck_assert_double_ge(ends.at[s] - before, 0.999 * left / (ends.count - s));
    }
    pim_arena_terminate(&m.arena);
    net_terminate(&net);
    return left > 0;
}

/* Each segment has an equal part of what is left of a limit. A busy machine may use up a short one. */
START_TEST(segments_share_a_time_limit)
{
    bool has_time = false;
    for (double limit = 0.1; limit < 10 && !has_time; limit *= 2)
        has_time = last_segment_has_time(limit);
    ck_assert(has_time);
}
END_TEST

/* Too small however it is cut: the message says what is missing. */
START_TEST(what_cannot_be_cut)
{
    const struct setup setup = {.cores = 2, .arrays = 2, .samples = 1, .local_bytes = 1 << 15};
    struct net net;
    struct segmented m = {.segments = {.count = 0}};
    pim_arena_initialize(&m.arena, 0);
    net_initialize(&net);
    (void)net_linear(&net, net_flatten(&net, net_input(&net, 20, 4, 4)), 7, true); /* 20 row blocks */
    ck_assert_int_eq(cut_network(&m, &net, &setup, false), PIM_BAD_INPUT);
    ck_assert_msg(strstr(m.error.text, "not even a single column of arrays of its matrix fits: ") &&
                      strstr(m.error.text, "20 arrays of 16 x 8 weights, the 2 cores have 4: 16 arrays"),
                  "%s", m.error.text);
    pim_arena_terminate(&m.arena);
    net_terminate(&net);
}
END_TEST

Suite *segments_suite(void)
{
    Suite *suite = suite_create("segments");
    TCase *tests = tcase_create("segments");
    tcase_add_loop_test(tests, values_of_random_networks, 0, PIM_CASES(12));
    tcase_add_test(tests, wide_layers_in_parts);
    tcase_add_test(tests, grouped_layers_in_parts);
    tcase_add_loop_test(tests, odd_rows_of_weights, 0, 3);
    tcase_add_test(tests, costs_by_hand);
    tcase_add_test(tests, the_cut_is_the_best_of_all);
    tcase_add_loop_test(tests, a_time_limit_ends_segments, 0,
                        (int)(sizeof limit_cases / sizeof limit_cases[0]));
    tcase_add_test(tests, segments_share_a_time_limit);
    tcase_add_test(tests, what_cannot_be_cut);
    suite_add_tcase(suite, tests);
    return suite;
}
