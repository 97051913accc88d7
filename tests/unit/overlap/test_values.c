/*
 * Traces with real rows, executed on real bits: random layers (primes, strides, padding, dilation, groups)
 * under mappings that split reductions over columns, banks, channels and steps, every output against its
 * direct evaluation (--check-values), and every estimate against simulated cycles.
 */
#include "mappers/mappers.h"
#include "mappers/overlapim/emit/real.h"
#include "mappers/overlapim/layers.h"
#include "mappers/overlapim/plan.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "tests/unit/overlap/replay.h"
#include "tests/unit/overlap/suites.h"
#include "tools/library/bits.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CASES = 120, SETTINGS = 8 };

/* What a mapper is given, and what the options say. */
struct setup {
    struct pim_arena arena;
    struct pim_network network;
    struct pim_configuration *configuration;
    struct pim_hardware hardware;
    char *text;
    struct pim_mapper_inputs inputs;
    struct pim_overlapim_options options;
    struct pim_error error;
};

static void begin(struct setup *setup, const char *file, const char *const *settings)
{
    char path[PATH_MAX];
    memset(setup, 0, sizeof *setup);
    pim_arena_initialize(&setup->arena, 0);
    pim_graph_initialize(&setup->network.graph, &setup->arena);
    setup->network.name = "random";
    ck_assert(pim_configuration_create(&pim_hardware_schema, &setup->configuration, &setup->error) == PIM_OK);
    ck_assert_msg(pim_configuration_read_file(setup->configuration,
                                              pimsim_source_path(path, sizeof path, file),
                                              &setup->error) == PIM_OK,
                  "%s", setup->error.text);
    for (unsigned i = 0; i < SETTINGS && settings[i]; i++)
        ck_assert_msg(pim_configuration_set(setup->configuration, settings[i], &setup->error) == PIM_OK, "%s",
                      setup->error.text);
    ck_assert_msg(pim_hardware_read(setup->configuration, &setup->hardware, &setup->error) == PIM_OK, "%s",
                  setup->error.text);
    setup->text = pim_configuration_write(setup->configuration, false);
    setup->inputs = (struct pim_mapper_inputs){.network = &setup->network,
                                               .configuration = setup->configuration,
                                               .configuration_text = setup->text,
                                               .execute = pim_bits_execute,
                                               .simulator = &setup->hardware};
    memcpy(&setup->options, pim_overlapim_mapper.options.defaults, sizeof setup->options);
    setup->options.objective = PIM_OBJECTIVE_ORIGINAL;
    setup->options.search.threads = 1;
    setup->options.check = true;
}

static void end(struct setup *setup)
{
    free(setup->text);
    pim_configuration_destroy(setup->configuration);
    pim_arena_terminate(&setup->arena);
}

static uint32_t add(struct setup *setup, const char *name, enum pim_operator operation, uint32_t input,
                    const union pim_attributes *attributes)
{
    uint32_t index = 0;
    const struct pim_layer_description description = {.name = name,
                                                      .operation = operation,
                                                      .stage = PIM_NONE,
                                                      .block = PIM_NONE,
                                                      .inputs = operation != PIM_OPERATOR_INPUT,
                                                      .input = &input,
                                                      .attributes = *attributes};
    ck_assert_msg(pim_graph_add(&setup->network.graph, &description, &index, &setup->error) == PIM_OK, "%s",
                  setup->error.text);
    return index;
}

static uint32_t pick(struct pim_random *random, uint32_t least, uint32_t most)
{
    return (uint32_t)pim_random_between(random, least, most);
}

/* One convolution, or a matrix product, behind an input. */
static void add_layer(struct setup *setup, struct pim_random *random)
{
    union pim_attributes input = {0}, layer = {0};
    uint32_t groups = pick(random, 0, 3) == 0 ? pick(random, 2, 3) : 1;
    if (pick(random, 0, 3) == 0) {
        input.shape = (struct pim_shape){.rank = 2, .dimension = {pick(random, 1, 7), pick(random, 1, 13)}};
        layer.linear.outputs = pick(random, 1, 11);
        layer.linear.bias = pick(random, 0, 1);
        uint32_t first = add(setup, "input", PIM_OPERATOR_INPUT, 0, &input);
        (void)add(setup, "linear", PIM_OPERATOR_LINEAR, first, &layer);
        return;
    }
    input.shape = (struct pim_shape){
        .rank = 4, .dimension = {1, groups * pick(random, 1, 5), pick(random, 5, 7), pick(random, 5, 7)}};
    layer.convolution.outputs = groups * pick(random, 1, 5);
    layer.convolution.groups = groups;
    for (unsigned axis = 0; axis < 2; axis++) {
        layer.convolution.sliding.kernel[axis] = pick(random, 1, 3);
        layer.convolution.sliding.stride[axis] = pick(random, 1, 2);
        layer.convolution.sliding.dilation[axis] = pick(random, 1, 2);
        layer.convolution.sliding.pad_before[axis] = pick(random, 0, 2);
        layer.convolution.sliding.pad_after[axis] = pick(random, 0, 2);
    }
    uint32_t first = add(setup, "input", PIM_OPERATOR_INPUT, 0, &input);
    (void)add(setup, "convolution", PIM_OPERATOR_CONVOLUTION, first, &layer);
}

static void write_constraints(char *path, struct pim_random *random)
{
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    FILE *file = fdopen(descriptor, "w");
    ck_assert_ptr_nonnull(file);
    if (pick(random, 0, 2) == 0)
        fprintf(file, "drop weights\n");
    if (pick(random, 0, 2) == 0) /* reductions outermost in time: totals of all outputs are open */
        fprintf(file, "order outer C R S K P Q N\norder steps R S C P Q K N\n");
    (void)fclose(file);
}

/* How often a mapping had what a check should meet. */
struct seen {
    unsigned steps, carried, open, columns, odd, banks, odd_banks, channels, dropped, reused, tiles, strided;
};

static void look(struct setup *setup, struct seen *seen)
{
    struct pim_overlapim_plan plan;
    struct pim_real real;
    ck_assert_msg(pim_overlapim_plan_make(&setup->inputs, &setup->options, &plan, &setup->error) == PIM_OK,
                  "%s", setup->error.text);
    const struct pim_layer_mapping *mapping = &plan.mappings[PIM_OBJECTIVE_ORIGINAL][0];
    ck_assert(pim_real_place(&plan.machine, &plan.layers.layer[0], plan.spaces[0].drop_weights,
                             &mapping->nest, &mapping->strides, &real, &setup->error) == PIM_OK);
    uint64_t lanes = real.count[PIM_REAL_COLUMN_LANE], banks = real.count[PIM_REAL_BANK_LANE];
    seen->steps += real.count[PIM_REAL_STEP] > 1;
    seen->carried += real.count[PIM_REAL_STEP] > real.stores;
    seen->open += real.tiles > 1;
    seen->columns += lanes > 1;
    seen->odd += (lanes & (lanes - 1)) != 0;
    seen->banks += banks > 1;
    seen->odd_banks += banks == 3;
    seen->channels += real.count[PIM_REAL_CHANNEL_LANE] > 1;
    seen->dropped += real.weight_loads > 1;
    seen->reused += real.input_period > 1;
    seen->tiles += real.weight_tiles > 1;
    seen->strided += plan.layers.layer[0].workload.stride[0] > 1;
    pim_overlapim_plan_terminate(&plan);
}

/* Values, and, where `percent` is not 0, the estimate: off the simulated cycles by at most so much. */
static enum pim_status check(struct setup *setup, double percent)
{
    struct pim_mapping mapping;
    struct pim_mapper_estimate estimate;
    char trace[] = "/tmp/pimsim-values-XXXXXX";
    enum pim_status status =
        pim_mapping_make(&pim_overlapim_mapper, &setup->inputs, &setup->options, &mapping, &setup->error);
    if (status != PIM_OK)
        return status;
    const int descriptor = percent > 0 ? mkstemp(trace) : -1;
    ck_assert(percent <= 0 || descriptor >= 0);
    status = pim_mapping_write(&mapping, percent > 0 ? trace : NULL, &setup->error);
    if (status == PIM_OK && percent > 0) {
        const uint64_t cycles = replay_cycles(trace);
        ck_assert(pim_overlapim_mapper.estimate(mapping.plan, &estimate, &setup->error) == PIM_OK);
        const double off = 100 * fabs((double)estimate.cycles / (double)cycles - 1);
        ck_assert_msg(off <= percent, "%" PRIu64 " cycles are estimated, %" PRIu64 " are simulated",
                      estimate.cycles, cycles);
    }
    if (percent > 0) {
        (void)close(descriptor);
        (void)unlink(trace);
    }
    pim_mapping_terminate(&mapping);
    return status;
}

START_TEST(layers_compute_their_outputs)
{
    struct pim_random random;
    struct seen seen = {0};
    pim_random_initialize(&random, 14);
    for (unsigned i = 0; i < CASES; i++) {
        char banks[32], words[32], path[] = "/tmp/pimsim-constraints-XXXXXX";
        struct setup setup;
        (void)snprintf(banks, sizeof banks, "levels.banks=%u", pick(&random, 1, 6));
        (void)snprintf(words, sizeof words, "levels.word_bits=%u", 4U << pick(&random, 0, 2));
        const char *const settings[SETTINGS] = {"array.width=2", "array.height=2", banks, words};
        begin(&setup, "configs/hardware/fast-overlapim-reram.cfg", settings);
        add_layer(&setup, &random);
        write_constraints(path, &random);
        setup.options.constraints = path;
        setup.options.channels = pick(&random, 0, 2);
        setup.options.search.steps = 1;
        setup.options.search.seed = i;
        look(&setup, &seen);
        ck_assert_msg(check(&setup, 0.1) == PIM_OK, "case %u: %s", i, setup.error.text);
        (void)unlink(path);
        end(&setup);
    }
    ck_assert_uint_ge(seen.steps, 60);
    ck_assert_uint_ge(seen.carried, 20);
    ck_assert_uint_ge(seen.open, 5);
    ck_assert_uint_ge(seen.columns, 20);
    ck_assert_uint_ge(seen.odd, 5);
    ck_assert_uint_ge(seen.banks, 10);
    ck_assert_uint_ge(seen.odd_banks, 3);
    ck_assert_uint_ge(seen.channels, 10);
    ck_assert_uint_ge(seen.dropped, 5);
    ck_assert_uint_ge(seen.reused, 10);
    ck_assert_uint_ge(seen.tiles, 10);
    ck_assert_uint_ge(seen.strided, 20);
}
END_TEST

/* Layers that hand to each other, in banks that are driven by commands. */
START_TEST(layers_behind_each_other)
{
    const char *const settings[SETTINGS] = {"levels.costs=commands"};
    union pim_attributes input = {.shape = {.rank = 4, .dimension = {1, 3, 5, 5}}}, layer = {0}, last = {0};
    struct setup setup;
    layer.convolution.outputs = 5;
    layer.convolution.groups = 1;
    for (unsigned axis = 0; axis < 2; axis++) {
        layer.convolution.sliding.kernel[axis] = 3;
        layer.convolution.sliding.stride[axis] = layer.convolution.sliding.dilation[axis] = 1;
        layer.convolution.sliding.pad_before[axis] = layer.convolution.sliding.pad_after[axis] = 1;
    }
    last.convolution = layer.convolution;
    last.convolution.outputs = 2;
    begin(&setup, "configs/hardware/fast-overlapim-hbm2.cfg", settings);
    uint32_t first = add(&setup, "input", PIM_OPERATOR_INPUT, 0, &input);
    first = add(&setup, "first", PIM_OPERATOR_CONVOLUTION, first, &layer);
    first = add(&setup, "relu", PIM_OPERATOR_ACTIVATION, first,
                &(union pim_attributes){.activation = PIM_ACTIVATION_RELU});
    (void)add(&setup, "second", PIM_OPERATOR_CONVOLUTION, first, &last);
    setup.options.objective = PIM_OBJECTIVE_AHEAD;
    setup.options.search.steps = 20;
    ck_assert_msg(check(&setup, 1) == PIM_OK, "%s", setup.error.text);
    end(&setup);
}
END_TEST

/* An input of the layer that is not what the evaluation has. */
static enum pim_status execute_otherwise(void *context, const char *trace,
                                         const struct pim_mapper_number *before, uint64_t before_count,
                                         struct pim_mapper_number *after, uint64_t after_count,
                                         struct pim_error *error)
{
    struct pim_mapper_number *changed = calloc(before_count, sizeof *changed);
    ck_assert_ptr_nonnull(changed);
    memcpy(changed, before, before_count * sizeof *changed);
    changed[0].value ^= 1;
    enum pim_status status =
        pim_bits_execute(context, trace, changed, before_count, after, after_count, error);
    free(changed);
    return status;
}

static void begin_linear(struct setup *setup, uint32_t rows, uint32_t columns, uint32_t outputs)
{
    const char *const settings[SETTINGS] = {"array.width=2", "array.height=1"};
    union pim_attributes input = {.shape = {.rank = 2, .dimension = {rows, columns}}};
    union pim_attributes layer = {.linear = {.outputs = outputs}};
    begin(setup, "configs/hardware/fast-overlapim-reram.cfg", settings);
    uint32_t first = add(setup, "input", PIM_OPERATOR_INPUT, 0, &input);
    (void)add(setup, "linear", PIM_OPERATOR_LINEAR, first, &layer);
    setup->options.search.steps = 1;
}

START_TEST(another_input_is_noticed)
{
    struct setup setup;
    begin_linear(&setup, 3, 5, 7);
    setup.inputs.execute = execute_otherwise;
    ck_assert_int_eq(check(&setup, 0), PIM_INTERNAL);
    ck_assert_ptr_nonnull(strstr(setup.error.text, "outputs are wrong"));
    ck_assert_ptr_nonnull(strstr(setup.error.text, "layer linear: output n "));
    end(&setup);
}
END_TEST

START_TEST(large_layers_are_refused)
{
    struct setup setup;
    begin_linear(&setup, 4096, 4096, 64);
    ck_assert_int_eq(check(&setup, 0), PIM_BAD_INPUT);
    ck_assert_msg(strstr(setup.error.text, "layer linear") != NULL, "%s", setup.error.text);
    end(&setup);
}
END_TEST

/* An average of the same window has a nest. */
START_TEST(a_pooling_by_a_norm_is_refused)
{
    struct setup setup;
    struct pim_mapped_layers layers;
    union pim_attributes input = {.shape = {.rank = 4, .dimension = {1, 4, 6, 6}}};
    union pim_attributes pooling = {
        .pooling = {.kind = _i ? PIM_POOLING_NORM : PIM_POOLING_AVERAGE, .global = true}};
    union pim_attributes linear = {.linear = {.outputs = 3}};
    const char *const settings[SETTINGS] = {NULL};
    begin(&setup, "configs/hardware/fast-overlapim-reram.cfg", settings);
    uint32_t first = add(&setup, "input", PIM_OPERATOR_INPUT, 0, &input);
    uint32_t pooled = add(&setup, "pooling", PIM_OPERATOR_POOLING, first, &pooling);
    (void)add(&setup, "linear", PIM_OPERATOR_LINEAR, pooled, &linear);
    enum pim_status status = pim_mapped_layers_make(&setup.network, &layers, &setup.error);
    if (_i) {
        ck_assert_int_eq(status, PIM_BAD_INPUT);
        ck_assert_msg(strstr(setup.error.text, "layer pooling (pooling): it pools by a norm"), "%s",
                      setup.error.text);
    } else {
        ck_assert_msg(status == PIM_OK, "%s", setup.error.text);
        pim_mapped_layers_terminate(&layers);
    }
    end(&setup);
}
END_TEST

START_TEST(transformed_layers_are_refused)
{
    struct setup setup;
    begin_linear(&setup, 3, 5, 7);
    setup.options.objective = PIM_OBJECTIVE_TRANSFORM;
    ck_assert_int_eq(pim_overlapim_mapper.accept(&setup.options, false, &setup.error), PIM_USAGE);
    setup.options.check = false;
    ck_assert_int_eq(pim_overlapim_mapper.accept(&setup.options, false, &setup.error), PIM_OK);
    setup.options.rows = 1;
    ck_assert_int_eq(pim_overlapim_mapper.accept(&setup.options, false, &setup.error), PIM_USAGE);
    end(&setup);
}
END_TEST

Suite *values_suite(void)
{
    Suite *suite = suite_create("values");
    TCase *tests = tcase_create("values");
    tcase_add_test(tests, layers_compute_their_outputs);
    tcase_add_test(tests, layers_behind_each_other);
    tcase_add_test(tests, another_input_is_noticed);
    tcase_add_test(tests, large_layers_are_refused);
    tcase_add_loop_test(tests, a_pooling_by_a_norm_is_refused, 0, 2);
    tcase_add_test(tests, transformed_layers_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
