/* The integer programmes, worked by whatever solver is installed, against the exact method. */
#include "mappers/search/integer/solver.h"
#include "mappers/search/problem.h"
#include "tests/unit/schedule/instances.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INSTANCES = 200, LITERAL_INSTANCES = 60, SECONDS = 3600 };

static const uint64_t seed = 20251121;

/* The quickest for small problems first; NULL, and a word about it, when there is none. */
static const char *installed(void)
{
    static const char *const names[] = {"glpsol", "cbc", "highs", "gurobi_cl"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (pim_solver_installed(names[i]))
            return names[i];
    printf("skipped: no solver (apt install glpk-utils, or coinor-cbc)\n");
    return NULL;
}

static void compare(const struct pim_schedule_problem *problem, const char *solver, unsigned instance)
{
    struct pim_schedule_solution exact, other;
    struct pim_error error = {0};
    ck_assert(pim_schedule_exact(problem, NULL, &exact, &error) == PIM_OK);
    ck_assert_msg(pim_schedule_ilp(problem, solver, SECONDS, NULL, &other, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_msg(exact.found == other.found, "instance %u: exact %d, programme %d", instance, exact.found,
                  other.found);
    if (exact.found) {
        ck_assert_msg(exact.cycles == other.cycles, "instance %u: exact %llu, programme %llu", instance,
                      (unsigned long long)exact.cycles, (unsigned long long)other.cycles);
        ck_assert_uint_eq(other.bound, other.cycles);
    }
    pim_schedule_solution_terminate(&exact);
    pim_schedule_solution_terminate(&other);
}

START_TEST(exact_is_the_counts_programme)
{
    struct pim_random random;
    const char *solver = installed();
    pim_random_initialize(&random, seed);
    for (unsigned i = 0; solver && i < INSTANCES; i++) {
        struct pim_schedule_problem literal, counts;
        random_problem(&random, i % 2 == 0, &literal, &counts);
        compare(&counts, solver, i);
        pim_schedule_problem_terminate(&literal);
        pim_schedule_problem_terminate(&counts);
    }
}
END_TEST

START_TEST(exact_is_the_literal_programme)
{
    struct pim_random random;
    const char *solver = installed();
    pim_random_initialize(&random, seed);
    for (unsigned i = 0; solver && i < LITERAL_INSTANCES; i++) {
        struct pim_schedule_problem literal, counts;
        random_problem(&random, true, &literal, &counts);
        struct pim_schedule_solution exact;
        struct pim_error error = {0};
        ck_assert(pim_schedule_exact(&counts, NULL, &exact, &error) == PIM_OK);
        uint64_t optimum = literal_optimum(&literal, solver, SECONDS);
        ck_assert_msg(optimum == (exact.found ? exact.cycles : UINT64_MAX), "instance %u: %llu cycles", i,
                      (unsigned long long)optimum);
        pim_schedule_solution_terminate(&exact);
        pim_schedule_problem_terminate(&literal);
        pim_schedule_problem_terminate(&counts);
    }
}
END_TEST

/* Every solver that is there gives the same. */
START_TEST(all_solvers_agree)
{
    static const char *const names[] = {"glpsol", "cbc", "highs", "gurobi_cl"};
    for (size_t s = 0; s < sizeof names / sizeof names[0]; s++) {
        struct pim_random random;
        pim_random_initialize(&random, seed + 1);
        for (unsigned i = 0; pim_solver_installed(names[s]) && i < 10; i++) {
            struct pim_schedule_problem literal, counts;
            random_problem(&random, false, &literal, &counts);
            compare(&counts, names[s], i);
            pim_schedule_problem_terminate(&literal);
            pim_schedule_problem_terminate(&counts);
        }
    }
}
END_TEST

START_TEST(solvers_that_are_not_there)
{
    struct pim_schedule_problem problem = {.stages = 0};
    struct pim_schedule_solution solution;
    struct pim_error error = {0};
    ck_assert(pim_schedule_ilp(&problem, "simplex", 1, NULL, &solution, &error) == PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "cbc, highs, gurobi_cl and glpsol are"));
    pim_schedule_solution_terminate(&solution);
    ck_assert(setenv("PATH", "/nowhere", 1) == 0);
    error = (struct pim_error){0};
    ck_assert(!pim_solver_installed(NULL));
    ck_assert(pim_schedule_ilp(&problem, NULL, 1, NULL, &solution, &error) == PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "apt install coinor-cbc"));
    pim_schedule_solution_terminate(&solution);
}
END_TEST

/* Who stops a solver so many seconds after its beginning. */
struct stopper {
    double begin, after;
};

static bool stop(void *context)
{
    const struct stopper *stopper = context;
    return pim_search_seconds() - stopper->begin >= stopper->after;
}

/* A solver that finds nothing, and how long it sleeps, in seconds; stopped after a while. */
static void expect_nothing(unsigned sleeps, uint32_t limit, double after, const char *why)
{
    struct pim_schedule_problem literal, problem;
    struct pim_schedule_solution solution;
    struct pim_error error = {0};
    struct pim_random random;
    struct stopper stopper = {pim_search_seconds(), after};
    const struct pim_schedule_watch watch = {.stop = stop, .context = &stopper};
    char folder[] = "/tmp/pimsim-solver-XXXXXX", path[64], search[4200];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/highs", folder);
    (void)snprintf(search, sizeof search, "%s:%.4000s", folder, getenv("PATH"));
    FILE *script = fopen(path, "w");
    ck_assert_ptr_nonnull(script);
    fprintf(script, "#!/bin/sh\nexec sleep %u\n", sleeps);
    ck_assert_int_eq(fclose(script), 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
    ck_assert_int_eq(setenv("PATH", search, 1), 0);
    pim_random_initialize(&random, seed);
    random_problem(&random, true, &literal, &problem);
    ck_assert(pim_schedule_ilp(&problem, "highs", limit, &watch, &solution, &error) == PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, why) != NULL, "%s", error.text);
    pim_schedule_solution_terminate(&solution);
    pim_schedule_problem_terminate(&literal);
    pim_schedule_problem_terminate(&problem);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* A solver that never ends is ended when it is to stop, and what it had is asked for: nothing here. */
START_TEST(a_solver_is_stopped)
{
    sigset_t set; /* held back, as the command does */
    ck_assert(sigemptyset(&set) == 0 && sigaddset(&set, SIGINT) == 0);
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    const double begin = pim_search_seconds();
    expect_nothing(3600, 3600, 0, "no schedule before it was stopped");
    ck_assert_double_lt(pim_search_seconds() - begin, 4); /* s; SIGKILL would come behind 5 */
}
END_TEST

/* Of a solver whose time is over, and that has not ended yet, a stop changes nothing. */
START_TEST(a_stop_behind_the_time_is_none)
{
    expect_nothing(3, 1, 1.6, "no schedule in its time");
}
END_TEST

/* The file as a whole: sections, senses, bounds, integers. */
START_TEST(mps_is_written)
{
    static const char expected[] = "NAME schedule FREE\nROWS\n N cost\n G R0\n L R1\nCOLUMNS\n"
                                   " M1 'MARKER' 'INTORG'\n C0 cost 3\n C0 R0 2\n C0 R1 -7\n C1 cost 0\n"
                                   " C1 R0 4\n M2 'MARKER' 'INTEND'\nRHS\n RHS R0 9\nBOUNDS\n"
                                   " LO BOUND C0 0\n UP BOUND C0 5\n LO BOUND C1 0\n PL BOUND C1\nENDATA\n";
    struct pim_mps mps = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    uint32_t at_least = pim_mps_row(&mps, PIM_MPS_AT_LEAST, 9),
             at_most = pim_mps_row(&mps, PIM_MPS_AT_MOST, 0);
    uint32_t a = pim_mps_column(&mps, 3, 0, 5), b = pim_mps_column(&mps, 0, 0, INT64_MAX);
    pim_mps_entry(&mps, at_least, b, 4);
    pim_mps_entry(&mps, at_most, a, -7);
    pim_mps_entry(&mps, at_least, a, 2);
    pim_mps_entry(&mps, at_most, b, 0);
    ck_assert(pim_mps_write(&mps, file));
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_str_eq(text, expected);
    free(text);
    pim_mps_terminate(&mps);
}
END_TEST

Suite *ilp_suite(void)
{
    Suite *suite = suite_create("ilp");
    TCase *tests = tcase_create("ilp");
    tcase_add_test(tests, exact_is_the_counts_programme);
    tcase_add_test(tests, exact_is_the_literal_programme);
    tcase_add_test(tests, all_solvers_agree);
    tcase_add_test(tests, solvers_that_are_not_there);
    tcase_add_test(tests, a_solver_is_stopped);
    tcase_add_test(tests, a_stop_behind_the_time_is_none);
    tcase_add_test(tests, mps_is_written);
    suite_add_tcase(suite, tests);
    return suite;
}
