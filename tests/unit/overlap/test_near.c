/* Candidates near the best so far, and the search among them. */
#include "mappers/nest/near.h"
#include "mappers/nest/space.h"
#include "mappers/overlapim/plan.h"
#include "tests/unit/overlap/setting.h"
#include "tests/unit/overlap/suites.h"

#include <stdlib.h>

static bool has(const struct pim_nest *nest, unsigned dimension, bool spatial, unsigned level, uint32_t count)
{
    for (uint32_t l = 0; l < nest->loops; l++) {
        const struct pim_nest_loop *loop = &nest->loop[l];
        if (loop->dimension == dimension && loop->spatial == spatial && loop->level == level)
            return loop->count == count;
    }
    return count == 1;
}

/* What a space near a nest changes: `exchanged`, factors have gone from slot to slot, `both`, of two
 * dimensions; `ordered`, those of the nest are given and an order is free; `freed`, some are to be drawn
 * anew. */
struct changes {
    unsigned exchanged, both, ordered, freed;
};

static void count_changes(const struct pim_nest *nest, const struct pim_mapping_space *near,
                          struct changes *changes)
{
    static const struct {
        bool spatial;
        unsigned level;
    } of[PIM_SLOTS] = {
        [PIM_SLOT_OUTER] = {false, PIM_LEVEL_MEMORY},  [PIM_SLOT_CHANNELS] = {true, PIM_LEVEL_CHANNEL},
        [PIM_SLOT_BANKS] = {true, PIM_LEVEL_BANK},     [PIM_SLOT_STEPS] = {false, PIM_LEVEL_BANK},
        [PIM_SLOT_COLUMNS] = {true, PIM_LEVEL_COLUMN}, [PIM_SLOT_INSIDE] = {false, PIM_LEVEL_COLUMN}};
    unsigned others = 0, open = 0, moved = 0;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        uint64_t now = 1, before = 1;
        const unsigned earlier = others;
        for (unsigned slot = 0; slot < PIM_SLOTS; slot++) {
            const uint32_t factor = near->factor[slot][d];
            now *= factor;
            others += factor > 0 && !has(nest, d, of[slot].spatial, of[slot].level, factor);
            open += factor == 0;
        }
        moved += others > earlier;
        for (uint32_t l = 0; l < nest->loops; l++)
            before *= nest->loop[l].dimension == d ? nest->loop[l].count : 1;
        ck_assert(now == 0 || now == before); /* no factor is lost */
    }
    ck_assert(open == 0 || others == 0); /* one kind of change */
    changes->freed += open > 0;
    changes->exchanged += moved > 0;
    changes->both += moved > 1;
    changes->ordered += !near->ordered[PIM_SLOT_OUTER] || !near->ordered[PIM_SLOT_STEPS];
}

/* Samples near another one: what is pinned stays, few loops change, and most are others. */
START_TEST(samples_near)
{
    struct pim_workload workload;
    struct pim_mapping_space space, near;
    struct pim_random random;
    struct pim_nest nest, other;
    struct pim_strides strides;
    struct pim_error error = {PIM_OK, ""};
    unsigned drawn = 0, changed = 0, kept = 0, spaces = 0;
    struct changes changes = {0};
    pim_workload_initialize(&workload);
    workload.size[PIM_K] = 96;
    workload.size[PIM_C] = 48;
    workload.size[PIM_P] = 29;
    workload.size[PIM_Q] = 29;
    workload.size[PIM_R] = 3;
    pim_mapping_space_initialize(&space, &workload, 2, 8, 8192, 4096);
    space.factor[PIM_SLOT_BANKS][PIM_K] = 4;
    pim_random_initialize(&random, 7);
    for (unsigned i = 0; i < 3000; i++) {
        if (!pim_mapping_space_sample(&space, &random, &nest))
            continue;
        pim_mapping_space_near(&space, &nest, &random, &near);
        spaces++;
        count_changes(&nest, &near, &changes);
        if (!pim_mapping_space_sample(&near, &random, &other))
            continue;
        drawn++;
        ck_assert(pim_nest_like(&nest, &nest));
        ck_assert_msg(pim_nest_derive(&workload, &other, &strides, &error) == PIM_OK, "%s", error.text);
        ck_assert_uint_le(strides.steps * strides.banks, 4096);
        ck_assert_uint_le(used(&other, PIM_LEVEL_CHANNEL), 2);
        ck_assert_uint_le(used(&other, PIM_LEVEL_BANK), 8);
        ck_assert_uint_le(used(&other, PIM_LEVEL_COLUMN), 8192);
        ck_assert(has(&other, PIM_K, true, PIM_LEVEL_BANK, 4));
        changed += !pim_nest_like(&nest, &other);
        for (uint32_t l = 0; l < nest.loops; l++)
            kept += 1000 *
                    has(&other, nest.loop[l].dimension, nest.loop[l].spatial, nest.loop[l].level,
                        nest.loop[l].count) /
                    nest.loops;
    }
    ck_assert_uint_ge(20 * changes.exchanged, 2 * spaces);
    ck_assert_uint_ge(2 * changes.both, changes.exchanged);
    ck_assert_uint_ge(20 * changes.ordered, spaces);
    ck_assert_uint_ge(changes.freed, spaces / 2);
    ck_assert_uint_ge(drawn, 1500);
    ck_assert_uint_ge(changed, drawn / 2);
    ck_assert_uint_ge(kept, 500 * drawn); /* half of the loops */
}
END_TEST

/* Scores of all layers by their sequential latency, of so many candidates. */
static void scores_of(const struct pim_overlapim_plan *plan, bool random, uint64_t budget, uint64_t seed,
                      uint64_t *scores)
{
    struct pim_search_inputs inputs = plan->search;
    struct pim_layer_mapping *mappings = calloc(plan->layers.count, sizeof *mappings);
    struct pim_error error = {PIM_OK, ""};
    ck_assert_ptr_nonnull(mappings);
    inputs.random = random;
    inputs.budget = budget;
    inputs.seed = seed;
    ck_assert(pim_workers_create(&inputs.workers, 2, &error) == PIM_OK);
    ck_assert_msg(pim_search_network(&inputs, PIM_OBJECTIVE_ORIGINAL, mappings, &error) == PIM_OK, "%s",
                  error.text);
    pim_workers_destroy(inputs.workers);
    for (uint32_t i = 0; i < plan->layers.count; i++) {
        scores[i] = mappings[i].score;
        ck_assert_uint_le(mappings[i].drawn, budget);
    }
    free(mappings);
}

/* 1000 candidates, most of them near the best so far, find mappings within a few percent of those of 30 000
 * that are drawn from the whole space; seeds have candidates of their own. */
START_TEST(local_search_finds_more)
{
    enum { LAYERS = 32, SEEDS = 3 };
    struct setting setting;
    struct pim_overlapim_plan plan;
    struct pim_error error = {PIM_OK, ""};
    uint64_t many[LAYERS], local[SEEDS][LAYERS], random[SEEDS][LAYERS];
    double beyond = 0, worst = 0;
    unsigned differ = 0, products = 0, lost = 0;
    set_up(&setting, "alexnet", NULL);
    struct pim_overlapim_options options = options_of(0, 1);
    ck_assert_msg(pim_overlapim_plan_make(&setting.inputs, &options, &plan, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_uint_le(plan.layers.count, LAYERS);
    scores_of(&plan, true, 30000, 1, many);
    for (unsigned s = 0; s < SEEDS; s++) {
        scores_of(&plan, false, 1000, s + 1, local[s]);
        scores_of(&plan, true, 1000, s + 1, random[s]);
        for (uint32_t i = 0; i < plan.layers.count; i++) {
            double above = (double)local[s][i] / (double)many[i];
            differ += s > 0 && random[s][i] != random[0][i];
            const bool product = plan.layers.layer[i].product;
            lost += product && local[s][i] > random[s][i];
            products += product;
            beyond += product ? above : 0;
            worst = above > worst ? above : worst;
        }
    }
    ck_assert_uint_ge(differ, 2 * 5);
    ck_assert_uint_le(lost, products / 10); /* layers of which random candidates find more */
    ck_assert_msg(beyond / products < 1.02 && worst < 1.4, "%.3f times the cycles, of a layer up to %.3f",
                  beyond / products, worst);
    pim_overlapim_plan_terminate(&plan);
    tear_down(&setting);
}
END_TEST

Suite *near_suite(void)
{
    Suite *suite = suite_create("near");
    TCase *tests = tcase_create("near");
    tcase_add_test(tests, samples_near);
    tcase_add_test(tests, local_search_finds_more);
    suite_add_tcase(suite, tests);
    return suite;
}
