/*
 * The proof of the PIMCOMP front-end: networks are mapped, their programs are executed with real numbers, and
 * every map in the global memory is that of the direct evaluation (mappers/pimcomp/check/check_values.h).
 *
 * A failure prints the seed of the network and the setup: `one_case` runs it alone.
 */
#include "mappers/pimcomp/check/check_values.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/partition/partition.h"
#include "mappers/pimcomp/schedule/schedule.h"
#include "tests/unit/pimcomp/values/forms.h"
#include "tests/unit/pimcomp/values/functional.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum lay { LAY_FIRST, LAY_BALANCE, LAY_RANDOM, LAY_WHOLE_CORES };

struct setup {
    enum pim_core_mode mode;
    bool in_order, synchronous, no_grouping, no_keeping;
    enum lay lay;
    enum pim_core_reuse reuse;
    enum pim_unfolding unfolding; /* PIM_UNFOLDINGS: greedy */
    uint32_t batch;               /* high throughput */
    uint32_t threshold;           /* low latency */
    uint32_t cores, arrays, rows, columns;
    uint64_t local_bytes;
    uint64_t seed;
};

static const struct setup plain = {.mode = PIM_CORE_HIGH_THROUGHPUT,
                                   .synchronous = true,
                                   .unfolding = PIM_UNFOLDINGS,
                                   .batch = 1,
                                   .cores = 3,
                                   .arrays = 24,
                                   .rows = 16,
                                   .columns = 8,
                                   .local_bytes = 1 << 16};

static const char *describe(const struct setup *s, char *text, size_t size)
{
    (void)snprintf(text, size,
                   "mode %d, in_order %d, synchronous %d, no_grouping %d, no_keeping %d, lay %d, reuse %d, "
                   "unfolding %d, batch %" PRIu32 ", threshold %" PRIu32 ", cores %" PRIu32 " x %" PRIu32
                   " arrays %" PRIu32 "x%" PRIu32 ", local %" PRIu64 ", seed %" PRIu64,
                   (int)s->mode, s->in_order, s->synchronous, s->no_grouping, s->no_keeping, (int)s->lay,
                   (int)s->reuse, (int)s->unfolding, s->batch, s->threshold, s->cores, s->arrays, s->rows,
                   s->columns, s->local_bytes, s->seed);
    return text;
}

static struct pim_core_architecture architecture_of(const struct setup *s)
{
    struct pim_core_architecture a =
        net_architecture(s->cores, s->arrays, s->rows, s->columns, s->local_bytes);
    a.in_order = s->in_order;
    a.synchronous = s->synchronous;
    return a;
}

struct mapped {
    struct pim_arena arena;
    struct pim_core_architecture architecture;
    struct pim_core_network network;
    struct pim_core_partition partition;
    struct pim_core_layout layout;
    struct pim_core_mapping mapping;
    struct pim_error error;
};

/* Replica after replica goes to cores drawn at random, its groups apart where they fall so. */
static bool lay_at_random(struct mapped *m, struct pim_random *random)
{
    uint32_t room[64];
    for (uint32_t core = 0; core < m->architecture.cores; core++)
        room[core] = m->architecture.arrays;
    m->layout.layer = PIM_ARENA_ARRAY(&m->arena, struct pim_core_layout_layer, m->network.count);
    for (uint32_t round = 0; round < 4; round++)
        for (uint32_t l = 0; l < m->network.count; l++) {
            const struct pim_core_partition_layer *part = &m->partition.layer[l];
            struct pim_core_layout_layer *layer = &m->layout.layer[l];
            if (part->groups == 0 || (round > 0 && pim_random_below(random, 2)) ||
                layer->replicas >= m->network.layer[l].windows)
                continue;
            uint32_t *core =
                PIM_ARENA_ARRAY(&m->arena, uint32_t, (size_t)(layer->replicas + 1) * part->groups);
            if (layer->replicas)
                memcpy(core, layer->core, (size_t)layer->replicas * part->groups * sizeof *core);
            uint32_t before[64], placed = 0;
            memcpy(before, room, sizeof before);
            uint32_t *next = core + (size_t)layer->replicas * part->groups;
            for (; placed < part->groups; placed++) {
                uint32_t found = (uint32_t)pim_random_below(random, m->architecture.cores), tries = 0;
                while (room[found] < part->group[placed].arrays && tries++ < m->architecture.cores)
                    found = (found + 1) % m->architecture.cores;
                if (room[found] < part->group[placed].arrays)
                    break;
                room[found] -= part->group[placed].arrays;
                next[placed] = found;
            }
            if (placed < part->groups) {
                memcpy(room, before, sizeof room);
                if (round == 0)
                    return false;
                continue;
            }
            layer->core = core;
            layer->replicas++;
        }
    return true;
}

static bool lay_out(struct mapped *m, const struct setup *s, struct pim_random *random)
{
    if (s->lay == LAY_RANDOM)
        return lay_at_random(m, random);
    if (s->lay == LAY_WHOLE_CORES)
        return pim_core_layout_whole_cores(&m->mapping, &m->arena, &m->layout, &m->error) == PIM_OK;
    enum pim_status status = s->lay == LAY_FIRST
                                 ? pim_core_layout_first(&m->mapping, &m->arena, &m->layout, &m->error)
                                 : pim_core_layout_balance(&m->mapping, &m->arena, &m->layout, &m->error);
    return status == PIM_OK;
}

/* Lowers, partitions and lays out; false when the network does not fit. */
static bool map_network(struct mapped *m, const struct net *net, const struct setup *s)
{
    struct pim_random random;
    pim_random_initialize(&random, s->seed);
    m->architecture = architecture_of(s);
    ck_assert_msg(pim_core_network_lower(&net->graph, "net", &m->arena, &m->network, &m->error) == PIM_OK,
                  "%s", m->error.text);
    m->mapping = (struct pim_core_mapping){.architecture = &m->architecture,
                                           .network = &m->network,
                                           .partition = &m->partition,
                                           .layout = &m->layout,
                                           .mode = s->mode};
    return pim_core_partition_make(&m->network, &m->architecture, s->mode, s->unfolding, &m->arena,
                                   &m->partition, &m->error) == PIM_OK &&
           lay_out(m, s, &random);
}

enum outcome { RIGHT, TOO_LARGE, WRONG };

static const uint32_t windows[] = {4, 12, PIM_CORE_EXECUTION_WINDOW}; /* by seed */

/* Schedules, executes and compares; the trace lies at `path` meanwhile. */
static enum pim_status prove(struct mapped *m, const struct net *net, const struct setup *s, const char *path)
{
    struct pim_trace_writer *writer;
    struct pim_trace *trace;
    struct pim_core_memory_map map;
    struct pim_core_check_result result;
    const struct pim_trace_description description = {.family = "pimcomp",
                                                      .configuration = "",
                                                      .width = m->architecture.width,
                                                      .height = m->architecture.height,
                                                      .units = m->architecture.cores};
    const struct pim_core_schedule_options options = {.batch = s->batch,
                                                      .no_grouping = s->no_grouping,
                                                      .no_keeping = s->no_keeping,
                                                      .reuse = s->reuse,
                                                      .transmit_threshold = s->threshold};
    const struct pim_core_check_options check = {
        .samples = s->mode == PIM_CORE_HIGH_THROUGHPUT ? s->batch : 1,
        .seed = s->seed,
        .window = s->in_order ? 1 : windows[s->seed % (sizeof windows / sizeof windows[0])]};
    if (pim_trace_writer_create(path, &description, &writer, &m->error) != PIM_OK)
        return m->error.status;
    if (pim_core_schedule(&m->mapping, writer, &options, &m->arena, &map, &m->error) != PIM_OK) {
        pim_trace_writer_abandon(writer);
        return m->error.status;
    }
    if (pim_trace_writer_finish(writer, &m->error) != PIM_OK ||
        pim_trace_open(path, &trace, &m->error) != PIM_OK)
        return m->error.status;
    enum pim_status status =
        pim_core_check_values(&net->graph, &m->mapping, &map, trace, &check, &result, &m->error);
    pim_trace_close(trace);
    if (status == PIM_OK && result.elements == 0)
        status = pim_fail(&m->error, PIM_INTERNAL, "nothing was compared");
    return status;
}

/* Too large is what says so: for the arrays, or for the local memory. */
static enum outcome check_net(const struct net *net, const struct setup *s)
{
    struct mapped m = {.error = {.status = PIM_OK}};
    char path[64], setup[512];
    pim_arena_initialize(&m.arena, 0);
    (void)snprintf(path, sizeof path, "functional-%ld.bin", (long)getpid());
    enum outcome outcome = RIGHT;
    if (!map_network(&m, net, s)) {
        outcome = TOO_LARGE;
    } else if (prove(&m, net, s, path) != PIM_OK) {
        outcome = strstr(m.error.text, "core.local_memory_bytes") ? TOO_LARGE : WRONG;
        printf("%s%s: %s\n", outcome == WRONG ? "WRONG: " : "too large: ", describe(s, setup, sizeof setup),
               m.error.text);
        (void)fflush(stdout);
    }
    (void)unlink(path);
    pim_arena_terminate(&m.arena);
    return outcome;
}

/* --- one feature at a time, in both modes --- */

typedef void net_function(struct net *net);

static void conv_plain(struct net *net)
{
    (void)net_convolution(net, net_input(net, 3, 6, 5), 10, 3, 1, 1, 1, true);
}

static void conv_stride(struct net *net)
{
    uint32_t layer = net_convolution(net, net_input(net, 2, 9, 8), 6, 3, 2, 1, 1, false);
    (void)net_convolution(net, layer, 5, 2, 2, 0, 1, true);
}

static void conv_odd(struct net *net)
{
    const struct pim_sliding sliding = {
        .kernel = {3, 2}, .stride = {1, 2}, .dilation = {2, 1}, .pad_before = {2, 0}, .pad_after = {1, 1}};
    (void)net_sliding_convolution(net, net_input(net, 3, 7, 6), 9, &sliding, 1, true);
}

static void conv_grouped(struct net *net)
{
    uint32_t layer = net_convolution(net, net_input(net, 4, 5, 5), 8, 3, 1, 1, 2, true);
    (void)net_convolution(net, net_activation(net, layer, PIM_ACTIVATION_RELU), 8, 3, 1, 1, 8, false);
}

static void conv_wide(struct net *net)
{
    uint32_t layer = net_convolution(net, net_input(net, 20, 3, 3), 30, 3, 1, 1, 1, true);
    (void)net_convolution(net, layer, 3, 1, 1, 0, 1, true);
}

static void pools(struct net *net)
{
    uint32_t layer = net_convolution(net, net_input(net, 2, 9, 9), 7, 3, 1, 1, 1, true);
    layer = net_pooling(net, layer, PIM_POOLING_MAXIMUM, 3, 2, 1, false);
    layer = net_pooling(net, layer, PIM_POOLING_AVERAGE, 3, 1, 1, false);
    layer = net_convolution(net, layer, 6, 1, 1, 0, 1, false);
    layer = net_pooling(net, layer, PIM_POOLING_MAXIMUM, 2, 2, 0, true);
    (void)net_global_average(net, layer);
}

static void residual(struct net *net)
{
    uint32_t input = net_input(net, 3, 6, 6);
    uint32_t first =
        net_activation(net, net_convolution(net, input, 8, 3, 1, 1, 1, true), PIM_ACTIVATION_RELU);
    uint32_t second =
        net_activation(net, net_convolution(net, first, 8, 3, 1, 1, 1, true), PIM_ACTIVATION_RELU);
    uint32_t third = net_convolution(net, second, 8, 3, 1, 1, 1, true);
    uint32_t sum =
        net_activation(net, net_elementwise(net, third, first, PIM_ELEMENTWISE_ADD), PIM_ACTIVATION_RELU);
    uint32_t down = net_convolution(net, sum, 12, 3, 2, 1, 1, true);
    uint32_t side = net_convolution(net, sum, 12, 1, 2, 0, 1, true);
    (void)net_elementwise(net, down, side, PIM_ELEMENTWISE_ADD);
}

static void branches(struct net *net)
{
    uint32_t stem = net_convolution(net, net_input(net, 3, 6, 6), 6, 3, 1, 1, 1, true);
    uint32_t part[4] = {
        net_activation(net, net_convolution(net, stem, 4, 1, 1, 0, 1, true), PIM_ACTIVATION_RELU)};
    part[1] = net_convolution(net, net_convolution(net, stem, 3, 1, 1, 0, 1, true), 5, 3, 1, 1, 1, true);
    part[2] = net_convolution(net, net_convolution(net, stem, 2, 1, 1, 0, 1, true), 3, 5, 1, 2, 1, true);
    part[3] = net_convolution(net, net_pooling(net, stem, PIM_POOLING_MAXIMUM, 3, 1, 1, false), 2, 1, 1, 0, 1,
                              true);
    uint32_t joined = net_concat(net, part, 4);
    uint32_t pooled = net_pooling(net, joined, PIM_POOLING_MAXIMUM, 3, 2, 1, false);
    const uint32_t again[2] = {net_convolution(net, pooled, 4, 1, 1, 0, 1, true), pooled};
    (void)net_convolution(net, net_concat(net, again, 2), 3, 3, 1, 1, 1, false);
}

static void slices(struct net *net)
{
    uint32_t stem = net_convolution(net, net_input(net, 3, 5, 5), 9, 3, 1, 1, 1, true);
    uint32_t left = net_slice(net, stem, 0, 4), right = net_slice(net, stem, 4, 5);
    const uint32_t part[2] = {right, net_convolution(net, left, 4, 3, 1, 1, 1, true)};
    (void)net_convolution(net, net_concat(net, part, 2), 6, 1, 1, 0, 1, true);
}

static void classifier(struct net *net)
{
    uint32_t layer = net_convolution(net, net_input(net, 3, 6, 6), 8, 3, 1, 0, 1, true);
    layer = net_pooling(net, net_activation(net, layer, PIM_ACTIVATION_RELU), PIM_POOLING_MAXIMUM, 2, 2, 0,
                        false);
    layer = net_activation(net, net_flatten(net, layer), PIM_ACTIVATION_TANH);
    layer = net_linear(net, layer, 20, true);
    layer = net_linear(net, net_activation(net, layer, PIM_ACTIVATION_SIGMOID), 10, true);
    (void)net_linear(net, net_activation(net, layer, PIM_ACTIVATION_CLIP), 4, false);
}

static void two_outputs(struct net *net)
{
    uint32_t stem = net_convolution(net, net_input(net, 3, 5, 5), 6, 3, 1, 1, 1, true);
    uint32_t left = net_convolution(net, stem, 4, 1, 1, 0, 1, true);
    (void)net_elementwise(net, left, net_convolution(net, stem, 4, 3, 1, 1, 1, true),
                          PIM_ELEMENTWISE_MULTIPLY);
    (void)net_global_average(net, left);
}

static net_function *const features[] = {conv_plain, conv_stride, conv_odd, conv_grouped, conv_wide,  pools,
                                         residual,   branches,    slices,   classifier,   two_outputs};

/* Every feature, with one replica and with several, on in-order and out-of-order cores, with both kinds of
 * messages. */
static void check_features(struct setup s)
{
    int failures = 0;
    const size_t simple = sizeof features / sizeof features[0];
    for (size_t i = 0; i < simple + FORMS; i++)
        for (unsigned variant = 0; variant < 3; variant++) {
            struct net net;
            net_initialize(&net);
            if (i < simple)
                features[i](&net);
            else
                form_build(&net, (enum form)(i - simple));
            s.seed = 1000 * i + variant;
            s.cores = 4;
            s.arrays = 40;
            s.lay = (enum lay)variant;
            s.in_order = variant == 1;
            s.synchronous = variant != 2;
            enum outcome outcome = check_net(&net, &s);
            net_terminate(&net);
            if (outcome != RIGHT)
                printf("feature %zu (form %d), variant %u\n", i, (int)i - (int)simple, variant);
            failures += outcome != RIGHT;
        }
    ck_assert_int_eq(failures, 0);
}

START_TEST(features_high_throughput)
{
    struct setup s = plain;
    s.batch = 3;
    check_features(s);
}
END_TEST

START_TEST(features_low_latency)
{
    struct setup s = plain;
    s.mode = PIM_CORE_LOW_LATENCY;
    check_features(s);
}
END_TEST

/* Each unfolding of Table IV, in both modes. */
START_TEST(unfoldings)
{
    static net_function *const nets[] = {conv_plain, conv_stride, conv_odd,  conv_grouped,
                                         conv_wide,  residual,    classifier};
    int failures = 0;
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++)
        for (unsigned unfolding = 0; unfolding < PIM_UNFOLDINGS; unfolding++)
            for (unsigned mode = 0; mode < 2; mode++) {
                struct net net;
                net_initialize(&net);
                nets[i](&net);
                struct setup s = plain;
                s.mode = (enum pim_core_mode)mode;
                s.unfolding = (enum pim_unfolding)unfolding;
                s.batch = 2;
                s.cores = 4;
                s.arrays = 60;
                s.columns = 40;
                s.lay = LAY_RANDOM;
                s.seed = 10 * i + unfolding;
                failures += check_net(&net, &s) != RIGHT;
                net_terminate(&net);
            }
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* The layout of Polyhedral: a core holds groups of one replica, while there are cores for that. */
START_TEST(whole_cores)
{
    for (uint32_t cores = 4; cores <= 12; cores += 4) {
        struct mapped m = {.error = {.status = PIM_OK}};
        struct net net;
        struct setup s = plain;
        uint32_t owner[12], replicas = 0, shared = 0;
        s.cores = cores;
        s.arrays = 40;
        s.lay = LAY_WHOLE_CORES;
        net_initialize(&net);
        residual(&net); /* five layers with weights */
        pim_arena_initialize(&m.arena, 0);
        ck_assert(map_network(&m, &net, &s));
        ck_assert_int_eq(pim_core_layout_check(&m.mapping, &m.error), PIM_OK);
        memset(owner, 0xff, sizeof owner);
        for (uint32_t l = 0; l < m.network.count; l++)
            for (uint32_t r = 0; r < m.layout.layer[l].replicas; r++, replicas++)
                for (uint32_t g = 0; g < m.partition.layer[l].groups; g++) {
                    uint32_t core = m.layout.layer[l].core[r * m.partition.layer[l].groups + g];
                    shared += owner[core] != UINT32_MAX && owner[core] != replicas;
                    owner[core] = replicas;
                }
        ck_assert_int_eq(shared > 0, cores < 5);
        ck_assert_int_eq(replicas > 5, cores > 5);
        pim_arena_terminate(&m.arena);
        net_terminate(&net);
    }
}
END_TEST

/* --- networks and setups drawn at random --- */

enum { NETWORKS = 200 };

static struct setup random_setup(struct pim_random *random, uint64_t seed)
{
    static const uint64_t local[] = {2500, 6000, 20000, 1 << 18};
    struct setup s = plain;
    s.mode = pim_random_below(random, 2) ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT;
    s.in_order = pim_random_below(random, 2);
    s.synchronous = pim_random_below(random, 2);
    s.no_grouping = pim_random_below(random, 4) == 0;
    s.lay = (enum lay)pim_random_below(random, 4);
    s.reuse = (enum pim_core_reuse)pim_random_below(random, 3);
    s.unfolding = (enum pim_unfolding)pim_random_below(random, PIM_UNFOLDINGS + 1);
    s.batch = (uint32_t)pim_random_between(random, 1, 3);
    s.threshold = (uint32_t)pim_random_below(random, 3) * 4;
    s.cores = (uint32_t)pim_random_between(random, 1, 6);
    s.arrays = (uint32_t)pim_random_between(random, 8, 60);
    s.rows = (uint32_t)pim_random_between(random, 4, 40);
    s.columns = (uint32_t)pim_random_between(random, 2, 20);
    s.local_bytes = local[pim_random_below(random, 4)];
    s.seed = seed;
    s.no_keeping = pim_random_below(random, 4) == 0;
    return s;
}

/* The case of one seed. */
static enum outcome one_case(uint64_t seed)
{
    struct pim_random random;
    struct net net;
    pim_random_initialize(&random, seed);
    net_initialize(&net);
    net_random(&net, &random);
    struct setup s = random_setup(&random, seed);
    enum outcome outcome = check_net(&net, &s);
    net_terminate(&net);
    return outcome;
}

START_TEST(random_networks)
{
    int count[3] = {0};
    for (uint64_t seed = 1; seed <= NETWORKS; seed++)
        count[one_case(seed)]++;
    printf("random networks of seeds 1 to %d: %d right, %d too large for their accelerator, %d wrong\n",
           NETWORKS, count[RIGHT], count[TOO_LARGE], count[WRONG]);
    (void)fflush(stdout);
    ck_assert_int_eq(count[WRONG], 0);
    ck_assert_int_gt(count[RIGHT], NETWORKS / 2);
}
END_TEST

Suite *functional_suite(void)
{
    Suite *suite = suite_create("functional");
    TCase *tests = tcase_create("functional");
    tcase_add_test(tests, features_high_throughput);
    tcase_add_test(tests, features_low_latency);
    tcase_add_test(tests, unfoldings);
    tcase_add_test(tests, whole_cores);
    tcase_add_test(tests, random_networks);
    suite_add_tcase(suite, tests);
    return suite;
}
