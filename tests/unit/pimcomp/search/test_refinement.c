/* What the refinement of the best candidates begins at, and in what order it goes on. */
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/refine.h"
#include "mappers/pimcomp/searches.h"
#include "mappers/search/workers.h"
#include "tests/unit/pimcomp/cases.h"

#include <stdlib.h>
#include <string.h>

/* A small network on cores that have room for several numbers of replicas; its layouts of equal steps. */
static uint32_t begin_even(struct core_case *c, enum pim_core_mode mode,
                           struct pim_core_layout even[PIM_CORE_EVENS])
{
    struct pim_error error = {0};
    uint32_t count;
    core_case_begin(c);
    c->architecture = core_architecture(4, 4, 8, 32, 32);
    uint32_t x = core_case_convolution(c, "conv1", core_case_image(c, 8, 8, 8), 16, 3, 1, 1);
    (void)core_case_convolution(c, "conv2", x, 32, 3, 2, 1);
    core_case_lower(c);
    core_case_map(c, mode, PIM_UNFOLDINGS, pim_core_layout_first);
    ck_assert_int_eq(pim_core_layouts_even(&c->mapping, PIM_CORE_EVENS, &c->arena, even, &count, &error),
                     PIM_OK);
    return count;
}

/* What the refinement had timed. */
struct trials {
    uint32_t count;
    int ahead, farthest;    /* trials without maps on chip less those with, of the first SHARED */
    uint32_t first_without; /* of the first mutants of the chains */
};
/* Fewer trials than have two chains or more, of 1024. */
enum { SHARED = 600 };

static enum pim_status count_trial(void *observer, const struct pim_core_mapping *mapping,
                                   const struct pim_core_candidate *candidate, struct pim_error *error)
{
    struct trials *trials = observer;
    (void)mapping, (void)error;
    if (trials->count < SHARED)
        trials->ahead += candidate->no_keeping ? 1 : -1;
    if (abs(trials->ahead) > trials->farthest)
        trials->farthest = abs(trials->ahead);
    if (trials->count < PIM_REFINE_CHAINS * PIM_REFINE_CHILDREN && trials->count % PIM_REFINE_CHILDREN == 0)
        trials->first_without += candidate->no_keeping;
    trials->count++;
    return PIM_OK;
}

/* Refines layouts of equal steps that all seem slow, those with maps on chip by far. True: the first two
 * chains end without maps on chip and the other two with them, but for the one that goes on alone at last. */
static bool refine_slow(const struct core_case *c, const struct pim_core_layout even[PIM_CORE_EVENS],
                        const struct pim_refine_options *refine, struct trials *trials)
{
    static struct pim_core_profile profile;
    struct pim_core_profile_options options = {.mapping = &c->mapping};
    struct pim_workers *workers;
    struct pim_arena arena;
    struct pim_error error = {0};
    bool half = true;
    *trials = (struct trials){0};
    ck_assert_int_eq(pim_workers_create(&workers, 1, &error), PIM_OK);
    pim_arena_initialize(&arena, 1 << 16);
    memset(&profile, 0, sizeof profile);
    options.workers = workers;
    for (unsigned i = 0; i < PIM_CORE_EVENS; i++)
        pim_core_profile_add(&options, &profile, "even", true, &even[i]);
    ck_assert_int_eq(pim_core_profile_time(&options, &profile, 0, 0, &error), PIM_OK);
    for (uint32_t i = 0; i < profile.count; i++) {
        ck_assert_uint_lt(profile.candidate[i].instructions, 2000);
        profile.candidate[i].estimate = (profile.candidate[i].no_keeping ? 1000000 : 9000000) + i;
    }
    const uint32_t found = profile.count;
    options.timed = count_trial;
    options.observer = trials;
    ck_assert_int_eq(pim_core_refine(&options, refine, &arena, &profile, &error), PIM_OK);
    ck_assert_uint_eq(profile.count, found + PIM_REFINE_CHAINS);
    const uint64_t least = profile.candidate[pim_core_profile_best(&profile, found, profile.count)].estimate;
    for (uint32_t i = found; i < profile.count; i++)
        half = half &&
               (profile.candidate[i].estimate == least || profile.candidate[i].no_keeping == (i < found + 2));
    pim_arena_terminate(&arena);
    pim_workers_destroy(workers);
    return half;
}

/* With a budget of 1024 trials two of the chains have maps on chip, although the best four of the profile
 * have none, one of the two that are left does, and all but the one that goes on alone at last keep to what
 * they began with. With a trial less all begin without. */
START_TEST(refinement_keeps_both_kinds)
{
    struct core_case c;
    struct pim_core_layout even[PIM_CORE_EVENS];
    struct trials trials;
    ck_assert_uint_eq(begin_even(&c, PIM_CORE_HIGH_THROUGHPUT, even), PIM_CORE_EVENS);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct pim_refine_options refine = {
            .instructions = 1024 * 2000, .seed = seed, .max_layers_in_core = 8};
        ck_assert(refine_slow(&c, even, &refine, &trials));
        ck_assert_uint_gt(trials.count, SHARED);
        ck_assert_int_le(trials.farthest, PIM_REFINE_CHAINS / 2 * PIM_REFINE_CHILDREN);
        ck_assert_uint_eq(trials.first_without, PIM_REFINE_CHAINS / 2);
        refine.instructions--;
        (void)refine_slow(&c, even, &refine, &trials);
        ck_assert_uint_eq(trials.first_without, PIM_REFINE_CHAINS);
    }
    core_case_end(&c);
}
END_TEST

/* The first mutant of a chain, its layout by the rule of chromosomes, is tried as the chain is: with maps on
 * chip, or without. One in 32 of the others changes that. */
START_TEST(first_mutants_do_not_turn)
{
    struct core_case c;
    struct pim_core_layout even[PIM_CORE_EVENS];
    struct trials trials;
    ck_assert_uint_eq(begin_even(&c, PIM_CORE_HIGH_THROUGHPUT, even), PIM_CORE_EVENS);
    for (uint64_t seed = 1; seed <= 24; seed++) {
        const struct pim_refine_options refine = {.timed = 48, .seed = seed, .max_layers_in_core = 8};
        (void)refine_slow(&c, even, &refine, &trials);
        ck_assert_uint_eq(trials.first_without, PIM_REFINE_CHAINS);
    }
    core_case_end(&c);
}
END_TEST

/* A layout so many cores further on. */
static void turn_cores(struct core_case *c, const struct pim_core_layout *of, uint32_t by,
                       struct pim_core_layout *turned)
{
    struct pim_error error = {0};
    ck_assert_int_eq(pim_core_layout_copy(&c->mapping, of, &c->arena, turned, &error), PIM_OK);
    for (uint32_t i = 0; i < c->mapping.network->count; i++)
        for (uint32_t g = 0; g < turned->layer[i].replicas * c->mapping.partition->layer[i].groups; g++)
            turned->layer[i].core[g] = (turned->layer[i].core[g] + by) % c->architecture.cores;
}

/* Layouts with as many replicas of each layer are one start in high throughput (with maps on chip, and
 * without), and each a start of its own in low latency. */
START_TEST(refinement_starts_from_different_numbers_of_replicas)
{
    static struct pim_core_profile profile;
    const enum pim_core_mode mode = _i ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT;
    const struct pim_refine_options refine = {.timed = 64, .seed = 1, .max_layers_in_core = 8};
    struct core_case c;
    struct pim_core_layout even[PIM_CORE_EVENS];
    struct pim_error error = {0};
    struct pim_workers *workers;
    ck_assert_uint_gt(begin_even(&c, mode, even), 0);
    ck_assert_int_eq(pim_workers_create(&workers, 1, &error), PIM_OK);
    const struct pim_core_profile_options options = {.mapping = &c.mapping, .workers = workers};
    memset(&profile, 0, sizeof profile);
    for (unsigned i = 0; i < PIM_REFINE_CHAINS; i++) {
        turn_cores(&c, &even[0], i, &even[1]);
        pim_core_profile_add(&options, &profile, "turned", true, &even[1]);
    }
    ck_assert_int_eq(pim_core_profile_time(&options, &profile, 0, 0, &error), PIM_OK);
    for (uint32_t i = 0; i < profile.count; i++)
        profile.candidate[i].estimate = 1000000 + i;
    const uint32_t found = profile.count;
    ck_assert_int_eq(pim_core_refine(&options, &refine, &c.arena, &profile, &error), PIM_OK);
    ck_assert_uint_eq(profile.count, found + (mode == PIM_CORE_LOW_LATENCY ? PIM_REFINE_CHAINS : 2));
    pim_workers_destroy(workers);
    core_case_end(&c);
}
END_TEST

/* A network without array groups has nothing to move. */
START_TEST(refinement_of_a_network_without_weights_leaves_it)
{
    static struct pim_core_profile profile;
    const struct pim_refine_options refine = {.timed = 16, .seed = 1, .max_layers_in_core = 8};
    struct core_case c;
    struct pim_error error = {0};
    core_case_begin(&c);
    (void)core_case_activation(&c, "relu", core_case_image(&c, 3, 8, 8), PIM_ACTIVATION_RELU);
    core_case_lower(&c);
    core_case_map(&c, PIM_CORE_HIGH_THROUGHPUT, PIM_UNFOLDINGS, pim_core_layout_first);
    struct pim_workers *workers;
    ck_assert_int_eq(pim_workers_create(&workers, 1, &error), PIM_OK);
    const struct pim_core_profile_options options = {.mapping = &c.mapping, .workers = workers};
    memset(&profile, 0, sizeof profile);
    pim_core_profile_add(&options, &profile, "first", false, &c.layout);
    ck_assert_msg(pim_core_profile_time(&options, &profile, 0, 0, &error) == PIM_OK, "%s", error.text);
    uint32_t count = profile.count;
    ck_assert_msg(pim_core_refine(&options, &refine, &c.arena, &profile, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(profile.count, count);
    pim_workers_destroy(workers);
    core_case_end(&c);
}
END_TEST

Suite *refinement_suite(void)
{
    Suite *suite = suite_create("refinement");
    TCase *t = tcase_create("refinement");
    tcase_add_test(t, refinement_keeps_both_kinds);
    tcase_add_test(t, first_mutants_do_not_turn);
    tcase_add_loop_test(t, refinement_starts_from_different_numbers_of_replicas, 0, 2);
    tcase_add_test(t, refinement_of_a_network_without_weights_leaves_it);
    suite_add_tcase(suite, t);
    return suite;
}
