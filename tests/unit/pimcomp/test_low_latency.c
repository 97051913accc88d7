/*
 * The low-latency schedule: for random networks on random layouts the trace completes, computes the right
 * numbers, has the MVMs of the closed form, stores each output pixel once, and stays within the local
 * memory.
 */
#define _POSIX_C_SOURCE 200809L
#include "mappers/pimcomp/latency/messages.h"
#include "mappers/pimcomp/latency/state.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/partition/partition.h"
#include "mappers/pimcomp/schedule/schedule.h"
#include "sim/random.h"
#include "tests/unit/pimcomp/low_latency.h"
#include "tests/unit/pimcomp/trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NETWORKS = 120 };

/* Input vectors that the windows of columns [begin, end) of a layer with folds read: pixels, or rows of the
 * kernel at a column of windows, that lie in the map (in its rows, for the latter). */
static uint64_t vectors_of(const struct trial *t, uint32_t l, uint32_t begin, uint32_t end)
{
    const struct pim_core_layer *layer = &t->network.layer[l];
    const struct pim_sliding *sliding = &layer->sliding;
    bool pixels = t->partition.layer[l].unfolding == PIM_UNFOLDING_I_OKK_1;
    uint32_t height = layer->source[0].height, width = layer->source[0].width;
    uint32_t across = pixels ? width : layer->width;
    unsigned char *seen = PIM_ARENA_ARRAY(t->network.arena, unsigned char, height *across);
    uint64_t count = 0;
    for (uint32_t w = 0; w < layer->windows; w++) {
        uint32_t x = w % layer->width;
        for (uint32_t k = 0; x >= begin && x < end && k < sliding->kernel[0] * sliding->kernel[1]; k++) {
            int64_t down = (int64_t)(w / layer->width) * sliding->stride[0] - sliding->pad_before[0] +
                           (int64_t)(k / sliding->kernel[1]) * sliding->dilation[0];
            int64_t right = (int64_t)x * sliding->stride[1] - sliding->pad_before[1] +
                            (int64_t)(k % sliding->kernel[1]) * sliding->dilation[1];
            if (!pixels)
                right = x;
            if (down < 0 || down >= height || right < 0 || right >= across)
                continue;
            count += !seen[down * across + right];
            seen[down * across + right] = 1;
        }
    }
    return count;
}

/* MVMs of one inference: each group works on each window; with folds, on each input vector of its replica. */
static uint64_t closed_form(const struct trial *t)
{
    uint64_t mvms = 0;
    for (uint32_t l = 0; l < t->network.count; l++) {
        const struct pim_core_partition_layer *part = &t->partition.layer[l];
        uint32_t width = t->network.layer[l].width, replicas = t->layout.layer[l].replicas;
        if (part->groups == 0 || part->group[0].folds == 1) {
            mvms += (uint64_t)part->groups * t->network.layer[l].windows;
            continue;
        }
        replicas = replicas < width ? replicas : width;
        for (uint32_t r = 0; r < replicas; r++) /* blocks of columns, as even as they can be */
            mvms += part->groups * vectors_of(t, l, (r * width + replicas - 1) / replicas,
                                              ((r + 1) * width + replicas - 1) / replicas);
    }
    return mvms;
}

/* All that must hold of a trace. */
static void check_trial(struct trial *t)
{
    struct trial_seen seen = {0};
    trial_look(t, &seen);
    ck_assert_uint_eq(seen.by_opcode[PIM_OP_MVM], closed_form(t));
    ck_assert_uint_eq(seen.by_opcode[PIM_OP_MVM], t->report.counts.mvms);
    ck_assert_uint_eq(seen.by_opcode[PIM_OP_SEND], t->report.counts.messages);
    uint16_t *expected = PIM_ARENA_ARRAY(&t->net.arena, uint16_t, t->map.bytes / 2 + 1);
    for (uint32_t l = 0; l < t->network.count; l++) {
        const struct pim_core_layer *layer = &t->network.layer[l];
        for (uint32_t i = 0; layer->output && i < layer->windows * layer->channels; i++)
            expected[t->map.map[l].address / 2 + i] = 1;
    }
    ck_assert(memcmp(expected, seen.stores, t->map.bytes / 2 * sizeof *expected) == 0); /* each once */
    trial_check(t);
    trial_check_values(t, 1, 5);
}

/* --- random networks --- */

static void random_hardware(struct trial *t, struct pim_random *random)
{
    static const uint32_t thresholds[] = {0, 1, 5, 1000};
    trial_draw_hardware(t, random);
    t->options.transmit_threshold = thresholds[trial_draw(random, 0, 3)];
}

/* 1 when the network fitted and all held. */
static uint32_t random_trial(uint64_t seed)
{
    struct pim_random random;
    struct trial t;
    pim_random_initialize(&random, seed);
    trial_begin(&t, PIM_CORE_LOW_LATENCY);
    t.seed = seed;
    net_random(&t.net, &random);
    random_hardware(&t, &random);
    const enum pim_unfolding forced = (enum pim_unfolding)trial_draw(&random, 0, PIM_UNFOLDINGS);
    (void)pim_core_network_lower(&t.net.graph, "net", &t.net.arena, &t.network, &t.error);
    uint32_t done = 0;
    if (pim_core_partition_make(&t.network, &t.architecture, PIM_CORE_LOW_LATENCY, forced, &t.net.arena,
                                &t.partition, &t.error) == PIM_OK) {
        trial_lower(&t, forced);
        if (trial_lay_out(&t, &random, trial_draw(&random, 1, 5))) {
            ck_assert_msg(trial_emit(&t) == PIM_OK, "seed %" PRIu64 ": %s", seed, t.error.text);
            check_trial(&t);
            done = 1;
        }
    }
    trial_end(&t);
    return done;
}

START_TEST(random_networks)
{
    uint32_t done = 0;
    printf("low latency: seeds 1 to %d\n", NETWORKS);
    for (uint64_t seed = 1; seed <= NETWORKS; seed++)
        done += random_trial(seed);
    ck_assert_uint_gt(done, NETWORKS / 2); /* the others do not fit their accelerators */
}
END_TEST

/* --- unfoldings with folds --- */

/* MVMs of a convolution of 3 x 3 on a map of 6 x 6, on `replicas` replicas. */
static uint64_t mvms_of_fold(enum pim_unfolding unfolding, uint32_t replicas, uint32_t stride)
{
    struct trial t;
    trial_begin(&t, PIM_CORE_LOW_LATENCY);
    (void)net_convolution(&t.net, net_input(&t.net, 2, 6, 6), 3, 3, stride, 1, 1, true);
    t.architecture.array_rows = 32; /* one group */
    trial_lower(&t, unfolding);
    ck_assert_uint_eq(t.partition.layer[1].groups, 1);
    static uint32_t core[] = {0, 1, 2, 3, 4, 5};
    static struct pim_core_layout_layer layout[2];
    layout[1] = (struct pim_core_layout_layer){.replicas = replicas, .core = core};
    t.layout.layer = layout;
    ck_assert_msg(trial_emit(&t) == PIM_OK, "%s", t.error.text);
    check_trial(&t);
    uint64_t mvms = t.report.counts.mvms;
    trial_end(&t);
    return mvms;
}

START_TEST(folds_reuse_inputs)
{
    ck_assert_uint_eq(mvms_of_fold(PIM_UNFOLDING_I_OKK_1, 1, 1), 36); /* each input pixel once */
    ck_assert_uint_eq(mvms_of_fold(PIM_UNFOLDING_I_OKK_1, 2, 1), 48); /* blocks of 3 columns read 4 */
    ck_assert_uint_eq(mvms_of_fold(PIM_UNFOLDING_I_OKK_1, 6, 1), 96); /* 2 + 3 + 3 + 3 + 3 + 2 columns */
    ck_assert_uint_eq(mvms_of_fold(PIM_UNFOLDING_IK_OK_1, 1, 1), 36); /* input rows x columns of windows */
    ck_assert_uint_eq(mvms_of_fold(PIM_UNFOLDING_IK_OK_1, 3, 1), 36);
    ck_assert_uint_eq(mvms_of_fold(PIM_UNFOLDING_IK_OK_1, 1, 2), 18); /* 6 rows, 3 columns */
    ck_assert_uint_eq(mvms_of_fold(PIM_UNFOLDING_IKK_O_1, 1, 2), 9);
}
END_TEST

/* --- local memory --- */

/* The largest peak of the cores, and 0 when the schedule refused. */
static uint64_t peak_with(uint64_t local_bytes, bool keep, bool in_order, struct pim_error *error)
{
    struct pim_random random;
    struct trial t;
    uint64_t peak = 0;
    pim_random_initialize(&random, 3);
    trial_begin(&t, PIM_CORE_LOW_LATENCY);
    trial_small_net(&t.net);
    t.architecture.local_memory_bytes = local_bytes;
    t.architecture.in_order = in_order;
    t.options.keep_pixels = keep;
    trial_lower(&t, PIM_UNFOLDINGS);
    ck_assert(trial_lay_out(&t, &random, 3));
    if (trial_emit(&t) == PIM_OK) {
        for (uint32_t core = 0; core < t.architecture.cores; core++)
            peak = t.report.local_bytes[core] > peak ? t.report.local_bytes[core] : peak;
        if (!keep) {
            ck_assert_uint_le(peak, local_bytes);
            check_trial(&t);
        }
    }
    *error = t.error;
    trial_end(&t);
    return peak;
}

START_TEST(memory_is_bounded)
{
    for (int in_order = 0; in_order < 2; in_order++) {
        struct pim_error error;
        uint64_t free_running = peak_with(1 << 20, false, in_order, &error);
        uint64_t kept = peak_with(1 << 20, true, in_order, &error);
        ck_assert_uint_gt(kept, free_running); /* reclamation is worth something */
        /* With less and less memory it goes on, down to the refusal, which says what would be enough: and it
         * is. */
        uint64_t least = free_running;
        while (peak_with(least * 9 / 10, false, in_order, &error) > 0)
            least = least * 9 / 10;
        ck_assert_uint_lt(least, free_running * 3 / 4); /* throttled */
        const char *enough = strstr(error.text, "core.local_memory_bytes of ");
        ck_assert_msg(error.status == PIM_BAD_INPUT && enough && strstr(error.text, "bytes are missing"),
                      "%s", error.text);
        uint64_t bytes = strtoull(enough + strlen("core.local_memory_bytes of "), NULL, 10);
        ck_assert_uint_ge(bytes, least * 9 / 10);
        ck_assert_uint_gt(peak_with(bytes, false, in_order, &error), 0);
        ck_assert_uint_eq(peak_with(100, false, in_order, &error), 0);
        ck_assert_ptr_nonnull(strstr(error.text, "convolution1: "));
    }
}
END_TEST

/* Windows without a pixel in common are pooled as their pixels come, also from the global memory: no core
 * holds a window, let alone the map. */
START_TEST(large_poolings_hold_little)
{
    for (unsigned c = 0; c < 8; c++) {
        bool average = c & 1, behind = c & 2, in_order = c & 4;
        struct pim_random random;
        struct trial t;
        pim_random_initialize(&random, 5);
        trial_begin(&t, PIM_CORE_LOW_LATENCY);
        uint32_t from = net_input(&t.net, 4, 40, 40);
        if (behind)
            from = net_convolution(&t.net, from, 4, 1, 1, 0, 1, false);
        uint32_t pooled =
            net_pooling(&t.net, from, average ? PIM_POOLING_AVERAGE : PIM_POOLING_MAXIMUM, 21, 21, 1, false);
        (void)net_convolution(&t.net, pooled, 3, 2, 1, 0, 1, true);
        t.architecture.local_memory_bytes = 2048; /* a window has 21 x 21 x 4 elements, 3528 bytes */
        t.architecture.in_order = in_order;
        trial_lower(&t, PIM_UNFOLDINGS);
        ck_assert(trial_lay_out(&t, &random, 2));
        ck_assert_msg(trial_emit(&t) == PIM_OK, "%s", t.error.text);
        check_trial(&t);
        trial_end(&t);
    }
}
END_TEST

/* Windows that overlap are held whole: what has no room is refused at once; a byte more is enough. */
START_TEST(large_windows_are_refused)
{
    for (unsigned c = 0; c < 4; c++) {
        bool padded = c & 1, behind = c & 2;
        struct pim_random random;
        struct trial t;
        pim_random_initialize(&random, 5);
        trial_begin(&t, PIM_CORE_LOW_LATENCY);
        uint32_t from = net_input(&t.net, 4, 12, 10);
        if (behind)
            from = net_convolution(&t.net, from, 4, 1, 1, 0, 1, false);
        uint32_t pooled = net_pooling(&t.net, from, PIM_POOLING_MAXIMUM, 9, 1, padded ? 1 : 0, false);
        (void)net_convolution(&t.net, pooled, 3, 1, 1, 0, 1, true);
        uint64_t window = 9 * 9 * 8 + 8; /* four channels, and the output pixel */
        t.architecture.local_memory_bytes = window - 1;
        trial_lower(&t, PIM_UNFOLDINGS);
        ck_assert(trial_lay_out(&t, &random, 2));
        ck_assert_int_eq(trial_emit(&t), PIM_BAD_INPUT);
        ck_assert_msg(
            strstr(t.error.text, "its windows overlap or are dilated, and the pixels of one take 656 bytes"),
            "%s", t.error.text);
        t.architecture.local_memory_bytes = window;
        if (trial_emit(&t) != PIM_OK)
            ck_assert_ptr_null(strstr(t.error.text, "its windows overlap"));
        trial_end(&t);
    }
}
END_TEST

/* --- order of messages --- */

START_TEST(no_pixel_goes_twice)
{
    /* One convolution of 1 x 1 behind another, two replicas each, on cores of their own: every second pixel
     * goes to each core of the second layer, once. */
    struct trial t;
    trial_begin(&t, PIM_CORE_LOW_LATENCY);
    uint32_t layer = net_convolution(&t.net, net_input(&t.net, 2, 6, 6), 8, 1, 1, 0, 1, false);
    (void)net_convolution(&t.net, layer, 8, 3, 1, 1, 1, false);
    t.architecture.array_rows = 128;
    trial_lower(&t, PIM_UNFOLDINGS);
    static uint32_t first[] = {0, 1}, second[] = {2, 3};
    static struct pim_core_layout_layer layout[3];
    layout[0] = (struct pim_core_layout_layer){.replicas = 0};
    layout[1] = (struct pim_core_layout_layer){.replicas = 2, .core = first};
    layout[2] = (struct pim_core_layout_layer){.replicas = 2, .core = second};
    t.layout.layer = layout;
    ck_assert_int_eq(trial_emit(&t), PIM_OK);
    check_trial(&t);
    ck_assert_uint_eq(t.report.counts.messages,
                      36 * 2); /* both replicas read every pixel of a 3 x 3 neighbourhood */
    trial_end(&t);
}
END_TEST

/* Against its rules, written down again without a sort or a chain. */
enum { ORDERS = 400, CORES = 6, MESSAGES = 40 };

struct message {
    uint32_t source, receiver;
    bool sent;
};

/* Of the cores that have not had their turn in this round and have something to send: the one with the most
 * messages left to send and to receive, the lower of two. CORES: none. */
static uint32_t next_source(const struct message *messages, uint32_t count, const uint32_t left[CORES],
                            const bool had[CORES])
{
    uint32_t best = CORES;
    for (uint32_t core = 0; core < CORES; core++) {
        bool sends = false;
        for (uint32_t i = 0; i < count; i++)
            sends = sends || (!messages[i].sent && messages[i].source == core);
        if (sends && !had[core] && (best == CORES || left[core] > left[best]))
            best = core;
    }
    return best;
}

/* Rounds until all are sent: `order` has the numbers of the messages. Who goes first in a round is fixed at
 * its beginning. */
static void list_schedule(struct message *messages, uint32_t count, bool in_order, uint32_t order[MESSAGES])
{
    for (uint32_t sent = 0; sent < count;) {
        uint32_t left[CORES] = {0};
        bool sends[CORES] = {false}, receives[CORES] = {false}, had[CORES] = {false};
        for (uint32_t i = 0; i < count; i++)
            if (!messages[i].sent) {
                left[messages[i].source]++;
                left[messages[i].receiver]++;
            }
        for (uint32_t source; (source = next_source(messages, count, left, had)) < CORES;) {
            had[source] = true;
            for (uint32_t i = 0; i < count; i++) {
                struct message *message = &messages[i];
                const bool free = !sends[source] && !receives[message->receiver] &&
                                  !(in_order && (receives[source] || sends[message->receiver]));
                if (message->sent || message->source != source || !free)
                    continue;
                message->sent = sends[source] = receives[message->receiver] = true;
                order[sent++] = i;
                break;
            }
        }
    }
}

static void put(struct pim_core_stage *stage, uint32_t core, uint32_t number)
{
    stage->staged[stage->count++] =
        (struct pim_core_staged){.core = core, .instruction = {.u = {.network = {.tag = number}}}};
}

START_TEST(messages_go_by_the_rules)
{
    struct pim_random random;
    struct pim_arena arena;
    pim_random_initialize(&random, UINT64_C(0x6f72646572) + (uint64_t)_i);
    pim_arena_initialize(&arena, 4096);
    struct pim_ll ll = {.arena = &arena, .cores = CORES, .in_order = _i % 2 == 1};
    ck_assert(pim_ll_order_create(&ll));
    for (int turn = 0; turn < ORDERS; turn++) {
        struct message messages[MESSAGES];
        struct pim_core_staged staged[2 * MESSAGES];
        struct pim_core_stage stage = {.staged = staged};
        uint32_t order[MESSAGES], count = 1 + (uint32_t)pim_random_below(&random, MESSAGES);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t source = (uint32_t)pim_random_below(&random, CORES),
                           away = 1 + (uint32_t)pim_random_below(&random, CORES - 1);
            messages[i] = (struct message){.source = source, .receiver = (source + away) % CORES};
            put(&stage, source, i);
            put(&stage, messages[i].receiver, i);
        }
        list_schedule(messages, count, ll.in_order, order);
        pim_ll_order_messages(&ll, &stage);
        ck_assert_int_eq(ll.status, PIM_OK);
        ck_assert_uint_eq(stage.count, 2 * count);
        for (uint32_t i = 0; i < count; i++) {
            ck_assert_uint_eq(staged[2 * i].instruction.u.network.tag, order[i]);
            ck_assert_uint_eq(staged[2 * i].core, messages[order[i]].source);
            ck_assert_uint_eq(staged[2 * i + 1].instruction.u.network.tag, order[i]);
            ck_assert_uint_eq(staged[2 * i + 1].core, messages[order[i]].receiver);
        }
    }
    pim_ll_order_destroy(ll.order);
    pim_arena_terminate(&arena);
}
END_TEST

Suite *low_latency_suite(void)
{
    Suite *suite = suite_create("low_latency");
    TCase *tests = tcase_create("low_latency");
    tcase_add_test(tests, random_networks);
    tcase_add_test(tests, folds_reuse_inputs);
    tcase_add_test(tests, memory_is_bounded);
    tcase_add_test(tests, large_poolings_hold_little);
    tcase_add_test(tests, large_windows_are_refused);
    tcase_add_test(tests, no_pixel_goes_twice);
    tcase_add_loop_test(tests, messages_go_by_the_rules, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
