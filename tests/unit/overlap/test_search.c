/* The mapping space, the performance model, the layers of networks, and the search. */
#include "mappers/mappers.h"
#include "mappers/overlapim/chain/run.h"
#include "mappers/overlapim/constraints.h"
#include "mappers/overlapim/plan.h"
#include "models/system/schema.h"
#include "sim/output/json.h"
#include "tests/unit/overlap/setting.h"
#include "tests/unit/overlap/suites.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pim_machine machine_of_figure(void)
{
    return (struct pim_machine){.stacks = 4,
                                .channels = 32,
                                .banks = 8,
                                .columns = 8192,
                                .rows = 32736,
                                .word_bits = 16,
                                .channel_bytes = 16,
                                .bus_bytes = 256,
                                .costs = PIM_MACHINE_FIGURE,
                                .add_cycles = 196,
                                .multiply_cycles = 980,
                                .aap_busy = {49, 49, 50, 49, 49, 51, 56, 64},
                                .aap_busy_count = 8,
                                .refresh_cycles = 310,
                                .refresh_interval_cycles = 3900,
                                .row_overhead_cycles = 42};
}

/* --- the space --- */

START_TEST(samples_fit)
{
    struct pim_random random;
    struct pim_machine machine = machine_of_figure();
    uint64_t drawn = 0, most = 0;
    pim_random_initialize(&random, 11);
    for (unsigned i = 0; i < 3000; i++) {
        struct pim_mapped_layer layer = {.name = "layer", .product = true};
        struct pim_mapping_space space;
        struct pim_error error = {PIM_OK, ""};
        struct pim_step_cost cost;
        struct pim_overlap_layer overlap_layer;
        struct pim_schedule none = {0};
        struct pim_overlap overlap;
        pim_workload_initialize(&layer.workload);
        for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
            layer.workload.size[d] = (uint32_t)pim_random_between(&random, 1, d < PIM_R ? 64 : 3);
        layer.workload.size[PIM_P] = 197; /* a prime */
        pim_mapping_space_initialize(&space, &layer.workload, 2, 8, 8192, 4096);
        pim_overlap_layer_initialize(&overlap_layer);
        if (!pim_mapping_space_sample(&space, &random, &overlap_layer.nest))
            continue;
        drawn++;
        overlap_layer.workload = layer.workload;
        ck_assert_msg(pim_overlap_layer_derive(&overlap_layer, 0, &error) == PIM_OK, "%s", error.text);
        const struct pim_strides *strides = &overlap_layer.strides;
        ck_assert_uint_le(strides->steps * strides->banks, 4096);
        ck_assert_uint_le(used(&overlap_layer.nest, PIM_LEVEL_CHANNEL), 2);
        ck_assert_uint_le(used(&overlap_layer.nest, PIM_LEVEL_BANK), 8);
        ck_assert_uint_le(used(&overlap_layer.nest, PIM_LEVEL_COLUMN), 8192);
        ck_assert(pim_overlap_initialize(&overlap, &overlap_layer, 0, &none, &error) == PIM_OK);
        ck_assert(overlap.regular);
        pim_overlap_terminate(&overlap);
        (void)pim_step_cost(&machine, &layer, &space, &overlap_layer.nest, strides, &cost);
        ck_assert_uint_ge(strides->steps * cost.multiply, pim_layer_bound(&machine, &layer, 2));
        uint64_t lanes = strides->banks * used(&overlap_layer.nest, PIM_LEVEL_COLUMN);
        most = lanes > most ? lanes : most;
    }
    ck_assert_uint_ge(drawn, 2500);
    ck_assert_uint_ge(most, 2 * 8 * 8192 / 2); /* primes do not keep the memory idle */
}
END_TEST

/* Rows outermost in time, never side by side; what the user has pinned stays. */
START_TEST(samples_by_rows)
{
    struct pim_workload workload;
    struct pim_mapping_space space;
    struct pim_random random;
    struct pim_nest nest;
    unsigned drawn = 0;
    pim_workload_initialize(&workload);
    workload.size[PIM_K] = 96;
    workload.size[PIM_C] = 48;
    workload.size[PIM_P] = 28;
    workload.size[PIM_Q] = 28;
    pim_mapping_space_initialize(&space, &workload, 2, 8, 8192, 4096);
    space.factor[PIM_SLOT_BANKS][PIM_P] = 2;
    pim_mapping_space_by_rows(&space);
    pim_random_initialize(&random, 5);
    for (unsigned i = 0; i < 300; i++) {
        if (!pim_mapping_space_sample(&space, &random, &nest))
            continue;
        drawn++;
        for (uint32_t l = 0; l < nest.loops; l++) {
            const struct pim_nest_loop *loop = &nest.loop[l], *before = l > 0 ? loop - 1 : loop;
            if (loop->dimension != PIM_P)
                continue;
            ck_assert(!loop->spatial || (loop->level == 2 && loop->count == 2));
            ck_assert(loop->spatial || l >= nest.cut || l == 0 || before->spatial ||
                      before->level != loop->level);
        }
    }
    ck_assert_uint_ge(drawn, 200);
}
END_TEST

START_TEST(pins_hold)
{
    struct pim_workload workload;
    struct pim_mapping_space space;
    struct pim_random random;
    struct pim_nest nest;
    struct pim_error error = {PIM_OK, ""};
    pim_workload_initialize(&workload);
    workload.size[PIM_K] = 64;
    workload.size[PIM_C] = 24;
    workload.size[PIM_P] = 14;
    pim_mapping_space_initialize(&space, &workload, 2, 8, 8192, 4096);
    space.factor[PIM_SLOT_BANKS][PIM_K] = 4;
    space.factor[PIM_SLOT_COLUMNS][PIM_C] = 24;
    space.factor[PIM_SLOT_STEPS][PIM_P] = 7;
    ck_assert(pim_mapping_space_check(&space, &error) == PIM_OK);
    pim_random_initialize(&random, 3);
    for (unsigned i = 0; i < 200; i++) {
        unsigned seen = 0;
        if (!pim_mapping_space_sample(&space, &random, &nest))
            continue;
        for (uint32_t l = 0; l < nest.loops; l++) {
            const struct pim_nest_loop *loop = &nest.loop[l];
            seen |= loop->dimension == PIM_K && loop->spatial && loop->level == 2 && loop->count == 4;
            seen |= 2U * (loop->dimension == PIM_C && loop->spatial && loop->level == 3 && loop->count == 24);
            seen |= 4U * (loop->dimension == PIM_P && !loop->spatial && loop->level == 2 && loop->count == 7);
        }
        ck_assert_uint_eq(seen, 7);
    }
    space.factor[PIM_SLOT_BANKS][PIM_C] = 3;
    ck_assert(pim_mapping_space_check(&space, &error) == PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "banks: factors of 12 are asked for, there are 8"), "%s", error.text);
    space.factor[PIM_SLOT_BANKS][PIM_C] = 0;
    space.factor[PIM_SLOT_OUTER][PIM_P] = 3;
    space.factor[PIM_SLOT_INSIDE][PIM_P] = 2;
    ck_assert(pim_mapping_space_check(&space, &error) == PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "more than P has, 14"), "%s", error.text);
}
END_TEST

/* --- the model --- */

/* 8 banks x K 8 a bank in columns with C 32; P in 4 steps; R = 3 inside: worked by hand. */
START_TEST(step_by_hand)
{
    struct pim_machine machine = machine_of_figure();
    struct pim_mapped_layer layer = {.name = "layer", .product = true, .post = {1, 0}};
    struct pim_mapping_space space;
    struct pim_strides strides;
    struct pim_step_cost cost;
    struct pim_error error = {PIM_OK, ""};
    pim_workload_initialize(&layer.workload);
    layer.workload.size[PIM_K] = 64;
    layer.workload.size[PIM_C] = 32;
    layer.workload.size[PIM_P] = 4;
    layer.workload.size[PIM_R] = 3;
    struct pim_nest nest = {.loops = 5, .cut = 2};
    nest.loop[0] = (struct pim_nest_loop){PIM_P, false, PIM_LEVEL_BANK, 4};
    nest.loop[1] = (struct pim_nest_loop){PIM_K, true, PIM_LEVEL_BANK, 8};
    nest.loop[2] = (struct pim_nest_loop){PIM_K, true, PIM_LEVEL_COLUMN, 8};
    nest.loop[3] = (struct pim_nest_loop){PIM_C, true, PIM_LEVEL_COLUMN, 32};
    nest.loop[4] = (struct pim_nest_loop){PIM_R, false, PIM_LEVEL_COLUMN, 3};
    pim_mapping_space_initialize(&space, &layer.workload, 1, 8, 8192, 4096);
    ck_assert(pim_nest_derive(&layer.workload, &nest, &strides, &error) == PIM_OK);
    ck_assert(pim_step_cost(&machine, &layer, &space, &nest, &strides, &cost));
    ck_assert_uint_eq(cost.multiply, 3 * 980);
    ck_assert_uint_eq(cost.add, 2 * 196 + 196); /* three products of an output, and its bias */
    ck_assert_uint_eq(cost.reduce_add, 5 * 196);
    /* five levels of 32 to 36 rows, out and back, 1024 bytes at 16 a cycle, eight banks */
    ck_assert_uint_eq(cost.reduce_move, (32 + 33 + 34 + 35 + 36) * 2 * 8 * 64);
    ck_assert_uint_eq(cost.input, 2 * 3 * 16 * 8 * 64); /* three inputs of a column */
    ck_assert_uint_eq(cost.output, 2 * 16 * 8 * 64);
    ck_assert_uint_eq(cost.partial, 0);
    ck_assert_uint_eq(cost.transfer, 16 * 8 * 64); /* read out; the bus is faster */
    ck_assert_uint_eq(cost.rows, 16 * (3 + 3) + 32 * 2 + 32 + 16);
    machine.rows = 200;
    ck_assert(!pim_step_cost(&machine, &layer, &space, &nest, &strides, &cost));
}
END_TEST

/* A message takes the bus between stacks where it goes from one to another, and there alone. */
START_TEST(hand_over_by_hand)
{
    struct pim_machine machine = machine_of_figure();
    machine.channels = 4;
    machine.bus_bytes = 1;
    const struct pim_step_cost producer = {.stores = 3, .sent = 3 * 16, .banks = 8, .channels = 2};
    const struct pim_step_cost consumer = {.stores = 3, .sent = 3 * 16, .banks = 8, .channels = 2};
    const uint64_t read = 16 * 8 * 64, all = 16 * 1024 * 8 * 2;
    struct pim_handover within = pim_hand_over(&machine, &producer, &consumer, 6, (struct pim_way){0, 2}),
                        between = pim_hand_over(&machine, &producer, &consumer, 6, (struct pim_way){2, 4}),
                        half = pim_hand_over(&machine, &producer, &consumer, 6, (struct pim_way){1, 3});
    ck_assert_uint_eq(within.message, read);
    ck_assert_uint_eq(within.all_bus, 0);
    ck_assert_uint_eq(between.message, all);
    ck_assert_uint_eq(between.all_bus, 3 * all);
    ck_assert_uint_eq(half.message, all / 2); /* of the consumer the second channel alone is in the next */
    machine.bus_bytes = 65536;
    between = pim_hand_over(&machine, &producer, &consumer, 6, (struct pim_way){2, 4});
    ck_assert_uint_eq(between.message, read);
}
END_TEST

START_TEST(command_costs)
{
    struct pim_machine machine = machine_of_figure();
    machine.costs = PIM_MACHINE_COMMANDS;
    ck_assert_uint_eq(pim_machine_multiply(&machine, 8), 1774 * 64); /* 16 x 16 -> 32 bits */
    ck_assert_uint_eq(pim_machine_multiply(&machine, 7), 1774 * 56);
    ck_assert_uint_eq(pim_machine_multiply(&machine, 2), 1774 * 49);
    ck_assert_uint_eq(pim_machine_add(&machine, 8), 129 * 64);
    struct pim_reduction_cycles tree = pim_machine_reduce(&machine, 4, 8);
    ck_assert_uint_eq(tree.add, (130 + 134) * 64);
    ck_assert_uint_eq(tree.move, (32 + 33) * 2 * 8 * 64);
    ck_assert_uint_eq(pim_machine_rows(&machine, 10, 1), 10 * (128 + 42));
    ck_assert_uint_eq(pim_machine_rows(&machine, 10, 2), 20 * 128); /* a bank group */
    ck_assert_uint_eq(pim_machine_rows(&machine, 10, 3), 20 * 128); /* and a bank that waits for it */
    ck_assert_uint_eq(pim_machine_rows(&machine, 10, 8), 80 * 64);
    ck_assert_uint_eq(pim_machine_move(&machine, 10, 5), 120 * 64); /* as six */
    ck_assert_uint_eq(pim_machine_multiply(&machine, 16), 1774 * 128);
    ck_assert_uint_eq(pim_machine_refresh(&machine, 3590), 310);
}
END_TEST

/* --- networks --- */

static const struct pim_mapped_layer *find(const struct pim_mapped_layers *layers, const char *name)
{
    for (uint32_t i = 0; i < layers->count; i++) {
        if (strcmp(layers->layer[i].name, name) == 0)
            return &layers->layer[i];
    }
    ck_abort_msg("no layer %s", name);
    return NULL;
}

START_TEST(residual_network)
{
    struct pim_network *resnet = network("resnet18");
    struct pim_mapped_layers layers;
    struct pim_error error = {PIM_OK, ""};
    uint64_t macs = 0;
    ck_assert_msg(pim_mapped_layers_make(resnet, &layers, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(layers.products, 21);
    ck_assert_uint_eq(layers.whole_links, 0);
    for (uint32_t i = 0; i < layers.count; i++)
        macs += layers.layer[i].product ? pim_workload_products(&layers.layer[i].workload) : 0;
    ck_assert_uint_eq(macs, resnet->graph.macs);
    const struct pim_mapped_layer *first = find(&layers, "conv1"), *add = find(&layers, "stage2.block1.add");
    ck_assert_uint_eq(first->workload.size[PIM_R], 7);
    ck_assert_uint_eq(first->workload.stride[0], 2);
    ck_assert_uint_eq(first->workload.padding[0], 3);
    ck_assert_uint_eq(first->post.additions, 2); /* bias, and the activation behind it */
    ck_assert_uint_eq(add->links, 2);            /* the block and its shortcut */
    ck_assert(!add->product);
    pim_mapped_layers_terminate(&layers);
    pim_network_destroy(resnet);
}
END_TEST

START_TEST(flattened_network)
{
    struct pim_network *vgg = network("vgg16");
    struct pim_mapped_layers layers;
    struct pim_error error = {PIM_OK, ""};
    unsigned flat = 0;
    ck_assert_msg(pim_mapped_layers_make(vgg, &layers, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(layers.products, 16);
    ck_assert_uint_eq(layers.whole_links, 0);
    for (uint32_t i = 0; i < layers.count; i++) {
        for (uint32_t j = 0; j < layers.layer[i].links; j++)
            flat += layers.layer[i].link[j].flatten;
    }
    ck_assert_uint_eq(flat, 1);
    pim_mapped_layers_terminate(&layers);
    pim_network_destroy(vgg);
}
END_TEST

START_TEST(transformer)
{
    struct pim_network *vit = network("vit-t");
    struct pim_mapped_layers layers;
    struct pim_error error = {PIM_OK, ""};
    uint64_t macs = 0;
    ck_assert_msg(pim_mapped_layers_make(vit, &layers, &error) == PIM_OK, "%s", error.text);
    for (uint32_t i = 0; i < layers.count; i++)
        macs += layers.layer[i].product ? pim_workload_products(&layers.layer[i].workload) : 0;
    ck_assert_uint_eq(macs, vit->graph.macs);
    pim_mapped_layers_terminate(&layers);
    pim_network_destroy(vit);
}
END_TEST

/* --- plans --- */

static char *plan_text(const struct setting *setting, const struct pim_overlapim_options *options)
{
    struct pim_overlapim_plan plan;
    struct pim_error error = {PIM_OK, ""};
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(file);
    ck_assert_msg(pim_overlapim_plan_make(&setting->inputs, options, &plan, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert(pim_overlapim_write_json(&plan, file, &error) == PIM_OK);
    pim_overlapim_plan_terminate(&plan);
    (void)fclose(file);
    return text;
}

START_TEST(threads_do_not_matter)
{
    struct setting setting;
    set_up(&setting, "resnet18", NULL);
    for (unsigned order = 0; order < 4; order++) {
        struct pim_overlapim_options one = options_of(order, 1), three = options_of(order, 3);
        char *first = plan_text(&setting, &one), *second = plan_text(&setting, &three);
        ck_assert_str_eq(first, second);
        free(first);
        free(second);
    }
    tear_down(&setting);
}
END_TEST

static bool at_once(void *context)
{
    (void)context;
    return true;
}

/* A search that is stopped has a mapping for every layer, of the first candidates, with its bound. */
START_TEST(stopped)
{
    struct setting setting;
    struct pim_overlapim_plan plan;
    struct pim_error error = {PIM_OK, ""};
    set_up(&setting, "resnet18", NULL);
    struct pim_overlapim_options options = options_of(0, 2);
    options.search.steps = 100000;
    options.search.stop = at_once;
    ck_assert_msg(pim_overlapim_plan_make(&setting.inputs, &options, &plan, &error) == PIM_OK, "%s",
                  error.text);
    for (unsigned o = 0; o < PIM_OBJECTIVES; o++) {
        for (uint32_t i = 0; i < plan.layers.count; i++) {
            const struct pim_layer_mapping *m = &plan.mappings[o][i];
            ck_assert_uint_ge(m->valid, 1);
            ck_assert_uint_le(m->valid, m->drawn);
            ck_assert_uint_lt(m->drawn, 1000);
            ck_assert_uint_ge(m->score, m->bound);
        }
    }
    pim_overlapim_plan_terminate(&plan);
    tear_down(&setting);
}
END_TEST

/* A neighbour with factors that do not divide has fewer rows, transformed, than steps: that is what a pair
 * takes at least. */
START_TEST(pairs_never_beat_their_bound)
{
    struct setting setting;
    set_up(&setting, "vgg8", NULL);
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct pim_overlapim_plan plan;
        struct pim_error error = {PIM_OK, ""};
        struct pim_overlapim_options options = options_of(0, 2);
        options.order = (unsigned)_i;
        options.search.steps = 1 + seed % 2;
        options.search.seed = seed;
        ck_assert_msg(pim_overlapim_plan_make(&setting.inputs, &options, &plan, &error) == PIM_OK, "%s",
                      error.text);
        for (unsigned o = 0; o < PIM_OBJECTIVES; o++) {
            for (uint32_t i = 0; i < plan.layers.count; i++)
                ck_assert_msg(plan.mappings[o][i].score >= plan.mappings[o][i].bound, "%s, %s, seed %u",
                              plan.layers.layer[i].name, pim_objective_name(o), seed);
        }
        pim_overlapim_plan_terminate(&plan);
    }
    tear_down(&setting);
}
END_TEST

/* Facts that hold for every plan: bounds, the order of the series, and the end of every layer. */
START_TEST(series_hold_together)
{
    struct setting setting;
    struct pim_overlapim_plan plan;
    struct pim_error error = {PIM_OK, ""};
    set_up(&setting, "resnet18", _i ? "levels.costs=commands" : NULL);
    struct pim_overlapim_options options = options_of(0, 2);
    options.random = 1; /* the same candidates by every objective */
    ck_assert_msg(pim_overlapim_plan_make(&setting.inputs, &options, &plan, &error) == PIM_OK, "%s",
                  error.text);
    for (unsigned s = 0; s < PIM_SERIES; s++)
        ck_assert_uint_le(plan.chains[s].end, plan.chains[s].sequential);
    ck_assert_uint_eq(pim_overlapim_cycles(&plan, PIM_SERIES_ORIGINAL),
                      plan.chains[PIM_SERIES_ORIGINAL].sequential);
    for (uint32_t i = 0; i < plan.layers.count; i++) {
        for (unsigned o = 0; o < PIM_OBJECTIVES; o++) {
            const struct pim_layer_mapping *m = &plan.mappings[o][i];
            ck_assert_uint_ge(m->score, m->bound);
            ck_assert_uint_ge(m->strides.steps * m->cost.total,
                              pim_layer_bound(&plan.machine, &plan.layers.layer[i], 2));
        }
        const struct pim_mapped_layer *layer = &plan.layers.layer[i];
        for (unsigned s = 0; s < PIM_SERIES; s++) { /* a layer ends behind what it reads */
            for (uint32_t j = 0; pim_overlapim_has(&plan, (enum pim_series)s) && j < layer->links; j++)
                ck_assert_uint_gt(plan.chains[s].layer[i].end, 0);
        }
    }
    /* searched by sequential latency: no other mapping has a better one */
    for (uint32_t i = 0; i < plan.layers.count; i++) {
        const struct pim_layer_mapping *best = &plan.mappings[0][i], *other = &plan.mappings[2][i];
        ck_assert_uint_le(
            best->strides.steps * best->cost.total + pim_chain_message(&plan.search, i, &best->cost),
            other->strides.steps * other->cost.total + pim_chain_message(&plan.search, i, &other->cost));
    }
    pim_overlapim_plan_terminate(&plan);
    tear_down(&setting);
}
END_TEST

/* Of the fastest series, layers with the mappings of others: the network ends earlier, and each mapping is
 * one that was found. With real rows in lock step. */
START_TEST(mixed_ends_first)
{
    struct setting setting;
    struct pim_overlapim_plan plan;
    struct pim_error error = {PIM_OK, ""};
    set_up(&setting, "squeezenet", _i % 2 ? "levels.costs=commands" : NULL);
    struct pim_overlapim_options options = options_of(0, 2);
    options.rows = (unsigned)_i / 2;
    options.random = 1;
    ck_assert_msg(pim_overlapim_plan_make(&setting.inputs, &options, &plan, &error) == PIM_OK, "%s",
                  error.text);
    const struct pim_layer_mapping *mixed = pim_overlapim_mappings(&plan, PIM_SERIES_MIXED);
    const bool transformed = pim_overlapim_transformed(&plan, PIM_SERIES_MIXED);
    ck_assert(!transformed || options.rows == 0);
    ck_assert(!pim_overlapim_has(&plan, PIM_SERIES_WIDE)); /* all others are that */
    for (unsigned s = PIM_SERIES_ORIGINAL_OVERLAP; s < PIM_SERIES_WIDE; s++)
        ck_assert(plan.chains[PIM_SERIES_MIXED].end < plan.chains[s].end ||
                  (options.rows == 1 && pim_overlapim_transformed(&plan, (enum pim_series)s)));
    for (uint32_t i = 0; i < plan.layers.count; i++) {
        bool found = false;
        for (unsigned o = 0; o < PIM_OBJECTIVES; o++)
            found = found || memcmp(&mixed[i].nest, &plan.mappings[o][i].nest, sizeof mixed[i].nest) == 0;
        ck_assert_msg(found, "%s", plan.layers.layer[i].name);
    }
    struct pim_chain chain;
    ck_assert(pim_chain_run(&plan.search, mixed, transformed, false, &chain, &error) == PIM_OK);
    ck_assert_uint_eq(chain.end, plan.chains[PIM_SERIES_MIXED].end);
    pim_chain_terminate(&chain);
    pim_overlapim_plan_terminate(&plan);
    tear_down(&setting);
}
END_TEST

/* A search near the best so far can lose to one that looks ahead among all of the space: it is mixed, too. */
START_TEST(mixed_never_loses_to_a_wide_search)
{
    struct setting setting;
    struct pim_error error = {PIM_OK, ""};
    uint64_t ends[2], before[2]; /* of what is mixed, and of what looks ahead: local, random */
    set_up(&setting, "squeezenet", "levels.costs=commands");
    for (unsigned random = 0; random < 2; random++) {
        struct pim_overlapim_plan plan;
        struct pim_overlapim_options options = options_of(0, 2);
        options.random = random;
        options.search.seed = 2;
        ck_assert_msg(pim_overlapim_plan_make(&setting.inputs, &options, &plan, &error) == PIM_OK, "%s",
                      error.text);
        ends[random] = plan.chains[PIM_SERIES_MIXED].end;
        before[random] = plan.chains[PIM_SERIES_AHEAD].end;
        pim_overlapim_plan_terminate(&plan);
    }
    ck_assert_msg(before[0] > before[1], "the local search is the best: nothing is tested");
    ck_assert_uint_le(ends[0], before[1]);
    tear_down(&setting);
}
END_TEST

/* Where layers are in different stacks, a narrow bus between them counts in the choice of a mapping: those
 * for the narrow one take less on it than those for a wide one. */
START_TEST(narrow_bus_is_chosen_for)
{
    static const char *const bus[] = {"levels.bus_bytes=1", "levels.bus_bytes=256"};
    uint64_t takes[2] = {0, 0}; /* of the mappings for either bus, on the narrow one */
    for (unsigned b = 2; b-- > 0;) {
        struct setting setting;
        struct pim_overlapim_plan plan;
        struct pim_error error = {PIM_OK, ""};
        set_up(&setting, "vgg8", bus[b]);
        ck_assert(pim_configuration_set(setting.configuration, "array.width=2", &error) == PIM_OK);
        struct pim_overlapim_options options = options_of(0, 2);
        ck_assert_msg(pim_overlapim_plan_make(&setting.inputs, &options, &plan, &error) == PIM_OK, "%s",
                      error.text);
        struct pim_machine narrow = plan.machine;
        narrow.bus_bytes = 1;
        for (uint32_t i = 0; i + 1 < plan.layers.count; i++) {
            const struct pim_layer_mapping *m = &plan.mappings[PIM_OBJECTIVE_ORIGINAL][i];
            const struct pim_step_cost reader = {.channels = 2};
            takes[b] +=
                m->strides.steps * m->cost.total + pim_hand_over(&narrow, &m->cost, &reader, m->cost.stores,
                                                                 (struct pim_way){0, narrow.channels})
                                                       .message;
        }
        pim_overlapim_plan_terminate(&plan);
        tear_down(&setting);
    }
    ck_assert_uint_lt(takes[0], takes[1]);
}
END_TEST

START_TEST(orders_begin_where_they_say)
{
    struct pim_network *resnet = network("resnet18");
    struct pim_mapped_layers layers;
    struct pim_error error = {PIM_OK, ""};
    ck_assert(pim_mapped_layers_make(resnet, &layers, &error) == PIM_OK);
    ck_assert_uint_eq(pim_search_first(&layers, PIM_ORDER_FORWARD), 0);
    ck_assert_uint_eq(pim_search_first(&layers, PIM_ORDER_BACKWARD), layers.count - 1);
    uint32_t output = pim_search_first(&layers, PIM_ORDER_MIDDLE_OUTPUT);
    uint32_t total = pim_search_first(&layers, PIM_ORDER_MIDDLE_TOTAL);
    ck_assert_str_eq(layers.layer[output].name, "conv1"); /* 112 x 112 x 64 */
    ck_assert_str_eq(layers.layer[total].name, "stage1.block1.conv");
    pim_mapped_layers_terminate(&layers);
    pim_network_destroy(resnet);
}
END_TEST

static const struct {
    const char *lines, *message;
} bad_constraints[] = {
    {"layer nowhere\n", ":1: layer nowhere: the network has no layer"},
    {"columns C=0\n", ":1: \"C=0\": must be like K=8"},
    {"\nplaces K=2\n", ":2: \"places\": a line is"},
    {"order columns K\n", "order: of outer or of steps"},
    {"order steps K K\n", "is no dimension, or stands twice"},
    {"keep inputs\n", "weights can be kept or dropped"},
    {"layer\n", ":1: layer : the network has no layer"},
    {"layer conv1 conv2 \n", ":1: layer conv1 conv2: the network has no layer"},
    {"drop weights inputs\n", ":1: \"inputs\": the line must end before it"},
    {"banks\r\n", ":1: banks: factors like K=8 are expected"},
    {"layer conv1\rbanks K=9\n", ":1: layer conv1\rbanks K=9: the network has no layer"},
    {"banks K=9\n", "banks: factors of 9 are asked for, there are 8"},
    {"layer \t conv1 \r\ninside K=65\n", "more than K has, 64"},
};

START_TEST(constraints_are_checked)
{
    struct setting setting;
    struct pim_overlapim_plan plan;
    struct pim_error error = {PIM_OK, ""};
    char path[] = "/tmp/pimsim-constraints-XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    FILE *file = fdopen(descriptor, "w");
    ck_assert_ptr_nonnull(file);
    fputs(bad_constraints[_i].lines, file);
    (void)fclose(file);
    set_up(&setting, "resnet18", NULL);
    struct pim_overlapim_options options = options_of(0, 1);
    options.constraints = path;
    ck_assert(pim_overlapim_plan_make(&setting.inputs, &options, &plan, &error) == PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, bad_constraints[_i].message), "%s", error.text);
    pim_overlapim_plan_terminate(&plan);
    tear_down(&setting);
    (void)unlink(path);
}
END_TEST

/* Rows that no program can do without are refused where the machine is read; then those of a layer. */
static const struct {
    const char *set, *constraints, *first, *second;
    bool advice; /* not to keep weights */
} small_memories[] = {
    {"levels.rows=256", "", "rows of a bank", "there are 256", true},
    {"levels.rows=193", "", "rows of a bank", "there are 193", true},
    {"levels.rows=193", "drop weights\n", "layer conv1_2 needs", "there are 193", false},
    {"levels.rows=9000", "layer pool1\ninside P=14 Q=14\n", "layer pool1 needs", "there are 9000", false},
    {"levels.rows=192", "", "levels.rows", "at least 193 rows for words of 16 bits", false},
};

START_TEST(too_small_a_memory)
{
    struct setting setting;
    struct pim_overlapim_plan plan;
    struct pim_error error = {PIM_OK, ""};
    char path[] = "/tmp/pimsim-constraints-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    ck_assert_ptr_nonnull(file);
    fputs(small_memories[_i].constraints, file);
    (void)fclose(file);
    set_up(&setting, "vgg16", small_memories[_i].set);
    struct pim_overlapim_options options = options_of(0, 1);
    options.constraints = path;
    ck_assert(pim_overlapim_plan_make(&setting.inputs, &options, &plan, &error) == PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, small_memories[_i].first) &&
                      strstr(error.text, small_memories[_i].second) &&
                      (strstr(error.text, "drop weights") != NULL) == small_memories[_i].advice,
                  "%s", error.text);
    (void)unlink(path);
    pim_overlapim_plan_terminate(&plan);
    tear_down(&setting);
}
END_TEST

Suite *search_suite(void)
{
    Suite *suite = suite_create("search");
    TCase *tests = tcase_create("search");
    tcase_add_test(tests, samples_fit);
    tcase_add_test(tests, samples_by_rows);
    tcase_add_test(tests, pins_hold);
    tcase_add_test(tests, step_by_hand);
    tcase_add_test(tests, hand_over_by_hand);
    tcase_add_test(tests, narrow_bus_is_chosen_for);
    tcase_add_test(tests, command_costs);
    tcase_add_test(tests, residual_network);
    tcase_add_test(tests, flattened_network);
    tcase_add_test(tests, transformer);
    tcase_add_test(tests, threads_do_not_matter);
    tcase_add_test(tests, stopped);
    tcase_add_loop_test(tests, pairs_never_beat_their_bound, 0, 4);
    tcase_add_loop_test(tests, series_hold_together, 0, 2);
    tcase_add_loop_test(tests, mixed_ends_first, 0, 4);
    tcase_add_test(tests, mixed_never_loses_to_a_wide_search);
    tcase_add_test(tests, orders_begin_where_they_say);
    tcase_add_loop_test(tests, constraints_are_checked, 0,
                        (int)(sizeof bad_constraints / sizeof bad_constraints[0]));
    tcase_add_loop_test(tests, too_small_a_memory, 0,
                        (int)(sizeof small_memories / sizeof small_memories[0]));
    suite_add_tcase(suite, tests);
    return suite;
}
