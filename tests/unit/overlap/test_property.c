#include "tests/unit/overlap/random_case.h"
#include "tests/unit/overlap/suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 20250601, QUICK_PAIRS = 1000, CHAINS = 400 };

START_TEST(pairs_against_every_iteration)
{
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    for (uint64_t i = 0; i < QUICK_PAIRS; i++) {
        struct pim_case kase;
        random_pair(&random, &kase);
        check_pair(&kase, i);
        pim_case_terminate(&kase);
    }
}
END_TEST

/* A chain of random layers, each behind one or two of those before it, some transformed. */
static void random_chain(struct pim_random *random, struct pim_case *kase)
{
    uint32_t layers = (uint32_t)pim_random_between(random, 3, 5);
    bool matrices = pim_random_below(random, 3) == 0;
    struct pim_error error = {PIM_OK, ""};
    memset(kase, 0, sizeof *kase);
    kase->layers = layers;
    kase->layer = calloc(layers, sizeof *kase->layer);
    ck_assert_ptr_nonnull(kase->layer);
    for (uint32_t i = 0; i < layers; i++) {
        struct pim_overlap_layer *layer = &kase->layer[i];
        struct pim_workload *w = &layer->workload;
        pim_overlap_layer_initialize(layer);
        (void)snprintf(layer->name, sizeof layer->name, "layer%" PRIu32, i);
        layer->latency = pim_random_between(random, 1, 7);
        layer->transformed = pim_random_below(random, 2) == 0;
        /* square matrices of 6 x 6 can be either operand; maps of 4 channels and 6 x 4 positions */
        w->size[PIM_K] = matrices ? 6 : 4;
        w->size[PIM_C] = w->size[PIM_K];
        w->size[matrices ? PIM_N : PIM_P] = 6;
        w->size[PIM_Q] = matrices ? 1 : 4;
        w->size[PIM_R] = matrices ? 1 : 3;
        w->padding[0] = matrices ? 0 : 1;
        if (pim_random_below(random, 4) == 0 && !matrices) { /* elementwise */
            w->groups = w->size[PIM_K];
            w->size[PIM_C] = 1;
        }
        if (matrices && i + 1 == layers) { /* heads: 2 groups of 3 channels */
            w->groups = 2;
            w->size[PIM_C] = 3;
            w->size[PIM_K] = 12; /* 2 x 6 rows of the second operand */
        }
        layer->links = i == 0 ? 0 : (uint32_t)pim_random_between(random, 1, 2);
        layer->link = calloc(2, sizeof *layer->link);
        ck_assert_ptr_nonnull(layer->link);
        for (uint32_t j = 0; j < layer->links; j++) {
            layer->link[j].producer = j == 0 ? i - 1 : (uint32_t)pim_random_below(random, i);
            layer->link[j].transfer = pim_random_below(random, 5);
            layer->link[j].head = pim_random_below(random, 3) == 0 ? pim_random_below(random, 20) : 0;
            if (matrices)
                layer->link[j].role = (enum pim_link_role)pim_random_below(random, PIM_LINK_ROLES);
            if (w->groups > 1 && layer->link[j].role == PIM_LINK_COLUMNS) /* 6 rows are not its 3 */
                layer->link[j].role = PIM_LINK_ROWS;
        }
        random_nest(random, w, pim_random_below(random, 3) == 0, &layer->nest);
        ck_assert_msg(pim_overlap_layer_derive(kase->layer, i, &error) == PIM_OK, "%s", error.text);
        if (pim_random_below(random, 3) != 0)
            continue;
        layer->latency += 20;
        layer->loads = (struct pim_overlap_events){layer->strides.steps, pim_random_below(random, 9), 1};
        layer->stores = (struct pim_overlap_events){1, pim_random_below(random, 9), 1};
        ck_assert_msg(pim_overlap_layer_derive(kase->layer, i, &error) == PIM_OK, "%s", error.text);
    }
}

/* Every ready time of every layer against the comparison of all data spaces; the report does it. */
START_TEST(chains_against_exhaustive_comparison)
{
    struct pim_random random;
    FILE *sink = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(sink);
    pim_random_initialize(&random, SEED + 1);
    for (unsigned i = 0; i < CHAINS; i++) {
        struct pim_case kase;
        struct pim_error error = {PIM_OK, ""};
        random_chain(&random, &kase);
        const struct pim_case_options options = {.exhaustive = true};
        ck_assert_msg(pim_case_report(&kase, &options, sink, &error) == PIM_OK, "chain %u: %s", i,
                      error.text);
        pim_case_terminate(&kase);
    }
    (void)fclose(sink);
}
END_TEST

/* A mapping that is printed and read back says the same. */
START_TEST(mappings_are_read_back)
{
    struct pim_random random;
    pim_random_initialize(&random, SEED + 2);
    for (unsigned i = 0; i < CHAINS; i++) {
        struct pim_case kase, again;
        struct pim_error error = {PIM_OK, ""};
        char *text = NULL, *second = NULL;
        size_t length = 0, second_length = 0;
        if (i % 2)
            random_chain(&random, &kase);
        else
            random_pair(&random, &kase);
        FILE *file = open_memstream(&text, &length);
        ck_assert_ptr_nonnull(file);
        pim_case_write(kase.layer, kase.layers, file);
        (void)fclose(file);
        ck_assert_msg(pim_case_parse("mapping", text, length, &again, &error) == PIM_OK, "%s", error.text);
        ck_assert_uint_eq(again.layers, kase.layers);
        for (uint32_t l = 0; l < kase.layers; l++) {
            ck_assert_mem_eq(&again.layer[l].workload, &kase.layer[l].workload,
                             sizeof kase.layer[l].workload);
            ck_assert_mem_eq(&again.layer[l].strides, &kase.layer[l].strides, sizeof kase.layer[l].strides);
            ck_assert_uint_eq(again.layer[l].links, kase.layer[l].links);
            ck_assert_int_eq(again.layer[l].transformed, kase.layer[l].transformed);
        }
        file = open_memstream(&second, &second_length);
        ck_assert_ptr_nonnull(file);
        pim_case_write(again.layer, again.layers, file);
        (void)fclose(file);
        ck_assert_str_eq(text, second);
        free(text);
        free(second);
        pim_case_terminate(&kase);
        pim_case_terminate(&again);
    }
}
END_TEST

Suite *property_suite(void)
{
    Suite *suite = suite_create("property");
    TCase *tests = tcase_create("property");
    tcase_add_test(tests, pairs_against_every_iteration);
    tcase_add_test(tests, chains_against_exhaustive_comparison);
    tcase_add_test(tests, mappings_are_read_back);
    suite_add_tcase(suite, tests);
    return suite;
}
