/* The ranking of timed layouts: which are kept. */
#include "mappers/pimcomp/closed_loop.h"
#include "sim/random.h"
#include "tests/unit/test_main.h"

#include <stdlib.h>
#include <string.h>

enum { LAYERS = 2, SEEN = 300, MOST = 7 };

/* Of layouts in any order those with the least estimates are kept, in their order, of equals the first; one
 * that is there already, and one that cannot be scheduled, is not. All that were timed are counted. */
START_TEST(the_best_are_kept)
{
    struct pim_core_network network = {.count = LAYERS};
    struct pim_core_partition_layer parts[LAYERS] = {{.groups = 2}, {.groups = 0}};
    struct pim_core_partition partition = {.layer = parts};
    const struct pim_core_mapping mapping = {.network = &network, .partition = &partition};
    struct pim_core_ranking *ranking = calloc(1, sizeof *ranking);
    struct pim_arena arena;
    struct pim_error error;
    struct pim_random random;
    uint64_t estimate[SEEN], used[SEEN] = {0}, fit = 0;
    ck_assert_ptr_nonnull(ranking);
    ranking->most = MOST;
    ranking->arena = &arena;
    pim_arena_initialize(&arena, 0);
    pim_random_initialize(&random, 5 + (uint64_t)_i);
    for (unsigned i = 0; i < SEEN; i++) {
        uint32_t cores[2] = {i, (uint32_t)pim_random_below(&random, 3)};
        struct pim_core_layout_layer layers[LAYERS] = {{.replicas = 1, .core = cores}, {.replicas = 1}};
        struct pim_core_candidate candidate = {.estimate = 100 + pim_random_below(&random, 60),
                                               .refused = pim_random_below(&random, 10) == 0,
                                               .layout = {.layer = layers}};
        estimate[i] = candidate.refused ? UINT64_MAX : candidate.estimate;
        for (unsigned twice = 0; twice < 2; twice++) { /* the same again is no other layout */
            ck_assert_int_eq(pim_core_ranking_see(ranking, &mapping, &candidate, &error), PIM_OK);
            fit += !candidate.refused;
        }
        memset(cores, 0xff, sizeof cores); /* it is a copy that is kept */
    }
    ck_assert_uint_eq(ranking->seen, fit);
    ck_assert_uint_eq(ranking->count, MOST);
    for (unsigned k = 0; k < MOST; k++) {
        unsigned least = 0;
        while (used[least])
            least++;
        for (unsigned i = least; i < SEEN; i++)
            if (!used[i] && estimate[i] < estimate[least])
                least = i;
        used[least] = 1;
        ck_assert_uint_eq(ranking->best[k].estimate, estimate[least]);
        ck_assert_uint_eq(ranking->best[k].layout.layer[0].core[0], least);
    }
    pim_arena_terminate(&arena);
    free(ranking);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("ranking");
    TCase *cases = tcase_create("ranking");
    tcase_add_loop_test(cases, the_best_are_kept, 0, 5);
    suite_add_tcase(suite, cases);
    srunner_add_suite(runner, suite);
}
