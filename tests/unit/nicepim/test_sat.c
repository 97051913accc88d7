/* Formulas of the proofs, and the proofs where a solver is installed. */
#include "mappers/nicepim/cycles/sat.h"
#include "sim/random.h"
#include "tests/unit/nicepim/suites.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Unit propagation from the literals given: false at a conflict. It is complete for counters. */
static bool propagate(const struct formula *formula, signed char *value)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < formula->count;) {
            int32_t unit = 0;
            size_t open = 0;
            bool satisfied = false;
            for (; formula->literal[i] != 0; i++) {
                int32_t literal = formula->literal[i], variable = literal < 0 ? -literal : literal;
                if (value[variable] == 0) {
                    unit = literal;
                    open++;
                } else if ((value[variable] > 0) == (literal > 0)) {
                    satisfied = true;
                }
            }
            i++;
            if (satisfied)
                continue;
            if (open == 0)
                return false;
            if (open == 1) {
                value[unit < 0 ? -unit : unit] = unit < 0 ? -1 : 1;
                changed = true;
            }
        }
    }
    return true;
}

START_TEST(counters_admit_exactly_the_sums_within_their_limit)
{
    struct pim_random random;
    pim_random_initialize(&random, 41);
    for (int round = 0; round < 60; round++) {
        struct formula formula = {0};
        struct element elements[7];
        size_t count = 1 + pim_random_below(&random, 7);
        uint32_t limit = (uint32_t)pim_random_between(&random, 1, 8);
        for (size_t i = 0; i < count; i++)
            elements[i] =
                (struct element){formula_variable(&formula), (uint32_t)pim_random_below(&random, 4)};
        formula_at_most(&formula, elements, count, limit);
        ck_assert(!formula.failed);
        for (uint32_t bits = 0; bits < 1u << count; bits++) {
            signed char *value = calloc((size_t)formula.variables + 1, 1);
            uint32_t sum = 0;
            for (size_t i = 0; i < count; i++) {
                value[elements[i].literal] = bits >> i & 1 ? 1 : -1;
                sum += bits >> i & 1 ? elements[i].weight : 0;
            }
            ck_assert_int_eq(propagate(&formula, value), sum <= limit);
            free(value);
        }
        formula_terminate(&formula);
    }
}
END_TEST

/* Golden values that need a proof: less load or fewer hops do not exist. */
START_TEST(an_installed_solver_proves_golden_values)
{
    static const char *const names[] = {"4x4_random_1", "4x4_weighted_3", "6x6_random_3"};
    struct pim_error error = {0};
    const struct sat_solver *solver;
    ck_assert_int_eq(sat_find("auto", &solver, &error), PIM_OK);
    if (!solver) {
        puts("no SAT solver is installed: proofs are not tried");
        return;
    }
    json_t *root = nicepim_golden("scheduler.json");
    for (size_t i = 0; i < json_array_size(root); i++) {
        const json_t *test = json_array_get(root, i);
        const char *name = json_string_value(json_object_get(test, "name"));
        bool wanted = false;
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            wanted = wanted || strcmp(name, names[k]) == 0;
        if (!wanted)
            continue;
        struct pim_sharing sharing;
        struct pim_cycles cycles;
        struct pim_cycles_options options = pim_cycles_defaults();
        options.steps = 300000;
        ck_assert_int_eq(pim_sharing_read(test, &sharing, &error), PIM_OK);
        ck_assert_msg(pim_cycles_solve(&sharing, &options, &cycles, &error) == PIM_OK, "%s", error.text);
        ck_assert_uint_eq(cycles.max_load, (uint64_t)nicepim_integer(test, "max_load"));
        ck_assert_uint_eq(cycles.load_bound, cycles.max_load);
        ck_assert_uint_eq(cycles.hops, (uint64_t)nicepim_integer(test, "hops"));
        ck_assert_uint_eq(cycles.hops_bound, cycles.hops);
        pim_cycles_terminate(&cycles);
        pim_sharing_terminate(&sharing);
    }
    json_decref(root);
}
END_TEST

static bool asked(void *context)
{
    (void)context;
    return true;
}

/* A solver that does not answer, answers nonsense, or is ended, proves nothing. */
static void ask_solver(const char *script, bool (*stop)(void *context))
{
    char folder[] = "/tmp/pimsim-test-XXXXXX", program[64], *path = getenv("PATH");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(program, sizeof program, "%s/cadical", folder);
    FILE *file = fopen(program, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    (void)fclose(file);
    ck_assert_int_eq(chmod(program, 0700), 0);
    char *before = path ? strdup(path) : NULL;
    char both[4096];
    (void)snprintf(both, sizeof both, "%s:%s", folder, before ? before : "/bin");
    ck_assert_int_eq(setenv("PATH", both, 1), 0);
    json_t *root = nicepim_golden("scheduler.json");
    struct pim_error error = {0};
    struct pim_sharing sharing;
    struct pim_cycles cycles;
    struct pim_cycles_options options = pim_cycles_defaults();
    const struct sat_solver *solver;
    const int32_t literal = 1;
    struct formula formula = {0};
    enum sat_answer answer = SAT_FOUND;
    bool value[2] = {false};
    options.steps = 100000;
    options.solver = "cadical";
    ck_assert_int_eq(pim_sharing_read(json_array_get(root, 5), &sharing, &error), PIM_OK);
    if (!stop) {
        ck_assert_int_eq(pim_cycles_solve(&sharing, &options, &cycles, &error), PIM_OK);
        ck_assert_uint_eq(cycles.max_load, 2);
        ck_assert_uint_eq(cycles.load_bound, 1); /* 4x4_random_1: only a proof would lift it to 2 */
        pim_cycles_terminate(&cycles);
    }
    options.stop = stop;
    (void)formula_variable(&formula);
    formula_add(&formula, &literal, 1);
    ck_assert_int_eq(sat_find("cadical", &solver, &error), PIM_OK);
    ck_assert_int_eq(sat_ask(solver, &formula, &options, &answer, value, &error), PIM_OK);
    ck_assert_int_eq(answer, SAT_UNKNOWN);
    formula_terminate(&formula);
    pim_sharing_terminate(&sharing);
    json_decref(root);
    (void)unlink(program);
    (void)rmdir(folder);
    if (before)
        ck_assert_int_eq(setenv("PATH", before, 1), 0);
    free(before);
}

START_TEST(a_silent_solver_proves_nothing)
{
    ask_solver("echo 'c no answer'", NULL);
}
END_TEST

/* Ended by SIGINT, also where the one who asks holds that back, as the command does. */
START_TEST(a_solver_that_is_stopped_ends)
{
    sigset_t set;
    ck_assert(sigemptyset(&set) == 0 && sigaddset(&set, SIGINT) == 0);
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    const time_t begin = time(NULL);
    ask_solver("exec sleep 3600", asked);
    ck_assert_int_lt(time(NULL) - begin, 4); /* s; SIGKILL would come behind 5 */
}
END_TEST

Suite *nicepim_sat_suite(void)
{
    Suite *suite = suite_create("sat");
    TCase *tests = tcase_create("sat");
    tcase_add_test(tests, counters_admit_exactly_the_sums_within_their_limit);
    tcase_add_test(tests, an_installed_solver_proves_golden_values);
    tcase_add_test(tests, a_silent_solver_proves_nothing);
    tcase_add_test(tests, a_solver_that_is_stopped_ends);
    suite_add_tcase(suite, tests);
    return suite;
}
