/* Layers that read what several others make: estimates of phases, and of the whole, against cycles. */
#include "mappers/overlapim/chain/bus.h"
#include "mappers/overlapim/chain/intake.h"
#include "mappers/overlapim/layers.h"
#include "mappers/overlapim/search.h"
#include "tests/unit/overlap/replay.h"
#include "tests/unit/overlap/suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A network under construction; layers are named by a letter and their number. */
struct building {
    struct pim_arena arena;
    struct pim_network network;
};

static uint32_t add(struct building *b, enum pim_operator operation, const union pim_attributes *attributes,
                    uint32_t inputs, const uint32_t *input)
{
    struct pim_error error = {PIM_OK, ""};
    uint32_t index = 0;
    char name[32];
    (void)snprintf(name, sizeof name, "%s%u", pim_operator_name(operation), b->network.graph.count);
    const struct pim_layer_description description = {.name = name,
                                                      .operation = operation,
                                                      .stage = PIM_NONE,
                                                      .block = PIM_NONE,
                                                      .inputs = inputs,
                                                      .input = input,
                                                      .attributes = *attributes};
    ck_assert_msg(pim_graph_add(&b->network.graph, &description, &index, &error) == PIM_OK, "%s", error.text);
    return index;
}

static uint32_t begin(struct building *b, const char *name, uint32_t channels, uint32_t side)
{
    const union pim_attributes attributes = {.shape = {.rank = 4, .dimension = {1, channels, side, side}}};
    memset(b, 0, sizeof *b);
    pim_arena_initialize(&b->arena, 0);
    pim_graph_initialize(&b->network.graph, &b->arena);
    b->network.name = name;
    return add(b, PIM_OPERATOR_INPUT, &attributes, 0, NULL);
}

static void set_window(struct pim_sliding *sliding, uint32_t kernel)
{
    for (unsigned axis = 0; axis < 2; axis++) {
        sliding->kernel[axis] = kernel;
        sliding->stride[axis] = sliding->dilation[axis] = 1;
        sliding->pad_before[axis] = sliding->pad_after[axis] = kernel / 2;
    }
}

static uint32_t conv(struct building *b, uint32_t input, uint32_t outputs, uint32_t kernel)
{
    union pim_attributes attributes = {.convolution = {.outputs = outputs, .groups = 1, .bias = true}};
    set_window(&attributes.convolution.sliding, kernel);
    return add(b, PIM_OPERATOR_CONVOLUTION, &attributes, 1, &input);
}

static uint32_t pool(struct building *b, uint32_t input)
{
    union pim_attributes attributes = {.pooling = {.kind = PIM_POOLING_AVERAGE, .global = true}};
    return add(b, PIM_OPERATOR_POOLING, &attributes, 1, &input);
}

static uint32_t concat(struct building *b, uint32_t first, uint32_t second, uint32_t third)
{
    const uint32_t inputs[] = {first, second, third};
    const union pim_attributes attributes = {.concat = {.axis = 1}};
    return add(b, PIM_OPERATOR_CONCAT, &attributes, third == PIM_NONE ? 2 : 3, inputs);
}

/* Branches of unequal lengths and channels. */
static void two(struct building *b)
{
    uint32_t first = conv(b, begin(b, "two", 16, 8), 16, 3);
    (void)conv(b, concat(b, conv(b, first, 16, 1), conv(b, first, 48, 3), PIM_NONE), 24, 1);
}

static void three(struct building *b)
{
    uint32_t first = conv(b, begin(b, "three", 16, 9), 16, 3), left = conv(b, first, 7, 1),
             middle = conv(b, first, 31, 3), right = conv(b, first, 13, 5);
    (void)conv(b, conv(b, concat(b, left, middle, right), 24, 3), 8, 1);
}

static void primes(struct building *b)
{
    uint32_t first = conv(b, begin(b, "primes", 13, 7), 11, 3), left = conv(b, first, 7, 1),
             middle = conv(b, first, 5, 3), right = conv(b, middle, 23, 3);
    uint32_t behind = conv(b, concat(b, left, middle, right), 17, 3);
    (void)conv(b, concat(b, behind, first, PIM_NONE), 19, 1);
}

/* A concatenation of one, one with the input of the network, and a pooling behind one. */
static void nested(struct building *b)
{
    uint32_t input = begin(b, "nested", 16, 8), first = conv(b, input, 16, 3), left = conv(b, first, 8, 1),
             middle = conv(b, first, 8, 3), inner = concat(b, left, middle, PIM_NONE);
    uint32_t outer = concat(b, inner, conv(b, input, 12, 3), left);
    (void)pool(b, concat(b, conv(b, outer, 32, 1), input, conv(b, inner, 8, 3)));
}

/* Skip connections over more layers than the array has channels for. */
static void skips(struct building *b)
{
    uint32_t first = conv(b, begin(b, "skips", 8, 8), 8, 3), all = first;
    for (unsigned i = 0; i < 4; i++)
        all = concat(b, all, conv(b, conv(b, all, 12, 1), 8, 3), PIM_NONE);
    (void)conv(b, all, 16, 1);
}

/* Fire modules: steps that load or store are not all of them. */
static void fires(struct building *b)
{
    uint32_t all = conv(b, begin(b, "fires", 32, 10), 32, 3);
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t squeeze = conv(b, all, 8, 1);
        all = concat(b, conv(b, squeeze, 32, 1), conv(b, squeeze, 32, 3), PIM_NONE);
    }
    (void)conv(b, all, 10, 1);
}

static void (*const networks[])(struct building *) = {two, three, primes, nested, skips, fires};

START_TEST(estimates_of_concatenations)
{
    static const char *const costs[] = {"levels.costs=figure", "levels.costs=commands"};
    struct building built;
    const unsigned number = (unsigned)PIM_CASE(_i), objective = number % PIM_OBJECTIVES,
                   of = number / PIM_OBJECTIVES;
    const char *const settings[] = {costs[of % 2], NULL};
    networks[of / 2](&built);
    check_built(&(struct built_replay){&built.network, settings, objective, 100, 2, 3, 10, false});
    pim_arena_terminate(&built.arena);
}
END_TEST

/* Layers on four channels: no sender waits for the message of another. */
START_TEST(estimates_of_four_channels)
{
    static const char *const costs[] = {"levels.costs=figure", "levels.costs=commands"};
    const char *const settings[] = {costs[_i % 2], NULL};
    struct building built;
    networks[_i / 2](&built);
    check_built(&(struct built_replay){&built.network, settings, PIM_OBJECTIVE_AHEAD, 100, 4, 2, 10, false});
    pim_arena_terminate(&built.arena);
}
END_TEST

/* The link out of a channel, the one into another, and the bus, each narrow or wide beside the memory. */
START_TEST(estimates_of_narrow_links)
{
    static const char *const cases[][4] = {
        {"levels.costs=commands", "levels.channel_bytes=8", "levels.bus_bytes=256", NULL},
        {"levels.costs=commands", "levels.channel_bytes=64", "levels.bus_bytes=256", NULL},
        {"levels.costs=commands", "levels.channel_bytes=32", "levels.bus_bytes=8", NULL},
        {"levels.costs=figure", "levels.channel_bytes=64", "levels.bus_bytes=256", NULL},
    };
    struct building built;
    primes(&built);
    check_built(
        &(struct built_replay){&built.network, cases[_i], PIM_OBJECTIVE_ORIGINAL, 100, 2, 3, 10, false});
    pim_arena_terminate(&built.arena);
}
END_TEST

/* What came over the bus while a layer waited does not take its steps, however many sent it; and where the
 * first step needs all of a producer, all goes in one message behind its end. */
START_TEST(estimate_of_a_slow_bus)
{
    static const char *const settings[] = {"array.width=4", "levels.bus_bytes=1", NULL};
    struct building built;
    uint32_t first = conv(&built, begin(&built, "bus", 16, 8), 64, 3);
    uint32_t second = conv(&built, first, 64, 5), third = conv(&built, second, 64, 5);
    (void)conv(&built, concat(&built, first, second, third), 16, 1);
    const struct built_replay replay = {&built.network, settings, PIM_OBJECTIVE_ORIGINAL, 100, 2, 1, 5,
                                        false};
    check_built(&replay);
    check_built_random(&replay);
    pim_arena_terminate(&built.arena);
}
END_TEST

/* A layer sends to one reader after the other: the third waits for two messages. */
START_TEST(estimate_of_several_readers)
{
    static const char *const settings[] = {"array.width=2", "array.height=8", "levels.bus_bytes=1", NULL};
    struct building built;
    const uint32_t first = conv(&built, begin(&built, "readers", 16, 8), 64, 3);
    const uint32_t left = conv(&built, first, 16, 1), middle = conv(&built, first, 16, 1);
    (void)concat(&built, left, middle, conv(&built, conv(&built, first, 64, 5), 16, 1));
    check_built(
        &(struct built_replay){&built.network, settings, PIM_OBJECTIVE_ORIGINAL, 100, 2, 1, 5, false});
    pim_arena_terminate(&built.arena);
}
END_TEST

/* Programs longer than the window: from the producer that ends last row by row, from others in one message
 * when they have ended. */
START_TEST(estimate_of_a_small_window)
{
    static const char *const settings[] = {"unit.window=64", "levels.channel_bytes=2", NULL};
    struct building built;
    const uint32_t first = conv(&built, begin(&built, "window", 16, 14), 32, 3);
    const uint32_t left = conv(&built, first, 32, 3), right = conv(&built, first, 32, 3);
    (void)conv(&built, concat(&built, left, right, PIM_NONE), 16, 3);
    check_built(&(struct built_replay){&built.network, settings, PIM_OBJECTIVE_AHEAD, 100, 2, 3, 100, false});
    pim_arena_terminate(&built.arena);
}
END_TEST

/* Layers that take over channels wait until those before have sent all to all their readers. */
START_TEST(estimates_of_turns)
{
    static const struct {
        const char *settings[4];
        bool ends;
    } cases[] = {
        {{"array.width=4", "array.height=2", "levels.bus_bytes=8", NULL}, false},
        {{"array.width=4", "array.height=1", "levels.bus_bytes=256", NULL}, true},
        {{"array.width=4", "array.height=1", "levels.costs=commands", NULL}, true},
    };
    struct building built;
    skips(&built);
    check_built(&(struct built_replay){&built.network, cases[_i].settings, PIM_OBJECTIVE_ORIGINAL, 100,
                                       cases[_i].ends ? 2 : 1, 3, 100, cases[_i].ends});
    pim_arena_terminate(&built.arena);
}
END_TEST

/* Four layers at a time, which hand over at their ends: the fifth takes what the last one of all reads from
 * the fourth, a long one, before its own first row, though it reads the third alone. */
START_TEST(estimates_of_what_is_taken_for_others)
{
    static const char *const settings[] = {"array.width=16", "array.height=1", "levels.costs=commands", NULL};
    struct building built;
    const uint32_t first = conv(&built, conv(&built, begin(&built, "others", 8, 7), 16, 1), 16, 1),
                   third = conv(&built, first, 7, 3), fourth = conv(&built, first, 16, 5),
                   both = concat(&built, fourth, conv(&built, third, 7, 3), PIM_NONE),
                   left = conv(&built, both, 5, 5), middle = conv(&built, both, 5, 5),
                   right = conv(&built, both, 7, 1);
    (void)conv(&built, concat(&built, concat(&built, left, middle, right), fourth, PIM_NONE), 16, 1);
    check_built(&(struct built_replay){&built.network, settings, (unsigned)PIM_CASE(_i), 60, 4, 3, 30, true});
    pim_arena_terminate(&built.arena);
}
END_TEST

/* A producer and its reader on the same channels: what a channel has made itself stays in it, and the banks
 * of one that both sends and receives do so one after the other. The second with mappings of the
 * whole space: those of the local search hand over at ends. */
START_TEST(estimates_of_shared_channels)
{
    static const struct {
        const char *array, *costs;
        unsigned channels;
        double percent;
    } cases[] = {
        {"array.width=1", "levels.costs=figure", 1, 0.001}, {"array.width=1", "levels.costs=commands", 1, 1},
        {"array.width=2", "levels.costs=figure", 2, 1},     {"array.width=2", "levels.costs=commands", 2, 1},
        {"array.width=4", "levels.costs=figure", 4, 2},     {"array.width=4", "levels.costs=commands", 4, 2},
    };
    const char *const settings[] = {cases[_i].array, "array.height=1", cases[_i].costs, NULL};
    struct building built;
    two(&built);
    check_built(&(struct built_replay){&built.network, settings, PIM_OBJECTIVE_ORIGINAL, 100,
                                       cases[_i].channels, cases[_i].percent, 100, cases[_i].channels > 1});
    pim_arena_terminate(&built.arena);
    const uint32_t first = conv(&built, begin(&built, "pooled", 3, 9), 8, 3);
    (void)pool(&built, conv(&built, first, 8, 1));
    check_built_random(&(struct built_replay){&built.network, settings, PIM_OBJECTIVE_ORIGINAL, 100,
                                              cases[_i].channels, cases[_i].percent, 8, false});
    pim_arena_terminate(&built.arena);
}
END_TEST

/* What comes from each producer, by its channels; of operands that are no concatenation, the same of each. */
START_TEST(shares)
{
    struct building built;
    struct pim_mapped_layers layers;
    struct pim_error error = {PIM_OK, ""};
    two(&built);
    ck_assert(pim_mapped_layers_make(&built.network, &layers, &error) == PIM_OK);
    const struct pim_mapped_layer *first = &layers.layer[0], *behind = &layers.layer[3];
    ck_assert_uint_eq(behind->links, 2);
    ck_assert_uint_eq(behind->operands, 1);
    ck_assert_uint_eq(pim_intake_share(behind, 1000, 0), 0);
    ck_assert_uint_eq(pim_intake_share(behind, 1000, 1), 250);
    ck_assert_uint_eq(pim_intake_share(behind, 1000, 2), 1000);
    ck_assert_uint_eq(pim_intake_share(first, 1000, 0), 0); /* the input of the network comes from none */
    ck_assert_uint_eq(pim_intake_share(first, 1000, 1), 1000);
    const struct pim_machine machine = {.stacks = 1, .channels = 8};
    const struct pim_search_inputs inputs = {.layers = &layers, .machine = &machine, .channels = 2};
    const struct pim_intake by_row = {.latest = 1, .each_row = true}, latest = {.latest = 1},
                            ends = {.latest = 1, .each_row = true, .ends = true};
    for (uint32_t j = 0; j < 2; j++) { /* in one message: never, from the first, from both */
        ck_assert(!pim_intake_whole(&inputs, by_row, 3, j));
        ck_assert(pim_intake_whole(&inputs, latest, 3, j) == (j == 0));
        ck_assert(pim_intake_whole(&inputs, ends, 3, j));
    }
    ck_assert(!pim_intake_whole(&inputs, ends, 1, 0)); /* one producer, of the same turn */
    pim_mapped_layers_terminate(&layers);
    pim_arena_terminate(&built.arena);
    nested(&built);
    ck_assert(pim_mapped_layers_make(&built.network, &layers, &error) == PIM_OK);
    const struct pim_mapped_layer *last = &layers.layer[layers.count - 1];
    ck_assert(!last->product);
    ck_assert_uint_eq(last->links, 2);
    ck_assert_uint_eq(last->operands, 1); /* whose words it has once, not once for each producer */
    pim_mapped_layers_terminate(&layers);
    pim_arena_terminate(&built.arena);
}
END_TEST

/* Banks that are written are taken until the last row has come over the link into their channel, a message is
 * there when the links and the bus have carried it, and the next may follow when it has left its own. */
START_TEST(messages_over_narrow_links)
{
    const struct pim_machine machine = {.stacks = 1,
                                        .channels = 8,
                                        .columns = 8192,
                                        .channel_bytes = 1,
                                        .bus_bytes = 256,
                                        .costs = PIM_MACHINE_COMMANDS,
                                        .refresh_interval_cycles = 2};
    const struct pim_step_cost two = {.channels = 2, .banks = 4, .stores = 4, .sent = 64},
                               one = {.channels = 1, .banks = 4, .stores = 4, .sent = 64};
    const struct pim_way way = {0, 2};
    struct pim_handover in = pim_hand_over(&machine, &two, &one, 4, way),
                        out = pim_hand_over(&machine, &one, &two, 4, way);
    ck_assert_uint_eq(in.sent, 16 * 4 * 1024); /* 16 rows of each of four banks */
    ck_assert_uint_eq(in.message, 2 * in.sent);
    ck_assert_uint_eq(in.writing, 2 * 16 * 4 * 1024);
    ck_assert_uint_eq(out.message, 16 * 4 * 1024);
    ck_assert_uint_eq(out.sent, out.message);
    ck_assert_uint_eq(out.writing, 8 * 4 * 1024);
    const struct pim_way own = {2, 2}; /* on the same channels, the half of a row that is another's goes */
    in = pim_hand_over(&machine, &two, &two, 4, own);
    ck_assert_uint_eq(in.message, 8 * 4 * 1024);
    ck_assert_uint_eq(in.writing, in.message);
    out = pim_hand_over(&machine, &one, &one, 4, own);
    ck_assert_uint_eq(out.message + out.sent + out.writing + out.ready, 0);
}
END_TEST

/* Time of the bus that is taken is not given again, in whatever order it is asked for. */
START_TEST(time_of_the_bus)
{
    static const struct {
        uint64_t from, cycles, end, count;
    } served[] = {
        {100, 10, 110, 1}, {200, 10, 210, 2}, {50, 10, 60, 3},  {105, 5, 115, 3},  {55, 45, 120, 2},
        {0, 0, 0, 2},      {0, 60, 130, 2},   {300, 1, 301, 3}, {130, 70, 200, 3}, {221, 80, 302, 3},
    };
    struct pim_bus bus = {0};
    struct pim_error error = {PIM_OK, ""};
    for (size_t i = 0; i < sizeof served / sizeof served[0]; i++) {
        uint64_t end;
        ck_assert(pim_bus_serve(&bus, served[i].from, served[i].cycles, &end, &error) == PIM_OK);
        ck_assert_msg(end == served[i].end, "%zu: ends at %" PRIu64 ", not %" PRIu64, i, end, served[i].end);
        ck_assert_uint_eq(bus.count, served[i].count);
        for (uint64_t j = 1; j < bus.count; j++)
            ck_assert_uint_le(bus.taken[j - 1].to, bus.taken[j].from);
    }
    pim_bus_terminate(&bus);
}
END_TEST

/* Rows take what falls on them: together what the steps take in the mean. */
START_TEST(events_of_rows)
{
    struct pim_overlap_layer layer;
    struct pim_error error = {PIM_OK, ""};
    pim_overlap_layer_initialize(&layer);
    layer.workload.size[PIM_P] = 6;
    layer.nest = (struct pim_nest){.loop = {{.dimension = PIM_P, .count = 6}}, .loops = 1, .cut = 1};
    layer.latency = 100;
    layer.loads = (struct pim_overlap_events){2, 30, 1};
    layer.stores = (struct pim_overlap_events){3, 20, 2};
    ck_assert_msg(pim_overlap_layer_derive(&layer, 0, &error) == PIM_OK, "%s", error.text);
    static const uint64_t rows[] = {110, 100, 80, 130, 80, 100}, fewer[] = {110, 100, 80, 100};
    for (uint64_t i = 0; i < 6; i++)
        ck_assert_uint_eq(pim_overlap_row_latency(&layer, i, 6), rows[i]);
    layer.transformed = true; /* loads and stores that exist, on rows that are left */
    for (uint64_t i = 0; i < 4; i++)
        ck_assert_uint_eq(pim_overlap_row_latency(&layer, i, 4), fewer[i]);
    layer.stores.ticks = 300;
    ck_assert(pim_overlap_layer_derive(&layer, 0, &error) == PIM_BAD_INPUT);
    pim_overlap_layer_terminate(&layer);
}
END_TEST

Suite *concat_suite(void)
{
    Suite *suite = suite_create("concat");
    TCase *tests = tcase_create("concat");
    tcase_add_loop_test(tests, estimates_of_concatenations, 0,
                        PIM_CASES(sizeof networks / sizeof networks[0] * 2 * PIM_OBJECTIVES));
    tcase_add_loop_test(tests, estimates_of_four_channels, 0, sizeof networks / sizeof networks[0] * 2);
    tcase_add_loop_test(tests, estimates_of_narrow_links, 0, 4);
    tcase_add_loop_test(tests, estimates_of_turns, 0, 3);
    tcase_add_loop_test(tests, estimates_of_what_is_taken_for_others, 0, PIM_CASES(PIM_OBJECTIVES));
    tcase_add_loop_test(tests, estimates_of_shared_channels, 0, 6);
    tcase_add_test(tests, estimate_of_a_slow_bus);
    tcase_add_test(tests, estimate_of_several_readers);
    tcase_add_test(tests, estimate_of_a_small_window);
    tcase_add_test(tests, shares);
    tcase_add_test(tests, messages_over_narrow_links);
    tcase_add_test(tests, time_of_the_bus);
    tcase_add_test(tests, events_of_rows);
    suite_add_tcase(suite, tests);
    return suite;
}
