/*
 * The high-throughput schedule: for random networks on random layouts the trace completes, computes the right
 * numbers, has the MVMs of the closed form, stores each element of each map once a sample, and stays within
 * the local memory; rounds, groups, barriers and loads are what the rules say.
 */
#define _POSIX_C_SOURCE 200809L
#include "mappers/pimcomp/check_values.h"
#include "mappers/pimcomp/layout.h"
#include "mappers/pimcomp/schedule.h"
#include "sim/random.h"
#include "tests/unit/pimcomp/high_throughput.h"
#include "tests/unit/pimcomp/nets.h"
#include "traces/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NETWORKS = 150, CORES_MOST = 9 };

/* One network on one accelerator. */
struct trial {
    struct net net;
    struct pim_core_architecture architecture;
    struct pim_core_network network;
    struct pim_core_partition partition;
    struct pim_core_layout layout;
    struct pim_core_mapping mapping;
    struct pim_core_schedule_options options;
    struct pim_core_schedule_report report;
    struct pim_core_memory_map map;
    struct pim_trace *trace; /* NULL: refused */
    struct pim_error error;
    uint64_t seed;
    char path[96];
};

static uint32_t draw(struct pim_random *random, uint32_t first, uint32_t last)
{
    return (uint32_t)pim_random_between(random, first, last);
}

static void trial_begin(struct trial *t)
{
    memset(t, 0, sizeof *t);
    net_initialize(&t->net);
    t->architecture = (struct pim_core_architecture){.width = 3,
                                                     .height = 2,
                                                     .cores = 6,
                                                     .chip_width = 3,
                                                     .chip_height = 2,
                                                     .connection = PIM_CORE_MESH,
                                                     .in_order = true,
                                                     .synchronous = true,
                                                     .element_bytes = 2,
                                                     .arrays = 64,
                                                     .array_rows = 16,
                                                     .array_columns = 8,
                                                     .arrays_per_group_step = 1,
                                                     .mvm_cycles = 100,
                                                     .local_memory_bytes = 1 << 16,
                                                     .local_bytes_per_cycle = 32,
                                                     .vector_lanes = 8,
                                                     .global_memory_bytes = 1 << 24,
                                                     .global_bytes_per_cycle = 32,
                                                     .link_bytes_per_cycle = 32,
                                                     .hop_cycles = 2};
    t->options.report = &t->report;
    t->options.batch = 1;
}

static void trial_end(struct trial *t)
{
    pim_trace_close(t->trace);
    if (t->path[0])
        (void)unlink(t->path);
    net_terminate(&t->net);
}

static void lower(struct trial *t, const enum pim_unfolding *forced)
{
    ck_assert_msg(pim_core_network_lower(&t->net.graph, "net", &t->net.arena, &t->network, &t->error) ==
                      PIM_OK,
                  "%s", t->error.text);
    ck_assert_msg(pim_core_partition_make(&t->network, &t->architecture, PIM_CORE_HIGH_THROUGHPUT, forced,
                                          &t->net.arena, &t->partition, &t->error) == PIM_OK,
                  "%s", t->error.text);
    t->mapping = (struct pim_core_mapping){.architecture = &t->architecture,
                                           .network = &t->network,
                                           .partition = &t->partition,
                                           .layout = &t->layout,
                                           .mode = PIM_CORE_HIGH_THROUGHPUT};
}

/* At most `replicas` of each layer, every group on a core of its own drawing or all together; false when one
 * replica of each does not fit. */
static bool lay_out(struct trial *t, struct pim_random *random, uint32_t replicas)
{
    uint32_t room[CORES_MOST];
    for (uint32_t core = 0; core < t->architecture.cores; core++)
        room[core] = t->architecture.arrays;
    t->layout.layer = PIM_ARENA_ARRAY(&t->net.arena, struct pim_core_layout_layer, t->network.count);
    for (uint32_t r = 0; r < replicas; r++) {
        for (uint32_t l = 0; l < t->network.count; l++) {
            const struct pim_core_partition_layer *part = &t->partition.layer[l];
            struct pim_core_layout_layer *layer = &t->layout.layer[l];
            if (part->groups == 0)
                continue;
            if (r == 0)
                layer->core = PIM_ARENA_ARRAY(&t->net.arena, uint32_t, (size_t)replicas * part->groups);
            if (layer->replicas < r || (r > 0 && draw(random, 0, 2) == 0))
                continue; /* this layer has enough */
            uint32_t placed = 0, start = draw(random, 0, t->architecture.cores - 1);
            bool together = draw(random, 0, 1);
            for (; placed < part->groups; placed++) {
                uint32_t core = together ? start : draw(random, 0, t->architecture.cores - 1), tries = 0;
                while (tries < t->architecture.cores && room[core] < part->group[placed].arrays) {
                    core = (core + 1) % t->architecture.cores;
                    tries++;
                }
                if (tries == t->architecture.cores)
                    break;
                room[core] -= part->group[placed].arrays;
                layer->core[(size_t)r * part->groups + placed] = core;
            }
            if (placed == part->groups)
                layer->replicas++;
            else if (r == 0)
                return false;
        }
    }
    return true;
}

/* Emits the trace; t->trace stays NULL when the schedule refuses. */
static enum pim_status emit(struct trial *t)
{
    const struct pim_trace_description description = {.family = "pimcomp",
                                                      .configuration = "",
                                                      .width = t->architecture.width,
                                                      .height = t->architecture.height,
                                                      .units = t->architecture.cores};
    const char *place = getenv("TMPDIR");
    struct pim_trace_writer *writer;
    (void)snprintf(t->path, sizeof t->path, "%.60s/pimsim-ht-%ld.bin", place ? place : "/tmp",
                   (long)getpid());
    ck_assert_int_eq(pim_trace_writer_create(t->path, &description, &writer, &t->error), PIM_OK);
    enum pim_status status = pim_core_schedule_high_throughput(&t->mapping, writer, &t->options,
                                                               &t->net.arena, &t->map, &t->error);
    if (status != PIM_OK) {
        pim_trace_writer_abandon(writer);
        return status;
    }
    ck_assert_msg(pim_trace_writer_finish(writer, &t->error) == PIM_OK, "%s", t->error.text);
    ck_assert_msg(pim_trace_open(t->path, &t->trace, &t->error) == PIM_OK, "%s", t->error.text);
    return PIM_OK;
}

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

struct seen {
    uint64_t by_opcode[PIM_OPCODES];
    uint64_t loaded, stored, sent;
    uint16_t *stores; /* of each element of the global memory */
};

static void look_at_programs(struct trial *t, struct seen *seen)
{
    seen->stores = PIM_ARENA_ARRAY(&t->net.arena, uint16_t, t->map.bytes / 2 + 1);
    for (uint32_t unit = 0; unit < t->architecture.cores; unit++) {
        struct pim_trace_cursor *cursor;
        const struct pim_instruction *i;
        ck_assert_int_eq(pim_trace_cursor_create(t->trace, unit, &cursor, &t->error), PIM_OK);
        while (pim_trace_cursor_next(cursor, &i, &t->error) == PIM_OK && i) {
            seen->by_opcode[i->opcode]++;
            if (i->opcode == PIM_OP_LOCAL_LOAD)
                seen->loaded += (uint64_t)i->u.transfer.bytes * i->u.transfer.count;
            if (i->opcode == PIM_OP_SEND)
                seen->sent += i->u.network.bytes;
            if (i->opcode != PIM_OP_LOCAL_STORE)
                continue;
            seen->stored += (uint64_t)i->u.transfer.bytes * i->u.transfer.count;
            for (uint32_t piece = 0; piece < i->u.transfer.count; piece++)
                for (uint32_t byte = 0; byte < i->u.transfer.bytes; byte += 2) {
                    uint64_t address = i->u.transfer.address + (uint64_t)piece * i->u.transfer.stride + byte;
                    ck_assert_uint_lt(address, t->map.bytes);
                    seen->stores[address / 2]++;
                }
        }
        pim_trace_cursor_destroy(cursor);
    }
}

/* Every element of every map that cores make is stored once for each sample, and nothing else is. */
static void check_stores(struct trial *t, const struct seen *seen)
{
    uint16_t *expected = PIM_ARENA_ARRAY(&t->net.arena, uint16_t, t->map.bytes / 2 + 1);
    uint64_t bytes = 0;
    for (uint32_t l = 0; l < t->network.count; l++) {
        const struct pim_core_layer *layer = &t->network.layer[l];
        const struct pim_core_place *place = &t->map.map[l];
        if (layer->kind == PIM_CORE_INPUT)
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
    struct seen seen = {0};
    const struct pim_core_counts *counts = &t->report.counts;
    look_at_programs(t, &seen);
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
    const struct pim_check_limits limits = {.kind = PIM_CHECK_CORES,
                                            .local_bytes = t->architecture.local_memory_bytes,
                                            .global_bytes = t->architecture.global_memory_bytes,
                                            .in_order = t->architecture.in_order,
                                            .window = t->architecture.in_order ? 0 : 8};
    struct pim_check_result result;
    ck_assert_msg(pim_trace_check(t->trace, &limits, &result, &t->error) == PIM_OK, "seed %" PRIu64 ": %s",
                  t->seed, t->error.text);
    ck_assert_uint_eq(result.messages, counts->messages);
    if (!t->options.batch)
        return; /* what the saturated round reads was made by rounds before */
    const struct pim_core_check_options check = {.samples = t->options.batch, .seed = t->seed + 5};
    struct pim_core_check_result values;
    ck_assert_msg(pim_core_check_values(&t->net.graph, &t->mapping, &t->map, t->trace, &check, &values,
                                        &t->error) == PIM_OK,
                  "seed %" PRIu64 ": %s", t->seed, t->error.text);
    ck_assert_uint_gt(values.elements, 0);
}

/* --- random networks --- */

static void random_hardware(struct trial *t, struct pim_random *random)
{
    static const uint64_t local[] = {3000, 8000, 1 << 16, 1 << 20};
    t->architecture.width = draw(random, 1, 3);
    t->architecture.height = draw(random, 1, 3);
    t->architecture.cores = t->architecture.width * t->architecture.height;
    t->architecture.array_rows = draw(random, 4, 40);
    t->architecture.array_columns = draw(random, 2, 16);
    t->architecture.arrays = draw(random, 100, 1200) / t->architecture.cores + 20;
    t->architecture.in_order = draw(random, 0, 1);
    t->architecture.synchronous = draw(random, 0, 1);
    t->architecture.local_memory_bytes = local[draw(random, 0, 3)];
    t->options.batch = draw(random, 0, 4);
    t->options.no_grouping = draw(random, 0, 3) == 0;
    t->options.reuse = (enum pim_core_reuse)draw(random, 0, 2);
}

/* A few convolutions with kernels, strides, dilations and padding of all kinds, and a pooling. */
static void random_odd_net(struct net *net, struct pim_random *random)
{
    uint32_t layer = net_input(net, draw(random, 1, 5), draw(random, 4, 11), draw(random, 4, 11));
    uint32_t count = draw(random, 1, 3);
    for (uint32_t i = 0; i < count; i++) {
        struct pim_sliding s = {.kernel = {1, 1}};
        for (uint32_t axis = 0; axis < 2; axis++) {
            uint32_t size = net->graph.layers[layer].output.dimension[2 + axis];
            s.kernel[axis] = draw(random, 1, 4);
            s.stride[axis] = draw(random, 1, 3);
            s.dilation[axis] = draw(random, 1, 2);
            uint32_t span = (s.kernel[axis] - 1) * s.dilation[axis] + 1;
            s.pad_before[axis] = draw(random, 0, span - 1);
            s.pad_after[axis] = draw(random, 0, span - 1);
            while (size + s.pad_before[axis] + s.pad_after[axis] < span)
                s.pad_after[axis]++;
        }
        layer = net_sliding_convolution(net, layer, draw(random, 1, 12), &s, 1, draw(random, 0, 1));
    }
    const uint32_t *extent = net->graph.layers[layer].output.dimension + 2;
    uint32_t kernel = draw(random, 1, 3);
    if (extent[0] >= kernel && extent[1] >= kernel)
        (void)net_pooling(net, layer, draw(random, 0, 1) ? PIM_POOLING_AVERAGE : PIM_POOLING_MAXIMUM, kernel,
                          draw(random, 1, 3), draw(random, 0, kernel / 2), draw(random, 0, 1));
}

/* 1 when the network fitted and all held. */
static uint32_t random_trial(uint64_t seed)
{
    struct pim_random random;
    struct trial t;
    pim_random_initialize(&random, seed);
    trial_begin(&t);
    t.seed = seed;
    if (seed % 3)
        net_random(&t.net, &random);
    else
        random_odd_net(&t.net, &random);
    random_hardware(&t, &random);
    enum pim_unfolding forced[512];
    for (size_t i = 0; i < sizeof forced / sizeof *forced; i++)
        forced[i] = (enum pim_unfolding)draw(&random, 0, PIM_UNFOLDINGS - 1);
    uint32_t done = 0;
    (void)pim_core_network_lower(&t.net.graph, "net", &t.net.arena, &t.network, &t.error);
    if (pim_core_partition_make(&t.network, &t.architecture, PIM_CORE_HIGH_THROUGHPUT, forced, &t.net.arena,
                                &t.partition, &t.error) == PIM_OK) {
        lower(&t, forced);
        if (lay_out(&t, &random, draw(&random, 1, 5))) {
            if (emit(&t) == PIM_OK) {
                check_trial(&t);
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
    uint32_t done = 0;
    printf("high throughput: seeds 1 to %d\n", NETWORKS);
    for (uint64_t seed = 1; seed <= NETWORKS; seed++)
        done += random_trial(seed);
    ck_assert_uint_gt(done, NETWORKS / 2); /* the others do not fit their accelerators */
}
END_TEST

/* --- local memory --- */

static void small_net(struct net *net)
{
    uint32_t stem = net_convolution(net, net_input(net, 3, 12, 12), 16, 3, 1, 1, 1, true);
    uint32_t first = net_convolution(net, stem, 16, 3, 1, 1, 1, true);
    uint32_t second =
        net_convolution(net, net_activation(net, first, PIM_ACTIVATION_RELU), 16, 3, 1, 1, 1, true);
    uint32_t sum = net_elementwise(net, second, stem, PIM_ELEMENTWISE_ADD);
    uint32_t pooled = net_pooling(net, sum, PIM_POOLING_MAXIMUM, 2, 2, 0, false);
    (void)net_linear(net, net_flatten(net, net_global_average(net, pooled)), 10, true);
}

/* Bytes that are loaded, and 0 when the schedule refused; *peak: the most that a core uses. */
static uint64_t loads_with(uint64_t local_bytes, bool in_order, uint64_t *peak, struct pim_error *error)
{
    struct pim_random random;
    struct trial t;
    uint64_t loaded = 0;
    pim_random_initialize(&random, 3);
    trial_begin(&t);
    small_net(&t.net);
    t.architecture.local_memory_bytes = local_bytes;
    t.architecture.in_order = in_order;
    t.options.batch = 2;
    lower(&t, NULL);
    ck_assert(lay_out(&t, &random, 3));
    *peak = 0;
    if (emit(&t) == PIM_OK) {
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
    trial_begin(&t);
    build(&t.net);
    t.options.batch = batch;
    t.options.no_grouping = no_grouping;
    lower(&t, NULL);
    ck_assert(lay_out(&t, &random, 2));
    ck_assert_msg(emit(&t) == PIM_OK, "%s", t.error.text);
    check_trial(&t);
    *layers = 0;
    for (uint32_t l = 0; l < t.network.count; l++)
        *layers += t.network.layer[l].kind != PIM_CORE_INPUT;
    struct pim_core_schedule_report report = t.report;
    report.group = NULL; /* ends with the trial */
    trial_end(&t);
    return report;
}

START_TEST(groups_are_fewer_than_layers)
{
    uint32_t layers;
    struct pim_core_schedule_report alone = report_of(small_net, 1, true, &layers);
    ck_assert_uint_eq(alone.groups, layers);
    struct pim_core_schedule_report grouped = report_of(small_net, 1, false, &layers);
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
    struct pim_core_counts one = report_of(small_net, 0, false, &layers).counts;
    uint32_t enough = report_of(small_net, 1, false, &layers).groups;
    struct pim_core_counts less = report_of(small_net, enough, false, &layers).counts;
    struct pim_core_counts more = report_of(small_net, enough + 1, false, &layers).counts;
    ck_assert_uint_eq(more.mvms - less.mvms, one.mvms);
    ck_assert_uint_eq(more.stored_bytes - less.stored_bytes, one.stored_bytes);
    ck_assert_uint_eq(more.messages - less.messages, one.messages);
    ck_assert_uint_eq(more.sent_bytes - less.sent_bytes, one.sent_bytes);
    ck_assert_uint_eq(more.vector_elements - less.vector_elements, one.vector_elements);
    ck_assert_uint_lt(more.loaded_bytes - less.loaded_bytes, one.loaded_bytes); /* biases are loaded once */
}
END_TEST

/* --- loads --- */

/* Bytes loaded for a convolution of 3 x 3 on a map of 4 x 10 x 9, all on one core. */
static uint64_t loaded_by(enum pim_unfolding unfolding, enum pim_core_reuse reuse)
{
    struct trial t;
    trial_begin(&t);
    (void)net_convolution(&t.net, net_input(&t.net, 4, 10, 9), 6, 3, 1, 0, 1, false);
    t.architecture.width = t.architecture.height = t.architecture.cores = 1;
    t.options.reuse = reuse;
    const enum pim_unfolding forced[] = {unfolding, unfolding};
    lower(&t, forced);
    struct pim_random random;
    pim_random_initialize(&random, 1);
    ck_assert(lay_out(&t, &random, 1));
    ck_assert_msg(emit(&t) == PIM_OK, "%s", t.error.text);
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

Suite *high_throughput_suite(void)
{
    Suite *suite = suite_create("high_throughput");
    TCase *tests = tcase_create("high_throughput");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, random_networks);
    tcase_add_test(tests, memory_is_bounded);
    tcase_add_test(tests, groups_are_fewer_than_layers);
    tcase_add_test(tests, independent_layers_share_a_group);
    tcase_add_test(tests, saturated_round_is_a_round_of_a_batch);
    tcase_add_test(tests, loads_are_those_of_the_table);
    suite_add_tcase(suite, tests);
    return suite;
}
