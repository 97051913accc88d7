/*
 * The high-throughput schedule: for random networks on random layouts the trace completes, computes the right
 * numbers, has the MVMs of the closed form, stores each element of each map once a sample, and stays within
 * the local memory; rounds, groups, barriers and loads are what the rules say.
 */
#define _POSIX_C_SOURCE 200809L
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/partition/partition.h"
#include "mappers/pimcomp/schedule/schedule.h"
#include "sim/random.h"
#include "tests/unit/pimcomp/high_throughput.h"
#include "tests/unit/pimcomp/trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NETWORKS = 150 };

static uint32_t samples(const struct trial *t)
{
    return t->options.batch ? t->options.batch : 1;
}

static bool serves(const struct pim_core_layer *layer, int axis, uint32_t input)
{
    const struct pim_sliding *s = &layer->sliding;
    for (uint32_t output = 0; output < (axis ? layer->width : layer->height); output++)
        for (uint32_t tap = 0; tap < s->kernel[axis]; tap++)
            if ((int64_t)output * s->stride[axis] + (int64_t)tap * s->dilation[axis] - s->pad_before[axis] ==
                input)
                return true;
    return false;
}

/* MVMs of one replica of a layer: each group works on each window; with folds on each input that a window
 * reads, a pixel (i_okk_1) or a stretch of a row for each output column (ik_ok_1). */
static uint64_t works(const struct trial *t, uint32_t index)
{
    const struct pim_core_layer *layer = &t->network.layer[index];
    if (t->partition.layer[index].groups == 0 || t->partition.layer[index].group[0].folds == 1)
        return layer->windows;
    uint64_t rows = 0, columns = 0;
    for (uint32_t y = 0; y < layer->source[0].height; y++)
        rows += serves(layer, 0, y);
    for (uint32_t x = 0; x < layer->source[0].width; x++)
        columns += serves(layer, 1, x);
    return rows * (t->partition.layer[index].unfolding == PIM_UNFOLDING_I_OKK_1 ? columns : layer->width);
}

static uint64_t closed_form(const struct trial *t)
{
    uint64_t mvms = 0;
    for (uint32_t l = 0; l < t->network.count; l++)
        mvms += t->partition.layer[l].groups * works(t, l);
    return mvms;
}

/* Every element of every map that cores make and that does not stay on chip is stored once for each sample,
 * and nothing else is. */
static void check_stores(struct trial *t, const struct trial_seen *seen)
{
    uint16_t *expected = PIM_ARENA_ARRAY(&t->net.arena, uint16_t, t->map.bytes / 2 + 1);
    uint64_t bytes = 0;
    for (uint32_t l = 0; l < t->network.count; l++) {
        const struct pim_core_layer *layer = &t->network.layer[l];
        const struct pim_core_place *place = &t->map.map[l];
        ck_assert_int_eq(place->address == PIM_CORE_NOWHERE, t->report.resident[l]);
        ck_assert(!t->report.resident[l] || (layer->kind != PIM_CORE_INPUT && !layer->output));
        if (layer->kind == PIM_CORE_INPUT || t->report.resident[l])
            continue;
        for (uint32_t sample = 0; sample < samples(t); sample++) {
            uint32_t as = t->options.batch ? sample : t->report.groups - 1 - t->report.group[l];
            for (uint32_t w = 0; w < layer->windows; w++)
                for (uint32_t c = 0; c < layer->channels; c++)
                    expected[(place->address + as % place->slots * place->sample_stride +
                              w * place->pixel_stride) /
                                 2 +
                             c]++;
        }
        bytes += (uint64_t)layer->windows * layer->channels * 2 * samples(t);
    }
    ck_assert_uint_eq(seen->stored, bytes);
    ck_assert(memcmp(expected, seen->stores, t->map.bytes / 2 * sizeof *expected) == 0);
}

/* All that must hold of a trace. */
static void check_trial(struct trial *t)
{
    struct trial_seen seen = {0};
    const struct pim_core_counts *counts = &t->report.counts;
    trial_look(t, &seen);
    ck_assert_uint_eq(seen.by_opcode[PIM_OP_MVM], closed_form(t) * samples(t));
    ck_assert_uint_eq(seen.by_opcode[PIM_OP_MVM], counts->mvms);
    ck_assert_uint_eq(seen.by_opcode[PIM_OP_SEND], counts->messages);
    ck_assert_uint_eq(seen.by_opcode[PIM_OP_JOIN], counts->joins);
    ck_assert_uint_eq(seen.loaded, counts->loaded_bytes);
    ck_assert_uint_eq(seen.stored, counts->stored_bytes);
    ck_assert_uint_eq(seen.sent, counts->sent_bytes);
    ck_assert_uint_eq(t->report.rounds, t->options.batch ? t->options.batch + t->report.groups - 1 : 1);
    ck_assert_uint_ge(counts->barriers, t->report.rounds);
    check_stores(t, &seen);
    trial_check(t);
    if (t->options.batch) /* what the saturated round reads was made by rounds before */
        trial_check_values(t, t->options.batch, t->seed + 5);
}

/* --- random networks --- */

static void random_hardware(struct trial *t, struct pim_random *random)
{
    static const uint64_t local[] = {3000, 8000, 1 << 16, 1 << 20};
    trial_draw_hardware(t, random);
    t->architecture.local_memory_bytes = local[trial_draw(random, 0, 3)];
    t->options.batch = trial_draw(random, 0, 4);
    t->options.no_grouping = trial_draw(random, 0, 3) == 0;
    t->options.reuse = (enum pim_core_reuse)trial_draw(random, 0, 2);
    t->options.no_keeping = trial_draw(random, 0, 3) == 0;
}

/* A few convolutions with kernels, strides, dilations and padding of all kinds, and a pooling. */
static void random_odd_net(struct net *net, struct pim_random *random)
{
    uint32_t layer =
        net_input(net, trial_draw(random, 1, 5), trial_draw(random, 4, 11), trial_draw(random, 4, 11));
    uint32_t count = trial_draw(random, 1, 3);
    for (uint32_t i = 0; i < count; i++) {
        struct pim_sliding s = {.kernel = {1, 1}};
        for (uint32_t axis = 0; axis < 2; axis++) {
            uint32_t size = net->graph.layers[layer].output.dimension[2 + axis];
            s.kernel[axis] = trial_draw(random, 1, 4);
            s.stride[axis] = trial_draw(random, 1, 3);
            s.dilation[axis] = trial_draw(random, 1, 2);
            uint32_t span = (s.kernel[axis] - 1) * s.dilation[axis] + 1;
            s.pad_before[axis] = trial_draw(random, 0, span - 1);
            s.pad_after[axis] = trial_draw(random, 0, span - 1);
            while (size + s.pad_before[axis] + s.pad_after[axis] < span)
                s.pad_after[axis]++;
        }
        layer =
            net_sliding_convolution(net, layer, trial_draw(random, 1, 12), &s, 1, trial_draw(random, 0, 1));
    }
    const uint32_t *extent = net->graph.layers[layer].output.dimension + 2;
    uint32_t kernel = trial_draw(random, 1, 3);
    if (extent[0] >= kernel && extent[1] >= kernel)
        (void)net_pooling(net, layer, trial_draw(random, 0, 1) ? PIM_POOLING_AVERAGE : PIM_POOLING_MAXIMUM,
                          kernel, trial_draw(random, 1, 3), trial_draw(random, 0, kernel / 2),
                          trial_draw(random, 0, 1));
}

/* 1 when the network fitted and all held; *kept counts the maps that stayed on chip. */
static uint32_t random_trial(uint64_t seed, uint32_t *kept)
{
    struct pim_random random;
    struct trial t;
    pim_random_initialize(&random, seed);
    trial_begin(&t, PIM_CORE_HIGH_THROUGHPUT);
    t.seed = seed;
    if (seed % 3)
        net_random(&t.net, &random);
    else
        random_odd_net(&t.net, &random);
    random_hardware(&t, &random);
    const enum pim_unfolding forced = (enum pim_unfolding)trial_draw(&random, 0, PIM_UNFOLDINGS);
    uint32_t done = 0;
    (void)pim_core_network_lower(&t.net.graph, "net", &t.net.arena, &t.network, &t.error);
    if (pim_core_partition_make(&t.network, &t.architecture, PIM_CORE_HIGH_THROUGHPUT, forced, &t.net.arena,
                                &t.partition, &t.error) == PIM_OK) {
        trial_lower(&t, forced);
        if (trial_lay_out(&t, &random, trial_draw(&random, 1, 5))) {
            if (trial_emit(&t) == PIM_OK) {
                check_trial(&t);
                for (uint32_t l = 0; l < t.network.count; l++)
                    *kept += t.report.resident[l];
                done = 1;
            } else {
                ck_assert_msg(t.architecture.local_memory_bytes < 1 << 16 &&
                                  strstr(t.error.text, "local memory"),
                              "seed %" PRIu64 ": %s", seed, t.error.text);
            }
        }
    }
    trial_end(&t);
    return done;
}

START_TEST(random_networks)
{
    uint32_t done = 0, kept = 0;
    printf("high throughput: seeds 1 to %d\n", NETWORKS);
    for (uint64_t seed = 1; seed <= NETWORKS; seed++)
        done += random_trial(seed, &kept);
    ck_assert_uint_gt(done, NETWORKS / 2); /* the others do not fit their accelerators */
    ck_assert_uint_gt(kept, NETWORKS);
}
END_TEST

/* --- local memory --- */

/* Bytes that are loaded, and 0 when the schedule refused; *peak: the most that a core uses. */
static uint64_t loads_with(uint64_t local_bytes, bool in_order, uint64_t *peak, struct pim_error *error)
{
    struct pim_random random;
    struct trial t;
    uint64_t loaded = 0;
    pim_random_initialize(&random, 3);
    trial_begin(&t, PIM_CORE_HIGH_THROUGHPUT);
    trial_small_net(&t.net);
    t.architecture.local_memory_bytes = local_bytes;
    t.architecture.in_order = in_order;
    t.options.batch = 2;
    trial_lower(&t, PIM_UNFOLDINGS);
    ck_assert(trial_lay_out(&t, &random, 3));
    *peak = 0;
    if (trial_emit(&t) == PIM_OK) {
        check_trial(&t);
        for (uint32_t core = 0; core < t.architecture.cores; core++)
            *peak = t.report.local_bytes[core] > *peak ? t.report.local_bytes[core] : *peak;
        ck_assert_uint_le(*peak, local_bytes);
        loaded = t.report.counts.loaded_bytes;
    }
    *error = t.error;
    trial_end(&t);
    return loaded;
}

START_TEST(memory_is_bounded)
{
    for (int in_order = 0; in_order < 2; in_order++) {
        struct pim_error error;
        uint64_t peak, plenty = loads_with(1 << 20, in_order, &peak, &error), least = 1 << 16, last = plenty;
        ck_assert_uint_gt(plenty, 0);
        /* With less and less memory it goes on, and loads more, down to the refusal. */
        for (uint64_t loaded; (loaded = loads_with(least * 9 / 10, in_order, &peak, &error)) > 0;
             last = loaded)
            least = least * 9 / 10;
        ck_assert_uint_gt(last, plenty);
        ck_assert_uint_lt(least, 8192);
        ck_assert_int_eq(error.status, PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, "bytes of local memory") &&
                          strstr(error.text, "core.local_memory_bytes is"),
                      "%s", error.text);
        ck_assert_uint_eq(loads_with(100, in_order, &peak, &error), 0);
        ck_assert_msg(strstr(error.text, "convolution") || strstr(error.text, "linear"), "%s", error.text);
    }
}
END_TEST

/* --- groups and rounds --- */

static struct pim_core_schedule_report report_of(void (*build)(struct net *), uint32_t batch,
                                                 bool no_grouping, uint32_t *layers)
{
    struct pim_random random;
    struct trial t;
    pim_random_initialize(&random, 7);
    trial_begin(&t, PIM_CORE_HIGH_THROUGHPUT);
    build(&t.net);
    t.options.batch = batch;
    t.options.no_grouping = no_grouping;
    trial_lower(&t, PIM_UNFOLDINGS);
    ck_assert(trial_lay_out(&t, &random, 2));
    ck_assert_msg(trial_emit(&t) == PIM_OK, "%s", t.error.text);
    check_trial(&t);
    *layers = 0;
    for (uint32_t l = 0; l < t.network.count; l++)
        *layers += t.network.layer[l].kind != PIM_CORE_INPUT;
    struct pim_core_schedule_report report = t.report;
    report.group = NULL; /* ends with the trial */
    report.resident = NULL;
    trial_end(&t);
    return report;
}

START_TEST(groups_are_fewer_than_layers)
{
    uint32_t layers;
    struct pim_core_schedule_report alone = report_of(trial_small_net, 1, true, &layers);
    ck_assert_uint_eq(alone.groups, layers);
    struct pim_core_schedule_report grouped = report_of(trial_small_net, 1, false, &layers);
    ck_assert_uint_lt(grouped.groups, layers);
}
END_TEST

static void three_branches(struct net *net)
{
    uint32_t input = net_input(net, 4, 6, 6), branch[3];
    for (uint32_t i = 0; i < 3; i++)
        branch[i] = net_convolution(net, input, 4, 3, 1, 1, 1, false);
    (void)net_convolution(net, net_concat(net, branch, 3), 6, 3, 1, 1, 1, false);
}

START_TEST(independent_layers_share_a_group)
{
    uint32_t layers;
    struct pim_core_schedule_report report = report_of(three_branches, 2, false, &layers);
    ck_assert_uint_eq(layers, 4);
    ck_assert_uint_eq(report.groups, 2);
    ck_assert_uint_eq(report.rounds, 3);
    ck_assert_uint_eq(report.counts.barriers, 3);
}
END_TEST

/* One sample more is one saturated round more. */
START_TEST(saturated_round_is_a_round_of_a_batch)
{
    uint32_t layers;
    struct pim_core_counts one = report_of(trial_small_net, 0, false, &layers).counts;
    uint32_t enough = report_of(trial_small_net, 1, false, &layers).groups;
    struct pim_core_counts less = report_of(trial_small_net, enough, false, &layers).counts;
    struct pim_core_counts more = report_of(trial_small_net, enough + 1, false, &layers).counts;
    ck_assert_uint_eq(more.mvms - less.mvms, one.mvms);
    ck_assert_uint_eq(more.stored_bytes - less.stored_bytes, one.stored_bytes);
    ck_assert_uint_eq(more.messages - less.messages, one.messages);
    ck_assert_uint_eq(more.sent_bytes - less.sent_bytes, one.sent_bytes);
    ck_assert_uint_eq(more.vector_elements - less.vector_elements, one.vector_elements);
    ck_assert_uint_lt(more.loaded_bytes - less.loaded_bytes, one.loaded_bytes); /* biases are loaded once */
}
END_TEST

/* --- maps on chip --- */

/* A stem, two convolutions behind each other and the addition around them; layers 1 to 4. The addition feeds
 * a pooling. */
static struct pim_core_schedule_report kept_by(uint64_t local_bytes, uint64_t mvm_cycles, bool no_keeping,
                                               bool kept[5])
{
    struct pim_random random;
    struct trial t;
    pim_random_initialize(&random, 5);
    trial_begin(&t, PIM_CORE_HIGH_THROUGHPUT);
    trial_small_net(&t.net);
    t.architecture.local_memory_bytes = local_bytes;
    t.architecture.mvm_cycles = mvm_cycles;
    t.options.batch = 2;
    t.options.no_keeping = no_keeping;
    trial_lower(&t, PIM_UNFOLDINGS);
    ck_assert(trial_lay_out(&t, &random, 3));
    ck_assert_msg(trial_emit(&t) == PIM_OK, "%s", t.error.text);
    check_trial(&t);
    for (uint32_t l = 0; l < 5; l++)
        kept[l] = t.report.resident[l];
    struct pim_core_schedule_report report = t.report;
    trial_end(&t);
    return report;
}

/* By capacity, by what the memory has to do besides the MVMs, and not when it is switched off. */
START_TEST(maps_stay_on_chip)
{
    bool kept[5];
    struct pim_core_counts off = kept_by(1 << 20, 1, true, kept).counts;
    for (uint32_t l = 0; l < 5; l++)
        ck_assert(!kept[l]);
    struct pim_core_counts all = kept_by(1 << 20, 1, false, kept).counts;
    ck_assert(!kept[0] && kept[1] && kept[2] && kept[3] && !kept[4]);
    ck_assert_uint_eq(off.stored_bytes - all.stored_bytes, 2 * (3 * 12 * 12 + 1) * 16 * 2); /* the mean too */
    ck_assert_uint_lt(all.loaded_bytes, off.loaded_bytes);
    ck_assert_uint_gt(all.sent_bytes, off.sent_bytes);
    ck_assert_uint_eq(all.mvms, off.mvms);
    struct pim_core_counts idle = kept_by(1 << 20, 1000000, false, kept).counts;
    ck_assert_uint_eq(idle.stored_bytes, off.stored_bytes);
    ck_assert_uint_eq(idle.messages, off.messages);
    struct pim_core_counts small = kept_by(9000, 1, false, kept).counts;
    ck_assert_uint_gt(small.stored_bytes, all.stored_bytes);
}
END_TEST

/* --- loads --- */

/* Bytes loaded for a convolution of 3 x 3 on a map of 4 x 10 x 9, all on one core. */
static uint64_t loaded_by(enum pim_unfolding unfolding, enum pim_core_reuse reuse)
{
    struct trial t;
    trial_begin(&t, PIM_CORE_HIGH_THROUGHPUT);
    (void)net_convolution(&t.net, net_input(&t.net, 4, 10, 9), 6, 3, 1, 0, 1, false);
    t.architecture.width = t.architecture.height = t.architecture.cores = 1;
    t.options.reuse = reuse;
    trial_lower(&t, unfolding);
    struct pim_random random;
    pim_random_initialize(&random, 1);
    ck_assert(trial_lay_out(&t, &random, 1));
    ck_assert_msg(trial_emit(&t) == PIM_OK, "%s", t.error.text);
    check_trial(&t);
    uint64_t loaded = t.report.counts.loaded_bytes;
    trial_end(&t);
    return loaded;
}

START_TEST(loads_are_those_of_the_table)
{
    const uint64_t pixel = 4 * 2, windows = 8 * 7;
    const uint64_t map = 10 * 9 * pixel, lines = 8 * 3 * 9 * pixel, all = windows * 9 * pixel;
    ck_assert_uint_eq(loaded_by(PIM_UNFOLDING_IKK_O_1, PIM_CORE_REUSE_ROWS), map);
    ck_assert_uint_eq(loaded_by(PIM_UNFOLDING_I_O_KK, PIM_CORE_REUSE_ROWS), map);
    ck_assert_uint_eq(loaded_by(PIM_UNFOLDING_I_OKK_1, PIM_CORE_REUSE_ROWS), map);
    /* Table IV */
    ck_assert_uint_eq(loaded_by(PIM_UNFOLDING_IKK_O_1, PIM_CORE_REUSE_UNFOLDING), all);
    ck_assert_uint_eq(loaded_by(PIM_UNFOLDING_I_O_KK, PIM_CORE_REUSE_UNFOLDING), lines);
    ck_assert_uint_eq(loaded_by(PIM_UNFOLDING_IK_O_K, PIM_CORE_REUSE_UNFOLDING), lines);
    ck_assert_uint_eq(loaded_by(PIM_UNFOLDING_I_OKK_1, PIM_CORE_REUSE_UNFOLDING), map);
    ck_assert_uint_eq(loaded_by(PIM_UNFOLDING_I_O_KK, PIM_CORE_REUSE_NONE), all);
}
END_TEST

/*
 * Six windows of 3 x 3 on a map of 4 x 5, two for each of three cores. The first and the last core have
 * windows of one row: 3 x 4 pixels. The one in between has the end of the first row and the beginning of the
 * second: a ring of rows loads 16 pixels for them (4 rows of 5, less the two at each end that no window
 * needs), tiles of windows 2 x 3 x 3.
 */
START_TEST(parts_of_rows_are_loaded_in_the_smaller_way)
{
    struct trial t;
    trial_begin(&t, PIM_CORE_HIGH_THROUGHPUT);
    (void)net_convolution(&t.net, net_input(&t.net, 4, 4, 5), 6, 3, 1, 0, 1, false);
    t.architecture.width = t.architecture.cores = t.architecture.chip_width = 3;
    t.architecture.height = t.architecture.chip_height = 1;
    trial_lower(&t, PIM_UNFOLDINGS);
    struct pim_random random;
    pim_random_initialize(&random, 1);
    ck_assert(trial_lay_out(&t, &random, 1));
    for (uint32_t l = 0; l < t.network.count; l++) {
        const uint32_t groups = t.partition.layer[l].groups;
        if (groups == 0)
            continue;
        t.layout.layer[l].replicas = 3;
        t.layout.layer[l].core = PIM_ARENA_ARRAY(&t.net.arena, uint32_t, (size_t)3 * groups);
        for (uint32_t i = 0; i < 3 * groups; i++)
            t.layout.layer[l].core[i] = i / groups;
    }
    ck_assert_msg(trial_emit(&t) == PIM_OK, "%s", t.error.text);
    check_trial(&t);
    ck_assert_uint_eq(t.report.counts.loaded_bytes, (12 + 16 + 12) * 4 * 2);
    trial_end(&t);
}
END_TEST

Suite *high_throughput_suite(void)
{
    Suite *suite = suite_create("high_throughput");
    TCase *tests = tcase_create("high_throughput");
    tcase_add_test(tests, random_networks);
    tcase_add_test(tests, memory_is_bounded);
    tcase_add_test(tests, groups_are_fewer_than_layers);
    tcase_add_test(tests, independent_layers_share_a_group);
    tcase_add_test(tests, saturated_round_is_a_round_of_a_batch);
    tcase_add_test(tests, maps_stay_on_chip);
    tcase_add_test(tests, loads_are_those_of_the_table);
    tcase_add_test(tests, parts_of_rows_are_loaded_in_the_smaller_way);
    suite_add_tcase(suite, tests);
    return suite;
}
